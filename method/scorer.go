package method

import (
	"slices"
	"strings"

	"github.com/listwise/listwise/scorer"
	"github.com/listwise/listwise/train"
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

// CheckScorer returns a *ProblemError if the method cannot train a scorer of that kind;
// the empty string means its default.
func (m *Method) CheckScorer(kind string) error {
	if kinds := m.Scorers(); kind != "" && !slices.Contains(kinds, kind) {
		return train.BadProblem("found the scorer %q, expected %s", kind, strings.Join(kinds, ", "))
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

// architectureOf returns the scorer's architecture that a problem asks for.
func architectureOf(m *Method, p *Problem) (train.Architecture, error) {
	v := p.Values
	kind := scorerKind(m, p)
	if kind == linearScorer {
		return train.Linear, nil
	}
	activation, err := scorer.ParseActivation(v.Text("activation"))
	if err != nil {
		return nil, err
	}
	if kind == pairScorer {
		return train.PairNetwork(v.Int("hidden"), v.Int("pair_hidden"), activation), nil
	}
	return train.Network(v.Int("hidden"), activation), nil
}
