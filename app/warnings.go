package app

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/listwise/listwise/dataset"
)

// warnings passes on what the readers of data sets had to say, each beginning with the
// name of its file: once for every cause, with the number of further files.
func (env *environment) warnings(sets ...*dataset.Dataset) {
	for _, w := range oncePerCause(sets) {
		env.note("warning: %s", w)
	}
}

// oncePerCause returns the first warning of every cause, in order of appearance.
func oncePerCause(sets []*dataset.Dataset) []string {
	var first []string
	at := make(map[string]int)  // of a cause in first
	others := make(map[int]int) // further sets with it
	for _, d := range sets {
		for _, w := range d.Warnings {
			cause := causeOf(w)
			if i, ok := at[cause]; ok {
				others[i]++
				continue
			}
			at[cause] = len(first)
			first = append(first, w)
		}
	}
	for i, n := range others {
		files := "files"
		if n == 1 {
			files = "file"
		}
		first[i] += fmt.Sprintf(" (also in %d other %s)", n, files)
	}
	return first
}

// causeOf is a warning without what differs from file to file: the file's name, numbers
// and what is quoted.
func causeOf(warning string) string {
	if _, text, ok := strings.Cut(warning, ": "); ok {
		warning = text
	}
	words := strings.FieldsFunc(warning, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == '(' || r == ')' })
	var plain []string
	for _, w := range words {
		if !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsDigit(r) || r == '"' }) {
			plain = append(plain, w)
		}
	}
	return strings.Join(plain, " ")
}
