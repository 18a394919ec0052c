package papers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/tune"
)

// searchStandIns are public data sets. They replace the paper's search data, which are not public.
var searchStandIns = []string{"OHSUMED", "MQ2008"}

// lambdaRankReal repeats Figures 2 right and 3 of the paper on searchStandIns. It adds LambdaRank
// with the regularization of section 4.
func lambdaRankReal() study {
	s := study{
		Experiment: Experiment{
			Name:    "lambdarank-real",
			Paper:   "LambdaRank",
			Title:   "LambdaRank, Figures 2 right and 3: RankNet and LambdaRank on OHSUMED and MQ2008, in place of intranet and web search data",
			Picture: "Figure 3, of web data that are not public",
			Shows:   "whether LambdaRank is above RankNet on real data, at which truncation levels and with which nets, and what its regulariser does",
			Data:    "--data, any of " + strings.Join(searchStandIns, ", "),
			Reads:   true,
		},
		data:       baselineSets.only(searchStandIns...),
		sizes:      baselineSets,
		convention: standard,
		chosenBy:   fmt.Sprintf("ndcg@%d", artificialTop),
		measures:   ndcgUpTo(artificialTop),
		records:    "{set}/{group}",
	}
	leads, pulled, orders := s.addNets(realAlphas)
	s.parts = realParts(leads, pulled, orders)
	return s
}

// addNets adds the rows of each net: RankNet, LambdaRank, and LambdaRank with each α. It returns
// the pairs of LambdaRank and RankNet, the pairs of LambdaRank with and without α, and the orders
// that the paper claims for the first pairs.
func (s *study) addNets(alphas []alphaRates) (leads, pulled []pair, orders []order) {
	for _, n := range artificialNets {
		rankNet, lambdaRank := "RankNet "+n.name, "LambdaRank "+n.name
		leads = append(leads, pair{lambdaRank, rankNet})
		orders = append(orders, order{text: lambdaRank + " > " + rankNet, better: []string{lambdaRank}, than: []string{rankNet}})
		grid := burgesSchedule(realRates, realEpochs)
		s.rows = append(s.rows,
			row{name: rankNet, method: "ranknet", group: n.name, scorer: n.scorer, grid: grid, seeds: drawnSeeds},
			row{name: lambdaRank, method: "lambdarank", training: s.chosenBy, group: n.name, scorer: n.scorer, grid: grid, seeds: drawnSeeds})
		for _, alpha := range alphas {
			more := maps.Clone(grid)
			more["alpha"], more["rate"] = []string{alpha.value}, realRates[:alpha.rates]
			name := lambdaRank + " alpha=" + alpha.value
			pulled = append(pulled, pair{name, lambdaRank})
			s.rows = append(s.rows, row{name: name, method: "lambdarank", training: s.chosenBy, group: n.name, scorer: n.scorer, grid: more, seeds: drawnSeeds, unplotted: true})
		}
	}
	return leads, pulled, orders
}

// realRates are the rates for both methods. The paper's rates, 1e-7 to 1e-2, suit its data. These
// suit our data.
var realRates = []string{"1e-5", "1e-4", "1e-3", "1e-2", "1e-1", "1"}

const realEpochs = "100"

// realAlphas are the values of α. Each is combined with the rates up to 1e-4/α. Lists have hundreds
// of documents, so steps along the quadratic term diverge at alpha·rate of about 1e-3.
var realAlphas = []alphaRates{{"0.001", 5}, {"0.01", 4}, {"0.1", 3}}

// alphaRates is an α and the number of rates for it.
type alphaRates struct {
	value string
	rates int
}

