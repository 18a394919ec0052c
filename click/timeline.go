package click

import (
	"math"
	"slices"
	"time"

	"github.com/listwise/listwise/internal/elementary"
)

// timeline counts pages by time and arm. Its memory is bounded: the width of its bins doubles as the log becomes longer.
type timeline struct {
	width int64 // of a bin in seconds
	bins  map[binKey]*binCount

	key  binKey // of the last page
	last *binCount
}

type binKey struct {
	bin int64
	arm uint16
}

// binCount counts the pages of a bin, those of them with clicks or clicked, and those with a click.
type binCount struct{ pages, known, clicked float64 }

const (
	mostBins  = 4096 // of all arms
	mostParts = 512  // of the time in which changes are sought
	leastMean = 20   // pages of a part
)

// floorDiv returns ⌊a/b⌋ for positive b.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func (t *timeline) add(p *Page, arm uint16) {
	if p.Time.IsZero() {
		return
	}
	if t.bins == nil {
		t.width, t.bins = 1, map[binKey]*binCount{}
	}
	key := binKey{floorDiv(p.Time.Unix(), t.width), arm}
	b := t.last
	if b == nil || key != t.key {
		if b = t.bins[key]; b == nil {
			b = new(binCount)
			t.bins[key] = b
		}
		t.key, t.last = key, b
	}
	b.pages++
	if p.Clicks != nil {
		b.known++
		if slices.ContainsFunc(p.Clicks, func(c int) bool { return c > 0 }) {
			b.clicked++
		}
	}
	for len(t.bins) > mostBins && t.width < 1<<40 {
		t.widen()
	}
}

// widen joins two bins each.
func (t *timeline) widen() {
	joined := make(map[binKey]*binCount, len(t.bins)/2)
	for key, b := range t.bins {
		key.bin = floorDiv(key.bin, 2)
		if old := joined[key]; old != nil {
			old.pages, old.known, old.clicked = old.pages+b.pages, old.known+b.known, old.clicked+b.clicked
		} else {
			joined[key] = b
		}
	}
	t.bins, t.width, t.last = joined, 2*t.width, nil
}

// parts divides the time into parts of equal length, with enough pages in the mean. The counts are by part and arm. from
// is the start of the first part.
type parts struct {
	from, width int64
	n           int
	arms        map[uint16][]binCount
	all         []binCount
}

// parts returns nil if there are too few pages to compare parts.
func (t *timeline) parts() *parts {
	const fewParts = 4
	first, end, pages := int64(math.MaxInt64), int64(math.MinInt64), 0.0
	for key, b := range t.bins {
		first, end = min(first, key.bin), max(end, key.bin+1)
		pages += b.pages
	}
	for len(t.bins) > 0 && (end-first > mostParts || float64(end-first)*leastMean > pages) && end-first > 1 {
		t.widen()
		first, end = floorDiv(first, 2), floorDiv(end+1, 2)
	}
	if len(t.bins) == 0 || end-first < fewParts {
		return nil
	}
	p := &parts{from: first * t.width, width: t.width, n: int(end - first), arms: map[uint16][]binCount{}}
	p.all = make([]binCount, p.n)
	for key, b := range t.bins {
		if p.arms[key.arm] == nil {
			p.arms[key.arm] = make([]binCount, p.n)
		}
		i := key.bin - first
		p.arms[key.arm][i] = *b
		a := &p.all[i] // counts are whole numbers, so their sums do not depend on the order
		a.pages, a.known, a.clicked = a.pages+b.pages, a.known+b.known, a.clicked+b.clicked
	}
	return p
}

// at returns the start of a part.
func (p *parts) at(i int) time.Time { return time.Unix(p.from+int64(i)*p.width, 0).UTC() }

// dip is a stretch of parts, from included and to not, in which a rate is lower than in the others.
type dip struct {
	from, to      int
	inside, other rate
}

// rate is x of n.
type rate struct{ x, n float64 }

