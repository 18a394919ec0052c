// Package suggest finds the known names that resemble an unknown one.
package suggest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// most is the largest number of names in a suggestion. If there are more, a list of all names is
// more helpful.
const most = 3

// Nearest returns the known names that are closest to word, ignoring case. The distance counts
// missing, additional, wrong and exchanged characters; short words allow a smaller distance. If no
// name is close enough, Nearest returns the names that contain word. It returns none if it found
// more than three names.
func Nearest(word string, known []string) []string {
	lower := strings.ToLower(strings.TrimSpace(word))
	var near []string
	least := slips(lower) + 1
	for _, name := range known {
		d := distance(lower, strings.ToLower(name))
		if d < least {
			near, least = nil, d
		}
		if d == least && d <= slips(lower) {
			near = append(near, name)
		}
	}
	if near == nil && utf8.RuneCountInString(lower) >= 3 {
		for _, name := range known {
			if strings.Contains(strings.ToLower(name), lower) {
				near = append(near, name)
			}
		}
	}
	if len(near) > most {
		return nil
	}
	return near
}

// Unknown returns an error about a word that is not a known name. what is the noun for the names.
// The error suggests a similar name or, if there is none, lists all names.
func Unknown(what, word string, known []string) error {
	return fmt.Errorf("unknown %s %q%s", what, word, Or(word, known, "; known are "+strings.Join(known, ", ")))
}

// Or returns `: did you mean "x"?` if known names are similar to word. Otherwise it returns the
// argument otherwise.
func Or(word string, known []string, otherwise string) string {
	near := Nearest(word, known)
	if near == nil {
		return otherwise
	}
	return ": did you mean " + Quoted(near) + "?"
}

// slips returns the largest distance from word at which a name is suggested.
func slips(word string) int {
	switch n := utf8.RuneCountInString(word); {
	case n <= 2:
		return 0
	case n <= 4:
		return 1
	case n <= 8:
		return 2
	}
	return 3
}

// distance is the optimal string alignment distance of a and b. It counts the insertions,
// deletions, substitutions and exchanges of neighbours that turn a into b, where no character takes
// part in two of them.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i, x := range s {
		row[0] = i + 1
		for j, y := range t {
			cost := 1
			if x == y {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && x == t[j-1] && s[i-1] == y {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
