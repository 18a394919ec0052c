package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// variant is a method with what of its settings makes a training short and its result precise.
type variant struct {
	name, scorer string
	set          map[string]string
}

func (v variant) String() string { return strings.TrimSpace(v.name + " " + v.scorer) }

// variants are all methods of the catalogue, with trees too where they grow them.
func variants() []variant {
	set := map[string]map[string]string{
		"coordascent": {"restarts": "1", "sweeps": "5"}, "rankboost": {"rounds": "20"}, "frank": {"rounds": "20"}, "adarank": {"rounds": "20"},
		"mart": {"trees": "5", "leaf_documents": "1"}, "lambdamart": {"trees": "5", "leaf_documents": "1"},
	}
	var all []variant
	for _, m := range registry {
		v := variant{name: m.Name, set: set[m.Name]}
		if w, err := m.Values(nil); err == nil && v.set == nil && slices.Contains(w.Names(), "epochs") {
			v.set = map[string]string{"epochs": "4"}
		}
		all = append(all, v)
		if slices.Contains(m.Scorers(), treeScorer) && m.Scorers()[0] != treeScorer {
			all = append(all, variant{m.Name, treeScorer, map[string]string{"trees": "5", "leaf_documents": "1"}})
		}
	}
	return all
}

// problem returns what a variant learns from data.
func (v variant) problem(t *testing.T, d *dataset.Dataset) *train.Problem {
	t.Helper()
	m, err := Lookup(v.name)
	if err != nil {
		t.Fatal(err)
	}
	of, err := m.For(v.scorer)
	if err != nil {
		t.Fatal(err)
	}
	values, err := of.Values(v.set)
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{Problem: train.Problem{Data: d, Seed: 3}, Scorer: v.scorer, Values: values}
	if m.UsesMeasure {
		p.Measure = measure.MustParse(m.DefaultMeasure, measure.Convention{})
	}
	whole, err := m.Problem(p)
	if err != nil {
		t.Fatalf("%s: %v", v, err)
	}
	return whole
}

func (v variant) train(t *testing.T, d *dataset.Dataset) *model.Model {
	t.Helper()
	trained, err := train.Run(context.Background(), v.problem(t, d))
	if err != nil {
		t.Fatalf("%s: %v", v, err)
	}
	return trained
}

