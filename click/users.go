package click

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset/memory"
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

// Robots returns likely robots, those with the most pages first. A likely robot has more than 1,000 clicked
// documents. Or it has 100 pages or more, above 1 % of all pages and above ten times the mean of a user, or as large a
// part of the clicked documents.
func (u *Users) Robots() []User {
	var pages, clicks float64
	for _, n := range u.stats {
		pages += float64(n.pages)
		clicks += float64(n.clicks)
	}
	large := func(n uint32, all float64) bool {
		share := float64(n) / all
		return n >= many && share > 0.01 && float64(share*float64(len(u.stats))) > 10
	}
	var robots []User
	for i, name := range u.heavy {
		n := u.stats[i]
		if n.clicks > manyClicks || large(n.pages, pages) || large(n.clicks, clicks) {
			robots = append(robots, User{name, int(n.pages), int(n.clicks)})
		}
	}
	slices.SortFunc(robots, func(a, b User) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(b.Clicks, a.Clicks), cmp.Compare(a.Name, b.Name))
	})
	return robots
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
