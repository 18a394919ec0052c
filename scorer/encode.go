package scorer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/strictjson"
)

// decoders reads each architecture from a model file: a new one is a file and a
// line here.
var decoders = map[string]func(strictjson.Object) (Scorer, []float64, error){
	"classes": decodeClasses,
	"linear":  decodeLinear,
	"net":     decodeNetwork,
	"pairnet": decodePairNetwork,
	"random":  decodeRandom,
	"stumps":  decodeStumps,
}

// fileForm is implemented by every scorer that a model file can hold.
type fileForm interface {
	// encode returns a JSON object that holds the architecture, its parameters
	// and "type".
	encode(params []float64) ([]byte, error)
}

// Encode returns the JSON object that describes a scorer and its parameters in
// a model file, its architecture under "type".
func Encode(s Scorer, params []float64) (json.RawMessage, error) {
	if len(params) != s.NumParams() {
		return nil, fmt.Errorf("%s scorer: %d parameters, expected %d", s.Kind(), len(params), s.NumParams())
	}
	for i, p := range params {
		if math.IsNaN(p) || math.IsInf(p, 0) {
			return nil, fmt.Errorf("%s scorer: parameter %d is %v, expected a finite number", s.Kind(), i+1, p)
		}
	}
	f, ok := s.(fileForm)
	if !ok {
		return nil, fmt.Errorf("%s scorer: it has no form in a model file", s.Kind())
	}
	return f.encode(params)
}

// Decode is the inverse of Encode: the parameters have the same bits. What is not
// such an object is an error that says what was found and what was expected.
func Decode(raw json.RawMessage) (Scorer, []float64, error) {
	if err := strictjson.Check(raw); err != nil {
		return nil, nil, err
	}
	o, err := strictjson.Members(strictjson.Whole(raw))
	if err != nil {
		return nil, nil, err
	}
	return DecodeObject(o)
}

// DecodeObject is Decode of an object within a text that strictjson.Check has
// accepted.
func DecodeObject(o strictjson.Object) (Scorer, []float64, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := o.Decode(&head); err != nil {
		return nil, nil, err
	}
	decode, ok := decoders[head.Type]
	if !ok {
		return nil, nil, fmt.Errorf("found the type %q, expected %s", head.Type, strings.Join(slices.Sorted(maps.Keys(decoders)), ", "))
	}
	s, params, err := decode(o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s scorer: %w", head.Type, err)
	}
	return s, params, nil
}

// withWeights returns the JSON form of a scorer's architecture with its parameters
// as "weights" at the end.
func withWeights(architecture any, params []float64) ([]byte, error) {
	text, err := strictjson.Marshal(architecture)
	if err != nil {
		return nil, err
	}
	return strictjson.AppendNumbers(text, "weights", params), nil
}

// atLeastOne checks a number in a model file that counts something.
func atLeastOne(name string, n int) error {
	if n < 1 {
		return fmt.Errorf("found %q = %d, expected at least 1", name, n)
	}
	return nil
}
