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

// Terms is a finite sum Σᵢ fᵢ(x) whose terms can be evaluated one by one: a
// query's loss each, for instance.
type Terms interface {
	// Dim is the number of variables.
	Dim() int

	// Terms is the number of terms.
	Terms() int

	// EvalTerm returns the value of term i, 0 ≤ i < Terms(), at x and adds its
	// gradient to grad, which may hold other terms' already; both slices have
	// Dim elements. What it adds may be another field that leads uphill than
	// the gradient of the value (LambdaRank's −λ). It must be deterministic,
	// leave x unchanged and keep neither slice. If [Descent.Batch] is above 1 it
	// is called from several goroutines at once, with a grad of each one's own.
	EvalTerm(i int, x, grad []float64) float64
}

// Descent minimises
//
//	F(x) = Σᵢ fᵢ(x) + ‖x‖²/C
//
// by stochastic gradient descent. An epoch is a pass over all terms in random
// order; each batch of b of the N terms makes one update, along the sum (not the
// mean) of its gradients and its share b/N of the penalty's. The schedule is that
// of C. Burges, R. Ragno and Q. Le, Learning to Rank with Nonsmooth Cost Functions
// (NIPS 2006), Sections 5 and 6: the rate is multiplied by Decay after an epoch
// whose training cost rose, the descent restarts from new random weights after
// Patience epochs without reduction, and the epoch with the best validation value
// is kept.
//
// The zero value is ready to use: 300 epochs of plain steps of rate 1e-3, a term at a time
// in the terms' order, no penalty, no restarts. The same terms, settings and start give
// the same bits for any number of workers. After the start, memory is allocated only by
// the terms, the callbacks and, once an epoch, for the shuffle.
type Descent struct {
	// Rule makes a step of a gradient; the zero value is Plain.
	Rule Rule

	// Rate is the step's factor α at the start and after restarts; 0 means 1e-3.
	Rate float64

	// Beta1 is the decay of the mean of past gradients (Adam's β₁) or steps (Momentum's μ),
	// below 1; 0 means 0.9, a negative number means 0.
	Beta1 float64

	// Beta2 and Epsilon are Adam's β₂, below 1, and ε; 0 means 0.999 and 1e-8.
	Beta2, Epsilon float64

	// C is that of the penalty ‖x‖²/C, which an epoch's updates add up to; +Inf means
	// none, 0 that of the terms if they are [Penalized] and else none. Terms with another
	// penalty than C are an error, as it would be left out.
	C float64

	// Batch is the number of terms an update is made of, at most all of them; 0
	// means 1. The last batch of an epoch may be smaller.
	Batch int

	// Workers is the number of goroutines that evaluate a batch; 0 means
	// GOMAXPROCS.
	Workers int

	// MaxEpochs bounds the epochs, those of all restarts and those before a
	// resumed state included; 0 means 300.
	MaxEpochs int

	// Decay multiplies the rate after every epoch whose training cost is above
	// that of the epoch before it (since the restart); at most 1, which leaves
	// the rate alone. 0 means 0.8. Momentum and Adam overshoot, so that the cost
	// rises now and then on a good way too: they may want a Decay nearer 1.
	Decay float64

	// Patience is the number of epochs in which the training cost does not fall below its
	// lowest since the (re)start before the descent restarts: from Init, with the first Rate
	// and no memory of past gradients. 0 means 50, a negative number means never. Without Init
	// there are no restarts.
	Patience int

	// Stall ends the run after this number of epochs, across restarts, without a better one
	// (see Validate). 0 means never.
	Stall int

	// Init sets x, all 0, to the weights to start from: restart 0 is the start of
	// a run without x0, 1 the first restart. It must be deterministic.
	Init func(restart int, x []float64)

	// Shuffle returns a random stream for the order of an epoch's terms. It is
	// called once at the beginning of every epoch (from 1, counting on over
	// restarts) and must return equal streams for equal epochs; nil leaves the
	// terms in their order.
	Shuffle func(epoch int) *rand.Rand

	// Begin, if not nil, is called at the beginning of every epoch (counted as for
	// Shuffle): the place to let terms draw anew what is random about them. What
	// they are in an epoch must depend on its number alone. An error ends the run.
	Begin func(epoch int) error

	// Cost, if not nil, returns the training cost at the x that an epoch ended
	// with. Without it the training cost of an epoch is the sum of the values
	// that its updates met, each at the x of its time, penalty included.
	Cost func(x []float64) (float64, error)

	// Validate, if not nil, returns a value, higher for better, of the x that an
	// epoch ended with. The result is the first epoch with the highest value, or
	// without Validate with the lowest training cost. An error ends the run.
	Validate func(epoch int, x []float64) (float64, error)

	// KeepLast makes the last epoch the result instead: with MaxEpochs at the epoch
	// that a run with Validate kept, this is that run's result, bit for bit, as
	// validation does not change the course.
	KeepLast bool

	// Observe, if not nil, is called after every epoch. An error ends the run and
	// is returned by Minimize, except for ErrStop.
	Observe func(Epoch) error

	// Resumption says how the run is interrupted and resumed, between two epochs. There is
	// no state before the first is complete.
	Resumption[DescentState]
}

