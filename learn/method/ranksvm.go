package method

import (
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

// newRankSVM is RankSVM with the field's C,
//
//	½‖w‖² + C·Σ hinge(1 − w·(x_i − x_j))
//
// over all pairs of all queries, as in LIBLINEAR's ranking variant and SVM-light's
// ranking mode. SVM-rank (loss 1, its default) minimises the same with its -c divided
// by the number of training queries, and its loss 2, the share of swapped pairs
// averaged over the queries, is weights=queries; c_scale=svmrank takes C as its -c.
// In the terms of the project's other methods, Σ hinge + ‖w‖²/C', it is C' = 2C; so
// descent has it, lest its rate depend on C.
func newRankSVM() *Method {
	m := gradientMethod(Method{
		Name:    "ranksvm",
		Title:   "RankSVM",
		Summary: "Pairwise hinge loss, ½‖w‖² + C·Σ hinge (SVM-rank's -c is C times the number of training queries).",
		Source:  "Joachims: Optimizing Search Engines Using Clickthrough Data, KDD 2002; squared hinge: Chapelle, Keerthi: Efficient Algorithms for Ranking with SVMs, Information Retrieval 13, 2010; weights=queries: Cao, Xu, Liu, Li, Huang, Hon: Adapting Ranking SVM to Document Retrieval, SIGIR 2006",
		penalty: rankSVMPenalty,
		Hyperparameters: []Hyperparameter{
			{Name: "hinge", Kind: Choice, Default: "l2", Choices: []string{"l1", "l2"}, Doc: "hinge loss max(0, t) (l1) or its square (l2), where t is 1 minus the score difference"},
			{Name: "weights", Kind: Choice, Default: "pairs", Choices: []string{"pairs", "queries"}, Doc: "equal weights for all pairs, or for all queries"},
			{Name: "c_scale", Kind: Choice, Default: "sum", Choices: []string{"sum", "svmrank"}, Doc: "C multiplies the sum of the losses over queries (sum), or their mean, as SVM-rank's -c does (svmrank)", notOnTrees: true},
		},
	}, Hyperparameter{
		Name: "C", Kind: Number, Default: "0.001", Min: leastPositive, Max: unbounded,
		Grid: []string{"0.000001", "0.000003", "0.00001", "0.00003", "0.0001", "0.0003", "0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "1", "3", "10"},
		Doc:  "C of ½‖w‖² + C·Σ hinge: larger values fit more closely",
	}, nil, rankSVMLoss)
	m.describe("optimizer", "newton (to the minimum; smooths l1), planes (cutting planes, to the minimum), lbfgs, descent (stochastic gradient descent, keeps the best epoch), or auto: newton for linear scorers, else descent", "auto", "newton", "planes", "lbfgs", "descent")
	m.describe("tolerance", "stop when the objective is certified (convex) or seems (otherwise) this close to the minimum, relatively")
	m.describe("iterations", "limit of iterations of newton, planes and lbfgs")
	m.plan = planRankSVM
	return m
}

// describe changes what a hyperparameter that many methods share says of itself in
// this one, and its choices if there are any.
func (m *Method) describe(name, doc string, choices ...string) {
	h, err := m.hyperparameter(name)
	if err != nil {
		panic(err) // a mistake in the registry
	}
	h.Doc = doc
	if choices != nil {
		h.Choices = choices
	}
}

func rankSVMLoss(p *Problem) (loss.Loss, error) { return rankSVM(p), nil }

// rankSVM is the loss, multiplied by the field's C unless it is for descent.
func rankSVM(p *Problem) loss.RankSVM {
	l := loss.RankSVM{Squared: p.Values.Text("hinge") == "l2", Mean: p.Values.Text("weights") == "queries"}
	if rankSVMOptimizer(p) != "descent" {
		l.Weight = fieldC(p)
	}
	return l
}

// rankSVMPenalty is what goes with rankSVM.
func rankSVMPenalty(p *Problem) float64 {
	if rankSVMOptimizer(p) == "descent" {
		return train.HalfNorm * fieldC(p)
	}
	return train.HalfNorm
}

// fieldC is the C of ½‖w‖² + C·Σ.
func fieldC(p *Problem) float64 {
	c := p.Values.Number("C")
	if p.Values.Text("c_scale") == "svmrank" {
		c /= p.Data.TotalQueryWeight()
	}
	return c
}

// rankSVMOptimizer returns the optimiser that a problem asks for.
func rankSVMOptimizer(p *Problem) string {
	if p.onTrees() {
		return "descent"
	}
	optimizer := p.Values.Text("optimizer")
	switch {
	case optimizer != "auto":
		return optimizer
	case p.Scorer == "" || p.Scorer == linearScorer:
		return "newton"
	}
	return "descent"
}

func planRankSVM(m *Method, p *Problem) (loss.Loss, train.Learner, error) {
	l, optimizer := rankSVM(p), rankSVMOptimizer(p)
	if optimizer != "newton" && optimizer != "planes" {
		return parametric(m, p, l)
	}
	if err := checkLinear(m, p, optimizer); err != nil {
		return nil, nil, err
	}
	tolerance, iterations := p.Values.Number("tolerance"), p.Values.Int("iterations")
	switch {
	case optimizer == "planes":
		return l, train.Planes{Tolerance: tolerance, Iterations: iterations}, nil
	case l.Squared:
		return l, train.Newton{Tolerance: tolerance, Iterations: iterations}, nil
	}
	rounded := func(width float64) loss.Loss {
		r := l
		r.Smoothing = width
		return r
	}
	return l, train.Smoothing{Rounded: rounded, Tolerance: tolerance, Iterations: iterations}, nil
}
