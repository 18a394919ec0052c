package click

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/listwise/listwise/dataset/memory"
)

// Fault is something about a log that makes estimates from it wrong although they can be computed.
type Fault struct {
	Kind string `json:"kind"` // a word
	Text string `json:"text"` // a clause with what was found and what to do
}

// watch looks for faults while pages are read. Its memory is bounded but for that of arms.
type watch struct {
	arms  []armCount
	armOf map[[2]string]uint16 // number of an arm, from 1
	key   [2]string            // of the last page
	arm   uint16

	time  timeline
	drawn draws
}

// armCount counts the pages of an arm of an experiment.
type armCount struct {
	experiment, name string

	pages       int
	first, last time.Time
	lengths     []int          // pages by their number of documents
	slots       map[string]int // pages with a slot, for pages with slots
}

// mostArms is the largest number of arms that are told apart.
const mostArms = 256

// number returns the number of a page's arm, 0 if it has no experiment or if there are too many arms.
func (w *watch) number(p *Page, mem *memory.Account) (uint16, error) {
	key := [2]string{p.Experiment, p.Arm}
	if key == w.key && w.armOf != nil {
		return w.arm, nil
	}
	n, known := w.armOf[key]
	if !known && p.Arm != "" && len(w.arms) < mostArms {
		const armBytes = 16 << 10 // with its lengths and bins of time
		if err := mem.Take(armBytes, "arms"); err != nil {
			return 0, err
		}
		if w.armOf == nil {
			w.armOf = map[[2]string]uint16{}
		}
		key = [2]string{strings.Clone(p.Experiment), strings.Clone(p.Arm)}
		w.arms = append(w.arms, armCount{experiment: key[0], name: key[1]})
		n = uint16(len(w.arms))
		w.armOf[key] = n
		w.key, w.arm = key, n
	}
	if known {
		w.key, w.arm = [2]string{w.arms[n-1].experiment, w.arms[n-1].name}, n
	}
	return n, nil
}

// same reports whether two arms are of one experiment, which has a name.
func (w *watch) same(a, b uint16) bool {
	return w.arms[a-1].experiment != "" && w.arms[a-1].experiment == w.arms[b-1].experiment
}

// add adds a page and its user.
func (w *watch) add(p *Page, users *Users, mem *memory.Account) error {
	arm, err := w.number(p, mem)
	if err != nil {
		return err
	}
	single := arm
	if p.interleaved() {
		single = 0
	}
	query := mixed(fnvOffset, p.Query)
	if err := users.add(p, query, single, w.same, mem); err != nil {
		return err
	}
	w.time.add(p, arm)
	if arm > 0 {
		w.arms[arm-1].add(p)
	}
	return w.drawn.add(p, query, arm, mem)
}

// interleaved reports whether several models ranked the page.
func (p *Page) interleaved() bool { return p.Team != nil || p.Softmax != nil || p.Balanced[0] != nil }

func (a *armCount) add(p *Page) {
	a.pages++
	for len(a.lengths) <= len(p.Docs) {
		a.lengths = append(a.lengths, 0)
	}
	a.lengths[len(p.Docs)]++
	if p.Slots != nil {
		const mostSlots = 1000
		if a.slots == nil {
			a.slots = map[string]int{}
		}
		for _, s := range p.Slots {
			if n, known := a.slots[s]; known {
				a.slots[s] = n + 1
			} else if len(a.slots) < mostSlots {
				a.slots[strings.Clone(s)] = 1
			}
		}
	}
	if !p.Time.IsZero() {
		if a.first.IsZero() || p.Time.Before(a.first) {
			a.first = p.Time
		}
		if p.Time.After(a.last) {
			a.last = p.Time
		}
	}
}

// Watch counts a page and its user, and looks for faults. [Read] calls it for each page that it passes on.
func (t *Tally) Watch(p *Page, mem *memory.Account) error {
	if p.User == "" {
		t.Anonymous++
	}
	t.Pages++
	t.Weight += p.Weight
	return t.watch.add(p, &t.Users, mem)
}

