package app

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/rows"
)

// queryValues are the values of a file FoldK.queries.csv, or of several in a row. A value is NaN if
// the query does not count.
type queryValues struct {
	queries  []string
	weights  []float64 // nil if all are 1
	measures []string
	values   [][]float64 // by measure, then query
	folds    []int       // number of queries after each fold
}

// parseQueryValues reads the text that measure.Result.WriteCSV writes.
func parseQueryValues(name string, text []byte) (*queryValues, error) {
	table, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, usageErrorf("%s: %w", name, err)
	}
	if len(table) == 0 || table[0][0] != "query" {
		return nil, usageErrorf("%s: found no column query, expected the values of each query", name)
	}
	first := 1
	var v queryValues
	if len(table[0]) > 1 && table[0][1] == "weight" {
		first, v.weights = 2, make([]float64, 0)
	}
	v.measures = table[0][first:]
	for _, m := range v.measures {
		if strings.ContainsAny(m, "\",\n") {
			return nil, usageErrorf("%s: found the measure %q, expected a name without commas and quotation marks", name, m)
		}
	}
	v.values = make([][]float64, len(v.measures))
	for i, row := range table[1:] {
		v.queries = append(v.queries, row[0])
		for c, cell := range row[1:] {
			x := math.NaN()
			if cell != "" {
				if x, err = strconv.ParseFloat(cell, 64); err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
					return nil, usageErrorf("%s, line %d: found %q, expected a number", name, i+2, cell)
				}
			}
			if c+1 < first {
				v.weights = append(v.weights, x)
			} else {
				v.values[c+1-first] = append(v.values[c+1-first], x)
			}
		}
	}
	v.folds = []int{len(v.queries)}
	return &v, nil
}

// add appends the queries of another fold.
func (v *queryValues) add(name string, w *queryValues) error {
	if !slices.Equal(v.measures, w.measures) || (v.weights == nil) != (w.weights == nil) {
		return usageErrorf("%s: found the columns %s, expected %s as in the first fold", name, strings.Join(w.measures, ", "), strings.Join(v.measures, ", "))
	}
	v.queries, v.weights = append(v.queries, w.queries...), append(v.weights, w.weights...)
	for m := range v.values {
		v.values[m] = append(v.values[m], w.values[m]...)
	}
	v.folds = append(v.folds, len(v.queries))
	return nil
}

// of returns the values of a measure, or nil.
func (v *queryValues) of(name string) []float64 {
	if i := slices.Index(v.measures, name); i >= 0 {
		return v.values[i]
	}
	return nil
}

// means returns the mean over folds of a measure, the mean over all queries, and the number of
// queries that count.
func (v *queryValues) means(name string) (mean, pooled float64, counted int) {
	values := v.of(name)
	var folds []float64
	for k, end := range v.folds {
		begin := 0
		if k > 0 {
			begin = v.folds[k-1]
		}
		var weights []float64
		if v.weights != nil {
			weights = v.weights[begin:end]
		}
		folds = append(folds, measure.WeightedMean(values[begin:end], weights))
	}
	for _, x := range values {
		if x == x {
			counted++
		}
	}
	return measure.Mean(folds), measure.WeightedMean(values, v.weights), counted
}

// tabled is a system with its values.
type tabled struct {
	run    *bundleRun
	system *bundleSystem
	values *queryValues
}

// tabledGroup are the systems of one table: those on the same queries, with the same data,
// convention and treatment of ties.
type tabledGroup struct {
	name    string // of the table
	systems []tabled
}

// bundleTablesOf returns the tables of a bundle by their paths. read returns a file of the bundle.
func bundleTablesOf(m *bundleJSON, read func(name string) ([]byte, error)) (map[string][]byte, error) {
	groups, err := bundleGroups(m, read)
	if err != nil {
		return nil, err
	}
	tables := make(map[string][]byte)
	columns, cells, err := meansCells(groups, m.Tables.Measures)
	if err != nil {
		return nil, err
	}
	var sheets [2][]report
	for i, k := range []marks{latexMarks, markdownMarks} {
		sheet, err := meansSheet(groups, m.Tables.Measures, k)
		if err != nil {
			return nil, err
		}
		sheets[i] = []report{sheet}
	}
	if err := addTables(tables, "means", sheets[0], sheets[1], columns, cells); err != nil {
		return nil, err
	}
	found := m.Tables.Baseline == ""
	for _, g := range groups {
		if len(g.systems) < 2 {
			continue
		}
		c, err := g.compare(&m.Tables)
		if err != nil {
			return nil, err
		}
		found = found || c.baseline != ""
		columns, cells := c.csv()
		if err := addTables(tables, g.name, c.paper(latexMarks), c.paper(markdownMarks), columns, cells); err != nil {
			return nil, err
		}
	}
	if !found {
		return nil, usageErrorf("--baseline: found no %q among the systems to compare", m.Tables.Baseline)
	}
	return tables, nil
}

