package paper

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/svg"
	"github.com/listwise/listwise/tune"
)

// publishedOHSUMED returns LETOR's published results on OHSUMED: row, measure.
func publishedOHSUMED() map[string]map[string]float64 {
	header, rows := publishedTable("letor3-ohsumed-ndcg.csv")
	numbers := make(map[string]map[string]float64)
	for _, row := range rows {
		numbers[row[0]] = make(map[string]float64)
		for i := 1; i < len(row); i++ {
			m := strings.ToLower(strings.Replace(header[i], "N@", "ndcg@", 1))
			numbers[row[0]][m] = number(row[i])
		}
	}
	return numbers
}

// publishedListNet is the row of LETOR's ListNet in publishedOHSUMED, the only one
// of the three methods there.
const publishedListNet = "ListNet"

// published returns LETOR's ListNet, nil if the data are others.
func (r *listOHSUMEDResult) published() map[string]float64 {
	if r.data.name != "OHSUMED" {
		return nil
	}
	return publishedOHSUMED()[publishedListNet]
}

func (e listOHSUMED) report(o Options, result *listOHSUMEDResult) *Report {
	r := &Report{Name: "listmle-ohsumed", Title: listOHSUMEDExperiment().Title}
	r.fact("source", "%s; its OHSUMED results are a chart without numbers, in which ListMLE is above ListNet and ListNet above RankCosine", listMLESource)
	r.fact("published", "ListNet's NDCG and MAP: LETOR 3.0's baselines, run by Microsoft Research Asia")
	r.fact("command", "%s", o.Command)
	r.fact("seed", "%d", o.Seed)
	r.fact("data", "%s: %s, %d test queries in all", result.data.name, foldList(result.folds), queries(result.folds))
	r.fact("convention", "%s (%s)", letor3.Name(), letor3.Explanation())
	r.fact("method", "linear scorers; every hyperparameter of the grids below chosen by validation %s in each fold", title(listSelection))
	r.fact("numbers", "means over folds")
	r.Tables = []Table{e.table(result), e.pairs(result), e.tiesTable(result), e.settings(result)}
	r.Sheets = []Sheet{e.sheet(result), e.tiesSheet(result), e.chosenSheet(result)}
	r.Plots = []Plot{e.plot(result)}
	e.claim(r, result, o.Seed)
	e.notes(r, result)
	return r
}

// table has the measures of the rows and of the published one.
func (e listOHSUMED) table(result *listOHSUMEDResult) Table {
	t := Table{Title: "test results on " + result.data.name, Columns: []string{"method"}, Left: 1}
	for _, m := range listMeasures {
		t.Columns = append(t.Columns, title(m))
	}
	line := func(name string, value func(m string) string) {
		row := []string{name}
		for _, m := range listMeasures {
			row = append(row, value(m))
		}
		t.Rows = append(t.Rows, row)
	}
	published := result.published()
	for i := range result.rows {
		ours := &result.rows[i]
		line(ours.Entry.Name, func(m string) string { return fmt.Sprintf("%.4f", meanOf(ours, m)) })
		if ours.Entry.Name == publishedListNet && published != nil {
			line("  published", func(m string) string { return fmt.Sprintf("%.4f", published[m]) })
			line("  ours − published", func(m string) string { return fmt.Sprintf("%+.4f", meanOf(ours, m)-published[m]) })
		}
	}
	for i := range result.beside {
		line(result.beside[i].Entry.Name, func(m string) string { return fmt.Sprintf("%.4f", meanOf(&result.beside[i], m)) })
	}
	return t
}

// claim holds ListNet, trained in either way, against LETOR's.
func (e listOHSUMED) claim(r *Report, result *listOHSUMEDResult, seed uint64) {
	published := result.published()
	for _, row := range result.all() {
		if published == nil || !strings.HasPrefix(row.Entry.Name, publishedListNet) {
			continue
		}
		for _, m := range listMeasures {
			held := claimed{data: result.data.name, row: row.Entry.Name, measure: title(m), published: published[m], ours: meanOf(&row, m)}
			if why := letorSets.otherData(result.data.name, queries(result.folds)); why != "" {
				r.claimNot(held, why)
				continue
			}
			r.claimMean(held, perQuery(&row, m), seed)
		}
	}
}

