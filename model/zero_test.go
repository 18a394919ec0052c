package model

import (
	"errors"
	"io"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Claim: a model that was neither trained nor loaded says so wherever it is used.
func TestZeroModel(t *testing.T) {
	var m Model
	_, score := m.Score(new(dataset.Dataset))
	for _, err := range []error{score, m.ScoreQuery(make([]float64, 1), []float32{1}), m.ScoreQuery(nil, nil), m.Write(io.Discard)} {
		if !errors.Is(err, errNoScorer) {
			t.Errorf("error is %v, want %v", err, errNoScorer)
		}
	}
	if m.Constant() || len(m.Members()) != 1 {
		t.Errorf("the zero model is constant: %t, of %d members", m.Constant(), len(m.Members()))
	}
}
