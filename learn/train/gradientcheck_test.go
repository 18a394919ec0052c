package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
)

// changed is a loss of the caller's own: another one with changed values and λ.
type changed struct {
	loss.Loss
	change func(value float64, scores, lambda []float64) float64
	traits loss.Traits
}

func (c changed) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	b, err := c.Loss.Bind(grades, rng)
	if err != nil || b == loss.Nothing {
		return b, err
	}
	return boundChanged{b, c.change}, nil
}

func (c changed) Traits() loss.Traits { return c.traits }

type boundChanged struct {
	loss.QueryLoss
	change func(value float64, scores, lambda []float64) float64
}

func (b boundChanged) Eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	return b.change(b.QueryLoss.Eval(scores, lambda, scratch), scores, lambda)
}

func lambdaTimes(factor float64) func(float64, []float64, []float64) float64 {
	return func(value float64, _, lambda []float64) float64 {
		for i := range lambda {
			lambda[i] *= factor
		}
		return value
	}
}

// Claim: a caller's own loss whose λ, or whose value, has the wrong sign is a *ProblemError
// that says so before training, with every learner that takes it. A gradient of another size
// does not hide it.
func TestWrongSignIsRefused(t *testing.T) {
	negative := func(value float64, _, _ []float64) float64 { return -value }
	smooth := loss.Traits{Smooth: true}
	for name, l := range map[string]loss.Loss{
		"λ of RankNet":     changed{loss.RankNet{}, lambdaTimes(-1), smooth},
		"λ of ListNet":     changed{loss.ListNet{}, lambdaTimes(-1), smooth},
		"λ of RankSVM":     changed{loss.RankSVM{}, lambdaTimes(-1), loss.Traits{}},
		"small λ":          changed{loss.RankNet{}, lambdaTimes(-1e-3), smooth},
		"large λ":          changed{loss.SquaredError{}, lambdaTimes(-50), smooth},
		"value of RankNet": changed{loss.RankNet{}, negative, smooth},
		"λ of ApproxNDCG":  changed{loss.ApproxNDCG{}, lambdaTimes(-1), smooth},
		"behind a pointer": &changed{loss.RankNet{}, lambdaTimes(-1), smooth},
	} {
		for _, learner := range []Learner{LBFGS{Iterations: 3}, Descent{Epochs: 2, Rate: 1e-5}, Trees{Rounds: 2}} {
			_, err := Run(context.Background(), &Problem{Data: curved(t, 12, 1), Loss: l, Learner: learner})
			if _, ok := errors.AsType[*ProblemError](err); !ok || !strings.Contains(err.Error(), "found a value that rises along λ at each of ") {
				t.Errorf("%s by %T: error is %v", name, learner, err)
			}
		}
	}
}

