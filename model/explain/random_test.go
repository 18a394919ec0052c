package explain

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/model/scorer"
)

// randomData returns queries of a few documents whose features share values, so that thresholds
// and categories meet them.
func randomData(t testing.TB, rng *rand.Rand, queries, features int) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	for q := range queries {
		docs := 2 + rng.IntN(12)
		x, grades := make([]float32, docs*features), make([]float64, docs)
		for i := range x {
			x[i] = float32(rng.IntN(9)-4) / 2
		}
		for i := range grades {
			grades[i] = float64(rng.IntN(3))
		}
		if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// randomTrees returns trees of up to so many leaves each, with categories among the splits.
func randomTrees(t testing.TB, rng *rand.Rand, features, count, leaves int) *scorer.Trees {
	t.Helper()
	trees := make([][]scorer.TreeNode, count)
	for k := range trees {
		type place struct {
			node int
			left bool
		}
		open := []place{{-1, false}}
		link := func(p place, child int) {
			if p.node < 0 {
				return
			}
			if p.left {
				trees[k][p.node].Left = child
			} else {
				trees[k][p.node].Right = child
			}
		}
		for range rng.IntN(leaves) {
			at := rng.IntN(len(open))
			link(open[at], len(trees[k]))
			n := scorer.TreeNode{Feature: rng.IntN(features), Threshold: float32(rng.IntN(9)-4)/2 + 0.25, MissingLeft: rng.IntN(2) == 0}
			if rng.IntN(4) == 0 {
				n = scorer.TreeNode{Feature: n.Feature, Categories: []float32{float32(rng.IntN(3) - 2), float32(rng.IntN(3) + 1)}}
			}
			open[at] = place{len(trees[k]), true}
			open = append(open, place{len(trees[k]), false})
			trees[k] = append(trees[k], n)
		}
		for leaf, p := range open {
			link(p, -1-leaf)
		}
	}
	s, err := scorer.NewTrees(features, trees)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func modelOf(s scorer.Scorer, rng *rand.Rand) *model.Model {
	m := &model.Model{Method: s.Kind(), Scorer: s, Params: make([]float64, s.NumParams())}
	for i := range m.Params {
		m.Params[i] = rng.NormFloat64()
	}
	return m
}

// kindsOf returns a model of every kind whose scores can be taken apart.
func kindsOf(t testing.TB, rng *rand.Rand, features int) map[string]*model.Model {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var stumps []scorer.Stump
	for range rng.IntN(20) {
		stumps = append(stumps, scorer.Stump{Feature: rng.IntN(features), Threshold: float32(rng.IntN(9)-4) / 2})
	}
	stumps, _ = scorer.MergeStumps(stumps, make([]float64, len(stumps)))
	sums, err := scorer.NewStumps(features, stumps)
	must(err)
	activation := scorer.Activation(rng.IntN(len(scorer.ActivationNames())))
	smooth := []scorer.Activation{scorer.Tanh, scorer.Sigmoid, scorer.Softplus, scorer.Identity}[rng.IntN(4)]
	one, err := scorer.NewLayers(features, []scorer.Layer{{Units: 1, Activation: activation}})
	must(err)
	deep, err := scorer.NewLayers(features, []scorer.Layer{{Units: 5, Activation: smooth}, {Units: 3, Activation: smooth}, {Units: 1, Activation: scorer.Identity}})
	must(err)
	kinked, err := scorer.NewLayers(features, []scorer.Layer{{Units: 5, Activation: scorer.ReLU}, {Units: 3, Activation: scorer.LeakyReLU}, {Units: 1, Activation: scorer.Identity}})
	must(err)
	functions := []*scorer.Trees{randomTrees(t, rng, features, 3, 6), randomTrees(t, rng, features, 3, 6)}
	byTrees, err := scorer.NewTreeClasses([]float64{0, 1, 3}, functions)
	must(err)
	all := map[string]*model.Model{
		"linear":         modelOf(scorer.Linear{Features: features}, rng),
		"stumps":         modelOf(sums, rng),
		"trees":          modelOf(randomTrees(t, rng, features, 5, 12), rng),
		"fm":             modelOf(scorer.FM{Features: features, Factors: 3}, rng),
		"network":        modelOf(scorer.Network{Features: features, Hidden: 4, Activation: activation}, rng),
		"one unit":       modelOf(one, rng),
		"deep network":   modelOf(deep, rng),
		"kinked network": modelOf(kinked, rng),
		"classes":        modelOf(scorer.Classes{Features: features, Values: []float64{0, 1, 3}}, rng),
		"ordinal":        modelOf(scorer.Classes{Features: features, Values: []float64{0, 1, 3}, Ordinal: true}, rng),
		"tree classes":   modelOf(byTrees, rng),
	}
	all["network"].Normalization = dataset.ZScore
	steps, err := transform.New(map[int]transform.Chain{0: {transform.Log1p{}}})
	must(err)
	all["linear"].Transforms = steps
	for kind, views := range map[string]scorer.Scorer{"views of trees": randomTrees(t, rng, 3*features, 4, 9), "views of a sum": scorer.Linear{Features: 3 * features}} {
		all[kind] = modelOf(views, rng)
		all[kind].Views = dataset.Views{dataset.RawView, dataset.RankView, dataset.ZScoreView}
	}
	members := []*model.Model{all["linear"], all["trees"], all["network"], all["views of a sum"]}
	for _, r := range []fuse.Rule{{Kind: fuse.CombSUM}, {Kind: fuse.CombSUM, Scale: fuse.ZScore}, {Kind: fuse.CombSUM, Scale: fuse.Sum}, {Kind: fuse.CombSUM, Scale: fuse.Raw}, {Kind: fuse.Borda}, {Kind: fuse.RRF, K: 60}, {Kind: fuse.CombMNZ}} {
		fused, err := model.NewFused(r, members, []float64{0.413, 0.3, 0.191, 0.1})
		must(err)
		all[ruleText(r)+" fusion"] = fused
	}
	nested, err := model.NewFused(fuse.Rule{Kind: fuse.CombSUM}, []*model.Model{all["linear"], all["combsum (zscore) fusion"]}, []float64{0.53, 0.47})
	must(err)
	all["nested fusion"] = nested
	return all
}
