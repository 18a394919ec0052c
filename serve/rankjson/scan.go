package rankjson

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/listwise/listwise/internal/strictjson"
)

// located converts a Fault to an error that names the current query and document.
func (d *decoder) located(err error) error {
	if err == nil {
		return nil
	}
	return d.locate(err)
}

func (d *decoder) locate(err error) error {
	if f, ok := errors.AsType[*strictjson.Fault](err); ok {
		return d.fault(f.At, f.Found, f.Expected)
	}
	return err
}

// members reads the object at p. It calls value with a key, the key's offset at and the value's
// offset p.
func (d *decoder) members(p int, what string, value func(key []byte, at, p int) (next int, err error)) (next int, err error) {
	next, err = d.Object(p, what, value)
	return next, d.located(err)
}

// key reads a key, its colon and the white space after the colon.
func (d *decoder) key(p int) (key []byte, next int, err error) {
	key, next, err = d.Key(p)
	return key, next, d.located(err)
}

// string reads the string whose opening quote is at p.
func (d *decoder) string(p int) (text []byte, next int, err error) {
	text, next, err = d.String(p)
	return text, next, d.located(err)
}

// id reads the value of the member called key, which is an id.
func (d *decoder) id(p int, key string) (id []byte, next int, err error) {
	if d.b[p] != '"' {
		return nil, p, d.faultIn(key, p, d.Token(p), "a string")
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

// word returns the word true or false at p, or "" if there is neither.
func (d *decoder) word(p int) string {
	for _, w := range [...]string{"true", "false"} {
		if bytes.HasPrefix(d.Text[p:], []byte(w)) && strictjson.EndsValue(d.b[p+len(w)]) {
			return w
		}
	}
	return ""
}

// count reads the value of the member called key, which is a positive whole number.
func (d *decoder) count(p int, key, expected string) (n, next int, err error) {
	const mostDigits = 9
	next = p
	for ; d.b[next]-'0' <= 9 && next-p <= mostDigits; next++ {
		n = 10*n + int(d.b[next]-'0')
	}
	if n == 0 || d.b[p] == '0' || next-p > mostDigits || !strictjson.EndsValue(d.b[next]) {
		return 0, p, d.faultIn(key, p, d.Token(p), expected)
	}
	return n, next, nil
}
