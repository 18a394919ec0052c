package papers

import (
	"strings"
	"testing"
)

// LambdaRank's λ raise every measure on every class of functions, whatever the data.
func TestAnyCost(t *testing.T) {
	for seed := range uint64(2) {
		r := &Report{}
		if err := anyCost(t.Context(), r, seed+1); err != nil {
			t.Fatal(err)
		}
		if f := r.Findings[0]; f.Verdict != ClaimOnce || !strings.Contains(f.Figure, "in 12 of 12 cases") {
			t.Errorf("seed %d: %+v", seed+1, f)
		}
	}
}
