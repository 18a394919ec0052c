package method

import (
	"fmt"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/train"
)

// newRankSVM returns RankSVM with the C of the SVM literature. It minimises
//
//	½‖w‖² + C·Σ hinge(1 − w·(x_i − x_j))
//
// over all pairs of all queries, as LIBLINEAR's ranking variant and SVM-light's ranking mode do. SVM-rank divides its
// -c by the number of training queries. With c_scale=svmrank, C has the meaning of SVM-rank's -c. The default of
// SVM-rank is loss 1. Loss 2 of SVM-rank, the share of swapped pairs averaged over the queries, corresponds to
// weights=queries.
//
// Other methods here minimise Σ hinge + ‖w‖²/C', where C' = 2C. Descent minimises this form, so that its rate does
// not depend on C.
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

// describe replaces the help text of a hyperparameter that many methods share and, if there are any, its choices.
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

// rankSVM returns the loss, multiplied by C except for descent.
func rankSVM(p *Problem) loss.RankSVM {
	l := loss.RankSVM{Squared: p.Values.Text("hinge") == "l2", Mean: p.Values.Text("weights") == "queries"}
	if rankSVMOptimizer(p) != "descent" {
		l.Weight = fieldC(p)
	}
	return l
}

// rankSVMPenalty returns the c of the penalty ‖w‖²/c for the loss of rankSVM.
func rankSVMPenalty(p *Problem) float64 {
	if rankSVMOptimizer(p) == "descent" {
		return train.HalfNorm * fieldC(p)
	}
	return train.HalfNorm
}

// fieldC returns the C of ½‖w‖² + C·Σ hinge.
func fieldC(p *Problem) float64 {
	c := p.Values.Number("C")
	if p.Values.Text("c_scale") == "svmrank" {
		c /= p.Data.TotalQueryWeight()
	}
	return c
}

// rankSVMOptimizer returns the optimiser of a problem. It resolves auto.
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

// newSVMmap returns the structural support vector machine, which minimises over N queries
//
//	½‖w‖² + (C/N) Σ_q ξ_q,   ξ_q = max_y Δ(y) − w·δφ_q(y).
//
// C has the meaning of -c in SVM-map and SVM-struct. The tolerance is a precision of the mean slack, like their -e:
// see slackTolerance. Depending on the training measure, the method is SVMmap, SVM-NDCG, SVM-MRR or SVM-AUC. For
// descent the objective is divided by C/N, so that the rate does not depend on C.
func newSVMmap() *Method {
	m := gradientMethod(Method{
		Name:           "svmmap",
		Title:          "SVMmap",
		Summary:        "Structured hinge loss over all rankings; SVMmap with the measure map, SVM-NDCG with ndcg@K, SVM-MRR with mrr, SVM-AUC with auc.",
		Source:         "Yue, Finley, Radlinski, Joachims: A Support Vector Method for Optimizing Average Precision, SIGIR 2007; NDCG and MRR: Chakrabarti, Khanna, Sawant, Bhattacharyya: Structured Learning for Non-Smooth Ranking Losses, KDD 2008; AUC: Joachims: A Support Vector Method for Multivariate Performance Measures, ICML 2005; grades=graded: Le, Smola: Direct Optimization of Ranking Measures, 2007; slack: Joachims, Finley, Yu: Cutting-Plane Training of Structural SVMs, Machine Learning 77, 2009",
		UsesMeasure:    true,
		DefaultMeasure: "map",
		penalty:        svmMapPenalty,
		Hyperparameters: []Hyperparameter{
			{Name: "kappa", Kind: Choice, Default: "pairs", Choices: []string{"one", "pairs"}, Doc: "scale of the feature map: one, or 1/(number of good-bad pairs) of the query (grades=binary)"},
			threshold(" (grades=binary)"),
			{Name: "grades", Kind: Choice, Default: "binary", Choices: []string{"binary", "graded"}, Doc: "rankings of relevant against irrelevant documents, or, for ndcg, orders of all documents by their grades"},
			{Name: "ranks", Kind: Choice, Default: "root", Choices: []string{"root", "log"}, Doc: "weight of rank r in the feature map: root, r^(-1/4), or log, 1/log2(1+r) (grades=graded)"},
			{Name: "slack", Kind: Choice, Default: "one", Choices: []string{"one", "n"}, Doc: "cutting planes for the sum over queries (one) or for each query's loss (n), with the same minimum (optimizer=planes)", notOnTrees: true},
		},
	}, Hyperparameter{
		Name: "C", Kind: Number, Default: "10", Min: leastPositive, Max: unbounded,
		Grid: []string{"0.1", "0.3", "1", "3", "10", "30", "100", "300", "1000"},
		Doc:  "C of ½‖w‖² + (C/N)·Σ slack over N queries: larger values fit more closely",
	}, nil, svmMapLoss)
	m.describe("optimizer", "planes (cutting planes, to the minimum), lbfgs, descent (stochastic gradient descent, keeps the best epoch), or auto: planes for linear scorers, else descent", "auto", "planes", "lbfgs", "descent")
	m.describe("tolerance", "certified gap to the minimum at which to stop, of the mean slack and, relatively, of the objective (planes); estimated for lbfgs")
	m.describe("iterations", "limit of iterations of planes and lbfgs")
	m.plan = planSVMmap
	return m
}

