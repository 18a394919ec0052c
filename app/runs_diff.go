package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/runs"
)

func newRunsDiffCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the settings and results of two runs",
		Long: `Shows the settings, data and program versions in which run B differs from run A. For
each measure of both runs, shows the means, their difference (B minus A), and on how
many common queries B is better, equal and worse.

Methods with the same name are compared; if no name is common and each run has one
method, these are. Data are compared by fingerprints, not by path. "listwise compare"
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

// diffJSON is a comparison of runs as scripts rely on it.
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
