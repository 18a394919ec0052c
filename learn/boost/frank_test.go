package boost

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model/scorer"
)

// fidelityLoss is the loss from its definition, Σ D·(1 − √σ(H(i) − H(j))).
func fidelityLoss(pairs []pair, h []float64) float64 {
	var sum float64
	for _, p := range pairs {
		sum += p.weight * (1 - math.Sqrt(1/(1+math.Exp(h[p.worse]-h[p.better]))))
	}
	return sum
}

// along returns the loss at h plus alpha times a weak ranker.
func along(d *dataset.Dataset, pairs []pair, h []float64, s scorer.Stump, alpha float64) float64 {
	moved := make([]float64, len(h))
	for row := range h {
		moved[row] = h[row] + alpha*has(d, row, s)
	}
	return fidelityLoss(pairs, moved)
}

func newFRank(t interface{ Fatal(...any) }, d *dataset.Dataset, o FRankOptions) *FRank {
	b, err := NewFRank(d, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// setScores gives an FRank random scores.
func setScores(t *rapid.T, b *FRank, scale float64) {
	for i := range b.scores {
		b.scores[i] = scale * rapid.Float64Range(-1, 1).Draw(t, "score")
	}
	b.weigh()
}

// −½ Σ W·m is the slope of the fidelity loss along every weak ranker, by central
// differences of the loss from its definition; the loss is that too.
func TestFidelitySlope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := draw(t), FRankOptions{Options: drawOptions(t)}
		b := newFRank(t, d, o)
		setScores(t, b, rapid.SampledFrom([]float64{0, 1, 6}).Draw(t, "scale"))
		pairs, h := allPairs(d, o.PerQuery), scoresOf(d, b.documents, b.scores)
		if want := fidelityLoss(pairs, h); !near(b.Loss(), want, 1e-12) {
			t.Fatalf("loss is %v, want %v", b.Loss(), want)
		}
		b.search.run(b.potential)
		const step = 1e-5
		for i := range b.search.columns {
			for _, c := range b.search.all(i, b.potential) {
				s := b.search.columns[i].stump(c.cut)
				slope := (along(d, pairs, h, s, step) - along(d, pairs, h, s, -step)) / (2 * step)
				if math.Abs(slope+c.edge/2) > 1e-8 {
					t.Fatalf("slope along %+v is %v, the edge %v", s, slope, c.edge)
				}
			}
		}
	})
}

// The sums over split pairs are those of the definition: W of the pairs ordered well
// and badly, and the loss of both.
func TestSplitSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := draw(t), FRankOptions{Options: drawOptions(t)}
		b := newFRank(t, d, o)
		if len(b.search.columns) == 0 {
			return
		}
		setScores(t, b, 3)
		c := candidate{column: rapid.IntRange(0, len(b.search.columns)-1).Draw(t, "column")}
		s := b.search.columns[c.column].stump(0)
		alpha := rapid.Float64Range(-3, 3).Draw(t, "alpha")
		b.split(c)
		got := b.along(alpha)
		h := scoresOf(d, b.documents, b.scores)
		var want splitSums
		for _, p := range allPairs(d, o.PerQuery) {
			m := has(d, p.better, s) - has(d, p.worse, s)
			e := math.Exp(h[p.better] - h[p.worse] + alpha*m)
			w := p.weight * math.Sqrt(e) / math.Pow(1+e, 1.5)
			loss := p.weight * (1 - math.Sqrt(e/(1+e)))
			switch m {
			case 1:
				want.well, want.loss = want.well+w, want.loss+loss
			case -1:
				want.badly, want.loss = want.badly+w, want.loss+loss
			}
		}
		if !near(got.well, want.well, 1e-12) || !near(got.badly, want.badly, 1e-12) || !near(got.loss, want.loss, 1e-12) {
			t.Fatalf("sums are %+v, want %+v", got, want)
		}
	})
}

