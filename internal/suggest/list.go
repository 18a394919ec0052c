package suggest

import "strings"

// OneOf joins two or more names as in "a, b or c".
func OneOf(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
