package scorer

import "github.com/listwise/listwise/internal/kernel"

// Averager is a scorer for which the mean score of several models is again a scorer of the same
// kind. Models trained on bootstrap samples (bagging) can then be stored as one.
type Averager interface {
	Scorer

	// Average returns a scorer and its parameters. members are parameter vectors of the receiver:
	// at least one, each of NumParams() elements. A score of the result is the mean of the
	// receiver's scores with these vectors. Average does not change members.
	Average(members [][]float64) (Scorer, []float64)
}

var (
	_ Averager = Network{}
	_ Averager = PairNetwork{}
)

// Average returns a network that has the hidden units of all members, with their weights and
// biases. The output weight of a unit is its weight in its member, divided by the number of members.
// The output is linear in the hidden units, so the score is the mean of the members' scores.
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

// Average returns a pair network with the hidden units of all members, as [Network.Average] does.
// This works because the outputs φ and ϕ are linear in their hidden units.
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
