package trial

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/eval/stats"
)

// Split collects the pages of an experiment that shows each user the rankings of one model, its arm. The
// zero value with Measures is ready to use.
type Split struct {
	Experiment string // empty means the only one in the pages
	Measures   []Measure

	// Start is when the experiment began, and History how long before it pages of any experiment count as
	// a user's history. Start is zero if there is no history.
	Start   time.Time
	History time.Duration

	Mem *memory.Account // of users; nil means no limit

	Others    int // pages of other experiments, of none and of interleavings, outside of the history
	Anonymous int // pages without users; each is a unit

	Interleaved int // of Others

	begun bool
	users []user
	at    map[string]int32
	arms  []string // in the order of their first pages
	sums  []float64
}

// user is a unit: a user, or a page without one. Its sums are those of Split from users' index times twice
// the number of measures on: of the experiment, then of the history.
type user struct {
	name  string
	arm   int32 // −1 if none yet, −2 if several
	first int64 // time of the first page of the experiment, in µs
	timed bool  // every page has a time
	pages [2]float64
}

// Belongs reports whether a page belongs to the experiment. Without a name, the first page with an arm
// names it.
func (s *Split) Belongs(p *click.Page) (bool, error) {
	if p.Arm == "" || MethodOf(p) != None {
		return false, nil
	}
	if s.Experiment == "" && !s.begun {
		s.Experiment, s.begun = strings.Clone(p.Experiment), true
	}
	if p.Experiment == s.Experiment {
		return true, nil
	}
	if s.begun {
		return false, bad(fmt.Sprintf("the experiments %q and %q", s.Experiment, p.Experiment), "the name of one (--experiment)")
	}
	return false, nil
}

// Add adds a page.
func (s *Split) Add(p *click.Page) error {
	before := false
	if !s.Start.IsZero() {
		if p.Time.IsZero() {
			return errNoTime
		}
		before = p.Time.Before(s.Start)
		if before && p.Time.Before(s.Start.Add(-s.History)) {
			s.Others++
			return nil
		}
	}
	if !before {
		own, err := s.Belongs(p)
		if err != nil {
			return err
		}
		if !own {
			if s.Others++; MethodOf(p) != None {
				s.Interleaved++
			}
			return nil
		}
	}
	if p.Clicks == nil {
		return errNoClicks
	}
	if p.User == "" {
		if before {
			return nil // it is the history of nobody
		}
		if s.Anonymous++; p.Weight != 1 {
			return errWeight
		}
	}
	if _, known := s.at[p.User]; !known {
		if err := s.Mem.Take(int64(unitBytes+len(p.User)+32*len(s.Measures)), "users of trials"); err != nil {
			return err
		}
	}
	i := s.user(p.User)
	u, part := &s.users[i], 0
	if before {
		part = 1
	} else {
		u.join(s.arm(p.Arm), p.Time)
	}
	u.pages[part] += p.Weight
	sums := s.of(i, part)
	for k, m := range s.Measures {
		sums[k] += float64(p.Weight * m.of(p))
	}
	return nil
}

// user returns the index of a user, a new one if the name is empty.
func (s *Split) user(name string) int {
	if name != "" {
		if i, ok := s.at[name]; ok {
			return int(i)
		}
		if s.at == nil {
			s.at = map[string]int32{}
		}
		name = strings.Clone(name)
		s.at[name] = int32(len(s.users))
	}
	s.users = append(s.users, user{name: name, arm: -1, timed: true})
	s.sums = append(s.sums, make([]float64, 2*len(s.Measures))...)
	return len(s.users) - 1
}

// of returns the sums of a user, of the experiment (0) or of the history (1).
func (s *Split) of(user, part int) []float64 {
	n := len(s.Measures)
	at := (2*user + part) * n
	return s.sums[at : at+n]
}

// arm returns the number of an arm.
func (s *Split) arm(name string) int32 {
	i := slices.Index(s.arms, name)
	if i < 0 {
		i = len(s.arms)
		s.arms = append(s.arms, strings.Clone(name))
	}
	return int32(i)
}

