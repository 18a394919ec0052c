// Package simulate draws pages with clicks from judged queries, rankings and a click model, with the true
// propensities.
//
// Start reading at [Simulation]. A page depends on the seed and its number alone, so any part of a log can
// be drawn, on any number of cores. The package must not depend on files or ranking functions.
package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// Query is a query with the documents that can be shown.
type Query struct {
	ID     string
	Docs   []string
	Grades []float64
	Scores [][]float64 // of the documents, by each ranker
}

// Queries returns the queries of a data set. scores has the scores of all documents by each ranker, in the order of
// the rows. A document without an identifier gets its number in the query, from 1.
func Queries(d *dataset.Dataset, scores ...[]float64) []Query {
	queries := make([]Query, len(d.Queries))
	for i := range d.Queries {
		q := &d.Queries[i]
		queries[i] = Query{ID: q.ID, Grades: q.Grades}
		for k := range q.Len() {
			queries[i].Docs = append(queries[i].Docs, cmp.Or(q.DocID(k), strconv.Itoa(k+1)))
		}
		for _, s := range scores {
			queries[i].Scores = append(queries[i].Scores, s[q.Start:q.Start+q.Len()])
		}
	}
	return queries
}

// Ranker is a ranking function of the production system.
type Ranker struct {
	Name  string
	Share int // with the order arms: a page is ranked by it with probability Share / sum of shares
}

// Simulation draws pages. Set its exported fields, then call Prepare. A prepared Simulation must not be
// changed.
type Simulation struct {
	Queries []Query
	Rankers []Ranker
	Order   Order
	Clicks  Model
	Top     int // documents shown
	Users   int // number of users; 0: each page is independent
	Seed    uint64

	bound  Bound
	ranked []ranked
	total  int // sum of shares
}

// start is the time of page 0. Pages are a second apart.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Prepare checks the simulation and computes the probabilities of its rankings.
func (s *Simulation) Prepare() error {
	if err := s.check(); err != nil {
		return err
	}
	s.total = 0
	for _, r := range s.Rankers {
		s.total += r.Share
	}
	var err error
	if s.bound, err = s.Clicks.Bind(s.Queries, s.Top); err != nil {
		return err
	}
	s.ranked = make([]ranked, len(s.Queries))
	parallel.For(len(s.Queries), 0, func(_, i int) { s.ranked[i] = s.rank(&s.Queries[i]) })
	return nil
}

func (s *Simulation) check() error {
	switch {
	case len(s.Queries) == 0:
		return errors.New("found no queries, expected at least one")
	case s.Top < 1 || s.Top > click.MaxDocs:
		return fmt.Errorf("found %d documents to show, expected 1 to %d", s.Top, click.MaxDocs)
	case len(s.Rankers) == 0:
		return errors.New("found no ranker, expected at least one")
	case len(s.Rankers) > 1 && s.Order.Kind != Arms:
		return fmt.Errorf("found %d rankers with order %s, expected one; the order arms takes several", len(s.Rankers), s.Order.Kind)
	}
	shares := 0
	for _, r := range s.Rankers {
		if r.Share < 0 || r.Share > maxShare {
			return fmt.Errorf("found share %d, expected 0 to %d", r.Share, maxShare)
		}
		shares += r.Share
	}
	if s.Order.Kind == Arms && shares == 0 {
		return errors.New("found shares of 0, expected a positive share")
	}
	for _, q := range s.Queries {
		if len(q.Docs) == 0 {
			return fmt.Errorf("found query %q without documents, expected at least one", q.ID)
		}
		if !isID(q.ID) {
			return fmt.Errorf("found query %q, expected an id in UTF-8", q.ID)
		}
		seen := make(map[string]bool, len(q.Docs))
		for _, d := range q.Docs {
			if !isID(d) {
				return fmt.Errorf("found document %q in query %q, expected an id in UTF-8", d, q.ID)
			}
			if seen[d] {
				return fmt.Errorf("found document %q twice in query %q, expected each document once", d, q.ID)
			}
			seen[d] = true
		}
	}
	return nil
}

// isID reports whether a page may have an id.
func isID(id string) bool { return id != "" && utf8.ValidString(id) }

// maxShare keeps sums of shares within an int.
const maxShare = 1 << 24

// Drawer draws pages one at a time. It is not safe for concurrent use.
type Drawer struct {
	s       *Simulation
	docs    []int // of the page, as numbers in the query
	keys    []float64
	page    click.Page
	clicked []bool
}

// Drawer returns a new Drawer.
func (s *Simulation) Drawer() *Drawer { return &Drawer{s: s} }

