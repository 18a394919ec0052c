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

// Architecture decodes a scorer of a registered kind from the JSON text that encoding/json wrote for
// it. The text is from a model file, so it may be any JSON value. Architecture returns an error if it
// does not describe a scorer.
type Architecture func(text json.RawMessage) (Scorer, error)

// kinds contains the architectures that other packages registered.
var kinds = struct {
	sync.RWMutex
	architectures map[string]Architecture
}{architectures: map[string]Architecture{}}

// fusionKind is the kind of package model's fusions, which other packages cannot register.
const fusionKind = "fusion"

// Register adds a kind of scorer that other packages implement. kind is the name that the scorer's Kind
// method returns. A model file contains the kind, the JSON text of the scorer from encoding/json, and
// the exact parameters:
//
//	{"type": KIND, "architecture": …, "weights": […]}
//
// A scorer may also state its cost ([Coster]) and how to average several parameter vectors
// ([Averager]).
//
// Call Register from an init function of the scorer's package. Every program that imports the package
// can then read its models. Register may also be called later, by any goroutine. It panics if the name
// is empty or already registered, or if architecture is nil.
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

// registered returns the architecture that was registered for a kind, or nil.
func registered(kind string) Architecture {
	kinds.RLock()
	defer kinds.RUnlock()
	return kinds.architectures[kind]
}

// unknownKind returns the error for an unknown kind in a model file.
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

// encodeRegistered encodes a scorer of another package and its parameters. It returns an error if
// decoding the text does not give an equal scorer, for example because the type has no exported fields.
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

// remake decodes a scorer from text. Errors of encoding/json contain positions in this text, not in the
// file, so remake keeps only their messages.
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
