package dataset_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// describePlainly recomputes what can be said pair by pair and value by value.
func describePlainly(d *dataset.Dataset, threshold float64) (duplicates dataset.Duplicates, without int) {
	for i := range d.Queries {
		q := &d.Queries[i]
		relevant := false
		for a := range q.Len() {
			relevant = relevant || q.Grades[a] >= threshold
			copies, grades, relevance, first, repeated := 0, false, false, true, false
			for b := range q.Len() {
				if b < a && q.DocID(b) != "" && q.DocID(b) == q.DocID(a) {
					repeated = true
				}
				if b == a || !slices.Equal(q.Row(a), q.Row(b)) {
					continue
				}
				copies++
				first = first && a < b
			}
			for b := range q.Len() {
				for c := range q.Len() {
					if slices.Equal(q.Row(a), q.Row(b)) && slices.Equal(q.Row(a), q.Row(c)) {
						grades = grades || q.Grades[b] != q.Grades[c]
						relevance = relevance || (q.Grades[b] >= threshold) != (q.Grades[c] >= threshold)
					}
				}
			}
			duplicates.RepeatedIDs += count(repeated)
			duplicates.Sets += count(copies > 0 && first)
			duplicates.Documents += count(copies > 0)
			duplicates.ConflictingGrades += count(grades)
			duplicates.ConflictingRelevance += count(relevance)
		}
		without += count(!relevant)
	}
	return duplicates, without
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func constantPlainly(d *dataset.Dataset) (whole, within []int) {
	whole, within = []int{}, []int{}
	for j := range d.Features {
		all := map[float32]bool{}
		varies := false
		for i := range d.Queries {
			one := map[float32]bool{}
			for k := range d.Queries[i].Len() {
				v := d.Queries[i].Row(k)[j]
				all[v], one[v] = true, true
			}
			varies = varies || len(one) > 1
		}
		if len(all) == 1 {
			whole = append(whole, j+1)
		}
		if !varies {
			within = append(within, j+1)
		}
	}
	return whole, within
}

func TestDescribeAgreesWithPlainRecount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		threshold := rapid.SampledFrom([]float64{1, 2}).Draw(t, "threshold")
		info := dataset.Describe(d, threshold)
		duplicates, without := describePlainly(d, threshold)
		whole, within := constantPlainly(d)
		if diff := cmp.Diff(duplicates, info.Duplicates); diff != "" {
			t.Fatalf("duplicates (-expected +got):\n%s", diff)
		}
		if diff := cmp.Diff([][]int{whole, within}, [][]int{info.ConstantFeatures, info.ConstantWithinQueries}); diff != "" {
			t.Fatalf("constant features (-expected +got):\n%s", diff)
		}
		if info.QueriesWithoutRelevant != without {
			t.Fatalf("%d queries without relevant documents, expected %d", info.QueriesWithoutRelevant, without)
		}
		docs, queries := 0, 0
		for i, g := range info.Grades {
			docs += g.Documents
			if i > 0 && info.Grades[i-1].To >= g.To {
				t.Fatal("grades out of order")
			}
		}
		for _, b := range info.DocumentsPerQuery.Histogram {
			queries += b.Queries
			for i := range d.Queries {
				if n := d.Queries[i].Len(); b.From <= n && n <= b.To {
					b.Queries--
				}
			}
			if b.Queries != 0 {
				t.Fatalf("bucket %d to %d is off by %d", b.From, b.To, b.Queries)
			}
		}
		if docs != d.Docs() || queries != len(d.Queries) {
			t.Fatalf("histograms hold %d documents and %d queries of %d and %d", docs, queries, d.Docs(), len(d.Queries))
		}
	})
}

func TestSpread(t *testing.T) {
	var b dataset.Builder
	for i, n := range []int{7, 1, 120, 3} {
		b.Add(strconv.Itoa(i), make([]float64, n), make([]float32, n), nil)
	}
	want := dataset.Spread{Min: 1, Median: 5, Mean: 32.75, Max: 120, Histogram: []dataset.Bucket{
		{1, 1, 1}, {2, 2, 0}, {3, 5, 1}, {6, 10, 1}, {11, 20, 0}, {21, 50, 0}, {51, 100, 0}, {101, 200, 1},
	}}
	if diff := cmp.Diff(want, dataset.Describe(b.Dataset(), 1).DocumentsPerQuery); diff != "" {
		t.Errorf("(-expected +got):\n%s", diff)
	}
}