// svmMapLoss returns the loss, multiplied by C/N except for descent.
func svmMapLoss(p *Problem) (loss.Loss, error) {
	v, weight := p.Values, 1.0
	if svmMapOptimizer(p) != "descent" {
		weight = slackWeight(p)
	}
	if v.Text("grades") == "graded" {
		if !trainingMeasures[anyNDCG].accepts(p.Measure) {
			return nil, fmt.Errorf("grades=graded with the training measure %s, expected %s", p.Measure.Name(), trainingMeasures[anyNDCG].expected)
		}
		ranks, err := loss.ParseRankWeights(v.Text("ranks"))
		return loss.GradedHinge{Convention: measure.ConventionOf(p.Measure), Cutoff: measure.CutoffOf(p.Measure), Ranks: ranks, Weight: weight}, err
	}
	kappa, err := bipartite.ParseKappa(v.Text("kappa"))
	return loss.StructuredHinge{Gain: p.Measure.(measure.Additive), Kappa: kappa, Threshold: v.Number("threshold"), Weight: weight}, err
}

// slackWeight returns the C/N of the mean slack. N is the sum of the weights of all queries, including queries from
// which nothing can be learned.
func slackWeight(p *Problem) float64 {
	return p.Values.Number("C") / p.Data.TotalQueryWeight()
}

// svmMapPenalty returns the c of the penalty ‖w‖²/c for the loss of svmMapLoss.
func svmMapPenalty(p *Problem) float64 {
	if svmMapOptimizer(p) == "descent" {
		return train.HalfNorm * slackWeight(p)
	}
	return train.HalfNorm
}

// svmMapOptimizer returns the optimiser of a problem. It resolves auto.
func svmMapOptimizer(p *Problem) string {
	if p.onTrees() {
		return "descent"
	}
	optimizer := p.Values.Text("optimizer")
	switch {
	case optimizer != "auto":
		return optimizer
	case p.Scorer == "" || p.Scorer == linearScorer:
		return "planes"
	}
	return "descent"
}

// slackTolerance converts a precision ε of the mean slack into the gap at which optimisers stop, relative to max(1,
// F). At the minimum, the objective F is at most C, because no slack exceeds 1 at w = 0. So the gap is at most εC,
// which is a precision of ε for the mean slack. If F exceeds 1, the gap is also at most ε·F.
func slackTolerance(p *Problem) float64 {
	return p.Values.Number("tolerance") * min(1, p.Values.Number("C"))
}

func planSVMmap(m *Method, p *Problem) (loss.Loss, train.Learner, error) {
	l, err := svmMapLoss(p)
	if err != nil {
		return nil, nil, &train.ProblemError{Err: err}
	}
	if svmMapOptimizer(p) != "planes" {
		return parametric(m, p, l)
	}
	if err := checkLinear(m, p, "planes"); err != nil {
		return nil, nil, err
	}
	return l, train.Planes{PerQuery: p.Values.Text("slack") == "n", Tolerance: slackTolerance(p), Iterations: p.Values.Int("iterations")}, nil
}
