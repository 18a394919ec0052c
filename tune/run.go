package tune

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/train"
)

// Config is the configuration of a run. Folds and Entries are required.
type Config struct {
	Folds   []Fold  // divisions of the data; every entry is trained and tested on each
	Entries []Entry // learners to compare, with the settings to try; names must be unique

	// Select chooses settings by its mean over the validation queries, averaged over orders of ties. nil
	// means map. Select, Measures and training measures without a chosen relevance threshold get the
	// threshold for the data of all folds.
	Select measure.Measure

	Convention    measure.Convention    // name of the convention of Select and Measures, which reports print; the zero value means that of Select
	Measures      []measure.Measure     // reported on test data; none means Select
	Ties          measure.TiePolicy     // policy for ties in the test results; the zero value is measure.TiesInput
	Missing       dataset.Missing       // the rule by which the folds' missing values were replaced; stored in the models
	Normalization dataset.Normalization // of the features of each query; the zero value means none
	Views         dataset.Views         // views of the features, see train.Problem
	Transforms    []transform.Spec      // learned from each fold's training data
	Scorer        string                // kind of scorer of all entries; empty means each method's default
	Seed          uint64                // random seed of all trainings; Entry.Own replaces it
	Jobs          int                   // number of concurrent trainings; 0 means GOMAXPROCS
	Budget        Budget                // limit of the settings to try

	// MaxBytes limits the memory of all trainings together, without the data of the folds. 0 means
	// the default. If a training needs more than its share of MaxBytes, it runs while no other
	// training runs. If it needs more than MaxBytes, it streams its features, as under
	// train.Problem.MaxBytes, or returns a *train.ProblemError whose cause is dataset.ErrTooLarge.
	MaxBytes int64

	// Average is the number of settings whose models are averaged in each fold, the best settings
	// on validation data. The score of the average is the mean of the models' scores. 0 or 1 means
	// that the best setting is used alone. If there are fewer settings than Average, all are
	// averaged. Averaging reduces selection noise if there are few validation queries.
	Average int

	// Dir is the folder for the results: models, test scores and per-query measures. It also
	// contains a record of each finished training, so that an interrupted run can be resumed. A
	// training is not repeated if there is a record of a training with the same method, setting,
	// seed, data and measures. For a caller's own loss and learner, see [OwnOf]. Names of entries and
	// folds must be plain file names. If Dir is empty, nothing is written.
	Dir string

	// Subfolder is a folder inside the folder of each entry. If it is set, the entry's results and
	// records are in it. Runs with different seeds can then share Dir, see [RunEach]. It must be a plain
	// file name.
	Subfolder string

	// Halving drops, by successive halving, the settings that perform badly when trained on a part
	// of the queries. Each fold drops settings separately. FoldResult.Tried is NaN for dropped
	// settings. Halving cannot be combined with Budget.Time.
	Halving bool

	// KeepModels stores the models of all settings in FoldResult.Models.
	KeepModels bool

	// Observe, if not nil, is called when a training ends, with the number of finished trainings
	// and the total. The calls come from several goroutines, one at a time.
	Observe func(done, total int)

	// Tell, if not nil, is called when a training ends, with the numbers of trainings and the best
	// setting so far. Its calls are serialised like those of Observe.
	Tell func(p Progress)

	workers int       // cores of a training; 1, since the other cores run other trainings
	until   time.Time // ends a training; the zero time means never
	session bool      // a Session runs the trainings, which keeps [Trained.Shorter]

	leader   *leader
	sharing  *sharing
	bindings *train.Bindings
}

// Run trains every setting of every entry on every fold. In each fold it chooses a setting on
// validation data and measures the chosen model on test data. Unless Budget.Time is set, the result
// does not depend on the number of concurrent trainings or on earlier interruptions.
func Run(ctx context.Context, c Config) (*Result, error) {
	results, err := RunEach(ctx, c)
	if len(results) == 0 {
		return nil, err
	}
	return results[0], err
}

// RunEach runs the configurations one after the other, as [Run] does, and returns their results in
// this order. It writes results after the last run has ended, so that folders with results of an
// earlier call are not left with a part of the new ones. The configurations may have the same Dir if
// their Subfolder or their entries differ.
func RunEach(ctx context.Context, configs ...Config) ([]*Result, error) {
	var results []*Result
	for i := range configs {
		r, err := configs[i].run(ctx)
		if err != nil {
			return nil, configs[i].inSubfolder(err)
		}
		results = append(results, r)
	}
	for i, r := range results {
		if configs[i].Dir == "" {
			continue
		}
		if err := configs[i].write(r); err != nil {
			return results, err
		}
	}
	return results, nil
}

