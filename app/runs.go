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

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/runs"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/learn/method"
)

func newRunsCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Look up recorded runs of this folder",
		Long: `Every train, tune, auto and eval records a run in the current folder: settings,
fingerprints of the data, program version, seed, learning curve, per-query results and
files written. A run has a number.

The record is an SQLite database, .listwise/runs.db. Several commands may write to it
at once. If a command is killed, finished runs stay intact. --no-record skips
recording. Deleting the folder .listwise deletes the record and nothing else.`,
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

// withRuns opens the record of this folder for fn. Without a record, and for runs
// that it does not have, the error is the caller's.
func withRuns(fn func(*runs.Store) error) error {
	store, err := runs.OpenExisting(".")
	if errors.Is(err, fs.ErrNotExist) {
		return usageErrorf("no runs are recorded in this folder: there is no %s; train, tune, auto and eval create it", runs.Path("."))
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

// runsNamed returns the runs of this folder's record that arguments give the numbers of.
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

// runNumbers reads arguments that are numbers of runs.
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

// exactly requires n arguments, each the number of a run.
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
measures are means on the data it was evaluated on (for tune and auto, means over the
test folds).

A run is finished, failed, interrupted (stopped or killed) or running.`,
		Example: `  listwise runs list
  listwise runs list --kind tune --method mle --limit 5
  listwise runs list --limit 0 --format csv`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(env) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", "", "only runs of this `method`")
	fl.StringVar(&f.kind, "kind", "", "only runs of this `command`: train, tune, eval or auto")
	addWhole(fl, &f.limit, "limit", 20, 0, "largest `number` of runs to list, newest first; 0: all")
	return cmd
}

func (f *runsListFlags) filter() (runs.Filter, error) {
	filter := runs.Filter{Kind: runs.Kind(f.kind), Method: f.method, Limit: f.limit}
	if f.kind != "" && !slices.Contains(runs.Kinds(), filter.Kind) {
		return filter, usageErrorf("--kind %s%s", f.kind, suggest.Or(f.kind, []string{"train", "tune", "eval", "auto"}, ": expected train, tune, eval or auto"))
	}
	if f.method != "" {
		if _, err := method.Lookup(f.method); err != nil {
			return filter, usageErrorf("--method: %w", err)
		}
	}
	return filter, nil
}

func (f *runsListFlags) run(env *environment) error {
	filter, err := f.filter()
	if err != nil {
		return err
	}
	if _, err := os.Stat(runs.Path(".")); errors.Is(err, fs.ErrNotExist) {
		return env.print(runsReport(nil, env.format == "text"))
	}
	var list []runs.Run
	err = withRuns(func(s *runs.Store) error {
		list, err = s.List(filter)
		return err
	})
	if err != nil {
		return err
	}
	return env.print(runsReport(list, env.format == "text"))
}

// runsReport is the list; brief keeps it to the width of a screen.
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
		out.notes = append(out.notes, "No such runs are recorded in this folder; train, tune, auto and eval record runs.")
	}
	if hidden != nil {
		out.notes = append(out.notes, "", "Not shown: "+strings.Join(hidden, ", ")+" (--format csv has all measures).")
	}
	return out
}

// runSummary is a line of the list: one ranker of a run over all its data.
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

// summaries has at least one line for every run.
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

// measureNames are all measures of the list, in order of appearance.
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

// overFolds reports whether a run's results are of folds, and of these the means.
func overFolds(r *runs.Run) bool { return r.Kind == runs.Tune || r.Kind == runs.Auto }

// mainData is what the run learned from or was measured on; for tune and auto the folder
// with the folds.
func mainData(r *runs.Run) string {
	if len(r.Data) == 0 {
		return ""
	}
	if path := r.Data[0].Path; overFolds(r) && strings.HasPrefix(filepath.Base(path), "Fold") {
		return filepath.Dir(path)
	}
	return r.Data[0].Path
}

// when is a time for people, in their time zone, or for programs.
func when(t time.Time, people bool) string {
	if people {
		return t.Local().Format(time.DateTime)
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
