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

// AppendMember appends a member to the JSON object that ends dst; it has no white
// space behind it.
func AppendMember(dst []byte, key string, value []byte) []byte {
	dst = append(openMember(dst, key), value...)
	return append(dst, '}')
}

// AppendNumbers is AppendMember of a list of finite numbers, each in the shortest
// form that reads back the same, as encoding/json writes it.
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

// openMember replaces the closing brace of an object by a key.
func openMember(dst []byte, key string) []byte {
	dst = dst[:len(dst)-1]
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(strconv.AppendQuote(dst, key), ':')
}

// appendNumber writes a number as encoding/json does: with an exponent only if it
// is below 1e-6 or from 1e21 on.
func appendNumber(dst []byte, x float64) []byte {
	size := math.Abs(x)
	if size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(dst, x, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, x, 'e', -1, 64)
	if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09 is written e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// Marshal returns the JSON form of v without white space. It does not escape <, > and &.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Indent writes a JSON value without white space with a line for each part, indented by two spaces a level
// as encoding/json does, and a newline at the end.
func Indent(w io.Writer, text []byte) error {
	b := bufio.NewWriterSize(w, 1<<16)
	depth := 0
	for at := 0; at < len(text); {
		start := at
		at++
		switch c := text[start]; c {
		case '{', '[':
			if at < len(text) && text[at] == c+2 { // {} and [] stay as they are
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
	return b.Flush() // with the first error of any write
}

const spaces = "                                "

func newline(b *bufio.Writer, depth int) {
	_ = b.WriteByte('\n')
	for depth *= 2; depth > 0; depth -= len(spaces) {
		_, _ = b.WriteString(spaces[:min(depth, len(spaces))])
	}
}

// Compact writes a value without the white space between its parts. The writer must
// not fail: it is a hash or a buffer.
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

// isBreak marks white space, and the quotes that may be around some.
var isBreak = [256]bool{' ': true, '\n': true, '\t': true, '\r': true, '"': true}
