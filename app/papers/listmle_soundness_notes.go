package papers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// notes hold the slides' statements against what was seen.
func (s soundness) notes(r *Report, findings []soundFinding) {
	worst := func(family string, value func(*soundFinding) float64) float64 {
		most := 0.0
		for i := range findings {
			if findings[i].family == family {
				most = max(most, value(&findings[i]))
			}
		}
		return most
	}
	widened := func(f *soundFinding) float64 { return f.widened }
	inverted := func(f *soundFinding) float64 { return f.inverted }
	every := func(holds func(*soundFinding) bool) bool {
		for i := range findings {
			if !holds(&findings[i]) {
				return false
			}
		}
		return true
	}
	r.stated(soundest(findings), "The likelihood loss is sounder than cross entropy and cosine", "gaps of right rankings that raise the loss when widened, the largest share over the lengths of lists: likelihood %s, other losses %s; pairs of a right and a wrong ranking that are inverted, likewise: likelihood %s, other losses %s; below log 2 = %.4f a ranking is right, but from three documents on right ones cost up to log n!",
		percent(worst(listMLEFamily, widened)), rangeOfOthers(findings, widened), percent(worst(listMLEFamily, inverted)), rangeOfOthers(findings, inverted), math.Ln2)
	r.stated(holdsIf(worst(listNetFamily, widened) > 0 && worst(listNetFamily, inverted) > worst(listMLEFamily, inverted)),
		"The cross entropy loss is not very sound", "where the gap is wider than ψ's it rises again: up to %s of the gaps, by mapping; up to %s of the pairs are inverted", percent(worst(listNetFamily, widened)), percent(worst(listNetFamily, inverted)))
	r.stated(holdsIf(worst(rankCosineFamily, inverted) > worst(listMLEFamily, inverted)),
		"The cosine loss is not very sound", "it knows the direction of the scores only, and their mean weighs in it: up to %s of the pairs are inverted, right rankings cost up to %.2f of 1 and wrong ones as little as %.4f",
		percent(worst(rankCosineFamily, inverted)), worst(rankCosineFamily, func(f *soundFinding) float64 { return f.right }), leastOf(findings, rankCosineFamily))
	r.stated(holdsIf(wrongSpread(findings, listNetFamily) > 0.01 && wrongSpread(findings, rankCosineFamily) > 0.001),
		"Cross entropy and cosine are sensitive to the mapping function", "the least loss of a wrong ranking of two documents is %.4f to %.4f and %.4f to %.4f, by mapping",
		lowestWrong(findings, listNetFamily), highestWrong(findings, listNetFamily), lowestWrong(findings, rankCosineFamily), highestWrong(findings, rankCosineFamily))
	r.stated(holdsIf(every(func(f *soundFinding) bool { return f.misplaced == 0 })),
		"All three losses are order sensitive, the theorem's condition", "no other order of the same scores had a lower loss than the right one in %d draws each", s.draws)
	s.smoothNotes(r, every)
}

// soundest is the verdict on the likelihood: held if widening gaps and inverted pairs both
// speak for it against every other loss, in part if the gaps alone do.
func soundest(findings []soundFinding) FindVerdict {
	widened, inverted := 0.0, 0.0
	for _, f := range findings {
		switch {
		case f.family != listMLEFamily:
		case math.Abs(f.wrong-math.Ln2) > 1e-6:
			return ClaimFailed
		default:
			widened, inverted = max(widened, f.widened), max(inverted, f.inverted)
		}
	}
	switch {
	case widened > 0:
		return ClaimFailed
	case inverted < bestOther(findings, func(f *soundFinding) float64 { return f.inverted }):
		return ClaimHeld
	}
	return ClaimMixed
}

