package app

import (
	"fmt"
	"path/filepath"

	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/tune/auto"
)

// autoJSON is the result of auto that scripts rely on.
type autoJSON struct {
	Convention string           `json:"convention"`
	Threshold  float64          `json:"threshold"`
	Select     string           `json:"select"`
	Seed       uint64           `json:"seed"`
	Trials     int              `json:"trials"`
	Of         int              `json:"trials_in_all"`
	MeasuredOn string           `json:"measured_on"` // test or validation
	Members    []autoMemberJSON `json:"members"`     // of the model, best first
	Folds      []autoFoldJSON   `json:"folds"`
	Systems    []autoSystemJSON `json:"systems"`
}

type autoMemberJSON struct {
	Name       string         `json:"name"`
	Validation float64        `json:"validation"`
	Settings   map[string]any `json:"settings"`           // that trained it on all data
	HeldOut    []string       `json:"held_out,omitempty"` // the parts of them that decided when to stop
}

type autoFoldJSON struct {
	Fold    string           `json:"fold"`
	Members []autoMemberJSON `json:"members"`
}

type autoSystemJSON struct {
	System     string                     `json:"system"`
	Measures   map[string]tuneMeasureJSON `json:"measures"`
	Difference map[string]autoTestJSON    `json:"first_system_minus_this,omitempty"` // by measure
	Slices     []slicedJSON               `json:"slices,omitempty"`
}

// autoTestJSON is a paired comparison over the queries.
type autoTestJSON struct {
	Difference    float64 `json:"difference"`
	CI            [2]any  `json:"ci"`
	T             float64 `json:"p_t"`
	Randomization float64 `json:"p_randomization"`
}

func autoSummary(r *auto.Result, m *autoMeasured) autoJSON {
	j := autoJSON{
		Convention: r.Tune.Convention.Name(), Threshold: r.Tune.Convention.Threshold(), Select: r.Tune.Select.Name(), Seed: r.Tune.Seed,
		Trials: r.Trials, Of: r.Of, MeasuredOn: "validation", Members: membersJSON(r.Final.Members),
	}
	if m.tested {
		j.MeasuredOn = "test"
	}
	for k := range r.Folds {
		j.Folds = append(j.Folds, autoFoldJSON{r.Folds[k].Name, membersJSON(r.Folds[k].Members)})
	}
	for s, name := range m.names {
		system := autoSystemJSON{System: name, Measures: measuresJSON(m.rows[s]), Slices: m.slices.json(s)}
		if s > 0 {
			system.Difference = make(map[string]autoTestJSON)
			for i, by := range r.Tune.Measures {
				if m.compared[i] != nil {
					system.Difference[by.Name()] = m.pair(i, s)
				}
			}
		}
		j.Systems = append(j.Systems, system)
	}
	return j
}

func membersJSON(members []auto.Member) []autoMemberJSON {
	return mapped(members, func(m auto.Member) autoMemberJSON {
		j := autoMemberJSON{Name: m.Entry.Name, Validation: m.Validation, Settings: m.Trial.Typed()}
		for _, l := range m.Learned {
			if j.Settings = l.Setting.Typed(); l.Part > 0 {
				j.HeldOut = append(j.HeldOut, fmt.Sprintf("%d/%d", l.Part, l.Parts))
			}
		}
		return j
	})
}

// pair returns the comparison of the first system with another by a measure, both by number.
func (m *autoMeasured) pair(by, system int) autoTestJSON {
	for _, p := range m.compared[by].Pairs {
		if p.A+p.B == system { // one of them is 0
			sign := 1.0
			if p.B == 0 {
				sign = -1
			}
			low, high := float64(sign*p.Interval.Low)+0, float64(sign*p.Interval.High)+0 // no -0
			return autoTestJSON{float64(sign*p.Difference) + 0, ends(stats.Interval{Low: min(low, high), High: max(low, high)}), p.T.P, p.Randomization.P}
		}
	}
	return autoTestJSON{}
}

// report is the table that auto prints.
func (f *autoFlags) report(r *auto.Result, m *autoMeasured) report {
	j := autoSummary(r, m)
	out := report{columns: []string{"system", "measure"}, keys: 2, json: j}
	for k := range r.Folds {
		out.columns = append(out.columns, r.Folds[k].Name)
	}
	several := len(r.Folds) > 1
	if several {
		out.columns = append(out.columns, "mean", "pooled")
	}
	out.slices, out.sliceIn = m.slices, foldRow(len(out.columns))
	for s, name := range m.names {
		out.addMeans(name, m.rows[s], several)
	}
	what := fmt.Sprintf("test results of %d folds", len(r.Folds))
	switch {
	case !m.tested:
		what = "results on the validation queries, by which members were chosen: too good for other queries"
	case !several:
		what = "test results"
	}
	out.title = fmt.Sprintf("%s; convention %s, ties %v", what, conventionText(r.Tune.Convention), r.Tune.Ties)
	for s := 1; s < len(m.names); s++ {
		for i, by := range r.Tune.Measures[:min(1, len(r.Tune.Measures))] {
			if m.compared[i] != nil {
				p := m.pair(i, s)
				within := ""
				if p.CI[0] != nil {
					within = fmt.Sprintf(" (95 %% interval %+.4f to %+.4f)", p.CI[0], p.CI[1])
				}
				out.notes = append(out.notes, fmt.Sprintf("%s minus %s, %s: %+.4f%s, p = %.3g randomization test", m.names[0], m.names[s], by.Name(), p.Difference, within, p.Randomization))
			}
		}
	}
	refused := 0
	for i := range r.Outcomes {
		if r.Outcomes[i].Refused != "" {
			refused++
		}
	}
	done := fmt.Sprintf("%d of %d trials", r.Trials, r.Of)
	if n := len(r.Without); n > 0 {
		done += fmt.Sprintf(", except %d left out or unfinished", n)
	}
	if refused > 0 {
		done += fmt.Sprintf(", %d of them not applicable to the data", refused)
	}
	best := r.Final.Members[0]
	out.notes = append(out.notes,
		fmt.Sprintf("%s; the model fuses %d of the %d candidates (members: %d), the first %s with %s %.4f on validation", done, r.Final.Chosen, len(r.Final.Candidates), len(r.Final.Members), best.Entry.Name, r.Tune.Select.Name(), best.Validation),
		fmt.Sprintf("wrote %s; commands.sh in it trains it again", filepath.Join(f.out, modelName)))
	return out
}
