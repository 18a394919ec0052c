package synth

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
)

// xia2008 is the data of ListMLE's paper.
var xia2008 = Square{Queries: 100, Docs: 15, Noise: 0.005, Seed: 1}

func generateSquare(t testing.TB, s Square) *dataset.Dataset {
	t.Helper()
	d, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// exact returns the share of queries that w·x ranks exactly as graded.
func exact(d *dataset.Dataset, w [2]float64) float64 {
	right := 0
	for i := range d.Queries {
		q := &d.Queries[i]
		order := make([]int, q.Len())
		for k := range order {
			order[k] = k
		}
		score := func(k int) float64 { return w[0]*float64(q.Row(k)[0]) + w[1]*float64(q.Row(k)[1]) }
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
		if slices.IsSortedFunc(order, func(a, b int) int { return cmp.Compare(q.Grades[b], q.Grades[a]) }) {
			right++
		}
	}
	return float64(right) / float64(len(d.Queries))
}

// The direction by which lists are ranked gets as many of them exactly right as an
// independent program finds: .944, .895 and .563 with noise of .005, .01 and .05.
// Without noise it gets all, and no direction beside it gets more.
func TestSquareNoiseBoundsAccuracy(t *testing.T) {
	if testing.Short() {
		t.Skip("statistics of large data")
	}
	s := xia2008
	s.Queries = 20_000
	for noise, want := range map[float64]float64{0: 1, 0.005: 0.944, 0.01: 0.895, 0.05: 0.563} {
		s.Noise = noise
		got := exact(generateSquare(t, s), SquareWeights)
		// Both programs drew 20,000 lists, and the figures have three digits.
		if tolerance := 4*math.Sqrt(2*want*(1-want)/float64(s.Queries)) + 0.0005; math.Abs(got-want) > tolerance {
			t.Errorf("noise %v: accuracy %.4f, expected %.3f ± %.4f", noise, got, want, tolerance)
		}
	}
	s.Noise = xia2008.Noise
	d := generateSquare(t, s)
	best := exact(d, SquareWeights)
	for _, w := range [][2]float64{{0.9, 10}, {1.1, 10}, {0, 1}, {-1, -10}} {
		if got := exact(d, w); got >= best {
			t.Errorf("the direction %v is right on %.4f of the lists, %v on %.4f", w, got, SquareWeights, best)
		}
	}
}

// Grades are a permutation of 1 … n, points lie in the square, and a grade is the
// rank by the noisy sum: without noise, exactly that by the sum.
func TestSquareGradesAreRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Square{
			Queries: rapid.IntRange(1, 5).Draw(t, "queries"),
			Docs:    rapid.IntRange(2, 40).Draw(t, "docs"),
			Seed:    rapid.Uint64().Draw(t, "seed"),
		}
		d, err := s.Generate()
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Queries) != s.Queries || d.Features != 2 {
			t.Fatalf("%d queries of %d features", len(d.Queries), d.Features)
		}
		for i := range d.Queries {
			q := &d.Queries[i]
			grades := slices.Clone(q.Grades)
			slices.Sort(grades)
			for k, g := range grades {
				if g != float64(k+1) {
					t.Fatalf("grades %v are no permutation", q.Grades)
				}
			}
			for a := range q.Grades {
				for _, v := range q.Row(a) {
					if v < 0 || v >= 1 {
						t.Fatalf("coordinate %v", v)
					}
				}
				for b := range q.Grades {
					ya, yb := squareTarget(q.Row(a)[0], q.Row(a)[1]), squareTarget(q.Row(b)[0], q.Row(b)[1])
					if ya > yb && q.Grades[a] < q.Grades[b] {
						t.Fatalf("grade %v at %v, %v at %v", q.Grades[a], ya, q.Grades[b], yb)
					}
				}
			}
		}
	})
}

// The points are uniform: mean 1/2, variance 1/12 and no correlation.
func TestSquarePointsAreUniform(t *testing.T) {
	s := xia2008
	s.Queries = 2000
	d := generateSquare(t, s)
	n := float64(d.Docs())
	var sum, squares [2]float64
	product := 0.0
	for row := range slices.Chunk(d.X(), 2) {
		for j, v := range row {
			sum[j] += float64(v) / n
			squares[j] += (float64(v) - 0.5) * (float64(v) - 0.5) / n
		}
		product += (float64(row[0]) - 0.5) * (float64(row[1]) - 0.5) / n
	}
	for j := range sum {
		if math.Abs(sum[j]-0.5) > 5/math.Sqrt(12*n) || math.Abs(squares[j]-1.0/12) > 5/math.Sqrt(180*n) {
			t.Errorf("x%d: mean %.4f, variance %.4f", j+1, sum[j], squares[j])
		}
	}
	if math.Abs(product) > 5/(12*math.Sqrt(n)) {
		t.Errorf("covariance %.5f", product)
	}
}

// Equal descriptions give equal data, independent of what else is generated; another seed
// other data.
func TestSquareSeeds(t *testing.T) {
	s := xia2008
	d := generateSquare(t, s)
	more := s
	more.Queries = 130
	if !same(d, generateSquare(t, s), 100) || !same(d, generateSquare(t, more), 100) {
		t.Error("the same queries differ")
	}
	s.Seed = 2
	if same(d, generateSquare(t, s), 1) {
		t.Error("another seed gave the same data")
	}
}

func TestSquareIsChecked(t *testing.T) {
	for want, change := range map[string]func(*Square){
		"0 queries: expected 1 or more":                   func(s *Square) { s.Queries = 0 },
		"1 documents a query: expected 2 or more":         func(s *Square) { s.Docs = 1 },
		"noise NaN: expected a finite number, 0 or more":  func(s *Square) { s.Noise = math.NaN() },
		"noise -0.5: expected a finite number, 0 or more": func(s *Square) { s.Noise = -0.5 },
		"noise +Inf: expected a finite number, 0 or more": func(s *Square) { s.Noise = math.Inf(1) },
	} {
		s := xia2008
		change(&s)
		if _, err := s.Generate(); err == nil || err.Error() != "square data: "+want {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}
