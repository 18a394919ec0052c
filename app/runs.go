package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/internal/rows"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune/runs"
)

func newRunsCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Look up recorded runs of this folder",
		Long: `Every train, tune, auto, ablate and eval records a run in the current folder: settings,
fingerprints of the data, program version, seed, learning curve, per-query results and
files written. A run has a number.

The record is an SQLite database, .listwise/runs.db. Several commands may write to it
at once. If a command is killed, finished runs remain intact. --no-record skips
recording. Deleting the folder .listwise deletes the record and nothing else.

Go programs record their runs by the package tune/runs.`,
		Example: `  listwise runs list --method mle
  listwise runs show 12
  listwise runs diff 11 12
  listwise runs export --all --format csv > runs.csv`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newRunsListCommand(env),
		newRunsShowCommand(env),
		newRunsDiffCommand(env),
		newRunsExportCommand(env),
		newRunsDeleteCommand(env),
	)
	return cmd
}

// withRuns opens the record of the current folder and calls fn with it. A missing record or run
// becomes a usage error.
func withRuns(fn func(*runs.Store) error) error {
	store, err := runs.OpenExisting(".")
	if errors.Is(err, fs.ErrNotExist) {
		return usageErrorf("no runs are recorded in this folder: there is no %s; train, tune, auto, ablate and eval create it", runs.Path("."))
	}
	if err != nil {
		return err
	}
	err = fn(store)
	if closed := store.Close(); err == nil {
		err = closed
	}
	if missing, ok := errors.AsType[*runs.NotFoundError](err); ok {
		return usageErrorf("no run %d in %s (see %q)", missing.ID, missing.Path, "listwise runs list")
	}
	return err
}

// runsNamed returns the recorded runs with the numbers in args.
func runsNamed(args []string) ([]*runs.Run, error) {
	ids, err := runNumbers(args)
	if err != nil {
		return nil, err
	}
	list := make([]*runs.Run, len(ids))
	return list, withRuns(func(s *runs.Store) error {
		for i, id := range ids {
			if list[i], err = s.Get(id); err != nil {
				return err
			}
		}
		return nil
	})
}

func runNumbers(args []string) ([]int64, error) {
	ids := make([]int64, len(args))
	for i, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id < 1 {
			return nil, usageErrorf("found %q, expected the number of a run (see %q)", arg, "listwise runs list")
		}
		ids[i] = id
	}
	return ids, nil
}

// exactly returns a check for n arguments that are numbers of runs.
func exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		what := "the number of a run"
		if n > 1 {
			what = fmt.Sprintf("the numbers of %d runs", n)
		}
		return usageErrorf("%s: found %d arguments, expected %s (see %q)", cmd.CommandPath(), len(args), what, "listwise runs list")
	}
}

type runsListFlags struct {
	method string
	kind   string
	limit  int
}

func newRunsListCommand(env *environment) *cobra.Command {
	var f runsListFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List recorded runs, newest first",
		Long: `Lists the runs of this folder, newest first, one line for each run and method. The
measures are means over the evaluation data (for tune and auto, means over the test
folds).

A run is finished, failed, interrupted (stopped or killed) or running.`,
		Example: `  listwise runs list
  listwise runs list --kind tune --method mle --limit 5
  listwise runs list --limit 0 --format csv`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(env) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", "", "only runs of this `method`")
	fl.StringVar(&f.kind, "kind", "", "only runs of this `command`: train, tune, auto, ablate or eval")
	addWhole(fl, &f.limit, "limit", 20, 0, "largest `number` of runs to list, newest first; 0: all")
	return cmd
}

func (f *runsListFlags) filter() (runs.Filter, error) {
	filter := runs.Filter{Kind: runs.Kind(f.kind), Method: f.method, Limit: f.limit}
	if f.kind != "" && !slices.Contains(runs.Kinds(), filter.Kind) {
		return filter, usageErrorf("--kind %s%s", f.kind, suggest.Or(f.kind, []string{"train", "tune", "auto", "ablate", "eval"}, ": expected train, tune, auto, ablate or eval"))
	}
	return filter, nil
}

// checkMethod returns an error if no run has the method of --method and the catalogue has no such
// method. A program's own method is not in the catalogue.
func (f *runsListFlags) checkMethod(list []runs.Run) error {
	if f.method == "" || len(list) > 0 {
		return nil
	}
	if _, err := method.Lookup(f.method); err != nil {
		return usageErrorf("--method: %w", err)
	}
	return nil
}

