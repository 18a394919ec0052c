package train

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
)

// Claim: a learner refuses a loss that does not meet its demands, and says which it lacks:
// none certifies the minimum of a loss that is not convex.
func TestLearnersDemands(t *testing.T) {
	d := smallData(t)
	lambda := loss.LambdaRank{Measure: measure.MustParse("map", measure.LETOR3)}
	standIn := func(l loss.Loss) Learner { return Smoothing{Rounded: func(float64) loss.Loss { return l }} }
	for _, c := range []struct {
		loss    loss.Loss
		learner Learner
		want    string
	}{
		{nil, LBFGS{}, "found no loss, expected one"},
		{nil, Descent{}, "found no loss, expected one"},
		{nil, Newton{}, "found no loss, expected one"},
		{nil, Planes{}, "found no loss, expected one"},
		{lambda, LBFGS{}, "are not the gradient of its value"},
		{lambda, Planes{}, "loss loss.LambdaRank: found one that is not convex, or whose λ is not its gradient"},
		{loss.ApproxNDCG{}, Planes{}, "loss loss.ApproxNDCG: found one that is not convex"},
		{loss.ApproxNDCG{}, Planes{PerQuery: true}, "loss loss.ApproxNDCG: found one that is not convex"},
		{loss.ApproxNDCG{}, Newton{}, "loss loss.ApproxNDCG: found one that is not convex"},
		{loss.ApproxNDCG{}, standIn(loss.RankSVM{Smoothing: 1}), "loss loss.ApproxNDCG: found one that is not convex"},
		{squares{}, Newton{}, "loss train.squares: found no Hessian, expected a loss.SecondOrder"},
		{loss.RankSVM{}, standIn(squares{}), "stand-in for loss.RankSVM: found no cutting planes, expected a loss.CuttingPlane"},
		{loss.RankSVM{}, standIn(loss.RankSVM{Squared: true}), "stand-in for loss.RankSVM: found no cutting planes"},
	} {
		_, err := Run(context.Background(), &Problem{Data: d, Loss: c.loss, Learner: c.learner})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T by %T: error is %v, want %s in it", c.loss, c.learner, err, c.want)
		}
		if problem := new(ProblemError); c.loss != nil && !errors.As(err, &problem) {
			t.Errorf("%T by %T: %v is no *ProblemError", c.loss, c.learner, err)
		}
	}
}

// Claim: cutting planes train any convex loss, a caller's own without anything but its value
// and λ included, to the minimum that L-BFGS finds.
func TestPlanesTrainAnyConvexLoss(t *testing.T) {
	d := smallData(t)
	for _, l := range []loss.Loss{loss.RankNet{}, loss.ListNet{}, squares{}} {
		want, err := Run(context.Background(), &Problem{Data: d, Loss: l, Learner: LBFGS{C: HalfNorm, Tolerance: 1e-9}})
		if err != nil {
			t.Fatal(err)
		}
		for _, perQuery := range []bool{false, true} {
			got, err := Run(context.Background(), &Problem{Data: d, Loss: l, Learner: Planes{PerQuery: perQuery}})
			if err != nil {
				t.Fatal(err)
			}
			if a, b := got.Training.Objective, want.Training.Objective; math.Abs(a-b) > 1e-5*math.Max(1, b) {
				t.Errorf("%T, a plane a query %t: minimum %v, by L-BFGS %v", l, perQuery, a, b)
			}
		}
	}
}
