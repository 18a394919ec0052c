// Package recipe makes of words, as flags of the command line and keyword arguments of Python give
// them, what package method learns from. Both then train the same model from the same data.
//
// Start reading at [Recipe]. The package must not depend on flags or files.
package recipe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/method"
)

// Auto is the threshold that fits the data.
const Auto = "auto"

// SelectBy is the measure of validation data for methods without a training measure.
const SelectBy = "map"

// Recipe says in words how a model is learned, as the flags of "listwise train" of the same names
// do. [Default] has what they are if not given.
type Recipe struct {
	Scorer     string // empty: the method's default
	Measure    string // empty: the method's own
	Convention string
	Threshold  string
	Normalize  string
	Views      string
	Missing    string
	Transform  []string
	Seed       uint64
}

// Default returns the recipe where nothing is asked for.
func Default() Recipe {
	return Recipe{
		Convention: measure.Standard.Name(), Threshold: Auto, Normalize: dataset.NoNormalization.String(), Views: dataset.RawView.String(),
		Missing: dataset.MissingError.String(), Seed: 1,
	}
}

// OptionError is the error of an option's value. Its text begins with the option's name.
type OptionError struct{ err error }

// Error implements error.
func (e *OptionError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *OptionError) Unwrap() error { return e.err }

func optionErrorf(format string, args ...any) error {
	return &OptionError{fmt.Errorf(format, args...)}
}

// Lookup returns the method of a name as it trains the scorer.
func (r *Recipe) Lookup(name string) (*method.Method, error) {
	m, err := method.Lookup(name)
	if err != nil {
		return nil, optionErrorf("method: %w", err)
	}
	return For(m, r.Scorer)
}

// For returns a method as it trains a kind of scorer, empty for its default.
func For(m *method.Method, scorer string) (*method.Method, error) {
	of, err := m.For(scorer)
	if err != nil {
		return nil, optionErrorf("scorer %s%s", scorer, suggest.Or(scorer, m.Scorers(), fmt.Sprintf(": expected one of the scorers of %s: %s", m.Name, strings.Join(m.Scorers(), ", "))))
	}
	return of, nil
}

// ParseConvention returns the convention, with the threshold if one is given.
func ParseConvention(name, threshold string) (measure.Convention, error) {
	c, err := measure.ParseConvention(name)
	if err != nil {
		return c, optionErrorf("convention: %w", err)
	}
	t, err := ParseThreshold(threshold)
	if err != nil || t == 0 {
		return c, err
	}
	return c.WithThreshold(t), nil
}

// ParseThreshold returns the lowest relevant grade, 0 for auto.
func ParseThreshold(text string) (float64, error) {
	if text == Auto {
		return 0, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err == nil {
		err = measure.CheckThreshold(v)
	}
	if err != nil {
		return 0, optionErrorf("threshold %s: expected a positive number or auto", text)
	}
	return v, nil
}

// OneMeasure parses the value of an option that names a single measure, under the
// convention asked for.
func (r *Recipe) OneMeasure(option, name string) (measure.Measure, error) {
	c, err := ParseConvention(r.Convention, r.Threshold)
	if err != nil {
		return nil, err
	}
	m, err := measure.Parse(name, c, measure.Options{})
	if err != nil {
		return nil, optionErrorf("%s: %w", option, err)
	}
	return m, nil
}

// TrainingMeasure returns what the method is to optimise, nil if it has no choice.
func (r *Recipe) TrainingMeasure(m *method.Method) (measure.Measure, error) {
	if r.Measure == "" && !m.UsesMeasure {
		return nil, nil
	}
	training, err := r.OneMeasure("measure", cmp.Or(r.Measure, m.DefaultMeasure))
	if err != nil {
		return nil, err
	}
	if !m.UsesMeasure {
		return nil, nil // a measure that exists and changes nothing
	}
	if err := m.CheckMeasure(training); err != nil {
		return nil, optionErrorf("measure: %w", err)
	}
	return training, nil
}

// Normalization returns how features are rescaled per query.
func (r *Recipe) Normalization() (dataset.Normalization, error) {
	n, err := dataset.ParseNormalization(r.Normalize)
	if err != nil {
		return n, optionErrorf("normalize: %w", err)
	}
	return n, nil
}

// ParseViews returns the views asked for, nil for the raw features alone.
func (r *Recipe) ParseViews() (dataset.Views, error) {
	v, err := dataset.ParseViews(r.Views)
	if err != nil {
		return nil, optionErrorf("views: %w", err)
	}
	return v, nil
}

// learnedFills are the values of Missing for which a number is learned for each feature.
var learnedFills = []string{"mean", "median"}

// ReadMissing returns what missing values become as data are read: what is filled in by a learned
// number is kept until then.
func (r *Recipe) ReadMissing() (dataset.Missing, error) {
	if slices.Contains(learnedFills, r.Missing) {
		return dataset.MissingKeep, nil
	}
	m, err := dataset.ParseMissing(r.Missing)
	if err != nil {
		return m, optionErrorf("missing: %w, or mean or median", err)
	}
	return m, nil
}

// Transforms returns the steps asked for, that for what is missing first.
func (r *Recipe) Transforms() ([]transform.Spec, error) {
	var specs []transform.Spec
	if slices.Contains(learnedFills, r.Missing) {
		fill, err := transform.ParseSpec("fill=" + r.Missing)
		if err != nil {
			return nil, err
		}
		specs = append(specs, fill)
	}
	for _, text := range r.Transform {
		s, err := transform.ParseSpec(text)
		if err != nil {
			return nil, optionErrorf("transform %s: %w", text, err)
		}
		specs = append(specs, s)
	}
	return specs, nil
}
