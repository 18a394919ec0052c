package tune

import (
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
)

// Result has one row for every entry, in the order of the entries.
type Result struct {
	Rows []Row // one for each of Config.Entries, in their order

	// Threshold is the lowest grade that counted as relevant.
	Threshold float64
}

// Row is the result of one entry.
type Row struct {
	Entry    Entry        // the entry, with the settings that were tried
	Grid     int          // number of settings before the budget was applied
	Folds    []FoldResult // in the order of Config.Folds
	Measures []Summary    // in the order of Config.Measures
}

// FoldResult is one fold's chosen model and its measures on the test data.
type FoldResult struct {
	Fold        string          // name of the fold
	Chosen      Setting         // the best setting on validation data
	Averaged    []Setting       // the settings whose models Model averages, the best first; nil if Model is the best setting's
	Tried       []float64       // validation value of every setting, in order
	Unconverged int             // number of settings whose training did not converge
	Validation  float64         // validation value of Model
	Model       *model.Model    // the model that was measured on the test data
	Curve       []byte          // curve of the training of Chosen, see Trained
	Models      []*model.Model  // models of all settings, in order; nil unless Config.KeepModels
	Test        *measure.Result // values of Config.Measures for every test query
}

// Summary is one measure over the folds.
type Summary struct {
	Measure measure.Measure // the measure, with its relevance threshold
	Folds   []float64       // mean over each fold's test queries
	Mean    float64         // mean over folds, as LETOR reports
	Pooled  float64         // mean over all test queries
	// TieNeutral is Mean if tied documents are in random order.
	TieNeutral float64
}

// Summarise averages the results of folds. All results must have the same measures.
func Summarise(tests ...*measure.Result) []Summary {
	pooled := measure.Pool(tests...)
	all := make([]Summary, len(pooled.Measures()))
	for i, m := range pooled.Measures() {
		s := &all[i]
		s.Measure, s.Mean, s.Pooled = m, measure.MeanOverFolds(m, tests...), pooled.Mean(m)
		for _, t := range tests {
			s.Folds = append(s.Folds, t.Mean(m))
			s.TieNeutral += t.TieNeutral(m) / float64(len(tests))
		}
	}
	return all
}

// Varied returns the names of the hyperparameters that have several values among the settings.
func (r *Row) Varied() []string { return r.Entry.varied() }

// Fixed returns the hyperparameters that have the same value in all settings, unless this value is
// the method's default. They are written as NAME=VALUE.
func (r *Row) Fixed() []string {
	values, ok := r.Entry.Settings[0].(method.Values)
	if !ok {
		return nil
	}
	varied := r.Varied()
	var fixed []string
	for _, name := range values.Names() {
		if !slices.Contains(varied, name) && !values.IsDefault(name) {
			fixed = append(fixed, name+"="+values.Text(name))
		}
	}
	return fixed
}

// AtEdge returns the numeric hyperparameters whose chosen value in some fold is the lowest or the
// highest value that was tried. A wider grid of these hyperparameters may give better results.
// AtEdge ignores hyperparameters with only two values, since one of the two is always chosen. It
// returns nil if the settings were drawn from ranges.
func (r *Row) AtEdge() []string {
	if r.Entry.Drawn {
		return nil
	}
	var names []string
	for _, name := range r.Varied() {
		if !r.Entry.Settings[0].IsNumber(name) {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range r.Entry.Settings {
			low, high = min(low, v.Number(name)), max(high, v.Number(name))
		}
		inner := func(v Setting) bool { return low < v.Number(name) && v.Number(name) < high }
		if slices.ContainsFunc(r.Entry.Settings, inner) && slices.ContainsFunc(r.Folds, func(f FoldResult) bool {
			v := f.Chosen.Number(name)
			return v == low || v == high
		}) {
			names = append(names, name)
		}
	}
	return names
}

// TiedQueries returns the number of test queries in which the chosen model ties more than
// measure.NotableTies of the pairs with different grades.
func (r *Row) TiedQueries() int {
	n := 0
	for _, f := range r.Folds {
		n += f.Test.TieStats().Over
	}
	return n
}

// Trainings returns the number of trainings, and the number that did not converge.
func (r *Row) Trainings() (all, unconverged int) {
	for _, f := range r.Folds {
		all += len(f.Tried)
		unconverged += f.Unconverged
	}
	return all, unconverged
}

// ConstantFolds returns the names of the folds whose chosen model has only zero weights, so that
// all documents tie.
func (r *Row) ConstantFolds() []string {
	var names []string
	for _, f := range r.Folds {
		if !slices.ContainsFunc(f.Model.Members(), func(m *model.Model) bool { return !m.Constant() }) {
			names = append(names, f.Fold)
		}
	}
	return names
}
