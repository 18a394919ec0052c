package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/internal/rows"
	"github.com/listwise/listwise/internal/runs"
)

func newRunsExportCommand(env *environment) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "export (ID… | --all)",
		Short: "Print all that is recorded of runs, as JSON or CSV",
		Long: `Prints all that is recorded of the given runs, the oldest first.

JSON (the default) is a list with an object a run: id, kind, status, begun, seconds,
command, methods, config, seed, code, error, data, files, results, curve. Every one
of results has a ranker, a fold ("" is the mean over the folds, or that there are
none), settings, training, validation, trials, and measures with mean, tie_neutral,
queries and per_query. Numbers that are not known or not finite are null.

CSV has a line for every query of every measure, with the columns run, begun, kind,
seed, ranker, fold, measure, query, value; lines without a query have the mean.`,
		Example: `  listwise runs export 12 > run12.json
  listwise runs export 11 12 --format csv > queries.csv
  listwise runs export --all > runs.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if (len(args) > 0) == all {
				return usageErrorf("%s needs numbers of runs or --all (see %q)", cmd.CommandPath(), "listwise runs list")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			ids, err := runNumbers(args)
			if err != nil {
				return err
			}
			return withRuns(func(s *runs.Store) error { return exportRuns(env, s, ids) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "export all runs")
	return cmd
}

// exportRuns exports the given runs, all if there are none.
func exportRuns(env *environment, s *runs.Store, ids []int64) error {
	if len(ids) == 0 {
		list, err := s.List(runs.Filter{})
		if err != nil {
			return err
		}
		for i := len(list) - 1; i >= 0; i-- {
			ids = append(ids, list[i].ID)
		}
	}
	export := make([]*runJSON, 0, len(ids))
	var table [][]any
	for _, id := range ids {
		r, err := s.Get(id)
		if err != nil {
			return err
		}
		export = append(export, runToJSON(r))
		table = append(table, queryRows(r)...)
	}
	if env.format == "csv" {
		return rows.WriteCSV(env.stdout, []string{"run", "begun", "kind", "seed", "ranker", "fold", "measure", "query", "value"}, table)
	}
	return env.printJSON(export)
}

// queryRows are a run's rows of the CSV form.
func queryRows(r *runs.Run) [][]any {
	var table [][]any
	var seed any
	if r.Seed != nil {
		seed = *r.Seed
	}
	for i := range r.Results {
		result := &r.Results[i]
		for _, m := range result.Measures {
			row := func(query, value any) []any {
				return []any{r.ID, when(r.Begun, false), string(r.Kind), seed, result.Ranker, result.Fold, m.Name, query, value}
			}
			table = append(table, row(nil, number(m.Mean)))
			for _, v := range m.PerQuery {
				table = append(table, row(v.Query, number(v.Value)))
			}
		}
	}
	return table
}

// runJSON is a run as scripts rely on it.
type runJSON struct {
	ID      int64           `json:"id"`
	Kind    string          `json:"kind"`
	Status  string          `json:"status"`
	Begun   string          `json:"begun"` // UTC, as 2006-01-02T15:04:05.000Z
	Seconds float64         `json:"seconds"`
	Command []string        `json:"command"`
	Methods []string        `json:"methods"`
	Config  map[string]any  `json:"config"`
	Seed    *uint64         `json:"seed"`
	Code    codeJSON        `json:"code"`
	Error   string          `json:"error,omitempty"`
	Data    []runDataJSON   `json:"data"`
	Files   []string        `json:"files"`
	Results []runResultJSON `json:"results"`
	Curve   []pointJSON     `json:"curve,omitempty"`
}

type codeJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Program  string `json:"program,omitempty"`
}

type runDataJSON struct {
	Role        string `json:"role"`
	Path        string `json:"path"`
	Fingerprint string `json:"fingerprint"`
	Queries     int    `json:"queries"`
	Documents   int    `json:"documents"`
}

type runResultJSON struct {
	Ranker     string           `json:"ranker"`
	Fold       string           `json:"fold"`
	Settings   map[string]any   `json:"settings,omitempty"`
	Training   map[string]any   `json:"training,omitempty"`
	Validation any              `json:"validation"`
	Trials     []runs.Trial     `json:"trials,omitempty"`
	Measures   []runMeasureJSON `json:"measures"`
}

type runMeasureJSON struct {
	Measure    string         `json:"measure"`
	Mean       any            `json:"mean"`
	TieNeutral any            `json:"tie_neutral"`
	Queries    int            `json:"queries"`
	PerQuery   []runValueJSON `json:"per_query,omitempty"`
}

type runValueJSON struct {
	Query string `json:"query"`
	Value any    `json:"value"`
}

type pointJSON struct {
	Ranker       string `json:"ranker"`
	Fold         string `json:"fold"`
	Start        int    `json:"start"`
	Step         int    `json:"step"`
	Epoch        bool   `json:"epoch"`
	Objective    any    `json:"objective"`
	GradientNorm any    `json:"gradient_norm"`
	Rate         any    `json:"rate"`
	Validation   any    `json:"validation"`
	Best         bool   `json:"best"`
}

func runToJSON(r *runs.Run) *runJSON {
	j := &runJSON{
		ID: r.ID, Kind: string(r.Kind), Status: string(r.Status), Begun: when(r.Begun, false), Seconds: r.Duration.Seconds(),
		Command: notNull(r.Command), Methods: notNull(r.Methods), Config: r.Config, Seed: r.Seed, Code: codeJSON(r.Code), Error: r.Error,
		Data: []runDataJSON{}, Files: notNull(r.Files), Results: []runResultJSON{},
	}
	for _, d := range r.Data {
		j.Data = append(j.Data, runDataJSON(d))
	}
	for i := range r.Results {
		j.Results = append(j.Results, resultToJSON(&r.Results[i]))
	}
	for _, p := range r.Curve {
		j.Curve = append(j.Curve, pointJSON{
			p.Ranker, p.Fold, p.Start, p.Step, p.Epoch, finiteOrNull(p.Objective), finiteOrNull(p.GradNorm), finiteOrNull(p.Rate), finiteOrNull(p.Validation), p.Best,
		})
	}
	return j
}

func resultToJSON(r *runs.Result) runResultJSON {
	j := runResultJSON{
		Ranker: r.Ranker, Fold: r.Fold, Settings: r.Settings, Training: r.Training, Validation: finiteOrNull(r.Validation), Trials: r.Trials,
		Measures: []runMeasureJSON{},
	}
	for _, m := range r.Measures {
		measured := runMeasureJSON{Measure: m.Name, Mean: finiteOrNull(m.Mean), TieNeutral: finiteOrNull(m.TieNeutral), Queries: m.Queries}
		for _, v := range m.PerQuery {
			measured.PerQuery = append(measured.PerQuery, runValueJSON{v.Query, finiteOrNull(v.Value)})
		}
		j.Measures = append(j.Measures, measured)
	}
	return j
}

// finiteOrNull is v as JSON, which knows neither NaN nor infinity.
func finiteOrNull(v float64) any {
	if math.IsInf(v, 0) {
		return nil
	}
	return number(v)
}

func notNull(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func newRunsDeleteCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID…",
		Short: "Delete runs from the record",
		Long: `Deletes runs from the record of this folder, without asking, and says which they
