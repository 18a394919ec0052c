package train

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// plainSum is a weighted sum of trees as its definition has it.
type plainSum struct {
	features int
	trees    [][]scorer.TreeNode
	values   [][]float64
	weights  []float64
}

func (s *plainSum) add(g *tree.Tree, values []float64, weight float64) {
	var nodes []scorer.TreeNode
	for _, n := range g.Nodes {
		nodes = append(nodes, scorer.TreeNode{Feature: n.Feature, Threshold: n.Threshold, MissingLeft: n.MissingLeft, Left: n.Left, Right: n.Right})
	}
	s.trees, s.values, s.weights = append(s.trees, nodes), append(s.values, values), append(s.weights, weight)
}

// params returns the weighted values, 0 for the trees left out.
func (s *plainSum) params(without []bool) []float64 {
	var params []float64
	for t, values := range s.values {
		for _, v := range values {
			if without != nil && without[t] {
				v = 0
			}
			params = append(params, s.weights[t]*v)
		}
	}
	return params
}

func (s *plainSum) scores(t *testing.T, d *dataset.Dataset, without []bool) []float64 {
	t.Helper()
	trees, err := scorer.NewTrees(s.features, s.trees)
	if err != nil {
		t.Fatal(err)
	}
	scores := make([]float64, d.Docs())
	trees.Score(scores, s.params(without), d.X(), nil)
	return scores
}

