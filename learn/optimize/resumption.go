package optimize

import (
	"context"
	"errors"
	"fmt"
)

// Resumption defines how a solver's run is interrupted and resumed. S is the type of the solver's state. The resumed
// run has the same bits as an uninterrupted run if the problem, the settings and the callbacks are the same. Limits
// and tolerances may be changed on resumption. The run then differs from there on.
type Resumption[S any] struct {
	// Checkpoint, if not nil, is called after every CheckpointEvery iterations or epochs (0 means 1), and once more
	// when the context is cancelled. The argument is the state to resume from. It is the solver's own memory:
	// Checkpoint must not change it, or use it after the return. Write the state by [AppendCheckpoint], or clone it.
	// Write it to a temporary file that is synced and renamed, so that a crash leaves either the old state or the new
	// one. An error ends the run.
	Checkpoint      func(*S) error
	CheckpointEvery int

	// Resume, if not nil, is the state to resume from instead of a start. It is not changed. The error for a state
	// that does not fit is a [*StateError].
	Resume *S
}

// keeper passes the states of a run to Checkpoint.
type keeper[S any] struct {
	Resumption[S]
	state *S
	saved int // number of the iteration or epoch that was saved or resumed from last
}

// after saves the state after an iteration or epoch if it is due.
func (k *keeper[S]) after(number int) error {
	if k.Checkpoint == nil || number%k.CheckpointEvery != 0 {
		return nil
	}
	return k.save(number)
}

func (k *keeper[S]) save(number int) error {
	k.saved = number
	if err := k.Checkpoint(k.state); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// cancelled saves the state unless it is saved already, and returns the cause of the cancellation.
func (k *keeper[S]) cancelled(ctx context.Context, number int) error {
	cause := context.Cause(ctx)
	if k.Checkpoint != nil && k.saved != number {
		return errors.Join(cause, k.save(number))
	}
	return cause
}

// sameSize returns an error if a resumed state and the run have different numbers of variables.
func sameSize(resumed, x []float64) error {
	if len(resumed) != len(x) {
		return unfit("resumed state has %d variables, expected the objective's %d", len(resumed), len(x))
	}
	return nil
}
