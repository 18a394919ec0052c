package papers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/tune"
)

// The parts of a study's report that say how its numbers came about, and their caveats.

// says is a fact of the declaration's own words.
type says struct{ name, value string }

func (f says) add(_ *results, r *Report) { r.fact(f.name, "%s", f.value) }

// remark is a note of the declaration's own words.
type remark string

func (n remark) add(_ *results, r *Report) { r.note("%s", string(n)) }

// facts without words of their own.
var (
	command partFunc = func(s *results, r *Report) { r.fact("command", "%s", s.options.Command) }
	seed    partFunc = func(s *results, r *Report) { r.fact("seed", "%d", s.options.Seed) }

	// conventions explains every convention that occurs.
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

	// setSizes has a line for every set.
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

// oneSet describes the one set of an experiment.
type oneSet struct{ more string }

func (f oneSet) add(s *results, r *Report) {
	c := s.columns[0]
	folds := c.names[0]
	if last := c.names[len(c.names)-1]; last != folds {
		folds += " to " + last
	}
	r.fact("data", "%s: %s, %d test queries in all%s", c.name, folds, c.queries, f.more)
}

// otherDataNotes notes which sets are not the published ones.
type otherDataNotes struct {
	unknown string // of a set that nothing was published for, with %s for its name; "" says nothing
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

// lacksPublished reports whether nothing was published for the column's set.
func (c *column) lacksPublished() bool {
	return !slices.ContainsFunc(c.views, func(v view) bool { return len(v.published) > 0 })
}

// withoutMethod names the rows that have published numbers alone.
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

// edgeNotes notes which grids may be too narrow, once for all seeds of a row.
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

// aboutData ends the notes with what the data are, if not the published set.
var aboutData partFunc = func(s *results, r *Report) {
	if about := s.columns[0].about; about != "" {
		r.note("%s", about)
	}
}

// describeGrid returns what an entry tries, "C=0.1,1 form=sampled", and every
// other hyperparameter at its only value, but for those in except.
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

// describeValues returns what a setting says of the hyperparameters that were varied.
func describeValues(row *tune.Row, v tune.Setting) string {
	var parts []string
	for _, name := range row.Varied() {
		parts = append(parts, name+"="+v.Text(name))
	}
	return strings.Join(parts, " ")
}

// chosenByFold describes what validation chose, fold by fold.
func chosenByFold(row *tune.Row) string {
	folds := make([]string, len(row.Folds))
	for i := range row.Folds {
		folds[i] = describeValues(row, row.Folds[i].Chosen)
	}
	return strings.Join(folds, " | ")
}
