package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
)

// fuseJSON is the result of fuse that scripts rely on.
type fuseJSON struct {
	Convention string       `json:"convention"`
	Threshold  float64      `json:"threshold"`
	Ties       string       `json:"ties"`
	Select     string       `json:"select"`
	Seed       uint64       `json:"seed"`
	Queries    int          `json:"queries"`
	Systems    []fusedJSON  `json:"systems"`
	Fusions    []fusionJSON `json:"fusions"`
	Chosen     *fusionJSON  `json:"chosen,omitempty"`
}

type fusedJSON struct {
	Name     string                     `json:"name"`
	Measures map[string]tuneMeasureJSON `json:"measures"`
	Slices   []slicedJSON               `json:"slices,omitempty"`
}

// fusionJSON has a rule, weights and a validation value for every fold.
type fusionJSON struct {
	fusedJSON
	Rules      []string    `json:"rules"`
	Weights    [][]float64 `json:"weights"`
	Validation []float64   `json:"validation,omitempty"`
}

func fuseSummary(convention measure.Convention, c *ensemble.Config, r *ensemble.Result, sliced *slicedMeans) fuseJSON {
	s := fuseJSON{
		Convention: convention.Name(), Threshold: convention.Threshold(), Ties: c.Ties.String(), Select: c.Tuning.Measure.Name(), Seed: c.Tuning.Seed,
		Queries: len(measure.Pool(r.Systems[0].Tests...).Queries()),
	}
	for i := range r.Systems {
		s.Systems = append(s.Systems, fusedSummary(&r.Systems[i], sliced.json(i)))
	}
	for i := range r.Rules {
		s.Fusions = append(s.Fusions, fusionSummary(&r.Rules[i], sliced.json(len(r.Systems)+i)))
	}
	if r.Chosen != nil {
		at := len(r.Systems)
		if chosenApart(r) {
			at += len(r.Rules)
		}
		chosen := fusionSummary(r.Chosen, sliced.json(at))
		s.Chosen = &chosen
	}
	return s
}

func fusedSummary(row *ensemble.Row, sliced []slicedJSON) fusedJSON {
	return fusedJSON{row.Name, measuresJSON(tune.Summarise(row.Tests...)), sliced}
}

func fusionSummary(row *ensemble.Row, sliced []slicedJSON) fusionJSON {
	j := fusionJSON{fusedJSON: fusedSummary(row, sliced)}
	for _, f := range row.Fusions {
		j.Rules = append(j.Rules, f.Rule.Kind.String())
		j.Weights = append(j.Weights, f.Weights)
		if f.Value > 0 {
			j.Validation = append(j.Validation, f.Value)
		}
	}
	return j
}

func fuseReport(divisions []ensemble.Division, r *ensemble.Result, summary fuseJSON, convention measure.Convention, long bool) report {
	out := report{
		title:   fmt.Sprintf("test results of %d queries; convention %s, ties %s, chosen by validation %s, seed %d", summary.Queries, conventionText(convention), summary.Ties, summary.Select, summary.Seed),
		columns: []string{"system", "measure"},
		json:    summary,
	}
	if divisions[0].Valid == nil {
		out.title = fmt.Sprintf("test results of %d queries; convention %s, ties %s", summary.Queries, conventionText(convention), summary.Ties)
	}
	if len(divisions) == 1 {
		out.columns = append(out.columns, "value")
	} else {
		for _, d := range divisions {
			out.columns = append(out.columns, d.Name)
		}
		out.columns = append(out.columns, "mean", "pooled")
	}
	shown := r.Systems
	if !long {
		shown, out.notes = bestSystems(shown)
		out.hidden = missingOf(r.Systems, shown)
	}
	shown = slices.Concat(shown, r.Rules)
	if chosenApart(r) {
		shown = append(shown, *r.Chosen)
	}
	for _, row := range shown {
		out.addMeans(row.Name, tune.Summarise(row.Tests...), len(divisions) > 1)
	}
	if long || len(r.Systems) <= shortLines {
		for i := range r.Rules {
			out.notes = append(out.notes, weightNotes(divisions, &r.Rules[i])...)
		}
	}
	if chosenApart(r) {
		var rules []string
		for k, f := range r.Chosen.Fusions {
			rules = append(rules, strings.TrimSpace(divisions[k].Name+" "+f.Rule.Kind.String()))
		}
		out.notes = append(out.notes, "chosen: "+strings.Join(rules, ", "))
	}
	return out
}

// chosenApart reports whether the chosen fusion is none of the rows of rules.
func chosenApart(r *ensemble.Result) bool { return r.Chosen != nil && len(r.Rules) > 1 }

// missingOf returns the names of those of all systems that are not shown.
func missingOf(all, shown []ensemble.Row) (names []string) {
	for _, row := range all {
		if !slices.ContainsFunc(shown, func(s ensemble.Row) bool { return s.Name == row.Name }) {
			names = append(names, row.Name)
		}
	}
	return names
}

// bestSystems returns the systems that are best by the first measure, in their order,
// and a note of how many others there are.
func bestSystems(all []ensemble.Row) (best []ensemble.Row, notes []string) {
	if len(all) <= shortLines {
		return all, nil
	}
	values := make([]float64, len(all))
	first := all[0].Tests[0].Measures()[0]
	for i := range all {
		values[i] = measure.Pool(all[i].Tests...).Mean(first)
	}
	least := slices.Sorted(slices.Values(values))[len(values)-shortLines]
	for i := range all {
		if values[i] >= least && len(best) < shortLines {
			best = append(best, all[i])
		}
	}
	return best, []string{fmt.Sprintf("… and %d systems with no higher %s, and all weights (--long)", len(all)-len(best), first.Name())}
}

// weightNotes lists a rule's weights, in the order of the systems.
func weightNotes(divisions []ensemble.Division, row *ensemble.Row) []string {
	var notes []string
	for k, f := range row.Fusions {
		weights := mapped(f.Weights, func(w float64) string { return fmt.Sprintf("%.3f", w) })
		name := row.Name
		if divisions[k].Name != "" {
			name += ", " + divisions[k].Name
		}
		notes = append(notes, fmt.Sprintf("weights of %s: %s", name, strings.Join(weights, " ")))
	}
	return notes
}