// join updates the arm and the first time of a user by a page of the experiment.
func (u *user) join(arm int32, t time.Time) {
	at := t.UnixMicro()
	u.timed = u.timed && !t.IsZero()
	switch {
	case u.arm == -1:
		u.arm, u.first = arm, at
	case u.arm != arm:
		u.arm = -2
	}
	u.first = min(u.first, at)
}

// Plan says how a Split is tested.
type Plan struct {
	Shares   map[string]float64 // of arms; nil means equal ones
	Baseline string             // the arm that others are compared with; empty means the first by name

	// Planned is the number of users of each arm where the confidence sequence is tightest. 0 means no
	// confidence sequence.
	Planned int

	// Values are further measures by column: the values of users. All users of the experiment must
	// have one.
	Values []Column
	// Before has a value of each user before the experiment, to reduce the variance of all measures.
	// With nil, a measure's own value over the history does, if there is one.
	Before *Column
}

// Column is a number of each user.
type Column struct {
	Name string
	Of   map[string]float64
}

// Result compares the arms of a Split.
type Result struct {
	Experiment string
	Arms       []Arm // in the order of their names
	Several    int   // users who were shown several arms, and are left out

	Split *Check // of users by arms
	Drift *Check // of users by arms in tenths of the users by their first page; nil without times

	Tables []Table
}

// Arm is an arm of a Split.
type Arm struct {
	Name  string
	Users int
	Pages float64 // the sum of their weights
	Share float64 // expected
}

// Check is a χ² test.
type Check struct {
	ChiSquare float64
	DF        int
	P         float64
}

// LeastP is the smallest p value of a [Check] of a division that works.
const LeastP = 0.001

// Table compares the arms by a measure.
type Table struct {
	Measure     string
	Means       []float64 // of the arms
	Differences []Difference
}

// Difference is an arm's mean minus that of the baseline.
type Difference struct {
	Arm, Baseline string
	Plain         stats.Difference
	Adjusted      *Adjusted // nil without values before the experiment
	Sequence      *Sequence // nil unless it was asked for
	Holm          float64   // p corrected over all differences of all measures; of Adjusted if there is one
}

// Sequence is an asymptotic confidence sequence of a difference, adjusted if there are values before the
// experiment. It is valid at any time.
type Sequence struct {
	Interval stats.Interval // unbounded below stats.SequenceFrom users of either arm
	Users    float64        // harmonic mean of the arms' users
}

// Adjusted is a difference whose variance was reduced by values before the experiment (CUPED: Deng, Xu,
// Kohavi, Walker, WSDM 2013).
type Adjusted struct {
	stats.Difference
	Slope       float64 // θ, the mean over arms of cov(x, y)/var(x)
	Correlation float64 // mean over arms
	Known       int     // users with a value before the experiment
	Variance    float64 // of the difference, relative to that of the plain difference
}

// PlanError is the error about a field of a Plan that does not fit the pages.
type PlanError struct {
	Field string // baseline, shares or users
	Err   error
}

