package papers

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/learn/loss/logrank"
)

// mathematicsVerdicts are the verdicts by the beginning of the statements.
func mathematicsVerdicts(t *testing.T, m mathematics, seed uint64) map[string]FindVerdict {
	t.Helper()
	r, err := m.run(t.Context(), Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]FindVerdict{}
	for _, f := range r.findings() {
		verdicts[f.Claim] = f.Verdict
	}
	if len(verdicts) != len(r.Tables[0].Rows) {
		t.Errorf("%d statements, %d rows", len(verdicts), len(r.Tables[0].Rows))
	}
	return verdicts
}

func verdictOn(t *testing.T, verdicts map[string]FindVerdict, claim string) FindVerdict {
	t.Helper()
	for c, v := range verdicts {
		if strings.HasPrefix(c, claim) {
			return v
		}
	}
	t.Fatalf("no statement begins with %q", claim)
	return ""
}

func TestMathematicsVerdicts(t *testing.T) {
	long.Test(t)
	for seed := range uint64(2) {
		verdicts := mathematicsVerdicts(t, newMathematics(), seed+1)
		for claim, want := range map[string]FindVerdict{
			"Δ is unchanged": ClaimHeld, "the feature map": ClaimFailed, "not all": ClaimHeld, "the four identities": ClaimHeld,
			"Z_q": ClaimHeld, "the objective (7)": ClaimHeld, "A_q": ClaimFailed, "the gradient of": ClaimHeld, "that gradient": ClaimFailed,
			"with the logarithm": ClaimHeld, "with f": ClaimHeld, "ConvexLoss ≥": ClaimHeld, "the likelihood": ClaimHeld, "(4), (5)": ClaimHeld,
			"argmax_y": ClaimHeld, "the objective Σ": ClaimHeld, "(1) is": ClaimHeld, "the ideal ranking": ClaimFailed, "the best ranking": ClaimMixed,
			"the law (9)": ClaimHeld, "the maximum likelihood": ClaimHeld, "the objective for AUC": ClaimFailed, "L_3": ClaimFailed, "MLE leads": ClaimMixed, "flips": ClaimPartly, "picking": ClaimHeld,
		} {
			if got := verdictOn(t, verdicts, claim); got != want {
				t.Errorf("seed %d, %s: %s, expected %s", seed+1, claim, got, want)
			}
		}
	}
}

