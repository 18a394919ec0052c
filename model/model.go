// Package model contains trained ranking functions. It stores each of them in one self-describing
// JSON file.
//
// Start reading at [Model]. [Load] and [Model.Save] in file.go read and write the file. The package
// must not depend on how models are trained.
//
// A model file is untrusted input. The package limits its size, its nesting depth and the memory
// for scoring. It rejects files with repeated keys, and files that are not regular files. The key
// "sum" is a checksum of the other content, which reveals damage and later edits. A file without
// "sum", such as a handwritten model, is not checked.
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

// Model is a trained ranking function with everything needed to apply it and to say how it was
// trained. It is safe for concurrent use as long as no field changes.
type Model struct {
	Method          string                // name of the training method, as in "listwise methods"
	Measure         string                // training measure; "" if the method has none
	Convention      string                // convention of Measure; "" if there is no measure
	Threshold       float64               // lowest relevant grade in training and selection; 0 if unknown
	Hyperparameters map[string]any        // values are numbers, strings and booleans
	Seed            uint64                // random seed of the training
	FeatureNames    []string              // names by which Score finds the features, of all members for a fusion; nil if unknown
	Missing         dataset.Missing       // how missing values are replaced, in training and before scoring
	AbsentMissing   bool                  // in training, a feature that a line of LETOR text omits was missing, not 0
	Transforms      *transform.Pipeline   // applied to single features before scoring, after Missing; nil changes nothing
	Normalization   dataset.Normalization // applied per query before scoring, after Transforms
	Categories      []*dataset.Categories // categories by feature, nil for a numeric feature; may be shorter than the features
	Views           dataset.Views         // forms of the features that the scorer sees, computed after Normalization; nil: the features themselves
	Training        Training              // data and course of the training
	Scorer          scorer.Scorer         // the function that scores documents
	Params          []float64             // parameters of Scorer
}

// Training describes the training data and the course of training.
type Training struct {
	Fingerprint string `json:"fingerprint"` // of the training data before normalization
	Queries     int    `json:"queries"`     // number of training queries
	Documents   int    `json:"documents"`   // number of their documents
	// Weighted names the weighted items: "queries", "documents" or "queries and documents". It is
	// empty if there are no weights.
	Weighted string `json:"weighted,omitempty"`
	// Seen identifies the training queries. It is nil if they are unknown.
	Seen *dataset.QuerySet `json:"queries_seen,omitempty"`
	// Pages identifies the pages of a log whose clicks the training used. It is nil if it used none or if they are
	// unknown.
	Pages *dataset.QuerySet `json:"pages_seen,omitempty"`
	// Summary is the distribution of each feature's values, after Missing and before Transforms. It
	// is nil if unknown. See [Model.Summary].
	Summary   *dataset.Summary `json:"feature_summary,omitempty"`
	Used      int              `json:"queries_used"`  // number of queries from which the loss could learn
	Objective float64          `json:"objective"`     // final value, regularisation included
	GradNorm  float64          `json:"gradient_norm"` // at the final parameters
	// Gap is a certified bound: Objective is at most Gap above the minimum. It is nil if there is
	// no bound, as for an objective that is not strongly convex.
	Gap         *float64 `json:"gap,omitempty"`
	Iterations  int      `json:"iterations"`  // number of iterations of the optimiser, of epochs or of rounds
	Evaluations int      `json:"evaluations"` // number of evaluations of the objective
	Status      string   `json:"status"`      // why the optimiser stopped
	// BestEpoch is the epoch of a descent, the round of boosting or the sweep of coordinate ascent whose
	// parameters were kept, counted from 1. It is 0 if none was chosen.
	BestEpoch int `json:"best_epoch,omitempty"`
	// Validation is the model's mean of the validation measure, averaged over orders of ties. It is nil if
	// the training used no validation data.
	Validation *float64 `json:"validation,omitempty"`
	// Refit lists hyperparameters as words NAME=VALUE. Training with them gives the same weights
	// without validation data. On more data, it runs the same number of epochs or rounds. Refit is
	// empty if validation data selected nothing.
	Refit string `json:"refit,omitempty"`
	// Continued describes the model from which training continued. It is nil if training started
	// from scratch.
	Continued *Origin `json:"continued_from,omitempty"`
	// Converged reports whether the optimiser met its tolerance. It is nil if there is no
	// tolerance, as for a descent, which stops after a fixed number of epochs.
	Converged *bool `json:"converged,omitempty"`
	// Divided describes a training over parts of the data, for example on several machines. It is
	// nil for training on all data at once. Otherwise Fingerprint is the fingerprint of one part.
	Divided *Divided `json:"divided,omitempty"`
	// Lambda is "numerical" if λ were differences of a loss that is given by its value alone. It is empty if the loss
	// computed its own λ.
	Lambda string `json:"lambda,omitempty"`
	// Slots has the factors by which the training corrected clicks for the slots of documents. It is nil
	// without a correction. Scores do not depend on it.
	Slots *Slots `json:"slots,omitempty"`
}