func TestInfoJSON(t *testing.T) {
	var b dataset.Builder
	b.Add("a", []float64{10, 0, 2, 0.5, 0}, []float32{1, 1, 2, 2, 3}, []string{"x", "y", "z", "x", "w"})
	b.Add("b", []float64{0}, []float32{4}, []string{"x"})
	text, err := json.Marshal(dataset.Describe(b.Dataset(), 1))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"queries":2,"documents":6,"features":1,"grades":{"0":3,"0.5":1,"2":1,"10":1},"distinct_grades":4,` +
		`"threshold":1,"queries_without_relevant":1,"queries_without_pair":1,` +
		`"documents_per_query":{"min":1,"median":3,"mean":3,"max":5,"histogram":[{"from":1,"to":1,"queries":1},{"from":2,"to":2,"queries":0},{"from":3,"to":5,"queries":1}]},` +
		`"constant_features":[],"constant_within_queries":[],` +
		`"duplicates":{"sets":2,"documents":4,"conflicting_grades":4,"conflicting_relevance":4,"repeated_ids":1},` +
		`"warnings":["1 of 2 queries have no relevant document (grade 1 or higher); most conventions count them as 0",` +
		`"4 documents have duplicates with the same features, some of them relevant and others not","1 documents repeat an earlier document id of their query"]}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("(-expected +got):\n%s", diff)
	}
}

func TestDescribeNothing(t *testing.T) {
	info := dataset.Describe(&dataset.Dataset{Features: 3}, 1)
	if len(info.Warnings) != 1 || info.Warnings[0] != "there are no queries" {
		t.Errorf("warnings %q", info.Warnings)
	}
	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Grades map[string]int `json:"grades"`
	}
	if err := json.Unmarshal(text, &back); err != nil || back.Grades == nil {
		t.Errorf("%s: %v", text, err)
	}
}

// Claim: a long list of grades is put into bins that hold every document once, 0 apart,
// the highest grade in the last.
func TestGradesInBins(t *testing.T) {
	var grades []float64
	for i := range 1000 {
		grades = append(grades, float64(i%500)/1000) // 0 to 0.499
	}
	var b dataset.Builder
	if err := b.Add("q", grades, make([]float32, len(grades)), nil); err != nil {
		t.Fatal(err)
	}
	d := b.Dataset()
	info := dataset.Describe(d, dataset.Threshold(1, d.Grades()))
	if info.DistinctGrades != 500 || len(info.Grades) != 21 || info.Grades[0] != (dataset.GradeCount{0, 0, 2}) {
		t.Fatalf("%d different grades in %v", info.DistinctGrades, info.Grades)
	}
	for i, bin := range info.Grades[1:] {
		n := 0
		for _, g := range grades {
			if g > bin.From && g <= bin.To {
				n++
			}
		}
		if n != bin.Documents || bin.From != info.Grades[i].To {
			t.Errorf("bin %v holds %d documents, the plain count is %d", bin, bin.Documents, n)
		}
	}
	if last := info.Grades[20]; last.To != 0.499 {
		t.Errorf("the last bin is %v", last)
	}
}

// Claim: "nothing can be learned" is said where no order is better than another, and
// not because no grade reaches the threshold.
func TestNothingCanBeLearned(t *testing.T) {
	for _, c := range []struct {
		grades []float64
		want   string
	}{
		{[]float64{0.2, 0.4}, "no grade reaches the relevance threshold 1, the highest is 0.4"},
		{[]float64{1, 1}, "in every query all documents have the same grade: nothing can be learned"},
		{[]float64{0.4, 0.4}, "in every query all documents have the same grade: nothing can be learned"},
	} {
		var b dataset.Builder
		if err := b.Add("q", c.grades, []float32{1, 2}, nil); err != nil {
			t.Fatal(err)
		}
		if w := dataset.Describe(b.Dataset(), 1).Warnings; len(w) == 0 || !strings.HasPrefix(w[0], c.want) {
			t.Errorf("%v: warnings are %q, want %q", c.grades, w, c.want)
		}
	}
}
