package objective

import (
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model/scorer"
)

// The Hessian is the derivative of the gradient, penalty included, with the same bits
// for any number of workers; values and gradients are the Risk's.
func TestHessianTimes(t *testing.T) {
	d := randomData(t, 40, 6)
	l := loss.RankSVM{Squared: true, Weight: 0.3}
	w, v := randomPoint(6, 0.3), randomPoint(6, 1)
	var want []float64
	for _, workers := range []int{1, 2, 5} {
		r := newRisk(t, d, l, Options{C: 0.5, Workers: workers})
		c, err := r.SecondOrder()
		if err != nil {
			t.Fatal(err)
		}
		grad, own, got := make([]float64, 6), make([]float64, 6), make([]float64, 6)
		if f, g := r.Eval(w, grad), c.Eval(w, own); f != g || !slices.Equal(grad, own) {
			t.Errorf("value %v with the Hessian, %v without", g, f)
		}
		c.HessianTimes(got, v)
		if want == nil {
			want = slices.Clone(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: %v, one: %v", workers, got, want)
		}
		// No pair enters or leaves within so small a step.
		const h = 1e-7
		up, down, at := make([]float64, 6), make([]float64, 6), make([]float64, 6)
		move := func(h float64, grad []float64) {
			for j := range at {
				at[j] = w[j] + h*v[j]
			}
			r.Eval(at, grad)
		}
		move(h, up)
		move(-h, down)
		for j := range got {
			if diff := (up[j] - down[j]) / (2 * h); math.Abs(diff-got[j]) > 1e-5*norm(got) {
				t.Errorf("product %d is %v, differences of the gradient say %v", j, got[j], diff)
			}
		}
		if n := testing.AllocsPerRun(3, func() { c.HessianTimes(got, v) }); workers == 1 && n != 0 {
			t.Errorf("a product allocates %v times", n)
		}
	}
}

// The plane of Support is below the sum of the hinges everywhere.
func TestSupportIsBelow(t *testing.T) {
	d := randomData(t, 40, 6)
	exact := newRisk(t, d, loss.RankSVM{}, Options{})
	for _, l := range []loss.RankSVM{{}, {Smoothing: 0.1}, {Smoothing: 2}} {
		r := newRisk(t, d, l, Options{C: 2})
		a, scrap := make([]float64, 6), make([]float64, 6)
		w := randomPoint(6, 1)
		c, err := r.Support(w, a)
		if err != nil {
			t.Fatal(err)
		}
		for scale := 0.0; scale < 3; scale += 0.1 {
			v := randomPoint(6, scale)
			plane := c
			for j := range v {
				plane += a[j] * v[j]
			}
			if f := exact.Eval(v, scrap); f < plane-1e-9*f {
				t.Errorf("smoothing %v: the plane is at %v, above the hinges' %v", l.Smoothing, plane, f)
			}
		}
	}
}

func TestCurvedErrors(t *testing.T) {
	d := randomData(t, 10, 4)
	smooth := newRisk(t, d, loss.RankNet{}, Options{})
	if _, err := smooth.SecondOrder(); err == nil || err.Error() != "found no Hessian, expected a loss.SecondOrder" {
		t.Errorf("error %v", err)
	}
	if _, err := smooth.Support(make([]float64, 4), make([]float64, 4)); err == nil || err.Error() != "found no cutting planes, expected a loss.CuttingPlane" {
		t.Errorf("error %v", err)
	}
	net := scorer.Network{Features: 4, Hidden: 2}
	r, err := New(d, net, loss.RankSVM{Squared: true}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.SecondOrder(); err == nil || err.Error() != "the Hessian is known for linear scorers only" {
		t.Errorf("error %v", err)
	}
	if _, err := r.Support(make([]float64, r.Dim()), make([]float64, r.Dim())); err == nil || err.Error() != "the risk has cutting planes for linear scorers only" {
		t.Errorf("error %v", err)
	}
}