// Rounds do what their options say: the weak ranker of the steepest slope, or of the
// least loss with its α; α by the formula, or where the loss along it is stationary
// and lower; and the loss afterwards is that of the scores.
func TestFRankRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		o := FRankOptions{
			Options: drawOptions(t),
			Search:  FRankSearch(rapid.IntRange(0, 2).Draw(t, "search")),
			Alpha:   FRankAlpha(rapid.IntRange(0, 1).Draw(t, "alpha")),
		}
		b := newFRank(t, d, o)
		pairs, h := allPairs(d, o.PerQuery), make([]float64, d.Docs())
		for range 4 {
			candidates := bruteCandidates(b, d, pairs, h)
			before := b.Loss()
			round, ok := b.Next()
			if !ok {
				return
			}
			at, reached := formula(d, pairs, h, round.Stump), along(d, pairs, h, round.Stump, round.Weight)
			if !near(round.Loss, reached, 1e-9) {
				t.Fatalf("loss is %v, want %v", round.Loss, reached)
			}
			if o.Search == ByLoss && reached > candidates.leastLoss+1e-9 {
				t.Fatalf("loss is %v, there is a weak ranker with %v", reached, candidates.leastLoss)
			}
			if size := sizeOf(round.Edge, b.search.up); o.Search == ByGradient && size < candidates.mostEdge-1e-9 {
				t.Fatalf("edge is %v, there is one of %v", size, candidates.mostEdge)
			}
			if o.Alpha == FRankFormula && !near(round.Weight, at, 1e-6) {
				t.Fatalf("α is %v, want %v", round.Weight, at)
			}
			if o.Alpha == FRankMinimum {
				const step = 1e-4
				slope := (along(d, pairs, h, round.Stump, round.Weight+step) - along(d, pairs, h, round.Stump, round.Weight-step)) / (2 * step)
				if reached > before+1e-12 || math.Abs(round.Weight) < 13 && math.Abs(slope) > 1e-6 {
					t.Fatalf("from %v to %v, slope %v at α = %v", before, reached, slope, round.Weight)
				}
			}
			for row := range h {
				h[row] += round.Weight * has(d, row, round.Stump)
			}
		}
	})
}

// formula is α of the paper, from its definition.
func formula(d *dataset.Dataset, pairs []pair, h []float64, s scorer.Stump) float64 {
	var sums [2]float64
	for _, p := range pairs {
		e := math.Exp(h[p.better] - h[p.worse])
		w := p.weight * math.Sqrt(e) / math.Pow(1+e, 1.5)
		switch has(d, p.better, s) - has(d, p.worse, s) {
		case 1:
			sums[0] += w
		case -1:
			sums[1] += w
		}
	}
	return halfLogRatio(sums[0], sums[1])
}

// brute holds the extremes over all weak rankers.
type brute struct{ leastLoss, mostEdge float64 }

func bruteCandidates(b *FRank, d *dataset.Dataset, pairs []pair, h []float64) brute {
	best := brute{leastLoss: math.Inf(1)}
	w := make([]float64, len(pairs))
	for k, p := range pairs {
		e := math.Exp(h[p.better] - h[p.worse])
		w[k] = p.weight * math.Sqrt(e) / math.Pow(1+e, 1.5)
	}
	for _, s := range everyStump(d) {
		size := sizeOf(edgeOf(d, pairs, w, s), b.search.up)
		if size < 1e-9 {
			continue
		}
		best.mostEdge = max(best.mostEdge, size)
		if b.options.Alpha == FRankFormula {
			best.leastLoss = min(best.leastLoss, along(d, pairs, h, s, formula(d, pairs, h, s)))
		} else {
			best.leastLoss = min(best.leastLoss, leastAlong(d, pairs, h, s))
		}
	}
	return best
}

// leastAlong is the loss where it first stops falling along a weak ranker, by small
// steps, so that it is no lower than the minimum.
func leastAlong(d *dataset.Dataset, pairs []pair, h []float64, s scorer.Stump) float64 {
	best := along(d, pairs, h, s, 0)
	for _, sign := range []float64{-1, 1} {
		last := along(d, pairs, h, s, 0)
		for alpha := 0.125; alpha <= farthest; alpha += 0.125 {
			next := along(d, pairs, h, s, sign*alpha)
			if next >= last {
				break
			}
			last = next
		}
		best = min(best, last)
	}
	return best
}

// Scores that are far apart within a query neither overflow nor change what the loss
// and the potentials are: pairs ordered by much weigh nothing either way.
func TestFarScores(t *testing.T) {
	d := random(4, 12, 3, 9)
	for _, scale := range []float64{100, 300, 1e4, 1e300} {
		b := newFRank(t, d, FRankOptions{})
		for i := range b.scores {
			b.scores[i] = scale * math.Sin(float64(i))
		}
		b.weigh()
		pairs, h := allPairs(d, false), scoresOf(d, b.documents, b.scores)
		if want := fidelityLoss(pairs, h); !near(b.Loss(), want, 1e-12) {
			t.Errorf("scale %v: loss is %v, want %v", scale, b.Loss(), want)
		}
		for i, p := range b.potential {
			if math.IsNaN(p) || math.Abs(p) > 1 {
				t.Fatalf("scale %v: potential %d is %v", scale, i, p)
			}
		}
		if _, ok := b.Next(); ok && (math.IsNaN(b.Loss()) || b.Loss() < 0) {
			t.Errorf("scale %v: loss becomes %v", scale, b.Loss())
		}
	}
}

// The rounds are the same, bit for bit, for any number of workers.
func TestSameFRankForAnyNumberOfWorkers(t *testing.T) {
	d := random(12, 20, 5, 2)
	for search := ByGradient; search <= ByLoss; search++ {
		sameRounds(t, fmt.Sprintf("search %d", search), 6, func(workers int) booster[Round] {
			return newFRank(t, d, FRankOptions{Options: Options{Workers: workers, Cuts: 8}, Search: search, Alpha: FRankMinimum})
		})
	}
}
