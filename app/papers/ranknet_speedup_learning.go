package papers

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/tune"
)

// learning is the left panel of the paper's Figure 1 for a net: by form the largest
// validation NDCG@10 so far after each epoch, and the time until then.
type learning struct {
	rate    string
	start   float64 // the validation NDCG@10 before the first epoch
	best    [formCount][]float64
	seconds [formCount][]float64
}

// learn trains a net by every form from the same start with the paper's schedule, at the
// rate that serves the fastest form best.
func (a artificial) learn(ctx context.Context, f tune.Fold, net layers, seed uint64) (learning, error) {
	s := net.scorer(f.Train.Features)
	start := make([]float64, s.NumParams())
	s.Init(start, random.Stream(seed, "init", net.name))
	var l learning
	var err error
	if l.start, err = validationNDCG(f.Valid, s, start); err != nil {
		return l, err
	}
	forms, err := newForms(f.Train, s, len(f.Train.Queries))
	if err != nil {
		return l, err
	}
	epochs, err := strconv.Atoi(a.epochs)
	if err != nil {
		return l, err
	}
	most := math.Inf(-1)
	for _, rate := range a.rates {
		best, _, err := trainForm(ctx, &forms[formKept], f.Valid, s, start, parse(rate), epochs)
		if err != nil {
			return l, err
		}
		if last := best[epochs-1]; last > most {
			most, l.rate = last, rate
		}
	}
	for k := range forms {
		if l.best[k], l.seconds[k], err = trainForm(ctx, &forms[k], f.Valid, s, start, parse(l.rate), epochs); err != nil {
			return l, err
		}
	}
	return l, nil
}

// trainForm returns a form's learning curve. Validation takes no time of it.
func trainForm(ctx context.Context, f *form, valid *dataset.Dataset, s scorer.Scorer, start []float64, rate float64, epochs int) (best, seconds []float64, err error) {
	w, before := slices.Clone(start), math.Inf(1)
	var took time.Duration
	most := math.Inf(-1)
	for range epochs {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		began := cpuTime()
		cost := f.epoch(w, rate)
		took += cpuTime() - began
		if cost > before {
			rate *= 0.8
		}
		before = cost
		value, err := validationNDCG(valid, s, w)
		if err != nil {
			return nil, nil, err
		}
		most = max(most, value)
		best, seconds = append(best, most), append(seconds, took.Seconds())
	}
	return best, seconds, nil
}

// validationNDCG is the NDCG@10 of a net, 0 of one that diverged: whose scores are no numbers.
func validationNDCG(d *dataset.Dataset, s scorer.Scorer, w []float64) (float64, error) {
	m, err := measure.Parse("ndcg@10", standard, measure.Options{})
	if err != nil {
		return 0, err
	}
	scores := make([]float64, d.Docs())
	var ws scorer.Workspace
	for i := range d.Queries {
		q := &d.Queries[i]
		s.Score(scores[q.Start:q.Start+q.Len()], w, q.X, &ws)
	}
	if slices.ContainsFunc(scores, math.IsNaN) {
		return 0, nil
	}
	r, err := measure.Evaluate(d, scores, []measure.Measure{m}, measure.TiesInput)
	if err != nil {
		return 0, err
	}
	return r.Mean(m), nil
}

// apart is the largest difference between the curves of two forms, by epoch.
func (l *learning) apart(a, b int) float64 { return largestDifference(l.best[a], l.best[b]) }

// risen is the least that a form's curve rises above the start.
func (l *learning) risen(forms ...int) float64 {
	least := math.Inf(1)
	for _, f := range forms {
		least = min(least, l.best[f][len(l.best[f])-1]-l.start)
	}
	return least
}