// Slots are factors of the slots in which documents were shown, at the end of a training.
type Slots struct {
	Debias   string    `json:"debias"`             // the correction: position or pairs, see train.DebiasBy
	Position []float64 `json:"position,omitempty"` // by slot, the number added to scores, for position
	// Clicked has by slot the ratio t⁺, relative to the first slot, for pairs. λ of a pair of a clicked and a
	// skipped document is divided by t⁺ of the clicked one. Later slots have the ratio 1.
	Clicked []float64 `json:"clicked,omitempty"`
	// Skipped has the ratio t⁻ in the same form. λ is also divided by t⁻ of the skipped document.
	Skipped []float64 `json:"skipped,omitempty"`
}

// Divided describes training over parts of the data.
type Divided struct {
	Parts  int    `json:"parts"`  // number of parts
	Rounds int    `json:"rounds"` // number of requests to every part
	Start  string `json:"start"`  // start of the first minimisation: "average" of the parts' own optima, or "zero"
}

// Origin identifies a model from which another training continued.
type Origin struct {
	Method      string `json:"method"`      // name of its training method
	Fingerprint string `json:"fingerprint"` // fingerprint of its training data, see dataset.Dataset.Fingerprint
	Seed        uint64 `json:"seed"`        // random seed of its training
	Iterations  int    `json:"iterations"`  // Training.Iterations of the model
	Parameters  int    `json:"parameters"`  // number of its parameters
}

// Origin returns the origin for a model that continues m.
func (m *Model) Origin() *Origin {
	return &Origin{m.Method, m.Training.Fingerprint, m.Seed, m.Training.Iterations, len(m.Params)}
}

// errNoScorer is the error for a model that was neither trained nor loaded.
var errNoScorer = errors.New("found a model without a scorer, expected one that was trained or loaded")

// Constant reports whether the model has parameters and all are 0. Such a model gives all documents
// the same score.
func (m *Model) Constant() bool {
	return len(m.Params) > 0 && !slices.ContainsFunc(m.Params, func(p float64) bool { return p != 0 })
}

// Score returns one score for each document of d, in the order of the rows. It first transforms the
// features as [Model.AppendInputs] does.
//
// If both the model and d name their features, Score matches features by name, in any order. The
// names must then be the same, except that d.IgnoreOthers permits additional names in d. Otherwise
// Score matches features by position. Then d may lack trailing features, which count as 0, but must
// not have more features than the model.
//
// Score returns an error for features that do not match, a missing value without a rule, a value
// outside the categories of its feature, and a score that is not finite.
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

// NumFeatures returns the number of features of a document, or 0 for a model without a scorer. With
// several views, the scorer has a multiple of this number of inputs.
func (m *Model) NumFeatures() int {
	if m == nil || m.Scorer == nil {
		return 0
	}
	return m.Scorer.NumFeatures() / m.Views.Count()
}

// InputNames returns the names of the scorer's inputs. These are FeatureNames and, for other views,
// names such as rank(bm25). InputNames returns nil if features have no names.
func (m *Model) InputNames() []string { return m.Views.Names(m.FeatureNames) }

// AppendInputs appends the scorer's inputs for one query's documents to dst, as a row-major matrix
// with a column per input. It fills in missing values, transforms and normalizes features, and adds
// their views. x is the row-major matrix of the documents with all features of the model.
// AppendInputs does not change x.
func (m *Model) AppendInputs(dst, x []float32) []float32 {
	s := spaces.Get().(*space)
	defer spaces.Put(s)
	s.missing, s.columns, s.transformed = true, nil, s.transformed[:0]
	m.transform(x, m.NumFeatures(), s)
	return append(dst, s.transformed...)
}

// Inputs appends the scorer's inputs for the documents of q to dst, as AppendInputs does. columns
// is the result of [Model.Columns] for the data set. If it is not nil, columns[j] is the data's
// column for feature j. Inputs sets features that the data lack to 0: features with column −1 and,
// if columns is nil, trailing features.
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

// checkMissing returns an error if a value of d in the given columns is missing and the model, or a
// member of a fusion, has no rule for missing values.
func (m *Model) checkMissing(d *dataset.Dataset, columns []int) error {
	if d.Missing() == 0 || m.fillsMissing() {
		return nil
	}
	query, doc, feature, ok := firstMissing(d, columns)
	if !ok {
		return nil
	}
	return fmt.Errorf("found no value (nan or NULL) of feature %s for document %d of query %q, expected a finite one: the model was trained without a rule for missing values",
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

// takesMissing reports whether s can score documents with missing values.
func takesMissing(s scorer.Scorer) bool {
	t, ok := s.(scorer.MissingTaker)
	return ok && t.TakesMissing()
}

// FillsKept reports whether Missing keeps missing values and Transforms then replace all of them by
// numbers.
func (m *Model) FillsKept() bool {
	return m.Missing == dataset.MissingKeep && m.Transforms.Fills(m.NumFeatures())
}

// checkKept returns an error if the model keeps missing values but its scorer or its normalization
// cannot process them.
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

// Members returns the models of a fusion. A member that is itself a fusion is replaced by its own
// members. For any other model, Members returns the model itself.
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
