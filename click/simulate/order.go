package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/internal/suggest"
)

// Kind says how pages of a query differ.
type Kind string

// The kinds of orders.
const (
	Fixed   Kind = "fixed"   // by descending score
	Noise   Kind = "noise"   // Plackett–Luce: standardized score / temperature plus Gumbel noise
	Swap    Kind = "swap"    // rank 1 exchanged with a uniform lower rank with probability ½
	Pairs   Kind = "pairs"   // FairPairs: neighbours from rank 1 or 2 on, each pair exchanged with probability ½
	Shuffle Kind = "shuffle" // the first ranks in uniform order
	Arms    Kind = "arms"    // several rankers with shares
)

var kinds = []string{string(Fixed), string(Noise), string(Swap), string(Pairs), string(Shuffle), string(Arms)}

// Order is a kind with its parameter.
type Order struct {
	Kind        Kind
	Temperature float64 // of Noise
	First       int     // of Shuffle: number of shuffled ranks; 0: all shown
	Shares      []int   // of Arms; nil: equal
}

// ParseOrder reads an order as "noise:0.5", "shuffle:5" or "arms:9,1".
func ParseOrder(text string) (Order, error) {
	name, value, given := strings.Cut(text, ":")
	o := Order{Kind: Kind(name)}
	switch o.Kind {
	case Noise:
		o.Temperature = 1
		if given {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || !(v > 0) || math.IsInf(v, 0) {
				return o, fmt.Errorf("found temperature %q, expected a positive number", value)
			}
			o.Temperature = v
		}
	case Shuffle:
		if given {
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > click.MaxDocs {
				return o, fmt.Errorf("found %q ranks to shuffle, expected a whole number from 1 to %d", value, click.MaxDocs)
			}
			o.First = n
		}
	case Arms:
		if given {
			for word := range strings.SplitSeq(value, ",") {
				n, err := strconv.Atoi(word)
				if err != nil || n < 0 || n > maxShare {
					return o, fmt.Errorf("found share %q, expected a whole number from 0 to %d", word, maxShare)
				}
				o.Shares = append(o.Shares, n)
			}
		}
	case Fixed, Swap, Pairs:
		if given {
			return o, fmt.Errorf("found %q, expected %s without a value", text, name)
		}
	default:
		return o, fmt.Errorf("found order %q%s", name, suggest.Or(name, kinds, ", expected "+suggest.OneOf(kinds)))
	}
	return o, nil
}

// ranked is a query's rankings with their probabilities.
type ranked struct {
	rankings [][]int   // the documents shown, by each ranker
	weights  []float64 // of Noise: the documents' weights in the Plackett–Luce model
	places   []float64 // of Noise: probability of document d at rank r in element d·ranks + r; nil if unknown
	ranks    int       // number of documents shown
}

// rank prepares a query.
func (s *Simulation) rank(q *Query) ranked {
	r := ranked{ranks: min(s.Top, len(q.Docs))}
	if s.Order.Kind == Noise {
		r.weights = luceWeights(q.Scores[0], s.Order.Temperature)
		if work(len(q.Docs), r.ranks) <= mostWork {
			r.places = lucePlaces(r.weights, r.ranks)
		}
		return r
	}
	for _, scores := range q.Scores {
		r.rankings = append(r.rankings, best(nil, scores, r.ranks))
	}
	return r
}

// Unplaced returns the number of queries whose pages have no propensities of documents, because their
// computation would take too long.
func (s *Simulation) Unplaced() int {
	n := 0
	for _, r := range s.ranked {
		if r.weights != nil && r.places == nil {
			n++
		}
	}
	return n
}

// order draws the documents of a page and sets its propensities.
func (d *Drawer) order(rng *rand.Rand, r *ranked) {
	p := &d.page
	p.Propensity = 1
	if d.s.Order.Kind != Noise {
		arm := 0
		if d.s.Order.Kind == Arms {
			arm = d.arm(rng)
			p.Experiment, p.Arm = "simulated", d.s.Rankers[arm].Name
		}
		d.docs = append(d.docs[:0], r.rankings[arm]...)
	}
	switch d.s.Order.Kind {
	case Noise:
		d.noise(rng, r)
	case Swap:
		d.swap(rng)
	case Pairs:
		d.pairs(rng)
	case Shuffle:
		d.shuffle(rng)
	case Arms:
		d.arms(r)
	default:
		for range d.docs {
			p.Propensities = append(p.Propensities, 1)
		}
	}
}

