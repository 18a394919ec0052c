package boost

import (
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// Claim: zero options boost with all values as thresholds, and AdaRank's lack a measure
// only; a rate of 0 is 1.
func TestZeroOptions(t *testing.T) {
	d := random(6, 8, 3, 1)
	rank, frank := newRankBoost(t, d, Options{}, false), newFRank(t, d, FRankOptions{})
	if _, ok := rank.Next(); !ok {
		t.Error("RankBoost with zero options adds nothing")
	}
	if _, ok := frank.Next(); !ok {
		t.Error("FRank with zero options adds nothing")
	}
	if _, err := NewAdaRank(d, AdaRankOptions{}); err == nil || !strings.Contains(err.Error(), "found no measure to boost") {
		t.Errorf("AdaRank without a measure: %v", err)
	}
	o := AdaRankOptions{Measure: measure.MustParse("map", measure.LETOR3), Reweight: ReweightCumulative, Stop: StopNever}
	zero := newAdaRank(t, d, o)
	o.Rate = 1
	full := newAdaRank(t, d, o)
	for range 5 {
		got, _ := zero.Next()
		if want, _ := full.Next(); got != want {
			t.Errorf("AdaRank at rate 0 adds %+v, at rate 1 %+v", got, want)
		}
	}
}
