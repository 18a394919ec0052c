package method

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"github.com/listwise/listwise/model"
)

// LogRank's objectives (Dubey, Machchhar, Bhattacharyya and Chakrabarti, ICDM 2009). The paper trains linear
// functions by L-BFGS.

const logRankSource = "Dubey, Machchhar, Bhattacharyya, Chakrabarti: Conditional Models for Non-smooth Ranking Loss Functions, ICDM 2009"

// Default grids of C. gridPairs is for the factored forms, where the loss of a query is a sum over thousands of
// pairs. gridQueries is for the sampled forms, where the loss of a query is one log-sum-exp. The gradient of a
// log-sum-exp is only as large as that of a few pairs, so a similar fit needs a larger C.
var (
	gridPairs   = []string{"1e-4", "1e-3", "1e-2", "1e-1", "1", "10", "100", "1000", "10000"}
	gridQueries = []string{"1e-3", "1e-2", "1e-1", "1", "10", "100", "1000"}
)

func regularization(standard string, grid []string) Hyperparameter {
	return Hyperparameter{
		Name: "C", Kind: Number, Default: standard, Min: leastPositive, Max: unbounded, Grid: grid,
		Doc: "inverse strength of the L2 penalty ‖w‖²/C",
	}
}

// logRankParameters returns own, followed by the hyperparameters that all of LogRank's objectives share. form is the
// default form.
func logRankParameters(form string, own ...Hyperparameter) []Hyperparameter {
	defaults := sample.DefaultOptions()
	return append(slices.Clip(own),
		Hyperparameter{Name: "form", Kind: Choice, Default: form, Choices: []string{"factored", "sampled", "lattice", "shell"}, Doc: "rankings summed over: factored (all labelings of pairs, exact), sampled (the paper's random walks), lattice (all score-ordered interleavings, exact), shell (the ideal ranking and its neighbours, exact)"},
		Hyperparameter{Name: "kappa", Kind: Choice, Default: "one", Choices: []string{"one", "pairs"}, Doc: "scale of the feature map: one, or 1/(number of good-bad pairs) of the query"},
		threshold(""),
		Hyperparameter{Name: "samples", Kind: Integer, Default: strconv.Itoa(defaults.Samples), Min: 1, Max: 1e6, Doc: "rankings drawn for each query (form=sampled)"},
		Hyperparameter{Name: "steps", Kind: Integer, Default: strconv.Itoa(defaults.Steps), Min: 0, Max: 1e6, Doc: "length of a random walk (form=sampled)"},
		Hyperparameter{Name: "thin", Kind: Integer, Default: "1", Min: 1, Max: 1e6, Doc: "keep every n-th state of a walk (form=sampled)"},
		Hyperparameter{Name: "mix", Kind: Number, Default: fmt.Sprint(defaults.Mix), Min: 0, Max: 1, Doc: "probability that a walk starts at the ideal ranking, else at the worst (form=sampled, levels=0)"},
		Hyperparameter{Name: "levels", Kind: Integer, Default: "0", Min: 0, Max: 1000, Doc: "number of start states of walks from ideal to worst, drawn by skew; 0: only these two, drawn by mix (form=sampled)"},
		Hyperparameter{Name: "skew", Kind: Number, Default: "-20", Min: -1e6, Max: 1e6, Doc: "k of the start probability ∝ exp(k·Δ) (form=sampled, levels>0)"},
		Hyperparameter{Name: "sampler", Kind: Choice, Default: "blocks", Choices: []string{"blocks", "literal"}, Doc: "rejection-free walk (blocks), or the paper's Figure 2 (literal); the distribution is the same (form=sampled)"},
		Hyperparameter{Name: "unique", Kind: Switch, Default: strconv.FormatBool(defaults.Unique), Doc: "count duplicate sampled rankings once (form=sampled)"},
		Hyperparameter{Name: "ideal", Kind: Switch, Default: "true", Doc: "add the ideal ranking to the sample if no walk visited it (form=sampled)"},
		redraw("the sampled rankings", " (form=sampled)"),
	)
}

