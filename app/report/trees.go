package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// trees is what the page shows of a system whose models are trees.
type trees struct {
	System int   `json:"system"`
	Count  []int `json:"count"` // of trees, in each division
	Leaves int   `json:"leaves"`

	// Features, from 1, in descending order of Gain, a feature's share of the variance of the
	// trees' values that splits by it explain; Splits are their number, in all divisions.
	Features []int     `json:"f"`
	Gain     []float64 `json:"g"`
	Splits   []int     `json:"n"`
	Others   int       `json:"others,omitempty"`

	// Value is the mean of the first measure after At trees, Best the place of the largest.
	At    []int     `json:"x"`
	Value []float64 `json:"y"`
	Best  int       `json:"best"`

	First []drawnTree `json:"first"` // of the first division
}

const (
	stagedPoints = 200 // of a staged curve, at most
	firstTrees   = 3   // are drawn
)

// lookAtTrees takes apart the systems that are trees in all divisions.
func (r *Report) lookAtTrees(in *input) error {
	r.data.Trees = []trees{} // not null
	for s := range in.names {
		var l treesLook
		for k := range in.divisions {
			if m := in.model(s, k); m != nil {
				d := in.divisions[k].Test
				if f, ok := m.Scorer.(*scorer.Trees); ok {
					columns, err := m.Columns(d)
					if err != nil {
						return err
					}
					l.forests = append(l.forests, forestOf{m, columns, in.features.places(m, d), f, f.Trees()})
				}
			}
		}
		if len(l.forests) < len(in.divisions) {
			continue
		}
		l.stage()
		for k, f := range l.forests {
			l.pass(in, f, in.divisions[k].Test)
		}
		t := l.summary(s)
		r.data.Trees = append(r.data.Trees, t)
		r.view.Trees = append(r.view.Trees, treesText{in.names[s], textOf(t.First, in.features.list())})
	}
	r.data.Features = in.features.list()
	return nil
}

// forestOf is a model of trees.
type forestOf struct {
	model   *model.Model
	columns []int // of the data; nil: the first ones
	places  []int // of features among those of the page; nil: their numbers
	*scorer.Trees
	nodes [][]scorer.TreeNode
}

// treesLook gathers what is shown, in one pass over the documents of all divisions.
type treesLook struct {
	forests      []forestOf
	at           []int     // stages: numbers of trees
	sums         []float64 // of the measure at each, over the queries that count, by their weights
	counted      float64   // Σ of these weights
	gain, splits []float64 // of each feature
	first        []drawnTree

	x      []float32
	scores []float64
	ranker measure.Ranker
}

// stage chooses the numbers of trees after which the measure is taken.
func (l *treesLook) stage() {
	most := 0
	for _, f := range l.forests {
		most = max(most, len(f.nodes))
		for len(l.gain) < max(f.NumFeatures(), 1+slices.Max(append([]int{0}, f.places...))) {
			l.gain, l.splits = append(l.gain, 0), append(l.splits, 0)
		}
	}
	step := max(1, (most+stagedPoints-1)/stagedPoints)
	for t := min(1, most); t <= most; t += step {
		l.at = append(l.at, t)
	}
	if last := l.at[len(l.at)-1]; last < most {
		l.at = append(l.at, most)
	}
	l.sums = make([]float64, len(l.at))
}

// pass scores the documents of a division tree by tree.
func (l *treesLook) pass(in *input, f forestOf, d *dataset.Dataset) {
	docs := make([]int, f.NumParams()) // at each leaf
	l.ranker.Ties = in.Ties
	for i := range d.Queries {
		q := &d.Queries[i]
		l.x = f.model.Inputs(l.x[:0], q, f.columns)
		l.scores = append(l.scores[:0], make([]float64, q.Len())...)
		ok := false
		for k, next := 0, 0; next < len(l.at); k++ {
			if k == l.at[next] {
				var v float64
				if v, ok = l.ranker.Value(in.Measures[0], q.Grades, l.scores); ok {
					l.sums[next] += float64(q.Weight() * v)
				}
				next++
			}
			if k < len(f.nodes) {
				for j := range l.scores {
					leaf := f.Leaf(k, l.x[j*f.NumFeatures():(j+1)*f.NumFeatures()])
					docs[leaf]++
					l.scores[j] += f.model.Params[leaf]
				}
			}
		}
		if ok {
			l.counted += q.Weight()
		}
	}
	l.weigh(f, docs)
}

// weigh adds what the splits of a forest explain, given the documents at each leaf. Of a
// tree's values over the documents, a split explains the variance between its sides,
//
//	n_l·n_r/(n_l + n_r) · (mean_l − mean_r)²
//
// with the numbers of documents and the mean values on its left and right; over all splits
// that adds up to the variance of the tree's values.
func (l *treesLook) weigh(f forestOf, docs []int) {
	values := f.model.Params
	for _, nodes := range f.nodes {
		n, sum := make([]int, len(nodes)), make([]float64, len(nodes))
		of := func(child int) (int, float64) {
			if child >= 0 {
				return n[child], sum[child]
			}
			return docs[-1-child], float64(docs[-1-child]) * values[-1-child]
		}
		for i := len(nodes) - 1; i >= 0; i-- {
			ln, ls := of(nodes[i].Left)
			rn, rs := of(nodes[i].Right)
			n[i], sum[i] = ln+rn, ls+rs
			place := placeOf(f.places, nodes[i].Feature)
			l.splits[place]++
			if ln > 0 && rn > 0 {
				between := ls/float64(ln) - rs/float64(rn)
				l.gain[place] += float64(float64(ln) * float64(rn) / float64(ln+rn) * between * between)
			}
		}
		if len(l.first) < firstTrees && f.Trees == l.forests[0].Trees {
			l.first = append(l.first, newDrawnTree(nodes, f.places, docs[:len(nodes)+1], values[:len(nodes)+1]))
		}
		docs, values = docs[len(nodes)+1:], values[len(nodes)+1:]
	}
}

// summary is what the page gets.
func (l *treesLook) summary(system int) trees {
	t := trees{System: system, At: l.at, First: l.first}
	for _, f := range l.forests {
		t.Count = append(t.Count, len(f.nodes))
		t.Leaves = max(t.Leaves, f.NumParams())
	}
	for i, sum := range l.sums {
		t.Value = append(t.Value, rounded(sum/float64(max(1, l.counted)), 5))
		if t.Value[i] > t.Value[t.Best] {
			t.Best = i
		}
	}
	total := 0.0
	var order []int
	for f, n := range l.splits {
		total += l.gain[f]
		if n > 0 {
			order = append(order, f)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.gain[b], l.gain[a]), cmp.Compare(l.splits[b], l.splits[a]))
	})
	t.Others = max(0, len(order)-shownFeatures)
	for _, f := range order[:min(len(order), shownFeatures)] {
		t.Features, t.Splits = append(t.Features, f+1), append(t.Splits, int(l.splits[f]))
		t.Gain = append(t.Gain, rounded(l.gain[f]/math.Max(total, math.SmallestNonzeroFloat64), 3))
	}
	return t
}
