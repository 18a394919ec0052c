package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// Least is the distance of a probability from 0 and 1 at which it is clipped, in parameters and in
// logarithms.
const Least = 1e-6

func clip(p float64) float64 { return min(max(p, Least), 1-Least) }

// Prior is the Beta prior of the parameters of pairs. It adds Strength times its mean to the numerator of a
// parameter and Strength to its denominator. Parameters that pairs share have the prior of Laplace: 1
// and 2.
type Prior struct {
	Strength float64
	Mean     bool // the mean is that of all pairs, not 1/2
}

// Laplace is the prior with mean 1/2 and strength 2 for all parameters.
var Laplace = Prior{Strength: 2}

// DefaultPrior has the mean of all pairs. A prior with mean 1/2 ranks pairs that users hardly looked at
// above most others.
var DefaultPrior = Prior{Strength: 3, Mean: true}

// maxStrength is the largest strength of a prior.
const maxStrength = 1e6

// ParsePrior reads laplace or mean:STRENGTH.
func ParsePrior(text string) (Prior, error) {
	if text == "laplace" {
		return Laplace, nil
	}
	number, ok := strings.CutPrefix(text, "mean:")
	strength, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(strength > 0 && strength <= maxStrength) {
		return Prior{}, fmt.Errorf("found prior %q, expected laplace or mean:STRENGTH with a strength above 0, %v at most, such as mean:3", text, maxStrength)
	}
	return Prior{strength, true}, nil
}

func (p Prior) String() string {
	if p == Laplace {
		return "laplace"
	}
	return "mean:" + strconv.FormatFloat(p.Strength, 'g', -1, 64)
}

// Options are the options of a fit.
type Options struct {
	Prior      Prior   // the zero value is DefaultPrior
	Iterations int     // largest number of iterations; 0 is DefaultIterations
	Tolerance  float64 // iterations end when the objective gains less than this share of itself; 0 is DefaultTolerance, negative is never
	Exact      bool    // fit DCM and SDBN by expectation maximisation
	Workers    int     // 0 is all cores; the result does not depend on it
}

// Defaults of Options.
const (
	DefaultIterations = 50
	DefaultTolerance  = 1e-7
)

// Step is an iteration of a fit. Objective is the log-likelihood after it plus the logarithm of the prior's density,
// up to a constant. Both fields are under the prior of this iteration, whose mean changes between iterations.
type Step struct{ Objective, Gain float64 }

// ErrNoClicks is the error of a fit of pages without clicks.
var ErrNoClicks = errors.New("found no clicks, expected at least one")

// Fit fits a model.
func (d *Data) Fit(ctx context.Context, k *Kind, o Options) (*Model, error) {
	if d.clicks == 0 {
		return nil, ErrNoClicks
	}
	if k.Patterns && d.page == nil {
		return nil, fmt.Errorf("%s needs the patterns of pages, which the counts do not have", k.Name)
	}
	if o.Prior == (Prior{}) {
		o.Prior = DefaultPrior
	}
	if o.Iterations == 0 {
		o.Iterations = DefaultIterations
	}
	if o.Tolerance == 0 {
		o.Tolerance = DefaultTolerance
	}
	m := &Model{Kind: k, Prior: o.Prior, Exact: o.Exact && k.Exact, Pages: d.pages, names: d.names, Unseen: Pair{0.5, 0.5}}
	if k.shared.by == bySlot {
		m.Slots = d.slots
	}
	if k.shared.by == byRank {
		m.Ranks = d.ranks
	}
	half := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 0.5
		}
		return x
	}
	if k.attracts {
		m.Attraction = half(d.names.len())
	}
	if k.satisfies {
		m.Satisfaction = half(d.names.len())
	}
	m.Shared = half(k.shared.size(len(d.slots), d.ranks))
	if err := k.law.fit(&fitting{Model: m, d: d, o: o, ctx: ctx}); err != nil {
		return nil, err
	}
	return m, nil
}

// fitting is a model while it is fitted.
type fitting struct {
	*Model
	d   *Data
	o   Options
	ctx context.Context //nolint:containedctx // lives as long as the call
}