// lbfgsParameters returns the hyperparameters of train.LBFGS.
func lbfgsParameters() []Hyperparameter {
	return []Hyperparameter{
		{Name: "tolerance", Kind: Number, Default: "1e-6", Min: 1e-15, Max: 1, Doc: "relative gap to the minimum at which L-BFGS stops; certified if the objective is convex, else estimated from recent decreases"},
		{Name: "iterations", Kind: Integer, Default: "500", Min: 1, Max: 1e9, Doc: "limit of L-BFGS iterations"},
		{Name: "restarts", Kind: Integer, Default: "5", Min: 0, Max: 1000, Doc: "additional random starts of L-BFGS for non-convex objectives; the best training objective is kept"},
	}
}

// beta is the factor of Δ relative to the scores. The paper has no such factor.
var beta = Hyperparameter{
	Name: "beta", Kind: Number, Default: "1", Min: leastPositive, Max: 500,
	Doc: "scale of the loss Δ against the scores",
}

func newMLE() *Method {
	return logRank(Method{
		Name:            "mle",
		Title:           "MLE",
		Summary:         "Maximum likelihood of the ideal ranking; its factored form is RankNet's pairwise logistic loss.",
		Source:          logRankSource + ", eq. 3",
		Hyperparameters: logRankParameters("factored"),
	}, regularization("0.001", gridPairs), func(l logrank.Options) loss.Loss { return logrank.MLE{Options: l} })
}

func newExpGain() *Method {
	return logRank(Method{
		Name:            "expgain",
		Title:           "ExpGain",
		Summary:         "Maximises the log of the expected gain; not convex, so trained from several starts.",
		Source:          logRankSource + ", eq. 6",
		UsesMeasure:     true,
		DefaultMeasure:  "ndcg@10",
		Hyperparameters: logRankParameters("factored"),
	}, regularization("0.001", gridPairs), func(l logrank.Options) loss.Loss { return logrank.ExpGain{Options: l} })
}

func newL2() *Method {
	return logRank(Method{
		Name:            "l2",
		Title:           "L2",
		Summary:         "Minimises the expected loss; not convex, so trained from several starts.",
		Source:          logRankSource + ", eq. 4",
		UsesMeasure:     true,
		DefaultMeasure:  "ndcg@10",
		Hyperparameters: logRankParameters("factored"),
	}, regularization("0.001", gridPairs), func(l logrank.Options) loss.Loss { return logrank.L2{Options: l} })
}

func newL3() *Method {
	return logRank(Method{
		Name:            "l3",
		Title:           "L3",
		Summary:         "MLE plus expected loss; not convex, so trained from several starts.",
		Source:          logRankSource + ", Section 3",
		UsesMeasure:     true,
		DefaultMeasure:  "ndcg@10",
		Hyperparameters: logRankParameters("sampled", beta),
	}, regularization("0.01", gridQueries), func(l logrank.Options) loss.Loss { return logrank.L3{Options: l} })
}

func newConvexLoss() *Method {
	return logRank(Method{
		Name:            "convexloss",
		Title:           "ConvexLoss",
		Summary:         "Convex upper bound of MLE plus expected loss; worse rankings get larger weights.",
		Source:          logRankSource + ", Section 3",
		UsesMeasure:     true,
		DefaultMeasure:  "ndcg@10",
		Hyperparameters: logRankParameters("sampled", beta),
	}, regularization("0.01", gridQueries), func(l logrank.Options) loss.Loss { return logrank.ConvexLoss{Options: l} })
}

