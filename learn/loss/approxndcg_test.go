package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

func standard(t testing.TB, name string) measure.Convention {
	t.Helper()
	c, err := measure.ParseConvention(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestApproxNDCGAgainstFormula: ranks summed pair by pair, and the discount at
// real ranks.
func TestApproxNDCGAgainstFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"letor3", "standard", "trec"} {
		c := standard(t, name)
		for _, grades := range [][]float64{{0, 1}, {2, 0, 1, 0, 4, 0.5, 1}} {
			const alpha = 1.7
			f := func(s []float64) float64 {
				ndcg := 0.0
				for i, g := range normalGains(c, grades, 0) {
					rank := 1.0
					for j := range s {
						if j != i {
							rank += 1 / (1 + math.Exp(-alpha*(s[j]-s[i])))
						}
					}
					x := rank + 1
					if name == "letor3" {
						x = math.Max(rank, 2)
					}
					ndcg += g / math.Log2(x)
				}
				return 1 - ndcg
			}
			b := mustBind(t, ApproxNDCG{Convention: c, Alpha: alpha}, grades, 1)
			for _, spread := range []float64{0.2, 1, 4, 12} {
				againstReference(t, name, b, f, normals(rng, len(grades), spread))
			}
		}
	}
}

// TestApproxNDCGApproaches: the steeper, the nearer to 1 − NDCG.
func TestApproxNDCGApproaches(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	grades := []float64{2, 0, 1, 0, 4, 0, 1, 3}
	for _, name := range []string{"letor3", "standard", "trec"} {
		c := standard(t, name)
		s := distinct(rng, len(grades), 1)
		want := 1 - ndcgOf(c, grades, ranksOf(s), 0)
		last := math.Inf(1)
		for _, alpha := range []float64{100, 200, 2000} {
			v, _ := evaluated(mustBind(t, ApproxNDCG{Convention: c, Alpha: alpha}, grades, 1), s)
			if off := math.Abs(v - want); off > last || alpha == 2000 && off > 1e-12 {
				t.Errorf("%s, alpha %v: %v, 1 − NDCG is %v", name, alpha, v, want)
			} else {
				last = off
			}
		}
	}
}

// TestSmoothNDCGOptions: options out of range are errors that name them.
func TestSmoothNDCGOptions(t *testing.T) {
	for want, l := range map[string]Loss{
		"alpha -1":   ApproxNDCG{Alpha: -1},
		"alpha NaN":  ApproxNDCG{Alpha: math.NaN()},
		"sigma -2":   SoftRank{Sigma: -2},
		"cutoff -3":  SoftRank{Cutoff: -3},
		"sigma +Inf": LambdaLoss{Sigma: math.Inf(1)},
		"mu -4":      LambdaLoss{Mu: -4},
		"weights 4":  LambdaLoss{Weights: 4},
	} {
		_, err := l.Bind([]float64{0, 1}, nil)
		wantError(t, want, err, want, "expected")
	}
	for w := NDCGLoss2PP; w <= LambdaRankWeights; w++ {
		if got, err := ParseLambdaWeights(w.String()); got != w || err != nil {
			t.Errorf("ParseLambdaWeights(%q) = %v, %v", w.String(), got, err)
		}
	}
	_, err := ParseLambdaWeights("ndcg3")
	wantError(t, "ParseLambdaWeights", err, `weights "ndcg3"`, "ndcg2++, ndcg2, ndcg1 or lambdarank")
}