// weightData are queries of 8 documents with grades from 0 to 2 and three features.
func weightData(t *testing.T, queries int) *dataset.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 7))
	var b dataset.Builder
	for q := range queries {
		grades, x := make([]float64, 8), make([]float32, 24)
		for i := range grades {
			grades[i] = float64((i + q) % 3)
			for j := range 3 {
				x[3*i+j] = float32(0.4*grades[i]*float64(j-1) + rng.NormFloat64())
			}
		}
		if err := b.Add(fmt.Sprint("q", q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// someWeights returns n weights from 0 or 1 to 3.
func someWeights(n, least int) []float64 {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = float64(least + (i*5+i/3)%(4-least))
	}
	return weights
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// kinds are the weights that the tests go through.
var kinds = []string{"queries", "documents"}

func takes(w train.Weighs, kind string) bool {
	return kind == "queries" && w.Queries || kind == "documents" && w.Documents
}

// of returns weights of one kind, ones of the other.
func of(kind string, d *dataset.Dataset, least int) (queries, documents []float64) {
	queries, documents = ones(len(d.Queries)), ones(d.Docs())
	if kind == "queries" {
		return someWeights(len(queries), least), documents
	}
	return queries, someWeights(len(documents), least)
}

// Claim: every method takes weights, and learns something else by them, or refuses them and names
// those that take them.
func TestWeightsCountOrAreRefused(t *testing.T) {
	d := weightData(t, 10)
	for _, v := range variants() {
		plain := v.train(t, d)
		if plain.Training.Weighted != "" {
			t.Errorf("%s: without weights the model says %q", v, plain.Training.Weighted)
		}
		for _, kind := range kinds {
			data := datatest.Weighed(t, d, nil, nil)
			queries, documents := of(kind, d, 1)
			if err := data.Weigh(queries, documents); err != nil {
				t.Fatal(err)
			}
			p := v.problem(t, data)
			trained, err := train.Run(context.Background(), p)
			if !takes(p.Weighs(), kind) {
				var refused *train.WeightsRefused
				if !errors.As(err, &refused) || refused.Of != kind {
					t.Errorf("%s: the error of weights of %s is %v", v, kind, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: weights of %s: %v", v, kind, err)
				continue
			}
			if trained.Training.Weighted != kind {
				t.Errorf("%s: weights of %s are told as %q", v, kind, trained.Training.Weighted)
			}
			if v.name != "random" && v.name != "singlefeature" && slices.Equal(trained.Params, plain.Params) {
				t.Errorf("%s: weights of %s change nothing", v, kind)
			}
		}
	}
	m, err := Lookup("listmle")
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Train(context.Background(), &Problem{Problem: train.Problem{Data: datatest.Weighed(t, d, nil, someWeights(d.Docs(), 1))}})
	want := "listmle: found weights of documents, expected none: the loss loss.ListMLE does not take them; methods that take them, at their defaults: " +
		"ranknet, lambdarank, listnet, rankcosine, xendcg, ranksvm, rankboost, regression, mcrank, lambdamart, mart, random"
	if err == nil || err.Error() != want {
		t.Errorf("error is\n%v, want\n%s", err, want)
	}
}

// Claim: what a method refuses in any case it refuses before features are read, which learning transforms takes.
func TestRefusedBeforeTransformsAreLearned(t *testing.T) {
	d := datatest.Weighed(t, weightData(t, 10), nil, nil)
	if err := d.Weigh(nil, someWeights(d.Docs(), 1)); err != nil {
		t.Fatal(err)
	}
	var reads atomic.Int64
	streamed := d.Through(dataset.Lens{Features: d.Features, Append: func(dst, x []float32) []float32 {
		reads.Add(1)
		return append(dst, x...)
	}})
	clip, err := transform.ParseSpec("clip=1%:99%")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method   string
		maxBytes int64
		part     string
	}{{"listmle", 0, "found weights"}, {"listnet", 100, "raise the limit"}, {"listnet", 0, ""}} {
		reads.Store(0)
		_, err := lookup(t, c.method).Train(t.Context(), &Problem{Problem: train.Problem{Data: streamed, MaxBytes: c.maxBytes, Transforms: []transform.Spec{clip}}})
		refused := err != nil && c.part != "" && strings.Contains(err.Error(), c.part)
		if refused != (c.part != "") || refused != (reads.Load() == 0) {
			t.Errorf("%s in %d bytes: found %d reads of queries and the error %v, expected none if it says %q", c.method, c.maxBytes, reads.Load(), err, c.part)
		}
	}
}

// Claim: a query, or a document, of weight 0 is left out: the model is the same to the bit.
func TestWeightZeroLeavesOut(t *testing.T) {
	d := weightData(t, 10)
	for _, v := range variants() {
		for _, kind := range kinds {
			if !takes(v.problem(t, d).Weighs(), kind) {
				continue
			}
			queries, documents := of(kind, d, 0)
			for i := range queries {
				queries[i] = min(queries[i], 1)
			}
			for i := range documents {
				documents[i] = min(documents[i], 1)
			}
			data := datatest.Weighed(t, d, queries, documents)
			got, want := v.train(t, data), v.train(t, d.KeepDocs(func(query, doc int) bool {
				return queries[query] > 0 && documents[d.Queries[query].Start+doc] > 0
			}))
			if !slices.Equal(got.Params, want.Params) || got.Training.Objective != want.Training.Objective {
				t.Errorf("%s: weights of 0 of %s give %v, objective %v, without them %v, %v", v, kind,
					got.Params, got.Training.Objective, want.Params, want.Training.Objective)
			}
		}
	}
}

// drawing are the variants that copies of a query, or of a document, do not train as a weight does:
// they draw random numbers by query, which those of copies are others of, take a step after
// each query, or have λ that depend on the ranks of documents, of which copies have several.
// TestWeightsMultiplyLosses is about these.
func drawing(v variant, p *train.Problem) bool {
	if _, descends := p.Learner.(train.Descent); descends {
		return true
	}
	if p.Loss != nil && p.Loss.Traits().NonGradient {
		return true
	}
	return slices.Contains([]string{"prank", "random", "listmle", "xendcg", "boltzrank1", "boltzrank2", "l3", "convexloss", "exploss", "combined"}, v.name)
}

// together reports whether second derivatives by the score of a document are not the sum of those
// of its copies, each by its own: those of a softmax, p(1 − p).
func together(v variant, kind string) bool {
	return kind == "documents" && v.name == "listnet" && v.scorer == treeScorer
}

// Claim: a query of weight w counts as w queries alike in every training in which it can, and a
// document likewise: the model gives the same scores, up to rounding.
func TestWeightsCountCopies(t *testing.T) {
	d := weightData(t, 8)
	compared := map[string]int{}
	for _, v := range variants() {
		p := v.problem(t, d)
		for _, kind := range kinds {
			if drawing(v, p) || together(v, kind) || !takes(p.Weighs(), kind) {
				continue
			}
			compared[kind]++
			queries, documents := of(kind, d, 1)
			weighted, copied := v.train(t, datatest.Weighed(t, d, queries, documents)), v.train(t, datatest.Copies(t, d, queries, documents))
			got, err := weighted.Score(d)
			if err != nil {
				t.Fatal(err)
			}
			want, err := copied.Score(d)
			if err != nil {
				t.Fatal(err)
			}
			var off, size float64
			for i := range got {
				off, size = max(off, math.Abs(got[i]-want[i])), max(size, math.Abs(want[i]))
			}
			t.Logf("%-20s %-10s objective %.6g, of copies %.6g; scores differ by %.2g of %.2g", v, kind, weighted.Training.Objective, copied.Training.Objective, off, size)
			// Of splits of equal gain rounding chooses, so that scores may be off while the objective is not.
			if off > 5e-3*size || math.Abs(weighted.Training.Objective-copied.Training.Objective) > 1e-5*(1+math.Abs(copied.Training.Objective)) {
				t.Errorf("%s: with weights of %s scores are off by %v of %v, the objective is %v, of copies %v", v, kind, off, size,
					weighted.Training.Objective, copied.Training.Objective)
			}
		}
	}
	if compared["queries"] < 20 || compared["documents"] < 8 {
		t.Errorf("compared %v methods, expected more", compared)
	}
}

// Claim: whatever the loss, with what it draws, value, λ and second derivatives of the sum over
// queries are the queries' own times their weights.
func TestWeightsMultiplyLosses(t *testing.T) {
	d := weightData(t, 6)
	queries := []float64{2, 0.5, 0, 1, 3, 1e-3}
	losses := 0
	for _, v := range variants() {
		p := v.problem(t, d)
		if p.Loss == nil {
			continue
		}
		losses++
		sum := func(d *dataset.Dataset) *objective.Functional {
			f, err := objective.NewFunctional(d, p.Loss, 9, 1, nil)
			if err != nil {
				t.Fatalf("%s: %v", v, err)
			}
			return f
		}
		rng := rand.New(rand.NewPCG(1, 2))
		scores := make([]float64, d.Docs())
		for i := range scores {
			scores[i] = rng.NormFloat64()
		}
		all := sum(datatest.Weighed(t, d, queries, nil))
		diagonal := sum(d).Diagonal() == nil
		evaluate := func(f *objective.Functional, scores []float64) (value float64, lambda, second []float64) {
			lambda, second = make([]float64, len(scores)), make([]float64, len(scores))
			if diagonal {
				return f.EvalSecond(scores, lambda, second), lambda, second
			}
			return f.Eval(scores, lambda), lambda, second
		}
		value, lambda, second := evaluate(all, scores)
		var want float64
		for i := range d.Queries {
			q := &d.Queries[i]
			own, first, bend := evaluate(sum(d.Subset([]int{i})), scores[q.Start:q.Start+q.Len()])
			want += queries[i] * own
			for j := range first {
				if got := lambda[q.Start+j]; math.Abs(got-queries[i]*first[j]) > 1e-12*(1+math.Abs(got)) {
					t.Errorf("%s: λ is %v, expected %v", v, got, queries[i]*first[j])
				}
				if got := second[q.Start+j]; math.Abs(got-queries[i]*bend[j]) > 1e-12*(1+math.Abs(got)) {
					t.Errorf("%s: second derivative is %v, expected %v", v, got, queries[i]*bend[j])
				}
			}
		}
		if math.Abs(value-want) > 1e-11*(1+math.Abs(want)) {
			t.Errorf("%s: value is %v, expected %v", v, value, want)
		}
	}
	if losses < 25 {
		t.Errorf("%d losses, expected more", losses)
	}
}
