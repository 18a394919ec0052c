package method

import (
	"fmt"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/learn/train"
)

// Answers for names of methods in other tools.
const (
	boostedTrees  = "boosted trees are lambdamart and, by least squares, mart here"
	randomForests = "random forests are lambdamart or mart with --set boosting=forest here"
	lossOf        = "%s has the same loss (--scorer trees, linear or net)"
)

// foreign maps names of methods in other tools to the nearest method here. The keys are in lower case, with - for _
// and without spaces.
var foreign = map[string]string{
	"rank:ndcg":         "the same is lambdamart here",
	"rank:map":          "the same is lambdamart here, with --measure map",
	"rank:pairwise":     fmt.Sprintf(lossOf, "ranknet"),
	"pairlogit":         fmt.Sprintf(lossOf, "ranknet"),
	"pairlogitpairwise": fmt.Sprintf(lossOf, "ranknet"),
	"rank-xendcg":       fmt.Sprintf(lossOf, "xendcg"),
	"queryrmse":         "the nearest are mart and regression, which do not subtract each query's mean",
	"queryrmserank":     "the nearest are mart and regression, which do not subtract each query's mean",
	"yetirankpairwise":  "the nearest is yetirank (--scorer trees)",
	"gbdt":              boostedTrees,
	"gbrt":              boostedTrees,
	"gbm":               boostedTrees,
	"xgboost":           boostedTrees,
	"lightgbm":          boostedTrees,
	"catboost":          boostedTrees,
	"forest":            randomForests,
	"randomforest":      randomForests,
	"random-forest":     randomForests,
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
	"bm25":              "it learns nothing; singlefeature ranks by one feature of the data",
	"rrf":               `it fuses rankings and learns none: see "listwise fuse"`,
	"borda":             `it fuses rankings and learns none: see "listwise fuse"`,
	"combsum":           `it fuses rankings and learns none: see "listwise fuse"`,
}

// foreignSettings maps names of hyperparameters in LightGBM, XGBoost and CatBoost, in lower case, to the names here.
var foreignSettings = map[string]string{
	"num_leaves": "leaves", "max_leaves": "leaves", "num_leaf": "leaves",
	"num_iterations": "trees", "num_trees": "trees", "n_estimators": "trees", "num_rounds": "trees", "num_boost_round": "trees", "num_round": "trees", "iterations": "trees", "nrounds": "trees",
	"learning_rate": "rate", "eta": "rate", "shrinkage": "rate", "shrinkage_rate": "rate",
	"max_depth": "depth", "max_bin": "bins", "max_bins": "bins", "border_count": "bins",
	"min_data_in_leaf": "leaf_documents", "min_child_samples": "leaf_documents",
	"min_sum_hessian_in_leaf": "leaf_curvature", "min_child_weight": "leaf_curvature", "min_sum_hessian": "leaf_curvature",
	"lambda_l1": "l1", "reg_alpha": "l1", "alpha": "l1", "lambda_l2": "l2", "reg_lambda": "l2", "lambda": "l2", "l2_leaf_reg": "l2",
	"min_gain_to_split": "least_gain", "gamma": "least_gain", "min_split_gain": "least_gain", "min_split_loss": "least_gain",
	"bagging_fraction": "query_fraction", "subsample": "document_fraction", "colsample_bytree": "feature_fraction", "rsm": "feature_fraction", "sub_feature": "feature_fraction",
	"top_rate": "goss_top", "other_rate": "goss_rest", "drop_rate": "dropout", "rate_drop": "dropout", "max_drop": "dropout_most", "skip_drop": "dropout_skip",
	"grow_policy": "growth", "monotone_constraints": "monotone", "interaction_constraints": "interactions",
	"categorical_feature": "categorical", "cat_features": "categorical", "cat_smooth": "category_smoothing",
	"early_stopping_round": "patience", "early_stopping_rounds": "patience", "early_stopping": "patience", "od_wait": "patience",
	"lambdarank_truncation_level": "top", "lambdarank_num_pair_per_sample": "top", "lambdarank_norm": "normalize", "lambdarank_normalization": "normalize",
	"extra_trees": "thresholds",
}

// unknownMethod returns a *ProblemError for a name that no method has. It suggests a similar or corresponding method.
func unknownMethod(name string) error {
	plain := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
	if sentence, ok := foreign[plain]; ok {
		return train.BadProblem("method %q: %s", name, sentence)
	}
	names := make([]string, len(registry))
	for i, m := range registry {
		if names[i] = m.Name; strings.ReplaceAll(plain, "-", "") == m.Name {
			return train.BadProblem("method %q: did you mean %q?", name, m.Name)
		}
	}
	return train.BadProblem("method %q%s", name, suggest.Or(name, names, ": expected one of "+strings.Join(names, ", ")))
}
