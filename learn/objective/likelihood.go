package objective

import (
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// Likelihood is the negative log-likelihood of the documents' classes plus a penalty,
//
//	−Σ v log P(class) + ‖w‖²/C,
//
// where v is the weight of the query times the weight of the document (default 1). It is a convex function of w, the
// parameters of a scorer.Classes. With ordered classes, P(class) is a product over all k > 0. The factor of k is
// P(class ≥ k) if the document's class is at least k, and otherwise P(class < k). A Likelihood must not be used by
// several goroutines at once.
type Likelihood struct {
	scorer  scorer.Classes
	d       *dataset.Dataset
	classes []int // class of each document
	first   []int // row of the first document of each query
	inverse float64
	workers int
	sums    *parallel.Sums
	run     func(worker, from, to int, down []float64) float64
	params  []float64
	rows    []*dataset.RowReader // one for each worker
	work    [][]float64          // for each worker, the values of the class functions at a query's documents
	weights []float64            // v of each document; nil if all are 1
}

// NewLikelihood returns the likelihood of the documents of d. classes has the class of each row, from 0. c
// is C and must be positive. workers is the number of goroutines; 0 means GOMAXPROCS. Neither d nor
// classes may change afterwards.
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

// StrongConvexity returns 2/C. The function is μ-strongly convex for this μ.
func (l *Likelihood) StrongConvexity() float64 { return 2 * l.inverse }

// Eval returns the value at w and overwrites grad with the gradient. After the first call it allocates no
// memory.
func (l *Likelihood) Eval(w, grad []float64) float64 {
	l.params = w
	value := l.sums.Run(l.workers, l.run)
	for i, down := range l.sums.Total {
		grad[i] = float64(2*l.inverse*w[i]) - down
	}
	return value + float64(l.inverse*kernel.Dot(w, w))
}

// queries returns the sum over a range of queries, and subtracts the gradient of this sum from down.
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

// categorical returns −Σ v log P(class), where P is the softmax of the class functions. u has their values:
// a row for each function, a column for each document. categorical overwrites u with the negative
// derivatives of the sum. weights has the v of each document; nil means 1.
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

// ordinal does what categorical does, for the sum of the logistic losses of the events "class ≥ k", k > 0.
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
