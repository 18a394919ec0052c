package tune

import (
	"slices"
	"testing"
)

// Models has the model of every setting, with its settings, and the chosen one among them;
// without KeepModels there are none.
func TestKeepModels(t *testing.T) {
	c := newConfig(t)
	for _, row := range run(t, c).Rows {
		for _, f := range row.Folds {
			if f.Models != nil {
				t.Errorf("%s, %s: models that nobody asked for", row.Entry.Name, f.Fold)
			}
		}
	}
	c.KeepModels = true
	for _, row := range run(t, c).Rows {
		for _, f := range row.Folds {
			if len(f.Models) != len(row.Entry.Settings) || !slices.Contains(f.Models, f.Model) {
				t.Fatalf("%s, %s: %d models of %d settings", row.Entry.Name, f.Fold, len(f.Models), len(row.Entry.Settings))
			}
			for k, m := range f.Models {
				if want := row.Entry.Settings[k].Typed()["C"]; m.Hyperparameters["C"] != want {
					t.Errorf("%s, %s: model %d has C=%v, expected %v", row.Entry.Name, f.Fold, k, m.Hyperparameters["C"], want)
				}
			}
		}
	}
}
