package papers

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/tune"
)

// This file contains the parts of a study's report that describe the origin of its numbers, and
// caveats.

// says is a fact with a fixed text.
type says struct{ name, value string }

func (f says) add(_ *results, r *Report) { r.fact(f.name, "%s", f.value) }

// remark is a note with a fixed text.
type remark string

func (n remark) add(_ *results, r *Report) { r.note("%s", string(n)) }

// The facts with a generated text.
var (
	command partFunc = func(s *results, r *Report) { r.fact("command", "%s", s.options.Command) }
	seed    partFunc = func(s *results, r *Report) { r.fact("seed", "%d", s.options.Seed) }

	// conventions adds an explanation of every convention in use.
	conventions partFunc = func(s *results, r *Report) {
		var known []measure.Convention
		for _, c := range s.columns {
			for _, v := range c.views {
				if !slices.Contains(known, v.convention) {
					known = append(known, v.convention)
					r.fact("convention", "%s (%s)", v.convention.Name(), v.convention.Explanation())
				}
			}
		}
	}

	// setSizes adds a fact for every set.
	setSizes partFunc = func(s *results, r *Report) {
		for i, c := range s.columnsOf(0) {
			var cleaning strings.Builder
			for k := range s.readings {
				cleaning.WriteString(s.columnsOf(k)[i].cleaning())
			}
			r.fact("data", "%s: %d folds, %d test queries%s", c.name, len(c.names), c.queries, &cleaning)
		}
	}

	notFound partFunc = func(s *results, r *Report) {
		if len(s.missing) > 0 {
			r.fact("not found", "%s", strings.Join(s.missing, ", "))
		}
	}
)

// oneSet describes the set of an experiment with a single set.
type oneSet struct{ more string }

func (f oneSet) add(s *results, r *Report) {
	c := s.columns[0]
	folds := c.names[0]
	if last := c.names[len(c.names)-1]; last != folds {
		folds += " to " + last
	}
	r.fact("data", "%s: %s, %d test queries in all%s", c.name, folds, c.queries, f.more)
}

// otherDataNotes notes which sets differ from the published sets.
type otherDataNotes struct {
	unknown string // note for a set without published numbers, in which %s stands for its name; "": no note
}

func (n otherDataNotes) add(s *results, r *Report) {
	for _, c := range s.columnsOf(0) {
		published, ok := s.sizes.named(c.name)
		switch {
		case c.lacksPublished():
			if n.unknown != "" {
				r.note(n.unknown, c.name)
			}
		case ok && published.queries != c.queries:
			r.note("%s has %d queries here, the published set %d: these are other data of that name.", c.name, c.queries, published.queries)
		}
	}
}

// lacksPublished reports whether there are no published numbers for the column's set.
func (c *column) lacksPublished() bool {
	return !slices.ContainsFunc(c.views, func(v view) bool { return len(v.published) > 0 })
}

// withoutMethod notes the rows that have only published numbers.
var withoutMethod partFunc = func(s *results, r *Report) {
	var lacking []string
	for i := range s.rows {
		if s.rows[i].method == "" {
			lacking = append(lacking, s.rows[i].name)
		}
	}
	if lacking != nil {
		r.note("With the paper's numbers alone, because there is no such method here: %s.", strings.Join(lacking, ", "))
	}
}

// edgeNotes notes which grids may be too narrow. It adds one note for all seeds of a row.
var edgeNotes partFunc = func(s *results, r *Report) {
	for p := range s.tunings(nil) {
		if at := p.tuned().AtEdge(); len(at) > 0 {
			note := fmt.Sprintf("%s, %s: in some fold the lowest or highest tried is chosen of %s.", p.column.name, p.row().name, strings.Join(at, ", "))
			if !slices.Contains(r.Notes, note) {
				r.Notes = append(r.Notes, note)
			}
		}
	}
}

// aboutData adds a last note that describes the data, unless these are the published set.
var aboutData partFunc = func(s *results, r *Report) {
	if about := s.columns[0].about; about != "" {
		r.note("%s", about)
	}
}

// describeGrid returns the values that an entry tries, "C=0.1,1 form=sampled". It includes
// hyperparameters with a single value, and omits the hyperparameters in except.
func describeGrid(e *tune.Entry, except ...string) string {
	var parts []string
	for _, name := range e.Settings[0].Names() {
		if !slices.Contains(except, name) {
			parts = append(parts, name+"="+strings.Join(triedValues(e, name), ","))
		}
	}
	return strings.Join(parts, " ")
}

