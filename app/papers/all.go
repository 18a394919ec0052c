package papers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// All contains the results of all experiments.
type All struct {
	Facts    []Fact
	Outcomes []Outcome
}

// Outcome is the result of one experiment.
type Outcome struct {
	Experiment

	Report *Report // nil if the experiment was skipped
	Took   Took
	Why    string // reason for skipping it
}

// AllOptions are the options of RunAll.
type AllOptions struct {
	Options // Records, Command and Observe are set for each experiment

	// Out is an existing folder for the experiments' files. The records of each experiment go to a
	// folder in it.
	Out string

	// CommandOf returns the command line that runs an experiment alone.
	CommandOf func(*Experiment) string

	// Observe, if not nil, is called with the progress: the number of finished experiments, the
	// number of all, and the name, stage and progress of the current experiment.
	Observe func(at, of int, name, stage string, done, total int)
}

// RunAll runs the experiments whose data exist. If experiments is nil, it runs all experiments. It
// writes an experiment's files when the experiment ends. At the end it writes experiments with
// published numbers again, because only then is it known by which experiment each number counts.
// The result gives the reason for every skipped experiment.
func RunAll(ctx context.Context, experiments []Experiment, o AllOptions) (*All, error) {
	if experiments == nil {
		experiments = Experiments()
	}
	all := &All{}
	for i := range experiments {
		out := Outcome{Experiment: experiments[i]}
		one := o.Options
		one.Records, one.Command = filepath.Join(o.Out, out.Name), o.CommandOf(&out.Experiment)
		if out.Scales == "" {
			one.Scale = 1
		}
		one.Observe = func(stage string, done, total int) {
			if o.Observe != nil {
				o.Observe(i, len(experiments), out.Name, stage, done, total)
			}
		}
		var err error
		out.Report, out.Took, err = out.Timed(ctx, one)
		var input *InputError
		switch {
		case errors.As(err, &input):
			out.Report, out.Why = nil, strings.TrimPrefix(input.Error(), o.Data+": ")
		case err != nil:
			return nil, fmt.Errorf("%s: %w", out.Name, err)
		default:
			if _, err := out.Report.Write(o.Out); err != nil {
				return nil, err
			}
		}
		all.Outcomes = append(all.Outcomes, out)
	}
	markRepeats(all.reports()...)
	for _, r := range all.reports() {
		if len(r.Claims) == 0 {
			continue
		}
		if _, err := r.Write(o.Out); err != nil { // write again, because repeated numbers are now marked
			return nil, err
		}
	}
	all.facts(o)
	return all, nil
}

func (a *All) facts(o AllOptions) {
	fact := func(name, format string, args ...any) {
		a.Facts = append(a.Facts, Fact{name, fmt.Sprintf(format, args...)})
	}
	fact("command", "%s", o.Command)
	fact("seed", "%d", o.Seed)
	if o.Data != "" {
		fact("data", "%s", strings.Join(setsIn(o.Data), ", "))
	}
	var took Took
	for i := range a.Outcomes {
		took.Run += a.Outcomes[i].Took.Run
		took.All += a.Outcomes[i].Took.All
	}
	jobs := o.Jobs
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	text := duration(took.All)
	if took.All > took.Run+timedEvery {
		text += fmt.Sprintf(" in several runs, which reuse finished trainings; the last took %s", duration(took.Run))
	}
	fact("time", "%s", text)
	fact("machine", "%s/%s; trainings side by side: %d", runtime.GOOS, runtime.GOARCH, jobs)
	fact("verdicts", "%s", countsText(a.claims()))
	fact("orders", "%s", ordersText(a.orders()))
}

func (a *All) claims() []Claim {
	var all []Claim
	for _, r := range a.reports() {
		all = append(all, r.Claims...)
	}
	return all
}

func (a *All) orders() []OrderClaim {
	var all []OrderClaim
	for _, r := range a.reports() {
		all = append(all, r.Orders...)
	}
	return all
}

