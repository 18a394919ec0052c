package dataset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// openOfficial reads the five parts of a real data set as one.
func openOfficial(t *testing.T, set string) *Dataset {
	t.Helper()
	var parts []*Dataset
	for _, path := range officialParts(t, set) {
		d, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, d)
	}
	d, err := Concat(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Sizes, grades and empty queries as published; duplicates as counted by a
// separate program over the files' text.
func TestDescribeRealData(t *testing.T) {
	for set, want := range map[string]Info{
		"ohsumed": {
			Queries: 106, Documents: 16140, Features: 45, QueriesWithoutRelevant: 1,
			Grades:     Grades{{0, 0, 11303}, {1, 1, 2585}, {2, 2, 2252}},
			Duplicates: Duplicates{Sets: 390, Documents: 2442, ConflictingGrades: 1820, ConflictingRelevance: 1723},
		},
		"mq2008": {
			Queries: 784, Documents: 15211, Features: 46, QueriesWithoutRelevant: 220,
			Grades:     Grades{{0, 0, 12279}, {1, 1, 2001}, {2, 2, 931}},
			Duplicates: Duplicates{Sets: 41, Documents: 92, ConflictingGrades: 4, ConflictingRelevance: 4},
		},
	} {
		info := Describe(openOfficial(t, set), 1)
		got := Info{
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
	for r, want := range map[Reading]CleanReport{
		R0: {Reading: R0, Threshold: 1},
		R1: {Reading: R1, Threshold: 1, Contradictions: 183, Good: 513, Bad: 1210},
		R2: {Reading: R2, Threshold: 1, Contradictions: 183, Bad: 1210},
		R3: {Reading: R3, Threshold: 1},
	} {
		got, report := Clean(d, r, 1)
		if diff := cmp.Diff(want, report); diff != "" {
			t.Errorf("%v (-expected +got):\n%s", r, diff)
		}
		if bad, want := Describe(got, 1).Grades[0].Documents, 11303-want.Bad; bad != want {
			t.Errorf("%v leaves %d bad documents, expected %d", r, bad, want)
		}
	}
	if _, ids := DropEmptyQueries(d, 1); len(ids) != 1 {
		t.Errorf("queries %q have no relevant document, expected one", ids)
	}
}

// The published files hold QueryLevelNorm: normalising again changes no value by
// more than their six decimals allow.
func TestOHSUMEDIsNormalisedPerQuery(t *testing.T) {
	d := openOfficial(t, "ohsumed")
	again := Normalize(d, MinMax)
	for i, v := range again.X() {
		if diff := v - d.X()[i]; diff > 1e-6 || diff < -1e-6 {
			t.Fatalf("value %d: %v became %v", i, d.X()[i], v)
		}
	}
}
