package cli

import (
	"bufio"
	"io"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/model"
)

func newScoreCommand(env *environment) *cobra.Command {
	var modelPath, data, out, missing string
	cmd := &cobra.Command{
		Use:   "score --model M --data FILE [--out FILE]",
		Short: "Score documents with a model",
		Long: `Scores the documents of a file: one decimal number a line, in the order of the
input, higher meaning more relevant. The model's normalization is applied first.`,
		Example: `  listwise score --model m.json --data test.txt --out test.scores
  zcat new.txt.gz | listwise score --model m.json --data -`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "model", "data"); err != nil {
				return err
			}
			scores, err := scoreFile(env, modelPath, data, missing)
			if err != nil {
				return err
			}
			if out == "" || out == "-" {
				w := bufio.NewWriter(env.stdout)
				if err := dataset.WriteScores(w, scores); err != nil {
					return err
				}
				return w.Flush()
			}
			return atomicfile.Write(out, func(w io.Writer) error { return dataset.WriteScores(w, scores) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&modelPath, "model", "", "model `file` written by train or tune")
	f.StringVar(&data, "data", "", "documents to score: LETOR text (.txt, .gz, .zst), a .lwd cache, or -")
	f.StringVar(&out, "out", "", "`file` to write the scores to (default: standard output)")
	f.StringVar(&missing, "missing", "error", "what nan and NULL stand for: error, zero, or min (of the query)")
	return cmd
}

// scoreFile returns the model's scores of a file's documents in input order.
func scoreFile(env *environment, modelPath, data, missing string) ([]float64, error) {
	m, err := loadModel(modelPath)
	if err != nil {
		return nil, err
	}
	policy, err := dataset.ParseMissing(missing)
	if err != nil {
		return nil, badCall("--missing: %w", err)
	}
	d, err := env.openData(data, dataset.Options{Missing: policy})
	if err != nil {
		return nil, err
	}
	scores, err := m.Score(d)
	if err != nil {
		return nil, badCall("%s: %w", data, err)
	}
	input := make([]float64, len(scores))
	d.ToInputOrder(input, scores)
	return input, nil
}

// loadModel reads a model; whatever is wrong with it is the caller's to mend.
func loadModel(path string) (*model.Model, error) {
	m, err := model.Load(path)
	if err != nil {
		return nil, badCall("%w", err)
	}
	return m, nil
}
