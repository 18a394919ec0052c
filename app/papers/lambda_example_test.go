package papers

import (
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
)

// Section 4's example: a query with two relevant documents of n. At ranks 1 and n the
// winner-takes-all cost is 0 and n − 2 pairs are wrong; at ranks 2 and 3 the cost is 1, the
// worst, and n − 4 pairs fewer are wrong. Counted pair by pair, and by NDCG@1.
func TestWinnerTakesAllExample(t *testing.T) {
	winner := measure.MustParse("ndcg@1", standard)
	for n := 4; n < 12; n++ {
		for first := 1; first < n; first++ {
			for second := first + 1; second <= n; second++ {
				grades := make([]float64, n)
				grades[first-1], grades[second-1] = 1, 1
				wrong := 0
				for better, worse := range loss.Pairs(grades) {
					if better > worse {
						wrong++
					}
				}
				value, _ := winner.Value(grades)
				if cost, pairs := exampleErrors(first, second); pairs != wrong || float64(cost) != 1-value {
					t.Fatalf("ranks %d and %d of %d: cost %d and %d wrong pairs, counted %v and %d", first, second, n, cost, pairs, 1-value, wrong)
				}
			}
		}
		before, wrong := exampleErrors(1, n)
		after, fewer := exampleErrors(2, 3)
		if before != 0 || after != 1 || wrong != n-2 || wrong-fewer != n-4 {
			t.Errorf("n = %d: cost %d and %d, wrong pairs %d and %d", n, before, after, wrong, fewer)
		}
	}
}

// Equation 2 asks for a larger force on the document at rank 2 than on that at rank n. A
// pairwise cost has it the other way round, by the sum of its logistic forces; forces between
// neighbours have it, at every distance between scores.
func TestEquation2(t *testing.T) {
	fields, err := lambdaFields()
	if err != nil {
		t.Fatal(err)
	}
	logistic := func(lead float64) float64 { return 1 / (1 + math.Exp(lead)) }
	for _, gap := range exampleGaps {
		const n = 30
		high, low, err := exampleForces(loss.RankNet{}, n, gap)
		if err != nil {
			t.Fatal(err)
		}
		wantHigh, wantLow := 0.0, 0.0
		for rank := 1; rank < n; rank++ {
			if rank != 2 {
				wantHigh += logistic(gap * float64(rank-2))
				wantLow += logistic(gap * float64(rank-n))
			}
		}
		if math.Abs(high-wantHigh) > 1e-9 || math.Abs(low-wantLow) > 1e-9 || high >= low {
			t.Errorf("gap %v: RankNet's forces are %v and %v, expected %v and %v", gap, high, low, wantHigh, wantLow)
		}
	}
	for _, f := range fields {
		ratios, err := f.ratios(exampleDocs)
		if err != nil {
			t.Fatal(err)
		}
		least := slices.Min(ratios)
		switch f.title() {
		case "RankNet", "logistic × ΔNDCG":
			if least >= 1 {
				t.Errorf("%s: the force at rank 2 is %v times that at rank n", f.title(), least)
			}
		case "logistic-nearest × ΔNDCG", "step-nearest × ΔNDCG", "spring-nearest × ΔNDCG":
			if least < largeRatio {
				t.Errorf("%s: the force at rank 2 is only %v times that at rank n", f.title(), least)
			}
		}
	}
}

// The rest of springs with α is the solution of (K + α)s = b, and the only one: elimination
// finds it, and a descent from any start. Their Jacobian is positive semidefinite, which that
// of springs that push apart is not, and those have no rest.
func TestSpringsHaveOneMinimum(t *testing.T) {
	for seed := range uint64(5) {
		rng := random.Stream(seed, "test springs", "")
		s := drawSprings(5, 0.3, true, rng)
		want := s.solve()
		for range 3 {
			start := make([]float64, 5)
			for i := range start {
				start[i] = 20 * random.Normal(rng)
			}
			if _, rest := s.settle(start); !rest || largestDifference(start, want) > 1e-8 {
				t.Errorf("seed %d: the descent ends at %v (at rest: %v), elimination gives %v", seed, start, rest, want)
			}
		}
		if got := drawSprings(5, 0, true, rng).spread(rng); !(got < 1e-8) {
			t.Errorf("seed %d: without α the ends differ by %v", seed, got)
		}
		unstable := drawSprings(5, 0, false, rng)
		if got := unstable.spread(rng); !math.IsInf(got, 1) {
			t.Errorf("seed %d: springs that push apart end %v apart", seed, got)
		}
		for _, c := range []struct {
			springs  *springs
			positive bool
		}{{s, true}, {unstable, false}} {
			d := loss.DiagnoseField(lambdaFunc(c.springs.forces), make([]float64, 5), 1e-4)
			if d.Asymmetry > 1e-7 || (d.SmallestEigenvalue > -1e-6) != c.positive {
				t.Errorf("seed %d: asymmetry %v, smallest eigenvalue %v", seed, d.Asymmetry, d.SmallestEigenvalue)
			}
		}
	}
}

// Constant λ pass both conditions of section 4 trivially.
func TestConstantForces(t *testing.T) {
	d := loss.DiagnoseField(lambdaFunc(func(_, lambda []float64) { copy(lambda, []float64{1, -3, 2}) }), []float64{0.3, 0.1, 0.7}, 1e-4)
	if d.Asymmetry != 0 || math.Abs(d.SmallestEigenvalue) > 1e-12 {
		t.Errorf("asymmetry %v, smallest eigenvalue %v", d.Asymmetry, d.SmallestEigenvalue)
	}
}

// lambdaFunc is λ as a loss without value.
type lambdaFunc func(scores, lambda []float64)

func (f lambdaFunc) Eval(scores, lambda []float64, _ *loss.Scratch) float64 {
	f(scores, lambda)
	return 0
}

// solve returns where the forces are 0, by elimination.
func (s *springs) solve() []float64 {
	n := len(s.rest)
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n+1)
		m[i][n], m[i][i] = s.rest[i], s.alpha
		for k, stiffness := range s.stiffness[i] {
			m[i][i] += stiffness
			m[i][k] -= stiffness
		}
	}
	for i := range m {
		for k := range m {
			if k != i {
				factor := m[k][i] / m[i][i]
				for c := range m[k] {
					m[k][c] -= factor * m[i][c]
				}
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = m[i][n] / m[i][i]
	}
	return x
}
