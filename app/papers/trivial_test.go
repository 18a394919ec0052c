package papers

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/tune"
)

// trivialSystems take the place of every trained row. Ties stay in the order of the file, so that
// equal scores are that order.
var trivialSystems = []string{"best feature", "file order, equal scores", "random order"}

// trivialLearner trains one of them.
type trivialLearner struct {
	System, Row string
	Setting     string
}

// bestFeatureOf has the weights of the best features by data: many rows are trained on the same.
var bestFeatureOf sync.Map

// Learn implements train.Learner.
func (l trivialLearner) Learn(ctx context.Context, t *train.Task) (*train.Learned, error) {
	done := model.Training{Status: "nothing to learn"}
	w := make([]float64, t.Inputs())
	switch l.System {
	case "random order":
		h := fnv.New64a()
		fmt.Fprint(h, l.Row, l.Setting, t.Seed)
		return &train.Learned{Scorer: scorer.Random{Features: t.Inputs(), Seed: h.Sum64()}, Training: done}, nil
	case "best feature":
		found, ok := bestFeatureOf.Load(t.Data)
		if !ok {
			models, err := bestFeatures(ctx, []tune.Fold{{Train: t.Data}})
			if err != nil {
				return nil, err
			}
			found = models[0].Params
			bestFeatureOf.Store(t.Data, found)
		}
		copy(w, found.([]float64))
	}
	return &train.Learned{Scorer: scorer.Linear{Features: t.Inputs()}, Params: w, Training: done}, nil
}

// inPlace returns a study with a trivial system in place of every row that is trained. Rows have up to
// two settings, the system and a random order: the spread between grids makes the intervals of claims
// wide.
func inPlace(s study, system string) study {
	s.rows = slices.Clone(s.rows)
	s.records = ""
	for i := range s.rows {
		r := &s.rows[i]
		if r.method == "" {
			continue
		}
		r.scorer, r.training = "", ""
		r.grid = maps.Clone(r.grid)
		varied := ""
		for _, name := range slices.Sorted(maps.Keys(r.grid)) {
			if n := len(r.grid[name]); n > 1 && n > len(r.grid[varied]) {
				varied = name
			}
		}
		for name, values := range r.grid {
			most := 1
			if name == varied {
				most = 2
			}
			r.grid[name] = values[:min(most, len(values))]
		}
		r.own = func(settings map[string]any) (loss.Loss, train.Learner, error) {
			learner := trivialLearner{system, r.name, fmt.Sprint(settings)}
			if varied != "" && !sameSetting(fmt.Sprint(settings[varied]), r.grid[varied][0]) {
				learner.System = "random order"
			}
			return nil, learner, nil
		}
	}
	return s
}

// sameSetting reports whether two texts are of one value: 1e-3 and 0.001 are.
func sameSetting(a, b string) bool {
	x, first := strconv.ParseFloat(a, 64)
	y, second := strconv.ParseFloat(b, 64)
	return a == b || first == nil && second == nil && x == y
}

// A trivial system in place of every trained row reproduces no published number, and holds no
// claim: none of a study's claims is true of systems that learned nothing.
func TestTrivialSystemsHoldNothing(t *testing.T) {
	long.Test(t)
	made := t.TempDir()
	writeFolds(t, filepath.Join(made, "OHSUMED"), 106, 1)
	folders := map[string]string{"made": made, "OHSUMED": ""}
	onReal := []string{"boltzrank", "letor-baselines", "listmle-ohsumed"} // published numbers, few rows
	for name, dir := range folders {
		t.Run(name, func(t *testing.T) {
			if dir == "" {
				dir = realOHSUMED(t)
			}
			for _, system := range trivialSystems {
				for _, e := range Experiments() {
					if e.study != nil && (name == "made" || slices.Contains(onReal, e.Name)) {
						t.Run(system+"/"+e.Name, func(t *testing.T) {
							s := inPlace(*e.study, system)
							if e.Name == "logrank-delta" { // its synthetic set alone takes a minute
								s.data = deltaSets.find
							}
							r := reportOf(t, s, Options{Data: dir, Seed: 1, Scale: 0.02})
							holdsNothing(t, r)
						})
					}
				}
			}
		})
	}
}

// An experiment that no trivial system can be put into says why.
func TestTrivialSystemsAreRuledOut(t *testing.T) {
	for _, e := range Experiments() {
		if (e.study == nil) != (e.Untrained != "") {
			t.Errorf("%s: a study %v, ruled out by %q", e.Name, e.study != nil, e.Untrained)
		}
	}
}

// holdsNothing fails for what a report with a trivial system says in its favour.
func holdsNothing(t *testing.T, r *Report) {
	t.Helper()
	for _, c := range r.Claims {
		if c.Verdict == Reproduced {
			t.Errorf("%s, %s, %s: %.4f is reproduced by %.4f (%.4f … %.4f)", c.Data, c.Row, c.Measure, c.Published, c.Ours, c.Low, c.High)
		}
	}
	for _, f := range r.findings() {
		if strings.Contains(f.Claim, "training fails") {
			continue // which is true of these
		}
		if slices.Contains([]FindVerdict{ClaimHeld, ClaimPartly, ClaimMixed, ClaimOnce}, f.Verdict) {
			t.Errorf("%s: %s (%s)", f.Claim, f.Verdict, f.Figure)
		}
	}
}

// Weights that stay at 0, with or without iterations, improve no objective.
func TestNoTrainingImprovesNoObjective(t *testing.T) {
	for _, course := range [][]float64{{2}, {2, 2, 2}} {
		m := improved([]trace{{sampled: course, exact: course}, {sampled: course, exact: course}})
		if got := m.verdict(); got != ClaimFailed {
			t.Errorf("objectives %v: %s", course, got)
		}
	}
}
