package objective

import (
	"math"
	"testing"

	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/model/scorer"
)

// The objective is −Σ log P(class of a document), by the probabilities' definition, and the
// penalty; its gradient is that of central differences; any number of workers gives the
// same bits.
func TestLikelihood(t *testing.T) {
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features, o.Relevant = 5, 8, 3, 4
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	levels, level := d.Levels()
	if len(levels) < 3 {
		t.Fatalf("grades %v, expected three at least", levels)
	}
	const c = 2
	for _, ordinal := range []bool{false, true} {
		s := scorer.Classes{Features: d.Features, Values: levels, Ordinal: ordinal}
		l := NewLikelihood(d, s, level, c, 1)
		w, grad := make([]float64, l.Dim()), make([]float64, l.Dim())
		for i := range w {
			w[i] = math.Sin(float64(3 * i))
		}
		got, want := l.Eval(w, grad), 0.0
		for _, v := range w {
			want += v * v / c
		}
		for i, class := range level {
			u := make([]float64, s.Functions())
			var total float64
			for k := range u {
				u[k] = w[s.Functions()*d.Features+k]
				for j := range d.Features {
					u[k] += w[k*d.Features+j] * float64(d.X()[i*d.Features+j])
				}
				total += math.Exp(u[k])
			}
			if !ordinal {
				want -= math.Log(math.Exp(u[class]) / total)
				continue
			}
			for k, v := range u {
				p := 1 / (1 + math.Exp(-v)) // of a class above the k-th
				if class <= k {
					p = 1 - p
				}
				want -= math.Log(p)
			}
		}
		if math.Abs(got-want) > 1e-10*want {
			t.Errorf("ordinal %t: objective %v, expected %v", ordinal, got, want)
		}
		trash := make([]float64, len(w))
		for i := range w {
			const h = 1e-5
			at := w[i]
			w[i] = at + h
			up := l.Eval(w, trash)
			w[i] = at - h
			down := l.Eval(w, trash)
			w[i] = at
			if slope := (up - down) / (2 * h); math.Abs(slope-grad[i]) > 1e-6*max(1, math.Abs(slope)) {
				t.Errorf("ordinal %t: derivative %d is %v, differences say %v", ordinal, i, grad[i], slope)
			}
		}
		other := NewLikelihood(d, s, level, c, 3)
		if v := other.Eval(w, trash); v != got {
			t.Errorf("ordinal %t: three workers have %v, one %v", ordinal, v, got)
		}
	}
}
