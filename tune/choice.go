package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
)

// choice is the outcome of a fold's selection.
type choice struct {
	best       *job      // with the best validation value, the first of equals
	averaged   []Setting // those of the models averaged, the best first; nil if the model is the best job's
	tried      []float64
	model      *model.Model
	validation float64 // of the model
}

// choose returns the best job of a fold, or the average of the c.Average best jobs.
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

// validate returns the mean of the selection measure on the fold's validation data, in its tie-neutral
// value. Otherwise a model with ties might be chosen for the order of documents in the file.
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
