package method

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/model"
)

func steps(t testing.TB, texts ...string) []transform.Spec {
	t.Helper()
	var specs []transform.Spec
	for _, text := range texts {
		s, err := transform.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, s)
	}
	return specs
}

// transformed returns a copy of d to whose features the steps learned from of are applied.
func transformed(t testing.TB, d, of *dataset.Dataset, specs []transform.Spec) *dataset.Dataset {
	t.Helper()
	p, err := transform.Learn(specs, of)
	if err != nil {
		t.Fatal(err)
	}
	c := d.Clone()
	c.Change(func(x []float32) { p.Apply(x, d.Features) })
	return c
}

// Every method with every scorer, with and without validation data and normalization,
// learns from features that it transforms what it learns from features that were transformed
// before, to the bit, and such a model gives the same scores of what was not.
func TestTransformIsTrainingOnTransformedData(t *testing.T) {
	long.Test(t)
	specs := steps(t, "clip=5%:90%:1..5", "log1p:2,3", "standard")
	for _, m := range List() {
		for _, kind := range m.Scorers() {
			for _, n := range []dataset.Normalization{dataset.NoNormalization, dataset.MinMax} {
				p := quick(t, m, kind)
				all := p.Data
				p.Data, p.Normalization = all.Subset([]int{0, 2, 3, 5, 7, 8, 9, 11}), n
				if n == dataset.MinMax {
					p.Valid = all.Subset([]int{1, 4, 6, 10})
				}
				before := *p
				p.Transforms = specs
				before.Data = transformed(t, p.Data, p.Data, specs)
				if p.Valid != nil {
					before.Valid = transformed(t, p.Valid, p.Data, specs)
				}
				got, want := mustTrain(t, m, p), mustTrain(t, m, &before)
				if !slices.Equal(got.Params, want.Params) || got.Training.Objective != want.Training.Objective || got.Training.BestEpoch != want.Training.BestEpoch {
					t.Errorf("%s, %s, %s: another model than that of transformed data", m.Name, kind, n)
					continue
				}
				if v, w := got.Training.Validation, want.Training.Validation; (v == nil) != (w == nil) || v != nil && *v != *w {
					t.Errorf("%s, %s: validated at %v, expected %v", m.Name, kind, v, w)
				}
				a, err := got.Score(all)
				if err != nil {
					t.Fatal(err)
				}
				b, err := want.Score(transformed(t, all, p.Data, specs))
				if err != nil || !slices.Equal(a, b) {
					t.Errorf("%s, %s: scores differ (%v)", m.Name, kind, err)
				}
			}
		}
	}
}

// The numbers are those of the training data alone, whatever the validation data are.
func TestTransformsAreLearnedFromTrainingDataAlone(t *testing.T) {
	m := lookup(t, "ranknet")
	var first *model.Model
	for _, factor := range []float32{1, 1000} {
		p := quick(t, m, "net")
		all := p.Data
		p.Data, p.Valid = all.Subset([]int{0, 1, 2, 3, 4, 5, 6}), all.Subset([]int{7, 8, 9, 10})
		p.Valid.Change(func(x []float32) {
			for i := range x {
				x[i] *= factor
			}
		})
		p.Transforms = steps(t, "standard", "clip=1%:99%")
		trained := mustTrain(t, m, p)
		if first == nil {
			first = trained
		} else if !trained.Transforms.Equal(first.Transforms) {
			t.Error("the transforms depend on the validation data")
		}
		for j := range p.Data.Features {
			sum, n := 0.0, float64(p.Data.Docs())
			for i := j; i < len(p.Data.X()); i += p.Data.Features {
				sum += float64(p.Data.X()[i])
			}
			if s := trained.Transforms.Chain(j)[0].(transform.Standard); math.Abs(s.Mean-sum/n) > 1e-9*(1+math.Abs(sum/n)) {
				t.Errorf("feature %d has the mean %v, expected that of the training data, %v", j+1, s.Mean, sum/n)
			}
		}
	}
}

