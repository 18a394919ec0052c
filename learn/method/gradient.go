package method

import (
	"slices"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/learn/train"
)

// gradientMethod completes a method whose loss is trained by L-BFGS or descent. m has the hyperparameters of the
// loss. gradientMethod adds C and the hyperparameters of optimisers and scorers. Unless the default scorer is the
// pair network, the method can also train trees. rates is the grid of descent's rate, nil for only the default.
func gradientMethod(m Method, c Hyperparameter, rates []string, newLoss func(p *Problem) (loss.Loss, error)) *Method {
	if !m.pairs {
		m.onTrees = treeMethod(m, newLoss)
	}
	m.Hyperparameters = slices.Concat([]Hyperparameter{c}, m.Hyperparameters, descentParameters(rates), lbfgsParameters(), scorerParameters())
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

// forNetworks sets the grids for networks and factorization machines. The epoch of a network is chosen on validation
// data, so the penalty matters less, and the rate more, than at the minimum of the objective. A factorization machine
// overfits in any epoch without a strong penalty.
func (m *Method) forNetworks() *Method {
	for name, grid := range map[string][]string{"C": {"10", "1000"}, "rate": {"0.001", "0.003"}} {
		h, err := m.hyperparameter(name)
		if err != nil {
			panic(err) // a mistake in the registry
		}
		if name != "C" || h.Grid != nil {
			h.NetworkGrid = grid
		}
		h.FMGrid = map[string][]string{"C": {"0.5", "2", "8"}, "rate": {"0.003", "0.01"}}[name]
	}
	return m
}

// ratesOfFields is the grid of descent's rate for losses whose λ is no gradient, which only descent can train.
var ratesOfFields = []string{"0.0001", "0.001", "0.01", "0.1"}

func mappingParameter() Hyperparameter {
	return Hyperparameter{Name: "mapping", Kind: Choice, Default: "linear", Choices: []string{"log", "sqrt", "linear", "quadratic", "exp"}, Doc: "function that maps grades to target scores"}
}

// parametric returns the loss, and the learner for the problem's scorer and optimizer.
func parametric(m *Method, p *Problem, l loss.Loss) (loss.Loss, train.Learner, error) {
	optimizer := p.Values.Text("optimizer")
	if optimizer == "lbfgs" && l.Traits().NonGradient {
		return nil, nil, train.BadProblem("optimizer=lbfgs: the λ of %s are not the gradient of its value, so a line search has nothing to go by; expected optimizer=descent or auto", m.Name)
	}
	if optimizer == "auto" {
		optimizer = "descent"
		if !l.Traits().NonGradient && scorerKind(m, p) == linearScorer {
			optimizer = "lbfgs"
		}
	}
	if optimizer == "lbfgs" && p.Values.Int("bag") > 1 {
		return nil, nil, train.BadProblem("bag=%s with optimizer=lbfgs: only descents make a bag; expected bag=1 or optimizer=descent", p.Values.Text("bag"))
	}
	if optimizer == "lbfgs" && p.redraws() {
		return nil, nil, train.BadProblem("redraw=true with optimizer=lbfgs, which minimises one function; expected redraw=false or optimizer=descent")
	}
	architecture, err := architectureOf(m, p)
	if err != nil {
		return nil, nil, &train.ProblemError{Err: err}
	}
	v, c := p.Values, p.Values.Number("C")
	if m.penalty != nil {
		c = m.penalty(p)
	}
	if optimizer == "lbfgs" {
		return l, train.LBFGS{
			Architecture: architecture, C: c, Iterations: v.Int("iterations"), Tolerance: v.Number("tolerance"), Restarts: orNone(v.Int("restarts")),
		}, nil
	}
	return l, train.Descent{
		Architecture: architecture, C: c, Rule: rules[v.Text("rule")], Rate: v.Number("rate"), Epochs: v.Int("epochs"), Batch: v.Int("batch"),
		Decay: v.Number("decay"), Patience: orNone(v.Int("patience")), KeepLast: v.Text("keep") == "last", Bag: v.Int("bag"), Redraw: p.redraws(), Debias: p.Debias,
	}, nil
}

// orNone returns v, or −1 for 0. In the settings of package train, 0 means the default and a negative number none.
func orNone[T int | float64](v T) T {
	if v == 0 {
		return -1
	}
	return v
}

// checkLinear returns a *ProblemError if a problem needs more than an optimiser of linear scorers can do.
func checkLinear(m *Method, p *Problem, optimizer string) error {
	if kind := scorerKind(m, p); kind != linearScorer {
		return train.BadProblem("optimizer=%s with the scorer %s, expected %s", optimizer, kind, linearScorer)
	}
	if p.Values.Int("bag") > 1 {
		return train.BadProblem("bag=%s with optimizer=%s: only descents make a bag; expected bag=1 or optimizer=descent", p.Values.Text("bag"), optimizer)
	}
	return nil
}

// descentParameters returns the choice of the optimiser and the hyperparameters of train.Descent.
func descentParameters(rates []string) []Hyperparameter {
	return []Hyperparameter{
		{Name: "optimizer", Kind: Choice, Default: "auto", Choices: []string{"auto", "lbfgs", "descent"}, Doc: "lbfgs (to the minimum), descent (stochastic gradient descent, keeps the best epoch), or auto: lbfgs for linear scorers if the loss has a gradient"},
		{Name: "rule", Kind: Choice, Default: "adam", Choices: []string{"plain", "momentum", "adam"}, Doc: "update rule of gradient descent"},
		{Name: "rate", Kind: Number, Default: "0.01", Min: leastPositive, Max: 1e6, Grid: rates, Doc: "initial learning rate (descent)"},
		{Name: "epochs", Kind: Integer, Default: "100", Min: 1, Max: 1e6, Doc: "number of passes over all queries (descent)"},
		{Name: "batch", Kind: Integer, Default: "1", Min: 1, Max: 1e6, Doc: "batch size in queries"},
		{Name: "decay", Kind: Number, Default: "0.95", Min: leastPositive, Max: 1, Doc: "factor of the learning rate after an epoch that increased the training cost"},
		{Name: "keep", Kind: Choice, Default: "best", Choices: []string{"best", "last"}, Doc: "epoch to keep: the best on validation data (or by training cost without them), or the last"},
		{Name: "bag", Kind: Integer, Default: "1", Min: 1, Max: 1000, Doc: "number of networks with different random initial weights, whose scores are averaged"},
		{Name: "patience", Kind: Integer, Default: "50", Min: 0, Max: 1e6, Doc: "epochs without lower training cost before descent restarts from random weights; 0: never"},
	}
}

var rules = map[string]optimize.Rule{"plain": optimize.Plain, "momentum": optimize.Momentum, "adam": optimize.Adam}
