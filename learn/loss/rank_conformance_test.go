package loss_test

import (
	"fmt"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/losstest"
)

// TestRankNetConformance runs the suite on RankNet.
func TestRankNetConformance(t *testing.T) {
	losstest.Run(t, losstest.Case{Name: "plain", Diagonal: true, Loss: loss.RankNet{}})
	losstest.Run(t, losstest.Case{Name: "mean", Diagonal: true, Loss: loss.RankNet{Sigma: 1.7, Mean: true}})
}

// TestLambdaRankConformance runs the suite on every λ function and measure.
func TestLambdaRankConformance(t *testing.T) {
	for i, info := range loss.Lambdas() {
		for _, name := range []string{"ndcg@5", "map", "mrr", "err", "p@3"} {
			l := loss.LambdaRank{Measure: measure.MustParse(name, measure.LETOR3), Kind: loss.Lambda(i)}
			c := losstest.Case{Name: info.Name + "/" + name, Loss: l}
			switch l.Kind {
			case loss.LambdaLogistic, loss.LambdaLogisticNearest:
				c.Diagonal = true
			case loss.LambdaSpring, loss.LambdaSpringNearest:
				c.Diagonal, c.Kinks = true, []float64{1} // the margin
			}
			losstest.Run(t, c)
			if l.Kind != loss.LambdaDifference {
				normal := c
				l.GapNorm, l.SumNorm = true, true
				normal.Name, normal.Loss, normal.Frozen = c.Name+"/norm", l, true
				losstest.Run(t, normal)
				l.GapNorm, l.SumNorm = false, false
			}
			l.Alpha = 0.3
			c.Name, c.Loss = c.Name+"/alpha", l
			losstest.Run(t, c)
		}
	}
	losstest.Run(t, losstest.Case{Name: "truncated", Diagonal: true, Loss: loss.LambdaRank{Measure: measure.MustParse("ndcg", measure.LETOR3), Truncation: 4, Sigma: 2, Margin: 0.5}})
}

// TestAtLeastConformance: the logistic loss of single documents, with thresholds that some, all
// and none of the grades reach.
func TestAtLeastConformance(t *testing.T) {
	for _, grade := range []float64{0, 1, 2, 5} {
		losstest.Run(t, losstest.Case{Name: fmt.Sprint("grade ", grade), Diagonal: true, OneGrade: true, Loss: loss.AtLeast{Grade: grade}})
	}
}

// TestYetiRankConformance: YetiRank and YetiLoss under every kind of measure, and both laws.
func TestYetiRankConformance(t *testing.T) {
	c := losstest.Case{Name: "yetirank", Loss: loss.YetiRank{Draws: 3}, Sampled: true, Diagonal: true, Frozen: true}
	losstest.Run(t, c)
	for _, name := range []string{"ndcg@5", "ndcg", "map", "mrr", "err", "p@3"} {
		c.Name, c.Loss = "yetiloss/"+name, loss.YetiRank{Measure: measure.MustParse(name, measure.LETOR3), Draws: 2, Neighbours: 3, Noise: loss.GumbelNoise}
		losstest.Run(t, c)
	}
}

// TestStochasticRankConformance: StochasticRank under every kind of measure.
func TestStochasticRankConformance(t *testing.T) {
	for _, name := range []string{"ndcg@5", "ndcg", "map", "mrr", "err", "p@3"} {
		l := loss.StochasticRank{Measure: measure.MustParse(name, measure.LETOR3), Draws: 3, Mu: 0.1}
		losstest.Run(t, losstest.Case{Name: name, Loss: l, Sampled: true})
		l.ScaleFree = true
		losstest.Run(t, losstest.Case{Name: name + "/scale free", Loss: l, Sampled: true})
	}
}

func gain(t testing.TB, name string) measure.Additive {
	t.Helper()
	m, err := measure.Parse(name, measure.LETOR3, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m.(measure.Additive)
}
