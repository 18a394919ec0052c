package tree

import "github.com/listwise/listwise/internal/kernel"

// common is the most frequent word of a block, if it is worth leaving out.
type common struct {
	word uint64
	use  bool
}

// A block's most frequent word is left out of sums if at least a part leastCommon of the rows
// have it, judged by commonRows of them: many features are 0 together, as those of a text field
// that is empty. What it would have added is one addition a feature.
const (
	leastCommon = 0.15
	commonRows  = 4096
)

// findCommon finds the common words.
func (m *Matrix) findCommon() {
	m.common = make([]common, m.blocks)
	step := max(1, m.rows/commonRows)
	for b := range m.common {
		var counts [blockFeatures][256]int
		for r := 0; r < m.rows; r += step {
			for k, w := 0, m.words[r*m.blocks+b]; k < blockFeatures; k++ {
				counts[k][uint8(w>>(8*k))]++
			}
		}
		word := uint64(0)
		for k := range counts {
			most := 0
			for code, n := range counts[k] {
				if n > counts[k][most] {
					most = code
				}
			}
			word |= uint64(most) << (8 * k)
		}
		have, looked := 0, 0
		for r := 0; r < m.rows; r += step {
			if looked++; m.words[r*m.blocks+b] == word {
				have++
			}
		}
		m.common[b] = common{word, float64(have) >= leastCommon*float64(looked)}
	}
}

// addCommon adds the sums of some documents, of which words are the block's, and kept is memory;
// the words are lost.
func (h *histogram) addCommon(words []uint64, kept, packed []sums, c common) {
	kept = kept[:len(words)]
	n, dropped := kernel.Without(words, uint64s(kept), uint64s(packed), c.word)
	for k := range h {
		h[k][uint8(c.word>>(8*k))] += sums(dropped)
	}
	h.add(words[:n], kept)
}
