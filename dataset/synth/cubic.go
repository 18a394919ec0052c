package synth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
)

// Cubic describes the artificial data of RankNet and LambdaRank (Burges et al., Learning to Rank Using
// Gradient Descent, ICML 2005, section 4; Burges, Ragno and Le, NIPS 2006, section 6.3.1). Documents are
// independent points x of [−1, 1]^Features. Their grades depend on the value of a random cubic polynomial:
//
//	t1 = Σ a_i x_i,  t2 = Σ x_i x_Q(i),  t3 = Σ x_i x_P(i) x_R(i)
//	target = (t1′ + t2′ + t3′)/3
//
// The a_i are uniform on [−1, 1]. Q, P and R are random permutations. t′ is t minus its mean, divided by its
// standard deviation, over all data. Thresholds divide the distribution of the target into the given shares of
// grades.
//
// Means, deviations and thresholds describe the population of the polynomial, not one data set. So training
// and test data made with one Polynomial and different seeds are graded alike.
type Cubic struct {
	Queries  int // number of queries, at least 1
	Docs     int // documents of every query, at least 2
	Features int // number of features, at least 1

	// Shares are the shares of documents with grade 0, 1, 2, …. They are at least two positive numbers whose
	// sum is 1. See [EqualShares].
	Shares []float64

	Polynomial uint64 // seed of a, Q, P and R: the ranking task
	Seed       uint64 // seed of the documents
}

// EqualShares returns the shares of equally frequent grades.
func EqualShares(grades int) []float64 {
	return slices.Repeat([]float64{1 / float64(grades)}, grades)
}

// population is the number of points from which means, deviations and thresholds are estimated. The estimate
// of a share p has a standard deviation of √(p(1−p)/population), 0.0016 for ½.
const population = 100_000

// Generate returns the data set. Query ids count from 1. Equal descriptions give equal data. A query does not
// depend on other queries. So with more queries, the first ones stay the same.
func (c Cubic) Generate() (*dataset.Dataset, error) {
	q, err := c.Made()
	if err != nil {
		return nil, err
	}
	return q.dataset()
}

// Made returns the queries of Generate, which are made one at a time.
func (c Cubic) Made() (*Queries, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("cubic data: %w", err)
	}
	g := c.grader()
	x, grades := make([]float32, c.Docs*c.Features), make([]float64, c.Docs)
	return &Queries{
		Number: c.Queries, Features: c.Features, what: "cubic data",
		docs: func(string) int { return c.Docs },
		query: func(id string) ([]float64, []float32) {
			uniform(x, random.Stream(c.Seed, "synth cubic", id))
			for k := range grades {
				grades[k] = g.grade(x[k*c.Features : (k+1)*c.Features])
			}
			return grades, x
		},
	}, nil
}

func (c Cubic) check() error {
	switch {
	case c.Queries < 1:
		return fmt.Errorf("%d queries: expected 1 or more", c.Queries)
	case c.Docs < 2:
		return fmt.Errorf("%d documents a query: expected 2 or more", c.Docs)
	case c.Features < 1:
		return fmt.Errorf("%d features: expected 1 or more", c.Features)
	case len(c.Shares) < 2:
		return fmt.Errorf("%d grades: expected 2 or more", len(c.Shares))
	}
	sum := 0.0
	for grade, p := range c.Shares {
		if !(p > 0 && p < 1) {
			return fmt.Errorf("share %v of grade %d: expected a number between 0 and 1", p, grade)
		}
		sum += p
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("the shares of all grades sum to %v: expected 1", sum)
	}
	return nil
}

// cubicGrader assigns grades to points.
type cubicGrader struct {
	polynomial cubicPolynomial
	mean       [3]float64 // of t1, t2, t3
	deviation  [3]float64
	cuts       []float64 // smallest targets of grades 1, 2, …, ascending
}

// grader draws the polynomial and estimates means, deviations and thresholds.
func (c Cubic) grader() *cubicGrader {
	g := &cubicGrader{polynomial: drawCubic(c.Features, c.Polynomial)}
	rng := random.Stream(c.Polynomial, "synth cubic population", "")
	x, terms := make([]float32, c.Features), make([][3]float64, population)
	for k := range terms {
		uniform(x, rng)
		terms[k] = g.polynomial.terms(x)
	}
	for j := range g.mean {
		for _, t := range terms {
			g.mean[j] += t[j] / population
		}
		for _, t := range terms {
			g.deviation[j] += (t[j] - g.mean[j]) * (t[j] - g.mean[j]) / population
		}
		g.deviation[j] = math.Sqrt(g.deviation[j])
	}
	targets := make([]float64, population)
	for k, t := range terms {
		targets[k] = g.standardised(t)
	}
	slices.Sort(targets)
	below := 0.0
	for _, p := range c.Shares[:len(c.Shares)-1] {
		below += p
		g.cuts = append(g.cuts, targets[min(int(below*population), population-1)])
	}
	return g
}

// standardised returns the target of a point from its three terms.
func (g *cubicGrader) standardised(t [3]float64) float64 {
	sum := 0.0
	for j, v := range t {
		sum += (v - g.mean[j]) / g.deviation[j]
	}
	return sum / float64(len(t))
}

func (g *cubicGrader) grade(x []float32) float64 {
	target := g.standardised(g.polynomial.terms(x))
	grade := 0
	for grade < len(g.cuts) && target >= g.cuts[grade] {
		grade++
	}
	return float64(grade)
}

// cubicPolynomial has the coefficients of t1 and the permutations of t2 and t3.
type cubicPolynomial struct {
	a       []float64
	q, p, r []int
}

func drawCubic(features int, seed uint64) cubicPolynomial {
	rng := random.Stream(seed, "synth cubic polynomial", "")
	c := cubicPolynomial{a: make([]float64, features)}
	for i := range c.a {
		c.a[i] = float64(2*rng.Float64()) - 1
	}
	c.q, c.p, c.r = rng.Perm(features), rng.Perm(features), rng.Perm(features)
	return c
}

// terms returns t1, t2 and t3. Products are rounded one by one, so that no
// processor fuses them with sums.
func (c *cubicPolynomial) terms(x []float32) (t [3]float64) {
	for i, v := range x {
		v := float64(v)
		t[0] += float64(c.a[i] * v)
		t[1] += float64(v * float64(x[c.q[i]]))
		t[2] += float64(v * float64(x[c.p[i]]) * float64(x[c.r[i]]))
	}
	return t
}

// uniform fills x with numbers from [−1, 1).
func uniform(x []float32, rng *rand.Rand) {
	for i := range x {
		x[i] = float32(2*rng.Float32()) - 1
	}
}
