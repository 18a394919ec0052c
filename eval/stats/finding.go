package stats

import (
	"fmt"
	"slices"
	"strings"
)

// Significant reports whether a p value is at most [Alpha], up to rounding.
func Significant(p float64) bool { return p <= Alpha+1e-12 }

// Finding returns a text that lists the pairs of systems whose difference is significant by the
// randomisation test with Holm's correction. The text also lists the pairs for which the max-T
// correction leads to the opposite decision. measure is the name of the measure. names are the
// names of the systems, in the order of Systems.
func (r *Comparison) Finding(measure string, names []string) string {
	var holm, more, fewer []string
	for i := range r.Pairs {
		p := &r.Pairs[i]
		byHolm, byMaxT := Significant(p.Randomization.Holm), Significant(p.Randomization.MaxT)
		switch {
		case byMaxT && !byHolm:
			more = append(more, p.order(names))
		case byHolm && !byMaxT:
			fewer = append(fewer, p.order(names))
		}
		if byHolm {
			holm = append(holm, p.order(names))
		}
	}
	between := ", "
	if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, ",") }) {
		between = "; "
	}
	family := fmt.Sprintf("%d pairs", len(r.Pairs))
	test := "randomization test, Holm over " + family
	if len(r.Pairs) == 1 {
		family, test = "1 pair", "randomization test"
	}
	text := fmt.Sprintf("Significant by %s at 0.05 (%s): %s.", measure, test, strings.Join(holm, between))
	if holm == nil {
		text = fmt.Sprintf("By %s none of %s differs significantly at 0.05 (%s).", measure, family, test)
	}
	if more != nil {
		text += " By max-T also: " + strings.Join(more, between) + "."
	}
	if fewer != nil {
		text += " By max-T not: " + strings.Join(fewer, between) + "."
	}
	return text
}

// order returns the names of a pair's systems as "better > worse".
func (p *Pair) order(names []string) string {
	a, b := names[p.A], names[p.B]
	if p.Difference < 0 {
		a, b = b, a
	}
	return a + " > " + b
}
