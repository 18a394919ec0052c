package dataset_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// dropped reports, by the policies' definitions and pair by pair, whether document i of q
// is removed.
func dropped(q *dataset.Query, i int, r dataset.ConflictPolicy, threshold float64) bool {
	for j := range q.Len() {
		if (q.Grades[i] >= threshold) == (q.Grades[j] >= threshold) {
			continue
		}
		sameVector := slices.Equal(q.Row(i), q.Row(j))
		sameID := q.DocID(i) != "" && q.DocID(i) == q.DocID(j)
		bad := q.Grades[i] < threshold
		if r == dataset.DropAll && sameVector || r == dataset.DropBad && sameVector && bad || r == dataset.DropBadByID && sameID && bad {
			return true
		}
	}
	return false
}

func TestCleanFollowsTheDefinitionPairByPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		r := rapid.SampledFrom(dataset.ConflictPolicies()).Draw(t, "reading")
		threshold := rapid.SampledFrom([]float64{1, 2}).Draw(t, "threshold")
		got, report := dataset.Clean(d, r, threshold)
		good, bad := 0, 0
		want := d.KeepDocs(func(query, doc int) bool {
			q := &d.Queries[query]
			gone := dropped(q, doc, r, threshold)
			if gone && q.Grades[doc] >= threshold {
				good++
			} else if gone {
				bad++
			}
			return !gone
		})
		if !slices.Equal(datatest.Documents(got), datatest.Documents(want)) {
			t.Fatalf("kept %v\nexpected %v", datatest.Documents(got), datatest.Documents(want))
		}
		if report.Good != good || report.Bad != bad || report.Queries != len(d.Queries)-len(want.Queries) {
			t.Fatalf("report %+v, expected %d good and %d bad", report, good, bad)
		}
		if (report.Contradictions > 0) != (good+bad > 0) {
			t.Fatalf("%d contradictions, %d documents dropped", report.Contradictions, good+bad)
		}
		if r != dataset.DropAll && report.Good > 0 {
			t.Fatal("a relevant document was dropped")
		}
		if _, again := dataset.Clean(got, r, threshold); again.Good+again.Bad+again.Contradictions > 0 {
			t.Fatalf("cleaning twice drops more: %+v", again)
		}
	})
}

func TestDropEmptyQueries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		got, ids := dataset.DropEmptyQueries(d, 2)
		if len(ids)+len(got.Queries) != len(d.Queries) {
			t.Fatalf("%d dropped, %d kept of %d", len(ids), len(got.Queries), len(d.Queries))
		}
		for i := range got.Queries {
			if slices.Max(got.Queries[i].Grades) < 2 {
				t.Fatal("a query without relevant document stayed")
			}
		}
		for i := range d.Queries {
			if q := &d.Queries[i]; slices.Contains(ids, q.ID) && slices.Max(q.Grades) >= 2 {
				t.Fatal("a query with a relevant document was dropped")
			}
		}
	})
}

func TestCopiesAreEqualAsNumbers(t *testing.T) {
	var b dataset.Builder
	minus := math.Float32frombits(1 << 31)
	b.Add("q", []float64{1, 0, 0}, []float32{0, minus, 1}, nil)
	if _, report := dataset.Clean(b.Dataset(), dataset.DropBad, 1); report.Bad != 1 {
		t.Errorf("0 and −0: %+v, expected one bad copy", report)
	}
}

func TestReadingNames(t *testing.T) {
	for _, r := range dataset.ConflictPolicies() {
		got, err := dataset.ParseConflictPolicy(r.String())
		if err != nil || got != r || r.About() == "" {
			t.Errorf("%v read as %v, %v", r, got, err)
		}
	}
	if r, err := dataset.ParseConflictPolicy("r2"); err != nil || r != dataset.DropBad {
		t.Errorf("r2 read as %v, %v", r, err)
	}
	if _, err := dataset.ParseConflictPolicy("R4"); err == nil {
		t.Error("R4 was accepted")
	}
	text, err := json.Marshal(dataset.CleanReport{Policy: dataset.DropBadByID, Threshold: 1})
	want := `{"reading":"R3","threshold":1,"contradictions":0,"good_removed":0,"bad_removed":0,"queries_removed":0}`
	if err != nil || string(text) != want {
		t.Errorf("JSON %s, %v\nexpected %s", text, err, want)
	}
}
