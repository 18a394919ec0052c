package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
)

// Terms is a finite sum Σᵢ fᵢ(x) whose terms can be evaluated one by one, such as the losses of queries.
type Terms interface {
	// Dim returns the number of variables.
	Dim() int

	// Terms returns the number of terms.
	Terms() int

	// EvalTerm returns the value at x of term i, 0 ≤ i < Terms(), and adds the term's gradient to grad. Both slices
	// have Dim elements. EvalTerm may add another ascent direction than the gradient (LambdaRank's −λ). It must be
	// deterministic, leave x unchanged and keep neither slice. If [Descent.Batch] is above 1, several goroutines call
	// it at once, each with its own grad.
	EvalTerm(i int, x, grad []float64) float64
}

// Descent minimises
//
//	F(x) = Σᵢ fᵢ(x) + ‖x‖²/C
//
// by stochastic gradient descent. An epoch is a pass over all N terms in random order. Each batch of b terms makes
// one update. It goes along the sum (not the mean) of the gradients of the terms, plus the share b/N of the gradient
// of the penalty. The schedule is that of C. Burges, R. Ragno and Q. Le, Learning to Rank with Nonsmooth Cost
// Functions (NIPS 2006), Sections 5 and 6. After an epoch with a higher training cost, the rate is multiplied by
// Decay. After Patience epochs without a lower training cost, the descent restarts from new random weights. The
// result is the epoch with the best validation value.
//
// The zero value is ready to use: 300 epochs of plain steps of rate 1e-3, one term at a time in order, no penalty, no
// restarts. The same terms, settings and start give the same bits for any number of workers. After the start, only
// the terms, the callbacks and, once an epoch, the shuffle allocate memory.
type Descent struct {
	// Rule computes the step from a gradient; 0 means Plain.
	Rule Rule

	// Rate is the learning rate α at the start and after restarts; 0 means 1e-3.
	Rate float64

	// Beta1 is the decay of the mean of past gradients (Adam's β₁) or steps (Momentum's μ). It is below 1. 0 means
	// 0.9, and a negative number means 0.
	Beta1 float64

	// Beta2 and Epsilon are Adam's β₂, below 1, and ε; 0 means 0.999 and 1e-8.
	Beta2, Epsilon float64

	// C is the C of the penalty ‖x‖²/C, of which every update of an epoch adds a share. +Inf means no penalty. 0
	// means the C of the terms if they are [Penalized], and otherwise no penalty. A C that differs from the C of the
	// terms is an error.
	C float64

	// Batch is the number of terms per update, at most all of them; 0 means 1. The last batch of an epoch may be
	// smaller.
	Batch int

	// Workers is the number of goroutines that evaluate a batch; 0 means GOMAXPROCS.
	Workers int

	// MaxEpochs is the largest number of epochs, including all restarts and the epochs before a resumed state; 0
	// means 300.
	MaxEpochs int

	// Decay multiplies the rate after every epoch whose training cost is higher than in the epoch before, unless a
	// restart lies between them. It is at most 1, which leaves the rate unchanged; 0 means 0.8. Momentum and Adam
	// overshoot, so their cost increases now and then even in a good descent. They may need a Decay nearer to 1.
	Decay float64

	// Patience is the number of epochs without a lower training cost after which the descent restarts from Init. It
	// then has the initial Rate and no memory of past gradients. 0 means 50, and a negative number means never.
	// Without Init there are no restarts.
	Patience int

	// Stall ends the run after this number of epochs, counted across restarts, without a new best epoch (see
	// Validate). 0 means never.
	Stall int

	// Init sets x, which is all 0, to the start of the descent. restart is 0 at the beginning, 1 at the first
	// restart, and so on. Init must be deterministic.
	Init func(restart int, x []float64)

	// Shuffle returns the random stream for the order of the terms in an epoch. It is called at the beginning of
	// every epoch, numbered from 1 across restarts. It must return the same stream for the same epoch. If Shuffle is
	// nil, terms keep their order.
	Shuffle func(epoch int) *rand.Rand

	// Begin, if not nil, is called at the beginning of every epoch, numbered as for Shuffle, so that terms can draw
	// new random numbers. The terms of an epoch must depend only on the number of the epoch. An error ends the run.
	Begin func(epoch int) error

	// Cost, if not nil, returns the training cost at the end of an epoch. By default the training cost is the sum of
	// the values at the epoch's updates, each at its own x, and includes the penalty.
	Cost func(x []float64) (float64, error)

	// Validate, if not nil, returns the validation value of x at the end of an epoch. Higher values are better. The
	// best epoch is the first one with the highest validation value. Without Validate, it is the first one with the
	// lowest training cost. An error ends the run.
	Validate func(epoch int, x []float64) (float64, error)

	// KeepLast returns the last epoch instead of the best. Validation does not change the course of a run. So a run
	// with MaxEpochs set to the best epoch of another run has the same result, bit for bit.
	KeepLast bool

	// Observe, if not nil, is called after every epoch. An error ends the run. Minimize returns the error, except for
	// ErrStop.
	Observe func(Epoch) error

	// Resumption defines how the run is interrupted and resumed, between two epochs. There is no state before the end
	// of the first epoch.
	Resumption[DescentState]
}

