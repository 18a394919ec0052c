package clickreport

import (
	"context"
	"errors"

	"github.com/listwise/listwise/click/propensity"
)

// mostResamples is the largest number of bootstrap samples for the propensities of a page.
const mostResamples = 100

// Curve has the propensities of slots by a method, or why it cannot tell them.
type Curve struct {
	Method   propensity.Method    `json:"method"`
	Estimate *propensity.Estimate `json:"estimate,omitempty"` // nil if the log does not tell it
	Lacks    string               `json:"lacks,omitempty"`    // why the method tells no slots, or not all
}

// compared are the methods that need nothing but pages. Each of the first three compares the same documents in
// different slots.
var compared = []propensity.Method{propensity.Shuffle, propensity.Swap, propensity.Harvest, propensity.EM}

// intervenes reports whether a method compares the same documents in different slots.
func intervenes(m propensity.Method) bool { return m != propensity.EM }

// estimate estimates the propensities by every method.
func (l *Log) estimate(ctx context.Context, r *Report) error {
	r.Propensities = []Curve{}
	if r.Info.Clicks == 0 {
		return nil
	}
	for _, m := range compared {
		c := Curve{Method: m}
		o := propensity.Options{Method: m, Resamples: min(l.config.Resamples, mostResamples), Seed: l.config.Seed}
		err := l.config.During("estimating propensities by "+string(m), func() (err error) {
			c.Estimate, err = l.propensities.Estimate(ctx, o)
			_, refused := errors.AsType[*propensity.Refusal](err)
			if !refused {
				return err
			}
			c.Lacks = err.Error()[len(m)+len(": "):]
			for o.Top = min(r.reached(m), mostRows); o.Top > 1 && refused; o.Top-- {
				c.Estimate, err = l.propensities.Estimate(ctx, o)
				_, refused = errors.AsType[*propensity.Refusal](err)
			}
			if err == nil {
				return nil
			}
			c.Estimate = nil
			return nil
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.Estimate, c.Lacks = nil, err.Error()
		}
		r.Propensities = append(r.Propensities, c)
	}
	return nil
}

// reached returns an upper bound for the number of the first slots of which the log tells something by a method.
func (r *Report) reached(m propensity.Method) (n int) {
	names := map[propensity.Method][]string{propensity.Shuffle: {"shuffled"}, propensity.Swap: {"swapped", "pairs"}, propensity.Harvest: {"harvest"}}
	for _, i := range r.Info.Methods {
		for _, name := range names[m] {
			if i.Method == name {
				n = max(n, len(i.Slots))
			}
		}
	}
	return n
}
