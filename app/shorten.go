package app

import "fmt"

// Output that may be of any length is short as text unless --long asks for all of it;
// as JSON and CSV it is always whole.

// shortLines is how many lines of one kind are shown without --long.
const shortLines = 10

// shortened returns the first lines of a list, and in words how many there are more.
func shortened[T any](lines []T, what string) (first []T, more string) {
	if len(lines) <= shortLines {
		return lines, ""
	}
	return lines[:shortLines], fmt.Sprintf("… and %d more %s (--long)", len(lines)-shortLines, what)
}

// shorten cuts a report's rows.
func (r *report) shorten(what string) {
	var more string
	if r.rows, more = shortened(r.rows, what); more != "" {
		r.notes = append(r.notes, more)
	}
}