// Error returns the field and the error.
func (e *PlanError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the error about the field.
func (e *PlanError) Unwrap() error { return e.Err }

func planError(field, format string, args ...any) error {
	return &PlanError{field, fmt.Errorf(format, args...)}
}

// Compare tests the pages added. An error about the plan is a [*PlanError].
func (s *Split) Compare(plan Plan) (*Result, error) {
	r := &Result{Experiment: s.Experiment}
	order, members, err := s.divide(r, &plan)
	if err != nil {
		return nil, err
	}
	if err := s.checks(r, order, members); err != nil {
		return nil, err
	}
	baseline := 0
	if plan.Baseline != "" {
		if baseline = slices.IndexFunc(r.Arms, func(a Arm) bool { return a.Name == plan.Baseline }); baseline < 0 {
			return nil, planError("baseline", "found no arm %q, expected %s", plan.Baseline, strings.Join(names(r.Arms), ", "))
		}
	}
	for k, m := range s.Measures {
		own := func(part int) func(i int) float64 {
			return func(i int) float64 {
				v, pages := s.of(i, part)[k], s.users[i].pages[part]
				if m.Mean && pages > 0 {
					return v / pages
				}
				return v
			}
		}
		before := s.column(plan.Before)
		if before == nil && !s.Start.IsZero() {
			value := own(1)
			before = func(i int) (float64, bool) { return value(i), s.users[i].pages[1] > 0 }
		}
		if err := r.add(m.Name, members, own(0), before, baseline, plan.Planned); err != nil {
			return nil, err
		}
	}
	for _, c := range plan.Values {
		if err := s.complete(&c, members); err != nil {
			return nil, err
		}
		value := func(i int) float64 { return c.Of[s.users[i].name] }
		if err := r.add(c.Name, members, value, s.column(plan.Before), baseline, plan.Planned); err != nil {
			return nil, err
		}
	}
	r.correct()
	return r, nil
}

// divide fills in the arms, and returns their numbers in the order of their names and the users of each.
func (s *Split) divide(r *Result, plan *Plan) (order []int, members [][]int, err error) {
	if len(s.arms) < 2 {
		found := "no arm"
		if len(s.arms) == 1 {
			found = "the arm " + s.arms[0] + " alone"
		}
		hint := ""
		if s.Interleaved > 0 {
			hint = fmt.Sprintf("; \"clicks prefer\" compares the models of the %d interleaved pages", s.Interleaved)
		}
		return nil, nil, fmt.Errorf("found pages of %s, expected pages of two or more arms%s", found, hint)
	}
	order = make([]int, len(s.arms))
	place := make([]int, len(s.arms))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(s.arms[i], s.arms[j]) })
	for k, i := range order {
		place[i] = k
		share, ok := plan.Shares[s.arms[i]]
		if !ok {
			if share = 1; plan.Shares != nil {
				return nil, nil, planError("shares", "found no share of the arm %q, expected one of each arm", s.arms[i])
			}
		}
		r.Arms = append(r.Arms, Arm{Name: s.arms[i], Share: share})
	}
	for _, name := range slices.Sorted(maps.Keys(plan.Shares)) {
		if !slices.Contains(s.arms, name) {
			return nil, nil, planError("shares", "found a share of %q, but no page of that arm", name)
		}
	}
	members = make([][]int, len(order))
	for i := range s.users {
		switch u := &s.users[i]; {
		case u.arm == -2:
			r.Several++
		case u.arm >= 0:
			k := place[u.arm]
			members[k] = append(members[k], i)
			r.Arms[k].Users++
			r.Arms[k].Pages += u.pages[0]
		}
	}
	for _, a := range r.Arms {
		if a.Users < 2 {
			return nil, nil, fmt.Errorf("found %s who saw the arm %q alone, expected two or more", counted(a.Users, "user"), a.Name)
		}
	}
	return order, members, nil
}

// parts is the number of parts of the users by time that Drift compares.
const parts = 10

// checks tests the division of users into arms.
func (s *Split) checks(r *Result, order []int, members [][]int) error {
	counts, shares := make([]int, len(order)), make([]float64, len(order))
	type entry struct {
		first int64
		arm   int
	}
	var all []entry
	timed := true
	for k := range members {
		counts[k], shares[k] = len(members[k]), r.Arms[k].Share
		for _, i := range members[k] {
			timed = timed && s.users[i].timed
			all = append(all, entry{s.users[i].first, k})
		}
	}
	chi, p, err := stats.SplitCheck(counts, shares)
	if err != nil {
		return err
	}
	r.Split = &Check{ChiSquare: chi, DF: len(order) - 1, P: p}
	least := slices.Min(shares) / sum(shares) * float64(len(all)) / parts
	if !timed || least < 5 { // χ² needs 5 expected users
		return nil
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.arm, b.arm)) })
	r.Drift = &Check{DF: parts * (len(order) - 1)}
	for part := range parts {
		clear(counts)
		for _, e := range all[part*len(all)/parts : (part+1)*len(all)/parts] {
			counts[e.arm]++
		}
		chi, _, err := stats.SplitCheck(counts, shares)
		if err != nil {
			return err
		}
		r.Drift.ChiSquare += chi
	}
	r.Drift.P = stats.ChiSquareTail(r.Drift.ChiSquare, r.Drift.DF)
	return nil
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

