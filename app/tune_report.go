package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/listwise/listwise/tune"
)

// tuneJSON is the result of tune that scripts rely on.
type tuneJSON struct {
	Convention string           `json:"convention"`
	Threshold  float64          `json:"threshold"`
	Select     string           `json:"select"`
	Seed       uint64           `json:"seed"`
	Queries    int              `json:"queries"`
	Data       string           `json:"data"`                  // fingerprint of all folds
	MeasuredOn string           `json:"measured_on,omitempty"` // "validation" where there are no test data
	Methods    []tuneMethodJSON `json:"methods"`
	Refit      *tuneRefitJSON   `json:"refit,omitempty"`
}

type tuneMethodJSON struct {
	Method     string                     `json:"method"`
	Training   string                     `json:"training_measure,omitempty"`
	Measures   map[string]tuneMeasureJSON `json:"measures"`
	Chosen     []map[string]any           `json:"chosen"`             // the best setting of each fold
	Averaged   [][]map[string]any         `json:"averaged,omitempty"` // the settings of each fold whose models are averaged, the best first
	Validation []float64                  `json:"validation"`
	Tried      int                        `json:"settings_tried"`
	Grid       int                        `json:"settings_in_grid,omitempty"` // if not all were tried
	AtEdge     []string                   `json:"at_edge_of_grid,omitempty"`
	Constant   []string                   `json:"folds_without_ranking,omitempty"`

	Unconverged int `json:"trainings_not_converged,omitempty"`

	Slices []slicedJSON `json:"slices,omitempty"` // over the queries of all folds
}

// tuneMeasureJSON has null for the mean of no query.
type tuneMeasureJSON struct {
	Mean       any   `json:"mean"`
	Pooled     any   `json:"pooled"`
	TieNeutral any   `json:"tie_neutral"`
	Folds      []any `json:"folds"`
}

func measuresJSON(means []tune.Summary) map[string]tuneMeasureJSON {
	all := make(map[string]tuneMeasureJSON)
	for _, s := range means {
		all[s.Measure.Name()] = tuneMeasureJSON{number(s.Mean), number(s.Pooled), number(s.TieNeutral), mapped(s.Folds, number[float64])}
	}
	return all
}

// addMeans adds the lines of one method or system, a measure each: its value for every
// fold and, if several is set, the mean over folds and over all queries.
func (r *report) addMeans(name string, means []tune.Summary, several bool) {
	for _, s := range means {
		cells := append([]any{name, s.Measure.Name()}, mapped(s.Folds, number[float64])...)
		if several {
			cells = append(cells, number(s.Mean), number(s.Pooled))
		}
		r.rows = append(r.rows, cells)
	}
}

// tuneHead is the summary of a run without its methods: what all methods of one folder share.
func tuneHead(c *tune.Config) tuneJSON {
	head := tuneJSON{Convention: c.Convention.Name(), Threshold: c.Convention.Threshold(), Select: c.Select.Name(), Seed: c.Seed}
	sum := sha256.New()
	for _, fold := range c.Folds {
		fmt.Fprintln(sum, fold.Train.Fingerprint(), fold.Valid.Fingerprint(), fold.Test.Fingerprint())
		head.Queries += len(fold.Test.Queries)
		if !fold.Tested() {
			head.MeasuredOn = "validation"
		}
	}
	head.Data = hex.EncodeToString(sum.Sum(nil)[:16])
	return head
}

