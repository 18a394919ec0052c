package trec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
)

// featured is a data set of two queries with documents a, b and a, c, all of grade 9.
func featured(t *testing.T) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	if err := b.Add("1", []float64{9, 9}, []float32{1, 2}, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Add("2", []float64{9, 9}, []float32{3, 4}, []string{"a", "c"}); err != nil {
		t.Fatal(err)
	}
	return b.Dataset()
}

// Claim: documents get the grades of their judgements by query and document; those without
// become irrelevant, are left out with their features or stay unjudged, as asked; all is counted.
func TestGrade(t *testing.T) {
	judged := mustQrels(t, "1 0 b 2\n1 0 z 1\n3 0 a 1\n1 0 a 0\n")
	for _, c := range []struct {
		unjudged Unjudged
		want     []string
		features []float32
	}{
		{UnjudgedZero, []string{"1 a 0", "1 b 2", "2 a 0", "2 c 0"}, []float32{1, 2, 3, 4}},
		{UnjudgedDrop, []string{"1 a 0", "1 b 2"}, []float32{1, 2}},
		{UnjudgedKeep, []string{"1 a 0", "1 b 2", "2 a -0", "2 c -0"}, []float32{1, 2, 3, 4}},
	} {
		d, n, err := Grade(featured(t), judged, c.unjudged)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, told(d)) + cmp.Diff(c.features, d.X()); diff != "" {
			t.Errorf("%s: %s", c.unjudged, diff)
		}
		if n != (Graded{Judged: 2, Unjudged: 2, Absent: 2, Queries: 1}) || d.AllJudged() == (c.unjudged == UnjudgedKeep) {
			t.Errorf("%s: %+v", c.unjudged, n)
		}
	}
	if _, _, err := Grade(featured(t), judged, UnjudgedError); err == nil || !strings.Contains(err.Error(), `found document "a" of query "2" without a judgement, expected one for every document of the data, or --unjudged zero`) {
		t.Error(err)
	}
	if _, _, err := Grade(featured(t), mustQrels(t, "7 0 q 1\n"), UnjudgedZero); err == nil || !strings.Contains(err.Error(), `found no judged document among the data's, such as "a" of query "1", expected the ids of the judgements, such as "q" of query "7"`) {
		t.Error(err)
	}
	for _, name := range []string{"error", "zero", "drop", "keep"} {
		if u, err := ParseUnjudged(name); err != nil || u.String() != name {
			t.Errorf("%s: %v, %v", name, u, err)
		}
	}
	if _, err := ParseUnjudged("none"); err == nil || !strings.Contains(err.Error(), "expected error, zero, drop or keep") {
		t.Error(err)
	}
}

// Claim: weights of the judgements replace the data's; an unjudged document has the weight 1.
func TestGradeWeights(t *testing.T) {
	judged := mustQrels(t, "1 0 b 2\n1 0 z 1\n3 0 a 1\n1 0 a 0\n")
	if err := judged.Weigh(nil, []float64{.5, 7, .25, 7}); err != nil {
		t.Fatal(err)
	}
	of := map[string]float64{}
	for i := range judged.Queries {
		for j, w := range judged.Queries[i].Weights() {
			of[judged.Queries[i].ID+judged.Queries[i].DocID(j)] = w
		}
	}
	for unjudged, want := range map[Unjudged][]float64{UnjudgedZero: {of["1a"], of["1b"], 1, 1}, UnjudgedDrop: {of["1a"], of["1b"]}} {
		data := featured(t)
		if err := data.Weigh([]float64{2, 3}, []float64{4, 4, 4, 5}); err != nil {
			t.Fatal(err)
		}
		d, _, err := Grade(data, judged, unjudged)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, d.Weights()); diff != "" {
			t.Errorf("%s: %s", unjudged, diff)
		}
		if w := d.Queries[0].Weight(); w != 2 {
			t.Errorf("%s: the query has the weight %v, expected 2", unjudged, w)
		}
	}
}
