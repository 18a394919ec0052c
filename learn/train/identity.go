package train

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model/scorer"
)

// identity names all that training depends on, as words NAME=VALUE.
func (p *Problem) identity() string {
	words := p.Identity
	if words == "" {
		words = IdentityOf(p.Method, p.Loss, p.Learner, p.Settings)
	}
	if len(p.Transforms) > 0 {
		words += " transforms=" + strings.Join(transform.Texts(p.Transforms), ",")
	}
	if !p.Views.Raw() {
		words += " views=" + p.Views.String()
	}
	if !p.Weights.IsZero() {
		words += " weights=" + fingerprint(p.Weights.Better, p.Weights.Worse)
	}
	return fmt.Sprintf("%s seed=%d relevant=%g normalization=%s data=%s", words, p.Seed, p.relevant.Threshold(), p.Normalization, p.Data.Fingerprint())
}

// fingerprint returns a hash of lists of numbers.
func fingerprint(lists ...[]float64) string {
	h := sha256.New()
	for _, list := range lists {
		fmt.Fprintln(h, len(list))
		for _, v := range list {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// IdentityOf returns what Problem.Identity is if it is empty: the method, the settings, and
// the types and fields of the loss and the learner, as words NAME=VALUE. What these have
// behind pointers, in lists or in functions is told by its type alone.
func IdentityOf(method string, l loss.Loss, learner Learner, settings map[string]any) string {
	words := []string{"method=" + method}
	words = described(words, "loss", reflect.ValueOf(l))
	words = described(words, "learner", reflect.ValueOf(learner))
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		words = append(words, fmt.Sprintf("%s=%v", name, settings[name]))
	}
	return strings.Join(words, " ")
}

// identityWith adds the scorer, of which an Architecture, a function, tells nothing.
func (p *Problem) identityWith(s scorer.Scorer) string {
	return p.identity() + " " + strings.Join(described(nil, "scorer", reflect.ValueOf(s)), " ")
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
