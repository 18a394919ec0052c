package optimize

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// minimizer is any solver of this package on its problem.
type minimizer func() (*Result, error)

// Claim: the zero value of every solver is the one with the defaults of its documentation.
// (Descent has a test of its own.)
func TestZeroSolvers(t *testing.T) {
	ctx := context.Background()
	q := curvedQuadratic{quadratic([]float64{1, 20, 300}, []float64{1, -2, 3}, []float64{1, 1, 2}, 3), make([]float64, 3)}
	start, svm := []float64{5, 5, 5}, newHinges(1, 30, 3, false)
	exact, rounded := regularized{svm, 1}, func(width float64) (Rounded, error) { return newSVM(svm, 1, width), nil }
	for name, c := range map[string]struct{ zero, full minimizer }{
		"L-BFGS": {
			func() (*Result, error) { return LBFGS{}.Minimize(ctx, q, start) },
			func() (*Result, error) {
				return LBFGS{Memory: 10, MaxIterations: 1000, GradientTolerance: 1e-8, FunctionTolerance: 1e-9, GapTolerance: 1e-6}.Minimize(ctx, q, start)
			},
		},
		"Newton": {
			func() (*Result, error) { return Newton{}.Minimize(ctx, q, start) },
			func() (*Result, error) {
				return Newton{MaxIterations: 200, MaxProducts: 250, GradientTolerance: 1e-8, GapTolerance: 1e-6}.Minimize(ctx, q, start)
			},
		},
		"cutting planes": {
			func() (*Result, error) { return CuttingPlane{}.Minimize(ctx, svm, start) },
			func() (*Result, error) {
				return CuttingPlane{C: 1, MaxIterations: 10000, GapTolerance: 1e-6, Patience: 50}.Minimize(ctx, svm, start)
			},
		},
		"n-slack": {
			func() (*Result, error) { return NSlack{}.Minimize(ctx, svm, start) },
			func() (*Result, error) {
				return NSlack{C: 1, MaxIterations: 10000, GapTolerance: 1e-6, Patience: 50}.Minimize(ctx, svm, start)
			},
		},
		"smoothing": {
			func() (*Result, error) { return Smoothing{}.Minimize(ctx, exact, rounded, start) },
			func() (*Result, error) {
				return Smoothing{Width: 1, MaxStages: 40, MaxIterations: 1000, GapTolerance: 1e-6}.Minimize(ctx, exact, rounded, start)
			},
		},
	} {
		got, err := c.zero()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, err := c.full()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || !got.Status.Converged() {
			t.Errorf("%s stops as %s; (-defaults +zero):\n%s", name, got.Status, diff)
		}
	}
}
