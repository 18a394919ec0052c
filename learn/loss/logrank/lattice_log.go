package logrank

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
	"github.com/listwise/listwise/learn/loss"
)

// The sums of lattice_sums.go and lattice_gain.go in logarithms, for the cases
// that leave the range of float64.

// partitionByLogs returns the logarithm of the sum over all paths relative to
// the best.
func (l *latticeLaw) partitionByLogs(w *latticeWork, beta float64, grad []float64, scratch *loss.Scratch) float64 {
	next := w.row(w.before, 0)
	clear(next)
	terms := scratch.Floats(w.width)
	for i := range w.good {
		cells, before := w.row(w.cells, i), next
		next = w.row(w.before, i+1)
		w.exponents(cells, i, beta)
		sumInto(terms, before, cells)
		logspace.PrefixLogSumExp(next, terms)
	}
	total := next[w.width-1]
	if grad == nil {
		return total
	}
	clear(w.suffix)
	for i := len(w.good) - 1; i >= 0; i-- {
		sumInto(w.suffix, w.suffix, w.row(w.cells, i))
		sumInto(terms, w.suffix, w.row(w.before, i))
		kernel.ExpSum(terms, terms, total)
		w.expected[i] = addMoments(w.columns, terms, 1)
		logspace.SuffixLogSumExp(w.suffix, w.suffix)
	}
	l.finish(w, grad)
	return total
}

// gainByLogs is logGain.
func (l *latticeLaw) gainByLogs(w *latticeWork, grad []float64, scratch *loss.Scratch) float64 {
	d := w.companions(scratch)
	total, gain := w.forwardLogGain(&d, scratch)
	if grad != nil {
		w.backwardLogGain(&d, total, gain, scratch)
		l.finish(w, grad)
	}
	return min(gain-total, l.logBest)
}

func (w *latticeWork) forwardLogGain(d *gainWork, scratch *loss.Scratch) (total, gain float64) {
	next, dnext := w.row(w.before, 0), w.row(d.before, 0)
	clear(next)
	kernel.Fill(dnext, math.Inf(-1))
	terms, dterms := scratch.Floats(w.width), scratch.Floats(w.width)
	for i := range w.good {
		cells, before, dbefore := w.row(w.cells, i), next, dnext
		next, dnext = w.row(w.before, i+1), w.row(d.before, i+1)
		gains := d.row(w.gains, i)
		w.exponents(cells, i, 0)
		for j, c := range cells {
			terms[j] = before[j] + c
			dterms[j] = logspace.AddExp(dbefore[j]+c, terms[j]+elementary.Log(gains[j]))
		}
		logspace.PrefixLogSumExp(next, terms)
		logspace.PrefixLogSumExp(dnext, dterms)
	}
	return next[w.width-1], dnext[w.width-1]
}

func (w *latticeWork) backwardLogGain(d *gainWork, total, gain float64, scratch *loss.Scratch) {
	clear(w.suffix)
	kernel.Fill(d.suffix, math.Inf(-1))
	terms, dterms := scratch.Floats(w.width), scratch.Floats(w.width)
	for i := len(w.good) - 1; i >= 0; i-- {
		cells, before, dbefore := w.row(w.cells, i), w.row(w.before, i), w.row(d.before, i)
		gains := d.row(w.gains, i)
		for j, c := range cells {
			v := c + w.suffix[j]
			dv := logspace.AddExp(c+d.suffix[j], v+elementary.Log(gains[j]))
			terms[j] = before[j] + v
			dterms[j] = logspace.AddExp(dbefore[j]+v, before[j]+dv)
			w.suffix[j], d.suffix[j] = v, dv
		}
		kernel.ExpSum(terms, terms, total)
		kernel.ExpSum(dterms, dterms, gain)
		w.expected[i] = addMoments(w.columns, dterms, 1) + addMoments(w.columns, terms, -1)
		logspace.SuffixLogSumExp(w.suffix, w.suffix)
		logspace.SuffixLogSumExp(d.suffix, d.suffix)
	}
}

// sumInto sets dst[j] = x[j] + y[j].
func sumInto(dst, x, y []float64) {
	for j, v := range x {
		dst[j] = v + y[j]
	}
}

// addMoments adds scale·p[j] to columns[j] and returns scale·Σ j·p[j].
func addMoments(columns, p []float64, scale float64) float64 {
	var sum float64
	for j, v := range p {
		columns[j] += scale * v
		sum += float64(float64(j) * scale * v)
	}
	return sum
}
