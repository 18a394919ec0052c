package papers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/optimize"
)

// This file tests the statements about objectives, their gradients and the sampler.

// drawSmall draws the scores of a small query. The first good documents are relevant.
func drawSmall(rng *rand.Rand) (s []float64, good int) {
	good = 1 + rng.IntN(3)
	s = make([]float64, good+1+rng.IntN(3))
	for i := range s {
		s[i] = random.Normal(rng) / 2
	}
	return s, good
}

// bindFirst binds a loss to a query of n documents. The first good documents are relevant.
func bindFirst(l loss.Loss, good, n int) (loss.QueryLoss, error) {
	grades := make([]float64, n)
	for g := range good {
		grades[g] = 1
	}
	return l.Bind(grades, random.Stream(1, "logrank mathematics", "sample"))
}

// valueAt returns the value of a loss at scores.
func valueAt(l loss.Loss, s []float64, good int) (float64, error) {
	b, err := bindFirst(l, good, len(s))
	if err != nil {
		return 0, err
	}
	return b.Eval(s, nil, new(loss.Scratch)), nil
}

// closedForms compares section 2.3's products with sums over all labelings.
func (m mathematics) closedForms(r *Report, rng *rand.Rand) error {
	gain, err := additive("auc")
	if err != nil {
		return err
	}
	var z, slope, right, printed, lost, own, bare float64
	var example [2]float64
	for draw := range m.draws {
		s, good := drawSmall(rng)
		bad := len(s) - good
		options, kappa := logrank.Options{Gain: gain}, 1.0
		if draw%2 == 1 {
			options.Kappa, kappa = bipartite.KappaPairs, 1/float64(good*bad)
		}
		l := lawOf("auc", s, good, kappa)
		product := 1.0
		h := func(p, label int) float64 {
			return elementary.Exp(kappa * float64(label) * (s[p/bad] - s[good+p%bad]))
		}
		for p := range good * bad {
			product *= h(p, -1) + h(p, 1)
		}
		a, gradient := [2]float64{}, make([]float64, len(s)) // A_q/(n⁺n⁻) with h(+1) and as printed; ∇Z
		for p := range good * bad {
			others := product / (h(p, -1) + h(p, 1))
			a[0] += float64(h(p, 1)*others) / float64(good*bad)
			a[1] += float64(h(p, m.printed)*others) / float64(good*bad)
			f := float64(kappa * (h(p, 1) - h(p, -1)) * others)
			gradient[p/bad] += f
			gradient[good+p%bad] -= f
		}
		z = max(z, apart(l.z, product))
		for i := range s {
			slope = max(slope, apart(l.feature[i]*l.z, gradient[i]))
		}
		right, printed, lost = max(right, apart(l.gain, a[0]/product)), max(printed, apart(l.gain, a[1]/product)), max(lost, apart(l.lost, a[1]/product))
		bare = max(bare, math.Abs(elementary.Log(a[0])-elementary.Log(l.gain)))
		value, err := valueAt(m.losses(options).expGain, s, good)
		if err != nil {
			return err
		}
		own = max(own, apart(elementary.Exp(-value), l.gain))
		if draw == 0 {
			example = [2]float64{elementary.Log(l.gain), elementary.Log(a[1] / product)}
		}
	}
	r.stated(holdsIf(max(z, slope) <= exact), "Z_q and its gradient factor over pairs (section 2.3)", "%d queries, sums over all labelings: relative differences %.1g and %.1g at most", m.draws, z, slope).Rule = equalUpTo(exact)
	r.stated(holdsIf(max(right, own) <= exact), "the objective (7) for AUC has a form without a sum over y (section 2.3)", "%d queries: with h(+1) in A_q it differs from the sum by %.1g at most, ExpGain by %.1g", m.draws, right, own).Rule = equalUpTo(exact)
	r.stated(holdsIf(bare <= exact), "the objective for AUC is the sum of log A_q, without −log Z_q, as printed (section 2.3)", "with h(+1) in A_q and log n⁺n⁻ taken off it differs from log E[G] by up to %.2f: it lacks −log Z_q", bare).Rule = equalUpTo(exact)
	r.stated(holdsIf(printed <= exact), "A_q for AUC has the factor h(−1), as printed (section 2.3)",
		"log E[G] of the first query is %.4f, as printed %.4f; as printed it is E[Δ], from which it differs by %.1g at most; h(+1) is right", example[0], example[1], lost).Rule = equalUpTo(exact)
	return nil
}

