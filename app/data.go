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
	"github.com/listwise/listwise/dataset/memory"
)

func newDataCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data",
		Short: "Inspect, change, convert and generate data sets",
		Long: `Describes, cleans, normalizes, divides, converts and generates data sets.

LETOR text has one judged document per line:

  GRADE qid:QUERY 1:VALUE 2:VALUE … # docid = ID

Tables are CSV and TSV, whose first line names the columns, JSON lines with one object
per document (.jsonl, .ndjson), and flat Parquet files or folders of their parts, as
Spark writes them. Text and tables other than Parquet may be compressed with gzip or
zstandard. A .lwd cache opens at once at any size. Judgements (TREC's qrels, or a list
of Quepid or of the Rated Ranking Evaluator) are data without features.

Input formats are detected by name and content; --input overrides this. The ending of
an output file sets its format: .lwd, .csv, .tsv, .jsonl, .parquet, otherwise LETOR
text. A further .gz or .zst compresses text and tables. The output "-" is text on
standard output, or a table with --format csv or json (JSON lines).

Flags of all commands that read data:
  --query, --grade, --doc   columns of query ids, grades and document ids
  --features                columns of features (default: all other columns)
  --query-weight, --weight  columns of weights: losses use both, and means of
                            measures use only query weights
  --one-hot                 text columns: each value becomes a feature COLUMN=VALUE; text
                            in other columns is an error
  --missing                 how to treat missing values (nan, NULL, NA and empty cells, and
                            the numbers of --missing-value): zero, min (least value
                            within the query), keep, or error
  --absent                  value of features that a line of LETOR text omits: zero, or
                            missing as in XGBoost (then --missing applies)
  --negative-grades         error, zero, or drop the document
  --threshold               lowest relevant grade; auto: 1 if all grades are integers
                            (2 under the convention mslr), otherwise the smallest
                            positive grade
  --max-memory              limit for the program, its data and its results; at least
                            0.03; by default three quarters of the machine's memory at
                            most. Many commands read larger data from disk`,
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
		newDataLogCommand(env),
		newDataSynthCommand(env),
	)
	return cmd
}

// dataInput is the input of a data command: files given by --data, as arguments, or both.
type dataInput struct {
	reading
	data     []string
	ungraded bool // a table needs no grades
	stream   bool // read features query by query if they exceed the memory
	rewrite  bool // the command changes and writes the data, which takes half of the memory
}

func (in *dataInput) addTo(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&in.data, "data", nil, "data `file`, like an argument; - is standard input")
	in.reading.addTo(cmd)
}

func (in *dataInput) files(cmd *cobra.Command, args []string) ([]string, error) {
	files := slices.Concat(in.data, args)
	if len(files) == 0 {
		return nil, needs(cmd, "a data file")
	}
	return files, nil
}

// read returns the documents of all files as one data set, with the warnings of all readers.
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
	held := int64(0) // bytes of the features of all files and of their concatenation
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
	// Text may omit features that are 0, so files of one collection can differ in their number of
	// features. Read the narrower files again.
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
		return nil, usageErrorf("the files in the given order: %w", err)
	}
	all.Warnings = warnings
	return all, nil
}

func sizeOf(files []string) (bytes int64) {
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
	}
	return bytes
}

// readAndWarn reads the data like read, and prints the readers' warnings. It is for commands whose
// result does not contain the warnings.
func (in *dataInput) readAndWarn(cmd *cobra.Command, env *environment, args []string) (*dataset.Dataset, error) {
	d, err := in.read(cmd, env, args)
	if err != nil {
		return nil, err
	}
	env.warnings(d)
	return d, nil
}

type dataOutput struct {
	out    string
	sparse bool
	memory int64 // limit in bytes for writers; 0: the writer's default
}

func (o *dataOutput) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "output `file`; its ending sets the format; - is standard output")
	f.BoolVar(&o.sparse, "sparse", false, "omit zero-valued features (LETOR text output only)")
}

// check checks the flags of a command that reads the given files.
func (o *dataOutput) check(cmd *cobra.Command, inputs ...string) error {
	if err := required(cmd, "out"); err != nil {
		return err
	}
	if o.sparse && datafile.IsCache(o.out) {
		return usageErrorf("--sparse applies to LETOR text, not to the cache %s", o.out)
	}
	if o.sparse && datafile.IsTable(o.out) {
		return usageErrorf("--sparse applies to LETOR text, not to the table %s", o.out)
	}
	return o.targets(inputs).check()
}

// write writes the data set. It prints the report, unless the data go to standard output.
func (o *dataOutput) write(ctx context.Context, env *environment, d *dataset.Dataset, r report) error {
	if len(d.Queries) == 0 {
		return usageErrorf("no documents left to write to %s", o.out)
	}
	if d.Features == 0 {
		return usageErrorf("%s: found documents without features to write, expected at least one feature", o.out)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	bar := env.startProgress("writing "+o.out+", queries", 0)
	defer bar.finish()
	opts := datafile.TextOptions{Sparse: o.sparse, Observe: bar.set, MaxBytes: o.memory}
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

// streamName returns a file name whose ending sets the format of data on standard output. The
// format is LETOR text, or a table if --format asks for one.
func (env *environment) streamName() string {
	switch env.format {
	case "csv":
		return "out.csv"
	case "json":
		return "out.jsonl"
	}
	return "out.txt"
}

// writtenJSON is the common beginning of the JSON form of commands that write data.
type writtenJSON struct {
	Out       string `json:"out"`
	Queries   int    `json:"queries"`
	Documents int    `json:"documents"`
	Features  int    `json:"features"`
}

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
