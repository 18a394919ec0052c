package tune

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
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

// Claim: NewEntries names the scorer in each entry, gives each its own default grids, and refuses a grid that none has.
func TestEntriesOfAllScorers(t *testing.T) {
	m, err := method.Lookup("listnet")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := NewEntries(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := range m.Scorers() {
		alone, err := NewEntryOf(m, kind, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e := entries[i]; e.Name != "listnet."+kind || e.Scorer != kind || !reflect.DeepEqual(e.Settings, alone.Settings) {
			t.Errorf("entry %d is %s on %s with %d settings, want listnet.%s with %d", i, e.Name, e.Scorer, len(e.Settings), kind, len(alone.Settings))
		}
	}
	if e, err := NewEntries(m, map[string][]string{"leafs": {"4"}}); err == nil || !strings.Contains(err.Error(), `"leafs"`) {
		t.Errorf("%d entries with a grid of leafs, error %v", len(e), err)
	}
}

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
	c := newConfig(t)
	c.Dir, c.Jobs, c.Folds = t.TempDir(), 1, c.Folds[:1]
	add := func(m *method.Method) {
		entries, err := NewEntries(m, map[string][]string{
			"Weight": {"0.5", "2"}, "C": {"0.1", "10"}, "rate": {"0.01"}, "epochs": {"2"}, "hidden": {"2"},
			"trees": {"3"}, "leaves": {"4"}, "growth": {"leaf"}, "query_fraction": {"1"}, "feature_fraction": {"1"},
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Entries = append(c.Entries[:1], entries...)
	}
	add(own(1))
	r := run(t, c)
	if len(r.Rows) != 5 || len(c.Entries[1].Settings) != 4 || len(c.Entries[4].Settings) != 2 {
		t.Fatalf("%d rows, %d and %d settings", len(r.Rows), len(c.Entries[1].Settings), len(c.Entries[4].Settings))
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
	for i, kind := range []string{"", "linear", "fm", "net", "trees"} {
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
	fused, err := model.NewFused(fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.Raw}, members, []float64{1, 1, 1, 1, 1})
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