// noise draws a Plackett–Luce ranking: the first arrivals of independent Poisson processes.
func (d *Drawer) noise(rng *rand.Rand, r *ranked) {
	p := &d.page
	d.keys = d.keys[:0]
	for _, w := range r.weights {
		d.keys = append(d.keys, -random.Exponential(rng)/w)
	}
	d.docs = best(d.docs[:0], d.keys, r.ranks)
	p.Propensity = luceProbability(r.weights, d.docs)
	if r.places != nil {
		for k, doc := range d.docs {
			p.Propensities = append(p.Propensities, min(1, r.places[doc*r.ranks+k]))
		}
	}
}

// swap exchanges rank 1 with a rank from 2 to K with probability ½.
func (d *Drawer) swap(rng *rand.Rand) {
	p, n := &d.page, len(d.docs)
	if n == 1 {
		p.Propensities = append(p.Propensities, 1)
		return
	}
	with := 1 + rng.IntN(n-1)
	p.Swapped, p.Swap = [2]int{0, with}, rng.Uint64()&1 == 1
	moved := 0.5 / float64(n-1) // probability of each exchange
	p.Propensity = 0.5
	p.Propensities = append(p.Propensities, 0.5)
	for range n - 1 {
		p.Propensities = append(p.Propensities, 1-moved)
	}
	if p.Swap {
		d.docs[0], d.docs[with] = d.docs[with], d.docs[0]
		p.Propensity, p.Propensities[0], p.Propensities[with] = moved, moved, moved
	}
}

// pairs exchanges neighbours: a coin says whether pairs begin at rank 1 or 2, another one exchanges each pair.
func (d *Drawer) pairs(rng *rand.Rand) {
	p, n := &d.page, len(d.docs)
	offset := int(rng.Uint64() & 1)
	p.Propensities = append(p.Propensities, make([]float64, n)...)
	for r := range n {
		p.Propensities[r] = stays(r, n)
	}
	exchanged := false
	p.Pairs = offset + 1
	for r := offset; r+1 < n; r += 2 {
		if rng.Uint64()&1 == 1 {
			d.docs[r], d.docs[r+1] = d.docs[r+1], d.docs[r]
			p.Propensities[r], p.Propensities[r+1] = 0.25, 0.25
			p.Exchanged = append(p.Exchanged, r)
			exchanged = true
		}
	}
	of := func(offset int) float64 { return math.Ldexp(0.5, -((n - offset) / 2)) }
	if p.Propensity = of(offset); !exchanged { // the other coin has this ranking, too
		p.Propensity += of(1 - offset)
	}
}

// stays returns the probability that FairPairs leaves the document at rank r of n.
func stays(r, n int) float64 {
	p := 1.0
	for offset := range 2 {
		paired := r >= offset && (r-offset)/2 < (n-offset)/2
		if paired {
			p -= 0.25
		}
	}
	return p
}

// shuffle puts the first documents in uniform order.
func (d *Drawer) shuffle(rng *rand.Rand) {
	p, n := &d.page, len(d.docs)
	first := n
	if d.s.Order.First > 0 {
		first = min(first, d.s.Order.First)
	}
	rng.Shuffle(first, func(i, j int) { d.docs[i], d.docs[j] = d.docs[j], d.docs[i] })
	p.Shuffled = first
	for r := range n {
		if r < first {
			p.Propensities = append(p.Propensities, 1/float64(first))
			p.Propensity /= float64(r + 1)
		} else {
			p.Propensities = append(p.Propensities, 1)
		}
	}
}

// arms adds the shares of the rankers with the same ranking, and with the same document at each rank.
func (d *Drawer) arms(r *ranked) {
	p := &d.page
	whole := 0
	for k := range d.docs {
		share := 0
		for arm, ranking := range r.rankings {
			if ranking[k] == d.docs[k] {
				share += d.s.Rankers[arm].Share
			}
		}
		p.Propensities = append(p.Propensities, float64(share)/float64(d.s.total))
	}
	for arm, ranking := range r.rankings {
		if equal(ranking, d.docs) {
			whole += d.s.Rankers[arm].Share
		}
	}
	p.Propensity = float64(whole) / float64(d.s.total)
}

