package method

import "github.com/listwise/listwise/learn/optimize"

// descentParameters are the hyperparameters of train.Descent, the choice of the
// optimiser first.
func descentParameters(rates []string) []Hyperparameter {
	return []Hyperparameter{
		{Name: "optimizer", Kind: Choice, Default: "auto", Choices: []string{"auto", "lbfgs", "descent"}, Doc: "lbfgs (to the minimum), descent (query by query, keeping the best epoch), or auto: lbfgs where the scorer is linear and the loss has a gradient"},
		{Name: "rule", Kind: Choice, Default: "adam", Choices: []string{"plain", "momentum", "adam"}, Doc: "how descent makes a step of a gradient"},
		{Name: "rate", Kind: Number, Default: "0.01", Min: leastPositive, Max: 1e6, Grid: rates, Doc: "factor of descent's steps at the start"},
		{Name: "epochs", Kind: Integer, Default: "100", Min: 1, Max: 1e6, Doc: "passes of descent over all queries"},
		{Name: "batch", Kind: Integer, Default: "1", Min: 1, Max: 1e6, Doc: "queries that one step of descent is made of"},
		{Name: "decay", Kind: Number, Default: "0.95", Min: leastPositive, Max: 1, Doc: "factor of the rate after an epoch whose training cost rose"},
		{Name: "keep", Kind: Choice, Default: "best", Choices: []string{"best", "last"}, Doc: "epoch of descent that is kept: the best, by the validation data or, without these, the training cost, or the last; with keep=last and as many epochs a training without validation data ends where one with them was best"},
		{Name: "bag", Kind: Integer, Default: "1", Min: 1, Max: 1000, Doc: "networks trained side by side from different random weights, whose scores are averaged"},
		{Name: "patience", Kind: Integer, Default: "50", Min: 0, Max: 1e6, Doc: "epochs without a lower training cost before descent starts anew from random weights; 0: never"},
	}
}

var rules = map[string]optimize.Rule{"plain": optimize.Plain, "momentum": optimize.Momentum, "adam": optimize.Adam}
