package papers

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"github.com/listwise/listwise/learn/method"
)

// deltaStudy examines whether the term βΔ(y) improves ConvexLoss, log Σ_y exp(−w·δφ(y) + βΔ(y)). Without
// the term, ConvexLoss is maximum likelihood estimation (MLE) on the same sampled rankings. For each
// seed, sampler and β, both are trained on the same sample. The study compares ConvexLoss with this MLE
// and with the MLE over all labelings, by the measure that ConvexLoss is trained for.
type deltaStudy struct {
	trained  []string // training measures; their validation values select C, and β in some rows
	samplers []deltaSampler
	betas    []string
	c        []string // values of C for training on samples
	factored []string // values of C for training on all labelings
	seeds    int
	made     govSize
}

// deltaSampler determines the rankings y in the sum of the loss. grid contains the settings of
// LogRank that differ from the defaults.
type deltaSampler struct {
	name  string
	grid  map[string][]string
	exact bool   // sums over all labelings instead of a sample; for synthetic data only
	only  string // the only training measure for this sampler; "" for all
}

// single sums over all labelings. This sum can be computed if every query has one relevant
// document, as in the synthetic data. For average precision it takes time quadratic in the number
// of documents.
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

// deltaSets are the real data sets; the experiment adds synthetic data.
var deltaSets = letorSetList{
	{name: "OHSUMED", queries: 106, documents: 16140, features: 45},
	{name: "MQ2008", queries: 784, documents: 15211, features: 46},
}

// The functions below return names of rows. Rows with the same training measure are compared.
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

// experiment returns the experiment: the study, and a table of the spread of Δ that explains its result.
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

// rows returns, for every training measure, the MLE over all labelings. For every sampler it adds the
// MLE on the sample, ConvexLoss for each β, and ConvexLoss with the β of the best validation value.
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

// sampled returns the rows of a sampler for the training measure m.
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

// sums reports whether the sampler is used for the training measure m.
func (d deltaSampler) sums(m string) bool { return d.only == "" || d.only == m }

// on reports whether the sampler is used for the data set of a column.
func (d deltaSampler) on(c *column) bool { return !d.exact || c.about != "" }

// grid returns the values of the settings that a row tries.
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

// data returns the data sets: the real data sets that were found, synthetic data, and OHSUMED
// cleaned as for Figure 3.
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

// deltaReferences are the rows with which ConvexLoss is compared.
var deltaReferences = []string{"MLE, same rankings", "MLE, all labelings"}

// reference returns the name of the row that is the k-th reference of a sampler.
func (d deltaSampler) reference(k int, m string) string {
	if k == 0 {
		return d.likelihood(m)
	}
	return deltaFactored(m)
}

// references returns the number of references of a sampler. The sampler for all labelings has one,
// because both references are then the same row.
func (d deltaSampler) references() int {
	if d.exact {
		return 1
	}
	return len(deltaReferences)
}

func (d deltaStudy) parts() []part {
	return []part{
		says{"source", logRank + ", sections 3 and 5"},
		command, seed, conventions, setSizes, notFound, partFunc(aboutMade), says{cleaned.name, cleaned.about},
		partFunc(func(s *results, r *Report) {
			r.fact("tried", "C=%s on samples, C=%s over all labelings", strings.Join(d.c, ","), strings.Join(d.factored, ","))
			r.fact("seeds", "%d to %d, a sample each, the same for all rows of a sampler", s.options.Seed, s.options.Seed+uint64(d.seeds)-1)
			for _, sampler := range d.samplers {
				r.fact(sampler.name, "%s", d.settings(s, sampler))
			}
		}),
		says{"chosen by", "validation values of the measure trained for: C always, β in the rows that say so"},
		says{"in sight", "of test data: long walks and β = 300 were taken up because single runs looked promising on MQ2008's test data; the eleven levels were added when the other tables were there; OHSUMED's test values, and those of other made data, were seen while other uses of Δ were tried"},
		says{"differences", "over the test queries and the seeds, with 95 % intervals, in the measure trained for"},
		partFunc(d.curves),
		d.chosenDifferences(),
		partFunc(d.overall),
		numberSheet{name: "values", fields: []field{dataField, methodField, measureField, oursField.as("mean"), neutralField, pooledField}},
		choiceSheet{name: "settings", bySeed: true, fields: []field{
			dataField, methodField, {"seed", func(p *place) any { return int(p.results.options.Seed) + p.seed }}, foldField, settingsField, validationField,
		}},
	}
}

