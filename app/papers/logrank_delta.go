package papers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// deltaStudy asks whether Δ helps. ConvexLoss, log Σ_y exp(−w·δφ(y) + βΔ(y)), is without Δ the
// maximum likelihood of the same sample. Both are trained on the same rankings, seed by seed,
// for several β and samplers; each is compared with that and with the MLE over all labelings,
// in the measure that is trained for.
type deltaStudy struct {
	trained  []string // training measures; C, and β where it is chosen, by their validation values
	samplers []deltaSampler
	betas    []string
	c        []string // tried by all rows on samples
	factored []string // tried by those over all labelings
	seeds    int
	made     govSize
}

// deltaSampler says which rankings are summed over: by the settings that are not the
// defaults.
type deltaSampler struct {
	name  string
	grid  map[string][]string
	exact bool   // all labelings, where all queries have one relevant document: in made data
	only  string // the one training measure that it is for; "" for all
}

// single is the sum over all labelings, which is known where every query has one relevant
// document: that of the made data. For average precision it takes a time quadratic in the
// documents.
var single = deltaSampler{name: "all labelings", grid: map[string][]string{"form": {"factored"}}, exact: true, only: "ndcg@10"}

var logRankDelta = deltaStudy{
	trained: []string{"map", "ndcg@10"},
	samplers: []deltaSampler{
		{name: "short walks"},
		{name: "long walks", grid: map[string][]string{"steps": {"100"}, "mix": {"0.5"}}},
		{name: "eleven levels", grid: map[string][]string{"levels": {"11"}, "skew": {"0"}}, only: "ndcg@10"},
		single,
	},
	betas:    []string{"1", "10", "100", "300"},
	c:        []string{"1e-3", "1e-2", "1e-1", "1"},
	factored: []string{"1e-4", "1e-3", "1e-2", "1e-1", "1", "10"},
	seeds:    drawnSeeds,
	made:     hp2004Size,
}

// deltaSets are those that are looked for; the experiment adds made data.
var deltaSets = letorSetList{
	{name: "OHSUMED", queries: 106, documents: 16140, features: 45},
	{name: "MQ2008", queries: 784, documents: 15211, features: 46},
}

// Names of rows. Those with the same training measure are compared.
func deltaFactored(m string) string { return "MLE by " + title(m) }

func (d deltaSampler) likelihood(m string) string {
	if d.exact {
		return deltaFactored(m)
	}
	return fmt.Sprintf("MLE by %s, %s", title(m), d.name)
}

func (d deltaSampler) convex(m, beta string) string {
	return fmt.Sprintf("ConvexLoss %s, %s, β = %s", title(m), d.name, beta)
}

func (d deltaSampler) chosen(m string) string {
	return fmt.Sprintf("ConvexLoss %s, %s, β chosen", title(m), d.name)
}

// experiment is the study, and what explains it.
func (d deltaStudy) experiment() Experiment {
	s := d.study()
	e := s.Experiment
	e.study = &s
	e.Run = func(ctx context.Context, o Options) (*Report, error) {
		found, err := s.train(ctx, o)
		if err != nil {
			return nil, err
		}
		spreads, err := d.spreads(o, found)
		if err != nil {
			return nil, err
		}
		r := found.begin(s.Experiment)
		r.add(found, s.parts...)
		addSpreads(spreads, r)
		return r, nil
	}
	return e
}

func (d deltaStudy) study() study {
	s := study{
		convention: letor3,
		Experiment: Experiment{
			Name:   "logrank-delta",
			Paper:  "LogRank",
			Title:  "LogRank: does Δ help?",
			Shows:  "whether ConvexLoss gains anything by Δ beside the maximum likelihood of the same sampled rankings, and for which β",
			Data:   "--data, any of " + strings.Join(deltaSets.names(), ", ") + "; and always made data of HP2004's shape",
			Reads:  true,
			Scales: "the number of queries of the made data",
		},
		data:     d.data,
		sizes:    deltaSets,
		rows:     d.rows(),
		seeds:    1,
		measures: []string{"map", "ndcg@10"},
		chosenBy: "map",
		records:  "{set}/seed{seed}/{group}",
	}
	s.parts = d.parts()
	return s
}

// rows are, for every training measure, the MLE over all labelings and, for every sampler,
// the MLE on the sample, ConvexLoss for each β, and ConvexLoss with the β of the best
// validation value.
func (d deltaStudy) rows() []row {
	var rows []row
	for _, m := range d.trained {
		rows = append(rows, row{
			name: deltaFactored(m), method: "mle", chosenBy: m, group: "factored " + m,
			grid: map[string][]string{"form": {"factored"}, "C": d.factored},
		})
		for _, s := range d.samplers {
			if s.sums(m) {
				rows = append(rows, d.sampled(m, s)...)
			}
		}
	}
	return rows
}

// sampled are the rows of a sampler.
func (d deltaStudy) sampled(m string, s deltaSampler) []row {
	like := row{chosenBy: m, group: s.name + " " + m, seeds: d.seeds, on: s.on}
	if s.exact {
		like.seeds = 1
	}
	var rows []row
	if !s.exact {
		mle := like
		mle.name, mle.method, mle.grid = s.likelihood(m), "mle", d.grid(s, "")
		rows = append(rows, mle)
	}
	best := like
	best.name = s.chosen(m)
	for _, beta := range d.betas {
		convex := like
		convex.name, convex.method, convex.training, convex.grid = s.convex(m, beta), "convexloss", m, d.grid(s, beta)
		rows, best.among = append(rows, convex), append(best.among, convex.name)
	}
	return append(rows, best)
}

// sums reports whether a sampler is for a training measure.
func (d deltaSampler) sums(m string) bool { return d.only == "" || d.only == m }

// on reports whether a sampler is for a column's set.
func (d deltaSampler) on(c *column) bool { return !d.exact || c.about != "" }

// grid is what a row tries.
func (d deltaStudy) grid(s deltaSampler, beta string) map[string][]string {
	grid := map[string][]string{"form": {"sampled"}, "C": d.c}
	if s.exact {
		grid["C"] = d.factored
	}
	maps.Copy(grid, s.grid)
	if beta != "" {
		grid["beta"] = []string{beta}
	}
	return grid
}

// data returns the real sets there are, made data and, last, OHSUMED cleaned as for Figure 3.
func (d deltaStudy) data(o Options) (found []source, missing []string, err error) {
	if o.Data != "" || o.Set != "" {
		if found, missing, err = deltaSets.find(o); err != nil {
			return nil, nil, err
		}
	}
	size := d.made
	size.queries = max(5, o.scaled(size.queries))
	made, err := syntheticGov(size, o.Seed)
	if err != nil {
		return nil, nil, err
	}
	found = append(found, made)
	if i := slices.IndexFunc(found, func(s source) bool { return s.name == "OHSUMED" }); i >= 0 {
		folds, err := found[i].read()
		if err != nil {
			return nil, nil, err
		}
		if folds, _, err = cleaned.apply(folds); err != nil {
			return nil, nil, err
		}
		found = append(found, source{name: "OHSUMED cleaned", folds: folds})
	}
	return found, missing, nil
}
