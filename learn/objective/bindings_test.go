package objective

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model/scorer"
)

// counted is a loss that draws, counts how often it is bound, and may fail.
type counted struct {
	loss.XENDCG
	Variant int
	binds   *atomic.Int64
	fails   *atomic.Bool
}

func newCounted(variant int) counted {
	return counted{Variant: variant, binds: new(atomic.Int64), fails: new(atomic.Bool)}
}

func (c counted) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	if c.binds.Add(1); c.fails.Load() {
		return nil, errors.New("told to fail")
	}
	return c.XENDCG.Bind(grades, rng)
}

// Claim: risks that differ in the penalty alone are bound once, also side by side. Those of another
// loss, seed or data are bound on their own. All have the values that they have alone.
func TestBindings(t *testing.T) {
	d, other := randomData(t, 9, 4), randomData(t, 8, 4)
	l := newCounted(1)
	w, grad, alone := randomPoint(4, 1), make([]float64, 4), make([]float64, 4)
	var b Bindings
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() {
			if _, err := New(d, scorer.Linear{Features: 4}, l, Options{C: float64(1 + i), Seed: 3, Bindings: &b}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := l.binds.Load(); n != 9 {
		t.Errorf("queries were bound %d times by six risks, expected 9 times", n)
	}
	for _, c := range []struct {
		name  string
		risk  func(b *Bindings) *Risk
		binds int64
	}{
		{"again", func(b *Bindings) *Risk { return newRisk(t, d, l, Options{C: 2, Seed: 3, Bindings: b}) }, 0},
		{"other seed", func(b *Bindings) *Risk { return newRisk(t, d, l, Options{C: 2, Seed: 4, Bindings: b}) }, 9},
		{"other data", func(b *Bindings) *Risk { return newRisk(t, other, l, Options{C: 2, Seed: 3, Bindings: b}) }, 8},
		{"other loss", func(b *Bindings) *Risk {
			different := l
			different.Variant++
			return newRisk(t, d, different, Options{C: 2, Seed: 3, Bindings: b})
		}, 9},
	} {
		before := l.binds.Load()
		got := c.risk(&b).Eval(w, grad)
		if n := l.binds.Load() - before; n != c.binds {
			t.Errorf("%s: queries were bound %d times, expected %d times", c.name, n, c.binds)
		}
		if want := c.risk(nil).Eval(w, alone); math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%s: value %v, alone %v", c.name, got, want)
		}
		for j := range grad {
			if math.Float64bits(grad[j]) != math.Float64bits(alone[j]) {
				t.Errorf("%s: derivative %d is %v, alone %v", c.name, j, grad[j], alone[j])
			}
		}
	}
}

// Claim: drawing anew does not change the risks that share what was drawn first.
func TestBindingsAfterRedraw(t *testing.T) {
	d, w, grad := randomData(t, 9, 4), randomPoint(4, 1), make([]float64, 4)
	var b Bindings
	first := newRisk(t, d, loss.XENDCG{}, Options{Seed: 3, Bindings: &b})
	second := newRisk(t, d, loss.XENDCG{}, Options{Seed: 3, Bindings: &b})
	value := first.Eval(w, grad)
	if err := second.Redraw(1); err != nil {
		t.Fatal(err)
	}
	if second.Eval(w, grad) == value {
		t.Fatal("the second risk was not drawn anew")
	}
	third := newRisk(t, d, loss.XENDCG{}, Options{Seed: 3, Bindings: &b})
	if a, c := first.Eval(w, grad), third.Eval(w, grad); a != value || c != value {
		t.Errorf("values %v and %v, expected %v", a, c, value)
	}
}

// Claim: a binding that failed is not kept, nor more than the last few.
func TestBindingsKept(t *testing.T) {
	d := randomData(t, 9, 4)
	l := newCounted(1)
	var b Bindings
	bind := func(l loss.Loss) error {
		_, err := New(d, scorer.Linear{Features: 4}, l, Options{Bindings: &b})
		return err
	}
	l.fails.Store(true)
	if bind(l) == nil {
		t.Fatal("no error")
	}
	l.fails.Store(false)
	for range 2 {
		if err := bind(l); err != nil {
			t.Fatal(err)
		}
	}
	before := l.binds.Load()
	for variant := range mostBound {
		if err := bind(newCounted(2 + variant)); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.kept) != mostBound {
		t.Errorf("%d losses are kept, expected %d", len(b.kept), mostBound)
	}
	if err := bind(l); err != nil {
		t.Fatal(err)
	}
	if n := l.binds.Load() - before; n != 9 {
		t.Errorf("queries were bound %d times, expected 9 times after others took the place", n)
	}
}
