package propensity

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// Estimate has propensities with their errors.
type Estimate struct {
	Method Method  `json:"method"`
	Reason string  `json:"reason,omitempty"` // of the choice, if the method was chosen
	Pages  int     `json:"pages"`
	Weight float64 `json:"weight"` // of the pages
	Groups int     `json:"groups"` // of units, which the errors take for independent

	Resamples int     `json:"resamples,omitempty"` // of the bootstrap, 0 without
	Seed      uint64  `json:"seed,omitempty"`
	Level     float64 `json:"level"` // of the intervals

	Slots []Slot `json:"slots"` // from top to bottom

	// Covariance has the covariances of the logarithms of Theta: row i has those of slot i with slots 0 … i. It is nil
	// without errors, or with more than 100 slots.
	Covariance [][]float64 `json:"covariance,omitempty"`

	// Check tells whether a position-based model fits, for Harvest.
	Check *Check `json:"check,omitempty"`

	// Parts are estimates by a value of the pages, shrunk to those of all pages. Shrinkage is the standard
	// deviation of the logarithms between parts.
	By        string  `json:"by,omitempty"`
	Shrinkage float64 `json:"shrinkage,omitempty"`
	Parts     []Part  `json:"parts,omitempty"`

	Notes []string `json:"notes,omitempty"`

	resamples [][]float64 // deviations of the logarithms of Theta from their mean; nil where a resample failed
	factor    float64     // of their sum of squares that is the variance
}

// Slot is a slot with its propensity. Without errors, SE, Low and High are nil.
type Slot struct {
	Slot  string   `json:"slot"`
	Theta float64  `json:"theta"` // 1 for the first slot
	SE    *float64 `json:"se"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`

	Impressions   float64 `json:"impressions"`
	Clicks        float64 `json:"clicks"`
	Interventions float64 `json:"interventions"` // pages where chance decided what stood in the slot

	// Alpha and Beta are those of trust: a click has the probability α γ + β.
	Alpha *Value `json:"alpha,omitempty"`
	Beta  *Value `json:"beta,omitempty"`
}

// Value is an estimate with its standard error, nil if unknown.
type Value struct {
	Value float64  `json:"value"`
	SE    *float64 `json:"se"`
}

// Check compares the ratio of clicks on pairs in two slots with the ratio of their propensities.
type Check struct {
	Slots [2]string `json:"slots"` // with the largest |z|
	Z     float64   `json:"z"`
	Pairs int       `json:"pairs"` // of slots that were compared
	P     float64   `json:"p"`     // of the largest |z| among so many
}

// Part is an estimate from the pages with a value.
type Part struct {
	Value string  `json:"value"`
	Pages int     `json:"pages"`
	Alone bool    `json:"alone"` // whether these pages tell propensities; if not, they are those of all pages
	Slots []Slot  `json:"slots"`
	Own   []Value `json:"own,omitempty"` // propensities without shrinkage
}

// names returns the names of the slots.
func (e *Estimate) names() []string {
	names := make([]string, len(e.Slots))
	for i := range names {
		names[i] = e.Slots[i].Slot
	}
	return names
}

// report makes slots of logarithms with their errors.
func (l *Log) report(order []int, f *fitted) []Slot {
	q := quantile(max(1, l.groupCount()-1))
	slots := make([]Slot, len(order))
	for i, n := range order {
		t := l.slots[n]
		slots[i] = slot(l.index.Slots()[n], f, i, q)
		slots[i].Impressions, slots[i].Clicks, slots[i].Interventions = t.shown, t.clicks, t.drawn
		if k := len(order); len(f.more) == 2*k { // trust
			of := func(j int) *Value {
				v := &Value{Value: f.more[j]}
				if f.moreErrors != nil {
					v.SE = known(f.moreErrors[j])
				}
				return v
			}
			slots[i].Alpha, slots[i].Beta = of(i), of(k+i)
		}
	}
	return slots
}

func slot(name string, f *fitted, i int, quantile float64) Slot {
	s := Slot{Slot: name, Theta: elementary.Exp(f.logs[i])}
	if f.errors != nil {
		e := f.errors[i]
		s.SE = known(s.Theta * e)
		if s.SE != nil {
			s.Low, s.High = known(elementary.Exp(f.logs[i]-float64(quantile*e))), known(elementary.Exp(f.logs[i]+float64(quantile*e)))
		}
	}
	return s
}

// known returns a finite number, nil for any other.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// check finds the two slots that a position-based model fits worst. It returns nil if no two can be compared.
func check(slots []Slot, f *fitted) *Check {
	c, i := &Check{}, 0
	for a := range slots {
		for b := range a {
			if f.moreErrors != nil && f.moreErrors[i] > 1e-9 && len(slots) > 2 {
				c.Pairs++
				if z := f.more[i] / f.moreErrors[i]; math.Abs(z) > math.Abs(c.Z) {
					c.Z, c.Slots = z, [2]string{slots[a].Slot, slots[b].Slot}
				}
			}
			i++
		}
	}
	if c.Pairs == 0 {
		return nil
	}
	c.P = min(1, float64(c.Pairs)*elementary.Erfc(math.Abs(c.Z)/math.Sqrt2))
	return c
}
