package train

import (
	"fmt"
	"math"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/objective"
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

// What trees hold of a document beside its codes: a grower of places and sums; and each sum of trees of scores, λ and
// second derivatives, in a line search, of the scores that trees whose weights change are fitted at and the leaves of
// the last tree, and of what is drawn with replacement.
const (
	growerBytes    = 20
	sumBytes       = 28
	searchBytes    = 32
	reweighedBytes = 10
	drawnBytes     = 20
)

// fewBytes is how much of what features take whatever the number of documents is not counted.
const fewBytes = 4 << 20

// classBytes are those that a sum of trees for a class holds of a validation document.
const classBytes = 8

// searched reports whether trees are fitted along λ, where the loss has no second derivatives, by some of the queries.
func (l *Trees) searched(t *Task) bool {
	if l.Steps == GradientSteps || t.Loss == nil {
		return true
	}
	d := t.Normalized()
	some := make([]int, min(64, len(d.Queries)))
	for i := range some {
		some[i] = i
	}
	f, err := objective.NewFunctional(judgedOf(d, some), t.Loss, t.Seed, 1, t.done)
	return err != nil || f.Diagonal() != nil
}

// streamedMatrix codes data that are read query by query: a pass takes the rows by which bins are chosen, or
// some of their features, and the last codes. The codes, a byte a cell, are in a temporary file if they do not fit into memory.
func (l *Trees) streamedMatrix(t *Task, o tree.BinOptions, plan treesPlan) (m *tree.Matrix, err error) {
	d := t.Normalized()
	n, step := d.Docs(), tree.Step(d.Docs())
	bins, err := tree.NewBinsOf(n, d.Features, plan.together, o, func(sample []float32, from, to int) {
		eachQuery(d, l.Workers, func(_ int, q *dataset.Query, x []float32) {
			for row := (q.Start + step - 1) / step * step; row < q.Start+q.Len(); row += step {
				copy(sample[row/step*(to-from):][:to-from], x[(row-q.Start)*d.Features+from:])
			}
		})
	})
	if err != nil {
		return nil, err
	}
	workers := parallel.Workers(l.Workers, len(d.Queries))
	var c *tree.Coder
	if plan.codesOnDisk {
		if c, err = tree.NewFileCoder(bins, n, workers, t.noteCodes); err != nil {
			return nil, err
		}
	} else {
		c = tree.NewCoder(bins, n, workers)
	}
	defer func() { _ = c.Close() }() // the matrix has what is in use
	eachQuery(d, l.Workers, func(worker int, q *dataset.Query, x []float32) { c.Code(worker, q.Start, x) })
	return c.Matrix()
}

// treesPlan is how trees use memory.
type treesPlan struct {
	together     int  // features of streamed data whose bins are chosen in one pass
	codesOnDisk  bool // the codes of streamed data are in a file
	readers      int  // that look at these at a time
	exactWorkers int  // that look at columns of values that are in a file
	tablesOnDisk bool // so are the tables of leaves of trees whose weights change
}

// plan plans by the memory that there is for a number of bags, each with a grower of its own if bins depend on the loss.
func (l *Trees) plan(t *Task, bags int) (p treesPlan, err error) {
	d := t.Normalized()
	n, sums, growers := float64(d.Docs()), float64(bags*max(1, l.Bag)), 1.0
	if l.BinsByCurvature {
		growers = float64(bags)
	}
	left, held := float64(t.MemoryLeft()), float64(n*(float64(growerBytes*growers)+float64(l.sumBytes(t)*sums)))
	if t.Loss != nil {
		held += max(0, float64(t.lossBytes(t.Loss)*sums)-fewBytes)
	}
	if bags > 1 && t.Valid != nil {
		held += float64(classBytes * float64(t.Valid.Docs()) * float64(bags))
	}
	codes := float64(n * float64(d.Features) * growers)
	if !l.Exact {
		held += max(0, float64(growers*float64(l.FeatureBytes())*float64(d.Features))-fewBytes)
	}
	switch {
	case l.Exact && d.Streamed():
		p, codes, err = l.planExact(d, left, held)
	case d.Streamed():
		if p, err = planCodes(d, left, held, codes); p.codesOnDisk { // more readers than cores wait for the disk
			most := 2 * parallel.Workers(l.Workers, math.MaxInt)
			p.readers = max(1, min(most, int((left-held)/float64(tree.ReaderBytes(d.Features)))))
		}
	default:
		if l.Exact {
			codes *= 8
		}
		err = t.CheckHeld("trees hold", held+codes)
	}
	if err != nil {
		return p, err
	}
	if left -= held; !p.codesOnDisk {
		left -= codes
	}
	if !d.Streamed() && (t.Valid == nil || !t.Valid.Streamed()) {
		return p, nil // leaves are found anew, from the features
	}
	if size := float64(sums * float64(l.tableBytes(t))); l.Sum != GradientTrees && size > left {
		p.tablesOnDisk = true
		t.note("the leaves that documents fall into", size)
	}
	return p, nil
}

// planCodes plans for streamed data, given the bytes of memory that there are, those that are held besides, and those of
// the codes.
func planCodes(d *dataset.Dataset, left, held, codes float64) (p treesPlan, err error) {
	n := float64(d.Docs())
	column := float64(3 * 4 * n / float64(tree.Step(d.Docs()))) // what is loaded, and what is sorted of it
	const least = 8                                             // features are loaded together
	if need := max(held, least*column); need > left {
		return p, tooLarge("found %d documents × %d features that are read from a file, of which trees hold %s, expected at most %s of memory; raise the limit or use a sample", d.Docs(), d.Features, gigabytes(need), gigabytes(left))
	}
	p.together = int(min(float64(d.Features), left/column))
	p.codesOnDisk = held+codes > left
	return p, nil
}

// planExact plans for streamed data that are looked at value by value, and returns the bytes that this holds besides.
func (l *Trees) planExact(d *dataset.Dataset, left, held float64) (p treesPlan, bytes float64, err error) {
	ofAll, ofWorker := tree.StoredExactBytes()
	n := float64(d.Docs())
	bytes = float64(float64(max(0, ofAll-growerBytes)) * n)
	worker := float64(float64(ofWorker) * n)
	if need := held + bytes + worker; need > left {
		return p, 0, tooLarge("found %d documents × %d features that are read from a file, of which trees with exact splits hold %s, expected at most %s of memory; raise the limit, use a sample or histograms", d.Docs(), d.Features, gigabytes(need), gigabytes(left))
	}
	p.exactWorkers = max(1, min(parallel.Workers(l.Workers, d.Features), int((left-held-bytes)/worker)))
	return p, bytes + float64(worker*float64(p.exactWorkers)), nil
}

// tableBytes returns the bytes of the tables of leaves of a sum of trees.
func (l *Trees) tableBytes(t *Task) int64 {
	bytes := leavesFileBytes(t.Normalized().Docs(), l.mostRounds(), l.Leaves)
	if t.Valid != nil {
		bytes += leavesFileBytes(t.Valid.Docs(), l.mostRounds(), l.Leaves)
	}
	return bytes
}

// sumBytes returns the bytes that a sum of trees holds of a document.
func (l *Trees) sumBytes(t *Task) float64 {
	each := sumBytes
	if l.searched(t) {
		each += searchBytes
	}
	if l.Sum != GradientTrees {
		each += reweighedBytes
	}
	if l.Sum == ForestTrees {
		each += drawnBytes
	}
	return float64(each)
}

// note says that a temporary file has what does not fit into memory.
func (t *Task) note(what string, size float64) {
	if t.Note != nil {
		t.Note(fmt.Sprintf("%s do not fit into memory and are put in a temporary file of %s in %s", what, gigabytes(size), os.TempDir()))
	}
}

// noteCodes says how large a file of codes is.
func (t *Task) noteCodes(size int64) { t.note("the codes of the features", float64(size)) }

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
