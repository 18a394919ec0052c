// Package objective combines a loss and a scorer over a data set. The result is the regularised empirical
// risk, a function of the scorer's parameters that an optimiser can minimise.
//
// Start reading at [Functional], the loss of a data set as a function of its documents' scores. [Risk] is
// the loss as a function of a scorer's parameters. The package must not depend on any particular loss or
// scorer, nor on how the function is minimised.
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
// over the queries of a data set. It is a sum, not a mean, as in LogRank (Section 2.1; no ½, no bias). v_q
// is the weight of a query, 1 by default. Values and gradients have the same bits for any number of
// workers. A Risk must not be used by several goroutines at once, except for [Risk.EvalTerm].
type Risk struct {
	functional *Functional
	queries    []boundQuery // functional.queries
	scorer     scorer.Scorer
	shifts     Shifts
	c          float64 // Options.C
	inverse    float64 // 1/C
	sums       *parallel.Sums
	run        rangeFunc // for Eval
	workers    int
	work       []workspace               // one for each worker
	params     []float64                 // the point at which the risk is evaluated
	rows       func() *dataset.RowReader // returns a reader of the queries; nil unless the data are streamed
	announcer  *dataset.RowReader        // the reader of Soon; nil unless the data are streamed
	window     int
	terms      sync.Pool // of *workspace, for EvalTerm
	inTurn     bool      // terms are evaluated one after the other: see InTurn
	team       *parallel.Team
	divide     parallel.Choice // whether to divide a term among the team
	next       []float32       // features of the last announced term; nil if there is none or the data are streamed
}

// Options are the options of a Risk.
type Options struct {
	C       float64 // the C of the penalty ‖w‖²/C; 0 or +Inf means no regularisation
	Seed    uint64  // random seed of the loss
	Workers int     // number of goroutines; 0 means GOMAXPROCS

	// Done is the channel of a context, or nil. If it is closed, [New] returns ErrInterrupted, and
	// evaluations over all queries stop and return NaN.
	Done <-chan struct{}

	// Bindings, if not nil, shares the bound loss with other risks.
	Bindings *Bindings

	Shifts Shifts
}

// Shifts are numbers added to scores, one for each slot in which documents are shown. They are parameters of the risk,
// after those of the scorer, and are learned with them. The zero value has none.
type Shifts struct {
	Slots  []int32 // slot of each row, below Number
	Number int
	L2     float64 // adds L2·b²/2 for each document with the shift b, times its weight
}

// ErrInterrupted is returned after [Options.Done] was closed.
var ErrInterrupted = errors.New("interrupted")

// closed reports whether a channel is closed. Nothing may be sent on the channel.
func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// regularization returns 1/C, or 0 for no regularisation.
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

// workspace is the memory of one worker.
type workspace struct {
	scores, lambda []float64
	scratch        loss.Scratch
	scorer         scorer.Workspace
	rows           *dataset.RowReader // nil unless the data are streamed
	term           int                // the last term that EvalTerm evaluated
}

func (r *Risk) newWorkspace(docs int) workspace {
	w := workspace{scores: make([]float64, docs), lambda: make([]float64, docs)}
	if r.rows != nil {
		w.rows = r.rows()
	}
	return w
}

// New binds the loss to every query of d, which must not change afterwards. It leaves out queries whose loss is
// [loss.Nothing] or whose weight is 0. It returns an error if
//
// - the scorer takes another number of features than d has,
// - C is negative or NaN,
// - the loss cannot be bound to a query,
// - documents have weights and the loss does not support them.
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
		functional: f, queries: f.queries, scorer: s, c: opts.C, inverse: inverse, sums: f.newSums(s.NumParams() + opts.Shifts.Number), shifts: opts.Shifts,
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
			w.rows.Quiet() // it does not read ahead, because Soon announces terms
		}
		return &w
	}
	return r, nil
}

// stream sets up reading the features of streamed data query by query.
func (r *Risk) stream(d *dataset.Dataset) {
	if !d.Streamed() {
		return
	}
	order := make([]int, len(r.queries))
	for i := range r.queries {
		order[i] = r.queries[i].number
	}
	r.rows = func() *dataset.RowReader { return d.ReaderOf(order) }
	r.announcer, r.window = r.rows(), d.Window() // one goroutine reads ahead for all goroutines that evaluate
}

// Window returns the number of terms by which calls of Soon should precede EvalTerm. If the features are in memory,
// the window is 1 after [Risk.InTurn], and otherwise 0.
func (r *Risk) Window() int { return r.window }

