package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// allNames are all measures, with parameters that matter on short lists.
var allNames = []string{
	"map", "ap", "map@3", "rprec", "success@1", "success@3", "ndcg", "ndcg@1", "ndcg@3", "ndcg@10", "mean-ndcg", "dcg", "dcg@3", "p@1", "p@3", "p@10",
	"r@1", "r@3", "mrr", "mrr@2", "wta", "pairs", "exact-match", "auc", "bpref", "err", "err@3", "rbp@0.6",
}

// eachAlone returns the ends of n groups of one document.
func eachAlone(n int) []int {
	ends := make([]int, n)
	for i := range ends {
		ends[i] = i + 1
	}
	return ends
}

// orders calls visit with every order of the documents within their groups.
func orders(ranked []float64, ends []int, visit func([]float64)) {
	list := append([]float64(nil), ranked...)
	var permute func(i, group int)
	permute = func(i, group int) {
		if group == len(ends) {
			visit(list)
			return
		}
		if i == ends[group] {
			permute(i, group+1)
			return
		}
		for j := i; j < ends[group]; j++ {
			list[i], list[j] = list[j], list[i]
			permute(i+1, group)
			list[i], list[j] = list[j], list[i]
		}
	}
	permute(0, 0)
}

// randomGroups cuts n places into groups.
func randomGroups(rng *rand.Rand, n int) []int {
	var ends []int
	for i := 1; i < n; i++ {
		if rng.IntN(3) == 0 {
			ends = append(ends, i)
		}
	}
	return append(ends, n)
}

// gradeScales are the sets from which test lists draw their grades.
var gradeScales = [][]float64{{0, 1}, {0, 0, 0, 1}, {0, 1, 2, 3, 4}, {0, 0.4, 1, 1.7, 3.2}, {2, 3}}

func randomGrades(rng *rand.Rand, n int) []float64 {
	scale := gradeScales[rng.IntN(len(gradeScales))]
	grades := make([]float64, n)
	for i := range grades {
		grades[i] = scale[rng.IntN(len(scale))]
	}
	return grades
}

// Claim: Average is the mean of Value over all orders of the tied documents,
// and sorting the ties gives the lowest and the highest of these values.
func TestTiesByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		n := 1 + rng.IntN(6)
		ranked, ends := randomGrades(rng, n), randomGroups(rng, n)
		for _, c := range Conventions() {
			for _, name := range allNames {
				checkTies(t, parse(t, name, c.Name()), fmt.Sprint(name, " ", c.Name(), " ", ranked, ends), ranked, ends)
			}
		}
	}
}

func checkTies(t *testing.T, m Averager, what string, ranked []float64, ends []int) {
	t.Helper()
	var sum float64
	low, high, count, counted := math.Inf(1), math.Inf(-1), 0, false
	orders(ranked, ends, func(list []float64) {
		v, ok := m.Value(list)
		sum += v
		low, high = min(low, v), max(high, v)
		count++
		counted = ok
	})
	v, ok := m.Average(ranked, ends)
	near(t, what, v, sum/float64(count), 1e-12)
	if ok != counted {
		t.Errorf("%s: Average counts the query: %v, Value: %v", what, ok, counted)
	}
	scores := make([]float64, len(ranked))
	group := 0
	for i := range scores {
		if i == ends[group] {
			group++
		}
		scores[i] = -float64(group)
	}
	v, _ = (&Ranker{Ties: TiesPessimistic}).Value(m, ranked, scores)
	near(t, what+" pessimistic", v, low, 1e-12)
	v, _ = (&Ranker{Ties: TiesOptimistic}).Value(m, ranked, scores)
	near(t, what+" optimistic", v, high, 1e-12)
}

// Claim: without ties Average is Value to the last bit, on long lists too.
func TestAverageWithoutTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		ranked := randomGrades(rng, 1+rng.IntN(300))
		for _, name := range allNames {
			m := parse(t, name, "letor3")
			v, _ := m.Value(ranked)
			a, _ := m.Average(ranked, eachAlone(len(ranked)))
			if a != v && !(len(name) >= 3 && name[:3] == "err" && math.Abs(a-v) < 1e-14) {
				t.Errorf("%s: Average %v, Value %v", name, a, v)
			}
		}
	}
}

// Claim: ERR's expectation over a large tie, where far places are dropped, is
// that of simulated orders.
func TestLargeTieERR(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	group := make([]float64, 2000)
	for i := range group {
		group[i] = float64(rng.IntN(5))
	}
	m := parse(t, "err", "letor3")
	got, _ := m.Average(group, []int{len(group)})
	var sum, squares float64
	const draws = 4000
	for range draws {
		rng.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		v, _ := m.Value(group)
		sum += v
		squares += v * v
	}
	mean := sum / draws
	near(t, "err", got, mean, 5*math.Sqrt((squares/draws-mean*mean)/draws))
}

// Claim: on binary lists every Additive measure is the sum of GoodGain over the
// relevant documents, for all interleavings, under every convention.
func TestGoodGain(t *testing.T) {
	for _, c := range Conventions() {
		for _, name := range allNames {
			relevant := c.Threshold()
			m, ok := parse(t, name, c.Name()).(Additive)
			if !ok {
				if name != "err" && name != "err@3" && name != "exact-match" {
					t.Errorf("%s is not Additive", name)
				}
				continue
			}
			if isDCG(name) {
				relevant = 1 // the gain is the grade's, not the document's
			}
			for n := 1; n <= 9; n++ {
				for bits := 1; bits < 1<<n; bits++ {
					checkAdditive(t, m, c, n, bits, relevant)
				}
			}
		}
	}
}

func checkAdditive(t *testing.T, m Additive, c Convention, n, bits int, relevant float64) {
	ranked := make([]float64, n)
	good := 0
	for i := range ranked {
		if bits>>i&1 == 1 {
			ranked[i] = relevant
			good++
		}
	}
	want, _ := m.Value(ranked)
	var sum float64
	i, a := 0, 0
	for _, l := range ranked {
		if l == 0 {
			a++
			continue
		}
		sum += m.GoodGain(i, a, good, n-good)
		i++
	}
	if math.Abs(sum-want) > 1e-12 {
		t.Errorf("%s %s of %v: the gains add up to %v, not %v", m.Name(), c.Name(), ranked, sum, want)
	}
}
