package ranking

import (
	"math"
	"strings"
	"testing"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// averagePrecision is (1/n⁺) Σ_i (i+1)/(i+1+a_(i)).
type averagePrecision struct{}

func (averagePrecision) GoodGain(i, a, good, _ int) float64 {
	return float64(i+1) / float64(i+1+a) / float64(good)
}

// auc is 1 − Σ_i a_(i)/(n⁺n⁻).
type auc struct{}

func (auc) GoodGain(_, a, good, bad int) float64 {
	return float64(bad-a) / float64(bad) / float64(good)
}

// φ and δφ are the definitions summed over labels, for every valid ranking.
func TestCoefficientsAgainstSumsOverPairs(t *testing.T) {
	p := classes(3, 3)
	s := []float64{0.3, -1.2, 2.5, 0.01, -0.7, 1.1}
	ideal := make([]float64, p.Docs())
	for _, kappa := range []float64{1, 1.0 / 9} {
		NewOrder(p).FeatureMap(ideal, kappa)
		for _, o := range reachable(p) {
			var phi, inverted float64
			satisfied := 0
			for i, row := range labels(o) {
				for j, above := range row {
					d := s[p.Good[i]] - s[p.Bad[j]]
					if above {
						phi += kappa * d
						satisfied++
					} else {
						phi -= kappa * d
						inverted += 2 * kappa * d
					}
				}
			}
			c := make([]float64, p.Docs())
			o.FeatureMap(c, kappa)
			if got := dot(c, s); !near(got, phi, 1e-13) {
				t.Fatalf("φ = %v, expected %v", got, phi)
			}
			difference := dot(ideal, s) - dot(c, s)
			o.FeatureLoss(c, kappa)
			if got := dot(c, s); !near(got, inverted, 1e-13) || !near(got, difference, 1e-13) {
				t.Fatalf("δφ = %v, expected %v and %v", got, inverted, difference)
			}
			if got := o.Gain(auc{}); !near(got, float64(satisfied)/9, 1e-15) {
				t.Fatalf("AUC = %v with %d of 9 pairs right", got, satisfied)
			}
		}
	}
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// The inversion counts determine the ranking.
func TestInversionsDetermineTheRanking(t *testing.T) {
	p := classes(2, 3)
	seen := map[string]bool{}
	for _, o := range reachable(p) {
		c := make([]int32, p.Docs())
		o.Inversions(c)
		y := labels(o)
		for i, g := range p.Good {
			var above int32
			for _, over := range y[i] {
				if !over {
					above++
				}
			}
			if c[g] != above {
				t.Fatalf("good %d: %d bads above it, expected %d", g, c[g], above)
			}
		}
		for j, b := range p.Bad {
			var below int32
			for i := range y {
				if !y[i][j] {
					below++
				}
			}
			if c[b] != below {
				t.Fatalf("bad %d: %d goods below it, expected %d", b, c[b], below)
			}
		}
		seen[string(fmtCounts(c))] = true
	}
	if len(seen) != 46 {
		t.Errorf("%d different counts, expected 46", len(seen))
	}
}

func fmtCounts(c []int32) (b []byte) {
	for _, n := range c {
		b = append(b, byte(n))
	}
	return b
}

// A gain does not depend on how the ranking was reached, to the last bit, and
// AUC is exactly 1 at the top and exactly 0 at the bottom.
func TestTrackerIsExactAtTheEnds(t *testing.T) {
	p := classes(7, 11)
	o := NewOrder(p)
	tracker, err := NewTracker(auc{}, o)
	if err != nil {
		t.Fatal(err)
	}
	if tracker.Value() != 1 {
		t.Errorf("ideal ranking: %v", tracker.Value())
	}
	for range p.Pairs() {
		k := 0
		for !o.Boundary(k).UpperGood {
			k++
		}
		tracker.Apply(o.Flip(k, 0, 0))
	}
	if tracker.Value() != 0 {
		t.Errorf("worst ranking: %v", tracker.Value())
	}
}

type broken float64

func (b broken) GoodGain(_, _, _, _ int) float64 { return float64(b) }

func TestTrackerRefusesWhatIsNoGain(t *testing.T) {
	for _, g := range []Gain{broken(math.NaN()), broken(2), broken(-1)} {
		if _, err := NewTracker(g, NewOrder(classes(2, 2))); err == nil || !strings.Contains(err.Error(), "expected 0 to 1") {
			t.Errorf("gain %v: error %v", g, err)
		}
	}
}