// settings returns the settings that determine the rankings of a sampler.
func (d deltaStudy) settings(s *results, sampler deltaSampler) string {
	at := s.rowNamed(sampler.convex(d.trained[len(d.trained)-1], d.betas[0]))
	for _, c := range s.columns {
		if !sampler.on(c) {
			continue
		}
		var words []string
		for _, name := range []string{"form", "samples", "steps", "mix", "levels", "skew"} {
			words = append(words, name+"="+strings.Join(triedValues(&c.rows[at][0].Entry, name), ","))
			if sampler.exact {
				break
			}
		}
		return strings.Join(words, " ")
	}
	return "not on these sets"
}

// aboutMade adds the descriptions of the synthetic data to the report.
func aboutMade(s *results, r *Report) {
	for _, c := range s.columns {
		if c.about != "" {
			r.fact("mind", "%s: %s", c.name, c.about)
		}
	}
}

// chosenDifferences compares the rows in which validation selected β with their references.
func (d deltaStudy) chosenDifferences() part {
	list := differences{
		title: func(c *column, _ *view) string {
			return "β chosen by validation, " + c.name + ": differences with 95 % intervals; * significant at 5 % after Holm's correction over the table"
		},
		name: "chosen", main: true,
	}
	for _, m := range d.trained {
		for _, s := range d.samplers {
			for k := range s.references() {
				if !s.sums(m) {
					continue
				}
				list.pairs = append(list.pairs, pair{s.chosen(m), s.reference(k, m)})
			}
		}
	}
	return list
}

// deltaTest is a comparison in the measure by which both rows are trained or chosen.
type deltaTest struct {
	column  *column
	measure string
	sampler deltaSampler
	beta    string // "" if validation selected it
	against int    // index in deltaReferences
	difference
}

func (t *deltaTest) betaText() string {
	if t.beta == "" {
		return "chosen"
	}
	return t.beta
}

// tests compares ConvexLoss with its references for all sets, measures and samplers.
func (d deltaStudy) tests(s *results, betas ...string) []deltaTest {
	var all []deltaTest
	for _, c := range s.columns {
		for _, m := range d.trained {
			for _, sampler := range d.samplers {
				for _, beta := range betas {
					name := sampler.convex(m, beta)
					if beta == "" {
						name = sampler.chosen(m)
					}
					for k := range sampler.references() {
						found := c.views[0].difference(s.rowNamed(name), s.rowNamed(sampler.reference(k, m)), m)
						if !math.IsNaN(found.Mean) {
							all = append(all, deltaTest{c, m, sampler, beta, k, found})
						}
					}
				}
			}
		}
	}
	correct(len(all), func(i int) *difference { return &all[i].difference })
	return all
}

// deltaClaim is a claim of section 5.2.3, about the first reference.
const deltaClaim = "Δ is worth something: ConvexLoss is above the MLE of the same sampled rankings (5.2.3; our reading)"

// overall counts the significant differences of the rows in which validation selected β, for each
// reference. Holm's correction covers all sets, measures, samplers and references.
func (d deltaStudy) overall(s *results, r *Report) {
	all := d.tests(s, "")
	for k, reference := range deltaReferences {
		var own severalDifferences
		higher := 0
		for _, t := range all {
			if t.against != k {
				continue
			}
			own = append(own, t.difference)
			if t.Mean > 0 {
				higher++
			}
		}
		above, below := own.significant()
		figure := fmt.Sprintf("higher in %d of %d sets, samplers and measures, significantly above in %d and below in %d", higher, len(own), above, below)
		r.note("ConvexLoss with β chosen by validation against the %s: %s, after Holm's correction over all %d comparisons.", reference, figure, len(all))
		if k == 0 {
			r.found(byCounts(above, below), deltaClaim, "%s", figure)
		}
	}
}

// curves adds the differences by β to the report: a table and a plot for every set and measure, and one
// sheet with all numbers.
func (d deltaStudy) curves(s *results, r *Report) {
	sheet := Sheet{Columns: []string{"data", "trained_for", "sampler", "beta", "than", "difference", "error", "low", "high", "p", "holm", "queries", "seeds"}}
	all := d.tests(s, append([]string{""}, d.betas...)...)
	for _, t := range all {
		sheet.Rows = append(sheet.Rows, []any{
			t.column.name, t.measure, t.sampler.name, t.betaText(), deltaReferences[t.against], orNil(t.Mean), orNil(t.Error),
			orNil(t.Interval.Low), orNil(t.Interval.High), orNil(t.P), orNil(t.holm), t.queries, t.runs,
		})
	}
	r.Sheets = append(r.Sheets, sheet)
	for i, c := range s.columns {
		for j, m := range d.trained {
			var own []deltaTest
			for _, t := range all {
				if t.column == c && t.measure == m {
					own = append(own, t)
				}
			}
			r.Tables = append(r.Tables, d.curveTable(c, m, own))
			p := Plot{Plot: d.curvePlot(c, m, own)}
			if i+j > 0 {
				p.Name = strings.ReplaceAll(c.name+"-"+m, " ", "-")
			}
			r.Plots = append(r.Plots, p)
		}
	}
}

