package scorer

import "github.com/listwise/listwise/internal/kernel"

// Averager is a scorer that can represent the mean of several parameter vectors' scores as one scorer
// of the same kind. Models trained on bootstrap samples (bagging) can then be stored as one model.
type Averager interface {
	Scorer

	// Average returns a scorer and its parameters. Its score is the mean of the receiver's scores with
	// the parameter vectors in members. members has at least one vector, and each has NumParams()
	// elements. Average does not change members.
	Average(members [][]float64) (Scorer, []float64)
}

var (
	_ Averager = FM{}
	_ Averager = Network{}
	_ Averager = PairNetwork{}
)

// Average returns a network with the hidden units of all members. The units keep their weights and
// biases. Their output weights are divided by the number of members. The output is linear in the hidden
// units, so the score is the mean of the members' scores.
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
// This works because the outputs φ (of a document) and ϕ (of a pair) are linear in their hidden
// units.
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
