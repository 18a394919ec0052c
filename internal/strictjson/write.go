package strictjson

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
)

// AppendMember adds a member to the JSON object at the end of dst. No white space may follow the
// object.
func AppendMember(dst []byte, key string, value []byte) []byte {
	dst = append(openMember(dst, key), value...)
	return append(dst, '}')
}

// AppendNumbers is [AppendMember] for a list of finite numbers. It writes each number as
// encoding/json does, in the shortest form that reads back as the same number.
func AppendNumbers(dst []byte, key string, numbers []float64) []byte {
	dst = append(slices.Grow(openMember(dst, key), 21*len(numbers)), '[') // the usual length of a number
	for i, x := range numbers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendNumber(dst, x)
	}
	return append(dst, ']', '}')
}

// openMember replaces the closing brace of an object by a key and a colon.
func openMember(dst []byte, key string) []byte {
	dst = dst[:len(dst)-1]
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(strconv.AppendQuote(dst, key), ':')
}

// appendNumber writes a number as encoding/json does: with an exponent only if its magnitude is
// below 1e-6 or at least 1e21.
func appendNumber(dst []byte, x float64) []byte {
	size := math.Abs(x)
	if size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(dst, x, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, x, 'e', -1, 64)
	if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09 becomes e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// Marshal returns the JSON form of v without white space. Unlike json.Marshal, it does not escape
// <, > and &.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Indent writes a JSON value with one line per part, indented by two spaces per level as
// encoding/json does, and a newline at the end. text must have no white space between its parts.
func Indent(w io.Writer, text []byte) error {
	b := bufio.NewWriterSize(w, 1<<16)
	depth := 0
	for at := 0; at < len(text); {
		start := at
		at++
		switch c := text[start]; c {
		case '{', '[':
			if at < len(text) && text[at] == c+2 { // {} and [] stay on one line
				at++
				break
			}
			depth++
			_ = b.WriteByte(c)
			newline(b, depth)
			continue
		case '}', ']':
			depth--
			if depth < 0 {
				return errors.New("found a bracket that closes nothing")
			}
			newline(b, depth)
		case ',':
			_ = b.WriteByte(',')
			newline(b, depth)
			continue
		case ':':
			_, _ = b.WriteString(": ")
			continue
		default:
			at = behind(text, start)
		}
		_, _ = b.Write(text[start:at])
	}
	_ = b.WriteByte('\n')
	return b.Flush() // returns the first error of any write
}

const spaces = "                                "

func newline(b *bufio.Writer, depth int) {
	_ = b.WriteByte('\n')
	for depth *= 2; depth > 0; depth -= len(spaces) {
		_, _ = b.WriteString(spaces[:min(depth, len(spaces))])
	}
}

// Compact writes a value without the white space between its parts. It ignores errors of w, so w
// should be a hash or a buffer.
func Compact(w io.Writer, v Value) {
	out := make([]byte, 0, 1<<16)
	for at := 0; at < len(v.Text); {
		start := at
		if v.Text[at] == '"' {
			at = behindString(v.Text, at)
		} else {
			for at < len(v.Text) && !isBreak[v.Text[at]] {
				at++
			}
		}
		if len(out)+at-start > cap(out) {
			_, _ = w.Write(out)
			out = out[:0]
		}
		out = append(out, v.Text[start:at]...)
		at = behindSpace(v.Text, at)
	}
	_, _ = w.Write(out)
}

// isBreak marks white space, and the quote that begins a string, which may contain white space.
var isBreak = [256]bool{' ': true, '\n': true, '\t': true, '\r': true, '"': true}
