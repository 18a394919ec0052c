package method

import (
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
)

func newListNet() *Method {
	return gradientMethod(Method{
		Name:    "listnet",
		Title:   "ListNet",
		Summary: "Cross entropy between the top-ranked probabilities given by grades and by scores.",
		Source:  "Cao, Qin, Liu, Tsai, Li: Learning to Rank: From Pairwise Approach to Listwise Approach, ICML 2007",
		Hyperparameters: []Hyperparameter{
			mappingParameter(),
			{Name: "top", Kind: Integer, Default: "1", Min: 1, Max: 1e6, Doc: "number of top documents compared; more than 3 only for lists of up to 12 documents"},
		},
	}, regularization("1", gridQueries), nil, func(p *Problem) (loss.Loss, error) {
		mapping, err := loss.ParseMapping(p.Values.Text("mapping"))
		return loss.ListNet{Mapping: mapping, Top: p.Values.Int("top")}, err
	})
}

// gridDocuments is the grid of C for ListMLE. The loss of a query is a sum over its documents: the choice of each
// document among the remaining ones.
var gridDocuments = []string{"1e-5", "1e-4", "1e-3", "1e-2", "1e-1", "1", "10", "100", "1000"}

func newListMLE() *Method {
	return gradientMethod(Method{
		Name:    "listmle",
		Title:   "ListMLE",
		Summary: "Likelihood of the ideal permutation under the Plackett–Luce model.",
		Source:  "Xia, Liu, Wang, Zhang, Li: Listwise Approach to Learning to Rank: Theory and Algorithm, ICML 2008",
		Hyperparameters: []Hyperparameter{
			{Name: "ties", Kind: Choice, Default: "random", Choices: []string{"random", "average", "input", "group"}, Doc: "order of documents with equal grades: drawn once (random), average over several draws, input order, or none (group)"},
			{Name: "samples", Kind: Integer, Default: "10", Min: 1, Max: 1e6, Doc: "permutations drawn for each query (ties=average)"},
			redraw("the order of equally graded documents", " (ties=random or average)"),
		},
	}, regularization("0.01", gridDocuments), nil, func(p *Problem) (loss.Loss, error) {
		ties, err := loss.ParseMLETies(p.Values.Text("ties"))
		return loss.ListMLE{Ties: ties, Draws: p.Values.Int("samples")}, err
	})
}

// newRankCosine returns RankCosine. Its loss does not depend on the length of the vector of scores, so the penalty
// affects nothing but that length. The default C is large.
func newRankCosine() *Method {
	return gradientMethod(Method{
		Name:    "rankcosine",
		Title:   "RankCosine",
		Summary: "Cosine distance between the scores and those of a perfect model; not convex.",
		Source:  "Qin, Zhang, Tsai, Wang, Liu, Li: Query-level Loss Functions for Information Retrieval, Information Processing and Management 44, 2008",
		Hyperparameters: []Hyperparameter{
			mappingParameter(),
		},
	}, regularization("1e6", nil), nil, func(p *Problem) (loss.Loss, error) {
		mapping, err := loss.ParseMapping(p.Values.Text("mapping"))
		return loss.RankCosine{Mapping: mapping}, err
	})
}

func newXENDCG() *Method {
	return gradientMethod(Method{
		Name:    "xendcg",
		Title:   "XE-NDCG",
		Summary: "Cross entropy loss that bounds NDCG.",
		Source:  "Bruch: An Alternative Cross Entropy Loss for Learning-to-Rank, WWW 2021",
		Hyperparameters: []Hyperparameter{
			redraw("the loss's random γ", ", as the paper does"),
		},
	}, regularization("1", gridQueries), nil, func(*Problem) (loss.Loss, error) { return loss.XENDCG{}, nil })
}

const boltzRankSource = "Volkovs, Zemel: BoltzRank: Learning to Rank with Pairwise Potentials, ICML 2009"

// newBoltzRank1 returns BoltzRank1. Its default scorer is linear and trained to the minimum, so C alone controls the
// fit.
func newBoltzRank1() *Method {
	m := boltzRank(Method{
		Name:    "boltzrank1",
		Title:   "BoltzRank1",
		Summary: "Expected measure and cross entropy under a Boltzmann distribution over sampled rankings.",
		Source:  boltzRankSource,
	})
	m.preset("C", "1", "0.3", "1", "3")
	return m
}

