package suggest

import (
	"strconv"
	"strings"
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
