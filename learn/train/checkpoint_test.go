package train

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

// smallData are queries of a few documents with 8 features, of which some depend on the
// grade.
func smallData(t testing.TB) *dataset.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b dataset.Builder
	for q := range 12 {
		n := 6 + rng.IntN(6)
		grades, x := make([]float64, n), make([]float32, 0, 8*n)
		for i := range grades {
			grades[i] = float64(rng.IntN(3))
			for j := range 8 {
				x = append(x, float32(rng.NormFloat64()+grades[i]*float64(j%3)/3))
			}
		}
		if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// severalStarts is a training of four starts, some dozens of iterations each.
func severalStarts(t testing.TB) *Problem {
	gain := measure.MustParse("ndcg@10", measure.LETOR3).(measure.Additive)
	return &Problem{
		Data: smallData(t), Seed: 1, Loss: logrank.ExpGain{Options: logrank.Options{Gain: gain, Threshold: 1}},
		Learner: LBFGS{C: 1000, Tolerance: 1e-13, Iterations: 25, Restarts: 3},
	}
}

func interrupted(t *testing.T, p *Problem, start, iteration int) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	q := *p
	q.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	q.Observe = func(it Iteration) {
		if it.Start == start && it.Number == iteration {
			cancel()
		}
	}
	if _, err := Run(ctx, &q); !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v, want context.Canceled", err)
	}
	return q.Checkpoint
}

func identityOf(t *testing.T, p *Problem) string {
	t.Helper()
	s, err := p.Settled()
	if err != nil {
		t.Fatal(err)
	}
	switch l := p.Learner.(type) {
	case LBFGS:
		return s.identityWith(l.Architecture.new(p.Data.Features))
	case Descent:
		return s.identityWith(l.Architecture.new(p.Data.Features))
	}
	t.Fatalf("%T keeps no checkpoint", p.Learner)
	return ""
}

// stateIn returns what is in a checkpoint of severalStarts.
func stateIn(t *testing.T, f checkpointFile) (*optimize.MultistartState, error) {
	t.Helper()
	state := new(optimize.MultistartState)
	found, err := f.read(state)
	if found != (err == nil) {
		t.Fatalf("found %v with the error %v", found, err)
	}
	return state, err
}

// A checkpoint that was cut off anywhere, or in which any byte was changed, is an error
// that names the file; never a panic, never another model.
func TestDamagedCheckpoint(t *testing.T) {
	p := severalStarts(t)
	f := checkpointFile{interrupted(t, p, 2, 12), identityOf(t, p)}
	whole, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	if state, err := stateIn(t, f); err != nil || state.Start != 2 || state.Run.Iteration != 12 {
		t.Fatalf("checkpoint is %+v, %v", state, err)
	}
	refused := func(what string, i int, text []byte) {
		if err := os.WriteFile(f.path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		var problem *ProblemError
		if _, err := stateIn(t, f); !errors.As(err, &problem) || !strings.HasPrefix(err.Error(), "checkpoint "+f.path+": found ") {
			t.Fatalf("%s %d of %d bytes: error %v", what, i, len(whole), err)
		}
	}
	for n := 0; n < len(whole); n += 1 + len(whole)/200 {
		refused("the first", n, whole[:n])
	}
	for i := 0; i < len(whole); i += 1 + len(whole)/500 {
		for _, b := range []byte{whole[i] ^ 0x80, whole[i] + 1, whole[i] ^ 1} {
			damaged := slices.Clone(whole)
			damaged[i] = b
			refused("changed byte", i, damaged)
		}
	}
}

// What is complete and has the right sum, but does not belong to the training, is refused
// with an error that names the file: the state of more starts, of more weights, of another
// optimiser, and a checkpoint of the first version.
func TestUnfitCheckpoint(t *testing.T) {
	p := severalStarts(t)
	f := checkpointFile{interrupted(t, p, 1, 3), identityOf(t, p)}
	state, err := stateIn(t, f)
	if err != nil {
		t.Fatal(err)
	}
	other := *p
	other.Data, other.Learner = smallData(t).Subset([]int{0, 1, 2}), Descent{Rate: 0.01, Epochs: 30}
	descent := checkpointFile{interrupted(t, &other, 0, 12), identityOf(t, &other)}
	epoch := new(optimize.DescentState)
	if found, err := descent.read(epoch); !found || err != nil {
		t.Fatal(found, err)
	}
	old := filepath.Join(t.TempDir(), "old")
	if err := os.WriteFile(old, []byte(`{"format":"listwise-checkpoint-1","problem":"x"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	few := *p
	few.Learner = LBFGS{C: 1000, Tolerance: 1e-13, Iterations: 25, Restarts: -1}
	net := *p
	net.Learner = LBFGS{Architecture: Network(2, scorer.Tanh), C: 1000, Tolerance: 1e-13, Iterations: 25, Restarts: 3}
	for want, c := range map[string]struct {
		p     *Problem
		state optimize.State
	}{
		"resumed state is of start 1, expected one from 0 to 0":                   {&few, state},
		"resumed state has 8 variables, expected the objective's 20":              {&net, state},
		"found the state of descent, expected that of L-BFGS from several starts": {p, epoch},
		"found a checkpoint of version 1, expected version 2":                     {p, nil},
	} {
		q := *c.p
		q.Checkpoint = old
		if c.state != nil {
			q.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
			if err := (checkpointFile{q.Checkpoint, identityOf(t, &q)}).write(c.state); err != nil {
				t.Fatal(err)
			}
		}
		var problem *ProblemError
		_, err := Run(context.Background(), &q)
		if !errors.As(err, &problem) || !strings.HasPrefix(err.Error(), "checkpoint "+q.Checkpoint+": "+want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// Claim: a checkpoint is not taken for that of a training with other settings of the loss or
// the learner, even where the problem has no settings by name.
func TestCheckpointOfOtherSettings(t *testing.T) {
	p := severalStarts(t)
	path := interrupted(t, p, 1, 3)
	l := p.Loss.(logrank.ExpGain)
	for want, change := range map[string]func(*Problem){
		"(learner.C=1000), expected learner.C=10;":           func(q *Problem) { q.Learner = LBFGS{C: 10, Tolerance: 1e-13, Iterations: 25, Restarts: 3} },
		"(loss.Options.Threshold=1), expected loss.Options.": func(q *Problem) { l.Threshold = 2; q.Loss = l },
		"(learner.Iterations=25 learner.Tolerance=1e-13":     func(q *Problem) { q.Learner = LBFGS{C: 1000} },
		"(seed=1), expected seed=2":                          func(q *Problem) { q.Seed = 2 },
	} {
		q := *p
		change(&q)
		q.Checkpoint = path
		_, err := Run(context.Background(), &q)
		if err == nil || !strings.Contains(err.Error(), "found that of another training ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	again := severalStarts(t)
	again.Checkpoint = path
	if _, err := Run(context.Background(), again); err != nil {
		t.Errorf("its own training: %v", err)
	}
}

// Claim: what is no regular file is refused as a checkpoint without being read: a device
// has no end, and a folder or a pipe no content.
func TestIrregularCheckpoint(t *testing.T) {
	for _, path := range []string{"/dev/zero", t.TempDir()} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		_, err := checkpointFile{path: path}.read(new(optimize.DescentState))
		var problem *ProblemError
		if !errors.As(err, &problem) || !strings.Contains(err.Error(), "found no regular file") {
			t.Errorf("%s: error %v", path, err)
		}
	}
}
