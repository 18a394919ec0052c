package paper

import (
	"math"
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
	r.note("\"Likelihood loss is sounder\": it falls with every gap of a right ranking: %s, %s of the gaps raise it. A loss below log 2 = %.4f is that of a right ranking: %s; for two documents that is all of them, for more the highest loss of a right ranking is log n!.",
		holds(worst(listMLEFamily, widened) == 0), percent(worst(listMLEFamily, widened)), math.Ln2,
		holds(every(func(f *soundFinding) bool { return f.family != listMLEFamily || math.Abs(f.wrong-math.Ln2) < 1e-6 })))
	r.note("\"Cross entropy loss is not very sound\": it rises again where the gap is wider than ψ's: %s, for up to %s of the gaps of right rankings; up to %s of the pairs are inverted.",
		holds(worst(listNetFamily, widened) > 0), percent(worst(listNetFamily, widened)), percent(worst(listNetFamily, inverted)))
	r.note("\"Cosine loss is not very sound\": it knows the direction of the scores only, and their mean weighs in it: %s, up to %s of the gaps and %s of the pairs. Right rankings cost up to %.2f of at most 1, wrong ones as little as %.4f.",
		holds(worst(rankCosineFamily, inverted) > 0), percent(worst(rankCosineFamily, widened)), percent(worst(rankCosineFamily, inverted)),
		worst(rankCosineFamily, func(f *soundFinding) float64 { return f.right }), leastOf(findings, rankCosineFamily))
	r.note("\"Cross entropy and cosine are sensitive to the mapping function\": %s, the least loss of a wrong ranking of two is %.4f to %.4f for cross entropy and %.4f to %.4f for the cosine, by mapping.",
		holds(wrongSpread(findings, listNetFamily) > 0.01 && wrongSpread(findings, rankCosineFamily) > 0.001), lowestWrong(findings, listNetFamily), highestWrong(findings, listNetFamily), lowestWrong(findings, rankCosineFamily), highestWrong(findings, rankCosineFamily))
	r.note("\"Order sensitive\", the theorem's condition: no other order of the same scores has a lower loss than the right one, for all three losses: %s.",
		holds(every(func(f *soundFinding) bool { return f.misplaced == 0 })))
	r.note("Continuity and differentiability: likelihood and cross entropy everywhere: %s. The cosine everywhere but at zero scores, where it has no limit: %s; the slides have a plain yes.",
		holds(every(func(f *soundFinding) bool {
			return f.family == rankCosineFamily || f.continuous(0) && f.continuous(1) && f.continuous(2) && f.smooth(0) && f.smooth(1) && f.smooth(2)
		})),
		holds(every(func(f *soundFinding) bool {
			return f.family != rankCosineFamily || f.continuous(0) && f.continuous(1) && f.smooth(0) && f.smooth(1) && !f.continuous(2)
		})))
	r.note("Convexity: likelihood and cross entropy are convex, the cosine is not: %s.",
		holds(every(func(f *soundFinding) bool { return f.convex() == (f.family != rankCosineFamily) })))
	r.note("Cost: the likelihood is O(n) if the sums of its denominators are taken from behind, and O(n²) as its formula is printed; with the sorting by grade, once a list, it is O(n log n). The cross entropy of permutations is O(n·n!) by its definition; that of first documents, which ListNet's paper trains, is O(n).")
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
