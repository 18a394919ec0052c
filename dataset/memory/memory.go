// Package memory counts the memory for data, and compares it with a limit before the memory is allocated.
// Start reading at [Account]. The package must not depend on any format.
package memory

import (
	"fmt"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
)

// Account counts the memory for reading one input, before this memory is allocated. Any number of goroutines
// may share it.
type Account struct {
	name  string // name of the input
	limit int64
	taken atomic.Int64
}

// New returns an account for the input of this name. The options set its limit.
func New(name string, o dataset.Options) *Account {
	return &Account{name: name, limit: dataset.MemoryLimit(o.MaxBytes)}
}

// Unlimited returns an account without a limit.
func Unlimited() *Account { return &Account{limit: math.MaxInt64} }

// Limit returns the limit in bytes.
func (m *Account) Limit() int64 { return m.limit }

// Take counts n more bytes. It returns an error if the total exceeds the limit. The argument what describes
// the use of the bytes in the error. A nil account has no limit.
func (m *Account) Take(n int64, what string) error {
	if m == nil {
		return nil
	}
	if taken := m.taken.Add(n); n >= 0 && taken >= n && taken <= m.limit {
		return nil
	}
	return m.tooLarge(fmt.Sprintf("%s that, with all else, take more than %s of memory", what, Bytes(float64(m.limit))), "at most that much")
}

// TakeAll counts n more bytes, which must be all further memory for the input. Its error states the total.
// Nobody else may use the account during the call.
func (m *Account) TakeAll(n int64, what string) error {
	taken := m.taken.Add(n)
	if n >= 0 && taken >= n && taken <= m.limit {
		return nil
	}
	return m.tooLarge(fmt.Sprintf("%s that, with all else, take %s of memory", what, Bytes(max(0, float64(taken)))), "at most "+Bytes(float64(m.limit)))
}

// Taken returns the number of bytes counted.
func (m *Account) Taken() int64 { return m.taken.Load() }

// Held counts n bytes that are already allocated. It does not compare the total with the limit.
func (m *Account) Held(n int64) { m.taken.Add(n) }

// Give subtracts n bytes, which Take has counted.
func (m *Account) Give(n int64) { m.taken.Add(-n) }

// tooLarge returns the error about the limit. The command line appends a hint.
func (m *Account) tooLarge(found, expected string) error {
	return &dataset.SyntaxError{File: m.name, Found: found, Expected: expected + ", or raise the limit", Err: dataset.ErrTooLarge}
}

// RowBytes is the memory per document for reordering documents: its position, a flag, and the end of its
// identifier.
const RowBytes = 8 + 1 + 4

// Bytes that are counted for each document without its features, for each query, and for each name that a
// worker stores.
const (
	DocumentBytes  = 8 + 4 // grade, end of the identifier
	QueryBytes     = 640   // the Query, its id, its counts, its map entry, and derived data such as values of measures
	ReadQueryBytes = 352   // the part of QueryBytes that remains after reading: the Query, its id and its counts
	KnownBytes     = 120   // the name and its map entry
)

// Exceeds reports whether n more bytes would exceed the limit.
func (m *Account) Exceeds(n float64) bool { return float64(m.taken.Load())+n > float64(m.limit) }

// TakeMatrix counts documents and their features. whole is false if there may be more documents, which the
// error then states.
func (m *Account) TakeMatrix(docs, features int, whole bool) error {
	if need := float64(m.taken.Load()) + DocumentsNeed(docs, features); need <= float64(m.limit) && need < math.MaxInt/2 {
		m.taken.Add(int64(DocumentsNeed(docs, features)))
		return nil
	}
	return m.tooManyDocuments(docs, features, whole)
}

// DocumentsNeed returns the number of bytes for documents and their features. It is a float64 because products
// may overflow an integer.
func DocumentsNeed(docs, features int) float64 {
	return float64(float64(docs) * (float64(4*float64(features)) + DocumentBytes))
}

func (m *Account) tooManyDocuments(docs, features int, whole bool) error {
	size := float64(4 * float64(docs) * float64(features))
	found := fmt.Sprintf("%d documents × %d features × 4 bytes = %s", docs, features, Bytes(size))
	if !whole {
		found = "at least " + found
	}
	expected := "at most " + Bytes(float64(m.limit))
	if size <= float64(m.limit) {
		return m.tooLarge(fmt.Sprintf("%s, with grades, identifiers and bytes held %s", found, Bytes(DocumentsNeed(docs, features)+float64(m.taken.Load()))), expected)
	}
	return m.tooLarge(found, expected+"; the matrix is as wide as the largest feature index, so number the features from 1 on without gaps")
}

// madeCopies is the largest number of copies in memory of a generated query's documents, while they are drawn
// and written.
const madeCopies = 4

// CheckMade returns an error, which wraps [dataset.ErrTooLarge], if generated queries take more than MaxBytes.
// Queries are generated one at a time and have docs documents. The error has an estimate of the memory.
func CheckMade(o dataset.Options, queries, docs, features int) error {
	limit := float64(New("", o).limit)
	need := float64(float64(queries)*QueryBytes) + float64(madeCopies*float64(docs)*(float64(4*float64(features))+DocumentBytes+buildIDBytes))
	if need <= limit {
		return nil
	}
	found := fmt.Sprintf("%d queries, one at a time with %d documents × %d features, which take some %s of memory", queries, docs, features, Bytes(need))
	return &dataset.SyntaxError{File: "the data to make", Found: found, Expected: "at most " + Bytes(limit) + ", or raise the limit", Err: dataset.ErrTooLarge}
}

// buildIDBytes is the approximate size of a generated document identifier.
const buildIDBytes = 10

// Bytes formats a number of bytes with a suitable unit.
func Bytes(n float64) string {
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
