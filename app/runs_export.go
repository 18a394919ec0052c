package app

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/runs"
	"github.com/listwise/listwise/internal/rows"
)

func newRunsExportCommand(env *environment) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "export (ID… | --all)",
		Short: "Print everything recorded of runs, as JSON or CSV",
		Long: `Prints everything recorded of the given runs, oldest first.

JSON (the default) is a list with one object a run: id, kind, status, begun, seconds,
command, methods, config, seed, code, error, data, files, results, curve. Each of the
results has a ranker, a fold (empty for the mean over folds, or without folds),
settings, training, validation, trials, and measures with mean, tie_neutral, queries
and per_query. Unknown and non-finite numbers are null.

CSV has one line for each query and measure, with the columns run, begun, kind, seed,
ranker, fold, measure, query, value. Lines without a query have the mean.`,
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
	export := make([]runJSON, 0, len(ids))
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
				table = append(table, row(rows.ID(v.Query), number(v.Value)))
			}
		}
	}
	return table
}

// runJSON is a run as scripts rely on it.
type runJSON struct {
	ID      int64          `json:"id"`
	Kind    runs.Kind      `json:"kind"`
	Status  runs.Status    `json:"status"`
	Begun   string         `json:"begun"` // UTC, as 2006-01-02T15:04:05.000Z
	Seconds float64        `json:"seconds"`
	Command []string       `json:"command"`
	Methods []string       `json:"methods"`
	Config  map[string]any `json:"config"`
	Seed    *uint64        `json:"seed"`
	Code    runs.Code      `json:"code"`
	Error   string         `json:"error,omitempty"`
	Data    []runs.Data    `json:"data"`
	Files   []string       `json:"files"`
	Results []runs.Result  `json:"results"`
	Curve   []runs.Point   `json:"curve,omitempty"`
}

func runToJSON(r *runs.Run) runJSON {
	results := notNull(r.Results)
	for i := range results {
		results[i].Measures = notNull(results[i].Measures)
	}
	return runJSON{
		ID: r.ID, Kind: r.Kind, Status: r.Status, Begun: when(r.Begun, false), Seconds: r.Duration.Seconds(),
		Command: notNull(r.Command), Methods: notNull(r.Methods), Config: r.Config, Seed: r.Seed, Code: r.Code, Error: r.Error,
		Data: notNull(r.Data), Files: notNull(r.Files), Results: results, Curve: r.Curve,
	}
}

// notNull is a list as JSON, where one that is nil would be null.
func notNull[T any](list []T) []T { return append([]T{}, list...) }

func newRunsDeleteCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID…",
		Short: "Delete runs from the record",
		Long: `Deletes runs from the record of this folder, without asking, and lists them. Files
that a run wrote, such as models, stay. Numbers of deleted runs are not reused.`,
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
	var lines []string
	for _, id := range ids {
		r, err := s.Get(id)
		if err != nil {
			return err
		}
		out.rows = append(out.rows, []any{int(id), commandLine(r.Command...)})
		lines = append(lines, fmt.Sprintf("deleted run %d: %s", id, commandLine(r.Command...)))
	}
	if err := s.Delete(ids...); err != nil {
		return err
	}
	out.json = map[string]any{"deleted": ids}
	if env.format != "text" {
		return env.print(out)
	}
	return env.print(report{notes: lines})
}

// commandLine returns a command of the program as a shell reads it.
func commandLine(args ...string) string {
	return shellLine(append([]string{"listwise"}, args...)...)
}

// operands returns names behind flags so that none is taken for a flag.
func operands(names []string) []string {
	if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "-") }) {
		return append([]string{"--"}, names...)
	}
	return names
}

// shellLine returns words as a shell reads them.
func shellLine(args ...string) string {
	var words []string
	for _, arg := range args {
		special := func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+=:,./-^", r)
		}
		if arg == "" || strings.ContainsFunc(arg, special) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
