package clickreport

import (
	"context"

	"github.com/listwise/listwise/click/propensity"
)

// mostResamples is the largest number of bootstrap samples for the propensities of a page.
const mostResamples = 100

// compared are the methods that need nothing but pages. Each of the first three compares the same documents in
// different slots.
var compared = []propensity.Method{propensity.Shuffle, propensity.Swap, propensity.Harvest, propensity.EM}

// intervenes reports whether a method compares the same documents in different slots.
func intervenes(m propensity.Method) bool { return m != propensity.EM }

// estimate estimates the propensities by every method.
func (l *Log) estimate(ctx context.Context, r *Report) error {
	r.Propensities = []propensity.Told{}
	if r.Info.Clicks == 0 {
		return nil
	}
	for _, m := range compared {
		err := l.config.During("estimating propensities by "+string(m), func() error {
			o := propensity.Options{Method: m, Top: mostRows, Resamples: min(l.config.Resamples, mostResamples), Seed: l.config.Seed}
			told, err := l.propensities.Tell(ctx, o)
			r.Propensities = append(r.Propensities, told)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
