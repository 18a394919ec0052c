package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// Value is one JSON value in a text that [Check] accepted.
type Value struct {
	Text []byte // without surrounding white space; nil if there is no value
	At   int    // offset in the text
}

// Types for fields of a struct passed to [Object.Decode]. They are read in a fraction of the time
// of ordinary slices, which encoding/json reads.
type (
	// Numbers is a list of numbers. An element null is an error, not 0.
	Numbers []float64
	// Singles is a list of numbers. An element null becomes NaN.
	Singles []float32
	// Integers is a list of whole numbers. An element null is an error, not 0.
	Integers []int
)

// Whole returns the value of a text that [Check] accepted.
func Whole(text []byte) Value {
	start := behindSpace(text, 0)
	return Value{bytes.TrimRight(text[start:], " \n\t\r"), start}
}

// Member is a member of an object.
type Member struct {
	Key   string
	Value Value
}

// Object is the list of the members of an object, in their order.
type Object []Member

// Members returns the members of an object, or none for null. Any other value is a
// *json.UnmarshalTypeError.
func Members(v Value) (Object, error) {
	var members Object
	err := v.parts('{', func(key string, part Value) { members = append(members, Member{key, part}) })
	return members, err
}

// Elements returns the elements of a list, or none for null. Any other value is a
// *json.UnmarshalTypeError.
func Elements(v Value) ([]Value, error) {
	var elements []Value
	err := v.parts('[', func(_ string, part Value) { elements = append(elements, part) })
	return elements, err
}

// parts calls fn with every member of an object (open is '{') or element of a list
// (open is '[').
func (v Value) parts(open byte, fn func(key string, part Value)) error {
	if v.isNull() {
		return nil
	}
	if v.Text[0] != open {
		kind := reflect.TypeFor[[]any]()
		if open == '{' {
			kind = reflect.TypeFor[map[string]any]()
		}
		return v.mismatch(kind)
	}
	s := Scanner{Text: v.Text}
	for at := s.Blanks(1); ; at = s.Blanks(at) {
		if v.Text[at] == ',' {
			at = s.Blanks(at + 1)
		}
		if v.Text[at] == open+2 { // the closing bracket
			return nil
		}
		key := ""
		if open == '{' {
			text, next, err := s.Key(at)
			if err != nil {
				panic(err) // the text was checked
			}
			key, at = string(text), next
		}
		start := at
		at = behind(v.Text, at)
		fn(key, Value{v.Text[start:at], v.At + start})
	}
}

