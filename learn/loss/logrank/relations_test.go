package logrank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"pgregory.net/rapid"
)

func normals(rng *rand.Rand, n int, spread float64) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = spread * rng.NormFloat64()
	}
	return s
}

// TestBoundsBetweenForms checks the order of the structured hinge and the
// log-sum-exps over more and more rankings, shell and lattice being subsets of
// all rankings and these of all labelings, as far as they are enumerable.
func TestBoundsBetweenForms(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var scratch loss.Scratch
	for _, shape := range [][2]int{{2, 3}, {3, 3}, {1, 6}, {4, 2}} {
		for _, gain := range testedGains {
			docs := mixed(shape[0], shape[1], 2)
			lattice, _ := bothLaws(t, "lattice", docs, gain)
			shell, _ := bothLaws(t, "shell", docs, gain)
			for _, beta := range []float64{0, 1, 30} {
				s := normals(rng, docs.Docs(), 0.7)
				valid := enumerate("valid", docs, gain, s)
				hinge := math.Inf(-1)
				for _, y := range valid.outcomes {
					hinge = max(hinge, valid.energy(y.inverted, s, nil, 0)+beta*(1-y.gain))
				}
				all, _ := valid.logPartition(beta, s)
				labelings, _ := enumerate("factored", docs, gain, s).logPartition(beta, s)
				scratch.Reset()
				path, flips := lattice.logPartition(beta, s, nil, &scratch), shell.logPartition(beta, s, nil, &scratch)
				const slack = 1e-9
				if !(hinge <= path+slack && path <= all+slack && flips <= all+slack && all <= labelings+slack && hinge >= -slack) {
					t.Errorf("%v %s β=%v: hinge %v, lattice %v, shell %v, rankings %v, labelings %v", shape, gain.name, beta, hinge, path, flips, all, labelings)
				}
			}
		}
	}
}

// TestValidRankingsAreCounted checks the tests' notion of a ranking by the
// poly-Bernoulli numbers.
func TestValidRankingsAreCounted(t *testing.T) {
	for shape, want := range map[[2]int]int{{2, 2}: 14, {2, 3}: 46, {3, 3}: 230} {
		docs := mixed(shape[0], shape[1], 2)
		if got := len(enumerate("valid", docs, testedGains[0], nil).outcomes); got != want {
			t.Errorf("%v: %d rankings, want %d", shape, got, want)
		}
	}
}

// TestSinglePairFormsCoincide: a single pair has two rankings in every form, and
// ExpGain under AUC is then the same as MLE.
func TestSinglePairFormsCoincide(t *testing.T) {
	docs := mixed(1, 1, 2)
	var scratch loss.Scratch
	for _, s := range [][]float64{{0, 0}, {1, -2}, {-300, 200}} {
		var values []float64
		for _, form := range []string{"factored", "lattice", "shell"} {
			partition, expectation := bothLaws(t, form, docs, testedGains[0])
			scratch.Reset()
			values = append(values, partition.logPartition(3, s, nil, &scratch), -expectation.logGain(s, nil, &scratch)-partition.logPartition(0, s, nil, &scratch))
		}
		for i := 2; i < len(values); i++ {
			if !near(values[i], values[i%2], 1e-12) {
				t.Errorf("at %v: A(3) and ExpGain − MLE are %v", s, values)
			}
		}
		if !near(values[1], 0, 1e-12) {
			t.Errorf("at %v: ExpGain of AUC differs from MLE for a single pair by %v", s, values[1])
		}
	}
}

// TestOrderLawOfAUCIsTheMeanOverPairs compares the general order-statistics
// recursion with the closed form of AUC, for lists too long to enumerate.
func TestOrderLawOfAUCIsTheMeanOverPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, shape := range [][2]int{{7, 11}, {11, 7}, {30, 60}} {
		docs := mixed(shape[0], shape[1], 2)
		table, err := bipartite.NewGainTable(additive(t, "auc"), shape[0], shape[1])
		if err != nil {
			t.Fatal(err)
		}
		step, ok := table.PerInversion()
		if !ok {
			t.Fatal("AUC is not recognised")
		}
		closed := newPairwiseLaw(newPairs(docs), table, step)
		order, err := newOrderLaw(docs, table)
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range testScores(docs, rng) {
			compareGains(t, fmt.Sprintf("%v %s", shape, name), closed, order, s, 1e-10)
		}
	}
}

// compareGains checks that two laws have the same log E[G] and gradient.
func compareGains(t *testing.T, what string, a, b interface {
	logGain(s, grad []float64, scratch *loss.Scratch) float64
}, s []float64, tolerance float64) {
	t.Helper()
	var scratch loss.Scratch
	ga, gb := make([]float64, len(s)), make([]float64, len(s))
	if x, y := a.logGain(s, ga, &scratch), b.logGain(s, gb, &scratch); !near(x, y, tolerance) {
		t.Errorf("%s: log E[G] %v and %v", what, x, y)
	}
	checkVector(t, what, ga, gb, tolerance)
}

