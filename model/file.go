package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/strictjson"
)

// FormatName and a version are at the head of every model file. Decode rejects versions above
// FormatVersion and ignores unknown keys. Older programs therefore ignore keys that they do not
// know. So that they cannot misread a model, Save writes the lowest version that represents it:
//
//   - 3 if features have categories;
//   - 2 if the model has transforms or views, treats absent features as missing, or is a fusion that matches
//     features by name;
//   - 1 otherwise.
const (
	FormatName    = "listwise-model" // value of the key "format"
	FormatVersion = 3                // highest version that this package reads
)

// MaxFileBytes is the largest size of a model file: 1 GiB, enough for forty million
// weights.
const MaxFileBytes = 1 << 30

// modelFile contains the first keys of a model file. The keys "scorer" and "sum" are encoded
// separately and come last.
type modelFile struct {
	Format          string         `json:"format"`
	Version         int            `json:"version"`
	Method          string         `json:"method"`
	Measure         string         `json:"measure,omitempty"`
	Convention      string         `json:"convention,omitempty"`
	Threshold       float64        `json:"threshold,omitempty"`
	Hyperparameters map[string]any `json:"hyperparameters"`
	Seed            uint64         `json:"seed"`
	Features        featuresFile   `json:"features"`
	Missing         string         `json:"missing,omitempty"` // empty: error
	Absent          string         `json:"absent,omitempty"`  // "missing", or empty for zero
	Normalization   string         `json:"normalization"`
	Training        Training       `json:"training"`
}

// absentMissing is the value of "absent" for a model whose training text omitted missing features.
const absentMissing = "missing"

type featuresFile struct {
	Count      int               `json:"count"`
	Names      []string          `json:"names,omitempty"`
	Transforms []chainFile       `json:"transforms,omitempty"`
	Views      []string          `json:"views,omitempty"` // empty: raw
	Categories []json.RawMessage `json:"categories,omitempty"`
}

// Save writes the model to the file at path. It writes to a temporary file, syncs and renames it.
// So path contains either its old content or the whole model. Save returns an error if the model
// has a number that is not finite or is too large for [Load].
func (m *Model) Save(path string) error {
	text, err := m.text()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error { return write(w, text) })
}

// Write writes the content of a model file to w, as Save does.
func (m *Model) Write(w io.Writer) error {
	text, err := m.text()
	if err != nil {
		return err
	}
	return write(w, text)
}

// text returns the content of the model file, on one line.
func (m *Model) text() ([]byte, error) {
	text, err := m.encode()
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if text, err = strictjson.AppendSum(text); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return text, nil
}

func write(w io.Writer, text []byte) error {
	if err := strictjson.Indent(&limited{w, MaxFileBytes}, text); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// limited is a writer that accepts at most left bytes.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, fmt.Errorf("found more than %d bytes to write, which is the largest size of a model file", MaxFileBytes)
	}
	return l.w.Write(p)
}

