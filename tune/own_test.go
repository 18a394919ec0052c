package tune

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/train"
)

// squares is a loss of a caller's own: weight·Σ (score − grade)².
type squares struct{ weight float64 }

func (l squares) Bind(grades []float64, _ *rand.Rand) (loss.QueryLoss, error) {
	return boundSquares{grades, l.weight}, nil
}

func (squares) Traits() loss.Traits { return loss.Traits{Convex: true, Smooth: true} }

type boundSquares struct {
	grades []float64
	weight float64
}

func (b boundSquares) Eval(scores, lambda []float64, _ *loss.Scratch) float64 {
	var value float64
	for i, s := range scores {
		d := s - b.grades[i]
		value += b.weight * d * d
		if lambda != nil {
			lambda[i] = -2 * b.weight * d
		}
	}
	return value
}

// Claim: a loss and a learner of the caller's own are tuned, recorded, resumed and
// written like the methods beside them.
func TestOwnEntry(t *testing.T) {
	grid := []map[string]any{{"C": 0.001, "kind": "plain"}, {"C": 1.0, "kind": "plain"}, {"C": 1000.0, "kind": "plain"}}
	trained := 0
	entry := Own("squares", grid, func(s map[string]any) (loss.Loss, train.Learner, error) {
		trained++
		return squares{0.5}, train.LBFGS{C: s["C"].(float64), Tolerance: 1e-6, Iterations: 100}, nil
	})
	c := newConfig(t)
	c.Entries, c.Dir, c.Jobs = append(c.Entries, entry), t.TempDir(), 1
	r := run(t, c)
	row := r.Rows[2]
	if trained != len(grid)*len(c.Folds) || row.Entry.Name != "squares" || len(row.Varied()) != 1 || row.Varied()[0] != "C" {
		t.Fatalf("%d trainings, row %+v", trained, row)
	}
	for k, f := range row.Folds {
		m, err := model.Load(filepath.Join(c.Dir, "squares", f.Fold+".model.json"))
		if err != nil {
			t.Fatal(err)
		}
		if m.Method != "squares" || m.Hyperparameters["C"] != f.Chosen.Typed()["C"] || f.Chosen.Number("C") != m.Hyperparameters["C"] {
			t.Errorf("fold %d: the model's settings are %v, chosen was %v", k, m.Hyperparameters, f.Chosen)
		}
	}
	want := digest(r)
	if got := digest(run(t, c)); got != want || trained != len(grid)*len(c.Folds) {
		t.Errorf("a second run trains again (%d trainings) or ends elsewhere", trained)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "mle", "Fold1.model.json")); err != nil {
		t.Error(err)
	}
}

// Claim: an entry that cannot be trained is an error before anything is trained.
func TestOwnEntryErrors(t *testing.T) {
	sorry := errors.New("sorry")
	for want, e := range map[string]Entry{
		"nothing: neither a method nor a plan, expected one of them": {Name: "nothing", Settings: []Setting{own{}}},
		"none: no settings to try, expected at least one":            Own("none", nil, nil),
		"broken, Fold1: sorry":                                       Own("broken", []map[string]any{{}}, func(map[string]any) (loss.Loss, train.Learner, error) { return nil, nil, sorry }),
	} {
		c := newConfig(t)
		c.Entries, c.Jobs = []Entry{e}, 1
		if _, err := Run(context.Background(), c); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}