func realParts(leads, pulled []pair, orders []order) []part {
	several := []string{"ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10"}
	heading := func(what string) func(*column, *view) string {
		return func(c *column, _ *view) string { return c.name + ": " + what }
	}
	nets := pair{leads[0].row, leads[1].than} // linear LambdaRank and two-layer RankNet
	return []part{
		says{"source", lambdaRank + ", sections 6.3.2 and 6.4"}, command, seed, setSizes, notFound, conventions,
		says{"schedule", "a step a query, rate × 0.8 when the training cost rose, new weights after 50 epochs without a lower one, " + realEpochs + " epochs (the paper: 300, and 200 on its small set)"},
		says{"chosen", "rate and epoch in each fold by validation NDCG@10; rates tried, for both methods: " + strings.Join(realRates, ", ") + "; with alpha those up to 1e-4/alpha, beyond which its steps diverge"},
		says{"numbers", fmt.Sprintf("means over folds and over %d seeds", drawnSeeds)},
		says{"intervals", "95 %, of differences paired over test queries and seeds; * significant at 5 % after Holm's correction over the table"},
		says{"margin", fmt.Sprintf("NDCG of two rows is equal where the interval of the difference lies within ±%v", ndcgMargin)},
		blocks{title: heading("NDCG on the test queries")},
		differences{title: heading("LambdaRank less RankNet"), name: "differences", pairs: append(leads, nets), measures: several, main: true},
		standInOrders{"LambdaRank above RankNet, of ten truncation levels: in the mean, significantly, and the opposite", orders},
		leadContrasts{leads},
		differences{title: heading("LambdaRank with alpha less without"), name: "alpha", pairs: pulled, measures: several},
		ratesChosen,
		numberSheet{fields: []field{dataField, methodField, measureField, oursField, neutralField, pooledField}},
		choiceSheet{name: "chosen", fields: []field{dataField, methodField, seedField, foldField, settingsField, validationField}},
		ndcgCurves{title: "RankNet and LambdaRank on %s", x: "truncation level", y: "NDCG, mean over folds and seeds"},
		leadCurves{title: "LambdaRank's lead over RankNet on %s, 95 %% intervals", pairs: leads},
		remark("The paper has LambdaRank above RankNet on its web data (10,000 training queries) at all ten levels with both nets; on its intranet data (400 queries) above with linear nets, not significantly, and nearly equal with two-layer nets. These sets have the intranet data's size, not the web data's."),
		partFunc(realNotes),
	}
}

// realNotes adds notes on the paper's statements for each data set.
func realNotes(s *results, r *Report) {
	for _, c := range s.columns {
		v := &c.views[0]
		for _, n := range artificialNets {
			a, b := s.rowNamed("LambdaRank "+n.name), s.rowNamed("RankNet "+n.name)
			first, last := v.difference(a, b, s.measures[0]), v.difference(a, b, s.measures[len(s.measures)-1])
			r.note("%s, %s nets: LambdaRank leads by %s at 1 (p = %.2g) and by %s at %d (p = %.2g).",
				c.name, n.name, strings.TrimRight(first.text(), " *"), first.P, strings.TrimRight(last.text(), " *"), len(s.measures), last.P)
		}
	}
	for _, f := range intranetFindings(s) {
		r.found(f.Verdict, f.Claim, "%s", f.Figure)
	}
	for _, f := range webFindings(s) {
		r.found(f.Verdict, f.Claim, "%s", f.Figure)
	}
}

// intranetDivision is the division of section 6.3.2.
var intranetDivision = dataset.Division{Train: 2, Vali: 2, Test: 1}

