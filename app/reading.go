package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/tune"
)

// maxMemory is the largest --max-memory, in GiB: more than any machine has.
const maxMemory = 1e9

// reading are the flags of all commands that read data.
type reading struct {
	memoryLimit
	tables
	missing, absent string
	missingValue    string
	letorText
}

// letorText are the flags of how LETOR text numbers features.
type letorText struct {
	firstFeature, maxFeature int
	unsorted                 bool
}

func (t *letorText) addTo(fl *pflag.FlagSet) {
	addWhole(fl, &t.firstFeature, "first-feature", 1, 0, "`index` of the first feature in LETOR text: 1 or 0")
	fl.BoolVar(&t.unsorted, "unsorted", false, "accept LETOR text with unsorted feature indices")
	addWhole(fl, &t.maxFeature, "max-feature", dataset.DefaultMaxFeature, 1, "largest `number` of features accepted")
}

func (t *letorText) apply(opts *dataset.Options) error {
	if t.firstFeature != 0 && t.firstFeature != 1 {
		return usageErrorf("--first-feature %d: expected 1 or 0", t.firstFeature)
	}
	opts.FromZero, opts.AnyOrder, opts.MaxFeature = t.firstFeature == 0, t.unsorted, min(t.maxFeature, mostFeatures)
	return nil
}

// mostFeatures is the largest number of features that LETOR text can have.
const mostFeatures = math.MaxInt32 - 1

// parseMissingValues reads --missing-value.
func parseMissingValues(list string) ([]float64, error) {
	if list == "" {
		return nil, nil
	}
	var values []float64
	for _, text := range strings.Split(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(v) {
			return nil, usageErrorf("--missing-value: found %q, expected numbers or inf, separated by commas", text)
		}
		values = append(values, v)
	}
	return values, nil
}

// memoryLimit is the flag of what data may take.
type memoryLimit struct {
	maxMemory float64 // GiB
	left      int64   // bytes that it leaves for data, once options were asked for
}

func (m *memoryLimit) addTo(cmd *cobra.Command) {
	addReal(cmd.Flags(), &m.maxMemory, "max-memory", 0, maxMemory, "memory limit in `GiB`; 0: three quarters of the machine's memory")
}

// options are those of the limit alone: what it leaves for data. They have garbage collected as often as it takes to keep the limit.
func (m *memoryLimit) options() dataset.Options {
	limit := dataset.MemoryLimit(0)
	if m.maxMemory > 0 {
		limit = max(1, int64(m.maxMemory*(1<<30)))
	}
	debug.SetMemoryLimit(max(limit, leastMemory) - unmanaged)
	m.left = limit - ownMemory(limit)
	return dataset.Options{MaxBytes: m.left}
}

// leastMemory is the least limit that is one of the whole process.
const leastMemory = 32 << 20

// unmanaged is about what the process takes that garbage collection does not count.
const unmanaged = 10 << 20

// ownMemory returns how much of a limit of the process's memory is not for data and what is learned with: the program's
// own some 16 MiB, and what grows with the limit, such as what is read ahead and what collecting garbage leaves unused.
// The program does not fit into limits below leastMemory; there less is taken off, so that a higher limit always leaves more.
func ownMemory(limit int64) int64 {
	const small, fixed, most = 8 << 20, 16 << 20, 128 << 20
	return max(0, min(fixed+min(limit/8, most), (limit-small)/4*3))
}

func (r *reading) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.missing, "missing", "error", "`how` to treat missing values: error, zero, min or keep")
	cmd.Flags().StringVar(&r.absent, "absent", absentZero, "`value` of features a line omits: zero or missing")
	cmd.Flags().StringVar(&r.missingValue, "missing-value", "", "`numbers` that mark missing values, separated by commas")
	r.letorText.addTo(cmd.Flags())
	r.tables.addTo(cmd)
	r.memoryLimit.addTo(cmd)
}

