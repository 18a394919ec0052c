package ensemble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/trec"
	"github.com/listwise/listwise/model/interchange"
	"github.com/listwise/listwise/tune"
)

// systemFiles are the files of one system: a model, or the scores for test and validation data.
type systemFiles struct{ name, model, test, valid string }

// Read reads the systems in args for test and validation data, either of which may be nil. An
// argument is a model file, or a file of test scores, optionally followed by a colon and a file of
// validation scores. A file of scores may be a TREC run, whose documents are matched with the data
// by query and document. If observe is not nil, it is called with the number of systems read so far
// and the total.
//
// If the data have no features, such as TREC's judgements, the files of scores must be runs. The
// division then contains the pool of judgements and runs ([trec.Pool]): all documents that were
// judged or retrieved.
//
// Read limits the total memory of the data, the files and the pool. If the total exceeds MaxBytes,
// the error's cause is [dataset.ErrTooLarge].
func Read(args []string, valid, test *dataset.Dataset, o Options, observe func(done, total int)) (*Division, error) {
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
	return d, d.read(all, o.reading(test, valid), func(i int) { tell(observe, i, len(args)) })
}

// ReadScores reads one file of test scores, as [Read] does. The path - means standard input.
func ReadScores(path string, test *dataset.Dataset, o Options) (*Division, error) {
	d := &Division{Test: test}
	return d, d.read([]systemFiles{{name: path, test: path}}, o.reading(test), func(int) {})
}

// Options control how the files of systems are read.
type Options struct {
	Context   context.Context // cancels the reading; may be nil
	MaxBytes  int64           // largest memory for the data and all files together; see [dataset.Options]
	DropSelf  bool            // removes documents whose id equals the id of their query from runs
	Ascending []string        // paths of systems for which a lower score is better
	Unjudged  bool            // keeps the queries of runs that have no judgements
}

// ascending reports whether lower scores of a system are better.
func (o Options) ascending(f systemFiles) bool {
	return slices.Contains(o.Ascending, f.name) || slices.Contains(o.Ascending, f.test)
}

// check returns an error if Ascending names a path that is not a system with scores.
func (o Options) check(all []systemFiles) error {
	for _, path := range o.Ascending {
		one := Options{Ascending: []string{path}}
		if !slices.ContainsFunc(all, func(f systemFiles) bool { return f.model == "" && one.ascending(f) }) {
			return fmt.Errorf("--lower-is-better: found %q, expected one of the files of scores or runs to measure", path)
		}
	}
	return nil
}

// ReadRuns reads runs without judgements. All queries of the division are unjudged.
func ReadRuns(paths []string, o Options, observe func(done, total int)) (*Division, error) {
	all := make([]systemFiles, len(paths))
	for i, path := range paths {
		all[i] = systemFiles{name: path, test: path}
	}
	if err := o.check(all); err != nil {
		return nil, err
	}
	d, r, runs := &Division{Systems: make([]System, len(paths))}, o.reading(), make(rankings, len(paths))
	for i, f := range all {
		tell(observe, i, len(paths))
		d.Systems[i].Name = f.name
		if err := runs.readRun(i, f.test, r, f, "without judgements"); err != nil {
			return nil, err
		}
		d.Systems[i].warn(f.test, runs[i].Run.Warnings)
	}
	return d, d.keepUnjudged(nil, runs, r)
}

// keepUnjudged sets d.Unjudged to the documents of runs for queries without judgements in judged,
// which may be nil. It also sets the systems' scores for these documents.
func (d *Division) keepUnjudged(judged *dataset.Dataset, r rankings, state *reading) error {
	runs := r.runs()
	most, left := trec.PoolBytes(nil, runs...)
	if err := state.mem.Take(most, "the documents of runs"); err != nil {
		return err
	}
	state.mem.Give(most - left)
	var err error
	if d.Unjudged, err = trec.UnjudgedQueries(judged, runs...); err != nil || d.Unjudged == nil {
		return err
	}
	docs := d.Unjudged.Docs()
	if err := state.takeScores(docs, len(runs)); err != nil {
		return err
	}
	for i := range d.Systems {
		d.Systems[i].Unjudged = runs[i].LookUp(d.Unjudged).Scores
	}
	return nil
}

