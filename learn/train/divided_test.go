package train_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// inParts divides the queries of a problem into four parts of different sizes; the last are those with one document, from
// which nothing can be learned.
func inParts(p train.Problem) (parts []*train.Problem) {
	for k := range 4 {
		one, place := p, -1
		one.Data = p.Data.Filter(func(q *dataset.Query) bool {
			place++
			return q.Len() == 1 && k == 3 || q.Len() > 1 && min(place/30, 2) == k
		})
		parts = append(parts, &one)
	}
	return parts
}

// divided learns from the parts of a problem, and returns the model and its bytes.
func divided(t *testing.T, p train.Problem, average bool) (*model.Model, []byte) {
	t.Helper()
	d := train.Divided{Average: average}
	for _, one := range inParts(p) {
		part, err := train.NewPart(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		share := 0.0
		if average {
			share = float64(len(one.Data.Queries)) / float64(len(p.Data.Queries))
		}
		m, err := part.Model(t.Context(), share)
		if err != nil {
			t.Fatal(err)
		}
		d.Problem, d.Models, d.Parts = one, append(d.Models, m), append(d.Parts, part)
	}
	m, err := d.Learn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return m, b.Bytes()
}

// Claim: a training over parts finds the minimum of the whole, by the risk of the whole, within the tolerance; says of
// the data what a training on all of them says, and how it came about; and has the same bytes for any number of workers. Losses
// that draw samples draw those of the whole.
func TestDividedIsTheWhole(t *testing.T) {
	sampled := logrank.ConvexLoss{Options: logrank.Options{Form: logrank.Sampled, Gain: measure.MustParse("ndcg@5", measure.LETOR3).(measure.Additive), Beta: 10}}
	for name, of := range map[string]struct {
		loss     loss.Loss
		weighted bool
		prepare  func(p *train.Problem)
	}{
		"ranknet":  {loss.RankNet{Sigma: 1}, true, func(*train.Problem) {}},
		"listnet":  {loss.ListNet{}, false, func(p *train.Problem) { p.Normalization = dataset.MinMax }},
		"sampled":  {sampled, false, func(p *train.Problem) { p.Views = dataset.Views{dataset.RankView} }},
		"softrank": {loss.SoftRank{Convention: measure.LETOR3}, false, func(p *train.Problem) { p.Normalization = dataset.ZScore }},
	} {
		t.Run(name, func(t *testing.T) {
			_, whole := streamedData(t, 3, of.weighted)
			p := train.Problem{Data: whole, Loss: of.loss, Learner: train.LBFGS{C: 10, Restarts: -1}, Seed: 7, Threshold: 1, Settings: map[string]any{"C": 10.0}, Method: name}
			of.prepare(&p)
			want, err := train.Run(t.Context(), &p)
			if err != nil {
				t.Fatal(err)
			}
			for _, average := range []bool{false, true} {
				p.Workers = 1
				got, text := divided(t, p, average)
				p.Workers = 3
				if _, again := divided(t, p, average); !bytes.Equal(text, again) {
					t.Errorf("average %v: the model has other bytes with 3 workers than with 1", average)
				}
				sameMinimum(t, &p, got, want)
				sameRecord(t, got, want, average)
			}
		})
	}
}

// sameMinimum checks the objectives of two models by the risk of all data: of a convex loss both are within the
// tolerance of the minimum, of others they are at least as good minima.
func sameMinimum(t *testing.T, p *train.Problem, got, want *model.Model) {
	t.Helper()
	d := dataset.Normalize(p.Data.Counting(), p.Normalization).View(p.Views)
	risk, err := objective.New(d, scorer.Linear{Features: d.Features}, p.Loss, objective.Options{C: 10, Seed: p.Seed})
	if err != nil {
		t.Fatal(err)
	}
	grad := make([]float64, risk.Dim())
	value, expected := risk.Eval(got.Params, grad), risk.Eval(want.Params, grad)
	if math.Abs(value-got.Training.Objective) > 1e-12*math.Abs(value) {
		t.Errorf("the objective of the model is %v on all data, its record says %v", value, got.Training.Objective)
	}
	if p.Loss.Traits().Convex {
		if gap := got.Training.Gap; gap == nil || *gap > 1e-6*math.Abs(value) || math.Abs(value-expected) > 1e-6*math.Abs(expected) {
			t.Errorf("found the objective %v, certified: %v, expected %v", value, gap != nil, expected)
		}
		return
	}
	if got.Training.Gap != nil || got.Training.GradNorm > 1e-3*math.Max(1, math.Abs(value)) {
		t.Errorf("found the objective %v (one machine: %v) with the gradient norm %v and the gap %v, expected a stationary point and no gap", value, expected, got.Training.GradNorm, got.Training.Gap)
	}
}

// sameRecord checks that two models say the same of all but the course of training.
func sameRecord(t *testing.T, got, want *model.Model, average bool) {
	t.Helper()
	start := map[bool]string{false: "zero", true: "average"}[average]
	if d := got.Training.Divided; d == nil || d.Parts != 4 || d.Rounds != got.Training.Evaluations+1 || d.Start != start {
		t.Errorf("found the record %+v of a training over 4 parts with %d evaluations from %s", d, got.Training.Evaluations, start)
	}
	plain := func(m *model.Model) model.Model {
		p := *m
		p.Scorer, p.Params = nil, nil
		p.Training = model.Training{Queries: m.Training.Queries, Documents: m.Training.Documents, Used: m.Training.Used, Weighted: m.Training.Weighted, Seen: m.Training.Seen}
		return p
	}
	if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
		t.Errorf("the model says other things than one of all data (-want +got):\n%s", diff)
	}
}