// Soon announces the terms that EvalTerm will evaluate next, so that their features are read ahead.
func (r *Risk) Soon(terms []int) {
	switch {
	case r.announcer != nil:
		r.announcer.Soon(terms)
	case r.inTurn && len(terms) > 0:
		r.next = r.queries[terms[len(terms)-1]].x
	}
}

// Queries returns the number of queries that are not left out.
func (r *Risk) Queries() int { return len(r.queries) }

// Dim returns the number of parameters: those of the scorer and the shifts.
func (r *Risk) Dim() int { return r.scorer.NumParams() + r.shifts.Number }

// StrongConvexity returns 2/C. If the losses are convex in the parameters, F is μ-strongly convex for this μ.
func (r *Risk) StrongConvexity() float64 { return 2 * r.inverse }

// Eval returns F(w) and overwrites grad with its gradient; both slices have Dim
// elements. After the first call it allocates nothing.
func (r *Risk) Eval(w, grad []float64) float64 {
	return r.penalize(r.sum(r.run, w, grad), w, grad)
}

// sum returns the sum of the losses that run computes, and overwrites grad with its gradient.
func (r *Risk) sum(run rangeFunc, w, grad []float64) float64 {
	r.params = w
	value := r.sums.Run(r.workers, run)
	for i, down := range r.sums.Total {
		grad[i] = -down // down is the negative gradient, because λ = −∂L/∂s
	}
	return value
}

// penalize returns value plus the penalty ‖w‖²/C, and adds the penalty's gradient to grad.
func (r *Risk) penalize(value float64, w, grad []float64) float64 {
	return addPenalty(r.inverse, value, w, grad)
}

// lossOf returns the loss of a query at the given scores. It overwrites lambda with the vector that is
// propagated back through the scorer.
type lossOf func(query int, scores, lambda []float64, scratch *loss.Scratch) float64

// through returns a function that evaluates one query's term of a sum. It scores the documents, evaluates the loss by
// eval, and propagates lambda back to the parameters.
func (r *Risk) through(eval lossOf) func(worker, query int, down []float64) float64 {
	return func(worker, query int, down []float64) float64 {
		ws := &r.work[worker]
		ws.scorer.Next = r.after(query)
		return r.term(eval, query, r.params, down, 1, ws)
	}
}

// term returns the value of eval for a query at params, times the weight of the query. It propagates
// lambda, times sign and this weight, back to the parameters and adds the result to down.
func (r *Risk) term(eval lossOf, query int, params, down []float64, sign float64, ws *workspace) float64 {
	q := &r.queries[query]
	scores, lambda := ws.scores[:q.docs], ws.lambda[:q.docs]
	x := q.x
	if ws.rows != nil {
		x = ws.rows.At(query)
	}
	n := r.scorer.NumParams()
	r.scorer.Score(scores, params[:n], x, &ws.scorer)
	r.shifts.add(q, scores, params[n:])
	value := float64(q.weight * eval(query, scores, lambda, &ws.scratch))
	if factor := sign * q.weight; factor != 1 {
		kernel.Scale(factor, lambda)
	}
	r.scorer.Backward(down[:n], params[:n], x, lambda, &ws.scorer)
	return value + r.shifts.backward(q, down[n:], params[n:], lambda, sign)
}

// add adds the shifts b to the scores of a query.
func (s *Shifts) add(q *boundQuery, scores, b []float64) {
	if s.Number == 0 {
		return
	}
	for i, k := range s.Slots[q.row : q.row+q.docs] {
		scores[i] += b[k]
	}
}

// backward adds lambda, which includes sign and the weight of the query, to the shifts' part of down, and the derivative
// of the regularisation. It returns the regularisation.
func (s *Shifts) backward(q *boundQuery, down, b, lambda []float64, sign float64) (value float64) {
	if s.Number == 0 {
		return 0
	}
	for i, k := range s.Slots[q.row : q.row+q.docs] {
		l2 := s.L2 * q.weight
		if q.weights != nil {
			l2 *= q.weights[i]
		}
		pull := float64(l2 * b[k])
		down[k] += lambda[i] - float64(sign*pull)
		value += float64(pull * b[k] / 2)
	}
	return value
}

func (r *Risk) evalQuery(query int, scores, lambda []float64, scratch *loss.Scratch) float64 {
	return r.queries[query].loss.Eval(scores, lambda, scratch)
}

// after returns the features of query i+1, or nil if i is the last query.
func (r *Risk) after(i int) []float32 {
	if i+1 < len(r.queries) {
		return r.queries[i+1].x
	}
	return nil
}