// lambdaRankIntranet repeats the comparison of the paper's Figure 2 right on synthetic data like
// the paper's intranet data.
func lambdaRankIntranet() study {
	s := study{
		Experiment: Experiment{
			Name:    "lambdarank-intranet",
			Paper:   "LambdaRank",
			Title:   "LambdaRank, Figure 2 right: RankNet and LambdaRank on made data of the shape of the intranet data",
			Picture: "Figure 2, right, of intranet data that are not public",
			Shows:   "whether 400 queries are enough to tell LambdaRank from RankNet",
			Data:    "made, 400 queries",
			Scales:  "the number of queries",
		},
		data:       intranetData,
		convention: standard,
		chosenBy:   fmt.Sprintf("ndcg@%d", artificialTop),
		measures:   ndcgUpTo(artificialTop),
		records:    "{group}",
	}
	several := []string{"ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10"}
	leads, _, orders := s.addNets(nil)
	s.parts = []part{
		says{"source", lambdaRank + ", section 6.3.2"}, command, seed,
		partFunc(func(s *results, r *Report) { r.fact("data", "%s", s.columns[0].about) }), conventions,
		says{"schedule", "a step a query, rate × 0.8 when the training cost rose, new weights after 50 epochs without a lower one, " + realEpochs + " epochs (the paper: 200)"},
		says{"chosen", "rate and epoch in each fold by validation NDCG@10; rates tried, for both methods: " + strings.Join(realRates, ", ")},
		says{"numbers", fmt.Sprintf("means over folds and over %d seeds", drawnSeeds)},
		says{"intervals", "95 %, of differences paired over test queries and seeds; * significant at 5 % after Holm's correction over the table"},
		blocks{title: func(*column, *view) string { return "NDCG on the test queries" }},
		differences{title: func(*column, *view) string { return "LambdaRank less RankNet" }, name: "differences", pairs: leads, measures: several, main: true},
		standInOrders{"LambdaRank above RankNet, of ten truncation levels: in the mean, significantly, and the opposite", orders},
		leadContrasts{leads},
		ratesChosen,
		numberSheet{fields: []field{dataField, methodField, measureField, oursField, neutralField, pooledField}},
		choiceSheet{name: "chosen", fields: []field{dataField, methodField, seedField, foldField, settingsField, validationField}},
		leadCurves{title: "LambdaRank's lead over RankNet on %s, 95 %% intervals", pairs: leads},
		remark("The shares of the grades and the features of the paper's set are not published. These data have its size and number of grades, and noise for about the NDCG of its figure: how far apart the methods are on them says what 400 queries can show, not what the paper found."),
		partFunc(func(s *results, r *Report) {
			for _, f := range intranetFindings(s) {
				r.found(f.Verdict.once(), f.Claim, "%s", f.Figure)
			}
		}),
	}
	return s
}

// intranetData returns the synthetic data in the paper's folds.
func intranetData(o Options) ([]source, []string, error) {
	shape, err := synth.Lookup("intranet")
	if err != nil {
		return nil, nil, err
	}
	options := shape.Defaults
	options.Queries, options.Seed = max(o.scaled(options.Queries), intranetDivision.Parts()), o.Seed
	d, err := shape.Generate(options)
	if err != nil {
		return nil, nil, err
	}
	folds, err := intranetDivision.Divide(d, random.Stream(o.Seed, "paper folds", shape.Name))
	if err != nil {
		return nil, nil, err
	}
	s := source{
		name: "synthetic intranet",
		about: fmt.Sprintf("made (listwise data synth --shape %s): %d queries of %.1f documents in the mean and %d features, grades 0 to 3; 5 folds of 2+2+1 parts to train, validate and test on",
			shape.Name, options.Queries, float64(d.Docs())/float64(options.Queries), options.Features),
	}
	for i, f := range folds {
		s.folds = append(s.folds, tune.Fold{Name: fmt.Sprintf("Fold%d", i+1), Train: d.Subset(f.Train), Valid: d.Subset(f.Vali), Test: d.Subset(f.Test)})
	}
	return []source{s}, nil, nil
}

// lead returns the difference of LambdaRank minus RankNet with a net on a data set.
func (s *results) lead(c *column, net, measure string) difference {
	return c.views[0].difference(s.rowNamed("LambdaRank "+net), s.rowNamed("RankNet "+net), measure)
}