// inSubfolder adds the name of the subfolder, which identifies the run, to an error.
func (c *Config) inSubfolder(err error) error {
	if c.Subfolder == "" {
		return err
	}
	return fmt.Errorf("%s: %w", c.Subfolder, err)
}

// run does what Run does, except that it does not write results.
func (c *Config) run(ctx context.Context) (*Result, error) {
	if err := c.open(); err != nil {
		return nil, err
	}
	grids := c.draw()
	jobs := c.jobs()
	var err error
	switch {
	case c.Budget.Time > 0:
		jobs, err = c.runWithin(ctx, jobs)
	case c.Halving:
		var left []*job
		if left, err = c.halve(ctx, jobs); err == nil {
			err = c.runJobs(ctx, left, 0, len(left))
		}
	default:
		err = c.runJobs(ctx, jobs, 0, len(jobs))
	}
	if err != nil {
		return nil, err
	}
	if err := c.checkChoices(jobs); err != nil {
		return nil, err
	}
	result := &Result{Threshold: c.Convention.Threshold(), Rows: make([]Row, len(c.Entries))}
	next := 0
	for i, e := range c.Entries {
		row := &result.Rows[i]
		row.Entry, row.Grid = e, grids[i]
		var tests []*measure.Result
		for _, f := range c.Folds {
			tried := jobs[next : next+len(e.Settings)]
			next += len(e.Settings)
			ch, err := c.choose(f, tried)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", e.Name, f.Name, err)
			}
			fr, err := c.finish(f, ch)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", e.Name, f.Name, err)
			}
			fr.Unconverged = countUnconverged(tried)
			if c.KeepModels {
				for _, j := range tried {
					fr.Models = append(fr.Models, j.model)
				}
			}
			row.Folds, tests = append(row.Folds, *fr), append(tests, fr.Test)
		}
		row.Measures = Summarise(tests...)
	}
	return result, nil
}

// open sets the defaults of the configuration, checks it, and creates its folder.
func (c *Config) open() error {
	c.complete()
	c.workers = 1
	c.leader, c.sharing, c.bindings = new(leader), new(sharing), new(train.Bindings)
	if err := c.check(); err != nil {
		return err
	}
	c.setThreshold()
	if err := c.checkSelection(); err != nil {
		return err
	}
	if c.Dir == "" {
		return nil
	}
	return os.MkdirAll(c.Dir, 0o755)
}

// check returns an error for an invalid configuration, before anything is trained.
func (c *Config) check() error {
	if len(c.Folds) == 0 || len(c.Entries) == 0 {
		return fmt.Errorf("%d folds and %d methods, expected at least one of each", len(c.Folds), len(c.Entries))
	}
	if err := c.checkFolds(); err != nil {
		return err
	}
	if err := c.arrange(); err != nil {
		return err
	}
	if err := c.checkMeasures(); err != nil {
		return err
	}
	if err := c.Budget.check(); err != nil {
		return err
	}
	if c.Halving && c.Budget.Time > 0 {
		return fmt.Errorf("found successive halving within %v, expected a number of settings: what is dropped would depend on the time", c.Budget.Time)
	}
	if c.Average < 0 {
		return fmt.Errorf("found an average of %d settings, expected a positive number, or 0 for the best alone", c.Average)
	}
	if c.Subfolder != "" {
		if err := c.checkFileName("subfolder", c.Subfolder); err != nil {
			return err
		}
	}
	names := make(map[string]bool)
	for i := range c.Entries {
		e := &c.Entries[i]
		if names[e.Name] {
			return fmt.Errorf("two entries are named %q, expected different names", e.Name)
		}
		if err := e.check(c.variant(e).Scorer); err != nil {
			return err
		}
		if err := c.checkFileName("entry", e.Name); err != nil {
			return err
		}
		names[e.Name] = true
	}
	return nil
}

