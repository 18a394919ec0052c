package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/datatest"
)

// script re-derives the published evaluation scripts in their own manner: label tables
// instead of formulas, a vector for every cutoff built place by place, the ideal from a
// second pass of the same routine, and means that add all that lies in the vectors. It
// shares nothing with the package.
type script struct {
	gain     map[float64]float64
	relevant map[float64]bool
}

var (
	letorScript = script{gain: map[float64]float64{0: 0, 1: 1, 2: 3}, relevant: map[float64]bool{1: true, 2: true}}
	mslrScript  = script{
		gain:     map[float64]float64{0: 0, 1: 1, 2: 3, 3: 7, 4: 15},
		relevant: map[float64]bool{2: true, 3: true, 4: true},
	}
)

// cumulated returns the DCG vector of the first depth places; beyond the list
// all is irrelevant.
func (s script) cumulated(rates []float64, depth int) []float64 {
	v := make([]float64, depth)
	for pos := range v {
		var g float64
		if pos < len(rates) {
			g = s.gain[rates[pos]]
		}
		switch pos {
		case 0:
			v[0] = g
		case 1:
			v[1] = v[0] + g
		default:
			v[pos] = v[pos-1] + g*math.Log(2)/math.Log(float64(pos)+1)
		}
	}
	return v
}

// ndcg returns the NDCG vector, which is as long as the list.
func (s script) ndcg(rates []float64) []float64 {
	best := append([]float64(nil), rates...)
	sort.SliceStable(best, func(i, j int) bool { return s.gain[best[i]] > s.gain[best[j]] })
	got, ideal := s.cumulated(rates, len(rates)), s.cumulated(best, len(rates))
	for i := range got {
		if ideal[i] != 0 {
			got[i] /= ideal[i]
		}
	}
	return got
}

// row returns P@1…10, MAP, NDCG@1…10 and MeanNDCG of one query.
func (s script) row(rates []float64) []float64 {
	var row []float64
	hits := 0
	for pos := range 10 {
		if pos < len(rates) && s.relevant[rates[pos]] {
			hits++
		}
		row = append(row, float64(hits)/float64(pos+1))
	}
	hits = 0
	var ap float64
	for pos, l := range rates {
		if s.relevant[l] {
			hits++
			ap += float64(hits) / float64(pos+1)
		}
	}
	row = append(row, ap/math.Max(float64(hits), 1))
	vector := s.ndcg(rates)
	mean := 0.0
	for _, v := range vector {
		mean += v
	}
	for pos := range 10 {
		if pos < len(vector) {
			row = append(row, vector[pos])
		} else {
			row = append(row, 0) // the vector ends here, and nothing is added
		}
	}
	return append(row, mean/float64(len(vector)))
}

// scriptNames are the columns of row.
func scriptNames() []string {
	var names []string
	for k := 1; k <= 10; k++ {
		names = append(names, fmt.Sprint("p@", k))
	}
	names = append(names, "map")
	for k := 1; k <= 10; k++ {
		names = append(names, fmt.Sprint("ndcg@", k))
	}
	return append(names, "mean-ndcg")
}

// Claim: letor4 and mslr agree with their scripts in all digits that count
// (the scripts print four; the values agree to 1e-12), letor3 too on lists of
// ten documents and more, with ties in input order.
func TestAgainstScripts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		n := 1 + rng.IntN(40)
		for _, c := range []struct {
			convention string
			script     script
			levels     int
			shortest   int
		}{{"letor3", letorScript, 3, 10}, {"letor4", letorScript, 3, 1}, {"mslr", mslrScript, 5, 1}} {
			if n < c.shortest {
				continue
			}
			grades, scores := make([]float64, n), make([]float64, n)
			for i := range grades {
				grades[i] = float64(rng.IntN(c.levels) * rng.IntN(2))
				scores[i] = float64(rng.IntN(7)) - 3 // many ties
			}
			want := c.script.row(byScore(grades, scores))
			for i, name := range scriptNames() {
				got, _ := new(Ranker).Value(parse(t, name, c.convention), grades, scores)
				near(t, c.convention+" "+name, got, want[i], 1e-12)
				if a, b := fmt.Sprintf("%.4f", got), fmt.Sprintf("%.4f", want[i]); a != b {
					t.Errorf("%s %s prints %s, the script %s", c.convention, name, a, b)
				}
			}
		}
	}
}

