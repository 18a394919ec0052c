// Package experiment compares models online. It assigns users to models, interleaves the rankings
// of two models, logs the rankings shown, and joins the log with clicks.
//
// Start reading at [Hash], which all chance comes from: the same user sees the same, as long
// as the experiment lasts, on every server. Draft interleaves; [Log] is the log and [Credit]
// reads it. The package knows no models and nothing of HTTP.
package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Hash is the SHA-256 of a salt, which is an experiment's, a zero byte and an id, any program's to
// compute. Salts make assignments of different experiments independent.
func Hash(salt string, id []byte) [sha256.Size]byte {
	var room [256]byte
	b := append(append(append(room[:0], salt...), 0), id...)
	return sha256.Sum256(b)
}

// Pick returns one of several arms by their shares, whole numbers that are not all 0. Let u be the
// hash's first eight bytes as a fraction of 2⁶⁴, and S the sum of the shares. Pick returns the arm
// whose share contains the place ⌊u·S⌋, with the shares laid end to end. S must be below 2³².
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

// coins are the coin flips of a draft: the bits of the hashes of an id followed by 0, 1, … as eight
// bytes in big-endian order. The highest bit of the first byte comes first.
type coins struct {
	salt   string
	id     []byte
	block  uint64
	thrown int
	hash   [sha256.Size]byte
}

// next throws a coin.
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
