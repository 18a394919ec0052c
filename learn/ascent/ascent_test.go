package ascent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/eval/measure"
)

var measures = []string{"map", "ndcg@5", "mrr", "auc", "p@3", "err", "pairs"}

// judged is a query as it was added.
type judged struct {
	grades []float64
	x      []float32
}

// draw makes queries; coarse values make many ties and many meetings of several
// documents at one point.
func draw(rng *rand.Rand, queries, columns int, coarse bool) []judged {
	list := make([]judged, queries)
	for i := range list {
		n := 1 + rng.IntN(14)
		q := judged{make([]float64, n), make([]float32, n*columns)}
		for k := range q.grades {
			q.grades[k] = float64(max(0, rng.IntN(5)-2))
		}
		for k := range q.x {
			q.x[k] = float32(rng.NormFloat64())
			if coarse {
				q.x[k] = float32(rng.IntN(4))
			}
		}
		list[i] = q
	}
	return list
}

func newData(list []judged, columns int, m measure.Measure) *Data {
	d := NewData(columns, m)
	for _, q := range list {
		d.Add(q.grades, q.x)
	}
	return d
}

// naive is the mean of the measure, ties in the worst order, by sorting alone.
func naive(list []judged, columns int, m measure.Measure, w []float64) float64 {
	r := measure.Ranker{Ties: measure.TiesPessimistic}
	sum, counted := 0.0, 0
	for _, q := range list {
		scores := make([]float64, len(q.grades))
		for i := range scores {
			for j := range w {
				scores[i] += float64(w[j] * float64(q.x[i*columns+j]))
			}
		}
		if v, ok := r.Value(m, q.grades, scores); ok {
			sum += v
			counted++
		}
	}
	return sum / float64(max(counted, 1))
}

func weights(rng *rand.Rand, columns int, coarse bool) []float64 {
	w := make([]float64, columns)
	for j := range w {
		w[j] = rng.NormFloat64()
		if coarse {
			w[j] = float64(rng.IntN(5) - 2)
		}
	}
	return w
}

// Value is the mean of the measure with ties in the worst order, for every measure.
func TestValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		m := measure.MustParse(rapid.SampledFrom(measures).Draw(t, "measure"), measure.LETOR3)
		coarse := rapid.Bool().Draw(t, "coarse")
		list, w := draw(rng, 5, 3, coarse), weights(rng, 3, coarse)
		got, want := newData(list, 3, m).Value(w), naive(list, 3, m, w)
		if math.Abs(got-want) > 1e-12 {
			t.Fatalf("%s is %v, want %v", m.Name(), got, want)
		}
	})
}

// The walk over all crossings gives the measure everywhere along a weight: at the middle
// of every interval it agrees with sorting, also where many documents cross at one point.
func TestCrossingsKnowTheWholeLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		m := measure.MustParse(rapid.SampledFrom(measures).Draw(t, "measure"), measure.LETOR3)
		coarse := rapid.Bool().Draw(t, "coarse")
		list, w := draw(rng, 4, 3, coarse), weights(rng, 3, coarse)
		d := newData(list, 3, m)
		s, j := newState(d, &Climber{Search: Exact}, w), rng.IntN(3)
		s.take(j)
		var c crossings
		total := d.settled
		for i := range d.queries {
			if q := &d.queries[i]; q.varies[j] {
				total += c.query(s, i)
			} else {
				s.lines[0].sort(q, s.scores[i], s.scores[i], 0, s.orders[i])
				total += s.lines[0].measure(m, q, s.orders[i])
			}
		}
		sortByTime(&c.changes, &c.spareChanges, func(h change) uint32 { return h.time })
		for i, h := range c.changes {
			total += h.by
			from := timeOf(h.time)
			to := from + 1
			if i+1 < len(c.changes) {
				to = timeOf(c.changes[i+1].time)
			}
			if to-from < 1e-4 {
				continue
			}
			at := slices.Clone(w)
			// Rounded, so that ties in integers stay ties; off the middle, where changes
			// that add up to 0 may be.
			at[j] += math.Round((from+(to-from)*0.3701)*0x1p20) / 0x1p20
			if want := naive(list, 3, m, at); math.Abs(d.mean(total)-want) > 1e-9 {
				t.Fatalf("%s between %v and %v is %v, want %v", m.Name(), from, to, d.mean(total), want)
			}
		}
	})
}

