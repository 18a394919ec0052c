package scorer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/listwise/listwise/internal/strictjson"
)

// Architecture makes a scorer of a registered kind from the JSON text that encoding/json made
// of one. The text comes from a model file and may be anything that is JSON; what is no
// architecture is an error.
type Architecture func(text json.RawMessage) (Scorer, error)

// kinds are the registered ones.
var kinds = struct {
	sync.RWMutex
	architectures map[string]Architecture
}{architectures: map[string]Architecture{}}

// fusionKind is the kind of package model's fusions, which are no scorers of one's own.
const fusionKind = "fusion"

// Register makes the scorers of another package a kind of model files, by the name that
// their Kind returns. A model file then holds the kind, what encoding/json makes of the
// scorer, and the parameters, every bit of them:
//
//	{"type": KIND, "architecture": …, "weights": […]}
//
// A scorer may also say what it costs ([Coster]) and how several of it are averaged
// ([Averager]).
//
// Call it from an init function of the scorer's package, so that every program that imports the
// package can read its models. It may also be called later, by any goroutine. It panics if the name
// is empty or already registered, or if the architecture is nil.
func Register(kind string, architecture Architecture) {
	kinds.Lock()
	defer kinds.Unlock()
	_, own := ownKinds[kind]
	switch {
	case kind == "" || architecture == nil:
		panic(fmt.Sprintf("scorer: Register of the kind %q needs a name and an architecture", kind))
	case own || kind == fusionKind:
		panic(fmt.Sprintf("scorer: Register of the kind %q, which is one of listwise's own", kind))
	case kinds.architectures[kind] != nil:
		panic(fmt.Sprintf("scorer: Register of the kind %q, which is registered already", kind))
	}
	kinds.architectures[kind] = architecture
}

// registered returns the architecture of a kind, nil if there is none.
func registered(kind string) Architecture {
	kinds.RLock()
	defer kinds.RUnlock()
	return kinds.architectures[kind]
}

// unknownKind is the error of a kind that a model file should not have.
func unknownKind(kind string) error {
	kinds.RLock()
	defer kinds.RUnlock()
	known := slices.Sorted(maps.Keys(ownKinds))
	known = append(known, slices.Sorted(maps.Keys(kinds.architectures))...)
	err := fmt.Errorf("found the type %q, expected %s", kind, strings.Join(known, ", "))
	if kind == "" {
		return err
	}
	return fmt.Errorf("%w; a program that reads scorers of another package must import that package", err)
}

// encodeRegistered is Encode of a scorer of another package. It is an error if the text
// does not make the same scorer again, as that of a type without exported fields.
func encodeRegistered(s Scorer, params []float64) ([]byte, error) {
	architecture := registered(s.Kind())
	if architecture == nil {
		return nil, errors.New("it has no form in a model file, expected a kind that is registered with scorer.Register")
	}
	text, err := strictjson.Marshal(s)
	if err != nil {
		return nil, err
	}
	again, err := remake(s.Kind(), architecture, text)
	if err != nil {
		return nil, fmt.Errorf("its form %s cannot be read back: %w", text, err)
	}
	if again.NumFeatures() != s.NumFeatures() || again.NumParams() != s.NumParams() {
		return nil, fmt.Errorf("its form %s is read back as a scorer of %d features and %d parameters, expected %d and %d",
			text, again.NumFeatures(), again.NumParams(), s.NumFeatures(), s.NumParams())
	}
	object, err := strictjson.Marshal(struct {
		Type         string          `json:"type"`
		Architecture json.RawMessage `json:"architecture"`
	}{s.Kind(), text})
	if err != nil {
		return nil, err
	}
	return strictjson.AppendNumbers(object, "weights", params), nil
}

func decodeRegistered(kind string, architecture Architecture, o strictjson.Object) (Scorer, []float64, error) {
	var f struct {
		Architecture strictjson.Value   `json:"architecture"`
		Weights      strictjson.Numbers `json:"weights"`
	}
	if err := o.Decode(&f); err != nil {
		return nil, nil, err
	}
	if f.Architecture.Text == nil {
		return nil, nil, errors.New(`found no "architecture", expected one`)
	}
	s, err := remake(kind, architecture, f.Architecture.Text)
	if err != nil {
		return nil, nil, fmt.Errorf("architecture: %w", err)
	}
	if len(f.Weights) != s.NumParams() {
		return nil, nil, fmt.Errorf("found %d weights, expected %d", len(f.Weights), s.NumParams())
	}
	return s, append([]float64{}, f.Weights...), nil
}

// remake returns the scorer of a text. Errors of encoding/json give positions in this text, not in
// the file, so only their messages are kept.
func remake(kind string, architecture Architecture, text []byte) (Scorer, error) {
	s, err := architecture(slices.Clone(text))
	switch {
	case err != nil:
		return nil, errors.New(err.Error())
	case s == nil:
		return nil, errors.New("found no scorer, expected one")
	case s.Kind() != kind:
		return nil, fmt.Errorf("found a scorer of the kind %q, expected %q", s.Kind(), kind)
	case s.NumFeatures() < 1 || s.NumParams() < 0:
		return nil, fmt.Errorf("found a scorer of %d features and %d parameters, expected at least one feature", s.NumFeatures(), s.NumParams())
	}
	return s, nil
}