// reading is the state of reading the systems of one or more divisions.
type reading struct {
	Options
	mem *memory.Account
}

// reading returns a state whose memory account includes the given data sets. They may be nil.
func (o Options) reading(sets ...*dataset.Dataset) *reading {
	r := &reading{o, memory.New("the systems", dataset.Options{MaxBytes: o.MaxBytes})}
	for _, d := range sets {
		if d != nil {
			_ = r.mem.Take(d.FeatureBytes()+int64(d.Docs())*memory.DocumentBytes+int64(len(d.Queries))*memory.QueryBytes, "data") // a later Take returns the error
		}
	}
	return r
}

// rest returns the number of bytes that may still be used, at least 1.
func (r *reading) rest() int64 { return max(1, r.mem.Limit()-r.mem.Taken()) }

// ReadFolds reads a division for every fold. Each folder of dirs is a system. For a fold named
// Fold1, the folder contains Fold1.model.json, which package tune writes, or Fold1.scores. If
// choose is set, a folder with Fold1.scores must also contain Fold1.valid.scores. Files of scores
// may be runs. If observe is not nil, it is called before each file or model is read, with the
// number read so far and the total.
func ReadFolds(dirs []string, folds []tune.Fold, choose bool, o Options, observe func(done, total int)) ([]Division, error) {
	divisions := make([]Division, len(folds))
	var sets []*dataset.Dataset
	for _, f := range folds {
		sets = append(sets, f.Train, f.Valid, f.Test)
	}
	reading := o.reading(sets...)
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
		if err := d.read(all, reading, func(i int) { tell(observe, k*len(dirs)+i, len(folds)*len(dirs)) }); err != nil {
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

// filesOfFold returns the files of the system in folder dir for a fold.
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

// looksLikeModel reports whether a file begins with a brace, as JSON does, or as a model of another
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

// rankings are the score files of the systems for one data set. An element is empty if its system
// is a model.
type rankings []datafile.Ranking

// scoreBytes is the memory in bytes of a system's score for a document and of the document's
// position in the run.
const scoreBytes = 8 + 4

// workBytes is the additional memory in bytes per document for measuring and fusing: grades and
// scores in rank order, or the scores of a fusion.
const workBytes = 24

// read reads the systems of all and adds them to the division. It calls observe with the index of a
// system before it reads the system.
func (d *Division) read(all []systemFiles, r *reading, observe func(i int)) error {
	if err := r.check(all); err != nil {
		return err
	}
	d.Systems = make([]System, len(all))
	test, valid := make(rankings, len(all)), make(rankings, len(all))
	for i, f := range all {
		observe(i)
		s := &d.Systems[i]
		s.Name = f.name
		var err error
		if f.model != "" {
			err = s.apply(f.model, d)
		} else if err = test.read(i, f.test, d.Test, r, f); err == nil && d.Valid != nil {
			if f.valid == "" {
				return fmt.Errorf("%s: found test scores only, expected %s:VALIDATION-SCORES to choose weights by: %w", f.test, f.test, fs.ErrNotExist)
			}
			err = valid.read(i, f.valid, d.Valid, r, f)
		}
		if err != nil {
			return err
		}
	}
	var err error
	if r.Unjudged && d.Test.Features == 0 {
		if err := d.keepUnjudged(d.Test, test, r); err != nil {
			return err
		}
	}
	if d.Test, err = test.pool(d.Test, r); err != nil {
		return err
	}
	docs := d.Test.Docs()
	if d.Valid != nil {
		if d.Valid, err = valid.pool(d.Valid, r); err != nil {
			return err
		}
		docs += d.Valid.Docs()
	}
	if err := r.takeScores(docs, len(all)); err != nil {
		return err
	}
	for i, f := range all {
		if f.model != "" {
			continue
		}
		s := &d.Systems[i]
		if s.Test, s.Places, err = s.join(f.test, test[i], d.Test); err != nil {
			return err
		}
		r.release(&test[i])
		if d.Valid == nil {
			continue
		}
		if s.Valid, _, err = s.join(f.valid, valid[i], d.Valid); err != nil {
			return err
		}
		r.release(&valid[i])
	}
	return nil
}

// takeScores takes memory for the scores of all systems. The first 2 MiB do not count.
func (r *reading) takeScores(docs, systems int) error {
	const few = 2 << 20
	return r.mem.Take(max(0, int64(docs)*int64(scoreBytes*systems+workBytes)-few), fmt.Sprintf("the scores of %d documents", docs))
}

// release frees the content of a score file after it is joined with the data.
func (r *reading) release(f *datafile.Ranking) {
	r.mem.Give(f.MemoryBytes())
	*f = datafile.Ranking{}
}

// read reads the scores or the run of system i.
func (r rankings) read(i int, path string, d *dataset.Dataset, state *reading, f systemFiles) error {
	if d.Features == 0 {
		return r.readRun(i, path, state, f, "as the data are judgements of documents without features")
	}
	return r.readFile(i, path, d.Docs(), state, f)
}

// readRun reads the run of system i. If the file is not a run, it returns an error whose text ends
// in why, the reason that a run is needed.
func (r rankings) readRun(i int, path string, state *reading, f systemFiles, why string) error {
	if err := r.readFile(i, path, -1, state, f); err != nil || r[i].Run != nil {
		return err
	}
	found := "scores alone"
	if len(r[i].Scores) == 0 {
		found = "an empty file"
	}
	return &dataset.SyntaxError{File: path, Found: found, Expected: "a run, lines of QUERY Q0 DOCUMENT RANK SCORE TAG, " + why}
}

// readFile reads the file of system i: a run, or scores. If want is not negative, there must be
// want scores.
func (r rankings) readFile(i int, path string, want int, state *reading, f systemFiles) (err error) {
	r[i], err = datafile.ReadRanking(path, want, dataset.Options{
		Context: state.Context, MaxBytes: state.rest(), DropSelf: state.DropSelf, Ascending: state.ascending(f),
	})
	if err != nil {
		return err
	}
	return state.mem.Take(r[i].MemoryBytes(), path)
}

// runs returns the runs of the systems, nil for a system without a run.
func (r rankings) runs() []*trec.Run {
	runs := make([]*trec.Run, len(r))
	for i := range r {
		runs[i] = r[i].Run
	}
	return runs
}

// pool returns d or, if d has no features, the pool of d's judgements and the runs.
func (r rankings) pool(d *dataset.Dataset, state *reading) (*dataset.Dataset, error) {
	if d.Features > 0 {
		return d, nil
	}
	runs := r.runs()
	most, left := trec.PoolBytes(d, runs...)
	if err := state.mem.Take(most, "the documents of judgements and runs"); err != nil {
		return nil, err
	}
	state.mem.Give(most - left)
	return trec.Pool(d, runs...)
}

// warn adds warnings about the file at path.
func (s *System) warn(path string, warnings []string) {
	for _, w := range warnings {
		s.Warnings = append(s.Warnings, path+": "+w)
	}
}

// join returns the system's scores for the documents of d and, if d is a pool, the documents'
// positions in the run. It adds warnings about documents and queries that d lacks or the run lacks.
func (s *System) join(path string, r datafile.Ranking, d *dataset.Dataset) (scores []float64, places []uint32, err error) {
	joined, err := r.Of(d)
	if err != nil {
		return nil, nil, err
	}
	warn := func(n int, one, many, text string) {
		if n == 1 {
			many = one
		}
		if n > 0 {
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s: %s", path, fmt.Sprintf(text, fmt.Sprint(n, " ", many))))
		}
	}
	if r.Run != nil {
		s.warn(path, r.Run.Warnings)
	}
	missed := joined.Missed
	warn(missed.Queries, "query", "queries", "left out %s of the run that the data do not have")
	warn(missed.Documents, "document", "documents", "left out %s of the run that the data do not have: others take their ranks")
	warn(missed.Empty, "query", "queries", "found nothing retrieved for %s of the data")
	if d.Features == 0 {
		places = joined.Places
	}
	return joined.Scores, places, nil
}

// apply scores the division's data by the model in a file.
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
