package app

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/trial"
	"github.com/listwise/listwise/eval/stats"
)

type abFlags struct {
	pagesFlags
	experiment string
	measures   string
	shares     string
	baseline   string
	users      string
	before     string
	planned    int
}

func newClicksABCommand(env *environment) *cobra.Command {
	var f abFlags
	cmd := &cobra.Command{
		Use:   "ab PAGES...",
		Short: "Test whether clicks differ between the arms of a split",
		Long: `Compares the arms of a split by measures of users. A page's arm is the model that ranked it,
as in serve's --split. Every user must see one arm; users of several are left out.

Measures, over the pages of a user:
  clicks          number of clicked documents
  clicked-pages   number of pages with a click
  clicks@K        number of clicked documents on the first K ranks
  rr              mean reciprocal rank of the first click, 0 without clicks
  abandonment     share of pages without clicks
  COLUMN          a column of --users, a CSV or TSV table with a column "user"

Means are over users, and intervals and p values are by Welch's t test. Without users, each
page counts by itself.

The split check compares the number of users of each arm with --shares by a chi-squared
test, in total and in tenths of the users by time. If a p value is below 0.001, the users of
the arms are not comparable: the command prints the table and fails with exit code 1.

--before reduces the variance with values of users from before the experiment (CUPED). A
period such as 14d takes the measure over the user's pages of that time before the first
page of the experiment, from any experiment or none. A column of --users adjusts all
measures. Users without a history get the mean of the others.

Decide the number of users in advance ("listwise clicks plan") and test once; or give
--planned, which prints a confidence sequence in place of the interval and p. It is valid
at any time, from 200 users of each arm on, and tightest at the planned number.`,
		Example: `  listwise clicks ab ab.jsonl --shares web@1:9,web@2:1
  listwise clicks ab ab.jsonl --measures clicks,rr --before 14d
  listwise clicks ab ab.jsonl --measures orders --users users.csv --planned 20000`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.experiment, "experiment", "", "`name` of the experiment; default: the only one")
	fl.StringVar(&f.measures, "measures", "clicks", "`measures` of users, separated by commas")
	fl.StringVar(&f.shares, "shares", "", "expected `shares` of users, ARM:SHARE,ARM:SHARE; default: equal")
	fl.StringVar(&f.baseline, "baseline", "", "`arm` to compare the others with; default: first by name")
	fl.StringVar(&f.users, "users", "", "table `file` with columns of users")
	fl.StringVar(&f.before, "before", "", "`period` such as 14d, or a column, that reduces variance")
	addWhole(fl, &f.planned, "planned", 0, 1, "`users` per arm where a confidence sequence is tightest")
	return cmd
}

func (f *abFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	s := trial.Split{Experiment: f.experiment, Mem: f.account()}
	plan := trial.Plan{Baseline: f.baseline, Planned: f.planned}
	columns, texts, err := readUsers(f.users)
	if err != nil {
		return err
	}
	if err := f.chooseMeasures(&s, &plan, columns, texts); err != nil {
		return err
	}
	if f.users != "" && plan.Values == nil && columns[f.before] == nil && texts[f.before] == nil {
		return usageErrorf("--users: found none of its columns in --measures and --before, expected one")
	}
	if plan.Shares, err = parseArmShares(f.shares); err != nil {
		return err
	}
	if f.before != "" {
		if s.History, err = parsePeriod(f.before); err != nil {
			if plan.Before = columns[f.before]; texts[f.before] != nil {
				return texts[f.before]
			} else if plan.Before == nil {
				return usageErrorf("--before: found %q, expected a period such as 14d, or a column of --users", f.before)
			}
		} else if err := f.findStart(cmd, env, &s, args); err != nil {
			return err
		}
	}
	if _, err := f.read(cmd, env, "", args, s.Add); err != nil {
		return err
	}
	if s.Others > 0 {
		env.note("note: %s left out", counted(s.Others, "page does not belong to the experiment and is", "pages do not belong to the experiment and are"))
	}
	r, err := s.Compare(plan)
	switch {
	case has[*trial.PlanError](err):
		return usageErrorf("--%w", err)
	case err != nil:
		return usageErrorf("%s: %w", strings.Join(mapped(args, inputName), ", "), err)
	}
	if r.Several > 0 {
		env.note("note: %s of several arms left out", counted(r.Several, "user", "users"))
	}
	for _, t := range r.Tables {
		for _, d := range t.Differences {
			if math.IsInf(d.Plain.DF, 0) {
				env.note("note: %s has the same value for all users of %s, and for all of %s: the interval and p tell nothing", t.Measure, d.Arm, d.Baseline)
			}
		}
	}
	if err := f.print(env, r); err != nil {
		return err
	}
	if !r.Sound() {
		return errors.New("the split check failed: the users of the arms do not agree with the shares, so the arms are not comparable")
	}
	return nil
}

