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
	"github.com/listwise/listwise/dataset/trec"
	"github.com/listwise/listwise/interchange"
	"github.com/listwise/listwise/tune"
)

// systemFiles are those of one system: of a model, or of what it says of test and validation data.
type systemFiles struct{ name, model, test, valid string }

// Read returns the division of test and validation data, which may be nil, with the
// systems of the given arguments: each a model file, or a file of test scores with, after
// a colon, that of validation scores. A file of scores may be a run of TREC, which is joined
// by query and document. observe, unless nil, is called with the number of
// systems read and the total.
//
// Data without features, such as TREC's judgements, need runs, and the division's data are
// then the pool of both ([trec.Pool]): all that was judged or retrieved.
func Read(args []string, valid, test *dataset.Dataset, observe func(done, total int)) (*Division, error) {
	d := &Division{Valid: valid, Test: test}
	all := make([]systemFiles, len(args))
	for i, arg := range args {
		f := systemFiles{name: arg, test: arg}
		if _, err := os.Stat(arg); err != nil {
			f.test, f.valid, _ = strings.Cut(arg, ":")
		}
		isModel, err := looksLikeModel(f.test)
		if err != nil {
			return nil, err
		}
		if isModel {
			f.model = f.test
		}
		all[i] = f
	}
	return d, d.read(all, func(i int) { tell(observe, i, len(args)) })
}

// ReadScores is [Read] for one file of test scores, which may be - for the standard input.
func ReadScores(path string, test *dataset.Dataset) (*Division, error) {
	d := &Division{Test: test}
	return d, d.read([]systemFiles{{name: path, test: path}}, func(int) {})
}

// ReadFolds returns the divisions of folds. Each folder holds, for every fold,
// FoldK.model.json (as tune leaves them) or FoldK.scores and, to choose by,
// FoldK.valid.scores; either may be a run. observe is as for Read, for every system and fold.
func ReadFolds(dirs []string, folds []tune.Fold, choose bool, observe func(done, total int)) ([]Division, error) {
	divisions := make([]Division, len(folds))
	for k, f := range folds {
		d := &divisions[k]
		d.Name, d.Test = f.Name, f.Test
		if choose {
			d.Valid = f.Valid
		}
		all := make([]systemFiles, len(dirs))
		for i, dir := range dirs {
			var err error
			if all[i], err = filesOfFold(dir, d.Name); err != nil {
				return nil, err
			}
		}
		if err := d.read(all, func(i int) { tell(observe, k*len(dirs)+i, len(folds)*len(dirs)) }); err != nil {
			return nil, err
		}
	}
	return divisions, nil
}

func tell(observe func(done, total int), done, total int) {
	if observe != nil {
		observe(done, total)
	}
}

// filesOfFold returns the files of a system in a folder.
func filesOfFold(dir, fold string) (systemFiles, error) {
	base := filepath.Join(dir, fold)
	f := systemFiles{name: filepath.Clean(dir), test: base + ".scores", valid: base + ".valid.scores"}
	_, err := os.Stat(base + ".model.json")
	switch {
	case err == nil:
		f.model = base + ".model.json"
		return f, nil
	case !errors.Is(err, fs.ErrNotExist):
		return f, err
	}
	if _, err := os.Stat(f.test); err != nil {
		return f, fmt.Errorf("%s: found neither %s.model.json nor %s.scores: %w", dir, fold, fold, fs.ErrNotExist)
	}
	return f, nil
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

// rankings are what the files of systems without a model say of one data set.
type rankings []datafile.Ranking

// read adds the systems to the division. observe is called with the index of each before it
// is read.
func (d *Division) read(all []systemFiles, observe func(i int)) error {
	d.Systems = make([]System, len(all))
	test, valid := make(rankings, len(all)), make(rankings, len(all))
	for i, f := range all {
		observe(i)
		s := &d.Systems[i]
		s.Name = f.name
		var err error
		if f.model != "" {
			err = s.apply(f.model, d)
		} else if err = test.read(i, f.test, d.Test); err == nil && d.Valid != nil {
			if f.valid == "" {
				return fmt.Errorf("%s: found test scores only, expected %s:VALIDATION-SCORES to choose weights by: %w", f.test, f.test, fs.ErrNotExist)
			}
			err = valid.read(i, f.valid, d.Valid)
		}
		if err != nil {
			return err
		}
	}
	var err error
	if d.Test, err = test.pool(d.Test); err != nil {
		return err
	}
	if d.Valid != nil {
		if d.Valid, err = valid.pool(d.Valid); err != nil {
			return err
		}
	}
	for i, f := range all {
		if f.model != "" {
			continue
		}
		s := &d.Systems[i]
		if s.Test, err = s.join(f.test, test[i], d.Test); err != nil {
			return err
		}
		if d.Valid == nil {
			continue
		}
		if s.Valid, err = s.join(f.valid, valid[i], d.Valid); err != nil {
			return err
		}
	}
	return nil
}

// read reads a system's scores or run.
func (r rankings) read(i int, path string, d *dataset.Dataset) error {
	var err error
	want := d.Docs()
	if d.Features == 0 {
		want = -1 // the error is that a run is expected, whatever their number
	}
	r[i], err = datafile.ReadRanking(path, want, dataset.Options{})
	if err == nil && d.Features == 0 && r[i].Run == nil {
		err = &dataset.SyntaxError{File: path, Found: "scores alone", Expected: "a run, lines of QUERY Q0 DOCUMENT RANK SCORE TAG, as the data are judgements of documents without features"}
	}
	return err
}

// pool returns the data, or the pool of judgements and runs if they have no features.
func (r rankings) pool(d *dataset.Dataset) (*dataset.Dataset, error) {
	if d.Features > 0 {
		return d, nil
	}
	runs := make([]*trec.Run, len(r))
	for i := range r {
		runs[i] = r[i].Run
	}
	return trec.Pool(d, runs...)
}

// join returns a system's scores of d's documents, and warns of what found no place.
func (s *System) join(path string, r datafile.Ranking, d *dataset.Dataset) ([]float64, error) {
	scores, missed, err := r.Of(d)
	if err != nil {
		return nil, err
	}
	warn := func(n int, one, many, text string) {
		if n == 1 {
			many = one
		}
		if n > 0 {
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s: %s", path, fmt.Sprintf(text, fmt.Sprint(n, " ", many))))
		}
	}
	warn(missed.Queries, "query", "queries", "left out %s of the run that the data do not have")
	warn(missed.Documents, "document", "documents", "left out %s of the run that the data do not have: others take their ranks")
	warn(missed.Empty, "query", "queries", "found nothing retrieved for %s of the data")
	return scores, nil
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
