package train

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// identity names all that training depends on, as words NAME=VALUE.
func (p *Problem) identity() string {
	words := p.Identity
	if words == "" {
		parts := []string{"method=" + p.Method}
		parts = described(parts, "loss", reflect.ValueOf(p.Loss))
		parts = described(parts, "learner", reflect.ValueOf(p.Learner))
		for _, name := range slices.Sorted(maps.Keys(p.Settings)) {
			parts = append(parts, fmt.Sprintf("%s=%v", name, p.Settings[name]))
		}
		words = strings.Join(parts, " ")
	}
	return fmt.Sprintf("%s seed=%d relevant=%g normalization=%s data=%s", words, p.Seed, p.relevant.Threshold(), p.Normalization, p.Data.Fingerprint())
}

// described adds words for the types in v and for the numbers, strings and truth values in
// its fields. Of functions, lists and what is behind pointers the type alone is told.
func described(words []string, name string, v reflect.Value) []string {
	switch {
	case !v.IsValid():
		return append(words, name+"=nil")
	case v.Kind() == reflect.Interface:
		return described(words, name, v.Elem())
	case v.CanInt(), v.CanUint(), v.CanFloat(), v.Kind() == reflect.Bool, v.Kind() == reflect.String:
		return append(words, fmt.Sprintf("%s=%v", name, v))
	}
	words = append(words, fmt.Sprintf("%s=%v", name, v.Type()))
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			words = described(words, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
	return words
}
