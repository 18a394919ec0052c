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
	"github.com/listwise/listwise/loss/logrank"
	"github.com/listwise/listwise/measure"
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

func parse(t testing.TB, name string) measure.Measure {
	t.Helper()
	m, err := measure.Parse(name, measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// severalStarts is a training of four starts, some dozens of iterations each.
func severalStarts(t testing.TB) *Problem {
	gain := parse(t, "ndcg@10").(measure.Additive)
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
	return s.identity()
}

// A checkpoint that was cut off anywhere, or in which any byte was changed, is an
// error or means the same; never a panic, never another model.
func TestDamagedCheckpoint(t *testing.T) {
	p := severalStarts(t)
	text, err := os.ReadFile(interrupted(t, p, 2, 12))
	if err != nil {
		t.Fatal(err)
	}
	f := checkpointFile{fingerprint: identityOf(t, p)}
	whole, err := f.parse(text, 4, 8)
	if err != nil || whole.Start != 2 || whole.Best == nil || whole.State.Iteration != 12 {
		t.Fatalf("checkpoint is %+v, %v", whole, err)
	}
	for n := 0; n < len(text)-1; n += 1 + len(text)/200 {
		if _, err := f.parse(text[:n], 4, 8); err == nil {
			t.Errorf("the first %d of %d bytes pass", n, len(text))
		}
	}
	for i := 0; i < len(text); i += 1 + len(text)/1500 {
		for _, b := range []byte{'0', '}', 0, text[i] ^ 1} {
			damaged := slices.Clone(text)
			damaged[i] = b
			got, err := f.parse(damaged, 4, 8)
			if err == nil && (got.Start != whole.Start || !slices.Equal(got.Best.X, whole.Best.X) || got.State.F != whole.State.F) {
				t.Fatalf("byte %d as %q: taken for another checkpoint", i, b)
			}
		}
	}
}

// What is complete and has the right sum, but is impossible, is refused, too.
func TestImpossibleCheckpoint(t *testing.T) {
	p := severalStarts(t)
	path := interrupted(t, p, 1, 3)
	f := checkpointFile{path: path, fingerprint: identityOf(t, p)}
	good, err := f.read(4, 8)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*checkpoint){
		"found start 4, expected one from 0 to 3":            func(c *checkpoint) { c.Start = 4 },
		"found start -1, expected one from 0 to 3":           func(c *checkpoint) { c.Start = -1 },
		"found start 0, expected one from 0 to 3":            func(c *checkpoint) { c.Start = 0 },
		"found start 1, expected one from 0 to 3":            func(c *checkpoint) { c.Best = nil },
		"found a best result of 1 parameters, expected 8":    func(c *checkpoint) { best := *c.Best; best.X = best.X[:1]; c.Best = &best },
		"optimizer state: -1 iterations with 5 evaluations,": func(c *checkpoint) { s := c.State.Clone(); s.Iteration, s.Evaluations = -1, 5; c.State = s },
	} {
		bad := *good
		change(&bad)
		if err := f.write(&bad); err != nil {
			t.Fatal(err)
		}
		if _, err := f.read(4, 8); err == nil || !strings.HasPrefix(err.Error(), "checkpoint "+path+": "+want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// Any bytes read as a checkpoint give an error or a checkpoint.
func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte(`{"format":"listwise-checkpoint-1","problem":"p","start":0,"state":"","sum":""}`))
	f.Add([]byte(`{"format":"listwise-checkpoint-1","problem":"p","start":-1,"best":{"x":null},"state":"AAAA","sum":"x"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := checkpointFile{fingerprint: "p"}.parse(text, 4, 8)
		if err == nil && (c.Start < 0 || c.Start > 3) {
			t.Fatalf("checkpoint %+v", c)
		}
	})
}

// Claim: what is no regular file is refused as a checkpoint without being read: a device
// has no end, and a folder or a pipe no content.
func TestIrregularCheckpoint(t *testing.T) {
	for _, path := range []string{"/dev/zero", t.TempDir()} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		_, err := checkpointFile{path: path}.read(1, 3)
		var problem *ProblemError
		if !errors.As(err, &problem) || !strings.Contains(err.Error(), "found no regular file") {
			t.Errorf("%s: error %v", path, err)
		}
	}
}
