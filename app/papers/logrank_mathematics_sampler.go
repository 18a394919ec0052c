package papers

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/learn/optimize"
)

// The statements about the sampler: Figure 2's flips, and rankings that are preferably picked.

// figure2Theta is the probability of a flip, as printed: g beats ng bads, b beats nb goods.
func figure2Theta(y, ng, nb, good, bad int) float64 {
	if y > 0 {
		return float64(bad-ng+nb+1) / float64(2+good+bad)
	}
	return float64(good+ng-nb+1) / float64(2+good+bad)
}

// flip is a set of valid flips that lead to alike rankings.
type flip struct {
	above []int   // bads above the goods afterwards, ascending
	pairs float64 // number of pairs
	theta float64
}

// flipsOf returns the valid flips from a ranking: those of a good and a bad document in adjacent
// blocks.
func (m mathematics) flipsOf(above []int, bad int) (all []flip) {
	good := len(above)
	for from := 0; from < good; {
		to := from // the block of goods is from … to
		for to+1 < good && above[to+1] == above[from] {
			to++
		}
		v, before, after := above[from], 0, bad
		if from > 0 {
			before = above[from-1]
		}
		if to+1 < good {
			after = above[to+1]
		}
		add := func(at, change, y, nb, bads int) {
			if bads > 0 {
				next := slices.Clone(above)
				next[at] += change
				all = append(all, flip{next, float64((to - from + 1) * bads), m.theta(y, bad-v, nb, good, bad)})
			}
		}
		add(to, 1, 1, good-1-to, after-v)
		add(from, -1, -1, good-from, v-before)
		from = to + 1
	}
	return all
}

// gainAbove is the gain of a ranking by the bads above its goods.
func gainAbove(measure string, above []int, bad int) (float64, error) {
	gain, err := additive(measure)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i, a := range above {
		sum += gain.GoodGain(i, a, len(above), bad)
	}
	return sum, nil
}

// walkSteps is the length of a walk, Figure 2's from one of its restarts.
const walkSteps = 40

// flips compares the expected change of gain of a step by θ with that of flips of pairs drawn
// uniformly from the valid ones, at the states of walks.
func (m mathematics) flips(r *Report, rng *rand.Rand) error {
	walks, measures := 5*m.draws, []string{"map", "ndcg@10", "mrr"}
	var figures strings.Builder
	var verdicts []FindVerdict
	byTheta, uniform := map[string][]float64{}, map[string][]float64{}
	for range walks {
		good, bad := 2+rng.IntN(5), 50+rng.IntN(150)
		above := make([]int, good)
		top := []int{0, 0, bad / 4, bad}[rng.IntN(4)]
		for i := range above {
			above[i] = top
		}
		theta, alike := make([]float64, len(measures)), make([]float64, len(measures))
		for range walkSteps {
			all := m.flipsOf(above, bad)
			total, pairs := 0.0, 0.0
			for _, f := range all {
				total += float64(f.pairs * f.theta)
				pairs += f.pairs
			}
			for k, name := range measures {
				here, err := gainAbove(name, above, bad)
				if err != nil {
					return err
				}
				for _, f := range all {
					there, err := gainAbove(name, f.above, bad)
					if err != nil {
						return err
					}
					change := max(there-here, here-there) / walkSteps
					theta[k] += change * f.pairs * f.theta / total
					alike[k] += change * f.pairs / pairs
				}
			}
			at := rng.Float64() * total
			for _, f := range all {
				if at -= float64(f.pairs * f.theta); at < 0 {
					above = f.above
					break
				}
			}
		}
		for k, name := range measures {
			byTheta[name], uniform[name] = append(byTheta[name], theta[k]), append(uniform[name], alike[k])
		}
	}
	for _, name := range measures {
		less := make([]float64, walks)
		for i := range less {
			less[i] = uniform[name][i] - byTheta[name][i]
		}
		gap := confidence(less)
		verdict := ClaimUndecided
		if gap.excludes0() {
			verdict = holdsIf(gap.mean > 0)
		}
		verdicts = append(verdicts, verdict)
		fmt.Fprintf(&figures, "; %s %.5f and %.5f, difference %.5f ± %.5f", title(name), mean(byTheta[name]), mean(uniform[name]), gap.mean, gap.half)
	}
	r.stated(ofAll(verdicts...), "flips with the probability θ keep the gain closer than flips of any valid pair (section 4.2)",
		"mean |change of gain| of a step by θ and by uniform choice, %d walks of %d steps, n⁺ of 2 to 6, n⁻ of 50 to 199%s; AUC changes by 1/(n⁺n⁻) in any", walks, walkSteps, &figures)
	return nil
}

