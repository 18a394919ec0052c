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
	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/tune"
)

// lambdaRank names the source of the experiments in files lambda*.go.
const lambdaRank = "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006"

// artificial describes the experiment of section 6.3.1.
type artificial struct {
	train, valid, test int // queries
	docs, features     int
	shares             []float64 // shares of the grades
	rates              []string
	epochs             string
}

// burges2006 is the paper's experiment. The paper takes the shares of grades from "real datasets"
// and does not print them. These are the shares of MSLR-WEB10K, fold 1.
var burges2006 = artificial{
	train: 10_000, valid: 5_000, test: 10_000,
	docs: 50, features: 50,
	shares: []float64{0.5225, 0.3215, 0.1314, 0.0175, 0.0071},
	rates:  []string{"1e-7", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2"},
	epochs: "300",
}

// artificialTop is the largest truncation level of the figure.
const artificialTop = 10

// standard is the convention of the paper's equation 1: the gain 2^l − 1 and the discount 1/log(1 +
// r).
var standard = conventionNamed("standard")

// artificialNets are the groups of rows. The net "two-layer" has ten hidden units.
var artificialNets = []struct{ name, scorer string }{{"linear", "linear"}, {"two-layer", "net"}}

// study returns the study, which trains RankNet and LambdaRank with each net. The rate and the
// epoch are chosen by validation NDCG@10.
func (a artificial) study() study {
	net := groupField.as("net")
	s := study{
		Experiment: Experiment{
			Name:    "lambdarank-artificial",
			Paper:   "LambdaRank",
			Title:   "LambdaRank, Figure 2 left: RankNet and LambdaRank on random cubic polynomials",
			Picture: "Figure 2, left",
			Shows:   "what forces scaled by the change of NDCG gain over RankNet's where neither features nor labels are noisy",
			Data:    "made, 25,000 queries",
			Scales:  "the numbers of queries",
		},
		data: func(o Options) ([]source, []string, error) {
			fold, err := a.scaled(o).data(o.Seed)
			return []source{{name: fold.Name, folds: []tune.Fold{fold}}}, nil, err
		},
		convention: standard,
		chosenBy:   fmt.Sprintf("ndcg@%d", artificialTop),
		measures:   ndcgUpTo(artificialTop),
		records:    "{group}",
		parts: []part{
			says{"source", lambdaRank + ", section 6.3.1"}, command, partFunc(a.dataFacts), conventions,
			says{"intervals", "95 %, from the normal distribution, for other queries; those of a lead from the differences query by query; another --seed is another polynomial with other weights, of which the intervals know nothing"},
			says{"schedule", fmt.Sprintf("a step a query, rate × 0.8 when the training cost rose, new weights after 50 epochs without a lower one, %s epochs", a.epochs)},
			says{"chosen", fmt.Sprintf("rate and epoch by validation NDCG@%d; rates tried: %s", artificialTop, strings.Join(a.rates, ", "))},
			partFunc(artificialReport),
			choiceSheet{name: "rates", tried: true, fields: []field{
				net, methodField, {"rate", func(p *place) any { return p.tuned().Entry.Settings[p.setting].Number("rate") }}, triedValueField,
			}},
			partFunc(a.notes),
		},
	}
	for _, n := range artificialNets {
		s.rows = append(s.rows,
			row{name: "RankNet", method: "ranknet", group: n.name, scorer: n.scorer, grid: burgesSchedule(a.rates, a.epochs)},
			row{name: "LambdaRank", method: "lambdarank", training: s.chosenBy, group: n.name, scorer: n.scorer, grid: burgesSchedule(a.rates, a.epochs)})
	}
	return s
}

// scaled returns the experiment with its numbers of queries multiplied by --scale.
func (a artificial) scaled(o Options) artificial {
	a.train, a.valid, a.test = o.scaled(a.train), o.scaled(a.valid), o.scaled(a.test)
	return a
}

// data returns queries of one random polynomial. Training, validation and test queries are drawn
// with different seeds.
func (a artificial) data(seed uint64) (tune.Fold, error) {
	c := synth.Cubic{Docs: a.docs, Features: a.features, Shares: a.shares, Polynomial: seed}
	f := tune.Fold{Name: "artificial"}
	for part, p := range []struct {
		set     **dataset.Dataset
		queries int
	}{{&f.Train, a.train}, {&f.Valid, a.valid}, {&f.Test, a.test}} {
		c.Queries, c.Seed = p.queries, 3*seed+uint64(part)
		var err error
		if *p.set, err = c.Generate(); err != nil {
			return f, err
		}
	}
	return f, nil
}

// burgesSchedule returns the schedule of sections 5 and 6.3, with one step per query. The rate is
// multiplied by 0.8 after an epoch in which the training cost rose. Weights are drawn again after
// 50 epochs without a lower cost. There is no penalty. Two-layer nets have ten hidden units.
func burgesSchedule(rates []string, epochs string) map[string][]string {
	return map[string][]string{
		"optimizer": {"descent"},
		"rule":      {"plain"},
		"rate":      rates,
		"decay":     {"0.8"},
		"patience":  {"50"},
		"epochs":    {epochs},
		"C":         {"1e100"},
		"hidden":    {"10"},
	}
}

// interval is a mean over queries with a 95 % confidence interval, mean ± half, based on the normal
// distribution.
type interval struct{ mean, half float64 }

// confidence returns the confidence interval of the mean of independent values.
func confidence(values []float64) interval {
	return interval{mean(values), 1.959963984540054 * sd(values) / math.Sqrt(float64(len(values)))}
}

// excludes0 reports whether the mean differs from 0 at the 5 % level.
func (i interval) excludes0() bool { return math.Abs(i.mean) > i.half }

func (i interval) text() string { return fmt.Sprintf("%.4f ± %.4f", i.mean, i.half) }

// netResult is the result of one kind of net. systems contains RankNet and LambdaRank at every
// truncation level, and lead contains their differences, paired by query.
type netResult struct {
	name    string
	systems [2][]interval
	lead    []interval
	growth  interval // lead at the first level minus lead at the last
	order   OrderClaim
}

// artificialSystems are the names of the two rows of each net.
var artificialSystems = [2]string{"RankNet", "LambdaRank"}

// netResults returns the results of all nets. Each net has two rows.
func netResults(s *results) []netResult {
	nets := make([]netResult, len(artificialNets))
	v := &s.columns[0].views[0]
	for k := range nets {
		n := &nets[k]
		n.name = artificialNets[k].name
		var leads [][]float64
		for _, m := range s.measures {
			var values [2][]float64
			for i := range values {
				values[i] = v.each(2*k+i, m)
				n.systems[i] = append(n.systems[i], confidence(values[i]))
			}
			lead := make([]float64, len(values[0]))
			for q := range lead {
				lead[q] = values[1][q] - values[0][q]
			}
			n.lead = append(n.lead, confidence(lead))
			leads = append(leads, lead)
		}
		growth := leads[0]
		for q, last := range leads[len(leads)-1] {
			growth[q] -= last
		}
		n.growth = confidence(growth)
		n.order = artificialOrder(s, v, k)
	}
	return nets
}

// artificialOrder tests over the truncation levels whether LambdaRank is above RankNet with the
// k-th net.
func artificialOrder(s *results, v *view, k int) OrderClaim {
	c := OrderClaim{Text: "LambdaRank > RankNet, " + artificialNets[k].name + " nets", Data: s.columns[0].name, Cells: len(s.measures)}
	above, below := make([]float64, c.Cells), make([]float64, c.Cells)
	for i, m := range s.measures {
		above[i], below[i] = v.oneSided(2*k+1, 2*k, m), v.oneSided(2*k, 2*k+1, m)
		if v.mean(2*k+1, m) > v.mean(2*k, m) {
			c.Higher++
		}
	}
	c.decide(above, below)
	return c
}

func (a artificial) dataFacts(s *results, r *Report) {
	b := a.scaled(s.options)
	r.fact("data", "a random cubic polynomial (seed %d) of %d features: %d training, %d validation and %d test queries of %d documents",
		s.options.Seed, b.features, b.train, b.valid, b.test, b.docs)
	r.fact("grades", "0 to %d in shares %s", len(b.shares)-1, commas(b.shares))
}

// onePolynomial states the scope of the intervals: they cover the choice of queries, not of
// polynomials.
const onePolynomial = "one random polynomial; of others see docs/gradient-family.md"

func artificialReport(s *results, r *Report) {
	nets := netResults(s)
	r.Tables = append(r.Tables, artificialTable(nets), artificialChoices(s))
	r.Sheets = append(r.Sheets, artificialSheet(nets, s.measures))
	r.Plots = append(r.Plots, artificialPlot(nets))
	for _, n := range nets {
		n.order.Section, n.order.Data, n.order.once = "6.3.1", onePolynomial, true
		r.Orders = append(r.Orders, n.order)
	}
}

func (a artificial) notes(s *results, r *Report) {
	var leads []FindVerdict
	var figures []string
	for _, n := range netResults(s) {
		r.note("%s", n.verdict())
		verdict := ClaimUndecided
		if n.lead[0].excludes0() && n.growth.excludes0() {
			verdict = holdsIf(n.lead[0].mean > 0 && n.growth.mean > 0)
		}
		leads = append(leads, verdict)
		figures = append(figures, fmt.Sprintf("%s %s at 1, %s at %d", n.name, n.lead[0].text(), n.lead[artificialTop-1].text(), artificialTop))
		for p := range s.tunings(inGroups(n.name)) {
			if edge := p.tuned().AtEdge(); len(edge) > 0 {
				r.note("With %s nets %s's best rate is at the edge of those tried, which are the paper's: a wider range may serve it better.", n.name, p.row().name)
			}
		}
	}
	r.found(ofAll(leads...).once(), "LambdaRank's lead over RankNet on cubic polynomials is larger at higher ranks (6.3.1)", "%s; %s", onePolynomial, strings.Join(figures, ", "))
	r.note("The paper's figure has no numbers to compare with (its axis goes from 0.55 to 0.75), and the shares of its grades, \"corresponding to real datasets\", are not published: those here are of MSLR-WEB10K's fold 1. What can be compared is the order of the four and the sign of the leads.")
	if scale := s.options.Scale; scale != 0 && scale != 1 {
		r.note("This is the experiment at scale %v: the paper has %d, %d and %d queries.", scale, burges2006.train, burges2006.valid, burges2006.test)
	}
}

// leads returns the number of truncation levels at which LambdaRank is significantly ahead, and
// behind.
func (n *netResult) leads() (ahead, behind int) {
	for _, l := range n.lead {
		switch {
		case l.excludes0() && l.mean > 0:
			ahead++
		case l.excludes0():
			behind++
		}
	}
	return ahead, behind
}

// verdict compares the leads with the paper's statement.
func (n *netResult) verdict() string {
	ahead, behind := n.leads()
	first, last := n.lead[0], n.lead[artificialTop-1]
	return fmt.Sprintf("The paper: LambdaRank clearly outperforms RankNet, by more at higher ranks. Here with %s nets its NDCG is significantly higher at %d and lower at %d of %d truncation levels; it leads by %s at 1 and by %s at %d, which is less by %s.",
		n.name, ahead, behind, artificialTop, first.text(), last.text(), artificialTop, n.growth.text())
}

func artificialTable(nets []netResult) Table {
	t := Table{Title: "NDCG on the test queries", Columns: []string{"at"}}
	for _, n := range nets {
		for _, name := range artificialSystems {
			t.Columns = append(t.Columns, name+" "+n.name)
		}
		t.Columns = append(t.Columns, "lead")
	}
	for k := range artificialTop {
		row := []string{strconv.Itoa(k + 1)}
		for _, n := range nets {
			for i := range n.systems {
				row = append(row, n.systems[i][k].text())
			}
			row = append(row, fmt.Sprintf("%+.4f ± %.4f", n.lead[k].mean, n.lead[k].half))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// artificialChoices returns a table of the rates and epochs that validation chose.
func artificialChoices(s *results) Table {
	t := Table{Title: "chosen on the validation queries", Columns: []string{"net", "method", "rate", "epoch", "NDCG@10"}, Left: 2}
	for p := range s.tunings(nil) {
		f := &p.tuned().Folds[0]
		t.Rows = append(t.Rows, []string{
			p.row().group, p.row().name, f.Chosen.Text("rate"), strconv.Itoa(f.Model.Training.BestEpoch), fmt.Sprintf("%.4f", f.Validation),
		})
	}
	return t
}

func artificialSheet(nets []netResult, measures []string) Sheet {
	s := Sheet{Columns: []string{"net", "method", "measure", "mean", "ci_low", "ci_high", "lead", "lead_low", "lead_high"}}
	for _, n := range nets {
		for i, name := range artificialSystems {
			for k, m := range measures {
				v, lead := n.systems[i][k], n.lead[k]
				row := []any{n.name, name, m, v.mean, v.mean - v.half, v.mean + v.half, nil, nil, nil}
				if i > 0 {
					row[6], row[7], row[8] = lead.mean, lead.mean-lead.half, lead.mean+lead.half
				}
				s.Rows = append(s.Rows, row)
			}
		}
	}
	return s
}

// artificialPlot returns the figure: a line through the means of each system, and a stroke for each
// interval. The four systems are shifted slightly along the x axis.
func artificialPlot(nets []netResult) Plot {
	p := chart.Plot{
		Title: "RankNet and LambdaRank on cubic polynomials, 95 % intervals",
		X:     chart.Axis{Label: "truncation level", Ticks: rankTicks(artificialTop)},
		Y:     chart.Axis{Label: "NDCG"},
	}
	for _, n := range nets {
		for i, name := range artificialSystems {
			s := chart.Series{Name: name + ", " + n.name, Kind: chart.Line}
			for k, v := range n.systems[i] {
				at := float64(k+1) + float64(0.07*(float64(len(p.Series))-1.5))
				s.X = append(s.X, at, at, at, at)
				s.Y = append(s.Y, v.mean, v.mean+v.half, v.mean-v.half, v.mean)
			}
			p.Series = append(p.Series, s)
		}
	}
	return Plot{Plot: p}
}

// lambdaFunctions compares λ functions, as section 6.2 does on web data. The paper tried ten
// functions, describes four kinds and prints the formula of one. loss.Lambdas has one function of
// each kind, and for three kinds a variant that acts between neighbors.
type lambdaFunctions struct {
	artificial
	springRates []string // lower, because the force of a spring is unbounded and networks diverge at 0.1
}

// burges2006Functions is this comparison on MQ2008, and on data like those of section 6.3.1 with
// fewer queries.
var burges2006Functions = lambdaFunctions{artificial: artificial{
	train: 500, valid: 250, test: 2000,
	docs: burges2006.docs, features: burges2006.features, shares: burges2006.shares,
	rates:  []string{"1e-4", "1e-3", "1e-2", "1e-1"},
	epochs: "100",
}, springRates: []string{"1e-5", "1e-4", "1e-3", "1e-2"}}

const (
	functionsSet   = "MQ2008"
	functionsSeeds = 5
)

func (f lambdaFunctions) study() study {
	s := study{
		Experiment: Experiment{
			Name:   "lambdarank-functions",
			Paper:  "LambdaRank",
			Title:  "LambdaRank, section 6.2: λ functions on random cubic polynomials and on MQ2008",
			Shows:  "which rule for the forces trains best, and whether it is the one that the paper chose",
			Data:   "made, 2,750 queries; and --data's " + functionsSet + ", if given",
			Reads:  true,
			Scales: "the numbers of made queries",
		},
		data:       f.sources,
		convention: standard,
		chosenBy:   fmt.Sprintf("ndcg@%d", artificialTop),
		measures:   []string{"ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10"},
		records:    "{set}/{group}",
		seeds:      functionsSeeds,
	}
	var pairs []pair
	for _, n := range artificialNets {
		grid := burgesSchedule(f.rates, f.epochs)
		chosen := functionRow(loss.LambdaLogistic.String(), n.name)
		for _, info := range loss.Lambdas() {
			name := functionRow(info.Name, n.name)
			one := maps.Clone(grid)
			one["lambda"] = []string{info.Name}
			if strings.HasPrefix(info.Name, "spring") {
				one["rate"] = f.springRates
			}
			s.rows = append(s.rows, row{name: name, method: "lambdarank", training: s.chosenBy, group: n.name, scorer: n.scorer, grid: one})
			if name != chosen {
				pairs = append(pairs, pair{chosen, name})
			}
		}
		rankNet := functionRow("RankNet", n.name)
		s.rows = append(s.rows, row{name: rankNet, method: "ranknet", group: n.name, scorer: n.scorer, grid: grid})
		pairs = append(pairs, pair{chosen, rankNet})
	}
	s.parts = f.parts(pairs)
	return s
}

// functionRow returns the name of a row: "logistic, linear".
func functionRow(lambda, net string) string { return lambda + ", " + net }

// sources returns the synthetic data and, if it exists, the data set functionsSet.
func (f lambdaFunctions) sources(o Options) ([]source, []string, error) {
	fold, err := f.scaled(o).data(o.Seed)
	if err != nil {
		return nil, nil, err
	}
	sources := []source{{name: fold.Name, folds: []tune.Fold{fold}}}
	if o.Data == "" {
		return sources, []string{functionsSet}, nil
	}
	found, _, err := baselineSets.find(o)
	if err != nil {
		return nil, nil, err
	}
	for _, set := range found {
		if set.name == functionsSet || o.Set != "" || set.folds != nil {
			return append(sources, set), nil, nil
		}
	}
	return sources, []string{functionsSet}, nil
}

func (f lambdaFunctions) parts(pairs []pair) []part {
	heading := func(what string) func(*column, *view) string {
		return func(c *column, _ *view) string { return c.name + ": " + what }
	}
	return []part{
		says{"source", lambdaRank + ", section 6.2"}, command, partFunc(f.dataFacts), partFunc(realData), notFound, conventions,
		says{"schedule", "a step a query, rate × 0.8 when the training cost rose, new weights after 50 epochs without a lower one, " + f.epochs + " epochs"},
		says{"chosen", fmt.Sprintf("rate and epoch by validation NDCG@%d, in each fold; rates tried: %s; of springs %s", artificialTop, strings.Join(f.rates, ", "), strings.Join(f.springRates, ", "))},
		says{"numbers", fmt.Sprintf("means over folds and %d seeds", functionsSeeds)},
		says{"intervals", "95 %, of differences paired over test queries and seeds; * significant at 5 % after Holm's correction over the table"},
		partFunc(functionTable),
		differences{title: heading("the paper's choice, logistic, less the others"), name: "differences", pairs: pairs, main: true},
		ratesChosen,
		numberSheet{fields: []field{dataField, methodField, measureField, oursField, neutralField, pooledField}},
		choiceSheet{name: "chosen", fields: []field{dataField, methodField, seedField, foldField, settingsField, validationField}},
		remark("Of the ten λ functions tried the text describes four kinds, with all pairs or with neighbours in the sorted list only: steps in proportion to the NDCG gain of a swap, springs, finite differences of NDCG, and the gradient of a smooth cost of pairs times that gain. It gives the formula of the last, eq. 9, alone; margins, constants and what tells the ten apart are not published. The seven here are one of each kind, and three of them between neighbours."),
		partFunc(functionNotes),
	}
}

// realData adds a fact for every data set except the synthetic one.
func realData(s *results, r *Report) {
	for _, c := range s.columns[1:] {
		r.fact("data", "%s: %d folds, %d test queries", c.name, len(c.names), c.queries)
	}
}

// validation returns the mean of a row's selection measure over folds and seeds.
func (c *column) validation(row int) float64 {
	var all []float64
	for _, tuned := range c.rows[row] {
		for i := range tuned.Folds {
			all = append(all, tuned.Folds[i].Validation)
		}
	}
	return mean(all)
}

// functionTable adds a table with the validation values, by which the paper chose, and the test
// values.
func functionTable(s *results, r *Report) {
	t := Table{Title: "means over folds and seeds", Left: 2, Main: true, Columns: []string{"data", "λ function", "validation " + title(s.chosenBy)}}
	for _, m := range s.measures {
		t.Columns = append(t.Columns, title(m))
	}
	for _, c := range s.columns {
		for i := range s.rows {
			line := []string{c.name, s.rows[i].name, fmt.Sprintf("%.4f", c.validation(i))}
			for _, m := range s.measures {
				line = append(line, fmt.Sprintf("%.4f", c.views[0].mean(i, m)))
			}
			t.Rows = append(t.Rows, line)
		}
	}
	r.Tables = append(r.Tables, t)
}

// functionNotes notes which λ function validation would choose, as in the paper, and which is best
// on the test queries.
func functionNotes(s *results, r *Report) {
	first, cases, above, below := 0, 0, 0, 0
	var verdicts []FindVerdict
	for _, c := range s.columns {
		for _, n := range artificialNets {
			var rows []int
			for _, info := range loss.Lambdas() {
				rows = append(rows, s.rowNamed(functionRow(info.Name, n.name)))
			}
			best := func(value func(row int) float64) string {
				byValue := slices.Clone(rows)
				slices.SortStableFunc(byValue, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
				return fmt.Sprintf("%s (%.4f), before %s (%.4f)", lambdaOf(&s.rows[byValue[0]]), value(byValue[0]), lambdaOf(&s.rows[byValue[1]]), value(byValue[1]))
			}
			cases++
			other := slices.ContainsFunc(rows[1:], func(row int) bool { return c.validation(row) >= c.validation(rows[0]) })
			if !other {
				first++
			}
			var leads severalDifferences
			for _, row := range rows[1:] {
				leads = append(leads, c.views[0].difference(rows[0], row, s.chosenBy))
			}
			more, less := leads.corrected().significant()
			above, below = above+more, below+less
			verdicts = append(verdicts, c.views[0].needsLearning(ofLeads(len(leads), more, less), rows[:1], s.chosenBy))
			r.note("%s, %s nets: the best by validation is %s; by NDCG@1 on the test queries %s; by NDCG@%d %s.", c.name, n.name,
				best(c.validation), best(func(row int) float64 { return c.views[0].mean(row, "ndcg@1") }),
				artificialTop, best(func(row int) float64 { return c.views[0].mean(row, s.chosenBy) }))
		}
	}
	r.found(ofAll(verdicts...), "of the λ functions tried, that of eq. 9 is the best by validation (6.2)",
		"first of seven in %d of %d (data sets × nets); on the test queries significantly above others in %d and below in %d of the pairs", first, cases, above, below)
}

// ofLeads returns the verdict on the claim that a row is above all others. above and below count
// its significant leads and deficits.
func ofLeads(others, above, below int) FindVerdict {
	switch {
	case below > 0:
		return ClaimFailed
	case above == others:
		return ClaimHeld
	}
	return ClaimUndecided
}

// lambdaOf returns the λ function of a row.
func lambdaOf(r *row) string { return r.grid["lambda"][0] }