// plain are the parts that trees are grown with, one by one.
func plain(t *testing.T, d *dataset.Dataset, l loss.Loss, o tree.Options) (*objective.Functional, *tree.Grower) {
	t.Helper()
	f, err := objective.NewFunctional(d, l, 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	bins, err := tree.NewBins(d.X(), d.Features, tree.BinOptions{Most: tree.MaxBins, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	g, err := tree.NewGrower(tree.NewMatrix(d.X(), bins, 1), o)
	if err != nil {
		t.Fatal(err)
	}
	return f, g
}

var fewLeaves = tree.Options{Leaves: 5, LeafDocuments: 1, LeafCurvature: 1e-3}

// Claim: DART is what its paper says: each tree is fitted to the scores of the trees that are
// not left out, and the weights of these and of the new one are those of the formula.
func TestDARTByDefinition(t *testing.T) {
	d := curved(t, 15, 1)
	for _, equal := range []bool{false, true} {
		learner := Trees{Rounds: 14, Rate: 0.4, Sum: DARTTrees, Dropout: Dropout{Rate: 0.5, Skip: 0.2, Most: 3, EqualWeight: equal}, Options: fewLeaves}
		m, err := Run(context.Background(), &Problem{Data: d, Loss: loss.XENDCG{}, Learner: learner, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		f, g := plain(t, d, loss.XENDCG{}, fewLeaves)
		sum, most, none := plainSum{features: d.Features}, 0, 0
		draws := &treeRounds{Trees: learner, seed: 1} // which trees are left out is drawn, and not the claim
		lambda, second := make([]float64, d.Docs()), make([]float64, d.Docs())
		for round := range learner.Rounds {
			draws.trees = sum.trees
			draws.drop(strconv.Itoa(round + 1))
			k := 0.0
			for _, out := range draws.dropped {
				if out {
					k++
				}
			}
			if most = max(most, int(k)); k == 0 {
				none++
			}
			next, dropped, rate := learner.Rate, 1.0, learner.Rate
			switch {
			case k > 0 && equal:
				next, dropped = rate/(1+rate), 1/(1+rate)
			case k > 0:
				next, dropped = rate/(k+rate), k/(k+rate)
			}
			f.EvalSecond(sum.scores(t, d, draws.dropped), lambda, second)
			grown := g.Grow(lambda, second, nil)
			values := g.Values(lambda, second)
			for i := range values {
				values[i] *= next
			}
			for i, out := range draws.dropped {
				if out {
					sum.weights[i] *= dropped
				}
			}
			sum.add(grown, values, 1)
		}
		if most != 3 || none < 2 {
			t.Errorf("at most %d trees were left out, and none in %d rounds", most, none)
		}
		scores, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		if want := sum.scores(t, d, nil); !slices.Equal(scores, want) || !slices.Equal(m.Params, sum.params(nil)) {
			t.Errorf("equal weight %v: scores %v, by the definition %v", equal, scores[:4], want[:4])
		}
	}
}

// Claim: a forest is the mean of trees each grown, from scores of 0 and at rate 1, on queries
// drawn with replacement, where those drawn twice count twice.
func TestForestByDefinition(t *testing.T) {
	d := curved(t, 15, 1)
	const trees = 8
	m, err := Run(context.Background(), &Problem{Data: d, Loss: loss.XENDCG{}, Seed: 1,
		Learner: Trees{Rounds: trees, Rate: 0.3, QueryFraction: 0.8, Sum: ForestTrees, Options: fewLeaves}})
	if err != nil {
		t.Fatal(err)
	}
	f, g := plain(t, d, loss.XENDCG{}, fewLeaves)
	lambda, second := make([]float64, d.Docs()), make([]float64, d.Docs())
	mean := make([]float64, d.Docs())
	for round := range trees {
		f.EvalSecond(make([]float64, d.Docs()), lambda, second)
		rng := random.Stream(1, "queries of a tree", strconv.Itoa(round+1))
		times := make([]int, len(d.Queries))
		for range 12 { // of 15
			times[rng.IntN(15)]++
		}
		var rows []uint32
		for q, n := range times {
			for i := range d.Queries[q].Len() {
				row := d.Queries[q].Start + i
				lambda[row] *= float64(n)
				second[row] *= float64(n)
				if n > 0 {
					rows = append(rows, uint32(row))
				}
			}
		}
		one := plainSum{features: d.Features}
		one.add(g.Grow(lambda, second, rows), g.Values(lambda, second), 1)
		for i, v := range one.scores(t, d, nil) {
			mean[i] += v / trees
		}
	}
	scores, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range scores {
		if math.Abs(v-mean[i]) > 1e-12*(1+math.Abs(v)) {
			t.Fatalf("document %d has the score %v, the mean of the trees is %v", i, v, mean[i])
		}
	}
}

// Claim: a bag is the mean of its members, each trained by itself with a seed of its own.
func TestBagOfTreesByDefinition(t *testing.T) {
	d := curved(t, 15, 1)
	for _, learner := range []Trees{
		{Rounds: 9, QueryFraction: 0.5, Options: fewLeaves},
		{Rounds: 9, Sum: DARTTrees, Dropout: Dropout{Rate: 0.4}, Options: fewLeaves},
		{Rounds: 9, Sum: ForestTrees, FeatureFraction: 0.5, Options: fewLeaves},
	} {
		mean := make([]float64, d.Docs())
		for member := range 3 {
			scores, _ := trained(t, &Problem{Data: d, Loss: loss.XENDCG{}, Learner: learner, Seed: memberSeed(4, member)})
			for i, v := range scores {
				mean[i] += v / 3
			}
		}
		learner.Bag = 3
		bagged, trees := trained(t, &Problem{Data: d, Loss: loss.XENDCG{}, Learner: learner, Seed: 4})
		if n := len(trees.Trees()); n != 27 {
			t.Errorf("sum %d: the bag has %d trees, expected 27", learner.Sum, n)
		}
		for i, v := range bagged {
			if math.Abs(v-mean[i]) > 1e-12*(1+math.Abs(v)) {
				t.Fatalf("sum %d: document %d has the score %v in the bag, the members' mean is %v", learner.Sum, i, v, mean[i])
			}
		}
	}
}

// sums are learners of every kind of sum.
func sums() map[string]Trees {
	return map[string]Trees{
		"dart":     {Sum: DARTTrees, Dropout: Dropout{Rate: 0.4, Skip: 0.3}, QueryFraction: 0.8},
		"forest":   {Sum: ForestTrees, FeatureFraction: 0.7},
		"bag":      {Bag: 3, QueryFraction: 0.6, FeatureFraction: 0.7},
		"dart bag": {Bag: 2, Sum: DARTTrees, Dropout: Dropout{Rate: 0.4, EqualWeight: true}},
	}
}

// Claim: what is validated in a round is, bit for bit, what the model of so many rounds gives,
// though later rounds change the weights of its trees; the model kept is that of the best round.
// Validation data may lack the last features. The number of workers changes nothing.
func TestValidatedIsKept(t *testing.T) {
	ndcg := measure.MustParse("ndcg@10", measure.LETOR3)
	d, valid := curved(t, 15, 1), curved(t, 15, 2).KeepFeatures([]int{0, 1, 2, 3, 4})
	for name, learner := range sums() {
		learner.Rounds, learner.Rate, learner.Options = 12, 0.3, fewLeaves
		var values []float64
		p := &Problem{Data: d, Valid: valid, Loss: loss.LambdaRank{Measure: ndcg}, Measure: ndcg, Learner: learner, Seed: 8, Workers: 2,
			Observe: func(it Iteration) { values = append(values, it.Validation) }}
		whole, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		for round := 1; round <= learner.Rounds; round++ {
			learner.Rounds = round
			m, err := Run(context.Background(), &Problem{Data: d, Loss: p.Loss, Measure: ndcg, Learner: learner, Seed: 8, Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			scores, err := m.Score(valid)
			if err != nil {
				t.Fatal(err)
			}
			ranker := measure.Ranker{Ties: measure.TiesAverage}
			if v, _ := ranker.Mean(valid, scores, measure.For(ndcg, d, valid).(measure.Averager)); v != values[round-1] {
				t.Errorf("%s: round %d was validated at %v, the model of so many rounds has %v", name, round, values[round-1], v)
			}
			if round == whole.Training.BestEpoch && !slices.Equal(m.Params, whole.Params) {
				t.Errorf("%s: the model kept is not that of round %d", name, round)
			}
			learner.Rounds = 12
		}
		if best := slices.Index(values, slices.Max(values)) + 1; best != whole.Training.BestEpoch || best == 12 {
			t.Errorf("%s: kept round %d, the best is %d", name, whole.Training.BestEpoch, best)
		}
	}
}

// Claim: sums of every kind go on from checkpoints to the same bytes.
func TestTreeSumsResume(t *testing.T) {
	for name, learner := range sums() {
		t.Run(name, func(t *testing.T) {
			p := interruptible(t)
			learner.Rounds, learner.Rate, learner.Options = 30, 0.2, fewLeaves
			p.Learner = learner
			resumes(t, p, 1, 12, 23)
		})
	}
}

// Claim: members of a bag that have no further tree stay as they are, also after an
// interruption.
func TestBagMembersEnd(t *testing.T) {
	p := interruptible(t)
	p.Valid = nil
	p.Learner = Trees{Rounds: 40, Rate: 1, Bag: 3, QueryFraction: 0.5, Options: tree.Options{Leaves: 4, LeafDocuments: 1, LeafCurvature: 1e-3}}
	m, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	rounds, trees := m.Training.Iterations, len(m.Scorer.(*scorer.Trees).Trees())
	if rounds == 40 || trees == 3*rounds {
		t.Fatalf("%d trees in %d rounds: no member ended before another", trees, rounds)
	}
	resumes(t, p, 1, rounds/2, rounds-1)
}

// Claim: a state of one kind of sum is none of another, and settings out of range are refused.
func TestTreeSumsRefuse(t *testing.T) {
	for want, learner := range map[string]Trees{
		"found the sum of trees 3":                {Sum: 3},
		"found the dropout 2":                     {Sum: DARTTrees, Dropout: Dropout{Rate: 2}},
		"found the probability NaN of a round":    {Sum: DARTTrees, Dropout: Dropout{Skip: math.NaN()}},
		"found 65537 leaves":                      {Sum: DARTTrees, Options: tree.Options{Leaves: 65537}},
		"sampled by their gradients":              {Sum: ForestTrees, GOSSTop: 0.2},
		"found a bag of -1":                       {Bag: -1},
		"found bag=2 with nothing that is drawn ": {Bag: 2, QueryFraction: 1},
	} {
		if learner.Leaves == 0 {
			learner.Options = fewLeaves
		}
		_, err := Run(context.Background(), &Problem{Data: curved(t, 5, 6), Loss: loss.RankNet{}, Learner: learner})
		var problem *ProblemError
		if !errors.As(err, &problem) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	p := interruptible(t)
	r := &treeRounds{Trees: Trees{Sum: DARTTrees}, data: p.Data}
	if err := r.goOnFrom(&treesState{trees: [][]scorer.TreeNode{nil}, leaves: []float64{1}, rounds: 1}); err == nil || !strings.Contains(err.Error(), "another kind of sum") {
		t.Errorf("error is %v", err)
	}
}

// The k-th largest number is that of sorted ones, also where many are alike.
func TestKthLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, math.MaxFloat64), rapid.SampledFrom([]float64{0, 1, 2, 1e-320})), 1, 50).Draw(t, "values")
		k := rapid.IntRange(1, len(values)).Draw(t, "k")
		sorted := slices.Sorted(slices.Values(values))
		slices.Reverse(sorted)
		want, wantAlike := sorted[k-1], 0
		for _, v := range sorted[:k] {
			if v == want {
				wantAlike++
			}
		}
		if v, alike := kthLargest(values, k); v != want || alike != wantAlike {
			t.Fatalf("the %d. largest of %v is %v, %d alike, expected %v, %d", k, values, v, alike, want, wantAlike)
		}
	})
}

// sampled is a training whose documents are drawn from.
func sampled(docs int, l Trees) *treeRounds {
	r := &treeRounds{Trees: l, seed: 3, treesState: treesState{scores: make([]float64, docs)}, lambda: make([]float64, docs), second: make([]float64, docs)}
	rng := rand.New(rand.NewPCG(1, 9))
	for i := range docs {
		r.lambda[i], r.second[i] = rng.NormFloat64(), float64(rng.IntN(3))
	}
	return r
}

// Documents are drawn evenly, in order, as many as asked for, of those that there are to draw
// from.
func TestDocumentsAreDrawnEvenly(t *testing.T) {
	r := sampled(40, Trees{DocumentFraction: 0.3})
	var odd []uint32
	for i := uint32(1); i < 40; i += 2 {
		odd = append(odd, i)
	}
	for _, rows := range [][]uint32{nil, odd} {
		counts, want := make([]int, 40), 12
		if rows != nil {
			want = 6
		}
		const rounds = 4000
		for round := range rounds {
			drawn := r.documents(strconv.Itoa(round), rows)
			if len(drawn) != want || !slices.IsSorted(drawn) {
				t.Fatalf("drawn are %v, expected %d in order", drawn, want)
			}
			for i, row := range drawn {
				if counts[row]++; i > 0 && drawn[i-1] == row {
					t.Fatalf("drawn are %v, expected different ones", drawn)
				}
			}
		}
		for row, n := range counts {
			// Five standard deviations of the number of rounds that draw it.
			if in := rows == nil || row%2 == 1; in && math.Abs(float64(n)-0.3*rounds) > 5*math.Sqrt(0.21*rounds) || !in && n > 0 {
				t.Errorf("document %d was drawn %d times in %d rounds", row, n, rounds)
			}
		}
	}
}

// GOSS keeps the documents of the largest |λ|·second as they are, and those drawn from the
// others have on average the sums of all of these.
func TestGOSSEstimatesTheSums(t *testing.T) {
	const docs, rounds = 50, 4000
	r := sampled(docs, Trees{GOSSTop: 0.2, GOSSRest: 0.3})
	order := numbered(docs)
	slices.SortStableFunc(order, func(a, b uint32) int {
		return cmp.Compare(math.Abs(r.lambda[b])*r.second[b], math.Abs(r.lambda[a])*r.second[a])
	})
	top := order[:10]
	mean := make([]float64, docs)
	for round := range rounds {
		drawn, lambda, second := r.goss(strconv.Itoa(round), nil)
		if len(drawn) != 25 || !slices.IsSorted(drawn) {
			t.Fatalf("drawn are %v, expected 25 in order", drawn)
		}
		for _, row := range drawn {
			factor := 40.0 / 15
			if slices.Contains(top, row) {
				factor = 1
			}
			if lambda[row] != factor*r.lambda[row] || second[row] != factor*r.second[row] {
				t.Fatalf("document %d has λ %v and %v, expected %v times %v and %v", row, lambda[row], second[row], factor, r.lambda[row], r.second[row])
			}
			mean[row] += factor / rounds
		}
	}
	for row, m := range mean {
		// Five standard deviations; the top has none.
		if deviation := 40.0 / 15 * math.Sqrt(0.375*0.625/rounds); math.Abs(m-1) > 5*deviation {
			t.Errorf("document %d counts %v on average, expected 1", row, m)
		}
	}
	r.GOSSRest = 0
	three := []uint32{order[30], order[1], order[0]}
	if drawn, _, _ := r.goss("1", three); !slices.Equal(drawn, order[:1]) {
		t.Errorf("of the documents %v %v are the top fifth, expected %v", three, drawn, order[:1])
	}
}

func numbered(n int) []uint32 {
	rows := make([]uint32, n)
	for i := range rows {
		rows[i] = uint32(i)
	}
	return rows
}

// The model that Shorter gives for fewer rounds has the bytes of a training with that many rounds and without
// validation data.
func TestShorterIsATraining(t *testing.T) {
	for name, change := range map[string]func(l *Trees){
		"one sum":   func(*Trees) {},
		"a bag":     func(l *Trees) { l.Bag = 3 },
		"drawn":     func(l *Trees) { l.Redraw, l.FeatureFraction = true, 0.5 },
		"symmetric": func(l *Trees) { l.Growth = tree.Symmetric },
	} {
		p := interruptible(t)
		l := p.Learner.(Trees)
		change(&l)
		p.Learner = l
		var shorter func(rounds int) *model.Model
		p.Shorter = func(f func(rounds int) *model.Model) { shorter = f }
		m, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, rounds := range []int{1, 7, m.Training.Iterations} {
			q := interruptible(t)
			l.Rounds = rounds
			q.Valid, q.Learner = nil, l
			if got, want := written(t, shorter(rounds)), modelBytes(t, q); got != want {
				t.Errorf("%s, %d rounds: the models differ", name, rounds)
			}
		}
		if shorter(0) != nil || shorter(m.Training.Iterations+1) != nil {
			t.Errorf("%s: got a model of more rounds than were trained, or of none", name)
		}
	}
	for name, change := range map[string]func(l *Trees){"DART": func(l *Trees) { l.Sum = DARTTrees }, "forest": func(l *Trees) { l.Sum = ForestTrees }} {
		p := interruptible(t)
		l := p.Learner.(Trees)
		change(&l)
		p.Learner, p.Shorter = l, func(func(rounds int) *model.Model) {
			t.Errorf("%s: Shorter was called, but weights depend on the number of trees", name)
		}
		if _, err := Run(context.Background(), p); err != nil {
			t.Fatal(err)
		}
	}
}

// A training with validation data that finds no split returns a model without trees, with and without Shorter.
func TestNoSplit(t *testing.T) {
	for _, shorter := range []func(func(rounds int) *model.Model){nil, func(f func(rounds int) *model.Model) {
		if f(1) != nil {
			t.Error("got a model of one tree, expected none")
		}
	}} {
		p := interruptible(t)
		l := p.Learner.(Trees)
		l.LeafDocuments = 1 << 20
		p.Learner, p.Shorter = l, shorter
		m, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if m.Training.Iterations != 0 {
			t.Errorf("got %d rounds, expected 0", m.Training.Iterations)
		}
	}
}