// byScore orders grades by score, highest first, ties in input order.
func byScore(grades, scores []float64) []float64 {
	index := make([]int, len(grades))
	for i := range index {
		index[i] = i
	}
	sort.SliceStable(index, func(a, b int) bool { return scores[index[a]] > scores[index[b]] })
	ranked := make([]float64, len(grades))
	for r, i := range index {
		ranked[r] = grades[i]
	}
	return ranked
}

func build(t testing.TB, ids []string, grades map[string][]float64) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	for _, id := range ids {
		if err := b.Add(id, grades[id], make([]float32, len(grades[id])), nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// evaluateParts evaluates the parts of a set, all scores equal, and returns the measures too.
func evaluateParts(t *testing.T, set, convention, names string) ([]*Result, []Measure) {
	t.Helper()
	c, err := ParseConvention(convention)
	if err != nil {
		t.Fatal(err)
	}
	measures, err := ParseList(names, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var folds []*Result
	for _, path := range datatest.OfficialParts(t, set) {
		d, err := datafile.Open(path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Evaluate(d, make([]float64, d.Docs()), measures, TiesInput)
		if err != nil {
			t.Fatal(err)
		}
		folds = append(folds, r)
	}
	return folds, measures
}

// Claim: OHSUMED with all scores equal has MAP .4274 in its own order (the mean
// over folds, as the LETOR 3.0 script gives it), and the tie-neutral value is
// that of simulated random orders, .306.
func TestOhsumedFileOrder(t *testing.T) {
	folds, measures := evaluateParts(t, "ohsumed", "letor3", "map,ndcg@10")
	ap := measures[0]
	all := Pool(folds...)
	if n := len(all.Queries()); n != 106 {
		t.Fatalf("%d queries, want 106", n)
	}
	near(t, "MAP in file order", MeanOverFolds(ap, folds...), .427399, .0000005)
	near(t, "MAP in random order", all.TieNeutral(ap), .306, .001)
	ties := all.TieStats()
	if ties.Tied != ties.Pairs || ties.Over != 105 || ties.Queries != 105 {
		t.Errorf("all differently graded pairs tie, but the count is %+v", ties)
	}
	folds, measures = evaluateParts(t, "ohsumed", "letor3-skip", "map")
	skip, skipping := Pool(folds...), measures[0]
	near(t, "skipping", skip.Mean(skipping)*105, all.Mean(ap)*106, 1e-9)
	if skip.Counted(skipping) != 105 {
		t.Errorf("%d queries count, want 105", skip.Counted(skipping))
	}
}

// Claim: on MQ2008, where half the lists are short and a quarter of the queries
// have no relevant document, the conventions fall apart as they should.
func TestMQ2008Conventions(t *testing.T) {
	perQuery := func(convention, name string) []float64 {
		folds, measures := evaluateParts(t, "mq2008", convention, name)
		return Pool(folds...).PerQuery(measures[0])
	}
	near(t, "ndcg@1", Mean(perQuery("letor4", "ndcg@1")), Mean(perQuery("letor3", "ndcg@1")), 0)
	letor3, letor4 := perQuery("letor3", "ndcg@10"), perQuery("letor4", "ndcg@10")
	standard := Mean(perQuery("standard", "ndcg@10"))
	near(t, "lightgbm", Mean(perQuery("lightgbm", "ndcg@10")), standard+220.0/784, 1e-12)
	near(t, "skip", Mean(perQuery("standard-skip", "ndcg@10"))*(784-220), standard*784, 1e-9)
	zeroed := 0
	for i, v := range letor4 {
		if v != letor3[i] {
			zeroed++
		}
	}
	if Mean(letor4) > Mean(letor3)-.1 || zeroed < 200 || zeroed > 403 {
		t.Errorf("letor4 %f, letor3 %f, %d queries differ", Mean(letor4), Mean(letor3), zeroed)
	}
}
