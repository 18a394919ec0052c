package model

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// Estimate is a value with an interval of 95 % from a bootstrap over units. Without an interval, Low and High
// are infinite.
type Estimate struct{ Value, Low, High float64 }

// Measures tell how well a model predicts the clicks of pages.
type Measures struct {
	LogLikelihood Estimate // mean over pages of the mean over ranks of ln P(click or none | clicks above)

	// The perplexity of a rank is 2^−(mean of log₂ P over pages). That of the model is the mean over ranks. It is 1 for
	// perfect predictions and 2 for those of a coin.
	Perplexity  Estimate // P of a click or none, the clicks above not known
	Conditional Estimate // P given the clicks above
	Ranks       []RankMeasures

	// Less are the differences from the model with the greatest log-likelihood, on the same pages.
	Less struct{ LogLikelihood, Perplexity, Conditional Estimate }
}

// RankMeasures are the perplexities of a rank, over the pages that have it.
type RankMeasures struct{ Perplexity, Conditional Estimate }

// Comparison is the result of Compare.
type Comparison struct {
	Pages, Units int
	LeftOut      int      // pages with slots that a model does not have
	Unknown      []string // these slots
	Best         int      // index of the model with the greatest log-likelihood
	Models       []Measures
}

// CompareOptions are the options of Compare.
type CompareOptions struct {
	Resamples int // bootstrap samples; 0 is none
	Seed      uint64
	Workers   int // 0 is all cores; the result does not depend on it
}

// Compare measures models on the same pages, which should not be those of the fit.
func Compare(ctx context.Context, models []*Model, s *Sample, o CompareOptions) (*Comparison, error) {
	c := &comparing{s: s, ranks: s.Ranks, c: &Comparison{}}
	c.leaveOut(models)
	weights := make([]float64, s.Patterns.Len())
	unit := make([]bool, s.Units())
	for _, p := range s.pages {
		if c.known[p.pattern] {
			c.c.Pages++
			weights[p.pattern] += p.weight
			unit[p.unit] = true
		} else {
			c.c.LeftOut++
		}
	}
	for _, has := range unit {
		if has {
			c.c.Units++
		}
	}
	if c.c.Pages == 0 {
		return nil, fmt.Errorf("found no page whose slots all models have, expected at least one")
	}
	if err := s.Mem.Take(int64(8*len(models)*start(s.Patterns.Len(), s.Patterns.Places())), "probabilities of held-out clicks"); err != nil {
		return nil, err
	}
	for _, m := range models {
		c.logs = append(c.logs, c.logsOf(m, o.Workers))
	}
	values := make([][]float64, len(models))
	for i := range models {
		values[i] = make([]float64, c.width())
		c.measure(i, weights, values[i])
		if values[i][0] > values[c.c.Best][0] {
			c.c.Best = i
		}
	}
	drawn, err := c.bootstrap(ctx, o)
	if err != nil {
		return nil, err
	}
	for i := range models {
		c.c.Models = append(c.c.Models, c.measures(i, values, drawn))
	}
	return c.c, nil
}

// comparing is a comparison in progress.
type comparing struct {
	s     *Sample
	ranks int
	known []bool      // of the patterns, whether all models have their slots
	logs  [][]float64 // of the models: for each pattern its mean log-likelihood, then log₂ of full and conditional by rank
	c     *Comparison
}

// leaveOut finds the patterns with slots that a model does not have.
func (c *comparing) leaveOut(models []*Model) {
	p := &c.s.Patterns
	c.known = make([]bool, p.Len())
	unknown := map[string]bool{}
	names := c.s.Slots()
	for i := range c.known {
		page := p.At(i)
		c.known[i] = true
		for _, m := range models {
			for r, slot := range page.Slots {
				name := names[slot]
				if m.shared.by == byRank {
					name = strconv.Itoa(r + 1)
				}
				if m.shared.by == byRank && r >= m.Ranks || m.shared.by == bySlot && !slices.Contains(m.Slots, name) {
					c.known[i] = false
					if !unknown[name] {
						unknown[name] = true
						c.c.Unknown = append(c.c.Unknown, name)
					}
				}
			}
		}
	}
}

// start returns the place in logs of pattern i, which begins at the given place of the log.
func start(i, place int) int { return i + 2*place }

func (c *comparing) logsOf(m *Model, workers int) []float64 {
	p := &c.s.Patterns
	out := make([]float64, start(p.Len(), p.Places()))
	pairs := make([]int32, c.s.Pairs())
	for i := range pairs {
		pairs[i] = m.names.find(c.s.Name(i))
	}
	slots := make([]int32, len(c.s.Slots()))
	for i, name := range c.s.Slots() {
		slots[i] = int32(slices.Index(m.Slots, name))
	}
	const size = 256
	parallel.For((p.Len()+size-1)/size, workers, func(_, b int) {
		v := view{Model: m}
		for i := b * size; i < min((b+1)*size, p.Len()); i++ {
			if c.known[i] {
				v.load(p, i, pairs, slots)
				v.logs(out[start(i, p.Start(i)):start(i+1, p.Start(i+1))])
			}
		}
	})
	return out
}

