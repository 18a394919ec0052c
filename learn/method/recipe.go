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

// AutoThreshold asks for the relevance threshold that fits the data.
const AutoThreshold = "auto"

// selectBy is the validation measure for methods without a training measure.
const selectBy = "map"

// Recipe describes a training in words, like the flags of "listwise train" with the same names. [DefaultRecipe]
// returns the defaults of the flags. The command line and Python train the same model from the same recipe.
type Recipe struct {
	Scorer     string // empty means the method's default
	Measure    string // empty means the method's default
	Convention string
	Threshold  string
	Normalize  string
	Views      string
	Missing    string
	Transform  []string
	Seed       uint64
}

// DefaultRecipe returns the recipe of "listwise train" without flags.
func DefaultRecipe() Recipe {
	return Recipe{
		Convention: measure.Standard.Name(), Threshold: AutoThreshold, Normalize: dataset.NoNormalization.String(), Views: dataset.RawView.String(),
		Missing: dataset.MissingError.String(), Seed: 1,
	}
}

// OptionError is the error of an invalid option. Its text begins with the option's name.
type OptionError struct{ err error }

// Error implements error.
func (e *OptionError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *OptionError) Unwrap() error { return e.err }

func optionErrorf(format string, args ...any) error {
	return &OptionError{fmt.Errorf(format, args...)}
}

// Lookup returns the method of the given name for the recipe's scorer. Unknown names are an *OptionError.
func (r *Recipe) Lookup(name string) (*Method, error) {
	m, err := Lookup(name)
	if err != nil {
		return nil, optionErrorf("method: %w", err)
	}
	return ForScorer(m, r.Scorer)
}

// ForScorer returns a method for a kind of scorer. An empty scorer means the method's default.
func ForScorer(m *Method, scorer string) (*Method, error) {
	of, err := m.For(scorer)
	if err != nil {
		return nil, optionErrorf("scorer %s%s", scorer, suggest.Or(scorer, m.Scorers(), fmt.Sprintf(": expected one of the scorers of %s: %s", m.Name, strings.Join(m.Scorers(), ", "))))
	}
	return of, nil
}

// ParseConvention returns the convention with the given threshold. The threshold auto keeps the convention's own.
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

// OneMeasure parses the name of one measure, under the recipe's convention and threshold. option is the name of the
// option for error messages.
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
		return nil, nil // r.Measure is valid but has no effect
	}
	if err := m.CheckMeasure(training); err != nil {
		return nil, optionErrorf("measure: %w", err)
	}
	return training, nil
}

// Normalization returns the normalization of features per query.
func (r *Recipe) Normalization() (dataset.Normalization, error) {
	n, err := dataset.ParseNormalization(r.Normalize)
	if err != nil {
		return n, optionErrorf("normalize: %w", err)
	}
	return n, nil
}

// ParseViews returns the recipe's views, nil for the raw features alone.
func (r *Recipe) ParseViews() (dataset.Views, error) {
	v, err := dataset.ParseViews(r.Views)
	if err != nil {
		return nil, optionErrorf("views: %w", err)
	}
	return v, nil
}

// learnedFills are the values of Missing that fill missing values with a number learned for each feature.
var learnedFills = []string{"mean", "median"}

// ReadMissing returns how missing values are treated when data are read. With learnedFills they are kept until
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

// Transforms returns the recipe's transforms. If Missing is one of learnedFills, the first transform fills missing
// values.
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

// Problem returns the method of the given name and its problem with the settings in set. The problem has no data yet:
// [Problem.Settle] adds them.
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

// Settle adds the training data and the validation data, which may be nil, to a problem. It sets the relevance
// threshold of the problem's measures. note is a sentence for the user if the threshold differs from the
// convention's, and "" otherwise.
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

// Relevance returns the convention with the threshold for all data sets together. note is a sentence for the user if
// the threshold differs from that of c, and "" otherwise.
func Relevance(c measure.Convention, sets ...*dataset.Dataset) (settled measure.Convention, note string) {
	settled = c.For(sets...)
	if t := settled.Threshold(); t != c.Threshold() {
		note = fmt.Sprintf("the grades are not whole numbers: documents from grade %s on, the smallest positive one, count as relevant", dataset.FormatGrade(t))
	}
	return settled, note
}

// CommonQueries returns a warning for the user if d and of have queries in common, and "" otherwise. name and ofName
// name the data sets in the warning.
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