// chooseMeasures parses --measures. A name is a measure of pages or a column.
func (f *abFlags) chooseMeasures(s *trial.Split, plan *trial.Plan, columns map[string]*trial.Column, texts map[string]error) error {
	var seen []string
	for name := range strings.SplitSeq(f.measures, ",") {
		if slices.Contains(seen, name) {
			return usageErrorf("--measures: found %s twice, expected each measure once", name)
		}
		seen = append(seen, name)
		m, err := trial.ParseMeasure(name)
		switch {
		case err == nil:
			s.Measures = append(s.Measures, m)
		case columns[name] != nil:
			plan.Values = append(plan.Values, *columns[name])
		case texts[name] != nil:
			return texts[name]
		default:
			return usageErrorf("--measures: %w, or a column of --users", err)
		}
	}
	return nil
}

// findStart reads the pages to find the first one of the experiment.
func (f *abFlags) findStart(cmd *cobra.Command, env *environment, s *trial.Split, args []string) error {
	if slices.Contains(args, "-") {
		return usageErrorf("--before reads pages twice, expected files, not standard input")
	}
	finder := trial.Split{Experiment: f.experiment}
	o := click.Options{Mem: f.account(), KeepFirst: f.duplicates == "first", Tally: new(click.Tally)}
	if err := f.limit(&o); err != nil {
		return err
	}
	err := f.pass(cmd, env, "", args, o, func(p *click.Page) error {
		own, err := finder.Belongs(p)
		if own && !p.Time.IsZero() && (s.Start.IsZero() || p.Time.Before(s.Start)) {
			s.Start = p.Time
		}
		return err
	})
	if err != nil {
		return err
	}
	if s.Start.IsZero() {
		return usageErrorf("--before: found no page of the experiment with a time, expected pages with arm and time")
	}
	s.Experiment = finder.Experiment
	return nil
}