// load sets the view to a pattern. pairs and slots are the model's numbers.
func (v *view) load(p *click.Patterns, i int, pairs, slots []int32) {
	page := p.At(i)
	v.reset(len(page.Pairs))
	copy(v.click, page.Clicked)
	for r, pair := range page.Pairs {
		v.set(r, pairs[pair])
		v.slot[r] = slots[page.Slots[r]]
	}
}

// logs sets out to the mean log-likelihood, and log₂ of the full and conditional probabilities.
func (v *view) logs(out []float64) {
	n := len(v.a)
	v.law.full(v)
	for r, p := range v.out {
		out[1+r] = elementary.Log2(happened(p, v.click[r]))
	}
	v.law.conditional(v)
	sum := 0.0
	for r, p := range v.out {
		p = happened(p, v.click[r])
		out[1+n+r] = elementary.Log2(p)
		sum += elementary.Log(p)
	}
	out[0] = sum / float64(n)
}

// happened returns the clipped probability of what happened.
func happened(p float64, click bool) float64 {
	p = clip(p)
	if !click {
		return 1 - p
	}
	return p
}

// width is the number of values of a model: the log-likelihood, both perplexities, and both by rank.
func (c *comparing) width() int { return 3 + 2*c.ranks }

// measure sets out to the values of a model on patterns with the given weights. A rank that no page has is NaN.
func (c *comparing) measure(model int, weights, out []float64) {
	clear(out)
	p, logs := &c.s.Patterns, c.logs[model]
	total := 0.0
	pages := make([]float64, c.ranks)
	full, conditional := out[3:3+c.ranks], out[3+c.ranks:]
	for i, w := range weights {
		if w == 0 || !c.known[i] {
			continue
		}
		own := logs[start(i, p.Start(i)):start(i+1, p.Start(i+1))]
		n := len(own) / 2
		total += w
		out[0] += float64(w * own[0])
		for r, l := range own[1 : 1+n] {
			pages[r] += w
			full[r] += float64(w * l)
		}
		for r, l := range own[1+n:] {
			conditional[r] += float64(w * l)
		}
	}
	out[0] /= total
	for k, sums := range [][]float64{full, conditional} {
		mean, n := 0.0, 0
		for r, s := range sums {
			if pages[r] == 0 {
				sums[r] = math.NaN()
				continue
			}
			sums[r] = elementary.Exp(-s / pages[r] * math.Ln2)
			mean += sums[r]
			n++
		}
		out[1+k] = mean / float64(n)
	}
}

// bootstrap returns the values of each sample and model.
func (c *comparing) bootstrap(ctx context.Context, o CompareOptions) ([][][]float64, error) {
	if c.c.Units < 2 {
		return nil, nil
	}
	drawn := make([][][]float64, o.Resamples)
	type scratch struct{ times, weights []float64 }
	work := make([]scratch, parallel.Workers(o.Workers, o.Resamples))
	parallel.For(o.Resamples, o.Workers, func(worker, b int) {
		if ctx.Err() != nil {
			return
		}
		w := &work[worker]
		if w.times == nil {
			*w = scratch{make([]float64, c.s.Units()), make([]float64, c.s.Patterns.Len())}
		}
		c.s.draw(random.Stream(o.Seed, "clicks", strconv.Itoa(b)), w.times, w.weights)
		drawn[b] = make([][]float64, len(c.logs))
		for i := range c.logs {
			drawn[b][i] = make([]float64, c.width())
			c.measure(i, w.weights, drawn[b][i])
		}
	})
	return drawn, ctx.Err()
}

func (c *comparing) measures(i int, values [][]float64, drawn [][][]float64) (m Measures) {
	of := func(k int) Estimate {
		return estimate(values[i][k], len(drawn), func(b int) float64 { return drawn[b][i][k] })
	}
	less := func(k int) Estimate {
		best := c.c.Best
		return estimate(values[i][k]-values[best][k], len(drawn), func(b int) float64 { return drawn[b][i][k] - drawn[b][best][k] })
	}
	m.LogLikelihood, m.Perplexity, m.Conditional = of(0), of(1), of(2)
	m.Less.LogLikelihood, m.Less.Perplexity, m.Less.Conditional = less(0), less(1), less(2)
	for r := range c.ranks {
		m.Ranks = append(m.Ranks, RankMeasures{of(3 + r), of(3 + c.ranks + r)})
	}
	return m
}

// estimate returns a value with the interval of the quantiles of samples. Samples that lack the rank are NaN and do not
// count.
func estimate(value float64, samples int, at func(b int) float64) Estimate {
	all := make([]float64, 0, samples)
	for b := range samples {
		if v := at(b); v == v {
			all = append(all, v)
		}
	}
	if len(all) < 2 {
		return Estimate{value, math.Inf(-1), math.Inf(1)}
	}
	slices.Sort(all)
	cut := int(float64(len(all)) * (1 - level) / 2)
	return Estimate{value, all[cut], all[len(all)-1-cut]}
}
