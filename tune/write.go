package tune

import (
	"io"
	"os"
	"path/filepath"

	"github.com/listwise/listwise/dataset/letor"
	"github.com/listwise/listwise/internal/atomicfile"
)

// write leaves the run's results in its folder: for every entry and fold the
// chosen model, its test scores in input order and its per-query measures.
func (c *Config) write(r *Result) error {
	for i := range r.Rows {
		row := &r.Rows[i]
		dir := c.entryDir(&row.Entry)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for k := range row.Folds {
			if err := c.writeFold(filepath.Join(dir, row.Folds[k].Fold), &c.Folds[k], &row.Folds[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Config) writeFold(base string, f *Fold, r *FoldResult) error {
	if err := r.Model.Save(base + ".model.json"); err != nil {
		return err
	}
	scores, err := r.Model.Score(f.Test)
	if err != nil {
		return err
	}
	input := make([]float64, len(scores))
	f.Test.ToInputOrder(input, scores)
	err = atomicfile.Write(base+".scores", func(w io.Writer) error { return letor.WriteScores(w, input) })
	if err != nil {
		return err
	}
	return atomicfile.Write(base+".queries.csv", r.Test.WriteCSV)
}
