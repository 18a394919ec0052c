package app

import (
	"bufio"
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/scored"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
)

type scoreFlags struct {
	scoring
	oneShard
	model   string
	data    string
	out     string
	ranking scored.Options
}

func newScoreCommand(env *environment) *cobra.Command {
	var f scoreFlags
	cmd := &cobra.Command{
		Use:   "score --model M --data FILE [--out FILE]",
		Short: "Score documents with a model",
		Long: `Scores documents. A higher score means more relevant. The model's preprocessing is
applied first.

Output formats (--format):
` + scored.About() + `
Scores are printed with all their digits. A document without an id is identified by
its number within its query. Documents with equal scores get different ranks, in the
order of the input. A TREC run orders them by descending id (as bytes), as trec_eval
does. A run that has a document twice in a query is refused. Ids are printed
unchanged, including those that a spreadsheet takes for a formula.

Grades are read but ignored. Text without grades needs grade 0 on every line; a table
may lack the column. Features are matched by name if both the model and the data have
names, and otherwise by position. Features that the data lack count as 0.

--missing and --absent are by default what they were in training (model).`,
		Example: `  listwise score --model m.json --data test.txt --out test.scores
  zcat new.txt.gz | listwise score --model m.json --data -
  listwise score --model m.json --data test.txt --format tsv --best-first --top 10
  listwise score --model m.json --data test-shards --shard 3 --out scores/part-00003
  listwise score --model m.json --data test.txt --format run --tag m --out m.run`,
		Args: noArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return env.checkFormat(cmd, scored.Formats(), suggest.OneOf(scored.Formats()))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "model", "data"); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "", "model `file`")
	fl.StringVar(&f.data, "data", "", "data `file` to score; - is standard input")
	fl.StringVar(&f.out, "out", "", "output `file` (default: standard output)")
	fl.StringVar(&env.format, "format", "text", "output `format`: text, "+suggest.OneOf(scored.Formats()[1:]))
	fl.BoolVar(&f.ranking.BestFirst, "best-first", false, "sort the documents of a query by descending score")
	addWhole(fl, &f.ranking.Top, "top", 0, 0, "`number` of best documents a query to write; 0: all")
	fl.StringVar(&f.ranking.Tag, "tag", "", "system `name` in a run (default: "+scored.DefaultTag+")")
	f.oneShard.addTo(cmd, "`number` of the shard to score, from 0 (default: all)")
	f.scoring.addTo(cmd)
	return cmd
}

func (f *scoreFlags) run(ctx context.Context, env *environment) error {
	if err := f.targets().check(); err != nil {
		return err
	}
	var err error
	if f.data, err = f.fileOf(f.data); err != nil {
		return err
	}
	f.ranking.Format = env.format
	if err := f.ranking.Check(); err != nil {
		return usageErrorf("--format %s: %w", env.format, err)
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	m, err := env.loadModel("model", f.model)
	if err != nil {
		return err
	}
	opts.Table.Ungraded = true
	if err := f.forModels(&opts, m); err != nil {
		return err
	}
	f.widen(&opts)
	opts.Stream = true
	if opts.Negative == dataset.NegativeError { // grades have no influence
		opts.Negative = dataset.NegativeZero
	}
	d, err := env.openAndWarn(ctx, "data", f.data, opts)
	if err != nil {
		return err
	}
	if d, err = f.withRoom(ctx, env, f.data, d, opts); err != nil {
		return err
	}
	if d, err = f.arranged(d, opts.FeatureNames); err != nil {
		return usageErrorf("%s: %w", f.data, err)
	}
	var rows []float64
	err = env.during("scoring "+f.data, func() (err error) {
		rows, err = scoreWith(m, f.model, f.data, d)
		return err
	})
	if err != nil {
		return err
	}
	if err := f.checkModel(f.model, m, make(map[string]bool)); err != nil {
		return err
	}
	if d.Filled() > 0 && hasNoRule(m) {
		f.warnOfNoRule(env, f.model)
	}
	f.warnOfForm(env, f.model, f.data, m, d)
	return env.writeRanking(f.out, d, rows, f.ranking)
}

// writeRanking writes scores, one a row of d, to a file, or to standard output if there is
// no name or it is -.
func (env *environment) writeRanking(out string, d *dataset.Dataset, rows []float64, o scored.Options) error {
	write := func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		err := scored.Write(b, d, rows, o)
		if _, failed := b.Write(nil); err != nil && failed == nil {
			return usageErrorf("--format %s: %w", o.Format, err) // not the writing is at fault
		}
		if err != nil {
			return err
		}
		return b.Flush()
	}
	if out == "" || out == "-" {
		return write(env.stdout)
	}
	return env.during("writing "+out, func() error { return atomicfile.Write(out, write) })
}

// scoreWith returns the scores that the model of a path gives to d, read from data, in the
// order of d's rows. Errors are the caller's: see usageError.
func scoreWith(m *model.Model, path, data string, d *dataset.Dataset) ([]float64, error) {
	scores, err := m.Score(d)
	if err != nil {
		return nil, usageErrorf("%s: %w (model %s)", data, hintAtOthers(err), path)
	}
	return scores, nil
}
