package method

import (
	"context"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// newSingleFeature returns the baseline for methods that combine features.
func newSingleFeature() *Method {
	return &Method{
		Name:           "singlefeature",
		Title:          "Single feature",
		Summary:        "Ranks by a single feature: a given one, or the best on the training data.",
		Source:         "no publication: a baseline that a combination of features should not fall below",
		UsesMeasure:    true,
		DefaultMeasure: "map",
		takes:          anyOne,
		Hyperparameters: []Hyperparameter{
			{Name: "feature", Kind: Integer, Default: "0", Min: 0, Max: 1e9, Doc: "the feature to rank by; 0: the best one"},
			{Name: "direction", Kind: Choice, Default: "both", Choices: []string{"both", "up", "down"}, Doc: "rank by high values (up), low values (down), or the better of both"},
		},
		scorers: []string{linearScorer},
		plan:    planSingleFeature,
	}
}

// singleFeature is the learner of newSingleFeature.
type singleFeature struct {
	feature   int // from 1; 0 means the best one
	direction string
}

func planSingleFeature(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
	return nil, singleFeature{p.Values.Int("feature"), p.Values.Text("direction")}, nil
}

// Weighs implements train.Weigher. The mean of the measure over queries uses their weights.
func (singleFeature) Weighs(loss.Loss) train.Weighs { return train.Weighs{Queries: true} }

// Learn implements train.Learner.
func (s singleFeature) Learn(ctx context.Context, t *train.Task) (*train.Learned, error) {
	if err := t.NoCheckpoint(); err != nil {
		return nil, err
	}
	if _, ok := t.Measure.(measure.Averager); !ok {
		return nil, train.BadProblem("found the training measure %s, expected one that has an expected value under ties", t.Measure.Name())
	}
	if err := measure.CheckVaries(t.Measure, t.Data); err != nil {
		return nil, train.BadProblem("training data: %w", err)
	}
	first, last := 0, t.Inputs()-1
	if s.feature > t.Data.Features {
		return nil, train.BadProblem("feature=%d: expected one of the data's %d", s.feature, t.Data.Features)
	} else if s.feature > 0 {
		first, last = s.feature-1, s.feature-1
	}
	d := t.Normalized()
	values, counted, err := tryFeatures(ctx, d, t.Measure, first, last, signs(s.direction), t.Workers)
	if err != nil {
		return nil, err
	}
	feature, best, bestValue := first, 0.0, 0.0
	for k, value := range values {
		if best == 0 || value > bestValue {
			both := signs(s.direction)
			feature, best, bestValue = first+k/len(both), both[k%len(both)], value
		}
	}
	w := make([]float64, d.Features)
	w[feature] = best
	training := model.Training{Objective: 1 - bestValue, Evaluations: len(values), Status: "all features were tried"}
	return &train.Learned{Scorer: scorer.Linear{Features: d.Features}, Params: w, Training: training, Used: counted}, nil
}

func signs(direction string) []float64 {
	switch direction {
	case "up":
		return []float64{1}
	case "down":
		return []float64{-1}
	}
	return []float64{1, -1}
}

// tryFeatures returns the mean of the measure over the queries, for each feature from first to last and each sign.
// counted is the number of queries that count for the measure. tryFeatures makes one pass over the data, and adds
// values in the order of the queries, as [measure.Ranker.Mean] does.
func tryFeatures(ctx context.Context, d *dataset.Dataset, m measure.Measure, first, last int, signs []float64, workers int) (values []float64, counted int, err error) {
	tries := (last - first + 1) * len(signs)
	some := max(16, min(256, (1<<20)/tries)) // number of queries evaluated in parallel
	values, total := make([]float64, tries), 0.0
	triers := make([]featureTrier, parallel.Workers(workers, some))
	for w := range triers {
		triers[w].rows, triers[w].ranker.Ties = d.Reader(), measure.TiesAverage
	}
	found, counts := make([]float64, some*tries), make([]bool, some)
	for from := 0; from < len(d.Queries); from += some {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		n := min(some, len(d.Queries)-from)
		parallel.For(n, len(triers), func(worker, i int) {
			counts[i] = triers[worker].query(found[i*tries:(i+1)*tries], from+i, m, first, signs)
		})
		for i := range n {
			if w := d.Queries[from+i].Weight(); counts[i] {
				for k, v := range found[i*tries : (i+1)*tries] {
					values[k] += float64(w * v)
				}
				total += w
				counted++
			}
		}
	}
	for k := range values {
		values[k] /= total
	}
	return values, counted, nil
}

// featureTrier evaluates features on one query after the other.
type featureTrier struct {
	rows   *dataset.RowReader
	ranker measure.Ranker
	scores []float64
}

// query sets values to the measure of query i, for each feature from first on and each sign. It returns false if the
// query does not count.
func (f *featureTrier) query(values []float64, i int, m measure.Measure, first int, signs []float64) bool {
	q := f.rows.Query(i)
	if q.Weight() == 0 {
		return false
	}
	f.scores = slices.Grow(f.scores[:0], q.Len())[:q.Len()]
	for k := range values {
		feature, sign := first+k/len(signs), signs[k%len(signs)]
		for doc := range f.scores {
			f.scores[doc] = sign * float64(q.Row(doc)[feature])
		}
		v, ok := f.ranker.Value(m, q.Grades, f.scores)
		if !ok {
			return false
		}
		values[k] = v
	}
	return true
}

// Streams implements train.Streamer.
func (singleFeature) Streams() bool { return true }

// newRandom returns a baseline for all methods.
func newRandom() *Method {
	return &Method{
		Name:    "random",
		Title:   "Random",
		Summary: "Random but reproducible ranking.",
		Source:  "no publication: a baseline, with the expected measures of a random order",
		scorers: []string{"random"},
		plan:    func(*Method, *Problem) (loss.Loss, train.Learner, error) { return nil, randomOrder{}, nil },
	}
}

// randomOrder is the learner of newRandom.
type randomOrder struct{}

// Weighs implements train.Weigher. Nothing is learned, so weights have no effect.
func (randomOrder) Weighs(loss.Loss) train.Weighs {
	return train.Weighs{Queries: true, Documents: true}
}

// Streams implements train.Streamer. No feature is read.
func (randomOrder) Streams() bool { return true }

// Learn implements train.Learner.
func (randomOrder) Learn(_ context.Context, t *train.Task) (*train.Learned, error) {
	if err := t.NoCheckpoint(); err != nil {
		return nil, err
	}
	return &train.Learned{Scorer: scorer.Random{Features: t.Inputs(), Seed: t.Seed}, Training: model.Training{Status: "nothing to learn"}}, nil
}
