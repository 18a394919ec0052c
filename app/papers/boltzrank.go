package papers

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/model/scorer"
)

// boltzRankSource names the source of the experiments boltzrank….
const boltzRankSource = "Volkovs, Zemel: BoltzRank: Learning to Rank by Maximizing Expected Ranking Gain, ICML 2009"

// boltzRankSets are the data sets of the paper's table.
var boltzRankSets = []string{"OHSUMED", "TD2004"}

// boltzRank reproduces the paper's table, and adds BoltzRank with a linear scorer. The paper does
// not name the selection measure. The study selects by MAP, the least noisy measure of the table.
func boltzRank() study {
	return study{
		convention: letor3,
		Experiment: Experiment{
			Name:    "boltzrank",
			Paper:   "BoltzRank",
			Title:   "BoltzRank's results on OHSUMED and TD2004",
			Picture: "the last slide, weights of pairs",
			Shows:   "whether training for expected NDCG, and scores that depend on a query's other documents, pay",
			Data:    "--data, any of " + strings.Join(boltzRankSets, ", "),
			Reads:   true,
		},
		data:  letorSets.only(boltzRankSets...),
		sizes: letorSets,
		rows: []row{
			{name: "BoltzRank1", method: "boltzrank1", seeds: drawnSeeds, scorer: "net", grid: boltzRankNetworks},
			{name: "BoltzRank1, linear", method: "boltzrank1", seeds: drawnSeeds, scorer: "linear"},
			{name: "BoltzRank2", method: "boltzrank2", seeds: drawnSeeds, grid: boltzRankNetworks},
			{name: longPairs, method: "boltzrank2", unplotted: true, grid: longTraining},
			{name: "AdaRank.NDCG", quoted: true, method: "adarank", training: "ndcg@10"},
			{name: "AdaRank.MAP", quoted: true, method: "adarank", training: "map", unplotted: true},
			{name: "FRank", quoted: true, method: "frank", unplotted: true},
			{name: "ListNet", quoted: true, method: "listnet"},
		},
		alone:     true,
		chosenBy:  "map",
		measures:  append(ndcgUpTo(5), "map"),
		records:   "{set}/{row}",
		published: publishedBoltzRank,
		parts: []part{
			says{"source", boltzRankSource},
			command, seed, conventions, setSizes, notFound,
			says{"in sight", "of test data: the bag of ten networks, alpha and the grid were settled with OHSUMED's test values in view, among 479 settings (docs/searches/boltzrank.csv)"},
			says{"chosen by", "validation MAP, settings and epochs alike"},
			says{"numbers", "means over folds and, of BoltzRank but for the row \"long\", over five seeds; difference is ours less the paper's"},
			blocks{title: func(c *column, _ *view) string { return c.name }, ours: "ours", theirs: "paper", less: "difference"},
			numberSheet{fields: []field{
				dataField, methodField, measureField, oursField, neutralField, pooledField, publishedField.as("paper"), differenceField,
			}},
			choiceSheet{name: "tried", tried: true, fields: []field{dataField, methodField, foldField, triedField, triedValueField, wasChosenField}},
			testedOrders{title: "orders of the paper's table and conclusions: in how many cells, one a set and measure, the first is above the second", section: "slide Results", orders: boltzRankOrders},
			differences{
				title: overQueries, name: "differences", measures: []string{"ndcg@1", "ndcg@5", "map"}, main: true,
				pairs: []pair{{"BoltzRank2", "BoltzRank1"}, {"BoltzRank1", "ListNet"}, {"BoltzRank2", "ListNet"}, {"BoltzRank2", "AdaRank.MAP"}, {"BoltzRank1", "BoltzRank1, linear"}},
			},
			grids, chosen,
			ndcgCurves{
				title: "NDCG@k on the test queries of %s", x: "k", y: "NDCG@k, mean over folds",
				published: []string{"BoltzRank1", "BoltzRank2"}, word: ", paper",
			},
			pairWeights{[]string{"BoltzRank2", longPairs}},
			claims, reach{table: "results on OHSUMED and TD2004", sets: boltzRankSets},
			withoutMethod,
			remark("The paper gives neither λ, nor how rankings are drawn from the grades, nor the networks' sizes, rates and epochs; they are this project's choice. The paper's ListNet is LETOR's."),
			otherDataNotes{unknown: "The paper has no numbers for %s."},
			edgeNotes,
		},
	}
}

// longPairs is a row with one pair network per fold. It is trained for many epochs with almost no
// penalty, to show what its pairwise potential can learn.
const longPairs = "BoltzRank2, long"