// Penalty returns the C of the penalty ‖w‖²/C, or 0 if there is none. Eval includes the penalty.
// EvalTerm returns the loss of one query without the penalty.
func (r *Risk) Penalty() float64 {
	if r.inverse == 0 {
		return 0
	}
	return r.c
}

// addPenalty returns value + ‖w‖²·inverse, and adds the gradient of the penalty to grad.
func addPenalty(inverse, value float64, w, grad []float64) float64 {
	if inverse > 0 {
		value += float64(inverse * kernel.Dot(w, w))
		kernel.Axpy(2*inverse, w, grad)
	}
	return value
}

// Terms returns the number of terms of the sum over queries, which is Queries.
func (r *Risk) Terms() int { return len(r.queries) }

// QueryID returns the id of the query of term i.
func (r *Risk) QueryID(i int) string { return r.queries[i].id }

// InTurn declares that terms are evaluated one after the other, in the order in which [Risk.Soon]
// announces them. Only one goroutine at a time may then call EvalTerm. If team is not nil, its
// goroutines may share the work on one query if this proves faster. Results have the same bits.
func (r *Risk) InTurn(team *parallel.Team) {
	r.inTurn, r.team = true, team
	if r.announcer == nil {
		r.window = 1
	}
}

// EvalTerm returns the i-th term, 0 ≤ i < Terms(): the loss of a query at w times the weight of the query,
// without the penalty. It adds the gradient of the term to grad. Both slices have Dim elements. If λ is
// not the gradient of the loss ([loss.Traits].NonGradient), −λ is propagated back in its place.
//
// The result depends only on i and w. Several goroutines may call EvalTerm at once, each with its own
// grad, unless [Risk.InTurn] was called.
func (r *Risk) EvalTerm(i int, w, grad []float64) float64 {
	ws := r.terms.Get().(*workspace)
	defer r.terms.Put(ws)
	ws.scorer.Next = nil
	switch {
	case r.inTurn:
		ws.scorer.Next = r.next
		ws.scorer.Team = nil
		if r.team != nil && r.divide.Second(r.queries[i].docs) {
			ws.scorer.Team, r.team.Ahead = r.team, r.next
		}
	case i == ws.term+1: // terms are evaluated in order, so the next one is known
		ws.scorer.Next = r.after(i)
	}
	ws.term = i
	return r.term(r.evalQuery, i, w, grad, -1, ws) // −1, because λ = −∂L/∂s
}

// TooMuchWork is the error for a query whose evaluation would take too much time or memory.
type TooMuchWork struct {
	Query     string // id of the query
	Documents int
	Cost      loss.Cost
	Limit     float64 // in the unit of [loss.Cost.Work]
}

// Error returns the query, an estimate of its cost and the limit.
func (e *TooMuchWork) Error() string {
	memory := ""
	if e.Cost.Bytes > 1e8 {
		memory = fmt.Sprintf(" and %.2g GB of memory", e.Cost.Bytes/1e9)
	}
	return fmt.Sprintf("query %q of %d documents: found a pass of about %.2g s%s, a work of %.2g, expected at most %.2g",
		e.Query, e.Documents, e.Cost.Operations/1e9, memory, e.Cost.Work(), e.Limit)
}

// CheckWork returns a [*TooMuchWork] for the query with the most work if its work exceeds limit, and otherwise nil.
// The work is that of the loss (coster) and the scorer together, in the unit of [loss.Cost.Work]. s and coster may be
// nil. The check takes about as long as sorting the grades.
func CheckWork(d *dataset.Dataset, s scorer.Scorer, coster loss.Coster, limit float64) error {
	pairs, _ := s.(scorer.Coster)
	if coster == nil && pairs == nil {
		return nil
	}
	var worst *TooMuchWork
	for i := range d.Queries {
		q := &d.Queries[i]
		var c loss.Cost
		if coster != nil {
			c = coster.Cost(q.Grades)
		}
		if pairs != nil {
			c.Operations += pairs.Cost(q.Len())
		}
		if work := c.Work(); work > limit && (worst == nil || work > worst.Cost.Work()) {
			worst = &TooMuchWork{Query: q.ID, Documents: q.Len(), Cost: c, Limit: limit}
		}
	}
	if worst == nil {
		return nil
	}
	return worst
}

// Redraw binds the loss again with new random numbers, which depend only on the seed, the round and the query. Round
// 0 repeats the numbers of [New]. The risk becomes a different function, so an optimiser must not compare values from
// before and after Redraw. No other method of r may run at the same time. The error names the query. After an error,
// r must not be used.
func (r *Risk) Redraw(round int) error { return r.functional.Redraw(round) }
