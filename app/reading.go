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
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/tune"
)

// maxMemory is the largest --max-memory in GiB, more than any machine has.
const maxMemory = 1e9

type reading struct {
	memoryLimit
	tables
	missing, absent string
	missingValue    string
	letorText
}

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

const mostFeatures = math.MaxInt32 - 1

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

type memoryLimit struct {
	maxMemory float64 // GiB
	left      int64   // bytes for data; set by options
}

func (m *memoryLimit) addTo(cmd *cobra.Command) {
	addReal(cmd.Flags(), &m.maxMemory, "max-memory", 0, maxMemory, "memory limit in `GiB`; 0: three quarters of the machine's memory")
}

// options returns reader options with the memory limit alone. It also sets the memory limit of the
// Go runtime.
func (m *memoryLimit) options() dataset.Options {
	limit := dataset.MemoryLimit(0)
	if m.maxMemory > 0 {
		limit = max(1, int64(m.maxMemory*(1<<30)))
	}
	debug.SetMemoryLimit(max(limit, leastMemory) - unmanaged)
	m.left = limit - ownMemory(limit)
	return dataset.Options{MaxBytes: m.left}
}

// leastMemory is the lowest limit that applies to the whole process.
const leastMemory = 32 << 20

// unmanaged is the approximate memory of the process that the garbage collector does not count.
const unmanaged = 10 << 20

// ownMemory returns the part of a memory limit that is not available to data and learning. The
// program itself takes about 16 MiB. Reading ahead and unused garbage take more with a higher
// limit. For small limits the part is smaller, so that a higher limit always leaves more for data.
func ownMemory(limit int64) int64 {
	const small, fixed, most = 8 << 20, 16 << 20, 128 << 20
	return max(0, min(fixed+min(limit/8, most), (limit-small)*3/4))
}

func (r *reading) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.missing, "missing", "error", "`how` to treat missing values: error, zero, min or keep")
	cmd.Flags().StringVar(&r.absent, "absent", absentZero, "`value` of features a line omits: zero or missing")
	cmd.Flags().StringVar(&r.missingValue, "missing-value", "", "`numbers` that mark missing values, separated by commas")
	r.letorText.addTo(cmd.Flags())
	r.tables.addTo(cmd)
	r.memoryLimit.addTo(cmd)
}

// options returns the reader's options that the flags describe.
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

// attend connects reading to the command. Readers show progress in bar, stop when ctx is canceled,
// and print notes. The command closes the files that readers keep open.
func (env *environment) attend(ctx context.Context, opts *dataset.Options, bar *progress) {
	opts.Observe, opts.Context, opts.Note, opts.Opened = bar.bytes, ctx, env.noteOnce, env.keep
}

// keep registers a file to close at the end of the command.
func (env *environment) keep(file io.Closer) {
	env.filesLock.Lock()
	defer env.filesLock.Unlock()
	env.files = append(env.files, file)
}

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

