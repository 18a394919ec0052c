package method

import (
	"slices"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/learn/tree"
)

// newLambdaMART returns LambdaMART: boosted trees, fitted to LambdaRank's λ by Newton steps.
func newLambdaMART() *Method {
	m := Method{
		Name:           "lambdamart",
		Title:          "LambdaMART",
		Summary:        "Gradient boosting of regression trees with LambdaRank's gradients.",
		Source:         "Wu, Burges, Svore, Gao: Adapting Boosting for Information Retrieval Measures, Information Retrieval 13, 2010; Burges: From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82, Section 7",
		UsesMeasure:    true,
		DefaultMeasure: "ndcg@10",
		takes:          anyOne,
		Hyperparameters: []Hyperparameter{
			{Name: "sigma", Kind: Number, Default: "1", Min: leastPositive, Max: 1e6, Doc: "slope of the logistic function of a difference of scores"},
			{Name: "top", Kind: Integer, Default: "0", Min: 0, Max: 1e6, Doc: "leave out pairs with both documents below this rank; 0: none"},
			{Name: "normalize", Kind: Choice, Default: "gap", Choices: []string{"none", "gap", "sum", "both"}, Doc: "divide a pair's gradient by its score difference (gap), scale a query's gradients logarithmically (sum), or both, as LightGBM and XGBoost do by default"},
		},
	}
	return treeMethod(m, func(p *Problem) (loss.Loss, error) {
		norm := p.Values.Text("normalize")
		return loss.LambdaRank{
			Measure: p.Measure, Sigma: p.Values.Number("sigma"), Truncation: p.Values.Int("top"),
			GapNorm: norm == "gap" || norm == "both", SumNorm: norm == "sum" || norm == "both",
		}, nil
	})
}

// newMART returns MART: boosted trees with squared error.
func newMART() *Method {
	m := Method{
		Name:            "mart",
		Title:           "MART",
		Summary:         "Gradient boosting of regression trees with squared loss on the grades.",
		Source:          "Friedman: Greedy Function Approximation: A Gradient Boosting Machine, Annals of Statistics 29, 2001, Algorithm 2",
		Hyperparameters: []Hyperparameter{mappingParameter()},
	}
	return treeMethod(m, func(p *Problem) (loss.Loss, error) {
		mapping, err := loss.ParseMapping(p.Values.Text("mapping"))
		return loss.SquaredError{Mapping: mapping}, err
	})
}

// treeMethod completes a method whose loss is trained by boosted trees. m has the hyperparameters of the loss, and
// treeMethod adds the hyperparameters of trees.
func treeMethod(m Method, newLoss func(p *Problem) (loss.Loss, error)) *Method {
	own := slices.DeleteFunc(slices.Clone(m.Hyperparameters), func(h Hyperparameter) bool { return h.notOnTrees })
	m.Hyperparameters = slices.Concat(treeParameters(), own, []Hyperparameter{largestWork})
	m.scorers = []string{treeScorer}
	m.plan = func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
		l, err := newLoss(p)
		if err != nil {
			return nil, nil, &train.ProblemError{Err: err}
		}
		if err := p.checkShape(); err != nil {
			return nil, nil, err
		}
		learner, err := trees(p)
		learner.Redraw, learner.Refit, learner.Decay, learner.Debias = p.redraws(), p.Refit, p.Decay, p.Debias
		return l, learner, err
	}
	return &m
}

