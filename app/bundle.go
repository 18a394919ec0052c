package app

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/internal/atomicfile"
)

type bundleFlags struct {
	testFlags
	measures string
	data     []string
	source   []string
	add      []string
	models   bool
	out      string
	checked  string
}

func newBundleCommand(env *environment) *cobra.Command {
	var f bundleFlags
	cmd := &cobra.Command{
		Use:   "bundle (PATH|ID)… --out FILE.tar.gz",
		Short: "Pack the results of a paper with a script that checks them",
		Long: `Packs the results of runs so that others can check them. PATH is the --out folder of
tune or auto, or the --model file of train. ID is the number of a recorded run (see
"listwise runs"). Run bundle in the folder that has the record.

FILE.tar.gz gets:
  README.md      what is inside and how to check it
  manifest.json  commands, versions, seeds, chosen settings, fingerprints of all files
  runs           the values of each test query for each random seed, and learning curves
  tables         means, and comparisons as "compare" prints them, in LaTeX, Markdown
                 and CSV: a table for each data set, and with --baseline one of all
  data           names, sizes and SHA-256 of the data files, never the data
  files          what --add names, such as figures
  source         the Go files that --source names
  check.sh       a script for a POSIX shell

check.sh verifies all checksums and recomputes the means. With listwise, it recomputes
the tables from the packed values. With --data NAME=PATH, it verifies the data,
trains again and compares the values: the same bytes by the same version of listwise,
otherwise within --tolerance.

The values of a model of train are those of a recorded eval on test data. A search of
auto needs --trials without --budget, because a time limit makes the result depend on
the machine.

A run is refused if its values or means are not those in the record, if a fold or
method is missing, or if the data have changed since. With --models, each model must
give the packed scores, and these the values.

Results of a Go program that calls tune.Run need --source and --data. check.sh builds
the program and runs it with two arguments, the data folder and the results folder. The
values must be those of the packed scores under one of the conventions.

--check DIR computes the tables of an unpacked bundle again, for check.sh.`,
		Example: `  listwise bundle tuned/ohsumed tuned/mq2008 --baseline mle --out paper.tar.gz
  listwise bundle 15 16 --add curve.svg --models --out paper.tar.gz
  listwise bundle runs/repeated runs/auto ranknet.json --out paper.tar.gz
  listwise bundle runs/own --source main.go --data OHSUMED --out paper.tar.gz`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.require(cmd, args); err != nil {
				return err
			}
			if f.checked != "" {
				return checkBundle(env, f.checked)
			}
			return f.run(cmd.Context(), env, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "output `file`, FILE.tar.gz")
	fl.StringVar(&f.measures, "measures", "", "`measures` of the tables, separated by commas (default: all)")
	addList(fl, &f.data, "data", "folder", "data `folder` of a Go program; repeatable")
	addList(fl, &f.source, "source", "file", "Go `file` of the program that trained; repeatable")
	addList(fl, &f.add, "add", "file", "further `file`, such as a figure; repeatable")
	fl.BoolVar(&f.models, "models", false, "pack models and test scores")
	fl.StringVar(&f.checked, "check", "", "unpacked `folder` whose tables to check")
	f.addTo(cmd, "every pair")
	return cmd
}

// bundleEnding is the ending of bundles.
const bundleEnding = ".tar.gz"

func (f *bundleFlags) require(cmd *cobra.Command, args []string) error {
	if f.checked != "" {
		if len(args) > 0 || cmd.Flags().Changed("out") {
			return usageErrorf("--check %s: found runs or --out, expected neither", f.checked)
		}
		return nil
	}
	if err := required(cmd, "out"); err != nil {
		return err
	}
	if len(args) == 0 {
		return needs(cmd, "a folder of results, a model or the number of a run")
	}
	if !strings.HasSuffix(f.out, bundleEnding) {
		return usageErrorf("--out %s: expected a name that ends with %s", f.out, bundleEnding)
	}
	return f.targets(args).check()
}

// bundleJSON is the file manifest.json of a bundle. The tables are computed from it and from the
// files of values that it names. Scripts rely on its names.
type bundleJSON struct {
	Format   string       `json:"format"`
	Version  int          `json:"version"`
	Listwise versionJSON  `json:"listwise"` // of the program that wrote the bundle
	Data     []bundleData `json:"data"`
	Runs     []*bundleRun `json:"runs"`
	Tables   bundleTables `json:"tables"`
	Source   *bundleGo    `json:"source,omitempty"`
	Files    []bundleFile `json:"files"` // all but manifest.json and SHA256SUMS
}

const (
	bundleFormat  = "listwise-bundle"
	bundleVersion = 1
)

// bundleFile is a file with its SHA-256. In data, Path is relative to the folder, or "." for a file.
type bundleFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// bundleTables has the options of the tables.
type bundleTables struct {
	Measures     []string `json:"measures,omitempty"` // all if empty
	Baseline     string   `json:"baseline,omitempty"`
	Permutations int      `json:"permutations"`
	Resamples    int      `json:"resamples"`
	Seed         uint64   `json:"seed"`
}

// bundle is a bundle that is being written.
type bundle struct {
	*bundleFlags

	manifest bundleJSON
	files    map[string][]byte // by their paths in the bundle
	data     []openedData      // in the order of manifest.Data
	records  *bundleRecords
	added    []int64        // numbers of recorded runs
	programs []*programData // of --data; nil until needed
	notes    []string       // about what the tables lack
}

func (f *bundleFlags) run(ctx context.Context, env *environment, args []string) error {
	b := &bundle{bundleFlags: f, files: make(map[string][]byte)}
	b.manifest = bundleJSON{
		Format: bundleFormat, Version: bundleVersion, Listwise: thisVersion(),
		Tables: bundleTables{Baseline: f.baseline, Permutations: f.permutations, Resamples: f.resamples, Seed: f.seed},
	}
	if f.measures != "" {
		b.manifest.Tables.Measures = strings.Split(f.measures, ",")
	}
	if err := b.addSource(); err != nil {
		return err
	}
	bar := env.startProgress("checking runs", len(args))
	defer bar.finish()
	for i, arg := range args {
		bar.set(i, len(args))
		if err := b.addRuns(ctx, arg); err != nil {
			return err
		}
	}
	bar.finish()
	if err := b.unused(); err != nil {
		return err
	}
	for _, name := range f.add {
		if err := b.addFile("files/"+safeName(filepath.Base(name)), name); err != nil {
			return usageErrorf("--add: %w", err)
		}
	}
	tables, notes, err := bundleTablesOf(&b.manifest, func(name string) ([]byte, error) { return b.files[name], nil })
	if err != nil {
		return err
	}
	b.notes = notes
	maps.Copy(b.files, tables)
	if err := b.describe(); err != nil {
		return err
	}
	if err := b.checkPrivate(); err != nil {
		return err
	}
	if err := atomicfile.Write(f.out, b.write); err != nil {
		return err
	}
	return env.print(b.report())
}

// top is the folder that all files of the bundle are in.
func (f *bundleFlags) top() string {
	return safeName(strings.TrimSuffix(filepath.Base(f.out), bundleEnding))
}

// addFile adds a file under a path in the bundle.
func (b *bundle) addFile(name, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if _, twice := b.files[name]; twice {
		return fmt.Errorf("%s: found two files for %s in the bundle, expected other names", from, name)
	}
	b.files[name] = text
	return nil
}

// describe adds the fingerprints of the data, README.md, check.sh, manifest.json and SHA256SUMS.
func (b *bundle) describe() error {
	for i := range b.manifest.Data {
		d := &b.manifest.Data[i]
		b.files["data/"+d.Name+".sha256"] = sums(d.Files)
	}
	b.files["README.md"] = b.readme()
	b.files["check.sh"] = b.script()
	b.manifest.Files = b.listed()
	var text bytes.Buffer
	if err := atomicfile.JSON(b.manifest)(&text); err != nil {
		return err
	}
	b.files[manifestName] = text.Bytes()
	b.files[sumsName] = sums(b.listed())
	return nil
}

const (
	manifestName = "manifest.json"
	sumsName     = "SHA256SUMS"
)

// listed returns the files of the bundle with their checksums, sorted by path.
func (b *bundle) listed() []bundleFile {
	var all []bundleFile
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		all = append(all, bundleFile{name, sha256Of(b.files[name]), len(b.files[name])})
	}
	return all
}

