package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// retrievedNames are measures that are defined by what was retrieved and what was judged.
var retrievedNames = []string{
	"map", "map@2", "map(rel=2)", "p@1", "p@3", "p(rel=2)@3", "r@2", "rprec", "success@2", "mrr", "mrr@2", "mrr(rel=2)", "wta",
	"ndcg", "ndcg@2", "dcg", "dcg@3", "bpref", "judged@3", "judged", "err@3", "rbp@0.6",
}

// byDefinition computes the measures from the definitions of trec_eval's and ir_measures'
// documentation: a list of retrieved documents beside the set of all judgements.
func byDefinition(name string, ranked, missed []float64) float64 {
	threshold := 1.0
	if strings.Contains(name, "(rel=2)") {
		threshold, name = 2, strings.Replace(name, "(rel=2)", "", 1)
	}
	family, at, _ := strings.Cut(name, "@")
	k := len(ranked)
	if family != "rbp" && at != "" {
		fmt.Sscan(at, &k) //nolint:errcheck // a number of the table
	}
	all := append(slices.Clone(ranked), missed...)
	slices.SortFunc(all, func(a, b float64) int { return int(b - a) })
	var relevant, irrelevant, found, seenBad, sum, ideal, on float64
	on = 1
	for _, g := range all {
		if g >= threshold {
			relevant++
		} else if !dataset.IsUnjudged(g) {
			irrelevant++
		}
	}
	n := 0 // judged among the first k
	for i, g := range ranked {
		rank, good, inside := float64(i+1), g >= threshold, i < k
		if inside && !dataset.IsUnjudged(g) {
			n++
		}
		if good {
			found++
		}
		switch {
		case family == "map" && good && inside:
			sum += found / rank / relevant
		case family == "p" && good && inside:
			sum += 1 / float64(k)
		case family == "r" && good && inside:
			sum += 1 / relevant
		case family == "rprec" && good && rank <= relevant:
			sum += 1 / relevant
		case family == "success" && good && inside, family == "wta" && good && i == 0:
			sum = 1
		case family == "mrr" && good && inside:
			sum = max(sum, 1/rank)
		case (family == "ndcg" || family == "dcg") && inside:
			sum += g / math.Log2(1+rank)
		case family == "bpref" && good:
			sum++
			if seenBad > 0 {
				sum -= min(seenBad, relevant) / min(irrelevant, relevant)
			}
		case family == "err" && inside:
			stop := (math.Exp2(g) - 1) / 16
			sum += on * stop / rank
			on *= 1 - stop
		case family == "rbp" && good:
			sum += 0.4 * math.Pow(0.6, float64(i))
		}
		if !good && !dataset.IsUnjudged(g) {
			seenBad++
		}
	}
	switch family {
	case "bpref":
		return sum / max(relevant, 1)
	case "judged":
		return float64(n) / float64(max(1, min(k, len(ranked))))
	case "ndcg":
		if at == "" {
			k = len(all)
		}
		for i, g := range all[:min(k, len(all))] {
			ideal += g / math.Log2(float64(i+2))
		}
		if ideal == 0 {
			return 0
		}
		return sum / ideal
	}
	return sum
}

// randomRun returns grades, some of them Unjudged, and scores, some of them NotRetrieved
// and none equal, with the grades in rank order and those of judged documents not retrieved.
func randomRun(rng *rand.Rand, n int) (grades, scores, ranked, missed []float64) {
	for i := range n {
		g := float64(rng.IntN(4))
		if rng.IntN(3) == 0 {
			g = dataset.Unjudged
		}
		s := float64(n - i)
		grades = append(grades, g)
		switch {
		case rng.IntN(3) > 0:
			ranked = append(ranked, g)
		default:
			s = dataset.NotRetrieved
			if !dataset.IsUnjudged(g) {
				missed = append(missed, g)
			}
		}
		scores = append(scores, s)
	}
	rng.Shuffle(n, func(i, j int) {
		grades[i], grades[j] = grades[j], grades[i]
		scores[i], scores[j] = scores[j], scores[i]
	})
	return grades, scores, ranked, missed
}

// Claim: where systems leave documents out and documents lack judgements, measures are
// what their definitions say of a list of retrieved documents and a set of judgements.
func TestRetrievedByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	var r Ranker
	for range 2000 {
		grades, scores, ranked, missed := randomRun(rng, 1+rng.IntN(12))
		for _, name := range retrievedNames {
			m := parse(t, name, "trec")
			got, ok := r.Value(m, grades, scores)
			if !ok {
				t.Fatalf("%s leaves a query out", name)
			}
			near(t, fmt.Sprint(name, " of ", ranked, " without ", missed), got, byDefinition(name, ranked, missed), 1e-12)
		}
	}
}