// curveTable returns a table with a row for each sampler and β.
func (d deltaStudy) curveTable(c *column, m string, tests []deltaTest) Table {
	t := Table{
		Title:   fmt.Sprintf("%s on %s, ConvexLoss trained for it minus the MLE of the column; * significant at 5 %% after Holm's correction over all these tables", title(m), c.name),
		Columns: append([]string{"sampler", "β"}, deltaReferences...), Left: 2,
	}
	for _, x := range tests {
		if x.against == 0 {
			t.Rows = append(t.Rows, []string{x.sampler.name, x.betaText(), x.text(), ""})
		} else {
			t.Rows[len(t.Rows)-1][2+x.against] = x.text()
		}
	}
	return t
}

// curvePlot plots each sampler's difference from the MLE of the same rankings. Samplers for all
// measures also show the confidence interval.
func (d deltaStudy) curvePlot(c *column, m string, tests []deltaTest) chart.Plot {
	p := chart.Plot{
		Title: fmt.Sprintf("What Δ adds to the MLE of the same rankings: %s on %s", title(m), c.name),
		X:     chart.Axis{Label: "β (logarithmic)", Log: true},
		Y:     chart.Axis{Label: "difference of " + title(m) + ", with 95 % intervals"},
	}
	for _, beta := range d.betas {
		p.X.Ticks = append(p.X.Ticks, chart.Tick{Value: parse(beta), Label: beta})
	}
	for _, s := range d.samplers {
		mean := chart.Series{Name: s.name, Kind: chart.LineMarkers}
		low, high := chart.Series{Name: s.name + ", lower end", Kind: chart.Line}, chart.Series{Name: s.name + ", upper end", Kind: chart.Line}
		for _, t := range tests {
			if t.sampler.name != s.name || t.against != 0 || t.beta == "" {
				continue
			}
			x := parse(t.beta)
			mean.X, mean.Y = append(mean.X, x), append(mean.Y, t.Mean)
			low.X, low.Y = append(low.X, x), append(low.Y, t.Interval.Low)
			high.X, high.Y = append(high.X, x), append(high.Y, t.Interval.High)
		}
		switch {
		case mean.X == nil:
		case s.only != "": // drawn without its interval, because there are only eight line styles
			p.Series = append(p.Series, mean)
		default:
			p.Series = append(p.Series, mean, low, high)
		}
	}
	return p
}

// deltaSpread compares the spread of Δ with the spread of the energy w·δφ, over the sampled
// rankings of a query. The numbers are means over the training queries of the first fold. w is the
// MLE on the same rankings.
type deltaSpread struct {
	data, measure, sampler string

	energy  float64 // standard deviation of w·δφ
	delta   float64 // standard deviation of Δ
	counted float64 // share of the variance of Δ that the number of inverted pairs explains
	queries int
}

// spreads returns the deltaSpread of every data set, training measure and sampler.
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

// state describes one sampled ranking y of a query.
type state struct {
	energy   float64 // w·δφ(y), with κ = 1
	delta    float64 // Δ(y)
	inverted int     // number of pairs with an irrelevant document above a relevant one
}

func energyOf(s state) float64 { return s.energy }
func deltaOf(s state) float64  { return s.delta }

// statesOf returns the states of the sampled rankings of a query with the given scores. It omits
// rankings with weight 0 in the sample.
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

// variance returns the variance of a property over the states.
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

// withinCounts returns the mean variance of Δ within groups of states with the same number of inverted
// pairs.
func withinCounts(states []state) float64 {
	byCount := make(map[int][]state)
	for _, s := range states {
		byCount[s.inverted] = append(byCount[s.inverted], s)
	}
	terms := make([]float64, 0, len(states)) // in the order of the states, so the sum always has the same bits
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

// addSpreads adds the spreads to the report: a table, a sheet and a note.
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
