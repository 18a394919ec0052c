package dataset

import (
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/listwise/listwise/internal/parallel"
)

// countedMatrix lends what is in memory, and counts.
type countedMatrix struct {
	d     *Dataset
	loans []atomic.Int32 // of each query
}

type noLoan struct{}

func (noLoan) Return() {}

func (m *countedMatrix) Lend(query int) ([]float32, Loan) {
	m.loans[query].Add(1)
	return m.d.Queries[query].X, noLoan{}
}
func (m *countedMatrix) Window() (queries, alone int) { return 0, 0 }
func (m *countedMatrix) Soon([]Part)                  {}
func (m *countedMatrix) Check() error                 { return nil }

// total returns the number of loans so far.
func (m *countedMatrix) total() (n int) {
	for i := range m.loans {
		n += int(m.loans[i].Load())
	}
	return n
}

// counted returns the data set streamed.
func counted(d *Dataset) (*Dataset, *countedMatrix) {
	m := &countedMatrix{d: d, loans: make([]atomic.Int32, len(d.Queries))}
	b := Blocks{Features: d.Features, Grades: d.grades, Matrix: m}
	for i := range d.Queries {
		b.IDs, b.Counts = append(b.IDs, d.Queries[i].ID), append(b.Counts, d.Queries[i].Len())
	}
	return FromBlocks(b), m
}

// Claim: hashes that are noted while data are read, in whatever way and by several goroutines, are those of data in
// memory, and take no further reading; of queries that were not read, theirs alone are read.
func TestNotedHashes(t *testing.T) {
	whole := numbered(t, 1, 0, 500)
	want, _ := whole.QuerySet().MarshalText()
	double := Lens{Features: whole.Features, Append: func(dst, x []float32) []float32 {
		for _, v := range x {
			dst = append(dst, 2*v)
		}
		return dst
	}}
	for name, read := range map[string]func(*Dataset) *Dataset{
		"itself":         func(d *Dataset) *Dataset { return d },
		"through a lens": func(d *Dataset) *Dataset { return d.Through(double) },
		"a part":         func(d *Dataset) *Dataset { return d.Subset([]int{3, 400, 77}) },
	} {
		d, m := counted(whole)
		d.NoteHashes()
		of := read(d)
		parallel.For(len(of.Queries), 3, func(_, i int) { of.Reader().At(i) })
		got, _ := d.QuerySet().MarshalText()
		if !slices.Equal(got, want) || m.total() != len(d.Queries) {
			t.Errorf("%s: another set, or %d queries read, want %d", name, m.total(), len(d.Queries))
		}
	}
	d, m := counted(whole)
	d.Reader().At(7)
	if got, _ := d.QuerySet().MarshalText(); !slices.Equal(got, want) || m.total() != 1+len(d.Queries) {
		t.Errorf("of hashes that nobody asked for: another set, or %d queries read", m.total())
	}
	through := d.Through(double)
	through.NoteHashes()
	for i := range through.Queries {
		through.Reader().At(i)
	}
	doubled := numbered(t, 1, 0, 500)
	for i, v := range doubled.x {
		doubled.x[i] = 2 * v
	}
	if !through.QuerySet().Equal(doubled.QuerySet()) {
		t.Error("through a lens: not the hashes of what the lens makes")
	}
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
