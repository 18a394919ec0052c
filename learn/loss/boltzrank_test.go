package loss_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/losstest"
)

func stream(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 23)) }

// boltzRanks are configurations that between them use every option.
func boltzRanks(t testing.TB) map[string]loss.BoltzRank {
	ndcg, ap := gain(t, "ndcg@5"), gain(t, "map")
	return map[string]loss.BoltzRank{
		"entropy":   {},
		"mixed":     {Measure: ndcg, Lambda: 0.5, Alpha: 3},
		"expected":  {Measure: ap, Lambda: 1, Growing: true, Sampler: loss.PermutationOptions{Rankings: 40}},
		"sign":      {Measure: ndcg, Lambda: 0.9, Energy: loss.SignEnergy, Growing: true},
		"graded":    {Measure: ndcg, Lambda: 0.6, Energy: loss.GradedEnergy, Alpha: 1.5},
		"negatives": {Measure: ap, Lambda: 0.3, Negatives: 1.5, Threshold: 2, Alpha: 2},
		"no noise":  {Measure: ndcg, Lambda: 0.5, Sampler: loss.PermutationOptions{Sharpness: []float64{math.Inf(1), 0}}},
	}
}

func TestBoltzRankConformance(t *testing.T) {
	for name, l := range boltzRanks(t) {
		losstest.Run(t, losstest.Case{Name: "boltzrank/" + name, Loss: l, Sampled: true})
	}
}

func rows(set *loss.Permutations) (all [][]int32) {
	for i := range set.Len() {
		all = append(all, set.Row(i))
	}
	return all
}

func scoresOf(rng *rand.Rand, n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = 2 * rng.NormFloat64()
	}
	return s
}

// Documents left out have λ = 0 and no influence: the loss is that of a query
// without them.
func TestBoltzRankNegatives(t *testing.T) {
	grades := make([]float64, 60)
	grades[7], grades[20], grades[41] = 1, 2, 0.5
	l := loss.BoltzRank{Measure: gain(t, "ndcg@5"), Lambda: 0.5, Negatives: 4}
	rng := stream(5)
	kept := loss.Negatives(grades, 1, 4, rng)
	if len(kept) != 2+8 {
		t.Fatalf("%d documents kept, want 10", len(kept))
	}
	s := scoresOf(stream(6), len(grades))
	keptGrades, keptScores := make([]float64, len(kept)), make([]float64, len(kept))
	for i, d := range kept {
		keptGrades[i], keptScores[i] = grades[d], s[d]
	}
	alone := l
	alone.Negatives = 0
	small, err := alone.Bind(keptGrades, rng)
	if err != nil {
		t.Fatal(err)
	}
	part, lambda := make([]float64, len(kept)), make([]float64, len(s))
	want := small.Eval(keptScores, part, new(loss.Scratch))
	bound, err := l.Bind(grades, stream(5))
	if err != nil {
		t.Fatal(err)
	}
	if got := bound.Eval(s, lambda, new(loss.Scratch)); got != want {
		t.Errorf("loss %v, want %v", got, want)
	}
	for d, v := range lambda {
		if i, ok := slices.BinarySearch(kept, int32(d)); ok && v != part[i] || !ok && v != 0 {
			t.Errorf("document %d, kept: %v, has λ = %v", d, ok, v)
		}
	}
}

