package papers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
)

func tracesExperiment() Experiment {
	return Experiment{
		Name:  "logrank-traces",
		Paper: "LogRank",
		Title: "LogRank, section 5.3.4: the exact and the sampled objective as w evolves",
		Shows: "whether minimising the sampled objective lowers the exact one, too",
		Data:  sweepData,
		Reads: true,
		Run: func(ctx context.Context, o Options) (*Report, error) {
			t := traces{size: hp2004Size, rows: paperRestarts(), iterations: 100}
			return t.run(ctx, o)
		},
	}
}

// traces follows the objectives of rows while L-BFGS minimises their sampled form: the rows
// of Figure 3 with the paper's restarts.
type traces struct {
	size       govSize
	rows       []row
	iterations int // of the first start, at most
}

// trace is the course of one objective, the penalty ‖w‖²/C included.
type trace struct {
	name           string
	form           string // that is exact
	settings       string // of the training
	sampled, exact []float64
}

func (t traces) run(ctx context.Context, o Options) (*Report, error) {
	s := &study{convention: letor3, chosenBy: "map", measures: reported, records: "chosen", rows: slices.Clone(t.rows)}
	for i := range s.rows {
		s.rows[i].seeds, s.rows[i].group = 0, "choosing C"
	}
	found, folds, err := s.onHP2004(o, t.size, cleaned, true)
	if err != nil {
		return nil, err
	}
	if err := s.trainColumn(ctx, o, found.columns[0], folds); err != nil {
		return nil, err
	}
	var all []trace
	for i := range s.rows {
		o.observe("tracing", i, len(s.rows))
		one, err := t.follow(ctx, o, found.columns[0].rows[i][0], folds[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.rows[i].name, err)
		}
		one.name = s.rows[i].against
		all = append(all, one)
	}
	return t.report(found, all), nil
}

// follow trains what was chosen once more and evaluates the exact objective at every
// iterate of the first start.
func (t traces) follow(ctx context.Context, o Options, tuned *tune.Row, fold tune.Fold) (trace, error) {
	entry, values := &tuned.Entry, tuned.Folds[0].Chosen.(method.Values)
	p := &method.Problem{Problem: train.Problem{Data: fold.Train, Valid: fold.Valid, Measure: entry.Measure, Seed: o.Seed, Workers: o.Jobs}, Values: values}
	exact, form, err := exactForm(entry.Method, p)
	if err != nil {
		return trace{}, err
	}
	one := trace{form: form, settings: values.String()}
	scores, c := make([]float64, exact.Rows()), values.Number("C")
	p.Observe = func(it method.Iteration) {
		if it.Start > 0 || it.Number > t.iterations {
			return
		}
		linearScores(scores, fold.Train, it.Params)
		one.sampled = append(one.sampled, it.Objective)
		one.exact = append(one.exact, exact.Eval(scores, nil)+inner(it.Params, it.Params)/c)
	}
	_, err = entry.Method.Train(ctx, p)
	return one, err
}

// exactForms are the forms without a sample, the paper's own first. ConvexLoss has that for
// AUC, and for other measures where every query has one good document; the lattice has the
// rankings that keep the scores' order within each class.
var exactForms = []logrank.Form{logrank.Factored, logrank.Lattice}

// exactForm returns the loss of a problem over its training queries in the first of
// exactForms that it has.
func exactForm(m *method.Method, p *method.Problem) (*objective.Functional, string, error) {
	var err error
	for _, form := range exactForms {
		settings := make(map[string]string)
		for _, name := range p.Values.Names() {
			settings[name] = p.Values.Text(name)
		}
		settings["form"] = form.String()
		other := *p
		if other.Values, err = m.Values(settings); err != nil {
			return nil, "", err
		}
		whole, err := m.Problem(&other)
		if err != nil {
			return nil, "", err
		}
		if f, err := objective.NewFunctional(whole.Data, whole.Loss, p.Seed, p.Workers, nil); err == nil {
			return f, form.String(), nil
		}
	}
	return nil, "", fmt.Errorf("no exact form among %v", exactForms)
}

// linearScores computes w·x of all documents.
func linearScores(scores []float64, d *dataset.Dataset, w []float64) {
	at := 0
	for i := range d.Queries {
		q := &d.Queries[i]
		for k := range q.Len() {
			sum := 0.0
			for j, v := range q.Row(k) {
				sum += float64(w[j] * float64(v))
			}
			scores[at] = sum
			at++
		}
	}
}

// lower counts in how many steps a course falls.
func lower(course []float64) int {
	n := 0
	for i := 1; i < len(course); i++ {
		if course[i] < course[i-1] {
			n++
		}
	}
	return n
}

// rankCorrelation is Spearman's, equal values sharing their mean rank; NaN for fewer than two
// values or where all of a course are equal.
func rankCorrelation(x, y []float64) float64 {
	return correlation(meanRanks(x), meanRanks(y))
}

// meanRanks are those of values in ascending order.
func meanRanks(values []float64) []float64 {
	r := make([]float64, len(values))
	for i, v := range values {
		r[i] = 0.5
		for _, u := range values {
			switch {
			case u < v:
				r[i]++
			case u == v:
				r[i] += 0.5
			}
		}
	}
	return r
}

// family names the objective that a row trains: "ConvexLoss" of "ConvexLoss_NDCG".
func (t *trace) family() string {
	if i := strings.LastIndex(t.name, "_"); i > 0 {
		return t.name[:i]
	}
	return t.name
}
