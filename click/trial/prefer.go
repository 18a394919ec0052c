package trial

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/elementary"
)

// Preferences collects pages of interleavings, and tests which model users prefer. The zero value
// credits all clicks, and counts every user once.
type Preferences struct {
	Clicks  Clicks // that give credit; empty means All
	ByPage  bool   // counts every page instead of every user
	AnyTime bool   // tests at any time; all pages need times

	Mem *memory.Account // of users and of pages that are kept; nil means no limit

	Single    int // pages of a single model, which show no preference
	Anonymous int // interleaved pages without users; each is a unit

	trials []*interleaved
	at     map[[3]string]*interleaved
}

// interleaved has the pages of an experiment between two models.
type interleaved struct {
	Outcome
	users map[string]int32 // number of a user's unit
	sums  []float64        // of each unit: the signs of its pages
	acted []bool           // of each unit: whether it clicked
	pages []event          // for tests at any time
}

// event is a page: its time, its unit, and the sign of its credit times its weight.
type event struct {
	time    int64
	unit    int32
	clicked bool
	sign    float64
}

// Outcome is the preference of users in an experiment between two models.
type Outcome struct {
	Experiment string
	Models     [2]string
	Method     Method
	Pages      int
	Clicked    int // pages with clicks
	Units      int // users, or pages

	// Wins has the number of units that prefer each model: those whose pages have more signs of
	// credit for it. Ties are units that clicked and prefer neither.
	Wins [2]int
	Ties int

	// Of team draft: pages whose first document is of the first model, and pages where one model placed two documents
	// more than the other.
	Firsts, Uneven int

	P        float64        // of the sign test
	Interval stats.Interval // of the second model's share of the wins
	AnyTime  *AnyTime       // nil unless Preferences.AnyTime is set
}

// AnyTime is the test of an experiment that was looked at whenever a new unit had come, in the order of
// time, and at the end. A look sees of each unit the pages until then.
type AnyTime struct {
	Looks    int
	LogE     float64        // at the end, see stats.LogE
	P        float64        // 1/E at the look where E was largest, at most 1
	Interval stats.Interval // the confidence sequence of the second model's share at the end

	// Pages, Units and Time are those of the first look that rejected, or 0.
	Pages, Units int
	Time         time.Time
}

// Models returns the models of an interleaving's arm, such as "old,new". They are "first" and "second" if it
// does not name two.
func Models(arm string) [2]string {
	first, second, _ := strings.Cut(arm, ",")
	if first == "" || second == "" || strings.Contains(second, ",") {
		return [2]string{"first", "second"}
	}
	return [2]string{first, second}
}

// Add adds a page.
func (s *Preferences) Add(p *click.Page) error {
	method := MethodOf(p)
	if method == None {
		s.Single++
		return nil
	}
	credit, err := Credit(p, cmp.Or(s.Clicks, All))
	if err != nil {
		return err
	}
	if s.AnyTime && p.Time.IsZero() {
		return errNoTime
	}
	key := [3]string{p.Experiment, p.Arm, string(method)}
	t := s.at[key]
	if t == nil {
		if s.at == nil {
			s.at = map[[3]string]*interleaved{}
		}
		t = &interleaved{Outcome: Outcome{Experiment: strings.Clone(p.Experiment), Models: Models(strings.Clone(p.Arm)), Method: method}, users: map[string]int32{}}
		s.at[[3]string{t.Experiment, strings.Clone(p.Arm), string(method)}] = t
		s.trials = append(s.trials, t)
	}
	user := p.User
	if user == "" {
		s.Anonymous++
	}
	if s.ByPage || user == "" {
		if user = ""; p.Weight != 1 {
			return errWeight
		}
	}
	if method == TeamDraft {
		t.teams(p.Team)
	}
	clicked := slices.ContainsFunc(p.Clicks, func(n int) bool { return n > 0 })
	if err := s.take(t, user); err != nil {
		return err
	}
	t.add(user, event{time: p.Time.UnixMicro(), clicked: clicked, sign: float64(p.Weight * float64(sign(credit)))}, s.AnyTime)
	return nil
}