// Epoch describes an epoch to an observer. It is a point of the learning curve.
type Epoch struct {
	Number       int     // number of the epoch, from 1, across restarts
	Restart      int     // number of restarts before it
	Rate         float64 // learning rate of the epoch
	TrainingCost float64
	Validation   float64   // 0 without [Descent.Validate]
	Step         float64   // Euclidean distance between the beginning and the end of the epoch
	Best         bool      // better than all earlier epochs, or [Descent.KeepLast] is set
	X            []float64 // end of the epoch; read-only, and valid until the observer returns
}

// DescentResult is the outcome of a stochastic descent.
type DescentResult struct {
	X            []float64 // end of the best epoch; nil if no epoch is complete
	Epoch        int       // the best epoch, or the last one with [Descent.KeepLast]
	TrainingCost float64   // training cost of that epoch
	Validation   float64   // validation value of X; 0 without [Descent.Validate]

	Epochs   int // number of complete epochs, including epochs before a resumed state
	Restarts int // number of restarts, including restarts before a resumed state
	Status   Status
}

// Minimize descends from x0, which has terms.Dim() elements and is not changed. x0 must be nil to start from Init or
// from a resumed state. If settings, start or state are invalid, it returns an error and no result. If a number
// becomes infinite or NaN (a [*NotFinite]), a callback fails, or ctx is cancelled, it returns an error and the result
// of the complete epochs.
func (d Descent) Minimize(ctx context.Context, terms Terms, x0 []float64) (*DescentResult, error) {
	r, err := d.start(ctx, terms, x0)
	if err != nil {
		return nil, fmt.Errorf("optimize: %w", err)
	}
	status, err := r.iterate()
	if err != nil {
		err = fmt.Errorf("optimize: %v after %d epochs: %w", status, r.st.Epoch, err)
	}
	return &DescentResult{
		X:            r.st.Best.X,
		Epoch:        r.st.Best.Epoch,
		TrainingCost: r.st.Best.TrainingCost,
		Validation:   r.st.Best.Validation,
		Epochs:       r.st.Epoch,
		Restarts:     r.st.Restart,
		Status:       status,
	}, err
}

// Announced are Terms that read their data ahead of the evaluation. Soon announces the terms to be evaluated next, in
// order. Window returns the number of evaluations by which Soon should precede an evaluation, or 0 for never.
type Announced interface {
	Terms
	Window() int
	Soon(terms []int)
}

// Penalized are Terms with a penalty ‖x‖²/c, which EvalTerm leaves out. Penalty returns c, or 0 if there is no
// penalty.
type Penalized interface {
	Terms
	Penalty() (c float64)
}

// setPenalty sets C to the penalty of the terms, if they have one. It returns an error if C is set and differs.
func (d *Descent) setPenalty(terms Terms) error {
	p, ok := terms.(Penalized)
	if !ok || p.Penalty() == 0 {
		return nil
	}
	if c := p.Penalty(); d.C != 0 && d.C != c {
		return fmt.Errorf("penalty C = %v of terms that have C = %v, expected the same, or 0", d.C, c)
	}
	d.C = p.Penalty()
	return nil
}