// Draw returns page n. It is valid until the next call.
func (d *Drawer) Draw(n int) *click.Page {
	s := d.s
	number := strconv.Itoa(n)
	rng := random.Stream(s.Seed, "page", number)
	i := rng.IntN(len(s.Queries))
	q, p := &s.Queries[i], &d.page
	*p = click.Page{
		ID: number, Time: start.Add(time.Duration(n) * time.Second), Query: q.ID, Weight: 1,
		Docs: p.Docs[:0], Clicks: p.Clicks[:0], Propensities: p.Propensities[:0], Exchanged: p.Exchanged[:0],
	}
	if s.Users > 0 {
		p.User = "u" + strconv.Itoa(1+rng.IntN(s.Users))
	}
	d.order(rng, &s.ranked[i])
	for _, k := range d.docs {
		p.Docs = append(p.Docs, q.Docs[k])
	}
	d.clicked = s.bound.Draw(rng, i, d.docs, d.clicked[:0])
	for _, c := range d.clicked {
		k := 0
		if c {
			k = 1
		}
		p.Clicks = append(p.Clicks, k)
	}
	if len(p.Propensities) == 0 {
		p.Propensities = nil
	}
	if len(p.Exchanged) == 0 {
		p.Exchanged = nil
	}
	return p
}

// arm draws the ranker of a page. A user keeps the ranker.
func (d *Drawer) arm(rng *rand.Rand) int {
	s := d.s
	if user := d.page.User; user != "" {
		rng = random.Stream(s.Seed, "arm", user)
	}
	at := rng.IntN(s.total)
	for k, r := range s.Rankers {
		if at < r.Share {
			return k
		}
		at -= r.Share
	}
	panic("simulate: shares exceed their sum")
}

// best appends the numbers of the k largest keys to dst, in descending order. Ties keep their order.
func best(dst []int, keys []float64, k int) []int {
	from := len(dst)
	for i, v := range keys {
		if len(dst)-from == k {
			if v <= keys[dst[len(dst)-1]] {
				continue
			}
			dst = dst[:len(dst)-1]
		}
		at, _ := slices.BinarySearchFunc(dst[from:], v, func(j int, v float64) int {
			if keys[j] >= v {
				return -1
			}
			return 1
		})
		dst = slices.Insert(dst, from+at, i)
	}
	return dst
}

// Chunk is the number of pages that are drawn and encoded together. Chunks begin at multiples of it.
const Chunk = 4096

// Counts has the sums over pages.
type Counts struct {
	Pages, Clicked int   // pages, and pages with a click
	Shown, Clicks  []int // by rank
}

func (c *Counts) merge(other *Counts) {
	c.Pages, c.Clicked = c.Pages+other.Pages, c.Clicked+other.Clicked
	c.grow(len(other.Shown))
	for r := range other.Shown {
		c.Shown[r] += other.Shown[r]
		c.Clicks[r] += other.Clicks[r]
	}
}

func (c *Counts) grow(ranks int) {
	for len(c.Shown) < ranks {
		c.Shown, c.Clicks = append(c.Shown, 0), append(c.Clicks, 0)
	}
}

// Add counts a page.
func (c *Counts) Add(p *click.Page) {
	c.grow(len(p.Docs))
	c.Pages++
	clicked := 0
	for r, n := range p.Clicks {
		c.Shown[r]++
		c.Clicks[r] += n
		clicked = cmp.Or(clicked, n)
	}
	c.Clicked += clicked
}

// Each draws the pages from, from+1, … to−1 on all cores. It calls encode for every page of a chunk with
// what encode returned for the pages before. It then calls write with the result of each chunk, in order.
// Chunks are the same in every call. finish, if not nil, is applied to each chunk before write.
func (s *Simulation) Each(from, to int, encode func(chunk []byte, p *click.Page) []byte, finish func(chunk []byte) ([]byte, error), write func(chunk []byte) error) (Counts, error) {
	workers := parallel.Workers(0, 1<<30)
	round := 4 * workers
	drawers := make([]*Drawer, workers)
	for i := range drawers {
		drawers[i] = s.Drawer()
	}
	texts, counts, errs := make([][]byte, round), make([]Counts, round), make([]error, round)
	var all Counts
	for from < to {
		first := from / Chunk
		n := min(round, (to-1)/Chunk-first+1)
		parallel.For(n, workers, func(worker, k int) {
			text := texts[k][:0]
			counts[k] = Counts{}
			for i := max(from, (first+k)*Chunk); i < min(to, (first+k+1)*Chunk); i++ {
				p := drawers[worker].Draw(i)
				counts[k].Add(p)
				text = encode(text, p)
			}
			if texts[k], errs[k] = text, nil; finish != nil {
				texts[k], errs[k] = finish(text)
			}
		})
		for k := range n {
			if errs[k] != nil {
				return all, errs[k]
			}
			all.merge(&counts[k])
			if err := write(texts[k]); err != nil {
				return all, err
			}
		}
		from = (first + n) * Chunk
	}
	return all, nil
}
