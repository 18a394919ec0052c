package scorer

import (
	"errors"
	"fmt"

	"github.com/listwise/listwise/internal/strictjson"
)

// stumpsFile are stumps in a model file, in the order of the parameters.
type stumpsFile struct {
	Type     string      `json:"type"`
	Features int         `json:"features"`
	Stumps   []stumpFile `json:"stumps"`
}

// stumpFile is a stump and its weight; features are counted from 1 as in LETOR
// text.
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
			Threshold *float32 `json:"threshold"` // a pointer: null or no key is not 0
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
