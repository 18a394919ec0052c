package train

import (
	"errors"
	"fmt"
	"time"

	"github.com/listwise/listwise/internal/binarystate"
	"github.com/listwise/listwise/learn/optimize"
)

// checkpointed is a Booster whose rounds so far can be stored.
type checkpointed interface {
	Booster

	// members returns the sums of trees under way.
	members() []*treeRounds
}

// roundKeeper writes checkpoints of a training round by round.
type roundKeeper struct {
	file  checkpointFile
	of    checkpointed // nil if there are to be none
	saved int          // rounds of the last one
	at    time.Time    // of it
	took  time.Duration
}

// Between two checkpoints there are checkpointEvery rounds, or fewer if these take longer than
// checkpointPause, and at least checkpointShare times the time that it takes to write one.
const (
	checkpointPause = 5 * time.Second
	checkpointShare = 20
)

// resume prepares for checkpoints, and goes on from the one that is there.
func (b *boosting) resume() error {
	of, ok := b.Booster.(checkpointed)
	if !ok || b.task.Checkpoint == "" {
		return b.task.NoCheckpoint()
	}
	identity := b.task.identity() + " scorer=trees"
	initial, err := b.task.identityOfInitial()
	if err != nil {
		return err
	}
	identity += initial
	if b.validation != nil {
		identity += " " + b.validation.identity()
	}
	b.keeper = roundKeeper{file: checkpointFile{b.task.Checkpoint, identity}, of: of, at: time.Now()}
	state := new(boostingState)
	found, err := b.keeper.file.read(state)
	if !found || err != nil {
		return err
	}
	if err := b.goOnFrom(state); err != nil {
		return b.keeper.file.unfit(err)
	}
	b.keeper.saved = b.course.rounds
	return nil
}

// goOnFrom sets the rounds to those of a state, or returns an error if it is not of these data.
func (b *boosting) goOnFrom(s *boostingState) error {
	members := b.keeper.of.members()
	if len(s.members) != len(members) || len(s.scores) != len(b.scores) {
		return fmt.Errorf("found a state of %d sums of trees and %d validated documents, expected %d and %d", len(s.members), len(s.scores), len(members), len(b.scores))
	}
	for i, m := range members {
		if err := m.goOnFrom(&s.members[i]); err != nil {
			return err
		}
	}
	b.course = s.course
	b.lowest = s.objective
	copy(b.scores, s.scores)
	return nil
}

// after writes a checkpoint if it is time for one.
func (k *roundKeeper) after(b *boosting) error {
	since := time.Since(k.at)
	if k.of == nil || since < checkpointShare*k.took || b.course.rounds-k.saved < checkpointEvery && since < checkpointPause {
		return nil
	}
	return k.save(b)
}

// save writes a checkpoint, unless there is one of these rounds.
func (k *roundKeeper) save(b *boosting) error {
	if k.of == nil || k.saved == b.course.rounds {
		return nil
	}
	begin := time.Now()
	state := boostingState{course: b.course, scores: b.scores}
	for _, m := range k.of.members() {
		state.members = append(state.members, m.state())
	}
	if err := k.file.write(&state); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	k.saved, k.at = b.course.rounds, time.Now()
	k.took = k.at.Sub(begin)
	return nil
}

// boostingState is the optimize.State of boosted trees between two rounds.
type boostingState struct {
	course

	scores  []float64 // of the validation data
	members []treesState
}

var _ optimize.State = (*boostingState)(nil)

// Kind implements optimize.State.
func (*boostingState) Kind() string { return "boosted trees" }

// AppendBinary implements optimize.State.
func (s *boostingState) AppendBinary(b []byte) ([]byte, error) {
	return binarystate.Append(b, s.code), nil
}

// UnmarshalBinary implements optimize.State.
func (s *boostingState) UnmarshalBinary(data []byte) error {
	var read boostingState
	if err := binarystate.Read(data, read.code); err != nil {
		return err
	}
	if err := read.validate(); err != nil {
		return err
	}
	*s = read
	return nil
}

func (s *boostingState) code(c *binarystate.Codec) {
	scores, members := len(s.scores), len(s.members)
	c.Ints(&s.rounds, &s.best, &scores, &members)
	c.Floats(&s.objective, &s.validated)
	c.Vectors(scores, &s.scores)
	if c.Reading() && c.Fits(members) {
		s.members = make([]treesState, members)
	}
	for i := range s.members {
		s.members[i].code(c)
	}
}

// validate returns an error if the state is impossible.
func (s *boostingState) validate() error {
	switch {
	case s.rounds < 1 || s.best < 0 || s.best > s.rounds:
		return fmt.Errorf("best round %d of %d, expected one of at least one, or 0", s.best, s.rounds)
	case notFinite(s.objective) || notFinite(s.validated):
		return fmt.Errorf("objective %v and validation value %v, expected finite numbers", s.objective, s.validated)
	case anyNotFinite(s.scores):
		return errors.New("scores that are not finite, expected finite numbers")
	}
	for i := range s.members {
		if err := s.members[i].validate(s.rounds); err != nil {
			return err
		}
	}
	return nil
}