// netOrder tests whether LambdaRank is above RankNet with a net on a data set.
func (s *results) netOrder(c *column, net string) OrderClaim {
	return s.orderOn(&order{better: []string{"LambdaRank " + net}, than: []string{"RankNet " + net}}, c)
}

// intranetFindings judges the claims of section 6.3.2 about a small data set: the lead with linear
// nets exists but is not significant, the lead with two layers is smaller, and more queries would
// make it significant.
func intranetFindings(s *results) []Finding {
	linear, layered := artificialNets[0].name, artificialNets[1].name
	var higher, closer, more []FindVerdict
	var counts, leads, needed []string
	for _, c := range s.columns {
		claim := s.netOrder(c, linear)
		learned := func(verdict FindVerdict) FindVerdict {
			return c.views[0].needsLearning(verdict, []int{s.rowNamed("LambdaRank " + linear)}, s.chosenBy)
		}
		higher = append(higher, learned(higherNotSignificantly(&claim)))
		counts = append(counts, fmt.Sprintf("%s: above at %d of %d levels, significantly at %d, below at %d", c.name, claim.Higher, claim.Cells, claim.Above, claim.Below))

		one, two, gap := s.meanLeads(c, linear, layered)
		closer = append(closer, learned(closerThan(one.Mean, two.Mean, gap.Interval)))
		leads = append(leads, fmt.Sprintf("%s: mean lead %+.4f, with two layers %+.4f", c.name, one.Mean, two.Mean))

		d := s.lead(c, linear, s.chosenBy)
		verdict, figure := moreQueries(&d)
		more, needed = append(more, learned(verdict)), append(needed, c.name+": "+figure)
	}
	all := func(words []string) string { return strings.Join(words, "; ") }
	return []Finding{
		{Claim: "on a small set LambdaRank with linear nets is above RankNet at all ten levels in the mean, not significantly (6.3.2)", Verdict: ofAll(higher...), Figure: all(counts)},
		{Claim: "on a small set the methods are closer with two-layer nets than with linear ones (6.3.2)", Verdict: ofAll(closer...), Figure: all(leads)},
		{Claim: "larger sets are needed to tell LambdaRank from RankNet than such a small one (6.3.2)", Verdict: ofAll(more...), Figure: all(needed)},
	}
}

// higherNotSignificantly returns the verdict on the claim that an order holds in the mean in every
// cell, and significantly in none. The claim holds in part if a cell is significant.
func higherNotSignificantly(c *OrderClaim) FindVerdict {
	switch {
	case c.Below > 0:
		return ClaimFailed
	case c.Higher < c.Cells:
		return ClaimUndecided
	case c.Above > 0:
		return ClaimPartly
	}
	return ClaimHeld
}

// meanLeads returns the leads with two nets, each a mean over the truncation levels. gap is their
// difference in the direction of the first lead.
func (s *results) meanLeads(c *column, linear, layered string) (one, two, gap contrast) {
	v := &c.views[0]
	runs := func(name string) [][]float64 {
		var sum [][]float64
		for _, m := range s.measures {
			for k, run := range v.runs(s.rowNamed(name), m) {
				if k == len(sum) {
					sum = append(sum, make([]float64, len(run)))
				}
				for q, x := range run {
					sum[k][q] += x / float64(len(s.measures))
				}
			}
		}
		return sum
	}
	a, b := runs("LambdaRank "+linear), runs("RankNet "+linear)
	x, y := runs("LambdaRank "+layered), runs("RankNet "+layered)
	one, two = contrastOf("", a, b), contrastOf("", x, y)
	if one.Mean < 0 {
		a, b, x, y = b, a, y, x
	}
	return one, two, contrastOf("", lessRuns(a, x), lessRuns(b, y))
}

// closerThan returns the verdict on the claim that the second of two leads is closer to 0. gap is
// the interval of their difference, in the direction of the first.
func closerThan(first, second float64, gap stats.Interval) FindVerdict {
	switch {
	case gap.Low > 0 && math.Abs(second) < math.Abs(first):
		return ClaimHeld
	case gap.High < 0 || gap.Low > 0 && math.Abs(second) > math.Abs(first):
		return ClaimFailed
	}
	return ClaimUndecided
}

