package app

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	page "github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/eval/stats"
)

// joint is a comparison of systems with a baseline on several data sets. Holm's correction covers
// all systems, data sets and measures.
type joint struct {
	sets []judgedSet
	on   []*comparison // on each data set, with the same systems and measures
}

// judgedSet is a data set of compare, with its systems.
type judgedSet struct {
	name, path string
	systems    []*contestant
}

// dataMark is the part of a system's path that the name of a data set replaces.
const dataMark = "{data}"

// Marks of means that differ significantly from the baseline's.
const (
	better = "†"
	worse  = "‡"
)

// parseData parses the values [NAME=]PATH of --data. By default, a data set is named after its file
// or folder.
func (f *compareFlags) parseData() ([]judgedSet, error) {
	var sets []judgedSet
	for _, arg := range f.sets {
		name, path, err := cutName(arg)
		if err != nil {
			return nil, usageErrorf("--data %w", err)
		}
		if name == "" {
			name = nameOfData(path)
		}
		for _, other := range sets {
			if other.name == name {
				return nil, usageErrorf("--data: %s and %s are both named %s, expected NAME=PATH with different names", other.path, path, name)
			}
			if placeOf(path).is(placeOf(other.path)) {
				return nil, usageErrorf("--data: %s and %s are the same data, expected each once", other.path, path)
			}
		}
		if len(f.sets) > 1 && path != "-" {
			if _, err := os.Stat(path); err != nil {
				return nil, usageErrorf("--data: %w", err)
			}
		}
		sets = append(sets, judgedSet{name: name, path: path})
	}
	return sets, nil
}

// nameOfData returns the name of a folder, or of a file without its endings.
func nameOfData(path string) string {
	if whole, err := filepath.Abs(path); err == nil && path != "-" {
		path = whole // of . and ..
	}
	name := filepath.Base(path)
	if isFolder(path) {
		return name
	}
	for _, ending := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, ending)
	}
	if stem := strings.TrimSuffix(name, filepath.Ext(name)); stem != "" {
		return stem
	}
	return name
}

// labels are the texts that LaTeX accepts as labels in every encoding.
var labels = regexp.MustCompile(`^[A-Za-z0-9:._+/@-]+$`)

// checkJoint checks the flags of the compact table, and sets compact if there are several data
// sets.
func (f *compareFlags) checkJoint(format string) error {
	switch {
	case f.label != "" && format != "latex":
		return usageErrorf("--label %s: expected --format latex", f.label)
	case f.label != "" && !labels.MatchString(f.label):
		return usageErrorf("--label %q: expected letters, digits and : . _ + / @ -", f.label)
	}
	f.compact = f.compact || len(f.sets) > 1
	if other := f.by != "" || f.rerank != ""; f.compact && other {
		return usageErrorf("%s has no table for --by and --rerank: expected one --data without --compact", f.whyCompact())
	}
	return nil
}

// whyCompact returns the reason for the compact table.
func (f *compareFlags) whyCompact() string {
	if len(f.sets) > 1 {
		return "a comparison on several --data"
	}
	return "--compact"
}

// needMark returns an error if a system has results of one data set only.
func needMark(systems []*contestant, sets []judgedSet) error {
	for _, s := range systems {
		for _, r := range s.runs {
			if strings.Contains(r.path, dataMark) || !exists(r.path) || contentOf(r.path) == aModel {
				continue
			}
			like := filepath.Join(filepath.Dir(r.path), dataMark, filepath.Base(r.path))
			for _, d := range sets {
				if strings.Contains(r.path, d.name) {
					like = strings.ReplaceAll(r.path, d.name, dataMark)
				}
			}
			return usageErrorf("system %s: found the results of one data set, expected a path with %s for the name of the data set, such as %s, or a model", r.path, dataMark, like)
		}
	}
	return nil
}

// of replaces dataMark in arguments by the name of the data set.
func (d *judgedSet) of(args []string) []string {
	return mapped(args, func(arg string) string { return strings.ReplaceAll(arg, dataMark, d.name) })
}

// systemsOn returns the systems of the arguments on a data set, with their names on all of them. On
// one of several data sets, every system must have results.
func (f *compareFlags) systemsOn(env *environment, d judgedSet, args, names []string) ([]*contestant, error) {
	systems, err := f.systems(d.of(args))
	if err != nil {
		return nil, err
	}
	for i, s := range systems {
		s.name, s.given = names[i], s.given || len(f.sets) > 1
	}
	return env.systemsFor(d.path, systems, 2)
}

// on returns the flags for one data set.
func (f *compareFlags) on(d judgedSet) *compareFlags {
	one := *f
	one.data, one.lowerIsBetter = d.path, d.of(f.lowerIsBetter)
	return &one
}

