// Package random gives every purpose and every query its own random stream, derived from one seed.
//
// Start reading at [Stream]. A stream depends only on the seed, the purpose and the key. It does
// not depend on the use of other streams, the order of queries or the number of cores. The key of a
// query's stream is the query's content, so the draws are the same in every fold and under every
// name. The package must not depend on data or losses.
package random

import "math/rand/v2"

// Stream returns the stream of the given purpose ("sample", "init", …) and key (a query's content,
// a restart number). Two calls with the same arguments return independent copies of the same
// stream. A stream is not safe for concurrent use.
func Stream(seed uint64, purpose, key string) *rand.Rand {
	h := hash(offset, purpose)
	h = hash(h, "\x00") // so that ("ab", "c") is not ("a", "bc")
	return rand.New(rand.NewPCG(mix(seed), mix(hash(h, key))))
}

// Deferred is [Stream] with a key that is computed at the first draw, if there is one.
func Deferred(seed uint64, purpose string, key func() string) *rand.Rand {
	return rand.New(&deferred{start: func() *rand.Rand { return Stream(seed, purpose, key()) }})
}

// deferred is a source that creates its stream at the first draw.
type deferred struct {
	start  func() *rand.Rand
	stream *rand.Rand
}

// Uint64 implements rand.Source.
func (d *deferred) Uint64() uint64 {
	if d.stream == nil {
		d.stream = d.start()
	}
	return d.stream.Uint64()
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

// mix is the finaliser of SplitMix64. It maps neighbouring seeds to unrelated values.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
