package method

import (
	"fmt"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// Sentences about methods that users of other tools look for.
const (
	boostedTrees = "boosted trees are lambdamart and, by least squares, mart here"
	lossOf       = "%s has the same loss (--scorer trees, linear or net)"
)

// foreign says of other tools' names what is nearest here. The keys are in lower case,
// with - for _ and without a space.
var foreign = map[string]string{
	"rank:ndcg":         "the same is lambdamart here",
	"rank:map":          "the same is lambdamart here, with --measure map",
	"rank:pairwise":     fmt.Sprintf(lossOf, "ranknet"),
	"pairlogit":         fmt.Sprintf(lossOf, "ranknet"),
	"pairlogitpairwise": fmt.Sprintf(lossOf, "ranknet"),
	"rank-xendcg":       fmt.Sprintf(lossOf, "xendcg"),
	"queryrmse":         "the nearest are mart and regression, which do not set each query's mean aside",
	"queryrmserank":     "the nearest are mart and regression, which do not set each query's mean aside",
	"yetirankpairwise":  "the nearest is yetirank (--scorer trees)",
	"gbdt":              boostedTrees,
	"gbrt":              boostedTrees,
	"gbm":               boostedTrees,
	"xgboost":           boostedTrees,
	"lightgbm":          boostedTrees,
	"catboost":          boostedTrees,
	"forest":            "there are no random forests; " + boostedTrees,
	"randomforest":      "there are no random forests; " + boostedTrees,
	"random-forest":     "there are no random forests; " + boostedTrees,
	"tree":              boostedTrees,
	"trees":             boostedTrees,

	"svmrank":           "the same is ranksvm here",
	"svm-rank":          "the same is ranksvm here",
	"ranking-svm":       "the same is ranksvm here",
	"svm-map":           "the same is svmmap here",
	"svmndcg":           "the same is svmmap here, with --measure ndcg@10",
	"approx-ndcg":       "the same is approxndcg here",
	"lambda-mart":       "the same is lambdamart here",
	"coordinateascent":  "the same is coordascent here",
	"coordinate-ascent": "the same is coordascent here",
	"linear":            "linear is a scorer (--scorer linear), which most methods train unless told otherwise; regression is least squares on the grades",
	"ridge":             "the same is regression here",
	"ols":               "the nearest is regression",
	"pointwise":         "the nearest is regression",
	"pairwise":          "the nearest are ranknet, mle and ranksvm",
	"listwise":          "the nearest are listnet, listmle and xendcg",
	"logistic":          "the nearest is mle, the logistic loss over pairs",
	"net":               "a network is a scorer (--scorer net), which most methods can train, such as ranknet and lambdarank",
	"mlp":               "a network is a scorer (--scorer net), which most methods can train, such as ranknet and lambdarank",
	"neural":            "a network is a scorer (--scorer net), which most methods can train, such as ranknet and lambdarank",
	"dnn":               "a network is a scorer (--scorer net), which most methods can train, such as ranknet and lambdarank",
	"bm25":              "nothing is learned by it; singlefeature ranks by one feature of the data",
	"rrf":               `it fuses rankings and learns none: see "listwise fuse"`,
	"borda":             `it fuses rankings and learns none: see "listwise fuse"`,
	"combsum":           `it fuses rankings and learns none: see "listwise fuse"`,
}

// unknownMethod is the error about a name that no method has.
func unknownMethod(name string) error {
	plain := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
	if sentence, ok := foreign[plain]; ok {
		return fmt.Errorf("method %q: %s", name, sentence)
	}
	names := make([]string, len(registry))
	for i, m := range registry {
		if names[i] = m.Name; strings.ReplaceAll(plain, "-", "") == m.Name {
			return fmt.Errorf("method %q: did you mean %q?", name, m.Name)
		}
	}
	return fmt.Errorf("method %q%s", name, suggest.Or(name, names, ": expected one of "+strings.Join(names, ", ")))
}
