package scorer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/strictjson"
)

// Stump is a weak ranker. It gives a document the value 1 if the feature is above the threshold,
// otherwise 0.
type Stump struct {
	Feature   int     // from 0
	Threshold float32 // finite
}

// compare orders stumps by feature and then by threshold.
func (s Stump) compare(t Stump) int {
	return cmp.Or(cmp.Compare(s.Feature, t.Feature), cmp.Compare(s.Threshold, t.Threshold))
}

// Stumps are weak rankers h_t. Their score is the weighted sum
//
//	s(x) = Σ_t w_t·h_t(x),   h_t(x) = 1 if x[f_t] > θ_t, else 0.
//
// The parameters are the weights w. The features f and thresholds θ are the architecture. The stumps of
// one feature form a staircase, so a score needs one binary search per feature. Score adds the
// staircases in the order of features, so a score has the same bits whichever other documents are
// scored at the same time.
type Stumps struct {
	features int
	stumps   []Stump // by feature, then by threshold, all different
	stairs   []stairs
}

// stairs are the stumps of one feature, numbered from ≤ t < from+len(thresholds).
type stairs struct {
	feature    int
	from       int
	thresholds []float32
}

var _ Scorer = (*Stumps)(nil)

// NewStumps returns the scorer of the given stumps on data with the given number of features. There may
// be no stumps. They must be in increasing order of feature, then threshold, as MergeStumps returns
// them. A repeated stump, an unknown feature or a threshold that is not finite is an error.
func NewStumps(features int, stumps []Stump) (*Stumps, error) {
	s := &Stumps{features: features, stumps: slices.Clone(stumps)}
	for t, stump := range s.stumps {
		switch {
		case stump.Feature < 0 || stump.Feature >= features:
			return nil, fmt.Errorf("found feature %d in stump %d, expected one from 1 to %d", stump.Feature+1, t+1, features)
		case math.IsNaN(float64(stump.Threshold)) || math.IsInf(float64(stump.Threshold), 0):
			return nil, fmt.Errorf("found the threshold %v in stump %d, expected a finite number", stump.Threshold, t+1)
		case t > 0 && s.stumps[t-1].compare(stump) >= 0:
			return nil, fmt.Errorf("found stump %d (feature %d above %v) after feature %d above %v, expected increasing features and thresholds",
				t+1, stump.Feature+1, stump.Threshold, s.stumps[t-1].Feature+1, s.stumps[t-1].Threshold)
		}
		if t == 0 || s.stumps[t-1].Feature != stump.Feature {
			s.stairs = append(s.stairs, stairs{feature: stump.Feature, from: t})
		}
		last := &s.stairs[len(s.stairs)-1]
		last.thresholds = append(last.thresholds, stump.Threshold)
	}
	return s, nil
}

// MergeStumps sorts stumps into the order for NewStumps and merges equal ones. The weight of a merged
// stump is the sum of its stumps' weights.
func MergeStumps(stumps []Stump, weights []float64) ([]Stump, []float64) {
	mustMatch("weights", len(weights), len(stumps))
	order := make([]int, len(stumps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return stumps[a].compare(stumps[b]) })
	merged, sums := make([]Stump, 0, len(stumps)), make([]float64, 0, len(stumps))
	for _, i := range order {
		last := len(merged) - 1
		if last >= 0 && merged[last].compare(stumps[i]) == 0 {
			sums[last] += weights[i]
			continue
		}
		merged, sums = append(merged, stumps[i]), append(sums, weights[i])
	}
	return merged, sums
}

// Kind returns "stumps".
func (*Stumps) Kind() string { return "stumps" }

// NumFeatures returns the number of features.
func (s *Stumps) NumFeatures() int { return s.features }

// NumParams returns the number of stumps.
func (s *Stumps) NumParams() int { return len(s.stumps) }

// Stumps returns a copy of the stumps, in the order of the parameters.
func (s *Stumps) Stumps() []Stump { return slices.Clone(s.stumps) }

