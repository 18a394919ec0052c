package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/atomicfile"
)

// FormatName and FormatVersion head every model file. Files of a higher version
// are refused; keys that this version does not know are ignored.
const (
	FormatName    = "listwise-model"
	FormatVersion = 1
)

// modelFile is the layout of a model file.
type modelFile struct {
	Format          string          `json:"format"`
	Version         int             `json:"version"`
	Method          string          `json:"method"`
	Measure         string          `json:"measure,omitempty"`
	Convention      string          `json:"convention,omitempty"`
	Hyperparameters map[string]any  `json:"hyperparameters"`
	Seed            uint64          `json:"seed"`
	Features        featuresFile    `json:"features"`
	Normalization   string          `json:"normalization"`
	Training        Training        `json:"training"`
	Scorer          json.RawMessage `json:"scorer"`
}

type featuresFile struct {
	Count int      `json:"count"`
	Names []string `json:"names,omitempty"`
}

// Save writes the model to a file: to a temporary name first, synced and renamed,
// so that path holds either what it held before or the whole model. A model that
// is not finite is an error.
func (m *Model) Save(path string) error {
	f, err := m.file()
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return atomicfile.Write(path, atomicfile.JSON(f))
}

func (m *Model) file() (*modelFile, error) {
	raw, err := encodeScorer(m.Scorer, m.Params)
	if err != nil {
		return nil, err
	}
	return &modelFile{
		Format:          FormatName,
		Version:         FormatVersion,
		Method:          m.Method,
		Measure:         m.Measure,
		Convention:      m.Convention,
		Hyperparameters: m.Hyperparameters,
		Seed:            m.Seed,
		Features:        featuresFile{Count: m.Scorer.NumFeatures(), Names: m.FeatureNames},
		Normalization:   m.Normalization.String(),
		Training:        m.Training,
		Scorer:          raw,
	}, nil
}

// FileError tells what is wrong in a model file: what was found, what was
// expected, and on which line where that is known.
type FileError struct {
	File string
	Line int // counted from 1; 0 if the error is not of one line
	Err  error
}

// Error returns "FILE:LINE: …".
func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Err.Error()
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// Load reads a model file. An error about its content is a *FileError.
func Load(path string) (*Model, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := decode(text)
	if err != nil {
		return nil, locate(path, text, err)
	}
	return m, nil
}

// partError is an error in the part of the text that begins at an offset.
type partError struct {
	at  int
	err error
}

func (e *partError) Error() string { return e.err.Error() }
func (e *partError) Unwrap() error { return e.err }

func decode(text []byte) (*Model, error) {
	var head struct {
		Format  *string `json:"format"`
		Version int     `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	switch {
	case head.Format == nil:
		return nil, fmt.Errorf(`found no "format", expected %q`, FormatName)
	case *head.Format != FormatName:
		return nil, fmt.Errorf(`found "format": %q, expected %q`, *head.Format, FormatName)
	case head.Version > FormatVersion:
		return nil, fmt.Errorf("found format version %d, expected %d or lower: the model was written by a newer version of listwise", head.Version, FormatVersion)
	case head.Version < 1:
		return nil, fmt.Errorf("found format version %d, expected %d", head.Version, FormatVersion)
	}
	var f modelFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	return f.model(text)
}

// model checks the content of the file that text holds.
func (f *modelFile) model(text []byte) (*Model, error) {
	if len(f.Scorer) == 0 {
		return nil, errors.New(`found no "scorer", expected an object with a "type"`)
	}
	s, params, err := decodeScorer(f.Scorer)
	if err != nil {
		return nil, &partError{at: max(0, bytes.LastIndex(text, f.Scorer)), err: err}
	}
	if s.NumFeatures() != f.Features.Count {
		return nil, fmt.Errorf(`found "features": {"count": %d}, expected the scorer's %d`, f.Features.Count, s.NumFeatures())
	}
	names := f.Features.Names
	switch len(names) {
	case 0:
		names = nil
	case f.Features.Count:
	default:
		return nil, fmt.Errorf("found %d feature names, expected %d", len(names), f.Features.Count)
	}
	norm, err := dataset.ParseNormalization(f.Normalization)
	if err != nil {
		return nil, fmt.Errorf("normalization: %w", err)
	}
	return &Model{
		Method:          f.Method,
		Measure:         f.Measure,
		Convention:      f.Convention,
		Hyperparameters: f.Hyperparameters,
		Seed:            f.Seed,
		FeatureNames:    names,
		Normalization:   norm,
		Training:        f.Training,
		Scorer:          s,
		Params:          params,
	}, nil
}

// locate tells an error of decode where it happened, and those of encoding/json
// in words that do not ask for a knowledge of Go.
func locate(path string, text []byte, err error) *FileError {
	from := 0
	var part *partError
	if errors.As(err, &part) {
		from = part.at
	}
	offset := -1
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = int(syntax.Offset)
		err = fmt.Errorf("found what is not JSON (%w), expected a model file", err)
	case errors.As(err, &kind):
		offset = int(kind.Offset)
		where := ""
		if kind.Field != "" {
			where = fmt.Sprintf(" as %q", kind.Field)
		}
		err = fmt.Errorf("found %s%s, expected %s", kind.Value, where, kindName(kind))
	case part == nil:
		return &FileError{File: path, Err: err}
	}
	end := min(from+max(0, offset), len(text))
	return &FileError{File: path, Line: 1 + bytes.Count(text[:end], []byte("\n")), Err: err}
}

// kindName describes the values that a field takes.
func kindName(e *json.UnmarshalTypeError) string {
	switch e.Type.String() {
	case "string":
		return "text in quotes"
	case "int", "uint64":
		return "a whole number within range"
	case "float64":
		return "a number within the range of float64"
	case "[]string", "[]*float64":
		return "a list"
	}
	return "an object"
}
