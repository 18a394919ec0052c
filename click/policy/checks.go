package policy

import (
	"math"
	"slices"

	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/elementary"
)

// Checks compare what the log tells by the estimator with what it tells by itself.
type Checks struct {
	// Arms has, for each arm of a log with several, its clicks and those that the estimator predicts from the pages
	// of the other arms. It is empty without the position-based model.
	Arms []Check
	// Same has, for each policy whose rankings the log has shown, the estimate and what these pages got
	// themselves (A/A check).
	Same []Check
	// Slots has the clicks of each slot and those that follow from the relevance of the documents, which comes
	// from all slots. It is empty without the position-based model. SlotsP is the smallest p value of a slot times
	// the number of slots.
	Slots  []Check
	SlotsP float64
}

// Check compares an estimate with what was observed.
type Check struct {
	Name     string
	Pages    float64 // weight of the pages that were observed
	Observed float64 // per page
	Estimate float64 // per page
	// Difference is Estimate minus Observed, with a t test.
	Difference stats.Difference
}

// Failed reports whether the estimate differs from what was observed by more than its interval.
func (c *Check) Failed() bool {
	return !(math.Abs(c.Difference.Mean) <= stats.Same*(1+math.Abs(c.Observed))) && stats.Significant(c.Difference.P)
}

const (
	// wrongP is the p value over all slots below which a difference is no chance.
	wrongP = 0.001
	// wrongShare is the difference of a slot's clicks, relative to them, from which estimates mean nothing.
	wrongShare = 0.1
)

// wrong returns the slot whose clicks contradict the propensities most clearly, by more than a tenth. It returns nil if
// there is none.
func (c *Checks) wrong() (worst *Check) {
	for i := range c.Slots {
		s := &c.Slots[i]
		if d := s.Difference; d.P*float64(len(c.Slots)) < wrongP && math.Abs(d.Mean) > wrongShare*s.Observed && (worst == nil || d.P < worst.Difference.P) {
			worst = s
		}
	}
	return worst
}

// sameSums are sums over the pages of the queries for which the log has shown a policy's ranking.
type sameSums struct {
	weight, shown, estimate, observed float64
	slope                             []float64
}

// leastSame is the number of pages with a policy's ranking that a query must have, unless all of them have it.
const leastSame = 5

// addSame compares the estimate of policy k with the pages of the same query that have its ranking. These are a
// sample of the pages of the query, drawn by the logging policy.
func (e *Evaluation) addSame(row []float64, k int, value, reward float64) {
	t := &e.totals[e.page.query]
	if t.same == nil {
		return
	}
	s := &t.same[k]
	all := s.weight == t.weight
	if s.weight == 0 || s.pages < leastSame && !all {
		return
	}
	own := s.reward / s.weight
	rankings, w := e.page.rankings[k], e.page.Weight
	if sum := &e.same[k]; slices.Equal(top(rankings[0].Docs, len(e.page.Docs)), e.page.Docs) {
		own += float64((t.weight / s.weight) * (reward - own))
		sum.shown += w
	}
	e.same[k].weight += w
	e.same[k].slope = addTo(e.same[k].slope, e.slope, w)
	e.same[k].estimate += float64(w * value)
	e.same[k].observed += float64(w * own)
	row[e.sameColumn(k)] += float64(w * (value - own))
}

// rounding is the largest residual that comes from rounding.
const rounding = 1e-9

// addSlots compares the clicks at each slot with the relevance of the documents there. A document's relevance r is
// clicks over examinations in all slots, so slot k has the residual Σ_d (C_dk − E_dk C_d/E_d). It is the sum over
// pages of (1[k] − E_dk/E_d)(c − θ r) for any r.
func (e *Evaluation) addSlots(row []float64) {
	slots := e.slotsChecked()
	for r, pair := range e.page.pairs {
		v := float64(e.page.Weight * e.residual(r))
		if at := int(e.page.slots[r]); at < slots {
			row[e.slotColumn(at)] += v
		}
		for _, i := range e.order[e.starts[pair]:e.starts[pair+1]] {
			if at := int(e.list[i].slot); at < slots {
				share := float64(e.slots[at].Alpha*e.counts[i].Shown) / e.examined[pair]
				row[e.slotColumn(at)] -= float64(v * share)
			}
		}
	}
}

// residual returns c − β − θ r at a rank, with r near the document's relevance.
func (e *Evaluation) residual(r int) float64 {
	s := e.slots[e.page.slots[r]]
	return e.click(r) - s.Beta - float64(s.Alpha*e.control[e.page.pairs[r]])
}