// Claim: correct losses pass, smooth or with kinks, and so do noisy values. A λ that is no
// gradient of a piecewise constant value passes, declared or not. So does a λ of another size.
func TestRightSignsPass(t *testing.T) {
	ndcg := measure.MustParse("ndcg@10", measure.Standard)
	rng := rand.New(rand.NewPCG(1, 2))
	same := lambdaTimes(1)
	noisy := func(value float64, _, _ []float64) float64 { return value + rng.NormFloat64() }
	for name, l := range map[string]loss.Loss{
		"RankNet":              changed{loss.RankNet{}, same, loss.Traits{}},
		"RankSVM":              changed{loss.RankSVM{}, same, loss.Traits{}},
		"noise":                changed{loss.ListNet{}, noisy, loss.Traits{}},
		"LambdaRank":           changed{loss.LambdaRank{Measure: ndcg}, same, loss.Traits{}},
		"declared LambdaRank":  changed{loss.LambdaRank{Measure: ndcg}, lambdaTimes(-1), loss.Traits{NonGradient: true}},
		"StochasticRank":       changed{loss.StochasticRank{Measure: ndcg}, same, loss.Traits{}},
		"YetiRank":             changed{loss.YetiRank{Measure: ndcg}, same, loss.Traits{}},
		"a tenth of λ":         changed{loss.RankNet{}, lambdaTimes(0.1), loss.Traits{}},
		"a λ that is 0":        changed{loss.RankNet{}, lambdaTimes(0), loss.Traits{}},
		"values that are NaN":  changed{loss.RankNet{}, func(float64, []float64, []float64) float64 { return math.NaN() }, loss.Traits{}},
		"XENDCG":               changed{loss.XENDCG{}, same, loss.Traits{}},
		"ListMLE":              changed{loss.ListMLE{}, same, loss.Traits{}},
		"BoltzRank":            changed{loss.BoltzRank{Measure: ndcg, Lambda: 0.5}, same, loss.Traits{}},
		"a loss of this house": loss.RankNet{},
	} {
		for seed := range uint64(20) {
			p := &Problem{Data: curved(t, 12, seed), Loss: l, Seed: seed}
			if err := p.checkGradient(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Claim: a training that does not lower its objective warns, and says what to check; one that
// does so warns of nothing.
func TestUnimprovedIsTold(t *testing.T) {
	ndcg := measure.MustParse("ndcg@10", measure.Standard)
	for _, c := range []struct {
		name    string
		loss    loss.Loss
		learner Learner
		told    bool
	}{
		{"a λ that leads uphill, by descent", changed{loss.LambdaRank{Measure: ndcg}, lambdaTimes(-1), loss.Traits{NonGradient: true}}, Descent{Epochs: 5, Rate: 0.1}, true},
		{"a λ that leads uphill, by trees", changed{loss.LambdaRank{Measure: ndcg}, lambdaTimes(-1), loss.Traits{NonGradient: true}}, Trees{Rounds: 5}, true},
		{"a value that stays, by L-BFGS", changed{loss.RankNet{}, func(float64, []float64, []float64) float64 { return 1 }, loss.Traits{}}, LBFGS{}, true},
		{"LambdaRank by descent", loss.LambdaRank{Measure: ndcg}, Descent{Epochs: 5, Rate: 0.1}, false},
		{"LambdaLoss by trees, whose value is no measure of progress", loss.LambdaLoss{Convention: measure.Standard}, Trees{Rounds: 1, Rate: 1}, false},
		{"RankSVM by descent, with a mean over the epoch below its end", loss.RankSVM{}, Descent{Epochs: 1, Rate: 0.1}, false},
		{"LambdaRank by trees", loss.LambdaRank{Measure: ndcg}, Trees{Rounds: 5}, false},
		{"RankNet by L-BFGS", loss.RankNet{}, LBFGS{Iterations: 2}, false},
		{"RankNet by descent", loss.RankNet{}, Descent{Epochs: 1, Rate: 1e-4}, false},
	} {
		var told []string
		m, err := Run(context.Background(), &Problem{Data: curved(t, 12, 1), Loss: c.loss, Learner: c.learner, Warn: func(s string) { told = append(told, s) }})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if (len(told) == 1 && strings.Contains(told[0], "did not lower the objective")) != c.told || len(told) > 1 {
			t.Errorf("%s: warned of %q: %+v", c.name, told, m.Training)
		}
	}
}

// Claim: a sentence names the number of queries for which the training measure has the same
// value in every order, and the convention. Under letor3, whose discount is 1 at ranks 1 and 2,
// these are the queries of two documents. Under standard there are none.
func TestIndifferenceIsTold(t *testing.T) {
	d := curved(t, 20, 3)
	d = d.KeepDocs(func(query, doc int) bool {
		g := d.Queries[query].Grades
		return query >= 12 && doc < 5 || query < 12 && (doc == slices.Index(g, slices.Min(g)) || doc == slices.Index(g, slices.Max(g)))
	})
	pairs, graded := 0, 0
	for i := range d.Queries {
		if g := d.Queries[i].Grades; slices.Min(g) < slices.Max(g) {
			graded++
			if len(g) == 2 {
				pairs++
			}
		}
	}
	if pairs < 5 || pairs > graded-3 {
		t.Fatalf("%d of %d queries have two documents, the test shows too little", pairs, graded)
	}
	for _, c := range []struct {
		measure    string
		convention measure.Convention
		want       string
	}{
		{"ndcg@10", measure.LETOR3, "ndcg@10 under the convention letor3 has the same value for every order of the documents in PAIRS of the GRADED queries with different grades, so that it cannot teach their order; the convention standard tells more of them apart"},
		{"ndcg@10", measure.Standard, ""},
		{"map", measure.LETOR3, ""},
		{"p@10", measure.Standard, "p@10 under the convention standard has the same value for every order of the documents in GRADED of the GRADED queries with different grades, so that it cannot teach their order; another measure or threshold may tell them apart"},
	} {
		m := measure.MustParse(c.measure, c.convention)
		want := strings.NewReplacer("PAIRS", strconv.Itoa(pairs), "GRADED", strconv.Itoa(graded)).Replace(c.want)
		if got := Indifference(m, d); got != want {
			t.Errorf("%s, %s: told %q, want %q", c.measure, c.convention.Name(), got, want)
		}
	}
}
