package method

import "github.com/listwise/listwise/learn/loss"

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

// gridDocuments is the grid of C for ListMLE, in which a query counts by its
// documents, each a choice among those that are left.
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

// newRankCosine makes a method whose loss does not change with the length of the
// scores, so that the penalty bounds nothing but that: C is large.
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