// Init sets all weights to 0.
func (*Stumps) Init(params []float64, _ *rand.Rand) { clear(params) }

// Score implements [Scorer]. It stores nothing in ws for Backward.
func (s *Stumps) Score(dst, params []float64, x []float32, ws *Workspace) {
	mustMatch("features", len(x), len(dst)*s.features)
	mustMatch("parameters", len(params), len(s.stumps))
	clear(dst)
	sums := ws.Hold(x, len(params))
	for _, st := range s.stairs {
		var height float64
		for t := range st.thresholds {
			height += params[st.from+t]
			sums[st.from+t] = height
		}
		for i := range dst {
			if k := st.below(x[i*s.features+st.feature]); k > 0 {
				dst[i] += sums[st.from+k-1]
			}
		}
	}
}

// Backward implements [Scorer]. The derivative with respect to the weight of stump t is the sum of
// lambda over the documents above its threshold. It does not depend on the parameters.
func (s *Stumps) Backward(grad, _ []float64, x []float32, lambda []float64, ws *Workspace) {
	mustMatch("features", len(x), len(lambda)*s.features)
	mustMatch("derivatives", len(grad), len(s.stumps))
	at := ws.Hold(x, len(grad)) // sums of lambda, by the highest threshold below the value
	clear(at)
	for _, st := range s.stairs {
		for i, l := range lambda {
			if k := st.below(x[i*s.features+st.feature]); k > 0 {
				at[st.from+k-1] += l
			}
		}
		var above float64
		for t := len(st.thresholds) - 1; t >= 0; t-- {
			above += at[st.from+t]
			grad[st.from+t] += above
		}
	}
}

// below returns the number of thresholds below v.
func (st *stairs) below(v float32) int {
	from, to := 0, len(st.thresholds)
	for from < to {
		middle := int(uint(from+to) >> 1)
		if st.thresholds[middle] < v {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from
}

// stumpsFile is the form of stumps in a model file, in the order of the parameters.
type stumpsFile struct {
	Type     string      `json:"type"`
	Features int         `json:"features"`
	Stumps   []stumpFile `json:"stumps"`
}

// stumpFile is a stump with its weight. Feature is counted from 1, as in LETOR text.
type stumpFile struct {
	Feature   int     `json:"feature"`
	Threshold float32 `json:"threshold"`
	Weight    float64 `json:"weight"`
}

func (s *Stumps) encode(params []float64) ([]byte, error) {
	f := stumpsFile{Type: s.Kind(), Features: s.features, Stumps: make([]stumpFile, len(params))}
	for t, w := range params {
		f.Stumps[t] = stumpFile{s.stumps[t].Feature + 1, s.stumps[t].Threshold, w}
	}
	return strictjson.Marshal(f)
}

func decodeStumps(o strictjson.Object) (Scorer, []float64, error) {
	var f struct {
		Features int `json:"features"`
		Stumps   []struct {
			Feature   int      `json:"feature"`
			Threshold *float32 `json:"threshold"` // a pointer, so that null or a missing key differs from 0
			Weight    *float64 `json:"weight"`
		} `json:"stumps"`
	}
	if err := o.Decode(&f); err != nil {
		return nil, nil, err
	}
	if err := atLeastOne("features", f.Features); err != nil {
		return nil, nil, err
	}
	if f.Stumps == nil {
		return nil, nil, errors.New("found no list of stumps, expected one, if only empty")
	}
	stumps, weights := make([]Stump, len(f.Stumps)), make([]float64, len(f.Stumps))
	for t, stump := range f.Stumps {
		if stump.Threshold == nil || stump.Weight == nil {
			return nil, nil, fmt.Errorf("found stump %d without a threshold or a weight, expected both", t+1)
		}
		stumps[t], weights[t] = Stump{stump.Feature - 1, *stump.Threshold}, *stump.Weight
	}
	s, err := NewStumps(f.Features, stumps)
	if err != nil {
		return nil, nil, err
	}
	return s, weights, nil
}
