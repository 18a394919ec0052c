package measure_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
)

var (
	skipping    = measure.MustParse("map", conventionOf("standard-skip"))
	firstTen    = measure.MustParse("ndcg@10", conventionOf("standard-skip"))
	quickConfig = stats.Config{Permutations: 500, Resamples: 200, Seed: 7}
)

func conventionOf(name string) measure.Convention {
	c, err := measure.ParseConvention(name)
	if err != nil {
		panic(err)
	}
	return c
}

// judgedQueries returns 24 queries, named from first on. Some have no relevant document. With weights,
// one has weight 0.
func judgedQueries(t *testing.T, first int, weighted bool) *dataset.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(first)))
	var b dataset.Builder
	var weights []float64
	for q := range 24 {
		grades := make([]float64, 8)
		for i := range grades {
			if q%6 != 0 {
				grades[i] = float64(rng.IntN(3))
			}
		}
		if err := b.Add(strconv.Itoa(first+q), grades, make([]float32, len(grades)), nil); err != nil {
			t.Fatal(err)
		}
		weights = append(weights, float64(q%4)/2)
	}
	d := b.Dataset()
	if weighted {
		if err := d.Weigh(weights, nil); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// noisy measures scores that are grades with noise of a standard deviation.
func noisy(t *testing.T, d *dataset.Dataset, noise float64, seed uint64, ties measure.TiePolicy, ms ...measure.Measure) *measure.Result {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	var scores []float64
	for i := range d.Queries {
		for _, g := range d.Queries[i].Grades {
			scores = append(scores, g+noise*rng.NormFloat64())
		}
	}
	r, err := measure.Evaluate(d, scores, ms, ties)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Claim: the comparison of pooled results is that of package stats on the values of the queries that
// count, with their weights, for single runs and for several.
func TestCompareIsOfQueriesThatCount(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		folds := []*dataset.Dataset{judgedQueries(t, 0, weighted), judgedQueries(t, 100, weighted)}
		var systems [][]*measure.Result
		values := make([][][]float64, 3)
		var weights []float64
		for i := range values {
			var runs []*measure.Result
			for run := range 2 {
				var parts []*measure.Result
				var own []float64
				weights = nil
				for k, d := range folds {
					part := noisy(t, d, float64(i+1), uint64(10*i+run+100*k), measure.TiesInput, firstTen, skipping)
					parts = append(parts, part)
					for q, v := range part.PerQuery(skipping) {
						w := d.Queries[q].Weight()
						if slices.Max(d.Queries[q].Grades) == 0 || w == 0 {
							continue
						}
						if own = append(own, v); weighted {
							weights = append(weights, w)
						}
					}
				}
				runs, values[i] = append(runs, measure.Pool(parts...)), append(values[i], own)
			}
			systems = append(systems, runs)
		}
		c := quickConfig
		c.Baseline = -1
		got, err := measure.CompareRuns(skipping, c, systems...)
		if err != nil {
			t.Fatal(err)
		}
		c.Weights = weights
		want, err := stats.CompareRuns(values, c)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || got.Queries >= 48 { // as text, since NaN is not equal to NaN
			t.Errorf("weighted %v: the comparison is %+v, want %+v", weighted, got, want)
		}
		single, err := measure.Compare(skipping, quickConfig, systems[0][0], systems[2][0])
		if err != nil {
			t.Fatal(err)
		}
		if got, want := single.Pairs[0].Difference, systems[2][0].Mean(skipping)-systems[0][0].Mean(skipping); math.Abs(got-want) > 1e-12 {
			t.Errorf("weighted %v: the systems differ by %v, want %v", weighted, got, want)
		}
	}
}

// Claim: results that cannot be compared are refused, and the error says what differs.
func TestCompareRefuses(t *testing.T) {
	d, other := judgedQueries(t, 0, false), judgedQueries(t, 1, false)
	a := noisy(t, d, 1, 1, measure.TiesInput, skipping)
	b := noisy(t, d, 2, 2, measure.TiesInput, skipping)
	relevant := measure.Under(skipping, conventionOf("standard-skip").WithThreshold(2))
	strict := noisy(t, d, 1, 1, measure.TiesInput, relevant)
	renamed := noisy(t, other, 1, 1, measure.TiesInput, skipping)
	standard := measure.MustParse("map", conventionOf("standard"))
	for _, test := range []struct {
		m    measure.Measure
		c    stats.Config
		of   []*measure.Result
		want string
	}{
		{skipping, quickConfig, []*measure.Result{measure.Pool(a, a), measure.Pool(b, b)}, "system 1, run 1: found query 0 as query 1 and 25, expected each query once"},
		{skipping, quickConfig, []*measure.Result{a, measure.Pool(b, renamed)}, "system 2, run 1: found 48 queries, expected 24 as in the first result"},
		{skipping, quickConfig, []*measure.Result{a, renamed}, "system 2, run 1: found query 1 in place 1, expected query 0 as in the first result"},
		{skipping, quickConfig, []*measure.Result{a, noisy(t, d, 1, 1, measure.TiesAverage, skipping)}, "system 2, run 1: found ties average, expected input as in the first result"},
		{skipping, quickConfig, []*measure.Result{a, noisy(t, judgedQueries(t, 0, true), 1, 1, measure.TiesInput, skipping)}, "found other weights"},
		{skipping, quickConfig, []*measure.Result{a, nil}, "system 2, run 1: found no result, expected one"},
		{relevant, quickConfig, []*measure.Result{a, strict}, "system 1, run 1: the result has no map (standard-skip, relevant from 2), only map (standard-skip"},
		{standard, quickConfig, []*measure.Result{a, b}, "the result has no map (standard), only map (standard-skip"},
		{skipping, stats.Config{Weights: []float64{1}}, []*measure.Result{a, b}, "found weights in the configuration, expected none"},
		{skipping, quickConfig, []*measure.Result{a}, "found 1 systems, expected at least two"},
	} {
		if _, err := measure.Compare(test.m, test.c, test.of...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got the error %v, want %q", err, test.want)
		}
	}
}

// Claim: intervals of means end at the bounds of the measure, for several runs and for few queries. Without
// the bounds they would not. A measure of unknown range has none.
func TestIntervalsEndAtTheRange(t *testing.T) {
	files := []string{"query,map,own\n1,0.99,0.99\n2,0.9,0.9\n3,1,1\n4,0.4,0.4\n", "query,map,own\n1,1,1\n2,1,1\n3,0.8,0.8\n4,1,1\n"}
	var runs []*measure.Result
	for _, file := range files {
		r, err := measure.ReadCSV(strings.NewReader(file), nil, measure.TiesInput)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	compare := func(m measure.Column) *stats.Comparison {
		c, err := measure.CompareRuns(m, quickConfig, runs, runs[:1])
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	bounded, free := compare("map"), compare("own")
	for i, s := range free.Systems {
		if want := (stats.Interval{Low: max(0, s.Interval.Low), High: 1}); s.Interval.High <= 1 || bounded.Systems[i].Interval != want {
			t.Errorf("system %d has the interval %v, without bounds %v", i, bounded.Systems[i].Interval, s.Interval)
		}
	}
	if a, b := free.Pairs[0], bounded.Pairs[0]; a.T != b.T || a.Randomization != b.Randomization || a.Bootstrap.P != b.Bootstrap.P {
		t.Errorf("with bounds the tests give %v, without %v", b, a)
	}
}

// Claim: ReadCSV returns the ids, weights and values that WriteCSV got, with the same bits. The measures
// may be asked for in any order. If none are asked for, it returns all columns by their names. Tie-neutral
// values are known only if ties are averaged.
func TestReadCSVReadsWhatIsWritten(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		for _, ties := range []measure.TiePolicy{measure.TiesInput, measure.TiesAverage} {
			written := noisy(t, judgedQueries(t, 5, weighted), 1, 1, ties, skipping, firstTen)
			var file bytes.Buffer
			if err := written.WriteCSV(&file); err != nil {
				t.Fatal(err)
			}
			text := file.String()
			ms := slices.Clone(written.Measures())
			slices.Reverse(ms)
			read, err := measure.ReadCSV(&file, ms, ties)
			if err != nil {
				t.Fatal(err)
			}
			bits := func(values []float64) (all []uint64) {
				for _, v := range values {
					all = append(all, math.Float64bits(v))
				}
				return all
			}
			for _, m := range written.Measures() {
				if !slices.Equal(bits(read.PerQuery(m)), bits(written.PerQuery(m))) {
					t.Errorf("the values of %s are %v, want %v", m.Name(), read.PerQuery(m), written.PerQuery(m))
				}
				if known := !math.IsNaN(read.TieNeutral(m)); known != (ties == measure.TiesAverage) {
					t.Errorf("ties %s: the tie-neutral mean is %v", ties, read.TieNeutral(m))
				}
			}
			if !slices.Equal(read.Queries(), written.Queries()) || !slices.Equal(read.Weights(), written.Weights()) || read.Ties() != ties {
				t.Errorf("read %v with weights %v", read.Queries(), read.Weights())
			}
			all, err := measure.ReadCSV(strings.NewReader(text), nil, ties)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range all.Measures() {
				want := written.Measures()[i]
				if m != measure.Measure(measure.Column(want.Name())) || !slices.Equal(bits(all.PerQuery(m)), bits(written.PerQuery(want))) {
					t.Errorf("column %d is %v with %v, want %s with %v", i, m, all.PerQuery(m), want.Name(), written.PerQuery(want))
				}
			}
			if len(all.Measures()) != len(written.Measures()) || !slices.Equal(all.Weights(), written.Weights()) {
				t.Errorf("read the columns %v with weights %v", all.Measures(), all.Weights())
			}
		}
	}
}

// Claim: an error of ReadCSV names the line, what was found and what was expected.
func TestReadCSVErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "found no lines, expected a header",
		"id,map\n1,0.5\n":                   `line 1: found "id", expected the column query`,
		"query,ndcg@10\n1,0.5\n":            "line 1: found the columns query, ndcg@10, expected one named map",
		"query,map\n1,0.5\n2,x\n":           `line 3, query 2: found "x" as map, expected a finite number`,
		"query,map\n1,Inf\n":                `line 2, query 1: found "Inf" as map, expected a finite number`,
		"query,map\n1,0.5\n2,1\n1,0.5\n":    "line 4: found query 1, which is in line 2 too, expected each query once",
		"query,weight,map\n1,-1,0.5\n":      `line 2, query 1: found the weight "-1", expected a finite number of at least 0`,
		"query,map\n1,0.5,3\n":              "line 2: wrong number of fields",
		"query,weight,map\n1,1,0.5\n2,,0\n": `line 3, query 2: found the weight ""`,
	} {
		if _, err := measure.ReadCSV(strings.NewReader(text), []measure.Measure{skipping}, measure.TiesInput); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got the error %v, want %q", text, err, want)
		}
	}
	if _, err := measure.ReadCSV(strings.NewReader("query,map\n"), []measure.Measure{nil}, measure.TiesInput); err == nil {
		t.Error("a nil measure is no error")
	}
}

// FuzzReadCSV: what ReadCSV accepts is written and read again as the same text.
func FuzzReadCSV(f *testing.F) {
	f.Add("query,map\n1,0.5\n2,\n")
	f.Add("query,weight,map\n\"a,b\",2,1e-3\n,0,\n")
	f.Fuzz(func(t *testing.T, text string) {
		read := func(text string) (*measure.Result, error) {
			return measure.ReadCSV(strings.NewReader(text), []measure.Measure{skipping}, measure.TiesInput)
		}
		write := func(r *measure.Result) string {
			var b strings.Builder
			if err := r.WriteCSV(&b); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		r, err := read(text)
		if err != nil {
			return
		}
		first := write(r)
		if r, err = read(first); err != nil {
			t.Fatalf("%q: %v", first, err)
		}
		if again := write(r); again != first {
			t.Errorf("%q has become %q", first, again)
		}
	})
}
