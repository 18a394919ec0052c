package dataset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/datatest"
)

// openOfficial reads the five parts of a real data set as one.
func openOfficial(t *testing.T, set string) *dataset.Dataset {
	t.Helper()
	var parts []*dataset.Dataset
	for _, path := range datatest.OfficialParts(t, set) {
		d, err := datafile.Open(path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, d)
	}
	d, err := dataset.Concat(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Sizes, grades and empty queries as published; duplicates as counted by a
// separate program over the files' text.
func TestDescribeRealData(t *testing.T) {
	for set, want := range map[string]dataset.Info{
		"ohsumed": {
			Queries: 106, Documents: 16140, Features: 45, QueriesWithoutRelevant: 1,
			Grades:     dataset.Grades{{0, 0, 11303}, {1, 1, 2585}, {2, 2, 2252}},
			Duplicates: dataset.Duplicates{Sets: 390, Documents: 2442, ConflictingGrades: 1820, ConflictingRelevance: 1723},
		},
		"mq2008": {
			Queries: 784, Documents: 15211, Features: 46, QueriesWithoutRelevant: 220,
			Grades:     dataset.Grades{{0, 0, 12279}, {1, 1, 2001}, {2, 2, 931}},
			Duplicates: dataset.Duplicates{Sets: 41, Documents: 92, ConflictingGrades: 4, ConflictingRelevance: 4},
		},
	} {
		info := dataset.Describe(openOfficial(t, set), 1)
		got := dataset.Info{
			Queries: info.Queries, Documents: info.Documents, Features: info.Features, QueriesWithoutRelevant: info.QueriesWithoutRelevant,
			Grades: info.Grades, Duplicates: info.Duplicates,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-expected +got):\n%s", set, diff)
		}
	}
}

// R2 drops 1,210 of OHSUMED's 11,303 bad documents; R1 drops the 513 good copies
// as well; no document id is repeated, so R3 drops nothing.
func TestCleanOHSUMED(t *testing.T) {
	d := openOfficial(t, "ohsumed")
	for r, want := range map[dataset.ConflictPolicy]dataset.CleanReport{
		dataset.KeepAll:     {Policy: dataset.KeepAll, Threshold: 1},
		dataset.DropAll:     {Policy: dataset.DropAll, Threshold: 1, Contradictions: 183, Good: 513, Bad: 1210},
		dataset.DropBad:     {Policy: dataset.DropBad, Threshold: 1, Contradictions: 183, Bad: 1210},
		dataset.DropBadByID: {Policy: dataset.DropBadByID, Threshold: 1},
	} {
		got, report := dataset.Clean(d, r, 1)
		if diff := cmp.Diff(want, report); diff != "" {
			t.Errorf("%v (-expected +got):\n%s", r, diff)
		}
		if bad, want := dataset.Describe(got, 1).Grades[0].Documents, 11303-want.Bad; bad != want {
			t.Errorf("%v leaves %d bad documents, expected %d", r, bad, want)
		}
	}
	if _, ids := dataset.DropEmptyQueries(d, 1); len(ids) != 1 {
		t.Errorf("queries %q have no relevant document, expected one", ids)
	}
}

// The published files hold QueryLevelNorm: normalising again changes no value by
// more than their six decimals allow.
func TestOHSUMEDIsNormalisedPerQuery(t *testing.T) {
	d := openOfficial(t, "ohsumed")
	again := dataset.Normalize(d, dataset.MinMax)
	for i, v := range again.X() {
		if diff := v - d.X()[i]; diff > 1e-6 || diff < -1e-6 {
			t.Fatalf("value %d: %v became %v", i, d.X()[i], v)
		}
	}
}
