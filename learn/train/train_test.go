package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// found is a learner that has found already.
type found struct{ Learned }

func (f found) Learn(context.Context, *Task) (*Learned, error) { return &f.Learned, nil }

// Claim: a model that is not finite is an error, whichever learner made it.
func TestModelsAreFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for what, learned := range map[string]Learned{
			"weight 2":         {Params: []float64{1, bad}},
			"objective":        {Params: []float64{1}, Training: model.Training{Objective: bad}},
			"gradient":         {Params: []float64{1}, Training: model.Training{GradNorm: bad}},
			"validation value": {Params: []float64{1}, Training: model.Training{Validation: &bad}},
		} {
			learned.Scorer = scorer.Linear{Features: len(learned.Params)}
			_, err := Run(context.Background(), &Problem{Data: smallData(t), Learner: found{learned}})
			var problem *ProblemError
			if !errors.As(err, &problem) || !strings.Contains(err.Error(), what) {
				t.Errorf("%s %v: error %v, expected a *ProblemError that names it", what, bad, err)
			}
		}
	}
}

// squares is a loss of a caller's own: ½ Σ (score − grade)².
type squares struct{}

func (squares) Bind(grades []float64, _ *rand.Rand) (loss.QueryLoss, error) {
	return boundSquares(grades), nil
}

func (squares) Traits() loss.Traits { return loss.Traits{Convex: true, Smooth: true} }

type boundSquares []float64

func (b boundSquares) Eval(scores, lambda []float64, _ *loss.Scratch) float64 {
	var value float64
	for i, s := range scores {
		value += (s - b[i]) * (s - b[i]) / 2
		if lambda != nil {
			lambda[i] = b[i] - s
		}
	}
	return value
}

// Claim: a loss of a caller's own trains a linear function and a network, by any learner
// that takes it, to a model that is saved, read and scores like any other.
func TestOwnLoss(t *testing.T) {
	d := smallData(t)
	for name, learner := range map[string]Learner{
		"lbfgs":   LBFGS{C: 10, Tolerance: 1e-6, Iterations: 50},
		"descent": Descent{Architecture: Network(4, scorer.Tanh), C: 100, Rate: 0.01, Epochs: 20, Batch: 1, Decay: 0.95, Bag: 2},
	} {
		p := &Problem{
			Data: d.Subset([]int{0, 1, 2, 3, 4, 5, 6, 7}), Valid: d.Subset([]int{8, 9, 10, 11}), Normalization: dataset.ZScore,
			Loss: squares{}, Learner: learner, Select: measure.MustParse("ndcg@5", measure.LETOR3), Seed: 1,
			Method: "squares", Settings: map[string]any{"margin": 0.5},
		}
		m, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(name, err)
		}
		want, err := m.Score(p.Valid)
		if err != nil {
			t.Fatal(err)
		}
		back := throughFile(t, m)
		got, err := back.Score(p.Valid)
		if err != nil || !slices.Equal(got, want) || back.Method != "squares" || back.Hyperparameters["margin"] != 0.5 {
			t.Errorf("%s: the model read scores otherwise, %v", name, err)
		}
		if slices.Max(want) == slices.Min(want) {
			t.Errorf("%s: nothing was learned", name)
		}
	}
}