func equal(a, b []int) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// span is the largest difference of logarithms of weights. A document whose score is lower gets the
// smallest weight, so that no weight is 0.
const span = 600

// luceWeights returns exp(standardized score / temperature) relative to the largest. Scores are
// standardized within the query.
func luceWeights(scores []float64, temperature float64) []float64 {
	n := float64(len(scores))
	mean, square := 0.0, 0.0
	for _, s := range scores {
		mean += s / n
	}
	for _, s := range scores {
		square += float64((s-mean)*(s-mean)) / n
	}
	scale := (math.Sqrt(square) + 1e-9) * temperature
	top := math.Inf(-1)
	for _, s := range scores {
		top = max(top, s)
	}
	w := make([]float64, len(scores))
	for i, s := range scores {
		w[i] = elementary.Exp(max(-span, (s-top)/scale))
	}
	return w
}

// luceProbability returns the probability that the first documents of a Plackett–Luce ranking are these.
func luceProbability(weights []float64, docs []int) float64 {
	left := 0.0 // weight of the documents that are not placed
	for i, w := range weights {
		if !contains(docs, i) {
			left += w
		}
	}
	p := 1.0
	for k := len(docs) - 1; k >= 0; k-- { // sums upwards lose no small weights
		w := weights[docs[k]]
		left += w
		p *= w / left
	}
	return p
}

func contains(docs []int, i int) bool {
	for _, d := range docs {
		if d == i {
			return true
		}
	}
	return false
}

// work is the cost of a step of lucePlaces, and mostWork its limit.
func work(docs, ranks int) int { return docs * ranks * ranks }

const mostWork = 1 << 17

// lucePlaces returns the probability that document d has rank r in a Plackett–Luce ranking, in element
// d·ranks + r. Documents arrive at independent exponential times with their weights as rates. So the
// probability is the integral over the logarithm x of time of the density of d's arrival, times the
// probability of r arrivals before. The integrand is analytic in a strip of width π around the real line
// and vanishes at both ends, so the trapezoidal rule with step ¼ is exact to about 1e-15.
func lucePlaces(weights []float64, ranks int) []float64 {
	const step, tiny = 0.25, 1e-22
	n := len(weights)
	total := 0.0
	for _, w := range weights {
		total += w
	}
	out := make([]float64, n*ranks)
	before := make([]float64, ranks)       // probabilities of 0, 1, … arrivals among the documents so far
	behind := make([]float64, (n+1)*ranks) // and among documents i, i+1, …
	low := -elementary.Log(total) - 40
	for k := 0; ; k++ {
		t := elementary.Exp(low + float64(step*float64(k)))
		clear(behind[n*ranks:])
		behind[n*ranks] = 1
		for i := n - 1; i >= 0; i-- {
			arrive(behind[i*ranks:(i+1)*ranks], behind[(i+1)*ranks:(i+2)*ranks], weights[i]*t)
		}
		few := 0.0
		for _, p := range behind[:ranks] {
			few += p
		}
		if few < tiny {
			return out
		}
		clear(before)
		before[0] = 1
		for i, w := range weights {
			density := step * float64(w*t) * elementary.Exp(-float64(w*t))
			if density > tiny {
				rest := behind[(i+1)*ranks : (i+2)*ranks]
				for r := range ranks {
					sum := 0.0
					for a := 0; a <= r; a++ {
						sum += float64(before[a] * rest[r-a])
					}
					out[i*ranks+r] += float64(density * sum)
				}
			}
			arrive(before, before, w*t)
		}
	}
}

// arrive sets dst to the probabilities of 0, 1, … arrivals after a further document, which arrives with
// probability 1 − exp(−rate). dst and src may be the same.
func arrive(dst, src []float64, rate float64) {
	no, yes := elementary.Exp(-rate), -elementary.Expm1(-rate)
	for c := len(dst) - 1; c > 0; c-- {
		dst[c] = float64(no*src[c]) + float64(yes*src[c-1])
	}
	dst[0] = float64(no * src[0])
}
