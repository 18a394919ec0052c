package loss_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/losstest"
	"pgregory.net/rapid"
)

// structuredMeasures are the four of the papers, at cutoffs below and above the
// lengths tested, and others that are sums over relevant documents.
var structuredMeasures = []string{"map", "auc", "mrr", "ndcg@1", "ndcg@2", "ndcg@3", "ndcg@10", "ndcg", "mrr@2", "p@3", "r@4", "bpref", "rbp"}

// TestStructuredHingeConformance runs the suite on every measure.
func TestStructuredHingeConformance(t *testing.T) {
	for i, name := range structuredMeasures {
		l := loss.StructuredHinge{Gain: gain(t, name), Kappa: bipartite.KappaPairs}
		if i%2 == 1 {
			l.Kappa, l.Threshold, l.Weight = bipartite.KappaOne, 2, 3
		}
		losstest.Run(t, losstest.Case{Name: name, Loss: l, Polyhedral: true})
	}
}

// structuredQuery is a query with scores that tie now and then.
func structuredQuery(t *rapid.T, most int) (grades, scores []float64) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 21))
	n := rapid.IntRange(2, most).Draw(t, "documents")
	spread := rapid.SampledFrom([]float64{0, 0.1, 1, 10}).Draw(t, "spread")
	share := rapid.SampledFrom([]float64{0.1, 0.5, 0.9}).Draw(t, "relevant")
	grades, scores = make([]float64, n), make([]float64, n)
	for i := range grades {
		if rng.Float64() < share {
			grades[i] = 1
		}
		scores[i] = spread*rng.NormFloat64() + 3
		if i > 0 && rng.IntN(5) == 0 {
			scores[i] = scores[rng.IntN(i)]
		}
	}
	grades[0], grades[1] = 1, 0
	return grades, scores
}

// permutations calls f with every order of 0 … n−1.
func permutations(n int, f func(order []int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var swap func(at int)
	swap = func(at int) {
		if at == n {
			f(order)
			return
		}
		for i := at; i < n; i++ {
			order[at], order[i] = order[i], order[at]
			swap(at + 1)
			order[at], order[i] = order[i], order[at]
		}
	}
	swap(0)
}

// inOrder returns x in the order.
func inOrder(x []float64, order []int) []float64 {
	y := make([]float64, len(x))
	for r, d := range order {
		y[r] = x[d]
	}
	return y
}

// The worst ranking is the worst of all orders of the documents, for every measure
// and scale, its Δ being what the measure itself says of the order.
func TestStructuredHingeIsTheWorstOfAllOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grades, scores := structuredQuery(t, 6)
		n := len(grades)
		pairs := float64(bipartite.Split(grades, 1).Pairs())
		type order struct{ grades, scores []float64 }
		var orders []order
		permutations(n, func(o []int) { orders = append(orders, order{inOrder(grades, o), inOrder(scores, o)}) })
		for _, name := range structuredMeasures {
			m, kappa := gainOf(t, name), 1/pairs
			l := loss.StructuredHinge{Gain: m, Kappa: bipartite.KappaPairs}
			if rapid.Bool().Draw(t, "one") {
				l.Kappa, kappa = bipartite.KappaOne, 1
			}
			ideal, want := 0.0, math.Inf(-1)
			for _, o := range orders {
				v, _ := m.Value(o.grades)
				ideal = max(ideal, v)
			}
			for _, o := range orders {
				v, _ := m.Value(o.grades)
				want = max(want, ideal-v-2*kappa*inverted(o.grades, o.scores))
			}
			got := structuredValue(t, l, grades, scores)
			if math.Abs(got-want) > 1e-12*max(1, want) {
				t.Fatalf("%s: %v, the worst of all orders has %v\ngrades %v\nscores %v", name, got, want, grades, scores)
			}
		}
	})
}

// inverted returns Σ s_g − s_b over the pairs of which the bad stands first.
func inverted(grades, scores []float64) float64 {
	var sum float64
	for i, a := range grades {
		for j := i + 1; j < len(grades); j++ {
			if a < 1 && grades[j] >= 1 {
				sum += scores[j] - scores[i]
			}
		}
	}
	return sum
}

