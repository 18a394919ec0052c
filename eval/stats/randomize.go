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

// ExactQueries is the largest number of queries for which all sign flips are enumerated. Queries on
// which all systems have equal values do not count, since they do not affect the test.
const ExactQueries = 20

// randomize computes Fisher's randomisation test of every pair, the max-T correction over all
// pairs, and the confidence interval that agrees with the test. All three use the same sign flips.
// A flip chooses a sign ±1 for every query.
//
// Under the null hypothesis that two systems do not differ, a query's two values are exchangeable. Both
// signs of their difference are then equally likely (Fisher 1935, section 21; Smucker, Allan and
// Carterette 2007). For B random flips, or for all 2ⁿ flips,
//
//	p = (1 + #{|mean(±D)| ≥ |D̄|}) / (1 + B)      or      #{…}/2ⁿ
//
// Max-T is the step-down procedure of Westfall and Young (1993). Romano and Wolf state its
// conditions (2005, JASA 100). Boytsov, Belova and Westfall use it in information retrieval (SIGIR
// 2013). Pairs are sorted by descending |t|. Consider the largest |t| of a pair and all later pairs
// under a flip. The p value of the pair is the proportion of flips in which this maximum reaches
// the |t| of the pair without a flip. It is raised to the p value of the previous pair if it is
// smaller.
//
// A flip changes the sign of a query's differences in all pairs at once, which preserves the
// correlations between pairs. The distribution under a set of true null hypotheses does not depend on
// the other hypotheses (subset pivotality). So max-T controls the probability of any false rejection,
// whichever systems differ. Shuffling all systems' values within a query (randomised Tukey HSD:
// Carterette 2012, TOIS 30(1)) would assume that no systems differ. One system with a different
// mean or variance would then change the p values of all pairs.
//
// A flip does not change ΣD². So |t| is an increasing function of the statistic |ΣD|/√ΣD², which
// randomize compares instead, without computing variances of flips.
//
// If a method has several runs, randomize adds a random error to the sum of every flip, which
// represents other seeds and has Student's t distribution. The error includes the interaction of seeds
// and queries, so the sum of the flip is multiplied by a factor c that removes it. The statistic is
// then |ΣD|/√(c²ΣD² + n²V), where V is the variance due to seeds. S* and N below are those of the flip,
// multiplied by c, and S* has the error added.
//
// The interval of a pair contains the shifts δ for which the test of D − δ with the same flips does
// not reject at [Alpha]. Let N be the sum of the signs of a flip, S = ΣD and S* = Σ±D. With
// weights, N is the sum of the queries' shares n·w/W with the signs of the flip. The flip reaches
// the statistic of D − δ if |S* − δN| ≥ |S − δn|, that is, if δ is between
//
//	(S − S*)/(n − N)      and      (S + S*)/(n + N)
//
// These bounds are the mean of the differences that the flip negates and the mean of all other
// differences. The test rejects δ = 0 if and only if the interval excludes 0.
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
		// The lower end of the interval is the keep-th lowest of the flips' lower bounds. For a
		// shift below it, fewer than keep flips reach the statistic, so the p value of the shift is
		// at most Alpha. The upper end is analogous.
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
		if r.Exact { // all flips are reported at the end, as Permutations
			flips = 0
		}
		c.tell(flips)
	})
	if r.Exact {
		c.tell(c.Permutations)
	}
	r.setRandomization(order, counts, more, of)
	if r.Exact {
		r.Permutations = 2 * s.exact // half of all flips are mirror images, which are not enumerated
	}
}

// setRandomization sets the p values of all pairs from the counts, and their intervals from the
// shifts of the flips. A p value is (more + count)/of.
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

// signsOf returns the signs for a matrix with a row per query: the values of the systems and, in
// the last column, the query's share. It subtracts from the values of each query their mean, which
// changes no difference and reduces rounding errors.
//
// For up to ExactQueries queries, all flips are enumerated. For more queries of which at most
// ExactQueries differ between systems, the flips of the differing queries are enumerated, and the
// signs of the other queries are random. The random signs affect only intervals. Otherwise all
// flips are random and include all queries, so that the signs of a query do not depend on which
// systems are compared.
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
	scale      float64 // factor of |ΣD| in the statistic: 1/√ΣD² or 1/√(c²ΣD² + n²V); 0 if all differences are 0
	slack      float64 // upper bound on the rounding error of a sum
	reach      float64 // a flip reaches the statistic from this value on: (|ΣD| − slack)·scale, at least 0
	noise      noise   // error of the sum due to seeds

	lows, highs *tail // smallest lower ends and, negated, largest upper ends of the shifts for which flips reach the statistic
}

