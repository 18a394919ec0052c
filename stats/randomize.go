package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/parallel"
)

// ExactQueries is the number of queries up to which all sign flips are enumerated.
// Queries on which all systems are alike have no influence and do not count.
const ExactQueries = 20

// randomize makes Fisher's randomisation test of every pair, and the correction by
// the maximum over the family, from the same sign flips.
//
// Under the null hypothesis that two systems are alike, a query's two values could
// as well stand at the other system: each sign of the difference is as likely
// (Fisher 1935, section 21; Smucker, Allan and Carterette 2007). With B flips
// drawn, or all of them,
//
//	p = (1 + #{|mean(±D)| ≥ |D̄|}) / (1 + B)      or      #{…}/2ⁿ
//
// Max-T is Westfall and Young's step-down procedure (1993; with its conditions Romano
// and Wolf 2005, JASA 100; on experiments of this kind Boytsov, Belova and Westfall,
// SIGIR 2013): pairs are
// sorted by |t|, and the p value of one is the share of flips in which the largest
// |t| of it and all after it reaches its own, at least the p value of the one
// before. A flip turns the sign of a query's differences in all pairs at once.
// That keeps the correlations between pairs, and what it says about a set of true
// null hypotheses does not depend on whether the others are true (subset
// pivotality), so that the probability of any false rejection is controlled
// whichever systems differ. Shuffling all systems' values within a query
// (randomised Tukey HSD: Carterette 2012, TOIS 30(1)) would assume that all are
// alike at once: one system that stands apart, or varies more than others, would
// change the p values of all pairs.
//
// A flip leaves ΣD² as it is, so |t| grows with |ΣD|/√ΣD² alone and no variance is
// computed again.
func (r *Comparison) randomize(values [][]float64, c *Config) {
	rows := centredRows(values)
	s := newSigns(rows, len(values), c.Seed)
	order := r.bySize(values, rows)
	workers := parallel.Workers(c.Workers, math.MaxInt)
	counts := make([]flipCount, workers)
	for w := range counts {
		counts[w] = flipCount{alone: make([]int, len(order)), largest: make([]int, len(order))}
	}
	r.Exact = s.exact > 0
	r.Permutations = s.run(c.Permutations, workers, func(w int, sums []float64) { counts[w].add(order, sums) }, func(flips int) {
		if r.Exact { // all flips count at the end, as Permutations
			flips = 0
		}
		c.tell(flips)
	})
	if r.Exact {
		c.tell(c.Permutations)
	}
	r.setRandomization(order, counts)
	if r.Exact {
		r.Permutations = 1 << len(rows) // half of them are the others' mirror images
	}
}

// setRandomization turns counts into p values.
func (r *Comparison) setRandomization(order []ordered, counts []flipCount) {
	more, of := 1, r.Permutations+1
	if r.Exact {
		more, of = 0, r.Permutations
	}
	var before float64
	for k, o := range order {
		alone, largest := more, more
		for w := range counts {
			alone += counts[w].alone[k]
			largest += counts[w].largest[k]
		}
		before = max(before, float64(largest)/float64(of))
		r.Pairs[o.pair].Randomization = Test{P: float64(alone) / float64(of), MaxT: before}
	}
}

// centredRows turns systems × queries to queries × systems. From each row its mean is
// taken, which changes no difference and lessens rounding. Where that leaves few enough to
// enumerate, the queries on which all systems are alike are left out; otherwise they stay,
// so that a query's flips, and a pair's p value, do not depend on the other systems
// compared.
func centredRows(values [][]float64) [][]float64 {
	var rows, differ [][]float64
	for q := range values[0] {
		row := make([]float64, len(values))
		for i := range values {
			row[i] = values[i][q]
		}
		alike := slices.Max(row)-slices.Min(row) <= Same
		m := mean(row)
		for i := range row {
			row[i] -= m
		}
		if rows = append(rows, row); !alike {
			differ = append(differ, row)
		}
	}
	if len(differ) <= ExactQueries {
		return differ
	}
	return rows
}

// ordered is a pair of the family with its statistic.
type ordered struct {
	pair, a, b int
	scale      float64 // 1/√ΣD²; 0 if all differences are 0
	reach      float64 // |ΣD|·scale, less what rounding may take from an equal one
}

// bySize returns the pairs by falling statistic, that is by falling |t|.
func (r *Comparison) bySize(values, rows [][]float64) []ordered {
	order := make([]ordered, len(r.Pairs))
	statistic := make([]float64, len(r.Pairs))
	for i := range r.Pairs {
		p := &r.Pairs[i]
		o := ordered{pair: i, a: p.A, b: p.B}
		var sum, squares, size float64
		for _, d := range differences(values[p.A], values[p.B]) {
			sum += d
			squares += float64(d * d)
		}
		for _, row := range rows {
			size += math.Abs(row[p.A]) + math.Abs(row[p.B])
		}
		if squares > 0 {
			o.scale = 1 / math.Sqrt(squares)
		}
		statistic[i] = float64(math.Abs(sum) * o.scale)
		slack := float64(float64(len(rows)+64) * 0x1p-52 * size)
		o.reach = max(0, statistic[i]-float64(slack*o.scale))
		order[i] = o
	}
	slices.SortStableFunc(order, func(x, y ordered) int { return cmp.Compare(statistic[y.pair], statistic[x.pair]) })
	return order
}

// flipCount counts, for every pair in order, the flips that reach its statistic:
// by the pair itself, and by the largest of it and those after it.
type flipCount struct{ alone, largest []int }

func (c *flipCount) add(order []ordered, sums []float64) {
	var largest float64
	for k := len(order) - 1; k >= 0; k-- {
		o := &order[k]
		t := math.Abs(sums[o.a]-sums[o.b]) * o.scale
		if t >= o.reach {
			c.alone[k]++
		}
		if largest = max(largest, t); largest >= o.reach {
			c.largest[k]++
		}
	}
}
