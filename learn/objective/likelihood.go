package objective

import (
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// Likelihood is the negative log-likelihood of documents' classes with a penalty,
//
//	−Σ v log P(class) + ‖w‖²/C,
//
// where v is the weight of the document's query times its own (default 1). It is a convex function of the
// parameters w of a scorer.Classes. With ordered classes, P(class) is the product over k > 0 of P(class ≥
// k) if it holds and else P(class < k). It must not be evaluated concurrently.
type Likelihood struct {
	scorer  scorer.Classes
	d       *dataset.Dataset
	classes []int // of all documents
	first   []int // row of each query's first document
	inverse float64
	workers int
	sums    *parallel.Sums
	run     func(worker, from, to int, down []float64) float64
	params  []float64
	rows    []*dataset.RowReader // one a worker
	work    [][]float64          // of each worker: the functions' values at a query's documents
	weights []float64            // v, of all documents; nil: all 1
}

// NewLikelihood returns the likelihood of the documents of d. classes are numbers from 0, one for each
// row; c > 0 is C; workers is the number of goroutines, 0 for GOMAXPROCS. Neither d nor classes may
// change.
func NewLikelihood(d *dataset.Dataset, s scorer.Classes, classes []int, c float64, workers int) *Likelihood {
	l := &Likelihood{scorer: s, d: d, classes: classes, inverse: 1 / c, weights: d.RowWeights()}
	docs, row, most := make([]int, len(d.Queries)), 0, 0
	for i := range d.Queries {
		docs[i] = d.Queries[i].Len()
		l.first = append(l.first, row)
		row += docs[i]
		most = max(most, docs[i])
	}
	l.sums = parallel.NewSums(s.NumParams(), parallel.Split(docs, parallel.DefaultBlocks))
	l.workers = parallel.Workers(workers, l.sums.Blocks())
	l.work = make([][]float64, l.workers)
	for i := range l.work {
		l.rows = append(l.rows, d.Reader())
		l.work[i] = make([]float64, s.Functions()*most)
	}
	l.run = l.queries
	return l
}

// Dim returns the number of parameters.
func (l *Likelihood) Dim() int { return l.scorer.NumParams() }

// StrongConvexity returns μ such that the function is μ-strongly convex: 2/C.
func (l *Likelihood) StrongConvexity() float64 { return 2 * l.inverse }

// Eval returns the value at w and overwrites grad with the gradient. After the first call
// it allocates nothing.
func (l *Likelihood) Eval(w, grad []float64) float64 {
	l.params = w
	value := l.sums.Run(l.workers, l.run)
	for i, down := range l.sums.Total {
		grad[i] = float64(2*l.inverse*w[i]) - down
	}
	return value + float64(l.inverse*kernel.Dot(w, w))
}

// queries returns the sum over a range of queries and subtracts its gradient from down.
func (l *Likelihood) queries(worker, from, to int, down []float64) float64 {
	var sum float64
	for q := from; q < to; q++ {
		x := l.rows[worker].At(q)
		classes := l.classes[l.first[q]:][:l.d.Queries[q].Len()]
		u := l.work[worker][:l.scorer.Functions()*len(classes)]
		l.scorer.Apply(u, l.params, x)
		var weights []float64
		if l.weights != nil {
			weights = l.weights[l.first[q]:][:len(classes)]
		}
		if l.scorer.Ordinal {
			sum += ordinal(u, classes, weights)
		} else {
			sum += categorical(u, classes, weights)
		}
		l.scorer.Back(down, x, u)
	}
	return sum
}

// categorical returns −Σ v log P(class) under the softmax of the functions' values u, one row of documents
// for each function. It overwrites u with the negative derivatives. weights has v for each document; nil
// means 1.
func categorical(u []float64, classes []int, weights []float64) (sum float64) {
	docs := len(classes)
	for i, class := range classes {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		top := math.Inf(-1)
		for at := i; at < len(u); at += docs {
			top = max(top, u[at])
		}
		own := u[class*docs+i] - top
		var total float64
		for at := i; at < len(u); at += docs {
			u[at] = elementary.Exp(u[at] - top)
			total += u[at]
		}
		for at := i; at < len(u); at += docs {
			u[at] = w * (u[at] / -total)
		}
		u[class*docs+i] += w
		sum += float64(w * (elementary.Log(total) - own))
	}
	return sum
}

// ordinal is categorical for the sum of the logistic losses of "class ≥ k", k > 0.
func ordinal(u []float64, classes []int, weights []float64) (sum float64) {
	docs := len(classes)
	for at, v := range u {
		w, sign := 1.0, -1.0
		if weights != nil {
			w = weights[at%docs]
		}
		if classes[at%docs] > at/docs {
			sign = 1
		}
		e := elementary.Exp(-math.Abs(v))
		if z := float64(sign * v); z > 0 {
			sum += float64(w * elementary.Log1p(e))
			u[at] = w * sign * e / (1 + e)
		} else {
			sum += float64(w * (elementary.Log1p(e) - z))
			u[at] = w * sign / (1 + e)
		}
	}
	return sum
}