// Sound reports whether the division of users agrees with the shares.
func (r *Result) Sound() bool {
	return r.Split.P >= LeastP && (r.Drift == nil || r.Drift.P >= LeastP)
}

// column returns the values of a column, or nil without one.
func (s *Split) column(c *Column) func(i int) (float64, bool) {
	if c == nil {
		return nil
	}
	return func(i int) (float64, bool) { v, ok := c.Of[s.users[i].name]; return v, ok }
}

// complete returns an error unless all users have a value.
func (s *Split) complete(c *Column, members [][]int) error {
	missing, example := 0, ""
	for _, list := range members {
		for _, i := range list {
			if _, ok := c.Of[s.users[i].name]; !ok {
				missing++
				example = s.users[i].name
			}
		}
	}
	if missing > 0 {
		return planError("users", "column %s: found no value of %s, such as %q, expected one of every user", c.Name, counted(missing, "user"), example)
	}
	return nil
}

// add compares the arms by a measure.
func (r *Result) add(name string, members [][]int, value func(i int) float64, before func(i int) (float64, bool), baseline, planned int) error {
	t := Table{Measure: name}
	y := make([][]float64, len(members))
	for k, list := range members {
		for _, i := range list {
			y[k] = append(y[k], value(i))
		}
		t.Means = append(t.Means, sum(y[k])/float64(len(y[k])))
	}
	var c *covariate
	if before != nil {
		c = newCovariate(members, y, before)
	}
	for k := range members {
		if k == baseline {
			continue
		}
		d := Difference{Arm: r.Arms[k].Name, Baseline: r.Arms[baseline].Name}
		var err error
		if d.Plain, err = stats.Welch(y[k], y[baseline]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		final := d.Plain
		if c != nil {
			if d.Adjusted, err = c.compare(k, baseline, d.Plain); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			final = d.Adjusted.Difference
		}
		if planned > 0 {
			d.Sequence = sequence(final, len(y[k]), len(y[baseline]), planned)
		}
		t.Differences = append(t.Differences, d)
	}
	r.Tables = append(r.Tables, t)
	return nil
}

// sequence returns the confidence sequence of a difference of arms of a and b users.
func sequence(d stats.Difference, a, b, planned int) *Sequence {
	n := 2 / (1/float64(a) + 1/float64(b))
	q := &Sequence{Interval: stats.Unbounded, Users: n}
	if min(a, b) >= stats.SequenceFrom {
		half := float64(float64(d.Error*math.Sqrt(n)) * stats.MeanSequence(n, float64(planned)))
		q.Interval = stats.Interval{Low: d.Mean - half, High: d.Mean + half}
	}
	return q
}

// correct fills in the corrected p values.
func (r *Result) correct() {
	var p []float64
	for _, t := range r.Tables {
		for _, d := range t.Differences {
			p = append(p, d.p())
		}
	}
	for i, v := range stats.Holm(p) {
		n := len(r.Arms) - 1
		r.Tables[i/n].Differences[i%n].Holm = v
	}
}

// p returns the p value of the difference, adjusted if it is.
func (d *Difference) p() float64 {
	if d.Adjusted != nil {
		return d.Adjusted.P
	}
	return d.Plain.P
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func names(arms []Arm) []string {
	var list []string
	for _, a := range arms {
		list = append(list, a.Name)
	}
	return list
}