// A missing value becomes the training data's mean or median, for scorers that take none, in
// training, validation and scoring alike.
func TestMissingByMeanAndMedian(t *testing.T) {
	for _, by := range []string{"fill=mean", "fill=median"} {
		for _, name := range []string{"mle", "rankboost", "regression", "lambdamart"} {
			m := lookup(t, name)
			p := quick(t, m, "")
			p.Data.Change(func(x []float32) {
				for i := 3; i < len(x); i += 7 {
					x[i] = float32(math.NaN())
				}
			})
			all := p.Data
			p.Data, p.Valid = all.Subset([]int{0, 1, 2, 3, 4, 5, 6}), all.Subset([]int{7, 8, 9, 10})
			p.Missing, p.Normalization, p.Transforms = dataset.MissingKeep, dataset.ZScore, steps(t, by)
			plain := *p
			plain.Missing, plain.Transforms = dataset.MissingError, nil
			plain.Data, plain.Valid = transformed(t, p.Data, p.Data, p.Transforms), transformed(t, p.Valid, p.Data, p.Transforms)
			if plain.Data.Missing() > 0 || p.Data.Missing() == 0 {
				t.Fatal("nothing was filled in")
			}
			got, want := mustTrain(t, m, p), mustTrain(t, m, &plain)
			if !slices.Equal(got.Params, want.Params) {
				t.Errorf("%s, %s: another model than that of filled data", name, by)
			}
			scores, err := got.Score(all)
			if err != nil {
				t.Fatal(err)
			}
			if same, err := want.Score(transformed(t, all, p.Data, p.Transforms)); err != nil || !slices.Equal(scores, same) {
				t.Errorf("%s, %s: scores differ (%v)", name, by, err)
			}
		}
	}
	p := quick(t, lookup(t, "mle"), "")
	p.Data.Change(func(x []float32) { x[3] = float32(math.NaN()) })
	p.Missing, p.Transforms = dataset.MissingKeep, steps(t, "fill=mean:1..3")
	checkRefused(t, lookup(t, "mle"), p, "mle: found missing values to be kept, expected zero or min")
}

// Validation data with fewer features are those with zeros, which are transformed as well.
func TestTransformsOfNarrowValidationData(t *testing.T) {
	for name, kind := range map[string]string{"lambdamart": "trees", "rankboost": "", "ranknet": "net"} {
		m := lookup(t, name)
		train := func(valid *dataset.Dataset) *model.Model {
			p := quick(t, m, kind)
			p.Data, p.Valid, p.Transforms = p.Data.Subset([]int{0, 1, 2, 3, 4, 5, 6}), valid, steps(t, "standard")
			return mustTrain(t, m, p)
		}
		narrow := smallData(t).Subset([]int{8, 9, 10, 11}).KeepFeatures([]int{0, 1, 2, 3, 4})
		if a, b := train(narrow), train(narrow.Widen(8)); !slices.Equal(a.Params, b.Params) || *a.Training.Validation != *b.Training.Validation {
			t.Errorf("%s: other models", name)
		}
	}
}

// A model that is continued keeps its transforms, on other data too, and takes no new ones; a
// checkpoint of other transforms is refused.
func TestTransformsOfContinuedModelsAndCheckpoints(t *testing.T) {
	m := lookup(t, "lambdamart")
	p := quick(t, m, "")
	all := p.Data
	p.Data, p.Transforms = all.Subset([]int{0, 1, 2, 3, 4}), steps(t, "log1p", "standard")
	first := mustTrain(t, m, p)
	next := quick(t, m, "")
	next.Data, next.Initial = all.Subset([]int{5, 6, 7, 8, 9}), first
	longer := mustTrain(t, m, next)
	if !longer.Transforms.Equal(first.Transforms) || longer.Transforms == nil {
		t.Error("the continued model has other transforms")
	}
	// The same as continuing on data transformed before.
	plain, bare := *next, *first
	bare.Transforms = nil
	plain.Initial, plain.Data = &bare, next.Data.Clone()
	plain.Data.Change(func(x []float32) { first.Transforms.Apply(x, 8) })
	if !slices.Equal(mustTrain(t, m, &plain).Params, longer.Params) {
		t.Error("the continued model learned from other features")
	}
	next.Transforms = steps(t, "log1p")
	checkRefused(t, m, next, "lambdamart: found the transform log1p with a model to continue, expected none: the model's own are kept")

	m = lookup(t, "expgain")
	kill, standard := killable(t, "expgain")
	standard.Transforms = steps(t, "standard")
	path := interrupted(t, kill, standard, 1, 3)
	_, other := killable(t, "expgain")
	other.Transforms, other.Checkpoint = steps(t, "log1p"), path
	if _, err := m.Train(context.Background(), other); err == nil || !strings.Contains(err.Error(), "(transforms=standard), expected transforms=log1p") {
		t.Errorf("a checkpoint of other transforms: %v", err)
	}
	_, none := killable(t, "expgain")
	none.Checkpoint = path
	if _, err := m.Train(context.Background(), none); err == nil || !strings.Contains(err.Error(), "found that of another training") {
		t.Errorf("a checkpoint with transforms, for a training without: %v", err)
	}
	_, own := killable(t, "expgain")
	own.Transforms, own.Checkpoint = standard.Transforms, path
	mustTrain(t, m, own)
}

func TestTransformErrors(t *testing.T) {
	m := lookup(t, "mle")
	p := quick(t, m, "")
	p.Transforms = steps(t, "log1p:9")
	checkRefused(t, m, p, `mle: transform log1p:9: found feature "9", expected a number from 1 to 8`)
	m = lookup(t, "lambdamart")
	p = quick(t, m, "", "categorical", "2")
	p.Transforms = steps(t, "standard")
	checkRefused(t, m, p, "lambdamart: found a transform (standard) of the categorical feature 2")
	p.Transforms = steps(t, "standard:3..8")
	mustTrain(t, m, p)
}