// options are the reader's options that the flags ask for.
func (r *reading) options() (dataset.Options, error) {
	missing, err := dataset.ParseMissing(r.missing)
	if err != nil {
		return dataset.Options{}, usageErrorf("--missing: %w", err)
	}
	opts := r.memoryLimit.options()
	opts.Missing = missing
	if opts.AbsentMissing, err = parseAbsent(r.absent); err != nil {
		return opts, err
	}
	if opts.MissingValues, err = parseMissingValues(r.missingValue); err != nil {
		return opts, err
	}
	return opts, errors.Join(r.letorText.apply(&opts), r.tables.apply(&opts))
}

// attend makes readers show progress, end with the context and print notes. The command closes the files that they keep
// open.
func (env *environment) attend(ctx context.Context, opts *dataset.Options, bar *progress) {
	opts.Observe, opts.Context, opts.Note, opts.Opened = bar.bytes, ctx, env.noteOnce, env.keep
}

// keep registers a file, which the command closes at its end.
func (env *environment) keep(file io.Closer) {
	env.filesLock.Lock()
	defer env.filesLock.Unlock()
	env.files = append(env.files, file)
}

// closeFiles closes the files that keep registered.
func (env *environment) closeFiles() error {
	env.filesLock.Lock()
	defer env.filesLock.Unlock()
	var errs []error
	for _, file := range env.files {
		errs = append(errs, file.Close())
	}
	env.files = nil
	return errors.Join(errs...)
}

// open reads a data set of any format, which a flag or, if that is empty, an argument
// names; "-" is the standard input. The reader's warnings are left to the caller.
func (env *environment) open(ctx context.Context, flag, path string, opts dataset.Options) (*dataset.Dataset, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := path
	if path == "-" {
		name = "standard input"
	}
	bar := env.startProgress("reading "+name, 0)
	defer bar.finish()
	env.attend(ctx, &opts, bar)
	var d *dataset.Dataset
	var err error
	if path == "-" {
		d, err = datafile.Read(env.stdin, name, opts)
	} else {
		d, err = datafile.Open(path, opts)
	}
	if err == nil && d.Streamed() {
		parallel.Spare(readers)
	}
	return d, inputFault(flag, path, someData, hintAtMemory(err))
}

// readers are how many reads of streamed data may begin while all cores compute.
const readers = 4

// checkCopied returns an error if there is no room in so many bytes for a copy of data that are in memory as a whole, and for
// what is held beside; the features of a cache are mapped and take none.
func checkCopied(flag, path string, d *dataset.Dataset, beside, bytes int64) error {
	copies, need := int64(2), featureBytes(d)
	if strings.HasSuffix(path, ".lwd") {
		copies = 1
	}
	if need = need*copies + beside; need <= bytes {
		return nil
	}
	return inputFault(flag, path, someData, hintAtMemory(&dataset.SyntaxError{
		File: path, Found: fmt.Sprintf("%d documents × %d features, which with a copy take %s of memory", d.Docs(), d.Features, memory.Bytes(float64(need))),
		Expected: "at most " + memory.Bytes(float64(bytes)) + ", or raise the limit", Err: dataset.ErrTooLarge,
	}))
}

// leftBeside returns the bytes that data leave of a limit for other data. Data take their features, if they are in memory,
// and something for every query beyond a few MB.
func leftBeside(data *dataset.Dataset, bytes int64) int64 {
	const few = 2 << 20
	held := max(0, memory.QueryBytes*int64(len(data.Queries))-few)
	if !data.Streamed() {
		held += featureBytes(data)
	}
	return max(1, bytes-held)
}

// featureBytes returns the bytes of the features of data in memory.
func featureBytes(d *dataset.Dataset) int64 { return 4 * int64(d.Docs()) * int64(d.Features) }

// opensAgain reports whether a path is of what can be read any number of times: a file, or a folder of shards.
func opensAgain(path string) bool {
	info, err := os.Stat(path)
	return path != "-" && err == nil && (info.Mode().IsRegular() || info.IsDir())
}

// limitTrainingGarbage is for training: what losses hold of queries is much, and collecting garbage more often takes
// little beside the passes over the data, the less the larger these are. GOGC in the environment says otherwise.
func limitTrainingGarbage(data *dataset.Dataset) {
	const large = 256 << 20 // bytes of features
	switch {
	case os.Getenv("GOGC") != "":
	case 4*data.Docs()*data.Features < large:
		debug.SetGCPercent(50)
	default:
		debug.SetGCPercent(15)
	}
}

