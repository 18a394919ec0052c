package weigh

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/click/propensity"
)

// Debias is how grades allow for the bias of clicks. In the formulas, sums are over the N pages of a query. c is 1 for a
// click on a document. θ is the propensity of its slot, 0 if the page does not show it. For an estimate by trust, a
// click has the probability α γ + β: θ is then α, and c is c − β.
type Debias string

// The grades.
const (
	// None is the click rate, Σc over the pages that show the document.
	None Debias = "none"
	// Examinations is clicks over examinations, Σc/Σθ, with the document weight Σθ/N. Of all combinations of c/θ
	// that are unbiased, its variance is least if clicks are rare.
	Examinations Debias = "examinations"
	// Robust is γ̂ + (Σc − γ̂Σθ)/(Σθ + shrink), clipped to [0, 1], with the document weight Σθ/(Σθ + shrink). γ̂ is a
	// regression of Σc/Σθ, fitted to other queries. But for clipping, the grade is unbiased if γ̂ is right, or whatever
	// γ̂ without shrinkage (doubly robust: Oosterhuis, ACM Transactions on Information Systems 41(3), 2023).
	Robust Debias = "robust"
	// IPS is Σc/(N max(ρ, clip)). ρ is the policy-aware propensity, the mean over pages of Σ_k P(document in k) θ_k
	// (Oosterhuis and de Rijke, SIGIR 2020). P is from the orders of a page. On a page without orders it is 1 for the
	// slot of the document, so the mean has the shares of the log itself.
	IPS Debias = "ips"
	// Affine is Σ(c − β)/Σα (Vardasbi, Oosterhuis and de Rijke, CIKM 2020).
	Affine Debias = "affine"
)

// Debiases are all grades.
var Debiases = []Debias{None, Examinations, Robust, IPS, Affine}

// sums are what pages say of a pair. All are sums of weights of pages.
type sums struct {
	shown   float64 // pages
	clicks  float64
	net     float64 // clicks less those of trust
	looked  float64 // Σθ of the slots where the pair was
	could   float64 // Σθ expected over the rankings that could have been shown
	weight  float64 // Σ1/θ of the clicks
	squares float64 // Σ1/θ² of the clicks
}

// looks are the propensities of the slots of a log.
type looks struct {
	theta, beta []float64 // 0 if unknown
	known       []bool
	slotless    []int     // slots of pages without propensities
	partless    bool      // some pages have values that no part of the estimate has
	errors      []float64 // standard errors of ln θ, 0 if unknown
}

// looksOf returns the propensities of the slots of the log.
func (l *Log) looksOf(o *Options) (*looks, error) {
	n := len(l.Slots())
	k := &looks{theta: make([]float64, n), beta: make([]float64, n), known: make([]bool, n), errors: make([]float64, n)}
	e := o.Propensities
	if e == nil {
		if o.Debias != None {
			return nil, fmt.Errorf("found no propensities, expected those that %s needs", o.Debias)
		}
		for s := range n {
			k.theta[s], k.known[s] = 1, true
		}
		return k, nil
	}
	if e.Parts != nil && l.Value == nil {
		return nil, fmt.Errorf("found propensities by %s of pages whose %s is not known, expected it", e.By, e.By)
	}
	trust := len(e.Slots) > 0 && e.Slots[0].Alpha != nil
	if o.Debias == Affine && !trust {
		return nil, fmt.Errorf("found propensities of method %s, expected those of method trust, which have alpha and beta", e.Method)
	}
	whole := bySlot(e.Slots)
	parts := make(map[string]map[string]propensity.Slot, len(e.Parts))
	for _, p := range e.Parts {
		parts[p.Value] = bySlot(p.Slots)
	}
	for s := range n {
		at := l.place(s)
		of, ok := parts[at.value]
		if !ok {
			of = whole
			k.partless = k.partless || e.Parts != nil
		}
		slot, ok := of[at.slot]
		if k.known[s] = ok; !ok {
			k.slotless = append(k.slotless, s)
			continue
		}
		switch {
		case o.Uncorrected:
			k.theta[s] = 1
		case !trust:
			if k.theta[s] = slot.Theta; slot.SE != nil {
				k.errors[s] = *slot.SE / slot.Theta
			}
		default:
			own := whole[at.slot] // parts have no trust of their own
			if own.Alpha == nil || own.Beta == nil || !(own.Alpha.Value > 0) {
				return nil, fmt.Errorf("found no positive alpha of slot %q, expected one", at.slot)
			}
			k.theta[s], k.beta[s] = own.Alpha.Value, own.Beta.Value
		}
	}
	return k, nil
}

func bySlot(slots []propensity.Slot) map[string]propensity.Slot {
	of := make(map[string]propensity.Slot, len(slots))
	for _, s := range slots {
		of[s.Slot] = s
	}
	return of
}

