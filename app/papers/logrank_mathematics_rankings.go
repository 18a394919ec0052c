package papers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
)

// This file tests the statements about all orders of a query: inference, the hinge loss and the
// laws of section 3.

// labelled is an order of a query's documents, with its values at some scores.
type labelled struct {
	y     []int
	lead  float64 // w·δφ(y)
	delta float64
}

// rankingsAt returns all orders of a query. The first good documents are relevant.
func (m mathematics) rankingsAt(measure string, s []float64, good int) []labelled {
	value := func(order []int) float64 { return inner(m.phi(order, good), s) }
	ideal := value(identity(len(s)))
	var all []labelled
	eachPermutation(len(s), func(order []int) {
		all = append(all, labelled{labels(order, good), ideal - value(order), m.delta(measure, order, good)})
	})
	return all
}

// inferred returns the ranking with the largest w·φ.
func inferred(all []labelled) *labelled {
	best := &all[0]
	for i := range all {
		if all[i].lead < best.lead {
			best = &all[i]
		}
	}
	return best
}

// hinge returns the value of (1) for a query.
func hinge(all []labelled) float64 {
	most := 0.0
	for i := range all {
		most = max(most, all[i].delta-all[i].lead)
	}
	return most
}

// rankings tests section 1's statements on inference and (1), and section 3's statements on the
// laws, over all orders.
func (m mathematics) rankings(r *Report, rng *rand.Rand) error {
	sorted, flat, jumps, swaps, below, bent, cases := 0, 0, 0, 0, 0, 0, 0
	same, likelihood, mostIdeal := 0.0, 0.0, 0.0
	least, worst := map[string]float64{}, map[string]float64{} // smallest and largest value of the largest Δ of a query
	for _, name := range mathematicsMeasures {
		least[name] = 1
	}
	for draw := range m.draws {
		s, good := drawSmall(rng)
		name := mathematicsMeasures[draw%len(mathematicsMeasures)]
		all := m.rankingsAt(name, s, good)
		best := inferred(all)
		cases++
		if slices.Equal(best.y, labels(byScore(s), good)) {
			sorted++
		}
		if hinge(all) < best.delta-exact {
			below++
		}
		near, swapped, far, middle := slices.Clone(s), slices.Clone(s), make([]float64, len(s)), make([]float64, len(s))
		for i := range s {
			near[i] *= 1 + slopeStep
			far[i] = random.Normal(rng)
			middle[i] = float64((s[i] + far[i]) / 2)
		}
		if inferred(m.rankingsAt(name, near, good)).delta == best.delta {
			flat++
		}
		order := byScore(s)
		if first, last := order[0], order[len(order)-1]; (first < good) != (last < good) {
			swapped[first], swapped[last] = s[last], s[first]
			swaps++
			if inferred(m.rankingsAt(name, swapped, good)).delta != best.delta {
				jumps++
			}
		}
		if ends := float64((hinge(all) + hinge(m.rankingsAt(name, far, good))) / 2); hinge(m.rankingsAt(name, middle, good)) > ends+exact {
			bent++
		}
		by3, by9, by14, high := 0.0, 0.0, 0.0, 0.0 // sums of (3), (9) and (14)
		ideal := inner(m.phi(identity(len(s)), good), s)
		for i := range all {
			by3 += elementary.Exp(ideal - all[i].lead)
			by9 += elementary.Exp(-all[i].lead)
			by14 += elementary.Exp(all[i].delta - all[i].lead)
		}
		for i := range all {
			same = max(same, apart(elementary.Exp(ideal-all[i].lead)/by3, elementary.Exp(-all[i].lead)/by9))
			high = max(high, all[i].delta)
		}
		least[name], worst[name] = min(least[name], high), max(worst[name], high)
		mostIdeal = max(mostIdeal, m.delta(name, identity(len(s)), good))
		top := &all[0] // the identity: relevant documents first
		likelihood = max(likelihood, apart(-elementary.Log(elementary.Exp(top.delta-top.lead)/by14), elementary.Log(by14)))
	}
	r.stated(holdsIf(sorted == cases), "argmax_y w·φ_po(x, y) sorts the documents by score (section 1.2)", "%d of %d queries, over all orders", sorted, cases)
	r.stated(holdsIf(flat == cases && 2*jumps > swaps), "the objective Σ Δ(y_q, argmax) is discontinuous, its gradient zero or undefined (section 1.3)",
		"Δ stays in %d of %d small moves of w, and jumps in %d of %d where the first and the last document, differently graded, change places", flat, cases, jumps, swaps).Rule = "no change by small moves, and one at more than half of the exchanges"
	r.stated(holdsIf(below == 0 && bent == 0), "(1) is a convex upper bound of that objective (section 1.3)", "below it in %d of %d queries, bent down in %d", below, cases, bent).Rule = equalUpTo(exact)
	printed, found := 0.0, 0 // Σ (1+i)/(1+r_i) over the relevant documents
	for rank, relevant := range []bool{true, true, true, false, false} {
		if relevant {
			found++
			printed += float64(found) / float64(1+rank)
		}
	}
	r.stated(holdsIf(printed == 1), "the ideal ranking has AP = 1 by the sum as printed (section 1.6.2)", "three relevant documents: %v, which is n⁺; divided by n⁺ it is 1", printed)
	largest, figures := make([]FindVerdict, 0, len(mathematicsMeasures)), []string{fmt.Sprintf("best %.3f", math.Abs(mostIdeal))}
	for _, name := range mathematicsMeasures {
		largest = append(largest, holdsIf(least[name] > 1-exact))
		figures = append(figures, fmt.Sprintf("worst in %s %.3f to %.3f", title(name), least[name], worst[name]))
	}
	r.stated(ofAll(append(largest, holdsIf(math.Abs(mostIdeal) < exact))...), "the best ranking has Δ = 0 and the worst Δ = 1 (section 4.1)", "%s, by n⁺ and n⁻", strings.Join(figures, "; "))
	r.stated(holdsIf(same <= exact), "the law (9) is the same as (3) (section 3)", "all orders of %d queries: they differ by %.1g at most", cases, same).Rule = equalUpTo(exact)
	r.stated(holdsIf(likelihood <= exact), "the maximum likelihood under (13) is the minimum of (14) (section 3)", "−log Pr(y_q) and L of %d queries differ by %.1g at most, as Δ(y_q) = 0", cases, likelihood).Rule = equalUpTo(exact)
	return nil
}