// A broken formula changes the verdicts on the statements that rest on it.
func TestMathematicsBroken(t *testing.T) {
	long.Test(t)
	exchanged := func(change func(l *logRankLosses)) func(*mathematics) {
		return func(m *mathematics) {
			whole := m.losses
			m.losses = func(o logrank.Options) logRankLosses {
				l := whole(o)
				change(&l)
				return l
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*mathematics)
		want   map[string]FindVerdict
	}{
		"Δ of the first document": {func(m *mathematics) {
			m.delta = func(_ string, order []int, _ int) float64 { return float64(order[0]) }
		}, map[string]FindVerdict{"Δ is unchanged": ClaimFailed}},
		"φ of the order": {func(m *mathematics) {
			m.phi = func(order []int, _ int) []float64 {
				return []float64{float64(order[0]), float64(order[1]), float64(order[5])}
			}
		}, map[string]FindVerdict{"the feature map": ClaimFailed}},
		"φ turned round": {func(m *mathematics) {
			m.phi = func(order []int, good int) []float64 {
				phi := orderFeatures(order, good)
				for i := range phi {
					phi[i] = -phi[i]
				}
				return phi
			}
		}, map[string]FindVerdict{"argmax_y": ClaimFailed}},
		"Δ of the ideal above 0": {func(m *mathematics) {
			m.delta = func(name string, order []int, good int) float64 { return 0.5 + orderLoss(name, order, good)/2 }
		}, map[string]FindVerdict{"the maximum": ClaimFailed, "the best ranking": ClaimMixed}},
		"one factor more": {func(m *mathematics) {
			m.factors = func(f, g, h [][2]float64) [4]float64 {
				right := figure1Factors(f, g, h)
				for k := range right {
					right[k] *= 1.001
				}
				return right
			}
		}, map[string]FindVerdict{"the four identities": ClaimFailed}},
		"h(+1)": {func(m *mathematics) { m.printed = 1 }, map[string]FindVerdict{"A_q": ClaimHeld}},
		"θ the other way round": {func(m *mathematics) {
			m.theta = func(y, ng, nb, good, bad int) float64 { return 1.001 - figure2Theta(y, ng, nb, good, bad) }
		}, map[string]FindVerdict{"flips": ClaimFailed}},
		"L_2 for ExpGain": {exchanged(func(l *logRankLosses) { l.expGain = l.l2 }),
			map[string]FindVerdict{"the objective (7)": ClaimFailed, "with the logarithm": ClaimFailed}},
		"MLE for ConvexLoss": {exchanged(func(l *logRankLosses) { l.convex = l.mle }), map[string]FindVerdict{"ConvexLoss ≥": ClaimFailed}},
		"MLE for L_2":        {exchanged(func(l *logRankLosses) { l.l2 = l.mle }), map[string]FindVerdict{"with f": ClaimFailed, "(4), (5)": ClaimMixed}},
		"L_2 for MLE and L_3": {exchanged(func(l *logRankLosses) { l.mle, l.l3 = l.l2, l.l2 }),
			map[string]FindVerdict{"the likelihood": ClaimFailed, "L_3": ClaimHeld}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMathematics()
			c.change(&m)
			verdicts := map[string]FindVerdict{}
			r := &Report{}
			for claim, line := range map[string]func(*Report, *rand.Rand) error{
				"Δ is": m.invariant, "the feature": m.invariant, "the four": m.identities, "A_q": m.closedForms, "the objective": m.closedForms,
				"with the": m.logarithms, "with f": m.bounds, "ConvexLoss": m.bounds, "the likelihood": m.convexity, "L_3": m.convexity, "(4), (5)": m.convexity, "flips": m.flips,
				"argmax": m.rankings, "the maximum": m.rankings, "the best": m.rankings,
			} {
				if !concerns(c.want, claim) {
					continue
				}
				if err := line(r, rand.New(rand.NewPCG(1, 2))); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range r.Findings {
				verdicts[f.Claim] = f.Verdict
			}
			for claim, want := range c.want {
				if got := verdictOn(t, verdicts, claim); got != want {
					t.Errorf("%s: %s, expected %s", claim, got, want)
				}
			}
		})
	}
}

func concerns(want map[string]FindVerdict, beginning string) bool {
	for claim := range want {
		if strings.HasPrefix(claim, beginning) {
			return true
		}
	}
	return false
}

// Valid flips lead to the labelings that differ in one pair and are rankings, each as often as
// there are such pairs.
func TestFlipsOfAreTheValidOnes(t *testing.T) {
	const good, bad = 3, 3
	rankings := map[string][]int{}
	eachPermutation(good+bad, func(order []int) {
		y := labels(order, good)
		rankings[labelKey(y)] = y
	})
	above := func(y []int) []int {
		counts := make([]int, good)
		for p, label := range y {
			counts[p/bad] += (1 - label) / 2
		}
		slices.Sort(counts)
		return counts
	}
	m := newMathematics()
	for _, y := range rankings {
		want := map[string]float64{}
		for p := range y {
			other := slices.Clone(y)
			other[p] = -other[p]
			if rankings[labelKey(other)] != nil {
				ng, nb := 0, 0
				for q, label := range y {
					if label > 0 && q/bad == p/bad {
						ng++
					}
					if label < 0 && q%bad == p%bad {
						nb++
					}
				}
				want[labelKey(above(other))] += figure2Theta(y[p], ng, nb, good, bad)
			}
		}
		for _, f := range m.flipsOf(above(y), bad) {
			want[labelKey(f.above)] -= f.pairs * f.theta
		}
		for key, rest := range want {
			if rest > 1e-12 || rest < -1e-12 {
				t.Fatalf("from %v to %q: the weights of flips differ by %v", above(y), key, rest)
			}
		}
	}
}

func labelKey(y []int) string {
	var b strings.Builder
	for _, label := range y {
		b.WriteByte(byte('1' + label))
	}
	return b.String()
}
