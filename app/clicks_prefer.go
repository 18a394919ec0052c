package app

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click/trial"
	"github.com/listwise/listwise/eval/stats"
)

type preferFlags struct {
	pagesFlags
	credit  string
	unit    string
	anyTime bool
}

func newClicksPreferCommand(env *environment) *cobra.Command {
	var f preferFlags
	cmd := &cobra.Command{
		Use:   "prefer PAGES...",
		Short: "Test which of two interleaved models users prefer",
		Long: `Tests which of two interleaved models users prefer. The members of a page tell how it was
interleaved:

  team       team draft: the model (0 or 1) that placed each document. A click is credited
             to its team.
  softmax    probabilistic: for each document the probabilities with which either model
             would have drawn it for its place. The credit is its expectation over all
             assignments of documents to models.
  balanced   balanced: the rankings of both models. Credit is by the clicks in the top
             ranks of either. The method favors one of two similar models; it is for the
             logs of other systems.

The arm of a page names its models, as in "web@1,web@2". Pages of one model are left out.
A document counts once on a page, however often it is clicked.

A page is won by the model with more credit, and a user by the model that won more of the
user's pages. A sign test tells whether one model wins more users than by chance. With
--unit page, or without users, each page counts by itself. Then p is too small if users
return.

Without --at-any-time, decide the number of users in advance ("listwise clicks plan") and
test once. --at-any-time replays the log in the order of time, looks when each user comes
first and at the end, and sees of each user the pages until then. It rejects when the
e-value reaches 20. Then at most 5 % of experiments without a preference reject, however
often you look. The interval is a confidence sequence, valid at all looks together.`,
		Example: `  listwise clicks prefer mixed.jsonl
  listwise clicks prefer mixed.jsonl --at-any-time`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.credit, "credit", string(trial.All), "`clicks` of a page that give credit: all, first or last")
	cmd.Flags().StringVar(&f.unit, "unit", "user", "independent `unit` of the test: user or page")
	cmd.Flags().BoolVar(&f.anyTime, "at-any-time", false, "test that stays valid however often you look")
	return cmd
}

type preferJSON struct {
	Experiment string       `json:"experiment"`
	Models     [2]string    `json:"models"`
	Method     trial.Method `json:"method"`
	Pages      int          `json:"pages"`
	Clicked    int          `json:"clicked"`
	Unit       string       `json:"unit"`
	Units      int          `json:"units"`
	Wins       [2]int       `json:"wins"`
	Ties       int          `json:"ties"`
	Share      *float64     `json:"share"` // the second model's share of the wins; null without wins
	Interval   [2]float64   `json:"interval"`
	P          float64      `json:"p"`
	AnyTime    *anyTimeJSON `json:"any_time,omitempty"`
}

type anyTimeJSON struct {
	Looks    int           `json:"looks"`
	LogE     float64       `json:"log_e"` // at the end
	P        float64       `json:"p"`
	Interval [2]float64    `json:"interval"`
	Rejected *rejectedJSON `json:"rejected"` // the first look that rejected; null if none did
}

type rejectedJSON struct {
	Pages int       `json:"pages"`
	Units int       `json:"units"`
	Time  time.Time `json:"time"`
}

func (f *preferFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	s := trial.Preferences{Clicks: trial.Clicks(f.credit), ByPage: f.unit == "page", AnyTime: f.anyTime, Mem: f.account()}
	if c := s.Clicks; c != trial.All && c != trial.First && c != trial.Last {
		return usageErrorf("--credit: found %q, expected all, first or last", f.credit)
	}
	if f.unit != "user" && f.unit != "page" {
		return usageErrorf("--unit: found %q, expected user or page", f.unit)
	}
	if _, err := f.read(cmd, env, "", args, s.Add); err != nil {
		return err
	}
	if s.Single > 0 {
		env.note("note: %s not interleaved and left out", counted(s.Single, "page is", "pages are"))
	}
	outcomes := s.Outcomes()
	if len(outcomes) == 0 {
		return usageErrorf("%s: found no interleaved pages, expected pages with team, softmax or balanced; \"listwise clicks ab\" compares the arms of a split", strings.Join(mapped(args, inputName), ", "))
	}
	if err := env.print(f.report(outcomes)); err != nil {
		return err
	}
	for _, o := range outcomes {
		if fault := o.Fault(); fault != "" {
			return fmt.Errorf("experiment %q: the teams are not those of team draft: %s", o.Experiment, fault)
		}
	}
	return nil
}

func (f *preferFlags) report(outcomes []trial.Outcome) report {
	units := f.unit + "s"
	r := report{
		columns: []string{"experiment", "first", "second", "method", "pages", "clicked", units, "won by first", "won by second", "ties", "share of second", "from", "to", "p"}, keys: 3,
		notes: []string{"", fmt.Sprintf("The share is the second model's fraction of the %s won by either, with its interval of %v %% (Clopper and Pearson); p is from the exact sign test.", units, 100*stats.Level)},
	}
	if f.anyTime {
		r.columns = append(r.columns, "rejected after")
		r.notes[1] = fmt.Sprintf("The share is the second model's fraction of the %s won by either, with its confidence sequence of %v %%; p is 1/e at the look with the largest e-value. Both are valid at any time. "+
			"A test rejects after the number of %s in the last column.", units, 100*stats.Level, units)
	}
	var all []preferJSON
	for _, o := range outcomes {
		j := preferJSON{
			Experiment: o.Experiment, Models: o.Models, Method: o.Method, Pages: o.Pages, Clicked: o.Clicked, Unit: f.unit, Units: o.Units,
			Wins: o.Wins, Ties: o.Ties, Interval: [2]float64{o.Interval.Low, o.Interval.High}, P: o.P,
		}
		var share any
		if won := o.Wins[0] + o.Wins[1]; won > 0 {
			v := float64(o.Wins[1]) / float64(won)
			j.Share, share = &v, v
		}
		interval, p := o.Interval, o.P
		var after []any
		if a := o.AnyTime; a != nil {
			interval, p = a.Interval, a.P
			j.AnyTime = &anyTimeJSON{Looks: a.Looks, LogE: a.LogE, P: a.P, Interval: [2]float64{interval.Low, interval.High}}
			after = []any{nil}
			if a.Units > 0 {
				j.AnyTime.Rejected = &rejectedJSON{a.Pages, a.Units, a.Time}
				after[0] = a.Units
			}
		}
		row := []any{o.Experiment, o.Models[0], o.Models[1], string(o.Method), o.Pages, o.Clicked, o.Units, o.Wins[0], o.Wins[1], o.Ties, share, interval.Low, interval.High, pValue(p)}
		r.rows = append(r.rows, append(row, after...))
		all = append(all, j)
	}
	r.json = all
	return r
}
