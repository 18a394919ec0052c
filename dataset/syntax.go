package dataset

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// SyntaxError tells where a file is not what it should be, what stands there and
// what was expected. Every error about the content of an input is one.
type SyntaxError struct {
	File     string // the name the file was opened by
	Line     int    // counted from 1; 0 if the error is not of one line
	Found    string // what was found: quoted text of at most about 40 bytes, or a description
	Expected string // what should be there

	// Err is the cause, or nil if the content itself is wrong.
	Err error
}

// Error returns "FILE:LINE: found X, expected Y".
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: found %s, expected %s", e.File, e.Found, e.Expected)
	}
	return fmt.Sprintf("%s:%d: found %s, expected %s", e.File, e.Line, e.Found, e.Expected)
}

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.Err }

// quote returns the text quoted, shortened to 40 bytes.
func quote(text []byte) string {
	const longest = 40
	if len(text) <= longest {
		return strconv.Quote(string(text))
	}
	cut := longest
	for cut > longest-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(string(text[:cut])) + "…"
}

// quoteToken returns the text from p to the end of its token quoted, or a
// description if there is none. b must hold a line's end behind p.
func quoteToken(b []byte, p int) string {
	end := tokenEnd(b, p)
	if end > p {
		return quote(b[p:end])
	}
	return "the end of the line"
}

// tokenEnd returns the position of the first blank, comment or line end from p.
func tokenEnd(b []byte, p int) int {
	for !delimiter[b[p]] {
		p++
	}
	return p
}

// skipBlanks returns the position of the first byte from p that is no blank. A
// carriage return counts as one, so lines may end in CR LF.
func skipBlanks(b []byte, p int) int {
	for b[p] == ' ' || b[p] == '\t' || b[p] == '\r' {
		p++
	}
	return p
}

// delimiter marks the bytes that end a token.
var delimiter = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, '#': true}
