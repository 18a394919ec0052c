package explain

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Claim: of every kind of model, contributions and base add up to the score to 1e-9, and the
// differences of two documents' contributions to the difference of their scores, which have
// the bits of Model.Score. The remainder is what is left beside them; only networks of several
// layers with kinks have one that shows. Sizes are those of the terms: a member that scores all
// documents nearly the same is scaled up, and so are the terms that its scores cancel from.
func TestContributionsAddUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		features := 1 + rng.IntN(7)
		background, d := randomData(t, rng, 5, features), randomData(t, rng, 3, features)
		for kind, m := range kindsOf(t, rng, features) {
			for _, a := range []Attribution{Auto, Background} {
				e, err := New(m, background, Options{Attribution: a, Sample: 7})
				if err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				scores, err := m.Score(d)
				if err != nil {
					t.Fatal(err)
				}
				for i := range d.Queries {
					checkSums(t, kind, e, &d.Queries[i], scores)
				}
			}
		}
	})
}

func checkSums(t *testing.T, kind string, e *Explainer, q *dataset.Query, scores []float64) {
	t.Helper()
	out, err := e.Explain(q)
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	most := 1e-9
	if kind == "kinked network" {
		most = 1e-4
	}
	for i, s := range out.Scores {
		total, size := out.Base, 1+math.Abs(s)+math.Abs(out.Base)
		for j, v := range out.Row(i) {
			total += v
			size += math.Abs(v) + math.Abs(out.Row(0)[j])
		}
		if math.Float64bits(s) != math.Float64bits(scores[q.Start+i]) {
			t.Fatalf("%s: document %d scores %v, the model says %v", kind, i, s, scores[q.Start+i])
		}
		if got := math.Abs(total + out.Remainder[i] - s); got > 1e-12*size || math.Abs(out.Remainder[i]) > most*size {
			t.Fatalf("%s (%s): base and contributions are %v, remainder %v, score %v", kind, e.About(), total, out.Remainder[i], s)
		}
		parts, remainder := out.Pair(i, 0)
		total = remainder
		for _, v := range parts {
			total += v
		}
		if math.Abs(total-(s-out.Scores[0])) > 1e-12*size || math.Abs(remainder) > 2*most*size {
			t.Fatalf("%s: differences are %v, remainder %v, the scores' %v", kind, total, remainder, s-out.Scores[0])
		}
	}
}

// shapley returns Shapley values by their definition, over all orders' predecessors.
func shapley(n int, value func(in func(int) bool) float64) []float64 {
	values := make([]float64, n)
	factorial := func(k int) float64 { return math.Gamma(float64(k + 1)) }
	for j := range n {
		for subset := range 1 << n {
			if subset>>j&1 == 1 {
				continue
			}
			size := 0
			for k := range n {
				size += subset >> k & 1
			}
			without := value(func(k int) bool { return subset>>k&1 == 1 })
			with := value(func(k int) bool { return subset>>k&1 == 1 || k == j })
			values[j] += factorial(size) * factorial(n-1-size) / factorial(n) * (with - without)
		}
	}
	return values
}

// expected is the value of a tree where a document goes both ways at features that are left out,
// in the proportions of the background; halves where none of it comes.
func expected(nodes []scorer.TreeNode, values []float64, at int, x []float32, in func(int) bool, background [][]float32) float64 {
	if at < 0 {
		return values[-1-at]
	}
	n := &nodes[at]
	var left, right [][]float32
	for _, row := range background {
		if n.GoesLeft(row[n.Feature]) {
			left = append(left, row)
		} else {
			right = append(right, row)
		}
	}
	share := 0.5
	if len(background) > 0 {
		share = float64(len(left)) / float64(len(background))
	}
	if in(n.Feature) {
		if share = 0; n.GoesLeft(x[n.Feature]) {
			share = 1
		}
	}
	return share*expected(nodes, values, n.Left, x, in, left) + (1-share)*expected(nodes, values, n.Right, x, in, right)
}

func rowsOf(d *dataset.Dataset) [][]float32 {
	var rows [][]float32
	for i := range d.Queries {
		for j := range d.Queries[i].Len() {
			rows = append(rows, d.Queries[i].Row(j))
		}
	}
	return rows
}

// loseSome makes some values missing.
func loseSome(rng *rand.Rand, d *dataset.Dataset) {
	for i := range d.X() {
		if rng.IntN(8) == 0 {
			d.X()[i] = float32(math.NaN())
		}
	}
}

