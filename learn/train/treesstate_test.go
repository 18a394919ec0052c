package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model/scorer"
)

// interruptible is a training of some dozens of rounds that draws queries and features, and
// stops by its validation data.
func interruptible(t testing.TB) *Problem {
	t.Helper()
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	return &Problem{
		Data: curved(t, 20, 1), Valid: curved(t, 20, 2), Loss: loss.LambdaRank{Measure: ndcg}, Measure: ndcg, Seed: 3,
		Learner: Trees{Rounds: 60, Patience: 25, Rate: 0.2, QueryFraction: 0.6, FeatureFraction: 0.6, Options: tree.Options{Leaves: 6, LeafCurvature: 1e-3}},
	}
}

func modelBytes(t *testing.T, p *Problem) string {
	t.Helper()
	m, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return written(t, m)
}

// resumes checks that a training that is cancelled in some rounds goes on in the next one, to the
// same model, and that the checkpoint is deleted in the end.
func resumes(t *testing.T, p *Problem, rounds ...int) {
	t.Helper()
	var all []Iteration
	q := *p
	q.Observe = func(it Iteration) { all = append(all, it) }
	want := modelBytes(t, &q)
	for _, round := range rounds {
		q := *p
		q.Checkpoint = interrupted(t, p, 0, round)
		var seen []Iteration
		q.Observe = func(it Iteration) { seen = append(seen, it) }
		if modelBytes(t, &q) != want {
			t.Errorf("interrupted in round %d: another model", round)
		}
		same := func(a, b Iteration) bool {
			return a.Number == b.Number && a.Objective == b.Objective && a.Validation == b.Validation && a.Best == b.Best && slices.Equal(a.Params, b.Params)
		}
		if !slices.EqualFunc(seen, all[round:], same) {
			t.Errorf("interrupted in round %d: saw %d rounds, expected the last of %d", round, len(seen), len(all))
		}
		if _, err := os.Stat(q.Checkpoint); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the checkpoint is not deleted: %v", err)
		}
	}
}

// Claim: boosted trees that were interrupted go on to the same bytes, with and without
// validation data, and show the same rounds.
func TestTreesResume(t *testing.T) {
	p := interruptible(t)
	resumes(t, p, 1, 2, 17, 30)
	p.Valid = nil
	resumes(t, p, 1, 59)
	sampled := p.Learner.(Trees)
	sampled.Rounds, sampled.GOSSTop, sampled.GOSSRest, sampled.RandomThresholds = 25, 0.3, 0.2, true
	sampled.Categorical = []bool{false, false, true, true, false, false}
	p.Learner = sampled
	resumes(t, p, 1, 11)
	for _, l := range []loss.Loss{loss.ApproxNDCG{}, loss.XENDCG{}} { // by line search; draws anew
		learner := p.Learner.(Trees)
		learner.Rounds, learner.Redraw = 25, true
		p.Loss, p.Measure, p.Learner = l, nil, learner
		resumes(t, p, 1, 11)
	}
}

// Claim: as rounds go on, checkpoints are written without an interruption.
func TestTreesWriteCheckpoints(t *testing.T) {
	p := interruptible(t)
	p.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	found := 0
	p.Observe = func(it Iteration) {
		_, err := os.Stat(p.Checkpoint)
		switch {
		case err == nil:
			found++
		case it.Number == checkpointEvery+1:
			t.Errorf("round %d: %v", it.Number, err)
		}
	}
	modelBytes(t, p)
	if found == 0 {
		t.Error("there never was a checkpoint")
	}
}

