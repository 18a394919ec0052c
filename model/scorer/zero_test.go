package scorer

import (
	"strings"
	"testing"
)

// Claim: an architecture without hidden units has a name for what it lacks, and no form in a
// model file, which could not be read.
func TestZeroArchitectures(t *testing.T) {
	for _, c := range []struct {
		s interface {
			Scorer
			Validate() error
		}
		want string // "" if it is complete
	}{
		{FM{}, `found "features" = 0, expected at least 1`},
		{FM{Features: 3}, `found "factors" = 0, expected at least 1`},
		{FM{Features: 3, Factors: 1}, ""},
		{Network{}, `found "features" = 0, expected at least 1`},
		{Network{Features: 3}, `found "hidden" = 0, expected at least 1`},
		{Network{Features: 3, Hidden: 1}, ""},
		{Classes{}, `found "features" = 0`},
		{Classes{Features: 3}, "found 0 values of classes, expected 2 to 256"},
		{Classes{Features: 3, Values: []float64{0, 1}}, ""},
		{PairNetwork{}, `found "features" = 0`},
		{PairNetwork{Features: 3, PairHidden: 1}, `found "hidden" = 0`},
		{PairNetwork{Features: 3, Hidden: 1}, `found "pair_hidden" = 0`},
		{PairNetwork{Features: 3, Hidden: 1, PairHidden: 1}, ""},
	} {
		invalid := c.s.Validate()
		text, err := Encode(c.s, make([]float64, max(0, c.s.NumParams())))
		if c.want == "" {
			if _, _, again := Decode(text); invalid != nil || err != nil || again != nil {
				t.Errorf("%+v: %v, %v, %v", c.s, invalid, err, again)
			}
			continue
		}
		for _, e := range []error{invalid, err} {
			if e == nil || !strings.Contains(e.Error(), c.want) {
				t.Errorf("%+v: error is %v, want %s in it", c.s, e, c.want)
			}
		}
	}
}