// sums returns the sums of all pairs. Places in slots without propensities are left out. They are in lost.
func (l *Log) sums(k *looks) (of []sums, lost []float64) {
	of, lost = make([]sums, l.Pairs()), make([]float64, l.Pairs())
	for i, c := range l.Cells.List {
		n, s := l.Cells.Counts[i], &of[c.Pair]
		if !k.known[c.Slot] {
			lost[c.Pair] += n.Shown
			continue
		}
		theta := k.theta[c.Slot]
		s.shown += n.Shown
		s.clicks += n.Clicked
		s.net += n.Clicked - float64(k.beta[c.Slot]*n.Shown)
		s.looked += float64(theta * n.Shown)
		s.weight += n.Clicked / theta
		s.squares += n.Clicked / theta / theta
	}
	for i := range of {
		of[i].could = of[i].looked
	}
	for i, c := range l.drawn.List {
		if k.known[c.Slot] {
			of[c.Pair].could += float64(k.theta[c.Slot] * l.drawn.Counts[i].Shown)
		}
	}
	for i := range of {
		const rounding = 1e-9 // of sums that cancel
		if s := &of[i]; s.could < rounding*s.shown {
			s.could = 0
		}
	}
	return of, lost
}

// Misfit is a slot whose clicks do not agree with propensities.
type Misfit struct {
	Slot     string
	Clicks   float64 // in the slot, on pairs that were in other slots, too
	Expected float64 // from the clicks on these pairs in all slots
}

// The least misfit that is told: in standard errors, and as a share of the expected clicks.
const (
	misfitErrors = 5
	misfitShare  = 0.05
)

// misfit returns the slot that differs most from Σ_d E_dk C_d/E_d, if it differs by more than chance. E_dk has the
// examinations of pair d in slot k, E_d those in all slots, and C_d its clicks. Clicks vary as in a Poisson
// distribution, and θ by its standard error.
func (l *Log) misfit(k *looks, of []sums) (worst *Misfit) {
	n := len(k.theta)
	clicks, expected, variance := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, c := range l.Cells.List {
		s, cell := &of[c.Pair], l.Cells.Counts[i]
		own := float64(k.theta[c.Slot] * cell.Shown)
		if !k.known[c.Slot] || !(own > 0) || !(s.net > 0) || !(s.looked > own) {
			continue
		}
		from := float64(own * s.net / s.looked)
		clicks[c.Slot] += cell.Clicked - float64(k.beta[c.Slot]*cell.Shown)
		expected[c.Slot] += from
		variance[c.Slot] += float64(from * (1 - own/s.looked)) // and the slope of the expected clicks by ln θ
	}
	most := float64(misfitErrors)
	for slot := range n {
		off := math.Abs(clicks[slot] - expected[slot])
		by := float64(variance[slot] * k.errors[slot])
		se := math.Sqrt(variance[slot] + float64(by*by))
		if off > misfitShare*expected[slot] && off > float64(most*se) {
			most = off / se
			worst = &Misfit{l.place(slot).slot, clicks[slot], expected[slot]}
		}
	}
	return worst
}

// row is the grade and the weight of a pair.
type row struct{ grade, weight float64 }

// of returns the row of a pair, given the weight of the pages of its query and, for Robust, its predicted relevance.
func (o *Options) of(s *sums, pages, predicted float64) row {
	switch o.Debias {
	case Examinations:
		return row{s.net / s.looked, s.looked / pages}
	case Robust:
		n := s.looked + o.Shrink
		return row{predicted + (s.net-float64(predicted*s.looked))/n, s.looked / n}
	case IPS:
		return row{s.net / max(s.could, float64(o.Clip*pages)), 1}
	case Affine:
		return row{s.net / s.looked, 1}
	case None:
	}
	return row{s.clicks / s.shown, 1}
}

// evidence reports whether there is a grade of a pair.
func (o *Options) evidence(s *sums) bool {
	if o.Debias == IPS {
		return s.could > 0
	}
	return s.looked > 0
}

// QueryWeight is how the weight of a query grows with the weight n of its pages.
type QueryWeight string

// The weights, before they are scaled to mean 1.
const (
	Pages QueryWeight = "pages" // n
	Sqrt  QueryWeight = "sqrt"  // √n
	One   QueryWeight = "one"   // 1
)

// QueryWeights are all of them.
var QueryWeights = []QueryWeight{Pages, Sqrt, One}

func (w QueryWeight) of(pages float64) float64 {
	switch w {
	case Pages:
		return pages
	case One:
		return 1
	case Sqrt:
	}
	return math.Sqrt(pages)
}

func (o *Options) check() error {
	switch {
	case !slices.Contains(Debiases, o.Debias):
		return fmt.Errorf("found grades %q, expected one of %v", o.Debias, Debiases)
	case o.QueryWeight != "" && !slices.Contains(QueryWeights, o.QueryWeight):
		return fmt.Errorf("found query weight %q, expected one of %v", o.QueryWeight, QueryWeights)
	case !(o.Shrink >= 0) || math.IsInf(o.Shrink, 1):
		return fmt.Errorf("found shrinkage %v, expected a number of 0 or more", o.Shrink)
	case !(o.Clip >= 0 && o.Clip <= 1):
		return fmt.Errorf("found clip %v, expected a number from 0 to 1", o.Clip)
	case o.Debias == Robust && o.Regression == nil:
		return errors.New("found no regression, expected the one that robust needs")
	}
	return nil
}
