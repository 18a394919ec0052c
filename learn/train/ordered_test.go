package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// inWrongOrder returns how many of some pairs of documents that differ in one signed feature
// alone a model ranks against its sign.
func inWrongOrder(t *testing.T, m *model.Model, d *dataset.Dataset, signs []int8) (wrong int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 8))
	x, scores := make([]float32, 2*d.Features), make([]float64, 2)
	for range 20_000 {
		q, other := d.Queries[rng.IntN(len(d.Queries))], d.Queries[rng.IntN(len(d.Queries))]
		copy(x, q.Row(rng.IntN(q.Len())))
		copy(x[d.Features:], x[:d.Features])
		f := rng.IntN(d.Features)
		x[d.Features+f] = other.Row(rng.IntN(other.Len()))[f]
		if err := m.ScoreQuery(scores, x); err != nil {
			t.Fatal(err)
		}
		if (scores[1]-scores[0])*float64(x[d.Features+f]-x[f])*float64(signs[f]) < 0 {
			wrong++
		}
	}
	return wrong
}

// Claim: a refit keeps the order of monotone features for every decay, with Newton steps and
// steps along λ. Some leaves get no documents. Without signs the order is not kept.
func TestRefitKeepsOrder(t *testing.T) {
	signs := []int8{0, -1, 0, 1, 0, 1}
	ndcg := measure.MustParse("ndcg@10", measure.Standard)
	old, fresh := curved(t, 40, 7), curved(t, 12, 9)
	options := tree.Options{Leaves: 16, Monotone: signs}
	for _, l := range []loss.Loss{loss.LambdaRank{Measure: ndcg}, loss.ApproxNDCG{}, loss.SquaredError{}} {
		first := run(t, &Problem{Data: old, Loss: l, Learner: Trees{Rounds: 30, Options: options}, Seed: 5})
		refitted := func(decay float64, o tree.Options) int {
			return inWrongOrder(t, run(t, &Problem{Data: fresh, Loss: l, Learner: Trees{Rounds: 1, Refit: true, Decay: decay, Options: o}, Initial: first, Seed: 5}), old, signs)
		}
		for _, decay := range []float64{0, 0.5, 0.9, 1} {
			if n := refitted(decay, options); n > 0 {
				t.Errorf("%T, decay %v: %d pairs are in the wrong order", l, decay, n)
			}
		}
		if n := refitted(0, tree.Options{Leaves: 16}); n < 100 {
			t.Errorf("%T: without signs %d pairs are in the wrong order, the test shows too little", l, n)
		}
	}
}

// breaksOrder reports whether two points of a grid over all thresholds that differ in one
// signed feature alone have values in the wrong order. All nodes divide by thresholds.
func breaksOrder(nodes []scorer.TreeNode, features int, signs []int8, values []float64) bool {
	grid := make([][]float32, features)
	for f := range grid {
		for _, n := range nodes {
			if n.Feature == f {
				grid[f] = append(grid[f], n.Threshold)
			}
		}
		slices.Sort(grid[f])
		grid[f] = append(slices.Compact(grid[f]), 1e9)
	}
	valueAt := func(x []float32) float64 {
		if len(nodes) == 0 {
			return values[0]
		}
		at := 0
		for at >= 0 {
			if n := &nodes[at]; n.GoesLeft(x[n.Feature]) {
				at = n.Left
			} else {
				at = n.Right
			}
		}
		return values[-1-at]
	}
	x := make([]float32, features)
	var visit func(f int) bool
	visit = func(f int) bool {
		if f < features {
			return slices.ContainsFunc(grid[f], func(v float32) bool { x[f] = v; return visit(f + 1) })
		}
		for g, sign := range signs {
			was := x[g]
			here := valueAt(x)
			for _, v := range grid[g] {
				x[g] = v
				if (valueAt(x)-here)*float64(sign)*float64(v-was) < 0 {
					return true
				}
			}
			x[g] = was
		}
		return false
	}
	return visit(0)
}