// Faults returns what is wrong with the pages read. All tests of chance together find something in a log without a
// fault with a probability below 1 %.
func (t *Tally) Faults() []Fault {
	w := &t.watch
	var all []Fault
	if parts := w.time.parts(); parts != nil {
		all = append(all, parts.faults()...)
		all = append(all, w.gaps(parts)...)
	}
	all = append(all, w.late()...)
	all = append(all, w.different()...)
	if n := t.Users.moved; n > 0 {
		all = append(all, Fault{"several arms", fmt.Sprintf("%d of %d users were shown several arms of an experiment: its arms do not have users of their own; assign arms by user", n, t.Users.Len())})
	}
	if text := t.Users.LikelyRobots(); text != "" {
		all = append(all, Fault{"robots", text})
	}
	for _, n := range t.Users.nets() {
		all = append(all, n.fault(t.Pages))
	}
	if f, is := t.Users.reloads.fault(t.Pages); is {
		all = append(all, f)
	}
	return append(all, w.drawn.faults()...)
}

// moment formats a time for a clause, and as --since and --until take it.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// stretch names the parts from i to j and says how to leave them out.
func (p *parts) stretch(i, j int) (when, how string) {
	switch from, to := moment(p.at(i)), moment(p.at(j)); {
	case i == 0:
		return "until " + to, "--since " + to + " leaves that time out"
	case j == p.n:
		return "from " + from + " on", "--until " + from + " leaves that time out"
	default:
		return "from " + from + " to " + to, "--until " + from + " and --since " + to + " read the time before and after"
	}
}

// droppedTo is the share of the usual click rate from which clicks are missing.
const droppedTo = 0.5

// faults finds times without clicks and without pages.
func (p *parts) faults() (all []Fault) {
	clicked, known := make([]float64, p.n), make([]float64, p.n)
	for i, b := range p.all {
		clicked[i], known[i] = b.clicked, b.known
	}
	if d, found := lowest(clicked, known, droppedTo); found {
		when, how := p.stretch(d.from, d.to)
		all = append(all, Fault{"clicks stop", fmt.Sprintf("%s, %.4g of %.5g pages have a click (%.3g %%), at other times %.3g %%: were clicks logged? %s",
			when, d.inside.x, d.inside.n, 100*d.inside.value(), 100*d.other.value(), how)})
	}
	if i, j, found := p.pause(); found {
		pages, all0 := 0.0, 0.0
		for k, b := range p.all {
			all0 += b.pages
			if k >= i && k < j {
				pages += b.pages
			}
		}
		when, _ := p.stretch(i, j)
		all = append(all, Fault{"pages stop", fmt.Sprintf("%s, there are %.4g pages, and at other times %.4g in as long a time: were pages logged?",
			when, pages, (all0-pages)*float64(j-i)/float64(p.n-(j-i)))})
	}
	return all
}

// experiments returns the numbers of the arms of each experiment that has several, in the order of their first pages.
func (w *watch) experiments() (list [][]int) {
	at := map[string]int{}
	for i, a := range w.arms {
		k, known := at[a.experiment]
		if !known {
			k = len(list)
			at[a.experiment] = k
			list = append(list, nil)
		}
		list[k] = append(list[k], i)
	}
	return slices.DeleteFunc(list, func(arms []int) bool { return len(arms) < 2 })
}

// offShare is the share of an arm's usual pages from which it was off.
const offShare = 0.05

// gaps finds times in which an arm had no pages, between its first and its last.
func (w *watch) gaps(p *parts) (faults []Fault) {
	for _, arms := range w.experiments() {
		all := make([]float64, p.n)
		for _, a := range arms {
			for i, b := range p.arms[uint16(a+1)] {
				all[i] += b.pages
			}
		}
		for _, a := range arms {
			own := make([]float64, p.n)
			first, end := p.n, 0
			for i, b := range p.arms[uint16(a+1)] {
				if own[i] = b.pages; b.pages > 0 {
					first, end = min(first, i), i+1
				}
			}
			if first >= end {
				continue
			}
			if d, found := lowest(own[first:end], all[first:end], offShare); found {
				from, to := first+d.from, first+d.to
				when := "from " + moment(p.at(from)) + " to " + moment(p.at(to))
				faults = append(faults, Fault{"arm off", fmt.Sprintf("arm %q was off %s: it has %.4g of the %.5g pages of its experiment (%.3g %%), at other times %.3g %%; compare arms without that time, with --until or --since",
					w.arms[a].name, when, d.inside.x, d.inside.n, 100*d.inside.value(), 100*d.other.value())})
			}
		}
	}
	return faults
}

