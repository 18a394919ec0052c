package method

import (
	"fmt"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// Sentences about methods that users of other tools look for.
const (
	noTrees    = "this version has no trees; %s"
	likeLambda = "the nearest is lambdarank with a network (--scorer net), which follows the same gradient"
	likeBoost  = "the nearest are lambdarank with a network (--scorer net) and rankboost, which boosts thresholds on single features"
)

// foreign says of other tools' names what is nearest here. The keys are in lower case,
// with - for _ and without a space.
var foreign = map[string]string{
	"lambdamart":        fmt.Sprintf(noTrees, likeLambda),
	"rank:ndcg":         fmt.Sprintf(noTrees, likeLambda),
	"rank:map":          fmt.Sprintf(noTrees, likeLambda+", and takes --measure map"),
	"rank:pairwise":     fmt.Sprintf(noTrees, "the nearest is ranknet with a network (--scorer net), which has the same loss"),
	"pairlogit":         fmt.Sprintf(noTrees, "the nearest is ranknet with a network (--scorer net), which has the same loss"),
	"pairlogitpairwise": fmt.Sprintf(noTrees, "the nearest is ranknet with a network (--scorer net), which has the same loss"),
	"rank-xendcg":       fmt.Sprintf(noTrees, "the nearest is xendcg with a network (--scorer net), which has the same loss"),
	"queryrmse":         fmt.Sprintf(noTrees, "the nearest is regression"),
	"queryrmserank":     fmt.Sprintf(noTrees, "the nearest is regression"),
	"yetirank":          fmt.Sprintf(noTrees, likeLambda),
	"yetirankpairwise":  fmt.Sprintf(noTrees, likeLambda),
	"stochasticrank":    fmt.Sprintf(noTrees, "the nearest are softrank and approxndcg with a network (--scorer net)"),
	"mart":              fmt.Sprintf(noTrees, likeBoost),
	"gbdt":              fmt.Sprintf(noTrees, likeBoost),
	"gbrt":              fmt.Sprintf(noTrees, likeBoost),
	"gbm":               fmt.Sprintf(noTrees, likeBoost),
	"xgboost":           fmt.Sprintf(noTrees, likeBoost),
	"lightgbm":          fmt.Sprintf(noTrees, likeBoost),
	"catboost":          fmt.Sprintf(noTrees, likeBoost),
	"forest":            fmt.Sprintf(noTrees, likeBoost),
	"randomforest":      fmt.Sprintf(noTrees, likeBoost),
	"random-forest":     fmt.Sprintf(noTrees, likeBoost),
	"tree":              fmt.Sprintf(noTrees, likeBoost),
	"trees":             fmt.Sprintf(noTrees, likeBoost),

	"svmrank":           "the same is ranksvm here",
	"svm-rank":          "the same is ranksvm here",
	"ranking-svm":       "the same is ranksvm here",
	"svm-map":           "the same is svmmap here",
	"svmndcg":           "the same is svmmap here, with --measure ndcg@10",
	"approx-ndcg":       "the same is approxndcg here",
	"lambda-mart":       fmt.Sprintf(noTrees, likeLambda),
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
