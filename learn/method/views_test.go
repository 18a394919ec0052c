package method

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/model"
)

// viewsOf parses views.
func viewsOf(t testing.TB, text string) dataset.Views {
	t.Helper()
	v, err := dataset.ParseViews(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// asSeen returns a copy of d with what a scorer sees of it: transforms learned from of,
// normalization, views.
func asSeen(t testing.TB, d, of *dataset.Dataset, specs []transform.Spec, n dataset.Normalization, v dataset.Views) *dataset.Dataset {
	t.Helper()
	c := transformed(t, d, of, specs)
	dataset.NormalizeInPlace(c, n)
	return c.View(v)
}

// Every method with every scorer, in every combination of views, transforms and normalization, with
// and without validation data, learns what it learns from features that were changed and viewed
// before, to the bit; its model, read back from its file, gives the scores of such features.
func TestViewsAreTrainingOnViewedData(t *testing.T) {
	long.Test(t)
	cases := []struct {
		views     string
		n         dataset.Normalization
		transform []string
		valid     bool
	}{
		{"raw,rank,zscore", dataset.NoNormalization, nil, true},
		{"rank", dataset.MinMax, []string{"log1p:2,3", "standard"}, false},
		{"zscore,raw", dataset.ZScore, []string{"clip=5%:90%"}, true},
	}
	if testing.Short() {
		cases = cases[:1]
	}
	for _, m := range List() {
		for _, kind := range m.Scorers() {
			for _, c := range cases {
				p := quick(t, m, kind)
				all := p.Data
				p.Data, p.Normalization, p.Views, p.Transforms = all.Subset([]int{0, 2, 3, 5, 7, 8, 9, 11}), c.n, viewsOf(t, c.views), steps(t, c.transform...)
				before := *p
				before.Normalization, before.Views, before.Transforms = dataset.NoNormalization, nil, nil
				before.Data = asSeen(t, p.Data, p.Data, p.Transforms, c.n, p.Views)
				if c.valid {
					p.Valid = all.Subset([]int{1, 4, 6, 10})
					before.Valid = asSeen(t, p.Valid, p.Data, p.Transforms, c.n, p.Views)
				}
				got, want := mustTrain(t, m, p), mustTrain(t, m, &before)
				if !slices.Equal(got.Params, want.Params) || got.Training.Objective != want.Training.Objective || got.Training.BestEpoch != want.Training.BestEpoch {
					t.Errorf("%s, %s, %v: another model than that of viewed data", m.Name, kind, c)
					continue
				}
				if v, w := got.Training.Validation, want.Training.Validation; (v == nil) != (w == nil) || v != nil && *v != *w {
					t.Errorf("%s, %s, %v: validated at %v, expected %v", m.Name, kind, c, v, w)
				}
				b, err := want.Score(asSeen(t, all, p.Data, p.Transforms, c.n, p.Views))
				if err != nil {
					t.Fatal(err)
				}
				if a, err := readBack(t, got).Score(all); err != nil || !slices.Equal(a, b) {
					t.Errorf("%s, %s, %v: scores differ (%v)", m.Name, kind, c, err)
				}
			}
		}
	}
}

// readBack returns the model that a model's file holds.
func readBack(t *testing.T, m *model.Model) *model.Model {
	t.Helper()
	var text bytes.Buffer
	if err := m.Write(&text); err != nil {
		t.Fatal(err)
	}
	back, err := model.Read(&text)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// Trees learn from missing values in ranks and z-scores, too.
func TestViewsKeepWhatIsMissing(t *testing.T) {
	m := lookup(t, "lambdamart")
	p := quick(t, m, "")
	p.Data.Change(func(x []float32) {
		for i := 3; i < len(x); i += 7 {
			x[i] = float32(math.NaN())
		}
	})
	p.Missing, p.Views = dataset.MissingKeep, viewsOf(t, "rank,zscore")
	before := *p
	before.Data, before.Views = p.Data.View(p.Views), nil
	got, want := mustTrain(t, m, p), mustTrain(t, m, &before)
	if !slices.Equal(got.Params, want.Params) || before.Data.Missing() == 0 {
		t.Error("another model than that of viewed data")
	}
	a, err := readBack(t, got).Score(p.Data)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := want.Score(before.Data); err != nil || !slices.Equal(a, b) {
		t.Errorf("scores differ (%v)", err)
	}
}

// A continued model keeps its views, and a model of other views is not continued.
func TestViewsOfContinuedModels(t *testing.T) {
	m := lookup(t, "lambdamart")
	p := quick(t, m, "")
	p.Views = viewsOf(t, "raw,rank")
	first := mustTrain(t, m, p)
	next := quick(t, m, "")
	next.Initial = first
	checkRefused(t, m, next, "lambdamart: model to continue: found one with the views raw,rank, expected raw")
	next.Views = p.Views
	longer := mustTrain(t, m, next)
	if longer.Views.String() != "raw,rank" || longer.NumFeatures() != next.Data.Features {
		t.Errorf("the continued model has the views %s of %d features", longer.Views, longer.NumFeatures())
	}
	viewed, bare := quick(t, m, ""), *first
	bare.Views = nil
	viewed.Data, viewed.Initial = next.Data.View(p.Views), &bare
	if !slices.Equal(mustTrain(t, m, viewed).Params, longer.Params) {
		t.Error("the continued model learned from other features")
	}
}

// What trees are told of a feature holds for all its views; categories have none.
func TestTreesAreToldOfAllViews(t *testing.T) {
	m := lookup(t, "lambdamart")
	p := quick(t, m, "", "monotone", "2:-3", "interactions", "1:2/3:4")
	p.Views = viewsOf(t, "raw,rank")
	before := quick(t, m, "", "monotone", "2:-3:10:-11", "interactions", "1:2:9:10/3:4:11:12")
	before.Data = p.Data.View(p.Views)
	if !slices.Equal(mustTrain(t, m, p).Params, mustTrain(t, m, before).Params) {
		t.Error("other trees than those told of the columns of all views")
	}
	p = quick(t, m, "", "categorical", "2")
	p.Views = viewsOf(t, "raw,rank")
	checkRefused(t, m, p, "lambdamart: found categorical features with the views raw,rank, expected raw alone")
	p.Views = dataset.Views{7}
	checkRefused(t, m, p, "lambdamart: views: found View(7), expected raw, rank or zscore")
}
