package train

import (
	"fmt"
	"strconv"

	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/model/scorer"
)

// Architecture makes a scorer for data with the given number of features: one of package
// scorer, or of any other package, which then registers its kind for model files
// ([scorer.Register]). A nil Architecture means Linear. Learners that are for linear scorers
// alone take none.
type Architecture func(features int) scorer.Scorer

// Linear is the architecture w·x.
func Linear(features int) scorer.Scorer { return scorer.Linear{Features: features} }

// Network returns the architecture of a network with one hidden layer.
func Network(hidden int, activation scorer.Activation) Architecture {
	return func(features int) scorer.Scorer {
		return scorer.Network{Features: features, Hidden: hidden, Activation: activation}
	}
}

// PairNetwork returns the architecture of a network over pairs of documents,
// with the given numbers of hidden units for documents and for pairs.
func PairNetwork(hidden, pairHidden int, activation scorer.Activation) Architecture {
	return func(features int) scorer.Scorer {
		return scorer.PairNetwork{Features: features, Hidden: hidden, PairHidden: pairHidden, Activation: activation}
	}
}

// new returns the scorer.
func (a Architecture) new(features int) scorer.Scorer {
	if a == nil {
		return Linear(features)
	}
	return a(features)
}

func isLinear(s scorer.Scorer) bool {
	_, ok := s.(scorer.Linear)
	return ok
}

// setStart sets w, all 0, to the i-th point from which a member of a bag starts: the
// random weights of a network; for a linear scorer first zero, then standard
// Gaussian vectors.
func setStart(w []float64, s scorer.Scorer, seed uint64, member, i int) {
	switch {
	case !isLinear(s):
		s.Init(w, random.Stream(seed, "init", numberOf(member, i)))
	case i > 0:
		rng := random.Stream(seed, "start", numberOf(member, i))
		for j := range w {
			w[j] = random.Normal(rng)
		}
	}
}

// numberOf names the i-th random stream of a member of a bag. Those of the first
// member are the same in a bag of any size.
func numberOf(member, i int) string {
	if member == 0 {
		return strconv.Itoa(i)
	}
	return fmt.Sprintf("%d of %d", i, member)
}
