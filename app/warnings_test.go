package app

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

func TestOncePerCause(t *testing.T) {
	sets := []*dataset.Dataset{
		{Warnings: []string{"a.txt: 5 missing values (nan or NULL) were replaced by 0", "a.txt: other"}},
		{},
		{Warnings: []string{"b.txt: 7 missing values (nan or NULL) were replaced by 0"}},
		{Warnings: []string{"c.txt: 70 missing values (nan or NULL) were replaced by 0"}},
	}
	want := []string{"a.txt: 5 missing values (nan or NULL) were replaced by 0 (also in 2 other files)", "a.txt: other"}
	if got := oncePerCause(sets); !slices.Equal(got, want) {
		t.Errorf("warnings are %q, want %q", got, want)
	}
}

// tune says once what is wrong with all of its files.
func TestTuneWarnsOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	var parts []string
	for _, q := range []string{"1", "2", "3"} {
		name := "S" + q + ".txt"
		text := "1 qid:" + q + "1 1:nan 2:1\n0 qid:" + q + "1 1:0 2:0\n1 qid:" + q + "2 1:1 2:NULL\n0 qid:" + q + "2 1:0 2:0\n"
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, name)
	}
	mustCall(t, append([]string{"data", "fold", "--out", "folds", "--parts"}, parts...)...)
	code, _, errs := call("tune", "--method", "regression", "--data", "folds", "--out", "runs", "--missing", "zero", "--no-record")
	if n := strings.Count(errs, "missing values"); code != exitDone || n != 1 || !strings.Contains(errs, "also in 8 other files") {
		t.Errorf("tune exits with %d and says %d times that values are missing:\n%s", code, n, errs)
	}
}
