package method

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/model"
)

// bagged is a short training of a bag.
func bagged(t testing.TB, m *Method, kind string, settings ...string) *Problem {
	p := quick(t, m, kind, append([]string{"optimizer", "descent", "epochs", "12"}, settings...)...)
	p.Valid = p.Data.Subset([]int{0, 1, 2})
	return p
}

// Claim: the bag's terms are the sums of its members', each with the gradient of
// its own part, and the average's scores are the means of the members' scores.
func TestBagIsItsMembers(t *testing.T) {
	m := lookup(t, "boltzrank2")
	for _, kind := range []string{networkScorer, pairScorer} {
		p := bagged(t, m, kind)
		l, err := newLearner(m, p, loss.RankNet{Sigma: 1})
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBag(l, 3)
		if err != nil {
			t.Fatal(err)
		}
		x, grad, own := make([]float64, b.Dim()), make([]float64, b.Dim()), make([]float64, l.risk.Dim())
		b.setStart(x, 1, 0)
		for i := range b.Terms() {
			clear(grad)
			got, want := b.EvalTerm(i, x, grad), 0.0
			for k := range 3 {
				clear(own)
				want += l.risk.EvalTerm(i, b.member(x, k), own)
				if !slices.Equal(own, b.member(grad, k)) {
					t.Fatalf("%s, term %d: member %d has another gradient", kind, i, k)
				}
			}
			if math.Abs(got-want) > 1e-12*want {
				t.Errorf("%s, term %d: value %v, the members' sum is %v", kind, i, got, want)
			}
		}
		want := make([]float64, p.Data.Docs())
		for k := range 3 {
			for i, v := range scoresOf(t, &model.Model{Scorer: l.scorer, Params: b.member(x, k)}, p) {
				want[i] += v / 3
			}
		}
		s, params := b.average(x)
		for i, v := range scoresOf(t, &model.Model{Scorer: s, Params: params}, p) {
			if math.Abs(v-want[i]) > 1e-12*(1+math.Abs(v)) {
				t.Fatalf("%s: document %d scores %v, the members' mean is %v", kind, i, v, want[i])
			}
		}
	}
}

func scoresOf(t testing.TB, m *model.Model, p *Problem) []float64 {
	t.Helper()
	scores, err := m.Score(p.Data)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// Claim: a bag starts from different weights, of which the first are those of a
// training without a bag; what is validated and told is the average, and the
// model is that of the best epoch, the same for any number of workers.
func TestBagOfNetworks(t *testing.T) {
	m := lookup(t, "listnet")
	p := bagged(t, m, networkScorer, "bag", "3", "batch", "4")
	p.Select = parse(t, "map")
	var params []float64
	best := math.Inf(-1)
	p.Observe = func(it Iteration) {
		if it.Best {
			best, params = it.Validation, slices.Clone(it.Params)
		}
	}
	p.Workers = 1
	trained := train(t, m, p)
	if !slices.Equal(trained.Params, params) || *trained.Training.Validation != best || mapOf(t, trained, p.Valid) != best {
		t.Errorf("the model is not that of the best epoch, whose validation value is %v: %+v", best, trained.Training)
	}
	p.Workers, p.Observe = 3, nil
	if bytesOf(t, trained) != bytesOf(t, train(t, m, p)) {
		t.Error("the number of workers changes the model")
	}
	l, err := newLearner(m, p, loss.RankNet{Sigma: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := &bag{l.risk, l.scorer, 2}
	x, first := make([]float64, b.Dim()), make([]float64, l.risk.Dim())
	b.setStart(x, 1, 0)
	l.scorer.Init(first, random.Stream(1, "init", "0"))
	if !slices.Equal(b.member(x, 0), first) || slices.Equal(b.member(x, 1), first) {
		t.Error("the first member starts elsewhere than without a bag, or all start alike")
	}
}

// Claim: a bag that was interrupted goes on to the same bytes.
func TestBagResumes(t *testing.T) {
	m := lookup(t, "ranknet")
	want := bytesOf(t, train(t, m, bagged(t, m, networkScorer, "bag", "2")))
	p := bagged(t, m, networkScorer, "bag", "2")
	p.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	ctx, cancel := context.WithCancel(context.Background())
	p.Observe = func(it Iteration) {
		if it.Number == 5 {
			cancel()
		}
	}
	if _, err := m.Train(ctx, p); !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v, want context.Canceled", err)
	}
	first := 0
	p.Observe = func(it Iteration) {
		if first == 0 {
			first = it.Number
		}
	}
	if got := bytesOf(t, train(t, m, p)); got != want || first != 6 {
		t.Errorf("resumed at epoch %d: the model is another one: %v", first, got != want)
	}
}

// Claim: what cannot make a bag says so.
func TestBagErrors(t *testing.T) {
	m := lookup(t, "listnet")
	for want, settings := range map[string][]string{
		"bag=2 with optimizer=lbfgs":     {"bag", "2"},
		"bag=2 with the scorer linear, ": {"bag", "2", "optimizer", "descent"},
	} {
		var bad *ProblemError
		if _, err := m.Train(context.Background(), quick(t, m, linearScorer, settings...)); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want a *ProblemError: %s", err, want)
		}
	}
}
