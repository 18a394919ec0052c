package method

import (
	"slices"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

// gradientMethod completes a method whose loss is trained by L-BFGS or by descent:
// its hyperparameters are C, the loss's own, which it has so far, and those of the
// optimisers and scorers. On trees it has the loss's own and those of trees, unless its
// scores are of pairs. rates is the grid of descent's rate, nil for none.
func gradientMethod(m Method, c Hyperparameter, rates []string, newLoss func(p *Problem) (loss.Loss, error)) *Method {
	if !m.pairs {
		m.onTrees = treeMethod(m, newLoss)
	}
	m.Hyperparameters = slices.Concat([]Hyperparameter{c}, m.Hyperparameters, descentParameters(rates), lbfgsParameters(), networkParameters())
	if m.pairs {
		m.Hyperparameters = append(m.Hyperparameters, pairHidden)
	}
	m.plan = func(m *Method, p *Problem) (loss.Loss, train.Learner, error) {
		l, err := newLoss(p)
		if err != nil {
			return nil, nil, &train.ProblemError{Err: err}
		}
		return parametric(m, p, l)
	}
	return m.forNetworks()
}

// forNetworks sets the grids for networks. With the epoch chosen on validation
// data, the penalty decides less than it does at the minimum, and the rate more.
func (m *Method) forNetworks() *Method {
	for name, grid := range map[string][]string{"C": {"10", "1000"}, "rate": {"0.001", "0.003"}} {
		h, err := m.hyperparameter(name)
		if err != nil {
			panic(err) // a mistake in the registry
		}
		if name != "C" || h.Grid != nil {
			h.NetworkGrid = grid
		}
	}
	return m
}

// ratesOfFields is the grid of descent's rate for losses that have no other optimiser.
var ratesOfFields = []string{"0.0001", "0.001", "0.01", "0.1"}

func mappingParameter() Hyperparameter {
	return Hyperparameter{Name: "mapping", Kind: Choice, Default: "linear", Choices: []string{"log", "sqrt", "linear", "quadratic", "exp"}, Doc: "function from grades to the scores of a perfect model"}
}
