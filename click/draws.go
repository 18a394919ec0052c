package click

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/eval/stats"
)

// draws compares what chance put on the first rank with the probabilities that pages state. It keeps at most mostCells
// combinations of a query and a document or ranking.
type draws struct {
	cells  []drawnCell
	cellOf map[uint64]int32 // by hash of the query, the document or ranking, and the arm
	tops   map[uint64]int32 // of queries and arms: place in counts

	counts []int     // of queries
	first  []uint64  // of queries: the document on the first rank of the last shuffled page, 0 if none
	pages  int       // with probabilities
	arms   int       // largest number of an arm among them
	shuf   shuffling // of pages with shuffled
}

// drawnCell sums over the pages of a query that show a document first, or a ranking.
type drawnCell struct {
	query     int32 // in counts
	arm       uint16
	n         float64
	inverse   float64 // Σ 1/p
	variance  float64 // Σ (1−p)/p²
	low, high float64 // least and largest p
}

// shuffling counts shuffled pages that follow another one of their query, and those with the same first document.
type shuffling struct{ pages, same, expected, variance float64 }

const (
	mostCells = 1 << 16
	cellCost  = 120 // bytes
)

// add adds a page. query is the hash of its query, and arm the number of its arm. Without arms, only the counts of all arms
// are kept.
func (d *draws) add(p *Page, query uint64, arm uint16, mem *memory.Account) error {
	stated := p.Propensity
	if p.Propensities != nil {
		stated = p.Propensities[0]
	}
	if stated == 0 && p.Shuffled < 2 {
		return nil
	}
	if d.cellOf == nil {
		d.cellOf, d.tops = map[uint64]int32{}, map[uint64]int32{}
	}
	doc := mixed(fnvOffset, p.Docs[0])
	if p.Propensities == nil {
		for _, other := range p.Docs[1:] {
			doc = mixed(doc, other)
		}
	}
	of, arms := [2]int32{-1, -1}, []uint16{0, arm}[:min(2, 1+int(arm))] // all arms, and this one
	for k, a := range arms {
		key := query + uint64(a)*fnvPrime
		q, known := d.tops[key]
		if !known {
			if len(d.counts) >= mostCells {
				continue
			}
			if err := mem.Take(cellCost, "propensities"); err != nil {
				return err
			}
			q = int32(len(d.counts))
			d.tops[key] = q
			d.counts, d.first = append(d.counts, 0), append(d.first, 0)
		}
		of[k] = q
	}
	d.shuffled(p, of[0])
	if stated == 0 {
		return nil
	}
	d.pages++
	d.arms = max(d.arms, int(arm))
	for k, a := range arms {
		if of[k] < 0 {
			continue
		}
		d.counts[of[k]]++
		key := spread(query+uint64(a)*fnvPrime) ^ doc
		i, known := d.cellOf[key]
		if !known {
			if len(d.cells) >= mostCells {
				continue
			}
			if err := mem.Take(cellCost, "propensities"); err != nil {
				return err
			}
			i = int32(len(d.cells))
			d.cellOf[key] = i
			d.cells = append(d.cells, drawnCell{query: of[k], arm: a, low: stated, high: stated})
		}
		c := &d.cells[i]
		c.n++
		c.inverse += 1 / stated
		c.variance += (1 - stated) / stated / stated
		c.low, c.high = min(c.low, stated), max(c.high, stated)
	}
	return nil
}

// shuffled compares the first document of a shuffled page with that of the last one of its query.
func (d *draws) shuffled(p *Page, query int32) {
	if p.Shuffled < 2 || query < 0 {
		return
	}
	top := max(1, mixed(fnvOffset, p.Docs[0]))
	if last := d.first[query]; last != 0 {
		s, chance := &d.shuf, 1/float64(p.Shuffled)
		s.pages++
		s.expected += chance
		s.variance += float64(chance * (1 - chance))
		if top == last {
			s.same++
		}
	}
	d.first[query] = top
}

