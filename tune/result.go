package tune

import (
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
)

// Result holds one row for every entry, in their order.
type Result struct {
	Rows []Row

	// Threshold is the lowest grade that counted as relevant.
	Threshold float64
}

// Row is the result of one entry.
type Row struct {
	Entry    Entry // with the settings that were tried
	Grid     int   // settings that there were to try
	Folds    []FoldResult
	Measures []Summary // in the order of Config.Measures
}

// FoldResult is one fold's chosen model and its measures on the test data.
type FoldResult struct {
	Fold        string
	Chosen      Setting   // the best on validation data
	Averaged    []Setting // those whose models Model averages, the best first; nil if it is the best's
	Tried       []float64 // validation value of every setting, in order
	Unconverged int       // settings whose training did not converge
	Validation  float64   // of Model
	Model       *model.Model
	Curve       []byte         // of Chosen, as in Trained
	Models      []*model.Model // of every setting, in order; nil unless Config.KeepModels
	Test        *measure.Result
}

// Summary is one measure over the folds.
type Summary struct {
	Measure measure.Measure
	Folds   []float64 // mean over each fold's test queries
	Mean    float64   // over folds, as LETOR reports
	Pooled  float64   // over all test queries
	// TieNeutral is Mean with documents of equal score in random order.
	TieNeutral float64
}

// Summarise averages the results of folds, all with the same measures.
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

// Varied returns the hyperparameters that were tried with several values.
func (r *Row) Varied() []string { return r.Entry.varied() }

// Fixed returns the hyperparameters that were tried with one value that is not the method's
// default, as NAME=VALUE.
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

// AtEdge returns the numeric hyperparameters whose chosen value in some fold is the lowest or highest
// tried, so that a wider grid may do better. It ignores those with only two values, one of which is always
// chosen, and settings drawn from ranges.
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

// TiedQueries returns the number of test queries in which the chosen models tie
// more than measure.NotableTies of the differently graded pairs.
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

// ConstantFolds returns the names of the folds whose chosen model has only zero weights and so ranks
// nothing.
func (r *Row) ConstantFolds() []string {
	var names []string
	for _, f := range r.Folds {
		if !slices.ContainsFunc(f.Model.Members(), func(m *model.Model) bool { return !m.Constant() }) {
			names = append(names, f.Fold)
		}
	}
	return names
}
