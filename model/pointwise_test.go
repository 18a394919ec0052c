package model_test

import (
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Claim: a model is pointwise unless its scorer or what it does to features looks at the query's
// other documents.
func TestPointwise(t *testing.T) {
	linear := model.Model{Scorer: scorer.Linear{Features: 2}, Params: []float64{1, 2}}
	normalized, viewed := linear, linear
	normalized.Normalization = dataset.MinMax
	viewed.Views = dataset.Views{dataset.RankView}
	if !linear.Pointwise() || normalized.Pointwise() || viewed.Pointwise() {
		t.Errorf("found %v, %v and %v, expected a linear model to be pointwise, and normalized or with ranks not to be", linear.Pointwise(), normalized.Pointwise(), viewed.Pointwise())
	}
}