// start checks the settings and returns a run before its first epoch, or before the next epoch of a resumed state.
func (d Descent) start(ctx context.Context, terms Terms, x0 []float64) (*descentRun, error) {
	if err := d.setPenalty(terms); err != nil {
		return nil, err
	}
	if err := d.setDefaults(); err != nil {
		return nil, err
	}
	if n := terms.Terms(); n < 1 {
		return nil, fmt.Errorf("%d terms, expected at least one", n)
	}
	r := newDescentRun(ctx, d, terms)
	if d.Resume != nil {
		return r, r.resume(d.Resume)
	}
	return r, r.begin(x0)
}

func (d *Descent) setDefaults() error {
	counts := []setting[int]{{"batch of", d.Batch}, {"workers", d.Workers}, {"epoch limit", d.MaxEpochs}, {"stall", d.Stall}, {"checkpoint interval", d.CheckpointEvery}}
	if err := checkCounts(counts...); err != nil {
		return err
	}
	defaultTo(&d.Rule, Plain)
	if d.Rule < Plain || d.Rule > Adam {
		return fmt.Errorf("%v, expected one of the rules", d.Rule)
	}
	defaultTo(&d.Batch, 1)
	defaultTo(&d.MaxEpochs, 300)
	defaultTo(&d.Patience, 50)
	defaultTo(&d.CheckpointEvery, 1)
	defaultTo(&d.Rate, 1e-3)
	defaultTo(&d.Beta1, 0.9)
	defaultTo(&d.Beta2, 0.999)
	defaultTo(&d.Epsilon, 1e-8)
	defaultTo(&d.Decay, 0.8)
	switch {
	case !(d.Rate > 0) || !finite(d.Rate):
		return fmt.Errorf("rate %v, expected a finite positive number", d.Rate)
	case !(d.Beta1 < 1):
		return fmt.Errorf("beta1 %v, expected a number below 1", d.Beta1)
	case !(d.Beta2 > 0 && d.Beta2 < 1):
		return fmt.Errorf("beta2 %v, expected a number between 0 and 1", d.Beta2)
	case !(d.Epsilon > 0) || !finite(d.Epsilon):
		return fmt.Errorf("epsilon %v, expected a finite positive number", d.Epsilon)
	case !(d.Decay > 0 && d.Decay <= 1):
		return fmt.Errorf("decay %v of the rate, expected more than 0 and at most 1", d.Decay)
	case d.C != 0 && (!(d.C > 0) || !finite(2/d.C)):
		return fmt.Errorf("penalty C = %v, expected a positive number whose inverse is finite, or 0 for none", d.C)
	}
	d.Beta1 = math.Max(d.Beta1, 0)
	return nil
}

// iterate makes epochs until the run ends. The state is that of a complete epoch when iterate returns.
func (r *descentRun) iterate() (Status, error) {
	for {
		if status := r.finished(); status != 0 {
			return status, nil
		}
		e, err := r.epoch()
		if err != nil {
			return r.failed(err)
		}
		if stop, err := observed(r.set.Observe, e); stop {
			return Stopped, err
		}
		if err := r.keep.after(r.st.Epoch); err != nil {
			return Stopped, err
		}
	}
}

// failed returns the status and the error of a run that ends by an error in an epoch.
func (r *descentRun) failed(err error) (Status, error) {
	var notFinite *NotFinite
	switch {
	case errors.Is(err, errInterrupted):
		return Cancelled, r.keep.cancelled(r.ctx, r.st.Epoch)
	case errors.As(err, &notFinite):
		return Diverged, err
	}
	return Stopped, err
}

// finished applies the stopping rules to the state. 0 means that the run continues.
func (r *descentRun) finished() Status {
	switch {
	case r.set.Stall > 0 && r.st.Epoch-r.st.Best.Epoch >= r.set.Stall:
		return NoBetterEpoch
	case r.st.Epoch >= r.set.MaxEpochs:
		return EpochLimit
	}
	return 0
}

// Rule computes the step from the gradient g of an update and the rate α. The zero Rule is none of the rules, so that
// learners can have a default.
type Rule int

const (
	// Plain is steepest descent: x ← x − αg.
	Plain Rule = iota + 1

	// Momentum continues along past steps: v ← μv − αg, x ← x + v. Source: I. Sutskever, J. Martens, G. Dahl and G.
	// Hinton, On the importance of initialization and momentum in deep learning (ICML 2013), equations 1 and 2.
	Momentum

	// Adam divides the mean of past gradients by the root of the mean of their squares, for each variable. Both means
	// start at 0 and are corrected for this start. t is the number of updates since the (re)start:
	//
	//	m ← β₁m + (1−β₁)g     v ← β₂v + (1−β₂)g²
	//	x ← x − α · m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + ε)
	//
	// Source: D. P. Kingma and J. Ba, Adam: A Method for Stochastic Optimization (ICLR 2015), algorithm 1. The
	// penalty's gradient is part of g.
	Adam
)

