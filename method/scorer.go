package method

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/scorer"
)

// The kinds of scorers, by their names in model files.
const (
	linearScorer  = "linear"
	networkScorer = "net"
	pairScorer    = "pairnet"
	stumpScorer   = "stumps"
)

// Scorers returns the kinds of scorers that the method can train, its default
// first.
func (m *Method) Scorers() []string {
	if m.scorers != nil {
		return slices.Clone(m.scorers)
	}
	if m.pairs {
		return []string{pairScorer, linearScorer, networkScorer}
	}
	return []string{linearScorer, networkScorer}
}

// CheckScorer returns a *ProblemError if the method cannot train a scorer of that
// kind; the empty string stands for its default.
func (m *Method) CheckScorer(kind string) error {
	if kinds := m.Scorers(); kind != "" && !slices.Contains(kinds, kind) {
		return badProblem("found the scorer %q, expected %s", kind, strings.Join(kinds, ", "))
	}
	return nil
}

// scorerKind returns the kind of scorer that a problem asks for.
func scorerKind(m *Method, p *Problem) string {
	if p.Scorer == "" {
		return m.Scorers()[0]
	}
	return p.Scorer
}

// networkParameters are the hyperparameters of networks, and the limit of work, which
// every method with a loss on scores has.
func networkParameters() []Hyperparameter {
	return []Hyperparameter{
		{Name: "hidden", Kind: Integer, Default: "10", Min: 1, Max: 10000, Doc: "hidden units of a network (scorers net and pairnet)"},
		{Name: "activation", Kind: Choice, Default: "tanh", Choices: scorer.ActivationNames(), Doc: "function of the hidden units of a network (scorers net and pairnet)"},
		largestWork,
	}
}

// pairHidden is a hyperparameter of the methods that can train a pair network.
var pairHidden = Hyperparameter{
	Name: "pair_hidden", Kind: Integer, Default: "10", Min: 1, Max: 10000,
	Doc: "hidden units of the network over pairs of documents (scorer pairnet)",
}

// newScorer returns the scorer that a problem asks for.
func newScorer(m *Method, p *Problem) (scorer.Scorer, error) {
	features, v := p.Data.Features, p.Values
	kind := scorerKind(m, p)
	if kind == linearScorer {
		return scorer.Linear{Features: features}, nil
	}
	activation, err := scorer.ParseActivation(v.Text("activation"))
	if err != nil {
		return nil, err
	}
	if kind == pairScorer {
		return scorer.PairNetwork{Features: features, Hidden: v.Int("hidden"), PairHidden: v.Int("pair_hidden"), Activation: activation}, nil
	}
	return scorer.Network{Features: features, Hidden: v.Int("hidden"), Activation: activation}, nil
}

// setStart sets w, all 0, to the i-th point from which a member of a bag starts: the
// random weights of a network; for a linear scorer first zero, then standard
// Gaussian vectors.
func setStart(w []float64, s scorer.Scorer, seed uint64, member, i int) {
	switch {
	case s.Kind() != linearScorer:
		s.Init(w, random.Stream(seed, "init", numberOf(member, i)))
	case i > 0:
		rng := random.Stream(seed, "start", numberOf(member, i))
		for j := range w {
			w[j] = rng.NormFloat64()
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
