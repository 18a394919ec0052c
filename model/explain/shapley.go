package explain

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// MostEnumerated is the largest number of features for which Shapley values are computed from all
// subsets.
const MostEnumerated = 12

// enumeration computes Shapley values of any scorer with few features by their definition. For every
// subset of the features, it scores documents that have the document's values of these features, and
// the values of a background document for the other features. The worth of the subset is the mean over
// a sample of background documents.
type enumeration struct {
	model  *model.Model
	rows   []float32 // rows of the sample
	mean   float64
	weight []float64 // weight[k]: of a subset of k features in the Shapley value of another feature
}

func newEnumeration(m *model.Model, b *source, o Options) (attributor, error) {
	n := m.Scorer.NumFeatures()
	e := &enumeration{model: m, rows: b.sample(o.Sample, o.Seed)}
	switch {
	case m.Scorer.Kind() == scorer.Random{}.Kind():
		return nil, &RefusedError{m.Scorer.Kind(), "it ranks at random"}
	case !e.alone():
		return nil, &RefusedError{m.Scorer.Kind(), "a document's score depends on the query's other documents"}
	case n > MostEnumerated:
		return nil, &RefusedError{m.Scorer.Kind(), fmt.Sprintf("their Shapley values take all subsets of its %d features, and at most %d are enumerated", n, MostEnumerated)}
	}
	scores := e.score(e.rows)
	e.mean = sum(scores) / float64(len(scores))
	w := setWeights(n)
	for size := range n {
		e.weight = append(e.weight, w[size][n-1-size])
	}
	return e, nil
}

func (e *enumeration) score(x []float32) []float64 {
	scores := make([]float64, len(x)/e.model.Scorer.NumFeatures())
	var ws scorer.Workspace
	e.model.Scorer.Score(scores, e.model.Params, x, &ws)
	return scores
}

// alone reports whether each document of the sample has the same score by itself as among the other
// documents.
func (e *enumeration) alone() bool {
	n := e.model.Scorer.NumFeatures()
	for i, want := range e.score(e.rows) {
		if got := e.score(e.rows[i*n : (i+1)*n])[0]; math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			return false
		}
	}
	return true
}

func (e *enumeration) about() string {
	n := e.model.Scorer.NumFeatures()
	return fmt.Sprintf("exact Shapley values by all %d subsets of the features, against %d of the background's documents", 1<<n, len(e.rows)/n)
}

func (e *enumeration) base() float64 { return e.mean }

func (e *enumeration) add(dst []float64, x []float32) {
	n := e.model.Scorer.NumFeatures()
	parallel.For(len(x)/n, 0, func(_, i int) {
		e.document(dst[i*n:(i+1)*n], x[i*n:(i+1)*n])
	})
}

func (e *enumeration) document(dst []float64, row []float32) {
	n := len(row)
	mixed, means := make([]float32, len(e.rows)), make([]float64, 1<<n)
	for subset := range means {
		for i, v := range e.rows {
			if j := i % n; subset>>j&1 == 1 {
				v = row[j]
			}
			mixed[i] = v
		}
		scores := e.score(mixed)
		means[subset] = sum(scores) / float64(len(scores))
	}
	for j := range row {
		parts := make([]float64, 0, len(means)/2)
		for subset, without := range means {
			if subset>>j&1 == 0 {
				parts = append(parts, e.weight[bits.OnesCount(uint(subset))]*(means[subset|1<<j]-without))
			}
		}
		dst[j] += sum(parts)
	}
}
