package tune

import (
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/measure"
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
	err = atomicfile.Write(base+".scores", func(w io.Writer) error { return dataset.WriteScores(w, input) })
	if err != nil {
		return err
	}
	return atomicfile.Write(base+".queries.csv", func(w io.Writer) error { return writeQueries(w, f.Test, c.Measures, r.Test) })
}

// writeQueries writes one line a query and one column a measure; a query that
// the convention leaves out has an empty cell.
func writeQueries(w io.Writer, d *dataset.Dataset, measures []measure.Measure, r *measure.Result) error {
	out := csv.NewWriter(w)
	header := []string{"query"}
	for _, m := range measures {
		header = append(header, m.Name())
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for i := range d.Queries {
		line := []string{d.Queries[i].ID}
		for _, m := range measures {
			cell := ""
			if v := r.PerQuery(m.Name())[i]; !math.IsNaN(v) {
				cell = strconv.FormatFloat(v, 'g', -1, 64)
			}
			line = append(line, cell)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
