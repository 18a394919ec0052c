package letor

import (
	"bytes"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
)

// quoteToken quotes the token that begins at p, or describes the end of the line. b must have a line feed at
// or after p.
func quoteToken(b []byte, p int) string {
	end := tokenEnd(b, p)
	if end > p {
		return suggest.Quote(b[p:end])
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

// skipBlanks returns the position of the first byte from p that is not a blank, a tab or a carriage return. So
// lines may end in CR LF.
func skipBlanks(b []byte, p int) int {
	for b[p] == ' ' || b[p] == '\t' || b[p] == '\r' {
		p++
	}
	return p
}

// goodLines returns the length of the lines before the first line that has a carriage return anywhere but at
// its end. Otherwise a file whose lines end in carriage returns alone would look like one long comment.
func goodLines(text []byte) int {
	for p := 0; ; {
		i := bytes.IndexByte(text[p:], '\r')
		if i < 0 {
			return len(text)
		}
		if p += i + 1; p == len(text) || text[p] != '\n' {
			return bytes.LastIndexByte(text[:p], '\n') + 1
		}
	}
}

// loneReturn returns the error about a carriage return within a line.
func loneReturn() error {
	return &dataset.SyntaxError{Found: "a carriage return in the midst of a line", Expected: "lines that end in a line feed, or in a carriage return and a line feed"}
}

// likeness returns, in parentheses, the kind of file that probably has this word instead of a number. It
// returns "" for an unknown kind.
func likeness(word []byte) string {
	switch {
	case bytes.HasPrefix(word, []byte("\xff\xfe")), bytes.HasPrefix(word, []byte("\xfe\xff")):
		return " (this looks like UTF-16, which must be made UTF-8)"
	case bytes.HasPrefix(word, []byte("{")), bytes.HasPrefix(word, []byte("[")):
		return " (this looks like JSON, such as a model)"
	case bytes.HasPrefix(word, []byte("<")):
		return " (this looks like HTML or XML)"
	case bytes.Contains(word, []byte(" qid:")):
		return " (this looks like judged queries)"
	case bytes.Count(word, []byte(",")) > 1 || bytes.Count(word, []byte("\t")) > 1:
		return " (this looks like a table)"
	}
	return ""
}

// delimiter marks the bytes that end a token.
var delimiter = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, '#': true}