// preferredShare is the part of the rankings that are picked, preferredMass the part of the sum
// that they must hold to be adequate.
const (
	preferredShare = 0.1
	preferredMass  = 0.9
)

// preferred sums exp(−w·δφ(y) + Δ(y)) over all valid rankings, and over those picked by large
// w·φ(y) or by small Δ(y), as w evolves under the likelihood.
func (m mathematics) preferred(r *Report, rng *rand.Rand) error {
	const good, n, lead, c = 3, 7, 1, 10
	seen := map[string][]int{}
	everyOrder(n, func(order []int) {
		y := labels(order, good)
		seen[fmt.Sprint(y)] = y
	})
	keys := make([]string, 0, len(seen))
	for k := range seen {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	iterations := []int{0, 2, 20}
	mass := map[string][2][]float64{}
	for range 20 {
		l, err := m.drawLinear(good, n, lead, c, rng)
		if err != nil {
			return err
		}
		for _, at := range iterations {
			w := make([]float64, l.Dim())
			if at > 0 {
				best, err := optimize.LBFGS{MaxIterations: at}.Minimize(context.Background(), l, w)
				if err != nil {
					return err
				}
				w = best.X
			}
			s := l.scores(w)
			for _, name := range mathematicsMeasures {
				type picked struct{ fit, delta, term float64 }
				all, total := []picked{}, 0.0
				for _, k := range keys {
					p := picked{delta: 1 - additiveGain(name, seen[k], good)}
					for i, phi := range features(seen[k], good) {
						p.fit += float64(phi * s[i])
					}
					p.term = elementary.Exp(p.fit + p.delta)
					total += p.term
					all = append(all, p)
				}
				held := func(order func(a, b picked) int) (sum float64) {
					slices.SortStableFunc(all, order)
					for _, p := range all[:int(preferredShare*float64(len(all)))] {
						sum += p.term / total
					}
					return sum
				}
				key := strconv.Itoa(at)
				both := mass[key]
				both[0] = append(both[0], held(func(a, b picked) int { return cmp.Compare(b.fit, a.fit) }))
				both[1] = append(both[1], held(func(a, b picked) int { return cmp.Compare(a.delta, b.delta) }))
				mass[key] = both
			}
		}
	}
	var figures strings.Builder
	for _, at := range iterations {
		both := mass[strconv.Itoa(at)]
		fmt.Fprintf(&figures, "; after %d iterations %s and %s", at, percent(mean(both[0])), percent(mean(both[1])))
	}
	last := mass[strconv.Itoa(iterations[len(iterations)-1])]
	r.stated(ofAll(holdsIf(mean(last[0]) >= preferredMass), holdsIf(mean(last[1]) >= preferredMass)),
		"picking y′ with large w·φ(y′), that is small Δ(y′), is adequate for Σ exp(−w·δφ + Δ) (section 5.3.4)",
		"of the sum, the tenth of %d rankings with the largest w·φ and that with the smallest Δ hold, on average over 20 queries and 3 measures%s; adequate is %s here", len(keys), &figures, percent(preferredMass))
	return nil
}
