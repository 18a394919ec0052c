package app

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/rows"
)

// readValues reads the text of a file of values, FoldK.queries.csv. Its measures are [measure.Column],
// because only the program that trained may know them.
func readValues(name string, text []byte) (*measure.Result, error) {
	r, err := measure.ReadCSV(bytes.NewReader(text), nil, measure.TiesInput) // nothing here depends on the ties
	if err != nil {
		return nil, usageErrorf("%s: %w", name, err)
	}
	for _, m := range r.Measures() {
		if strings.ContainsAny(m.Name(), "\",\n") {
			return nil, usageErrorf("%s: found the measure %q, expected a name without commas and quotation marks", name, m.Name())
		}
	}
	return r, nil
}

// columnNames returns the names of the measures of a result.
func columnNames(r *measure.Result) []string {
	return mapped(r.Measures(), measure.Measure.Name)
}

// tabled is a system with its values.
type tabled struct {
	name   string // in its table
	run    *bundleRun
	system *bundleSystem
	folds  [][]*measure.Result // of each seed
	all    []*measure.Result   // the folds of each seed, pooled
}

// means returns the mean over folds of a measure for each seed, and the mean over all queries and seeds.
func (s *tabled) means(name string) (means []float64, pooled float64) {
	m := measure.Column(name)
	means = mapped(s.folds, func(folds []*measure.Result) float64 { return measure.MeanOverFolds(m, folds...) })
	return means, measure.Mean(mapped(s.all, func(all *measure.Result) float64 { return all.Mean(m) }))
}

// mean returns the mean over folds and seeds of a measure.
func (s *tabled) mean(name string) float64 {
	means, _ := s.means(name)
	return measure.Mean(means)
}

// tabledGroup are the systems of one table: those on the same queries, with the same data,
// convention and treatment of ties.
type tabledGroup struct {
	name    string // of the table
	systems []tabled
}

// jointName is the name of the table of all data sets.
const jointName = "joint"

// bundleTablesOf returns the tables of a bundle by their paths, and notes about what they lack. read
// returns a file of the bundle.
func bundleTablesOf(m *bundleJSON, read func(name string) ([]byte, error)) (tables map[string][]byte, notes []string, err error) {
	groups, err := bundleGroups(m, read)
	if err != nil {
		return nil, nil, err
	}
	tables = make(map[string][]byte)
	columns, cells, err := meansCells(groups, m.Tables.Measures)
	if err != nil {
		return nil, nil, err
	}
	sheets := make(map[string][]report)
	for format, k := range map[string]marks{"latex": latexMarks, "markdown": markdownMarks} {
		sheet, err := meansSheet(groups, m.Tables.Measures, k)
		if err != nil {
			return nil, nil, err
		}
		sheets[format] = []report{sheet}
	}
	if err := addTables(tables, "means", sheets["latex"], sheets["markdown"], columns, cells); err != nil {
		return nil, nil, err
	}
	for _, g := range groups {
		if len(g.systems) < 2 {
			continue
		}
		c, err := g.compare(&m.Tables, m.Tables.Measures)
		if err != nil {
			return nil, nil, err
		}
		if err := addComparison(tables, g.name, c); err != nil {
			return nil, nil, err
		}
	}
	j, notes, err := jointOf(groups, &m.Tables)
	if err == nil && j != nil {
		err = addComparison(tables, jointName, j)
	}
	return tables, notes, err
}

// jointOf compares the systems on all data sets, as compare does with several --data. It returns nil if
// there is no such table. notes say what it lacks.
func jointOf(groups []*tabledGroup, t *bundleTables) (_ *joint, notes []string, err error) {
	if len(groups) < 2 {
		return nil, nil, nil
	}
	if t.Baseline == "" {
		return nil, []string{"No table of all data sets: it needs --baseline."}, nil
	}
	names, measures := groups[0].names(), columnNames(groups[0].systems[0].all[0])
	var others []string // systems that are not on all data
	for i, g := range groups {
		for _, before := range groups[:i] {
			if slices.Equal(before.systems[0].run.tests(), g.systems[0].run.tests()) {
				return nil, []string{fmt.Sprintf("No table of all data sets: the tables %s and %s are on the same test data.", before.name, g.name)}, nil
			}
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(g.names(), name) })
		measures = slices.DeleteFunc(measures, func(name string) bool { return !g.have(name) })
		others = append(others, g.names()...)
	}
	others = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(others))), func(name string) bool { return slices.Contains(names, name) })
	if len(t.Measures) > 0 {
		measures = t.Measures // all groups have them
	}
	if !slices.Contains(names, t.Baseline) || len(names) < 2 || len(measures) == 0 {
		return nil, []string{fmt.Sprintf("No table of all data sets: it needs %s, another system and a measure on all of them.", t.Baseline)}, nil
	}
	if len(others) > 0 {
		notes = append(notes, fmt.Sprintf("The table of all data sets leaves out %s, without results on some.", strings.Join(others, ", ")))
	}
	var sets []judgedSet
	var on []*comparison
	for _, g := range groups {
		c, err := g.only(names).compare(t, measures)
		if err != nil {
			return nil, nil, err
		}
		sets, on = append(sets, judgedSet{name: g.name}), append(on, c)
	}
	return newJoint(sets, on), notes, nil
}