// behind returns the offset after the value at at, which was checked.
func behind(text []byte, at int) int {
	switch text[at] {
	case '"':
		return behindString(text, at)
	case '{', '[':
	default:
		for at < len(text) && !endsToken[text[at]] {
			at++
		}
		return at
	}
	for depth := 0; ; at++ {
		for at < len(text) && !isShape[text[at]] {
			at++
		}
		switch text[at] {
		case '"':
			at = behindString(text, at) - 1
		case '[':
			if end := flatEnd(text, at); end > 0 {
				at = end - 1 // before the closing bracket
			}
			depth++
		case '{':
			depth++
		default:
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
}

// flatEnd returns the offset of the bracket that closes the list at at, if the list has only
// numbers and words. Otherwise it returns 0. Model files consist mostly of long lists of numbers.
func flatEnd(text []byte, at int) int {
	n := bytes.IndexByte(text[at+1:], ']')
	inner := text[at+1 : at+1+n]
	if bytes.IndexByte(inner, '"') >= 0 || bytes.IndexByte(inner, '[') >= 0 || bytes.IndexByte(inner, '{') >= 0 {
		return 0
	}
	return at + 1 + n
}

// behindString returns the offset after the string at at, which was checked.
func behindString(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// isShape marks the bytes that begin or end objects, lists and strings.
var isShape = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true}

func (v Value) isNull() bool { return string(v.Text) == "null" }

// mismatch returns the error for a value whose type is not the expected one.
func (v Value) mismatch(want reflect.Type) error {
	found := "number"
	switch v.Text[0] {
	case '{':
		found = "object"
	case '[':
		found = "array"
	case '"':
		found = "string"
	case 't', 'f':
		found = "bool"
	case 'n':
		found = "null"
	}
	return &json.UnmarshalTypeError{Value: found, Type: want, Offset: int64(v.At)}
}

// Decode sets the fields of the struct that dst points to. It uses the members whose keys exactly
// equal the names in the fields' json tags. It ignores other members and fields without a name. A
// field may be of a type that encoding/json supports, a [Value], [Numbers], [Singles], [Integers]
// or a list of structs. null leaves a field unchanged, unless the field is a Value.
//
// A value of another type or a number out of range is a *json.UnmarshalTypeError, with the path of
// the field and the offset in the checked text.
func (o Object) Decode(dst any) error { return o.decode(reflect.ValueOf(dst).Elem()) }

func decodeStruct(v Value, dst reflect.Value) error {
	members, err := Members(v)
	if err != nil {
		return err
	}
	return members.decode(dst)
}

func (o Object) decode(dst reflect.Value) error {
	for i := range dst.NumField() {
		name, _, _ := strings.Cut(dst.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" { // name would match a key "" or "-"
			continue
		}
		for _, m := range o {
			if m.Key != name {
				continue
			}
			if err := decodeField(m.Value, dst.Field(i), name); err != nil {
				return within(name, err)
			}
		}
	}
	return nil
}

// within prepends a member's name to the field path of an error.
func within(name string, err error) error {
	kind, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	if kind.Field == "" {
		kind.Field = name
	} else {
		kind.Field = name + "." + kind.Field
	}
	return err
}

func decodeField(v Value, dst reflect.Value, name string) error {
	switch p := dst.Addr().Interface().(type) {
	case *Value:
		*p = v
		return nil
	case *Numbers:
		return decodeNumbers(v, (*[]float64)(p), name, Value.double)
	case *Singles:
		return decodeNumbers(v, (*[]float32)(p), name, Value.single)
	case *Integers:
		return decodeNumbers(v, (*[]int)(p), name, Value.integer)
	}
	kind := dst.Type()
	switch {
	case v.isNull():
		return nil
	case kind.Kind() == reflect.Struct:
		return decodeStruct(v, dst)
	case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct:
		return decodeList(v, dst)
	}
	return decodeScalar(v, dst)
}

func decodeList(v Value, dst reflect.Value) error {
	elements, err := Elements(v)
	if err != nil {
		return err
	}
	list := reflect.MakeSlice(dst.Type(), len(elements), len(elements))
	for i, e := range elements {
		if err := decodeField(e, list.Index(i), ""); err != nil {
			return err
		}
	}
	dst.Set(list)
	return nil
}

func isNumber(text []byte) bool { return text[0] == '-' || isDigit(text[0]) }

// decodeScalar sets a field by encoding/json. An error about a number gets the offset of the
// number's start and not all of its digits.
func decodeScalar(v Value, dst reflect.Value) error {
	err := json.Unmarshal(v.Text, dst.Addr().Interface())
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if strings.HasPrefix(kind.Value, "number ") && isNumber(v.Text) {
			return v.outOfRange(kind.Type)
		}
		kind.Offset += int64(v.At)
	}
	return err
}

// outOfRange returns the error for a number that the type want cannot represent.
func (v Value) outOfRange(want reflect.Type) error {
	text := v.Text
	if len(text) > 40 {
		text = append(bytes.Clone(text[:40]), "…"...)
	}
	return &json.UnmarshalTypeError{Value: "number " + string(text), Type: want, Offset: int64(v.At)}
}

// decodeNumbers reads a list of numbers. name is the plural noun for the numbers in messages.
func decodeNumbers[T float64 | float32 | int](v Value, dst *[]T, name string, number func(Value) (T, error)) error {
	if v.isNull() {
		return nil
	}
	if v.Text[0] != '[' {
		return v.mismatch(reflect.TypeFor[[]T]())
	}
	numbers := make([]T, 0, 1+bytes.Count(v.Text, []byte(",")))
	for at := behindSpace(v.Text, 1); v.Text[at] != ']'; {
		end := at
		for !endsToken[v.Text[end]] {
			end++
		}
		item := Value{v.Text[at:end], v.At + at}
		x, err := number(item)
		if err != nil {
			if item = (Value{v.Text[at:behind(v.Text, at)], item.At}); item.isNull() {
				err = &Error{item.At, fmt.Errorf("found null as %s %d, expected a number", strings.TrimSuffix(name, "s"), len(numbers)+1)}
			} else if !isNumber(item.Text) {
				err = item.mismatch(reflect.TypeFor[T]())
			}
			return err
		}
		numbers = append(numbers, x)
		if at = behindSpace(v.Text, end); v.Text[at] == ',' {
			at = behindSpace(v.Text, at+1)
		}
	}
	*dst = numbers
	return nil
}

// double, single and integer parse an element of a list. decodeNumbers replaces their errors for
// values that are not numbers.
func (v Value) double() (float64, error) {
	x, err := strconv.ParseFloat(v.shared(), 64)
	return x, v.inRange(err, reflect.TypeFor[float64])
}

func (v Value) single() (float32, error) {
	if v.isNull() {
		return float32(math.NaN()), nil
	}
	x, err := strconv.ParseFloat(v.shared(), 32)
	return float32(x), v.inRange(err, reflect.TypeFor[float32])
}

func (v Value) integer() (int, error) {
	if len(v.Text) <= 4 { // most integers in trees
		if x, ok := small(v.Text); ok {
			return x, nil
		}
	}
	x, err := strconv.Atoi(v.shared())
	return x, v.inRange(err, reflect.TypeFor[int])
}

// small parses an integer of a few digits. ok is false if text has another form.
func small(text []byte) (x int, ok bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	for _, b := range digits {
		if !isDigit(b) {
			return 0, false
		}
		x = 10*x + int(b-'0')
	}
	if len(digits) < len(text) {
		x = -x
	}
	return x, len(digits) > 0
}

// shared returns the text as a string in the same memory. The string is valid as long as the text.
func (v Value) shared() string { return unsafe.String(unsafe.SliceData(v.Text), len(v.Text)) }

func (v Value) inRange(err error, kind func() reflect.Type) error {
	if err == nil {
		return nil
	}
	return v.outOfRange(kind())
}
