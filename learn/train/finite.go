package train

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/model"
)

// checkFinite returns a *ProblemError if a model's weights, or the numbers that describe
// how it came about, are not all finite. The optimisers see to it that they are; this is
// the one place that no model gets past.
func checkFinite(m *model.Model) error {
	t := &m.Training
	for _, v := range []struct {
		what  string
		value *float64
	}{{"objective", &t.Objective}, {"norm of the gradient", &t.GradNorm}, {"certified gap", t.Gap}, {"validation value", t.Validation}} {
		if v.value != nil && notFinite(*v.value) {
			return notFiniteProblem(v.what, *v.value)
		}
	}
	for i, w := range m.Params {
		if notFinite(w) {
			return notFiniteProblem(fmt.Sprintf("weight %d", i+1), w)
		}
	}
	return nil
}

func notFiniteProblem(what string, found float64) error {
	return BadProblem("found the %s %v after training, expected finite numbers; features of one scale, as normalization makes them, may help", what, found)
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
