// Package model holds trained ranking functions and the one self-describing
// JSON file that stores them.
//
// Start reading at [Model]; [Load] and [Model.Save] in file.go are its file. The package
// must not depend on how models are trained.
//
// A model file is untrusted input. Its size, its nesting and the memory for scoring are bounded. A
// repeated key is an error, and so is a file that is not regular. The member "sum" is a checksum of
// the rest, which reveals damage and later edits. A file without it, such as a handwritten model,
// is not checked.
package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// Model is a trained ranking function with all that is needed to apply it and to say where
// it came from. It is safe for concurrent use once made.
type Model struct {
	Method          string         // as "listwise methods" names it
	Measure         string         // the training measure, "" if the method has none
	Convention      string         // of the training measure, "" if there is none
	Threshold       float64        // lowest relevant grade in training and selection; 0 if not known
	Hyperparameters map[string]any // numbers, strings and booleans
	Seed            uint64
	FeatureNames    []string              // one a feature, by which Score finds them, or nil; of a fusion those of its members
	Missing         dataset.Missing       // what missing values became in training, and become before scoring
	AbsentMissing   bool                  // features that lines of LETOR text leave out were missing in training, not 0
	Transforms      *transform.Pipeline   // applied to features one by one before scoring, after Missing; nil does nothing
	Normalization   dataset.Normalization // applied per query before scoring, after Transforms
	Categories      []*dataset.Categories // of features by their places, nil for numbers: a scorer sees their codes; may be shorter than the features
	Views           dataset.Views         // the forms in which the scorer sees the features, after Normalization; nil: raw
	Training        Training
	Scorer          scorer.Scorer
	Params          []float64 // the scorer's
}

// Training describes the data a model was trained on and the course of training.
type Training struct {
	Fingerprint string `json:"fingerprint"` // of the training data before normalization
	Queries     int    `json:"queries"`
	Documents   int    `json:"documents"`
	// Weighted says what had weights: queries, documents, or queries and documents; empty for
	// none.
	Weighted string `json:"weighted,omitempty"`
	// Seen is the set of the training queries; nil if unknown.
	Seen *dataset.QuerySet `json:"queries_seen,omitempty"`
	// Summary is how the values of the features were distributed, after Missing and before
	// Transforms; nil if unknown. See [Model.Summary].
	Summary   *dataset.Summary `json:"feature_summary,omitempty"`
	Used      int              `json:"queries_used"`  // queries the loss could learn from
	Objective float64          `json:"objective"`     // final value, regularisation included
	GradNorm  float64          `json:"gradient_norm"` // at the final parameters
	// Gap is a certified bound on how far Objective is above the minimum; nil
	// when the objective is not strongly convex.
	Gap         *float64 `json:"gap,omitempty"`
	Iterations  int      `json:"iterations"` // or epochs of a descent
	Evaluations int      `json:"evaluations"`
	Status      string   `json:"status"` // why the optimiser stopped
	// BestEpoch is the epoch that a descent kept, from 1; 0 if there was none.
	BestEpoch int `json:"best_epoch,omitempty"`
	// Validation is the value by which that epoch was chosen; nil if it was not
	// chosen on validation data.
	Validation *float64 `json:"validation,omitempty"`
	// Refit are hyperparameters, as words NAME=VALUE, that give the same weights without the
	// validation data. On more data they train for the same length. Refit is empty if validation
	// data selected nothing.
	Refit string `json:"refit,omitempty"`
	// Continued is the model that training continued from; nil if it started from scratch.
	Continued *Origin `json:"continued_from,omitempty"`
	// Converged is whether an optimiser met its tolerance; nil where there is none, as for a
	// descent, which ends after a number of epochs.
	Converged *bool `json:"converged,omitempty"`
	// Divided says how a training over parts of the data went, such as one on several machines;
	// nil for one over all data at once. Fingerprint is then one of the parts' fingerprints.
	Divided *Divided `json:"divided,omitempty"`
}

// Divided describes a training over parts of the data.
type Divided struct {
	Parts  int    `json:"parts"`
	Rounds int    `json:"rounds"` // times that every part was asked for something
	Start  string `json:"start"`  // of the first minimisation: "average" of the parts' own optima, or "zero"
}

// Origin is where a model came from that another one continues.
type Origin struct {
	Method      string `json:"method"`
	Fingerprint string `json:"fingerprint"` // of its training data
	Seed        uint64 `json:"seed"`
	Iterations  int    `json:"iterations"`
	Parameters  int    `json:"parameters"`
}

// Origin returns where a model came from.
func (m *Model) Origin() *Origin {
	return &Origin{m.Method, m.Training.Fingerprint, m.Seed, m.Training.Iterations, len(m.Params)}
}

// errNoScorer is the error of a model that was neither trained nor loaded.
var errNoScorer = errors.New("found a model without a scorer, expected one that was trained or loaded")

// Constant reports whether there are parameters and all are 0, so that all documents get
// the same score: the model ranks nothing.
func (m *Model) Constant() bool {
	return len(m.Params) > 0 && !slices.ContainsFunc(m.Params, func(p float64) bool { return p != 0 })
}