// parsePeriod parses a positive duration, which may be a number of days such as 14d.
func parsePeriod(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > 36_500 {
			return 0, fmt.Errorf("found %q", text)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d <= 0 {
		err = fmt.Errorf("found %q", text)
	}
	return d, err
}

// parseArmShares parses ARM:SHARE,ARM:SHARE. Names of arms may contain colons.
func parseArmShares(text string) (map[string]float64, error) {
	if text == "" {
		return nil, nil
	}
	shares := map[string]float64{}
	for part := range strings.SplitSeq(text, ",") {
		i := strings.LastIndexByte(part, ':')
		if i < 1 {
			return nil, usageErrorf("--shares: found %q, expected ARM:SHARE,ARM:SHARE, such as web@1:9,web@2:1", part)
		}
		v, err := strconv.ParseFloat(part[i+1:], 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return nil, usageErrorf("--shares: found the share %q of %s, expected a positive number", part[i+1:], part[:i])
		}
		if shares[part[:i]] > 0 {
			return nil, usageErrorf("--shares: found %s twice, expected each arm once", part[:i])
		}
		shares[part[:i]] = v
	}
	return shares, nil
}

// readUsers reads the columns of a table of users. An empty cell is no value. texts has the errors of columns that
// are not numbers, which only count if such a column is used. An empty path is no table.
func readUsers(path string) (columns map[string]*trial.Column, texts map[string]error, err error) {
	if path == "" {
		return nil, nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, usageErrorf("--users: %w", err)
	}
	defer func() { _ = file.Close() }() // the file was only read
	r := csv.NewReader(file)
	r.ReuseRecord = true
	if filepath.Ext(path) == ".tsv" {
		r.Comma = '\t'
	}
	wrong := func(err error) error { return usageErrorf("--users %s: %w", path, err) }
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		err = errors.New("found an empty file, expected a header")
	}
	if err != nil {
		return nil, nil, wrong(err)
	}
	header = slices.Clone(header) // the reader reuses it
	user := slices.Index(header, "user")
	if user < 0 {
		return nil, nil, wrong(fmt.Errorf("found the columns %s, expected user among them", strings.Join(header, ", ")))
	}
	columns, texts = map[string]*trial.Column{}, map[string]error{}
	list := make([]*trial.Column, len(header))
	for i, name := range header {
		if columns[name] != nil || name == "user" && i != user {
			return nil, nil, wrong(fmt.Errorf("found the column %s twice, expected each once", name))
		}
		if i != user {
			list[i] = &trial.Column{Name: strings.Clone(name), Of: map[string]float64{}}
			columns[list[i].Name] = list[i]
		}
	}
	seen := map[string]bool{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return columns, texts, nil
		}
		if err != nil {
			return nil, nil, wrong(err)
		}
		line, _ := r.FieldPos(user)
		id := strings.Clone(row[user])
		if id == "" || seen[id] {
			return nil, nil, usageErrorf("--users %s:%d: found the user %q %s", path, line, id, map[bool]string{true: "twice, expected each once", false: "expected an id"}[seen[id]])
		}
		seen[id] = true
		for i, cell := range row {
			if i == user || cell == "" || list[i] == nil {
				continue
			}
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				texts[header[i]] = usageErrorf("--users %s:%d: found %q in the column %s, expected a finite number", path, line, cell, header[i])
				delete(columns, header[i])
				list[i] = nil
				continue
			}
			list[i].Of[id] = v
		}
	}
}

type abJSON struct {
	Experiment string        `json:"experiment"`
	Arms       []armJSON     `json:"arms"`
	Several    int           `json:"users_of_several_arms"`
	Split      checkJSON     `json:"split_check"`
	Drift      *checkJSON    `json:"split_check_over_time"` // null without times or with few users
	Measures   []abTableJSON `json:"measures"`
}

type armJSON struct {
	Arm   string  `json:"arm"`
	Users int     `json:"users"`
	Pages float64 `json:"pages"`
	Share float64 `json:"share"`
}

type checkJSON struct {
	ChiSquare float64 `json:"chi_square"`
	DF        int     `json:"df"`
	P         float64 `json:"p"`
}

type abTableJSON struct {
	Measure     string             `json:"measure"`
	Means       map[string]float64 `json:"means"`
	Differences []abDifferenceJSON `json:"differences"`
}

type abDifferenceJSON struct {
	Arm      string        `json:"arm"`
	Baseline string        `json:"baseline"`
	Plain    welchJSON     `json:"plain"`
	Adjusted *adjustedJSON `json:"adjusted,omitempty"`
	Holm     float64       `json:"p_holm"`
	Sequence *[2]float64   `json:"sequence,omitempty"` // absent before 200 users of each arm
}

type welchJSON struct {
	Difference float64    `json:"difference"`
	Error      float64    `json:"standard_error"`
	DF         *float64   `json:"df"` // null without variance
	Interval   [2]float64 `json:"interval"`
	P          float64    `json:"p"`
}

type adjustedJSON struct {
	welchJSON
	Slope       float64 `json:"slope"`
	Correlation float64 `json:"correlation"`
	Variance    float64 `json:"variance_ratio"`
	Known       int     `json:"users_with_history"`
}

func welch(d stats.Difference) welchJSON {
	j := welchJSON{Difference: d.Mean, Error: d.Error, Interval: [2]float64{d.Interval.Low, d.Interval.High}, P: d.P}
	if !math.IsInf(d.DF, 0) {
		j.DF = &d.DF
	}
	return j
}

