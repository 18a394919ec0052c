package ensemble

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/internal/atomicfile"
)

// WriteScores writes a fusion's test scores to a file, in input order.
func (d *Division) WriteScores(path string, f *Fusion) error {
	input := make([]float64, len(f.Scores))
	d.Test.ToInputOrder(input, f.Scores)
	return atomicfile.Write(path, func(w io.Writer) error { return datafile.WriteScores(w, input) })
}

// WriteFolds writes the chosen fusion of every division to dir, as package tune writes the results
// of a method. For the division with the name Fold1, the files are Fold1.scores, Fold1.queries.csv
// and, if all systems are models, Fold1.model.json.
func (r *Result) WriteFolds(dir string, divisions []Division) error {
	if r.Chosen == nil {
		return errors.New("found several rules and no validation data to choose one by")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for k := range divisions {
		d, f := &divisions[k], r.Chosen.Fusions[k]
		base := filepath.Join(dir, d.Name)
		if err := d.WriteScores(base+".scores", f); err != nil {
			return err
		}
		if err := atomicfile.Write(base+".queries.csv", f.Test.WriteCSV); err != nil {
			return err
		}
		if !d.onlyModels() {
			continue
		}
		m, err := d.Model(f)
		if err != nil {
			return err
		}
		if err := m.Save(base + ".model.json"); err != nil {
			return err
		}
	}
	return nil
}

func (d *Division) onlyModels() bool {
	for _, s := range d.Systems {
		if s.Model == nil {
			return false
		}
	}
	return true
}