// treeParameters returns the hyperparameters of boosted trees.
func treeParameters() []Hyperparameter {
	return []Hyperparameter{
		{Name: "trees", Kind: Integer, Default: "300", Min: 1, Max: 1e6, Doc: "number of trees; with validation data, trees after the best are dropped"},
		{Name: "leaves", Kind: Integer, Default: "15", Min: 2, Max: 1e6, Grid: []string{"4", "8", "32"}, Doc: "maximum number of leaves of a tree"},
		{Name: "growth", Kind: Choice, Default: "leaf", Choices: []string{"leaf", "depth", "symmetric"}, Grid: []string{"leaf", "symmetric"}, Doc: "grow leaf-wise (largest gain first), level by level (depth), or with one split for a whole level (symmetric)"},
		{Name: "rate", Kind: Number, Default: "0.05", Min: leastPositive, Max: 1, Doc: "learning rate"},
		{Name: "fit", Kind: Choice, Default: "auto", Choices: []string{"auto", "newton", "gradient"}, Doc: "newton (leaf values from gradients and second derivatives), gradient (least squares on gradients, with a line search where possible), or auto: newton if the loss has second derivatives"},
		{Name: "depth", Kind: Integer, Default: "0", Min: 0, Max: 1e6, Doc: "maximum depth of a tree; 0: no limit"},
		{Name: "bins", Kind: Integer, Default: "255", Min: 2, Max: tree.MaxBins, Doc: "number of histogram bins of each feature"},
		{Name: "bins_by", Kind: Choice, Default: "documents", Choices: []string{"documents", "curvature"}, Doc: "bins have equal numbers of documents, or equal sums of initial second derivatives (curvature)"},
		{Name: "categorical", Kind: Columns, Default: noColumns, Doc: "categorical features, numbered from 1; the most frequent categories get a bin, others count as missing"},
		{Name: "category_smoothing", Kind: Number, Default: "10", Min: 0, Max: 1e9, Needs: "categorical≠" + noColumns, Doc: "smoothing of the gradient statistics by which categories are ordered (categorical)"},
		{Name: "splits", Kind: Choice, Default: "histogram", Choices: []string{"histogram", "exact"}, Doc: "split between histogram bins, or between any two values (exact, slower)"},
		{Name: "thresholds", Kind: Choice, Default: "best", Choices: []string{"best", "random"}, Doc: "the best threshold of a feature, or a random one (extremely randomised trees)"},
		{Name: "leaf_documents", Kind: Integer, Default: "20", Min: 1, Max: 1e9, Doc: "minimum number of documents in a leaf"},
		{Name: "leaf_curvature", Kind: Number, Default: "1e-3", Min: 0, Max: 1e9, Doc: "minimum sum of second derivatives in a leaf"},
		{Name: "l2", Kind: Number, Default: "0", Min: 0, Max: 1e9, Doc: "L2 regularisation of leaf values"},
		{Name: "l1", Kind: Number, Default: "0", Min: 0, Max: 1e9, Doc: "L1 regularisation of leaf values"},
		{Name: "least_gain", Kind: Number, Default: "0", Min: 0, Max: 1e9, Doc: "minimum gain of a split, which is twice the decrease of the objective's quadratic approximation"},
		{Name: "monotone", Kind: Signed, Default: noColumns, Doc: "features, numbered from 1, with an increasing effect, or with a minus sign a decreasing one"},
		{Name: "interactions", Kind: Groups, Default: noColumns, Doc: "groups of features, numbered from 1, that may interact (occur on one path of a tree)"},
		{Name: "query_fraction", Kind: Number, Default: "1", Min: leastPositive, Max: 1, Grid: []string{"0.6"}, Doc: "fraction of the queries sampled for each tree"},
		{Name: "document_fraction", Kind: Number, Default: "1", Min: leastPositive, Max: 1, Doc: "fraction of the documents of these queries sampled for each tree"},
		{Name: "goss_top", Kind: Number, Default: "1", Min: leastPositive, Max: 1, Doc: "fraction of the documents that are always used, by largest gradients (GOSS)"},
		{Name: "goss_rest", Kind: Number, Default: "0", Min: 0, Max: 1, Doc: "fraction of the documents that are sampled from the remaining ones (GOSS)"},
		{Name: "feature_fraction", Kind: Number, Default: "1", Min: leastPositive, Max: 1, Grid: []string{"0.3", "1"}, Doc: "fraction of the features sampled for each tree"},
		{Name: "boosting", Kind: Choice, Default: "gradient", Choices: []string{"gradient", "dart", "forest"}, Doc: "gradient boosting, DART, or random forest (trees on bootstrap samples of the queries, averaged, with rate 1)"},
		{Name: "dropout", Kind: Number, Default: "0.1", Min: leastPositive, Max: 1, Needs: "boosting=dart", Doc: "dropout rate: probability to drop a tree (boosting=dart)"},
		{Name: "dropout_skip", Kind: Number, Default: "0.5", Min: 0, Max: 1, Needs: "boosting=dart", Doc: "probability to skip dropout for a tree (boosting=dart)"},
		{Name: "dropout_most", Kind: Integer, Default: "50", Min: 0, Max: 1e6, Needs: "boosting=dart", Doc: "maximum number of dropped trees; 0: no limit (boosting=dart)"},
		{Name: "dropout_weight", Kind: Choice, Default: "tree", Choices: []string{"tree", "forest"}, Needs: "boosting=dart", Doc: "the new tree gets the weight of one dropped tree (tree) or of all (forest) (boosting=dart)"},
		{Name: "bag", Kind: Integer, Default: "1", Min: 1, Max: 1000, Doc: "number of ensembles with different random seeds, whose scores are averaged"},
		{Name: "patience", Kind: Integer, Default: "100", Min: 0, Max: 1e6, Doc: "early stopping: trees without improvement on validation data; 0: off"},
	}
}

