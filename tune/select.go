package tune

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
)

// SelectionError reports a validation measure that cannot choose between models.
type SelectionError struct {
	Err error // the reason
}

// Error implements error.
func (e *SelectionError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SelectionError) Unwrap() error { return e.Err }

// complete sets the defaults of the configuration.
func (c *Config) complete() {
	if c.Select == nil {
		c.Select = measure.MustParse("map", c.Convention)
	}
	if c.Convention == (measure.Convention{}) {
		c.Convention = measure.ConventionOf(c.Select)
	}
	if len(c.Measures) == 0 {
		c.Measures = []measure.Measure{c.Select}
	}
	c.Entries = slices.Clone(c.Entries)
	for i := range c.Entries {
		if e := &c.Entries[i]; e.Name == "" && e.Method != nil {
			e.Name = e.Method.Name
		}
	}
	c.Folds = slices.Clone(c.Folds)
	for i := range c.Folds {
		f := &c.Folds[i]
		if f.Test == nil {
			f.Test = f.Valid
		}
		if f.Name == "" {
			f.Name = fmt.Sprintf("Fold%d", i+1)
		}
	}
}

// setThreshold sets the relevance threshold of all measures from the grades of all folds together.
// So the same grades are relevant in every fold.
func (c *Config) setThreshold() {
	var sets []*dataset.Dataset
	for _, f := range c.Folds {
		sets = append(sets, f.Train, f.Valid, f.Test)
	}
	c.Convention = c.Convention.For(sets...)
	c.Select = measure.For(c.Select, sets...)
	c.Measures = measure.ForAll(c.Measures, sets...)
	for i := range c.Entries {
		c.Entries[i].Measure = measure.For(c.Entries[i].Measure, sets...)
	}
}

// checkMeasures returns an error for measures that cannot be evaluated.
func (c *Config) checkMeasures() error {
	names := make(map[string]bool)
	for _, m := range c.Measures {
		switch {
		case m == nil:
			return errors.New("found a measure that is nil, expected one")
		case names[m.Name()]:
			return fmt.Errorf("found the measure %s twice, expected different measures", m.Name())
		}
		if err := checkAverager(m); err != nil {
			return err
		}
		names[m.Name()] = true
	}
	if err := checkAverager(c.Select); err != nil {
		return &SelectionError{err}
	}
	return nil
}

func checkAverager(m measure.Measure) error {
	if _, ok := m.(measure.Averager); !ok {
		return fmt.Errorf("found the measure %s, expected one that has an expected value under ties (measure.Averager)", m.Name())
	}
	return nil
}

// checkSelection returns an error, before anything is trained, if every model would have the same
// validation value in some fold.
func (c *Config) checkSelection() error {
	for _, f := range c.Folds {
		if err := measure.CheckVaries(c.Select, f.Valid); err != nil {
			return &SelectionError{fmt.Errorf("%s, validation data: %w", f.Name, err)}
		}
	}
	return nil
}

// checkChoices returns an error if all settings of an entry have the same validation value in every
// fold although their models rank the validation data differently. Run would then choose the first
// setting without a reason. It is no error if the common value is the best possible.
func (c *Config) checkChoices(jobs []*job) error {
	next := 0
	for i := range c.Entries {
		e, n := &c.Entries[i], len(c.Entries[i].Settings)
		own := jobs[next : next+n*len(c.Folds)]
		next += len(own)
		undecided, left, first := false, 0, 0.0
		for k := range c.Folds {
			of := slices.DeleteFunc(slices.Clone(own[k*n:(k+1)*n]), func(j *job) bool { return j.dropped })
			if left = max(left, len(of)); k == 0 {
				first = of[0].validation
			}
			if slices.ContainsFunc(of, func(j *job) bool { return j.validation != of[0].validation }) {
				undecided = false
				break
			}
			if undecided {
				continue
			}
			different, err := c.rankDifferently(of, c.Folds[k].Valid)
			if err != nil {
				return err
			}
			undecided = different && of[0].validation < c.bestPossible(c.Folds[k].Valid)
		}
		if undecided {
			settings := fmt.Sprintf("all %d settings", left)
			if left < n {
				settings += fmt.Sprintf(" that successive halving left of %d", n)
			}
			return &SelectionError{fmt.Errorf("%s: %s have the same validation %s in every fold (%.4g in %s) though they rank differently, so there is nothing to choose by; expected another measure to select by, a grid of one setting, or more validation queries",
				e.Name, settings, c.Select.Name(), first, c.Folds[0].Name)}
		}
	}
	return nil
}

