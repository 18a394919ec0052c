package app

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Names of files, queries and methods come from others, and a terminal obeys some of
// the characters that they may hold. Text for people shows these; JSON, CSV and data
// have them as they are.

// visible returns text on one line whose control characters, and bytes that are no
// UTF-8, are written as in \x1b.
func visible(text string) string {
	if strings.IndexFunc(text, hidden) < 0 { // RuneError for what is no UTF-8
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		b.WriteString(shown(r, text[:size]))
		text = text[size:]
	}
	return b.String()
}

// message returns the text of an error or a note as it is printed: visible, and
// without the middle of what is very long, because a name in it may be.
func message(text string) string {
	const head, tail = 1000, 500
	r := []rune(visible(text))
	if len(r) <= head+tail {
		return string(r)
	}
	return string(r[:head]) + " … " + string(r[len(r)-tail:])
}

// hidden reports whether visible escapes the character: C0, DEL and C1, and the replacement
// character, which may stand for invalid UTF-8.
func hidden(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError }

// shown returns a character, whose bytes are given, as visible writes it.
func shown(r rune, bytes string) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r == utf8.RuneError && len(bytes) == 1:
		return fmt.Sprintf(`\x%02x`, bytes[0])
	case r != utf8.RuneError && hidden(r):
		return fmt.Sprintf(`\x%02x`, r)
	}
	return bytes
}

// printText prints text on standard output: its lines stay, all else is visible.
func (env *environment) printText(text string) error {
	_, err := io.WriteString(env.stdout, visibleLines(text))
	return err
}

// visibleLines is visible for several lines.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = visible(lines[i])
	}
	return strings.Join(lines, "\n")
}