func (r rate) value() float64 { return r.x / r.n }

// leastGain is the least gain of twice the log-likelihood by which a dip is no chance. It is a χ² with one degree of
// freedom for each of the 131,000 stretches of 512 parts, so the probability of a false alarm is below 10⁻⁴.
const leastGain = 40

// lowest returns the stretch whose rate Σx/Σn differs most clearly from that of the other parts, among those whose rate
// is at most a share of theirs. Rates vary more than by chance, as pages of a user are alike: the likelihood is
// divided by the median dispersion of neighbouring parts.
func lowest(x, n []float64, share float64) (best dip, found bool) {
	dispersion := dispersion(x, n)
	sx, sn := make([]float64, len(x)+1), make([]float64, len(x)+1)
	for i := range x {
		sx[i+1], sn[i+1] = sx[i]+x[i], sn[i]+n[i]
	}
	all := rate{sx[len(x)], sn[len(x)]}
	base, most := likelihood(all), leastGain/2*dispersion
	for i := range x {
		for j := i + 1; j <= len(x); j++ {
			in := rate{sx[j] - sx[i], sn[j] - sn[i]}
			out := rate{all.x - in.x, all.n - in.n}
			if in.n == 0 || out.x == 0 || in.x*out.n > share*out.x*in.n {
				continue
			}
			if gain := likelihood(in) + likelihood(out) - base; gain > most {
				best, most, found = dip{i, j, in, out}, gain, true
			}
		}
	}
	return best, found
}

// likelihood returns the logarithm of the largest likelihood of x of n.
func likelihood(r rate) float64 {
	if r.x <= 0 || r.x >= r.n {
		return 0
	}
	p := r.value()
	return float64(r.x*elementary.Log(p)) + float64((r.n-r.x)*elementary.Log1p(-p))
}

// dispersion returns the variance of the rate between neighbouring parts relative to that of independent pages, 1 at
// least. It is a median, so a few changes do not matter.
func dispersion(x, n []float64) float64 {
	const median = 0.4549 // of χ² with one degree of freedom
	var list []float64
	for i := 1; i < len(x); i++ {
		a, b := rate{x[i-1], n[i-1]}, rate{x[i], n[i]}
		if a.n == 0 || b.n == 0 || a.x+b.x == 0 || a.x+b.x == a.n+b.n {
			continue
		}
		p, d := (a.x+b.x)/(a.n+b.n), a.value()-b.value()
		list = append(list, d*d/(p*(1-p)*(1/a.n+1/b.n)))
	}
	if len(list) == 0 {
		return 1
	}
	slices.Sort(list)
	return max(1, list[len(list)/2]/median)
}

// pause returns a stretch without traffic: parts with less than a tenth of the pages of the median part. The stretch is
// far longer than the third longest, since nights and weekends come again, and longer than a night.
func (p *parts) pause() (from, to int, found bool) {
	const (
		quiet = 0.1
		times = 5
		night = 16 * 3600 // seconds
		lost  = 100       // pages that the stretch would have had
	)
	var busy []float64
	for _, b := range p.all {
		if b.pages > 0 {
			busy = append(busy, b.pages)
		}
	}
	slices.Sort(busy)
	median := busy[len(busy)/2]
	type run struct{ from, to int }
	runs := []run{{}, {}, {}}
	for i := 0; i < p.n; i++ {
		j := i
		for j < p.n && p.all[j].pages < quiet*median {
			j++
		}
		if j > i {
			runs = append(runs, run{i, j})
			i = j
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int { return (b.to - b.from) - (a.to - a.from) })
	longest, third := runs[0], runs[2].to-runs[2].from
	length := longest.to - longest.from
	switch {
	case length < 3 || length < times*third || float64(length)*median < lost:
		return 0, 0, false
	case int64(length)*p.width < night && int64(p.n)*p.width > night:
		return 0, 0, false
	}
	return longest.from, longest.to, true
}