// newJoint corrects the p values of all comparisons together.
func newJoint(sets []judgedSet, on []*comparison) *joint {
	var all []*stats.Comparison
	for _, c := range on {
		for i := range c.measured {
			all = append(all, c.measured[i].Comparison)
		}
	}
	stats.CorrectTogether(all...)
	return &joint{sets, on}
}

// pairOf returns the comparison of a system with the baseline. It returns nil for the baseline.
func pairOf(m *measured, system int) *stats.Pair {
	for i := range m.Pairs {
		if m.Pairs[i].A == system {
			return &m.Pairs[i]
		}
	}
	return nil
}

// daggerOf returns the mark of a mean that differs significantly from the baseline's, or "".
func daggerOf(m *measured, system int) string {
	switch p := pairOf(m, system); {
	case p == nil || !stats.Significant(p.Randomization.Holm):
		return ""
	case p.Difference > 0:
		return better
	default:
		return worse
	}
}

// table returns the means of all systems by data set and measure. unmarked replaces a missing mark.
func (j *joint) table(k marks, unmarked string) report {
	t := report{columns: []string{"system"}, keys: 1, compact: true, notes: j.caption()}
	for _, s := range j.on[0].systems {
		t.rows = append(t.rows, []any{k.text(s.name)})
	}
	if len(j.sets) > 1 {
		t.groups = []string{""}
	}
	for i, c := range j.on {
		for n := range c.measured {
			m := &c.measured[n]
			t.columns = append(t.columns, m.name)
			if t.groups != nil {
				t.groups = append(t.groups, j.sets[i].name)
			}
			best := m.Systems[bestOf(m)].Mean
			for s := range m.Systems {
				mean := decimals(m.Systems[s].Mean, 4)
				if m.Systems[s].Mean >= best-stats.Same {
					mean = k.bold(mean)
				}
				t.rows[s] = append(t.rows[s], mean+cmp.Or(k.text(daggerOf(m, s)), unmarked))
			}
		}
	}
	return t
}

// flagOfSeeds is the name of the flag in remarks about seeds.
var flagOfSeeds = regexp.MustCompile(` \((tune )?--seeds\)`)

// paper returns the table for papers. Its caption names no flags.
func (j *joint) paper(k marks) []report {
	t := j.table(k, "")
	for i := range t.notes {
		t.notes[i] = flagOfSeeds.ReplaceAllString(t.notes[i], "")
	}
	t.notes = slices.Insert(t.notes, 2, "Bold: highest mean of the column.") // before the marks
	return []report{t}
}

// sheets returns the table of means and a table of differences from the baseline.
func (j *joint) sheets() []report {
	means := j.table(plainMarks, " ") // so that digits align
	means.columns, means.groups = means.headings(plainMarks.text), nil
	notes := means.notes
	means.notes = []string{""}
	differences := report{
		title:   "differences from " + j.on[0].baseline,
		columns: []string{"data", "measure", "system", "difference", "95 % interval", "randomization", "Holm", "", "d", "W/T/L", "detectable"},
		keys:    3,
		notes:   append([]string{""}, notes...),
	}
	add := func(note string) {
		if !slices.Contains(differences.notes, note) {
			differences.notes = append(differences.notes, note)
		}
	}
	for i, c := range j.on {
		for _, m := range c.measured {
			for _, p := range m.Pairs {
				differences.rows = append(differences.rows, []any{
					j.sets[i].name, m.name, c.systems[p.A].name, signed(p.Difference, plainMarks), bounds(p.Interval, plainMarks),
					probability(p.Randomization.P), probability(p.Randomization.Holm), stars(p.Randomization.Holm),
					decimals(p.CohenD, 2), fmt.Sprintf("%d/%d/%d", p.Wins, p.Ties, p.Losses), decimals(p.Detectable, 4),
				})
				if stats.Significant(p.Randomization.Holm) {
					add(starLegend)
				}
			}
			if unbounded(m.Pairs) {
				add(unboundedNote)
			}
		}
	}
	means.alignNumbers()
	differences.alignNumbers()
	return []report{means, differences}
}

