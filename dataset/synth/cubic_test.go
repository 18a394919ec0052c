package synth

import (
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// burges2005 is the data of RankNet's paper: six equally frequent grades.
var burges2005 = Cubic{Queries: 20, Docs: 50, Features: 50, Shares: EqualShares(6), Polynomial: 1, Seed: 1}

func generateCubic(t testing.TB, c Cubic) *dataset.Dataset {
	t.Helper()
	d, err := c.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// With six equally frequent grades and 50 documents a query, 1000 vectors make as
// many pairs of different grades as an independent program finds, 20,430 ± 63
// over draws of the data; the paper has 20,382. Expected of independent documents
// are 20·(50² − 50·5/6 − 50²/6)/2 = 20,417; grades of equal width would make about
// 17,100.
func TestCubicPairsPerThousandVectors(t *testing.T) {
	if testing.Short() {
		t.Skip("statistics of large data")
	}
	c := burges2005
	var pairs []float64
	for c.Polynomial = range uint64(4) {
		d := generateCubic(t, Cubic{Queries: 10 * c.Queries, Docs: c.Docs, Features: c.Features, Shares: c.Shares, Polynomial: c.Polynomial, Seed: c.Seed})
		for queries := range slices.Chunk(d.Queries, c.Queries) {
			pairs = append(pairs, pairsOf(queries))
		}
	}
	mean := 0.0
	for _, n := range pairs {
		if math.Abs(n-20_430) > 5*63 {
			t.Errorf("%v pairs, expected 20,430 ± 63", n)
		}
		mean += n / float64(len(pairs))
	}
	if math.Abs(mean-20_417) > 4*63/math.Sqrt(float64(len(pairs))) {
		t.Errorf("%v pairs on average, expected 20,417", mean)
	}
}

func pairsOf(queries []dataset.Query) (pairs float64) {
	for i := range queries {
		g := queries[i].Grades
		for a := range g {
			for _, other := range g[:a] {
				if g[a] != other {
					pairs++
				}
			}
		}
	}
	return pairs
}

// The shares of grades are those asked for, on data that the cuts were not chosen
// from, and whichever seed the data have.
func TestCubicSharesOfGrades(t *testing.T) {
	if testing.Short() {
		t.Skip("statistics of large data")
	}
	for _, shares := range [][]float64{
		{0.5225, 0.3215, 0.1314, 0.0175, 0.0071},
		EqualShares(6),
		{0.999, 0.001},
	} {
		for seed := range uint64(2) {
			c := Cubic{Queries: 400, Docs: 50, Features: 50, Shares: shares, Polynomial: 7, Seed: seed}
			info := dataset.Describe(generateCubic(t, c), 1)
			n := float64(info.Documents)
			for grade, want := range shares {
				got := 0.0
				for _, g := range info.Grades {
					if g.To == float64(grade) {
						got = float64(g.Documents) / n
					}
				}
				// The cuts have an error of their own.
				if math.Abs(got-want) > 5*math.Sqrt(want*(1-want)*(1/n+2.0/population)) {
					t.Errorf("shares %v, seed %d: %.5f of the documents have grade %d", shares, seed, got, grade)
				}
			}
		}
	}
}

// Each of the three terms has mean 0 and variance 1 over data of any seed, and
// the exact moments of its polynomial: E x² = 1/3, E x⁴ = 1/5, odd moments 0.
func TestCubicTermsAreStandardised(t *testing.T) {
	if testing.Short() {
		t.Skip("statistics of large data")
	}
	c := burges2005
	g := c.grader()
	c.Queries, c.Seed = 400, 99
	d := generateCubic(t, c)
	n := float64(d.Docs())
	var mean, square [3]float64
	for row := range slices.Chunk(d.X(), d.Features) {
		for j, v := range g.polynomial.terms(row) {
			z := (v - g.mean[j]) / g.deviation[j]
			mean[j] += z / n
			square[j] += z * z / n
		}
	}
	for j := range mean {
		if math.Abs(mean[j]) > 5/math.Sqrt(n) || math.Abs(square[j]-1) > 0.06 {
			t.Errorf("t%d has mean %v and variance %v", j+1, mean[j], square[j])
		}
	}
	variance, fixed := 0.0, 0.0
	for i, a := range g.polynomial.a {
		variance += a * a / 3
		if g.polynomial.q[i] == i {
			fixed++
		}
	}
	if math.Abs(g.deviation[0]/math.Sqrt(variance)-1) > 0.01 || math.Abs(g.mean[1]-fixed/3) > 0.05 {
		t.Errorf("deviation of t1 %v, want %v; mean of t2 %v, want %v", g.deviation[0], math.Sqrt(variance), g.mean[1], fixed/3)
	}
}

// The terms are what their formulas say, on a polynomial small enough to write
// down.
func TestCubicTerms(t *testing.T) {
	c := cubicPolynomial{a: []float64{2, -1, 0.5}, q: []int{1, 0, 2}, p: []int{2, 1, 0}, r: []int{0, 2, 1}}
	got := c.terms([]float32{0.5, -0.25, 1})
	want := [3]float64{
		1 + 0.25 + 0.5,
		-0.125 - 0.125 + 1,
		0.5*1*0.5 + -0.25*-0.25*1 + 1*0.5*-0.25,
	}
	if got != want {
		t.Errorf("terms %v, want %v", got, want)
	}
}

// One polynomial grades alike for any seed of the data and number of queries; another
// polynomial grades differently. Otherwise data of different seeds could not be used for
// training and testing.
func TestCubicPolynomialIsTheTask(t *testing.T) {
	if testing.Short() {
		t.Skip("statistics of large data")
	}
	c := burges2005
	train := generateCubic(t, c)
	if !same(train, generateCubic(t, c), len(train.Queries)) {
		t.Error("the same description gave different data")
	}
	more := c
	more.Queries = 25
	if !same(train, generateCubic(t, more), len(train.Queries)) {
		t.Error("asking for more queries changed the first ones")
	}
	other := c
	other.Seed = 2
	if same(train, generateCubic(t, other), 1) {
		t.Error("another seed gave the same data")
	}
	task := c
	task.Polynomial = 2
	d := generateCubic(t, task)
	if !slices.Equal(train.X(), d.X()) {
		t.Error("another polynomial changed the documents")
	}
	if same(train, d, 1) {
		t.Error("another polynomial gave the same grades")
	}
}

// Of the target's variance a third is linear, so the best linear ranker agrees
// with the grades far better than chance and far worse than perfectly, also on
// data of another seed.
func TestCubicIsPartlyLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("statistics of large data")
	}
	c := burges2005
	c.Queries, c.Shares = 200, []float64{0.9, 0.1}
	train := generateCubic(t, c)
	c.Seed = 2
	ranked, random := meanAP(generateCubic(t, c), leastSquares(t, train))
	if ranked < random+0.15 || ranked > 0.7 {
		t.Errorf("MAP of a linear ranker %.3f, of a random one %.3f", ranked, random)
	}
}

