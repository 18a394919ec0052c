package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
)

// DefaultMaxBytes is the most memory that an input may take unless Options say
// otherwise: 16 GiB, or three quarters of what the machine has if that is less. A
// short file can ask for far more, by a huge index on each of many lines or by
// being compressed; Go then ends the program.
const DefaultMaxBytes = 16 << 30

// ErrTooLarge is the cause of the error about an input that takes more than
// Options.MaxBytes.
var ErrTooLarge = errors.New("the input takes too much memory")

// memory counts what reading one input takes, before it is allocated.
type memory struct {
	name  string // of the input
	limit int64
	taken atomic.Int64
}

func (o Options) memory(name string) *memory {
	m := &memory{name: name, limit: o.MaxBytes}
	if m.limit <= 0 {
		m.limit = defaultMaxBytes()
	}
	return m
}

// defaultMaxBytes is DefaultMaxBytes on this machine.
func defaultMaxBytes() int64 {
	if all := machineMemory(); all > 0 {
		return min(DefaultMaxBytes, all/4*3)
	}
	return DefaultMaxBytes
}

// take counts n more bytes, for what the error says if they are too many.
func (m *memory) take(n int64, what string) error {
	if taken := m.taken.Add(n); n >= 0 && taken >= n && taken <= m.limit {
		return nil
	}
	return m.tooLarge(fmt.Sprintf("%s that, with all else, take more than %s of memory", what, inBytes(float64(m.limit))), "at most that much")
}

// give takes back what take counted.
func (m *memory) give(n int64) { m.taken.Add(-n) }

// tooLarge returns the error, whose end the command line goes on from.
func (m *memory) tooLarge(found, expected string) error {
	return &SyntaxError{File: m.name, Found: found, Expected: expected + ", or raise the limit", Err: ErrTooLarge}
}

// Bytes that are taken for each document beside its features, for each query, and
// for each of those that a worker knows by name.
const (
	documentBytes = 8 + 4 // grade, end of the identifier
	queryBytes    = 320   // the Query, its id, its numbers, its place in a map
	knownBytes    = 120   // its name and its place in a worker's map
)

// takeMatrix counts documents and their features. whole tells that there are no
// more than these documents.
func (m *memory) takeMatrix(docs, features int, whole bool) error {
	if need := float64(m.taken.Load()) + documentsNeed(docs, features); need <= float64(m.limit) && need < math.MaxInt/2 {
		m.taken.Add(int64(documentsNeed(docs, features)))
		return nil
	}
	return m.tooManyDocuments(docs, features, whole)
}

// documentsNeed is in float64, as products may overflow.
func documentsNeed(docs, features int) float64 {
	return float64(docs) * (4*float64(features) + documentBytes)
}

func (m *memory) tooManyDocuments(docs, features int, whole bool) error {
	size := 4 * float64(docs) * float64(features)
	found := fmt.Sprintf("%d documents × %d features × 4 bytes = %s", docs, features, inBytes(size))
	if !whole {
		found = "at least " + found
	}
	expected := "at most " + inBytes(float64(m.limit))
	if size <= float64(m.limit) {
		return m.tooLarge(fmt.Sprintf("%s, with grades, identifiers and bytes held %s", found, inBytes(documentsNeed(docs, features)+float64(m.taken.Load()))), expected)
	}
	return m.tooLarge(found, expected+"; the matrix is as wide as the largest feature index, so number the features from 1 on without gaps")
}

// builderCopies is how many times the memory of its data a Builder takes at most: what
// it appends to grows by a quarter, and the old stays until it is copied.
const builderCopies = 2.25

// CheckBuilder returns an error whose cause is ErrTooLarge if a [Builder] of so many
// queries, with so many documents and features each, takes more than MaxBytes, with an
// estimate of the memory.
func (o Options) CheckBuilder(queries, docs, features int) error {
	limit := float64(o.memory("").limit)
	need := float64(queries) * (queryBytes + builderCopies*float64(docs)*(4*float64(features)+documentBytes+buildIDBytes))
	if need <= limit {
		return nil
	}
	found := fmt.Sprintf("%d queries × %d documents × %d features, which take some %s of memory", queries, docs, features, inBytes(need))
	return &SyntaxError{File: "the data to make", Found: found, Expected: "at most " + inBytes(limit) + ", or raise the limit", Err: ErrTooLarge}
}

// buildIDBytes is about what the identifier of a document takes.
const buildIDBytes = 10

// inBytes describes a number of bytes in a unit that suits it.
func inBytes(n float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"PiB", 1 << 50}, {"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.size {
			return strconv.FormatFloat(n/unit.size, 'g', 4, 64) + " " + unit.name
		}
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + " bytes"
}

// await returns what do returns, or ctx's error as soon as that is cancelled; do
// then goes on by itself, as a read from a pipe with nothing to say must.
func await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	if ctx.Done() == nil {
		return do()
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