// Claim: the average of the parts' own optima, which weighs them by the queries that they could learn from, is a better start
// than 0, and fewer rounds follow; the objectives of the parts by themselves add up to less than the minimum.
func TestAverageIsABetterStart(t *testing.T) {
	_, whole := streamedData(t, 3, false)
	p := train.Problem{Data: whole, Loss: loss.RankNet{Sigma: 1}, Learner: train.LBFGS{C: 10}, Seed: 7, Threshold: 1}
	fromZero, _ := divided(t, p, false)
	fromAverage, _ := divided(t, p, true)
	if a, z := fromAverage.Training.Divided.Rounds, fromZero.Training.Divided.Rounds; a >= z {
		t.Errorf("found %d rounds from the average and %d from 0, expected fewer", a, z)
	}
	sum := 0.0
	for _, one := range inParts(p) {
		part, err := train.NewPart(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		m, err := part.Model(t.Context(), float64(len(one.Data.Queries))/float64(len(whole.Queries)))
		if err != nil {
			t.Fatal(err)
		}
		sum += m.Training.Objective
	}
	if minimum := fromZero.Training.Objective; sum > minimum || sum < minimum/2 {
		t.Errorf("the parts' own minima add up to %v, expected somewhat less than the minimum of the whole, %v", sum, minimum)
	}
}

// lost is a part on a machine that is lost.
type lost struct{}

var errLost = errors.New("the machine is lost")

func (lost) Eval([]float64, []float64) (float64, error) { return 0, errLost }

// Claim: what fails in a part is the error of the training, and so is its context's end; what cannot be divided is refused.
func TestDividedRefuses(t *testing.T) {
	_, whole := streamedData(t, 3, false)
	p := train.Problem{Data: whole, Loss: loss.RankNet{Sigma: 1}, Learner: train.LBFGS{C: 10}, Threshold: 1}
	part, err := train.NewPart(t.Context(), &p)
	if err != nil {
		t.Fatal(err)
	}
	m, err := part.Model(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	two := train.Divided{Problem: &p, Models: []*model.Model{m, m}, Parts: []objective.PartialRisk{part, lost{}}}
	if _, err := two.Learn(t.Context()); !errors.Is(err, errLost) {
		t.Errorf("found the error %v, expected %v", err, errLost)
	}
	if two.Parts[1], err = train.NewPart(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := two.Learn(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("found the error %v, expected that of the context", err)
	}
	other := *m
	other.Threshold = 2
	two.Models[1] = &other
	if _, err := two.Learn(t.Context()); err == nil || !strings.Contains(err.Error(), "part 1 of 2: found the lowest relevant grade 2, not 1,") {
		t.Errorf("found the error %v, expected one that names the part and its threshold", err)
	}
	ndcg := measure.MustParse("ndcg@5", measure.LETOR3)
	step, err := transform.ParseSpec("log1p")
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(p *train.Problem){
		"expected L-BFGS":                   func(p *train.Problem) { p.Learner = train.Newton{} },
		"expected one: what is divided":     func(p *train.Problem) { p.Loss = nil },
		"found a scorer that is not linear": func(p *train.Problem) { p.Learner = train.LBFGS{Architecture: train.Network(2, 0)} },
		"loss.LambdaRank, which is not":     func(p *train.Problem) { p.Loss = loss.LambdaRank{Measure: ndcg} },
		"loss.RankSVM, which is not smooth": func(p *train.Problem) { p.Loss = loss.RankSVM{} },
		"found the transform log1p":         func(p *train.Problem) { p.Transforms = []transform.Spec{step} },
		"found validation data":             func(p *train.Problem) { p.Valid = whole },
		"found the checkpoint c":            func(p *train.Problem) { p.Checkpoint = "c" },
		"found no training data":            func(p *train.Problem) { p.Data = whole.Subset(nil) },
	} {
		one := p
		change(&one)
		_, err := train.NewPart(t.Context(), &one)
		if _, ok := errors.AsType[*train.ProblemError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("found the error %v, expected a *ProblemError with %q", err, want)
		}
	}
}
