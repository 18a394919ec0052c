package stats

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// ExactQueries is the number of queries up to which all sign flips are enumerated.
// Queries on which all systems are alike have no influence and do not count.
const ExactQueries = 20

// randomize makes Fisher's randomisation test of every pair, the correction by
// the maximum over the family, and the interval that agrees with the test, from the same sign flips.
//
// Under the null hypothesis that two systems are alike, a query's two values are exchangeable. Both
// signs of the difference are then equally likely (Fisher 1935, section 21; Smucker, Allan and
// Carterette 2007). With B flips drawn, or all of them,
//
//	p = (1 + #{|mean(±D)| ≥ |D̄|}) / (1 + B)      or      #{…}/2ⁿ
//
// Max-T is the step-down procedure of Westfall and Young (1993). Romano and Wolf state its
// conditions (2005, JASA 100); Boytsov, Belova and Westfall use it in information retrieval (SIGIR
// 2013). Pairs are sorted by descending |t|. The p value of a pair is the share of flips in which
// the largest |t| of this and all later pairs reaches its own |t|. It is at least the p value of
// the pair before. A flip changes the sign of a query's differences in all pairs at once, which
// keeps the correlations between pairs. The distribution under a set of true null hypotheses does
// not depend on the other hypotheses (subset pivotality). So the probability of any false rejection
// is controlled, whichever systems differ. Shuffling all systems' values within a query (randomised
// Tukey HSD: Carterette 2012, TOIS 30(1)) would assume that all systems are alike. One system with
// a different mean or variance would then change the p values of all pairs.
//
// A flip leaves ΣD² as it is, so |t| grows with |ΣD|/√ΣD² alone and no variance is
// computed again.
//
// Where a method has several runs, an error due to other seeds, by Student's t, is added to the sum
// of every flip. The statistic is then |ΣD|/√(ΣD² + n²V), with the variance V due to seeds.
//
// The interval of a pair holds the shifts δ that the same flips do not reject at [Alpha]: the
// test of D − δ. With the sum N of the signs of a flip, S = ΣD and S* = Σ±D, the flip reaches the
// statistic where |S* − δN| ≥ |S − δn|, that is between
//
//	(S − S*)/(n − N)      and      (S + S*)/(n + N)
//
// which are the mean of the differences that the flip turns and that of the others. So the test
// rejects δ = 0 where the interval excludes 0, and only there.
func (r *Comparison) randomize(values [][]float64, shares []float64, errors []noise, c *Config) {
	order := r.bySize(values, errors)
	s := c.signsOf(values, shares, order)
	workers := parallel.Workers(c.Workers, math.MaxInt)
	counts := make([]flipCount, workers)
	for w := range counts {
		counts[w] = flipCount{alone: make([]int, len(order)), largest: make([]int, len(order))}
	}
	r.Exact = s.exact > 0
	more, of := 1, c.Permutations+1
	if r.Exact {
		more, of = 0, s.exact*s.repeats
	}
	for k := range order {
		// Fewer flips than these below an end leave its p value within Alpha.
		keep := int((Alpha+1e-12)*float64(of)) + 1 - more
		order[k].lows, order[k].highs = newTail(keep), newTail(keep)
	}
	noisy := slices.ContainsFunc(order, func(o ordered) bool { return o.noise.scale > 0 })
	r.Permutations = s.run(c.Permutations, workers, func(w, block int, sums []float64) {
		var z []float64
		if noisy {
			z = draws(random.Stream(c.Seed, "seeds of flips", strconv.Itoa(block)), len(sums)/s.columns, len(values))
		}
		counts[w].add(order, sums, z, s.columns)
	}, func(flips int) {
		if r.Exact { // all flips count at the end, as Permutations
			flips = 0
		}
		c.tell(flips)
	})
	if r.Exact {
		c.tell(c.Permutations)
	}
	r.setRandomization(order, counts, more, of)
	if r.Exact {
		r.Permutations = 2 * s.exact // half of them are the others' mirror images
	}
}

// setRandomization turns counts into p values, and the flips' shifts into intervals.
func (r *Comparison) setRandomization(order []ordered, counts []flipCount, more, of int) {
	var before float64
	for k := range order {
		o := &order[k]
		alone, largest := more, more
		for w := range counts {
			alone += counts[w].alone[k]
			largest += counts[w].largest[k]
		}
		before = max(before, float64(largest)/float64(of))
		p := &r.Pairs[o.pair]
		p.Randomization = Test{P: float64(alone) / float64(of), MaxT: before}
		low, high := o.lows.last(), -o.highs.last()
		p.Interval = Interval{min(low, p.Difference), max(high, p.Difference)}
		if math.IsInf(low, 0) || math.IsInf(high, 0) {
			p.Interval = Unbounded
		}
	}
}

// signsOf returns what sums the queries' values, and their shares in a shift, under sign
// flips. From each query's values their mean is taken, which changes no difference and lessens
// rounding.
//
// Flips of up to ExactQueries queries are enumerated. If there are more queries, but few differ
// between systems, the flips of these are enumerated. The signs of the rest, on which only
// intervals depend, are then drawn. Where all flips are drawn, all queries stay: a query's flips
// do not depend on the other systems compared.
func (c *Config) signsOf(values [][]float64, shares []float64, order []ordered) *signs {
	columns := len(values) + 1
	var rows, differ, rest [][]float64
	for q := range values[0] {
		row := make([]float64, columns)
		for i := range values {
			row[i] = values[i][q]
		}
		systems := row[:len(values)]
		alike := slices.Max(systems)-slices.Min(systems) <= Same
		m := mean(systems)
		for i := range systems {
			systems[i] -= m
		}
		row[len(values)] = 1
		if shares != nil {
			row[len(values)] = shares[q]
		}
		rows = append(rows, row)
		if alike {
			rest = append(rest, row[len(values):])
		} else {
			differ = append(differ, row)
		}
	}
	if len(differ) > ExactQueries || slices.ContainsFunc(order, func(o ordered) bool { return o.noise.scale > 0 }) {
		return newSigns(rows, columns, false, c.Seed)
	}
	if len(rows) <= ExactQueries {
		return newSigns(rows, columns, true, c.Seed)
	}
	s := newSigns(differ, columns, true, c.Seed)
	s.rest = newSigns(rest, 1, false, c.Seed)
	s.rest.stream = "signs of equal queries"
	s.repeats = (c.Permutations + s.exact - 1) / s.exact
	return s
}

