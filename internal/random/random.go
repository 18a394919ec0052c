// Package random gives every purpose and every query a random stream of its
// own, derived from one seed.
//
// Start reading at [Stream]; the package must not know what is drawn. A stream depends on
// the seed, the purpose and the key alone: never on how many
// numbers another stream has used, on the order in which queries are visited, or
// on the number of cores. Keying by query id also makes a query's draws the same
// in every fold that holds it.
package random

import "math/rand/v2"

// Stream returns the stream of the given purpose ("sample", "init", …) and key
// (a query id, a restart number). It is not safe for concurrent use; two calls
// with the same arguments return independent copies of the same stream.
func Stream(seed uint64, purpose, key string) *rand.Rand {
	h := hash(offset, purpose)
	h = hash(h, "\x00") // so that ("ab", "c") is not ("a", "bc")
	return rand.New(rand.NewPCG(mix(seed), mix(hash(h, key))))
}

// offset is the FNV-1a hash of the empty string.
const offset = 14695981039346656037

// hash is the 64-bit FNV-1a hash of s, continued from h.
func hash(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix is the finaliser of SplitMix64: it maps neighbouring seeds to unrelated ones.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
