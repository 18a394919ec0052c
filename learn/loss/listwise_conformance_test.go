package loss_test

import (
	"fmt"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/losstest"
)

func convention(t testing.TB, name string) measure.Convention {
	t.Helper()
	c, err := measure.ParseConvention(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestListNetConformance: ListNet under every mapping, for first documents and
// whole permutations. Lists that are too long are refused from four documents on.
func TestListNetConformance(t *testing.T) {
	for m := loss.LogMapping; m <= loss.ExpMapping; m++ {
		for _, top := range []int{0, 2, 3, 5, 100} {
			c := losstest.Case{Name: fmt.Sprintf("listnet/%v/%d", m, top), Loss: loss.ListNet{Mapping: m, Top: top}}
			c.Diagonal = top < 2
			if top > 3 {
				c.Refuses = func(grades []float64) bool { return len(grades) > 12 }
			}
			losstest.Run(t, c)
		}
	}
}

// TestListMLEConformance: ListMLE under every policy for ties.
func TestListMLEConformance(t *testing.T) {
	for ties := loss.MLETiesRandom; ties <= loss.MLETiesGroup; ties++ {
		losstest.Run(t, losstest.Case{
			Name: "listmle/" + ties.String(), Diagonal: true, Loss: loss.ListMLE{Ties: ties},
			// All but group depend on the order of the documents.
			Sampled: ties != loss.MLETiesGroup,
		})
	}
}

// TestRankCosineConformance: RankCosine under every mapping.
func TestRankCosineConformance(t *testing.T) {
	for m := loss.LogMapping; m <= loss.ExpMapping; m++ {
		losstest.Run(t, losstest.Case{Name: "rankcosine/" + m.String(), Loss: loss.RankCosine{Mapping: m}})
	}
}

// TestSmoothNDCGConformance: the smooth approximations of NDCG, under discounts
// and gains of every kind.
func TestSmoothNDCGConformance(t *testing.T) {
	losstest.Run(t, losstest.Case{Name: "xendcg", Diagonal: true, Loss: loss.XENDCG{}, Sampled: true})
	for _, name := range []string{"letor3", "standard", "trec"} {
		c := convention(t, name)
		for _, alpha := range []float64{0, 1} {
			losstest.Run(t, losstest.Case{Name: fmt.Sprintf("approxndcg/%s/%v", name, alpha), Loss: loss.ApproxNDCG{Convention: c, Alpha: alpha}})
		}
		for _, cutoff := range []int{0, 1, 5} {
			losstest.Run(t, losstest.Case{Name: fmt.Sprintf("softrank/%s/%d", name, cutoff), Loss: loss.SoftRank{Convention: c, Cutoff: cutoff}})
		}
		for w := loss.NDCGLoss2PP; w <= loss.LambdaRankWeights; w++ {
			losstest.Run(t, losstest.Case{Name: fmt.Sprintf("lambdaloss/%s/%v", name, w), Diagonal: true, Loss: loss.LambdaLoss{Convention: c, Weights: w, Sigma: 2, Mu: 5}})
		}
	}
}
