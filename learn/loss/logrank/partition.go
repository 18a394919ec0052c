package logrank

import "github.com/listwise/listwise/learn/loss"

// boundPartition is the loss A(β) of a query's law: MLE if β = 0, ConvexLoss if β > 0.
type boundPartition struct {
	law  law
	beta float64
}

// bindPartition returns A(β) as a loss, with second derivatives if the law has them.
func bindPartition(l law, beta float64) loss.QueryLoss {
	b := boundPartition{l, beta}
	if c, ok := l.(curved); ok {
		return boundCurved{b, c}
	}
	return b
}

func (b boundPartition) Eval(scores, lambda []float64, scratch *loss.Scratch) float64 {
	scratch.Reset()
	value := b.law.logPartition(b.beta, scores, lambda, scratch)
	for i, v := range lambda {
		lambda[i] = -v
	}
	return value
}

// boundCurved is a boundPartition with second derivatives.
type boundCurved struct {
	boundPartition
	curved curved
}

var _ loss.Diagonal = boundCurved{}

// EvalSecond implements [loss.Diagonal].
func (b boundCurved) EvalSecond(scores, lambda, second []float64, scratch *loss.Scratch) float64 {
	scratch.Reset()
	value := b.curved.logPartitionSecond(b.beta, scores, lambda, second, scratch)
	for i, v := range lambda {
		lambda[i] = -v
	}
	return value
}
