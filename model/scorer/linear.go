package scorer

import (
	"errors"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/strictjson"
)

// Linear scores a document by w·x, without a bias, because a constant added to all scores of a query
// changes no ranking. The parameters are w, feature 1 first.
type Linear struct{ Features int }

var _ Scorer = Linear{}

// Kind returns "linear".
func (Linear) Kind() string { return "linear" }

// NumFeatures returns the number of features.
func (l Linear) NumFeatures() int { return l.Features }

// NumParams returns the number of features.
func (l Linear) NumParams() int { return l.Features }

// Init sets all weights to 0.
func (Linear) Init(params []float64, _ *rand.Rand) { clear(params) }

// Score sets dst to X·w. It does not use the workspace, which may be nil.
func (l Linear) Score(dst, params []float64, x []float32, _ *Workspace) {
	kernel.Gemv(dst, x, params)
}

// Backward adds Xᵀ·lambda to grad. It needs no call of Score before. The workspace may be nil.
func (l Linear) Backward(grad, _ []float64, x []float32, lambda []float64, ws *Workspace) {
	var next []float32
	if ws != nil {
		next = ws.Next
	}
	kernel.GemvTBefore(grad, x, lambda, next)
}

func (l Linear) encode(params []float64) ([]byte, error) {
	return withWeights(struct {
		Type string `json:"type"`
	}{l.Kind()}, params)
}

func decodeLinear(o strictjson.Object) (Scorer, []float64, error) {
	var f struct {
		Weights strictjson.Numbers `json:"weights"`
	}
	if err := o.Decode(&f); err != nil {
		return nil, nil, err
	}
	if len(f.Weights) == 0 {
		return nil, nil, errors.New("found no weights, expected one a feature")
	}
	return Linear{Features: len(f.Weights)}, f.Weights, nil
}