const (
	// wrongShare is the error of stated probabilities from which they are wrong, relative to them.
	wrongShare = 0.1
	// leastDrawn is the expected number of pages of a cell.
	leastDrawn = 5
	// mostSum is the largest sum of probabilities that could be rounded.
	mostSum = 1.02
	// chance is the probability below which a difference is no chance.
	chance = 1e-6
)

func (d *draws) faults() (all []Fault) {
	const shuffleErrors = 6
	if s := d.shuf; s.same-s.expected > float64(shuffleErrors*math.Sqrt(s.variance))+shuffleErrors {
		all = append(all, Fault{"not shuffled", fmt.Sprintf("%.3g %% of the pages with shuffled have the same first document as the query's shuffled page before, expected %.3g %%: they were not shuffled for each page; leave shuffled out, or draw by page",
			100*s.same/s.pages, 100*s.expected/s.pages)})
	}
	if f, wrong := d.frequencies(); wrong {
		return append(all, f)
	}
	if f, wrong := d.sums(); wrong {
		all = append(all, f)
	}
	return all
}

// frequencies compares the pages of a query that show a document first with the stated probabilities p. Whatever the
// probabilities depend on, Σ1/p over these pages has the expectation of the number of pages where the document could have
// been first. That is all pages of the query at most.
func (d *draws) frequencies() (f Fault, wrong bool) {
	square, cells, difference, expected := 0.0, 0, 0.0, 0.0
	var worst drawnCell
	most := 0.0
	for _, c := range d.cells {
		n := float64(d.counts[c.query])
		p := c.n / c.inverse
		if c.arm != 0 || n*p < leastDrawn || c.n == 0 {
			continue
		}
		fixed := d.arms == 0 && c.high-c.low <= 1e-9*c.high
		more := c.inverse - n
		if more < 0 && !fixed {
			more = 0
		}
		// A cell whose document was always shown has no variance of its own: that of p takes its place.
		z := more / math.Sqrt(max(c.variance, n*(1-p)/p, 1e-9))
		if p > 1-1e-9 {
			z = 0 // the sums tell whether it is wrong
		}
		cells++
		square += float64(z * z)
		difference += float64(math.Abs(more) * p)
		expected += float64(n * p)
		if math.Abs(z) > most {
			most, worst = math.Abs(z), c
		}
	}
	if cells == 0 || difference < wrongShare*expected {
		return f, false
	}
	limit := 1.0
	if d.arms > 1 { // users may keep their arm, so pages of a query are not independent
		limit = 12
	}
	if stats.ChiSquareTail(square, cells) > chance || square < limit*float64(cells) {
		return f, false
	}
	n := float64(d.counts[worst.query])
	return Fault{"wrong propensities", fmt.Sprintf("the propensities do not agree with what was shown: one of %.2g was shown on %.0f of %.0f pages of its query, and over all queries the shares differ by %.3g %% of the propensities; correct the log before you weight by them",
		worst.n/worst.inverse, worst.n, n, 100*difference/expected)}, true
}

// sums finds queries whose stated probabilities of being first have a sum above 1.
func (d *draws) sums() (f Fault, wrong bool) {
	total := make([]float64, len(d.counts))
	varies := make([]bool, len(d.counts))
	for _, c := range d.cells {
		if (c.arm == 0) != (d.arms == 0) {
			continue
		}
		total[c.query] += c.n / c.inverse
		varies[c.query] = varies[c.query] || c.high-c.low > 1e-9*c.high
	}
	pages, largest := 0, 0.0
	for q, sum := range total {
		if sum > mostSum && !varies[q] {
			pages += d.counts[q]
			largest = max(largest, sum)
		}
	}
	if pages == 0 || float64(pages) < wrongShare*float64(d.pages) {
		return f, false
	}
	return Fault{"wrong propensities", fmt.Sprintf("the propensities are too large: on %.3g %% of the pages, those of a query's first documents have a sum above 1 (up to %.3g), so one document would be first too often; correct the log before you weight by them, unless each user has an order of their own",
		100*float64(pages)/float64(d.pages), largest)}, true
}