func newExpLoss() *Method {
	ofExp := beta
	ofExp.Doc += " (f=exp)"
	return logRankBy(Method{
		Name:            "exploss",
		Title:           "ExpLoss",
		Summary:         "Minimises the log of the expected f(Δ); with f = exp, ConvexLoss without MLE; not convex, so trained from several starts.",
		Source:          logRankSource + ", eq. 5",
		UsesMeasure:     true,
		DefaultMeasure:  "ndcg@10",
		Hyperparameters: logRankParameters("sampled", ofDelta, ofExp),
	}, regularization("1", gridQueries), func(p *Problem, l logrank.Options) loss.Loss {
		if p.Values.Text(ofDelta.Name) == "identity" {
			return logrank.LogLoss{Options: l}
		}
		return logrank.ExpLoss{Options: l}
	})
}

// ofDelta is the function f of equation 5.
var ofDelta = Hyperparameter{
	Name: "f", Kind: Choice, Default: "exp", Choices: []string{"exp", "identity"},
	Doc: "function f in the log of the expected f(Δ)",
}

// logRank completes a method. newLoss makes its loss from the options that all objectives share.
func logRank(m Method, c Hyperparameter, newLoss func(logrank.Options) loss.Loss) *Method {
	return logRankBy(m, c, func(_ *Problem, l logrank.Options) loss.Loss { return newLoss(l) })
}

// logRankBy does what logRank does, for a loss with hyperparameters of its own.
func logRankBy(m Method, c Hyperparameter, newLoss func(*Problem, logrank.Options) loss.Loss) *Method {
	return gradientMethod(m, c, nil, func(p *Problem) (loss.Loss, error) {
		config, err := logRankConfig(p)
		if err != nil {
			return nil, err
		}
		return newLoss(p, config), nil
	})
}

// logRankConfig reads the options that all objectives share.
func logRankConfig(p *Problem) (logrank.Options, error) {
	m, v := p.Values.method, p.Values
	form, err := logrank.ParseForm(v.Text("form"))
	if err != nil {
		return logrank.Options{}, err
	}
	kappa, err := bipartite.ParseKappa(v.Text("kappa"))
	if err != nil {
		return logrank.Options{}, err
	}
	config := logrank.Options{
		Form:      form,
		Kappa:     kappa,
		Threshold: v.Number("threshold"),
		Beta:      1,
		Sampler: sample.Options{
			Samples:      v.Int("samples"),
			Steps:        v.Int("steps"),
			Thin:         v.Int("thin"),
			Mix:          v.Number("mix"),
			Levels:       v.Int("levels"),
			Skew:         v.Number("skew"),
			Literal:      v.Text("sampler") == "literal",
			Unique:       v.Bool("unique"),
			IncludeIdeal: v.Bool("ideal"),
		},
	}
	if _, err := m.hyperparameter("beta"); err == nil {
		config.Beta = v.Number("beta")
	}
	config.Gain, err = logRankGain(m, p)
	return config, err
}

// logRankGain returns the training measure as the gain of a law. MLE optimises no measure, and gets average
// precision. Its walks use it if they start at levels of Δ.
func logRankGain(m *Method, p *Problem) (measure.Additive, error) {
	training := p.Measure
	if !m.UsesMeasure {
		var err error
		if training, err = measure.Parse("map", p.relevant, measure.Options{}); err != nil {
			return nil, err
		}
	}
	if err := m.CheckMeasure(training); err != nil {
		return nil, err
	}
	return training.(measure.Additive), nil
}

// combinedMeasures lists the measures of Combined, and the hyperparameters of their weights.
var combinedMeasures = []struct{ weight, measure, title string }{
	{"auc", "auc", "AUC"}, {"map", "map", "average precision"}, {"ndcg", "ndcg@10", "NDCG@10"},
}

// combinedObjectives lists the objectives that Combined uses with each measure, and the hyperparameters of their
// weights.
var combinedObjectives = []struct {
	weight, standard string
	objective        logrank.Objective
	title            string
}{
	{"convexloss", "1", logrank.TermConvexLoss, "ConvexLoss"}, {"expgain", "0", logrank.TermExpGain, "ExpGain"}, {"expected_loss", "0", logrank.TermL2, "L2"},
}

// mleWeight is the hyperparameter of the weight of MLE in Combined.
const mleWeight = "mle"