// checkFolds returns an error for folds with equal names, or without training or validation data.
func (c *Config) checkFolds() error {
	names := make(map[string]bool)
	for i := range c.Folds {
		f := &c.Folds[i]
		switch {
		case f.Train == nil || f.Valid == nil:
			return fmt.Errorf("fold %d: found no training data or no validation data, expected both", i+1)
		case names[f.Name]:
			return fmt.Errorf("two folds are named %q, expected different names", f.Name)
		}
		if err := c.checkFileName("fold", f.Name); err != nil {
			return err
		}
		names[f.Name] = true
	}
	return nil
}

// runJobs runs the jobs in parallel and stops at the first error. For Observe and Tell, done is the
// number of jobs that earlier calls have finished, and all is the total.
func (c *Config) runJobs(ctx context.Context, jobs []*job, done, all int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	parallel.For(len(jobs), c.Jobs, func(_, i int) {
		if ctx.Err() != nil {
			return
		}
		if err := jobs[i].run(ctx, c); err != nil {
			cancel(fmt.Errorf("%s: %w", jobs[i].name(), err))
			return
		}
		mu.Lock()
		done++
		if c.Observe != nil {
			c.Observe(done, all)
		}
		if c.Tell != nil {
			p := c.leader.finished(jobs[i], len(c.Folds))
			p.Done, p.Total = done, all
			c.Tell(p)
		}
		mu.Unlock()
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func countUnconverged(jobs []*job) int {
	n := 0
	for _, j := range jobs {
		if j.dropped {
			continue
		}
		if converged := j.model.Training.Converged; converged != nil && !*converged {
			n++
		}
	}
	return n
}

// finish measures the chosen model on the fold's test data.
func (c *Config) finish(f Fold, ch choice) (*FoldResult, error) {
	scores, err := ch.model.Score(f.Test)
	if err != nil {
		return nil, err
	}
	test, err := measure.Evaluate(f.Test, scores, c.Measures, c.Ties)
	if err != nil {
		return nil, err
	}
	return &FoldResult{
		Fold:       f.Name,
		Chosen:     ch.best.values,
		Averaged:   ch.averaged,
		Tried:      ch.tried,
		Validation: ch.validation,
		Model:      ch.model,
		Curve:      ch.best.curve,
		Test:       test,
	}, nil
}

// entryDir returns the folder of an entry's results.
func (c *Config) entryDir(e *Entry) string { return filepath.Join(c.Dir, e.Name, c.Subfolder) }

// arrange orders the features of the validation data of each fold as in the training data, by name,
// once for all trainings. It returns an error if validation or test data lack a feature of the
// training data.
func (c *Config) arrange() error {
	for i := range c.Folds {
		f := &c.Folds[i]
		tested := f.Tested()
		names := f.Train.FeatureNames
		columns, err := dataset.MatchNames(names, f.Valid.FeatureNames, f.Valid.IgnoreOthers)
		if err != nil {
			return fmt.Errorf("%s, validation data, for models of the training data's features: %w", f.Name, err)
		}
		if columns != nil {
			f.Valid = f.Valid.KeepFeatures(columns)
		}
		if !tested {
			f.Test = f.Valid
		}
		if _, err := dataset.MatchNames(names, f.Test.FeatureNames, f.Test.IgnoreOthers); err != nil {
			return fmt.Errorf("%s, test data, for models of the training data's features: %w", f.Name, err)
		}
	}
	return nil
}

// Progress is the progress of a run and the best setting so far. Only settings that were trained on
// all folds are compared.
type Progress struct {
	Done, Total int     // number of trainings
	Name        string  // name of the entry with the best setting; empty if there is none yet
	Setting     Setting // the best setting
	Best        float64 // mean over folds of the best setting's validation values
}

// leader tracks the best setting. The zero value is ready to use.
type leader struct {
	done map[leading]*standing
	best Progress
}

type leading struct {
	entry   *Entry
	setting string
}

type standing struct {
	sum   float64
	folds int
}

// finished records a finished job. It returns the best setting among the settings that were trained
// on the given number of folds.
func (l *leader) finished(j *job, folds int) Progress {
	if l.done == nil {
		l.done = make(map[leading]*standing)
	}
	key := leading{j.entry, j.values.String()}
	s := l.done[key]
	if s == nil {
		s = new(standing)
		l.done[key] = s
	}
	s.sum += j.validation
	if s.folds++; s.folds == folds {
		if mean := s.sum / float64(folds); l.best.Name == "" || mean > l.best.Best {
			l.best = Progress{Name: j.entry.Name, Setting: j.values, Best: mean}
		}
	}
	return l.best
}
