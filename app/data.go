package app

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/letor"
	"github.com/listwise/listwise/dataset/memory"
)

func newDataCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data",
		Short: "Look at judged queries, change them, or make some",
		Long: `Describes, cleans, normalizes, divides, converts and generates data sets.

A data set is a file of judged documents, one a line:

  GRADE qid:QUERY 1:VALUE 2:VALUE … # docid = ID

as text, as text compressed by gzip or zstandard, or as a .lwd cache, which opens
at once at any size. Commands recognise the format of an input by its content,
and choose the format of an output by the end of its name.

Files may be tables, too: CSV and TSV, whose first line names the columns, JSON
lines, an object a document (.jsonl, .ndjson), whose members are the columns, all
three plain or compressed, and flat Parquet files, or a folder of parts of one,
as Spark writes it. They are recognised by the end of the name, their first line
or first bytes, or named by --input. One column has the queries, others the
grades and the documents' ids (--query, --grade, --doc); all others are features
unless --features says which, and give them their names. Empty cells, NA, nan and
null are missing (--missing). Text is refused, or each of its values made a
feature (--one-hot).`,
		Example: `  listwise data info train.txt
  listwise data info clicks.csv --query session --grade rating --one-hot brand
  listwise data fold all.txt.gz --folds 5 --out folds
  listwise data synth --shape ohsumed --out train.txt`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newDataInfoCommand(env),
		newDataReportCommand(env),
		newDataCurveCommand(env),
		newDataCleanCommand(env),
		newDataNormalizeCommand(env),
		newDataFoldCommand(env),
		newDataConvertCommand(env),
		newDataShardCommand(env),
		newDataJoinCommand(env),
		newDataSynthCommand(env),
	)
	return cmd
}

// dataInput is where a data command reads from: files given with --data, as
// arguments, or both.
type dataInput struct {
	reading
	data     []string
	ungraded bool // a table needs no grades
	stream   bool // features are read query by query where they are more than memory
	rewrite  bool // what is read is changed and written: half of the memory is for that
}

func (in *dataInput) addTo(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&in.data, "data", nil, "data `file`, the same as an argument; - is standard input")
	in.reading.addTo(cmd)
}

// files returns all files named.
func (in *dataInput) files(cmd *cobra.Command, args []string) ([]string, error) {
	files := slices.Concat(in.data, args)
	if len(files) == 0 {
		return nil, needs(cmd, "a data file")
	}
	return files, nil
}

// read returns the documents of all files as one data set, whose Warnings are
// those of all readers.
func (in *dataInput) read(cmd *cobra.Command, env *environment, args []string) (*dataset.Dataset, error) {
	files, err := in.files(cmd, args)
	if err != nil {
		return nil, err
	}
	opts, err := in.options()
	if err != nil {
		return nil, err
	}
	opts.Table.Ungraded, opts.Stream = in.ungraded, in.stream
	if in.rewrite {
		opts.MaxBytes = max(1, opts.MaxBytes/2)
	}
	sets := make([]*dataset.Dataset, len(files))
	held := int64(0) // of features of all files, and of the copy that they are put together in
	opts.Unheld = in.stream && len(files) > 1 && sizeOf(files) > opts.MaxBytes/4
	for i, path := range files {
		if sets[i], err = env.open(cmd.Context(), "", path, opts); err != nil {
			return nil, err
		}
		if len(files) > 1 && !sets[i].Streamed() {
			if held += featureBytes(sets[i]); !strings.HasSuffix(path, ".lwd") {
				held += featureBytes(sets[i])
			}
		}
		if held > opts.MaxBytes {
			return nil, hintAtMemory(&dataset.SyntaxError{
				File: path, Found: fmt.Sprintf("features that, with those of the files before and a copy of all, take %s of memory", memory.Bytes(float64(held))),
				Expected: "at most " + memory.Bytes(float64(opts.MaxBytes)) + ", or the files in one, see data convert, or raise the limit", Err: dataset.ErrTooLarge,
			})
		}
		opts.MinFeatures = max(opts.MinFeatures, sets[i].Features)
	}
	if len(sets) == 1 {
		return sets[0], nil
	}
	// Text may leave out features that are 0, so the files of one collection can
	// differ in their number. The narrower ones are read again.
	var warnings []string
	for i, path := range files {
		if sets[i].Features < opts.MinFeatures && path != "-" {
			if sets[i], err = env.open(cmd.Context(), "", path, opts); err != nil {
				return nil, err
			}
		}
		warnings = append(warnings, sets[i].Warnings...)
	}
	all, err := dataset.Concat(sets...)
	if err != nil {
		return nil, usageErrorf("the files in the order given: %w", err)
	}
	all.Warnings = warnings
	return all, nil
}

