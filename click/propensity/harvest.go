package propensity

import (
	"math"
	"slices"
	"time"

	"github.com/listwise/listwise/internal/elementary"
)

// harvest compares the clicks on pairs that were seen in two slots, since rankers differ (Agarwal et al., WSDM 2019).
// The tables have, for two slots k and l, weighted clicks and skips in k of the pairs seen in both. The weight of a
// pair depends on its impressions and not on its clicks.
type harvest struct {
	*table

	k       int
	one     bool // the published weighting: all pairs have weight 1
	squares bool // least squares on logarithms of ratios instead of the likelihood
	start   *allPairs
}

// contrasts are the tables of clicks and skips, row by row.
type contrasts struct{ clicks, skips []float64 }

// contrasts computes the tables.
func (h *harvest) contrasts(sums []count, one bool) contrasts {
	c := contrasts{make([]float64, h.k*h.k), make([]float64, h.k*h.k)}
	for b := range len(h.blocks) - 1 {
		from, to := h.blocks[b], h.blocks[b+1]
		for i := from; i < to; i++ {
			for j := from; j < to; j++ {
				n, m := sums[i].shown, sums[j].shown
				if i == j || n == 0 || m == 0 {
					continue
				}
				rate, w := sums[i].clicked/n, 1.0
				if !one {
					w = n * m / (n + m)
				}
				at := int(h.slots[i])*h.k + int(h.slots[j])
				c.clicks[at] += float64(w * rate)
				c.skips[at] += float64(w * (1 - rate))
			}
		}
	}
	return c
}

// Seen describes the pairs that were seen in two slots. Clicks are expected: a pair counts as if it had been shown
// n·m/(n+m) times in each, if it was shown n and m times.
type Seen struct {
	A       string  `json:"a"`
	B       string  `json:"b"`
	Pairs   int     `json:"pairs"`
	ClicksA float64 `json:"clicks_a"`
	ClicksB float64 `json:"clicks_b"`
}

// Seen returns the number of pairs that were seen in two slots or more, and for each two of the first slots what was
// seen in both. Arms and times do not matter. top is the number of slots, 0 for all.
func (l *Log) Seen(top int) (moved int, seen []Seen) {
	order, all := l.order(top), l.table(l.order(0), nil)
	for b := range len(all.blocks) - 1 {
		if all.blocks[b+1]-all.blocks[b] > 1 {
			moved++
		}
	}
	h := &harvest{table: l.table(order, nil), k: len(order)}
	sums, pairs := h.sums(nil), make([]int, h.k*h.k)
	for b := range len(h.blocks) - 1 {
		for j := h.blocks[b]; j < h.blocks[b+1]; j++ {
			for i := h.blocks[b]; i < j; i++ {
				if sums[i].shown > 0 && sums[j].shown > 0 {
					pairs[int(h.slots[i])*h.k+int(h.slots[j])]++
				}
			}
		}
	}
	c, names := h.contrasts(sums, false), l.index.Slots()
	for i, n := range pairs {
		if a, b := i/h.k, i%h.k; n > 0 {
			seen = append(seen, Seen{names[order[a]], names[order[b]], n, c.clicks[i], c.clicks[b*h.k+a]})
		}
	}
	return moved, seen
}

// joined connects two slots if the pairs seen in both have at least LeastClicks clicks in either.
func (h *harvest) joined() union {
	sums, clicks, u := h.sums(nil), make([]float64, h.k*h.k), newUnion(h.k)
	for b := range len(h.blocks) - 1 {
		for i := h.blocks[b]; i < h.blocks[b+1]; i++ {
			for j := h.blocks[b]; j < h.blocks[b+1]; j++ {
				clicks[int(h.slots[i])*h.k+int(h.slots[j])] += sums[i].clicked
			}
		}
	}
	for a := range h.k {
		for b := range a {
			if min(clicks[a*h.k+b], clicks[b*h.k+a]) >= LeastClicks {
				u.join(a, b)
			}
		}
	}
	return u
}

// fit returns the logarithms of the propensities, and after them for all two slots a > b the deviation of the
// logarithm of C_ab/C_ba from that of θ_a/θ_b: NaN without clicks.
func (h *harvest) fit(weights []float64) ([]float64, error) {
	c := h.contrasts(h.sums(weights), h.one)
	logs, err := h.leastSquares(c)
	if err != nil {
		return nil, err
	}
	if !h.squares {
		m := newAllPairs(c, h.k, logs)
		if h.start != nil {
			m.theta, m.rho = slices.Clone(h.start.theta), slices.Clone(h.start.rho)
		}
		m.run()
		if weights == nil {
			h.start = m
		}
		logs = m.logs()
	}
	for a := range h.k {
		for b := range a {
			x, y := c.clicks[a*h.k+b], c.clicks[b*h.k+a]
			if x > 0 && y > 0 {
				logs = append(logs, elementary.Log(x/y)-(logs[a]-logs[b]))
			} else {
				logs = append(logs, math.NaN())
			}
		}
	}
	return logs, nil
}

