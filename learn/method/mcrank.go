package method

import (
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

// newMcRank learns the grades' probabilities with linear functions, or with trees as the paper
// does.
func newMcRank() *Method {
	return &Method{
		Name:    "mcrank",
		Title:   "McRank",
		Summary: "Classification by grade, ranking by the expected grade; linear classifiers (exact minimum) or trees.",
		Source:  "Li, Burges, Wu: McRank: Learning to Rank Using Multiple Classification and Gradient Boosting, NIPS 2007, sections 3.1 and 3.3",
		onTrees: newMcRankOnTrees(),
		Hyperparameters: []Hyperparameter{
			regularization("0.1", gridMcRank),
			{Name: "classes", Kind: Choice, Default: "nominal", Choices: []string{"nominal", "ordinal"}, Doc: "classes are grades (nominal), or grades of at least a value (ordinal)"},
			mappingParameter(),
			{Name: "tolerance", Kind: Number, Default: "1e-6", Min: 1e-15, Max: 1, Doc: "stop L-BFGS when the objective is certified to be this close to the minimum, relatively"},
			{Name: "iterations", Kind: Integer, Default: "2000", Min: 1, Max: 1e9, Doc: "limit of L-BFGS iterations"},
		},
		scorers: []string{"classes", treeScorer},
		plan: func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
			mapping, err := loss.ParseMapping(p.Values.Text("mapping"))
			if err != nil {
				return nil, nil, &train.ProblemError{Err: err}
			}
			return nil, train.Classification{
				Ordinal: p.Values.Text("classes") == "ordinal", Mapping: mapping, C: p.Values.Number("C"),
				Iterations: p.Values.Int("iterations"), Tolerance: p.Values.Number("tolerance"),
			}, nil
		},
	}
}

// newMcRankOnTrees grows a sum of trees for each grade but the lowest, that of reaching it: the
// ordinal classification, which the paper finds to be as good as the nominal one or better.
func newMcRankOnTrees() *Method {
	return &Method{
		Name:            "mcrank",
		Title:           "McRank",
		Summary:         "Classification by grade (nominal or ordinal) with boosted trees, ranking by the expected grade.",
		Source:          "Li, Burges, Wu: McRank: Learning to Rank Using Multiple Classification and Gradient Boosting, NIPS 2007, section 3.3",
		Hyperparameters: append(treeParameters(), mappingParameter()),
		scorers:         []string{treeScorer},
		plan: func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
			mapping, err := loss.ParseMapping(p.Values.Text("mapping"))
			if err != nil {
				return nil, nil, &train.ProblemError{Err: err}
			}
			learner, err := trees(p)
			return nil, train.TreeClassification{Trees: learner, Mapping: mapping}, err
		},
	}
}

// gridMcRank: each document counts by itself, as in a regression.
var gridMcRank = []string{"1e-4", "1e-3", "1e-2", "1e-1", "1", "10", "100"}