// inputName returns the name of an input in messages.
func inputName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// open reads a data set of any format. The path "-" is standard input. flag names the flag with the
// path, and is empty for an argument. The caller prints the reader's warnings.
func (env *environment) open(ctx context.Context, flag, path string, opts dataset.Options) (*dataset.Dataset, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := inputName(path)
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

// readers is the number of reads of streamed data that may start while all cores compute.
const readers = 4

// checkCopied returns an error if d and a copy of d do not fit into memory together with beside
// further bytes. The limit is bytes. The features of a cache are mapped, so only their copy counts.
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

// leftBeside returns the part of a memory limit, in bytes, that remains after data are read.
// Features count unless they are streamed. Each query takes some bytes, of which the first 2 MiB do
// not count.
func leftBeside(data *dataset.Dataset, bytes int64) int64 {
	const few = 2 << 20
	held := max(0, memory.QueryBytes*int64(len(data.Queries))-few)
	if !data.Streamed() {
		held += featureBytes(data)
	}
	return max(1, bytes-held)
}

func featureBytes(d *dataset.Dataset) int64 { return 4 * int64(d.Docs()) * int64(d.Features) }

// opensAgain reports whether a path can be read repeatedly: a file, or a folder of shards.
func opensAgain(path string) bool {
	info, err := os.Stat(path)
	return path != "-" && err == nil && (info.Mode().IsRegular() || info.IsDir())
}

// limitTrainingGarbage makes the garbage collector run more often during training, because losses
// allocate much memory. With large data it runs even more often, because it takes a smaller share
// of the time. The environment variable GOGC overrides both rates.
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

// running counts the commands of this process. Several may run at once.
var running struct {
	sync.Mutex
	commands     int
	limit, every int64 // the memory limit, and GOGC in percent, before the first command
}

// leaveAsFound returns a function for the end of a command. The last command to end restores the
// memory limit, the rate of garbage collection and the number of workers.
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

// hintAtMemory appends a hint at --max-memory to an ErrTooLarge. It returns other errors unchanged.
func hintAtMemory(err error) error {
	if errors.Is(err, dataset.ErrTooLarge) {
		return fmt.Errorf("%w with --max-memory", err)
	}
	return err
}

type foldsReader func(dir string, opts dataset.Options) ([]tune.Fold, error)

func (env *environment) readFolds(from foldsReader, dir string, opts dataset.Options) ([]tune.Fold, error) {
	bar := env.startProgress("reading "+dir, 0)
	defer bar.finish()
	env.attend(opts.Context, &opts, bar)
	folds, err := from(dir, opts)
	return folds, folderFault(dir, err)
}

// openFolds shows progress and notes while open reads data with the options of b. It returns the
// result of open.
func openFolds[T any](ctx context.Context, env *environment, b *tune.Bounded, name string, open func() (T, error)) (T, error) {
	bar := env.startProgress("reading "+name, 0)
	defer bar.finish()
	env.attend(ctx, &b.Options, bar)
	return open()
}

// filesFault adds to err the flag of the file that could not be read.
func filesFault(files tune.Files, err error) error {
	for _, f := range []struct{ flag, path string }{{"train", files.Train}, {"valid", files.Valid}, {"test", files.Test}} {
		if err != nil && strings.Contains(err.Error(), f.path) {
			return inputFault(f.flag, f.path, someData, err)
		}
	}
	return err
}

// folderFault adds to err the flag of the folder that could not be read.
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

// openAndWarn opens a data set like open, and prints the reader's warnings. It is for commands
// whose result does not contain the warnings.
func (env *environment) openAndWarn(ctx context.Context, flag, path string, opts dataset.Options) (*dataset.Dataset, error) {
	d, err := env.open(ctx, flag, path, opts)
	if err == nil {
		env.warnings(d)
	}
	return d, err
}

// openParts reads several files as one data set with all their queries, and prints the warnings.
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

type tables struct {
	input, delimiter        string
	query, grade, doc       string
	weight, queryWeight     string
	features, oneHot        string
	negative                string
	featuresGiven, hotGiven func() bool
}

func (t *tables) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.input, "input", "", "input `format` (default: detected): "+suggest.OneOf(datafile.Formats()))
	f.StringVar(&t.query, "query", "", "`column` of query ids (default: query, qid, query_id, …)")
	f.StringVar(&t.grade, "grade", "", "`column` of grades (default: grade, label, relevance, …)")
	f.StringVar(&t.doc, "doc", "", "`column` of document ids (default: doc, docid, document_id, …)")
	f.StringVar(&t.weight, "weight", "", "`column` of document weights (default: document_weight)")
	f.StringVar(&t.queryWeight, "query-weight", "", "`column` of query weights, constant within a query (default: query_weight)")
	f.StringVar(&t.features, "features", "", "feature `columns`, or \"all but A,B\" (default: all but ids, grades, weights)")
	f.StringVar(&t.oneHot, "one-hot", "", "text `columns` to one-hot encode, or auto for all text columns")
	f.StringVar(&t.delimiter, "delimiter", "", "CSV `delimiter`, or tab (default: comma)")
	f.StringVar(&t.negative, "negative-grades", "error", "`how` to treat negative grades: error, zero or drop")
	t.featuresGiven = func() bool { return f.Changed("features") }
	t.hotGiven = func() bool { return f.Changed("one-hot") }
}