// gradients compares (8), and the simplification of it in section 2.1, with finite differences.
func (m mathematics) gradients(r *Report, rng *rand.Rand) error {
	var formula, essential, linear, start float64
	opposed, points := 0, 0
	for range m.draws {
		s, good := drawSmall(rng)
		for _, name := range mathematicsMeasures {
			compare := func(s []float64) (worst [3]float64, along float64) {
				l := lawOf(name, s, good, 1)
				for i := range s {
					ahead, behind := slices.Clone(s), slices.Clone(s)
					ahead[i] += slopeStep
					behind[i] -= slopeStep
					up, down := lawOf(name, ahead, good, 1), lawOf(name, behind, good, 1)
					slope := elementary.Log(up.gain/down.gain) / (2 * slopeStep)
					claim := -l.losing[i]
					along += float64(slope * claim)
					worst[0] = max(worst[0], apart(slope, l.gained[i]/l.gain-l.feature[i]))
					worst[1] = max(worst[1], math.Abs(slope-claim))
					worst[2] = max(worst[2], apart((up.gain-down.gain)/(2*slopeStep), claim))
				}
				return worst, along
			}
			worst, along := compare(s)
			formula, essential, linear = max(formula, worst[0]), max(essential, worst[1]), max(linear, worst[2])
			if points++; along < 0 {
				opposed++
			}
			worst, _ = compare(make([]float64, len(s)))
			start = max(start, worst[2])
		}
	}
	r.stated(holdsIf(formula <= slopes), "the gradient of L_q is (8) (section 2.1)", "%d points, AUC, MAP and NDCG: it differs from central differences by %.1g at most", points, formula).Rule = equalUpTo(slopes)
	r.stated(holdsIf(min(essential, linear) <= slopes), "that gradient is essentially −E[Δφ] (section 2.1)",
		"off by up to %.2f, and against it in %d of %d points; from the gradient of E[G] it differs by up to %.2f, at equal scores by %.1g: the latter is −E[Δφ] + E[Δ]E[φ]", essential, opposed, points, linear, start).Rule = equalUpTo(slopes)
	return nil
}

// logarithms evaluates ExpGain for AUC at scores for which Z overflows. The probability of a single
// pair does not overflow.
func (m mathematics) logarithms(r *Report, rng *rand.Rand) error {
	gain, err := additive("auc")
	if err != nil {
		return err
	}
	objective := m.losses(logrank.Options{Gain: gain}).expGain
	worst, finite, overflows, cases, largest := 0.0, true, 0, 0, 0.0
	for _, shape := range [][2]int{{1, 10}, {1, 1000}, {10, 100}, {30, 300}, {100, 100}} {
		for _, spread := range []float64{0.1, 1, 10, 50} {
			for _, shift := range []float64{-1, 0, 1} { // badly ranked, at random, well ranked
				good, n := shape[0], shape[0]+shape[1]
				s, want, got := make([]float64, n), make([]float64, n), make([]float64, n)
				for i := range s {
					if s[i] = spread * (2*rng.Float64() - 1); shift != 0 {
						s[i] = float64(spread/2*(2*rng.Float64()-1)) + float64(shift*spread/2)
					}
					if i >= good && shift != 0 {
						s[i] -= float64(shift * spread)
					}
				}
				sum, z := 0.0, 0.0
				for g := range good {
					for b := good; b < n; b++ {
						x := elementary.Exp(-2 * math.Abs(s[g]-s[b]))
						p := 1 / (1 + x)
						if s[g] < s[b] {
							p = x / (1 + x)
						}
						sum += p
						z += math.Abs(s[g]-s[b]) + elementary.Log1p(x)
						want[g] += 2 * x / ((1 + x) * (1 + x))
						want[b] -= 2 * x / ((1 + x) * (1 + x))
					}
				}
				b, err := bindFirst(objective, good, n)
				if err != nil {
					return err
				}
				v := b.Eval(s, got, new(loss.Scratch))
				worst = max(worst, apart(v, elementary.Log(float64(good*(n-good))/sum)))
				for i := range s {
					worst = max(worst, apart(got[i], want[i]/sum))
					finite = finite && !math.IsInf(got[i], 0) && !math.IsNaN(got[i])
				}
				finite = finite && !math.IsInf(v, 0) && !math.IsNaN(v)
				if cases++; z > elementary.Log(math.MaxFloat64) {
					overflows++
				}
				largest = max(largest, z)
			}
		}
	}
	r.stated(holdsIf(finite && worst <= exact), "with the logarithm of the gain, exponentials of n⁺n⁻ terms make no numerical difficulty (section 2.1)",
		"n⁺n⁻ from 10 to 10000, scores up to ±50: values and gradients are finite and differ from sums over pairs by %.1g at most; Z itself exceeds float64 in %d of %d cases, up to e^%.0f", worst, overflows, cases, largest).Rule = equalUpTo(exact)
	return nil
}