// leastSquares fits ln(C_ab/C_ba) = ln θ_a − ln θ_b with weights 1/(1/C_ab + 1/C_ba).
func (h *harvest) leastSquares(c contrasts) ([]float64, error) {
	m, y := newSymmetric(h.k-1), make([]float64, h.k-1)
	for a := range h.k {
		for b := range a {
			p, q := c.clicks[a*h.k+b], c.clicks[b*h.k+a]
			if p > 0 && q > 0 {
				w := p * q / (p + q)
				m.difference(a-1, b-1, w)
				toward(y, a-1, b-1, float64(w*elementary.Log(p/q)))
			}
		}
	}
	if !m.factor() {
		return nil, errSingular
	}
	m.solve(y)
	return append([]float64{0}, y...), nil
}

// allPairs maximises Σ C_kl ln(θ_k ρ_kl) + N_kl ln(1 − θ_k ρ_kl) with ρ_kl = ρ_lk. It is a position-based model
// whose documents are the unordered pairs of slots.
type allPairs struct {
	contrasts

	k          int
	theta, rho []float64
}

// newAllPairs starts at the given logarithms of propensities.
func newAllPairs(c contrasts, k int, logs []float64) *allPairs {
	m := &allPairs{c, k, make([]float64, k), make([]float64, k*k)}
	most := slices.Max(logs)
	for i := range m.theta {
		m.theta[i] = within(elementary.Exp(logs[i]-most) / 2)
	}
	for i := range m.rho {
		m.rho[i] = 0.5
	}
	return m
}

const least = 1e-9

func within(p float64) float64 { return min(max(p, least), 1-least) }

const (
	mostSteps = 20000
	tolerance = 1e-11 // of a propensity, by which iterations end
)

func (m *allPairs) run() {
	for range mostSteps {
		if m.step() < tolerance {
			return
		}
	}
}

// step is an iteration of expectation maximisation. It returns the largest change of a propensity.
func (m *allPairs) step() (change float64) {
	k := m.k
	rho, theta := make([]float64, k*k), make([]float64, k)
	for a := range k {
		looked, all := 0.0, 0.0
		for b := range k {
			i := a*k + b
			x, y := m.theta[a], m.rho[i]
			z := 1 - float64(x*y)
			looked += m.clicks[i] + float64(m.skips[i]*(float64(x*(1-y))/z))
			rho[i] = m.clicks[i] + float64(m.skips[i]*(float64(y*(1-x))/z))
			all += m.clicks[i] + m.skips[i]
		}
		theta[a] = m.theta[a]
		if all > 0 {
			theta[a] = within(looked / all)
		}
	}
	for a := range k {
		for b := range a {
			i, j := a*k+b, b*k+a
			if all := m.clicks[i] + m.skips[i] + m.clicks[j] + m.skips[j]; all > 0 {
				m.rho[i] = within((rho[i] + rho[j]) / all)
				m.rho[j] = m.rho[i]
			}
		}
		change = max(change, math.Abs(theta[a]-m.theta[a]))
	}
	m.theta = theta
	return change
}

// objective is what run maximises.
func (m *allPairs) objective() (sum float64) {
	for a := range m.k {
		for b := range m.k {
			if i := a*m.k + b; a != b {
				p := m.theta[a] * m.rho[i]
				sum += float64(m.clicks[i]*elementary.Log(p)) + float64(m.skips[i]*elementary.Log1p(-p))
			}
		}
	}
	return sum
}

func (m *allPairs) logs() []float64 {
	logs := make([]float64, m.k)
	for i := range logs {
		logs[i] = elementary.Log(m.theta[i] / m.theta[0])
	}
	return logs
}

// together is the share of the time of two arms in which both must have run for their pages to be compared.
const together = 0.9

// classes returns a number for each arm, the same for arms that ran at the same time. ok is false if pages without
// time leave that open; all arms then have one number.
func (l *Log) classes() (classes []int, ok bool) {
	classes = make([]int, len(l.arms))
	if slices.ContainsFunc(l.arms, func(a arm) bool { return a.timeless }) {
		return classes, len(l.arms) == 1
	}
	u := newUnion(len(l.arms))
	for i, a := range l.arms {
		for j, b := range l.arms[:i] {
			both, either := min(a.last, b.last)-max(a.first, b.first), max(a.last, b.last)-min(a.first, b.first)
			if float64(both) >= float64(together*float64(either)) {
				u.join(i, j)
			}
		}
	}
	for i := range classes {
		classes[i] = u.root(i)
	}
	return classes, true
}

// hint says how to compare the arms of an experiment that did not run at the same time, by the time that they have in
// common. It is empty if all did, or if they have none.
func (l *Log) hint(classes []int) string {
	for i, a := range l.arms {
		from, to := a.first, a.last
		apart, began, ended := false, a.first, a.last
		for j, b := range l.arms {
			if b.experiment == a.experiment {
				from, to, apart = max(from, b.first), min(to, b.last), apart || classes[i] != classes[j]
				began, ended = min(began, b.first), max(ended, b.last)
			}
		}
		if !apart || from >= to {
			continue
		}
		flags, much := "", (ended-began)/50
		if from-began > much {
			flags += " --since " + time.UnixMicro(from).UTC().Format(time.RFC3339)
		}
		if ended-to > much {
			flags += " --until " + time.UnixMicro(to).Add(time.Second).UTC().Format(time.RFC3339)
		}
		if flags == "" { // both only by a little
			return ""
		}
		return flags[1:] + " reads the time that all arms have in common"
	}
	return ""
}