// otherLosses returns, for each loss but the likelihood, the largest value over the lengths of
// lists, ascending.
func otherLosses(findings []soundFinding, value func(*soundFinding) float64) []largestOf {
	var all []largestOf
	for i := range findings {
		f := &findings[i]
		if f.family == listMLEFamily {
			continue
		}
		at := slices.IndexFunc(all, func(l largestOf) bool { return l.loss == f.name })
		if at < 0 {
			at, all = len(all), append(all, largestOf{loss: f.name, value: math.Inf(-1)})
		}
		all[at].value = max(all[at].value, value(f))
	}
	slices.SortStableFunc(all, func(a, b largestOf) int { return cmp.Compare(a.value, b.value) })
	return all
}

// largestOf is the largest value of a loss.
type largestOf struct {
	loss  string
	value float64
}

// bestOther is the least of the largest values of the losses but the likelihood.
func bestOther(findings []soundFinding, value func(*soundFinding) float64) float64 {
	return otherLosses(findings, value)[0].value
}

// rangeOfOthers is "from 7.5 % (RankCosine-exp) to 64.8 % (ListNet-log)".
func rangeOfOthers(findings []soundFinding, value func(*soundFinding) float64) string {
	all := otherLosses(findings, value)
	least, most := all[0], all[len(all)-1]
	return fmt.Sprintf("from %s (%s) to %s (%s)", percent(least.value), least.loss, percent(most.value), most.loss)
}

// smoothNotes are about the table of the losses' properties.
func (s soundness) smoothNotes(r *Report, every func(func(*soundFinding) bool) bool) {
	whole := func(f *soundFinding) bool {
		return f.continuous(0) && f.continuous(1) && f.continuous(2) && f.smooth(0) && f.smooth(1) && f.smooth(2)
	}
	butZero := func(f *soundFinding) bool {
		return f.continuous(0) && f.continuous(1) && f.smooth(0) && f.smooth(1)
	}
	smooth, figure := ClaimFailed, "see the table"
	switch {
	case every(whole):
		smooth, figure = ClaimHeld, "everywhere"
	case every(func(f *soundFinding) bool { return butZero(f) && (whole(f) || f.family == rankCosineFamily) }):
		smooth, figure = ClaimPartly, "likelihood and cross entropy everywhere; the cosine has no limit at zero scores"
	}
	r.stated(smooth, "All three losses are continuous and differentiable", "%s", figure)
	r.stated(holdsIf(every(func(f *soundFinding) bool { return f.convex() == (f.family != rankCosineFamily) })),
		"Likelihood and cross entropy are convex, the cosine is not", "over %d segments each, and by the second derivatives", s.draws)
	steady := true
	for _, f := range countedForms() {
		least, most := f.perOrder()
		steady = steady && (f.slides == "" || most < 2*least)
	}
	r.stated(holdsIf(steady), "Likelihood and cosine take O(n), the cross entropy of permutations O(n·n!)",
		"operations / order are constant within a factor of 2, for the likelihood if its sums are taken from behind (as printed it is O(n²)) and its documents are sorted, once; the cross entropy of first documents, which ListNet's paper trains, is O(n)")
}

// lowestWrong, highestWrong and wrongSpread are of the least losses of wrong rankings of two documents.
func lowestWrong(findings []soundFinding, family string) float64 {
	least := math.Inf(1)
	for _, f := range findings {
		if f.family == family && f.n == findings[0].n {
			least = min(least, f.wrong)
		}
	}
	return least
}

func highestWrong(findings []soundFinding, family string) float64 {
	most := 0.0
	for _, f := range findings {
		if f.family == family && f.n == findings[0].n {
			most = max(most, f.wrong)
		}
	}
	return most
}

func wrongSpread(findings []soundFinding, family string) float64 {
	return highestWrong(findings, family) - lowestWrong(findings, family)
}

// leastOf is the least loss of a wrong ranking of any length.
func leastOf(findings []soundFinding, family string) float64 {
	least := math.Inf(1)
	for _, f := range findings {
		if f.family == family {
			least = min(least, f.wrong)
		}
	}
	return least
}