were. Files that a run wrote, such as models, stay. The number of a deleted run is
not used again.`,
		Example: `  listwise runs delete 12
  listwise runs delete 3 4 5`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageErrorf("%s needs the number of a run (see %q)", cmd.CommandPath(), "listwise runs list")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			ids, err := runNumbers(args)
			if err != nil {
				return err
			}
			return withRuns(func(s *runs.Store) error { return deleteRuns(env, s, ids) })
		},
	}
}

func deleteRuns(env *environment, s *runs.Store, ids []int64) error {
	out := report{columns: []string{"deleted", "command"}}
	for _, id := range ids {
		r, err := s.Get(id)
		if err != nil {
			return err
		}
		out.rows = append(out.rows, []any{int(id), commandLine(r)})
	}
	if err := s.Delete(ids...); err != nil {
		return err
	}
	out.json = map[string]any{"deleted": ids}
	if env.format != "text" {
		return env.print(out)
	}
	for _, row := range out.rows {
		fmt.Fprintf(env.text(), "deleted run %v: %v\n", row...)
	}
	return nil
}

// commandLine is how a run was called.
func commandLine(r *runs.Run) string {
	words := []string{"listwise"}
	for _, arg := range r.Command {
		if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$&|;<>()*?[]#~`!{}") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