func gainOf(t *rapid.T, name string) measure.Additive {
	m, err := parseUnder(name, "letor3")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func parseUnder(name, convention string) (measure.Additive, error) {
	c, err := measure.ParseConvention(convention)
	if err != nil {
		return nil, err
	}
	m, err := measure.Parse(name, c, measure.Options{})
	if err != nil {
		return nil, err
	}
	return m.(measure.Additive), nil
}

func structuredValue(t *rapid.T, l loss.Loss, grades, scores []float64) float64 {
	bound, err := l.Bind(grades, nil)
	if err != nil {
		t.Fatal(err)
	}
	var scratch loss.Scratch
	return bound.Eval(scores, nil, &scratch)
}

// latticeMax is the recursion over all cells of the lattice.
func latticeMax(gamma func(i, a int) float64, good, bad []float64, slope float64) float64 {
	good, bad = descendingCopy(good), descendingCopy(bad)
	most := make([]float64, len(bad)+1)
	ideal := 0.0
	for i, g := range good {
		ideal += gamma(i, 0)
		energy, best := 0.0, math.Inf(-1)
		for j := range most {
			if j > 0 {
				energy += slope * (bad[j-1] - g)
			}
			best = max(best, most[j]+energy-gamma(i, j))
			most[j] = best
		}
	}
	return ideal + most[len(bad)]
}

func descendingCopy(x []float64) []float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	slices.Reverse(x)
	return x
}

// On longer lists both searches agree with the recursion over all cells, λ's plane
// touches the loss, the loss is no less than 0 nor than the Δ of the ranking by score.
func TestStructuredHingeOnLongLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grades, scores := structuredQuery(t, 70)
		n := len(grades)
		split := bipartite.Split(grades, 1)
		ng, nb := len(split.Good), len(split.Bad)
		var good, bad []float64
		for i, g := range grades {
			if g >= 1 {
				good = append(good, scores[i])
			} else {
				bad = append(bad, scores[i])
			}
		}
		for _, name := range structuredMeasures {
			m := gainOf(t, name)
			bound, err := loss.StructuredHinge{Gain: m, Kappa: bipartite.KappaPairs, Weight: 2}.Bind(grades, nil)
			if err != nil {
				t.Fatal(err)
			}
			gamma := func(i, a int) float64 { return m.GoodGain(i, a, ng, nb) }
			want := 2 * latticeMax(gamma, good, bad, 2/float64(ng*nb))
			var scratch loss.Scratch
			lambda := make([]float64, n)
			got := bound.Eval(scores, lambda, &scratch)
			if math.Abs(got-want) > 1e-11*max(1, want) || got < -1e-15 {
				t.Fatalf("%s: %v, over all cells %v", name, got, want)
			}
			c := bound.(loss.CuttingPlane).Support(scores, nil, &scratch)
			touch := c
			for i, l := range lambda {
				touch -= l * scores[i]
			}
			if math.Abs(touch-got) > 1e-11*max(1, got) || c < 0 || c > 2*(1+1e-12) {
				t.Fatalf("%s: %v, its plane with the constant %v has %v", name, got, c, touch)
			}
			if by := 2 * deltaByScore(m, grades, scores); got < by-1e-12 {
				t.Fatalf("%s: %v, less than the Δ of the ranking by score, %v", name, got, by)
			}
		}
	})
}

// deltaByScore is Δ of the documents in the order of their scores, goods after bads of
// the same score, relative to the best order.
func deltaByScore(m measure.Measure, grades, scores []float64) float64 {
	order := make([]int, len(grades))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if scores[a] != scores[b] {
			return int(math.Copysign(1, scores[b]-scores[a]))
		}
		return int(grades[a] - grades[b])
	})
	ideal, _ := m.Value(descendingCopy(grades))
	v, _ := m.Value(inOrder(grades, order))
	return ideal - v
}

// yueGreedy is the algorithm of Yue et al., Section 4.1, as printed: one bad after the
// other, best score first, goes above the goods from the best place on.
func yueGreedy(good, bad []float64) float64 {
	good, bad = descendingCopy(good), descendingCopy(bad)
	n, scale := len(good), 2/float64(len(good)*len(bad))
	var total float64
	for j, s := range bad {
		best, sum := 0.0, 0.0
		for k := n; k >= 1; k-- {
			loss := float64(k)/float64(k+j) - float64(k)/float64(k+j+1)
			sum += loss/float64(n) - scale*(good[k-1]-s)
			best = max(best, sum)
		}
		total += best
	}
	return total
}

