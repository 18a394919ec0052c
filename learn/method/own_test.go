package method

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// ownListNet is ListNet as a caller's own loss, with settings: the value is multiplied by Factor.
type ownListNet struct {
	Factor float64
	Bend   int
	Flat   bool
	text   string
}

func (ownListNet) Traits() loss.Traits { return loss.ListNet{}.Traits() }

func (l ownListNet) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	b, err := loss.ListNet{}.Bind(grades, rng)
	if d, ok := b.(loss.Diagonal); ok && b != loss.Nothing {
		b = scaledBy{d, l.Factor}
	}
	return b, err
}

type scaledBy struct {
	loss.Diagonal
	factor float64
}

func (s scaledBy) Eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	value := s.Diagonal.Eval(scores, lambda, scratch)
	for i := range lambda {
		lambda[i] *= s.factor
	}
	return s.factor * value
}

func (s scaledBy) EvalSecond(scores, lambda, second []float64, scratch *loss.Scratch) float64 {
	value := s.Diagonal.EvalSecond(scores, lambda, second, scratch)
	for i := range lambda {
		lambda[i] *= s.factor
		second[i] *= s.factor
	}
	return s.factor * value
}

func gradient(t *testing.T, name string, l loss.Loss) *Method {
	t.Helper()
	m, err := Gradient(name, l)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Claim: a method with ListNet as the caller's own loss trains the models of the catalogue's ListNet, on every scorer. It
// has the same hyperparameters and grids, except for the settings of the loss and the grid of C.
func TestGradientIsTheCatalogues(t *testing.T) {
	listnet, own := lookup(t, "listnet"), gradient(t, "mine", ownListNet{Factor: 1})
	if got, want := own.Scorers(), listnet.Scorers(); !slices.Equal(got, want) {
		t.Fatalf("the scorers are %v, want %v", got, want)
	}
	few := map[string]map[string]string{"net": {"epochs": "3", "C": "1"}, "trees": {"trees": "5"}}
	for _, kind := range own.Scorers() {
		var models [2][]float64
		for i, m := range []*Method{listnet, own} {
			of, err := m.For(kind)
			if err != nil {
				t.Fatal(err)
			}
			p := newProblem(t, m)
			if p.Values, err = of.Values(few[kind]); err != nil {
				t.Fatal(err)
			}
			p.Scorer = kind
			trained := mustTrain(t, m, p)
			models[i] = trained.Params
			if trained.Method != m.Name || i == 1 && trained.Hyperparameters["Factor"] != 1.0 {
				t.Errorf("%s: the model is of %s, with %v", kind, trained.Method, trained.Hyperparameters)
			}
		}
		if !slices.Equal(models[0], models[1]) {
			t.Errorf("%s: own loss %v, the catalogue's %v", kind, models[1], models[0])
		}
		a, _ := listnet.For(kind)
		b, _ := own.For(kind)
		for _, h := range a.Hyperparameters {
			if h.Name == "mapping" || h.Name == "top" {
				continue
			}
			got, err := b.hyperparameter(h.Name)
			if err != nil || got.Default != h.Default || !slices.Equal(got.NetworkGrid, h.NetworkGrid) || h.Name != "C" && !slices.Equal(got.Grid, h.Grid) {
				t.Errorf("%s: %s is %+v, want %+v (%v)", kind, h.Name, got, h, err)
			}
		}
	}
}

// Claim: the fields of the loss are hyperparameters: a model of Factor=3 at C=1 is one of Factor=1 at C=3, and fields of
// other types stay as they are. A pointer works like a value.
func TestGradientSettings(t *testing.T) {
	for _, l := range []loss.Loss{ownListNet{Factor: 1, Bend: 2, text: "kept"}, &ownListNet{Factor: 1, Bend: 2, text: "kept"}} {
		m := gradient(t, "mine", l)
		params := func(set map[string]string) []float64 {
			p := newProblem(t, m)
			var err error
			if p.Values, err = m.Values(set); err != nil {
				t.Fatal(err)
			}
			return mustTrain(t, m, p).Params
		}
		a, b := params(map[string]string{"Factor": "3", "tolerance": "1e-10"}), params(map[string]string{"C": "3", "tolerance": "1e-10"})
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-4*(1+math.Abs(b[i])) {
				t.Errorf("%T: weight %d is %v at Factor=3, %v at C=3", l, i, a[i], b[i])
			}
		}
		v, err := m.Values(map[string]string{"Factor": "-0.5", "Bend": "-7", "Flat": "true"})
		if err != nil {
			t.Fatal(err)
		}
		got := withSettings(l, v)
		if p, ok := got.(*ownListNet); ok {
			got = *p
		}
		if want := (ownListNet{-0.5, -7, true, "kept"}); got != want {
			t.Errorf("%T: the loss is %+v, want %+v", l, got, want)
		}
	}
	if got := gradient(t, "three", loss.ListNet{Top: 3}); slices.ContainsFunc(got.Hyperparameters, func(h Hyperparameter) bool { return h.Name == "Top" }) {
		t.Error("a field of a loss of package loss is a hyperparameter")
	}
}