// Claim: the expected value under random ties of a ranking that leaves documents out is the
// mean over all orders of the tied ones.
func TestRetrievedTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	for range 150 {
		ranked, missed := randomGrades(rng, 1+rng.IntN(5)), randomGrades(rng, 1+rng.IntN(3))
		for i := range ranked {
			if rng.IntN(3) == 0 {
				ranked[i] = dataset.Unjudged
			}
		}
		ends := randomGroups(rng, len(ranked))
		for _, name := range slices.Concat(allNames, retrievedNames) {
			m := parse(t, name, "trec")
			var sum float64
			n := 0
			orders(ranked, ends, func(list []float64) {
				v, _ := m.Average(slices.Concat(list, missed), eachAlone(len(list)))
				sum += v
				n++
			})
			got, _ := m.Average(slices.Concat(ranked, missed), ends)
			near(t, fmt.Sprint(name, " of ", ranked, ends, " without ", missed), got, sum/float64(n), 1e-12)
		}
	}
}

// Claim: a system that retrieves nothing has 0 of everything, also of queries with relevant
// documents; pairs, AUC and exact-match take what was not retrieved as one tie at the end.
func TestNothingRetrieved(t *testing.T) {
	none := []float64{dataset.NotRetrieved, dataset.NotRetrieved, dataset.NotRetrieved}
	for _, name := range slices.Concat(allNames, retrievedNames) {
		want := 0.0
		if name == "pairs" || name == "auc" {
			want = 0.5
		}
		if name == "exact-match" { // one order of three documents of three grades
			want = 1.0 / 6
		}
		got, ok := new(Ranker).Value(parse(t, name, "trec"), []float64{2, 0, 1}, none)
		if math.Abs(got-want) > 1e-15 || !ok {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
	// The relevant document retrieved above one that was not: in order. Two not retrieved: half.
	for _, name := range []string{"pairs", "auc"} {
		got, _ := new(Ranker).Value(parse(t, name, "trec"), []float64{1, 1, 0}, []float64{3, none[0], none[0]})
		near(t, name, got, 0.75, 1e-15)
	}
}

// Claim: under TiesTREC documents whose scores are equal as 32-bit numbers stand in
// descending order of their identifiers as bytes, whatever the order of the rows, and others
// by score, however large.
func TestTiesTREC(t *testing.T) {
	var b dataset.Builder
	// By identifier, descending: é (1), b (0), a (2), B (0); by score B comes first.
	if err := b.Add("q", []float64{2, 0, 0, 1}, make([]float32, 4), []string{"a", "B", "b", "é"}); err != nil {
		t.Fatal(err)
	}
	d := b.Dataset()
	m := parse(t, "dcg", "trec")
	for _, scores := range [][]float64{{1, 2, 1, 1}, {1 + 1e-9, 2, 1, 1 - 1e-9}, {-1e300, 1e300, -1e200, -1e100}} {
		r, err := Evaluate(d, scores, []Measure{m}, TiesTREC)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint("dcg by ", scores), r.Mean(m), 1/math.Log2(3)+2/math.Log2(5), 1e-15)
	}
	r, err := Evaluate(d, []float64{1 + 1e-6, 2, 1, 1}, []Measure{m}, TiesTREC)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "dcg", r.Mean(m), 2/math.Log2(3)+1/math.Log2(4), 1e-15)

	if _, err := Evaluate(threeQueries(t), make([]float64, 9), []Measure{m}, TiesTREC); err == nil || !strings.Contains(err.Error(), "ties trec: found no identifiers of documents") {
		t.Errorf("data without identifiers: %v", err)
	}
	if _, err := EvaluateLists([][]float64{{1}}, [][]float64{{1}}, []Measure{m}, TiesTREC); err == nil {
		t.Error("lists have no identifiers")
	}
}

// Claim: a relevance that a name states stands against any convention and data, and a name
// that states none has the convention's.
func TestStatedRelevance(t *testing.T) {
	for name, want := range map[string]float64{"map(rel=2)": 2, "p(rel=0.5)@3": 0.5, "map": 3, "p@3": 3} {
		m := Under(parse(t, name, "trec"), LETOR3.WithThreshold(3))
		if got, ok := RelevanceOf(m); got != want || !ok || StatesRelevance(m) != (want != 3) {
			t.Errorf("%s: relevant from %v", name, got)
		}
	}
	if _, ok := RelevanceOf(parse(t, "ndcg", "trec")); ok {
		t.Error("ndcg asks what is relevant")
	}
}
