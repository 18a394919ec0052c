package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Plain rephrases an error of encoding/json for readers who do not know Go. It returns other errors
// unchanged. offset is the offset in the text, or −1 if unknown.
func Plain(err error) (offset int, plain error) {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return int(syntax.Offset), fmt.Errorf("found what is not JSON (%w)", syntax)
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where := ""
		if kind.Field != "" {
			where = fmt.Sprintf(" as %q", kind.Field)
		}
		return int(kind.Offset), fmt.Errorf("found %s%s, expected %s", kind.Value, where, kindName(kind.Type))
	}
	if when, ok := errors.AsType[*time.ParseError](err); ok {
		return -1, fmt.Errorf("found the time %q, expected one such as 2006-01-02T15:04:05Z", when.Value)
	}
	if err != nil && strings.HasPrefix(err.Error(), "Time.UnmarshalJSON: ") {
		return -1, errors.New("found a time that is not text, expected one such as \"2006-01-02T15:04:05Z\"")
	}
	return -1, err
}

// kindName describes the values that a field of type t accepts.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindName(t.Elem())
	case reflect.String:
		return "text in quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return "a whole number within range"
	case reflect.Float32, reflect.Float64:
		return "a number within the range of " + t.Kind().String()
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}
