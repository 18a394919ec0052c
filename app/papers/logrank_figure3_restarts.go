package papers

import (
	"fmt"
	"maps"
	"math"
	"strings"
)

// restartsGroup are the rows of Figure 3 whose walks start as the paper says its main runs
// did: nine in ten at the ideal ranking, the others at the worst (section 5.3.2).
const restartsGroup = "restarts"

// restartsSuffix ends the names of these rows, which begin as the published ones.
const restartsSuffix = ", mix .9"

// paperRestarts returns the rows of restartsGroup: every objective is sampled, MLE and
// ExpGain_AUC included, and tries the regularisation that it tries otherwise.
func paperRestarts() []row {
	var rows []row
	add := func(name, method, training, chosenBy string, grid map[string][]string) {
		grid = maps.Clone(grid)
		grid["mix"], grid["levels"] = []string{"0.9"}, []string{"0"}
		delete(grid, "skew")
		rows = append(rows, row{
			name: name + restartsSuffix, against: name, group: restartsGroup, seeds: drawnSeeds, unplotted: true,
			method: method, training: training, chosenBy: chosenBy, grid: grid,
		})
	}
	add("MLE", "mle", "", "", gridSampledMLE)
	for _, o := range []struct {
		name, method string
		grid         map[string][]string
	}{{"ExpGain", "expgain", gridExpGain}, {"L_3", "l3", gridL3}, {"ConvexLoss", "convexloss", gridConvexLoss}} {
		add(o.name+"_AUC", o.method, "auc", "", o.grid)
		add(o.name+"_MAP", o.method, "map", "", o.grid)
		add(o.name+"_NDCG", o.method, "ndcg@10", "ndcg@10", o.grid)
	}
	return rows
}

// restartsTables set the rows of restartsGroup beside those with this project's walks and the
// paper's numbers: a table a set and reading.
var restartsTables partFunc = func(s *results, r *Report) {
	for k := range s.readings {
		for _, c := range s.withAverage(k) {
			r.Tables = append(r.Tables, s.restartsTable(c))
		}
	}
}

func (s *results) restartsTable(c *column) Table {
	t := Table{Title: fmt.Sprintf("the paper's restarts (mix .9) beside this project's walks, %s, %s data", c.name, c.reading.name), Columns: []string{"method"}, Left: 1}
	for _, m := range s.measures {
		t.Columns = append(t.Columns, title(m), "mix .9", "paper")
	}
	v := &c.views[0]
	for i := range s.rows {
		row := &s.rows[i]
		if row.group != restartsGroup {
			continue
		}
		line := []string{row.against}
		for _, m := range s.measures {
			paper := v.published.of(row.against, m)
			line = append(line, four("%.4f", s.ours(v, walksOf(row), m)), four("%.4f", v.mean(i, m)), four("%.3f", paper))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// walksOf names the row that differs from one of restartsGroup in the restarts, and for
// ExpGain_AUC in the form: that of MLE is sampled, too.
func walksOf(r *row) string {
	if r.against == "MLE" {
		return sampledMLE
	}
	return r.against
}

// restartsSheet has the rows' numbers in full.
var restartsSheet = numberSheet{name: "restarts", rows: inGroups(restartsGroup), fields: []field{
	readingField, measureField, methodField, dataField, oursField, neutralField, pooledField,
	{"paper", func(p *place) any { return orNil(p.view.published.of(p.row().against, p.measure)) }},
}}

// figure3Differences tell what Δ adds to the likelihood from what sampling adds: the claim
// that ConvexLoss beats MLE, "clearly showing the worth of information from Δ", holds both
// against each other.
func figure3Differences() differences {
	d := differences{
		name: "differences",
		title: func(c *column, _ *view) string {
			return fmt.Sprintf("what Δ and what sampling bring: differences over the test queries of %s, %s data, all seeds, with 95 %% intervals; * significant at 5 %% after Holm's correction", c.name, c.reading.name)
		},
	}
	add := func(row, than string) { d.pairs = append(d.pairs, pair{row, than}) }
	for _, name := range convexLossRows {
		add(name, sampledMLE)
	}
	for _, name := range convexLossRows {
		add(name, "MLE")
	}
	add(sampledMLE, "MLE")
	for _, name := range convexLossRows {
		add(name+restartsSuffix, "MLE"+restartsSuffix)
	}
	add("MLE"+restartsSuffix, "MLE")
	for _, name := range append([]string{sampledMLE}, convexLossRows...) {
		twin := strings.TrimSuffix(name, ", sampled") + restartsSuffix
		add(twin, name)
	}
	return d
}

// restartsNote says which restarts come nearer to the paper's numbers.
var restartsNote partFunc = func(s *results, r *Report) {
	if !s.comparable() {
		return
	}
	for k, reading := range s.readings {
		higher, nearer, all := 0, 0, 0
		for _, c := range s.columnsOf(k) {
			v := &c.views[0]
			for i := range s.rows {
				row := &s.rows[i]
				if row.group != restartsGroup || s.rowNamed(walksOf(row)) < 0 {
					continue
				}
				for _, m := range s.measures {
					ours, theirs, paper := s.ours(v, walksOf(row), m), v.mean(i, m), v.published.of(row.against, m)
					if all++; theirs > ours {
						higher++
					}
					if math.Abs(theirs-paper) < math.Abs(ours-paper) {
						nearer++
					}
				}
			}
		}
		if all > 0 {
			r.note("%s data: with the paper's restarts %d of %d numbers are higher than with this project's walks, and %d nearer to the paper's.", reading.name, higher, all, nearer)
		}
	}
}

// figure3Findings say whose the gain of ConvexLoss over MLE is: Δ's or the sample's.
var figure3Findings partFunc = func(s *results, r *Report) {
	at, sampled, exact := s.rowNamed("ConvexLoss_NDCG"), s.rowNamed(sampledMLE), s.rowNamed("MLE")
	if at < 0 || sampled < 0 || exact < 0 {
		return
	}
	for _, c := range s.columns {
		if c.lacksPublished() || s.otherThanPublished(c) != "" {
			continue
		}
		v := &c.views[0]
		verdict, figure := s.rises(v, at, sampled, s.measures...)
		_, sampling := s.rises(v, sampled, exact, s.measures...)
		r.found(verdict, "ConvexLoss beats MLE, \"clearly showing the worth of information from Δ\" (5.2.3)",
			"%s, ConvexLoss_NDCG − MLE over the same rankings: %s; that MLE − MLE in closed form: %s", c.name, figure, sampling)
	}
}