// throughFile writes a model and reads it back.
func throughFile(t *testing.T, m *model.Model) *model.Model {
	t.Helper()
	back, err := model.Read(strings.NewReader(written(t, m)))
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// Claim: what training did to features is in the model, whichever learner made it: the model
// read scores documents with missing values as it scores those that are filled in.
func TestModelsKeepTheirRules(t *testing.T) {
	full := smallData(t)
	holes := full.Clone()
	x := holes.X()
	for k := 0; k < len(x); k += 7 {
		x[k] = float32(math.NaN())
	}
	text := new(bytes.Buffer)
	if err := datafile.WriteText(text, holes, datafile.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	open := func(m dataset.Missing) *dataset.Dataset {
		d, err := datafile.Read(bytes.NewReader(text.Bytes()), "f", dataset.Options{Missing: m})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, rule := range []dataset.Missing{dataset.MissingZero, dataset.MissingMin} {
		for _, normalization := range []dataset.Normalization{dataset.NoNormalization, dataset.MinMax, dataset.ZScore} {
			for _, data := range []*dataset.Dataset{open(rule), open(dataset.MissingKeep)} {
				m, err := Run(context.Background(), &Problem{
					Data: data, Missing: rule, Normalization: normalization, Loss: squares{}, Threshold: 2,
					Learner: LBFGS{C: 10, Tolerance: 1e-6, Iterations: 50},
				})
				if err != nil {
					t.Fatal(err)
				}
				back := throughFile(t, m)
				want, err := m.Score(open(rule))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := back.Score(open(dataset.MissingKeep)); err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, %v: the model read scores missing values otherwise (%v)", rule, normalization, err)
				}
				if back.Threshold != 2 {
					t.Errorf("the loss takes grades from 2 on as relevant, the model says %v", back.Threshold)
				}
			}
		}
	}
}

// Claim: trees learn from missing values that are kept: from relevant documents that lack a
// feature, and irrelevant ones that have it. The model scores what is missing so.
func TestTreesLearnFromWhatIsMissing(t *testing.T) {
	holes := curved(t, 12, 1)
	for i := range holes.Queries {
		q := &holes.Queries[i]
		for k, g := range q.Grades {
			if q.Row(k)[3] = 0.5; g > 0 {
				q.Row(k)[3] = float32(math.NaN())
			}
		}
	}
	text := new(bytes.Buffer)
	if err := datafile.WriteText(text, holes, datafile.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	d, err := datafile.Read(text, "f", dataset.Options{Missing: dataset.MissingKeep})
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{Data: d, Valid: d, Missing: dataset.MissingKeep, Loss: loss.SquaredError{}, Learner: Trees{Rounds: 3, Options: fewLeaves}}
	m, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := throughFile(t, m).Score(d)
	if err != nil {
		t.Fatal(err)
	}
	lowest, highest := math.Inf(1), math.Inf(-1)
	for i, g := range d.Grades() {
		if g > 0 {
			lowest = min(lowest, scores[i])
		} else {
			highest = max(highest, scores[i])
		}
	}
	if lowest <= highest {
		t.Errorf("a relevant document has the score %v, an irrelevant one %v", lowest, highest)
	}
	for want, change := range map[string]func(p *Problem){
		"expected zero or min to stand for them": func(p *Problem) { p.Learner = LBFGS{C: 1} },
		"the normalization zscore":               func(p *Problem) { p.Normalization = dataset.ZScore },
	} {
		q := *p
		change(&q)
		var problem *ProblemError
		if _, err := Run(context.Background(), &q); !errors.As(err, &problem) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// Claim: a model knows the distribution of the features that it learned from, before they are
// normalized.
func TestRunSummarizesFeatures(t *testing.T) {
	d := smallData(t)
	m, err := Run(context.Background(), &Problem{Data: d, Loss: loss.ListNet{}, Learner: LBFGS{Iterations: 1, Tolerance: 1}, Normalization: dataset.ZScore})
	if err != nil {
		t.Fatal(err)
	}
	want := d.Summary()
	for j := range d.Features {
		s, k := m.Summary(j)
		if s == nil || !slices.Equal(s.Bounds(k), want.Bounds(j)) {
			t.Errorf("feature %d is summarized as %v, want the bounds %v", j+1, s, want.Bounds(j))
		}
	}
}

// Claim: an incomplete problem is an error and is not run.
func TestRunErrors(t *testing.T) {
	wide := smallData(t)
	narrow, err := datafile.Read(strings.NewReader("1 qid:1 1:1\n0 qid:1 1:2\n"), "f", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for want, p := range map[string]*Problem{
		"without data":         {Learner: LBFGS{}},
		"found no training":    {Data: &dataset.Dataset{}, Learner: LBFGS{}},
		"without a learner":    {Data: wide},
		"missing values to be": {Data: wide, Learner: LBFGS{}, Missing: dataset.MissingKeep},
		`"Normalization(3)"`:   {Data: wide, Learner: LBFGS{}, Normalization: 3},
		"largest work -1":      {Data: wide, Learner: LBFGS{}, LargestWork: -1},
		"threshold -1":         {Data: wide, Learner: LBFGS{}, Threshold: -1},
		"setting a: found [1]": {Data: wide, Learner: LBFGS{}, Settings: map[string]any{"a": []int{1}, "b": nil}},
		"setting c: found NaN": {Data: wide, Learner: LBFGS{}, Settings: map[string]any{"c": math.NaN()}},
		"found no loss":        {Data: wide, Learner: LBFGS{Iterations: 1, Tolerance: 1}},
		"8 features in the validation data, expected at most the training data's 1": {Data: narrow, Valid: wide, Learner: LBFGS{}},
	} {
		if _, err := Run(context.Background(), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}