var longTraining = map[string][]string{
	"C": {"1000"}, "lambda": {"0.5"}, "rate": {"0.003"}, "epochs": {"100"}, "patience": {"0"}, "keep": {"last"},
}

// boltzRankNetworks are the settings of the rows BoltzRank1 and BoltzRank2. A model averages the
// scores of ten networks.
var boltzRankNetworks = map[string][]string{
	"C": {"3", "10"}, "rate": {"0.001"}, "epochs": {"30"}, "patience": {"0"}, "bag": {"10"},
}

// boltzRankOrders are the orders behind the paper's conclusions: "optimizing proper objective
// function improves performance", and "pairwise document information is useful".
var boltzRankOrders = []order{
	{text: "BoltzRank1 > all baselines", better: []string{"BoltzRank1"}, than: []string{"AdaRank.NDCG", "AdaRank.MAP", "FRank", "ListNet"}},
	{text: "BoltzRank2 > all baselines", better: []string{"BoltzRank2"}, than: []string{"AdaRank.NDCG", "AdaRank.MAP", "FRank", "ListNet"}},
	{text: "BoltzRank2 > BoltzRank1", better: []string{"BoltzRank2"}, than: []string{"BoltzRank1"}},
}

// publishedBoltzRank returns the paper's table for a set, in fractions.
func publishedBoltzRank(set string) numbers { return publishedOnSet("boltzrank-table.csv", set, 100) }

// pairWeights shows what pair networks learn, as the last slide does. It compares the weights on
// the features of one document with the weights on the same features of the other document.
type pairWeights struct{ rows []string }

// pairPotential is the pairwise potential ϕ of one fold's model.
type pairPotential struct {
	fold string
	seed int

	// self and other are the weights on the features of the scored document and of the other
	// document, by unit and then by feature. The signs of units are chosen so that their output
	// weights are positive. This leaves ϕ unchanged, because tanh is odd.
	self, other []float64
	out         []float64 // output weight of each unit
	features    int
}

// potentials returns ϕ of the models chosen for a row, seed by seed.
func potentials(s *results, c *column, row string) []pairPotential {
	at := s.rowNamed(row)
	if at < 0 {
		return nil
	}
	var all []pairPotential
	for k, tuned := range c.rows[at] {
		for i := range tuned.Folds {
			m := tuned.Folds[i].Model
			network, ok := m.Scorer.(scorer.PairNetwork)
			if !ok || network.Activation != scorer.Tanh {
				continue
			}
			all = append(all, newPairPotential(network, m.Params, tuned.Folds[i].Fold, k+1))
		}
	}
	return all
}

func newPairPotential(n scorer.PairNetwork, params []float64, fold string, seed int) pairPotential {
	p := pairPotential{fold: fold, seed: seed, features: n.Features}
	self, other, _, out := n.PairWeights(params)
	for t, u := range out {
		sign := math.Copysign(1, u)
		for f := range n.Features {
			p.self = append(p.self, sign*self[t*n.Features+f])
			p.other = append(p.other, sign*other[t*n.Features+f])
		}
		p.out = append(p.out, math.Abs(u))
	}
	return p
}

// slopes returns the derivatives of ϕ by the features of the two documents, at a point where all
// units are 0. For a linear ϕ they are its weights.
func (p *pairPotential) slopes() (self, other []float64) {
	self, other = make([]float64, p.features), make([]float64, p.features)
	for t, u := range p.out {
		for f := range p.features {
			self[f] += float64(u * p.self[t*p.features+f])
			other[f] += float64(u * p.other[t*p.features+f])
		}
	}
	return self, other
}

// rms returns the root mean square.
func rms(x []float64) float64 { return norm(x) / math.Sqrt(float64(len(x))) }

func (w pairWeights) add(s *results, r *Report) {
	t := Table{Left: 3, Columns: []string{"data", "method", "fold", "models", "correlation", "own, rms", "other's, rms", "of slopes", "own, rms", "other's, rms"},
		Title: "what the pairwise potential learns: weights on the document's own features against those on the other's, means over seeds; slopes are those of ϕ"}
	sheet := Sheet{Name: "pairs", Columns: []string{"data", "method", "fold", "seed", "feature", "slope_own", "slope_other", "weights_own_rms", "weights_other_rms", "weights_correlation"}}
	for _, c := range s.columns {
		for k, row := range w.rows {
			all := potentials(s, c, row)
			if len(all) == 0 {
				continue
			}
			for _, fold := range c.names {
				t.Rows = append(t.Rows, append([]string{c.name, row}, foldLine(all, fold)...))
			}
			for i := range all {
				sheet.Rows = append(sheet.Rows, all[i].lines(c.name, row)...)
			}
			name := "pairs"
			if k > 0 {
				name += strconv.Itoa(k + 1)
			}
			r.Plots = append(r.Plots, Plot{Name: name, Plot: weightPlot(c, row, &all[0])})
			pairNotes(r, c, row, all)
		}
	}
	if t.Rows != nil {
		r.Tables, r.Sheets = append(r.Tables, t), append(r.Sheets, sheet)
	}
}

