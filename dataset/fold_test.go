package dataset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
)

// Every query is tested once, validated once and trained on K−2 times; within a
// fold it stands in one part; part sizes differ by at most one.
func TestFoldsPartitionTheQueries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(3, 8).Draw(t, "k")
		n := rapid.IntRange(k, 40).Draw(t, "n")
		d := &dataset.Dataset{Queries: make([]dataset.Query, n)}
		folds, err := dataset.Folds(d, k, random.Stream(rapid.Uint64().Draw(t, "seed"), "fold", ""))
		if err != nil || len(folds) != k {
			t.Fatalf("%d folds, %v", len(folds), err)
		}
		tested, validated, trained := make([]int, n), make([]int, n), make([]int, n)
		for f, fold := range folds {
			all := slices.Concat(fold.Train, fold.Vali, fold.Test)
			slices.Sort(all)
			if !slices.Equal(all, indices(n)) {
				t.Fatalf("fold %d does not hold every query once: %v", f+1, all)
			}
			if s := len(fold.Test); s < n/k || s > (n+k-1)/k {
				t.Fatalf("test part of %d of %d queries in %d folds", s, n, k)
			}
			for _, q := range fold.Train {
				trained[q]++
			}
			for _, q := range fold.Vali {
				validated[q]++
			}
			for _, q := range fold.Test {
				tested[q]++
			}
		}
		for q := range n {
			if tested[q] != 1 || validated[q] != 1 || trained[q] != k-2 {
				t.Fatalf("query %d: tested %d, validated %d, trained on %d times", q, tested[q], validated[q], trained[q])
			}
		}
	})
}

// LETOR: fold k trains on parts k, k+1, k+2, validates on k+3, tests on k+4.
func TestRotateIsLETORs(t *testing.T) {
	got := dataset.Rotate([][]int{{1}, {2}, {3}, {4}, {5}})
	want := []dataset.Fold{
		{Train: []int{1, 2, 3}, Vali: []int{4}, Test: []int{5}},
		{Train: []int{2, 3, 4}, Vali: []int{5}, Test: []int{1}},
		{Train: []int{3, 4, 5}, Vali: []int{1}, Test: []int{2}},
		{Train: []int{4, 5, 1}, Vali: []int{2}, Test: []int{3}},
		{Train: []int{5, 1, 2}, Vali: []int{3}, Test: []int{4}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-expected +got):\n%s", diff)
	}
}

func TestFoldsDependOnTheSeedAlone(t *testing.T) {
	d := &dataset.Dataset{Queries: make([]dataset.Query, 30)}
	folds := func(seed uint64) string {
		f, err := dataset.Folds(d, 5, random.Stream(seed, "fold", ""))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(f)
	}
	once, again := folds(1), folds(1)
	if once != again {
		t.Error("the same seed gave different folds")
	}
	if once == folds(2) {
		t.Error("different seeds gave the same folds")
	}
}

func TestFoldsRefuseTooFewOrTooMany(t *testing.T) {
	d := &dataset.Dataset{Queries: make([]dataset.Query, 4)}
	for k, want := range map[int]string{2: "expected 3 or more", 5: "5 parts of 4 queries", -1: "expected 3 or more"} {
		if _, err := dataset.Folds(d, k, random.Stream(1, "fold", "")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d folds: error %v, expected %q", k, err, want)
		}
	}
}

// Of any division every query is tested in one fold, and in each fold it is trained,
// validated or tested on; validation and training data have the division's number of parts.
func TestDivisionTestsEveryQueryOnce(t *testing.T) {
	for _, division := range []dataset.Division{{2, 2, 1}, {1, 1, 1}, {3, 1, 2}, {1, 2, 3}, {4, 4, 2}} {
		d := &dataset.Dataset{Queries: make([]dataset.Query, 2*division.Parts())}
		folds, err := division.Divide(d, random.Stream(1, "fold", ""))
		if err != nil || len(folds)*division.Test != division.Parts() {
			t.Fatalf("%+v: %d folds, %v", division, len(folds), err)
		}
		tested := make([]int, len(d.Queries))
		for _, f := range folds {
			if len(f.Train) != 2*division.Train || len(f.Vali) != 2*division.Vali || len(f.Test) != 2*division.Test {
				t.Errorf("%+v: a fold of %d, %d and %d queries", division, len(f.Train), len(f.Vali), len(f.Test))
			}
			all := slices.Concat(f.Train, f.Vali, f.Test)
			slices.Sort(all)
			if !slices.Equal(all, indices(len(d.Queries))) {
				t.Errorf("%+v: a fold does not hold every query once", division)
			}
			for _, q := range f.Test {
				tested[q]++
			}
		}
		if slices.Min(tested) != 1 || slices.Max(tested) != 1 {
			t.Errorf("%+v: queries are tested %v times", division, tested)
		}
	}
}

// The intranet data of LambdaRank's section 6.3.2: five folds, 2+2+1.
func TestDivisionRotates(t *testing.T) {
	got := dataset.Division{Train: 2, Vali: 2, Test: 1}.Rotate([][]int{{1}, {2}, {3}, {4}, {5}})
	if got[0].Train[1] != 2 || got[0].Vali[0] != 3 || got[0].Test[0] != 5 || !slices.Equal(got[4].Vali, []int{2, 3}) || !slices.Equal(got[4].Test, []int{4}) {
		t.Errorf("folds %v", got)
	}
}

func TestDivisionRefuses(t *testing.T) {
	for division, want := range map[dataset.Division]string{
		{0, 2, 1}: "1 part or more each", {2, 0, 1}: "1 part or more each", {2, 2, 0}: "1 part or more each", {-3, 2, 2}: "1 part or more each",
		{2, 1, 2}: "expected test parts that divide the 5 parts",
	} {
		if err := division.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, expected %q", division, err, want)
		}
	}
}
