package trec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
)

func mustQrels(t *testing.T, text string) *dataset.Dataset {
	t.Helper()
	d, err := readQrels(text, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustRun(t *testing.T, text string) *Run {
	t.Helper()
	r, err := readRun(text, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Claim: a pool has every judged or retrieved document of a judged query once, by descending
// identifier, with its grade or none; scores go to their documents, and what finds no place
// is counted.
func TestPool(t *testing.T) {
	judged := mustQrels(t, "1 0 a 2\n1 0 c 0\n2 0 a 1\n3 0 z 1\n")
	first := mustRun(t, "1 Q0 b 1 3 t\n1 Q0 a 2 2 t\n2 Q0 q 1 1 t\n9 Q0 a 1 1 t\n")
	second := mustRun(t, "2 Q0 a 1 -5 u\n1 Q0 b 1 0 u\n")
	d, err := Pool(judged, first, nil, second)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 c 0", "1 b -0", "1 a 2", "2 q -0", "2 a 1", "3 z 1"}, told(d)); diff != "" {
		t.Error(diff)
	}
	no := dataset.NotRetrieved
	for _, c := range []struct {
		run    *Run
		scores []float64
		missed Missed
	}{
		{first, []float64{no, 3, 2, 1, no, no}, Missed{Queries: 1, Empty: 1}},
		{second, []float64{no, 0, no, no, -5, no}, Missed{Empty: 1}},
	} {
		joined, err := c.run.Join(d)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.scores, joined.Scores); diff != "" || joined.Missed != c.missed {
			t.Errorf("%s %+v", diff, joined.Missed)
		}
	}
	if joined, err := first.Join(judged); err != nil || joined.Missed != (Missed{Queries: 1, Documents: 2, Empty: 2}) {
		t.Errorf("without the pool: %+v, %v", joined, err)
	}
}

// Claim: data whose documents cannot be told by identifier, and runs of other queries or
// documents, are refused with an example of what was found.
func TestJoinErrors(t *testing.T) {
	data := func(docs []string) *dataset.Dataset {
		var b dataset.Builder
		if err := b.Add("1", make([]float64, 2), make([]float32, 2), docs); err != nil {
			t.Fatal(err)
		}
		return b.Dataset()
	}
	run := mustRun(t, "1 Q0 x 1 3 t\n")
	for want, d := range map[string]*dataset.Dataset{
		"document 1 of query 1 of the data without an identifier":                                                       data(nil),
		"document 2 of query 1 of the data without an identifier":                                                       data([]string{"a", ""}),
		`document "a" of query 1 of the data twice`:                                                                     data([]string{"a", "a"}),
		`found no document of the data among the run's, such as "x", expected the same ids as in the data, such as "b"`: data([]string{"b", "a"}),
		`found no query of the data among the run's 1, such as "1", expected the same ids as in the data, such as "2"`:  mustQrels(t, "2 0 x 1\n"),
	} {
		if _, err := run.Join(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Pool(data(nil), run); err == nil {
		t.Error("a pool of documents without identifiers")
	}
}

// Claim: what would be read as several fields, or as none, is not written.
func TestCheckField(t *testing.T) {
	for text, ok := range map[string]bool{"a": true, "é#:": true, "": false, "a b": false, "a\tb": false, "a\n": false, "\x00": false, "\x7f": false} {
		if err := CheckField("the tag", text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