// teams counts what team draft cannot have done, or does on half of the pages.
func (t *interleaved) teams(of []int) {
	if of[0] == 0 {
		t.Firsts++
	}
	lead := 0 // of the second model
	for _, team := range of {
		if lead += 2*team - 1; lead < -1 || lead > 1 {
			t.Uneven++
			return
		}
	}
}

// Least distance of Firsts from half of the pages that Fault reports: in standard errors, and as a share of the pages.
// Smaller ones may come from queries that a user repeats.
const (
	mostErrors = 5
	mostShare  = 0.1
)

// Fault says why team draft cannot have made the teams. It is empty if it can. Team draft places at most one document
// more of one model, and begins with either model on half of the pages.
func (o *Outcome) Fault() string {
	n := float64(o.Pages)
	off := math.Abs(float64(o.Firsts)/n - 0.5)
	switch {
	case o.Method != TeamDraft:
		return ""
	case o.Uneven > 0:
		return fmt.Sprintf("on %d of %d pages one model placed two documents more than the other, expected at most one more", o.Uneven, o.Pages)
	case off > mostShare && off > 0.5*mostErrors/math.Sqrt(n):
		return fmt.Sprintf("the first document is of the first model on %d of %d pages, expected a half", o.Firsts, o.Pages)
	}
	return ""
}

// take counts the memory of a page.
func (s *Preferences) take(t *interleaved, user string) error {
	n := int64(0)
	if _, known := t.users[user]; !known {
		n += unitBytes + int64(len(user))
	}
	if s.AnyTime {
		n += 2 * int64(unsafe.Sizeof(event{})) // a growing slice
	}
	return s.Mem.Take(n, "users of trials")
}

// unitBytes is the memory of a user without its name.
const unitBytes = 100

// add adds a page of a user. Without a user, it is a unit by itself.
func (t *interleaved) add(user string, e event, keep bool) {
	unit, known := int32(len(t.sums)), false
	if user != "" {
		if unit, known = t.users[user]; !known {
			unit = int32(len(t.sums))
			t.users[strings.Clone(user)] = unit
		}
	}
	if !known {
		t.sums, t.acted = append(t.sums, 0), append(t.acted, false)
	}
	t.Pages++
	if e.clicked {
		t.Clicked++
		t.acted[unit] = true
	}
	t.sums[unit] += e.sign
	if e.unit = unit; keep {
		t.pages = append(t.pages, e)
	}
}

// Outcomes returns an outcome for every experiment and pair of models, in the order of their first pages.
func (s *Preferences) Outcomes() []Outcome {
	var all []Outcome
	for _, t := range s.trials {
		o := t.Outcome
		o.Units = len(t.sums)
		for u, sum := range t.sums {
			switch sign(sum) {
			case -1:
				o.Wins[0]++
			case 1:
				o.Wins[1]++
			default:
				if t.acted[u] {
					o.Ties++
				}
			}
		}
		o.P, o.Interval = stats.Sign(o.Wins[1], o.Wins[0])
		if s.AnyTime {
			o.AnyTime = t.anyTime()
		}
		all = append(all, o)
	}
	return all
}

// anyTime replays the pages in the order of time.
func (t *interleaved) anyTime() *AnyTime {
	slices.SortStableFunc(t.pages, func(a, b event) int { return cmp.Compare(a.time, b.time) })
	a := &AnyTime{P: 1}
	sums, seen, units := make([]float64, len(t.sums)), make([]bool, len(t.sums)), 0
	var wins [2]int
	largest := 0.0
	for i, e := range t.pages {
		before := sign(sums[e.unit])
		sums[e.unit] += e.sign
		after := sign(sums[e.unit])
		for k, side := range [2]int{-1, 1} {
			if before == side {
				wins[k]--
			}
			if after == side {
				wins[k]++
			}
		}
		if seen[e.unit] && i < len(t.pages)-1 {
			continue
		}
		if !seen[e.unit] {
			seen[e.unit] = true
			units++
		}
		a.Looks++
		a.LogE = stats.LogE(wins[1], wins[0])
		largest = max(largest, a.LogE)
		if a.Pages == 0 && a.LogE >= -elementary.Log(stats.Alpha) {
			a.Pages, a.Units, a.Time = i+1, units, time.UnixMicro(e.time).UTC()
		}
	}
	a.P = elementary.Exp(-largest)
	a.Interval = stats.ShareSequence(wins[1], wins[0])
	return a
}
