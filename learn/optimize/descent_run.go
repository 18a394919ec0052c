package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// descentRun is one run of a Descent. Between epochs, st determines the further course. During an epoch, at is the
// current point.
type descentRun struct {
	ctx     context.Context
	set     Descent // with defaults filled in
	terms   Terms
	inverse float64 // 1/C
	st      DescentState
	at      place
	keep    keeper[DescentState]

	order []int // order of the terms in this epoch
	swap  func(i, j int)
	batch []int // terms of the current update, a part of order
	grad  []float64
	from  []float64      // start of the epoch
	sums  *parallel.Sums // adds the terms of batches of more than one term
	eval  func(worker, from, to int, grad []float64) float64
}

// place is the current point of an epoch.
type place struct {
	x       []float64
	moments [][]float64
	updates int // number of updates since the (re)start
	restart int
	rate    float64
	square  float64 // ‖x‖²
}

var errInterrupted = errors.New("interrupted")

func newDescentRun(ctx context.Context, set Descent, terms Terms) *descentRun {
	n, dim := terms.Terms(), terms.Dim()
	set.Batch = min(set.Batch, n)
	r := &descentRun{ctx: ctx, set: set, terms: terms, order: make([]int, n)}
	r.keep = keeper[DescentState]{set.Resumption, &r.st, 0}
	if set.C != 0 {
		r.inverse = 1 / set.C
	}
	r.swap = func(i, j int) { r.order[i], r.order[j] = r.order[j], r.order[i] }
	for range set.Rule.moments() {
		r.st.moments = append(r.st.moments, make([]float64, dim))
		r.at.moments = append(r.at.moments, make([]float64, dim))
	}
	r.st.X, r.at.x, r.from = make([]float64, dim), make([]float64, dim), make([]float64, dim)
	if set.Batch > 1 {
		alike := make([]int, set.Batch)
		r.sums = parallel.NewSums(dim, parallel.Split(alike, parallel.DefaultBlocks))
		r.grad, r.eval = r.sums.Total, r.evalBlock
	} else {
		r.grad = make([]float64, dim)
	}
	r.st.Rule, r.st.Terms = set.Rule, n
	r.st.Rate = set.Rate
	r.st.TrainingCost, r.st.lowest = math.Inf(1), math.Inf(1)
	return r
}

// begin sets the start to x0, or to Init for restart 0 if x0 is nil.
func (r *descentRun) begin(x0 []float64) error {
	if x0 == nil && r.set.Init != nil {
		r.set.Init(0, r.st.X)
		return checkStart(r.st.X)
	}
	if err := takeStart(r.st.X, x0); err != nil {
		return err
	}
	return checkStart(r.st.X)
}

func checkStart(x []float64) error {
	if err := finiteStart(x); err != nil {
		return err
	}
	if math.IsInf(norm(x), 1) {
		return errors.New("the start is so far from 0 that its square overflows")
	}
	return nil
}

// resume checks that a state fits and continues from it.
func (r *descentRun) resume(from *DescentState) error {
	if err := from.validate(); err != nil {
		return unfit("resumed state: %w", err)
	}
	if err := sameSize(from.X, r.st.X); err != nil {
		return err
	}
	switch {
	case from.Terms != r.st.Terms:
		return unfit("resumed state is of a sum of %d terms, expected %d", from.Terms, r.st.Terms)
	case from.Rule != r.set.Rule:
		return unfit("resumed state is of the rule %v, expected %v", from.Rule, r.set.Rule)
	}
	r.st = *from.Clone()
	r.keep.saved = r.st.Epoch
	return nil
}

// epoch makes the next epoch. After an error the state is unchanged.
func (r *descentRun) epoch() (Epoch, error) {
	if err := r.depart(); err != nil {
		return Epoch{}, err
	}
	if r.set.Begin != nil {
		if err := r.set.Begin(r.st.Epoch + 1); err != nil {
			return Epoch{}, fmt.Errorf("beginning of epoch %d: %w", r.st.Epoch+1, err)
		}
	}
	e := Epoch{Number: r.st.Epoch + 1, Restart: r.at.restart, Rate: r.at.rate}
	cost, err := r.pass()
	if err != nil {
		return e, err
	}
	e.TrainingCost = cost
	if err := r.judge(&e); err != nil {
		return e, err
	}
	e.Best = r.commit(e)
	e.X = r.st.X
	return e, nil
}

// depart sets at to the state, or to a new start if a restart is due.
func (r *descentRun) depart() error {
	st, at := &r.st, &r.at
	copy(at.x, st.X)
	for i, m := range st.moments {
		copy(at.moments[i], m)
	}
	at.updates, at.restart, at.rate = st.Updates, st.Restart, st.Rate
	if r.set.Init != nil && r.set.Patience > 0 && st.idle >= r.set.Patience {
		at.updates, at.restart, at.rate = 0, st.Restart+1, r.set.Rate
		for _, m := range at.moments {
			clear(m)
		}
		clear(at.x)
		r.set.Init(at.restart, at.x)
		if err := checkStart(at.x); err != nil {
			return fmt.Errorf("restart %d: %w", at.restart, err)
		}
	}
	copy(r.from, at.x)
	at.square = kernel.Dot(at.x, at.x)
	return nil
}

