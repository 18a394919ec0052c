package loss

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/suggest"
)

// ListMLE is the negative log likelihood of the ideal permutation y under the Plackett–Luce model. The
// model picks documents one after the other. A pick has a probability proportional to exp(s) among the
// remaining documents:
//
//	L(s) = −log P(y|s) = Σ_i [log Σ_{k≥i} exp(s_y(k)) − s_y(i)]
//	λ_y(k) = 1 − Σ_{i≤k} exp(s_y(k)) / Σ_{m≥i} exp(s_y(m))
//
// (Xia, Liu, Wang, Zhang and Li, Listwise Approach to Learning to Rank: Theory and Algorithm, ICML
// 2008). An evaluation takes O(n). The loss is convex and smooth, and does not change if a constant is
// added to all scores.
//
// Grades do not order documents of equal grade; Ties does. Bind returns [Nothing] if all documents have
// the same grade.
type ListMLE struct {
	// Ties orders documents of equal grade. The zero value is MLETiesRandom.
	Ties MLETies

	// Draws is the number of permutations over which MLETiesAverage averages; 0 means 10.
	Draws int
}

// MLETies determines the order of documents with equal grades in the ideal permutation.
type MLETies int

const (
	// MLETiesRandom uses one random permutation of each query, which Bind draws.
	MLETiesRandom MLETies = iota
	// MLETiesAverage takes the mean loss over several permutations drawn in Bind.
	MLETiesAverage
	// MLETiesInput keeps equally graded documents in the order of the input.
	MLETiesInput
	// MLETiesGroup is the likelihood of groups. A group G contains all documents of one grade, and R
	// contains the documents of lower grades. The documents of G are picked before R in any order with
	// probability
	//
	//	P(G before R) = Σ_orders of G Π_i exp(s_i)/Σ_{k not picked before i} exp(s_k).
	//
	// This sum has no closed form with fewer than 2^|G| terms. The approximation of Breslow (Biometrics
	// 30, 1974) for tied events in Cox's model keeps the denominator of the first pick:
	//
	//	L(s) = Σ_G Σ_{i∈G} [log Σ_{k∈G∪R} exp(s_k) − s_i].
	//
	// The lowest grade is omitted, since its documents come last with certainty. MLETiesGroup needs no
	// random numbers and gives the largest loss. L is at least the loss of any permutation that agrees
	// with the grades, up to the terms of the lowest grade. L is also at least −log P + Σ_G log |G|!.
	MLETiesGroup
)

var mleTiesNames = [...]string{"random", "average", "input", "group"}

// ParseMLETies returns the rule with the given name: random, average, input or group.
func ParseMLETies(name string) (MLETies, error) {
	i := slices.Index(mleTiesNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("ties %q, expected %s", name, suggest.OneOf(mleTiesNames[:]))
	}
	return MLETies(i), nil
}

// String returns the name that ParseMLETies reads.
func (t MLETies) String() string { return mleTiesNames[t] }

var _ Loss = ListMLE{}

const defaultMLEDraws = 10

// Validate returns an error for options that fit no query.
func (l ListMLE) Validate() error {
	switch {
	case l.Ties < 0 || int(l.Ties) >= len(mleTiesNames):
		return fmt.Errorf("ties %d, expected %s", int(l.Ties), suggest.OneOf(mleTiesNames[:]))
	case l.Draws < 0:
		return fmt.Errorf("draws %d, expected a positive number", l.Draws)
	}
	return nil
}

// Bind implements [Loss].
func (l ListMLE) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if constant(grades) {
		return Nothing, nil
	}
	draws := 1
	switch l.Ties {
	case MLETiesGroup:
		return boundMLEPicks{groupPicks(grades)}, nil
	case MLETiesAverage:
		if draws = l.Draws; draws == 0 {
			draws = defaultMLEDraws
		}
	}
	all := make([]picks, draws)
	for i := range all {
		order := make([]int32, len(grades))
		for j := range order {
			order[j] = int32(j)
		}
		if l.Ties != MLETiesInput {
			rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		}
		sortByGrade(order, grades)
		all[i] = picks{order: order, counted: len(order) - 1}
	}
	if draws > 1 {
		return boundMLEAverage(all), nil
	}
	return boundMLEPicks{all[0]}, nil
}

// sortByGrade sorts documents by descending grade. The sort is stable.
func sortByGrade(order []int32, grades []float64) {
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(grades[b], grades[a]) })
}

// groupPicks returns the picks of MLETiesGroup.
func groupPicks(grades []float64) picks {
	p := picks{order: make([]int32, len(grades)), repeat: make([]float64, len(grades))}
	for i := range p.order {
		p.order[i] = int32(i)
	}
	sortByGrade(p.order, grades)
	lowest := grades[p.order[len(grades)-1]]
	first := 0
	for i, d := range p.order {
		switch l := grades[d]; {
		case l == lowest:
			return p
		case l != grades[p.order[first]]:
			first = i
		}
		p.repeat[first]++
		p.counted++
	}
	return p
}

// Traits implements [Loss].
func (ListMLE) Traits() Traits { return Traits{Convex: true, ShiftInvariant: true, Smooth: true} }

// boundMLEPicks is ListMLE with one permutation, or one order of groups.
type boundMLEPicks struct{ picks picks }

func (b boundMLEPicks) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	return b.picks.eval(scores, lambda, nil, scratch)
}

// EvalSecond implements [Diagonal].
func (b boundMLEPicks) EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64 {
	scratch.Reset()
	return b.picks.eval(scores, lambda, second, scratch)
}

// boundMLEAverage is the mean of ListMLE over several permutations.
type boundMLEAverage []picks

func (b boundMLEAverage) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	return b.EvalSecond(scores, lambda, nil, scratch)
}

// EvalSecond implements [Diagonal].
func (b boundMLEAverage) EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64 {
	scratch.Reset()
	total, curvature := scratch.Floats(len(lambda)), scratch.Floats(len(second))
	clear(total)
	clear(curvature)
	used := scratch.used
	share := 1 / float64(len(b))
	var value float64
	for _, p := range b {
		scratch.used = used // all permutations use the same memory
		value += float64(share * p.eval(scores, lambda, second, scratch))
		for i, v := range lambda {
			total[i] += float64(share * v)
		}
		for i, v := range second {
			curvature[i] += float64(share * v)
		}
	}
	copy(lambda, total)
	copy(second, curvature)
	return value
}
