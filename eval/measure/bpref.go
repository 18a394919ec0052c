package measure

import "github.com/listwise/listwise/dataset"

// bpref is binary preference. For R relevant and N irrelevant judged documents, and a_i irrelevant
// judged documents above the i-th relevant one,
//
//	bpref = 1/R Σ_i (1 − min(a_i, R)/min(N, R))
//
// (Buckley and Voorhees, Retrieval Evaluation with Incomplete Information, 2004, in trec_eval's form).
// Unjudged documents ([dataset.Unjudged]) are ignored. Relevant documents that were not retrieved
// contribute 0.
type bpref struct{ binary }

func newBPref(s spec) Averager { return bpref{newBinary(s)} }

var _ Additive = bpref{}

// judgements returns the numbers of documents judged relevant and judged irrelevant.
func (m bpref) judgements(grades []float64) (good, bad int) {
	for _, l := range grades {
		switch {
		case m.relevant(l):
			good++
		case !dataset.IsUnjudged(l):
			bad++
		}
	}
	return good, bad
}

// Value implements Measure.
func (m bpref) Value(ranked []float64) (float64, bool) {
	good, bad := m.judgements(ranked)
	if good == 0 {
		return m.convention.valueless()
	}
	a, sum := 0, 0.0
	for _, l := range ranked {
		switch {
		case m.relevant(l):
			sum += kept(a, good, bad)
		case !dataset.IsUnjudged(l):
			a++
		}
	}
	return sum / float64(good), true
}

// Average implements Averager. Each number of the group's b irrelevant documents, from 0 to b, is
// equally likely to rank above a given relevant document of the group.
func (m bpref) Average(ranked []float64, ends []int) (float64, bool) {
	good, bad := m.judgements(ranked)
	if good == 0 {
		return m.convention.valueless()
	}
	a, sum, start := 0, 0.0, 0
	for _, end := range ends {
		g, b := m.judgements(ranked[start:end])
		if g > 0 {
			var each float64
			for x := a; x <= a+b; x++ {
				each += kept(x, good, bad)
			}
			sum += float64(g) * each / float64(b+1)
		}
		a += b
		start = end
	}
	return sum / float64(good), true
}

// GoodGain implements Additive.
func (m bpref) GoodGain(_, a, good, bad int) float64 {
	return kept(a, good, bad) / float64(good)
}

// kept returns the share of preferences that a relevant document keeps. a is the number of irrelevant
// documents above the document.
func kept(a, good, bad int) float64 {
	if a == 0 {
		return 1 // even if there is no irrelevant document
	}
	return 1 - float64(min(a, good))/float64(min(bad, good))
}
