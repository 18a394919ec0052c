package rankjson

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// blanks returns the place of the first byte from p on that is no white space. Behind the
// body are zeros.
func (d *decoder) blanks(p int) int {
	b := d.b
	for b[p] == ' ' || b[p] == '\n' || b[p] == '\r' || b[p] == '\t' {
		p++
	}
	return p
}

// members reads the object at p; value reads the value at p of a key that stands at at.
func (d *decoder) members(p int, what string, value func(key []byte, at, p int) (next int, err error)) (next int, err error) {
	if d.b[p] != '{' {
		return p, d.fault(p, d.token(p), what+" as an object, {…}")
	}
	if p = d.blanks(p + 1); d.b[p] == '}' {
		return p + 1, nil
	}
	for {
		at := p
		key, next, err := d.key(p)
		if err != nil {
			return p, err
		}
		if p, err = value(key, at, next); err != nil {
			return p, err
		}
		if p = d.blanks(p); d.b[p] != ',' {
			break
		}
		p = d.blanks(p + 1)
	}
	if d.b[p] != '}' {
		return p, d.fault(p, d.token(p), "a comma or the end of "+what+", }")
	}
	return p + 1, nil
}

// key reads a key, its colon and the white space around it.
func (d *decoder) key(p int) (key []byte, next int, err error) {
	if d.b[p] != '"' {
		return nil, p, d.fault(p, d.token(p), "a key in quotes")
	}
	if key, p, err = d.string(p); err != nil {
		return nil, p, err
	}
	if d.b[p] != ':' {
		if p = d.blanks(p); d.b[p] != ':' {
			return nil, p, d.fault(p, d.token(p)+" behind the key "+quote(key), "a colon and a value")
		}
	}
	if p++; d.b[p] <= ' ' {
		p = d.blanks(p)
	}
	return key, p, nil
}

// ordinary marks the bytes that stand for themselves in a string: ASCII without controls,
// quotes and backslashes.
var ordinary = func() (t [256]bool) {
	for c := ' '; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// string reads the string whose first quote stands at p. Where there are no escapes its text
// is a part of the body.
func (d *decoder) string(p int) (text []byte, next int, err error) {
	b, start := d.b, p+1
	p++
	for ordinary[b[p]] {
		p++
	}
	if b[p] == '"' {
		return b[start:p:p], p + 1, nil
	}
	escaped := false
	for b[p] != '"' {
		switch c := b[p]; {
		case p >= d.end:
			return nil, p, d.fault(p, "a string without its end", "another quote")
		case c < ' ':
			return nil, p, d.fault(p, "the control character "+strconv.QuoteRune(rune(c))+" in a string", "an escape")
		case c == '\\':
			escaped = true
			p++
		}
		p++
	}
	if p >= d.end { // a backslash was the last byte
		return nil, p, d.fault(d.end, "a string without its end", "another quote")
	}
	text = b[start:p:p]
	if !utf8.Valid(text) {
		at := start + invalid(text)
		return nil, at, d.fault(at, "the byte "+strconv.Quote(string(b[at:at+1]))+", which is no UTF-8", "text in UTF-8")
	}
	if escaped {
		if text, err = d.unescape(start, text); err != nil {
			return nil, start, err
		}
	}
	return text, p + 1, nil
}

// invalid returns the place of the first byte that is no UTF-8.
func invalid(text []byte) int {
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return len(text)
}

// unescape resolves the escapes of the string that stands at a place.
func (d *decoder) unescape(at int, raw []byte) ([]byte, error) {
	start := len(d.text)
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			d.text = append(d.text, raw[i])
			continue
		}
		i++
		if k := bytes.IndexByte([]byte(`"\/bfnrt`), raw[i]); k >= 0 {
			d.text = append(d.text, "\"\\/\b\f\n\r\t"[k])
			continue
		}
		r, ok := hexRune(raw, i)
		if !ok {
			return nil, d.fault(at+i-1, quote(raw[i-1:min(i+5, len(raw))]), `one of the escapes \" \\ \/ \b \f \n \r \t \uXXXX`)
		}
		i += 4
		if utf16.IsSurrogate(r) {
			second, ok := rune(0), false
			if i+2 < len(raw) && raw[i+1] == '\\' {
				second, ok = hexRune(raw, i+2)
			}
			if r = utf16.DecodeRune(r, second); !ok || r == utf8.RuneError {
				return nil, d.fault(at+i-5, quote(raw[i-5:i+1]), "a pair of surrogates: half of one is no character")
			}
			i += 6
		}
		d.text = utf8.AppendRune(d.text, r)
	}
	return d.text[start:len(d.text):len(d.text)], nil
}

// hexRune reads uXXXX at raw[i].
func hexRune(raw []byte, i int) (r rune, ok bool) {
	if raw[i] != 'u' || i+5 > len(raw) {
		return 0, false
	}
	for _, c := range raw[i+1 : i+5] {
		switch {
		case c-'0' <= 9:
			r = r<<4 | rune(c-'0')
		case c|0x20-'a' < 6:
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// id reads the id that is the value of a key.
func (d *decoder) id(p int, key string) (id []byte, next int, err error) {
	if d.b[p] != '"' {
		return nil, p, d.faultIn(key, p, d.token(p), "a string")
	}
	id, next, err = d.string(p)
	switch {
	case err != nil:
		return nil, next, within(err, key)
	case len(id) == 0:
		return nil, p, d.faultIn(key, p, "an empty string", "an id of at least one byte")
	case len(id) > MaxID:
		return nil, p, d.faultIn(key, p, "an id of "+strconv.Itoa(len(id))+" bytes", "at most "+strconv.Itoa(MaxID))
	}
	return id, next, nil
}

// word returns true or false, whichever stands at p, or nothing.
func (d *decoder) word(p int) string {
	for _, w := range [...]string{"true", "false"} {
		if bytes.HasPrefix(d.b[p:d.end], []byte(w)) && endsValue[d.b[p+len(w)]] {
			return w
		}
	}
	return ""
}

// count reads a whole number from 1 on that is the value of a key.
func (d *decoder) count(p int, key, expected string) (n, next int, err error) {
	const mostDigits = 9
	next = p
	for ; d.b[next]-'0' <= 9 && next-p <= mostDigits; next++ {
		n = 10*n + int(d.b[next]-'0')
	}
	if n == 0 || d.b[p] == '0' || next-p > mostDigits || !endsValue[d.b[next]] {
		return 0, p, d.faultIn(key, p, d.token(p), expected)
	}
	return n, next, nil
}

// endsValue marks the bytes that may stand behind a number or a word, the zero behind the
// body included.
var endsValue = [256]bool{0: true, ' ': true, '\t': true, '\r': true, '\n': true, ',': true, '}': true, ']': true}