// ordered is a pair of the family with its statistic.
type ordered struct {
	pair, a, b int
	sum        float64 // ΣD
	size       float64 // number of queries
	scale      float64 // 1/√ΣD², with seeds 1/√(ΣD² + n²V); 0 if all differences are 0
	slack      float64 // what rounding may add to a sum or take from it
	reach      float64 // |ΣD|·scale − slack·scale
	noise      noise   // of the sum

	lows, highs *tail // of the shifts between which flips reach the statistic, those of highs negative
}

// bySize returns the pairs by falling statistic, that is by falling |t|.
func (r *Comparison) bySize(values [][]float64, errors []noise) []ordered {
	order := make([]ordered, len(r.Pairs))
	statistic := make([]float64, len(r.Pairs))
	n := len(values[0])
	centres := make([]float64, n) // means over the systems
	for q := range centres {
		centres[q] = overRuns(values, q)
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		o := ordered{pair: i, a: p.A, b: p.B, size: float64(n), noise: errors[i]}
		o.noise.scale *= o.size
		squares := float64(o.noise.scale * o.noise.scale)
		for _, d := range differences(values[p.A], values[p.B]) {
			o.sum += d
			squares += float64(d * d)
		}
		for q, m := range centres {
			o.slack += math.Abs(values[p.A][q]-m) + math.Abs(values[p.B][q]-m)
		}
		o.slack *= float64(float64(n+64) * 0x1p-52)
		if squares > 0 {
			o.scale = 1 / math.Sqrt(squares)
		}
		statistic[i] = float64(math.Abs(o.sum) * o.scale)
		o.reach = max(0, statistic[i]-float64(o.slack*o.scale))
		order[i] = o
	}
	slices.SortStableFunc(order, func(x, y ordered) int { return cmp.Compare(statistic[y.pair], statistic[x.pair]) })
	return order
}

// shifts returns between which shifts of all differences a flip reaches the statistic, given the
// sums of the differences and of the shares.
func (o *ordered) shifts(d, shares float64) (low, high float64) {
	low, high = o.mean(o.sum-d, o.size-shares), o.mean(o.sum+d, o.size+shares)
	if low != low || high != high {
		return math.Inf(-1), math.Inf(1)
	}
	return min(low, high), max(low, high)
}

// mean divides a sum by its size; both may be 0 up to rounding.
func (o *ordered) mean(sum, size float64) float64 {
	if math.Abs(sum) <= o.slack {
		sum = 0
	}
	if size <= 1e-9*o.size {
		size = 0
	}
	return sum / size
}

// flipCount counts, for every pair in order, the flips that reach its statistic:
// by the pair itself, and by the largest of it and those after it.
type flipCount struct{ alone, largest []int }

// add counts the flips of a block; z has the systems' normal draws for each, nil where no pair has noise.
func (c *flipCount) add(order []ordered, sums, z []float64, columns int) {
	flips := len(sums) / columns
	largest, lows, highs := make([]float64, flips), make([]float64, flips), make([]float64, flips)
	for k := len(order) - 1; k >= 0; k-- {
		o := &order[k]
		for i := range flips {
			row := sums[i*columns : (i+1)*columns]
			d := row[o.a] - row[o.b]
			if o.noise.scale > 0 {
				own := z[i*(columns-1) : (i+1)*(columns-1)]
				d += o.noise.of(own[o.a], own[o.b])
			}
			t := float64(math.Abs(d) * o.scale)
			if t >= o.reach {
				c.alone[k]++
			}
			if largest[i] = max(largest[i], t); largest[i] >= o.reach {
				c.largest[k]++
			}
			low, high := o.shifts(d, row[columns-1])
			lows[i], highs[i] = low, -high
		}
		o.lows.add(lows)
		o.highs.add(highs)
	}
}

// tail keeps the least of the values added. Its methods but last are safe for concurrent use.
type tail struct {
	mu     sync.Mutex
	keep   int
	values []float64
	bound  float64 // values from here on are not among the least
}

func newTail(keep int) *tail { return &tail{keep: keep, bound: math.Inf(1)} }

func (t *tail) add(values []float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range values {
		if v < t.bound {
			t.values = append(t.values, v)
		}
	}
	if len(t.values) >= 2*t.keep+flipBlock {
		t.cut()
	}
}

// cut leaves no more than keep values, in order.
func (t *tail) cut() {
	slices.Sort(t.values)
	if len(t.values) > t.keep {
		t.values = t.values[:t.keep]
	}
	if len(t.values) == t.keep && t.keep > 0 {
		t.bound = t.values[t.keep-1]
	}
}

// last returns the greatest of the keep least values, −∞ if none is to be kept.
func (t *tail) last() float64 {
	t.cut()
	if t.keep <= 0 || len(t.values) == 0 {
		return math.Inf(-1)
	}
	return t.values[len(t.values)-1]
}