// bounds compares objectives with each other and with enumeration.
func (m mathematics) bounds(r *Report, rng *rand.Rand) error {
	below, above, same := 0, 0, 0.0
	tightest, widest := math.Inf(1), 0.0
	cases := 0
	for draw := range m.draws {
		s, good := drawSmall(rng)
		scale := elementary.Exp2(float64(draw%7) - 3)
		for i := range s {
			s[i] *= scale
		}
		for _, name := range mathematicsMeasures {
			if name != "auc" { // the factored ConvexLoss needs a single relevant document
				good = 1
			}
			gain, err := additive(name)
			if err != nil {
				return err
			}
			objective := m.losses(logrank.Options{Gain: gain})
			var values [4]float64
			for k, o := range []loss.Loss{objective.l2, objective.expLoss, objective.mle, objective.convex} {
				if values[k], err = valueAt(o, s, good); err != nil {
					return err
				}
			}
			l := lawOf(name, s, good, 1)
			same = max(same, apart(values[0], l.lost), apart(values[1], elementary.Log(l.expLost)), apart(values[2], -elementary.Log(l.best/l.z)), apart(values[3], l.convex))
			if cases++; l.lost > elementary.Log(l.expLost)+exact || values[0] > values[1]+exact {
				below++
			}
			gap := min(values[3]-values[2]-values[0], l.convex+elementary.Log(l.best/l.z)-l.lost)
			if gap < -exact {
				above++
			}
			tightest, widest = min(tightest, gap), max(widest, gap)
		}
	}
	r.stated(holdsIf(below == 0 && same <= exact), "with f(x) = eˣ (4) is a lower bound of (5) (section 2)", "violated at %d of %d points; the objectives differ from enumeration by %.1g at most", below, cases, same).Rule = equalUpTo(exact)
	r.stated(holdsIf(above == 0 && same <= exact), "ConvexLoss ≥ L_1 + L_2 (section 3)", "violated at %d of %d points; larger by %.4f to %.4f", above, cases, max(0, tightest), widest).Rule = equalUpTo(exact)
	return nil
}

// bentRule describes the counted violations of convexity.
var bentRule = fmt.Sprintf("bent down is a middle above the ends' mean by %g, or an eigenvalue below %g", exact, convexZero)