// only returns the group with the named systems alone, in their order.
func (g *tabledGroup) only(names []string) *tabledGroup {
	return &tabledGroup{g.name, mapped(names, func(name string) tabled { return g.systems[slices.Index(g.names(), name)] })}
}

// addComparison adds the tables that compare writes.
func addComparison(tables map[string][]byte, name string, c compared) error {
	columns, cells := c.csv()
	return addTables(tables, name, c.paper(latexMarks), c.paper(markdownMarks), columns, cells)
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
			if err := s.read(read); err != nil {
				return nil, err
			}
			at := slices.IndexFunc(groups, func(g *tabledGroup) bool { return g.takes(s) })
			if at < 0 {
				name := unusedName(m.label(r.Data[0]), func(name string) bool {
					return name == "means" || name == jointName || slices.ContainsFunc(groups, func(g *tabledGroup) bool { return g.name == name })
				})
				groups, at = append(groups, &tabledGroup{name: name}), len(groups)
			}
			groups[at].systems = append(groups[at].systems, s)
		}
	}
	for _, g := range groups {
		g.nameSystems()
	}
	return groups, nil
}

// label returns the name of data in tables: a file has none of its endings.
func (m *bundleJSON) label(data string) string {
	file := slices.ContainsFunc(m.Data, func(d bundleData) bool { return d.Name == data && len(d.Files) == 1 && d.Files[0].Path == "." })
	if file {
		return nameOfData(data)
	}
	return data
}

// read reads the values of a system.
func (s *tabled) read(file func(name string) ([]byte, error)) error {
	var first *measure.Result
	for k, fold := range s.system.Folds {
		text, err := file(fold.Values)
		if err != nil {
			return err
		}
		v, err := readValues(fold.Values, text)
		if err != nil {
			return err
		}
		if k == 0 {
			first = v
		} else if !slices.Equal(columnNames(v), columnNames(first)) {
			return usageErrorf("%s: found the columns %s, expected %s as in the first fold", fold.Values, strings.Join(columnNames(v), ", "), strings.Join(columnNames(first), ", "))
		}
		if before := s.system.Folds[max(0, k-1)].Seed; k == 0 || fold.Seed != nil && before != nil && *fold.Seed != *before {
			s.folds = append(s.folds, nil)
		}
		last := &s.folds[len(s.folds)-1]
		*last = append(*last, v)
	}
	s.all = mapped(s.folds, func(folds []*measure.Result) *measure.Result { return measure.Pool(folds...) })
	for _, folds := range s.folds[1:] {
		if !slices.EqualFunc(folds, s.folds[0], sameQueries) {
			return usageErrorf("%s: found other queries for another seed, expected the same", s.system.Folder)
		}
	}
	return nil
}

func sameQueries(a, b *measure.Result) bool {
	return slices.Equal(a.Queries(), b.Queries()) && slices.Equal(a.Weights(), b.Weights())
}

// takes reports whether a system is on the test data of the table. Training data may differ.
func (g *tabledGroup) takes(s tabled) bool {
	first := g.systems[0]
	return slices.Equal(first.run.tests(), s.run.tests()) && first.run.Evaluation == s.run.Evaluation && slices.EqualFunc(first.folds[0], s.folds[0], sameQueries)
}

// tests returns the fingerprints of the test data.
func (r *bundleRun) tests() (prints []string) {
	for _, f := range r.Fingerprints {
		if strings.HasSuffix(f.Role, testRole) {
			prints = append(prints, f.Fingerprint)
		}
	}
	return prints
}

func (g *tabledGroup) names() []string {
	return mapped(g.systems, func(s tabled) string { return s.name })
}

// nameSystems names the systems in the table, with the run where two are equal.
func (g *tabledGroup) nameSystems() {
	for i := range g.systems {
		s := &g.systems[i]
		s.name = s.system.Name
		if slices.ContainsFunc(g.systems, func(o tabled) bool { return o.system != s.system && o.system.Name == s.system.Name }) {
			s.name = s.run.Name + "/" + s.system.Name
		}
	}
}

