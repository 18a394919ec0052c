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
		Short: "Write an HTML page about data: features, what is odd, drift between two files",
		Long: `Writes one self-contained HTML page, with what to look at first in words on top:
sizes, grades, lengths of lists; each feature's distribution, missing values, and
NDCG@10 of ranking by it alone, with an interval; features that are the same or
nearly so; what may be no feature: what is known only after the judgement (a column
that ranks nearly perfectly), and identifiers.

With --against, another file with the same features, such as the test data or
yesterday's: queries in both, and which features have moved, by a test whose unit is
the query, corrected for their number.

Missing values count as such (--missing keep) unless --missing says otherwise. More
documents than --sample are described by whole queries drawn at random.`,
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
	fl.StringVar(&f.against, "against", "", "`file` that the data are compared with")
	fl.StringVar(&f.out, "out", "", "`file` for the page")
	fl.StringVar(&f.title, "title", "", "`heading` of the page (default: the data's name)")
	addWhole(fl, &f.sample, "sample", datareport.DefaultMaxDocs, 1, "`number` of documents from which on features are described by a sample")
	addPositive(fl, &f.maxSize, "max-size", datareport.DefaultMaxBytes/1e6, 1000, "`MB` that the page may take")
	fl.Uint64Var(&f.seed, "seed", 1, "`number` from which everything random is derived")
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
