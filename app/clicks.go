package app

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/serve/experiment"
)

type clicksFlags struct {
	logs   []string
	clicks []string
}

func newClicksCommand(env *environment) *cobra.Command {
	var f clicksFlags
	cmd := &cobra.Command{
		Use:   "clicks [--log FILE --clicks FILE]",
		Short: "Learn from clicks on rankings",
		Long: `Describes logs of pages and tests which model users prefer. A page is one ranking shown
once, with the documents that were clicked. Files of pages are JSON lines, with one page
per line, or CSV, TSV and Parquet tables, with one document per row:

  {"page":"p1","time":"2026-11-23T01:37:43Z","user":"u1","query":"red shoes",
   "docs":["b","a","c"],"clicks":[0,1,0]}

Members of a page:
  query, docs       ids; the documents from top to bottom, none twice
  clicks            number of clicks on each document; or clicked: ids in order of clicks
  page, user        ids; users are the units of intervals, pages if there are no users
  time              RFC 3339, or Unix seconds
  slots             where each document stood (default: 1, 2, …)
  order             ranks of the clicked documents in the order of the clicks
  experiment, arm, version, team   who ranked
  softmax, balanced interleaved: both models' probabilities of each document in its
                    place; both rankings
  propensity        probability of the whole ranking; propensities: of each document in
                    its slot
  swapped, swap     two ranks that were drawn for exchange; whether they were exchanged
  pairs, exchanged  upper rank, 1 or 2, of the first pair of neighbours that could have
                    been exchanged; the upper ranks of those that were
  shuffled          number of documents from the top in random order
  candidates        all documents that could have been shown
  orders            rankings that could have been shown: [[ids, probability], …]
  weight            the page counts this often (default: 1)

JSON lines and CSV may be compressed by gzip or zstandard. A table without page ids needs
a column "rank". The content tells the format. "-" reads standard input.

With --log and --clicks, the command compares interleaved models by clicks. It reads the
log of "listwise serve --experiment-log" and a file of clicks, with one JSON object per
line:

  {"page":"9f86d081884c7d65","id":"d7"}
  {"user":"u1","query":"q1","id":"d7","time":"2026-01-02T15:04:05Z","experiment":"mixed"}

The field page is the id in the answer to the request, and is enough by itself. Without
it, the fields user and query repeat the request, and the click belongs to the last
ranking of that user and query before it. The fields time and experiment are optional.

A click is credited to the model that placed the document. Duplicate lines count once.
The model with more clicked documents wins a ranking. A sign test tells whether one
model wins more often than by chance.

Repeat --log for each part of a rotated log.`,
		Example: `  listwise clicks info pages.jsonl.gz
  listwise clicks --log experiments.jsonl --clicks clicks.jsonl`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("log") && !cmd.Flags().Changed("clicks") {
				return cmd.Help()
			}
			if err := required(cmd, "log", "clicks"); err != nil {
				return err
			}
			return f.run(env)
		},
	}
	cmd.Flags().StringArrayVar(&f.logs, "log", nil, "experiment log `file` of listwise serve; repeatable")
	cmd.Flags().StringArrayVar(&f.clicks, "clicks", nil, "`file` of clicks, one JSON object per line; repeatable")
	cmd.AddCommand(
		newClicksInfoCommand(env),
		newClicksReportCommand(env),
		newClicksFitCommand(env),
		newClicksJudgeCommand(env),
		newClicksJoinCommand(env),
		newClicksSimulateCommand(env),
		newClicksPreferCommand(env),
		newClicksABCommand(env),
		newClicksPlanCommand(env),
		newClicksPropensitiesCommand(env),
		newClicksWeighCommand(env),
		newClicksEvaluateCommand(env),
	)
	return cmd
}

type clicksJSON struct {
	Experiment string     `json:"experiment"`
	Models     [2]string  `json:"models"`
	Shown      int        `json:"shown"`
	Clicked    int        `json:"clicked"`
	Clicks     [2]int     `json:"clicks"`
	Wins       [2]int     `json:"wins"`
	Ties       int        `json:"ties"`
	Share      *float64   `json:"share"` // the second model's share of the wins; null without wins
	Interval   [2]float64 `json:"interval"`
	P          float64    `json:"p"`
}

func (f *clicksFlags) run(env *environment) error {
	c := experiment.NewCredits()
	for _, path := range f.logs {
		if err := readLines("--log", path, c.ReadLog); err != nil {
			return err
		}
	}
	for _, path := range f.clicks {
		if err := readLines("--clicks", path, c.ReadClicks); err != nil {
			return err
		}
	}
	if c.Damaged > 0 {
		env.note("%d lines of the log are not JSON and were ignored", c.Damaged)
	}
	if c.Repeated > 0 {
		env.note("%d lines are duplicates and were ignored", c.Repeated)
	}
	if c.Single > 0 {
		env.note("%d clicks are on rankings of a single model (--split, --explore and --page-log of serve) and do not show a preference", c.Single)
	}
	if c.Unmatched > 0 {
		env.note("%d clicks match no ranking in the log (page, or user and query; and document)", c.Unmatched)
	}
	return env.print(clicksReport(c.Outcomes()))
}

func readLines(flag, path string, read func(io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return usageErrorf("%s: %w", flag, err)
	}
	defer func() { _ = file.Close() }() // the file was only read
	if err := read(file); err != nil {
		return usageErrorf("%s %s: %w", flag, path, err)
	}
	return nil
}

func clicksReport(outcomes []experiment.Outcome) report {
	r := report{
		columns: []string{"experiment", "first", "second", "shown", "clicked", "won by first", "won by second", "ties", "share of second", "from", "to", "p"}, keys: 3,
		notes: []string{"", fmt.Sprintf("The share is the second model's fraction of the rankings won by either, with its interval of %v %% (Clopper and Pearson); p is from the exact sign test.", 100*stats.Level)},
	}
	all := []clicksJSON{}
	for _, o := range outcomes {
		p, share := stats.Sign(o.Wins[1], o.Wins[0])
		j := clicksJSON{Experiment: o.Experiment, Models: o.Models, Shown: o.Shown, Clicked: o.Clicked, Clicks: o.Clicks, Wins: o.Wins, Ties: o.Ties, Interval: [2]float64{share.Low, share.High}, P: p}
		var cell any
		if won := o.Wins[0] + o.Wins[1]; won > 0 {
			v := float64(o.Wins[1]) / float64(won)
			j.Share, cell = &v, v
		}
		r.rows = append(r.rows, []any{o.Experiment, o.Models[0], o.Models[1], o.Shown, o.Clicked, o.Wins[0], o.Wins[1], o.Ties, cell, share.Low, share.High, pValue(p)})
		all = append(all, j)
	}
	if len(all) == 0 {
		r.notes = []string{"The log has no interleaved rankings."}
	}
	r.json = all
	return r
}
