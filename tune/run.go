package tune

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/method"
	"github.com/listwise/listwise/model"
)

// Config says what to tune and how to judge it.
type Config struct {
	Folds         []Fold
	Entries       []Entry
	Select        measure.Measure    // settings are chosen by its tie-neutral mean over the validation queries
	Convention    measure.Convention // of Select and Measures
	Measures      []measure.Measure  // reported on test data
	Ties          measure.TiePolicy  // of the test results
	Normalization dataset.Normalization
	Seed          uint64
	Jobs          int // trainings side by side; 0 means GOMAXPROCS

	// Dir, if not empty, holds one record for every finished training, so that
	// a run that was killed goes on where it was, and in the end models, scores
	// and per-query results.
	Dir string

	// Observe, if not nil, is called from several goroutines as jobs end.
	Observe func(done, total int)
}

// Entry is a method with the settings to try.
type Entry struct {
	Name     string // of the row and of the folder; unique among entries
	Method   *method.Method
	Measure  measure.Measure // the training measure, nil if the method has none
	Settings []method.Values // tried in this order; the first of equals wins
}

// Result holds one row for every entry, in their order.
type Result struct {
	Rows []Row
}

// Row is what one method reached.
type Row struct {
	Entry    Entry
	Folds    []FoldResult
	Measures []Summary // in the order of Config.Measures
}

// FoldResult is one fold's chosen model and what it does on the test data.
type FoldResult struct {
	Fold       string
	Chosen     method.Values
	Tried      []float64 // validation value of every setting, in order
	Validation float64   // of the chosen one
	Model      *model.Model
	Test       *measure.Result
}

// Summary is one measure over the folds.
type Summary struct {
	Measure string
	Folds   []float64 // mean over each fold's test queries
	Mean    float64   // over folds, as LETOR reports
	Pooled  float64   // over all test queries
	// TieNeutral is Mean with documents of equal score in random order.
	TieNeutral float64
}

// Run trains every setting of every entry on every fold, chooses on validation
// data and measures the chosen models on test data. The result does not depend
// on the number of jobs, nor on whether the run was interrupted before.
func Run(ctx context.Context, c Config) (*Result, error) {
	jobs := c.jobs()
	if c.Dir != "" {
		if err := os.MkdirAll(c.Dir, 0o755); err != nil {
			return nil, err
		}
	}
	if err := c.runJobs(ctx, jobs); err != nil {
		return nil, err
	}
	result := &Result{Rows: make([]Row, len(c.Entries))}
	next := 0
	for i, e := range c.Entries {
		row := &result.Rows[i]
		row.Entry = e
		for _, f := range c.Folds {
			chosen := choose(jobs[next : next+len(e.Settings)])
			next += len(e.Settings)
			fr, err := c.finish(f, chosen)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", e.Name, f.Name, err)
			}
			row.Folds = append(row.Folds, *fr)
		}
		row.Measures = c.summarise(row.Folds)
	}
	if c.Dir == "" {
		return result, nil
	}
	return result, c.write(result)
}

// runJobs does the jobs side by side and stops at the first error.
func (c *Config) runJobs(ctx context.Context, jobs []*job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	done := 0
	parallel.For(len(jobs), c.Jobs, func(_, i int) {
		if ctx.Err() != nil {
			return
		}
		if err := jobs[i].run(ctx, c); err != nil {
			cancel(fmt.Errorf("%s, %s, %s: %w", jobs[i].entry.Name, jobs[i].fold.Name, jobs[i].values, err))
			return
		}
		mu.Lock()
		done++
		if c.Observe != nil {
			c.Observe(done, len(jobs))
		}
		mu.Unlock()
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// choice is the outcome of one fold's selection.
type choice struct {
	best  *job
	tried []float64
}

// choose returns the job with the best validation value, the first of equals.
func choose(jobs []*job) choice {
	c := choice{best: jobs[0]}
	for _, j := range jobs {
		c.tried = append(c.tried, j.validation)
		if j.validation > c.best.validation {
			c.best = j
		}
	}
	return c
}

// finish measures the chosen model on the fold's test data.
func (c *Config) finish(f Fold, ch choice) (*FoldResult, error) {
	scores, err := ch.best.model.Score(f.Test)
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
		Tried:      ch.tried,
		Validation: ch.best.validation,
		Model:      ch.best.model,
		Test:       test,
	}, nil
}

// summarise averages the folds' test results.
func (c *Config) summarise(folds []FoldResult) []Summary {
	tests := make([]*measure.Result, len(folds))
	for i := range folds {
		tests[i] = folds[i].Test
	}
	pooled := measure.Pool(tests...)
	all := make([]Summary, len(c.Measures))
	for i, m := range c.Measures {
		s := &all[i]
		s.Measure = m.Name()
		for _, t := range tests {
			s.Folds = append(s.Folds, t.Mean(m.Name()))
			s.TieNeutral += t.TieNeutral(m.Name()) / float64(len(tests))
		}
		s.Mean = measure.MeanOverFolds(m.Name(), tests...)
		s.Pooled = pooled.Mean(m.Name())
	}
	return all
}

// NewEntry returns a method's entry with every combination of its grids, those
// in override replacing its own.
func NewEntry(m *method.Method, override map[string][]string) (Entry, error) {
	grid, err := m.Grid(override)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Name: m.Name, Method: m}
	for _, point := range grid {
		v, err := m.Values(point)
		if err != nil {
			return Entry{}, err
		}
		e.Settings = append(e.Settings, v)
	}
	return e, nil
}

// Varied returns the hyperparameters that were tried with several values.
func (r *Row) Varied() []string {
	var names []string
	for _, h := range r.Entry.Method.Hyperparameters {
		for _, v := range r.Entry.Settings {
			if v.Text(h.Name) != r.Entry.Settings[0].Text(h.Name) {
				names = append(names, h.Name)
				break
			}
		}
	}
	return names
}

// AtEdge returns the numeric hyperparameters whose chosen value is, in some
// fold, the lowest or highest of those tried, so that a wider grid may do better.
func (r *Row) AtEdge() []string {
	var names []string
	for _, name := range r.Varied() {
		if !r.Entry.Method.IsNumber(name) {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range r.Entry.Settings {
			low, high = min(low, v.Number(name)), max(high, v.Number(name))
		}
		if slices.ContainsFunc(r.Folds, func(f FoldResult) bool {
			v := f.Chosen.Number(name)
			return v == low || v == high
		}) {
			names = append(names, name)
		}
	}
	return names
}

// TiedQueries returns the number of test queries in which the chosen models tie
// more than measure.NotableTies of the differently graded pairs.
func (r *Row) TiedQueries() int {
	n := 0
	for _, f := range r.Folds {
		n += f.Test.TieStats().Over
	}
	return n
}

// entryDir is the folder of an entry's results.
func (c *Config) entryDir(e *Entry) string { return filepath.Join(c.Dir, e.Name) }