// measures returns the measures that all systems have, or the chosen ones.
func (g *tabledGroup) measures(chosen []string) ([]string, error) {
	if len(chosen) == 0 {
		chosen = slices.DeleteFunc(columnNames(g.systems[0].all[0]), func(name string) bool { return !g.have(name) })
		if len(chosen) == 0 {
			return nil, usageErrorf("%s and %s have no measure in common, expected one for the table", g.names()[0], strings.Join(g.names()[1:], ", "))
		}
	}
	for _, name := range chosen {
		if !g.have(name) {
			return nil, usageErrorf("--measures: found %q, expected a measure that all systems on %s have: %s", name, g.name, strings.Join(columnNames(g.systems[0].all[0]), ", "))
		}
	}
	return chosen, nil
}

func (g *tabledGroup) have(name string) bool {
	return !slices.ContainsFunc(g.systems, func(s tabled) bool { return !slices.Contains(columnNames(s.all[0]), name) })
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
	seeded := slices.ContainsFunc(groups, func(g *tabledGroup) bool {
		return slices.ContainsFunc(g.systems, func(s tabled) bool { return len(s.folds) > 1 })
	})
	r.notes = []string{"Means over folds. Bold: the best mean on the data."}
	if seeded {
		r.columns = append(r.columns, "seeds")
		r.notes = []string{"Means over folds and random seeds. Bold: the best mean on the data."}
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
					mean := s.mean(name)
					best[i] = max(best[i], mean)
				}
			}
		}
		for _, s := range g.systems {
			row := []any{k.text(g.name), k.text(s.name), len(s.all[0].Queries())}
			if seeded {
				row = append(row, len(s.folds))
			}
			for i, name := range all {
				cell := ""
				if slices.Contains(measures, name) {
					mean := s.mean(name)
					if cell = decimals(mean, 4); mean == best[i] && len(g.systems) > 1 {
						cell = k.bold(cell)
					}
				}
				row = append(row, cell)
			}
			r.rows = append(r.rows, row)
		}
	}
	return r, nil
}

// meansCells returns the columns and rows of the CSV file of means. The first column is the folder of
// the values, for check.sh.
func meansCells(groups []*tabledGroup, chosen []string) (columns []string, cells [][]any, err error) {
	columns = []string{"values", "data", "measure", "queries", "mean", "pooled", "seeds", "sd_of_seeds", "system"}
	for _, g := range groups {
		measures, err := g.measures(chosen)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range g.systems {
			for _, name := range measures {
				means, pooled := s.means(name)
				counted := s.all[0].Counted(measure.Column(name))
				cells = append(cells, []any{s.system.Folder, g.name, name, counted, number(measure.Mean(means)), number(pooled), len(means), number(deviationOf(means)), s.name})
			}
		}
	}
	return columns, cells, nil
}

// compare compares the systems of a table as the command compare does, by the chosen measures or all.
func (g *tabledGroup) compare(t *bundleTables, chosen []string) (*comparison, error) {
	measures, err := g.measures(chosen)
	if err != nil {
		return nil, err
	}
	names := g.names()
	if t.Baseline != "" && !slices.Contains(names, t.Baseline) {
		return nil, usageErrorf("--baseline: found no %q in the table on %s, which has %s, expected it in every table", t.Baseline, g.name, strings.Join(names, ", "))
	}
	e := g.systems[0].run.Evaluation
	convention, err := measure.ParseConvention(e.Convention)
	if err != nil {
		return nil, usageErrorf("%s: %w", g.systems[0].run.Name, err)
	}
	ties, err := measure.ParseTies(e.Ties)
	if err != nil {
		return nil, usageErrorf("%s: %w", g.systems[0].run.Name, err)
	}
	c := &comparison{convention: convention.WithThreshold(e.Threshold), ties: ties, baseline: t.Baseline, seed: t.Seed, resamples: t.Resamples}
	if folds := len(g.systems[0].folds[0]); folds > 1 {
		c.folds = folds
	}
	config := stats.Config{Baseline: slices.Index(names, t.Baseline), Permutations: t.Permutations, Resamples: t.Resamples, Seed: t.Seed}
	for i, name := range names {
		c.systems = append(c.systems, &contestant{name: name, runs: mapped(g.systems[i].all, func(r *measure.Result) run { return run{result: r} })})
	}
	for _, name := range measures {
		m := measure.Column(name)
		r, err := measure.CompareRuns(m, config, mapped(c.systems, (*contestant).results)...)
		if err != nil {
			return nil, usageErrorf("%s, measure %s: %w", g.name, name, err)
		}
		c.measured = append(c.measured, measured{name: name, weighted: g.systems[0].all[0].Weights() != nil, deviations: c.deviations(m), Comparison: r})
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
	tables, _, err := bundleTablesOf(m, read)
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