// bySize returns the pairs in descending order of the statistic, and so of |t|.
func (r *Comparison) bySize(values [][]float64, errors []noise) []ordered {
	order := make([]ordered, len(r.Pairs))
	statistic := make([]float64, len(r.Pairs))
	n := len(values[0])
	centres := make([]float64, n) // mean over the systems, for each query
	for q := range centres {
		centres[q] = overRuns(values, q)
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		o := ordered{pair: i, a: p.A, b: p.B, size: float64(n), noise: errors[i]}
		var squares float64
		for _, d := range differences(values[p.A], values[p.B]) {
			o.sum += d
			squares += float64(d * d)
		}
		if o.noise.scale > 0 {
			o.noise.scale *= o.size
			squares = float64(o.noise.shrink*o.noise.shrink*squares) + float64(o.noise.scale*o.noise.scale)
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

// shifts returns the interval of the shifts δ for which a flip reaches the statistic, |S* − δN| ≥
// |S − δn| (see [Comparison.randomize]). d is S*, the sum of the differences with the signs of the
// flip, including any random error. shares is N, the sum of the queries' shares with the same
// signs.
func (o *ordered) shifts(d, shares float64) (low, high float64) {
	low, high = o.mean(o.sum-d, o.size-shares), o.mean(o.sum+d, o.size+shares)
	if low != low || high != high {
		return math.Inf(-1), math.Inf(1)
	}
	return min(low, high), max(low, high)
}

// mean returns sum/size. It first replaces sum or size by 0 if it is 0 up to rounding errors.
func (o *ordered) mean(sum, size float64) float64 {
	if math.Abs(sum) <= o.slack {
		sum = 0
	}
	if size <= 1e-9*o.size {
		size = 0
	}
	return sum / size
}

// flipCount counts flips for each pair, in the order of bySize. alone[k] is the number of flips in
// which pair k reaches its statistic. largest[k] is the number of flips in which the largest
// statistic of pair k and all later pairs reaches the statistic of pair k.
type flipCount struct{ alone, largest []int }

// add counts the flips of a block, whose sums are in sums, and adds their shifts to lows and highs
// of the pairs. z contains a standard normal random number for each flip and system. It is nil if
// no pair has noise.
func (c *flipCount) add(order []ordered, sums, z []float64, columns int) {
	flips := len(sums) / columns
	largest, lows, highs := make([]float64, flips), make([]float64, flips), make([]float64, flips)
	for k := len(order) - 1; k >= 0; k-- {
		o := &order[k]
		for i := range flips {
			row := sums[i*columns : (i+1)*columns]
			d, share := row[o.a]-row[o.b], row[columns-1]
			if o.noise.scale > 0 {
				own := z[i*(columns-1) : (i+1)*(columns-1)]
				d = float64(o.noise.shrink*d) + o.noise.of(own[o.a], own[o.b])
				share *= o.noise.shrink
			}
			t := float64(math.Abs(d) * o.scale)
			if t >= o.reach {
				c.alone[k]++
			}
			if largest[i] = max(largest[i], t); largest[i] >= o.reach {
				c.largest[k]++
			}
			low, high := o.shifts(d, share)
			lows[i], highs[i] = low, -high
		}
		o.lows.add(lows)
		o.highs.add(highs)
	}
}

// tail stores the keep smallest of the values passed to add. add may be called concurrently.
type tail struct {
	mu     sync.Mutex
	keep   int
	values []float64
	bound  float64 // values from bound on are not among the smallest
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

// cut reduces the values to the keep smallest, in ascending order.
func (t *tail) cut() {
	slices.Sort(t.values)
	if len(t.values) > t.keep {
		t.values = t.values[:t.keep]
	}
	if len(t.values) == t.keep && t.keep > 0 {
		t.bound = t.values[t.keep-1]
	}
}

// last returns the largest of the keep smallest values. It returns −∞ if keep is 0 or no
// value was added.
func (t *tail) last() float64 {
	t.cut()
	if t.keep <= 0 || len(t.values) == 0 {
		return math.Inf(-1)
	}
	return t.values[len(t.values)-1]
}
