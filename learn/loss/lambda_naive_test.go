package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/eval/measure"
)

// naiveLambda is LambdaRank by its definition: it ranks documents, exchanges two of
// them, measures, and puts them back.
type naiveLambda struct {
	LambdaRank
	grades []float64
	tie    []int // the place of each document among those of its score
}

// seedOfTies draws the order in which ties stand, for Bind and for the definition.
func seedOfTies() *rand.Rand { return rand.New(rand.NewPCG(99, 7)) }

func newNaiveLambda(l LambdaRank, grades []float64) naiveLambda {
	n := naiveLambda{l, grades, make([]int, len(grades))}
	for place, d := range seedOfTies().Perm(len(grades)) {
		n.tie[d] = place
	}
	return n
}

// ranking returns the documents from the best score to the worst.
func (l naiveLambda) ranking(s []float64) []int {
	order := make([]int, len(s))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case s[a] > s[b]:
			return -1
		case s[a] < s[b]:
			return 1
		}
		return l.tie[a] - l.tie[b]
	})
	return order
}

func (l naiveLambda) measured(order []int) float64 {
	ranked := make([]float64, len(order))
	for r, d := range order {
		ranked[r] = l.grades[d]
	}
	v, _ := l.Measure.Value(ranked)
	return v
}

func (l naiveLambda) lambda(s []float64) []float64 {
	if l.Kind == LambdaDifference {
		return l.differences(s)
	}
	lambda := make([]float64, len(s))
	order := l.ranking(s)
	now := l.measured(order)
	for i, j := range Pairs(l.grades) {
		ri, rj := slices.Index(order, i), slices.Index(order, j)
		if nearest := l.Kind >= LambdaLogisticNearest; nearest && ri-rj != 1 && rj-ri != 1 {
			continue
		}
		if l.Truncation > 0 && ri >= l.Truncation && rj >= l.Truncation {
			continue
		}
		order[ri], order[rj] = j, i
		delta := math.Abs(now - l.measured(order))
		order[ri], order[rj] = i, j
		f := delta * l.pair(s[i]-s[j])
		lambda[i] += f
		lambda[j] -= f
	}
	return lambda
}

// pair is λ_ij/|ΔM_ij| of a pair whose better document leads by d.
func (l naiveLambda) pair(d float64) float64 {
	margin := l.Margin
	switch l.Kind {
	case LambdaLogistic, LambdaLogisticNearest:
		_, f := RankNet{Sigma: l.Sigma}.PairLoss(d-margin, 0)
		return f
	case LambdaStep, LambdaStepNearest:
		if margin == 0 {
			margin = 1
		}
		if d < margin {
			return 1
		}
		return 0
	default:
		if margin == 0 {
			margin = 1
		}
		return max(0, margin-d)
	}
}

func (l naiveLambda) differences(s []float64) []float64 {
	h := l.Margin
	if h == 0 {
		h = max((slices.Max(s)-slices.Min(s))/float64(len(s)-1), 1e-3)
	}
	lambda := make([]float64, len(s))
	var sum float64
	for i := range s {
		x := slices.Clone(s)
		x[i] = s[i] + h
		up := l.measured(l.ranking(x))
		x[i] = s[i] - h
		lambda[i] = (up - l.measured(l.ranking(x))) / (2 * h)
		sum += lambda[i] / float64(len(s))
	}
	for i := range lambda {
		lambda[i] -= sum
	}
	return lambda
}

