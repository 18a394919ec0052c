package suggest

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// OneOf joins two or more names as in "a, b or c".
func OneOf(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Quoted joins names as in "a" or "b" or "c".
func Quoted(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, " or ")
}

// Quote quotes text for a message. It cuts text after at most 40 bytes, at the start of a
// character, and marks the cut by "…".
func Quote(text []byte) string {
	const most = 40
	if len(text) <= most {
		return strconv.Quote(string(text))
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(string(text[:cut])) + "…"
}
