package method

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/learn/train"
)

// AutoThreshold is the threshold that fits the data.
const AutoThreshold = "auto"

// selectBy is the measure of validation data for methods without a training measure.
const selectBy = "map"

// Recipe describes a training in words, as the flags of "listwise train" with the same names.
// [DefaultRecipe] has their defaults. The command line and Python train the same model from the
// same recipe.
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

// DefaultRecipe returns the defaults.
func DefaultRecipe() Recipe {
	return Recipe{
		Convention: measure.Standard.Name(), Threshold: AutoThreshold, Normalize: dataset.NoNormalization.String(), Views: dataset.RawView.String(),
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
func (r *Recipe) Lookup(name string) (*Method, error) {
	m, err := Lookup(name)
	if err != nil {
		return nil, optionErrorf("method: %w", err)
	}
	return ForScorer(m, r.Scorer)
}

// ForScorer returns a method as it trains a kind of scorer, empty for its default.
func ForScorer(m *Method, scorer string) (*Method, error) {
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
	if text == AutoThreshold {
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

// TrainingMeasure returns the measure that the method optimises, nil if it optimises none.
func (r *Recipe) TrainingMeasure(m *Method) (measure.Measure, error) {
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

// ReadMissing returns how data are read. Values that a learned number replaces are kept until
// training.
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

// Problem returns the method of a name and, with some settings, its problem. [Problem.Settle]
// adds the data.
func (r *Recipe) Problem(name string, set map[string]string) (*Method, *Problem, error) {
	m, err := r.Lookup(name)
	if err != nil {
		return nil, nil, err
	}
	p := &Problem{Problem: train.Problem{Seed: r.Seed}, Scorer: r.Scorer}
	if p.Values, err = m.Values(set); err == nil {
		err = p.Values.Idle()
	}
	if err != nil {
		return nil, nil, optionErrorf("set: %w", err)
	}
	if _, err := ParseConvention(r.Convention, r.Threshold); err != nil {
		return nil, nil, err
	}
	if p.Measure, err = r.TrainingMeasure(m); err != nil {
		return nil, nil, err
	}
	if p.Select = p.Measure; p.Select == nil {
		if p.Select, err = r.OneMeasure("convention", selectBy); err != nil {
			return nil, nil, err
		}
	}
	if p.Normalization, err = r.Normalization(); err != nil {
		return nil, nil, err
	}
	if p.Views, err = r.ParseViews(); err != nil {
		return nil, nil, err
	}
	if p.Missing, err = r.ReadMissing(); err != nil {
		return nil, nil, err
	}
	p.Transforms, err = r.Transforms()
	return m, p, err
}

// Settle adds the data, and validation data or nil, to a problem and sets the relevance threshold
// of its measures. It returns a sentence for the user if the threshold is not the convention's
// own, else "".
func (p *Problem) Settle(data, valid *dataset.Dataset) (note string) {
	p.Data, p.Valid = data, valid
	sets := []*dataset.Dataset{data}
	if valid != nil {
		sets = append(sets, valid)
	}
	c, note := Relevance(measure.ConventionOf(p.Select), sets...)
	p.Select, p.Measure = measure.Under(p.Select, c), measure.Under(p.Measure, c)
	return note
}

// Relevance returns the convention with the threshold for all data sets together. It adds a
// sentence for the user if the data have changed the threshold.
func Relevance(c measure.Convention, sets ...*dataset.Dataset) (settled measure.Convention, note string) {
	settled = c.For(sets...)
	if t := settled.Threshold(); t != c.Threshold() {
		note = fmt.Sprintf("the grades are not whole numbers: documents from grade %s on, the smallest positive one, count as relevant", dataset.FormatGrade(t))
	}
	return settled, note
}

// CommonQueries returns a sentence for the user if validation or test data, of that name, share queries
// with other data, "" if they do not.
func CommonQueries(name string, d *dataset.Dataset, ofName string, of *dataset.Dataset) string {
	n := d.CommonQueries(of)
	if n == 0 {
		return ""
	}
	all := fmt.Sprintf("%d of the %d", n, len(d.Queries))
	if n == len(d.Queries) {
		all = fmt.Sprintf("all %d", n)
	}
	return fmt.Sprintf("%s queries of %s are in %s too: results on them do not generalize to other queries", all, name, ofName)
}