func tuneSummary(c *tune.Config, r *tune.Result, sliced *slicedMeans) tuneJSON {
	summary := tuneHead(c)
	for i := range r.Rows {
		row := &r.Rows[i]
		m := tuneMethodJSON{
			Method:   row.Entry.Name,
			Measures: measuresJSON(row.Measures),
			Tried:    len(row.Entry.Settings),
			AtEdge:   row.AtEdge(),
			Constant: row.ConstantFolds(),
			Slices:   sliced.json(i),
		}
		if row.Grid > m.Tried {
			m.Grid = row.Grid
		}
		_, m.Unconverged = row.Trainings()
		if row.Entry.Measure != nil {
			m.Training = row.Entry.Measure.Name()
		}
		for _, fold := range row.Folds {
			m.Chosen = append(m.Chosen, fold.Chosen.Typed())
			m.Validation = append(m.Validation, fold.Validation)
			if fold.Averaged != nil {
				m.Averaged = append(m.Averaged, mapped(fold.Averaged, func(s tune.Setting) map[string]any { return s.Typed() }))
			}
		}
		summary.Methods = append(summary.Methods, m)
	}
	return summary
}

func tuneReport(c *tune.Config, r *tune.Result, summary tuneJSON) report {
	what := fmt.Sprintf("test results of %d folds", len(c.Folds))
	switch {
	case !c.Folds[0].Tested():
		what = "validation results, by which settings were chosen, as there are no test data"
	case len(c.Folds) == 1:
		what = "test results of one fold"
	}
	out := report{
		title: fmt.Sprintf("%s, %d queries; convention %s, chosen by validation %s, seed %d",
			what, summary.Queries, conventionText(c.Convention), summary.Select, c.Seed),
		columns: []string{"method", "measure"},
		json:    summary,
	}
	for _, f := range c.Folds {
		out.columns = append(out.columns, f.Name)
	}
	out.columns = append(out.columns, "mean", "pooled")
	hint := sync.OnceValue(func() string { return scaleHint(c.Folds[0].Train, c.Normalization, c.Transforms, c.Views) })
	for i := range r.Rows {
		row := &r.Rows[i]
		out.addMeans(row.Entry.Name, row.Measures, true)
		out.notes = append(out.notes, tuneNotes(row, hint)...)
	}
	out.notes = append(out.notes, "", "models, scores and per-query results: "+c.Dir)
	return out
}

// tuneNotes says what was chosen, where a wider grid may help, where nothing was
// learned or not to the end, and where ties flatter the result. hint is asked for only
// where something went wrong.
func tuneNotes(row *tune.Row, hint func() string) []string {
	name := row.Entry.Name
	var notes []string
	if tried := len(row.Entry.Settings); tried < row.Grid {
		notes = append(notes, fmt.Sprintf("%s: tried %d of %d settings", name, tried, row.Grid))
	}
	if varied := row.Varied(); len(varied) > 0 {
		verb := "chose"
		if row.Folds[0].Averaged != nil {
			verb = "has as the best of those averaged"
		}
		chosen := make([]string, len(row.Folds))
		for i, f := range row.Folds {
			chosen[i] = f.Fold + ":"
			for _, h := range varied {
				chosen[i] += " " + h + "=" + f.Chosen.Text(h)
			}
		}
		notes = append(notes, name+" "+verb+" "+strings.Join(chosen, "; "))
	}
	if n := len(row.Folds[0].Averaged); n > 0 {
		notes = append(notes, fmt.Sprintf("%s: mean of the scores of the %d best settings of each fold", name, n))
	}
	if fixed := row.Fixed(); len(fixed) > 0 {
		notes = append(notes, name+" has "+strings.Join(fixed, " ")+" in all settings")
	}
	if edge := row.AtEdge(); edge != nil {
		notes = append(notes, fmt.Sprintf("%s: the best %s is at the edge of its grid in some fold; consider a wider --grid", name, strings.Join(edge, " and ")))
	}
	if folds := row.ConstantFolds(); folds != nil {
		notes = append(notes, fmt.Sprintf("warning: all weights of %s are 0 in %s, so all documents get the same score%s", name, strings.Join(folds, ", "), hint()))
	}
	if all, unconverged := row.Trainings(); unconverged > 0 {
		notes = append(notes, fmt.Sprintf("warning: %d of %d trainings of %s did not converge%s", unconverged, all, name, hint()))
	}
	if over := row.TiedQueries(); over > 0 {
		notes = append(notes, tiedSystem(name, over, row.Measures))
	}
	return notes
}
