package explain

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Claim: a model that asks for more features than memory holds is refused before any is taken.
func TestTooWide(t *testing.T) {
	d := randomData(t, rand.New(rand.NewPCG(1, 1)), 3, 2)
	layers, err := scorer.NewLayers(1<<28, []scorer.Layer{{Units: 1, Activation: scorer.Identity}})
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Scorer: layers}
	if _, err := New(m, d, Options{}); err == nil || !strings.Contains(err.Error(), "GiB") {
		t.Errorf("contributions: found the error %v", err)
	}
	if _, err := Permute(context.Background(), m, d, PermuteOptions{Measure: parsed(t, "map")}); err == nil || !strings.Contains(err.Error(), "GiB") {
		t.Errorf("importance: found the error %v", err)
	}
	wide := &model.Model{Scorer: scorer.Linear{Features: 1 << 20}, Params: make([]float64, 1<<20)}
	e, err := New(wide, d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	many := randomData(t, rand.New(rand.NewPCG(1, 1)), 60, 2)
	if _, err := e.ExplainSet(context.Background(), many, 0, 1); err == nil || !strings.Contains(err.Error(), "GiB") {
		t.Errorf("a set: found the error %v", err)
	}
}
