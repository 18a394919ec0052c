package papers

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// What verdicts on a study's numbers rest on beside the numbers themselves: what every
// setting that was tried has on the test data, and what systems have that prove nothing.

// judge measures models in a view, on the test data of folds.
type judge struct {
	measures []measure.Measure
	tests    []*dataset.Dataset
}

func (v *view) judge(folds []tune.Fold) (*judge, error) {
	list, err := measure.ParseList(strings.Join(v.measures, ","), v.convention, measure.Options{})
	if err != nil {
		return nil, err
	}
	j := &judge{}
	for i := range folds {
		j.tests = append(j.tests, folds[i].Test)
	}
	j.measures = measure.ForAll(list, j.tests...)
	return j, nil
}

// fold measures a model on a fold.
func (j *judge) fold(k int, m *model.Model) (*measure.Result, error) {
	scores, err := m.Score(j.tests[k])
	if err != nil {
		return nil, err
	}
	return measure.Evaluate(j.tests[k], scores, j.measures, measure.TiesInput)
}

// chosen returns the numbers of a row's chosen models, one a fold.
func (j *judge) chosen(row *tune.Row) (map[string]number, error) {
	tests := make([]*measure.Result, len(row.Folds))
	for k := range row.Folds {
		var err error
		if tests[k], err = j.fold(k, row.Folds[k].Model); err != nil {
			return nil, err
		}
	}
	pooled := measure.Pool(tests...)
	values := make(map[string]number)
	for _, s := range tune.Summarise(tests...) {
		values[s.Measure.Name()] = number{mean: s.Mean, neutral: s.TieNeutral, pooled: s.Pooled, each: pooled.PerQuery(s.Measure)}
	}
	return values, nil
}

// tried adds to the numbers of a row what all its settings have.
func (j *judge) tried(row *tune.Row, values map[string]number) error {
	for _, m := range j.measures {
		n := values[m.Name()]
		for k := range row.Folds {
			n.tried = append(n.tried, stats.Tried{Validation: row.Folds[k].Tried, Test: make([]float64, len(row.Folds[k].Models))})
		}
		values[m.Name()] = n
	}
	for k := range row.Folds {
		for setting, trained := range row.Folds[k].Models {
			test, err := j.fold(k, trained)
			if err != nil {
				return err
			}
			for _, m := range j.measures {
				values[m.Name()].tried[k].Test[setting] = test.Mean(m)
			}
		}
	}
	return nil
}

// bestFeatures returns, for every fold, the model of the one feature that is best by MAP on
// the training data.
func bestFeatures(ctx context.Context, folds []tune.Fold) ([]*model.Model, error) {
	m, err := method.Lookup("singlefeature")
	if err != nil {
		return nil, err
	}
	training, err := measure.Parse(m.DefaultMeasure, letor3, measure.Options{})
	if err != nil {
		return nil, err
	}
	models := make([]*model.Model, len(folds))
	for k := range folds {
		if models[k], err = m.Train(ctx, &method.Problem{Problem: train.Problem{Data: folds[k].Train, Measure: training}}); err != nil {
			return nil, err
		}
	}
	return models, nil
}

// trivial returns by measure what the best features, the order of the file and a random
// order have.
func (j *judge) trivial(features []*model.Model) (map[string][]trivial, error) {
	found := make(map[string][]trivial)
	for _, m := range j.measures {
		found[m.Name()] = []trivial{{system: "the best single feature"}, {system: "the order of the file"}, {system: "a random order"}}
	}
	for k := range j.tests {
		feature, err := j.fold(k, features[k])
		if err != nil {
			return nil, err
		}
		equal, err := measure.Evaluate(j.tests[k], make([]float64, j.tests[k].Docs()), j.measures, measure.TiesInput)
		if err != nil {
			return nil, err
		}
		for _, m := range j.measures {
			of := found[m.Name()]
			for i, value := range []float64{feature.Mean(m), equal.Mean(m), equal.TieNeutral(m)} {
				of[i].value += value / float64(len(j.tests))
			}
			for i, each := range [][]float64{feature.PerQuery(m), equal.PerQuery(m), equal.TieNeutralPerQuery(m)} {
				of[i].each = append(of[i].each, each...)
			}
		}
	}
	return found, nil
}

// evidence is what the verdict on the number at a place rests on, against a published row.
func (p *place) evidence(against string) evidence {
	runs, grid := p.view.tried(p.at, p.measure), 0.0
	if len(p.tuned().Varied()) == 0 { // one setting
		grid = p.neighbouringGrid()
	}
	e := overRuns(runs, grid, p.view.published.rounding(), p.results.options.Seed)
	e.trivial = p.view.trivial[p.measure]
	e.turned = p.turned(against)
	return e
}

// tried returns what a row's runs tried.
func (v *view) tried(row int, m string) [][]stats.Tried {
	var runs [][]stats.Tried
	for _, values := range v.values[row] {
		runs = append(runs, values[m].tried)
	}
	return runs
}

// neighbouringGrid returns the median spread between grids of the rows beside one that tried
// several settings.
func (p *place) neighbouringGrid() float64 {
	var spreads []float64
	for i := range p.results.rows {
		r, err := stats.Replicate(p.view.tried(i, p.measure), stats.ReplicationConfig{Seed: p.results.options.Seed})
		if err == nil && r.Grid > 0 {
			spreads = append(spreads, r.Grid)
		}
	}
	if len(spreads) == 0 {
		return 0
	}
	slices.Sort(spreads)
	return spreads[len(spreads)/2]
}

// turned returns a row that a publication has on the other side of the one at a place than
// we have, by a difference that is significant over the test queries and the seeds at 5 %
// (Bonferroni over the other rows); "" if there is none.
func (p *place) turned(against string) string {
	theirs := p.view.published.of(against, p.measure)
	var others []int
	for i := range p.results.rows {
		if other := p.results.rows[i].name; i != p.at && other != against && len(p.view.values[i]) > 0 && !math.IsNaN(p.view.published.of(other, p.measure)) {
			others = append(others, i)
		}
	}
	for _, i := range others {
		other := p.results.rows[i].name
		d := p.view.difference(p.at, i, p.measure)
		if d.Mean*(theirs-p.view.published.of(other, p.measure)) < 0 && d.P < stats.Alpha/float64(len(others)) {
			return other
		}
	}
	return ""
}

// rounding is half a unit of the last digit that numbers are printed with.
func (n numbers) rounding() float64 {
	unit := 1.0
	for _, row := range n {
		for _, v := range row {
			for !math.IsNaN(v) && unit > 1e-6 && math.Abs(v/unit-math.Round(v/unit)) > 1e-6 {
				unit /= 10
			}
		}
	}
	return unit / 2
}
