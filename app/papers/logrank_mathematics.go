package papers

import (
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
	"github.com/listwise/listwise/learn/loss/logrank"
)

func mathematicsExperiment() Experiment {
	return Experiment{
		Name:      "logrank-mathematics",
		Paper:     "LogRank",
		Title:     "LogRank: identities, gradients and bounds, by enumeration on small queries",
		Shows:     "which of the paper's mathematical statements are right, and which are slips in print",
		Data:      "none but small random queries",
		Untrained: "formulas are compared",
		Run:       newMathematics().run,
	}
}

// mathematics tests formulas by enumeration of small queries. The formulas are fields, so that
// tests can replace them by wrong ones.
type mathematics struct {
	draws int // number of random queries or points for each statement

	delta   func(measure string, order []int, good int) float64 // loss Δ of an order of the documents
	phi     func(order []int, good int) []float64               // φ by document
	factors func(f, g, h [][2]float64) [4]float64               // right sides of Figure 1
	printed int                                                 // label of h in A_q of section 2.3
	theta   func(y, ng, nb, good, bad int) float64              // flip probability of Figure 2
	losses  func(o logrank.Options) logRankLosses
}

// logRankLosses contains this project's implementations of the objectives.
type logRankLosses struct{ mle, l2, l3, logLoss, expLoss, expGain, convex loss.Loss }

func newMathematics() mathematics {
	return mathematics{
		draws: 200, delta: orderLoss, phi: orderFeatures, factors: figure1Factors, printed: -1, theta: figure2Theta,
		losses: func(o logrank.Options) logRankLosses {
			return logRankLosses{logrank.MLE{Options: o}, logrank.L2{Options: o}, logrank.L3{Options: o}, logrank.LogLoss{Options: o},
				logrank.ExpLoss{Options: o}, logrank.ExpGain{Options: o}, logrank.ConvexLoss{Options: o}}
		},
	}
}

// exact is the largest relative difference that counts as equality. slopes is the same limit for
// derivatives by finite differences with step slopeStep.
const (
	exact     = 1e-9
	slopes    = 1e-6
	slopeStep = 1e-5
)

var mathematicsMeasures = []string{"auc", "map", "ndcg@3"}

func (m mathematics) run(ctx context.Context, o Options) (*Report, error) {
	r := newReport(mathematicsExperiment(), o, logRank)
	r.fact("queries", "random, of up to 3 relevant (good) and 4 other (bad) documents; all labelings y, and all valid rankings, are enumerated")
	r.fact("scores", "normal; %d draws for each statement (seed %d)", m.draws, o.Seed)
	r.fact("equal", "relative difference of at most %g; of gradients by central differences %g", exact, slopes)
	lines := []func(*Report, *rand.Rand) error{
		m.invariant, m.validOrders, m.identities, m.closedForms, m.gradients, m.logarithms,
		m.bounds, m.convexity, m.positiveMargins, m.flips, m.preferred, m.rankings,
	}
	for i, line := range lines {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := line(r, random.Stream(o.Seed, "logrank mathematics", strconv.Itoa(i))); err != nil {
			return nil, err
		}
		o.observe("statements", i+1, len(lines))
	}
	t := Table{Title: "statements and verdicts", Columns: []string{"statement", "verdict"}, Left: 2}
	s := Sheet{Columns: []string{"statement", "verdict", "evidence"}}
	for _, f := range r.Findings {
		t.Rows = append(t.Rows, []string{f.Claim, string(f.Verdict)})
		s.Rows = append(s.Rows, []any{f.Claim, string(f.Verdict), f.Figure})
	}
	r.Tables, r.Sheets = []Table{t}, []Sheet{s}
	return r, nil
}

// equalUpTo returns the text of the rule for statements of equality.
func equalUpTo(limit float64) string { return fmt.Sprintf("relative differences of at most %g", limit) }

// apart returns the difference of two numbers, relative to the largest of their absolute values and
// 1.
func apart(a, b float64) float64 {
	return math.Abs(float64(a)-float64(b)) / max(1, math.Abs(a), math.Abs(b))
}

// labels returns the labels y of an order of documents. Documents below good are relevant. The
// label of pair g·bad + b is +1 if the relevant document g precedes the irrelevant document b, and
// otherwise −1.
func labels(order []int, good int) []int {
	bad := len(order) - good
	y := make([]int, good*bad)
	for r, d := range order {
		for _, e := range order[r+1:] {
			if d < good && e >= good {
				y[d*bad+e-good] = 1
			} else if d >= good && e < good {
				y[e*bad+d-good] = -1
			}
		}
	}
	return y
}

