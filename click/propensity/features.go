package propensity

import (
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
)

// Features has the features of documents with mean 0 and standard deviation 1. As a Regression it is logistic
// regression.
type Features struct {
	dim  int
	x    []float64 // with a last column of 1
	rows map[Pair]int
}

// NewFeatures copies the features of a data set whose documents have ids. A missing value becomes the mean.
func NewFeatures(d *dataset.Dataset) (*Features, error) {
	if !d.HasDocIDs() {
		return nil, errDocIDs
	}
	f := &Features{dim: d.Features + 1, rows: map[Pair]int{}}
	f.x = make([]float64, 0, d.Docs()*f.dim)
	reader := d.Reader()
	for i := range d.Queries {
		q := reader.Query(i)
		for j := range q.Len() {
			f.rows[Pair{q.ID, q.DocID(j)}] = len(f.x) / f.dim
			for _, v := range q.X[j*d.Features : (j+1)*d.Features] {
				f.x = append(f.x, float64(v))
			}
			f.x = append(f.x, 1)
		}
	}
	for c := range d.Features {
		f.standardise(c)
	}
	return f, nil
}

func (f *Features) standardise(column int) {
	n, sum := 0.0, 0.0
	each := func(use func(v *float64)) {
		for i := column; i < len(f.x); i += f.dim {
			use(&f.x[i])
		}
	}
	each(func(v *float64) {
		if !math.IsNaN(*v) {
			n++
			sum += *v
		}
	})
	mean, square := sum/max(n, 1), 0.0
	each(func(v *float64) {
		if *v -= mean; math.IsNaN(*v) {
			*v = 0
		}
		square += float64(*v * *v)
	})
	scale := 0.0 // of a constant
	if square > 0 {
		scale = 1 / math.Sqrt(square/max(n, 1))
	}
	each(func(v *float64) { *v = float64(*v * scale) })
}

// Has reports whether the data set has the document.
func (f *Features) Has(p Pair) bool { _, ok := f.rows[p]; return ok }

// row returns the features of a pair, and 1.
func (f *Features) row(p Pair) []float64 {
	i := f.rows[p] * f.dim
	return f.x[i : i+f.dim]
}

// Start begins a logistic regression on pairs that the data set has.
func (f *Features) Start(pairs []Pair) Fitter {
	l := &logistic{dim: f.dim, rows: make([][]float64, len(pairs)), w: make([]float64, f.dim)}
	for i, p := range pairs {
		l.rows[i] = f.row(p)
	}
	return l
}

// logistic is logistic regression on soft labels by Newton's method.
type logistic struct {
	dim  int
	rows [][]float64
	w    []float64
}

const (
	ridge       = 1e-3 // half of it times the squared coefficients is subtracted from the likelihood
	newtonSteps = 2
	halvings    = 30
)

// Fit takes two Newton steps from where it ended before. No step lowers the likelihood.
func (l *logistic) Fit(labels, weights, predictions []float64) error {
	for range newtonSteps {
		h, g := newSymmetric(l.dim), make([]float64, l.dim)
		for j, w := range l.w {
			g[j] = float64(-ridge * w)
			h.add(j, j, ridge)
		}
		for i, row := range l.rows {
			if weights[i] == 0 {
				continue
			}
			p := sigmoid(dot(l.w, row))
			r, s := weights[i]*(labels[i]-p), weights[i]*p*(1-p)
			for a, x := range row {
				g[a] += float64(r * x)
				sx := s * x
				for b := range a + 1 {
					h.v[a*l.dim+b] += float64(sx * row[b])
				}
			}
		}
		if !h.factor() {
			return errSingular
		}
		h.solve(g)
		l.walk(g, labels, weights)
	}
	for i, row := range l.rows {
		predictions[i] = sigmoid(dot(l.w, row))
	}
	return nil
}

// walk adds the largest part of a step, by halves, that does not lower the likelihood.
func (l *logistic) walk(step, labels, weights []float64) {
	from, before := l.w, l.likelihood(labels, weights)
	l.w = make([]float64, l.dim)
	for size, i := 1.0, 0; i < halvings; size, i = size/2, i+1 {
		for j := range l.w {
			l.w[j] = from[j] + float64(size*step[j])
		}
		if l.likelihood(labels, weights) >= before {
			return
		}
	}
	l.w = from
}

// likelihood is the log-likelihood of soft labels less the penalty.
func (l *logistic) likelihood(labels, weights []float64) (sum float64) {
	for i, row := range l.rows {
		if weights[i] == 0 {
			continue
		}
		v := dot(l.w, row) // ln p = −ln(1+e^−v), ln(1−p) = ln p − v
		logp := -elementary.Log1p(elementary.Exp(-math.Abs(v))) + min(v, 0)
		sum += float64(weights[i] * (logp - float64((1-labels[i])*v)))
	}
	return sum - float64(ridge/2*dot(l.w, l.w))
}

func sigmoid(v float64) float64 {
	e := elementary.Exp(-math.Abs(v))
	if v < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}