// An arm may begin late or end early by this share of its experiment's time, and by the time of this number of its pages.
const (
	lateShare = 0.05
	latePages = 10
)

// late finds arms that began later or ended earlier than others of their experiment, if any two ran at the same time.
func (w *watch) late() (faults []Fault) {
	for _, arms := range w.experiments() {
		var from, to time.Time
		together := false
		for k, i := range arms {
			a := &w.arms[i]
			if a.first.IsZero() {
				continue
			}
			if from.IsZero() || a.first.Before(from) {
				from = a.first
			}
			if a.last.After(to) {
				to = a.last
			}
			for _, j := range arms[:k] {
				b := &w.arms[j]
				together = together || !b.first.IsZero() && !a.last.Before(b.first) && !b.last.Before(a.first)
			}
		}
		for _, i := range arms {
			a := &w.arms[i]
			if a.first.IsZero() || !together {
				continue
			}
			most := max(time.Duration(lateShare*float64(to.Sub(from))), time.Duration(latePages*float64(a.last.Sub(a.first))/float64(a.pages)))
			if a.first.Sub(from) > most {
				faults = append(faults, Fault{"arm late", fmt.Sprintf("arm %q began at %s, another arm of its experiment at %s: compare them from then on only, with --since %[2]s", a.name, moment(a.first), moment(from))})
			}
			if to.Sub(a.last) > most {
				faults = append(faults, Fault{"arm late", fmt.Sprintf("arm %q ended at %s, another arm of its experiment at %s: compare them until then only, with --until %[2]s", a.name, moment(a.last), moment(to))})
			}
		}
	}
	return faults
}

const (
	// slotDifference is the difference of the shares of pages with a slot from which arms show different pages.
	slotDifference = 0.05
	// slotErrors is the difference in standard errors from which it is no chance.
	slotErrors = 6
)

// share returns the part of the arm's pages with a slot: a rank from 1 if name is empty.
func (a *armCount) share(rank int, name string) float64 {
	n := a.slots[name]
	if name == "" {
		for length := rank; length < len(a.lengths); length++ {
			n += a.lengths[length]
		}
	}
	return float64(n) / float64(a.pages)
}

// length returns the mean number of documents of a page.
func (a *armCount) length() float64 {
	n := 0
	for length, pages := range a.lengths {
		n += length * pages
	}
	return float64(n) / float64(a.pages)
}

// different finds arms whose pages have other slots or lengths than another arm of their experiment.
func (w *watch) different() (faults []Fault) {
	for _, arms := range w.experiments() {
		base := &w.arms[arms[0]]
		for _, i := range arms[1:] {
			a, largest := &w.arms[i], slotDifference
			what := ""
			compare := func(rank int, name, label string) {
				x, y := a.share(rank, name), base.share(rank, name)
				p := (float64(x*float64(a.pages)) + float64(y*float64(base.pages))) / float64(a.pages+base.pages)
				if d := math.Abs(x - y); d > largest && d > slotErrors*math.Sqrt(p*(1-p)*(1/float64(a.pages)+1/float64(base.pages))) {
					largest = d
					what = fmt.Sprintf("%s is on %.3g and %.3g %% of their pages", label, 100*x, 100*y)
				}
			}
			for rank := 1; rank < max(len(a.lengths), len(base.lengths)); rank++ {
				compare(rank, "", fmt.Sprintf("rank %d", rank))
			}
			for _, name := range namesOf(a.slots, base.slots) {
				compare(0, name, fmt.Sprintf("slot %q", name))
			}
			if what != "" {
				faults = append(faults, Fault{"different pages", fmt.Sprintf("arms %q and %q show different pages: %s, with %.3g and %.3g documents in the mean; clicks differ for that reason alone, so compare clicks@K with a K that both show",
					a.name, base.name, what, a.length(), base.length())})
			}
		}
	}
	return faults
}

// namesOf returns the keys of two maps in order.
func namesOf(a, b map[string]int) []string {
	var list []string
	for _, m := range []map[string]int{a, b} {
		for name := range m {
			list = append(list, name)
		}
	}
	slices.SortFunc(list, cmp.Compare[string])
	return slices.Compact(list)
}
