package cli

import (
	"bufio"
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/letor"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/model"
)

type scoreFlags struct {
	scoring
	model string
	data  string
	out   string
}

func newScoreCommand(env *environment) *cobra.Command {
	var f scoreFlags
	cmd := &cobra.Command{
		Use:   "score --model M --data FILE [--out FILE]",
		Short: "Score documents with a model",
		Long: `Scores the documents of a file: one decimal number a line, in the order of the
input, higher meaning more relevant. What the model does to features is done first.

Grades are read but have no influence; give every document grade 0 if there are
none, or leave the column out of a table. Features that the data lack count as 0.`,
		Example: `  listwise score --model m.json --data test.txt --out test.scores
  zcat new.txt.gz | listwise score --model m.json --data -`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "model", "data"); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "", "model `file` written by train or tune")
	fl.StringVar(&f.data, "data", "", "documents to score, a `file`: LETOR text or a table (.txt, .csv, .tsv, .jsonl, also with .gz or .zst), a .lwd cache, or - (standard input)")
	fl.StringVar(&f.out, "out", "", "`file` to write the scores to (default: standard output)")
	f.addTo(cmd)
	return cmd
}

func (f *scoreFlags) run(ctx context.Context, env *environment) error {
	if err := f.targets().check(); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	m, err := env.loadModel("model", f.model)
	if err != nil {
		return err
	}
	opts.Table.Ungraded, opts.FeatureNames = true, m.FeatureNames
	d, err := env.openAndWarn(ctx, "data", f.data, opts)
	if err != nil {
		return err
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
	scores := make([]float64, len(rows))
	d.ToInputOrder(scores, rows)
	if f.out == "" || f.out == "-" {
		w := bufio.NewWriter(env.stdout)
		if err := letor.WriteScores(w, scores); err != nil {
			return err
		}
		return w.Flush()
	}
	return env.during("writing "+f.out, func() error {
		return atomicfile.Write(f.out, func(w io.Writer) error { return letor.WriteScores(w, scores) })
	})
}

// scoreWith returns the scores that the model of a path gives to d, read from data, in the
// order of d's rows. Errors are the caller's: see usageError.
func scoreWith(m *model.Model, path, data string, d *dataset.Dataset) ([]float64, error) {
	scores, err := m.Score(d)
	if err != nil {
		return nil, usageErrorf("%s: %w (model %s)", data, err, path)
	}
	return scores, nil
}