// moreQueries returns the verdict on the claim that a positive lead needs more queries to be
// detected with probability stats.Power at the 5 % level.
func moreQueries(d *difference) (FindVerdict, string) {
	if !(d.Mean > 0) {
		return ClaimUndecided, fmt.Sprintf("no lead at 10 (%+.4f)", d.Mean)
	}
	ratio := (1.959963984540054 + 0.8416212335729143) * d.Error / d.Mean
	figure := fmt.Sprintf("a lead of %.4f at 10 shows in 80 of 100 sets of %.0f queries (here %d)", d.Mean, math.Ceil(float64(ratio*ratio)*float64(d.queries)), d.queries)
	return holdsIf(ratio > 1), figure
}

// ndcgMargin is the margin within which the NDCG of two rows counts as equal. The differences in
// the paper's figures are somewhat larger.
const ndcgMargin = 0.01

// webFindings judges the claims of section 6.4 about data that are not public. LambdaRank is above
// RankNet with each net, and linear LambdaRank equals two-layer RankNet at the larger truncation
// levels.
func webFindings(s *results) []Finding {
	var found []Finding
	in := "(6.4; " + strings.Join(s.names(), " and ") + " in place of web data)"
	for _, n := range artificialNets {
		var verdicts []FindVerdict
		var figures []string
		for _, c := range s.columns {
			claim := s.netOrder(c, n.name)
			verdicts = append(verdicts, ofOrder[claim.Verdict])
			figures = append(figures, fmt.Sprintf("%s: above at %d of %d levels, significantly at %d, below at %d", c.name, claim.Higher, claim.Cells, claim.Above, claim.Below))
		}
		found = append(found, Finding{Claim: "LambdaRank is above RankNet, " + n.name + " nets " + in, Verdict: ofAll(verdicts...), Figure: strings.Join(figures, "; ")})
	}
	found = append(found, effective(s))
	var verdicts []FindVerdict
	var figures []string
	for _, c := range s.columns {
		verdict, figure := s.equalRows(c, "LambdaRank linear", "RankNet two-layer", s.measures[len(s.measures)/2:])
		verdicts, figures = append(verdicts, verdict), append(figures, c.name+": "+figure)
	}
	return append(found, Finding{Claim: "linear LambdaRank equals two-layer RankNet at the larger truncation levels " + in, Verdict: ofAll(verdicts...), Figure: strings.Join(figures, "; ")})
}

// effective judges the claim of section 6 that RankNet reaches a good NDCG although it optimizes
// another cost.
func effective(s *results) Finding {
	var verdicts []FindVerdict
	var figures []string
	for _, c := range s.columns {
		v := &c.views[0]
		best := trivial{value: math.Inf(-1)}
		for _, t := range v.trivial[s.chosenBy] {
			if t.value > best.value {
				best = t
			}
		}
		for _, n := range artificialNets {
			row, measures := s.rowNamed("RankNet "+n.name), []string{s.chosenBy}
			d := severalDifferences{between(v.runs(row, s.chosenBy), [][]float64{best.each})}.corrected()
			verdicts = append(verdicts, byCounts(d.significant()))
			figures = append(figures, fmt.Sprintf("%s, %s %.4f, less %s: %s", c.name, n.name, v.mean(row, s.chosenBy), best.system, d.text(measures)))
		}
	}
	return Finding{Claim: "RankNet, with the epoch chosen by validation NDCG, is effective for NDCG (section 6)", Verdict: ofAll(verdicts...),
		Figure: fmt.Sprintf("above the best trivial system in NDCG@%d: %s", artificialTop, strings.Join(figures, "; "))}
}

