package click

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/elementary"
)

// Users counts the pages of each user. The zero value is empty and ready to use. It identifies users by a hash
// of 64 bits.
type Users struct {
	seed  maphash.Seed
	of    map[uint64]uint32 // index in stats
	stats []userStats
	heavy map[uint32]string // names of users with many pages or clicks, and of some whose pages are all alike

	alike   [habits]alike // totals over all users
	reloads reloads
	moved   int // users that were shown a second arm of an experiment
}

// userStats is what is known of a user.
type userStats struct {
	pages, clicks uint32
	last          uint32 // time of the last page, Unix seconds
	shown         uint32 // hash of the query and the ranking of the last page
	step          uint32 // seconds from the first page to the second
	query         uint16 // hash of the first query
	pattern       uint16 // hash of the ranks that were clicked on the first page, 0 if none were
	turns         uint16 // pages of other queries than the first
	arm           uint16 // 1 + the first arm of an experiment
	misses        [habits]uint8
	timed, moved  bool
}

// User is a user with counts of pages and of clicked documents.
type User struct {
	Name   string `json:"user"`
	Pages  int    `json:"pages"`
	Clicks int    `json:"clicks"`
}

const (
	many       = 100  // a user of fewer pages and clicked documents is no robot
	manyClicks = 1000 // a user of more clicked documents may be a robot
	userBytes  = 72   // memory of a user
	heavyBytes = 80   // memory of the name of a user
)

// add counts a page of a user. It ignores pages without a user. query is the hash of the page's query, and arm is 1 + the number of the page's arm, 0 without an
// experiment, and same reports whether two arms are of one experiment.
func (u *Users) add(p *Page, query uint64, arm uint16, same func(a, b uint16) bool, mem *memory.Account) error {
	if p.User == "" {
		return nil
	}
	if u.of == nil {
		u.seed, u.of, u.heavy = maphash.MakeSeed(), map[uint64]uint32{}, map[uint32]string{}
	}
	h := maphash.String(u.seed, p.User)
	i, known := u.of[h]
	if !known {
		if err := mem.Take(userBytes, "users"); err != nil {
			return err
		}
		i = uint32(len(u.stats))
		u.of[h] = i
		u.stats = append(u.stats, userStats{})
	}
	n := &u.stats[i]
	u.note(n, p, query)
	switch {
	case arm == 0:
	case n.arm == 0:
		n.arm = arm
	case n.arm != arm && !n.moved && same(n.arm, arm):
		n.moved = true
		u.moved++
	}
	n.pages++
	for _, c := range p.Clicks {
		if c > 0 {
			n.clicks++
		}
	}
	if n.pages >= many || n.clicks >= many || n.pages == leastAlike+1 && n.unvaried() && len(u.heavy) < mostNames {
		if _, named := u.heavy[i]; !named {
			if err := mem.Take(heavyBytes, "users"); err != nil {
				return err
			}
			u.heavy[i] = strings.Clone(p.User)
		}
	}
	return nil
}

// Len returns the number of users.
func (u *Users) Len() int { return len(u.stats) }

// Pages returns the number of pages of a user.
func (u *Users) Pages(name string) int {
	if n := u.get(name); n != nil {
		return int(n.pages)
	}
	return 0
}

// get returns what is known of a user, nil if there is none of this name.
func (u *Users) get(name string) *userStats {
	if u.of == nil {
		return nil
	}
	if i, known := u.of[maphash.String(u.seed, name)]; known {
		return &u.stats[i]
	}
	return nil
}

// Robots returns likely robots, those with the most pages first. A likely robot has 100 pages or more, which are above ten
// times the mean of a user and a tenth of all pages; or above 1 % of them and more than the tail of the other
// users explains. Clicked documents count as pages do, and above 1,000 of them the share does not matter.
func (u *Users) Robots() []User {
	pages := busyOf(u.stats, func(n *userStats) uint32 { return n.pages })
	clicks := busyOf(u.stats, func(n *userStats) uint32 { return n.clicks })
	var robots []User
	for i, name := range u.heavy {
		n := u.stats[i]
		if pages.robot(n.pages) || clicks.robot(n.clicks) || n.clicks > manyClicks && float64(n.clicks) > clicks.tail {
			robots = append(robots, User{name, int(n.pages), int(n.clicks)})
		}
	}
	slices.SortFunc(robots, func(a, b User) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(b.Clicks, a.Clicks), cmp.Compare(a.Name, b.Name))
	})
	return robots
}

// busy is how active users are.
type busy struct {
	all, users float64
	tail       float64 // a count that no user of the log's distribution reaches
}

// busyOf measures users by a count. Activity has a long tail. A log-normal distribution with the quartile and the 95th
// percentile of the log gives its deviation. The most active of N users reach √(2 ln N) deviations, and the tail lies
// 1.5 above. Percentiles do not depend on a few robots.
func busyOf(stats []userStats, count func(*userStats) uint32) busy {
	const (
		upper, far = 0.6745, 1.6449 // normal quantiles of 75 and 95 %
		above      = 1.5
	)
	b := busy{users: float64(len(stats))}
	var counts []uint32
	for i := range stats {
		n := count(&stats[i])
		b.all += float64(n)
		if n > 0 {
			counts = append(counts, n)
		}
	}
	if len(counts) == 0 {
		return b
	}
	slices.Sort(counts)
	at := func(percent int) float64 { return elementary.Log(float64(counts[(len(counts)-1)*percent/100])) }
	deviation := (at(95) - at(75)) / (far - upper)
	most := math.Sqrt(2*elementary.Log(float64(len(counts)))) + above
	b.tail = elementary.Exp(at(75) + float64(deviation*(most-upper)))
	return b
}

// robot reports whether a count is that of a likely robot.
func (b busy) robot(n uint32) bool {
	const part, dominant = 0.01, 0.1
	share := float64(n) / b.all
	return n >= many && float64(share*b.users) > 10 && (share > dominant || share > part && float64(n) > b.tail)
}

// LikelyRobots names likely robots in a clause, "" if there are none.
func (u *Users) LikelyRobots() string {
	const most = 3 // names
	var names []string
	robots := u.Robots()
	for _, r := range robots[:min(len(robots), most)] {
		names = append(names, fmt.Sprintf("%s (%d pages, %d clicks)", r.Name, r.Pages, r.Clicks))
	}
	if more := len(robots) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if names == nil {
		return ""
	}
	return "likely robots: " + strings.Join(names, ", ") + "; --drop-users-above N leaves out users with more than N pages"
}