// convexity searches for points of a segment above its chord, and for negative eigenvalues of the
// Hessian at one end of the segment.
func (m mathematics) convexity(r *Report, rng *rand.Rand) error {
	const good, n = 3, 7
	convex, bent := 0, map[string]int{}
	segments := 0
	for _, c := range []struct {
		measure string
		form    logrank.Form
	}{{"auc", logrank.Factored}, {"map", logrank.Sampled}, {"ndcg@3", logrank.Sampled}} {
		gain, err := additive(c.measure)
		if err != nil {
			return err
		}
		o := m.losses(logrank.Options{Gain: gain, Form: c.form})
		steep := m.losses(logrank.Options{Gain: gain, Form: c.form, Beta: 50})
		for _, l := range []struct {
			name string
			loss loss.Loss
		}{{"", o.mle}, {"", o.convex}, {"(4)", o.l2}, {"(5)", o.logLoss}, {"(5) with f = exp", o.expLoss}, {"(6)", o.expGain}, {"L_3", o.l3}, {"50 L_2", steep.l3}} {
			query, err := bindFirst(l.loss, good, n)
			if err != nil {
				return err
			}
			value := func(s []float64) float64 { return query.Eval(s, nil, new(loss.Scratch)) }
			for draw := range m.draws {
				spread := elementary.Exp2(float64(draw%5) - 2)
				a, b, middle := make([]float64, n), make([]float64, n), make([]float64, n)
				for i := range a {
					a[i], b[i] = float64(spread*random.Normal(rng)), float64(spread*random.Normal(rng))
					middle[i] = float64((a[i] + b[i]) / 2)
				}
				ends := float64((value(a) + value(b)) / 2)
				above := value(middle) > ends+float64(exact*max(1, math.Abs(ends)))
				above = above || loss.DiagnoseField(query, a, slopeStep).SmallestEigenvalue < convexZero
				switch {
				case l.name == "" && above:
					convex++
				case above:
					bent[l.name]++
				}
			}
		}
		segments += m.draws
	}
	r.stated(holdsIf(convex == 0), "the likelihood and ConvexLoss are convex (sections 2.2 and 3)", "AUC over all labelings, MAP and NDCG over sampled rankings: bent down in %d of %d draws", convex, 2*segments).Rule = bentRule
	var figures strings.Builder
	found := 0
	kinds := []string{"(4)", "(5)", "(5) with f = exp", "(6)"}
	for _, name := range kinds {
		fmt.Fprintf(&figures, "%s %d, ", name, bent[name])
		if bent[name] > 0 {
			found++
		}
	}
	r.stated(ofCases(found, len(kinds)), "(4), (5) and (6) are not convex in general (sections 1.5 and 2.2)", "bent down: %sof %d draws each", &figures, segments).Rule = bentRule
	r.stated(holdsIf(bent["L_3"] > 0), "L_3 is not convex in general, because of L_2 (section 3)",
		"bent down in %d of %d draws, with 50 L_2 in the place of L_2 in %d; its Hessian E[(1 + Δ − E[Δ]) (δφ − E[δφ]) (δφ − E[δφ])ᵀ] is positive semidefinite where 0 ≤ Δ ≤ 1", bent["L_3"], segments, bent["50 L_2"]).Rule = bentRule
	return nil
}

// linearLikelihood is the objective MLE of linear scores, plus ‖w‖²/C.
type linearLikelihood struct {
	query loss.QueryLoss
	x     [][]float64
	c     float64
}

func (l linearLikelihood) Dim() int { return len(l.x[0]) }

func (l linearLikelihood) scores(w []float64) []float64 {
	s := make([]float64, len(l.x))
	for i, x := range l.x {
		for k := range w {
			s[i] += float64(w[k] * x[k])
		}
	}
	return s
}

func (l linearLikelihood) Eval(w, grad []float64) float64 {
	lambda := make([]float64, len(l.x))
	value := l.query.Eval(l.scores(w), lambda, new(loss.Scratch))
	for k := range w {
		value += float64(w[k]*w[k]) / l.c
		grad[k] = 2 * w[k] / l.c
		for i, x := range l.x {
			grad[k] -= float64(lambda[i] * x[k])
		}
	}
	return value
}

// drawLinear draws features. For relevant documents it adds lead to the first feature.
func (m mathematics) drawLinear(good, n int, lead, c float64, rng *rand.Rand) (linearLikelihood, error) {
	l := linearLikelihood{c: c}
	for i := range n {
		x := make([]float64, 3)
		for k := range x {
			x[k] = random.Normal(rng)
		}
		if i < good {
			x[0] += lead
		}
		l.x = append(l.x, x)
	}
	var err error
	l.query, err = bindFirst(m.losses(logrank.Options{}).mle, good, n)
	return l, err
}

