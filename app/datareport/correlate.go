package datareport

import (
	"cmp"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
)

const (
	// correlatedDocs and correlatedFeatures limit the documents and features in the comparison of
	// all pairs.
	correlatedDocs, correlatedFeatures = 2000, 1500
	// mostPairs is the largest number of listed pairs.
	mostPairs = 30
	// strongPair is the smallest absolute correlation of a listed pair.
	strongPair = 0.9
)

// Pair is the rank correlation (Spearman's) of two features over documents.
type Pair struct {
	A           int     `json:"a"` // feature numbers, from 1
	B           int     `json:"b"`
	Correlation float64 `json:"rank_correlation"`
}

// ranked sets dst to the ranks of values, scaled to the interval from −1/2 to 1/2. Equal values get
// the mean of their ranks. Missing values get 0. order is scratch memory.
func ranked(dst, values []float64, order []int) {
	order = order[:0]
	for i, v := range values {
		if dst[i] = 0; !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	n := float64(len(order))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			dst[i] = (float64(from+to)/2)/n - 0.5
		}
		from = to
	}
}

func gradeRanks(d *dataset.Dataset) []float64 {
	ranks, order := make([]float64, d.Docs()), []int(nil)
	for i := range d.Queries {
		q := &d.Queries[i]
		order = slices.Grow(order[:0], q.Len())
		ranked(ranks[q.Start:q.Start+q.Len()], q.Grades, order)
	}
	return ranks
}

// withinQueries returns the rank correlation of values with the grades, over all documents. Each
// document has its rank within its query.
func withinQueries(d *dataset.Dataset, values, grades []float64) float64 {
	var product, own, theirs float64
	var ranks []float64
	var order []int
	for i := range d.Queries {
		q := &d.Queries[i]
		ranks = slices.Grow(ranks[:0], q.Len())[:q.Len()]
		order = slices.Grow(order[:0], q.Len())
		ranked(ranks, values[q.Start:q.Start+q.Len()], order)
		for k, v := range ranks {
			g := grades[q.Start+k]
			product, own, theirs = product+float64(v*g), own+float64(v*v), theirs+float64(g*g)
		}
	}
	if own == 0 || theirs == 0 {
		return 0
	}
	return product / math.Sqrt(own*theirs)
}

// correlated returns the strongly correlated pairs of features, the strongest first. It compares
// evenly spaced documents.
func correlated(d *dataset.Dataset, features []Feature) []Pair {
	var columns []int
	for j := range features {
		if !features[j].Constant && len(columns) < correlatedFeatures {
			columns = append(columns, j)
		}
	}
	n := min(correlatedDocs, d.Docs())
	ranks := make([][]float64, len(columns))
	parallel.For(len(columns), 0, func(_, k int) {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(d.X()[i*d.Docs()/n*d.Features+columns[k]])
		}
		ranks[k] = make([]float64, n)
		ranked(ranks[k], values, make([]int, 0, n))
		var square float64
		for _, v := range ranks[k] {
			square += float64(v * v)
		}
		for i := range ranks[k] {
			ranks[k][i] /= math.Sqrt(max(square, math.SmallestNonzeroFloat64))
		}
	})
	found := make([][]Pair, len(columns))
	parallel.For(len(columns), 0, func(_, a int) {
		for b := a + 1; b < len(columns); b++ {
			var r float64
			for i, v := range ranks[a] {
				r += float64(v * ranks[b][i])
			}
			if math.Abs(r) >= strongPair {
				found[a] = append(found[a], Pair{columns[a] + 1, columns[b] + 1, max(-1, min(1, r))})
			}
		}
	})
	pairs := slices.Concat(append(found, []Pair{})...)
	slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(math.Abs(b.Correlation), math.Abs(a.Correlation)) })
	return pairs[:min(mostPairs, len(pairs))]
}

// equalColumns returns the groups of features that are equal in every document. It omits constant
// features.
func equalColumns(d *dataset.Dataset) [][]int {
	constant, _ := constants(d)
	hashes := make([]uint64, d.Features)
	for from := 0; from < len(d.X()); from += d.Features {
		for j, v := range d.X()[from : from+d.Features] {
			hashes[j] = (hashes[j] ^ uint64(bitsOf(v))) * 1099511628211 // FNV-1a over words instead of bytes
		}
	}
	groups, order := make(map[uint64][]int), []uint64(nil)
	for j, h := range hashes {
		if constant[j] || groups[h] != nil && !equalColumn(d, groups[h][0]-1, j) {
			continue
		}
		if groups[h] == nil {
			order = append(order, h)
		}
		groups[h] = append(groups[h], j+1)
	}
	copies := [][]int{}
	for _, h := range order {
		if len(groups[h]) > 1 {
			copies = append(copies, groups[h])
		}
	}
	return copies
}

// bitsOf returns the bits of a value. Both zeros have the same bits, and so do all NaNs.
func bitsOf(v float32) uint32 {
	if v != v {
		return 0x7fc00000
	}
	return math.Float32bits(v + 0)
}

func equalColumn(d *dataset.Dataset, a, b int) bool {
	for from := 0; from < len(d.X()); from += d.Features {
		if bitsOf(d.X()[from+a]) != bitsOf(d.X()[from+b]) {
			return false
		}
	}
	return true
}
