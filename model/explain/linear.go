package explain

import (
	"slices"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// newAdditive returns the attributor for a model whose score is a sum of functions of single features,
// and nil for another model. Under every attribution, a feature's contribution is its function's value
// minus the function's mean over the background.
func newAdditive(m *model.Model, b *source) attributor {
	switch s := m.Scorer.(type) {
	case scorer.Linear:
		return newLinear(m.Params, 0, b)
	case *scorer.Layers:
		if layers := s.Layers(); len(layers) == 1 && layers[0].Activation == scorer.Identity {
			weights, biases := s.Split(m.Params)
			return newLinear(weights[0], biases[0][0], b)
		}
	case *scorer.Stumps:
		return newStaircases(s, m.Params, b)
	}
	return nil
}

// linear contributes w_j·(x_j − mean of x_j in the background) for feature j.
type linear struct {
	weights, means []float64
	bias           float64
}

func newLinear(weights []float64, bias float64, b *source) *linear {
	return &linear{weights, b.means(), bias}
}

func (*linear) about() string {
	return "exact contributions of a weighted sum: weight times difference to the background's mean"
}

func (l *linear) base() float64 {
	products := []float64{l.bias}
	for j, w := range l.weights {
		products = append(products, w*l.means[j])
	}
	return sum(products)
}

func (l *linear) add(dst []float64, x []float32) {
	for i, v := range x {
		j := i % len(l.weights)
		dst[i] += float64(l.weights[j] * (float64(v) - l.means[j]))
	}
}

// staircases contributes, for each feature, the sum of its stumps minus the mean of this sum over the
// background.
type staircases struct {
	features int
	stairs   []staircase
}

// staircase is the sum of the stumps of one feature. The sum is heights[k] if k thresholds are below
// the value.
type staircase struct {
	feature    int
	thresholds []float32 // ascending
	heights    []float64 // one element more than thresholds
	mean       float64
}

func newStaircases(s *scorer.Stumps, params []float64, b *source) *staircases {
	a := &staircases{features: s.NumFeatures()}
	for t, stump := range s.Stumps() {
		if n := len(a.stairs); n == 0 || a.stairs[n-1].feature != stump.Feature {
			a.stairs = append(a.stairs, staircase{feature: stump.Feature, heights: []float64{0}})
		}
		last := &a.stairs[len(a.stairs)-1]
		last.thresholds = append(last.thresholds, stump.Threshold)
		last.heights = append(last.heights, last.heights[len(last.heights)-1]+params[t])
	}
	b.each(func(x []float32, docs int) {
		for i := range docs {
			for k := range a.stairs {
				st := &a.stairs[k]
				st.mean += st.at(x[i*a.features+st.feature])
			}
		}
	})
	for k := range a.stairs {
		a.stairs[k].mean /= float64(b.data.Docs())
	}
	return a
}

func (st *staircase) at(v float32) float64 {
	below, _ := slices.BinarySearch(st.thresholds, v)
	return st.heights[below]
}

func (*staircases) about() string {
	return "exact contributions of a sum of stumps: a feature's stumps above their mean over the background"
}

func (a *staircases) base() float64 {
	means := make([]float64, len(a.stairs))
	for k := range means {
		means[k] = a.stairs[k].mean
	}
	return sum(means)
}

func (a *staircases) add(dst []float64, x []float32) {
	for from := 0; from < len(x); from += a.features {
		for k := range a.stairs {
			st := &a.stairs[k]
			dst[from+st.feature] += st.at(x[from+st.feature]) - st.mean
		}
	}
}