// Claim: methods whose losses differ in type or in a field have different identities; the catalogue's are their names.
func TestGradientIdentity(t *testing.T) {
	same := gradient(t, "mine", ownListNet{Factor: 1}).Identity()
	for _, l := range []loss.Loss{ownListNet{Factor: 2}, ownListNet{Factor: 1, text: "x"}, &ownListNet{Factor: 1}, loss.ListNet{}} {
		if got := gradient(t, "mine", l).Identity(); got == same {
			t.Errorf("%T has the identity %s of another loss", l, got)
		}
	}
	if got := gradient(t, "mine", ownListNet{Factor: 1}); got.Identity() != same || got.onTrees.Identity() != same {
		t.Errorf("the same loss has the identity %s, want %s", got.Identity(), same)
	}
	if got := lookup(t, "listnet").Identity(); got != "listnet" {
		t.Errorf("listnet has the identity %s", got)
	}
}

// ownC is a loss with a field that has the name of a hyperparameter.
type ownC struct {
	ownListNet
	C float64
}

// Claim: a name of the catalogue, no loss, and a field that is no hyperparameter are errors.
func TestGradientRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		name string
		loss loss.Loss
	}{
		"found a method without a name":                       {"", loss.ListNet{}},
		"found the name listnet of a method of the catalogue": {"listnet", loss.ListNet{}},
		"method mine: found no loss":                          {"mine", nil},
		"method pointer: found no loss":                       {"pointer", (*ownListNet)(nil)},
		"method mine: found the field C of method.ownC":       {"mine", ownC{C: 1}},
		"method infinite: Factor=+Inf: expected a number":     {"infinite", ownListNet{Factor: math.Inf(1)}},
	} {
		_, err := Gradient(c.name, c.loss)
		if problem := (*ProblemError)(nil); !errors.As(err, &problem) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// Claim: a loss whose λ are no gradient is trained by descent, as LambdaRank is.
func TestGradientOfField(t *testing.T) {
	m := gradient(t, "mine", noGradient{ownListNet{Factor: 1}})
	p := newProblem(t, m)
	var err error
	if p.Values, err = m.Values(map[string]string{"epochs": "2"}); err != nil {
		t.Fatal(err)
	}
	if trained := mustTrain(t, m, p); trained.Training.BestEpoch == 0 {
		t.Errorf("the training is %+v, expected a descent", trained.Training)
	}
	rate, err := m.hyperparameter("rate")
	if err != nil || !slices.Equal(rate.Grid, ratesOfFields) {
		t.Errorf("rate is %+v, %v", rate, err)
	}
}

type noGradient struct{ ownListNet }

func (noGradient) Traits() loss.Traits { return loss.Traits{NonGradient: true} }
