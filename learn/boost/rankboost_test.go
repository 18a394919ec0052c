package boost

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/model/scorer"
)

func drawOptions(t *rapid.T) Options {
	return Options{Up: rapid.Bool().Draw(t, "up"), PerQuery: rapid.Bool().Draw(t, "perQuery"), Workers: 1}
}

func newRankBoost(t interface{ Fatal(...any) }, d *dataset.Dataset, o Options, exact bool) *RankBoost {
	b, err := NewRankBoost(d, o, exact)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// distribution returns D, the weights of the pairs at scores h divided by their sum,
// and the sum, relative to exp(shift).
func distribution(pairs []pair, h []float64, shift float64) (w []float64, z float64) {
	w = make([]float64, len(pairs))
	for k, p := range pairs {
		w[k] = p.weight * math.Exp(h[p.worse]-h[p.better]-shift)
		z += w[k]
	}
	for k := range w {
		w[k] /= z
	}
	return w, z
}

// The potentials are those of the matrix of pairs, and the loss is its sum, at any
// scores, also where exp(H) itself would overflow.
func TestPotentialsAgainstPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := draw(t), drawOptions(t)
		b := newRankBoost(t, d, o, false)
		scale := rapid.SampledFrom([]float64{0, 1, 30}).Draw(t, "scale")
		offset := rapid.SampledFrom([]float64{0, -5000, 3000}).Draw(t, "offset")
		for i := range b.scores {
			b.scores[i] = offset + scale*rapid.Float64Range(-1, 1).Draw(t, "score")
		}
		b.logLoss = 0
		b.weigh()
		h := scoresOf(d, b.documents, b.scores)
		pairs := allPairs(d, o.PerQuery)
		w, z := distribution(pairs, h, 0)
		if !near(math.Log(z), b.logLoss, 1e-9) {
			t.Fatalf("log loss is %v, want %v", b.logLoss, math.Log(z))
		}
		want := make([]float64, d.Docs())
		for k, p := range pairs {
			want[p.better] += w[k]
			want[p.worse] -= w[k]
		}
		for i, row := range b.documents.rows {
			if !near(b.potential[i], want[row], 1e-9) {
				t.Fatalf("potential of row %d is %v, want %v", row, b.potential[i], want[row])
			}
		}
	})
}

// In every round the weak ranker has the greatest edge of all values of all features,
// by the matrix of pairs; α is the formula's, or where the loss is least; and the loss
// falls by Z, which the paper's bound √(1−r²) keeps below 1.
func TestRankBoostRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o, exact := draw(t), drawOptions(t), rapid.Bool().Draw(t, "exact")
		b := newRankBoost(t, d, o, exact)
		pairs, h := allPairs(d, o.PerQuery), make([]float64, d.Docs())
		before := 1.0
		for range 6 {
			w, _ := distribution(pairs, h, 0)
			size := func(s scorer.Stump) float64 {
				e := edgeOf(d, pairs, w, s)
				if !o.Up {
					e = math.Abs(e)
				}
				return e
			}
			var most float64
			for _, s := range everyStump(d) {
				most = max(most, size(s))
			}
			round, ok := b.Next()
			if !ok {
				if most > 1e-9 {
					t.Fatalf("no round, though there is an edge of %v", most)
				}
				return
			}
			r := edgeOf(d, pairs, w, round.Stump)
			if !near(size(round.Stump), most, 1e-9) || !near(round.Edge, r, 1e-9) {
				t.Fatalf("edge %v (%v) of %+v, the greatest is %v", round.Edge, r, round.Stump, most)
			}
			if o.Up && round.Weight <= 0 {
				t.Fatalf("weight %v, want one above 0", round.Weight)
			}
			checkAlpha(t, d, pairs, w, round, exact)
			for row := range h {
				h[row] += round.Weight * has(d, row, round.Stump)
			}
			_, loss := distribution(pairs, h, 0)
			if !near(round.Loss/loss, 1, 1e-6) {
				t.Fatalf("loss is %v, want %v", round.Loss, loss)
			}
			// Z falls by r²/2, which for the smallest edges is less than rounding.
			if z, bound := loss/before, math.Sqrt(1-r*r); z > bound+1e-5 || z >= 1 && r*r > 1e-12 || z > 1+1e-12 {
				t.Fatalf("Z is %v, above %v", z, bound)
			}
			before = loss
		}
	})
}

func checkAlpha(t *rapid.T, d *dataset.Dataset, pairs []pair, w []float64, round Round, exact bool) {
	if math.Abs(round.Weight) > 13 {
		return // at the bound, which keeps it finite where a weak ranker makes no mistake
	}
	if !exact {
		if want := 0.5 * math.Log((1+round.Edge)/(1-round.Edge)); !near(round.Weight, want, 1e-6) {
			t.Fatalf("α is %v, want %v", round.Weight, want)
		}
		return
	}
	z := func(alpha float64) float64 {
		var sum float64
		for k, p := range pairs {
			sum += w[k] * math.Exp(-alpha*(has(d, p.better, round.Stump)-has(d, p.worse, round.Stump)))
		}
		return sum
	}
	const step = 1e-3
	if at := z(round.Weight); at > z(round.Weight-step) || at > z(round.Weight+step) {
		t.Fatalf("Z is %v at α = %v, %v and %v beside it", at, round.Weight, z(round.Weight-step), z(round.Weight+step))
	}
}

// A feature that orders all pairs is weighed by a finite α, and boosting goes on for
// thousands of rounds without an overflow: the loss becomes 0, the edge stays 1.
func TestSeparable(t *testing.T) {
	d := datatest.Queries(t, datatest.Query{Grades: []float64{0, 1, 2}, X: []float32{1, 2, 3}})
	for _, exact := range []bool{false, true} {
		r := newRankBoost(t, d, Options{}, exact)
		var last Round
		for i := range 3000 {
			round, ok := r.Next()
			if !ok || math.IsNaN(round.Edge) || math.IsInf(round.Weight, 0) || !(round.Edge > 0.4) {
				t.Fatalf("exact %v, round %d: %+v, %v", exact, i, round, ok)
			}
			last = round
		}
		if last.Loss != 0 {
			t.Errorf("the loss is %v after 3000 rounds", last.Loss)
		}
	}
}

// The rounds are the same, bit for bit, for any number of workers.
func TestSameRoundsForAnyNumberOfWorkers(t *testing.T) {
	d := random(20, 30, 6, 1)
	for _, exact := range []bool{false, true} {
		sameRounds(t, fmt.Sprintf("exact %v", exact), 30, func(workers int) booster[Round] {
			return newRankBoost(t, d, Options{Workers: workers, Cuts: 20}, exact)
		})
	}
}
