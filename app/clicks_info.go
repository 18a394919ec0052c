package app

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/rows"
)

func newClicksInfoCommand(env *environment) *cobra.Command {
	var f pagesFlags
	cmd := &cobra.Command{
		Use:   "info PAGES...",
		Short: "Summarize a log of pages and report anomalies",
		Long: `Counts pages, users, queries, pairs of query and document, and clicks, and reports
anomalies. Several files count as one log.

The click rate of each rank has an interval of 95 %, whose unit is the user, or the page
if there are no users. Arms that ran at the same time can be compared. The last table
tells which methods can estimate the propensities of which slots, with the largest
standard error: from shuffled pages (shuffle), from exchanges of documents (swap), and
from documents that were seen in several slots (harvest). "listwise clicks propensities"
prints them. --format json has the propensities and all other numbers.`,
		Example: `  listwise clicks info pages.jsonl.gz
  listwise clicks info monday.csv tuesday.csv --drop-users-above 1000 --format json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.info(cmd, env, args)
		},
	}
	f.add(cmd)
	return cmd
}

// pagesInfo is the summary of a log with what tells propensities.
type pagesInfo struct {
	*click.Info
	Moved   *int              `json:"pairs_in_two_slots"` // with Seen and Methods, null if memory does not suffice
	Seen    []propensity.Seen `json:"slots_of_pairs"`     // for each two slots, the pairs seen in both
	Methods []propensity.Told `json:"methods"`
}

// mostSlots is the largest number of slots that are compared with each other, the first of the log.
const mostSlots = 50

// info reads pages and prints their summary.
func (f *pagesFlags) info(cmd *cobra.Command, env *environment, args []string) error {
	f.tellsFaults = true
	mem := f.account()
	s, l, taken := click.Survey{Mem: mem}, &propensity.Log{Mem: mem}, int64(0)
	t, err := f.read(cmd, env, "", args, func(p *click.Page) error {
		if err := s.Add(p); err != nil || p.Clicks == nil || l == nil {
			return err
		}
		before := mem.Taken()
		err := l.Add(p)
		taken += mem.Taken() - before
		if errors.Is(err, dataset.ErrTooLarge) { // the rest of the summary needs less
			l = nil
			mem.Give(taken)
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	i := &pagesInfo{Info: s.Info(t)}
	if l == nil {
		i.Odd = append(i.Odd, "what tells propensities is left out, because it needs more memory (--max-memory)")
		return env.printPages(i)
	}
	var moved int
	moved, i.Seen = l.Seen(mostSlots)
	i.Moved = &moved
	if i.Slots > mostSlots {
		i.Odd = append(i.Odd, fmt.Sprintf("%d slots: only the first %d are compared with each other", i.Slots, mostSlots))
	}
	for _, m := range []propensity.Method{propensity.Shuffle, propensity.Swap, propensity.Harvest} {
		err := env.during("estimating propensities by "+string(m), func() error {
			told, err := l.Tell(cmd.Context(), propensity.Options{Method: m, Top: mostSlots, Resamples: propensityResamples, Seed: 1})
			i.Methods = append(i.Methods, told)
			return err
		})
		if err != nil {
			return err
		}
	}
	return env.printPages(i)
}

// printPages prints the summary of a log. As CSV it is one table.
func (env *environment) printPages(i *pagesInfo) error {
	tables := pagesTables(i)
	if env.take != nil || env.format == "json" {
		return env.print(tables[0])
	}
	if env.format != "csv" {
		return env.printText(textOf(tables, "\n", env.width()))
	}
	all := tables[0].rows
	for _, t := range tables[1:] {
		for _, row := range t.rows {
			name := strings.TrimSpace(fmt.Sprintln(append([]any{t.title}, row[:t.keys]...)...))
			for k, cell := range row[t.keys:] {
				all = append(all, []any{name + ": " + t.columns[t.keys+k], cell})
			}
		}
	}
	return rows.WriteCSV(env.stdout, tables[0].columns, all)
}

func pagesTables(i *pagesInfo) []report {
	all := report{columns: []string{"what", "value"}, json: i}
	add := func(what string, value any) { all.rows = append(all.rows, []any{what, value}) }
	add("pages", i.Pages)
	add("users", i.Users)
	add("queries", i.Queries)
	add("pairs of query and document", i.Pairs)
	add("slots", i.Slots)
	if i.From != nil {
		add("from", i.From.Format(time.RFC3339))
		add("to", i.To.Format(time.RFC3339))
	}
	add("clicked documents", wholeCount(i.Clicks))
	add("further clicks on them", wholeCount(i.Repeated))
	for n, pages := range i.ByClicks {
		if pages > 0 {
			add("pages with "+counted(n, "clicked document", "clicked documents"), pages)
		}
	}
	if i.Ordered > 0 {
		add("pages with the order of clicks", i.Ordered)
		add("pages whose clicks go back up", i.Back)
	}
	if i.Moved != nil {
		add("pairs seen in two slots or more", *i.Moved)
	}
	for _, f := range []struct {
		what string
		n    int
	}{
		{"pages with a propensity", i.Propensity}, {"pages with propensities of documents", i.Propensities}, {"pages with candidates", i.Candidates},
		{"pages with possible rankings", i.Orders}, {"shuffled pages", i.Shuffled}, {"pages with ranks drawn for exchange", i.Swapped}, {"pages with pairs drawn for exchange", i.FairPairs},
	} {
		if f.n > 0 {
			add(f.what, f.n)
		}
	}
	ranks := report{title: "clicks", columns: []string{"rank", "shown", "clicked", "rate", "from", "to"}, keys: 1}
	for _, r := range i.Ranks {
		ranks.rows = append(ranks.rows, []any{r.Rank, wholeCount(r.Shown), wholeCount(r.Clicked), r.Rate, r.Low, r.High})
	}
	last := methodsTable(i)
	last.notes = append(last.notes, "", fmt.Sprintf("Intervals are of 95 %%, with the %s as the unit. Propensities are relative to slot 1.", i.Unit))
	for _, odd := range i.Odd {
		last.notes = append(last.notes, "warning: "+odd)
	}
	tables := []report{all, ranks}
	for _, t := range []report{armsTable(i.Info), seenTable(i), exchangesTable(i.Info)} {
		if len(t.rows) > 0 {
			tables = append(tables, t)
		}
	}
	return append(tables, last)
}

func armsTable(i *click.Info) report {
	r := report{title: "arms", columns: []string{"experiment", "arm", "version", "pages", "from", "to", "at the same time as"}, keys: 3}
	if len(i.Arms) == 1 && i.Arms[0].Arm == "" {
		return r
	}
	others := make([][]string, len(i.Arms))
	for _, t := range i.Together {
		others[t[0]], others[t[1]] = append(others[t[0]], i.Arms[t[1]].Arm), append(others[t[1]], i.Arms[t[0]].Arm)
	}
	text := func(t *time.Time) any {
		if t == nil {
			return nil
		}
		return t.Format(time.RFC3339)
	}
	for k, a := range i.Arms {
		r.rows = append(r.rows, []any{a.Experiment, a.Arm, a.Version, a.Pages, text(a.From), text(a.To), list(strings.Join(others[k], ", "))})
	}
	return r
}

// slotPairs is the largest number of pairs of slots in text and CSV.
const slotPairs = 20

func seenTable(i *pagesInfo) report {
	r := report{title: "documents in two slots", columns: []string{"first", "second", "pairs", "clicks in first", "clicks in second"}, keys: 2}
	for _, s := range i.Seen[:min(len(i.Seen), slotPairs)] {
		r.rows = append(r.rows, []any{s.A, s.B, s.Pairs, s.ClicksA, s.ClicksB})
	}
	if more := len(i.Seen) - len(r.rows); more > 0 {
		r.notes = []string{fmt.Sprintf("%d more pairs of slots: see --format json", more)}
	}
	return r
}

func exchangesTable(i *click.Info) report {
	r := report{title: "exchanges", columns: []string{"method", "upper rank", "lower rank", "pages", "exchanged", "clicks at upper", "clicks at lower"}, keys: 3}
	for _, e := range i.Exchanges[:min(len(i.Exchanges), slotPairs)] {
		r.rows = append(r.rows, []any{e.Method, e.A, e.B, wholeCount(e.Pages), wholeCount(e.Exchanged), wholeCount(e.ClicksA), wholeCount(e.ClicksB)})
	}
	if more := len(i.Exchanges) - len(r.rows); more > 0 {
		r.notes = []string{fmt.Sprintf("%d more pairs of ranks: see --format json", more)}
	}
	return r
}

func methodsTable(i *pagesInfo) report {
	r := report{title: "propensities", columns: []string{"method", "slots", "of", "largest error", "found", "what would supply the others"}, keys: 1}
	for _, m := range i.Methods {
		row := []any{string(m.Method), 0, i.Slots, nil, nil, nil}
		if e := m.Estimate; e != nil {
			largest := 0.0
			for _, s := range e.Slots {
				if s.SE != nil {
					largest = max(largest, *s.SE)
					row[3] = largest
				}
			}
			row[1] = len(e.Slots)
		}
		if m.Lacks != nil {
			row[4], row[5] = m.Lacks.Found, m.Lacks.Supply
		}
		r.rows = append(r.rows, row)
	}
	return r
}