// Epoch is what an observer learns of an epoch: a point of the learning curve.
type Epoch struct {
	Number       int     // 1 is the first; goes on over restarts
	Restart      int     // 0 before the first restart
	Rate         float64 // with which the epoch's steps were made
	TrainingCost float64
	Validation   float64   // 0 without [Descent.Validate]
	Step         float64   // the Euclidean distance from where the epoch began
	Best         bool      // better than all epochs before it, or [Descent.KeepLast]
	X            []float64 // where the epoch ended; to be read, and only until the observer returns
}

// DescentResult is the outcome of a stochastic descent.
type DescentResult struct {
	X            []float64 // where the best epoch ended; nil if there was no complete epoch
	Epoch        int       // the best, or with [Descent.KeepLast] the last
	TrainingCost float64   // of that epoch
	Validation   float64   // of X; 0 without [Descent.Validate]

	Epochs   int // complete ones, including those before a resumed state
	Restarts int // likewise
	Status   Status
}

// Minimize descends from x0, which has terms.Dim() elements and is left unchanged
// (nil to start from Init, or if a state is resumed). It returns an error if
// settings, start or state do not fit; if a number became infinite or NaN, an
// error that is a [*NotFinite]; and if a callback failed or ctx was cancelled. In
// the last three cases the result is that of the epochs completed before,
// otherwise it is nil.
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

// Announced are Terms that read what they are evaluated from, and do so ahead of it: Soon announces
// the evaluation of some terms, in their order, Window says how many evaluations before, 0 for never.
type Announced interface {
	Terms
	Window() int
	Soon(terms []int)
}

// Penalized are Terms of a sum that has a penalty ‖x‖²/c besides, which EvalTerm leaves
// out; c is 0 if there is none.
type Penalized interface {
	Terms
	Penalty() (c float64)
}

// setPenalty takes over the penalty of the terms.
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

// start checks the settings and returns a run before its first or next epoch.
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

// iterate runs until there is a reason to end. The state is that of a complete
// epoch whenever it returns.
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

// failed returns how an epoch's error ends the run.
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

// finished applies the stopping rules to the state; 0 means to go on.
func (r *descentRun) finished() Status {
	switch {
	case r.set.Stall > 0 && r.st.Epoch-r.st.Best.Epoch >= r.set.Stall:
		return NoBetterEpoch
	case r.st.Epoch >= r.set.MaxEpochs:
		return EpochLimit
	}
	return 0
}

// Rule says how the gradient g of an update becomes a step of the rate α.
type Rule int

const (
	// Plain is steepest descent: x ← x − αg.
	Plain Rule = iota

	// Momentum goes on along past steps: v ← μv − αg, x ← x + v. I. Sutskever,
	// J. Martens, G. Dahl and G. Hinton, On the importance of initialization and
	// momentum in deep learning (ICML 2013), equations 1 and 2.
	Momentum

	// Adam divides the mean of past gradients by the root of the mean of their
	// squares, variable by variable, both corrected for their start at 0, with t
	// the number of the update since the (re)start:
	//
	//	m ← β₁m + (1−β₁)g     v ← β₂v + (1−β₂)g²
	//	x ← x − α · m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + ε)
	//
	// D. P. Kingma and J. Ba, Adam: A Method for Stochastic Optimization (ICLR
	// 2015), algorithm 1. The penalty's gradient is part of g.
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

// moments is the number of vectors that the rule remembers beside x.
func (r Rule) moments() int { return int(r) }

// move makes the step of the gradient r.grad from r.at.
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

// adam moves by α√(1−β₂ᵗ)/(1−β₁ᵗ) · m/(√v + ε√(1−β₂ᵗ)), the same with one division
// less a variable.
func (r *descentRun) adam() {
	at, beta1, beta2 := &r.at, r.set.Beta1, r.set.Beta2
	t := float64(at.updates)
	root := math.Sqrt(1 - elementary.Pow(beta2, t))
	rate, epsilon := at.rate*root/(1-elementary.Pow(beta1, t)), r.set.Epsilon*root
	kernel.Adam(at.x, r.grad, at.moments[0], at.moments[1], beta1, beta2, rate, epsilon)
}

// NotFinite is the error of a [Descent] that met an infinite number or NaN: the
// rate is too high, as a rule, or a term is at fault.
type NotFinite struct {
	Epoch   int // in which, from 1
	Restart int
	Term    int     // the index of the term, −1 if it is not that of a single one
	What    string  // "value", "gradient[3]", "x[3] after its update", "training cost", …
	Found   float64 // NaN, +Inf or −Inf
}

// Error says where and what was found.
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

// culprit evaluates the batch's terms again, one by one, to find which of them
// made its sum infinite or NaN.
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

// overshot describes x after the last update.
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
