package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/testing/childtest"
)

// TestMain lets a test train in a process of its own that may be killed.
func TestMain(m *testing.M) {
	childtest.Main(m, func(args []string) error { return child(args[0], args[1]) })
}

// killable are trainings that take some dozens of iterations: a convex one, whose
// features are of very different size, one of several starts, and one of boosted trees.
func killable(t testing.TB, name string) (*Method, *Problem) {
	m := lookup(t, name)
	if name == "lambdamart" {
		p := newProblem(t, m, "trees", "90", "leaves", "5", "leaf_documents", "2", "query_fraction", "0.6", "feature_fraction", "0.6")
		p.Valid = p.Data.KeepDocs(func(_, i int) bool { return i%2 == 0 })
		return m, p
	}
	p := newProblem(t, m, "C", "1e9", "kappa", "pairs", "tolerance", "1e-15", "iterations", "70")
	for i, x := range p.Data.X() {
		p.Data.X()[i] = x * float32(math.Pow(4, -float64(i%p.Data.Features)))
	}
	if m.Name == "expgain" {
		p = newProblem(t, m, "C", "1000", "tolerance", "1e-13", "iterations", "25", "restarts", "3")
	}
	return m, p
}

// child trains with a checkpoint in dir, and says every iteration, so that whoever runs it
// can kill it at an iteration of its choice.
func child(name, dir string) error {
	t := &testing.B{}
	m, p := killable(t, name)
	p.Checkpoint = filepath.Join(dir, "checkpoint")
	p.Observe = func(it Iteration) { _ = childtest.Say(it.Start, it.Number) }
	trained, err := m.Train(context.Background(), p)
	if err != nil {
		return err
	}
	return trained.Save(filepath.Join(dir, "m.json"))
}

// A training that is killed again and again, in any iteration, and started again
// each time ends in the same file, byte for byte, as one that was left alone.
func TestKilledTrainingEndsInTheSameBytes(t *testing.T) {
	for _, name := range []string{"mle", "expgain", "lambdamart"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, p := killable(t, name)
			iterations := 0
			p.Observe = func(Iteration) { iterations++ }
			want := bytesOf(t, mustTrain(t, m, p))
			if iterations < 50 {
				t.Fatalf("only %d iterations: too few to interrupt", iterations)
			}
			dir := t.TempDir()
			resumed := 0
			for _, after := range []int{5, 14, 23, 3, 17, math.MaxInt} {
				first, seen := childtest.Start(t, name, dir).KillAt(after)
				if first != "0 0" && first != "0 1" { // iterations count from 0, rounds from 1
					resumed++
				}
				t.Logf("began at %s, saw %d iterations", first, seen)
			}
			if resumed < 3 {
				t.Errorf("%d runs went on from a checkpoint, expected 3 or more", resumed)
			}
			got, err := os.ReadFile(filepath.Join(dir, "m.json"))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("the model is\n%s\nwithout interruption it is\n%s", got, want)
			}
			left, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range left {
				if e.Name() != "m.json" && !strings.HasSuffix(e.Name(), ".tmp") {
					t.Errorf("%s is left after the training", e.Name())
				}
			}
		})
	}
}

// interrupted trains until the given iteration of the given start, −1 for any, and returns
// the checkpoint's path.
func interrupted(t *testing.T, m *Method, p *Problem, start, iteration int) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	q := *p
	q.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	q.Observe = func(it Iteration) {
		if (start < 0 || it.Start == start) && it.Number == iteration {
			cancel()
		}
	}
	if _, err := m.Train(ctx, &q); !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v, want context.Canceled", err)
	}
	return q.Checkpoint
}

