package cli

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/internal/runs"
)

func newRunsDiffCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Show in what two runs differ, and which ranks better on how many queries",
		Long: `Shows the settings, data and program versions in which run B differs from run A,
and for every measure that both have the means, their difference (B less A), and on
how many of their common queries B is better, equal and worse.

Methods of the same name are compared. If the runs have none in common and one each,
these are. Data differ if their fingerprints do, wherever the files lie.
"listwise compare" tests whether a difference is more than chance.`,
		Example: `  listwise runs diff 11 12`,
		Args:    exactly(2),
		RunE: func(_ *cobra.Command, args []string) error {
			ids, err := runNumbers(args)
			if err != nil {
				return err
			}
			return withRuns(func(s *runs.Store) error {
				a, err := s.Get(ids[0])
				if err != nil {
					return err
				}
				b, err := s.Get(ids[1])
				if err != nil {
					return err
				}
				return printDiff(env, a, b, runs.Compare(a, b))
			})
		},
	}
}

// diffJSON is a comparison of runs as scripts rely on it.
type diffJSON struct {
	A        int64             `json:"a"`
	B        int64             `json:"b"`
	Settings []changeJSON      `json:"settings"`
	Measures []measureDiffJSON `json:"measures"`
	OnlyA    []string          `json:"only_a"`
	OnlyB    []string          `json:"only_b"`
}

type changeJSON struct {
	Name string `json:"name"`
	A    any    `json:"a"`
	B    any    `json:"b"`
}

type measureDiffJSON struct {
	A          string `json:"a"`
	B          string `json:"b"`
	Measure    string `json:"measure"`
	MeanA      any    `json:"mean_a"`
	MeanB      any    `json:"mean_b"`
	Difference any    `json:"difference"`
	Wins       int    `json:"wins"`
	Ties       int    `json:"ties"`
	Losses     int    `json:"losses"`
}

func printDiff(env *environment, a, b *runs.Run, d *runs.Diff) error {
	measures := measuresDiffReport(a, b, d)
	measures.json = diffToJSON(a, b, d)
	if env.format != "text" {
		return env.print(measures)
	}
	w := bufio.NewWriter(env.text())
	writeText(w, changesReport(a, b, d), env.width())
	fmt.Fprintln(w)
	if len(measures.rows) == 0 {
		measures.title = "The runs have no measures in common."
	}
	writeText(w, measures, env.width())
	return w.Flush()
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
		out.rows = append(out.rows, []any{ranker, c.Measure, number(c.A), number(c.B), number(c.B - c.A), c.Wins, c.Ties, c.Losses})
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

func diffToJSON(a, b *runs.Run, d *runs.Diff) diffJSON {
	j := diffJSON{A: a.ID, B: b.ID, Settings: []changeJSON{}, Measures: []measureDiffJSON{}, OnlyA: notNull(d.OnlyA), OnlyB: notNull(d.OnlyB)}
	for _, c := range d.Changes {
		j.Settings = append(j.Settings, changeJSON(c))
	}
	for _, c := range d.Comparisons {
		j.Measures = append(j.Measures, measureDiffJSON{c.RankerA, c.RankerB, c.Measure, finiteOrNull(c.A), finiteOrNull(c.B), finiteOrNull(c.B - c.A), c.Wins, c.Ties, c.Losses})
	}
	return j
}
