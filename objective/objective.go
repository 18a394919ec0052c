// Package objective puts a loss and a scorer together over a data set: the
// regularised empirical risk, a function of the scorer's parameters that an
// optimiser can minimise.
//
// Start reading at [Risk]. The package must not know which loss or scorer it
// holds, nor how the function is minimised.
package objective

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/scorer"
)

// Risk is the regularised empirical risk
//
//	F(w) = Σ_q loss_q(scores_q(w)) + ‖w‖²/C
//
// summed (not averaged) over the queries of a data set, as LogRank has it
// (Section 2.1; no ½, no bias). Its values and gradients are the same, bit for
// bit, whatever the number of workers. A Risk may not be used by several
// goroutines at once, except for [Risk.EvalTerm].
type Risk struct {
	scorer  scorer.Scorer
	loss    loss.Loss
	seed    uint64
	c       float64 // as asked for
	inverse float64 // 1/C
	queries []boundQuery
	sums    *parallel.Sums
	run     func(worker, from, to int, down []float64) float64
	workers int
	work    []workspace // one a worker
	params  []float64   // the point being evaluated
	terms   sync.Pool   // of *workspace, for EvalTerm
	done    <-chan struct{}
}

// Options are what a Risk takes beside data, scorer and loss.
type Options struct {
	C       float64 // of ‖w‖²/C; 0 or +Inf means no regularisation
	Seed    uint64  // of everything the loss draws
	Workers int     // goroutines; 0 means GOMAXPROCS

	// Done, if it is closed, ends what is under way before its next query: [New]
	// returns ErrInterrupted, and sums over all queries are NaN. It is a context's.
	Done <-chan struct{}
}

// ErrInterrupted tells that [Options.Done] was closed.
var ErrInterrupted = errors.New("interrupted")

// closed tells whether a channel that nothing is sent on is closed.
func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// regularization returns 1/C, 0 for none.
func (o Options) regularization() (float64, error) {
	if o.C == 0 {
		return 0, nil
	}
	if inverse := 1 / o.C; o.C > 0 && !math.IsInf(inverse, 1) {
		return inverse, nil
	}
	return 0, fmt.Errorf("regularisation C = %v, expected a positive number whose inverse is finite, or 0 for none", o.C)
}

// boundQuery is a query the loss can learn from.
type boundQuery struct {
	id     string
	x      []float32
	grades []float64
	docs   int
	loss   loss.Bound
}

// workspace is one worker's memory.
type workspace struct {
	scores, lambda []float64
	scratch        loss.Scratch
	scorer         scorer.Workspace
	term           int // that EvalTerm has evaluated last
}

func newWorkspace(docs int) workspace {
	return workspace{scores: make([]float64, docs), lambda: make([]float64, docs)}
}

// New binds the loss to every query of d, which must not change afterwards.
// Queries from which the loss learns nothing are left out. It is an error if the
// scorer takes another number of features than d has, if C is negative or NaN,
// or if the loss does not fit a query.
func New(d *dataset.Dataset, s scorer.Scorer, l loss.Loss, opts Options) (*Risk, error) {
	if s.NumFeatures() != d.Features {
		return nil, fmt.Errorf("the scorer takes %d features, the data have %d", s.NumFeatures(), d.Features)
	}
	inverse, err := opts.regularization()
	if err != nil {
		return nil, err
	}
	queries, err := bindAll(d, l, opts)
	if err != nil {
		return nil, err
	}
	r := &Risk{scorer: s, loss: l, seed: opts.Seed, c: opts.C, inverse: inverse, queries: queries, done: opts.Done}
	docs, most := make([]int, len(queries)), 0
	for i, q := range queries {
		docs[i] = q.docs
		most = max(most, q.docs)
	}
	r.sums = parallel.NewSums(s.NumParams(), parallel.Split(docs, parallel.DefaultBlocks))
	r.run = r.evalQueries
	r.workers = parallel.Workers(opts.Workers, r.sums.Blocks())
	r.work = make([]workspace, r.workers)
	for i := range r.work {
		r.work[i] = newWorkspace(most)
	}
	r.terms.New = func() any {
		w := newWorkspace(most)
		return &w
	}
	return r, nil
}

// bindAll binds the loss to the queries side by side, each with a stream keyed
// by its id, and keeps those that teach something.
func bindAll(d *dataset.Dataset, l loss.Loss, opts Options) ([]boundQuery, error) {
	all := make([]boundQuery, len(d.Queries))
	errs := make([]error, len(d.Queries))
	parallel.For(len(d.Queries), opts.Workers, func(_, i int) {
		if closed(opts.Done) {
			errs[i] = ErrInterrupted
			return
		}
		q := &d.Queries[i]
		b, err := l.Bind(q.Grades, random.Stream(opts.Seed, "bind", q.ID))
		all[i], errs[i] = boundQuery{id: q.ID, x: q.X, grades: q.Grades, docs: q.Len(), loss: b}, err
	})
	kept := all[:0]
	for i, q := range all {
		if errs[i] != nil {
			return nil, fmt.Errorf("query %q: %w", d.Queries[i].ID, errs[i])
		}
		if q.loss != loss.Nothing {
			kept = append(kept, q)
		}
	}
	return kept, nil
}

// Queries returns the number of queries the loss learns from.
func (r *Risk) Queries() int { return len(r.queries) }

// Dim returns the number of parameters.
func (r *Risk) Dim() int { return r.scorer.NumParams() }

// StrongConvexity returns μ such that F is μ-strongly convex if the losses are
// convex in the parameters: 2/C.
func (r *Risk) StrongConvexity() float64 { return 2 * r.inverse }

// Eval returns F(w) and overwrites grad with its gradient; both slices have Dim
// elements. After the first call it allocates nothing.
func (r *Risk) Eval(w, grad []float64) float64 {
	return r.penalize(r.sum(r.run, w, grad), w, grad)
}

// sum returns what run adds up over the queries, with its gradient.
func (r *Risk) sum(run func(worker, from, to int, down []float64) float64, w, grad []float64) float64 {
	r.params = w
	value := r.sums.Run(r.workers, run)
	for i, down := range r.sums.Total {
		grad[i] = -down // λ points downhill
	}
	return value
}

// penalize adds ‖w‖²/C and its gradient.
func (r *Risk) penalize(value float64, w, grad []float64) float64 {
	if r.inverse > 0 {
		value += r.inverse * kernel.Dot(w, w)
		kernel.Axpy(2*r.inverse, w, grad)
	}
	return value
}

// evalQueries returns the loss of a run of queries and adds the negative of its
// gradient to down.
func (r *Risk) evalQueries(worker, from, to int, down []float64) float64 {
	ws := &r.work[worker]
	var value float64
	for i := from; i < to; i++ {
		if closed(r.done) {
			return math.NaN()
		}
		q := &r.queries[i]
		scores, lambda := ws.scores[:q.docs], ws.lambda[:q.docs]
		r.scorer.Score(scores, r.params, q.x, &ws.scorer)
		value += q.loss.Eval(scores, lambda, &ws.scratch)
		ws.scorer.Next = r.after(i)
		r.scorer.Backward(down, r.params, q.x, lambda, &ws.scorer)
	}
	return value
}

// after returns the features of the query after the i-th, nil after the last.
func (r *Risk) after(i int) []float32 {
	if i+1 < len(r.queries) {
		return r.queries[i+1].x
	}
	return nil
}
