package table_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

// Claim: columns that are called 1, 2, … are the features of these numbers, in whatever order
// they stand, in tables and in JSON lines.
func TestNumbersAreFeatures(t *testing.T) {
	for name, text := range map[string]string{
		"a.csv":   "query,grade,1,2,3\nq,1,10,20,30\nq,0,11,21,31\n",
		"b.csv":   "query,3,grade,1,2\nq,30,1,10,20\nq,31,0,11,21\n",
		"c.jsonl": "{\"query\":\"q\",\"3\":30,\"grade\":1,\"2\":20,\"1\":10}\n{\"query\":\"q\",\"grade\":0,\"1\":11,\"2\":21,\"3\":31}\n",
	} {
		d, err := datafile.Read(strings.NewReader(text), name, dataset.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := []float32{10, 20, 30, 11, 21, 31}; !slices.Equal(d.X(), want) || d.FeatureNames != nil {
			t.Errorf("%s: features %v named %q, want %v without names", name, d.X(), d.FeatureNames, want)
		}
	}
	// Numbers with a gap are names, and no positions for what has none.
	d, err := datafile.Read(strings.NewReader("query,grade,3,1\nq,1,30,10\n"), "d.csv", dataset.Options{})
	if err != nil || !slices.Equal(d.FeatureNames, []string{"3", "1"}) {
		t.Fatalf("names %q, %v, want 3 and 1", d.FeatureNames, err)
	}
	if _, err := dataset.MatchNames(nil, d.FeatureNames, false); err == nil {
		t.Error("features 3 and 1 were taken by position")
	}
}