func (s *results) names() []string {
	var names []string
	for _, c := range s.columns {
		names = append(names, c.name)
	}
	return names
}

// equalRows returns the verdict on the claim that two rows are about equal in some measures. Two
// rows that are no better than a trivial system do not support the claim.
func (s *results) equalRows(c *column, a, b string, measures []string) (FindVerdict, string) {
	v := &c.views[0]
	first, second := s.rowNamed(a), s.rowNamed(b)
	for _, m := range measures {
		for _, t := range v.trivial[m] {
			if !(min(v.mean(first, m), v.mean(second, m)) > t.value) {
				return ClaimTrivial, fmt.Sprintf("%s is as good at %s", t.system, title(m))
			}
		}
	}
	return s.alike(v, first, second, ndcgMargin, measures...)
}

// standInOrders tests a paper's orders on other data than the paper's, for each data set. These are
// not verdicts on published results, and are not counted with them.
type standInOrders struct {
	title  string
	orders []order
}

func (n standInOrders) add(s *results, r *Report) {
	t := Table{Title: n.title, Left: 2, Main: true, Columns: []string{"data", "", "higher", "above", "below", "verdict"}}
	sheet := Sheet{Name: "orders", Columns: []string{"data", "order", "cells", "higher", "above", "below", "verdict"}}
	for _, c := range s.columns {
		alone := *s
		alone.columns = []*column{c}
		for i := range n.orders {
			found := alone.orderClaim(&n.orders[i], 0)
			t.Rows = append(t.Rows, []string{
				c.name, found.Text, fmt.Sprintf("%d of %d", found.Higher, found.Cells), strconv.Itoa(found.Above), strconv.Itoa(found.Below), string(found.Verdict),
			})
			sheet.Rows = append(sheet.Rows, []any{c.name, found.Text, found.Cells, found.Higher, found.Above, found.Below, string(found.Verdict)})
		}
	}
	r.Tables, r.Sheets = append(r.Tables, t), append(r.Sheets, sheet)
}

// leadContrasts compares leads: the leads of each pair at the first and at the last measure, and
// the leads of the last pair and the first pair at both measures.
type leadContrasts struct{ pairs []pair }

// contrast is a difference of two leads.
type contrast struct {
	name string
	difference
}

func (l leadContrasts) add(s *results, r *Report) {
	t := Table{Title: "where the lead is larger: differences of leads", Left: 1, Columns: []string{"difference"}}
	sheet := Sheet{Name: "contrasts", Columns: []string{"data", "contrast", "difference", "error", "low", "high", "p", "holm"}}
	for k, c := range s.columns {
		t.Columns = append(t.Columns, c.name)
		for i, x := range l.find(s, &c.views[0]) {
			if k == 0 {
				t.Rows = append(t.Rows, []string{x.name})
			}
			t.Rows[i] = append(t.Rows[i], x.text())
			sheet.Rows = append(sheet.Rows, []any{c.name, x.name, orNil(x.Mean), orNil(x.Error), orNil(x.Interval.Low), orNil(x.Interval.High), orNil(x.P), orNil(x.holm)})
		}
	}
	r.Tables, r.Sheets = append(r.Tables, t), append(r.Sheets, sheet)
}

// find returns the contrasts in a view, with Holm's correction over them.
func (l leadContrasts) find(s *results, v *view) []contrast {
	first, last := s.measures[0], s.measures[len(s.measures)-1]
	runs := func(name, m string) [][]float64 { return v.runs(s.rowNamed(name), m) }
	var found []contrast
	for _, p := range l.pairs {
		found = append(found, contrastOf(fmt.Sprintf("%s: lead at %s less at %s", p.row, title(first), title(last)),
			lessRuns(runs(p.row, first), runs(p.row, last)), lessRuns(runs(p.than, first), runs(p.than, last))))
	}
	a, b := l.pairs[len(l.pairs)-1], l.pairs[0]
	for _, m := range []string{first, last} {
		found = append(found, contrastOf(fmt.Sprintf("%s: lead of %s less of %s", title(m), a.row, b.row),
			lessRuns(runs(a.row, m), runs(b.row, m)), lessRuns(runs(a.than, m), runs(b.than, m))))
	}
	correct(len(found), func(i int) *difference { return &found[i].difference })
	return found
}