// TestLambdaRankAgainstDefinition: value and λ of every λ function under every
// measure, with ties, truncation, margins and slopes.
func TestLambdaRankAgainstDefinition(t *testing.T) {
	measures := rankMeasures(t)
	rapid.Check(t, func(t *rapid.T) {
		l := LambdaRank{
			Measure: measures[rapid.IntRange(0, len(measures)-1).Draw(t, "measure")],
			Kind:    Lambda(rapid.IntRange(0, len(lambdas)-1).Draw(t, "kind")),
			Margin:  rapid.SampledFrom([]float64{0, 0, 0.5, 2.5}).Draw(t, "margin"),
		}
		if l.Kind != LambdaDifference {
			l.Truncation = rapid.SampledFrom([]int{0, 1, 4, 50}).Draw(t, "truncation")
		}
		if lambdas[l.Kind].law == logisticKind {
			l.Sigma = rapid.SampledFrom([]float64{0, 0.5, 3}).Draw(t, "sigma")
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		grades := gradesOf(rng, rapid.IntRange(1, 24).Draw(t, "documents"))
		s := normals(rng, len(grades), rapid.SampledFrom([]float64{0, 0.5, 3, 500}).Draw(t, "spread"))
		grid := rapid.Bool().Draw(t, "grid") // where documents that move by the margin tie
		for i := range s {
			if grid {
				s[i] = math.Round(2*s[i]) / 2
			}
			if rng.IntN(3) == 0 {
				s[i] = s[rng.IntN(len(s))]
			}
		}
		checkAgainstDefinition(t, l, grades, s)
	})
}

func checkAgainstDefinition(t *rapid.T, l LambdaRank, grades, s []float64) {
	bound, err := l.Bind(grades, seedOfTies())
	if err != nil {
		t.Fatal(err)
	}
	lambda := make([]float64, len(s))
	value := bound.Eval(s, lambda, new(Scratch))
	naive := newNaiveLambda(l, grades)
	if bound == Nothing {
		worst := slices.Sorted(slices.Values(grades))
		low, ok := l.Measure.Value(worst)
		slices.Reverse(worst)
		if high, _ := l.Measure.Value(worst); ok && low != high {
			t.Fatalf("nothing is learned of grades %v, whose measure goes from %v to %v", grades, low, high)
		}
		return
	}
	if want := 1 - naive.measured(naive.ranking(s)); value != want {
		t.Fatalf("value %v, want %v", value, want)
	}
	want := naive.lambda(s)
	for i := range want {
		if !near(lambda[i], want[i], 1e-12*max(1, slices.Max(s))) {
			t.Fatalf("%v %s: λ[%d] = %v, the definition says %v (grades %v)", l.Kind, l.Measure.Name(), i, lambda[i], want[i], grades)
		}
	}
}

// TestDocumentsFarApart: one document far from the others, so that exponentials of
// all scores have no common scale, changes nothing between those that are near.
func TestDocumentsFarApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 31))
	grades := gradesOf(rng, 20)
	for _, far := range []float64{-300, 800, 1e6, -1e300, 1.5e308} {
		s := normals(rng, len(grades), 1)
		s[5] = far
		for _, l := range []LambdaRank{{Sigma: 3, Margin: 0.7}, {Kind: LambdaLogisticNearest, Margin: 2}, {}} {
			l.Measure = additive(t, "ndcg@10")
			lambda := make([]float64, len(s))
			bound, err := l.Bind(grades, seedOfTies())
			if err != nil {
				t.Fatal(err)
			}
			bound.Eval(s, lambda, new(Scratch))
			checkVector(t, l.Kind.String(), lambda, newNaiveLambda(l, grades).lambda(s), 1e-13)
		}
	}
}

// TestChosenLambdaByHand: eq. 9 of the paper for two documents, graded 2 and 1,
// with scores in the wrong order; both logarithms and maxDCG in base 2.
func TestChosenLambdaByHand(t *testing.T) {
	standard, err := measure.ParseConvention("standard")
	if err != nil {
		t.Fatal(err)
	}
	m, err := measure.Parse("ndcg@10", standard, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := evaluate(t, LambdaRank{Measure: m}, []float64{2, 1}, []float64{0.5, 1.25})
	second := 1 / math.Log2(3)
	maxDCG := 3 + second
	want := (1 / (1 + math.Exp(-0.75))) * (4 - 2) * (1 - second) / maxDCG
	if !near(e.lambda[0], want, 1e-15) || e.lambda[1] != -e.lambda[0] {
		t.Errorf("λ = %v, want ±%v", e.lambda, want)
	}
	if want := 1 - (1+3*second)/maxDCG; !near(e.value, want, 1e-15) {
		t.Errorf("value %v, want %v", e.value, want)
	}
}
