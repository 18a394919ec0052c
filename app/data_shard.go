package app

import (
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/shards"
)

type shardFlags struct {
	dataInput
	shards int
	parts  bool
	as     string
	out    string
}

func newDataShardCommand(env *environment) *cobra.Command {
	var f shardFlags
	cmd := &cobra.Command{
		Use:   "shard (FILE... --shards N | --parts FILE...) --out FOLDER",
		Short: "Divide a data set into files for several machines",
		Long: `Writes the queries of one or more files as N files with about equally many documents,
part-00000.lwd and so on, and a manifest, shards.json. The manifest contains the
files' names, checksums and numbers of queries and documents. Queries are not split
and keep their order. Commands that read a data file read FOLDER, or
FOLDER/shards.json, with the same result.

With --parts, the given files (in FOLDER or below) are the shards, in any format, and
only the manifest is written. A query in two of them is an error.

A missing or changed shard is an error for every command that reads it. "score" and
"eval" process a single shard with --shard. Features go through a temporary cache in or
beside FOLDER, not through memory. Old shards in FOLDER remain until all new shards
are written.`,
		Example: `  listwise data shard train.txt.gz --shards 4 --out train
  listwise data shard shop.csv --shards 8 --as .parquet --out shop
  listwise data shard --parts days/mon.parquet days/tue.parquet --out days`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	f.addTo(cmd)
	fl := cmd.Flags()
	addWhole(fl, &f.shards, "shards", 16, 1, "`number` of shards")
	fl.BoolVar(&f.parts, "parts", false, "the given files are the shards")
	fl.StringVar(&f.as, "as", ".lwd", "`ending` of shard files, such as .lwd, .txt.gz or .parquet")
	fl.StringVar(&f.out, "out", "", "output `folder`")
	return cmd
}

type shardsJSON struct {
	writtenJSON
	Shards int `json:"shards"`
}

func (f *shardFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	files, err := f.check(cmd, args)
	if err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	c := env.conversion(cmd.Context(), files, opts)
	var m *shards.Manifest
	if f.parts {
		c.Options.Missing = dataset.MissingKeep // the given files remain unchanged
		m, err = datafile.Index(filepath.Join(f.out, shards.FileName), files, c.Options)
	} else {
		m, err = datafile.Shard(c, f.out, f.as, f.shards)
	}
	if err != nil {
		return conversionFault(err)
	}
	w := shardsJSON{writtenJSON{f.out, m.Queries, m.Documents, m.Features}, len(m.Shards)}
	r := w.report()
	r.rows, r.json = append(r.rows, []any{"shards", w.Shards}), w
	return env.print(r)
}

// check returns the given files, or an error if flags contradict each other.
func (f *shardFlags) check(cmd *cobra.Command, args []string) ([]string, error) {
	if err := required(cmd, "out"); err != nil {
		return nil, err
	}
	files, err := f.files(cmd, args)
	if err != nil {
		return nil, err
	}
	if f.parts && (cmd.Flags().Changed("shards") || cmd.Flags().Changed("as")) {
		return nil, usageErrorf("--shards and --as are for dividing files; with --parts each file is a shard")
	}
	if f.parts && slices.Contains(files, "-") {
		return nil, usageErrorf("--parts -: expected files")
	}
	return files, f.targets(files).check()
}

// targets returns the files read and the output. With --parts only the manifest is written, so the
// folder may contain the given shards.
func (f *shardFlags) targets(files []string) *targets {
	if f.parts {
		return new(targets).reads("", files...).writes("--out", filepath.Join(f.out, shards.FileName))
	}
	return new(targets).reads("", files...).fills(f.out)
}