// triedValues returns the values of a hyperparameter that an entry tries.
func triedValues(e *tune.Entry, name string) []string {
	var values []string
	for _, v := range e.Settings {
		if text := v.Text(name); !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	return values
}

// describeValues returns a setting's values of the hyperparameters that were varied.
func describeValues(row *tune.Row, v tune.Setting) string {
	var parts []string
	for _, name := range row.Varied() {
		parts = append(parts, name+"="+v.Text(name))
	}
	return strings.Join(parts, " ")
}

// chosenByFold returns the settings that validation chose in each fold.
func chosenByFold(row *tune.Row) string {
	folds := make([]string, len(row.Folds))
	for i := range row.Folds {
		folds[i] = describeValues(row, row.Folds[i].Chosen)
	}
	return strings.Join(folds, " | ")
}

// blocks adds a table for each set and convention. A row has up to three lines: our numbers, the
// published numbers and the differences.
type blocks struct {
	title  func(*column, *view) string
	rows   among
	ours   string // suffix of a row's name; "" for none
	theirs string // name of the line with published numbers
	less   string // name of the line with differences
	least  int    // number of published values that a row needs for the second and third line
}

func (b blocks) add(s *results, r *Report) {
	for _, c := range s.columns {
		for k := range c.views {
			r.Tables = append(r.Tables, b.table(s, c, &c.views[k]))
		}
	}
}

func (b blocks) table(s *results, c *column, v *view) Table {
	t := Table{Title: b.title(c, v), Columns: []string{"method"}, Left: 1}
	label := func(name, word string) []string { return []string{name + word} }
	if b.ours != "" {
		t.Columns, t.Left = append(t.Columns, ""), 2
		label = func(name, word string) []string { return []string{name, word} }
	}
	for _, m := range v.measures {
		t.Columns = append(t.Columns, title(m))
	}
	for i := range s.rows {
		row := &s.rows[i]
		if b.rows != nil && !b.rows(row) {
			continue
		}
		ours, theirs, less := label(row.name, b.ours), label("", b.theirs), label("", b.less)
		known := 0
		for _, m := range v.measures {
			x, p := v.mean(i, m), v.published.of(row.name, m)
			if !math.IsNaN(p) && c.reading.incomparable == "" {
				known++
			}
			ours, theirs, less = append(ours, four("%.4f", x)), append(theirs, four("%.4f", p)), append(less, four("%+.4f", x-p))
		}
		shown := known >= max(1, b.least)
		switch {
		case len(v.values[i]) > 0:
			t.Rows = append(t.Rows, ours)
			if shown {
				t.Rows = append(t.Rows, theirs, less)
			}
		case shown:
			theirs[0] = row.name
			t.Rows = append(t.Rows, theirs)
		}
	}
	return t
}

// four formats a number as published tables do. NaN becomes "".
func four(format string, v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// grids adds a table of the settings that every row tried.
var grids partFunc = func(s *results, r *Report) {
	t := Table{Title: "settings tried: every combination", Columns: []string{"method", "training measure", "grid"}, Left: 3}
	for p := range s.tunings(nil) {
		if p.column != s.columns[0] {
			break
		}
		if p.seed > 0 {
			continue
		}
		training := "-"
		if e := &p.tuned().Entry; e.Measure != nil {
			training = e.Measure.Name()
		}
		t.Rows = append(t.Rows, []string{p.row().name, training, describeGrid(&p.tuned().Entry)})
	}
	r.Tables = append(r.Tables, t)
}

// chosen adds a table of the settings that validation chose, for rows with several settings.
var chosen partFunc = func(s *results, r *Report) {
	t := Table{Title: "settings chosen, fold by fold", Columns: []string{"data", "method", "chosen"}, Left: 3}
	if len(s.readings) > 1 {
		t.Columns, t.Left = []string{"data", "reading", "method", "chosen"}, 4
	}
	for p := range s.tunings(nil) {
		if len(p.tuned().Varied()) == 0 {
			continue
		}
		line := []string{p.column.name}
		if len(s.readings) > 1 {
			line = append(line, p.column.reading.name)
		}
		name := p.row().name
		if p.seed > 0 {
			name += fmt.Sprintf(", seed %d", p.results.options.Seed+uint64(p.seed))
		}
		t.Rows = append(t.Rows, append(line, name, chosenByFold(p.tuned())))
	}
	r.Tables = append(r.Tables, t)
}

// field is a column of a sheet: its name, and the function that returns its value at a place.
type field struct {
	name string
	of   func(*place) any
}

// as returns the field under another name.
func (f field) as(name string) field {
	f.name = name
	return f
}

// The fields that most sheets share.
var (
	dataField       = field{"data", func(p *place) any { return p.column.name }}
	readingField    = field{"reading", func(p *place) any { return p.column.reading.name }}
	conventionField = field{"convention", func(p *place) any { return p.view.convention.Name() }}
	methodField     = field{"method", func(p *place) any { return p.row().name }}
	groupField      = field{"group", func(p *place) any { return p.row().group }}
	seedField       = field{"seed", func(p *place) any { return p.seed + 1 }}

	// Fields of numbers.
	measureField    = field{"measure", func(p *place) any { return p.measure }}
	oursField       = field{"ours", func(p *place) any { return orNil(p.ours()) }}
	neutralField    = field{"tie_neutral", func(p *place) any { return orNil(p.number().neutral) }}
	pooledField     = field{"pooled", func(p *place) any { return orNil(p.number().pooled) }}
	publishedField  = field{"published", func(p *place) any { return orNil(p.published()) }}
	differenceField = field{"difference", func(p *place) any { return orNil(p.ours() - p.published()) }}

	// Fields of chosen settings.
	foldField       = field{"fold", func(p *place) any { return p.tuned().Folds[p.fold].Fold }}
	validationField = field{"validation", func(p *place) any { return p.tuned().Folds[p.fold].Validation }}
	settingsField   = field{"settings", func(p *place) any {
		return describeValues(p.tuned(), p.tuned().Folds[p.fold].Chosen)
	}}

	// Fields of tried settings.
	triedField      = field{"settings", func(p *place) any { return describeValues(p.tuned(), p.tuned().Entry.Settings[p.setting]) }}
	triedValueField = field{"validation", func(p *place) any { return p.tuned().Folds[p.fold].Tried[p.setting] }}
	wasChosenField  = field{"chosen", func(p *place) any {
		if p.tuned().Entry.Settings[p.setting].String() == p.tuned().Folds[p.fold].Chosen.String() {
			return 1
		}
		return 0
	}}
)

// fieldSheet returns an empty sheet with the given fields.
func fieldSheet(name string, fields []field) Sheet {
	s := Sheet{Name: name}
	for _, f := range fields {
		s.Columns = append(s.Columns, f.name)
	}
	return s
}

func (s *Sheet) line(p *place, fields []field) {
	row := make([]any, len(fields))
	for i, f := range fields {
		row[i] = f.of(p)
	}
	s.Rows = append(s.Rows, row)
}

// numberSheet adds a sheet with a row for every number, ours or published.
type numberSheet struct {
	name   string
	rows   among
	bySeed bool // a row for every seed
	fields []field
}

func (n numberSheet) add(s *results, r *Report) {
	sheet := fieldSheet(n.name, n.fields)
	if n.bySeed {
		for p := range s.tunings(n.rows) {
			for k := range p.column.views {
				p.view = &p.column.views[k]
				for _, p.measure = range p.view.measures {
					sheet.line(p, n.fields)
				}
			}
		}
	} else {
		for p := range s.places(n.rows) {
			if !math.IsNaN(p.ours()) || !math.IsNaN(p.published()) {
				sheet.line(p, n.fields)
			}
		}
	}
	r.Sheets = append(r.Sheets, sheet)
}

// choiceSheet adds a sheet with a row for the chosen setting of every fold, row and seed. If tried
// is set, every tried setting has a row.
type choiceSheet struct {
	name   string
	rows   among
	tried  bool
	bySeed bool // rows are ordered by seed first
	fields []field
}

func (c choiceSheet) add(s *results, r *Report) {
	sheet := fieldSheet(c.name, c.fields)
	places := slices.Collect(s.tunings(c.rows))
	if c.bySeed {
		slices.SortStableFunc(places, func(a, b *place) int { return a.seed - b.seed })
	}
	for _, p := range places {
		for p.fold = range p.tuned().Folds {
			if !c.tried {
				sheet.line(p, c.fields)
				continue
			}
			for p.setting = range p.tuned().Entry.Settings {
				sheet.line(p, c.fields)
			}
		}
	}
	r.Sheets = append(r.Sheets, sheet)
}

// perSet adds a plot for every set. The first plot has the report's name, and the other plots have
// the names of their sets.
type perSet func(s *results, c *column) chart.Plot

func (f perSet) add(s *results, r *Report) {
	for i, c := range s.columnsOf(0) {
		p := Plot{Plot: f(s, c)}
		if i > 0 {
			p.Name = strings.ToLower(c.name)
		}
		r.Plots = append(r.Plots, p)
	}
}

// ndcgCurves plots NDCG@k over k for our rows, except unplotted rows, and for some published rows.
type ndcgCurves struct {
	title     string // %s stands for the set
	x, y      string // the axes' labels
	published []string
	word      string // suffix of a published row's name
}

func (n ndcgCurves) add(s *results, r *Report) { perSet(n.plot).add(s, r) }

func (n ndcgCurves) plot(s *results, c *column) chart.Plot {
	p := chart.Plot{Title: strings.ReplaceAll(n.title, "%s", c.name), X: chart.Axis{Label: n.x}, Y: chart.Axis{Label: n.y}}
	v := &c.views[0]
	line := func(name string, value func(m string) float64) {
		curve := chart.Series{Name: name, Kind: chart.LineMarkers}
		for _, m := range v.measures {
			if k, ok := strings.CutPrefix(m, "ndcg@"); ok {
				curve.X, curve.Y = append(curve.X, parse(k)), append(curve.Y, value(m))
			}
		}
		p.X.Ticks = rankTicks(len(curve.X))
		p.Series = append(p.Series, curve)
	}
	for i := range s.rows {
		if len(c.rows[i]) > 0 && !s.rows[i].unplotted {
			line(s.rows[i].name, func(m string) float64 { return v.mean(i, m) })
		}
	}
	for _, name := range n.published {
		if v.published[name] != nil {
			line(name+n.word, func(m string) float64 { return v.published.of(name, m) })
		}
	}
	return p
}

// rankTicks returns the ticks 1 to n.
func rankTicks(n int) []chart.Tick {
	ticks := make([]chart.Tick, n)
	for k := range ticks {
		ticks[k] = chart.Tick{Value: float64(k + 1), Label: strconv.Itoa(k + 1)}
	}
	return ticks
}