func TestStructuredHingeIsYuesGreedy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grades, scores := structuredQuery(t, 60)
		var good, bad []float64
		for i, g := range grades {
			if g >= 1 {
				good = append(good, scores[i])
			} else {
				bad = append(bad, scores[i])
			}
		}
		got := structuredValue(t, loss.StructuredHinge{Gain: gainOf(t, "map"), Kappa: bipartite.KappaPairs}, grades, scores)
		if want := yueGreedy(good, bad); math.Abs(got-want) > 1e-12*max(1, want) {
			t.Fatalf("%v, the greedy algorithm finds %v", got, want)
		}
	})
}

// With AUC every pair is on its own: the mean over pairs of max(0, 1 − 2(s_g − s_b)),
// RankSVM at twice the scores.
func TestStructuredAUCIsThePairwiseHinge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grades, scores := structuredQuery(t, 60)
		got := structuredValue(t, loss.StructuredHinge{Gain: gainOf(t, "auc"), Kappa: bipartite.KappaPairs}, grades, scores)
		for i := range scores {
			scores[i] *= 2
		}
		want := structuredValue(t, loss.RankSVM{Mean: true}, grades, scores)
		if math.Abs(got-want) > 1e-11*max(1, want) {
			t.Fatalf("%v, over pairs it is %v", got, want)
		}
	})
}

// The loss under a measure that is 0 for every ranking of a query is Nothing.
func TestStructuredHingeWithoutGain(t *testing.T) {
	m, err := parseUnder("ndcg@10", "letor4")
	if err != nil {
		t.Fatal(err)
	}
	bound, err := loss.StructuredHinge{Gain: m}.Bind([]float64{0, 1, 0, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var scratch loss.Scratch
	lambda := make([]float64, 4)
	if v := bound.Eval([]float64{1, 4, 2, 3}, lambda, &scratch); v != 0 || slices.ContainsFunc(lambda, func(l float64) bool { return l != 0 }) {
		t.Errorf("good before bad: %v, λ %v, want 0", v, lambda)
	}
	if v := bound.Eval([]float64{4, 1, 2, 3}, lambda, &scratch); v != 2*(4-1+4-3+2-1) {
		t.Errorf("inverted pairs: %v, want twice their differences, 10", v)
	}
}

func TestStructuredHingeErrors(t *testing.T) {
	m := gain(t, "map")
	for _, c := range []struct {
		loss loss.StructuredHinge
		want string
	}{
		{loss.StructuredHinge{}, "no measure to train for"},
		{loss.StructuredHinge{Gain: m, Kappa: 7}, "kappa 7, expected one or pairs"},
		{loss.StructuredHinge{Gain: m, Threshold: -1}, "threshold -1, expected a finite non-negative number"},
		{loss.StructuredHinge{Gain: m, Weight: math.Inf(1)}, "weight +Inf, expected a positive finite number"},
	} {
		if _, err := c.loss.Bind([]float64{0, 1}, nil); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// BenchmarkStructuredHinge finds the worst ranking of 150 documents, a third of them
// relevant, as OHSUMED has them, and of 1000 with ten relevant ones, as TD2003 has.
func BenchmarkStructuredHinge(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, shape := range []struct {
		name       string
		docs, good int
	}{{"docs=150/good=50", 150, 50}, {"docs=1000/good=10", 1000, 10}} {
		grades, scores, lambda := make([]float64, shape.docs), make([]float64, shape.docs), make([]float64, shape.docs)
		for i := range grades {
			if i < shape.good {
				grades[i] = 1
			}
			scores[i] = grades[i] + rng.NormFloat64()
		}
		for _, name := range []string{"map", "ndcg@10", "mrr", "auc"} {
			bound, err := loss.StructuredHinge{Gain: gain(b, name), Kappa: bipartite.KappaPairs}.Bind(grades, nil)
			if err != nil {
				b.Fatal(err)
			}
			var scratch loss.Scratch
			b.Run(shape.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					bound.Eval(scores, lambda, &scratch)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(shape.docs), "ns/doc")
			})
		}
	}
}
