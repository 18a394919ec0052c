package app

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

type convertFlags struct {
	dataInput
	dataOutput
	sampling
	oneShard

	scattered string
}

func newDataConvertCommand(env *environment) *cobra.Command {
	var f convertFlags
	cmd := &cobra.Command{
		Use:   "convert FILE... --out FILE",
		Short: "Convert a data set to another format, or merge files",
		Long: `Reads one or more files of any format and writes them as one. The ending of the output
sets the format: .lwd (cache), .txt, .csv, .tsv, .jsonl or .parquet; all but caches
and Parquet are compressed if .gz or .zst follows. Feature names are kept; text has
them in a comment.

Memory never contains all features: the inputs are read twice, first to locate each
document. --max-memory limits the memory for query ids. A pipe is first copied to a
temporary file beside the output. Documents that are written as text in another order,
or with --missing min, use a temporary file, too.

If a query's documents are not consecutive in a file, they are collected, with a
warning. --scattered refuse makes this an error.

Missing values are replaced as --missing says. Train with the same rule: the converted
file no longer shows which values were missing.

--sample reads a share of the queries, chosen by a hash of their ids. --shard converts
one shard of a folder, with the features of all shards.`,
		Example: `  listwise data convert train.txt.gz --out train.lwd
  listwise data convert train.lwd --out train.txt
  listwise data convert clicks.csv --query session --grade rating --one-hot brand --out clicks.jsonl.gz
  listwise data convert S1.txt S2.txt S3.txt --out train.txt.zst
  listwise data convert train.txt.gz --sample 0.5 --out some.lwd
  listwise data convert test-shards --shard 3 --out part-3.parquet`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	f.dataInput.addTo(cmd)
	f.dataOutput.addTo(cmd)
	f.sampling.addTo(cmd)
	f.oneShard.addTo(cmd, "`number` of the shard to convert, from 0 (default: all)")
	cmd.Flags().StringVar(&f.scattered, "scattered", "collect", "`how` to treat scattered queries: collect or refuse")
	return cmd
}

// convert converts all inputs, or one shard of them.
func (f *convertFlags) convert(c datafile.Conversion) (*datafile.Converted, error) {
	if !f.isOne() {
		return datafile.Convert(c)
	}
	if len(c.Inputs) != 1 {
		return nil, usageErrorf("--shard: found %d inputs, expected one folder of shards", len(c.Inputs))
	}
	if err := f.find(c.Inputs[0]); err != nil {
		return nil, err
	}
	return datafile.ConvertShard(c, f.among, f.shard)
}

func (f *convertFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	if f.scattered != "collect" && f.scattered != "refuse" {
		return usageErrorf("--scattered: found %q, expected collect or refuse", f.scattered)
	}
	if err := f.check(cmd, slices.Concat(f.data, args)...); err != nil {
		return err
	}
	files, err := f.files(cmd, args)
	if err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	if err := f.sampled(&opts); err != nil {
		return err
	}
	c := env.conversion(cmd.Context(), files, opts)
	c.Refuse = f.scattered == "refuse"
	return f.dataOutput.convert(env, c, f.convert, writtenJSON.report)
}

// conversion returns the description of a conversion of files, with this command's progress and
// error messages.
func (env *environment) conversion(ctx context.Context, files []string, opts dataset.Options) datafile.Conversion {
	opts.Context, opts.Note = ctx, env.noteOnce
	return datafile.Conversion{
		Inputs: files, Stdin: env.stdin, Options: opts,
		Reading: func(name string) (observe func(done, total int64), end func()) {
			b := env.startProgress("reading "+name, 0)
			return b.bytes, b.finish
		},
		Fault: func(path string, err error) error { return inputFault("", path, someData, err) },
	}
}

// conversionFault returns the error of a conversion in the form that commands report.
func conversionFault(err error) error {
	if join, ok := errors.AsType[*datafile.JoinError](err); ok {
		return usageErrorf("%w", join)
	}
	return hintAtMemory(err)
}

// convert writes the output of a conversion and prints the report of what it wrote. Progress begins with the first query
// written.
func (o *dataOutput) convert(env *environment, c datafile.Conversion, do func(datafile.Conversion) (*datafile.Converted, error), written func(writtenJSON) report) error {
	writing := stagedProgress{env: env}
	c.Out, c.Stdout, c.As = o.out, env.stdout, env.streamName()
	c.Text = datafile.TextOptions{Sparse: o.sparse, Observe: func(done, total int) { writing.set("writing "+o.out+", queries", done, total) }}
	done, err := do(c)
	writing.finish()
	if err != nil {
		return conversionFault(err)
	}
	env.warnings(&dataset.Dataset{Warnings: done.Warnings})
	if o.out == "-" {
		return nil
	}
	return env.print(written(writtenJSON{o.out, done.Queries, done.Documents, done.Features}))
}