// sizeOf returns the bytes of all files that have a size.
func sizeOf(files []string) (bytes int64) {
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
	}
	return bytes
}

// readAndWarn is read for commands whose result does not hold the readers' warnings: it
// prints them.
func (in *dataInput) readAndWarn(cmd *cobra.Command, env *environment, args []string) (*dataset.Dataset, error) {
	d, err := in.read(cmd, env, args)
	if err != nil {
		return nil, err
	}
	env.warnings(d)
	return d, nil
}

// dataOutput is where a data command writes to.
type dataOutput struct {
	out    string
	sparse bool
	memory int64 // of which writers may hold a part; 0: as much as helps
}

func (o *dataOutput) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "`file` to write: a cache if its name ends in .lwd, a table if in .csv, .tsv, .jsonl or .parquet, text otherwise; text and tables are compressed if .gz or .zst follows; - is standard output: text, or by --format csv or json a table, in JSON lines")
	f.BoolVar(&o.sparse, "sparse", false, "leave out features that are 0 (text only)")
}

// check checks the flags of a command that reads the given files.
func (o *dataOutput) check(cmd *cobra.Command, inputs ...string) error {
	if err := required(cmd, "out"); err != nil {
		return err
	}
	if o.sparse && datafile.IsCache(o.out) {
		return usageErrorf("--sparse is for text, not for the cache %s", o.out)
	}
	if o.sparse && datafile.IsTable(o.out) {
		return usageErrorf("--sparse is for LETOR text, not for the table %s", o.out)
	}
	return o.targets(inputs).check()
}

// write writes the data set, and the report of what was done to standard output
// unless the data go there.
func (o *dataOutput) write(ctx context.Context, env *environment, d *dataset.Dataset, r report) error {
	if len(d.Queries) == 0 {
		return usageErrorf("no document is left to write to %s", o.out)
	}
	if d.Features == 0 {
		return usageErrorf("%s: found documents without features to write, expected at least one feature", o.out)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	bar := env.startProgress("writing "+o.out+", queries", 0)
	defer bar.finish()
	opts := letor.Options{Sparse: o.sparse, Observe: bar.set, MaxBytes: o.memory}
	if o.out != "-" {
		if err := datafile.Write(o.out, d, opts); err != nil {
			return err
		}
		bar.finish()
		return env.print(r)
	}
	w := bufio.NewWriterSize(env.stdout, 1<<16)
	if err := datafile.WriteTo(w, env.streamName(), d, opts); err != nil {
		return err
	}
	return w.Flush()
}

// streamName is a name whose end tells what goes to standard output as data: LETOR text, or a
// table if --format asks for one.
func (env *environment) streamName() string {
	switch env.format {
	case "csv":
		return "out.csv"
	case "json":
		return "out.jsonl"
	}
	return "out.txt"
}

// writtenJSON begins the JSON form of every command that writes data.
type writtenJSON struct {
	Out       string `json:"out"`
	Queries   int    `json:"queries"`
	Documents int    `json:"documents"`
	Features  int    `json:"features"`
}

// written reports the size of what a command wrote.
func (o *dataOutput) written(d *dataset.Dataset) (report, writtenJSON) {
	w := writtenJSON{o.out, len(d.Queries), d.Docs(), d.Features}
	return w.report(), w
}

func (w writtenJSON) report() report {
	return report{
		title:   "wrote " + w.Out,
		written: true,
		columns: []string{"what", "number"},
		rows:    [][]any{{"queries", w.Queries}, {"documents", w.Documents}, {"features", w.Features}},
		json:    w,
	}
}