// encode returns the model as JSON without white space and without the key "sum".
func (m *Model) encode() ([]byte, error) {
	if m.Scorer == nil {
		return nil, errNoScorer
	}
	s, err := encodeScorer(m.Scorer, m.Params)
	if err != nil {
		return nil, err
	}
	if _, err := dataset.ParseMissing(m.Missing.String()); err != nil {
		return nil, fmt.Errorf("missing: %w", err)
	}
	if _, err := dataset.ParseNormalization(m.Normalization.String()); err != nil {
		return nil, fmt.Errorf("normalization: %w", err)
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	categories, err := m.encodeCategories()
	if err != nil {
		return nil, err
	}
	missing, absent := "", ""
	if m.Missing != dataset.MissingError {
		missing = m.Missing.String()
	}
	if m.AbsentMissing {
		absent = absentMissing
	}
	transforms, err := m.encodeTransforms()
	if err != nil {
		return nil, err
	}
	text, err := strictjson.Marshal(modelFile{
		Format:          FormatName,
		Version:         m.version(),
		Method:          m.Method,
		Measure:         m.Measure,
		Convention:      m.Convention,
		Threshold:       m.Threshold,
		Hyperparameters: m.Hyperparameters,
		Seed:            m.Seed,
		Features:        featuresFile{Count: m.NumFeatures(), Names: m.FeatureNames, Transforms: transforms, Views: m.viewTexts(), Categories: categories},
		Missing:         missing,
		Absent:          absent,
		Normalization:   m.Normalization.String(),
		Training:        m.Training,
	})
	if err != nil {
		return nil, err
	}
	return strictjson.AppendMember(text, "scorer", s), nil
}

// Load reads a model file, which must be a regular file of at most MaxFileBytes. If the content is
// invalid, the error is a *FileError.
func Load(path string) (*Model, error) {
	text, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Decode(path, text)
}

// Decode reads a model from the text of a model file. All its errors are *FileError and name path.
func Decode(path string, text []byte) (*Model, error) {
	m, err := decode(text)
	if err != nil {
		return nil, Locate(path, text, err)
	}
	return m, nil
}

// Read reads a model in the form that Write writes, at most MaxFileBytes. If the content is
// invalid, the error is a *FileError for the file "model".
func Read(r io.Reader) (*Model, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if len(text) > MaxFileBytes {
		return nil, &FileError{File: "model", Err: fmt.Errorf("found more than %d bytes, expected a model file of that size at most", MaxFileBytes)}
	}
	return Decode("model", text)
}

// ReadFile reads a regular file of at most MaxFileBytes. It does not open a device or a pipe,
// because reading one may block or never end.
func ReadFile(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil { // otherwise the error is that of opening the file
		if err := checkFile(path, info); err != nil {
			return nil, err
		}
	}
	return os.ReadFile(path)
}

// ReadFileFS reads a file of fsys, such as an [embed.FS], as ReadFile does. path is slash-separated,
// see [fs.ValidPath].
func ReadFileFS(fsys fs.FS, path string) ([]byte, error) {
	if info, err := fs.Stat(fsys, path); err == nil { // otherwise the error is that of opening the file
		if err := checkFile(path, info); err != nil {
			return nil, err
		}
	}
	return fs.ReadFile(fsys, path)
}

// checkFile returns an error unless info describes a regular file of at most MaxFileBytes.
func checkFile(path string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return &FileError{File: path, Err: errors.New("found a directory, expected a model file")}
	case !info.Mode().IsRegular():
		return &FileError{File: path, Err: errors.New("found a device or a pipe, expected a regular file that holds a model")}
	case info.Size() > MaxFileBytes:
		return &FileError{File: path, Err: fmt.Errorf("found a file of %d bytes, expected a model file, of at most %d", info.Size(), MaxFileBytes)}
	}
	return nil
}

// partError is an error in a part of a text. The part begins at offset at.
type partError struct {
	at  int
	err error
}

func (e *partError) Error() string { return e.err.Error() }
func (e *partError) Unwrap() error { return e.err }

// inPart adds the offset of v to an error in v, unless the error already has an offset.
func inPart(v strictjson.Value, err error) error {
	var part *partError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &part) || errors.As(err, &kind) {
		return err
	}
	return &partError{v.At, err}
}

func decode(text []byte) (*Model, error) {
	if err := strictjson.Check(text); err != nil {
		return nil, err
	}
	return decodeModel(strictjson.Whole(text))
}

