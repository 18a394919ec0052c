// Package model holds trained ranking functions and the one self-describing
// JSON file that stores them.
//
// Start reading at [Model]; [Load] and [Model.Save] are its file. The package
// must not know how models are trained.
package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/scorer"
)

// FormatName and FormatVersion head every model file. Files of a higher version
// are refused.
const (
	FormatName    = "listwise-model"
	FormatVersion = 1
)

// Model is a trained ranking function with all that is needed to apply it and to
// tell where it came from. It is safe for concurrent use once made.
type Model struct {
	Method          string         // as "listwise methods" names it
	Measure         string         // the training measure, "" if the method has none
	Hyperparameters map[string]any // numbers, strings and booleans
	Seed            uint64
	FeatureNames    []string              // one a feature, or nil
	Normalization   dataset.Normalization // applied per query before scoring
	Training        Training
	Scorer          scorer.Scorer
	Params          []float64 // the scorer's
}

// Training tells on what and how well a model was trained.
type Training struct {
	Fingerprint string  `json:"fingerprint"` // of the training data before normalization
	Queries     int     `json:"queries"`
	Documents   int     `json:"documents"`
	Used        int     `json:"queries_used"`  // queries the loss could learn from
	Objective   float64 `json:"objective"`     // final value, regularisation included
	GradNorm    float64 `json:"gradient_norm"` // at the final parameters
	// Gap is a certified bound on how far Objective is above the minimum; nil
	// when the objective is not strongly convex.
	Gap         *float64 `json:"gap,omitempty"`
	Iterations  int      `json:"iterations"`
	Evaluations int      `json:"evaluations"`
	Status      string   `json:"status"` // why the optimiser stopped
}

// modelFile is the layout of a model file.
type modelFile struct {
	Format          string          `json:"format"`
	Version         int             `json:"version"`
	Method          string          `json:"method"`
	Measure         string          `json:"measure,omitempty"`
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
// so that path holds either what it held before or the whole model.
func (m *Model) Save(path string) error {
	text, err := m.encode()
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

func (m *Model) encode() ([]byte, error) {
	raw, err := scorer.Encode(m.Scorer, m.Params)
	if err != nil {
		return nil, err
	}
	f := modelFile{
		Format:          FormatName,
		Version:         FormatVersion,
		Method:          m.Method,
		Measure:         m.Measure,
		Hyperparameters: m.Hyperparameters,
		Seed:            m.Seed,
		Features:        featuresFile{Count: m.Scorer.NumFeatures(), Names: m.FeatureNames},
		Normalization:   m.Normalization.String(),
		Training:        m.Training,
		Scorer:          raw,
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// FileError tells that a file is not a model this version can read.
type FileError struct {
	File string
	Err  error
}

func (e *FileError) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// Load reads a model file. An error about its content is a *FileError that says
// what was found and what was expected.
func Load(path string) (*Model, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := decode(text)
	if err != nil {
		return nil, &FileError{path, err}
	}
	return m, nil
}

func decode(text []byte) (*Model, error) {
	var f modelFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not a model file: %w", locate(text, err))
	}
	if f.Format != FormatName {
		return nil, fmt.Errorf("found \"format\": %q, expected %q", f.Format, FormatName)
	}
	if f.Version < 1 || f.Version > FormatVersion {
		return nil, fmt.Errorf("found model file version %d, expected %d or lower", f.Version, FormatVersion)
	}
	if len(f.Scorer) == 0 {
		return nil, errors.New(`found no "scorer", expected an object with a "type"`)
	}
	s, params, err := scorer.Decode(f.Scorer)
	if err != nil {
		return nil, fmt.Errorf("scorer: %w", err)
	}
	if s.NumFeatures() != f.Features.Count {
		return nil, fmt.Errorf("found \"features\": {\"count\": %d}, expected the scorer's %d", f.Features.Count, s.NumFeatures())
	}
	if n := len(f.Features.Names); n != 0 && n != f.Features.Count {
		return nil, fmt.Errorf("found %d feature names, expected %d", n, f.Features.Count)
	}
	norm, err := dataset.ParseNormalization(f.Normalization)
	if err != nil {
		return nil, err
	}
	return &Model{
		Method:          f.Method,
		Measure:         f.Measure,
		Hyperparameters: f.Hyperparameters,
		Seed:            f.Seed,
		FeatureNames:    f.Features.Names,
		Normalization:   norm,
		Training:        f.Training,
		Scorer:          s,
		Params:          params,
	}, nil
}

// locate adds the line to a JSON error that knows its offset.
func locate(text []byte, err error) error {
	var offset int64
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &wrongType):
		offset = wrongType.Offset
	default:
		return err
	}
	offset = min(offset, int64(len(text)))
	return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:offset], []byte("\n")), err)
}

// Score returns one score for each document of d, in the order of its rows,
// after the model's normalization. Documents may lack trailing features (they
// count as 0), but not have more than the model knows.
func (m *Model) Score(d *dataset.Dataset) ([]float64, error) {
	width := m.Scorer.NumFeatures()
	if d.Features > width {
		return nil, fmt.Errorf("the data have %d features, expected the model's %d", d.Features, width)
	}
	scores := make([]float64, d.Docs())
	workers := parallel.Workers(0, len(d.Queries))
	buffers := make([][]float32, workers)
	parallel.For(len(d.Queries), workers, func(worker, i int) {
		q := &d.Queries[i]
		x := q.X
		if d.Features != width || m.Normalization != dataset.NoNormalization {
			buffers[worker] = widen(buffers[worker][:0], q, width)
			x = buffers[worker]
			m.Normalization.Apply(x, width)
		}
		m.Scorer.Score(scores[q.Start:q.Start+q.Len()], m.Params, x)
	})
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("document %d scores %v: the model's parameters are too large for these features", i+1, s)
		}
	}
	return scores, nil
}

// widen appends the query's feature vectors to dst, with zeros up to width.
func widen(dst []float32, q *dataset.Query, width int) []float32 {
	dst = slices.Grow(dst, q.Len()*width)
	for i := range q.Len() {
		row := q.Row(i)
		dst = append(dst, row...)
		dst = append(dst, make([]float32, width-len(row))...)
	}
	return dst
}
