package tune

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
)

// tracked is squares with a setting, whose Bind counts its calls.
type tracked struct{ Weight float64 }

var trackedBinds atomic.Int64

func (l tracked) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	trackedBinds.Add(1)
	return squares{l.Weight}.Bind(grades, rng)
}

func (tracked) Traits() loss.Traits { return squares{}.Traits() }

// Claim: methods with the caller's own loss are tuned with the catalogue's on every scorer, over settings of the loss
// and of the learner. Recorded trainings resume unless the loss is another one. The models can be fused with others,
// saved and loaded.
func TestGradientTunedAndFused(t *testing.T) {
	own := func(weight float64) *method.Method {
		m, err := method.Gradient("mine", tracked{weight})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	few := map[string]map[string][]string{
		"linear": {"C": {"0.1", "10"}},
		"net":    {"C": {"10"}, "rate": {"0.01"}, "epochs": {"2"}, "hidden": {"2"}},
		"trees":  {"trees": {"3"}, "leaves": {"4"}, "growth": {"leaf"}, "query_fraction": {"1"}, "feature_fraction": {"1"}},
	}
	c := newConfig(t)
	c.Dir, c.Jobs, c.Folds = t.TempDir(), 1, c.Folds[:1]
	add := func(m *method.Method) {
		c.Entries = c.Entries[:1]
		for _, kind := range m.Scorers() {
			few[kind]["Weight"] = []string{"0.5", "2"}
			e, err := NewEntryOf(m, kind, few[kind])
			if err != nil {
				t.Fatal(err)
			}
			e.Name = "mine-" + kind
			c.Entries = append(c.Entries, e)
		}
	}
	add(own(1))
	r := run(t, c)
	if len(r.Rows) != 4 || len(c.Entries[1].Settings) != 4 || len(c.Entries[2].Settings) != 2 {
		t.Fatalf("%d rows, %d and %d settings", len(r.Rows), len(c.Entries[1].Settings), len(c.Entries[2].Settings))
	}
	binds, want := trackedBinds.Load(), digest(r)
	if got := digest(run(t, c)); got != want || trackedBinds.Load() != binds {
		t.Errorf("a second run trains again (%d binds after %d) or ends elsewhere", trackedBinds.Load(), binds)
	}
	add(own(3)) // another loss under the name and the settings
	if run(t, c); trackedBinds.Load() == binds {
		t.Error("the records of another loss are taken")
	}
	var members []*model.Model
	for i, kind := range []string{"", "linear", "net", "trees"} {
		name := r.Rows[i].Entry.Name
		m, err := model.Load(filepath.Join(c.Dir, name, "Fold1.model.json"))
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && (m.Method != "mine" || m.Scorer.Kind() != kind || m.Hyperparameters["Weight"] != r.Rows[i].Folds[0].Chosen.Number("Weight")) {
			t.Errorf("%s: the model is of %s on %s, with %v", name, m.Method, m.Scorer.Kind(), m.Hyperparameters)
		}
		members = append(members, m)
	}
	fused, err := model.NewFused(fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.Raw}, members, []float64{1, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fused")
	if err := fused.Save(path); err != nil {
		t.Fatal(err)
	}
	if fused, err = model.Load(path); err != nil {
		t.Fatal(err)
	}
	d := c.Folds[0].Test
	got, err := fused.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	sums := make([]float64, d.Docs())
	for _, m := range members {
		scores, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range scores {
			sums[i] += s
		}
	}
	for i, sum := range sums { // the fusion may scale all scores
		for k := range i {
			if math.Abs(sum-sums[k]) > 1e-9 && (sum > sums[k]) != (got[i] > got[k]) {
				t.Fatalf("documents %d and %d have the fused scores %v and %v, the sums %v and %v", k, i, got[k], got[i], sums[k], sum)
			}
		}
	}
}
