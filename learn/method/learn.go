package method

import (
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

// parametric returns the loss with the learner that the hyperparameters describe: the
// scorer by the optimiser that the hyperparameter of that name chooses.
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
			Architecture: architecture, C: c, Iterations: v.Int("iterations"), Tolerance: v.Number("tolerance"), Restarts: v.Int("restarts"),
		}, nil
	}
	return l, train.Descent{
		Architecture: architecture, C: c, Rule: rules[v.Text("rule")], Rate: v.Number("rate"), Epochs: v.Int("epochs"), Batch: v.Int("batch"),
		Decay: v.Number("decay"), Patience: v.Int("patience"), KeepLast: v.Text("keep") == "last", Bag: v.Int("bag"), Redraw: p.redraws(),
	}, nil
}

// checkLinear returns an error for anything an optimiser of w·x only cannot do.
func checkLinear(m *Method, p *Problem, optimizer string) error {
	if kind := scorerKind(m, p); kind != linearScorer {
		return train.BadProblem("optimizer=%s with the scorer %s, expected %s", optimizer, kind, linearScorer)
	}
	if p.Values.Int("bag") > 1 {
		return train.BadProblem("bag=%s with optimizer=%s: only descents make a bag; expected bag=1 or optimizer=descent", p.Values.Text("bag"), optimizer)
	}
	return nil
}
