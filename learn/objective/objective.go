// Package objective puts a loss and a scorer together over a data set: the
// regularised empirical risk, a function of the scorer's parameters that an
// optimiser can minimise.
//
// Start reading at [Functional], the loss of a data set as a function of its documents'
// scores, and at [Risk], the same as a function of a scorer's parameters. The package must
// not know which loss or scorer it holds, nor how the function is minimised.
package objective

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model/scorer"
)

// Risk is the regularised empirical risk
//
//	F(w) = Σ_q v_q loss_q(scores_q(w)) + ‖w‖²/C
//
// summed (not averaged) over the queries of a data set, as LogRank has it
// (Section 2.1; no ½, no bias), with their weights v, 1 unless the data have others. Its values and gradients are the same, bit for
// bit, whatever the number of workers. A Risk may not be used by several
// goroutines at once, except for [Risk.EvalTerm].
type Risk struct {
	functional *Functional
	queries    []boundQuery // the functional's
	scorer     scorer.Scorer
	c          float64 // Options.C
	inverse    float64 // 1/C
	sums       *parallel.Sums
	run        rangeFunc // of Eval
	workers    int
	work       []workspace               // one a worker
	params     []float64                 // the point being evaluated
	rows       func() *dataset.RowReader // of the queries, nil unless the data are streamed
	announcer  *dataset.RowReader        // for Soon, likewise
	window     int
	terms      sync.Pool // of *workspace, for EvalTerm
	inTurn     bool      // see InTurn
	team       *parallel.Team
	divide     parallel.Choice // whether to divide a term among the team
	next       []float32       // of the term announced last; nil if there is none or the data are streamed
}

// Options are what a Risk takes beside data, scorer and loss.
type Options struct {
	C       float64 // of ‖w‖²/C; 0 or +Inf means no regularisation
	Seed    uint64  // of everything the loss draws
	Workers int     // goroutines; 0 means GOMAXPROCS

	// Done, a context's channel or nil, interrupts once it is closed: [New] returns
	// ErrInterrupted, and sums over all queries end before their next query as NaN.
	Done <-chan struct{}

	// Bindings, if not nil, keep what the loss was bound to for other risks.
	Bindings *Bindings
}

// ErrInterrupted is returned after [Options.Done] was closed.
var ErrInterrupted = errors.New("interrupted")

// closed reports whether a channel that nothing is sent on is closed.
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
	return 0, fmt.Errorf("regularisation C = %v, expected a positive number whose inverse is finite, or 0 for none",
		o.C)
}

// workspace is one worker's memory.
type workspace struct {
	scores, lambda []float64
	scratch        loss.Scratch
	scorer         scorer.Workspace
	rows           *dataset.RowReader // nil unless the data are streamed
	term           int                // that EvalTerm has evaluated last
}

func (r *Risk) newWorkspace(docs int) workspace {
	w := workspace{scores: make([]float64, docs), lambda: make([]float64, docs)}
	if r.rows != nil {
		w.rows = r.rows()
	}
	return w
}

// New binds the loss to every query of d, which must not change afterwards.
// Queries whose loss is [loss.Nothing], or whose weight is 0, are left out. It is an error if the
// scorer takes another number of features than d has, if C is negative or NaN,
// or if the loss does not fit a query, or takes no weights of documents where there are some.
func New(d *dataset.Dataset, s scorer.Scorer, l loss.Loss, opts Options) (*Risk, error) {
	if s.NumFeatures() != d.Features {
		return nil, fmt.Errorf("the scorer takes %d features, the data have %d", s.NumFeatures(), d.Features)
	}
	inverse, err := opts.regularization()
	if err != nil {
		return nil, err
	}
	f, err := functionalOf(d, l, opts.Bindings, opts.Seed, opts.Workers, opts.Done)
	if err != nil {
		return nil, err
	}
	r := &Risk{
		functional: f, queries: f.queries, scorer: s, c: opts.C, inverse: inverse, sums: f.newSums(s.NumParams()),
	}
	most := 0
	for _, q := range f.queries {
		most = max(most, q.docs)
	}
	r.stream(d)
	r.run = f.each(r.through(r.evalQuery))
	r.workers = parallel.Workers(opts.Workers, r.sums.Blocks())
	r.work = make([]workspace, r.workers)
	for i := range r.work {
		r.work[i] = r.newWorkspace(most)
	}
	r.terms.New = func() any {
		w := r.newWorkspace(most)
		if w.rows != nil {
			w.rows.Quiet() // Soon announces terms
		}
		return &w
	}
	return r, nil
}

