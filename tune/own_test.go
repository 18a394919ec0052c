package tune

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
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

// penalty and kindPenalty are settings of a caller's own.
type penalty struct{ C float64 }

type kindPenalty struct {
	penalty
	Kind string
}

// counted is a learner that counts how often it learns.
type counted struct {
	train.LBFGS
	trained *int
}

func (c counted) Learn(ctx context.Context, t *train.Task) (*train.Learned, error) {
	*c.trained++
	return c.LBFGS.Learn(ctx, t)
}

// doubled is a loss of another type with the fields of squares.
type doubled squares

func (l doubled) Bind(grades []float64, _ *rand.Rand) (loss.QueryLoss, error) {
	return boundSquares{grades, 2 * l.weight}, nil
}

func (doubled) Traits() loss.Traits { return squares{}.Traits() }

// Claim: a loss of another type, and other fields of the loss or the learner, are other
// trainings in the same folder under the same name and settings; the same are not.
func TestOwnEntryOfAnotherLoss(t *testing.T) {
	trained := 0
	c := newConfig(t)
	c.Dir, c.Jobs, c.Folds = t.TempDir(), 1, c.Folds[:1]
	base := train.LBFGS{C: 10, Tolerance: 1e-6, Iterations: 100}
	other := base
	other.C = 20
	for _, kind := range []struct {
		what    string
		loss    loss.Loss
		learner train.LBFGS
		trained int
	}{
		{"the first", squares{0.5}, base, 1},
		{"the same", squares{0.5}, base, 1},
		{"another type", doubled{0.5}, base, 2},
		{"another field of the loss", squares{0.25}, base, 3},
		{"another field of the learner", squares{0.5}, other, 4},
		{"the first again", squares{0.5}, base, 4},
	} {
		c.Entries = []Entry{OwnOf("mine", []struct{}{{}}, func(struct{}) (loss.Loss, train.Learner, error) {
			return kind.loss, counted{kind.learner, &trained}, nil
		})}
		got := run(t, c)
		if trained != kind.trained {
			t.Errorf("%s: %d trainings so far, want %d", kind.what, trained, kind.trained)
		}
		alone := c
		alone.Dir = ""
		before := trained
		if want := digest(run(t, alone)); digest(got) != want {
			t.Errorf("%s: the result is not that of a run without a folder", kind.what)
		}
		trained = before
	}
}

// Claim: names under which results cannot be written in their folder, and measures that
// cannot be evaluated, are errors before anything is trained or written.
func TestRefusedBeforeTraining(t *testing.T) {
	entry := func(name string) Entry {
		return OwnOf(name, []struct{}{{}}, func(struct{}) (loss.Loss, train.Learner, error) {
			t.Errorf("%q is trained", name)
			return nil, nil, errors.New("trained")
		})
	}
	refused := func(what, want string, change func(*Config)) {
		t.Helper()
		c := newConfig(t)
		above := t.TempDir()
		c.Dir, c.Jobs, c.Entries = filepath.Join(above, "out"), 1, []Entry{entry("mine")}
		change(&c)
		if _, err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", what, err, want)
		}
		if left, err := os.ReadDir(above); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", what, left, err)
		}
	}
	for _, name := range []string{"..", ".", "/", "../up", "a/b", `a\b`, "a\x00", "/tmp"} {
		refused(name, "expected a plain file name", func(c *Config) { c.Entries = []Entry{entry(name)} })
		refused("fold "+name, "expected a plain file name", func(c *Config) { c.Folds[0].Name = name })
	}
	refused("a long name", "expected at most 200", func(c *Config) { c.Entries = []Entry{entry(strings.Repeat("a", 201))} })
	refused("the report's name", "expected another one", func(c *Config) { c.Entries = []Entry{entry("results.json")} })
	refused("a setting", "expected a finite number", func(c *Config) { c.Entries[0].Settings = []Setting{own{penalty{C: math.NaN()}}} })
	refused("Select", "found the measure only-value, expected one", func(c *Config) { c.Select = onlyValue{} })
	refused("Measures", "found the measure only-value, expected one", func(c *Config) { c.Measures = []measure.Measure{onlyValue{}} })
	refused("equal measures", "found the measure map twice", func(c *Config) { c.Measures = append(parse(t, "map"), parse(t, "map")...) })
	refused("no measure", "found a measure that is nil", func(c *Config) { c.Measures = []measure.Measure{nil} })
}

// onlyValue is a measure that has no expected value under ties.
type onlyValue struct{}

func (onlyValue) Name() string { return "only-value" }

func (onlyValue) Value(ranked []float64) (float64, bool) { return ranked[0], true }