// refuses returns a function that checks that a problem's checkpoint is refused with a message
// that names the file.
func refuses(t *testing.T, path string) func(want string, q Problem) {
	return func(want string, q Problem) {
		t.Helper()
		q.Checkpoint = path
		_, err := Run(context.Background(), &q)
		var problem *ProblemError
		if !errors.As(err, &problem) || !strings.HasPrefix(err.Error(), "checkpoint "+path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// Claim: checkpoints of other settings, seeds, data and validation data, and damaged ones, are
// refused.
func TestTreesRefuseForeignCheckpoints(t *testing.T) {
	p := interruptible(t)
	path := interrupted(t, p, 0, 12)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := refuses(t, path)
	change := func(f func(q *Problem)) Problem {
		q := *p
		f(&q)
		return q
	}
	learner := p.Learner.(Trees)
	learner.Rate = 0.1
	refused("(seed=3), expected seed=4", change(func(q *Problem) { q.Seed = 4 }))
	refused("expected learner.Rate=0.1", change(func(q *Problem) { q.Learner = learner }))
	refused("(data=", change(func(q *Problem) { q.Data = curved(t, 20, 4) }))
	refused("(valid=", change(func(q *Problem) { q.Valid = curved(t, 20, 4) }))
	refused("), expected one without that", change(func(q *Problem) { q.Valid, q.Select = nil, nil }))
	for i := 0; i < len(whole); i += 1 + len(whole)/40 {
		for _, text := range [][]byte{whole[:i], slices.Concat(whole[:i], []byte{whole[i] ^ 1}, whole[i+1:])} {
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
			refused("found ", *p)
		}
	}
}

// Claim: states that do not fit the training, or that no training could have, are refused though
// nothing in the file is damaged.
func TestTreesRefuseUnfitStates(t *testing.T) {
	p := interruptible(t)
	path := interrupted(t, p, 0, 12)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for want, damage := range map[string]func(s *boostingState){
		"1 sums of trees and 524 validated documents, expected 1 and 525": func(s *boostingState) { s.scores = s.scores[1:] },
		"found a state of 485 documents, expected 486":                    func(s *boostingState) { s.members[0].scores = s.members[0].scores[1:] },
		"2 sums of trees":                         func(s *boostingState) { s.members = append(s.members, s.members[0]) },
		"feature 7 in node 0":                     func(s *boostingState) { s.members[0].trees[0][0].Feature = 6 },
		"child 0 of node 0":                       func(s *boostingState) { s.members[0].trees[0][0].Left = 0 },
		"best round 13 of 12":                     func(s *boostingState) { s.best = 13 },
		"12 trees, 13 of them kept":               func(s *boostingState) { s.members[0].rounds = 13 },
		"12 trees, 11 of them kept":               func(s *boostingState) { s.rounds, s.best, s.members[0].rounds = 11, 11, 11 },
		"scores that are not finite":              func(s *boostingState) { s.scores[0] = math.Inf(1) },
		"leaves with ":                            func(s *boostingState) { s.members[0].leaves = s.members[0].leaves[1:] },
		"values or scores that are no":            func(s *boostingState) { s.members[0].leaves[0] = math.NaN() },
		"12 draws for 12 trees and the factor -1": func(s *boostingState) { s.members[0].factor = -1 },
		"objective NaN":                           func(s *boostingState) { s.objective = math.NaN() },
	} {
		s, identity := stateOf(t, p, whole)
		damage(s)
		if err := (checkpointFile{path, identity}).write(s); err != nil {
			t.Fatal(err)
		}
		refuses(t, path)(want, *p)
	}
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	q := *p
	q.Checkpoint = path
	if modelBytes(t, &q) != modelBytes(t, p) {
		t.Error("the undamaged state gives another model")
	}
}

// stateOf returns what is in a checkpoint, and the identity that it has.
func stateOf(t testing.TB, p *Problem, whole []byte) (*boostingState, string) {
	t.Helper()
	settled, err := p.Settled()
	if err != nil {
		t.Fatal(err)
	}
	task := &Task{Problem: settled}
	v, err := task.Validation(true)
	if err != nil {
		t.Fatal(err)
	}
	identity := task.identity() + " scorer=trees " + v.identity()
	state := new(boostingState)
	if err := optimize.ReadCheckpoint(whole, identity, state); err != nil {
		t.Fatal(err)
	}
	return state, identity
}

// Claim: whatever bytes a checkpoint holds, what is accepted is a possible state, and is written
// as those bytes.
func FuzzTreesState(f *testing.F) {
	nodes := []scorer.TreeNode{{Feature: 1, Threshold: 0.5, Left: -1, Right: 1, MissingLeft: true}, {Left: -2, Right: -3}}
	state := &boostingState{
		course:  course{rounds: 2, best: 1, objective: 3, validated: 0.5},
		scores:  []float64{1, 2},
		members: []treesState{{trees: [][]scorer.TreeNode{nodes, nil}, leaves: []float64{1, 2, 3, 4}, scores: []float64{5}, rounds: 1, draws: 2, factor: 1}},
	}
	if err := state.validate(); err != nil {
		f.Fatal(err)
	}
	text, _ := state.AppendBinary(nil)
	f.Add(text)
	f.Add(text[:len(text)-8])
	for i := 0; i < len(text); i += 8 {
		vast := slices.Clone(text)
		binary.LittleEndian.PutUint64(vast[i:], 1<<40)
		f.Add(vast)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := new(boostingState)
		if s.UnmarshalBinary(data) != nil {
			return
		}
		if err := s.validate(); err != nil {
			t.Fatal(err)
		}
		again, err := s.AppendBinary(nil)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%d bytes were accepted that the state does not have", len(data))
		}
		for _, m := range s.members {
			_, _ = scorer.NewTrees(3, m.trees) // must not panic
		}
	})
}
