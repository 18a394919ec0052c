package optimize

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

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
