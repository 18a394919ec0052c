package measure_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
)

// partsOf cuts random lists at random places and measures the parts, which go through their form in files.
func partsOf(t *rapid.T, grades, scores [][]float64, measures []measure.Measure, ties measure.TiePolicy) []measure.Part {
	var parts []measure.Part
	for from := 0; from < len(grades); {
		to := rapid.IntRange(from+1, len(grades)).Draw(t, "to")
		r, err := measure.EvaluateLists(grades[from:to], scores[from:to], measures, ties)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(measure.Part{First: from, Result: r})
		if err != nil {
			t.Fatal(err)
		}
		p, err := measure.ParsePart(text, r.Measures(), ties)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
		from = to
	}
	return parts
}

func settled(t *rapid.T, grades [][]float64) []measure.Measure {
	c, err := measure.ParseConvention(rapid.SampledFrom([]string{"letor3", "standard-skip", "mslr", "trec"}).Draw(t, "convention"))
	if err != nil {
		t.Fatal(err)
	}
	measures, err := measure.ParseList("map,ndcg@3,mrr", c.ForGrades(grades...), measure.Options{MaxGrade: 4})
	if err != nil {
		t.Fatal(err)
	}
	return measures
}

// TestMergeIsExact: parts of any size, in any order, have the means of all queries at once, bit by bit.
func TestMergeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2, 0.5}), 1, 6)
		grades := rapid.SliceOfN(list, 1, 12).Draw(t, "grades")
		scores := make([][]float64, len(grades))
		for i := range grades {
			scores[i] = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.1, 0.7, 3}), len(grades[i]), len(grades[i])).Draw(t, "scores")
		}
		ties := rapid.SampledFrom([]measure.TiePolicy{measure.TiesInput, measure.TiesAverage}).Draw(t, "ties")
		measures := settled(t, grades)
		want, err := measure.EvaluateLists(grades, scores, measures, ties)
		if err != nil {
			t.Fatal(err)
		}
		parts := rapid.Permutation(partsOf(t, grades, scores, measures, ties)).Draw(t, "order")
		got, err := measure.Merge(len(grades), parts)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range want.Measures() {
			n := got.Measures()[i]
			if math.Float64bits(got.Mean(n)) != math.Float64bits(want.Mean(m)) || math.Float64bits(got.TieNeutral(n)) != math.Float64bits(want.TieNeutral(m)) || got.Counted(n) != want.Counted(m) {
				t.Fatalf("%s: found %v, %v of %d queries, expected %v, %v of %d", m.Name(), got.Mean(n), got.TieNeutral(n), got.Counted(n), want.Mean(m), want.TieNeutral(m), want.Counted(m))
			}
		}
		if got.TieStats() != want.TieStats() {
			t.Fatalf("ties: found %+v, expected %+v", got.TieStats(), want.TieStats())
		}
		if len(parts) > 1 {
			if _, err := measure.Merge(len(grades), parts[1:]); err == nil {
				t.Fatal("a part that is missing is no error")
			}
		}
		if _, err := measure.Merge(len(grades), append(parts, parts[0])); err == nil {
			t.Fatal("a part that is there twice is no error")
		}
	})
}

// TestPartKeepsWeights compares the means of weighted queries.
func TestPartKeepsWeights(t *testing.T) {
	var b dataset.Builder
	for _, id := range []string{"a", "b", "c", "d"} {
		if err := b.Add(id, []float64{float64(len(id)), 0}, []float32{1, 2}, nil); err != nil {
			t.Fatal(err)
		}
	}
	d := b.Dataset()
	if err := d.Weigh([]float64{0.3, 1, 0, 2.7}, nil); err != nil {
		t.Fatal(err)
	}
	scores := []float64{1, 2, 2, 1, 1, 2, 2, 1}
	r, err := measure.Evaluate(d, scores, []measure.Measure{measure.For(measure.MustParse("map", measure.LETOR3), d)}, measure.TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(measure.Part{Result: r})
	if err != nil {
		t.Fatal(err)
	}
	p, err := measure.ParsePart(text, r.Measures(), measure.TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Measures()[0]; p.Result.Mean(m) != r.Mean(m) || !reflect.DeepEqual(p.Result.Weights(), r.Weights()) {
		t.Errorf("found the mean %v, expected %v", p.Result.Mean(m), r.Mean(m))
	}
}

// FuzzParsePart feeds parts that may be damaged: none panics, and what is read can be merged or is refused.
func FuzzParsePart(f *testing.F) {
	r, err := measure.EvaluateLists([][]float64{{1, 0}, {0, 2}}, [][]float64{{1, 1}, {0, 1}}, []measure.Measure{measure.MustParse("map", measure.LETOR3)}, measure.TiesInput)
	if err != nil {
		f.Fatal(err)
	}
	text, err := json.Marshal(measure.Part{Result: r})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"first":-1,"queries":["a"]}`))
	f.Fuzz(func(_ *testing.T, text []byte) {
		p, err := measure.ParsePart(text, r.Measures(), measure.TiesInput)
		if err != nil {
			return
		}
		if merged, err := measure.Merge(len(p.Result.Queries()), []measure.Part{p}); err == nil {
			merged.TieStats()
			merged.Mean(r.Measures()[0])
		}
	})
}