// No point of a fine grid along a weight is better than what the exact search
// finds, except in intervals that it skips as too narrow.
func TestExactSearchBeatsGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 6 {
		for _, name := range measures {
			m := measure.MustParse(name, measure.LETOR3)
			list, w := draw(rng, 6, 2, false), weights(rng, 2, false)
			d := newData(list, 2, m)
			s := newState(d, &Climber{Search: Exact}, w)
			before := s.value()
			after := s.improve(1, before)
			if got := naive(list, 2, m, s.w); math.Abs(got-after) > 1e-12 {
				t.Fatalf("%s is said to be %v, but is %v", name, after, got)
			}
			if after < before {
				t.Fatalf("%s fell from %v to %v", name, before, after)
			}
			for k := -400; k <= 400; k++ {
				at := []float64{w[0], w[1] + float64(k)/40}
				if v := naive(list, 2, m, at); v > after+1e-9 && !narrowAround(list, m, at, v) {
					t.Fatalf("%s is %v at %v, more than the %v found", name, v, at, after)
				}
			}
		}
	}
}

// narrowAround reports whether the value v at w is that of a narrow interval only.
func narrowAround(list []judged, m measure.Measure, w []float64, v float64) bool {
	for _, by := range []float64{-3e-4, 3e-4} {
		if naive(list, 2, m, []float64{w[0], w[1] + by}) < v-1e-9 {
			return true
		}
	}
	return false
}

// Both searches climb, to what Value says, with weights whose absolute values sum
// to 1; weights that may not be negative are not.
func TestClimb(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, search := range []Search{Steps, Exact} {
		for _, name := range measures {
			for _, nonNegative := range []bool{false, true} {
				m := measure.MustParse(name, measure.LETOR3)
				list := draw(rng, 12, 4, name == "map")
				d := newData(list, 4, m)
				start := []float64{0.25, 0.25, 0.25, 0.25}
				last, sweeps := d.Value(start), 0
				c := Climber{Search: search, NonNegative: nonNegative, Observe: func(s Sweep) error {
					if s.Value < last-1e-12 {
						t.Errorf("%s fell from %v to %v", name, last, s.Value)
					}
					sweeps++
					last = s.Value
					if s.Number != sweeps {
						t.Errorf("sweep %d is number %d", sweeps, s.Number)
					}
					return nil
				}}
				r, err := c.Climb(context.Background(), d, start)
				if err != nil {
					t.Fatal(err)
				}
				var sum float64
				for _, w := range r.W {
					sum += math.Abs(w)
					if nonNegative && w < 0 {
						t.Errorf("weights are %v", r.W)
					}
				}
				if !r.Converged || r.Sweeps != sweeps || math.Abs(sum-1) > 1e-12 || r.Value != d.Value(r.W) || r.Value <= d.Value(start) {
					t.Errorf("%s: result is %+v after %d sweeps, Σ|w| = %v, start %v", name, r, sweeps, sum, d.Value(start))
				}
				c.Observe = nil
				again, err := c.Climb(context.Background(), d, start)
				if err != nil || !slices.Equal(again.W, r.W) {
					t.Errorf("%s: another climb ends elsewhere", name)
				}
			}
		}
	}
}

// The scale of a column changes its weight and nothing else.
func TestScaleOfColumnsDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, search := range []Search{Steps, Exact} {
		list := draw(rng, 12, 3, false)
		scaled := make([]judged, len(list))
		for i, q := range list {
			scaled[i] = judged{q.grades, slices.Clone(q.x)}
			for k := 1; k < len(q.x); k += 3 {
				scaled[i].x[k] *= 1024
			}
		}
		m := measure.MustParse("map", measure.LETOR3)
		c := Climber{Search: search}
		a, _ := c.Climb(context.Background(), newData(list, 3, m), []float64{0.5, 0.25, 0.25})
		b, _ := c.Climb(context.Background(), newData(scaled, 3, m), []float64{0.5, 0.25 / 1024, 0.25})
		if a.Value != b.Value || a.Sweeps != b.Sweeps {
			t.Errorf("search %v: %v after %d sweeps, scaled %v after %d", search, a.Value, a.Sweeps, b.Value, b.Sweeps)
		}
	}
}

// Copies of a document with different grades never count as in the right order, and
// what settles nothing has no influence.
func TestTiesAndSettledQueries(t *testing.T) {
	m := measure.MustParse("map", measure.LETOR3)
	d := NewData(1, m)
	d.Add([]float64{1, 0}, []float32{2, 2})
	d.Add([]float64{1, 1}, []float32{0, 2})
	d.Add([]float64{0, 0}, []float32{0, 2})
	if d.Queries() != 1 || d.Columns() != 1 {
		t.Errorf("%d queries of %d columns, want 1 of 1", d.Queries(), d.Columns())
	}
	for _, search := range []Search{Steps, Exact} {
		r, err := (&Climber{Search: search}).Climb(context.Background(), d, []float64{1})
		if want := (0.5 + 1 + 0) / 3; err != nil || r.Value != want || r.W[0] != 1 {
			t.Errorf("result is %+v, want the value %v", r, want)
		}
	}
}

