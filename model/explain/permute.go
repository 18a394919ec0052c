package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/model"
)

// DefaultRepeats is the default number of permutations of every feature.
const DefaultRepeats = 5

// PermuteOptions control the computation of permutation importance.
type PermuteOptions struct {
	Measure measure.Measure
	Ties    measure.TiePolicy

	// Across permutes a feature over the documents of all queries. Otherwise Permute permutes values
	// within each query, so no document gets a value that cannot occur in its query. The importance of
	// a feature that is constant within every query is then 0, since it alone cannot rank documents.
	Across bool

	Repeats      int // number of permutations of every feature, over which losses are averaged; 0: DefaultRepeats
	Seed         uint64
	Permutations int // number of sign flips of the tests; 0: the default of package stats

	// Observe, if not nil, is called with the number of processed features and the number of features.
	Observe func(done, total int)
}

// Permuted contains the loss of a measure for each permuted feature.
type Permuted struct {
	Mean     float64      // mean of the measure on the original data
	Queries  int          // number of queries that count for the measure
	Features []Importance // in the order of the model's features
}

// Importance is the loss of a measure when a feature is permuted. It is the mean over queries and
// repeats. A positive loss means that the model ranks worse without the feature. The interval and the
// test are over the queries.
type Importance struct {
	Term
	Used     bool    // whether the model's score can depend on the feature; if not, the loss is 0
	Loss     float64 // weighted mean over the queries
	Interval stats.Interval
	P, Holm  float64   // P value of Fisher's randomisation test of no loss, and its correction over the used features; NaN with fewer than two queries
	PerQuery []float64 // loss of each query that counts, in the order of the data; nil if the feature is not used
}

// Permute computes the permutation importance of every feature of a model on judged queries (Breiman,
// Machine Learning 45, 2001). It is the loss of a measure when the feature's values in the data are
// permuted. Features that carry the same information can replace each other, so each of them may seem
// unimportant.
//
// The result does not depend on the number of cores. Permute scores all documents once for each used
// feature and repeat. It needs memory for a copy of the features.
func Permute(ctx context.Context, m *model.Model, d *dataset.Dataset, o PermuteOptions) (*Permuted, error) {
	if o.Repeats <= 0 {
		o.Repeats = DefaultRepeats
	}
	if err := checkCells("the importance of features", 1, m.Scorer.NumFeatures(), importanceBytes); err != nil {
		return nil, err
	}
	p, err := newPermuting(m, d, o)
	if err != nil {
		return nil, err
	}
	out := &Permuted{Queries: len(p.counted), Features: make([]Importance, m.NumFeatures())}
	used := usedFeatures(m)
	for j := range out.Features {
		f := &out.Features[j]
		f.Term = termOf(m, d, p.columns, j)
		f.P, f.Holm = 1, 1
		if f.Used = used[j] && f.Column >= 0; f.Used {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f.PerQuery = make([]float64, len(p.counted))
			if err := p.permute(f); err != nil {
				return nil, fmt.Errorf("feature %s: %w", f.Name, err)
			}
		}
		if o.Observe != nil {
			o.Observe(j+1, len(out.Features))
		}
	}
	return out, p.judge(out)
}

// permuting is the state of Permute.
type permuting struct {
	PermuteOptions
	model   *model.Model
	columns []int
	data    *dataset.Dataset // a copy, in which one feature at a time is permuted
	own     []float32        // original values of the permuted feature
	counted []int            // indices of the queries that count for the measure
	before  []float64        // the measure's value for each of these queries
	weights []float64
}

func newPermuting(m *model.Model, d *dataset.Dataset, o PermuteOptions) (*permuting, error) {
	scores, err := m.Score(d) // also checks the features
	if err != nil {
		return nil, err
	}
	p := &permuting{PermuteOptions: o, model: m, data: d.Clone(), own: make([]float32, d.Docs())}
	p.data.IgnoreOthers = d.IgnoreOthers
	if p.columns, err = m.Columns(d); err != nil {
		return nil, err
	}
	r, err := measure.Evaluate(d, scores, []measure.Measure{o.Measure}, o.Ties)
	if err != nil {
		return nil, err
	}
	for i, v := range r.PerQuery(o.Measure) {
		if !math.IsNaN(v) {
			p.counted, p.before = append(p.counted, i), append(p.before, v)
			if w := r.Weights(); w != nil {
				p.weights = append(p.weights, w[i])
			}
		}
	}
	if len(p.counted) == 0 {
		return nil, fmt.Errorf("found no query for which %s counts, expected at least one", o.Measure.Name())
	}
	return p, nil
}

