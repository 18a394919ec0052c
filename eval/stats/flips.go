package stats

import (
	"strconv"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// signs sums the rows of a matrix after a flip, which negates some of the rows. The flips are
// random, or all possible flips. The matrix has a row per query. Row q has the value of each system
// and, in the last column, the query's share: 1, or n·w/W with weights. The sum of the last column
// says by how much a shift of all differences changes the sum of the differences. The randomisation
// test needs no sums for pairs of systems, since the sum of a pair's differences is the difference
// of its systems' sums.
//
// A flip is represented by words of 64 bits, one bit per query. The field table has, for every four
// queries, the sums of their rows under the 16 flips of four queries. So a flip of n queries and m
// columns takes n/4 additions of m numbers. For 106 queries and seven columns, these are 27 × 7
// additions. Adding up the differences of the 15 pairs of six systems would take 106 × 15
// additions.
type signs struct {
	columns int
	words   int       // of 64 queries each
	table   []float64 // [word][nibble][bits][column]
	exact   int       // number of flips to enumerate; 0: random flips
	repeats int       // how often each enumerated flip is used
	seed    uint64
	stream  string // name of the random stream

	// rest is not nil if only the signs of some queries are enumerated and the signs of all other
	// queries are random. It then sums the last column of these other queries.
	rest *signs
}

const (
	nibbles   = 16 // number of groups of four queries in a word
	nibbleWay = 16 // number of ways to flip four queries

	// flipBlock is the number of flips that share a random stream and a worker's memory.
	flipBlock = 1024
)

// newSigns computes the table for rows, one row per query. If enumerate is set, all flips are used,
// and there must be at most ExactQueries rows.
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

// row returns the sums of a group of four queries. Query k of the group is negated if bit k of bits
// is 1.
func (s *signs) row(group, bits int) []float64 {
	at := (group*nibbleWay + bits) * s.columns
	return s.table[at : at+s.columns : at+s.columns]
}

// run computes the sums of all flips, one block of flips at a time, and calls visit with the sums
// of a block, flip after flip. drawn is the number of flips if the flips are random. run returns
// the number of flips. Calls of visit with the same worker number do not overlap. The sums do not
// depend on the number of workers. After every block, run calls told with the number of flips in
// the block.
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

// block sets sums to the sums for the flips of a block. The elements of sums must be 0 on entry.
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

// add adds the rows of the 64 queries of a word to sums, after negating the queries whose bit in
// bits is 1.
func (s *signs) add(word int, bits uint64, sums []float64) {
	for group := word * nibbles; group < (word+1)*nibbles; group++ {
		for i, v := range s.row(group, int(bits&(nibbleWay-1))) {
			sums[i] += v
		}
		bits >>= 4
	}
}
