package logrank_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"github.com/listwise/listwise/learn/loss/losstest"
)

func gain(t testing.TB, name string) measure.Additive {
	t.Helper()
	m, err := measure.Parse(name, measure.LETOR3, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m.(measure.Additive)
}

// objectives are LogRank's losses under a configuration. Combined has the gain of the
// configuration and AUC.
func objectives(c logrank.Options, auc measure.Additive) map[string]loss.Loss {
	return map[string]loss.Loss{
		"mle": logrank.MLE{Options: c}, "expgain": logrank.ExpGain{Options: c}, "l2": logrank.L2{Options: c},
		"l3": logrank.L3{Options: c}, "convexloss": logrank.ConvexLoss{Options: c}, "exploss": logrank.ExpLoss{Options: c},
		"logloss": logrank.LogLoss{Options: c}, "mixed": logrank.Combined{Options: c, Terms: []logrank.Term{{Gain: c.Gain, Weight: 1, Objective: logrank.TermExpGain}, {Gain: auc, Weight: 2, Objective: logrank.TermL2}}},
		"combined": logrank.Combined{Options: c, Terms: []logrank.Term{{Weight: 1}, {Gain: c.Gain, Weight: 2}, {Gain: auc, Weight: 0.5}}},
	}
}

// TestConformance runs the suite for every LogRank objective, form and gain.
func TestConformance(t *testing.T) {
	for _, form := range []logrank.Form{logrank.Factored, logrank.Sampled, logrank.Lattice, logrank.Shell} {
		for i, name := range []string{"auc", "map", "ndcg@3", "ndcg@10", "mrr"} {
			c := logrank.Options{Form: form, Gain: gain(t, name)}
			if form == logrank.Sampled {
				c.Sampler = sample.DefaultOptions()
				c.Sampler.Samples, c.Sampler.Steps = 60, 10
			}
			if i%2 == 1 {
				c.Beta, c.Kappa, c.Threshold = 10, bipartite.KappaPairs, 2
			}
			for objective, l := range objectives(c, gain(t, "auc")) {
				test := losstest.Case{Name: fmt.Sprintf("%s/%v/%s", objective, form, name), Loss: l, Sampled: form == logrank.Sampled}
				test.Diagonal = objective == "mle" && form == logrank.Factored ||
					form == logrank.Sampled && slices.Contains([]string{"mle", "convexloss", "combined"}, objective)
				if slices.Contains([]string{"convexloss", "exploss", "combined"}, objective) && form == logrank.Factored && name != "auc" {
					test.Refuses = refusedByFactored(c)
				}
				losstest.Run(t, test)
			}
		}
	}
}

// refusedByFactored reports whether ConvexLoss has no factored form for a query.
func refusedByFactored(c logrank.Options) func([]float64) bool {
	threshold := max(c.Threshold, 1)
	return func(grades []float64) bool {
		p := bipartite.Split(grades, threshold)
		return len(p.Good) > 1 && len(p.Bad) > 1
	}
}

// TestConformanceOfOtherGains: the laws know no measure by name, so they accept the other
// measures that are sums over relevant documents.
func TestConformanceOfOtherGains(t *testing.T) {
	for _, form := range []logrank.Form{logrank.Factored, logrank.Lattice, logrank.Shell} {
		for _, name := range []string{"p@3", "r@4", "mrr@3", "ndcg", "bpref", "wta", "pairs", "rbp"} {
			c := logrank.Options{Form: form, Gain: gain(t, name)}
			losstest.Run(t, losstest.Case{Name: fmt.Sprintf("l3/%v/%s", form, name), Loss: logrank.L3{Options: c}})
		}
	}
}
