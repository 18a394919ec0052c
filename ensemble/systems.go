package ensemble

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/interchange"
	"github.com/listwise/listwise/tune"
)

// Read returns the division of test and validation data, which may be nil, with the
// systems of the given arguments: each a model file, or a file of test scores with, after
// a colon, that of validation scores. observe, unless nil, is called with the number of
// systems read and the total.
func Read(args []string, valid, test *dataset.Dataset, observe func(done, total int)) (*Division, error) {
	d := &Division{Valid: valid, Test: test}
	for i, arg := range args {
		tell(observe, i, len(args))
		testFile, validFile := arg, ""
		if _, err := os.Stat(arg); err != nil {
			testFile, validFile, _ = strings.Cut(arg, ":")
		}
		isModel, err := looksLikeModel(testFile)
		if err != nil {
			return nil, err
		}
		s := System{Name: arg}
		if isModel {
			err = s.apply(testFile, d)
		} else {
			err = s.read(testFile, validFile, d)
		}
		if err != nil {
			return nil, err
		}
		d.Systems = append(d.Systems, s)
	}
	return d, nil
}

// ReadFolds returns the divisions of folds. Each folder holds, for every fold,
// FoldK.model.json (as tune leaves them) or FoldK.scores and, to choose by,
// FoldK.valid.scores. observe is as for Read, for every system and fold.
func ReadFolds(dirs []string, folds []tune.Fold, choose bool, observe func(done, total int)) ([]Division, error) {
	divisions := make([]Division, len(folds))
	for k, f := range folds {
		d := &divisions[k]
		d.Name, d.Test = f.Name, f.Test
		if choose {
			d.Valid = f.Valid
		}
		for i, dir := range dirs {
			tell(observe, k*len(dirs)+i, len(folds)*len(dirs))
			s, err := readFold(dir, d)
			if err != nil {
				return nil, err
			}
			d.Systems = append(d.Systems, *s)
		}
	}
	return divisions, nil
}

func tell(observe func(done, total int), done, total int) {
	if observe != nil {
		observe(done, total)
	}
}

func readFold(dir string, d *Division) (*System, error) {
	base := filepath.Join(dir, d.Name)
	s := &System{Name: filepath.Clean(dir)}
	_, err := os.Stat(base + ".model.json")
	switch {
	case err == nil:
		return s, s.apply(base+".model.json", d)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if _, err := os.Stat(base + ".scores"); err != nil {
		return nil, fmt.Errorf("%s: found neither %s.model.json nor %s.scores: %w", dir, d.Name, d.Name, fs.ErrNotExist)
	}
	return s, s.read(base+".scores", base+".valid.scores", d)
}

// looksLikeModel reports whether a file begins as JSON, with a brace, or as a model of another
// system.
func looksLikeModel(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // only read
	start := make([]byte, 1<<13)
	n, _ := io.ReadFull(f, start)
	return bytes.HasPrefix(bytes.TrimSpace(start[:n]), []byte("{")) || interchange.Recognise(start[:n]) != "", nil
}

// apply scores the division's data with the model of a file.
func (s *System) apply(path string, d *Division) error {
	var err error
	if s.Model, s.Notes, err = interchange.Load(path, interchange.ReadOptions{}); err != nil {
		return err
	}
	if s.Test, err = s.Model.Score(d.Test); err != nil {
		return fmt.Errorf("%s on the test data: %w", path, err)
	}
	if d.Valid == nil {
		return nil
	}
	if s.Valid, err = s.Model.Score(d.Valid); err != nil {
		return fmt.Errorf("%s on the validation data: %w", path, err)
	}
	return nil
}

// read reads the scores of files.
func (s *System) read(test, valid string, d *Division) error {
	var err error
	if s.Test, err = readScores(test, d.Test); err != nil || d.Valid == nil {
		return err
	}
	if valid == "" {
		return fmt.Errorf("%s: found test scores only, expected %s:VALIDATION-SCORES to choose weights by: %w", test, test, fs.ErrNotExist)
	}
	s.Valid, err = readScores(valid, d.Valid)
	return err
}

func readScores(path string, d *dataset.Dataset) ([]float64, error) {
	input, err := datafile.ReadScores(path, d.Docs(), dataset.Options{})
	if err != nil {
		return nil, err
	}
	rows := make([]float64, len(input))
	d.FromInputOrder(rows, input)
	return rows, nil
}
