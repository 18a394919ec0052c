package logrank

import (
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

var _ = []loss.Coster{MLE{}, ExpGain{}, L2{}, L3{}, ConvexLoss{}, ExpLoss{}, LogLoss{}}

// Cost implements [loss.Coster].
func (l MLE) Cost(grades []float64) loss.Cost { return l.cost(grades, onlyPartition) }

// Cost implements [loss.Coster].
func (l ExpGain) Cost(grades []float64) loss.Cost { return l.cost(grades, expectedGain) }

// Cost implements [loss.Coster].
func (l L2) Cost(grades []float64) loss.Cost { return l.cost(grades, expectedGain) }

// Cost implements [loss.Coster].
func (l L3) Cost(grades []float64) loss.Cost { return l.cost(grades, expectedGain) }

// Cost implements [loss.Coster].
func (l ConvexLoss) Cost(grades []float64) loss.Cost { return l.cost(grades, lossPartition) }

// Cost implements [loss.Coster].
func (l ExpLoss) Cost(grades []float64) loss.Cost { return l.cost(grades, lossPartition) }

// Cost implements [loss.Coster].
func (l LogLoss) Cost(grades []float64) loss.Cost { return l.cost(grades, expectedGain) }

var _ = []loss.Holder{MLE{}, ExpGain{}, L2{}, L3{}, ConvexLoss{}, ExpLoss{}, LogLoss{}, Combined{}}

// Held implements [loss.Holder].
func (l MLE) Held(grades []float64) float64 { return l.held(grades, onlyPartition) }

// Held implements [loss.Holder].
func (l ExpGain) Held(grades []float64) float64 { return l.held(grades, expectedGain) }

// Held implements [loss.Holder].
func (l L2) Held(grades []float64) float64 { return l.held(grades, expectedGain) }

// Held implements [loss.Holder].
func (l L3) Held(grades []float64) float64 { return l.held(grades, expectedGain) }

// Held implements [loss.Holder].
func (l ConvexLoss) Held(grades []float64) float64 { return l.held(grades, lossPartition) }

// Held implements [loss.Holder].
func (l ExpLoss) Held(grades []float64) float64 { return l.held(grades, lossPartition) }

// Held implements [loss.Holder].
func (l LogLoss) Held(grades []float64) float64 { return l.held(grades, expectedGain) }

// Held implements [loss.Holder].
func (l Combined) Held(grades []float64) (bytes float64) {
	for _, t := range l.Terms {
		of := l.Options
		of.Gain = t.Gain
		bytes += of.held(grades, expectedGain)
	}
	return bytes
}

// held returns the memory in bytes that a query's law occupies during training: a sample of
// rankings, or the terms of the gain.
func (c Options) held(grades []float64, need quantities) float64 {
	split := bipartite.Split(grades, c.threshold())
	bytes := float64(12 * float64(len(grades)))
	switch {
	case split.Pairs() == 0:
		return 0
	case c.Form == Sampled:
		return bytes + c.Sampler.Bytes()
	case need == onlyPartition:
		return bytes
	}
	_, terms := bipartite.GainCost(c.Gain, len(split.Good), len(split.Bad))
	return float64(3*bytes) + 1024 + float64(2*terms)
}

// cost estimates the cost of a query with the given grades, for an objective that needs the given
// quantities.
func (c Options) cost(grades []float64, need quantities) loss.Cost {
	split := bipartite.Split(grades, c.threshold())
	good, bad := len(split.Good), len(split.Bad)
	pairs := float64(float64(good) * float64(bad))
	if pairs == 0 || c.Form == Sampled {
		return loss.Cost{}
	}
	table := loss.Cost{}
	if need != onlyPartition {
		table.Operations, table.Bytes = bipartite.GainCost(c.Gain, good, bad)
	}
	switch {
	case c.Form == Shell:
		return table
	case c.Form == Lattice && need == expectedGain:
		return loss.Cost{Operations: 800 * pairs, Bytes: float64(60*pairs) + table.Bytes}
	case c.Form == Lattice:
		return loss.Cost{Operations: 300 * pairs, Bytes: float64(25*pairs) + table.Bytes}
	case need == onlyPartition:
		return loss.Cost{Operations: 2 * pairs}
	}
	if measure.Family(c.Gain) == "auc" {
		return loss.Cost{Operations: max(table.Operations, 2*pairs), Bytes: table.Bytes}
	}
	terms := float64(measure.CountingRanks(c.Gain, bad)) // T of newFactoredLaw
	return loss.Cost{Operations: max(table.Operations, 30*pairs*terms), Bytes: float64(50*pairs) + table.Bytes}
}
