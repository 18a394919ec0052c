package report

import (
	"math"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
)

// Claim: the law that the diagnosis computes is that of the loss: the probability
// of the ideal ranking and the expected loss are what MLE and L2 say of the same
// sample.
func TestLawIsTheLosses(t *testing.T) {
	d := generated(t, 6, 15, 3, 8)
	gain, err := measure.Parse("ndcg@5", measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []sample.Options{
		{Samples: 80, Steps: 6, Thin: 1, Mix: 1, Unique: true, IncludeIdeal: true},
		{Samples: 90, Steps: 8, Thin: 2, Mix: 0.3, IncludeIdeal: true},
		{Samples: 60, Steps: 5, Thin: 1, Levels: 4, Skew: -1, Unique: true, IncludeIdeal: true},
	} {
		for _, kappa := range []bipartite.Kappa{bipartite.KappaOne, bipartite.KappaPairs} {
			config := logrank.Options{Form: logrank.Sampled, Gain: gain.(measure.Additive), Beta: 1, Kappa: kappa, Threshold: 1, Sampler: o}
			for i := range d.Queries {
				q := &d.Queries[i]
				scores := make([]float64, q.Len())
				for j := range scores {
					scores[j] = math.Sin(float64(7*i + 3*j))
				}
				pairs := bipartite.Split(q.Grades, 1)
				set, err := sample.Draw(pairs, config.Gain, o, random.Stream(5, "bind", q.Content()))
				if err != nil {
					t.Fatal(err)
				}
				p := law(set, scores, slope(config, pairs))
				expected, sum := 0.0, 0.0
				for y, g := range set.Gain {
					expected += p[y] * (1 - g)
					sum += p[y]
				}
				bound, err := logrank.L2{Options: config}.Bind(q.Grades, random.Stream(5, "bind", q.Content()))
				if err != nil {
					t.Fatal(err)
				}
				want := bound.Eval(scores, make([]float64, len(scores)), new(loss.Scratch))
				if math.Abs(expected-want) > 1e-9 || math.Abs(sum-1) > 1e-12 {
					t.Errorf("%+v: the expected loss is %v, L2 says %v; probabilities add up to %v", o, expected, want, sum)
				}
			}
		}
	}
}

// Claim: only systems trained on samples are diagnosed; shares add up to one and
// counts are within the numbers drawn.
func TestDiagnosis(t *testing.T) {
	s := small(t)
	r, _ := s.build(t)
	pairs := 0
	for _, k := range s.divisions {
		for i := range k.Test.Queries {
			pairs += min(1, bipartite.Split(k.Test.Queries[i].Grades, 1).Pairs())
		}
	}
	if len(r.data.Samplers) != 1 || r.data.Samplers[0].System != 1 || r.data.Samplers[0].Queries != pairs {
		t.Fatalf("diagnosed are %+v, want system 1 on %d queries", r.data.Samplers, pairs)
	}
	d := r.data.Samplers[0]
	for _, list := range [][]float64{d.Drawn, d.Law} {
		sum := 0.0
		for _, v := range list {
			sum += v
		}
		if math.Abs(sum-1) > 0.01 {
			t.Errorf("shares add up to %v", sum)
		}
	}
	for _, row := range d.Rows {
		if !(0 <= row.Low && row.Low <= row.Median && row.Median <= row.High) || row.High > 130 {
			t.Errorf("%+v", row)
		}
	}
}

// Claim: Δ of the model's own ranking is one minus the training measure on grades
// made binary.
func TestBinaryGain(t *testing.T) {
	gain, err := measure.Parse("ndcg@10", measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	grades, scores := []float64{0, 2, 1, 0, 0}, []float64{5, 4, 3, 2, 1}
	want, _ := gain.Value([]float64{0, 1, 1, 0, 0})
	if got := binaryGain(logrank.Options{Gain: gain.(measure.Additive), Threshold: 1}, grades, scores); math.Abs(got-want) > 1e-12 {
		t.Errorf("gain %v, want %v", got, want)
	}
	if _, ok, _ := method.LogRankOf(&model.Model{Method: "nonsense"}); ok {
		t.Error("an unknown method is LogRank")
	}
}
