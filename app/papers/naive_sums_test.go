package papers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"github.com/listwise/listwise/learn/train"
)

// Plain sums are ConvexLoss at scores at which nothing over- or underflows, with the same λ,
// whichever restarts there are; and are infinite, with no λ, where ConvexLoss is finite.
func TestNaiveSums(t *testing.T) {
	gain, err := additive("ndcg@10")
	if err != nil {
		t.Fatal(err)
	}
	grades := make([]float64, 40)
	for i := range 3 {
		grades[7*i+2] = 1
	}
	for _, skew := range []float64{5, 0, -20} {
		for _, ideal := range []bool{true, false} {
			o := sample.DefaultOptions()
			o.Samples, o.Levels, o.Skew, o.IncludeIdeal = 120, 11, skew, ideal
			options := logrank.Options{Form: logrank.Sampled, Gain: gain, Beta: 2, Threshold: 1, Sampler: o}
			bind := func(l loss.Loss) loss.QueryLoss {
				q, err := l.Bind(grades, random.Stream(1, "bind", "q"))
				if err != nil {
					t.Fatal(err)
				}
				return q
			}
			naive, stable := bind(naiveLoss{options}), bind(logrank.ConvexLoss{Options: options})
			got, want, scratch := make([]float64, len(grades)), make([]float64, len(grades)), new(loss.Scratch)
			scores := make([]float64, len(grades))
			what := fmt.Sprintf("k = %v, ideal %v", skew, ideal)
			for i := range scores {
				scores[i] = 0.3 * math.Sin(float64(i))
			}
			a, b := naive.Eval(scores, got, scratch), stable.Eval(scores, want, scratch)
			if math.Abs(a-b) > 1e-12*math.Abs(b) {
				t.Errorf("%s: %v, ConvexLoss is %v", what, a, b)
			}
			for i := range got {
				if math.Abs(got[i]-want[i]) > 1e-12 {
					t.Errorf("%s: λ[%d] = %v, that of ConvexLoss %v", what, i, got[i], want[i])
				}
			}
			for i := range scores {
				scores[i] = -700 * (1 - 2*grades[i])
			}
			good := naive.Eval(scores, got, scratch)
			for i := range scores {
				scores[i] = -scores[i]
			}
			bad := naive.Eval(scores, got, scratch)
			if finite := !math.IsInf(good, -1); skew > 0 && finite != ideal || !math.IsInf(bad, 1) && skew > 0 {
				t.Errorf("%s: %v at scores of good models, %v at those of bad ones", what, good, bad)
			}
			if v := stable.Eval(scores, want, scratch); math.IsInf(v, 0) || math.IsNaN(v) {
				t.Errorf("%s: ConvexLoss is %v", what, v)
			}
		}
	}
}

// Where nothing overflows, the optimiser without a guard is L-BFGS as methods have it: the same
// weights. Where something does, it has none and says that it did not converge, while the one
// with a guard has finite ones.
func TestUnguarded(t *testing.T) {
	dir := t.TempDir()
	writeFolds(t, dir, 12, 1)
	folds, err := readFolds(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := func(l loss.Loss, learner train.Learner) *train.Learned {
		t.Helper()
		task := &spied{Learner: learner}
		if _, err := train.Run(t.Context(), &train.Problem{Data: folds[0].Train, Loss: l, Learner: task, Seed: 1}); err != nil {
			t.Fatal(err)
		}
		return task.learned
	}
	settings := func(c float64) map[string]any {
		return map[string]any{"C": c, "form": "sampled", "levels": 11.0, "skew": 5.0, "ideal": false, "samples": 60.0, "steps": 5.0}
	}
	for _, c := range []struct {
		c     float64
		whole bool
	}{{1e-5, true}, {1e6, false}} {
		l, without, err := naiveSums(false)(settings(c.c))
		if err != nil {
			t.Fatal(err)
		}
		_, with, _ := naiveSums(true)(settings(c.c))
		a, b := run(l, without), run(l, with)
		if *a.Training.Converged != c.whole || slices.Equal(a.Params, b.Params) != c.whole {
			t.Errorf("C = %v: converged %v after %d iterations, the same weights %v", c.c, *a.Training.Converged, a.Training.Iterations, slices.Equal(a.Params, b.Params))
		}
		if zero := inner(a.Params, a.Params) == 0; zero == c.whole {
			t.Errorf("C = %v: all weights are 0: %v", c.c, zero)
		}
		if size := inner(b.Params, b.Params); !(size > 0) || math.IsInf(size, 1) {
			t.Errorf("C = %v: with a guard, ‖w‖² = %v", c.c, size)
		}
	}
}

// spied keeps what a learner learned.
type spied struct {
	train.Learner
	learned *train.Learned
}

func (s *spied) Learn(ctx context.Context, t *train.Task) (*train.Learned, error) {
	var err error
	s.learned, err = s.Learner.Learn(ctx, t)
	return s.learned, err
}