// reports returns the reports of the experiments that ran.
func (a *All) reports() []*Report {
	var all []*Report
	for i := range a.Outcomes {
		if r := a.Outcomes[i].Report; r != nil {
			all = append(all, r)
		}
	}
	return all
}

// setsIn returns the names of the data sets in a folder.
func setsIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // the experiments have reported the error
	}
	var names []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(dir, e.Name(), "Fold1")); err == nil {
			names = append(names, e.Name())
		}
	}
	if names == nil {
		names = []string{filepath.Base(dir)}
	}
	return names
}

// duration formats a time for people: "4.2 s", "2 min 10 s".
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	d = d.Round(time.Second)
	if d < time.Hour {
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// aboutVerdicts explains the verdicts on the pages.
var aboutVerdicts = []string{
	"A number is reproduced if the published one lies in the interval around ours. The interval is for another run of the same method on the same queries. Outside it ours is better or worse. It is called order changed if another row of the publication is on the other side of ours, by a significant difference over the test queries and the seeds.",
	"Trivial systems are the best single feature, the order of the file and a random order. A number is not informative if a trivial system lies in the interval around ours, or within half its width of the published number: agreement proves nothing there. A claim that one method is above another, or that two are alike, is not informative either if a trivial system in their place does as well.",
	"The interval has three parts. One is the spread between seeds, of methods that draw anything. One is the spread between grids of settings, each of which lacks a quarter of ours. The last is half a unit of the last printed digit. A method of which one setting was tried is given the median spread of the methods beside it. A simulation (go test -run TestReplicationAgrees ./eval/stats) checks the level: with six settings or more, or with the same one, 90 to 99 of 100 runs of one method agree. With three or five settings and no seeds some 80 of 100 agree, and with two, as of AdaRank, perhaps fewer. Such numbers are called different too often. The sheets of claims state the difference that would be detected in 80 of 100 runs.",
	"For synthetic data, the publication has one set and we draw several. The interval is the 95 % prediction interval for one more set.",
	"For ratios and slopes of times there is a rule, which the experiment states.",
	"Orders of methods are tested cell by cell. The tests are paired over test queries and seeds, one-sided both ways, with Holm's correction over the cells of the claim. Where the best of a group is compared, the test accounts for the choice. An order held if it holds significantly in some cell and its opposite in none. It was reversed in the opposite case.",
	"Each published number counts once, where it comes first. The papers' own systems are counted apart from the baselines that they quote. Of a hundred numbers that agree, some five are called different by chance.",
}

// Summary returns a table with the number of verdicts and the time of each experiment.
func (a *All) Summary() Table {
	t := Table{Title: "experiments", Left: 1, Columns: []string{"experiment"}}
	for _, v := range Verdicts() {
		t.Columns = append(t.Columns, string(v))
	}
	t.Columns = append(t.Columns, "time")
	for i := range a.Outcomes {
		o := &a.Outcomes[i]
		row := []string{o.Name}
		if o.Report == nil {
			t.Rows = append(t.Rows, append(append(row, make([]string, len(Verdicts()))...), "not run"))
			continue
		}
		n := counts(o.Report.Claims)
		for _, v := range Verdicts() {
			cell := ""
			if len(o.Report.Claims) > 0 {
				cell = strconv.Itoa(n[v])
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, append(row, duration(o.Took.All)))
	}
	return t
}

// facts returns the report's facts, and the time of the experiment.
func (o *Outcome) facts() []Fact {
	return append(slices.Clone(o.Report.Facts), Fact{"time", duration(o.Took.All)})
}

// mainTables returns the tables that appear on the page of all experiments.
func (o *Outcome) mainTables() []Table {
	var tables []Table
	for _, t := range o.Report.Tables {
		if t.Main {
			tables = append(tables, t)
		}
	}
	return tables
}
