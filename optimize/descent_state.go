package optimize

import (
	"fmt"
	"slices"
)

// DescentState is all that the further course of a [Descent] depends on, as it is
// between two epochs: resuming from it gives the bits that the run would have
// given without interruption, as long as terms, settings and callbacks are the
// same. (MaxEpochs, Patience, Stall, Decay and the like may be changed; the run is
// then a different one from there on. A changed Rate takes effect at the next
// restart.)
//
// A state given to [Descent.Checkpoint] is the solver's memory and must not be
// changed. Write it with MarshalBinary, to a temporary file that is synced and
// renamed so that a crash leaves either the old state or the new one.
type DescentState struct {
	Fingerprint string // names the problem
	Rule        Rule
	Terms       int // of the sum

	Epoch        int       // epochs completed, at least 1
	Restart      int       // restarts begun
	Updates      int       // since the (re)start
	Rate         float64   // of the next epoch
	TrainingCost float64   // of the last epoch
	X            []float64 // where it ended

	// Best is the best epoch so far.
	Best BestEpoch

	moments [][]float64 // Momentum's v; Adam's m and v
	lowest  float64     // training cost since the (re)start
	idle    int         // epochs since that cost
}

// BestEpoch is the epoch that a descent keeps.
type BestEpoch struct {
	Epoch        int
	TrainingCost float64
	Validation   float64 // 0 without [Descent.Validate]
	X            []float64
}

// Clone returns a copy that shares no memory with st.
func (st *DescentState) Clone() *DescentState {
	c := *st
	c.X, c.Best.X = slices.Clone(st.X), slices.Clone(st.Best.X)
	c.moments = cloneAll(st.moments)
	return &c
}

// validate returns an error if st is impossible as the state of a run.
func (st *DescentState) validate() error {
	switch {
	case st.Rule < Plain || st.Rule > Adam:
		return fmt.Errorf("%v, expected one of the rules", st.Rule)
	case st.Terms < 1:
		return fmt.Errorf("%d terms, expected at least one", st.Terms)
	case st.Epoch < 1 || st.Restart < 0 || st.Restart >= st.Epoch:
		return fmt.Errorf("%d restarts in %d epochs, expected fewer than epochs", st.Restart, st.Epoch)
	case st.Updates < 1 || (st.Updates-1)/st.Terms >= st.Epoch:
		return fmt.Errorf("%d updates of %d terms in %d epochs, expected at least one and at most one a term and epoch", st.Updates, st.Terms, st.Epoch)
	case !(st.Rate >= 0) || !finite(st.Rate):
		return fmt.Errorf("rate %v, expected a finite non-negative number", st.Rate)
	case st.idle < 0 || st.idle >= st.Epoch || !finite(st.TrainingCost) || !finite(st.lowest):
		return fmt.Errorf("training cost %v, lowest %v %d epochs ago, expected finite numbers within the run's %d epochs", st.TrainingCost, st.lowest, st.idle, st.Epoch)
	case st.lowest > st.TrainingCost || (st.idle == 0 && st.lowest != st.TrainingCost):
		return fmt.Errorf("training cost %v with a lowest of %v, %d epochs ago", st.TrainingCost, st.lowest, st.idle)
	}
	if i := notFinite(st.X); i >= 0 || !finite(norm(st.X)) {
		return fmt.Errorf("x of norm %v, expected a finite one", norm(st.X))
	}
	if err := st.validateMoments(); err != nil {
		return err
	}
	return st.Best.validate(st.Epoch, len(st.X))
}

func (st *DescentState) validateMoments() error {
	if got, want := len(st.moments), st.Rule.moments(); got != want {
		return fmt.Errorf("%d vectors beside x, expected the %d of the rule %v", got, want, st.Rule)
	}
	for _, m := range st.moments {
		if len(m) != len(st.X) {
			return fmt.Errorf("a moment of length %d for %d variables", len(m), len(st.X))
		}
		if i := notFinite(m); i >= 0 {
			return fmt.Errorf("a moment's element %d is %v, expected a finite number", i, m[i])
		}
	}
	if st.Rule == Adam {
		for i, v := range st.moments[1] {
			if v < 0 {
				return fmt.Errorf("a mean of squares, element %d, is %v, expected a non-negative number", i, v)
			}
		}
	}
	return nil
}

// validate returns an error if b is impossible in a run of the given size.
func (b *BestEpoch) validate(epochs, variables int) error {
	if b.Epoch < 1 || b.Epoch > epochs {
		return fmt.Errorf("best epoch %d, expected 1 to %d", b.Epoch, epochs)
	}
	if !finite(b.TrainingCost) || !finite(b.Validation) {
		return fmt.Errorf("best epoch of training cost %v and validation value %v, expected finite numbers", b.TrainingCost, b.Validation)
	}
	if len(b.X) != variables {
		return fmt.Errorf("best x of length %d for %d variables", len(b.X), variables)
	}
	if i := notFinite(b.X); i >= 0 {
		return fmt.Errorf("best x[%d] is %v, expected a finite number", i, b.X[i])
	}
	return nil
}