// A climb ends with the context's error, or that of Observe.
func TestStop(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	d := newData(draw(rng, 12, 3, false), 3, measure.MustParse("map", measure.LETOR3))
	ctx, cancel := context.WithCancel(context.Background())
	c := Climber{Observe: func(Sweep) error { cancel(); return nil }, Tolerance: -1}
	if _, err := c.Climb(ctx, d, make([]float64, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	c = Climber{MaxSweeps: 2, Tolerance: -1}
	if r, err := c.Climb(context.Background(), d, make([]float64, 3)); err != nil || r.Sweeps != 2 || r.Converged {
		t.Errorf("result is %+v, %v", r, err)
	}
}

func TestParseSearch(t *testing.T) {
	for name, want := range map[string]Search{"steps": Steps, "exact": Exact} {
		if got, err := ParseSearch(name); got != want || err != nil {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	if _, err := ParseSearch("x"); err == nil {
		t.Error("x was accepted")
	}
}

func TestTimeKeysAscendWithTime(t *testing.T) {
	times := []float64{math.Inf(-1), -1e30, -2, -1, -1e-30, 0, 1e-30, 1, 2, 1e30, math.Inf(1)}
	for i, v := range times {
		if got := timeOf(timeKey(v)); got != float64(float32(v)) {
			t.Errorf("%v became %v", v, got)
		}
		if i > 0 && timeKey(times[i-1]) >= timeKey(v) {
			t.Errorf("keys of %v and %v are not ascending", times[i-1], v)
		}
	}
	if timeKey(math.Copysign(0, -1)) != timeKey(0) {
		t.Error("−0 is not 0")
	}
}

// The radix sort of long lists is a stable sort as that of short ones.
func TestSortByTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{0, 1, 100, 5000} {
		list := make([]event, n)
		for i := range list {
			list[i] = event{time: rng.Uint32() >> rng.IntN(32), a: int32(i)}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b event) int { return int(int64(a.time) - int64(b.time)) })
		var spare []event
		sortByTime(&list, &spare, func(e event) uint32 { return e.time })
		if !slices.Equal(list, want) {
			t.Errorf("%d events are out of order", n)
		}
	}
}

// Claim: the zero Climber climbs by steps, at most a hundred sweeps over the columns in
// their order.
func TestZeroClimber(t *testing.T) {
	list, start := draw(rand.New(rand.NewPCG(3, 9)), 12, 4, false), []float64{1, 1, 1, 1}
	d := newData(list, 4, measure.MustParse("map", measure.LETOR3))
	got, err := new(Climber).Climb(context.Background(), d, start)
	if err != nil {
		t.Fatal(err)
	}
	want, err := (&Climber{Search: Steps, MaxSweeps: 100, Order: func(int, []int) {}}).Climb(context.Background(), d, start)
	if err != nil || got.Value != want.Value || !slices.Equal(got.W, want.W) || got.Value <= d.Value(start) {
		t.Errorf("the zero value ends at %+v, its defaults at %+v (%v)", got, want, err)
	}
}

// Claim: a query of weight w counts as w queries alike, one of 0 as none, in values and in both
// searches.
func TestWeightsCountCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, name := range measures {
		m := measure.MustParse(name, measure.LETOR3)
		list := draw(rng, 10, 3, false)
		weighted, copied := NewData(3, m), NewData(3, m)
		for i, q := range list {
			weighted.AddWeighted(q.grades, q.x, float64(i%4))
			for range i % 4 {
				copied.Add(q.grades, q.x)
			}
		}
		for _, search := range []Search{Steps, Exact} {
			c, start := Climber{Search: search}, []float64{0.5, 0.25, 0.25}
			got, err := c.Climb(context.Background(), weighted, start)
			if err != nil {
				t.Fatal(err)
			}
			want, err := c.Climb(context.Background(), copied, start)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.Value-want.Value) > 1e-12 || math.Abs(weighted.Value(start)-copied.Value(start)) > 1e-12 {
				t.Errorf("%s, search %v: %+v, of copies %+v", name, search, got, want)
			}
		}
	}
}

// The number of workers changes no bit of where a climb ends.
func TestWorkersDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		m := measure.MustParse(rapid.SampledFrom(measures).Draw(t, "measure"), measure.LETOR3)
		search := rapid.SampledFrom([]Search{Steps, Exact}).Draw(t, "search")
		d, w := newData(draw(rng, 5*part, 4, rapid.Bool().Draw(t, "coarse")), 4, m), weights(rng, 4, false)
		var results []*Result
		for _, workers := range []int{1, 4} {
			r, err := (&Climber{Search: search, MaxSweeps: 2, Workers: workers}).Climb(t.Context(), d, w)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		if a, b := fmt.Sprint(*results[0]), fmt.Sprint(*results[1]); a != b {
			t.Fatalf("one worker: %s, four: %s", a, b)
		}
	})
}