// rate returns (A + num) / (B + den) for a pair's parameter, with the prior's mean.
func (f *fitting) rate(mean, num, den float64) float64 {
	s := f.Prior.Strength
	return clip((float64(s*mean) + num) / (s + den))
}

// laplace returns (1 + num) / (2 + den).
func laplace(num, den float64) float64 { return clip((1 + num) / (2 + den)) }

// inside returns (½ + num) / (1 + den), which is not 0 or 1. A prior with such a mean would make grades certain if all
// or none of a log's places were clicked.
func inside(num, den float64) float64 { return (0.5 + num) / (1 + den) }

// mean returns the prior's mean for parameters with the given mean over all pairs.
func (f *fitting) mean(all float64) float64 {
	if !f.Prior.Mean {
		return 0.5
	}
	return clip(all)
}

// rates sets the parameters of all pairs by their closed form, and the parameter of unseen pairs.
func (f *fitting) rates(to []float64, unseen *float64, num, den []float64) {
	var nums, dens float64
	for i := range num {
		nums, dens = nums+num[i], dens+den[i]
	}
	*unseen = f.mean(inside(nums, dens))
	for i := range to {
		to[i] = f.rate(*unseen, num[i], den[i])
	}
}

// estimator is a model that is fitted by expectation maximisation.
type estimator interface {
	// expect computes what is expected of the latent states at the present parameters.
	expect() expectation
	// maximise sets the parameters by what expect has computed and the prior of mean f.Unseen.
	maximise()
}

// expectation is what an iteration needs to know besides the latent states.
type expectation struct {
	loglik float64
	means  Pair // of the parameters of pairs, for the prior
	logs   priorLogs
}

// ascend iterates. Expectation maximisation never lowers the objective.
func (f *fitting) ascend(e estimator) error {
	var last expectation
	for i := 0; ; i++ {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		now := e.expect()
		if i > 0 {
			step := Step{Objective: now.loglik + f.logPrior(now.logs)}
			step.Gain = step.Objective - (last.loglik + f.logPrior(last.logs))
			f.Steps = append(f.Steps, step)
			f.Iterations = i
			if step.Gain < f.o.Tolerance*math.Abs(step.Objective) {
				return nil
			}
		}
		if last = now; i == f.o.Iterations {
			return nil
		}
		clicks := f.d.clicks
		f.Unseen = Pair{f.mean(inside(clicks, clicks/now.means.Attraction)), f.mean(inside(float64(clicks*now.means.Satisfaction), clicks))}
		e.maximise()
	}
}

// priorLogs are sums of logarithms of parameters and of their complements.
type priorLogs struct{ attraction, satisfaction, shared [2]float64 }

// logs returns the sums of the logarithms of x and of 1 − x. If weights is not nil, weighted is the weighted sum
// of the logarithms of x.
func (f *fitting) logs(x, weights []float64) (sums [2]float64, weighted float64) {
	const size = 1 << 12
	n := (len(x) + size - 1) / size
	all := make([][3]float64, n)
	parallel.For(n, f.o.Workers, func(_, b int) {
		from, to := b*size, min((b+1)*size, len(x))
		var buffer [size]float64
		own := buffer[:to-from]
		kernel.Log(own, x[from:to])
		all[b][0] = kernel.Sum(own)
		if weights != nil {
			all[b][2] = kernel.Dot(own, weights[from:to])
		}
		for i, v := range x[from:to] {
			own[i] = 1 - v
		}
		kernel.Log(own, own)
		all[b][1] = kernel.Sum(own)
	})
	for _, s := range all {
		sums[0], sums[1], weighted = sums[0]+s[0], sums[1]+s[1], weighted+s[2]
	}
	return sums, weighted
}

func (f *fitting) logPrior(p priorLogs) float64 {
	s, mean := f.Prior.Strength, f.Unseen
	of := func(logs [2]float64, mean float64) float64 {
		return float64(s*mean*logs[0]) + float64(s*(1-mean)*logs[1])
	}
	return of(p.attraction, mean.Attraction) + of(p.satisfaction, mean.Satisfaction) + p.shared[0] + p.shared[1]
}