// addArms compares the clicks of each arm B with the relevance of its documents on the pages of the others, A. The
// difference is Σ_d (C_dB − E_dB C_dA/E_dA) over documents that both have shown.
func (e *Evaluation) addArms(row []float64) {
	if e.byArm == nil {
		return
	}
	n := len(e.arms)
	for r, pair := range e.page.pairs {
		v := float64(e.page.Weight * e.residual(r))
		for b, own := range e.byArm[int(pair)*n : (int(pair)+1)*n] {
			others := e.examined[pair] - own[0]
			switch {
			case !(own[0] > 0) || !(others > float64(stats.Same*own[0])):
			case b == int(e.page.arm):
				row[e.armColumn(b)] += v
			default:
				row[e.armColumn(b)] -= float64(v * (own[0] / others))
			}
		}
	}
}

// checks returns the checks.
func (e *Evaluation) checks() Checks {
	var c Checks
	for k, s := range e.same {
		if !(s.weight > 0) {
			continue
		}
		same := Check{Name: e.Policies[k].Name, Pages: s.shown, Observed: s.observed / s.weight, Estimate: s.estimate / s.weight}
		same.Difference = stats.Linear(same.Estimate-same.Observed, e.units.influence(e.sameColumn(k), s.weight), e.varianceOf(s.slope, s.weight))
		c.Same = append(c.Same, same)
	}
	if !e.Estimator.byExamination() {
		return c
	}
	c.SlotsP = 1
	shown, clicks := make([]float64, len(e.slots)), make([]float64, len(e.slots))
	armClicks := make([]float64, len(e.arms))
	for i, cell := range e.list {
		shown[cell.slot] += e.counts[i].Shown
		clicks[cell.slot] += e.counts[i].Clicked
		armClicks[cell.arm] += e.counts[i].Clicked
	}
	bySlot, byArm := e.slopesOfChecks()
	for k := range e.slotsChecked() {
		column := e.units.column(e.slotColumn(k), 1)
		told := slices.ContainsFunc(column, func(v float64) bool { return math.Abs(v) > rounding })
		if d := sum(column); shown[k] > 0 && told { // else the documents of the slot were in no other
			slot := Check{Name: e.index.Slots()[k], Pages: shown[k], Observed: clicks[k] / shown[k], Estimate: (clicks[k] - d) / shown[k]}
			slot.Difference = stats.Linear(-d/shown[k], e.units.influence(e.slotColumn(k), shown[k]), e.varianceOf(bySlot[k], shown[k]))
			c.Slots = append(c.Slots, slot)
			c.SlotsP = min(c.SlotsP, slot.Difference.P)
		}
	}
	c.SlotsP = min(1, c.SlotsP*float64(len(c.Slots)))
	if e.byArm == nil {
		return c
	}
	for b, name := range e.arms {
		shown := e.weights[b]
		if !(shown > 0) {
			continue
		}
		d := sum(e.units.column(e.armColumn(b), 1))
		arm := Check{Name: name, Pages: shown, Observed: armClicks[b] / shown, Estimate: (armClicks[b] - d) / shown}
		arm.Difference = stats.Linear(-d/shown, e.units.influence(e.armColumn(b), shown), e.varianceOf(byArm[b], shown))
		c.Arms = append(c.Arms, arm)
	}
	return c
}

// slopesOfChecks returns the slopes by ln α of the checks of slots and of arms. Slot k has the slopes of Σ_d E_dk r_d,
// and arm B the slopes of Σ_d E_dB C_dA/E_dA.
func (e *Evaluation) slopesOfChecks() (bySlot, byArm [][]float64) {
	slots := e.slotsChecked()
	bySlot = make([][]float64, slots)
	for k := range bySlot {
		bySlot[k] = make([]float64, len(e.slots))
	}
	if e.byArm != nil {
		byArm = make([][]float64, len(e.arms))
		for b := range byArm {
			byArm[b] = make([]float64, len(e.slots))
		}
	}
	for pair, examined := range e.examined {
		if !(examined > 0) {
			continue
		}
		r := e.control[pair]
		for _, i := range e.order[e.starts[pair]:e.starts[pair+1]] {
			c := e.list[i]
			own := float64(e.slots[c.slot].Alpha * e.counts[i].Shown)
			if int(c.slot) < slots {
				slope := bySlot[c.slot]
				slope[c.slot] += float64(own * r)
				e.ofPair(pair, func(s int, share float64) { slope[s] -= float64(float64(own*r) * share) })
			}
			for b := range byArm {
				of := e.byArm[pair*len(e.arms)+b][0]
				others := examined - of
				switch {
				case !(of > 0) || !(others > float64(stats.Same*of)):
				case b == int(c.arm):
					byArm[b][c.slot] += float64(own * r)
				default:
					byArm[b][c.slot] -= float64(float64(of*r) * (own / others))
				}
			}
		}
	}
	return bySlot, byArm
}

func sum(list []float64) (total float64) {
	for _, v := range list {
		total += v
	}
	return total
}

func logOf(v float64) float64 { return elementary.Log(v) }