// additiveGain returns the gain G of labels by the definitions of section 1.6. AP is divided by n⁺.
func additiveGain(measure string, y []int, good int) float64 {
	bad := len(y) / good
	above := make([]int, good)
	for p, label := range y {
		above[p/bad] += (1 - label) / 2
	}
	slices.Sort(above)
	discount := func(at int) float64 {
		switch {
		case at <= 1:
			return 1
		case at < 3:
			return 1 / elementary.Log2(float64(1+at))
		}
		return 0
	}
	gain, ideal := 0.0, 0.0
	for i, a := range above {
		switch measure {
		case "auc":
			gain += 1 - float64(a)/float64(bad)
			ideal++
		case "map":
			gain += float64(1+i) / float64(1+i+a)
			ideal++
		default:
			gain += discount(i + a)
			ideal += discount(i)
		}
	}
	return gain / ideal
}

func orderLoss(measure string, order []int, good int) float64 {
	return 1 - additiveGain(measure, labels(order, good), good)
}

// features returns φ of labels with κ = 1, by document. The features of documents are unit vectors,
// so weights are scores.
func features(y []int, good int) []float64 {
	bad := len(y) / good
	phi := make([]float64, good+bad)
	for p, label := range y {
		phi[p/bad] += float64(label)
		phi[good+p%bad] -= float64(label)
	}
	return phi
}

func orderFeatures(order []int, good int) []float64 { return features(labels(order, good), good) }

// labelings calls each with every vector of n labels. each must not keep the slice.
func labelings(n int, each func(y []int)) {
	y := make([]int, n)
	for mask := range 1 << n {
		for i := range y {
			y[i] = 2*(mask>>i&1) - 1
		}
		each(y)
	}
}

// invariant tests the exchange of two documents with equal grades, in every order of six documents.
func (m mathematics) invariant(r *Report, _ *rand.Rand) error {
	const good, n = 3, 6
	exchanges, changed := 0, 0
	var within, moved [2]int // exchanges within a block of equal grades, and across other grades
	eachPermutation(n, func(order []int) {
		for a := range n {
			for b := a + 1; b < n; b++ {
				if (order[a] < good) != (order[b] < good) {
					continue
				}
				other := slices.Clone(order)
				other[a], other[b] = other[b], other[a]
				across := 0
				for _, d := range order[a:b] {
					if (d < good) != (order[a] < good) {
						across = 1
					}
				}
				within[across]++
				if !slices.Equal(m.phi(order, good), m.phi(other, good)) {
					moved[across]++
				}
				for _, name := range mathematicsMeasures {
					exchanges++
					if m.delta(name, order, good) != m.delta(name, other, good) {
						changed++
					}
				}
			}
		}
	})
	r.stated(holdsIf(changed == 0), "Δ is unchanged by permutations of documents of a grade (section 1.6)", "AUC, MAP and NDCG: %d of %d exchanges in the orders of 3 + 3 documents change it", changed, exchanges)
	r.stated(holdsIf(moved == [2]int{}), "the feature map φ_po is unchanged by arbitrary permutations of documents of a grade (section 1.7)",
		"%d of %d exchanges with no document of the other grade between change it, %d of %d of those with one: y changes with them, Δ does not", moved[0], within[0], moved[1], within[1])
	return nil
}

// validOrders counts the labelings that correspond to orders.
func (m mathematics) validOrders(r *Report, _ *rand.Rand) error {
	var figures strings.Builder
	fewer := true
	for _, shape := range [][2]int{{1, 3}, {2, 2}, {2, 3}, {3, 3}} {
		seen := map[string]bool{}
		eachPermutation(shape[0]+shape[1], func(order []int) { seen[fmt.Sprint(labels(order, shape[0]))] = true })
		all := 1 << (shape[0] * shape[1])
		fewer = fewer && (shape[0] == 1 || len(seen) < all)
		fmt.Fprintf(&figures, "%d + %d documents: %d of %d; ", shape[0], shape[1], len(seen), all)
	}
	r.stated(holdsIf(fewer), "not all of the 2^(n⁺n⁻) values of y are total orders (section 4)", "%swith one relevant document all are", &figures)
	return nil
}

