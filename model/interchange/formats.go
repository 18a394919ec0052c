// Package interchange reads models of other systems and writes models for them.
//
// Start reading at [Read], [Write] and the variable formats in formats.go, which is the registry.
// Each format has its own file and a line in the registry. Formats for trees share ensemble.go, and
// formats for weighted sums of features share linear.go. Both convert to and from models of this
// module. The package must not depend on how models are trained.
//
// An imported model ranks documents as the program that wrote the file does. If a format cannot
// express a property of a model, Write returns an error. It does not silently omit the property.
//
// Files are untrusted input. The package limits their size, and so the memory that they need.
package interchange

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
)

// format is an entry of the registry.
type format struct {
	name, title string

	is    func(head []byte) bool                                                        // recognises a file by its beginning; nil if a file cannot be recognised
	read  func(data []byte, o ReadOptions) (*model.Model, []string, error)              // nil if the format is only written
	write func(w io.Writer, m *model.Model, o WriteOptions) (notes []string, err error) // nil if the format is only read
}

// formats is the registry, in the order of help texts. Recognise tries the formats in this order. A new
// format needs its own file and a line here.
var formats = []format{
	lightgbm,
	xgboost,
	xgboostDump,
	catboost,
	ranklib,
	elasticsearch,
	opensearch,
	elasticRankLib,
	elasticRaw,
	elasticNative,
	solr,
	svmlight,
	liblinear,
	sklearn,
	onnx,
	vespa,
	plainJSON,
	sqlSelect,
	goSource,
}

// ReadOptions control how a file is read.
type ReadOptions struct {
	// Format is the name of the format. If it is empty, Read recognises the format by the content.
	Format string
	// File is the name of the file in errors. Empty means "model".
	File string
	// Name selects a model if a file contains several, such as an answer of Solr's model store.
	Name string
	// FirstFeature selects the column that is feature 1, in a format that counts columns from 0.
	FirstFeature Numbering
	// Names are the feature names of the data that the model will score. There may be more names than
	// the model has features. nil keeps the names in the file.
	Names []string
	// Features is the number of features if Names is nil. 0 keeps the number in the file.
	Features int
}

// WriteOptions control how a file is written.
type WriteOptions struct {
	// Name is the name of the model, in formats that have one. Empty means "listwise".
	Name string
	// Names are the feature names in the engine. nil means the model's names, or feature_1, feature_2
	// and so on for a model without names.
	Names []string
	// FeatureSet is the name of the feature set, feature store or table, in formats that have one.
	FeatureSet string
	// AllFeatures also lists features without influence, in formats that list features by name.
	AllFeatures bool
	// FirstFeature selects the column that is feature 1, in a format that counts columns from 0.
	FirstFeature Numbering
	// Extractors compute the features, in a format for which NeedsExtractors is true.
	Extractors []Extractor
	// Scores selects a transform of the scores, for engines that do not accept all scores.
	Scores Scores
}

// Numbering selects the column that is feature 1, in a file that counts columns from 0.
type Numbering int

const (
	// AutoNumbering decides by the content of a file that is read. Files are written as with
	// ColumnsFromZero.
	AutoNumbering Numbering = iota
	// ColumnsFromZero means that column 0 is feature 1, as in an array.
	ColumnsFromZero
	// ColumnsFromOne means that column 1 is feature 1. Column 0 is not used, as if the training data
	// were svmlight text with features from 1.
	ColumnsFromOne
)

// Scores is a transform of exported scores that preserves the order of documents.
type Scores int

const (
	// RawScores are the model's scores.
	RawScores Scores = iota
	// ShiftedScores are the scores plus a constant, so that no score is negative.
	ShiftedScores
	// LogisticScores are 1/(1+exp(−s)), between 0 and 1.
	LogisticScores
)

var scoresNames = []string{"raw", "shift", "logistic"}

// ParseScores returns the transform with the name raw, shift or logistic.
func ParseScores(name string) (Scores, error) {
	if i := slices.Index(scoresNames, name); i >= 0 {
		return Scores(i), nil
	}
	return 0, fmt.Errorf("found %q%s", name, suggest.Or(name, scoresNames, ", expected "+strings.Join(scoresNames, ", ")))
}

// String returns the name that ParseScores accepts.
func (s Scores) String() string { return scoresNames[s] }

// Format describes a format.
type Format struct {
	Name, Title   string
	Reads, Writes bool
}

// Formats returns all formats in the order of help texts.
func Formats() []Format {
	list := make([]Format, len(formats))
	for i, f := range formats {
		list[i] = Format{f.name, f.title, f.read != nil, f.write != nil}
	}
	return list
}

// headBytes is the number of bytes at the beginning of a file from which its format is recognized.
const headBytes = 1 << 16