// pairFigures summarizes the weights of a model.
type pairFigures struct{ correlation, self, other, slopes, slopeSelf, slopeOther float64 }

func (p *pairPotential) figures() pairFigures {
	self, other := p.slopes()
	return pairFigures{correlation(p.self, p.other), rms(p.self), rms(p.other), correlation(self, other), rms(self), rms(other)}
}

// foldLine returns a row with the means over the seeds of one fold.
func foldLine(all []pairPotential, fold string) []string {
	var columns [6][]float64
	for i := range all {
		if all[i].fold == fold {
			f := all[i].figures()
			for k, v := range []float64{f.correlation, f.self, f.other, f.slopes, f.slopeSelf, f.slopeOther} {
				columns[k] = append(columns[k], v)
			}
		}
	}
	line := []string{fold, strconv.Itoa(len(columns[0]))}
	for k, values := range columns {
		line = append(line, fixed(mean(values), []int{2, 3, 3, 2, 4, 4}[k]))
	}
	return line
}

// lines returns a model's rows in the sheet.
func (p *pairPotential) lines(set, row string) [][]any {
	self, other := p.slopes()
	f := p.figures()
	var lines [][]any
	for k := range self {
		lines = append(lines, []any{set, row, p.fold, p.seed, k + 1, self[k], other[k], f.self, f.other, f.correlation})
	}
	return lines
}

// weightPlot shows the weights of one model, as the slide does.
func weightPlot(c *column, row string, p *pairPotential) chart.Plot {
	return chart.Plot{
		Title: fmt.Sprintf("%s, %s, %s: weights of the pairs' units, feature by feature", row, c.name, p.fold),
		X:     chart.Axis{Label: "weight on the document's feature"}, Y: chart.Axis{Label: "weight on the other document's feature"},
		Series: []chart.Series{{Kind: chart.Scatter, X: p.self, Y: p.other}}, Width: 480, Height: 480,
	}
}

// pairNotes adds a note about the models of a row.
func pairNotes(r *Report, c *column, row string, all []pairPotential) {
	var correlations, self, other []float64
	for i := range all {
		f := all[i].figures()
		correlations, self, other = append(correlations, f.correlation), append(self, f.self), append(other, f.other)
	}
	start := 1 / math.Sqrt(6*float64(all[0].features)) // deviation of uniform weights up to 1/√(2p)
	figure := fmt.Sprintf("correlation %.2f ± %.2f over %d models, weights %.3f on the own document's features and %.3f on the other's, where training began with %.3f and none", mean(correlations), sd(correlations), len(all), mean(self), mean(other), start)
	r.note("%s, %s: the last slide plots ϕ's weights on the two documents' features against each other. Here: %s.", c.name, row, figure)
	if c.about == "" && row == "BoltzRank2" { // the other row is a check on this one
		r.found(ClaimOpen, "ϕ's weights on both documents' features have a pattern (last slide, a picture without numbers)", "%s", figure)
	}
}

// boltzRankBags are the numbers of networks whose scores a model averages.
var boltzRankBags = []string{"1", "10"}

// boltzRankDiscounts are the conventions of NDCG in training and evaluation. The paper's numbers
// follow LETOR's convention, because the baselines that it quotes do. The slides give a formula
// with the discount 1/log(1 + rank).
var boltzRankDiscounts = []struct{ convention, discount string }{
	{"letor3", "LETOR's"}, {"standard", "log2(1+rank)"},
}

// boltzRankFewSeeds is the number of seeds. It is small because there are many rows.
const boltzRankFewSeeds = 4

