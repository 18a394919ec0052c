package scorer

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/listwise/listwise/internal/strictjson"
)

// ownKinds are the architectures of this package. A new architecture needs its own file and a line
// here. Other packages call [Register].
var ownKinds = map[string]struct {
	zero   fileForm // its type identifies the architecture, so types that embed it are not accepted
	decode func(strictjson.Object) (Scorer, []float64, error)
}{
	"classes": {Classes{}, decodeClasses},
	"fm":      {FM{}, decodeFM},
	"layers":  {(*Layers)(nil), decodeLayers},
	"linear":  {Linear{}, decodeLinear},
	"net":     {Network{}, decodeNetwork},
	"pairnet": {PairNetwork{}, decodePairNetwork},
	"random":  {Random{}, decodeRandom},
	"stumps":  {(*Stumps)(nil), decodeStumps},
	"trees":   {(*Trees)(nil), decodeTrees},

	"treeclasses": {(*TreeClasses)(nil), decodeTreeClasses},
}

// fileForm is implemented by all scorers of this package.
type fileForm interface {
	// encode returns a JSON object with the key "type", the architecture and the parameters.
	encode(params []float64) ([]byte, error)
}

// Encode returns the JSON object of a scorer and its parameters in a model file. The key "type"
// contains the kind. Encode returns an error for a scorer whose kind is neither from this package nor
// registered; see [Register].
func Encode(s Scorer, params []float64) (json.RawMessage, error) {
	if len(params) != s.NumParams() {
		return nil, fmt.Errorf("%s scorer: %d parameters, expected %d", s.Kind(), len(params), s.NumParams())
	}
	for i, p := range params {
		if math.IsNaN(p) || math.IsInf(p, 0) {
			return nil, fmt.Errorf("%s scorer: parameter %d is %v, expected a finite number", s.Kind(), i+1, p)
		}
	}
	if v, ok := s.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return nil, fmt.Errorf("%s scorer: %w", s.Kind(), err)
		}
	}
	if own, ok := ownKinds[s.Kind()]; ok && reflect.TypeOf(s) == reflect.TypeOf(own.zero) {
		return s.(fileForm).encode(params)
	}
	text, err := encodeRegistered(s, params)
	if err != nil {
		return nil, fmt.Errorf("%s scorer: %w", s.Kind(), err)
	}
	return text, nil
}

// Decode reads a scorer and its parameters from the JSON object that Encode returned. The parameters
// have the same bits. For other JSON, the error says what was found and what was expected.
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

// DecodeObject reads a scorer and its parameters from an object in a text that strictjson.Check has
// accepted.
func DecodeObject(o strictjson.Object) (Scorer, []float64, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := o.Decode(&head); err != nil {
		return nil, nil, err
	}
	decode := ownKinds[head.Type].decode
	if decode == nil {
		architecture := registered(head.Type)
		if architecture == nil {
			return nil, nil, unknownKind(head.Type)
		}
		decode = func(o strictjson.Object) (Scorer, []float64, error) {
			return decodeRegistered(head.Type, architecture, o)
		}
	}
	s, params, err := decode(o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s scorer: %w", head.Type, err)
	}
	return s, params, nil
}

// withWeights returns the JSON object of an architecture with an additional last key "weights".
func withWeights(architecture any, params []float64) ([]byte, error) {
	text, err := strictjson.Marshal(architecture)
	if err != nil {
		return nil, err
	}
	return strictjson.AppendNumbers(text, "weights", params), nil
}

// atLeastOne returns an error if n is less than 1. name is the key of n in model files.
func atLeastOne(name string, n int) error {
	if n < 1 {
		return fmt.Errorf("found %q = %d, expected at least 1", name, n)
	}
	return nil
}
