package method

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A training with validation data says how to come to the same weights without them,
// and that is true, bit for bit: of linear functions and networks, alone and in bags,
// through restarts, with draws made anew in every epoch, and of boosting's rounds.
func TestRefitGivesTheSameWeights(t *testing.T) {
	type settings = []string
	for _, c := range []struct {
		method, scorer string
		settings       settings
	}{
		{"lambdaloss", linearScorer, settings{"epochs", "40", "rate", "0.1"}},
		{"lambdarank", linearScorer, settings{"epochs", "40", "rate", "0.1", "patience", "3"}},
		{"lambdarank", networkScorer, settings{"epochs", "30", "patience", "2"}},
		{"lambdaloss", networkScorer, settings{"epochs", "20", "bag", "3", "patience", "2"}},
		{"mle", networkScorer, settings{"epochs", "20", "bag", "3"}},
		{"ranknet", networkScorer, settings{"epochs", "20", "batch", "4", "rule", "momentum"}},
		{"listmle", networkScorer, settings{"epochs", "40", "rate", "0.02", "C", "100", "redraw", "true", "patience", "2"}},
		{"xendcg", linearScorer, settings{"epochs", "20", "optimizer", "descent", "redraw", "true"}},
		{"boltzrank2", pairScorer, settings{"epochs", "6", "pair_hidden", "2", "samples", "10", "bag", "3"}},
		{"rankboost", stumpScorer, settings{"rounds", "40"}},
		{"frank", stumpScorer, settings{"rounds", "30"}},
		{"adarank", linearScorer, settings{"rounds", "40"}},
	} {
		m := lookup(t, c.method)
		for seed := range uint64(3) {
			what := fmt.Sprint(c.method, " ", c.scorer, " ", c.settings, " seed ", seed)
			p := newProblem(t, m, c.settings...)
			p.Scorer, p.Seed = c.scorer, seed
			all := p.Data
			p.Data, p.Valid = all.Subset([]int{0, 2, 4, 6, 8, 10, 12}), all.Subset([]int{1, 3, 5})
			restarts := 0
			p.Observe = func(it Iteration) { restarts = max(restarts, it.Start) }
			validated := mustTrain(t, m, p)
			if slices.Contains(c.settings, "patience") && restarts == 0 {
				t.Errorf("%s: no restart, the test shows too little", what)
			}
			again := newProblem(t, m, append(slices.Clone(c.settings), refitSettings(validated.Training.Refit)...)...)
			again.Scorer, again.Seed, again.Data = c.scorer, seed, p.Data
			got, err := m.Train(context.Background(), again)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if !slices.Equal(got.Params, validated.Params) {
				t.Errorf("%s: %q does not give the weights of epoch %d", what, validated.Training.Refit, validated.Training.BestEpoch)
			}
			if got.Training.Refit != "" || got.Training.BestEpoch != validated.Training.BestEpoch {
				t.Errorf("%s: refitted to %+v", what, got.Training)
			}
		}
	}
}

// refitSettings are the words of Training.Refit as newProblem takes settings.
func refitSettings(refit string) []string {
	var set []string
	for word := range strings.FieldsSeq(refit) {
		name, value, _ := strings.Cut(word, "=")
		set = append(set, name, value)
	}
	return set
}

// An optimiser that met its tolerance is distinguished from one that did not; where there
// is none, neither is recorded.
func TestConverged(t *testing.T) {
	for _, c := range []struct {
		method   string
		settings []string
		want     string
	}{
		{"mle", []string{"C", "0.01"}, "true"},
		{"mle", []string{"C", "100", "iterations", "2"}, "false"},
		{"expgain", []string{"restarts", "0", "iterations", "1"}, "false"},
		{"ranksvm", []string{"C", "0.01"}, "true"},
		{"ranksvm", []string{"iterations", "1", "C", "10"}, "false"},
		{"ranksvm", []string{"hinge", "l1"}, "true"},
		{"ranksvm", []string{"hinge", "l1", "iterations", "1", "C", "10"}, "false"},
		{"ranksvm", []string{"optimizer", "planes"}, "true"},
		{"ranksvm", []string{"optimizer", "planes", "iterations", "2"}, "false"},
		{"svmmap", nil, "true"},
		{"svmmap", []string{"slack", "n", "iterations", "2"}, "false"},
		{"coordascent", []string{"sweeps", "30", "restarts", "0"}, "true"},
		{"coordascent", []string{"sweeps", "1", "restarts", "0"}, "false"},
		{"lambdarank", []string{"epochs", "2"}, "nil"},
		{"rankboost", []string{"rounds", "2"}, "nil"},
		{"regression", nil, "nil"},
	} {
		m := lookup(t, c.method)
		got := "nil"
		trained := mustTrain(t, m, newProblem(t, m, c.settings...))
		if converged := trained.Training.Converged; converged != nil {
			got = strconv.FormatBool(*converged)
		}
		if got != c.want {
			t.Errorf("%s %s: converged is %s, want %s (%s)", c.method, c.settings, got, c.want, trained.Training.Status)
		}
	}
}