func addTables(tables map[string][]byte, name string, forLatex, forMarkdown []report, columns []string, cells [][]any) error {
	var text bytes.Buffer
	if err := rows.WriteCSV(&text, columns, cells); err != nil {
		return err
	}
	tables["tables/"+name+".csv"] = text.Bytes()
	tables["tables/"+name+".tex"] = []byte(latex(forLatex, ""))
	tables["tables/"+name+".md"] = []byte(markdown(forMarkdown))
	return nil
}

// bundleGroups reads the values of all systems and groups the systems by table.
func bundleGroups(m *bundleJSON, read func(name string) ([]byte, error)) ([]*tabledGroup, error) {
	var groups []*tabledGroup
	for _, r := range m.Runs {
		for i := range r.Systems {
			s := tabled{run: r, system: &r.Systems[i]}
			for k, fold := range s.system.Folds {
				text, err := read(fold.Values)
				if err != nil {
					return nil, err
				}
				v, err := parseQueryValues(fold.Values, text)
				if err != nil {
					return nil, err
				}
				if k == 0 {
					s.values = v
				} else if err := s.values.add(fold.Values, v); err != nil {
					return nil, err
				}
			}
			at := slices.IndexFunc(groups, func(g *tabledGroup) bool { return g.takes(s) })
			if at < 0 {
				name := unusedName(r.Data[0], func(name string) bool {
					return name == "means" || slices.ContainsFunc(groups, func(g *tabledGroup) bool { return g.name == name })
				})
				groups, at = append(groups, &tabledGroup{name: name}), len(groups)
			}
			groups[at].systems = append(groups[at].systems, s)
		}
	}
	return groups, nil
}

func (g *tabledGroup) takes(s tabled) bool {
	first := g.systems[0]
	return slices.Equal(first.run.Data, s.run.Data) && first.run.Evaluation == s.run.Evaluation && slices.Equal(first.values.queries, s.values.queries) &&
		slices.Equal(first.values.folds, s.values.folds) && slices.Equal(first.values.weights, s.values.weights)
}

// names returns the names of the systems, with the run where two are equal.
func (g *tabledGroup) names() []string {
	names := mapped(g.systems, func(s tabled) string { return s.system.Name })
	for i, s := range g.systems {
		if slices.ContainsFunc(g.systems, func(o tabled) bool { return o.system != s.system && o.system.Name == s.system.Name }) {
			names[i] = s.run.Name + "/" + s.system.Name
		}
	}
	return names
}

// measures returns the measures that all systems have, or the chosen ones.
func (g *tabledGroup) measures(chosen []string) ([]string, error) {
	if len(chosen) == 0 {
		chosen = slices.DeleteFunc(slices.Clone(g.systems[0].values.measures), func(name string) bool { return !g.have(name) })
		if len(chosen) == 0 {
			return nil, usageErrorf("%s and %s have no measure in common, expected one for the table", g.names()[0], strings.Join(g.names()[1:], ", "))
		}
	}
	for _, name := range chosen {
		if !g.have(name) {
			return nil, usageErrorf("--measures: found %q, expected a measure that all systems on %s have: %s", name, g.systems[0].run.Data[0], strings.Join(g.systems[0].values.measures, ", "))
		}
	}
	return chosen, nil
}

func (g *tabledGroup) have(name string) bool {
	return !slices.ContainsFunc(g.systems, func(s tabled) bool { return s.values.of(name) == nil })
}

