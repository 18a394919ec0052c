package method

import "github.com/listwise/listwise/learn/optimize"

// descentParameters are the hyperparameters of train.Descent, the choice of the
// optimiser first.
func descentParameters(rates []string) []Hyperparameter {
	return []Hyperparameter{
		{Name: "optimizer", Kind: Choice, Default: "auto", Choices: []string{"auto", "lbfgs", "descent"}, Doc: "lbfgs (to the minimum), descent (stochastic gradient descent, keeps the best epoch), or auto: lbfgs for linear scorers if the loss has a gradient"},
		{Name: "rule", Kind: Choice, Default: "adam", Choices: []string{"plain", "momentum", "adam"}, Doc: "update rule of gradient descent"},
		{Name: "rate", Kind: Number, Default: "0.01", Min: leastPositive, Max: 1e6, Grid: rates, Doc: "initial learning rate (descent)"},
		{Name: "epochs", Kind: Integer, Default: "100", Min: 1, Max: 1e6, Doc: "number of passes over all queries (descent)"},
		{Name: "batch", Kind: Integer, Default: "1", Min: 1, Max: 1e6, Doc: "batch size in queries"},
		{Name: "decay", Kind: Number, Default: "0.95", Min: leastPositive, Max: 1, Doc: "factor of the learning rate after an epoch that increased the training cost"},
		{Name: "keep", Kind: Choice, Default: "best", Choices: []string{"best", "last"}, Doc: "epoch to keep: the best on validation data (or by training cost without them), or the last"},
		{Name: "bag", Kind: Integer, Default: "1", Min: 1, Max: 1000, Doc: "number of networks with different random initial weights, whose scores are averaged"},
		{Name: "patience", Kind: Integer, Default: "50", Min: 0, Max: 1e6, Doc: "epochs without lower training cost before descent restarts from random weights; 0: never"},
	}
}

var rules = map[string]optimize.Rule{"plain": optimize.Plain, "momentum": optimize.Momentum, "adam": optimize.Adam}
