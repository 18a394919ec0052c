package fuse

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// Scale is the method by which CombSUM and CombMNZ rescale a system's scores for one query. If all
// scores are equal, they become 0, except with Raw. If they are equal and the system did not retrieve
// all documents, MinMax changes them to 1 and Sum to equal shares of 1, so that they exceed the 0 of
// the other documents.
type Scale int

// The scales.
const (
	MinMax Scale = iota // (s − min)/(max − min)
	ZScore              // (s − mean)/standard deviation
	Sum                 // (s − min)/Σ(s − min) (Montague and Aslam, CIKM 2001)
	Raw                 // s; for systems with a common scale of scores, such as one method under several settings
)

var scaleNames = []string{"minmax", "zscore", "sum", "raw"}

// Scales returns the names that ParseScale accepts.
func Scales() []string { return slices.Clone(scaleNames) }

// ParseScale returns the scale with the given name.
func ParseScale(name string) (Scale, error) {
	if i := slices.Index(scaleNames, name); i >= 0 {
		return Scale(i), nil
	}
	return 0, fmt.Errorf("found the scale %q%s", name, suggest.Or(name, scaleNames, ", expected "+strings.Join(scaleNames, ", ")))
}

// String returns the name that ParseScale accepts.
func (s Scale) String() string { return scaleNames[s] }

// applyAboveAbsent rescales the scores of the retrieved documents by MinMax or Sum. Equal scores become
// positive, since documents that were not retrieved get 0.
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

// apply rescales the scores of one query. It halves them first, so that no difference overflows.
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