func (f *runsListFlags) run(env *environment) error {
	filter, err := f.filter()
	if err != nil {
		return err
	}
	var list []runs.Run
	if _, err := os.Stat(runs.Path(".")); !errors.Is(err, fs.ErrNotExist) {
		err = withRuns(func(s *runs.Store) error {
			list, err = s.List(filter)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := f.checkMethod(list); err != nil {
		return err
	}
	return env.print(runsReport(list, env.format == "text"))
}

// runsReport returns the table of runs. If brief is set, the table has only the first four
// measures, to fit a terminal.
func runsReport(list []runs.Run, brief bool) report {
	const most = 4 // measures in a brief list
	names := measureNames(list)
	var hidden []string
	if brief && len(names) > most {
		names, hidden = names[:most], names[most:]
	}
	out := report{columns: append([]string{"id", "begun", "command", "status", "method", "data"}, names...)}
	all := make([]runJSON, 0, len(list))
	for i := range list {
		r := &list[i]
		all = append(all, runToJSON(r))
		for _, line := range summaries(r) {
			row := []any{int(r.ID), when(r.Begun, brief), string(r.Kind), string(r.Status), line.method, mainData(r)}
			for _, name := range names {
				row = append(row, line.mean(name))
			}
			out.rows = append(out.rows, row)
		}
	}
	out.json = all
	if len(list) == 0 {
		out.notes = append(out.notes, "No such runs are recorded in this folder; train, tune, auto, ablate and eval record runs.")
	}
	if hidden != nil {
		out.notes = append(out.notes, "", "Not shown: "+strings.Join(hidden, ", ")+" (--format csv has all measures).")
	}
	return out
}

// runSummary is a row of the table: the means of one ranker over all data of a run.
type runSummary struct {
	method   string
	measures []runs.Measure
}

func (s *runSummary) mean(name string) any {
	for _, m := range s.measures {
		if m.Name == name {
			return number(m.Mean)
		}
	}
	return nil
}

// summaries returns a row for each ranker of a run, or one row without measures.
func summaries(r *runs.Run) []runSummary {
	var lines []runSummary
	for i := range r.Results {
		result := &r.Results[i]
		if result.Fold != "" {
			continue
		}
		line := runSummary{result.Ranker, result.Measures}
		if r.Kind == runs.Eval {
			line.method = strings.Join(append(slices.Clone(r.Methods), result.Ranker), ": ")
		}
		lines = append(lines, line)
	}
	if lines == nil {
		lines = append(lines, runSummary{method: strings.Join(r.Methods, ", ")})
	}
	return lines
}

func measureNames(list []runs.Run) []string {
	var names []string
	for i := range list {
		for _, line := range summaries(&list[i]) {
			for _, m := range line.measures {
				if !slices.Contains(names, m.Name) {
					names = append(names, m.Name)
				}
			}
		}
	}
	return names
}

// overFolds reports whether a run has results for folds.
func overFolds(r *runs.Run) bool {
	return r.Kind == runs.Tune || r.Kind == runs.Auto || r.Kind == runs.Ablate
}

// mainData returns the path of a run's training or test data. For tune and auto it is the folder of
// the folds.
func mainData(r *runs.Run) string {
	if len(r.Data) == 0 {
		return ""
	}
	if path := r.Data[0].Path; overFolds(r) && strings.HasPrefix(filepath.Base(path), "Fold") {
		return filepath.Dir(path)
	}
	return r.Data[0].Path
}

// when formats a time: in local time for people, otherwise in UTC.
func when(t time.Time, people bool) string {
	if people {
		return t.Local().Format(time.DateTime)
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

func newRunsExportCommand(env *environment) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "export (ID… | --all)",
		Short: "Print everything recorded about runs, as JSON or CSV",
		Long: `Prints everything recorded about the given runs, oldest first.

JSON (the default) is a list with one object per run: id, kind, status, begun, seconds,
command, methods, config, seed, code, error, data, files, results, curve. Each of the
results has a ranker, a fold (empty for the mean over folds, or without folds),
settings, training, validation, trials, and measures with mean, tie_neutral, queries
and per_query. Unknown and non-finite numbers are null.

CSV has one line for each query and measure, with the columns run, begun, kind, seed,
ranker, fold, measure, query, value. Lines without a query contain the mean.`,
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

// exportRuns exports the given runs, or all if there are none.
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

// runJSON is the JSON form of a run. Scripts rely on its names.
type runJSON struct {
	ID      int64               `json:"id"`
	Kind    runs.Kind           `json:"kind"`
	Status  runs.Status         `json:"status"`
	Begun   string              `json:"begun"` // UTC, as 2006-01-02T15:04:05.000Z
	Seconds float64             `json:"seconds"`
	Command []string            `json:"command"`
	Methods []string            `json:"methods"`
	Config  map[string]any      `json:"config"`
	Seed    *uint64             `json:"seed"`
	Code    runs.Code           `json:"code"`
	Error   string              `json:"error,omitempty"`
	Data    []runs.Data         `json:"data"`
	Files   []string            `json:"files"`
	Results []runs.RankerResult `json:"results"`
	Curve   []runs.Point        `json:"curve,omitempty"`
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

// notNull returns a list that JSON encodes as [] instead of null if it is empty.
func notNull[T any](list []T) []T { return append([]T{}, list...) }

func newRunsDeleteCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID…",
		Short: "Delete runs from the record",
		Long: `Deletes runs from the record of this folder, without asking, and lists them. Files
that a run wrote, such as models, remain. Numbers of deleted runs are not reused.`,
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

// commandLine returns a listwise command as a line for a shell.
func commandLine(args ...string) string {
	return shellLine(append([]string{"listwise"}, args...)...)
}

// operands returns names as the last arguments of a command line. If a name begins with "-", it
// inserts "--" before them, so that the name is not parsed as a flag.
func operands(names []string) []string {
	if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "-") }) {
		return append([]string{"--"}, names...)
	}
	return names
}

// shellLine joins the arguments to one line for a POSIX shell. It quotes an argument that is empty
// or contains a character with a meaning in shells.
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