func check(c *trial.Check) *checkJSON {
	if c == nil {
		return nil
	}
	return &checkJSON{c.ChiSquare, c.DF, c.P}
}

// print prints the arms and the table of differences. CSV has the latter alone.
func (f *abFlags) print(env *environment, r *trial.Result) error {
	arms := report{columns: []string{"arm", "users", "pages", "expected users"}}
	users, shares := 0, 0.0
	for _, a := range r.Arms {
		users += a.Users
		shares += a.Share
	}
	j := abJSON{Experiment: r.Experiment, Several: r.Several, Split: *check(r.Split), Drift: check(r.Drift)}
	for _, a := range r.Arms {
		j.Arms = append(j.Arms, armJSON{a.Name, a.Users, a.Pages, a.Share / shares})
		arms.rows = append(arms.rows, []any{a.Name, a.Users, int(math.Round(a.Pages)), int(math.Round(float64(users) * (a.Share / shares)))})
	}
	arms.notes = []string{"", "split check: p " + probability(r.Split.P)}
	if r.Drift != nil {
		arms.notes[1] += ", over time " + probability(r.Drift.P)
	}
	table := f.table(r, &j)
	if env.format == "text" && env.take == nil {
		return env.printText(textOf([]report{arms, table}, "\n", env.width()))
	}
	table.json = j
	return env.print(table)
}

// table returns the table of differences, and adds them to j.
func (f *abFlags) table(r *trial.Result, j *abJSON) report {
	t := report{columns: []string{"measure", "arm", "mean", "mean of baseline", "difference", "from", "to"}, keys: 2}
	adjusted, several := f.before != "", len(r.Tables)*(len(r.Arms)-1) > 1
	note := fmt.Sprintf("The interval of the difference covers %v %% (Welch); p is from Welch's t test.", 100*stats.Level)
	if f.planned > 0 {
		note = fmt.Sprintf("The interval of the difference is a confidence sequence of %v %%, valid at any time. It is empty before %d users of each arm.", 100*stats.Level, stats.SequenceFrom)
	} else if t.columns = append(t.columns, "p"); several {
		t.columns = append(t.columns, "p (Holm)")
		note += " p (Holm) is corrected over all rows."
	}
	if adjusted {
		t.columns = append(t.columns, "variance")
		note += " Differences are adjusted by values before the experiment, which leave this part of their variance."
	}
	t.notes = []string{"", note}
	for _, m := range r.Tables {
		table := abTableJSON{Measure: m.Measure, Means: map[string]float64{}}
		for k, a := range r.Arms {
			table.Means[a.Name] = m.Means[k]
		}
		for _, d := range m.Differences {
			final := d.Plain
			out := abDifferenceJSON{Arm: d.Arm, Baseline: d.Baseline, Plain: welch(d.Plain), Holm: d.Holm}
			if a := d.Adjusted; a != nil {
				final = a.Difference
				out.Adjusted = &adjustedJSON{welch(a.Difference), a.Slope, a.Correlation, a.Variance, a.Known}
			}
			row := []any{m.Measure, d.Arm, table.Means[d.Arm], table.Means[d.Baseline], final.Mean}
			switch q := d.Sequence; {
			case q == nil:
				row = append(row, final.Interval.Low, final.Interval.High, pValue(final.P))
				if several {
					row = append(row, pValue(d.Holm))
				}
			case math.IsInf(q.Interval.High, 0):
				row = append(row, nil, nil)
			default:
				row = append(row, q.Interval.Low, q.Interval.High)
				out.Sequence = &[2]float64{q.Interval.Low, q.Interval.High}
			}
			switch {
			case d.Adjusted != nil:
				row = append(row, d.Adjusted.Variance)
			case adjusted:
				row = append(row, nil)
			}
			t.rows = append(t.rows, row)
			table.Differences = append(table.Differences, out)
		}
		j.Measures = append(j.Measures, table)
	}
	return t
}
