package papers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/tune"
)

// A folder of sets is searched by name in any case; what is missing is named.
func TestFindSetsInAFolder(t *testing.T) {
	dir := t.TempDir()
	writeFolds(t, filepath.Join(dir, "hp2004"), 9, 1)
	writeFolds(t, filepath.Join(dir, "OHSUMED"), 9, 2)
	writeFolds(t, filepath.Join(dir, "mine"), 9, 3)
	for _, c := range []struct {
		set     string
		found   []string
		missing int
	}{
		{"", []string{"HP2004", "OHSUMED"}, 5},
		{"ohsumed", []string{"OHSUMED"}, 0},
		{"mine,HP2004", []string{"mine", "HP2004"}, 0},
	} {
		found, missing, err := letorSets.find(Options{Data: dir, Set: c.set})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range found {
			names = append(names, s.name)
			if _, known := letorSets.named(s.name); known != (s.name != "mine") {
				t.Errorf("%s: known %v", s.name, known)
			}
		}
		if !slices.Equal(names, c.found) || len(missing) != c.missing {
			t.Errorf("--set %q: found %v, missing %v", c.set, names, missing)
		}
	}
}

// One set's own folder is named by --set, else by the folder.
func TestFindOneSet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "td2003")
	writeFolds(t, dir, 9, 1)
	for set, want := range map[string]string{"": "TD2003", "np2004": "NP2004", "mine": "mine"} {
		found, _, err := letorSets.find(Options{Data: dir, Set: set})
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 1 || found[0].name != want {
			t.Errorf("--set %q: found %+v", set, found)
		}
	}
	for _, set := range []string{"a,b", "../a", "a/b", ".."} {
		var input *InputError
		if _, _, err := letorSets.find(Options{Data: dir, Set: set}); !errors.As(err, &input) {
			t.Errorf("--set %q: %v, expected an input error", set, err)
		}
	}
}

// OHSUMED is recognised by its size, not by the name of its folder.
func TestRecogniseOHSUMED(t *testing.T) {
	found, missing, err := letorSets.find(Options{Data: realOHSUMED(t)})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].name != "OHSUMED" || len(missing) != 6 {
		t.Errorf("found %v, missing %v", found, missing)
	}
}

// What is not there is the caller's mistake, and the error says what to give.
func TestNoSetIsAnInputError(t *testing.T) {
	empty := t.TempDir()
	half := t.TempDir()
	if err := os.MkdirAll(filepath.Join(half, "OHSUMED", "Fold1"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "no data"},
		{Options{Data: empty}, "found none of the folders TD2003"},
		{Options{Data: filepath.Join(empty, "absent")}, "no such file"},
		{Options{Data: half, Set: "HP2004"}, "found no folder HP2004"},
		{Options{Data: half}, "found no train.txt"},
	} {
		_, err := figure3().run(context.Background(), c.o)
		var input *InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected an input error with %q", c.o, err, c.want)
		}
	}
}

// Cleaning drops the bad copies of good documents and queries without a good document, in all
// parts, makes grades binary and leaves the given data alone.
func TestCleanedReading(t *testing.T) {
	var b dataset.Builder
	x := []float32{1, 2, 1, 2, 3, 4, 3, 4, 5, 6}
	if err := b.Add("q", []float64{2, 0, 1, 1, 0}, x, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.Add("none", []float64{0, 0}, x[:4], nil); err != nil {
		t.Fatal(err)
	}
	d := b.Dataset()
	taken, removed, err := cleaned.apply([]tune.Fold{{Name: "Fold1", Train: d, Valid: d, Test: d}})
	if err != nil || removed != 3 { // a copy, and the two documents of the query without a good one
		t.Errorf("%d documents removed, expected 3; error %v", removed, err)
	}
	for _, part := range []*dataset.Dataset{taken[0].Train, taken[0].Valid, taken[0].Test} {
		if len(part.Queries) != 1 || !slices.Equal(part.Queries[0].Grades, []float64{1, 1, 1, 0}) {
			t.Errorf("%d queries, grades %v", len(part.Queries), part.Queries[0].Grades)
		}
	}
	if !slices.Equal(d.Queries[0].Grades, []float64{2, 0, 1, 1, 0}) {
		t.Errorf("the given grades became %v", d.Queries[0].Grades)
	}
	none := d.Subset([]int{1})
	var input *InputError
	if _, _, err := cleaned.apply([]tune.Fold{{Name: "Fold2", Train: d, Valid: d, Test: none}}); !errors.As(err, &input) || !strings.Contains(err.Error(), "Fold2: found no relevant document") {
		t.Errorf("nothing is left of the test data: error %v", err)
	}
	if same, removed, err := asPublished.apply([]tune.Fold{{Test: d}}); same[0].Test != d || removed != 0 || err != nil {
		t.Error("the published data changed")
	}
}