// figure1Factors returns the right sides of the four identities, as printed.
func figure1Factors(f, g, h [][2]float64) (right [4]float64) {
	both := func(f [2]float64) float64 { return f[0] + f[1] }
	dot := func(f, h [2]float64) float64 { return float64(f[0]*h[0]) + float64(f[1]*h[1]) }
	others := func(i, j int) float64 {
		product := 1.0
		for k := range h {
			if k != i && k != j {
				product *= both(h[k])
			}
		}
		return product
	}
	right[0] = others(-1, -1)
	for i := range h {
		right[1] += 2 * dot(f[i], h[i])
		right[2] += float64(dot(f[i], h[i]) * others(i, i))
		right[3] += float64((float64(f[i][0]*g[i][0]*h[i][0]) + float64(f[i][1]*g[i][1]*h[i][1])) * others(i, i))
		for j := range h {
			if i != j {
				right[1] += float64(both(f[i]) * both(h[j]))
				right[3] += float64(dot(f[i], h[i]) * dot(g[j], h[j]) * others(i, j))
			}
		}
	}
	return right
}

// identities compares both sides of Figure 1's identities for random functions of labels.
func (m mathematics) identities(r *Report, rng *rand.Rand) error {
	var worst [4]float64
	for draw := range m.draws {
		n := 2 + draw%5
		functions := func() [][2]float64 {
			f := make([][2]float64, n)
			for i := range f {
				f[i] = [2]float64{random.Normal(rng), random.Normal(rng)}
			}
			return f
		}
		f, g, h := functions(), functions(), functions()
		var left [4]float64
		labelings(n, func(y []int) {
			sumF, sumG, sumH, product := 0.0, 0.0, 0.0, 1.0
			for i, label := range y {
				at := (label + 1) / 2
				sumF, sumG, sumH, product = sumF+f[i][at], sumG+g[i][at], sumH+h[i][at], product*h[i][at]
			}
			left[0] += product
			left[1] += sumF * sumH / float64(int(1)<<(n-2))
			left[2] += float64(sumF * product)
			left[3] += float64(sumF * sumG * product)
		})
		for k, right := range m.factors(f, g, h) {
			worst[k] = max(worst[k], apart(left[k], right))
		}
	}
	right := 0
	for _, w := range worst {
		if w <= exact {
			right++
		}
	}
	r.stated(ofCases(right, 4), "the four identities of Figure 1", "%d are right as printed: sums over the labelings of 2 to 6 pairs differ by %.1g at most", right, slices.Max(worst[:])).Rule = equalUpTo(exact)
	return nil
}

// law is the distribution over all labelings at some scores, for a measure.
type law struct {
	z, gain, lost, expLost, convex float64   // with e the weight of y: Z = Σ e, Σ e·G / Z, Σ e·Δ / Z, Σ e·exp(Δ) / Z, and ConvexLoss
	best                           float64   // weight of the ideal ranking
	feature, gained, losing        []float64 // E[φ], E[Gφ], E[Δφ]
}

// lawOf computes the law by enumeration. kappa is the scale of φ.
func lawOf(measure string, s []float64, good int, kappa float64) law {
	l := law{feature: make([]float64, len(s)), gained: make([]float64, len(s)), losing: make([]float64, len(s))}
	labelings(good*(len(s)-good), func(y []int) {
		phi, energy := features(y, good), 0.0
		for i, p := range phi {
			phi[i] = kappa * p
			energy += float64(phi[i] * s[i])
		}
		e, gain := elementary.Exp(energy), additiveGain(measure, y, good)
		l.z += e
		l.gain += float64(e * gain)
		l.lost += float64(e * (1 - gain))
		l.expLost += float64(e * elementary.Exp(1-gain))
		if !slices.Contains(y, -1) {
			l.best = e
		}
		for i, p := range phi {
			l.feature[i] += float64(e * p)
			l.gained[i] += float64(e * gain * p)
			l.losing[i] += float64(e * (1 - gain) * p)
		}
	})
	l.gain, l.lost, l.expLost = l.gain/l.z, l.lost/l.z, l.expLost/l.z
	l.convex = elementary.Log(l.expLost * l.z / l.best)
	for i := range s {
		l.feature[i] /= l.z
		l.gained[i] /= l.z
		l.losing[i] /= l.z
	}
	return l
}