// Score returns one score for each document of d, in the order of its rows. It applies the model's
// transforms first: see [Model.AppendInputs]. If model and data name their features, these are
// matched by name, in any order. The names must be the same, unless d.IgnoreOthers allows further
// ones. Otherwise features are matched by position. Documents may then lack trailing features,
// which count as 0, but must not have more than the model. It is an error if features do not match,
// a missing value has no rule, or a score is not finite.
func (m *Model) Score(d *dataset.Dataset) ([]float64, error) {
	if m == nil || m.Scorer == nil {
		return nil, errNoScorer
	}
	if d.Features == 0 {
		return nil, fmt.Errorf("found no features, expected 1 to %d for each document", m.NumFeatures())
	}
	columns, err := m.Columns(d)
	if err != nil {
		return nil, err
	}
	if err := m.checkWidth(d, columns); err != nil {
		return nil, err
	}
	if err := m.checkMissing(d, columns); err != nil {
		return nil, err
	}
	if err := m.checkData(d, columns); err != nil {
		return nil, err
	}
	scores := make([]float64, d.Docs())
	runs := m.runs(d.Queries)
	workers := parallel.Workers(0, len(runs)-1)
	spaces := make([]space, workers)
	for i := range spaces {
		spaces[i].missing, spaces[i].columns, spaces[i].rows = d.Missing() > 0, columns, d.Reader()
	}
	parallel.For(len(runs)-1, workers, func(worker, i int) {
		first, last := &d.Queries[runs[i]], &d.Queries[runs[i+1]-1]
		m.scoreQueries(scores[first.Start:last.Start+last.Len()], runs[i], runs[i+1], d.Features, &spaces[worker])
	})
	if err := d.Changed(); err != nil {
		return nil, err
	}
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("found the score %v for document %d, expected a finite one: the model's parameters or the features are too large", s, i+1)
		}
	}
	return scores, nil
}

// NumFeatures returns the number of features of a document that the model ranks, 0 without a
// scorer. Its scorer sees more if it sees several views of each.
func (m *Model) NumFeatures() int {
	if m == nil || m.Scorer == nil {
		return 0
	}
	return m.Scorer.NumFeatures() / m.Views.Count()
}

// InputNames returns the names of the scorer's inputs: FeatureNames and, for views, names such as
// rank(bm25). It is nil if features have no names.
func (m *Model) InputNames() []string { return m.Views.Names(m.FeatureNames) }

// AppendInputs appends the scorer's inputs for one query's documents to dst, as a row-major matrix
// with a column per input. It fills in missing values, transforms and normalizes features, and adds
// their views. x is the row-major matrix of the documents with all features of the model. It is not
// changed.
func (m *Model) AppendInputs(dst, x []float32) []float32 {
	s := spaces.Get().(*space)
	defer spaces.Put(s)
	s.missing, s.columns, s.transformed = true, nil, s.transformed[:0]
	m.transform(x, m.NumFeatures(), s)
	return append(dst, s.transformed...)
}

// Inputs is AppendInputs for a query of a data set. columns are the data's columns of the model's
// features, from [Model.Columns]. Features that the data lack are 0: those with column −1, or
// trailing ones if columns is nil.
func (m *Model) Inputs(dst []float32, q *dataset.Query, columns []int) []float32 {
	width := m.NumFeatures()
	x := make([]float32, 0, q.Len()*width)
	for i := range q.Len() {
		row := q.Row(i)
		if columns == nil {
			x = append(x, row...)
		}
		for _, c := range columns {
			if c < 0 {
				x = append(x, 0)
			} else {
				x = append(x, row[c])
			}
		}
		for len(x) < (i+1)*width {
			x = append(x, 0)
		}
	}
	return m.AppendInputs(dst, x)
}

// checkMissing returns an error if values of d, in the given columns, are missing and the
// model, or a member of a fusion, has no rule for them.
func (m *Model) checkMissing(d *dataset.Dataset, columns []int) error {
	if d.Missing() == 0 || m.fillsMissing() {
		return nil
	}
	query, doc, feature, ok := firstMissing(d, columns)
	if !ok {
		return nil
	}
	return fmt.Errorf("found no value (nan or NULL) of feature %s for document %d of query %q, expected a finite one: the model does not know what missing values become, as there was no option for them when it was trained",
		d.FeatureText(feature), doc+1, d.Queries[query].ID)
}

// fillsMissing reports whether the model has a rule for missing values.
func (m *Model) fillsMissing() bool {
	f, ok := m.Scorer.(*Fusion)
	if !ok {
		return m.Missing == dataset.MissingZero || m.Missing == dataset.MissingMin ||
			m.Missing == dataset.MissingKeep && (takesMissing(m.Scorer) || m.FillsKept())
	}
	return !slices.ContainsFunc(f.Members, func(member *Model) bool { return !member.fillsMissing() })
}

// takesMissing reports whether a scorer has scores for missing values.
func takesMissing(s scorer.Scorer) bool {
	t, ok := s.(scorer.MissingTaker)
	return ok && t.TakesMissing()
}

// FillsKept reports whether the model keeps missing values for Transforms, which make
// numbers of all of them.
func (m *Model) FillsKept() bool {
	return m.Missing == dataset.MissingKeep && m.Transforms.Fills(m.NumFeatures())
}

// checkKept returns an error for a model that keeps missing values though its scorer or its
// normalization has no use for them.
func (m *Model) checkKept() error {
	switch {
	case m.Missing != dataset.MissingKeep || m.FillsKept():
		return nil
	case !takesMissing(m.Scorer):
		return fmt.Errorf(`found "missing": %q with the scorer %s, expected one that takes missing values, as trees do`, m.Missing, m.Scorer.Kind())
	case m.Normalization != dataset.NoNormalization:
		return fmt.Errorf(`found "missing": %q with the normalization %s, expected %s`, m.Missing, m.Normalization, dataset.NoNormalization)
	}
	return nil
}

// Members returns the models that a fusion is made of, fusions among them taken apart,
// or the model itself.
func (m *Model) Members() []*Model {
	f, ok := m.Scorer.(*Fusion)
	if !ok {
		return []*Model{m}
	}
	var all []*Model
	for _, member := range f.Members {
		all = append(all, member.Members()...)
	}
	return all
}
