package explain

import (
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/model"
)

// source provides the background's documents as inputs of the model's scorer.
type source struct {
	model   *model.Model
	data    *dataset.Dataset
	columns []int
}

// each calls do with the scorer's inputs for every query in turn. do must not keep x.
func (b *source) each(do func(x []float32, docs int)) {
	var x []float32
	for i := range b.data.Queries {
		q := &b.data.Queries[i]
		x = b.model.Inputs(x[:0], q, b.columns)
		do(x, q.Len())
	}
}

// means returns the mean of every input.
func (b *source) means() []float64 {
	width := b.model.Scorer.NumFeatures()
	sums := make([]float64, width)
	b.each(func(x []float32, _ int) {
		for row := range slices.Chunk(x, width) {
			for j, v := range row {
				sums[j] += float64(v)
			}
		}
	})
	for j := range sums {
		sums[j] /= float64(b.data.Docs())
	}
	return sums
}

// sample returns the inputs of at most n random documents, drawn without replacement, in the order of
// the data.
func (b *source) sample(n int, seed uint64) []float32 {
	docs, width := b.data.Docs(), b.model.Scorer.NumFeatures()
	chosen := random.Stream(seed, "explain background", "").Perm(docs)[:min(n, docs)]
	slices.Sort(chosen)
	rows, first := make([]float32, 0, len(chosen)*width), 0
	b.each(func(x []float32, docs int) {
		for len(chosen) > 0 && chosen[0] < first+docs {
			at := chosen[0] - first
			rows = append(rows, x[at*width:(at+1)*width]...)
			chosen = chosen[1:]
		}
		first += docs
	})
	return rows
}