// pass makes the updates of an epoch and returns the sum of the values of its batches.
func (r *descentRun) pass() (float64, error) {
	for i := range r.order {
		r.order[i] = i
	}
	if r.set.Shuffle != nil {
		r.set.Shuffle(r.st.Epoch+1).Shuffle(len(r.order), r.swap)
	}
	var cost float64
	announced := 0
	for from := 0; from < len(r.order); from += r.set.Batch {
		if r.ctx.Err() != nil {
			return 0, errInterrupted
		}
		announced = r.announce(from, announced)
		r.batch = r.order[from:min(from+r.set.Batch, len(r.order))]
		value := r.evalBatch()
		if !finite(value) || !finite(kernel.Dot(r.grad, r.grad)) {
			return 0, r.culprit()
		}
		r.move()
		r.at.square = kernel.Dot(r.at.x, r.at.x)
		if !finite(r.at.square) {
			return 0, r.overshot()
		}
		cost += value
	}
	return cost, nil
}

// announce announces the terms that follow the batch at from, up to a window ahead. announced is the end of the terms
// announced so far, and the result is the new end. Terms are announced half a window at a time, so that many are read
// at once.
func (r *descentRun) announce(from, announced int) int {
	terms, ok := r.terms.(Announced)
	if !ok || terms.Window() == 0 {
		return len(r.order)
	}
	from += r.set.Batch
	end := min(len(r.order), from+terms.Window())
	if announced-from > terms.Window()/2 || announced >= end {
		return announced
	}
	terms.Soon(r.order[announced:end])
	return end
}

// evalBatch returns the batch's share of F and sets grad to its gradient.
func (r *descentRun) evalBatch() float64 {
	var value float64
	if r.sums != nil {
		value = r.sums.Run(r.set.Workers, r.eval)
	} else {
		clear(r.grad)
		value = r.terms.EvalTerm(r.batch[0], r.at.x, r.grad)
	}
	if r.inverse > 0 {
		share := r.inverse * float64(len(r.batch)) / float64(len(r.order))
		value = math.FMA(share, r.at.square, value)
		kernel.Axpy(2*share, r.at.x, r.grad)
	}
	return value
}

// evalBlock evaluates a part of the terms of a batch. The last batch of an epoch may be shorter.
func (r *descentRun) evalBlock(_, from, to int, grad []float64) float64 {
	var value float64
	for _, i := range r.batch[min(from, len(r.batch)):min(to, len(r.batch))] {
		value += r.terms.EvalTerm(i, r.at.x, grad)
	}
	return value
}

// judge sets the training cost, the validation value and the step of an epoch at its end.
func (r *descentRun) judge(e *Epoch) (err error) {
	if r.set.Cost != nil {
		if e.TrainingCost, err = r.set.Cost(r.at.x); err != nil {
			return fmt.Errorf("training cost of epoch %d: %w", e.Number, err)
		}
	}
	if r.set.Validate != nil {
		if e.Validation, err = r.set.Validate(e.Number, r.at.x); err != nil {
			return fmt.Errorf("validation of epoch %d: %w", e.Number, err)
		}
	}
	for i, x := range r.at.x {
		r.from[i] -= x
	}
	e.Step = norm(r.from)
	switch {
	case !finite(e.TrainingCost):
		return r.notFinite(noTerm, "training cost", e.TrainingCost)
	case !finite(e.Validation):
		return r.notFinite(noTerm, "validation value", e.Validation)
	case !finite(e.Step):
		return r.notFinite(noTerm, "squared length of the epoch's step", e.Step)
	}
	return nil
}

// commit makes the end of the epoch the new state and reports whether the epoch is the best so far.
func (r *descentRun) commit(e Epoch) bool {
	st, at := &r.st, &r.at
	if at.restart != st.Restart {
		st.TrainingCost, st.lowest = math.Inf(1), math.Inf(1)
	}
	st.Rate = at.rate
	if e.TrainingCost > st.TrainingCost {
		st.Rate *= r.set.Decay
	}
	st.idle++
	if e.TrainingCost < st.lowest {
		st.lowest, st.idle = e.TrainingCost, 0
	}
	st.TrainingCost = e.TrainingCost
	st.X, at.x = at.x, st.X
	st.moments, at.moments = at.moments, st.moments
	st.Epoch, st.Restart, st.Updates = e.Number, at.restart, at.updates

	better := st.Best.Epoch == 0 || e.TrainingCost < st.Best.TrainingCost
	if r.set.Validate != nil {
		better = st.Best.Epoch == 0 || e.Validation > st.Best.Validation
	}
	better = better || r.set.KeepLast
	if better {
		x := st.Best.X
		x = append(x[:0], st.X...)
		st.Best = BestEpoch{Epoch: e.Number, TrainingCost: e.TrainingCost, Validation: e.Validation, X: x}
	}
	return better
}
