package method

import (
	"slices"
	"strings"

	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model/scorer"
)

// Kinds of scorers, by their names in model files.
const (
	linearScorer  = "linear"
	fmScorer      = "fm"
	networkScorer = "net"
	pairScorer    = "pairnet"
	stumpScorer   = "stumps"
	treeScorer    = "trees"
)

// architecture is a kind of scorer that any method with a loss on scores can train.
type architecture struct {
	kind string

	// of returns the architecture for the values of the hyperparameters.
	of func(Values) (train.Architecture, error)

	// pairs restricts the kind to the methods whose default it is (Method.pairs).
	pairs bool
}

// architectures lists the kinds, the default first. To add a kind, write its scorer in package scorer and add a line
// here.
var architectures = []architecture{
	{kind: linearScorer, of: func(Values) (train.Architecture, error) { return train.Linear, nil }},
	{kind: fmScorer, of: func(v Values) (train.Architecture, error) { return train.FM(v.Int("factors")), nil }},
	{kind: networkScorer, of: network},
	{kind: pairScorer, of: pairNetwork, pairs: true},
}

// Scorers returns the kinds of scorers that the method can train, its default first.
func (m *Method) Scorers() []string {
	if m.scorers != nil {
		return slices.Clone(m.scorers)
	}
	var kinds []string
	for _, a := range architectures {
		switch {
		case !a.pairs:
			kinds = append(kinds, a.kind)
		case m.pairs:
			kinds = slices.Insert(kinds, 0, a.kind)
		}
	}
	if m.onTrees != nil {
		kinds = append(kinds, treeScorer)
	}
	return kinds
}

// For returns the method for a kind of scorer. An empty kind means the default. For trees, most methods have other
// hyperparameters: the hyperparameters of the loss and of trees. For other kinds, For returns the method itself. A kind that
// the method cannot train is a *ProblemError.
func (m *Method) For(kind string) (*Method, error) {
	if err := m.CheckScorer(kind); err != nil {
		return nil, err
	}
	if kind == treeScorer && m.onTrees != nil {
		return m.onTrees, nil
	}
	return m, nil
}

// label returns the method's name for messages about its hyperparameters.
func (m *Method) label() string {
	if slices.Equal(m.scorers, []string{treeScorer}) {
		return m.Name + " on trees"
	}
	return m.Name
}

// CheckScorer returns a *ProblemError if the method cannot train the kind of scorer. An empty kind means the default.
func (m *Method) CheckScorer(kind string) error {
	if kinds := m.Scorers(); kind != "" && !slices.Contains(kinds, kind) {
		return train.BadProblem("found the scorer %q, expected %s", kind, strings.Join(kinds, ", "))
	}
	return nil
}

// scorerKind returns the kind of scorer of a problem.
func scorerKind(m *Method, p *Problem) string {
	if p.Scorer == "" {
		return m.Scorers()[0]
	}
	return p.Scorer
}

// scorerParameters returns the hyperparameters of scorers, and largestWork, for every method with a loss on scores.
func scorerParameters() []Hyperparameter {
	return []Hyperparameter{
		{Name: "factors", Kind: Integer, Default: "8", Min: 1, Max: 1000, Doc: "number of factors a feature (scorer fm)"},
		{Name: "hidden", Kind: Integer, Default: "10", Min: 1, Max: 10000, Doc: "number of hidden units (scorers net and pairnet)"},
		{Name: "activation", Kind: Choice, Default: "tanh", Choices: scorer.ActivationNames(), Doc: "activation function of hidden units (scorers net and pairnet)"},
		largestWork,
	}
}

// pairHidden is a hyperparameter of the methods that can train a pair network.
var pairHidden = Hyperparameter{
	Name: "pair_hidden", Kind: Integer, Default: "10", Min: 1, Max: 10000,
	Doc: "number of hidden units of the network over document pairs (scorer pairnet)",
}

// onTrees reports whether the problem's scorer is trees.
func (p *Problem) onTrees() bool { return scorerKind(p.Values.method, p) == treeScorer }

// architectureOf returns the architecture of a problem's scorer. CheckScorer must have accepted its kind.
func architectureOf(m *Method, p *Problem) (train.Architecture, error) {
	kind := scorerKind(m, p)
	i := slices.IndexFunc(architectures, func(a architecture) bool { return a.kind == kind })
	return architectures[i].of(p.Values)
}

// network returns the architecture of a network with one hidden layer.
func network(v Values) (train.Architecture, error) {
	activation, err := scorer.ParseActivation(v.Text("activation"))
	return train.Network(v.Int("hidden"), activation), err
}

// pairNetwork returns the architecture of a network over pairs of documents.
func pairNetwork(v Values) (train.Architecture, error) {
	activation, err := scorer.ParseActivation(v.Text("activation"))
	return train.PairNetwork(v.Int("hidden"), v.Int("pair_hidden"), activation), err
}
