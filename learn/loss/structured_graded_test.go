package loss_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/losstest"
)

// gradedHinges are kinds of the loss, each with the measure it is for.
var gradedHinges = []struct {
	name, measure, convention string
	loss                      loss.GradedHinge
}{
	{"whole", "ndcg", "letor3", loss.GradedHinge{}},
	{"first", "ndcg@1", "letor3", loss.GradedHinge{Cutoff: 1}},
	{"log", "ndcg@3", "letor3", loss.GradedHinge{Cutoff: 3, Ranks: loss.LogWeights}},
	{"long", "ndcg@10", "letor3", loss.GradedHinge{Cutoff: 10, Weight: 3}},
	{"linear", "ndcg@2", "trec", loss.GradedHinge{Cutoff: 2}},
}

func TestGradedHingeConformance(t *testing.T) {
	for _, c := range gradedHinges {
		c.loss.Convention = convention(t, c.convention)
		losstest.Run(t, losstest.Case{Name: c.name, Loss: c.loss, Polyhedral: true})
	}
}

// gradedQuery gives grades from 0 to 3 to a query's documents.
func gradedQuery(t *rapid.T, most int) (grades, scores []float64) {
	grades, scores = structuredQuery(t, most)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "grades"), 22))
	for i := range grades {
		grades[i] = float64(rng.IntN(4))
	}
	grades[0], grades[1] = 2, 0
	return grades, scores
}

// The worst order is the worst of all, its Δ being what the measure says of it; the
// reference is the mean over all ideal orders.
func TestGradedHingeIsTheWorstOfAllOrders(t *testing.T) {
	conventions := map[string]measure.Convention{"letor3": convention(t, "letor3"), "trec": convention(t, "trec")}
	rapid.Check(t, func(t *rapid.T) {
		grades, scores := gradedQuery(t, 6)
		ideal := descendingCopy(grades)
		for _, c := range gradedHinges {
			c.loss.Convention = conventions[c.convention]
			m, err := parseUnder(c.measure, c.convention)
			if err != nil {
				t.Fatal(err)
			}
			worst, reference, ideals := math.Inf(-1), 0.0, 0
			permutations(len(grades), func(order []int) {
				ranked, energy := inOrder(grades, order), 0.0
				for r, s := range inOrder(scores, order) {
					if c.loss.Ranks == loss.LogWeights {
						energy += s / math.Log2(2+float64(r))
					} else {
						energy += s / math.Sqrt(math.Sqrt(1+float64(r)))
					}
				}
				v, _ := m.Value(ranked)
				worst = max(worst, 1-v+energy)
				if slices.Equal(ranked, ideal) {
					reference += energy
					ideals++
				}
			})
			want := worst - reference/float64(ideals)
			if c.loss.Weight != 0 {
				want *= c.loss.Weight
			}
			if got := structuredValue(t, c.loss, grades, scores); math.Abs(got-want) > 1e-11*max(1, want) {
				t.Fatalf("%s: %v, the worst of all orders has %v\ngrades %v\nscores %v", c.name, got, want, grades, scores)
			}
		}
	})
}

// On longer lists the plane of the worst order touches the loss and is no higher than
// the loss elsewhere, and the loss is at least the Δ of the order by score.
func TestGradedHingeOnLongLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grades, scores := gradedQuery(t, 60)
		_, elsewhere := gradedQuery(t, len(grades))
		for len(elsewhere) < len(scores) {
			elsewhere = append(elsewhere, scores[len(elsewhere)]/2)
		}
		for _, c := range gradedHinges {
			if c.convention != "letor3" {
				continue
			}
			c.loss.Convention = measure.LETOR3
			bound, err := c.loss.Bind(grades, nil)
			if err != nil {
				t.Fatal(err)
			}
			var scratch loss.Scratch
			lambda := make([]float64, len(grades))
			got := bound.Eval(scores, lambda, &scratch)
			constant := bound.(loss.CuttingPlane).Support(scores, nil, &scratch)
			touch, there := constant, constant
			for i, l := range lambda {
				touch -= l * scores[i]
				there -= l * elsewhere[i]
			}
			if math.Abs(touch-got) > 1e-10*max(1, got) {
				t.Fatalf("%s: %v, its plane has %v", c.name, got, touch)
			}
			if v := bound.Eval(elsewhere, nil, &scratch); v < there-1e-10*max(1, v) {
				t.Fatalf("%s: %v elsewhere, below its plane's %v", c.name, v, there)
			}
			weight := max(1, c.loss.Weight)
			if by := weight * deltaByScore(gainOf(t, c.measure), grades, scores); got < by-1e-11 {
				t.Fatalf("%s: %v, less than the Δ of the order by score, %v", c.name, got, by)
			}
		}
	})
}

func TestGradedHingeErrors(t *testing.T) {
	for _, c := range []struct {
		loss loss.GradedHinge
		want string
	}{
		{loss.GradedHinge{Cutoff: -1}, "cutoff -1, expected a positive number"},
		{loss.GradedHinge{Ranks: 2}, "rank weights 2, expected root or log"},
		{loss.GradedHinge{Weight: -1}, "weight -1, expected a positive finite number"},
	} {
		if _, err := c.loss.Bind([]float64{0, 1}, nil); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	for _, want := range []loss.RankWeights{loss.RootWeights, loss.LogWeights} {
		if got, err := loss.ParseRankWeights(want.String()); got != want || err != nil {
			t.Errorf("%v is read as %v, %v", want, got, err)
		}
	}
	if _, err := loss.ParseRankWeights("steep"); err == nil || err.Error() != `rank weights "steep", expected root or log` {
		t.Errorf("error %v", err)
	}
}

// BenchmarkGradedHinge finds the worst order of 150 documents with OHSUMED's shares of
// grades.
func BenchmarkGradedHinge(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	grades, scores, lambda := make([]float64, 150), make([]float64, 150), make([]float64, 150)
	for i := range grades {
		grades[i] = float64(max(0, rng.IntN(6)-3))
		scores[i] = (grades[i] + 2*rng.NormFloat64()) / 3
	}
	for _, spread := range []float64{0.1, 1, 10} {
		for i := range scores {
			scores[i] *= spread
		}
		bound, err := loss.GradedHinge{Cutoff: 10}.Bind(grades, nil)
		if err != nil {
			b.Fatal(err)
		}
		var scratch loss.Scratch
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				bound.Eval(scores, lambda, &scratch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/150, "ns/doc")
		})
	}
}
