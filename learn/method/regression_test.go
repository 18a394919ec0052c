package method

import (
	"errors"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/train"
)

// Claim: too little memory for the products of features is told before they are made, with what they need, and with a
// byte more than that nothing is said.
func TestRegressionOfManyFeaturesRefused(t *testing.T) {
	const features, few = 700, 2 << 20
	const need = 8*(2*700*700) + 8*(128+5)*700 + 352*2 - few
	rows := dataset.Rows{Name: "wide", Features: features, X: make([]float32, 4*features), Grades: []float64{1, 0, 0, 2}, Queries: []dataset.Run{{ID: "a", Docs: 2}, {ID: "b", Docs: 2}}}
	for i := range rows.X {
		rows.X[i] = float32(i * i % 7)
	}
	d, err := dataset.FromRows(rows, dataset.MissingZero)
	if err != nil {
		t.Fatal(err)
	}
	held := int64(4 * len(rows.X))
	p := &Problem{Problem: train.Problem{Data: d, Missing: dataset.MissingZero, MaxBytes: held + need - 1}, Values: valuesOf(t, "regression", nil)}
	_, err = lookup(t, "regression").Train(t.Context(), p)
	if !errors.Is(err, dataset.ErrTooLarge) || !strings.Contains(err.Error(), "4 documents × 700 features, whose features take 1.12e-05 GB and learning from them 0.00649 GB") {
		t.Errorf("%v, want an error about memory", err)
	}
	p.MaxBytes++
	if _, err := lookup(t, "regression").Train(t.Context(), p); err != nil {
		t.Error(err)
	}
	p.Normalization = dataset.ZScore // of which a copy is held
	if _, err := lookup(t, "regression").Train(t.Context(), p); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("%v, want an error about memory beside a copy", err)
	}
	p.MaxBytes += held
	if _, err := lookup(t, "regression").Train(t.Context(), p); err != nil {
		t.Error(err)
	}
}