// meansSheet returns the table of the means over folds: a row for each system, a column for each
// measure. The best mean on the same queries is bold.
func meansSheet(groups []*tabledGroup, chosen []string, k marks) (report, error) {
	r := report{columns: []string{"data", "system", "queries"}, keys: 2}
	var all []string
	for _, g := range groups {
		measures, err := g.measures(chosen)
		if err != nil {
			return r, err
		}
		for _, name := range measures {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	r.columns = append(r.columns, all...)
	for _, g := range groups {
		measures, err := g.measures(chosen)
		if err != nil {
			return r, err
		}
		best := make([]float64, len(all))
		for i, name := range all {
			best[i] = math.Inf(-1)
			for _, s := range g.systems {
				if slices.Contains(measures, name) {
					mean, _, _ := s.values.means(name)
					best[i] = max(best[i], mean)
				}
			}
		}
		for n, s := range g.systems {
			row := []any{k.text(s.run.Data[0]), k.text(g.names()[n]), len(s.values.queries)}
			for i, name := range all {
				cell := ""
				if slices.Contains(measures, name) {
					mean, _, _ := s.values.means(name)
					if cell = decimals(mean, 4); mean == best[i] && len(g.systems) > 1 {
						cell = k.bold(cell)
					}
				}
				row = append(row, cell)
			}
			r.rows = append(r.rows, row)
		}
	}
	r.notes = []string{"Means over folds. Bold: the best mean on the data."}
	return r, nil
}

// meansCells returns the columns and rows of the CSV file of means. The first column is the folder of
// the values, for check.sh.
func meansCells(groups []*tabledGroup, chosen []string) (columns []string, cells [][]any, err error) {
	columns = []string{"values", "data", "measure", "queries", "mean", "pooled", "system"}
	for _, g := range groups {
		measures, err := g.measures(chosen)
		if err != nil {
			return nil, nil, err
		}
		for i, s := range g.systems {
			for _, name := range measures {
				mean, pooled, counted := s.values.means(name)
				cells = append(cells, []any{path.Dir(s.system.Folds[0].Values), s.run.Data[0], name, counted, number(mean), number(pooled), g.names()[i]})
			}
		}
	}
	return columns, cells, nil
}

// compare compares the systems of a table as the command compare does.
func (g *tabledGroup) compare(t *bundleTables) (*comparison, error) {
	measures, err := g.measures(t.Measures)
	if err != nil {
		return nil, err
	}
	names := g.names()
	e := g.systems[0].run.Evaluation
	convention, err := measure.ParseConvention(e.Convention)
	if err != nil {
		return nil, usageErrorf("%s: %w", g.systems[0].run.Name, err)
	}
	ties, err := measure.ParseTies(e.Ties)
	if err != nil {
		return nil, usageErrorf("%s: %w", g.systems[0].run.Name, err)
	}
	c := &comparison{convention: convention.WithThreshold(e.Threshold), ties: ties, seed: t.Seed, resamples: t.Resamples}
	if folds := len(g.systems[0].values.folds); folds > 1 {
		c.folds = folds
	}
	config := stats.Config{Baseline: slices.Index(names, t.Baseline), Permutations: t.Permutations, Resamples: t.Resamples, Seed: t.Seed}
	if config.Baseline >= 0 {
		c.baseline = t.Baseline
	}
	for _, name := range names {
		c.systems = append(c.systems, &contestant{name: name, runs: make([]run, 1)})
	}
	for _, name := range measures {
		var values [][][]float64
		config.Weights = nil
		for i, s := range g.systems {
			var counted []float64
			for q, v := range s.values.of(name) {
				if v != v {
					continue
				}
				counted = append(counted, v)
				if i == 0 && s.values.weights != nil {
					config.Weights = append(config.Weights, s.values.weights[q])
				}
			}
			values = append(values, [][]float64{counted})
		}
		r, err := stats.CompareRuns(values, config)
		if err != nil {
			return nil, usageErrorf("%s, measure %s: %w", g.name, name, err)
		}
		c.measured = append(c.measured, measured{
			name: name, weighted: config.Weights != nil, deviations: slices.Repeat([]float64{math.NaN()}, len(names)), Comparison: r,
		})
	}
	return c, nil
}

// errTables is the error of bundle --check if a table is not what the values give.
var errTables = errors.New("the tables are not what the values give")

// checkBundle computes the tables of an unpacked bundle again and compares them with its files.
func checkBundle(env *environment, dir string) error {
	m, err := readManifest(dir)
	if err != nil {
		return err
	}
	read := func(name string) ([]byte, error) {
		if !filepath.IsLocal(name) {
			return nil, usageErrorf("--check: %s: found the path %q, expected one in the bundle", filepath.Join(dir, manifestName), name)
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, usageErrorf("--check: %w", err)
		}
		return text, nil
	}
	if err := m.check(); err != nil {
		return usageErrorf("--check: %s: %w", filepath.Join(dir, manifestName), err)
	}
	tables, err := bundleTablesOf(m, read)
	if err != nil {
		return err
	}
	r := report{columns: []string{"table", "result"}}
	wrong := 0
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		result := "as computed"
		text, err := read(name)
		if err != nil {
			result = "missing"
		} else if !bytes.Equal(text, tables[name]) {
			result = firstDifference(text, tables[name])
		}
		if result != "as computed" {
			wrong++
		}
		r.rows = append(r.rows, []any{name, result})
	}
	list, err := os.ReadDir(filepath.Join(dir, "tables"))
	if err != nil {
		return usageErrorf("--check: %w", err)
	}
	for _, e := range list {
		if name := "tables/" + e.Name(); tables[name] == nil {
			r.rows = append(r.rows, []any{name, "not a table of these values"})
			wrong++
		}
	}
	r.json = map[string]any{"tables": len(r.rows), "wrong": wrong}
	if err := env.print(r); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%s: %w: %d of %d differ", dir, errTables, wrong, len(r.rows))
	}
	return nil
}

// firstDifference names the first line in which a text differs.
func firstDifference(found, expected []byte) string {
	a, b := strings.SplitAfter(string(found), "\n"), strings.SplitAfter(string(expected), "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	line := func(lines []string) string {
		if i == len(lines) {
			return "the end"
		}
		return strconv.Quote(visible(strings.TrimSuffix(lines[i], "\n")))
	}
	return fmt.Sprintf("line %d: found %s, expected %s", i+1, line(a), line(b))
}