func sha256Of(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// sums returns the lines of a file for "sha256sum --check".
func sums(files []bundleFile) []byte {
	var text []byte
	for _, f := range files {
		text = fmt.Appendf(text, "%s  %s\n", f.SHA256, f.Path)
	}
	return text
}

// checkPrivate returns an error if a text file contains the path of the working folder or of the
// user's home folder.
func (b *bundle) checkPrivate() error {
	var private []string
	if dir, err := os.Getwd(); err == nil {
		private = append(private, dir)
	}
	if home, err := os.UserHomeDir(); err == nil {
		private = append(private, home)
	}
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		for _, dir := range private {
			if len(dir) > 1 && containsPath(b.files[name], dir) {
				return usageErrorf("%s of the bundle contains the path %s of this machine, expected none: give relative paths to the commands, or edit the file", name, dir)
			}
		}
	}
	return nil
}

// containsPath reports whether a text contains the path of a folder, alone or followed by a separator.
// The end of another path does not count.
func containsPath(text []byte, dir string) bool {
	const inNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.}"
	for {
		before, after, found := bytes.Cut(text, []byte(dir))
		if !found {
			return false
		}
		begins := len(before) == 0 || !strings.ContainsRune(inNames, rune(before[len(before)-1]))
		ends := len(after) == 0 || !strings.ContainsRune(inNames, rune(after[0]))
		if begins && ends {
			return true
		}
		text = after
	}
}