// Where the convention leaves a query out, the expected measure is 0 and the loss is the
// entropy's part alone.
func TestBoltzRankWithoutMeasure(t *testing.T) {
	skip, err := measure.ParseConvention("letor3-skip")
	if err != nil {
		t.Fatal(err)
	}
	ap, err := measure.Parse("map", skip, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	grades := []float64{0.5, 0, 0.2} // none relevant
	for _, c := range []struct{ lambda, factor float64 }{{1, 0}, {0.25, 0.75}} {
		value := func(l loss.BoltzRank) float64 {
			bound, err := l.Bind(grades, stream(1))
			if err != nil {
				t.Fatal(err)
			}
			return bound.Eval([]float64{1, 2, 4}, nil, new(loss.Scratch))
		}
		got := value(loss.BoltzRank{Measure: ap, Lambda: c.lambda})
		if want := c.factor * value(loss.BoltzRank{}); math.Abs(got-want) > 1e-15 {
			t.Errorf("lambda %v: loss %v, want %v", c.lambda, got, want)
		}
	}
}

// Following λ from equal scores sorts the relevant documents to the top, for any weight of
// the expected measure.
func TestBoltzRankLearnsToSort(t *testing.T) {
	grades := []float64{0, 2, 0, 1, 0, 0, 1, 0, 2, 0}
	ndcg := gain(t, "ndcg@5")
	for _, weight := range []float64{0, 0.5, 1} {
		bound, err := loss.BoltzRank{Measure: ndcg, Lambda: weight, Growing: true}.Bind(grades, stream(8))
		if err != nil {
			t.Fatal(err)
		}
		s, lambda := make([]float64, len(grades)), make([]float64, len(grades))
		var scratch loss.Scratch
		start := bound.Eval(s, lambda, &scratch)
		for range 500 {
			kernel.Axpy(0.1, lambda, s)
			bound.Eval(s, lambda, &scratch)
		}
		if end := bound.Eval(s, lambda, &scratch); end >= start {
			t.Errorf("lambda %v: the loss rose from %v to %v", weight, start, end)
		}
		var ranked []float64
		order := make([]int, len(s))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s[b], s[a]) })
		for _, d := range order {
			ranked = append(ranked, grades[d])
		}
		if v, _ := ndcg.Value(ranked); v < 0.999 {
			t.Errorf("lambda %v: NDCG@5 is %v after training, grades in order %v", weight, v, ranked)
		}
	}
}

// The loss of equal grades, or of a set of one ranking, is Nothing.
func TestBoltzRankNothing(t *testing.T) {
	for _, grades := range [][]float64{{}, {3}, {1, 1, 1}, {1000, 0}} {
		if bound, err := (loss.BoltzRank{}).Bind(grades, stream(1)); err != nil || bound != loss.Nothing {
			t.Errorf("grades %v: bound to %v, %v", grades, bound, err)
		}
	}
}

func TestBoltzRankErrors(t *testing.T) {
	for want, l := range map[string]loss.BoltzRank{
		"lambda 1.5, expected a number from 0 to 1":             {Lambda: 1.5},
		"lambda NaN, expected a number from 0 to 1":             {Lambda: math.NaN()},
		"no measure to train for":                               {Lambda: 0.1},
		"energy 7, expected linear, sign or graded":             {Energy: 7},
		"alpha -1, expected a positive number up to 1e+100":     {Alpha: -1},
		"negatives -2, expected a non-negative number":          {Negatives: -2},
		"threshold +Inf, expected a finite non-negative number": {Threshold: math.Inf(1)},
		"set of rankings: rankings -4, expected at least 1":     {Sampler: loss.PermutationOptions{Rankings: -4}},
	} {
		if _, err := l.Bind([]float64{1, 0}, stream(1)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

func TestParseEnergy(t *testing.T) {
	for _, e := range []loss.Energy{loss.LinearEnergy, loss.SignEnergy, loss.GradedEnergy} {
		if got, err := loss.ParseEnergy(e.String()); err != nil || got != e {
			t.Errorf("%v is read as %v, %v", e, got, err)
		}
	}
	if _, err := loss.ParseEnergy("cubic"); err == nil || err.Error() != `energy "cubic", expected linear, sign or graded` {
		t.Errorf("error is %v", err)
	}
}

// The floor is two passes over the matrix of ranks; beside them there are 100
// exponentials.
func BenchmarkBoltzRank(b *testing.B) {
	for _, docs := range []int{26, 152, 1000} {
		rng := stream(1)
		grades := make([]float64, docs)
		for i := range grades {
			grades[i] = float64(max(0, rng.IntN(6)-3))
		}
		bound, err := loss.BoltzRank{Measure: gain(b, "ndcg@5"), Lambda: 0.5}.Bind(grades, rng)
		if err != nil {
			b.Fatal(err)
		}
		s, lambda := scoresOf(rng, docs), make([]float64, docs)
		var scratch loss.Scratch
		b.Run(fmt.Sprintf("%d/eval", docs), func(b *testing.B) {
			for b.Loop() {
				bound.Eval(s, lambda, &scratch)
			}
		})
		ranks, energies := make([]float32, 100*docs), make([]float64, 100)
		b.Run(fmt.Sprintf("%d/floor", docs), func(b *testing.B) {
			for b.Loop() {
				kernel.Gemv(energies, ranks, s)
				kernel.GemvT(lambda, ranks, energies)
			}
		})
	}
}
