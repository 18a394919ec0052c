package boost

import (
	"github.com/listwise/listwise/internal/parallel"
)

// fourBins are sums by code, of four columns that are added up together, so that what a document adds is loaded once for
// them.
type fourBins [4][256]uint64

// add adds what documents add to the bins of their codes.
func (b *fourBins) add(codes [4][]uint8, sums []uint64) {
	c0, c1, c2, c3 := codes[0][:len(sums)], codes[1][:len(sums)], codes[2][:len(sums)], codes[3][:len(sums)]
	for i, v := range sums {
		b[0][c0[i]] += v
		b[1][c1[i]] += v
		b[2][c2[i]] += v
		b[3][c3[i]] += v
	}
}

// bound sets the columns' ceilings, and returns a number that the best edge is not below.
func (s *largeSearch) bound(potential []float64) (least float64) {
	u := s.addends(potential)
	s.addBins(u)
	for f := range s.columns {
		for _, edge := range s.columns[f].edges[:s.columns[f].codes] {
			least = max(least, sizeOf(edge, s.up)-u.error)
		}
	}
	return least
}

// boundDocs is the number of documents that are added to the bins of all columns before others are: what they add stays
// in a core's cache.
const boundDocs = 1 << 14

// addBins adds up the bins of all columns and bounds these. Whole numbers have the same sum in any order.
func (s *largeSearch) addBins(u *units) {
	if s.bins == nil {
		s.makeBins()
	}
	for _, bins := range s.bins {
		clear(bins)
	}
	n := len(s.rows)
	parallel.For((n+boundDocs-1)/boundDocs, len(s.bins), func(worker, i int) {
		from, to := i*boundDocs, min((i+1)*boundDocs, n)
		for q := range s.bins[worker] {
			var codes [4][]uint8
			for k := range codes {
				f := s.varied[min(4*q+k, len(s.varied)-1)] // bins of no column take the last one's
				codes[k] = s.codesOf(f)[from:to]
			}
			s.bins[worker][q].add(codes, s.sums[from:to])
		}
	})
	parallel.For(len(s.varied), s.workers, func(_, i int) {
		sums := s.bins[0][i/4][i%4]
		for _, more := range s.bins[1:] {
			for code, v := range &more[i/4][i%4] {
				sums[code] += v
			}
		}
		s.columns[s.varied[i]].bound(&sums, u, s.up)
	})
}

// makeBins makes the bins of every worker.
func (s *largeSearch) makeBins() {
	for f := range s.columns {
		if s.columns[f].varies {
			s.varied = append(s.varied, f)
		}
	}
	s.bins = make([][]fourBins, parallel.Workers(s.workers, (len(s.rows)+boundDocs-1)/boundDocs))
	for w := range s.bins {
		s.bins[w] = make([]fourBins, (len(s.varied)+3)/4)
	}
}
