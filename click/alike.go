package click

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/eval/stats"
)

// A habit is what all pages of a robot may have in common.
type habit int

const (
	sameRanks habit = iota // the ranks that are clicked
	anyClick               // a click
	sameStep               // the time since the page before

	habits
)

// habitTexts say what the pages of users with a habit do.
var habitTexts = [habits]string{
	"click the same ranks on every page, whatever the query", "click on every page", "ask at constant intervals",
}

// alike counts the pages that could have differed from the user's other pages, and those that did not.
type alike struct{ turns, same uint64 }

const (
	leastAlike = 5    // pages of a user that could have differed, below which they tell nothing
	mostNames  = 4096 // of users whose pages are all alike
	mostMisses = math.MaxUint8
	// rarely is the largest probability that a test of all users finds a net of robots in a log without one.
	rarely = 1e-4
)

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// mixed continues a hash (FNV-1a) by a text and its end.
func mixed(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return (h ^ 0xff) * fnvPrime
}

// spread returns a hash all of whose bits depend on all of h.
func spread(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9 // the finaliser of SplitMix64
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// pattern returns a hash of the clicked ranks, 0 if none were, and 1 if all were.
func (p *Page) pattern() uint16 {
	h, clicked := uint64(fnvOffset), 0
	for r, c := range p.Clicks {
		if c > 0 {
			clicked++
			h = (h ^ uint64(r)) * fnvPrime
		}
	}
	switch clicked {
	case 0:
		return 0
	case len(p.Docs):
		return 1
	}
	return uint16(spread(h)) | 2
}

// note compares a page with those of the user before it. of is the hash of its query.
func (u *Users) note(n *userStats, p *Page, of uint64) {
	query, pattern := uint16(spread(of)), p.pattern()
	h := mixed(mixed(of, p.Docs[0]), p.Docs[len(p.Docs)-1])
	shown, now, timed := uint32(spread(h+uint64(len(p.Docs)))), uint32(p.Time.Unix()), !p.Time.IsZero()
	count := func(h habit, same bool) {
		u.alike[h].turns++
		if same {
			u.alike[h].same++
		} else if n.misses[h] < mostMisses {
			n.misses[h]++
		}
	}
	if p.Clicks != nil {
		count(anyClick, pattern != 0)
	} else {
		n.misses[anyClick] = mostMisses
	}
	if n.pages == 0 {
		n.query, n.pattern = query, pattern
	} else {
		if query != n.query && n.pattern != 0 && p.Clicks != nil && n.turns < math.MaxUint16 {
			n.turns++
			count(sameRanks, pattern == n.pattern)
		}
		if timed && n.timed {
			step := now - n.last
			if n.pages == 1 {
				n.step = step
			} else {
				count(sameStep, step == n.step)
			}
			u.reloads.add(step, shown == n.shown)
		} else {
			n.misses[sameStep] = mostMisses
		}
	}
	n.last, n.shown, n.timed = now, shown, timed
}

// turnsOf returns how many pages of a user could have broken a habit.
func (n *userStats) turnsOf(h habit) int {
	switch h {
	case sameRanks:
		return int(n.turns)
	case anyClick:
		return int(n.pages)
	case sameStep, habits:
	}
	return max(0, int(n.pages)-2)
}

// unvaried reports whether the user may have a habit.
func (n *userStats) unvaried() bool {
	return n.pattern != 0 && n.misses[sameRanks] == 0 || n.misses[anyClick] == 0 || n.misses[sameStep] == 0
}

// net is a group of users whose pages are all alike.
type net struct {
	habit habit
	least int // turns from which a user without a miss belongs to it

	users, pages int
	once         int // users with as many turns who broke the habit once
	names        []string
}

// has reports whether a user belongs to the net.
func (t *net) has(n *userStats) bool { return n.turnsOf(t.habit) >= t.least && n.misses[t.habit] == 0 }

// nets finds groups of users without a single exception to a habit. People have habits, too, and some more than
// others. Let g be the density of the strength p of a habit, which does not rise above m/(m+1). Then
// ∫ p^m g(p) dp ≤ ∫ m p^(m−1) (1−p) g(p) dp: of users with m turns, at most as many have no exception as have one. So of the users with at most one exception, those without are at most a half, and a sign
// test has a known rate of false alarms. m is at least four times the odds of the habit over all users. It then increases
// by half at a time, since users with few turns hide a net.
func (u *Users) nets() []net {
	var found []net
	for h := range habits {
		a := u.alike[h]
		odds := float64(a.same) / float64(max(1, a.turns-a.same))
		most := 0
		for i := range u.stats {
			if n := &u.stats[i]; n.misses[h] <= 1 {
				most = max(most, n.turnsOf(h))
			}
		}
		var best *net
		for m := max(leastAlike, 4*odds); m <= float64(most); m *= 1.5 {
			t := net{habit: h, least: int(math.Ceil(m))}
			for i := range u.stats {
				switch n := &u.stats[i]; {
				case t.has(n):
					t.users, t.pages = t.users+1, t.pages+int(n.pages)
				case n.misses[h] == 1 && n.turnsOf(h) >= t.least:
					t.once++
				}
			}
			if p, _ := stats.Sign(t.users, t.once); t.users > t.once && p < rarely && (best == nil || t.users > best.users) {
				best = &t
			}
		}
		if best != nil {
			best.names = u.namesOf(best)
			found = append(found, *best)
		}
	}
	return found
}

// namesOf returns the names of the first users of a net.
func (u *Users) namesOf(t *net) []string {
	const most = 3
	var list []string
	for i := range u.stats {
		if name, named := u.heavy[uint32(i)]; named && t.has(&u.stats[i]) {
			if list = append(list, name); len(list) == most {
				break
			}
		}
	}
	return list
}

// Alike returns a function that reports whether the pages of a user are all alike, as are those of many others: likely
// a net of robots. It returns nil if there is none.
func (u *Users) Alike() func(user string) bool {
	nets := u.nets()
	if nets == nil {
		return nil
	}
	return func(user string) bool {
		n := u.get(user)
		return n != nil && slices.ContainsFunc(nets, func(t net) bool { return t.has(n) })
	}
}

// fault describes a net.
func (t *net) fault(pages int) Fault {
	such := ""
	if len(t.names) > 0 {
		such = ", such as " + strings.Join(t.names, ", ")
	}
	return Fault{"alike", fmt.Sprintf("%d users with %d pages (%.3g %%%s) %s, and %d with an exception: likely robots; --drop-alike leaves them out",
		t.users, t.pages, 100*float64(t.pages)/float64(pages), such, habitTexts[t.habit], t.once)}
}

// reloads counts pages of a user that follow another one, within seconds or later, and those of them with the same query
// and ranking.
type reloads struct{ soon, soonSame, later, laterSame uint64 }

const (
	reloadSeconds = 10
	leastReloads  = 20
	// reloadShare is the share of the pages from which reloads matter.
	reloadShare = 0.005
	// reloadRatio is how often more than later the same ranking must come within seconds.
	reloadRatio = 3
)

func (r *reloads) add(seconds uint32, same bool) {
	n, k := &r.later, &r.laterSame
	if seconds <= reloadSeconds {
		n, k = &r.soon, &r.soonSame
	}
	*n++
	if same {
		*k++
	}
}

// fault returns a fault if the same ranking comes within seconds more often than later.
func (r *reloads) fault(pages int) (f Fault, is bool) {
	usual := (float64(r.laterSame) + 1) / (float64(r.later) + 2)
	expected := float64(float64(r.soon) * usual)
	same := float64(r.soonSame)
	z := (same - expected) / math.Sqrt(expected+1)
	if same < leastReloads || same < reloadShare*float64(pages) || same < reloadRatio*expected || z < 5 {
		return f, false
	}
	return Fault{"reloads", fmt.Sprintf("%d pages (%.3g %%) repeat the user's page before, with its query and ranking, within %d s; later only %.3g %% of the pages do: "+
		"likely reloads; log a page once for each search, or join the clicks of its views", r.soonSame, 100*same/float64(pages), reloadSeconds, 100*usual)}, true
}