// write writes the archive. Equal files give equal bytes: names are sorted, and times are constant.
func (b *bundle) write(w io.Writer) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		text := b.files[name]
		mode := int64(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		header := tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(b.top(), name), Size: int64(len(text)), Mode: mode,
			ModTime: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC),
		}
		if err := archive.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := archive.Write(text); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

// report is what the command prints.
func (b *bundle) report() report {
	systems, tables := 0, 0
	for _, r := range b.manifest.Runs {
		systems += len(r.Systems)
	}
	for name := range b.files {
		if strings.HasPrefix(name, "tables/") {
			tables++
		}
	}
	return report{
		title:   "wrote " + b.out,
		columns: []string{"what", "number"},
		rows: [][]any{
			{"data sets", len(b.manifest.Data)}, {"runs", len(b.manifest.Runs)}, {"systems", systems},
			{"tables", tables}, {"files", len(b.files)},
		},
		notes:   append(b.notes, "To check it: tar xzf "+shellLine(b.out)+" && sh "+shellLine(b.top()+"/check.sh")),
		json:    b.manifest,
		written: true,
	}
}

// safeName returns a name that is a plain file name in every file system and needs no quotes in a
// shell. Other characters than letters, digits, dots, hyphens and underscores become underscores.
func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 128 && (r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, name)
	const longest = 60 // leaves space for the other parts of a path in an archive
	if name = name[:min(len(name), longest)]; name == "" || name[0] == '.' || name[0] == '-' {
		name = "_" + name
	}
	return name
}

// unusedName returns a safe name that used does not accept, with a number after it if necessary.
func unusedName(name string, used func(string) bool) string { return unusedPath(safeName(name), used) }

// unusedPath returns a path that used does not accept, with a number after it if necessary.
func unusedPath(path string, used func(string) bool) string {
	for n, base := 2, path; used(path); n++ {
		path = fmt.Sprintf("%s-%d", base, n)
	}
	return path
}

// readManifest reads the manifest of an unpacked bundle.
func readManifest(dir string) (*bundleJSON, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, usageErrorf("--check: %w", err)
	}
	var m bundleJSON
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, usageErrorf("--check: %s: %w", filepath.Join(dir, manifestName), err)
	}
	if m.Format != bundleFormat || m.Version != bundleVersion {
		return nil, usageErrorf("--check %s: found format %q, version %d, expected %q, version %d", dir, m.Format, m.Version, bundleFormat, bundleVersion)
	}
	return &m, nil
}