// Claim: the contributions of trees are the Shapley values of both games, enumerated over all
// subsets of up to eight features, with missing values, categories, and splits that no
// document of the background comes to.
func TestTreesAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 2))
		features := 1 + rng.IntN(8)
		leaves := rapid.SampledFrom([]int{1, 4, 12, 40}).Draw(r, "leaves")
		s := randomTrees(t, rng, features, 3, leaves)
		m := modelOf(s, rng)
		m.Missing = dataset.MissingKeep
		background, d := randomData(t, rng, 1+rng.IntN(4), features), randomData(t, rng, 1, features)
		loseSome(rng, background)
		loseSome(rng, d)
		rows, q := rowsOf(background), &d.Queries[0]
		paths := explained(t, m, background, q, Path)
		sets := explained(t, m, background, q, Background)
		for i := range min(2, q.Len()) {
			x := q.Row(i)
			want, against := make([]float64, features), make([]float64, features)
			params := m.Params
			for _, nodes := range s.Trees() {
				values, root := params[:len(nodes)+1], 0
				if params = params[len(values):]; len(nodes) == 0 {
					root = -1
				}
				for j, v := range shapley(features, func(in func(int) bool) float64 { return expected(nodes, values, root, x, in, rows) }) {
					want[j] += v
				}
				for j, v := range shapley(features, func(in func(int) bool) float64 { return replaced(nodes, values, root, x, in, rows) }) {
					against[j] += v
				}
			}
			same(t, "path", paths.Row(i), want)
			same(t, "background", sets.Row(i), against)
		}
	})
}

// replaced is the mean value of a tree where features that are left out are a background
// document's.
func replaced(nodes []scorer.TreeNode, values []float64, root int, x []float32, in func(int) bool, background [][]float32) float64 {
	var total float64
	for _, row := range background {
		at := root
		for at >= 0 {
			n := &nodes[at]
			v := row[n.Feature]
			if in(n.Feature) {
				v = x[n.Feature]
			}
			if at = n.Right; n.GoesLeft(v) {
				at = n.Left
			}
		}
		total += values[-1-at]
	}
	return total / float64(len(background))
}

func explained(t testing.TB, m *model.Model, background *dataset.Dataset, q *dataset.Query, a Attribution) *Query {
	t.Helper()
	e, err := New(m, background, Options{Attribution: a, Sample: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.Explain(q)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t testing.TB, what string, got, want []float64) {
	t.Helper()
	for j := range want {
		if math.Abs(got[j]-want[j]) > 1e-10*(1+math.Abs(want[j])) {
			t.Fatalf("%s: feature %d contributes %v, want %v (of %v, %v)", what, j+1, got[j], want[j], got, want)
		}
	}
}

// Claim: against the background's documents, every kind has the Shapley values of its scores
// by their definition; those of weighted sums and stumps are so under any attribution.
func TestScorersAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 3))
		features := 1 + rng.IntN(5)
		background, d := randomData(t, rng, 2, features), randomData(t, rng, 1, features)
		all := kindsOf(t, rng, features)
		for _, kind := range []string{"linear", "stumps", "trees", "deep network", "ordinal", "tree classes"} {
			m := all[kind]
			m.Transforms = nil
			rows, q := rowsOf(background), &d.Queries[0]
			score := func(x []float32) float64 {
				s := make([]float64, 1)
				m.Scorer.Score(s, m.Params, x, new(scorer.Workspace))
				return s[0]
			}
			want := shapley(features, func(in func(int) bool) float64 {
				total, x := 0.0, make([]float32, features)
				for _, row := range rows {
					for j := range x {
						if x[j] = row[j]; in(j) {
							x[j] = q.Row(0)[j]
						}
					}
					total += score(x)
				}
				return total / float64(len(rows))
			})
			same(t, kind, explained(t, m, background, q, Background).Row(0), want)
			if kind == "linear" || kind == "stumps" {
				same(t, kind, explained(t, m, background, q, Auto).Row(0), want)
			}
		}
	})
}

// Claim: what cannot be taken apart exactly is refused with its kind and what can be had
// instead: random scores, scores that depend on other documents, trees under a logistic
// function of many features, and attributions that are for others.
func TestRefusals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := randomData(t, rng, 6, 14)
	many, err := scorer.NewTreeClasses([]float64{0, 1}, []*scorer.Trees{randomTrees(t, rng, 14, 2, 4)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    scorer.Scorer
		a    Attribution
		want string
	}{
		{scorer.Random{Features: 14}, Auto, "random"},
		{scorer.PairNetwork{Features: 14, Hidden: 2, PairHidden: 2}, Auto, "pairnet"},
		{many, Auto, "treeclasses"},
		{scorer.Network{Features: 14, Hidden: 2}, Path, "net"},
		{randomTrees(t, rng, 14, 2, 4), Gradients, "trees"},
	} {
		_, err := New(modelOf(c.s, rng), d, Options{Attribution: c.a})
		refused, ok := errors.AsType[*RefusedError](err)
		if !ok || refused.Kind != c.want || !strings.Contains(err.Error(), "importance by the loss of a measure") {
			t.Errorf("%s under %s: found the error %v", c.s.Kind(), c.a, err)
		}
	}
}
