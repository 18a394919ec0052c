// Package experiment compares models online. It assigns users to models, interleaves the rankings
// of two models, explores rankings, logs the rankings shown, and joins the log with clicks.
//
// Start reading at [Hash], which assigns users. As long as an experiment lasts, a user gets the same
// results on every server. [Drafter] interleaves rankings, [Log] writes the log, and [Credits] reads
// it. [Exploration] draws for each page separately. The package must not depend on models or HTTP.
package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Hash returns the SHA-256 of salt, a zero byte and id. Any program can compute it. An experiment's
// own salt makes its assignments independent of other experiments.
func Hash(salt string, id []byte) [sha256.Size]byte {
	var room [256]byte
	b := append(append(append(room[:0], salt...), 0), id...)
	return sha256.Sum256(b)
}

// Pick chooses one of several arms in proportion to their shares. It returns the arm's index. The
// shares are non-negative integers with a sum S from 1 to 2³² − 1. Let u be the hash's first eight
// bytes as a fraction of 2⁶⁴. If the shares are laid end to end, Pick returns the arm whose share
// contains ⌊u·S⌋.
func Pick(salt string, id []byte, shares []int) int {
	hash := Hash(salt, id)
	total := 0
	for _, s := range shares {
		total += s
	}
	place, _ := bits.Mul64(binary.BigEndian.Uint64(hash[:8]), uint64(total))
	for arm, s := range shares {
		if place < uint64(s) {
			return arm
		}
		place -= uint64(s)
	}
	panic("experiment: no shares")
}

// Within reports whether an id belongs to a share of all ids, a number from 0 to 1. It does if the
// highest 53 bits of the hash's first eight bytes, as a fraction of 2⁵³, are less than the share.
func Within(salt string, id []byte, share float64) bool {
	hash := Hash(salt, id)
	return float64(binary.BigEndian.Uint64(hash[:8])>>11)/(1<<53) < share
}

// coins are the coin flips of a draft: the bits of the hashes of the id followed by 0, 1, … as
// eight bytes in big-endian order. The highest bit of a byte comes first.
type coins struct {
	salt   string
	id     []byte
	block  uint64
	thrown int
	hash   [sha256.Size]byte
}

// next flips a coin.
func (c *coins) next() bool {
	at := c.thrown % (8 * sha256.Size)
	if at == 0 {
		var room [512]byte
		c.hash = Hash(c.salt, binary.BigEndian.AppendUint64(append(room[:0], c.id...), c.block))
		c.block++
	}
	c.thrown++
	return c.hash[at/8]>>(7-at%8)&1 == 1
}