// byLogs are laws restricted to their paths in logarithms.
type orderByLogs struct{ *orderLaw }

func (l orderByLogs) logGain(s, grad []float64, scratch *loss.Scratch) float64 {
	return l.logRareGain(s, grad, scratch)
}

type latticeByLogs struct{ *latticeLaw }

func (l latticeByLogs) logGain(s, grad []float64, scratch *loss.Scratch) float64 {
	w := l.prepare(s, grad != nil, scratch)
	return l.gainByLogs(&w, grad, scratch)
}

// TestRareGains compares the two ways to an E[NDCG] that is as small as 1e-600,
// which is what a thousand irrelevant documents make of it at scores of 0.
func TestRareGains(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, shape := range [][2]int{{10, 1000}, {3, 1800}, {40, 400}, {2, 3000}} {
		docs := mixed(shape[0], shape[1], 2)
		table, err := bipartite.NewGainTable(additive(t, "ndcg@10"), shape[0], shape[1])
		if err != nil {
			t.Fatal(err)
		}
		l, err := newOrderLaw(docs, table)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range [][]float64{make([]float64, docs.Docs()), normals(rng, docs.Docs(), 0.05)} {
			compareGains(t, fmt.Sprint(shape), l, orderByLogs{l}, s, 1e-9)
		}
	}
}

// TestLatticeByLogs compares the lattice's linear sums with those in logarithms.
func TestLatticeByLogs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for _, shape := range [][2]int{{3, 40}, {45, 107}, {60, 20}, {200, 220}} {
		docs := mixed(shape[0], shape[1], 2)
		table, err := bipartite.NewGainTable(additive(t, "ndcg@10"), shape[0], shape[1])
		if err != nil {
			t.Fatal(err)
		}
		l := newLatticeLaw(docs, table)
		for _, spread := range []float64{0, 0.1, 1, 20} {
			s := normals(rng, docs.Docs(), spread)
			what := fmt.Sprintf("%v spread %v", shape, spread)
			compareGains(t, what, l, latticeByLogs{l}, s, 1e-8)
			var scratch loss.Scratch
			linear, logs := make([]float64, len(s)), make([]float64, len(s))
			w := l.prepare(s, true, &scratch)
			a, b := l.logPartition(50, s, linear, &scratch), l.partitionByLogs(&w, 50, logs, &scratch)+w.peaks+50
			if !near(a, b, 1e-10) {
				t.Errorf("%s: A(50) = %v linearly and %v by logarithms", what, a, b)
			}
			checkVector(t, what, linear, logs, 1e-8)
		}
	}
}

// TestLongBalancedLattice: 1500 goods against 1500 bads have 10^901 interleavings.
func TestLongBalancedLattice(t *testing.T) {
	if testing.Short() {
		t.Skip("4.5 million cells in logarithms")
	}
	docs := mixed(1500, 1500, 2)
	l := newLatticeLaw(docs, nil)
	var scratch loss.Scratch
	s := make([]float64, docs.Docs())
	grad := make([]float64, len(s))
	if got := l.logPartition(0, s, grad, &scratch); !near(got, l.logPaths, 1e-12) {
		t.Errorf("at equal scores A(0) = %v, want log C(3000, 1500) = %v", got, l.logPaths)
	}
	for _, g := range docs.Good {
		if !near(grad[g], -1500, 1e-9) { // half of the bads above, times the slope 2
			t.Fatalf("gradient %v at a good document, want −1500", grad[g])
		}
	}
}

// TestSymmetricPolynomials checks the single-good ConvexLoss against the formula
// log(e^β Z + Σ_{m<k} (e^{βΔ(m)} − e^β) e_m(x)) with elementary symmetric
// polynomials e_m of x_b = exp(−z_gb).
func TestSymmetricPolynomials(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for _, c := range []struct {
		bad, k int
		beta   float64
	}{{6, 3, 1}, {7, 10, 1}, {40, 10, 5}, {200, 5, 20}} {
		docs := mixed(1, c.bad, 1.2)
		partition, _ := bothLaws(t, "factored", docs, namedGain{fmt.Sprintf("ndcg@%d", c.k), "ndcg", c.k})
		s := normals(rng, docs.Docs(), 1)
		s[docs.Good[0]] += 3
		symmetric := make([]float64, c.bad+1)
		symmetric[0] = 1
		z := 1.0
		for _, b := range docs.Bad {
			x := math.Exp(1.2 * (s[b] - s[docs.Good[0]]))
			z *= 1 + x
			for m := c.bad; m > 0; m-- {
				symmetric[m] += symmetric[m-1] * x
			}
		}
		want := math.Exp(c.beta) * z
		for m := range min(c.k, c.bad+1) {
			want += (math.Exp(c.beta*(1-referenceGamma("ndcg", c.k, 0, m, 1, c.bad))) - math.Exp(c.beta)) * symmetric[m]
		}
		var scratch loss.Scratch
		if got := partition.logPartition(c.beta, s, nil, &scratch); !near(got, math.Log(want), 1e-10) {
			t.Errorf("%+v: ConvexLoss %v, want %v", c, got, math.Log(want))
		}
	}
}

