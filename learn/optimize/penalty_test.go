package optimize

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// penalized are terms with a penalty of their own.
type penalized struct {
	sum
	c float64
}

func (p penalized) Penalty() float64 { return p.c }

// Claim: the penalty of terms that have one is never left out: descent takes it over,
// and a different one is an error.
func TestPenaltyOfTheTerms(t *testing.T) {
	terms := logisticTerms([][]float64{{1, 2}, {-1, 0.5}, {2, 1}}, []float64{1, -1, 1})
	x0 := make([]float64, 2)
	want := descend(t, Descent{Rate: 0.1, C: 3, MaxEpochs: 5}, terms, x0)
	without := descend(t, Descent{Rate: 0.1, MaxEpochs: 5}, terms, x0)
	for _, c := range []float64{0, 3} {
		if got := descend(t, Descent{Rate: 0.1, C: c, MaxEpochs: 5}, penalized{terms, 3}, x0); !slices.Equal(got.X, want.X) {
			t.Errorf("C = %v: ends at %v, with the penalty at %v", c, got.X, want.X)
		}
	}
	if got := descend(t, Descent{Rate: 0.1, MaxEpochs: 5}, penalized{terms, 0}, x0); !slices.Equal(got.X, without.X) || slices.Equal(got.X, want.X) {
		t.Error("terms without a penalty got one")
	}
	_, err := Descent{Rate: 0.1, C: 2, MaxEpochs: 5}.Minimize(context.Background(), penalized{terms, 3}, x0)
	if err == nil || !strings.Contains(err.Error(), "penalty C = 2 of terms that have C = 3") {
		t.Errorf("error is %v", err)
	}
}