func TestCubicKeepsToItsDescription(t *testing.T) {
	for _, c := range []Cubic{
		{Queries: 1, Docs: 2, Features: 1, Shares: EqualShares(2)},
		{Queries: 3, Docs: 700, Features: 2, Shares: EqualShares(9), Seed: math.MaxUint64},
		{Queries: 50, Docs: 4, Features: 13, Shares: []float64{0.2, 0.5, 0.3}, Polynomial: 5},
	} {
		d := generateCubic(t, c)
		if len(d.Queries) != c.Queries || d.Docs() != c.Queries*c.Docs || d.Features != c.Features {
			t.Errorf("%+v: %d queries, %d documents, %d features", c, len(d.Queries), d.Docs(), d.Features)
		}
		for i := range d.Queries {
			for _, g := range d.Queries[i].Grades {
				if g != math.Trunc(g) || g < 0 || g >= float64(len(c.Shares)) {
					t.Fatalf("%+v: grade %v", c, g)
				}
			}
		}
		for _, v := range d.X() {
			if v < -1 || v >= 1 {
				t.Fatalf("%+v: feature value %v", c, v)
			}
		}
	}
}

func TestCubicIsChecked(t *testing.T) {
	for want, change := range map[string]func(*Cubic){
		"0 queries: expected 1 or more":                                  func(c *Cubic) { c.Queries = 0 },
		"1 documents a query: expected 2 or more":                        func(c *Cubic) { c.Docs = 1 },
		"0 features: expected 1 or more":                                 func(c *Cubic) { c.Features = 0 },
		"1 grades: expected 2 or more":                                   func(c *Cubic) { c.Shares = []float64{1} },
		"share NaN of grade 1: expected a number between 0 and 1":        func(c *Cubic) { c.Shares = []float64{0.5, math.NaN()} },
		"share 0 of grade 0: expected a number between 0 and 1":          func(c *Cubic) { c.Shares = []float64{0, 0.5} },
		"the shares of all grades sum to 0.7999999999999999: expected 1": func(c *Cubic) { c.Shares = []float64{0.7, 0.1} },
	} {
		c := burges2005
		change(&c)
		if _, err := c.Generate(); err == nil || err.Error() != "cubic data: "+want {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}
