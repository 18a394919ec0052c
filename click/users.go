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
	of    map[uint64]userCount
	heavy map[uint64]string // names of users with many pages or clicks
}

type userCount struct{ pages, clicks uint32 }

// User is a user with counts of pages and of clicked documents.
type User struct {
	Name   string `json:"user"`
	Pages  int    `json:"pages"`
	Clicks int    `json:"clicks"`
}

const (
	many       = 100  // a user of fewer pages and clicked documents is no robot
	manyClicks = 1000 // a user of more clicked documents may be a robot
	userBytes  = 40   // memory of a user
)

// add counts a page of a user. It ignores pages without a user.
func (u *Users) add(p *Page, mem *memory.Account) error {
	if p.User == "" {
		return nil
	}
	if u.of == nil {
		u.seed, u.of, u.heavy = maphash.MakeSeed(), map[uint64]userCount{}, map[uint64]string{}
	}
	h := maphash.String(u.seed, p.User)
	n, known := u.of[h]
	if !known {
		if err := mem.Take(userBytes, "users"); err != nil {
			return err
		}
	}
	n.pages++
	for _, c := range p.Clicks {
		if c > 0 {
			n.clicks++
		}
	}
	u.of[h] = n
	if n.pages >= many || n.clicks >= many {
		u.heavy[h] = strings.Clone(p.User)
	}
	return nil
}

// Len returns the number of users.
func (u *Users) Len() int { return len(u.of) }

// Pages returns the number of pages of a user.
func (u *Users) Pages(name string) int {
	if u.of == nil {
		return 0
	}
	return int(u.of[maphash.String(u.seed, name)].pages)
}

// Robots returns likely robots, those with the most pages first. A likely robot has more than 1,000 clicked
// documents. Or it has 100 pages or more, above 1 % of all pages and above ten times the mean of a user, or as large a
// part of the clicked documents.
func (u *Users) Robots() []User {
	var pages, clicks float64
	for _, n := range u.of {
		pages += float64(n.pages)
		clicks += float64(n.clicks)
	}
	large := func(n uint32, all float64) bool {
		share := float64(n) / all
		return n >= many && share > 0.01 && float64(share*float64(len(u.of))) > 10
	}
	var robots []User
	for h, name := range u.heavy {
		n := u.of[h]
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