// resumed trains on from a checkpoint. It returns the model, and the start and number of the
// first iteration.
func resumed(t *testing.T, m *Method, p *Problem, checkpoint string) (trained, first string) {
	t.Helper()
	q := *p
	q.Checkpoint = checkpoint
	q.Observe = func(it Iteration) {
		if first == "" {
			first = fmt.Sprint(it.Start, it.Number)
		}
	}
	trained = bytesOf(t, mustTrain(t, m, &q))
	if _, err := os.Stat(checkpoint); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: the checkpoint is not deleted: %v", m.Name, err)
	}
	return trained, first
}

// A training that was cancelled goes on where it was, and to the same bytes,
// wherever it was.
func TestCancelledTrainingGoesOn(t *testing.T) {
	for _, name := range []string{"mle", "expgain"} {
		m, p := killable(t, name)
		want := bytesOf(t, mustTrain(t, m, p))
		for _, at := range [][2]int{{0, 0}, {0, 1}, {0, 10}, {0, 13}, {1, 0}, {3, 7}} {
			if name == "mle" && at[0] > 0 {
				continue
			}
			got, first := resumed(t, m, p, interrupted(t, m, p, at[0], at[1]))
			if got != want {
				t.Errorf("%s, cancelled at %v: another model", name, at)
			}
			if next := fmt.Sprint(at[0], at[1]+1); first != next && at != [2]int{0, 0} {
				t.Errorf("%s, cancelled at %v: went on at %s, expected %s", name, at, first, next)
			}
		}
	}
}

// A checkpoint belongs to one training: anything that would change the result makes it
// another's, and the error says what differs.
func TestCheckpointOfAnotherTraining(t *testing.T) {
	m, p := killable(t, "expgain")
	path := interrupted(t, m, p, 1, 3)
	standard := newProblem(t, m, "C", "1000", "tolerance", "1e-13", "iterations", "25", "restarts", "3")
	change := func(f func(*Problem)) *Problem {
		q := *standard
		f(&q)
		return &q
	}
	for _, c := range []struct {
		name            string
		p               *Problem
		found, expected string
	}{
		{"seed", change(func(q *Problem) { q.Seed = 2 }), "seed=1", "seed=2"},
		{"C", newProblem(t, m, "C", "1", "tolerance", "1e-13", "iterations", "25", "restarts", "3"), "C=1000", "C=1"},
		{"restarts", newProblem(t, m, "C", "1000", "tolerance", "1e-13", "iterations", "25", "restarts", "0"), "restarts=3", "restarts=0"},
		{"measure", change(func(q *Problem) { q.Measure = measure.MustParse("ndcg@5", measure.LETOR3) }), "measure=ndcg@10", "measure=ndcg@5"},
		{"normalization", change(func(q *Problem) { q.Normalization = dataset.MinMax }), "normalization=none", "normalization=minmax"},
		{"data", change(func(q *Problem) { q.Data = q.Data.Subset([]int{0, 1, 2}) }), "data=", "data="},
	} {
		c.p.Checkpoint = path
		_, err := m.Train(context.Background(), c.p)
		want := "expgain: checkpoint " + path + ": found that of another training (" + c.found
		var problem *ProblemError
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "), expected "+c.expected) || !errors.As(err, &problem) {
			t.Errorf("%s: error is %v, want %s", c.name, err, want)
		}
	}
	// The convention is part of what is trained for.
	other := change(func(q *Problem) { q.Measure = parseStandard(t, "ndcg@10") })
	other.Checkpoint = path
	if _, err := m.Train(context.Background(), other); err == nil || !strings.Contains(err.Error(), "(convention=letor3), expected convention=standard") {
		t.Errorf("another convention: error is %v", err)
	}
	// The checkpoint is still there for its own training.
	own := change(func(*Problem) {})
	own.Checkpoint = path
	mustTrain(t, m, own)
}

// A checkpoint that cannot be written ends the training with an error.
func TestCheckpointThatCannotBeWritten(t *testing.T) {
	m, p := killable(t, "mle")
	p.Checkpoint = filepath.Join(t.TempDir(), "none", "checkpoint")
	_, err := m.Train(context.Background(), p)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want os.ErrNotExist", err)
	}
}