// caption returns sentences about the data, the marks, the tests and their correction, and the runs.
func (j *joint) caption() []string {
	notes := []string{j.aboutQueries() + ".", j.aboutConventions() + ".", j.aboutMarks()}
	for _, c := range j.on {
		for _, note := range c.runRemarks() {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// tests returns the number of differences that are tested.
func (j *joint) tests() int {
	return len(j.on) * len(j.on[0].measured) * (len(j.on[0].systems) - 1)
}

func (j *joint) aboutQueries() string {
	return j.each(mapped(j.on, func(c *comparison) string {
		text := fmt.Sprintf("%d queries", c.measured[0].Queries)
		if differ := func(m measured) bool { return m.Queries != c.measured[0].Queries }; slices.ContainsFunc(c.measured, differ) {
			text = strings.Join(mapped(c.measured, func(m measured) string { return fmt.Sprintf("%d queries by %s", m.Queries, m.name) }), ", ")
		}
		if c.folds > 0 {
			text += fmt.Sprintf(" of %d test folds", c.folds)
		}
		if c.measured[0].weighted {
			text += ", weighted"
		}
		return text
	}))
}

func (j *joint) aboutConventions() string {
	texts := mapped(j.on, func(c *comparison) string {
		return fmt.Sprintf("convention %s, ties %s", conventionText(c.convention), c.ties)
	})
	if all := slices.Compact(slices.Clone(texts)); len(all) == 1 {
		return "C" + all[0][1:]
	}
	return j.each(texts)
}

// each joins texts about the data sets.
func (j *joint) each(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	for i, s := range j.sets {
		texts[i] = s.name + ": " + texts[i]
	}
	return strings.Join(texts, "; ")
}

func (j *joint) aboutMarks() string {
	var flips, found []string
	for _, c := range j.on {
		for n := range c.measured {
			m := &c.measured[n]
			if text := page.Flips(m.Comparison); !slices.Contains(flips, text) {
				flips = append(flips, text)
			}
			for s := range m.Systems {
				found = append(found, daggerOf(m, s))
			}
		}
	}
	c := j.on[0]
	test := fmt.Sprintf("two-sided randomization test over queries, %s sign flips, seed %d", strings.Join(flips, " or "), c.seed)
	if n := j.tests(); n > 1 {
		test += fmt.Sprintf("; Holm's correction over %d tests: %s × %s × %s", n,
			counted(len(c.systems)-1, "system", "systems"), counted(len(j.sets), "data set", "data sets"), counted(len(c.measured), "measure", "measures"))
	}
	var text string
	up, down := slices.Contains(found, better), slices.Contains(found, worse)
	switch {
	case up && down:
		text = better + " better and " + worse + " worse than " + c.baseline + " at 0.05"
	case up:
		text = better + " better than " + c.baseline + " at 0.05"
	case down:
		text = worse + " worse than " + c.baseline + " at 0.05"
	default:
		text = "No difference from " + c.baseline + " is significant at 0.05"
	}
	return text + " (" + test + ")."
}

// csv returns a row for each system, data set and measure.
func (j *joint) csv() (columns []string, cells [][]any) {
	columns = []string{
		"system", "data", "measure", "queries", "runs", "mean", "mean_low", "mean_high",
		"baseline", "difference", "difference_low", "difference_high",
		"t_p", "t_p_holm", "randomization_p", "randomization_p_holm", "bootstrap_p", "bootstrap_p_holm",
		"cohen_d", "hedges_g", "wins", "ties", "losses", "detectable", "claim",
	}
	for i, c := range j.on {
		for n := range c.measured {
			m := &c.measured[n]
			for s, x := range m.Systems {
				row := []any{c.systems[s].name, j.sets[i].name, m.name, m.Queries, len(c.systems[s].runs), x.Mean, number(x.Interval.Low), number(x.Interval.High)}
				if p := pairOf(m, s); p != nil {
					row = append(row,
						c.baseline, p.Difference, number(p.Interval.Low), number(p.Interval.High),
						p.T.P, p.T.Holm, p.Randomization.P, p.Randomization.Holm, p.Bootstrap.P, p.Bootstrap.Holm,
						number(p.CohenD), number(p.HedgesG), p.Wins, p.Ties, p.Losses, p.Detectable, string(p.Claim))
				}
				cells = append(cells, append(row, make([]any, len(columns)-len(row))...))
			}
		}
	}
	return columns, cells
}

// jointJSON is the JSON form of a joint comparison. Scripts rely on its names.
type jointJSON struct {
	Baseline  string          `json:"baseline"`
	Tests     int             `json:"tests"` // number of p values that Holm's correction covers
	Seed      uint64          `json:"seed"`
	Resamples int             `json:"resamples"`
	Data      []jointDataJSON `json:"data"`
}

type jointDataJSON struct {
	Name       string         `json:"name"`
	Convention string         `json:"convention"`
	Threshold  float64        `json:"threshold"`
	Ties       string         `json:"ties"`
	Folds      int            `json:"folds,omitempty"`
	Measures   []comparedJSON `json:"measures"`
}

func (j *joint) json() any {
	c := j.on[0]
	all := jointJSON{Baseline: c.baseline, Tests: j.tests(), Seed: c.seed, Resamples: c.resamples}
	for i, c := range j.on {
		one := jointDataJSON{Name: j.sets[i].name, Convention: c.convention.Name(), Threshold: c.convention.Threshold(), Ties: c.ties.String(), Folds: c.folds}
		for n := range c.measured {
			one.Measures = append(one.Measures, c.measuredJSON(&c.measured[n]))
		}
		all.Data = append(all.Data, one)
	}
	return all
}
