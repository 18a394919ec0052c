package measure

import "github.com/listwise/listwise/eval/stats"

// base is the common part of all measures.
type base struct {
	name, family string
	cut          int
	convention   Convention
}

func newBase(s spec) base {
	return base{name: s.name, family: s.family, cut: s.k, convention: s.convention}
}

// Name implements Measure.
func (b base) Name() string { return b.name }

// Convention returns the convention of the measure.
func (b base) Convention() Convention { return b.convention }

// Family returns the name of a measure of this package without its parameter, such as "ndcg" for
// ndcg@10. It returns "" for a measure of another package.
func Family(m Measure) string {
	if b, ok := m.(interface{ described() base }); ok {
		return b.described().family
	}
	return ""
}

// CutoffOf returns the rank below which the order of documents does not affect the measure. It returns
// 0 if the measure has no cutoff or the cutoff is unknown.
func CutoffOf(m Measure) int {
	if b, ok := m.(interface{ described() base }); ok {
		return b.described().cut
	}
	return 0
}

// CountingRanks returns the number of ranks that count for a measure of n documents: the cutoff, but at
// most n.
func CountingRanks(m Measure, n int) int { return cutoff(CutoffOf(m), n) }

func (b base) described() base { return b }

// RangeOf returns the range of a measure's values: 0 to 1, or from 0 on for DCG. For a [Column] it is the
// range of the measure of this name. For a measure of another package it is the zero Interval.
func RangeOf(m Measure) stats.Interval {
	if c, ok := m.(Column); ok {
		named, err := Parse(c.Name(), Standard, Options{})
		if err != nil {
			return stats.Interval{}
		}
		m = named
	}
	if b, ok := m.(interface{ values() stats.Interval }); ok {
		return b.values()
	}
	return stats.Interval{}
}

// values returns the range of values. A measure with another range has a method of its own.
func (b base) values() stats.Interval { return stats.Interval{Low: 0, High: 1} }

// under returns the measure with another convention.
func (b base) under(c Convention) Measure { return reparsed(b.name, c, Options{}) }

func reparsed(name string, c Convention, o Options) Measure {
	m, err := Parse(name, c, o)
	if err != nil {
		panic("measure: " + err.Error()) // b.name is always a valid name
	}
	return m
}

// ConventionOf returns the convention of a measure. For a measure of another package without a
// Convention method, it is the zero Convention.
func ConventionOf(m Measure) Convention {
	if c, ok := m.(interface{ Convention() Convention }); ok {
		return c.Convention()
	}
	return Convention{}
}

// binary is the common part of measures of binary relevance.
type binary struct {
	base
	threshold float64 // the lowest relevant grade
}

func newBinary(s spec) binary {
	if s.relevant > 0 {
		return binary{newBase(s), s.relevant}
	}
	return binary{newBase(s), s.convention.Threshold()}
}

// relevance implements the method that RelevanceOf calls.
func (b binary) relevance() (threshold float64, ok bool) { return b.threshold, true }

func (b binary) relevant(grade float64) bool { return grade >= b.threshold }

// relevances returns 1 for every relevant document and 0 for every other document.
func (b binary) relevances(grades []float64) []float64 {
	x := make([]float64, len(grades))
	for i, l := range grades {
		if b.relevant(l) {
			x[i] = 1
		}
	}
	return x
}

// count returns the number of relevant documents among the grades.
func (b binary) count(grades []float64) int {
	n := 0
	for _, l := range grades {
		if l >= b.threshold {
			n++
		}
	}
	return n
}
