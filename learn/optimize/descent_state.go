package optimize

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/binarystate"
)

// DescentState is the [State] of a [Descent] between two epochs. MaxEpochs, Patience, Stall, Decay and other limits
// may be changed before the run is resumed. Another Rate takes effect at the next restart.
type DescentState struct {
	Rule  Rule
	Terms int // number of terms of the sum

	Epoch        int       // number of completed epochs, at least 1
	Restart      int       // number of restarts
	Updates      int       // number of updates since the (re)start
	Rate         float64   // learning rate of the next epoch
	TrainingCost float64   // training cost of the last epoch
	X            []float64 // end of the last epoch

	// Best is the best epoch so far.
	Best BestEpoch

	moments [][]float64 // Momentum's v; Adam's m and v
	lowest  float64     // lowest training cost since the (re)start
	idle    int         // number of epochs since then
}

// BestEpoch is the best epoch of a descent.
type BestEpoch struct {
	Epoch        int
	TrainingCost float64
	Validation   float64 // 0 without [Descent.Validate]
	X            []float64
}

var _ State = (*DescentState)(nil)

// Kind returns "descent".
func (st *DescentState) Kind() string { return "descent" }

// AppendBinary implements [State].
func (st *DescentState) AppendBinary(b []byte) ([]byte, error) {
	return binarystate.Append(b, st.code), nil
}

// UnmarshalBinary implements [State].
func (st *DescentState) UnmarshalBinary(data []byte) error { return readState(data, st) }

func (st *DescentState) code(c *binarystate.Codec) {
	rule, n := int(st.Rule-Plain), len(st.X) // counted from 0
	c.Ints(&rule, &st.Terms, &st.Epoch, &st.Restart, &st.Updates, &st.idle, &st.Best.Epoch, &n)
	c.Floats(&st.Rate, &st.TrainingCost, &st.lowest, &st.Best.TrainingCost, &st.Best.Validation)
	c.Vectors(n, &st.X, &st.Best.X)
	if c.Reading() {
		st.Rule = Rule(rule) + Plain
		st.moments = make([][]float64, min(max(st.Rule.moments(), 0), Adam.moments())) // validate refuses other rules
	}
	for i := range st.moments {
		c.Vectors(n, &st.moments[i])
	}
}

// Clone returns a copy that shares no memory with st.
func (st *DescentState) Clone() *DescentState {
	c := *st
	c.X, c.Best.X = slices.Clone(st.X), slices.Clone(st.Best.X)
	c.moments = cloneAll(st.moments)
	return &c
}

// validate returns an error if st cannot be the state of a run.
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

// validate returns an error if b cannot be the best of the given number of epochs with the given number of variables.
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