// Claim: a loss and a learner of the caller's own are tuned, recorded, resumed and
// written like the methods beside them.
func TestOwnEntry(t *testing.T) {
	grid := []kindPenalty{{penalty{0.001}, "plain"}, {penalty{1}, "plain"}, {penalty{1000}, "plain"}}
	trained := 0
	entry := OwnOf("squares", grid, func(s kindPenalty) (loss.Loss, train.Learner, error) {
		return squares{0.5}, counted{train.LBFGS{C: s.C, Tolerance: 1e-6, Iterations: 100}, &trained}, nil
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
		"nothing: neither a method nor a plan, expected one of them": {Name: "nothing", Settings: []Setting{own{struct{}{}}}},
		"none: no settings to try, expected at least one":            OwnOf[struct{}]("none", nil, nil),
		"broken, Fold1: sorry":                                       OwnOf("broken", []struct{}{{}}, func(struct{}) (loss.Loss, train.Learner, error) { return nil, nil, sorry }),
	} {
		c := newConfig(t)
		c.Entries, c.Jobs = []Entry{e}, 1
		if _, err := Run(context.Background(), c); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// Claim: settings that results cannot record by the name of a field are errors before anything is trained.
func TestOwnSettingsRefused(t *testing.T) {
	type hidden struct{ c float64 }
	type pointed struct{ *penalty }
	for want, e := range map[string]Entry{
		"mine: found settings of type float64, expected a struct":                                                         refusedEntry(t, 1.0),
		"mine: found settings of type <nil>, expected a struct":                                                           refusedEntry[any](t, nil),
		"mine: found the unexported field c of tune.hidden, expected exported fields: results record them by name":        refusedEntry(t, hidden{1}),
		"mine: found the unexported field penalty of tune.pointed, expected exported fields: results record them by name": refusedEntry(t, pointed{}),
		"mine: found the field Sizes of type []int, expected a number, text or a truth value":                             refusedEntry(t, struct{ Sizes []int }{}),
		"mine: found the field Scorer of type train.Architecture, expected a number, text or a truth value":               refusedEntry(t, struct{ Scorer train.Architecture }{}),
		"mine: found C=+Inf, expected a finite number":                                                                    refusedEntry(t, penalty{math.Inf(1)}),
		"mine: found the field Grid of type map[string]interface {}, expected a number, text or a truth value":            refusedEntry(t, struct{ Grid map[string]any }{}),
	} {
		c := newConfig(t)
		c.Entries, c.Jobs = []Entry{e}, 1
		if _, err := Run(context.Background(), c); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// refusedEntry returns an entry with one setting, whose training fails the test.
func refusedEntry[S any](t *testing.T, setting S) Entry {
	return OwnOf("mine", []S{setting}, func(s S) (loss.Loss, train.Learner, error) {
		t.Errorf("%v is trained", s)
		return nil, nil, errors.New("trained")
	})
}

// Claim: a setting has the fields of its struct, in order, with those of embedded structs, as the
// types that a model file stores.
func TestOwnSetting(t *testing.T) {
	type level int8
	s := own{struct {
		kindPenalty
		Level level
		Deep  bool
		Seed  uint16
	}{kindPenalty{penalty{0.5}, "plain"}, -3, true, 7}}
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	if got, want := s.String(), "C=0.5 Kind=plain Level=-3 Deep=true Seed=7"; got != want {
		t.Errorf("the setting is %s, want %s", got, want)
	}
	want := map[string]any{"C": 0.5, "Kind": "plain", "Level": int64(-3), "Deep": true, "Seed": uint64(7)}
	if got := s.Typed(); !maps.Equal(got, want) {
		t.Errorf("the values are %v, want %v", got, want)
	}
	for name, number := range map[string]float64{"C": 0.5, "Level": -3, "Seed": 7} {
		if !s.IsNumber(name) || s.Number(name) != number {
			t.Errorf("%s is %v, want %v", name, s.Text(name), number)
		}
	}
	if s.IsNumber("Kind") || s.IsNumber("Deep") || s.IsNumber("kind") {
		t.Error("a text, a truth value or an unknown name is a number")
	}
}

// Claim: an entry of a method optimises its default measure where nothing is said of it, and
// one of a method without a measure none.
func TestEntryHasDefaultMeasure(t *testing.T) {
	for _, m := range method.List() {
		e, err := NewEntry(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if e.Measure != nil {
			got = e.Measure.Name()
		}
		want := ""
		if m.UsesMeasure {
			want = m.DefaultMeasure
		}
		if got != want {
			t.Errorf("%s: the measure is %q, want %q", m.Name, got, want)
		}
	}
	c := newConfig(t)
	m, err := method.Lookup("lambdamart")
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEntry(m, map[string][]string{"trees": {"3"}, "leaves": {"4"}, "growth": {"leaf"}, "feature_fraction": {"1"}})
	if err != nil {
		t.Fatal(err)
	}
	c.Entries = []Entry{e}
	run(t, c)
}
