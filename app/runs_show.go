package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/tune/runs"
)

func newRunsShowCommand(env *environment) *cobra.Command {
	var long bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a run without its per-query results",
		Long: `Shows a run: command line, program, data, settings, results, learning curve and files
written. Long lists are cut, and only means over folds are shown, unless --long is
given. CSV output is the table of results; JSON output is that of "listwise runs
export".`,
		Example: `  listwise runs show 12
  listwise runs show 12 --long`,
		Args: exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := runsNamed(args)
			if err != nil {
				return err
			}
			return showRun(env, list[0], long)
		},
	}
	cmd.Flags().BoolVar(&long, "long", false, "show every setting, fold and file")
	return cmd
}

func showRun(env *environment, r *runs.Run, long bool) error {
	results := resultsReport(r)
	results.json = runToJSON(r)
	if env.format != "text" {
		return env.print(results)
	}
	data, settings := dataReport(r), settingsReport(r)
	choices, files := choiceLines(r), r.Files
	if !long {
		data.shorten("files")
		settings.shorten("settings")
		results.onlyMeans()
		choices, files = shortLinesOf(choices, "choices"), shortLinesOf(files, "files")
	}
	parts := []report{headReport(r), data, settings}
	if len(results.rows) > 0 {
		parts = append(parts, results)
	}
	if lines := slices.Concat(choices, curveLines(r)); lines != nil {
		parts = append(parts, report{notes: lines})
	}
	if len(files) > 0 {
		parts = append(parts, report{title: "files", notes: files})
	}
	return env.printText(textOf(parts, "\n", env.width()))
}

// onlyMeans removes the rows of single folds if there are means over folds.
func (r *report) onlyMeans() {
	var means [][]any
	for _, row := range r.rows {
		if row[1] == "mean" {
			means = append(means, row)
		}
	}
	if means != nil && len(means) < len(r.rows) {
		r.notes = append(r.notes, fmt.Sprintf("… and %d rows of single folds (--long)", len(r.rows)-len(means)))
		r.rows = means
	}
}

// shortLinesOf shortens lines, and adds a line that states the number of omitted lines.
func shortLinesOf(lines []string, what string) []string {
	first, more := shortened(lines, what)
	if more != "" {
		first = append(slices.Clone(first), more)
	}
	return first
}

func headReport(r *runs.Run) report {
	out := report{title: fmt.Sprintf("run %d: %s, %s", r.ID, r.Kind, r.Status)}
	add := func(name, value string) { out.notes = append(out.notes, fmt.Sprintf("%-8s %s", name, value)) }
	begun := when(r.Begun, true)
	if r.Duration > 0 {
		begun += ", took " + r.Duration.Round(max(time.Millisecond, r.Duration/1000).Truncate(time.Millisecond)).String()
	}
	add("begun", begun)
	if len(r.Command) > 0 { // runs of Go programs have none
		add("command", commandLine(r.Command...))
	}
	add("program", programText(r.Code))
	if r.Seed != nil {
		add("seed", strconv.FormatUint(*r.Seed, 10))
	}
	if r.Error != "" {
		add("error", r.Error)
	}
	return out
}

func programText(c runs.Code) string {
	text := "listwise " + c.Version
	if c.Revision != "" {
		text += ", revision " + c.Revision
	}
	if c.Modified {
		text += " with changes"
	}
	if c.Program != "" {
		text += ", SHA-256 " + c.Program + "…"
	}
	return text + ", " + c.Go
}

func dataReport(r *runs.Run) report {
	out := report{columns: []string{"data", "file", "queries", "documents", "fingerprint"}}
	for _, d := range r.Data {
		row := []any{d.Role, d.Path, nil, nil, d.Fingerprint}
		if d.Queries > 0 {
			row[2], row[3] = d.Queries, d.Documents
		}
		out.rows = append(out.rows, row)
	}
	return out
}

func settingsReport(r *runs.Run) report {
	out := report{columns: []string{"setting", "value"}}
	settings := r.Settings()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		out.rows = append(out.rows, []any{name, settingText(settings[name])})
	}
	return out
}

// settingText formats a setting. Lists are separated by commas.
func settingText(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return v
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, settingText(e))
		}
		return strings.Join(parts, ",")
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

func resultsReport(r *runs.Run) report {
	out := report{columns: []string{"ranker", "fold", "measure", "mean", "tie-neutral", "queries"}}
	for i := range r.Results {
		result := &r.Results[i]
		fold := result.Fold
		if fold == "" && overFolds(r) {
			fold = "mean"
		}
		for _, m := range result.Measures {
			out.rows = append(out.rows, []any{result.Ranker, fold, m.Name, number(m.Mean), number(m.TieNeutral), m.Queries})
		}
	}
	return out
}

// choiceLines describes the settings that tune chose, and how each training ended.
func choiceLines(r *runs.Run) []string {
	var lines []string
	for i := range r.Results {
		result := &r.Results[i]
		if len(result.Trials) > 0 {
			var chosen []string
			for _, name := range slices.Sorted(maps.Keys(result.Trials[0].Settings)) {
				chosen = append(chosen, name+"="+settingText(result.Settings[name]))
			}
			lines = append(lines, fmt.Sprintf("%s, %s: chose %s of %d settings, validation %.4f",
				result.Ranker, result.Fold, cmp.Or(strings.Join(chosen, " "), "the one"), len(result.Trials), result.Validation))
		}
		if status, ok := result.Training["status"]; ok && r.Kind == runs.Train {
			lines = append(lines, fmt.Sprintf("training stopped after %v %s with objective %.6g: %v",
				result.Training["iterations"], unitOf(r.Curve), result.Training["objective"], status))
		}
	}
	return lines
}