// Recognise returns the name of the format of a file, given the beginning of the file. It returns "" if
// no format that can be read matches, and for this module's own model files.
func Recognise(head []byte) string {
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"`+model.FormatName+`"`)) {
		return ""
	}
	for _, f := range formats {
		if f.read != nil && f.is != nil && f.is(head) {
			return f.name
		}
	}
	return ""
}

// Load reads a model file of this module or of another system. It recognizes the format by the content
// unless o.Format is set. The notes state assumptions about a file of another system. If the content is
// invalid, the error is a *model.FileError.
func Load(path string, o ReadOptions) (*model.Model, []string, error) {
	data, err := model.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	o.File = path
	return Decode(data, o)
}

// Decode reads a model from the content of a file, as Load does. o.File is the name of the file in
// errors.
func Decode(data []byte, o ReadOptions) (*model.Model, []string, error) {
	if o.Format == "" {
		head := data[:min(len(data), headBytes)]
		if o.Format = Recognise(head); o.Format == "" {
			if err := CheckForeign(head); err != nil {
				return nil, nil, &model.FileError{File: cmp.Or(o.File, "model"), Err: err}
			}
			m, err := model.Decode(o.File, data)
			return m, nil, err
		}
	}
	return Read(data, o)
}

// Read reads a model of another system. The notes state assumptions and omissions. If the content is
// invalid, the error is a *model.FileError.
func Read(data []byte, o ReadOptions) (*model.Model, []string, error) {
	if o.File == "" {
		o.File = "model"
	}
	head := data[:min(len(data), headBytes)]
	known := Recognise(head)
	if known == "" {
		if err := CheckForeign(head); err != nil {
			return nil, nil, &model.FileError{File: o.File, Err: err}
		}
	}
	if o.Format == "" {
		if o.Format = known; known == "" {
			return nil, nil, &model.FileError{File: o.File, Err: fmt.Errorf("found none of the formats that are read: %s", strings.Join(names(readable), ", "))}
		}
	}
	f, err := lookup(o.Format, readable)
	if err != nil {
		return nil, nil, err
	}
	if len(data) > model.MaxFileBytes {
		return nil, nil, &model.FileError{File: o.File, Err: fmt.Errorf("found more than %d bytes, expected a model file of that size at most", model.MaxFileBytes)}
	}
	m, notes, err := f.read(data, o)
	if err == nil {
		m, err = named(m, o)
	}
	if err != nil {
		return nil, nil, located(o.File, data, err)
	}
	return m, notes, nil
}

// RefusalError is the error for an unknown format and for a model that the format cannot express.
type RefusalError struct{ Err error }

func (e *RefusalError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RefusalError) Unwrap() error { return e.Err }

// watched is a writer that stores its error, so that Write can tell it from a RefusalError.
type watched struct {
	io.Writer
	err error
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

// Write writes a model in the named format. The notes state what a user of the file must know. If the
// format cannot express the model, the error is a *RefusalError.
func Write(w io.Writer, m *model.Model, format string, o WriteOptions) ([]string, error) {
	f, err := lookup(format, writable)
	if err != nil {
		return nil, err
	}
	if m.Scorer == nil {
		return nil, &RefusalError{errors.New("found a model without a scorer, expected one that was trained or loaded")}
	}
	if o.Name == "" {
		o.Name = "listwise"
	}
	for _, name := range slices.Concat(m.FeatureNames, o.Names) {
		if !utf8.ValidString(name) {
			return nil, &RefusalError{fmt.Errorf("found the feature name %q, which is not UTF-8, expected text in UTF-8", name)}
		}
	}
	out := &watched{Writer: w}
	categories := m.InputCategories()
	m, ofMembers, err := unfused(m)
	if err != nil {
		return nil, &RefusalError{err}
	}
	if err := checkOneDocument(m); err != nil {
		return nil, &RefusalError{fmt.Errorf("%s: %w", f.title, err)}
	}
	notes, err := f.write(out, m, o)
	switch {
	case out.err != nil:
		return nil, out.err
	case err != nil:
		return nil, &RefusalError{fmt.Errorf("%s: %w", f.title, err)}
	}
	if format != lightgbm.name {
		notes = append(notes, listCodes(categories, m.FeatureNames)...)
	}
	return append(ofMembers, notes...), nil
}

// CheckWritable returns a *RefusalError unless a format with this name can be written.
func CheckWritable(name string) error {
	_, err := lookup(name, writable)
	return err
}

func readable(f format) bool { return f.read != nil }
func writable(f format) bool { return f.write != nil }

// names returns the names of the formats for which can returns true.
func names(can func(format) bool) []string {
	var list []string
	for _, f := range formats {
		if can(f) {
			list = append(list, f.name)
		}
	}
	return list
}

func lookup(name string, can func(format) bool) (format, error) {
	for _, f := range formats {
		if f.name == name && can(f) {
			return f, nil
		}
	}
	list := names(can)
	return format{}, &RefusalError{fmt.Errorf("found the format %q%s", name, suggest.Or(name, list, ", expected "+strings.Join(list, ", ")))}
}

// lineError is an error in a line of a text. Lines are counted from 1.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }

// errorAt returns an error in a line.
func errorAt(line int, text string, args ...any) error {
	return &lineError{line, fmt.Errorf(text, args...)}
}

// located adds the file's name and, if known, the line to an error of a reader.
func located(file string, data []byte, err error) error {
	if e, ok := errors.AsType[*model.FileError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*lineError](err); ok {
		return &model.FileError{File: file, Line: e.line, Err: err}
	}
	return model.Locate(file, data, err)
}
