package tune

import (
	"errors"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Test parts are read alone, all as wide as the widest; without one the layout is
// wrong.
func TestReadTests(t *testing.T) {
	dir := t.TempDir()
	put(t, "a", 2, dir, "Fold1", "test.txt")
	put(t, "b", 4, dir, "Fold2", "test.txt.gz")
	folds, err := ReadTests(dir, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(folds) != 2 || folds[0].Name != "Fold1" || folds[0].Test.Queries[0].ID != "a" || folds[0].Test.Features != 4 || folds[1].Train != nil {
		t.Errorf("folds are %+v", folds)
	}
	put(t, "c", 2, dir, "Fold3", "train.txt")
	var layout *LayoutError
	if _, err := ReadTests(dir, dataset.Options{}); !errors.As(err, &layout) || layout.Problem != "found no test.txt" {
		t.Errorf("error is %v", err)
	}
}