// curveLines draws the learning curves, one for each start of the training.
func curveLines(r *runs.Run) []string {
	var lines []string
	for start := 0; start < len(r.Curve); {
		first := &r.Curve[start]
		end := start
		var objective, validation []float64
		for end < len(r.Curve) && r.Curve[end].Start == first.Start {
			objective = append(objective, float64(r.Curve[end].Objective))
			validation = append(validation, float64(r.Curve[end].Validation))
			end++
		}
		unit := unitOf(r.Curve)
		name := ""
		if first.Start > 0 || end < len(r.Curve) {
			name = fmt.Sprintf(" of start %d", first.Start+1)
		}
		lines = append(lines, drawCurve("objective"+name, unit, objective)...)
		lines = append(lines, drawCurve("validation"+name, unit, validation)...)
		start = end
	}
	return lines
}

func unitOf(curve []runs.Point) string {
	if len(curve) > 0 && curve[0].Epoch {
		return "epochs"
	}
	return "iterations"
}

func drawCurve(name, unit string, values []float64) []string {
	known := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(known) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("%-10s %s  %.6g to %.6g in %d %s", name, sparkline(known, 60), known[0], known[len(known)-1], len(values), unit)}
}

// sparkline draws finite values as a line of at most width blocks. If there are more values, a
// block shows the mean of neighbors.
func sparkline(values []float64, width int) string {
	n := min(len(values), width)
	means := make([]float64, n)
	for i := range means {
		part := values[i*len(values)/n : (i+1)*len(values)/n]
		for _, v := range part {
			means[i] += v / float64(len(part))
		}
	}
	blocks := []rune("▁▂▃▄▅▆▇█")
	low, high := slices.Min(means), slices.Max(means)
	line := make([]rune, n)
	for i, v := range means {
		level := 0
		if high > low {
			level = int(float64((float64(v/2)-float64(low/2))/(float64(high/2)-float64(low/2))*float64(len(blocks)-1)) + 0.5) // halved to avoid overflow of the difference
		}
		line[i] = blocks[level]
	}
	return string(line)
}

func newRunsDiffCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the settings and results of two runs",
		Long: `Shows the settings, data and program versions in which run B differs from run A. For
each measure of both runs, shows the means, their difference (B minus A), and on how
many common queries B is better, equal and worse.

Methods with the same name are compared. If no name is common and each run has one
method, these two are compared. Data are compared by fingerprints, not by path. "listwise compare"
tests differences for significance.`,
		Example: `  listwise runs diff 11 12`,
		Args:    exactly(2),
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := runsNamed(args)
			if err != nil {
				return err
			}
			return printDiff(env, list[0], list[1])
		},
	}
}

// diffJSON is the JSON form of a comparison of runs. Scripts rely on its names.
type diffJSON struct {
	A        int64             `json:"a"`
	B        int64             `json:"b"`
	Settings []runs.Change     `json:"settings"`
	Measures []runs.Comparison `json:"measures"`
	OnlyA    []string          `json:"only_a"`
	OnlyB    []string          `json:"only_b"`
}

func printDiff(env *environment, a, b *runs.Run) error {
	d := runs.Compare(a, b)
	measures := measuresDiffReport(a, b, d)
	measures.json = diffJSON{a.ID, b.ID, notNull(d.Changes), notNull(d.Comparisons), notNull(d.OnlyA), notNull(d.OnlyB)}
	if env.format != "text" {
		return env.print(measures)
	}
	if len(measures.rows) == 0 {
		measures.title = "The runs have no measures in common."
	}
	return env.printText(textOf([]report{changesReport(a, b, d), measures}, "\n", env.width()))
}

func changesReport(a, b *runs.Run, d *runs.Diff) report {
	out := report{columns: []string{"differs", fmt.Sprintf("run %d", a.ID), fmt.Sprintf("run %d", b.ID)}}
	for _, c := range d.Changes {
		out.rows = append(out.rows, []any{c.Name, settingText(c.A), settingText(c.B)})
	}
	if d.Changes == nil {
		out.title = fmt.Sprintf("Runs %d and %d have the same settings, data and program.", a.ID, b.ID)
	}
	return out
}

func measuresDiffReport(a, b *runs.Run, d *runs.Diff) report {
	out := report{columns: []string{"ranker", "measure", fmt.Sprintf("run %d", a.ID), fmt.Sprintf("run %d", b.ID), "difference", "better", "equal", "worse"}}
	for _, c := range d.Comparisons {
		ranker := c.RankerA
		if c.RankerB != ranker {
			ranker += " → " + c.RankerB
		}
		out.rows = append(out.rows, []any{ranker, c.Measure, number(c.A), number(c.B), number(c.Difference), c.Wins, c.Ties, c.Losses})
	}
	for _, only := range []struct {
		run   *runs.Run
		names []string
	}{{a, d.OnlyA}, {b, d.OnlyB}} {
		if only.names != nil {
			out.notes = append(out.notes, fmt.Sprintf("only in run %d: %s", only.run.ID, strings.Join(only.names, ", ")))
		}
	}
	return out
}