// onValues lists the hyperparameters of trees that affect leaf values, or that a refit refuses with an error of its
// own.
var onValues = []string{"rate", "fit", "l1", "l2", "boosting", "bag", "monotone"}

// checkShape returns a *ProblemError if a refit has a hyperparameter that affects only how trees are grown. A refit
// grows no trees, so the hyperparameter would have no effect.
func (p *Problem) checkShape() error {
	if !p.Refit {
		return nil
	}
	for _, h := range treeParameters() {
		if !slices.Contains(onValues, h.Name) && p.Values.given[h.Name] && !p.Values.IsDefault(h.Name) {
			return train.BadProblem("found %s=%s with a refit, expected it to be left out: a refit keeps the model's trees and learns their values, for which it has no effect", h.Name, p.Values.Text(h.Name))
		}
	}
	return nil
}

// trees returns the learner for a problem's hyperparameters.
func trees(p *Problem) (train.Trees, error) {
	v := p.Values
	l := train.Trees{
		Rounds: v.Int("trees"), Steps: fits[v.Text("fit")], Patience: orNone(v.Int("patience")), Rate: v.Number("rate"), Bins: v.Int("bins"),
		QueryFraction: v.Number("query_fraction"), FeatureFraction: v.Number("feature_fraction"),
		DocumentFraction: v.Number("document_fraction"), GOSSTop: v.Number("goss_top"), GOSSRest: v.Number("goss_rest"),
		Sum: treeSums[v.Text("boosting")], Bag: v.Int("bag"),
		Dropout: train.Dropout{Rate: v.Number("dropout"), Skip: orNone(v.Number("dropout_skip")), Most: orNone(v.Int("dropout_most")), EqualWeight: v.Text("dropout_weight") == "forest"},
		Exact:   v.Text("splits") == "exact", BinsByCurvature: v.Text("bins_by") == "curvature",
		Options: tree.Options{
			Growth: growths[v.Text("growth")], Leaves: v.Int("leaves"), Depth: v.Int("depth"), LeafDocuments: v.Int("leaf_documents"), LeafCurvature: orNone(v.Number("leaf_curvature")),
			L2: v.Number("l2"), L1: v.Number("l1"), LeastGain: v.Number("least_gain"),
			RandomThresholds: v.Text("thresholds") == "random", CategorySmoothing: orNone(v.Number("category_smoothing")),
		},
	}
	return l, p.nameColumns(&l)
}

// nameColumns sets the learner's features with constraints and categories. A constraint applies to all views of a
// feature, because no view decreases when the feature increases. Categorical features have no views.
func (p *Problem) nameColumns(l *train.Trees) (err error) {
	groups, _, err := p.columnsOf("interactions")
	if err != nil {
		return err
	}
	for _, group := range groups {
		var all []int
		for view := range p.Views.Count() {
			for _, f := range group {
				all = append(all, view*p.Data.Features+f)
			}
		}
		l.Interactions = append(l.Interactions, all)
	}
	categorical, _, err := p.columnsOf("categorical")
	if err != nil {
		return err
	}
	for _, f := range slices.Concat(categorical...) {
		if l.Categorical == nil {
			l.Categorical = make([]bool, p.Data.Features)
		}
		l.Categorical[f] = true
	}
	features, signs, err := p.columnsOf("monotone")
	for g := range features {
		l.Monotone = make([]int8, p.Data.Features*p.Views.Count())
		for i, f := range features[g] {
			for ; f < len(l.Monotone); f += p.Data.Features {
				l.Monotone[f] = signs[g][i]
			}
		}
	}
	return err
}

var fits = map[string]train.Steps{"auto": train.AnySteps, "newton": train.NewtonSteps, "gradient": train.GradientSteps}

var growths = map[string]tree.Growth{"leaf": tree.LeafWise, "depth": tree.DepthWise, "symmetric": tree.Symmetric}

var treeSums = map[string]train.TreeSum{"gradient": train.GradientTrees, "dart": train.DARTTrees, "forest": train.ForestTrees}