// running counts the commands of this process. Programs run several.
var running struct {
	sync.Mutex
	commands     int
	limit, every int64 // of memory and, in percent, of garbage, before the first
}

// leaveAsFound returns a function for the end of a command. The last command that ends restores the memory limit, the
// rate of garbage collection and the number of workers of the process.
func leaveAsFound() (end func()) {
	running.Lock()
	defer running.Unlock()
	if running.commands++; running.commands == 1 {
		found := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(found)
		running.limit, running.every = debug.SetMemoryLimit(-1), int64(found[0].Value.Uint64())
	}
	return func() {
		running.Lock()
		defer running.Unlock()
		if running.commands--; running.commands == 0 {
			debug.SetMemoryLimit(running.limit)
			debug.SetGCPercent(int(running.every))
			parallel.Unspare()
		}
	}
}

// hintAtMemory adds to an error about too large data which flag raises the limit.
func hintAtMemory(err error) error {
	if errors.Is(err, dataset.ErrTooLarge) {
		return fmt.Errorf("%w with --max-memory", err)
	}
	return err
}

// foldsReader is tune.ReadFolds or tune.ReadTests.
type foldsReader func(dir string, opts dataset.Options) ([]tune.Fold, error)

// readFolds reads folds.
func (env *environment) readFolds(from foldsReader, dir string, opts dataset.Options) ([]tune.Fold, error) {
	bar := env.startProgress("reading "+dir, 0)
	defer bar.finish()
	env.attend(opts.Context, &opts, bar)
	folds, err := from(dir, opts)
	return folds, folderFault(dir, err)
}

// openFolds opens data of that name bounded, with progress and notes.
func openFolds[T any](ctx context.Context, env *environment, b *tune.Bounded, name string, open func() (T, error)) (T, error) {
	bar := env.startProgress("reading "+name, 0)
	defer bar.finish()
	env.attend(ctx, &b.Options, bar)
	return open()
}

// filesFault names the flag whose file could not be read.
func filesFault(files tune.Files, err error) error {
	for _, f := range []struct{ flag, path string }{{"train", files.Train}, {"valid", files.Valid}, {"test", files.Test}} {
		if err != nil && strings.Contains(err.Error(), f.path) {
			return inputFault(f.flag, f.path, someData, err)
		}
	}
	return err
}

// folderFault names the flag whose folder could not be read.
func folderFault(dir string, err error) error {
	switch {
	case err == nil:
		return nil
	case exists(dir) && !isFolder(dir):
		return usageErrorf("--data: %s is a file, expected a folder with Fold1 … FoldK", dir)
	case has[*fs.PathError](err):
		return usageErrorf("--data: %w", err)
	}
	return err
}

// openAndWarn is open for commands whose result does not hold the reader's warnings: it
// prints them.
func (env *environment) openAndWarn(ctx context.Context, flag, path string, opts dataset.Options) (*dataset.Dataset, error) {
	d, err := env.open(ctx, flag, path, opts)
	if err == nil {
		env.warnings(d)
	}
	return d, err
}

// openParts is openAndWarn for files whose queries, one file after the other, are one data set.
func (env *environment) openParts(ctx context.Context, flag string, paths []string, opts dataset.Options) (*dataset.Dataset, error) {
	if len(paths) == 1 {
		return env.openAndWarn(ctx, flag, paths[0], opts)
	}
	if slices.Contains(paths, "-") {
		return nil, usageErrorf("--%s -: expected files only if there are several", flag)
	}
	bar := env.startProgress("reading "+strings.Join(paths, ", "), 0)
	defer bar.finish()
	env.attend(ctx, &opts, bar)
	parts, err := tune.ReadParts(paths, opts)
	for _, path := range paths {
		if err != nil && strings.Contains(err.Error(), path) {
			return nil, inputFault(flag, path, someData, hintAtMemory(err))
		}
	}
	if err != nil {
		return nil, err
	}
	env.warnings(parts...)
	d, err := dataset.Concat(parts...)
	if err != nil {
		return nil, usageErrorf("--%s %s: %w", flag, strings.Join(paths, ", "), err)
	}
	return d, nil
}