// TestMLEIsPairwiseLogistic: with κ = 1, MLE is the pairwise logistic loss of
// slope 2, summed over pairs; with κ = 1/(n⁺n⁻) its slope is 2/(n⁺n⁻).
func TestMLEIsPairwiseLogistic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grades := rapid.SliceOfN(rapid.Float64Range(0, 2), 2, 30).Draw(t, "grades")
		scores := rapid.SliceOfN(rapid.Float64Range(-300, 300), len(grades), len(grades)).Draw(t, "scores")
		kappa := bipartite.Kappa(rapid.IntRange(0, 1).Draw(t, "kappa"))
		bound, err := MLE{Options{Kappa: kappa}}.Bind(grades, nil)
		if err != nil {
			t.Fatal(err)
		}
		good, bad := 0.0, 0.0
		for _, g := range grades {
			if g >= 1 {
				good++
			} else {
				bad++
			}
		}
		slope := 2.0
		if kappa == bipartite.KappaPairs {
			slope = 2 / (good * bad)
		}
		var want float64
		for g, high := range grades {
			for b, low := range grades {
				if high >= 1 && low < 1 {
					d := slope * (scores[g] - scores[b])
					want += math.Log1p(math.Exp(-math.Abs(d))) + max(0, -d)
				}
			}
		}
		var scratch loss.Scratch
		if got := bound.Eval(scores, nil, &scratch); !near(got, want, 1e-11) {
			t.Fatalf("MLE %v, pairwise logistic loss %v", got, want)
		}
	})
}

// TestConvexLossBoundsL3 checks Jensen's inequality, ConvexLoss ≥ L1 + βL2, for
// every form and gain that has both.
func TestConvexLossBoundsL3(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, form := range []Form{Factored, Lattice, Shell, Sampled} {
		for _, gain := range testedGains {
			for _, beta := range []float64{1, 10} {
				c := Options{Form: form, Gain: additive(t, gain.name), Beta: beta}
				grades := normals(rng, 12, 2)
				for i, g := range grades {
					grades[i] = math.Abs(g)
				}
				if form == Factored {
					copy(grades, []float64{0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
				}
				convex, err := ConvexLoss{c}.Bind(grades, rand.New(rand.NewPCG(1, 1)))
				if err != nil {
					t.Fatal(err)
				}
				sum, err := L3{c}.Bind(grades, rand.New(rand.NewPCG(1, 1)))
				if err != nil {
					t.Fatal(err)
				}
				var scratch loss.Scratch
				s := normals(rng, len(grades), 1)
				if a, b := convex.Eval(s, nil, &scratch), sum.Eval(s, nil, &scratch); a < b-1e-9 {
					t.Errorf("%v %s β=%v: ConvexLoss %v < L3 %v", form, gain.name, beta, a, b)
				}
			}
		}
	}
}

// TestRankNetIsFactoredMLE: on two grades RankNet is LogRank's likelihood of the
// ideal ranking under the factored law, with 2κ = σ. κ = 1 is σ = 2; κ = ½ is σ = 1,
// which for MLE is half the scores.
func TestRankNetIsFactoredMLE(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for _, shape := range [][2]int{{1, 1}, {3, 9}, {12, 4}, {45, 107}} {
		docs := mixed(shape[0], shape[1], 2)
		grades := make([]float64, docs.Docs())
		for _, g := range docs.Good {
			grades[g] = 1
		}
		s := normals(rng, len(grades), 3)
		half := make([]float64, len(s))
		for i := range s {
			half[i] = s[i] / 2
		}
		mle := evaluate(t, MLE{}, grades, s)
		steep := evaluate(t, loss.RankNet{Sigma: 2}, grades, s)
		if !near(mle.value, steep.value, 1e-12) {
			t.Errorf("%v: MLE %v, RankNet with σ = 2 %v", shape, mle.value, steep.value)
		}
		checkVector(t, fmt.Sprintf("%v σ = 2", shape), steep.lambda, mle.lambda, 1e-12)
		mle, plain := evaluate(t, MLE{}, grades, half), evaluate(t, loss.RankNet{}, grades, s)
		if !near(mle.value, plain.value, 1e-12) {
			t.Errorf("%v: MLE at half the scores %v, RankNet %v", shape, mle.value, plain.value)
		}
		for i := range mle.lambda {
			mle.lambda[i] /= 2
		}
		checkVector(t, fmt.Sprintf("%v κ = ½", shape), plain.lambda, mle.lambda, 1e-12)
	}
}

// evaluation is what Eval gives.
type evaluation struct {
	value  float64
	lambda []float64
}

func evaluate(t testing.TB, l loss.Loss, grades, s []float64) evaluation {
	t.Helper()
	bound, err := l.Bind(grades, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	e := evaluation{lambda: make([]float64, len(s))}
	e.value = bound.Eval(s, e.lambda, new(loss.Scratch))
	return e
}
