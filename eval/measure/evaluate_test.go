package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/listwise/listwise/dataset"
)

func measuresOf(t testing.TB, names, convention string) []Measure {
	t.Helper()
	c, err := ParseConvention(convention)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseList(names, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func threeQueries(t testing.TB) *dataset.Dataset {
	t.Helper()
	return build(t, []string{"a", "b", "c"}, map[string][]float64{"a": {0, 1, 2}, "b": {0, 0}, "c": {1, 0, 0, 1}})
}

// Claim: a result holds each query's value, their means and the tie counts that
// were worked out by hand.
func TestEvaluate(t *testing.T) {
	d := threeQueries(t)
	scores := []float64{1, 1, 0, 5, 4, 2, 2, 2, 1}
	measures := measuresOf(t, "map,p@1", "letor3")
	ap, p1 := measures[0], measures[1]
	r, err := Evaluate(d, scores, measures, TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	// a: ranked 0 1 | 2, tied pair first; b: none; c: ranked 1 0 0 | 1.
	apA, apC := (1.0/2+2.0/3)/2, (1+2.0/4)/2
	if d := cmp.Diff([]float64{apA, 0, apC}, r.PerQuery(ap), nearly); d != "" {
		t.Error(d)
	}
	near(t, "mean", r.Mean(ap), (apA+apC)/3, 1e-15)
	near(t, "p@1", r.Mean(p1), 1.0/3, 1e-15)
	neutralA := (apA + (1+2.0/3)/2) / 2
	neutralC := ((1 + 1.0/2 + 1.0/3) + 3*2.0/4) / 3 / 2
	if d := cmp.Diff([]float64{neutralA, 0, neutralC}, r.TieNeutralPerQuery(ap), nearly); d != "" {
		t.Error(d)
	}
	near(t, "neutral mean", r.TieNeutral(ap), (neutralA+neutralC)/3, 1e-15)
	// a has 3 unequal pairs, 1 tied; c has 4, 2 tied.
	if d := cmp.Diff(TieStats{Pairs: 7, Tied: 3, Queries: 2, Over: 2}, r.TieStats()); d != "" {
		t.Error(d)
	}
	near(t, "share", r.TieStats().Share(), 3.0/7, 1e-15)
	near(t, "share of c", r.TiedShare(2), 1.0/2, 0)
	if d := cmp.Diff([]string{"a", "b", "c"}, r.Queries()); d != "" {
		t.Error(d)
	}
	if r.Counted(ap) != 3 || r.Ties() != TiesInput || !slices.Equal(r.Measures(), ForAll(measures, d)) {
		t.Errorf("%d counted, ties %v, measures %v", r.Counted(ap), r.Ties(), r.Measures())
	}
	average, err := Evaluate(d, scores, measures[:1], TiesAverage)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.TieNeutralPerQuery(ap), average.PerQuery(ap)); d != "" {
		t.Error(d)
	}
}

// sameResult compares results bit by bit, measures by all that they are.
var sameResult = cmp.Options{
	cmp.AllowUnexported(Result{}, pairCount{}),
	cmp.Comparer(func(a, b Measure) bool { return a == b }),
}

var nearly = cmp.Comparer(func(a, b float64) bool {
	return math.Abs(a-b) <= 1e-12 || a != a && b != b
})

// Claim: queries left out by a skip convention are NaN and not in the means; a
// mean of no query is NaN.
func TestEvaluateSkip(t *testing.T) {
	d := threeQueries(t)
	scores := make([]float64, d.Docs())
	wta := parse(t, "wta", "letor3-skip")
	r, err := Evaluate(d, scores, []Measure{wta}, TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]float64{0, math.NaN(), 1}, r.PerQuery(wta), nearly); d != "" {
		t.Error(d)
	}
	near(t, "wta", r.Mean(wta), 0.5, 0)
	if r.Counted(wta) != 2 {
		t.Errorf("%d queries count", r.Counted(wta))
	}
	mean, n := new(Ranker).Mean(d, scores, wta)
	if mean != 0.5 || n != 2 {
		t.Errorf("Ranker.Mean: %v of %d", mean, n)
	}
	none := build(t, []string{"b"}, map[string][]float64{"b": {0}})
	if r, err = Evaluate(none, []float64{1}, []Measure{wta}, TiesInput); err != nil || r.Mean(wta) == r.Mean(wta) {
		t.Errorf("mean of no query: %v, %v", r.Mean(wta), err)
	}
}

// Claim: input that cannot be measured is refused with what was found.
func TestEvaluateErrors(t *testing.T) {
	d := build(t, []string{"q7"}, map[string][]float64{"q7": {0, 5, 2000}})
	nan := []float64{1, 2, math.NaN()}
	fine := []float64{1, 2, 3}
	for _, c := range []struct {
		scores   []float64
		measures []Measure
		want     string
	}{
		{fine[:2], measuresOf(t, "map", "letor3"), "2 scores for 3 documents"},
		{nan, measuresOf(t, "map", "letor3"), "the score of document 3 of query q7 is not a number"},
		{fine, measuresOf(t, "err@5", "letor3"), "err@5 reckons with grades up to 4 but the data have 2000"},
		{fine, measuresOf(t, "dcg", "letor3"), "dcg overflows at grade 2000"},
		{fine, append(measuresOf(t, "map", "letor3"), measuresOf(t, "map", "trec")...), "map is given twice"},
		{fine, []Measure{foreign{}}, "measure foreign has no expected value"},
	} {
		if _, err := Evaluate(d, c.scores, c.measures, TiesInput); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

type foreign struct{}

func (foreign) Name() string                    { return "foreign" }
func (foreign) Value([]float64) (float64, bool) { return 0, true }

// Claim: pooled folds have the pooled mean, which differs from the mean over
// folds of unequal size.
func TestPool(t *testing.T) {
	m := measuresOf(t, "wta", "letor3")
	one := build(t, []string{"x"}, map[string][]float64{"x": {1, 0}})
	a, err := Evaluate(threeQueries(t), make([]float64, 9), m, TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Evaluate(one, []float64{2, 1}, m, TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	p := Pool(a, b)
	near(t, "pooled", p.Mean(m[0]), 2.0/4, 0)
	near(t, "over folds", MeanOverFolds(m[0], a, b), (1.0/3+1)/2, 1e-15)
	if d := cmp.Diff([]string{"a", "b", "c", "x"}, p.Queries()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(TieStats{Pairs: 8, Tied: 7, Queries: 3, Over: 2}, p.TieStats()); d != "" {
		t.Error(d)
	}
}

// Claim: the result is the same to the last bit for any number of processors, and the same
// as one query after the other.
func TestEvaluateDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	ids, grades := []string{}, map[string][]float64{}
	for i := range 200 {
		id := fmt.Sprint("q", i)
		ids = append(ids, id)
		grades[id] = randomGrades(rng, 1+rng.IntN(80))
	}
	d := build(t, ids, grades)
	scores := make([]float64, d.Docs())
	for i := range scores {
		scores[i] = float64(rng.IntN(20)) / 3
	}
	names := "map,ndcg@10,ndcg,mean-ndcg,pairs,err,bpref"
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for ties := TiesInput; ties <= TiesAverage; ties++ {
		measures := measuresOf(t, names, "standard")
		var first *Result
		for _, procs := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(procs)
			r, err := Evaluate(d, scores, measures, ties)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = r
			}
			if d := cmp.Diff(first, r, sameResult); d != "" {
				t.Fatal(d)
			}
		}
		ranker := Ranker{Ties: ties}
		for _, m := range measures {
			if mean, _ := ranker.Mean(d, scores, For(m, d)); mean != first.Mean(m) {
				t.Errorf("%s %v: Ranker.Mean %v, Result.Mean %v", m.Name(), ties, mean, first.Mean(m))
			}
		}
	}
}

// Claim: the CSV has a header, a line a query, full precision, and an empty cell
// for a query left out.
func TestWriteCSV(t *testing.T) {
	r, err := Evaluate(threeQueries(t), []float64{3, 1, 2, 0, 0, 2, 1, 1, 0}, measuresOf(t, "wta,map", "letor3-skip"), TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("query,wta,map\na,0,0.5833333333333333\nb,,\nc,1,0.75\n", out.String()); d != "" {
		t.Error(d)
	}
}

// Claim: lists measured without a data set have the values of the same lists in one,
// thresholds for their grades included; what does not fit is an error.
func TestEvaluateLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	ids, byID := []string{}, map[string][]float64{}
	var grades, scores [][]float64
	var flat []float64
	for i := range 30 {
		id := strconv.Itoa(i + 1)
		ids, byID[id] = append(ids, id), randomGrades(rng, 1+rng.IntN(12))
		grades = append(grades, byID[id])
		row := make([]float64, len(byID[id]))
		for j := range row {
			row[j] = float64(rng.IntN(5))
		}
		scores, flat = append(scores, row), append(flat, row...)
	}
	d := build(t, ids, byID)
	measures := measuresOf(t, "map,ndcg@10,p@3", "standard")
	want, err := Evaluate(d, flat, measures, TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	got, err := EvaluateLists(grades, scores, measures, TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, sameResult); diff != "" {
		t.Errorf("(-data set +lists):\n%s", diff)
	}
	for _, bad := range [][2][][]float64{
		{{{1, 0}}, {}}, {{{1, 0}}, {{1}}}, {{{}}, {{}}}, {{{-1}}, {{1}}}, {{{math.Inf(1)}}, {{1}}}, {{{1}}, {{math.NaN()}}},
	} {
		if _, err := EvaluateLists(bad[0], bad[1], measures, TiesInput); err == nil {
			t.Errorf("%v were measured", bad)
		}
	}
}

// Claim: ids of queries in the CSV are as they are, also those that look like formulas.
func TestWriteCSVKeepsIDs(t *testing.T) {
	var b dataset.Builder
	for _, id := range []string{"=1+1", "-red", "@x, y"} {
		if err := b.Add(id, []float64{1, 0}, []float32{1, 0}, nil); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Evaluate(b.Dataset(), []float64{1, 0, 1, 0, 1, 0}, measuresOf(t, "map", "letor3"), TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.WriteCSV(&out); err != nil || out.String() != "query,map\n=1+1,1\n-red,1\n\"@x, y\",1\n" {
		t.Errorf("%v\n%s", err, out.String())
	}
}
