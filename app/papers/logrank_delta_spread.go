package papers

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"github.com/listwise/listwise/learn/method"
)

// deltaSpread says what Δ is beside the energies w·δφ, over the rankings sampled for a query:
// means over the first fold's training queries, at the chosen MLE of the same rankings.
type deltaSpread struct {
	data, measure, sampler string

	energy  float64 // standard deviation of w·δφ
	delta   float64 // standard deviation of Δ
	counted float64 // share of Δ's variance that the number of inverted pairs explains
	queries int
}

// spreads measures all sets, training measures and samplers.
func (d deltaStudy) spreads(o Options, s *results) ([]deltaSpread, error) {
	sources, _, err := d.data(o)
	if err != nil {
		return nil, err
	}
	var all []deltaSpread
	for i, c := range s.columns {
		folds, err := sources[i].read()
		if err != nil {
			return nil, err
		}
		for _, m := range d.trained {
			for _, sampler := range d.samplers {
				if sampler.exact || !sampler.sums(m) {
					continue
				}
				found, err := d.spread(c, s, sampler, m, folds[0].Train)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", c.name, sampler.name, err)
				}
				all = append(all, found)
			}
		}
	}
	return all, nil
}

func (d deltaStudy) spread(c *column, s *results, sampler deltaSampler, m string, train *dataset.Dataset) (deltaSpread, error) {
	likelihood := c.rows[s.rowNamed(sampler.likelihood(m))][0].Folds[0].Model
	convex := c.rows[s.rowNamed(sampler.convex(m, d.betas[0]))][0].Folds[0].Model
	config, _, err := method.LogRankOf(convex)
	if err != nil {
		return deltaSpread{}, err
	}
	scores, err := likelihood.Score(train)
	if err != nil {
		return deltaSpread{}, err
	}
	all := deltaSpread{data: c.name, measure: m, sampler: sampler.name}
	varied := 0
	for _, q := range rankable(train) {
		set, err := sample.Draw(q.pairs, config.Gain, config.Sampler, random.Stream(s.options.Seed, "bind", q.query.Content()))
		if err != nil {
			return deltaSpread{}, fmt.Errorf("query %q: %w", q.query.ID, err)
		}
		states := statesOf(set, q.pairs, scores[q.query.Start:q.query.Start+q.query.Len()])
		all.queries++
		all.energy += math.Sqrt(variance(states, energyOf))
		of := variance(states, deltaOf)
		all.delta += math.Sqrt(of)
		if of > 0 {
			varied++
			all.counted += 1 - withinCounts(states)/of
		}
	}
	all.energy /= float64(all.queries)
	all.delta /= float64(all.queries)
	all.counted /= float64(varied)
	return all, nil
}

// state is a sampled ranking.
type state struct {
	energy   float64 // w·δφ, κ = 1
	delta    float64
	inverted int // pairs
}

func energyOf(s state) float64 { return s.energy }
func deltaOf(s state) float64  { return s.delta }

// statesOf returns the rankings of a sample that count, under a query's scores.
func statesOf(set *sample.Set, pairs bipartite.Classes, scores []float64) []state {
	bad := make([]bool, pairs.Docs())
	for _, b := range pairs.Bad {
		bad[b] = true
	}
	var states []state
	add := func(at int, energy float64, inverted int) {
		if set.LogWeight == nil || !math.IsInf(set.LogWeight[at], -1) {
			states = append(states, state{2 * energy, within(1 - set.Gain[at]), inverted})
		}
	}
	for walk := range set.Walks {
		energy, inverted := 0.0, 0
		for doc, coefficient := range set.Restarts[set.Start[walk]] {
			energy -= float64(coefficient * scores[doc])
			if bad[doc] {
				inverted += int(coefficient)
			}
		}
		add(walk, energy, inverted)
		for t := range set.Steps {
			up, down := set.Plus[t*set.Walks+walk], set.Minus[t*set.Walks+walk]
			energy += scores[down] - scores[up]
			if bad[up] {
				inverted++
			} else {
				inverted--
			}
			if (t+1)%set.Thin == 0 {
				add((t+1)/set.Thin*set.Walks+walk, energy, inverted)
			}
		}
	}
	if set.Ideal {
		add(set.Len()-1, 0, 0)
	}
	return states
}

// variance is that of a property over the states.
func variance(states []state, of func(state) float64) float64 {
	var sum, square float64
	for _, s := range states {
		sum += of(s)
	}
	mean := sum / float64(len(states))
	for _, s := range states {
		square += float64((of(s) - mean) * (of(s) - mean))
	}
	return square / float64(len(states))
}

// withinCounts is the variance of Δ among states of equally many inverted pairs.
func withinCounts(states []state) float64 {
	byCount := make(map[int][]state)
	for _, s := range states {
		byCount[s.inverted] = append(byCount[s.inverted], s)
	}
	terms := make([]float64, 0, len(states)) // in the order of the states, for the same sum each time
	for _, s := range states {
		if group := byCount[s.inverted]; group != nil {
			terms = append(terms, variance(group, deltaOf)*float64(len(group)))
			byCount[s.inverted] = nil
		}
	}
	sum := 0.0
	for _, v := range terms {
		sum += v
	}
	return sum / float64(len(states))
}

// addSpreads adds them to the report.
func addSpreads(all []deltaSpread, r *Report) {
	t := Table{
		Title: "size of w·δφ beside Δ over a query's sampled rankings, at the MLE of the same rankings; β at which both spread alike; share of Δ's variance that the number of inverted pairs explains",
		Left:  3, Columns: []string{"data", "Δ = 1 −", "sampler", "sd of w·δφ", "sd of Δ", "β alike", "explained"},
	}
	sheet := Sheet{Name: "spread", Columns: []string{"data", "measure", "sampler", "sd_energy", "sd_delta", "beta_alike", "explained", "queries"}}
	for _, s := range all {
		alike := s.energy / s.delta
		t.Rows = append(t.Rows, []string{
			s.data, title(s.measure), s.sampler, fmt.Sprintf("%.3g", s.energy), fmt.Sprintf("%.3g", s.delta), fmt.Sprintf("%.3g", alike), fmt.Sprintf("%.0f %%", 100*s.counted),
		})
		sheet.Rows = append(sheet.Rows, []any{s.data, s.measure, s.sampler, s.energy, s.delta, orNil(alike), orNil(s.counted), s.queries})
	}
	r.Tables = append(r.Tables, t)
	r.Sheets = append(r.Sheets, sheet)
	largest := 0.0
	for _, s := range all {
		largest = max(largest, s.delta/s.energy)
	}
	r.note("At the paper's β = 1 the standard deviation of Δ is at most %.2g times that of w·δφ.", largest)
}
