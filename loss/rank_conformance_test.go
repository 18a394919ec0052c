package loss_test

import (
	"testing"

	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/loss/losstest"
	"github.com/listwise/listwise/measure"
)

// TestRankNetConformance runs the suite on RankNet.
func TestRankNetConformance(t *testing.T) {
	losstest.Run(t, losstest.Case{Name: "plain", Loss: loss.RankNet{}})
	losstest.Run(t, losstest.Case{Name: "mean", Loss: loss.RankNet{Sigma: 1.7, Mean: true}})
}

// TestLambdaRankConformance runs the suite on every λ function and measure.
func TestLambdaRankConformance(t *testing.T) {
	for i, info := range loss.Lambdas() {
		for _, name := range []string{"ndcg@5", "map", "mrr", "err", "p@3"} {
			l := loss.LambdaRank{Measure: parse(t, name), Kind: loss.Lambda(i)}
			losstest.Run(t, losstest.Case{Name: info.Name + "/" + name, Loss: l})
		}
	}
	losstest.Run(t, losstest.Case{Name: "truncated", Loss: loss.LambdaRank{Measure: parse(t, "ndcg"), Truncation: 4, Sigma: 2, Margin: 0.5}})
}

func parse(t *testing.T, name string) measure.Measure {
	t.Helper()
	m, err := measure.Parse(name, measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func gain(t testing.TB, name string) measure.Additive {
	t.Helper()
	m, err := measure.Parse(name, measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m.(measure.Additive)
}