// differencesTo returns w·δφ(y) for every labeling except the ideal ranking.
func differencesTo(s []float64, good int) (all []float64) {
	labelings(good*(len(s)-good), func(y []int) {
		if !slices.Contains(y, -1) {
			return
		}
		d := 0.0
		for p, label := range y {
			if label < 0 {
				d += 2 * (s[p/(len(s)-good)] - s[good+p%(len(s)-good)])
			}
		}
		all = append(all, d)
	})
	return all
}

// positiveMargins minimizes MLE for separable queries, and for queries that no weights can rank.
func (m mathematics) positiveMargins(r *Report, rng *rand.Rand) error {
	const good, n, lead, c = 3, 6, 8, 1e4
	right, queries, shares := 0, 20, []float64{}
	for i := range 2 * queries {
		l, err := m.drawLinear(good, n, lead, c, rng)
		if err != nil {
			return err
		}
		if i%2 == 1 { // place one bad document midway between two good ones
			for k := range l.x[1] {
				l.x[1][k] = float64(2*l.x[good][k]) - l.x[0][k]
			}
		}
		best, err := optimize.LBFGS{}.Minimize(context.Background(), l, make([]float64, l.Dim()))
		if err != nil {
			return err
		}
		positive, all := 0, differencesTo(l.scores(best.X), good)
		for _, d := range all {
			if d > 0 {
				positive++
			}
		}
		switch {
		case i%2 == 1:
			shares = append(shares, float64(positive)/float64(len(all)))
		case positive == len(all):
			right++
		}
	}
	verdict := holdsIf(right == queries)
	if slices.Min(shares) < 1 {
		verdict = ofAll(verdict, ClaimFailed)
	}
	r.stated(verdict, "MLE leads to positive w·δφ(y) at its optimum (section 3)",
		"for all y on %d of %d separable queries; on others no w can, and %s to %s of the labelings have it", right, queries, percent(slices.Min(shares)), percent(slices.Max(shares)))
	return nil
}

// The code below tests the statements about the sampler: Figure 2's flips, and the preferred choice
// of rankings.

// figure2Theta returns the probability of a flip, as printed. g is above ng bad documents, and b is
// above nb good documents.
func figure2Theta(y, ng, nb, good, bad int) float64 {
	if y > 0 {
		return float64(bad-ng+nb+1) / float64(2+good+bad)
	}
	return float64(good+ng-nb+1) / float64(2+good+bad)
}

// flip is a set of valid flips that lead to equivalent rankings.
type flip struct {
	above []int   // number of bad documents above each good one after the flip, ascending
	pairs float64 // number of pairs
	theta float64
}

// flipsOf returns the valid flips from a ranking. A flip exchanges a good and a bad document of
// adjacent blocks.
func (m mathematics) flipsOf(above []int, bad int) (all []flip) {
	good := len(above)
	for from := 0; from < good; {
		to := from // the block of good documents is from … to
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

// gainAbove returns the gain of a ranking. above is the number of bad documents above each good
// one.
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

// walkSteps is the length of a walk, as in Figure 2 from one of its restarts.
const walkSteps = 40

// flips compares two kinds of step at the rankings of walks: a flip with probability θ, and a flip
// of a random valid pair. It compares their expected changes of the gain.
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

// preferredShare is the share of rankings that are chosen. preferredMass is the share of the sum
// that they must contain to be adequate.
const (
	preferredShare = 0.1
	preferredMass  = 0.9
)

// preferred sums exp(−w·δφ(y) + Δ(y)) over all valid rankings, and over the rankings chosen by
// large w·φ(y) or by small Δ(y). w follows the minimization of the likelihood.
func (m mathematics) preferred(r *Report, rng *rand.Rand) error {
	const good, n, lead, c = 3, 7, 1, 10
	seen := map[string][]int{}
	eachPermutation(n, func(order []int) {
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
		"of the sum, the tenth of %d rankings with the largest w·φ and that with the smallest Δ hold, on average over 20 queries and 3 measures%s; our limit of adequate is %s", len(keys), &figures, percent(preferredMass))
	return nil
}
