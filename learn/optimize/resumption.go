package optimize

import (
	"context"
	"errors"
	"fmt"
)

// Resumption is how a run of a solver whose state is an S can be interrupted and go on
// later: with the bits that the run would have given without interruption, as long as the
// problem, the settings and the callbacks are the same. (Limits, tolerances and the like
// may be changed; the run is then a different one from there on.)
type Resumption[S any] struct {
	// Checkpoint, if not nil, is called after every CheckpointEvery iterations or epochs
	// (0 means 1) with the state from which the run can be resumed, and once more when the
	// context is cancelled. The state is the solver's own memory: to be read (with
	// [AppendCheckpoint], or cloned) before returning, and not to be changed. Write it to a
	// temporary file that is synced and renamed, so that a crash leaves either the old
	// state or the new one. An error ends the run.
	Checkpoint      func(*S) error
	CheckpointEvery int

	// Resume, if not nil, is the state to go on from in place of a start. It is left
	// unchanged. One that does not fit is a [*StateError].
	Resume *S
}

// keeper hands out the state of one run.
type keeper[S any] struct {
	Resumption[S]
	state *S
	saved int // the iteration or epoch whose state was handed out, or resumed from, last
}

// after hands out the state after an iteration or epoch for which that is asked.
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

// cancelled hands out what has not been and returns why the context ended.
func (k *keeper[S]) cancelled(ctx context.Context, number int) error {
	cause := context.Cause(ctx)
	if k.Checkpoint != nil && k.saved != number {
		return errors.Join(cause, k.save(number))
	}
	return cause
}

// sameSize checks that a resumed state has as many variables as the run.
func sameSize(resumed, x []float64) error {
	if len(resumed) != len(x) {
		return unfit("resumed state has %d variables, expected the objective's %d", len(resumed), len(x))
	}
	return nil
}