func newCombined() *Method {
	weight := func(name, standard, of string) Hyperparameter {
		return Hyperparameter{Name: name, Kind: Number, Default: standard, Min: 0, Max: 1e6, Doc: "weight of " + of}
	}
	own := []Hyperparameter{beta}
	for _, m := range combinedMeasures {
		own = append(own, weight(m.weight, "1", m.title+" among the measures"))
	}
	for _, o := range combinedObjectives {
		own = append(own, weight(o.weight, o.standard, o.title+" for each of the measures"))
	}
	own = append(own, weight(mleWeight, "0", "MLE"))
	return gradientMethod(Method{
		Name:            "combined",
		Title:           "Combined",
		Summary:         "Weighted mean of ConvexLoss, ExpGain and L2 for AUC, average precision and NDCG@10, and of MLE, over one sample.",
		Source:          logRankSource + ", Section 6 (proposed there as future work)",
		Hyperparameters: logRankParameters("sampled", own...),
	}, regularization("0.01", gridQueries), nil, func(p *Problem) (loss.Loss, error) {
		config, err := logRankConfig(p)
		if err != nil {
			return nil, err
		}
		l := logrank.Combined{Options: config}
		if l.Terms, err = combinedTerms(p); err != nil {
			return nil, err
		}
		return l, l.Validate()
	})
}

// combinedTerms returns the terms of Combined. The weight of a term is the weight of its objective times the weight
// of its measure. The measures follow the convention of Select. In reproductions of the paper this is LETOR 3.0's
// convention.
func combinedTerms(p *Problem) ([]logrank.Term, error) {
	convention := measure.ConventionOf(measure.ForTraining(p.Select))
	terms := []logrank.Term{{Weight: p.Values.Number(mleWeight)}}
	for _, of := range combinedMeasures {
		m, err := measure.Parse(of.measure, convention, measure.Options{})
		if err != nil {
			return nil, err
		}
		for _, o := range combinedObjectives {
			terms = append(terms, logrank.Term{
				Gain: m.(measure.Additive), Weight: p.Values.Number(o.weight) * p.Values.Number(of.weight), Objective: o.objective,
			})
		}
	}
	return terms, nil
}

// LogRankOf returns the options that one of LogRank's methods trained a model with. ok is false for models of other
// methods. The options, the model's seed and the content of a query determine which rankings the sampled form draws.
// LogRankOf returns an error if the model has hyperparameters that the method does not have.
func LogRankOf(m *model.Model) (config logrank.Options, ok bool, err error) {
	i := slices.IndexFunc(List(), func(known *Method) bool { return known.Name == m.Method && known.isLogRank() })
	if i < 0 {
		return logrank.Options{}, false, nil
	}
	method := List()[i]
	if m.Scorer != nil && m.Scorer.Kind() == treeScorer && method.onTrees != nil {
		method = method.onTrees
	}
	set := make(map[string]string, len(m.Hyperparameters))
	for name, v := range m.Hyperparameters {
		set[name] = settingText(v)
	}
	p := &Problem{}
	if p.Values, err = method.Values(set); err != nil {
		return logrank.Options{}, false, err
	}
	var convention measure.Convention
	if method.UsesMeasure {
		if convention, err = measure.ParseConvention(m.Convention); err != nil {
			return logrank.Options{}, false, err
		}
	}
	if m.Threshold > 0 {
		convention = convention.WithThreshold(m.Threshold)
	}
	p.settle(convention)
	if method.UsesMeasure {
		if p.Measure, err = measure.Parse(m.Measure, convention, measure.Options{}); err != nil {
			return logrank.Options{}, false, err
		}
	}
	config, err = logRankConfig(p)
	return config, err == nil, err
}

// isLogRank reports whether a method has the hyperparameters of LogRank's sampler.
func (m *Method) isLogRank() bool {
	_, err := m.hyperparameter("sampler")
	return err == nil
}

// settingText returns the value of a model's hyperparameter as text for Method.Values.
func settingText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
