package tune

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

// put writes a part of one query with as many features as given, in the format
// that the name asks for.
func put(t *testing.T, id string, features int, path ...string) {
	t.Helper()
	var b dataset.Builder
	x := make([]float32, 2*features)
	x[0], x[features-1] = 1, 2
	if err := b.Add(id, []float64{1, 0}, x, nil); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := datafile.Write(name, b.Dataset(), datafile.TextOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Parts may be text, compressed or caches, vali is also called valid or
// validation, and all sets get as many features as the widest.
func TestReadFolds(t *testing.T) {
	dir := t.TempDir()
	put(t, "a", 2, dir, "Fold1", "train.txt")
	put(t, "b", 3, dir, "Fold1", "vali.txt.gz")
	put(t, "c", 2, dir, "Fold1", "test.lwd")
	put(t, "b", 3, dir, "Fold2", "train.lwd")
	put(t, "c", 5, dir, "Fold2", "valid.txt.zst")
	put(t, "a", 2, dir, "Fold2", "test.txt.gz")
	put(t, "c", 1, dir, "elsewhere", "train.txt")
	put(t, "a", 2, dir, "elsewhere", "validation.txt")
	put(t, "b", 3, dir, "elsewhere", "test.txt")
	put(t, "x", 9, dir, "Foldout", "train.txt") // none of the folds
	put(t, "x", 9, dir, "Fold04", "train.txt")
	if err := os.Symlink("elsewhere", filepath.Join(dir, "Fold3")); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFolds(dir, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := [][4]string{{"Fold1", "a", "b", "c"}, {"Fold2", "b", "c", "a"}, {"Fold3", "c", "a", "b"}}
	if len(got) != len(want) {
		t.Fatalf("%d folds, want %d", len(got), len(want))
	}
	for i, w := range want {
		f := got[i]
		for j, d := range []*dataset.Dataset{f.Train, f.Valid, f.Test} {
			if f.Name != w[0] || d.Queries[0].ID != w[j+1] || d.Features != 5 || len(d.X()) != 10 {
				t.Errorf("%s, part %d: query %s of %d features, want %s of 5", f.Name, j, d.Queries[0].ID, d.Features, w[j+1])
			}
		}
	}
	if row := got[1].Train.Queries[0].Row(0); row[0] != 1 || row[2] != 2 || row[3] != 0 || row[4] != 0 {
		t.Errorf("the widened row is %v, want [1 0 2 0 0]", row)
	}
}

func TestReadFoldsErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"empty", nil, "DIR: found no folder Fold1; expected Fold1, Fold2, … each with train.txt, vali.txt and test.txt"},
		{"no fold", []string{"train.txt"}, "DIR: found no folder Fold1; expected"},
		{"a gap", []string{"Fold1/train.txt", "Fold3/train.txt"}, "DIR: found Fold3 but no Fold2; expected"},
		{"from 0", []string{"Fold0/train.txt", "Fold1/train.txt"}, "DIR: found Fold0 but no Fold1; expected"},
		{"no vali", []string{"Fold1/train.txt", "Fold1/test.txt"}, "DIR/Fold1: found no vali.txt; expected"},
		{"no test", []string{"Fold1/train.txt", "Fold1/vali.txt"}, "DIR/Fold1: found no test.txt; expected"},
	} {
		dir := t.TempDir()
		for _, f := range c.files {
			put(t, "q", 1, dir, f)
		}
		_, err := ReadFolds(dir, dataset.Options{})
		var layout *LayoutError
		if want := strings.ReplaceAll(c.want, "DIR", dir); err == nil || !strings.HasPrefix(err.Error(), want) || !errors.As(err, &layout) {
			t.Errorf("%s: error is %v, want a *LayoutError %s", c.name, err, want)
		}
	}
	if _, err := ReadFolds(filepath.Join(t.TempDir(), "none"), dataset.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// Of several wrong files the first is reported, by file and line.
func TestReadFoldsWithMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"train", "vali", "test"} {
		put(t, "q", 1, dir, "Fold1", f+".txt")
	}
	for _, f := range []string{"vali", "test"} {
		if err := os.WriteFile(filepath.Join(dir, "Fold1", f+".txt"), []byte("1 qid:1 1:0\nx\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, err := ReadFolds(dir, dataset.Options{})
	if want := filepath.Join(dir, "Fold1", "vali.txt") + ":2: found"; err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// A folder that holds the parts itself is one fold, whose test may be missing; folders
// of folds beside them come first.
func TestReadFlatFolds(t *testing.T) {
	dir := t.TempDir()
	put(t, "a", 2, dir, "train.txt")
	put(t, "b", 3, dir, "valid.lwd")
	got, err := ReadFolds(dir, dataset.Options{})
	if err != nil || len(got) != 1 || got[0].Name != "Fold1" || got[0].Tested() || got[0].Train.Features != 3 || got[0].Test.Queries[0].ID != "b" {
		t.Fatalf("without test: %+v, %v", got, err)
	}
	if _, err := ReadTests(dir, dataset.Options{}); err == nil {
		t.Error("tests are read where there are none")
	}
	put(t, "c", 5, dir, "test.txt.gz")
	got, err = ReadFolds(dir, dataset.Options{})
	if err != nil || len(got) != 1 || !got[0].Tested() || got[0].Valid.Features != 5 || got[0].Test.Queries[0].ID != "c" {
		t.Fatalf("with test: %+v, %v", got, err)
	}
	tests, err := ReadTests(dir, dataset.Options{})
	if err != nil || len(tests) != 1 || tests[0].Name != "Fold1" || tests[0].Test.Queries[0].ID != "c" {
		t.Fatalf("tests: %+v, %v", tests, err)
	}
	for i, part := range []string{"train.txt", "vali.txt", "test.txt"} {
		put(t, string(rune('x'+i)), 1, dir, "Fold1", part)
	}
	if got, err = ReadFolds(dir, dataset.Options{}); err != nil || got[0].Train.Queries[0].ID != "x" {
		t.Errorf("Fold1 beside: %+v, %v", got, err)
	}
	if tests, err = ReadTests(dir, dataset.Options{}); err != nil || tests[0].Test.Queries[0].ID != "z" {
		t.Errorf("Fold1 beside: %+v, %v", tests, err)
	}
}