// newBoltzRank2 returns BoltzRank2, whose default scorer is a pair network. Pair networks overfit fast, so the
// presets have few units for pairs, few epochs and a low rate. A bag of several networks is better still.
func newBoltzRank2() *Method {
	m := boltzRank(Method{
		Name:    "boltzrank2",
		Title:   "BoltzRank2",
		Summary: "BoltzRank1 with scores that depend on the query's other documents (scorer pairnet).",
		Source:  boltzRankSource,
		pairs:   true,
	})
	m.preset("C", "10", "3", "10")
	m.preset("rate", "0.001")
	m.preset("epochs", "30")
	m.preset("patience", "0")
	m.preset("pair_hidden", "4")
	return m
}

func boltzRank(m Method) *Method {
	m.UsesMeasure, m.DefaultMeasure, m.takes = true, "ndcg@10", anyOne
	m.Hyperparameters = []Hyperparameter{
		{Name: "lambda", Kind: Number, Default: "0.5", Min: 0, Max: 1, Grid: []string{"0.5", "0.8"}, Doc: "weight of the expected measure; the weight of the cross entropy is 1 minus lambda"},
		{Name: "energy", Kind: Choice, Default: "linear", Choices: []string{"linear", "sign", "graded"}, Doc: "function of a rank difference in the energy; graded: sign, only over pairs of different grades"},
		{Name: "alpha", Kind: Number, Default: "0.2", Min: leastPositive, Max: 1e6, Doc: "scale of the energy, also of grades: smaller values weight the sampled rankings more evenly"},
		{Name: "growing", Kind: Switch, Default: "false", Doc: "increase alpha with the length of the list, so that a step in rank has the same weight in all lists"},
		{Name: "samples", Kind: Integer, Default: "100", Min: 1, Max: 1e6, Doc: "rankings drawn for each query"},
		{Name: "sharpness", Kind: Number, Default: "0.5", Min: 0, Max: 1e6, Doc: "factor of the grades when rankings are sampled: larger values give better rankings; 0: drawn from ½, 1, 2, 4 and ∞ for each ranking"},
		{Name: "negatives", Kind: Number, Default: "0", Min: 0, Max: 1e6, Doc: "irrelevant documents kept for each relevant one; 0: all"},
		threshold(" (negatives>0)"),
	}
	return gradientMethod(m, regularization("10", nil), nil, func(p *Problem) (loss.Loss, error) {
		v := p.Values
		energy, err := loss.ParseEnergy(v.Text("energy"))
		l := loss.BoltzRank{
			Measure:   p.Measure,
			Lambda:    v.Number("lambda"),
			Energy:    energy,
			Alpha:     v.Number("alpha"),
			Growing:   v.Bool("growing"),
			Sampler:   loss.PermutationOptions{Rankings: v.Int("samples")},
			Negatives: v.Number("negatives"),
			Threshold: v.Number("threshold"),
		}
		if sharpness := v.Number("sharpness"); sharpness > 0 {
			l.Sampler.Sharpness = []float64{sharpness}
		}
		return l, err
	})
}

// preset replaces the default and the grids of a hyperparameter that many methods share.
func (m *Method) preset(name, value string, grid ...string) {
	h, err := m.hyperparameter(name)
	if err != nil {
		panic(err) // a mistake in the registry
	}
	h.Default, h.Grid, h.NetworkGrid = value, grid, nil
}

func newApproxNDCG() *Method {
	return gradientMethod(Method{
		Name:           "approxndcg",
		Title:          "ApproxNDCG",
		Summary:        "Smooth approximation of NDCG; not convex.",
		Source:         "Qin, Liu, Li: A General Approximation Framework for Direct Optimization of Information Retrieval Measures, Information Retrieval 13, 2010",
		UsesMeasure:    true,
		DefaultMeasure: "ndcg",
		takes:          wholeNDCG,
		Hyperparameters: []Hyperparameter{
			{Name: "alpha", Kind: Number, Default: "10", Min: leastPositive, Max: 1e6, Doc: "steepness of the smooth rank function"},
		},
	}, regularization("1", gridQueries), nil, func(p *Problem) (loss.Loss, error) {
		return loss.ApproxNDCG{Convention: measure.ConventionOf(p.Measure), Alpha: p.Values.Number("alpha")}, nil
	})
}

func newSoftRank() *Method {
	return gradientMethod(Method{
		Name:           "softrank",
		Title:          "SoftRank",
		Summary:        "Expected NDCG under normally distributed scores; not convex.",
		Source:         "Taylor, Guiver, Robertson, Minka: SoftRank: Optimizing Non-Smooth Rank Metrics, WSDM 2008",
		UsesMeasure:    true,
		DefaultMeasure: "ndcg@10",
		takes:          anyNDCG,
		Hyperparameters: []Hyperparameter{
			{Name: "sigma", Kind: Number, Default: "1", Min: leastPositive, Max: 1e6, Doc: "standard deviation of the scores"},
		},
	}, regularization("1", gridQueries), nil, func(p *Problem) (loss.Loss, error) {
		return loss.SoftRank{Convention: measure.ConventionOf(p.Measure), Sigma: p.Values.Number("sigma"), Cutoff: measure.CutoffOf(p.Measure)}, nil
	})
}

