// Package datatest has helpers for the tests of packages that read data: random and realistic data sets and
// texts, a slow and simple reader, and comparisons.
package datatest

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/listwise/listwise/internal/random"
)

// OHSUMEDLike appends text that resembles LETOR's OHSUMED to b: 45 features with six decimals, a fifth of them
// "0", and a docid comment.
func OHSUMEDLike(b []byte, rng *rand.Rand, queries, docs int) []byte {
	for q := range queries {
		for range docs {
			b = fmt.Appendf(b, "%d qid:%d", rng.IntN(3), q+1)
			for k := range 45 {
				b = append(strconv.AppendInt(append(b, ' '), int64(k+1), 10), ':')
				switch {
				case k%9 >= 4 && k%9 <= 6 && rng.IntN(10) > 0:
					b = append(b, '0')
				case rng.IntN(8) == 0:
					b = append(b, "1.000000"...)
				default:
					b = strconv.AppendFloat(b, rng.Float64(), 'f', 6, 64)
				}
			}
			b = fmt.Appendf(b, " #docid = %d\n", 100000+rng.IntN(200000))
		}
	}
	return b
}

// MSLRLike appends text that resembles MSLR-WEB: 136 features, most of them whole numbers. The others have six
// decimals and any size.
func MSLRLike(b []byte, rng *rand.Rand, queries, docs int) []byte {
	for q := range queries {
		for range docs {
			b = fmt.Appendf(b, "%d qid:%d", rng.IntN(5), q+1)
			for k := range 136 {
				b = append(strconv.AppendInt(append(b, ' '), int64(k+1), 10), ':')
				if k%5 < 3 {
					b = strconv.AppendInt(b, int64(rng.IntN(1<<rng.IntN(14))), 10)
				} else {
					b = strconv.AppendFloat(b, 40*random.Normal(rng), 'f', 6, 64)
				}
			}
			b = append(b, '\n')
		}
	}
	return b
}

// SparseLike appends text with about 60 of 700 features per document. Values have as many digits as float32
// needs.
func SparseLike(b []byte, rng *rand.Rand, queries, docs int) []byte {
	for q := range queries {
		for range docs {
			b = fmt.Appendf(b, "%d qid:%d", rng.IntN(5), q+1)
			for k := rng.IntN(10); k < 700; k += 1 + rng.IntN(22) {
				b = append(strconv.AppendInt(append(b, ' '), int64(k+1), 10), ':')
				b = strconv.AppendFloat(b, float64(rng.Float32()), 'g', -1, 32)
			}
			b = append(b, '\n')
		}
	}
	return b
}
