package scorer

import "github.com/listwise/listwise/internal/kernel"

// Averager is implemented by scorers whose mean over several parameter vectors is
// a scorer of the same kind, so that a bag of models can be stored as one.
type Averager interface {
	Scorer

	// Average returns a scorer and its parameters. Its scores are the means of the receiver's
	// scores with each of the members. members has at least one parameter vector, each of
	// NumParams() elements. They are not changed.
	Average(members [][]float64) (Scorer, []float64)
}

var (
	_ Averager = Network{}
	_ Averager = PairNetwork{}
)

// Average returns a network with the hidden units of all members. Their output weights are the
// members', divided by the number of members.
func (n Network) Average(members [][]float64) (Scorer, []float64) {
	all := n
	all.Hidden *= len(members)
	params := make([]float64, all.NumParams())
	to := all.layers(params)
	for k, member := range members {
		mustMatch("parameters", len(member), n.NumParams())
		from := n.layers(member)
		copy(to.weights[k*len(from.weights):], from.weights)
		copy(to.bias[k*n.Hidden:], from.bias)
		copy(to.out[k*n.Hidden:], from.out)
	}
	kernel.Scale(1/float64(len(members)), to.out)
	return all, params
}

// Average returns a pair network with the hidden units of all members, as
// [Network.Average] does: both φ and ϕ are linear in what theirs say.
func (n PairNetwork) Average(members [][]float64) (Scorer, []float64) {
	all := n
	all.Hidden, all.PairHidden = n.Hidden*len(members), n.PairHidden*len(members)
	params := make([]float64, all.NumParams())
	singles := make([][]float64, len(members))
	to := all.pairLayers(params)
	for k, member := range members {
		mustMatch("parameters", len(member), n.NumParams())
		singles[k] = member[:n.single().NumParams()]
		from := n.pairLayers(member)
		copy(to.a[k*len(from.a):], from.a)
		copy(to.b[k*len(from.b):], from.b)
		copy(to.bias[k*n.PairHidden:], from.bias)
		copy(to.out[k*n.PairHidden:], from.out)
	}
	kernel.Scale(1/float64(len(members)), to.out)
	_, single := n.single().Average(singles)
	copy(params, single)
	return all, params
}