// allBut is the prefix of a --features value that lists the columns to leave out.
const allBut = "all but "

func (t *tables) apply(opts *dataset.Options) (err error) {
	if t.input != "" && !slices.Contains(datafile.Formats(), t.input) {
		return usageErrorf("--input %s%s", t.input, suggest.Or(t.input, datafile.Formats(), ": expected "+suggest.OneOf(datafile.Formats())+" (--data and --train name files)"))
	}
	opts.Input = t.input
	if opts.Negative, err = dataset.ParseNegative(t.negative); err != nil {
		return usageErrorf("--negative-grades: %w", err)
	}
	o := dataset.TableOptions{Query: t.query, Grade: t.grade, Doc: t.doc, Weight: t.weight, QueryWeight: t.queryWeight}
	if o.Delimiter, err = t.delimiterByte(); err != nil {
		return err
	}
	if list, but := strings.CutPrefix(t.features, allBut); but {
		o.Except, err = columnList("features", list)
	} else if t.featuresGiven() {
		o.Features, err = columnList("features", t.features)
	}
	if err != nil {
		return err
	}
	if t.oneHot == "auto" {
		o.OneHotAuto = true
	} else if t.hotGiven() {
		if o.OneHot, err = columnList("one-hot", t.oneHot); err != nil {
			return err
		}
	}
	opts.Table = o
	return nil
}

func columnList(flag, list string) ([]string, error) {
	names := strings.Split(list, ",")
	for i, name := range names {
		if names[i] = strings.TrimSpace(name); names[i] == "" {
			return nil, usageErrorf("--%s %q: expected names of columns, separated by commas", flag, list)
		}
		if slices.Contains(names[:i], names[i]) {
			return nil, usageErrorf("--%s: column %s is given twice", flag, names[i])
		}
	}
	return names, nil
}

// delimiterByte returns the delimiter, or 0 for the format's default.
func (t *tables) delimiterByte() (byte, error) {
	switch {
	case t.delimiter == "":
		return 0, nil
	case t.delimiter == "tab" || t.delimiter == `\t`:
		return '\t', nil
	case len(t.delimiter) == 1 && strings.ContainsAny(t.delimiter, "\t !#$%&'*,/:;<=>?@\\^_`|~"):
		return t.delimiter[0], nil
	}
	return 0, usageErrorf("--delimiter %q: expected tab or one of the characters , ; : | and others that do not occur in numbers, quotes or names", t.delimiter)
}

type sampling struct {
	share float64
	drawn uint64 // seed
	cmd   *cobra.Command
}

func (s *sampling) addTo(cmd *cobra.Command) {
	s.cmd = cmd
	cmd.Flags().Float64Var(&s.share, "sample", 1, "`share` of the queries to read, such as 0.1")
	cmd.Flags().Uint64Var(&s.drawn, "sample-seed", 0, "random `seed` of --sample")
}

func (s *sampling) sampled(opts *dataset.Options) error {
	if !(s.share > 0 && s.share <= 1) {
		return usageErrorf("--sample: found %v, expected a share above 0, up to 1", s.share)
	}
	if s.share < 1 {
		opts.Keep = dataset.SampleQueries(s.share, s.drawn)
	} else if s.cmd.Flags().Changed("sample-seed") {
		return usageErrorf("--sample-seed %d: expected it with a --sample below 1", s.drawn)
	}
	return nil
}