// Claim: a warning counts the trees of the continued model that break a constraint. The count
// is that of an enumeration of all thresholds. A model trained with the constraint gets none.
func TestViolationsAreTold(t *testing.T) {
	d := curved(t, 30, 7)
	groups := [][]int{{0, 1}, {2, 3, 4, 5}}
	signs := []int8{1, 0, 1, -1, 0, 0}
	small := tree.Options{Leaves: 5, LeafDocuments: 5}
	trained := func(o tree.Options, initial *model.Model, rounds int) (*model.Model, []string) {
		var told []string
		p := &Problem{Data: d, Loss: loss.SquaredError{}, Learner: Trees{Rounds: rounds, FeatureFraction: 0.5, Options: o}, Seed: 5, Initial: initial, Warn: func(s string) { told = append(told, s) }}
		return run(t, p), told
	}
	first, told := trained(small, nil, 25)
	if len(told) > 0 {
		t.Errorf("without a model to continue: told %q", told)
	}
	order, together, params := 0, 0, first.Params
	for _, nodes := range first.Scorer.(*scorer.Trees).Trees() {
		if breaksOrder(nodes, d.Features, signs, params[:len(nodes)+1]) {
			order++
		}
		params = params[len(nodes)+1:]
		above := make([]uint, len(nodes)) // features on the path to a node, a bit each
		broken := false
		for i, n := range nodes {
			above[i] |= 1 << n.Feature
			broken = broken || above[i]&0b000011 != 0 && above[i]&0b111100 != 0
			for _, c := range []int{n.Left, n.Right} {
				if c >= 0 {
					above[c] = above[i]
				}
			}
		}
		if broken {
			together++
		}
	}
	if order == 0 || order == 25 || together == 0 || together == 25 {
		t.Fatalf("%d and %d of 25 trees break the constraints, the test shows too little", order, together)
	}
	constrained := small
	constrained.Monotone, constrained.Interactions = signs, groups
	want := []string{
		fmt.Sprintf("%d of the 25 trees of the model to continue do not keep the order of the monotone features: the new model keeps that constraint in its new trees or values alone", order),
		fmt.Sprintf("%d of the 25 trees of the model to continue divide by features together that must not interact: the new model keeps that constraint in its new trees or values alone", together),
	}
	if _, told := trained(constrained, first, 1); !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	kept, _ := trained(constrained, nil, 25)
	if _, told := trained(constrained, kept, 1); len(told) > 0 {
		t.Errorf("a model of these constraints: told %q", told)
	}
	var numbers []string
	p := &Problem{Data: d, Loss: loss.SquaredError{}, Learner: Trees{Rounds: 1, Categorical: []bool{true, true, true, true, true, true}, Options: small}, Initial: first, Warn: func(s string) { numbers = append(numbers, s) }}
	if run(t, p); len(numbers) != 1 || !strings.Contains(numbers[0], "25 of the 25 trees of the model to continue take categorical features as numbers") {
		t.Errorf("categories: told %q", numbers)
	}
}

// Lists that do not fit the features are errors, also for a model to continue.
func TestListsOfFeaturesFit(t *testing.T) {
	d := curved(t, 12, 1)
	first := run(t, &Problem{Data: d, Loss: loss.SquaredError{}, Learner: Trees{Rounds: 2}})
	signs, marks := Trees{Options: tree.Options{Monotone: []int8{1}}}, Trees{Categorical: []bool{true}}
	refit := signs
	refit.Refit = true
	for _, l := range []Trees{signs, refit, marks} {
		if _, err := Run(context.Background(), &Problem{Data: d, Loss: loss.SquaredError{}, Learner: l, Initial: first}); err == nil || !strings.Contains(err.Error(), "expected one for each of 6") {
			t.Errorf("%+v: error is %v", l, err)
		}
	}
}

// The zero value of Trees learns.
func TestZeroTrees(t *testing.T) {
	d := curved(t, 12, 1)
	m := run(t, &Problem{Data: d, Loss: loss.SquaredError{}, Learner: Trees{}})
	if n := m.Training.Iterations; n != 300 || m.Constant() {
		t.Errorf("%d trees, constant %v", n, m.Constant())
	}
}