// paired returns the mean over all test queries of the difference of two rows, and
// its standard error.
func paired(a, b *tune.Row, m string) (difference, deviation float64) {
	var d []float64
	by := summaryOf(a, m).Measure
	for k := range a.Folds {
		other := b.Folds[k].Test.PerQuery(by)
		for i, v := range a.Folds[k].Test.PerQuery(by) {
			if x := v - other[i]; !math.IsNaN(x) {
				d = append(d, x)
			}
		}
	}
	return mean(d), sd(d) / math.Sqrt(float64(len(d)))
}

// pairs holds the chart's order against ours.
func (e listOHSUMED) pairs(result *listOHSUMEDResult) Table {
	t := Table{Title: "the order of the slides' chart: differences over the test queries ± standard error, and in how many of NDCG@1 to @10 and MAP it is above", Left: 1,
		Columns: []string{"", "NDCG@1", "NDCG@5", "NDCG@10", "MAP", "above"}}
	for i := range result.rows {
		for k := i + 1; k < len(result.rows); k++ {
			a, b := &result.rows[i], &result.rows[k]
			row := []string{a.Entry.Name + " − " + b.Entry.Name}
			for _, m := range []string{"ndcg@1", "ndcg@5", "ndcg@10", "map"} {
				d, err := paired(a, b, m)
				row = append(row, fmt.Sprintf("%+.4f ± %.4f", d, err))
			}
			t.Rows = append(t.Rows, append(row, fmt.Sprintf("%d of %d", above(a, b), len(listMeasures))))
		}
	}
	return t
}

// above counts the measures in which one row is above the other.
func above(a, b *tune.Row) int {
	n := 0
	for _, m := range listMeasures {
		if meanOf(a, m) > meanOf(b, m) {
			n++
		}
	}
	return n
}

