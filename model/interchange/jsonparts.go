package interchange

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/listwise/listwise/internal/strictjson"
)

// wrong returns an error about a value of a JSON text. The error contains the value's position.
func wrong(v strictjson.Value, text string, args ...any) error {
	return &strictjson.Error{At: v.At, Err: fmt.Errorf(text, args...)}
}

// shown returns the text of a value for errors.
func shown(v strictjson.Value) string {
	if v.Text == nil {
		return "nothing"
	}
	return fmt.Sprintf("%.40s", v.Text)
}

// member returns the value of a key in an object. If the key is missing, Text of the result is nil,
// and the result has the position of the object's first value, for errors.
func member(o strictjson.Object, key string) strictjson.Value {
	for _, m := range o {
		if m.Key == key {
			return m.Value
		}
	}
	if len(o) > 0 {
		return strictjson.Value{At: o[0].Value.At}
	}
	return strictjson.Value{}
}

// objectOf returns the keys and values of an object. what is the name of v in errors.
func objectOf(v strictjson.Value, what string) (strictjson.Object, error) {
	if v.Text == nil || v.Text[0] != '{' {
		return nil, wrong(v, "found %s as %s, expected an object", shown(v), what)
	}
	return strictjson.Members(v)
}

// elementsOf returns the elements of a list.
func elementsOf(v strictjson.Value, what string) ([]strictjson.Value, error) {
	if v.Text == nil || v.Text[0] != '[' {
		return nil, wrong(v, "found %s as %s, expected a list", shown(v), what)
	}
	return strictjson.Elements(v)
}

// textOf returns a string.
func textOf(v strictjson.Value, what string) (string, error) {
	var s string
	if v.Text == nil || v.Text[0] != '"' || json.Unmarshal(v.Text, &s) != nil {
		return "", wrong(v, "found %s as %s, expected a string", shown(v), what)
	}
	return s, nil
}

// numberOf returns a finite number.
func numberOf(v strictjson.Value, what string) (float64, error) {
	if v.Text != nil {
		if x, err := strconv.ParseFloat(string(v.Text), 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
			return x, nil
		}
	}
	return 0, wrong(v, "found %s as %s, expected a finite number", shown(v), what)
}

// javaNumberOf returns a finite number as a float32, rounded as Solr's Java code does. It reads a
// JSON number as a float64 and converts it. It reads a string as Float.parseFloat does.
func javaNumberOf(v strictjson.Value, what string) (_ float32, err error) {
	defer catch(&err)
	if v.Text != nil && v.Text[0] == '"' {
		text := must(textOf(v, what))
		x, err := javaFloat(text, 32)
		if err != nil {
			return 0, wrong(v, "found %q as %s, expected a finite number", text, what)
		}
		return float32(x), nil
	}
	x := must(numberOf(v, what))
	f := float32(x)
	if math.IsInf(float64(f), 0) {
		return 0, wrong(v, "found %s as %s, expected a number within the range of float32", shown(v), what)
	}
	return f, nil
}

// numbersOf returns a list of finite numbers.
func numbersOf(v strictjson.Value, what string) (_ []float64, err error) {
	defer catch(&err)
	list := must(elementsOf(v, what))
	numbers := make([]float64, len(list))
	for i, e := range list {
		numbers[i] = must(numberOf(e, fmt.Sprintf("element %d of %s", i+1, what)))
	}
	return numbers, nil
}

// namesOf returns a list of strings, which must be different.
func namesOf(v strictjson.Value, what string) (_ []string, err error) {
	defer catch(&err)
	list := must(elementsOf(v, what))
	names, seen := make([]string, len(list)), make(map[string]bool, len(list))
	for i, e := range list {
		names[i] = must(textOf(e, fmt.Sprintf("element %d of %s", i+1, what)))
		if seen[names[i]] {
			return nil, wrong(e, "found %q a second time in %s", names[i], what)
		}
		seen[names[i]] = true
	}
	return names, nil
}

// quoted returns text as a JSON string.
func quoted(text string) []byte {
	q, err := strictjson.Marshal(text)
	if err != nil {
		panic(err) // strings are JSON
	}
	return q
}

// separate appends a comma, or another separator, before element i of a list unless it is the first.
func separate(text []byte, i int, by ...string) []byte {
	switch {
	case i == 0:
		return text
	case by != nil:
		return append(text, by[0]...)
	}
	return append(text, ',')
}
