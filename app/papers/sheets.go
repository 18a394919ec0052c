package papers

import (
	"math"
	"slices"
)

// field is a column of a sheet: its name, and what stands in it at a place.
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

	// Of numbers.
	measureField    = field{"measure", func(p *place) any { return p.measure }}
	oursField       = field{"ours", func(p *place) any { return orNil(p.ours()) }}
	neutralField    = field{"tie_neutral", func(p *place) any { return orNil(p.number().neutral) }}
	pooledField     = field{"pooled", func(p *place) any { return orNil(p.number().pooled) }}
	publishedField  = field{"published", func(p *place) any { return orNil(p.published()) }}
	differenceField = field{"difference", func(p *place) any { return orNil(p.ours() - p.published()) }}

	// Of what was chosen.
	foldField       = field{"fold", func(p *place) any { return p.tuned().Folds[p.fold].Fold }}
	validationField = field{"validation", func(p *place) any { return p.tuned().Folds[p.fold].Validation }}
	settingsField   = field{"settings", func(p *place) any {
		return describeValues(p.tuned(), p.tuned().Folds[p.fold].Chosen)
	}}

	// Of what was tried.
	triedField      = field{"settings", func(p *place) any { return describeValues(p.tuned(), p.tuned().Entry.Settings[p.setting]) }}
	triedValueField = field{"validation", func(p *place) any { return p.tuned().Folds[p.fold].Tried[p.setting] }}
	wasChosenField  = field{"chosen", func(p *place) any {
		if p.tuned().Entry.Settings[p.setting].String() == p.tuned().Folds[p.fold].Chosen.String() {
			return 1
		}
		return 0
	}}
)

// sheet returns an empty sheet of the fields.
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

// numberSheet has a line for every number, ours or published.
type numberSheet struct {
	name   string
	rows   among
	bySeed bool // a line for every seed
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

// choiceSheet has a line for every choice: of each fold, row and seed; or, with tried, for
// every setting that was tried there.
type choiceSheet struct {
	name   string
	rows   among
	tried  bool
	bySeed bool // the first seed's choices come before the second's
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
