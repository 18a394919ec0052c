package propensity

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/random"
)

// world has documents with features whose relevance is a function of them, and rankers. It is that of a simulation
// in Python with the same numbers of queries, documents and pages.
type world struct {
	rng       *rand.Rand
	relevance [][]float64
	rankers   [][][]int // documents of each query from top to bottom
	features  *Features
	docs      []string
}

const (
	simQueries, simDocs, simFeatures, simSlots = 300, 20, 6, 10
	simPages                                   = 200_000
)

func newWorld(seed uint64) *world {
	w := &world{rng: random.Stream(seed, "propensity test", "")}
	truth := normals(w.rng, simFeatures)
	w.features = &Features{dim: simFeatures + 1, rows: map[Pair]int{}}
	var x [][]float64
	for q := range simQueries {
		w.relevance = append(w.relevance, nil)
		for d := range simDocs {
			row := normals(w.rng, simFeatures)
			x = append(x, row)
			w.relevance[q] = append(w.relevance[q], 1/(1+math.Exp(1.5-dot(row, truth))))
			w.features.rows[Pair{strconv.Itoa(q), strconv.Itoa(d)}] = len(x) - 1
			w.features.x = append(append(w.features.x, row...), 1)
		}
	}
	for d := range simDocs {
		w.docs = append(w.docs, strconv.Itoa(d))
	}
	for range 3 {
		own := slices.Clone(truth)
		for i := range own {
			own[i] += 1.5 * random.Normal(w.rng)
		}
		var orders [][]int
		for q := range simQueries {
			order := make([]int, simDocs)
			for d := range order {
				order[d] = d
			}
			slices.SortFunc(order, func(a, b int) int {
				if dot(x[q*simDocs+a], own) > dot(x[q*simDocs+b], own) {
					return -1
				}
				return 1
			})
			orders = append(orders, order)
		}
		w.rankers = append(w.rankers, orders)
	}
	return w
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = random.Normal(rng)
	}
	return x
}

func examination(k int) float64 { return 1 / float64(k+1) }

// page shows the first documents of an order, after change, and draws clicks with the given probabilities by slot.
func (w *world) page(q int, order []int, p *click.Page, probability func(k int, relevance float64) float64) *click.Page {
	p.Query, p.Weight = strconv.Itoa(q), 1
	for k, d := range order[:simSlots] {
		c := 0
		if w.rng.Float64() < probability(k, w.relevance[q][d]) {
			c = 1
		}
		p.Docs, p.Clicks = append(p.Docs, w.docs[d]), append(p.Clicks, c)
	}
	return p
}

func pbm(k int, relevance float64) float64 { return examination(k) * relevance }

// arms fills a log with pages of three rankers.
func (w *world) arms(t testing.TB, l *Log, pages int, rankers int, probability func(int, float64) float64) {
	t.Helper()
	for range pages {
		q := w.rng.IntN(simQueries)
		add(t, l, w.page(q, w.rankers[w.rng.IntN(rankers)][q], &click.Page{}, probability))
	}
}

// shuffled fills a log with pages in random order.
func (w *world) shuffled(t testing.TB, l *Log, pages int) {
	t.Helper()
	for range pages {
		add(t, l, w.page(w.rng.IntN(simQueries), w.rng.Perm(simDocs), &click.Page{Shuffled: simSlots}, pbm))
	}
}

// swaps fills a log with exchanges of rank 1, where the share is that of exchanged pages.
func (w *world) swaps(t testing.TB, l *Log, pages int, share float64) {
	t.Helper()
	for range pages {
		q, k := w.rng.IntN(simQueries), 1+w.rng.IntN(simSlots-1)
		order := slices.Clone(w.rankers[0][q])
		p := &click.Page{Swapped: [2]int{0, k}, Swap: w.rng.Float64() < share}
		if p.Swap {
			order[0], order[k] = order[k], order[0]
		}
		add(t, l, w.page(q, order, p, pbm))
	}
}

// pairs fills a log with exchanges of neighbours.
func (w *world) pairs(t testing.TB, l *Log, pages int, share float64) {
	t.Helper()
	for range pages {
		q := w.rng.IntN(simQueries)
		order := slices.Clone(w.rankers[0][q])
		p := &click.Page{Pairs: 1 + w.rng.IntN(2)}
		for r := p.Pairs - 1; r+1 < simSlots; r += 2 {
			if w.rng.Float64() < share {
				order[r], order[r+1] = order[r+1], order[r]
				p.Exchanged = append(p.Exchanged, r)
			}
		}
		add(t, l, w.page(q, order, p, pbm))
	}
}

func add(t testing.TB, l *Log, p *click.Page) {
	t.Helper()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	if err := l.Add(p); err != nil {
		t.Fatal(err)
	}
}

func estimate(t testing.TB, l *Log, o Options) *Estimate {
	t.Helper()
	e, err := l.Estimate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// worst returns the largest error of a propensity.
func worst(e *Estimate) (off float64) {
	for k, s := range e.Slots {
		off = max(off, math.Abs(s.Theta-examination(k)))
	}
	return off
}