// String returns the rule's name in lower case.
func (r Rule) String() string {
	switch r {
	case Plain:
		return "plain"
	case Momentum:
		return "momentum"
	case Adam:
		return "adam"
	}
	return fmt.Sprintf("rule %d", int(r))
}

// moments returns the number of vectors that the rule keeps between updates.
func (r Rule) moments() int { return int(r - Plain) }

// move makes the step for the gradient r.grad.
func (r *descentRun) move() {
	at := &r.at
	at.updates++
	switch r.set.Rule {
	case Plain:
		kernel.Axpy(-at.rate, r.grad, at.x)
	case Momentum:
		v := at.moments[0]
		kernel.Scale(r.set.Beta1, v)
		kernel.Axpy(-at.rate, r.grad, v)
		kernel.Add(at.x, v)
	case Adam:
		r.adam()
	}
}

// adam moves by α√(1−β₂ᵗ)/(1−β₁ᵗ) · m/(√v + ε√(1−β₂ᵗ)). This is the step of the rule Adam, with one division less per
// variable.
func (r *descentRun) adam() {
	at, beta1, beta2 := &r.at, r.set.Beta1, r.set.Beta2
	t := float64(at.updates)
	root := math.Sqrt(1 - elementary.Pow(beta2, t))
	rate, epsilon := at.rate*root/(1-elementary.Pow(beta1, t)), r.set.Epsilon*root
	kernel.Adam(at.x, r.grad, at.moments[0], at.moments[1], beta1, beta2, rate, epsilon)
}

// NotFinite is the error for a number that became infinite or NaN in a [Descent]. Usually the rate is too high.
// Otherwise the term is at fault.
type NotFinite struct {
	Epoch   int // number of the epoch, from 1
	Restart int
	Term    int     // index of the term; −1 if no single term is responsible
	What    string  // description of the number: "value", "gradient[3]", "x[3] after its update", "training cost", …
	Found   float64 // NaN, +Inf or −Inf
}

// Error returns where the number was found, and the number.
func (e *NotFinite) Error() string {
	where := fmt.Sprintf("epoch %d", e.Epoch)
	if e.Restart > 0 {
		where += fmt.Sprintf(" (restart %d)", e.Restart)
	}
	if e.Term != noTerm {
		where += fmt.Sprintf(", term %d", e.Term)
	}
	return fmt.Sprintf("%s: %s is %v, expected a finite number", where, e.What, e.Found)
}

const noTerm = -1

func (r *descentRun) notFinite(term int, what string, found float64) *NotFinite {
	return &NotFinite{Epoch: r.st.Epoch + 1, Restart: r.at.restart, Term: term, What: what, Found: found}
}

// culprit evaluates the batch's terms again, one by one, to find the term that made the sum infinite or
// NaN.
func (r *descentRun) culprit() *NotFinite {
	grad := make([]float64, len(r.at.x))
	for _, term := range r.batch {
		clear(grad)
		value := r.terms.EvalTerm(term, r.at.x, grad)
		if !finite(value) {
			return r.notFinite(term, "value", value)
		}
		if i := notFinite(grad); i >= 0 {
			return r.notFinite(term, fmt.Sprintf("gradient[%d]", i), grad[i])
		}
		if square := kernel.Dot(grad, grad); !finite(square) {
			return r.notFinite(term, "squared length of the gradient", square)
		}
	}
	return r.notFinite(noTerm, "sum of a batch's values or gradients", math.Inf(1))
}

// overshot returns the error for an x that is not finite after the last update.
func (r *descentRun) overshot() *NotFinite {
	term := noTerm
	if len(r.batch) == 1 {
		term = r.batch[0]
	}
	if i := notFinite(r.at.x); i >= 0 {
		return r.notFinite(term, fmt.Sprintf("x[%d] after its update", i), r.at.x[i])
	}
	return r.notFinite(term, "squared length of x after its update", r.at.square)
}
