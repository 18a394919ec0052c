package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/tune/ensemble"
)

// withTrees is a scenario of two folds: trees, of a different number in each, and a linear model.
func withTrees(t testing.TB) *scenario {
	d := generated(t, 24, 30, 6, 9)
	s := &scenario{config: Config{Title: "Trees", Source: "made", Measures: mustMeasures(t, "ndcg@5,map", "letor3"), Ties: measure.TiesAverage, Permutations: 100, Resamples: 50, Seed: 1}}
	for k := range 2 {
		var parts [2][]int
		for i := range d.Queries {
			parts[i%2] = append(parts[i%2], i)
		}
		train, test := d.Subset(parts[1-k]), d.Subset(parts[k])
		set := map[string]string{"trees": strconv.Itoa(7 + 5*k), "leaves": "9", "leaf_documents": "3", "patience": "0"}
		s.divisions = append(s.divisions, ensemble.Division{Name: fmt.Sprintf("Fold%d", k+1), Test: test, Systems: []ensemble.System{
			system(t, "trees "+hostile, trained(t, train, "lambdamart", set), test), system(t, "mle", trained(t, train, "mle", nil), test),
		}})
	}
	return s
}

// firstOf returns the model of the first trees of a model.
func firstOf(t testing.TB, m *model.Model, trees int) *model.Model {
	t.Helper()
	nodes := m.Scorer.(*scorer.Trees).Trees()
	nodes = nodes[:min(trees, len(nodes))]
	first, leaves := *m, 0
	for _, n := range nodes {
		leaves += len(n) + 1
	}
	s, err := scorer.NewTrees(m.Scorer.NumFeatures(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	first.Scorer, first.Params = s, m.Params[:leaves]
	return &first
}

// Claim: a staged curve has the mean over all queries that models of so many of the trees
// have, those of all trees once a fold has no more.
func TestStagedCurveIsThatOfShorterModels(t *testing.T) {
	s := withTrees(t)
	r, _ := s.build(t)
	if len(r.data.Trees) != 1 || !slices.Equal(r.data.Trees[0].Count, []int{7, 12}) || len(r.data.Trees[0].At) != 12 {
		t.Fatalf("the page has %+v", r.data.Trees)
	}
	got := r.data.Trees[0]
	for i, n := range got.At {
		var results []*measure.Result
		for _, d := range s.divisions {
			scores, err := firstOf(t, d.Systems[0].Model, n).Score(d.Test)
			if err != nil {
				t.Fatal(err)
			}
			result, err := measure.Evaluate(d.Test, scores, s.config.Measures, s.config.Ties)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, result)
		}
		if want := measure.Pool(results...).Mean(s.config.Measures[0]); math.Abs(got.Value[i]-want) > 1e-5 {
			t.Errorf("after %d trees the mean is %v, want %v", n, got.Value[i], want)
		}
		if got.Value[i] > got.Value[got.Best] {
			t.Errorf("after %d trees the mean is %v, larger than the best", n, got.Value[i])
		}
	}
}

// Claim: what splits explain adds up to the variance of the trees' values over the documents,
// and shares to one; splits are counted.
func TestGainIsTheVarianceExplained(t *testing.T) {
	s := withTrees(t)
	r, _ := s.build(t)
	in, err := newInput(&s.config, s.divisions)
	if err != nil {
		t.Fatal(err)
	}
	var l treesLook
	want, nodes := 0.0, 0
	for k := range s.divisions {
		m := in.model(0, k)
		f := m.Scorer.(*scorer.Trees)
		l.forests = append(l.forests, forestOf{m, nil, nil, f, f.Trees()})
		for tree, n := range f.Trees() {
			nodes += len(n)
			var values []float64
			for i := range s.divisions[k].Test.Queries {
				x := m.Inputs(nil, &s.divisions[k].Test.Queries[i], nil)
				for ; len(x) > 0; x = x[f.NumFeatures():] {
					values = append(values, m.Params[f.Leaf(tree, x[:f.NumFeatures()])])
				}
			}
			mean := 0.0
			for _, v := range values {
				mean += v / float64(len(values))
			}
			for _, v := range values {
				want += (v - mean) * (v - mean)
			}
		}
	}
	l.stage()
	for k, f := range l.forests {
		l.pass(in, f, s.divisions[k].Test)
	}
	sum, splits, shares := 0.0, 0, 0.0
	for f, g := range l.gain {
		sum, splits = sum+g, splits+int(l.splits[f])
	}
	if math.Abs(sum-want) > 1e-9*want || splits != nodes {
		t.Errorf("splits explain %v of %v, and are %d of %d", sum, want, splits, nodes)
	}
	for _, g := range r.data.Trees[0].Gain {
		shares += g
	}
	if math.Abs(shares-1) > 0.01 {
		t.Errorf("shares add up to %v", shares)
	}
}

// Claim: the text of a tree says its tests, values and documents, down to a depth.
func TestTreeAsText(t *testing.T) {
	nodes := []scorer.TreeNode{
		{Feature: 1, Threshold: -0.5, MissingLeft: true, Left: -1, Right: 1},
		{Feature: 0, Categories: []float32{1, 2, 3, 4, 5, 6, 7}, Left: 2, Right: -2},
		{Threshold: 1, Left: -3, Right: 3},
		{Threshold: 2, Left: -4, Right: 4},
		{Threshold: 3, Left: -5, Right: -6},
	}
	tree := newDrawnTree(nodes, nil, []int{1000, 5, 4, 3, 1, 2}, []float64{-0.25, 1, 2, 3, 4, 7})
	got := textOf([]drawnTree{tree, newDrawnTree(nil, nil, []int{9}, []float64{0.5})}, []string{"", "tf-idf"})
	want := `tree 1
tf-idf ≤ −0.5 or missing? (1,015 documents)
├─ yes: −0.25 (1,000 documents)
└─ no: feature 1 one of 1, 2, 3, 4, 5 and 2 more? (15 documents)
   ├─ yes: feature 1 ≤ 1? (10 documents)
   │  ├─ yes: +2 (4 documents)
   │  └─ no: feature 1 ≤ 2? (6 documents)
   │     ├─ yes: +3 (3 documents)
   │     └─ no: … 2 leaves, mean +6 (3 documents)
   └─ no: +1 (5 documents)
tree 2
+0.5 (9 documents)
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Claim: a page without trees has no section of them, one with has text that needs no script.
func TestTreesHaveASection(t *testing.T) {
	_, page := withTrees(t).build(t)
	if !bytes.Contains(page, []byte(`<section id="trees"`)) || !bytes.Contains(page, []byte("├─ yes: ")) {
		t.Error("the trees are not shown")
	}
	_, page = small(t).build(t)
	if strings.Contains(string(page), `<section id="trees"`) {
		t.Error("there is a section of trees without any")
	}
}

// Claim: the browser draws the curve, the features and the trees, without a word on the
// console, and no wider than a phone.
func TestTreesAreDrawn(t *testing.T) {
	_, page := withTrees(t).build(t)
	b := open(t, page, 1200)
	for selector, want := range map[string]int{"#staged-plot .line": 2, "#staged-plot .ring": 1, "#trees-drawn svg": firstTrees} {
		if n := eval[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector)); n != want {
			t.Errorf("%d of %s, want %d", n, selector, want)
		}
	}
	if n := eval[int](b, `document.querySelectorAll('#importance-plot .up').length`); n == 0 {
		t.Error("no feature has a bar")
	}
	if eval[bool](b, `window.stolen !== undefined || document.images.length > 0`) {
		t.Error("a hostile name has become markup")
	}
	for _, low := range eval[[]string](b, contrastScript) {
		t.Error(low)
	}
	b.Resize(360)
	if got := eval[int64](b, `document.documentElement.scrollWidth`); got > 360 {
		t.Errorf("the page is %d wide", got)
	}
	b.Quiet()
}
