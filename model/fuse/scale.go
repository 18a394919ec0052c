package fuse

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// Scale is how CombSUM and CombMNZ rescale a system's scores of one query. If all scores
// are equal they become 0, but for Raw. If they are equal and the system did not retrieve
// all documents, as of runs, MinMax makes them 1 and Sum equal shares of 1, above the 0 of
// the others.
type Scale int

// The scales.
const (
	MinMax Scale = iota // (s − min)/(max − min)
	ZScore              // (s − mean)/standard deviation
	Sum                 // (s − min)/Σ(s − min) (Montague and Aslam, CIKM 2001)
	Raw                 // s: for systems whose scores are of one scale, such as one method's under several settings
)

var scaleNames = []string{"minmax", "zscore", "sum", "raw"}

// Scales returns the names that ParseScale reads.
func Scales() []string { return slices.Clone(scaleNames) }

// ParseScale reads the name of a scale.
func ParseScale(name string) (Scale, error) {
	if i := slices.Index(scaleNames, name); i >= 0 {
		return Scale(i), nil
	}
	return 0, fmt.Errorf("found the scale %q%s", name, suggest.Or(name, scaleNames, ", expected "+strings.Join(scaleNames, ", ")))
}

// String returns the name that ParseScale reads.
func (s Scale) String() string { return scaleNames[s] }

// applyAboveAbsent is apply by MinMax or Sum for the documents that a system retrieved, where
// the votes for the other documents are 0.
func (s Scale) applyAboveAbsent(scores []float64) {
	if len(scores) == 0 || slices.Min(scores) != slices.Max(scores) {
		s.apply(scores)
		return
	}
	for i := range scores {
		scores[i] = 1
		if s == Sum {
			scores[i] /= float64(len(scores))
		}
	}
}

// apply rescales the scores of one query. They are halved first, so that no
// difference overflows.
func (s Scale) apply(scores []float64) {
	if len(scores) == 0 || s == Raw {
		return
	}
	least, most := float64(slices.Min(scores)/2), float64(slices.Max(scores)/2)
	if least == most {
		clear(scores)
		return
	}
	var sum, square float64
	for i := range scores {
		scores[i] = (float64(scores[i]/2) - least) / (most - least)
		sum += scores[i]
	}
	if s == MinMax {
		return
	}
	mean := sum / float64(len(scores))
	for _, v := range scores {
		square += float64((v - mean) * (v - mean))
	}
	deviation := math.Sqrt(square / float64(len(scores)))
	for i, v := range scores {
		if s == Sum {
			scores[i] = v / sum
		} else {
			scores[i] = (v - mean) / deviation
		}
	}
}