func contrastOf(name string, a, b [][]float64) contrast {
	d, err := stats.Between(a, b)
	if err != nil {
		panic(err) // both have all queries and seeds of one study
	}
	return contrast{name, difference{Difference: d, queries: len(a[0]), runs: len(a), against: len(b)}}
}

// lessRuns returns a − b for each run and query.
func lessRuns(a, b [][]float64) [][]float64 {
	less := make([][]float64, min(len(a), len(b)))
	for r := range less {
		less[r] = slices.Clone(a[r])
		for q := range less[r] {
			less[r][q] -= b[r][q]
		}
	}
	return less
}

// leadCurves plots leads by the truncation level of NDCG, with a stroke for each interval. Each
// data set has a plot.
type leadCurves struct {
	title string // %s stands for the data set
	pairs []pair
}

func (l leadCurves) add(s *results, r *Report) {
	for i, c := range s.columnsOf(0) {
		p := Plot{Name: "lead", Plot: chart.Plot{
			Title: fmt.Sprintf(l.title, c.name),
			X:     chart.Axis{Label: "truncation level", Ticks: rankTicks(len(s.measures))},
			Y:     chart.Axis{Label: "difference of NDCG"},
		}}
		if i > 0 {
			p.Name += "-" + strings.ToLower(c.name)
		}
		for k, rows := range l.pairs {
			curve := chart.Series{Name: rows.row + " − " + rows.than, Kind: chart.Line}
			for j, m := range s.measures {
				d := c.views[0].difference(s.rowNamed(rows.row), s.rowNamed(rows.than), m)
				at := float64(j+1) + float64(0.1*(float64(k)-float64(0.5*float64(len(l.pairs)-1))))
				curve.X = append(curve.X, at, at, at, at)
				curve.Y = append(curve.Y, d.Mean, d.Interval.High, d.Interval.Low, d.Mean)
			}
			p.Series = append(p.Series, curve)
		}
		p.Series = append(p.Series, chart.Series{Kind: chart.Line, X: []float64{0.8, float64(len(s.measures)) + 0.2}, Y: []float64{0, 0}})
		r.Plots = append(r.Plots, p)
	}
}

// ratesChosen adds a table of how often each rate was chosen, over folds and seeds. The cell of a
// rate that was not tried is empty.
var ratesChosen partFunc = func(s *results, r *Report) {
	t := Table{Title: "how often each rate was chosen, over folds and seeds", Left: 2, Columns: []string{"data", "method"}}
	var rates []string
	for p := range s.tunings(nil) {
		for _, rate := range triedValues(&p.tuned().Entry, "rate") {
			if !slices.Contains(rates, rate) {
				rates = append(rates, rate)
			}
		}
	}
	slices.SortFunc(rates, func(a, b string) int { return cmp.Compare(parse(a), parse(b)) })
	t.Columns = append(t.Columns, rates...)
	for _, c := range s.columns {
		for i, seeds := range c.rows {
			tried, chosen := triedValues(&seeds[0].Entry, "rate"), make(map[string]int)
			for _, tuned := range seeds {
				for k := range tuned.Folds {
					chosen[tuned.Folds[k].Chosen.Text("rate")]++
				}
			}
			line := []string{c.name, s.rows[i].name}
			for _, rate := range rates {
				count := ""
				if slices.Contains(tried, rate) {
					count = strconv.Itoa(chosen[rate])
				}
				line = append(line, count)
			}
			t.Rows = append(t.Rows, line)
		}
	}
	r.Tables = append(r.Tables, t)
}