// stream has the features of streamed data read query by query.
func (r *Risk) stream(d *dataset.Dataset) {
	if !d.Streamed() {
		return
	}
	order := make([]int, len(r.queries))
	for i := range r.queries {
		order[i] = r.queries[i].number
	}
	r.rows = func() *dataset.RowReader { return d.ReaderOf(order) }
	_, alone := d.Window()
	r.announcer, r.window = r.rows(), 2*alone // one goroutine announces for all that evaluate
}

// Window returns how many terms ahead of their evaluation it is worth calling Soon; where the
// features are in memory, 1 if terms come [Risk.InTurn] and else 0.
func (r *Risk) Window() int { return r.window }

// Soon announces that terms will be evaluated, so that their features are read meanwhile.
func (r *Risk) Soon(terms []int) {
	switch {
	case r.announcer != nil:
		r.announcer.Soon(terms)
	case r.inTurn && len(terms) > 0:
		r.next = r.queries[terms[len(terms)-1]].x
	}
}

// Queries returns the number of queries whose loss is not [loss.Nothing].
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
func (r *Risk) sum(run rangeFunc, w, grad []float64) float64 {
	r.params = w
	value := r.sums.Run(r.workers, run)
	for i, down := range r.sums.Total {
		grad[i] = -down // λ points downhill
	}
	return value
}

// penalize adds ‖w‖²/C and its gradient.
func (r *Risk) penalize(value float64, w, grad []float64) float64 {
	return addPenalty(r.inverse, value, w, grad)
}

// lossOf evaluates a query's loss at some scores. It overwrites lambda with the vector
// that is propagated back through the scorer.
type lossOf func(query int, scores, lambda []float64, scratch *loss.Scratch) float64

// through returns the term of a query in a sum: its documents are scored, the loss is
// evaluated, and lambda is propagated back to the parameters.
func (r *Risk) through(eval lossOf) func(worker, query int, down []float64) float64 {
	return func(worker, query int, down []float64) float64 {
		ws := &r.work[worker]
		ws.scorer.Next = r.after(query)
		return r.term(eval, query, r.params, down, 1, ws)
	}
}

// term returns the value of eval for a query at params, times its weight, and adds sign times its
// lambda, likewise weighed and propagated back, to down.
func (r *Risk) term(eval lossOf, query int, params, down []float64, sign float64, ws *workspace) float64 {
	q := &r.queries[query]
	scores, lambda := ws.scores[:q.docs], ws.lambda[:q.docs]
	x := q.x
	if ws.rows != nil {
		x = ws.rows.At(query)
	}
	r.scorer.Score(scores, params, x, &ws.scorer)
	value := q.weight * eval(query, scores, lambda, &ws.scratch)
	if factor := sign * q.weight; factor != 1 {
		kernel.Scale(factor, lambda)
	}
	r.scorer.Backward(down, params, x, lambda, &ws.scorer)
	return value
}

func (r *Risk) evalQuery(query int, scores, lambda []float64, scratch *loss.Scratch) float64 {
	return r.queries[query].loss.Eval(scores, lambda, scratch)
}

// after returns the features of the query after the i-th, nil after the last.
func (r *Risk) after(i int) []float32 {
	if i+1 < len(r.queries) {
		return r.queries[i+1].x
	}
	return nil
}