// rankDifferently reports whether the models of some two jobs rank the documents of d differently,
// such that some rank of a query has another grade, or other documents tie.
func (c *Config) rankDifferently(jobs []*job, d *dataset.Dataset) (bool, error) {
	var rankers [2]measure.Ranker
	first, err := jobs[0].model.Score(d)
	if err != nil {
		return false, err
	}
	for _, j := range jobs[1:] {
		scores, err := j.model.Score(d)
		if err != nil {
			return false, err
		}
		for k := range d.Queries {
			q := &d.Queries[k]
			end := q.Start + q.Len()
			ranked, ends := rankers[0].Rank(q.Grades, first[q.Start:end])
			other, otherEnds := rankers[1].Rank(q.Grades, scores[q.Start:end])
			if !slices.Equal(ranked, other) || !slices.Equal(ends, otherEnds) {
				return true, nil
			}
		}
	}
	return false, nil
}

// bestPossible returns the mean of the selection measure for ideal rankings of d.
func (c *Config) bestPossible(d *dataset.Dataset) float64 {
	var sum float64
	counted := 0
	for i := range d.Queries {
		if _, best, ok := measure.Extremes(c.Select, d.Queries[i].Grades); ok {
			sum += best
			counted++
		}
	}
	return sum / float64(counted)
}

// choice is the result of the selection in a fold.
type choice struct {
	best       *job      // the job with the best validation value, or the first of several
	averaged   []Setting // the settings of the averaged models, the best first; nil if the model is the best job's
	tried      []float64
	model      *model.Model
	validation float64 // validation value of model
}

// choose chooses the best job of a fold, or the average of the c.Average best jobs.
func (c *Config) choose(f Fold, jobs []*job) (choice, error) {
	ranked := slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.dropped })
	slices.SortStableFunc(ranked, func(a, b *job) int { return cmp.Compare(b.validation, a.validation) })
	best := ranked[0]
	ch := choice{best: best, model: best.model, validation: best.validation}
	for _, j := range jobs {
		tried := j.validation
		if j.dropped {
			tried = math.NaN()
		}
		ch.tried = append(ch.tried, tried)
	}
	n := min(c.Average, len(ranked))
	if n <= 1 {
		return ch, nil
	}
	var members []*model.Model
	for _, j := range ranked[:n] {
		members, ch.averaged = append(members, j.model), append(ch.averaged, j.values)
	}
	var err error
	if ch.model, err = model.NewFused(fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.Raw}, members, fuse.Equal(n)); err != nil {
		return ch, fmt.Errorf("the average of %d models: %w", n, err)
	}
	ch.validation, err = c.validate(ch.model, &f)
	return ch, err
}

// validate returns the mean of the selection measure on the fold's validation data. Tied documents
// contribute their expected value. Otherwise a model with ties might be chosen because of the order
// of documents in the file.
func (c *Config) validate(m *model.Model, f *Fold) (float64, error) {
	scores, err := m.Score(f.Valid)
	if err != nil {
		return 0, err
	}
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	value, counted := ranker.Mean(f.Valid, scores, c.Select)
	if counted == 0 {
		return 0, fmt.Errorf("no validation query counts for %s, expected at least one", c.Select.Name())
	}
	return value, nil
}
