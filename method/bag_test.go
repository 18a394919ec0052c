package method

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// bagged is a training of a bag of three short descents.
func bagged(t testing.TB, m *Method, kind string, settings ...string) *Problem {
	p := quick(t, m, kind, append([]string{"optimizer", "descent", "epochs", "12", "bag", "3"}, settings...)...)
	p.Valid = p.Data.Subset([]int{0, 1, 2})
	return p
}

// Claim: a bag's scores are the means of its members' scores, for every scorer;
// its first member is what is learned without a bag, and its members differ.
func TestBagAveragesScores(t *testing.T) {
	m := lookup(t, "boltzrank2")
	for _, kind := range m.Scorers() {
		p := bagged(t, m, kind)
		last := make([][]float64, 3) // each member's parameters at its best epoch
		p.Observe = func(it Iteration) {
			if it.Best {
				last[it.Member] = slices.Clone(it.Params)
			}
		}
		bag := train(t, m, p)
		single := train(t, m, bagged(t, m, kind, "bag", "1"))
		if !slices.Equal(single.Params, last[0]) {
			t.Errorf("%s: the first member is not the model without a bag", kind)
		}
		if slices.Equal(last[0], last[1]) || slices.Equal(last[1], last[2]) {
			t.Errorf("%s: two members are the same", kind)
		}
		got, err := bag.Score(p.Data)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, len(got))
		for _, params := range last {
			member := *single
			member.Params = params
			scores, err := member.Score(p.Data)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range scores {
				want[i] += v / 3
			}
		}
		for i, v := range got {
			if math.Abs(v-want[i]) > 1e-12*(1+math.Abs(v)) {
				t.Fatalf("%s: document %d scores %v, the members' mean is %v", kind, i, v, want[i])
			}
		}
		record := bag.Training
		if len(record.Members) != 3 || record.Iterations != 36 || record.BestEpoch != 0 || single.Training.Members != nil {
			t.Errorf("%s: training is %+v", kind, record)
		}
		p.Select = parse(t, m.DefaultMeasure)
		scores, err := bag.Score(p.Valid)
		if err != nil {
			t.Fatal(err)
		}
		if v := mean(p.Valid, scores, p.Select); math.Abs(*record.Validation-v) > 1e-12 {
			t.Errorf("%s: the validation value is %v, the model has %v", kind, *record.Validation, v)
		}
	}
}

// Claim: a bag that was interrupted in any of its members goes on from there to the
// same bytes.
func TestBagResumes(t *testing.T) {
	m := lookup(t, "ranknet")
	want := bytesOf(t, train(t, m, bagged(t, m, networkScorer)))
	for at := range 3 {
		p := bagged(t, m, networkScorer)
		p.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
		ctx, cancel := context.WithCancel(context.Background())
		p.Observe = func(it Iteration) {
			if it.Member == at && it.Number == 5 {
				cancel()
			}
		}
		if _, err := m.Train(ctx, p); !errors.Is(err, context.Canceled) {
			t.Fatalf("member %d: error is %v, want context.Canceled", at, err)
		}
		first := Iteration{Member: -1}
		p.Observe = func(it Iteration) {
			if first.Member < 0 {
				first = it
			}
		}
		if got := bytesOf(t, train(t, m, p)); got != want || first.Member != at || first.Number != 6 {
			t.Errorf("resumed at epoch %d of member %d: the model is another one: %v", first.Number, first.Member, got != want)
		}
	}
}

// Claim: L-BFGS has no bag, and says so.
func TestBagNeedsDescent(t *testing.T) {
	m := lookup(t, "listnet")
	p := quick(t, m, linearScorer, "bag", "2")
	var bad *ProblemError
	if _, err := m.Train(context.Background(), p); !errors.As(err, &bad) || !strings.Contains(err.Error(), "bag=2 with optimizer=lbfgs") {
		t.Errorf("error is %v, want a *ProblemError", err)
	}
}
