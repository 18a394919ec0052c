package app

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/datareport"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/atomicfile"
)

type dataReportFlags struct {
	dataInput
	judging
	against, out, title string
	sample              int
	maxSize             float64 // MB
	seed                uint64
}

func newDataReportCommand(env *environment) *cobra.Command {
	var f dataReportFlags
	cmd := &cobra.Command{
		Use:   "report --data FILE [--against G] --out FILE",
		Short: "Write an HTML page about features, anomalies and drift",
		Long: `Writes one HTML page about a data set. It begins with anomalies. It shows sizes,
grades, list lengths, and for each feature its distribution, missing values and the
NDCG@10 of ranking by it alone, with an interval. It lists duplicate and nearly
duplicate features, and columns that are probably not features: identifiers, and
values known only after the judgement, which rank nearly perfectly.

--against compares with other data with the same features, such as the test data or
yesterday's: queries in both, and features whose distribution changed. The
tests are over queries, and corrected for the number of features.

Missing values are counted, unless --missing replaces them. Data with more documents
than --sample are described by randomly drawn queries.`,
		Example: `  listwise data report --data train.txt --out train.html
  listwise data report --data train.txt --against test.txt --out drift.html`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "out"); err != nil {
				return err
			}
			return f.run(cmd, env, args)
		},
	}
	fl := cmd.Flags()
	f.dataInput.addTo(cmd)
	keep := fl.Lookup("missing")
	keep.DefValue, f.missing = dataset.MissingKeep.String(), dataset.MissingKeep.String()
	fl.StringVar(&f.against, "against", "", "`file` to compare the data with")
	fl.StringVar(&f.out, "out", "", "HTML `file` to write")
	fl.StringVar(&f.title, "title", "", "page `title` (default: the data's name)")
	addWhole(fl, &f.sample, "sample", datareport.DefaultMaxDocs, 1, "`number` of documents above which a sample is described")
	addPositive(fl, &f.maxSize, "max-size", datareport.DefaultMaxBytes/1e6, 1000, "page size limit in `MB`")
	fl.Uint64Var(&f.seed, "seed", 1, "random `seed`")
	f.judging.addTo(cmd)
	return cmd
}

func (f *dataReportFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	convention, err := f.parseConvention()
	if err != nil {
		return err
	}
	files, err := f.files(cmd, args)
	if err != nil {
		return err
	}
	if err := new(targets).reads("", files...).reads("--against", f.against).writes("--out", f.out).check(); err != nil {
		return err
	}
	d, err := f.readAndWarn(cmd, env, args)
	if err != nil {
		return err
	}
	if need := 4 * int64(f.sample) * int64(d.Features); d.Docs() > f.sample && need > f.left {
		return hintAtMemory(&dataset.SyntaxError{
			File: files[0], Found: fmt.Sprintf("a sample of %d documents × %d features × 4 bytes = %s", f.sample, d.Features, memory.Bytes(float64(need))),
			Expected: "at most " + memory.Bytes(float64(f.left)) + ", take a smaller --sample or raise the limit", Err: dataset.ErrTooLarge,
		})
	}
	config := datareport.Config{
		Title: f.title, Source: filepath.Base(files[0]), MaxDocs: f.sample, MaxBytes: int(f.maxSize * 1e6), Seed: f.seed,
	}
	if len(files) > 1 {
		config.Source = fmt.Sprintf("%d files", len(files))
	}
	if config.Title == "" {
		config.Title = "Data: " + config.Source
	}
	sets := []*dataset.Dataset{d}
	var against *dataset.Dataset
	if f.against != "" {
		opts, err := f.options()
		if err != nil {
			return err
		}
		config.Against = filepath.Base(f.against)
		opts.MinFeatures = d.Features
		if against, err = env.openAndWarn(cmd.Context(), "against", f.against, opts); err != nil {
			return err
		}
		sets = append(sets, against)
	}
	config.Convention = env.settle(convention, sets...)
	bar := env.startProgress("describing, features", 0)
	config.Observe = bar.set
	r, err := datareport.Build(cmd.Context(), d, against, config)
	bar.finish()
	if err != nil {
		if cmd.Context().Err() != nil {
			return err
		}
		return usageErrorf("%s: %w", config.Source, err)
	}
	if err := atomicfile.Write(f.out, r.Write); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	out := report{title: "wrote " + f.out, columns: []string{"", "finding"}, json: r}
	for _, finding := range r.Findings {
		out.rows = append(out.rows, []any{finding.Level, finding.Text})
	}
	return env.print(out)
}
