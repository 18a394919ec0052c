package method

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/ascent"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

func newCoordinateAscent() *Method {
	return &Method{
		Name:           "coordascent",
		Title:          "Coordinate ascent",
		Summary:        "Directly maximises the measure, one feature weight at a time.",
		Source:         "Metzler, Croft: Linear Feature-based Models for Information Retrieval, Information Retrieval 10, 2007; search=exact: Och: Minimum Error Rate Training in Statistical Machine Translation, ACL 2003",
		UsesMeasure:    true,
		DefaultMeasure: "map",
		takes:          anyOne,
		Hyperparameters: []Hyperparameter{
			{Name: "search", Kind: Choice, Default: "steps", Choices: []string{"steps", "exact"}, Doc: "line search over about 20 values of a weight (steps), or over all values (exact; slower, and needs memory for all pairs of a query)"},
			{Name: "restarts", Kind: Integer, Default: "4", Min: 0, Max: 1e6, Doc: "number of additional starts from random weights"},
			{Name: "sweeps", Kind: Integer, Default: "25", Min: 1, Max: 1e6, Doc: "passes over all features from one start"},
			{Name: "tolerance", Kind: Number, Default: "0.001", Min: 0, Max: 1, Doc: "minimum gain of the training measure in a sweep; training stops below"},
			{Name: "keep", Kind: Choice, Default: "mean", Choices: []string{"mean", "sweep", "start", "training"}, Doc: "mean: average the final weights of all starts; sweep: best sweep on validation data; start: best start on validation data; training: best start on training data"},
		},
		whole:   true,
		scorers: []string{linearScorer},
		plan:    planCoordinateAscent,
	}
}

// coordinateAscent is the learner of newCoordinateAscent.
type coordinateAscent struct{ values Values }

func planCoordinateAscent(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
	return nil, coordinateAscent{p.Values}, nil
}

// climb is a training by coordinate ascent, with its present state.
type climb struct {
	values Values
	task   *train.Task
	valid  *train.Validation // nil without validation data, or with keep=training

	data   *ascent.Data
	start  int       // index of the present start
	sweeps int       // number of sweeps over all starts
	best   climbed   // best point so far
	mean   []float64 // mean of the final weights of all starts
}

// climbed is a point that coordinate ascent has reached.
type climbed struct {
	w        []float64
	training float64 // training measure, with ties in the worst order
	worth    float64 // value by which points are compared: of the validation data if there are any, else training
	sweep    int     // number of the sweep over all starts, from 1
}

// Weighs implements train.Weigher. The mean of the measure over queries uses their weights.
func (coordinateAscent) Weighs(loss.Loss) train.Weighs { return train.Weighs{Queries: true} }

// Memory implements train.Estimator.
func (l coordinateAscent) Memory(p *train.Problem) float64 {
	var bytes float64
	for i := range p.Data.Queries {
		bytes += ascent.Bytes(p.Data.Queries[i].Grades, l.values.Text("search") == "exact")
	}
	return bytes
}

// Learn implements train.Learner.
func (l coordinateAscent) Learn(ctx context.Context, t *train.Task) (*train.Learned, error) {
	if err := t.NoCheckpoint(); err != nil {
		return nil, err
	}
	c := &climb{values: l.values, task: t}
	if l.values.Text("keep") != "training" {
		var err error
		if c.valid, err = t.Validation(true); err != nil {
			return nil, err
		}
	}
	if err := c.read(t.Normalized()); err != nil {
		return nil, &train.ProblemError{Err: err}
	}
	converged := true
	for c.start = range 1 + l.values.Int("restarts") {
		r, err := c.climb(ctx)
		if err != nil {
			return nil, err
		}
		converged = converged && r.Converged
	}
	if l.values.Text("keep") == "mean" {
		if _, err := c.consider(c.mean, c.data.Value(c.mean)); err != nil {
			return nil, err
		}
	}
	return c.learned(converged), nil
}