// decodeModel reads a model from v, which is a model file or a member of a fusion. Both have the
// same form.
func decodeModel(v strictjson.Value) (*Model, error) {
	var head struct {
		Format  *string          `json:"format"`
		Version int              `json:"version"`
		Scorer  strictjson.Value `json:"scorer"`
		Sum     *string          `json:"sum"`
	}
	o, err := strictjson.Members(v)
	if err != nil {
		return nil, err
	}
	if err := o.Decode(&head); err != nil {
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
		return nil, fmt.Errorf("found format version %d, expected 1 to %d", head.Version, FormatVersion)
	}
	var f modelFile
	if err := o.Decode(&f); err != nil {
		return nil, err
	}
	sum := make(chan error, 1)
	go func() { sum <- strictjson.CheckSum(o, head.Sum) }() // while f.model decodes the file
	m, err := f.model(head.Scorer)
	if sumErr := <-sum; err == nil {
		err = sumErr
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// model checks the content of the file and returns the model. raw is the scorer's JSON value.
func (f *modelFile) model(raw strictjson.Value) (*Model, error) {
	if raw.Text == nil {
		return nil, errors.New(`found no "scorer", expected an object with a "type"`)
	}
	s, params, err := decodeScorer(raw)
	if err != nil {
		return nil, inPart(raw, err)
	}
	views, err := dataset.ViewsOf(f.Features.viewNames())
	if err != nil {
		return nil, fmt.Errorf("views: %w", err)
	}
	if n := s.NumFeatures(); f.Features.Count < 0 || f.Features.Count > n || n != f.Features.Count*views.Count() {
		return nil, fmt.Errorf(`found "features": {"count": %d}, expected the scorer's %d%s`, f.Features.Count, n/views.Count(), ofViews(n, views))
	}
	names := f.Features.Names
	switch len(names) {
	case 0:
		names = nil
	case f.Features.Count:
	default:
		return nil, fmt.Errorf("found %d feature names, expected %d", len(names), f.Features.Count)
	}
	transforms, err := f.Features.pipeline()
	if err != nil {
		return nil, fmt.Errorf("transforms: %w", err)
	}
	categories, err := f.Features.categories()
	if err != nil {
		return nil, fmt.Errorf("categories: %w", err)
	}
	norm, err := dataset.ParseNormalization(f.Normalization)
	if err != nil {
		return nil, fmt.Errorf("normalization: %w", err)
	}
	missing := dataset.MissingError
	if f.Missing != "" {
		if missing, err = dataset.ParseMissing(f.Missing); err != nil {
			return nil, fmt.Errorf("missing: %w", err)
		}
	}
	if f.Absent != "" && f.Absent != absentMissing {
		return nil, fmt.Errorf("found \"absent\": %q, expected %q", f.Absent, absentMissing)
	}
	if n := f.Training.Summary.NumFeatures(); n > 0 && n != f.Features.Count {
		return nil, fmt.Errorf(`found "feature_summary" of %d features, expected %d`, n, f.Features.Count)
	}
	if !(f.Threshold >= 0) {
		return nil, fmt.Errorf(`found "threshold": %v, expected a positive number`, f.Threshold)
	}
	m := &Model{
		Method:          f.Method,
		Measure:         f.Measure,
		Convention:      f.Convention,
		Threshold:       f.Threshold,
		Hyperparameters: f.Hyperparameters,
		Seed:            f.Seed,
		FeatureNames:    names,
		Missing:         missing,
		AbsentMissing:   f.Absent != "",
		Transforms:      transforms,
		Normalization:   norm,
		Views:           views,
		Categories:      categories,
		Training:        f.Training,
		Scorer:          s,
		Params:          params,
	}
	if f, ok := s.(*Fusion); ok && names == nil {
		m.FeatureNames = f.names
	}
	return m, m.check()
}

// check returns an error if fields of the model contradict each other.
func (m *Model) check() error {
	for _, check := range []func() error{m.checkParams, m.checkNames, m.checkViews, m.checkCategories, m.checkKept} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkParams returns an error unless the model has the parameters of its scorer.
func (m *Model) checkParams() error {
	if n := m.Scorer.NumParams(); len(m.Params) != n {
		return fmt.Errorf("found %d parameters, expected the %d of the %s scorer", len(m.Params), n, m.Scorer.Kind())
	}
	return nil
}