// permute sets the loss of feature f for each query.
func (p *permuting) permute(f *Importance) error {
	x, width := p.data.X(), p.data.Features
	for i := range p.own {
		p.own[i] = x[i*width+f.Column]
	}
	defer func() {
		for i, v := range p.own {
			x[i*width+f.Column] = v
		}
	}()
	for repeat := range p.Repeats {
		purpose := "permute " + strconv.Itoa(repeat) + " " + f.Name
		if p.Across {
			p.shuffle(f.Column, 0, len(p.own), random.Stream(p.Seed, purpose, ""))
		} else {
			for i := range p.data.Queries {
				q := &p.data.Queries[i]
				p.shuffle(f.Column, q.Start, q.Len(), random.Stream(p.Seed, purpose, q.ID))
			}
		}
		p.data.Modified()
		scores, err := p.model.Score(p.data)
		if err != nil {
			return err
		}
		r, err := measure.Evaluate(p.data, scores, []measure.Measure{p.Measure}, p.Ties)
		if err != nil {
			return err
		}
		values := r.PerQuery(p.Measure)
		for k, i := range p.counted {
			f.PerQuery[k] += (p.before[k] - values[i]) / float64(p.Repeats)
		}
	}
	return nil
}

// shuffle permutes the values of a column in the given number of rows from first on.
func (p *permuting) shuffle(column, first, rows int, rng *rand.Rand) {
	x, width := p.data.X(), p.data.Features
	for to, from := range rng.Perm(rows) {
		x[(first+to)*width+column] = p.own[first+from]
	}
}

// judge sets means, intervals and tests.
func (p *permuting) judge(out *Permuted) error {
	values, of := [][]float64{p.before}, []*Importance{nil}
	for j := range out.Features {
		if f := &out.Features[j]; f.Used {
			after := make([]float64, len(p.before))
			for k, loss := range f.PerQuery {
				after[k] = p.before[k] - loss
			}
			values, of = append(values, after), append(of, f)
		}
	}
	if len(p.before) < 2 || len(values) < 2 {
		out.Mean = p.mean(p.before)
		for _, f := range of[1:] {
			f.Loss = p.mean(f.PerQuery)
			f.Interval, f.P, f.Holm = stats.Interval{Low: math.NaN(), High: math.NaN()}, math.NaN(), math.NaN()
		}
		return nil
	}
	c, err := stats.Compare(values, stats.Config{Weights: p.weights, Resamples: 1, Permutations: p.Permutations, Seed: p.Seed})
	if err != nil {
		return err
	}
	out.Mean = c.Systems[0].Mean
	for _, pair := range c.Pairs {
		f := of[pair.A]
		f.Loss, f.P, f.Holm = 0-pair.Difference, pair.Randomization.P, pair.Randomization.Holm
		f.Interval = stats.Interval{Low: 0 - pair.Interval.High, High: 0 - pair.Interval.Low}
	}
	return nil
}

// mean returns the weighted mean over the queries that count.
func (p *permuting) mean(values []float64) float64 {
	var total, weights float64
	for k, v := range values {
		w := 1.0
		if p.weights != nil {
			w = p.weights[k]
		}
		total, weights = total+float64(w*v), weights+w
	}
	return total / weights
}

// ByLoss returns the features in descending order of the loss. Features that the model does not use are
// last.
func (p *Permuted) ByLoss() []Importance {
	order := slices.Clone(p.Features)
	slices.SortStableFunc(order, func(a, b Importance) int {
		if a.Used != b.Used {
			if a.Used {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Loss, a.Loss)
	})
	return order
}