// read sets the data. It returns an error if nothing can be learned from d.
func (c *climb) read(d *dataset.Dataset) error {
	c.data = ascent.NewData(d.Features, c.task.Measure)
	for i := range d.Queries {
		c.data.AddWeighted(d.Queries[i].Grades, d.Queries[i].X, d.Queries[i].Weight())
	}
	if c.data.Queries() > 0 {
		return nil
	}
	return fmt.Errorf("training data: %w", measure.CheckVaries(c.task.Measure, d))
}

// add adds the final weights of a start, which have Σ|w| = 1, to the mean over all starts.
func (c *climb) add(w []float64) {
	if c.mean == nil {
		c.mean = make([]float64, len(w))
	}
	for j, v := range w {
		c.mean[j] += v / float64(1+c.values.Int("restarts"))
	}
}

// climb runs coordinate ascent from the present start.
func (c *climb) climb(ctx context.Context) (*ascent.Result, error) {
	v := c.values
	search, err := ascent.ParseSearch(v.Text("search"))
	if err != nil {
		return nil, &train.ProblemError{Err: err}
	}
	rng := random.Stream(c.task.Seed, "ascent", strconv.Itoa(c.start))
	w := make([]float64, c.data.Columns())
	for j := range w {
		w[j] = 1 / float64(len(w))
		if c.start > 0 {
			w[j] = random.Normal(rng)
		}
	}
	a := ascent.Climber{
		Search:    search,
		MaxSweeps: v.Int("sweeps"),
		Tolerance: v.Number("tolerance"),
		Workers:   c.task.Workers,
		Order: func(_ int, columns []int) {
			rng.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		},
		Observe: c.observe,
	}
	r, err := a.Climb(ctx, c.data, w)
	switch {
	case err != nil || v.Text("keep") == "sweep" && c.valid != nil:
		return r, err
	case v.Text("keep") == "mean":
		c.add(r.W)
		return r, nil
	}
	_, err = c.consider(r.W, r.Value)
	return r, err
}

// observe counts, validates and reports a sweep. With keep=sweep it also considers the sweep.
func (c *climb) observe(s ascent.Sweep) error {
	c.sweeps++
	it := Iteration{Start: c.start, Number: c.sweeps, Objective: 1 - s.Value, Epoch: true, Params: s.W}
	if c.valid != nil {
		var err error
		if it.Validation, err = c.valid.Value(scorer.Linear{Features: len(s.W)}, s.W); err != nil {
			return err
		}
		it.Validated = true
		if c.values.Text("keep") == "sweep" {
			if it.Best, err = c.consider(s.W, s.Value); err != nil {
				return err
			}
		}
	}
	if c.task.Observe != nil {
		c.task.Observe(it)
	}
	return nil
}

// consider keeps a point if it is better than all earlier ones, and reports whether it is better.
func (c *climb) consider(w []float64, training float64) (better bool, err error) {
	worth := training
	if c.valid != nil {
		if worth, err = c.valid.Value(scorer.Linear{Features: len(w)}, w); err != nil {
			return false, err
		}
	}
	if c.best.w != nil && worth <= c.best.worth {
		return false, nil
	}
	c.best = climbed{w: slices.Clone(w), training: training, worth: worth, sweep: c.sweeps}
	return true, nil
}

func (c *climb) learned(converged bool) *train.Learned {
	t := model.Training{
		Objective:   1 - c.best.training,
		Converged:   &converged,
		Iterations:  c.sweeps,
		Evaluations: c.sweeps,
		Status:      "a sweep gained less than the tolerance",
		BestEpoch:   c.best.sweep,
	}
	if c.values.Text("keep") == "mean" {
		t.BestEpoch = 0
	}
	if !converged {
		t.Status = "all sweeps of some start were made"
	}
	if c.valid != nil {
		t.Validation = &c.best.worth
	}
	return &train.Learned{Scorer: scorer.Linear{Features: c.task.Inputs()}, Params: c.best.w, Training: t, Used: c.data.Queries()}
}