// boltzRankSeeds varies the seed, the bag and the discount, which the paper does not state. It
// shows how each contributes to the difference from the paper. C is chosen as in the experiment
// boltzrank. λ is ½, because it has little influence.
func boltzRankSeeds() study {
	s := study{
		convention: letor3,
		Experiment: Experiment{
			Name:  "boltzrank-seeds",
			Paper: "BoltzRank",
			Title: "BoltzRank's networks by seed, bag and discount",
			Shows: "how much of BoltzRank's results is the seed's, the bag's and the discount's of NDCG",
			Data:  "--data, any of " + strings.Join(boltzRankSets, ", "),
			Reads: true,
		},
		data:     letorSets.only(boltzRankSets...),
		sizes:    letorSets,
		alone:    true,
		seeds:    boltzRankFewSeeds,
		chosenBy: "map",
		measures: append(ndcgUpTo(5), "map"),
		records:  "{set}/{row}/seed{seed}",
		views:    boltzSeedViews,
		rows:     boltzSeedRows(),
		parts: []part{
			says{"source", boltzRankSource},
			command,
			says{"seeds", fmt.Sprintf("%d, the first being --seed", boltzRankFewSeeds)},
			conventions, setSizes, notFound,
			says{"in sight", "of test data: see the experiment boltzrank, whose settings these are, with lambda=0.5"},
			says{"chosen by", "validation MAP, C and epochs alike"},
			says{"numbers", "means over folds; ± is the standard deviation over the seeds, each of which draws other rankings and other initial weights"},
			partFunc(boltzSeedTable),
			numberSheet{bySeed: true, fields: []field{
				dataField, groupField.as("method"), bagField, trainedForField, conventionField, seedField, measureField,
				{"mean", func(p *place) any { return p.number().mean }}, neutralField, pooledField,
			}},
			perSet(boltzSeedPlot), grids,
			partFunc(boltzSeedNotes),
			otherDataNotes{unknown: "The paper has no numbers for %s."},
		},
	}
	s.parts = append(s.parts, differences{
		title: func(c *column, v *view) string {
			return "one thing changed at a time: differences over the test queries of " + c.name + ", NDCG with " + discountOf(v.convention.Name()) + " discount, with 95 % intervals; * significant at 5 % after Holm's correction"
		},
		name: "differences", measures: boltzFewMeasures, pairs: boltzRankChanges(s.rows),
	})
	return s
}

