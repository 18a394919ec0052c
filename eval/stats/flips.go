package stats

import (
	"strconv"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// signs sums the columns of all queries after flipping the signs of some queries, at random or in every
// possible combination. A query has a column with the value of each system. Its last column is 1, or
// n·w/W with weights, and its sum says by how much a shift of all differences changes the flip's sum.
// The randomisation test needs no sums for pairs, since the sum of a pair's differences is the
// difference of its systems' sums.
//
// A flip is represented by words of 64 bits, one bit per query. The bits of four queries index a table
// with their 16 possible sums. So a flip of n queries and m columns costs n/4 additions of m numbers.
// For OHSUMED's 106 queries and six systems, these are 27 × 6 additions. Adding up the differences of
// 15 pairs would take 106 × 15 additions.
type signs struct {
	columns int
	words   int       // of 64 queries each
	table   []float64 // [word][nibble][bits][column]
	exact   int       // number of flips to enumerate; 0: random flips
	repeats int       // how often each enumerated flip is used
	seed    uint64
	stream  string // name of the random stream

	// rest sums the last column of the queries with random signs if the signs of the other queries are
	// enumerated. It is nil if there are no such queries.
	rest *signs
}

const (
	nibbles   = 16 // number of groups of four queries in a word
	nibbleWay = 16 // number of ways to flip four queries

	// flipBlock is the number of flips that share a random stream and a worker's memory.
	flipBlock = 1024
)

// newSigns computes the tables for rows, one per query. enumerate requires at most ExactQueries rows.
func newSigns(rows [][]float64, columns int, enumerate bool, seed uint64) *signs {
	s := &signs{columns: columns, words: max(1, (len(rows)+63)/64), repeats: 1, seed: seed, stream: "sign flips"}
	if enumerate {
		// The last query keeps its sign, since negating all signs gives the same |sum|.
		s.exact = 1 << max(0, len(rows)-1)
	}
	s.table = make([]float64, s.words*nibbles*nibbleWay*columns)
	for group := range s.words * nibbles {
		for bits := range nibbleWay {
			sum := s.row(group, bits)
			for k := range 4 {
				q := 4*group + k
				if q >= len(rows) {
					break
				}
				for i, v := range rows[q] {
					if bits>>k&1 == 1 {
						v = -v
					}
					sum[i] += v
				}
			}
		}
	}
	return s
}

// row returns the table entry for a group of four queries: their sums if bits says which are negated.
func (s *signs) row(group, bits int) []float64 {
	at := (group*nibbleWay + bits) * s.columns
	return s.table[at : at+s.columns : at+s.columns]
}

// run calls visit with the columns' sums for every flip, one block of flips at a time. It returns the
// number of flips: drawn, or the number of enumerated flips. Calls with the same worker number do not
// overlap. The sums do not depend on the number of workers. run calls told after every block with the
// number of flips in it.
func (s *signs) run(drawn, workers int, visit func(worker, block int, sums []float64), told func(flips int)) int {
	total := drawn
	if s.exact > 0 {
		total = s.exact * s.repeats
	}
	blocks := (total + flipBlock - 1) / flipBlock
	workers = parallel.Workers(workers, blocks)
	memory := make([][]float64, workers)
	parallel.For(blocks, workers, func(worker, block int) {
		if memory[worker] == nil {
			memory[worker] = make([]float64, flipBlock*s.columns)
		}
		from := block * flipBlock
		sums := memory[worker][:(min(from+flipBlock, total)-from)*s.columns]
		clear(sums)
		s.block(block, sums)
		visit(worker, block, sums)
		told(min(from+flipBlock, total) - from)
	})
	return total
}

// block sets sums, which must be 0, to the sums for the flips of a block.
func (s *signs) block(block int, sums []float64) {
	if s.exact > 0 {
		for i := 0; i < len(sums); i += s.columns {
			s.add(0, uint64((block*flipBlock+i/s.columns)%s.exact), sums[i:i+s.columns])
		}
		if s.rest != nil {
			shares := make([]float64, len(sums)/s.columns)
			s.rest.block(block, shares)
			for i, v := range shares {
				sums[(i+1)*s.columns-1] += v
			}
		}
		return
	}
	rng := random.Stream(s.seed, s.stream, strconv.Itoa(block))
	for word := range s.words {
		for i := 0; i < len(sums); i += s.columns {
			s.add(word, rng.Uint64(), sums[i:i+s.columns])
		}
	}
}

// add adds the sums of a word's 64 queries to sums. Queries with the bit 1 are negated.
func (s *signs) add(word int, bits uint64, sums []float64) {
	for group := word * nibbles; group < (word+1)*nibbles; group++ {
		for i, v := range s.row(group, int(bits&(nibbleWay-1))) {
			sums[i] += v
		}
		bits >>= 4
	}
}
