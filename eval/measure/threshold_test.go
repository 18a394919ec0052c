package measure

import (
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

func set(t *testing.T, text string) *dataset.Dataset {
	t.Helper()
	d, err := datafile.Read(strings.NewReader(text), "f", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Claim: with grades that are fractions every binary measure takes documents of positive
// grade as relevant, under any convention; the same ranking with grades made whole has the
// same value. Measures of graded relevance do not change.
func TestForFractions(t *testing.T) {
	fractions := set(t, "0 qid:1 1:1\n0.07 qid:1 1:1\n0 qid:1 1:1\n0.41 qid:1 1:1\n")
	whole := []float64{0, 1, 0, 1}
	for _, name := range []string{"map", "p@2", "r@3", "mrr", "wta", "auc", "bpref", "rbp"} {
		for _, c := range Conventions() {
			m, err := Parse(name, c, Options{})
			if err != nil {
				t.Fatal(err)
			}
			one, err := Parse(name, c.WithThreshold(1), Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, _ := one.Value(whole)
			if got, _ := For(m, fractions).Value(fractions.Grades()); got != want {
				t.Errorf("%s, %s: %v, with whole grades %v", name, c.Name(), got, want)
			}
			if name == "mrr" && want == 0 {
				t.Errorf("%s: the test measures nothing", c.Name())
			}
		}
	}
	for _, name := range []string{"ndcg@3", "dcg", "err@2", "pairs", "mean-ndcg"} {
		m, err := Parse(name, Convention{}, Options{MaxGrade: 7})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := m.Value(fractions.Grades())
		if got, _ := For(m, fractions).Value(fractions.Grades()); got != want {
			t.Errorf("%s changes from %v to %v", name, want, got)
		}
	}
}

// Claim: whole grades keep the convention's threshold, and one that was chosen stays for
// any data.
func TestForKeeps(t *testing.T) {
	whole, fractions := set(t, "2 qid:1 1:1\n1 qid:1 1:1\n"), set(t, "0.5 qid:1 1:1\n")
	mslr, err := ParseConvention("mslr")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		convention Convention
		data       *dataset.Dataset
		want       float64
	}{
		{Convention{}, whole, 1}, {mslr, whole, 2}, {mslr, fractions, 0.5},
		{mslr.WithThreshold(3), whole, 3}, {Convention{}.WithThreshold(3), fractions, 3},
	} {
		if got := c.convention.For(c.data).Threshold(); got != c.want {
			t.Errorf("%s: threshold is %v, want %v", c.convention.Name(), got, c.want)
		}
	}
	if For(nil, whole) != nil {
		t.Error("no measure became one")
	}
}

// Claim: a measure that is the same for all orders of all queries is reported, with the
// threshold and the highest grade where they are the reason; one query on which it varies
// is enough.
func TestCheckVaries(t *testing.T) {
	low := "0.1 qid:1 1:1\n0.4 qid:1 1:1\n"
	for _, c := range []struct {
		name, text string
		threshold  float64
		want       string
	}{
		{"map", low, 1, "found no query on which map depends on the order of the documents (a document is relevant from grade 1 on, the highest grade is 0.4), expected another threshold"},
		{"map", low, 0.2, ""},
		{"ndcg@1", low, 1, ""},
		{"ndcg", "1 qid:1 1:1\n1 qid:1 1:1\n", 1, "(the highest grade is 1), expected queries with documents of different grades"},
		{"pairs", "1 qid:1 1:1\n1 qid:1 1:1\n", 1, "(the highest grade is 1), expected queries with documents of different grades"},
		{"map", "1 qid:1 1:1\n", 1, "found no query"},
		{"map", "1 qid:1 1:1\n1 qid:2 1:1\n0 qid:2 1:1\n", 1, ""},
	} {
		m, err := Parse(c.name, Convention{}.WithThreshold(c.threshold), Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = CheckVaries(m, set(t, c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s of %q: error is %v, want %q", c.name, c.text, err, c.want)
		}
	}
}