// boltzSeedRows returns the two methods with each bag, trained with each discount.
func boltzSeedRows() []row {
	var rows []row
	for _, m := range []struct{ name, method string }{{"BoltzRank1", "boltzrank1"}, {"BoltzRank2", "boltzrank2"}} {
		for _, bag := range boltzRankBags {
			for _, d := range boltzRankDiscounts {
				r := row{
					name: fmt.Sprintf("%s bag=%s %s", m.name, bag, d.convention), method: m.method, group: m.name, against: m.name, trainsBy: d.convention,
					grid: map[string][]string{"C": {"3", "10"}, "lambda": {"0.5"}, "rate": {"0.001"}, "epochs": {"30"}, "patience": {"0"}, "bag": {bag}},
				}
				if m.method == "boltzrank1" {
					r.scorer = "net"
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// boltzSeedViews returns a view for each discount. The published numbers belong to LETOR's
// discount.
func boltzSeedViews(set string) []view {
	var views []view
	for _, d := range boltzRankDiscounts {
		v := view{convention: conventionNamed(d.convention), measures: append(ndcgUpTo(5), "map")}
		if d.convention == letor3.Name() {
			v.published = publishedBoltzRank(set)
		}
		views = append(views, v)
	}
	return views
}

// Fields that distinguish these rows in sheets.
var (
	bagField        = field{"bag", func(p *place) any { return p.row().grid["bag"][0] }}
	trainedForField = field{"trained_for", func(p *place) any { return p.row().trainsBy }}
)

// discountOf returns the name of a convention's discount.
func discountOf(convention string) string {
	for _, d := range boltzRankDiscounts {
		if d.convention == convention {
			return d.discount
		}
	}
	return convention
}

// boltzSeedTable adds a table of the rows, measured with both discounts. NDCG@1 and MAP do not
// depend on the discount.
func boltzSeedTable(s *results, r *Report) {
	for _, c := range s.columns {
		t := Table{Title: c.name + ": means over seeds ± standard deviation, NDCG with the discount named", Left: 3, Main: true,
			Columns: []string{"method", "bag", "trained for", "NDCG@1"}}
		for _, d := range boltzRankDiscounts {
			t.Columns = append(t.Columns, "@3, "+d.discount, "@5, "+d.discount)
		}
		t.Columns = append(t.Columns, "MAP")
		for i := range s.rows {
			row := &s.rows[i]
			line := []string{row.group, row.grid["bag"][0], "NDCG@10, " + discountOf(row.trainsBy), meanAndDeviation(c.views[0].means(i, "ndcg@1"), 4)}
			for k := range c.views {
				line = append(line, meanAndDeviation(c.views[k].means(i, "ndcg@3"), 4), meanAndDeviation(c.views[k].means(i, "ndcg@5"), 4))
			}
			t.Rows = append(t.Rows, append(line, meanAndDeviation(c.views[0].means(i, "map"), 4)))
		}
		published := c.views[0].published
		for _, name := range []string{"BoltzRank1", "BoltzRank2"} {
			if published[name] != nil {
				of := func(m string) string { return four("%.4f", published.of(name, m)) }
				t.Rows = append(t.Rows, []string{name, "", "paper", of("ndcg@1"), of("ndcg@3"), of("ndcg@5"), "", "", of("map")})
			}
		}
		r.Tables = append(r.Tables, t)
	}
}

// boltzRankChanges pairs the rows that differ in one property: pairs of documents, a bag of ten
// networks, or the discount in training.
func boltzRankChanges(rows []row) []pair {
	var changes [3][]pair
	for i := range rows {
		for k := range rows {
			a, b := &rows[i], &rows[k]
			method, bag, trained := a.group != b.group, a.grid["bag"][0] != b.grid["bag"][0], a.trainsBy != b.trainsBy
			switch {
			case method && !bag && !trained && a.group == "BoltzRank2":
				changes[0] = append(changes[0], pair{a.name, b.name})
			case !method && bag && !trained && a.grid["bag"][0] == "10":
				changes[1] = append(changes[1], pair{a.name, b.name})
			case !method && !bag && trained && a.trainsBy == "standard":
				changes[2] = append(changes[2], pair{a.name, b.name})
			}
		}
	}
	return slices.Concat(changes[:]...)
}

// boltzSeedPlot plots the MAP of every seed, and the published MAP as lines.
func boltzSeedPlot(s *results, c *column) chart.Plot {
	p := chart.Plot{Title: "BoltzRank on " + c.name + ": MAP by seed", X: chart.Axis{Min: 0.4, Max: float64(len(s.rows)) + 0.6}, Y: chart.Axis{Label: "MAP on test queries, mean over folds"}, Width: 820}
	v := &c.views[0]
	for _, name := range []string{"BoltzRank1", "BoltzRank2"} {
		seeds := chart.Series{Name: name + ", a seed each", Kind: chart.Scatter}
		for i := range s.rows {
			if s.rows[i].group == name {
				for _, value := range v.means(i, "map") {
					seeds.X, seeds.Y = append(seeds.X, float64(i+1)), append(seeds.Y, value)
				}
			}
		}
		p.Series = append(p.Series, seeds)
		if theirs := v.published.of(name, "map"); !math.IsNaN(theirs) {
			p.Series = append(p.Series, chart.Series{Name: name + ", paper", X: []float64{0.4, float64(len(s.rows)) + 0.6}, Y: []float64{theirs, theirs}})
		}
	}
	for i := range s.rows {
		label := fmt.Sprintf("bag %s, %s", s.rows[i].grid["bag"][0], discountOf(s.rows[i].trainsBy))
		p.X.Ticks = append(p.X.Ticks, chart.Tick{Value: float64(i + 1), Label: label})
	}
	return p
}

// boltzSeedNotes notes whether seeds and choices explain the difference from the paper.
func boltzSeedNotes(s *results, r *Report) {
	for _, c := range s.columns {
		v := &c.views[0]
		for _, name := range []string{"BoltzRank1", "BoltzRank2"} {
			for _, m := range []string{"ndcg@1", "map"} {
				published := v.published.of(name, m)
				if math.IsNaN(published) {
					continue
				}
				runs, reached, best := 0, 0, math.Inf(-1)
				for i := range s.rows {
					if s.rows[i].group != name {
						continue
					}
					for _, value := range v.means(i, m) {
						runs++
						best = max(best, value)
						if value >= published {
							reached++
						}
					}
				}
				r.note("%s, %s's %s: %d of %d trainings (rows × seeds) reach the paper's %.4f; the highest is %.4f.", c.name, name, title(m), reached, runs, published, best)
			}
		}
	}
	r.note("The slides define NDCG with the discount 1/log(1 + rank), while their numbers for AdaRank, FRank and ListNet are those of LETOR's tool, whose discount is 1, 1, 1/log2 3, …: NDCG@1 and MAP do not depend on it, NDCG@2 to @5 do.")
}

// boltzFewMeasures are the measures of the paper's table that its text discusses.
var boltzFewMeasures = []string{"ndcg@1", "ndcg@3", "ndcg@5", "map"}
