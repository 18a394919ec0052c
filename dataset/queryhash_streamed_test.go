package dataset

import (
	"strconv"
	"sync/atomic"
	"testing"
)

// countedMatrix reads what is in memory, and counts.
type countedMatrix struct {
	d     *Dataset
	reads []atomic.Int32 // of each query
}

func (m *countedMatrix) Rows(query int) []float32 {
	m.reads[query].Add(1)
	return m.d.Queries[query].X
}
func (m *countedMatrix) Soon(int, int) {}
func (m *countedMatrix) Done(int, int) {}

// total returns the number of queries read so far.
func (m *countedMatrix) total() (n int) {
	for i := range m.reads {
		n += int(m.reads[i].Load())
	}
	return n
}

// counted returns the data set streamed.
func counted(d *Dataset) (*Dataset, *countedMatrix) {
	m := &countedMatrix{d: d, reads: make([]atomic.Int32, len(d.Queries))}
	b := Blocks{Features: d.Features, Grades: d.grades, Matrix: m}
	for i := range d.Queries {
		b.IDs, b.Counts = append(b.IDs, d.Queries[i].ID), append(b.Counts, d.Queries[i].Len())
	}
	return FromBlocks(b), m
}

// Claim: to count the queries that two data sets share, only those of one id and number of documents are read.
func TestCommonQueriesReadFew(t *testing.T) {
	a, b := numbered(t, 1, 0, 300), numbered(t, 1, 250, 900)
	var other Builder
	for i := range 20 { // of the same ids, with other features or another number of documents
		docs := 3 - i%2
		if err := other.Add(strconv.Itoa(i), make([]float64, docs), make([]float32, docs*2), nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range b.Queries {
		if err := other.Add(b.Queries[i].ID, b.Queries[i].Grades, b.Queries[i].X, nil); err != nil {
			t.Fatal(err)
		}
	}
	first, m := counted(a)
	second, n := counted(other.Dataset())
	if got := first.CommonQueries(second); got != 50 {
		t.Errorf("%d queries in common, want 50", got)
	}
	if got := second.CommonQueries(first); got != 50 {
		t.Errorf("the other way: %d queries in common, want 50", got)
	}
	if m.total() != 2*60 || n.total() != 2*60 {
		t.Errorf("%d and %d queries read, want 60 of each, twice", m.total(), n.total())
	}
}