func newStochasticRank() *Method {
	return gradientMethod(Method{
		Name:           "stochasticrank",
		Title:          "StochasticRank",
		Summary:        "Expected measure under normal noise, with an unbiased gradient estimate; gradient descent or trees.",
		Source:         "Ustimenko, Prokhorenkova: StochasticRank: Global Optimization of Scale-Free Discrete Functions, ICML 2020",
		UsesMeasure:    true,
		DefaultMeasure: "ndcg@10",
		takes:          anyOne,
		Hyperparameters: []Hyperparameter{
			{Name: "sigma", Kind: Number, Default: "1", Min: leastPositive, Max: 1e6, Doc: "standard deviation of the noise"},
			{Name: "samples", Kind: Integer, Default: "1", Min: 1, Max: 1e6, Doc: "number of noise samples to average"},
			{Name: "mu", Kind: Number, Default: "0", Min: 0, Max: 1e6, Doc: "shift of scores by grade before noise is added, in units of sigma"},
			{Name: "scale_free", Kind: Switch, Default: "true", Doc: "ignore the part of the gradient that only rescales the scores"},
			redrawAnew("the noise", ", as the paper does"),
		},
	}, regularization("1e6", nil), ratesOfFields, func(p *Problem) (loss.Loss, error) {
		v := p.Values
		return loss.StochasticRank{
			Measure: p.Measure, Sigma: v.Number("sigma"), Draws: v.Int("samples"), Mu: v.Number("mu"), ScaleFree: v.Bool("scale_free"),
		}, nil
	})
}

// newYetiRank returns YetiRank. As in the paper, the noise is drawn for every tree, or for every epoch of descent.
func newYetiRank() *Method {
	return gradientMethod(Method{
		Name:    "yetirank",
		Title:   "YetiRank",
		Summary: "Pairwise logistic loss over documents that are adjacent in randomly perturbed rankings; gradient descent or trees.",
		Source:  "Gulin, Kuralenok, Pavlov: Winning the Transfer Learning Track of Yahoo!'s Learning to Rank Challenge with YetiRank, JMLR W&CP 14, 2011",
		Hyperparameters: append([]Hyperparameter{
			{Name: "rank_decay", Kind: Number, Default: "0.99", Min: leastPositive, Max: 1, Doc: "factor of a pair's weight from one rank to the next"},
		}, yetiParameters()...),
	}, regularization("1e6", nil), ratesOfFields, func(p *Problem) (loss.Loss, error) {
		l, err := yetiRank(p)
		l.Decay = p.Values.Number("rank_decay")
		return l, err
	})
}

func newYetiLoss() *Method {
	return gradientMethod(Method{
		Name:           "yetiloss",
		Title:          "YetiLoss",
		Summary:        "YetiRank with pairs weighted by the change of the measure if swapped; gradient descent or trees.",
		Source:         "Lyzhin, Ustimenko, Gulin, Prokhorenkova: Which Tricks Are Important for Learning to Rank?, ICML 2023, Section 3.1",
		UsesMeasure:    true,
		DefaultMeasure: "ndcg@10",
		takes:          anyOne,
		Hyperparameters: append([]Hyperparameter{
			{Name: "neighbours", Kind: Integer, Default: "1", Min: 1, Max: 1e6, Doc: "maximum distance of the ranks of a pair"},
		}, yetiParameters()...),
	}, regularization("1e6", nil), ratesOfFields, func(p *Problem) (loss.Loss, error) {
		l, err := yetiRank(p)
		l.Measure, l.Neighbours = p.Measure, p.Values.Int("neighbours")
		return l, err
	})
}

// yetiParameters returns the hyperparameters that YetiRank and YetiLoss share.
func yetiParameters() []Hyperparameter {
	return []Hyperparameter{
		{Name: "samples", Kind: Integer, Default: "10", Min: 1, Max: 1e6, Doc: "number of noise samples to average"},
		{Name: "noise", Kind: Choice, Default: "logistic", Choices: []string{"logistic", "gumbel"}, Doc: "distribution of the noise added to the scores"},
		redrawAnew("the noise", ", as the papers do"),
	}
}

// yetiRank returns a loss with the hyperparameters that YetiRank and YetiLoss share.
func yetiRank(p *Problem) (loss.YetiRank, error) {
	noise, err := loss.ParseNoise(p.Values.Text("noise"))
	return loss.YetiRank{Draws: p.Values.Int("samples"), Noise: noise}, err
}
