package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// average is a measure from elsewhere: the mean grade of the ranks that it lists. It
// cannot be compared with ==.
type average struct{ ranks []int }

func (average) Name() string { return "average" }

func (a average) Value(ranked []float64) (value float64, ok bool) {
	for _, r := range a.ranks {
		value += ranked[r-1] / float64(len(a.ranks))
	}
	return value, true
}

func (a average) Average(ranked []float64, _ []int) (float64, bool) { return a.Value(ranked) }

// Claim: a result has the values of every measure under the measure that was given, the
// one with the threshold for the data, and any that is parsed alike; standard and the
// zero Convention are alike.
func TestResultByMeasure(t *testing.T) {
	d := build(t, []string{"a", "b"}, map[string][]float64{"a": {0.5, 0.2, 0}, "b": {0, 0.2}})
	scores := []float64{1, 2, 3, 4, 5}
	for _, e := range registry {
		name := e.name
		if e.parameter == requiredCutoff {
			name += "@2"
		}
		for _, c := range Conventions() {
			m := MustParse(name, c)
			others := []Measure{m, MustParse(name, c), For(m, d), MustParse(name, c.WithThreshold(0.2))}
			if c.Name() == Standard.Name() {
				others = append(others, MustParse(name, Convention{}), MustParse(name, Convention{}.WithThreshold(0.2)))
			}
			given := []Measure{average{[]int{1}}, m}
			r, err := Evaluate(d, scores, given, TiesInput)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Mean(average{[]int{1}}); got != 0.1 {
				t.Errorf("a measure from elsewhere has mean %v", got)
			}
			if r.Measures()[1] != For(m, d) {
				t.Errorf("%s, %s: the result's measure is %+v", name, c.Name(), r.Measures()[1])
			}
			for i, other := range others {
				if i < 3 && testing.AllocsPerRun(100, func() { r.PerQuery(other) }) > 0 && !raceDetector {
					t.Errorf("%s, %s: asking by measure %d allocates", name, c.Name(), i)
				}
				if &r.PerQuery(other)[0] != &r.values[1][0] || &r.TieNeutralPerQuery(other)[0] != &r.neutral[1][0] {
					t.Errorf("%s, %s: measure %d has other values", name, c.Name(), i)
				}
			}
		}
	}
}

// Claim: to ask for a measure that was not evaluated is refused, whatever it has in common
// with one that was; the panic says what there is.
func TestResultOfOtherMeasures(t *testing.T) {
	d := threeQueries(t)
	m := measuresOf(t, "map,err@5", "letor3")
	r, err := Evaluate(d, make([]float64, d.Docs()), m, TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	higher, err := Parse("err@5", LETOR3, Options{MaxGrade: 5})
	if err != nil {
		t.Fatal(err)
	}
	const has = "only map (letor3, relevant from 1), err@5 (letor3, relevant from 1)"
	for _, c := range []struct {
		m    Measure
		want string
	}{
		{MustParse("mrr", LETOR3), "no mrr (letor3), " + has},
		{MustParse("map", TREC), "no map (trec), " + has},
		{MustParse("map", LETOR3.Skipping()), "no map (letor3-skip), " + has},
		{MustParse("map", LETOR3.WithThreshold(2)), "no map (letor3, relevant from 2), " + has},
		{higher, "no err@5 (letor3), " + has},
		{foreign{}, "no foreign, " + has},
		{nil, "no nil measure, " + has},
	} {
		for _, ask := range []func(){
			func() { r.Mean(c.m) }, func() { r.PerQuery(c.m) }, func() { r.Counted(c.m) },
			func() { r.TieNeutral(c.m) }, func() { r.TieNeutralPerQuery(c.m) }, func() { MeanOverFolds(c.m, r) },
		} {
			if text := panicOf(ask); !strings.Contains(text, c.want) {
				t.Errorf("panic is %q, want %q in it", text, c.want)
			}
		}
	}
}

// Claim: a measure whose threshold was chosen answers for no other threshold: not for the
// measure without a choice, whose threshold the data settle. What has the same threshold
// has the same values, chosen or settled.
func TestResultOfChosenThreshold(t *testing.T) {
	grades, scores := [][]float64{{1, 0, 2}}, [][]float64{{3, 2, 1}}
	evaluate := func(m Measure) *Result {
		r, err := EvaluateLists(grades, scores, []Measure{m}, TiesInput)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	open, two := MustParse("map", Standard), MustParse("map", Standard.WithThreshold(2))
	chosen := evaluate(two)
	if text := panicOf(func() { chosen.Mean(open) }); !strings.Contains(text, "no map (standard), only map (standard, relevant from 2)") {
		t.Errorf("asking relevance from 2 for relevance as the data have it: panic is %q", text)
	}
	if got := chosen.Mean(two); got != 1.0/3 {
		t.Errorf("relevant from 2: map is %v, want 1/3", got)
	}
	one := MustParse("map", Standard.WithThreshold(1))
	for _, m := range []Measure{open, one} {
		if got := evaluate(open).Mean(m); math.Abs(got-5.0/6) > 1e-15 {
			t.Errorf("%s of settled relevance is %v, want 5/6", inFull(m), got)
		}
	}
	pool := Pool(evaluate(open), evaluate(one))
	if got := pool.PerQuery(one); len(got) != 2 || got[0] != got[1] {
		t.Errorf("pooled chosen and settled relevance from 1: %v", got)
	}
}

// panicOf returns what f panics with, "" if it does not.
func panicOf(f func()) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

// Claim: results of folds are pooled only if their measures agree, thresholds included,
// and then the pool is had by the measures that were given to them.
func TestPoolOfThresholds(t *testing.T) {
	whole := build(t, []string{"a"}, map[string][]float64{"a": {0, 1}})
	shares := build(t, []string{"b"}, map[string][]float64{"b": {0.5, 0}})
	evaluate := func(m ...Measure) []*Result {
		a, err := Evaluate(whole, []float64{1, 2}, m, TiesInput)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Evaluate(shares, []float64{1, 2}, m, TiesInput)
		if err != nil {
			t.Fatal(err)
		}
		return []*Result{a, b}
	}
	ap := MustParse("map", LETOR3)
	if text := panicOf(func() { Pool(evaluate(ap)...) }); !strings.Contains(text, "not map (letor3, relevant from 1) (ties input) and map (letor3, relevant from 0.5) (ties input)") {
		t.Errorf("pooling relevance from 1 and from 0.5: panic is %q", text)
	}
	if got := Pool(evaluate(For(ap, whole, shares))...).PerQuery(ap); !slices.Equal(got, []float64{1, 0.5}) {
		t.Errorf("pooled %v, want 1 and 0.5", got)
	}
}
