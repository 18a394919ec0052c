package objective

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/model/scorer"
)

// randomData returns queries of 2 to 13 documents; every fifth has documents of
// one grade only, whose loss is Nothing.
func randomData(t *testing.T, queries, features int) *dataset.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var b dataset.Builder
	for q := range queries {
		n := 2 + rng.IntN(12)
		grades, x := make([]float64, n), make([]float32, n*features)
		for i := range grades {
			grades[i] = float64(rng.IntN(3))
			if q%5 == 4 {
				grades[i] = 0
			}
		}
		if q%5 != 4 {
			grades[0], grades[1] = 2, 0
		}
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		if err := b.Add(fmt.Sprint("q", q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

func randomPoint(dim int, scale float64) []float64 {
	rng := rand.New(rand.NewPCG(5, 6))
	w := make([]float64, dim)
	for j := range w {
		w[j] = scale * rng.NormFloat64()
	}
	return w
}

func additive(t *testing.T, name string) measure.Additive {
	t.Helper()
	m, err := measure.Parse(name, measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m.(measure.Additive)
}

func newRisk(t *testing.T, d *dataset.Dataset, l loss.Loss, o Options) *Risk {
	t.Helper()
	r, err := New(d, scorer.Linear{Features: d.Features}, l, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// losses are one of each objective and form.
func losses(t *testing.T) map[string]loss.Loss {
	ndcg, ap := additive(t, "ndcg@5"), additive(t, "map")
	return map[string]loss.Loss{
		"mle":                     logrank.MLE{},
		"mle kappa=pairs":         logrank.MLE{Options: logrank.Options{Kappa: bipartite.KappaPairs}},
		"expgain ndcg":            logrank.ExpGain{Options: logrank.Options{Gain: ndcg}},
		"l2 map":                  logrank.L2{Options: logrank.Options{Gain: ap}},
		"l3 sampled ndcg":         logrank.L3{Options: logrank.Options{Gain: ndcg, Form: logrank.Sampled}},
		"convexloss sampled map":  logrank.ConvexLoss{Options: logrank.Options{Gain: ap, Form: logrank.Sampled}},
		"convexloss lattice ndcg": logrank.ConvexLoss{Options: logrank.Options{Gain: ndcg, Form: logrank.Lattice}},
		"mle shell":               logrank.MLE{Options: logrank.Options{Form: logrank.Shell}},
	}
}

// The gradient of the whole risk agrees with central differences of its value.
func TestCentralDifferences(t *testing.T) {
	d := randomData(t, 40, 6)
	for name, l := range losses(t) {
		r := newRisk(t, d, l, Options{C: 0.5, Seed: 7})
		w := randomPoint(6, 0.3)
		grad, scrap := make([]float64, 6), make([]float64, 6)
		r.Eval(w, grad)
		// Of fourth order in h, so that truncation is far below the tolerance; where
		// there are kinks, h is small enough to stay on one side of them.
		h := 1e-3
		if !l.Traits().Smooth {
			h = 1e-6
		}
		for j := range w {
			at := func(x float64) float64 {
				kept := w[j]
				defer func() { w[j] = kept }()
				w[j] += x
				return r.Eval(w, scrap)
			}
			want := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
			if math.Abs(grad[j]-want) > 1e-7*math.Max(1, norm(grad)) {
				t.Errorf("%s: gradient %d is %v, differences give %v", name, j, grad[j], want)
			}
		}
	}
}

// Values and gradients have the same bits for any number of workers, and at
// every repetition.
func TestSameBitsForAnyNumberOfWorkers(t *testing.T) {
	d := randomData(t, 150, 9)
	for name, l := range losses(t) {
		var value float64
		var grad []float64
		for _, workers := range []int{1, 2, 3, 8} {
			r := newRisk(t, d, l, Options{C: 2, Seed: 11, Workers: workers})
			for range 2 {
				g := make([]float64, 9)
				v := r.Eval(randomPoint(9, 0.5), g)
				if grad == nil {
					value, grad = v, g
				}
				if math.Float64bits(v) != math.Float64bits(value) {
					t.Fatalf("%s: value is %v with %d workers, %v with one", name, v, workers, value)
				}
				for j := range g {
					if math.Float64bits(g[j]) != math.Float64bits(grad[j]) {
						t.Fatalf("%s: gradient %d is %v with %d workers, %v with one", name, j, g[j], workers, grad[j])
					}
				}
			}
		}
	}
}

// A query draws by its own id: adding or reordering others changes nothing of
// its loss.
func TestDrawsGoByQueryID(t *testing.T) {
	d := randomData(t, 8, 4)
	l := logrank.L3{Options: logrank.Options{Gain: additive(t, "ndcg@5"), Form: logrank.Sampled}}
	w := randomPoint(4, 1)
	grad := make([]float64, 4)
	value := func(queries ...int) float64 {
		return newRisk(t, d.Subset(queries), l, Options{Seed: 1}).Eval(w, grad)
	}
	alone := value(3)
	if got := value(5, 3) - value(5); math.Abs(got-alone) > 1e-12*math.Abs(alone) {
		t.Errorf("query 3 adds %v to query 5, alone it is %v", got, alone)
	}
	if a, b := value(2, 3), value(3, 2); math.Abs(a-b) > 1e-12*math.Abs(a) {
		t.Errorf("the risk is %v in one order, %v in the other", a, b)
	}
	if newRisk(t, d, l, Options{Seed: 1}).Eval(w, grad) == newRisk(t, d, l, Options{Seed: 2}).Eval(w, grad) {
		t.Error("another seed draws the same")
	}
}

// Queries whose loss is Nothing are left out; without any other, the risk is the
// regularisation.
func TestQueriesWithNothingToLearn(t *testing.T) {
	d := randomData(t, 20, 3)
	r := newRisk(t, d, logrank.MLE{}, Options{})
	if r.Queries() != 16 || r.Dim() != 3 {
		t.Errorf("%d queries, %d parameters; want 16 and 3", r.Queries(), r.Dim())
	}
	r = newRisk(t, d.Subset([]int{4, 9}), logrank.MLE{}, Options{C: 4})
	grad := []float64{9, 9, 9}
	value := r.Eval([]float64{1, 2, 3}, grad)
	if r.Queries() != 0 || value != 14.0/4 || grad[0] != 0.5 || grad[1] != 1 || grad[2] != 1.5 {
		t.Errorf("%d queries, value %v, gradient %v; want 0, 3.5 and [0.5 1 1.5]", r.Queries(), value, grad)
	}
}

// F is 2/C-strongly convex: F(v) ≥ F(w) + ∇F(w)·(v−w) + ‖v−w‖²/C.
func TestStrongConvexity(t *testing.T) {
	d := randomData(t, 10, 5)
	r := newRisk(t, d, logrank.MLE{}, Options{C: 0.25})
	if mu := r.StrongConvexity(); mu != 8 {
		t.Errorf("modulus is %v, want 2/C = 8", mu)
	}
	rng := rand.New(rand.NewPCG(8, 9))
	for range 200 {
		w, v, grad, scrap := make([]float64, 5), make([]float64, 5), make([]float64, 5), make([]float64, 5)
		for j := range w {
			w[j], v[j] = rng.NormFloat64(), 3*rng.NormFloat64()
		}
		bound := r.Eval(w, grad)
		for j := range w {
			bound += grad[j]*(v[j]-w[j]) + r.StrongConvexity()/2*(v[j]-w[j])*(v[j]-w[j])
		}
		if f := r.Eval(v, scrap); f < bound-1e-10*math.Abs(bound) {
			t.Errorf("F is %v, below its quadratic bound %v", f, bound)
		}
	}
	for _, c := range []float64{0, math.Inf(1)} {
		if mu := newRisk(t, d, logrank.MLE{}, Options{C: c}).StrongConvexity(); mu != 0 {
			t.Errorf("C=%v: modulus is %v, want 0", c, mu)
		}
	}
}

// refusing is a loss that fits no query.
type refusing struct{ logrank.MLE }

var errRefused = errors.New("refused")

func (refusing) Bind([]float64, *rand.Rand) (loss.QueryLoss, error) { return nil, errRefused }

func TestErrors(t *testing.T) {
	d := randomData(t, 3, 4)
	for _, c := range []struct {
		features int
		loss     loss.Loss
		c        float64
		want     string
	}{
		{5, logrank.MLE{}, 1, "the scorer takes 5 features, the data have 4"},
		{4, logrank.MLE{}, -1, "regularisation C = -1, expected a positive number"},
		{4, logrank.MLE{}, math.NaN(), "regularisation C = NaN, expected a positive number"},
		{4, logrank.MLE{}, math.Inf(-1), "regularisation C = -Inf, expected a positive number"},
		{4, logrank.MLE{}, 5e-324, "regularisation C = 5e-324, expected a positive number whose inverse is finite"},
		{4, refusing{}, 1, `query "q0": refused`},
	} {
		_, err := New(d, scorer.Linear{Features: c.features}, c.loss, Options{C: c.c})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error is %v, want %s", err, c.want)
		}
	}
	if _, err := New(d, scorer.Linear{Features: 4}, refusing{}, Options{}); !errors.Is(err, errRefused) {
		t.Errorf("error %v does not wrap the loss's", err)
	}
}

// Evaluation allocates nothing once it is warm.
func TestEvalAllocatesNothing(t *testing.T) {
	d := randomData(t, 60, 5)
	for name, l := range losses(t) {
		r := newRisk(t, d, l, Options{C: 1, Workers: 1})
		w, grad := randomPoint(5, 1), make([]float64, 5)
		r.Eval(w, grad)
		if n := testing.AllocsPerRun(3, func() { r.Eval(w, grad) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Once Done is closed, binding is an error and sums break off; single terms do not.
func TestInterrupted(t *testing.T) {
	d := randomData(t, 20, 3)
	done := make(chan struct{})
	r := newRisk(t, d, loss.RankNet{}, Options{Done: done})
	w, grad := make([]float64, 3), make([]float64, 3)
	if v := r.Eval(w, grad); math.IsNaN(v) {
		t.Errorf("value %v before the interruption", v)
	}
	close(done)
	if v := r.Eval(w, grad); !math.IsNaN(v) {
		t.Errorf("value %v after the interruption, want NaN", v)
	}
	if v := r.EvalTerm(0, w, grad); math.IsNaN(v) {
		t.Errorf("value %v of a term", v)
	}
	if _, err := New(d, scorer.Linear{Features: 3}, loss.RankNet{}, Options{Done: done}); !errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v, want %v", err, ErrInterrupted)
	}
}