// tiesTable compares what ListMLE may do with documents of equal grade.
func (e listOHSUMED) tiesTable(result *listOHSUMEDResult) Table {
	t := Table{Title: "ListMLE by its order of equally graded documents (ties), C chosen as above", Columns: []string{"ties", "seeds", "NDCG@1", "NDCG@5", "NDCG@10", "MAP"}, Left: 1}
	for i := range result.ties {
		row := &result.ties[i]
		cells := []string{row.row.name, strconv.Itoa(len(row.results))}
		for _, m := range []string{"ndcg@1", "ndcg@5", "ndcg@10", "map"} {
			values := row.values(m)
			cell := fmt.Sprintf("%.4f", mean(values))
			if len(values) > 1 {
				cell += fmt.Sprintf(" ± %.4f", sd(values))
			}
			cells = append(cells, cell)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// settings lists what was tried and chosen.
func (e listOHSUMED) settings(result *listOHSUMEDResult) Table {
	t := Table{Title: "settings tried and chosen, fold by fold", Columns: []string{"row", "tried", "chosen"}, Left: 3}
	add := func(name string, row *tune.Row) {
		var tried, chosen []string
		for _, h := range row.Varied() {
			tried = append(tried, h+"="+strings.Join(triedValues(&row.Entry, h), ","))
		}
		for k := range row.Folds {
			chosen = append(chosen, describeChoice(row, &row.Folds[k]))
		}
		t.Rows = append(t.Rows, []string{name, strings.Join(tried, " "), strings.Join(chosen, " | ")})
	}
	for i := range result.rows {
		add(result.rows[i].Entry.Name, &result.rows[i])
	}
	for i := range result.beside {
		add(result.beside[i].Entry.Name, &result.beside[i])
	}
	for i := range result.ties {
		add("ties="+result.ties[i].row.name, &result.ties[i].results[0])
	}
	return t
}

// notes states the findings.
func (e listOHSUMED) notes(r *Report, result *listOHSUMEDResult) {
	chart := 0
	for i := 1; i < len(result.rows); i++ {
		if above(&result.rows[i-1], &result.rows[i]) == len(listMeasures) {
			chart++
		}
	}
	order := make([]string, len(result.rows))
	byMAP := make([]float64, len(result.rows))
	for i := range result.rows {
		byMAP[i] = meanOf(&result.rows[i], "map")
	}
	for i, rank := range ranks(byMAP) {
		order[rank-1] = fmt.Sprintf("%s (%.4f)", result.rows[i].Entry.Name, byMAP[i])
	}
	r.note("The chart's order, ListMLE > ListNet > RankCosine at all cut-offs: ours has %d of its %d neighbours so. By MAP ours is %s.", chart, len(result.rows)-1, strings.Join(order, " > "))
	r.note("ListMLE takes a whole permutation for the truth, where grades give the order of a few: %.0f %% of the documents have the lowest grade of their list, and as large a part of the likelihood's factors say in which order these come, by lot. ties=average averages over several lots, ties=group leaves out what the grades do not say.", 100*lowestShare(result.folds))
	if result.published() != nil {
		r.note("ListNet is here at the minimum of its penalised risk, with penalty and mapping chosen on the validation data; \"ListNet, descent\" goes down query by query with the linear mapping and keeps the epoch that is best on them, as published runs did as far as is known. What the published run did otherwise is not known.")
	}
	for i := range result.rows {
		if edge := result.rows[i].AtEdge(); len(edge) > 0 {
			r.note("%s: in some fold the chosen %s is the lowest or highest tried.", result.rows[i].Entry.Name, strings.Join(edge, ", "))
		}
	}
	if result.data.about != "" {
		r.note("%s", result.data.about)
	}
}

// lowestShare returns the share of the test documents that have the lowest grade of
// their query.
func lowestShare(folds []tune.Fold) float64 {
	lowest, all := 0, 0
	for _, f := range folds {
		for i := range f.Test.Queries {
			grades := f.Test.Queries[i].Grades
			least := slices.Min(grades)
			for _, g := range grades {
				if g == least {
					lowest++
				}
			}
			all += len(grades)
		}
	}
	return float64(lowest) / float64(all)
}

// all returns the rows and those beside them.
func (r *listOHSUMEDResult) all() []tune.Row { return slices.Concat(r.rows, r.beside) }

func (e listOHSUMED) sheet(result *listOHSUMEDResult) Sheet {
	s := Sheet{Columns: []string{"data", "method", "measure", "ours", "tie_neutral", "pooled", "published"}}
	for _, row := range result.all() {
		for _, m := range row.Measures {
			var published any
			if v, ok := result.published()[m.Measure.Name()]; ok && row.Entry.Name == publishedListNet {
				published = v
			}
			s.Rows = append(s.Rows, []any{result.data.name, row.Entry.Name, m.Measure.Name(), m.Mean, m.TieNeutral, m.Pooled, published})
		}
	}
	return s
}

func (e listOHSUMED) tiesSheet(result *listOHSUMEDResult) Sheet {
	s := Sheet{Name: "ties", Columns: []string{"data", "ties", "seed", "measure", "mean", "tie_neutral", "pooled"}}
	for i := range result.ties {
		t := &result.ties[i]
		for k := range t.results {
			for _, m := range t.results[k].Measures {
				s.Rows = append(s.Rows, []any{result.data.name, t.row.name, k + 1, m.Measure.Name(), m.Mean, m.TieNeutral, m.Pooled})
			}
		}
	}
	return s
}

func (e listOHSUMED) chosenSheet(result *listOHSUMEDResult) Sheet {
	s := Sheet{Name: "chosen", Columns: []string{"data", "method", "fold", "settings", "validation"}}
	for _, row := range result.all() {
		for k := range row.Folds {
			s.Rows = append(s.Rows, []any{result.data.name, row.Entry.Name, row.Folds[k].Fold, describeChoice(&row, &row.Folds[k]), row.Folds[k].Validation})
		}
	}
	return s
}

// plot has NDCG at all cut-offs.
func (e listOHSUMED) plot(result *listOHSUMEDResult) Plot {
	p := Plot{Plot: svg.Plot{
		Title: "ListMLE, ListNet and RankCosine — " + result.data.name,
		X:     svg.Axis{Label: "cut-off k"},
		Y:     svg.Axis{Label: "NDCG@k on test queries, mean over folds"},
	}}
	curve := func(name string, value func(m string) float64) {
		s := svg.Series{Name: name, Kind: svg.LineMarkers}
		for _, m := range listMeasures {
			if k, found := strings.CutPrefix(m, "ndcg@"); found {
				s.X, s.Y = append(s.X, number(k)), append(s.Y, value(m))
			}
		}
		p.Series = append(p.Series, s)
	}
	for i := range result.rows {
		curve(result.rows[i].Entry.Name, func(m string) float64 { return meanOf(&result.rows[i], m) })
	}
	if published := result.published(); published != nil {
		curve("ListNet, published", func(m string) float64 { return published[m] })
	}
	for k := range 10 {
		p.X.Ticks = append(p.X.Ticks, svg.Tick{Value: float64(k + 1), Label: strconv.Itoa(k + 1)})
	}
	return p
}
