package train

import (
	"cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/tree"
)

// eachQuery visits the queries, several workers at a time, with their row-major features, which visit must not keep.
func eachQuery(d *dataset.Dataset, workers int, visit func(worker int, q *dataset.Query, x []float32)) {
	readers := make([]*dataset.RowReader, parallel.Workers(workers, len(d.Queries)))
	for w := range readers {
		readers[w] = d.Reader()
	}
	parallel.For(len(d.Queries), workers, func(worker, i int) {
		visit(worker, &d.Queries[i], readers[worker].At(i))
	})
}

// What trees hold of a document beside its codes: a grower of places and sums; and each sum of trees of scores, λ, second
// derivatives and a line search, of the scores that trees whose weights change are fitted at, and of what is drawn with
// replacement.
const (
	growerBytes    = 20
	sumBytes       = 60
	reweighedBytes = 10
	drawnBytes     = 20
)

// exactBytes are those of a value where every value is looked at.
const exactBytes = 8

// leafBytes are those of a document's leaf in a tree of many.
const leafBytes = 2

// classBytes are those that a sum of trees for a class holds of a validation document.
const classBytes = 8

// streamedMatrix codes data that are read query by query: a pass takes the rows by which bins are chosen, or
// some of their features, and the last codes.
func (l *Trees) streamedMatrix(t *Task, o tree.BinOptions) (*tree.Matrix, error) {
	d := t.Normalized()
	n, step := d.Docs(), tree.Step(d.Docs())
	together := max(loadedTogether, int(min(float64(d.Features), t.memoryLeft()/float64(loadedBytes*n/step))))
	bins, err := tree.NewBinsOf(n, d.Features, together, o, func(sample []float32, from, to int) {
		eachQuery(d, l.Workers, func(_ int, q *dataset.Query, x []float32) {
			for row := (q.Start + step - 1) / step * step; row < q.Start+q.Len(); row += step {
				copy(sample[row/step*(to-from):][:to-from], x[(row-q.Start)*d.Features+from:])
			}
		})
	})
	if err != nil {
		return nil, err
	}
	c := tree.NewCoder(bins, n, parallel.Workers(l.Workers, len(d.Queries)))
	eachQuery(d, l.Workers, func(worker int, q *dataset.Query, x []float32) { c.Code(worker, q.Start, x) })
	return c.Matrix(), nil
}

// Bins of streamed data are chosen for as many features at a time as there is memory for, for loadedTogether at least. Of
// a document that is looked at, a feature takes loadedBytes: what is loaded, and what is sorted of it.
const (
	loadedTogether = 8
	loadedBytes    = 3 * 4
)

// Memory implements Estimator.
func (l Trees) Memory(p *Problem) float64 { return l.memory(p, 1) }

// memory returns the bytes that a number of bags take, each with a grower of its own if bins depend on the loss.
func (l Trees) memory(p *Problem, bags int) float64 {
	l.complete(&Task{Problem: p})
	n, features := float64(p.Data.Docs()), float64(p.Inputs())
	sums, growers, cell := float64(bags*max(1, l.Bag)), 1.0, 1.0
	if l.BinsByCurvature {
		growers = float64(bags)
	}
	if l.Exact {
		cell = exactBytes
	}
	each := sumBytes
	if l.Sum != GradientTrees {
		each += reweighedBytes
	}
	if l.Sum == ForestTrees {
		each += drawnBytes
	}
	bytes := float64(n * (float64(growers*(growerBytes+float64(cell*features))) + float64(float64(each)*sums)))
	if !l.Exact {
		bytes += float64(growers * float64(l.FeatureBytes()) * features)
	}
	if l.Sum != GradientTrees {
		docs := n
		if p.Valid != nil {
			docs += float64(p.Valid.Docs())
		}
		leaf := 1
		if l.Leaves > byteLeaves {
			leaf = leafBytes
		}
		bytes += float64(sums * docs * float64(leaf*cmp.Or(l.Rounds, defaultRounds)))
	}
	if bags > 1 && p.Valid != nil {
		bytes += float64(classBytes * float64(p.Valid.Docs()) * float64(bags))
	}
	return bytes + float64(p.lossBytes()*sums)
}

// addStreamed is Add for data that are read query by query.
func (m *treeMean) addStreamed(dst []float64, d *dataset.Dataset) {
	features, last := m.data.Features, m.rounds()-1
	d = m.widenedStreamed(d)
	var values [][]float64
	for _, r := range m.sums {
		if len(r.trees) > last {
			values = append(values, r.valuesOf(last, nil, m.share()))
		} else {
			values = append(values, nil)
		}
	}
	eachQuery(d, m.Workers, func(_ int, q *dataset.Query, x []float32) {
		scores := dst[q.Start : q.Start+q.Len()]
		if last == 0 {
			m.initial.score(scores, x, features)
		}
		for k, r := range m.sums {
			for i := range scores {
				if values[k] != nil {
					scores[i] += values[k][r.last.Leaf(x[i*features:(i+1)*features])]
				}
			}
		}
	})
}
