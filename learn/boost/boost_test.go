package boost

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model/scorer"
)

// draw draws judged queries with features on a grid, so that values repeat; the
// first query has pairs.
func draw(t *rapid.T) *dataset.Dataset {
	var b dataset.Builder
	features := rapid.IntRange(1, 4).Draw(t, "features")
	for q := range rapid.IntRange(1, 4).Draw(t, "queries") {
		grades := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 3), func(i int) float64 { return float64(i) }), 1, 8).Draw(t, "grades")
		if q == 0 {
			grades = append(grades, 0, 1.5)
		}
		x := make([]float32, len(grades)*features)
		for i := range x {
			x[i] = float32(rapid.IntRange(-3, 3).Draw(t, "x")) / 2
		}
		if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// random returns judged queries in which the grade depends on the first features.
func random(queries, docs, features int, seed uint64) *dataset.Dataset {
	var b dataset.Builder
	rng := rand.New(rand.NewPCG(seed, 1))
	for q := range queries {
		grades, x := make([]float64, docs), make([]float32, docs*features)
		for i := range docs {
			grades[i] = float64(rng.IntN(3))
			for f := range features {
				x[i*features+f] = float32(math.Round(100*(rng.NormFloat64()+grades[i]/float64(f+2)))) / 100
			}
		}
		if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
			panic(err)
		}
	}
	return b.Dataset()
}

// pair is a pair of documents by rows of the data set, and its weight in the loss.
type pair struct {
	better, worse int
	weight        float64
}

// allPairs lists the pairs of different grades, straight from the definition.
func allPairs(d *dataset.Dataset, perQuery bool) []pair {
	var list []pair
	queries := 0
	for i := range d.Queries {
		q, first := &d.Queries[i], len(list)
		for a, high := range q.Grades {
			for b, low := range q.Grades {
				if high > low {
					list = append(list, pair{q.Start + a, q.Start + b, 1})
				}
			}
		}
		if len(list) == first {
			continue
		}
		queries++
		for k := first; perQuery && k < len(list); k++ {
			list[k].weight = 1 / float64(len(list)-first)
		}
	}
	for k := range list {
		if perQuery {
			list[k].weight /= float64(queries)
		} else {
			list[k].weight = 1 / float64(len(list))
		}
	}
	return list
}

func has(d *dataset.Dataset, row int, s scorer.Stump) float64 {
	if d.X()[row*d.Features+s.Feature] > s.Threshold {
		return 1
	}
	return 0
}

// edgeOf returns Σ w(pair)·(h(better) − h(worse)).
func edgeOf(d *dataset.Dataset, pairs []pair, w []float64, s scorer.Stump) float64 {
	var sum float64
	for k, p := range pairs {
		sum += w[k] * (has(d, p.better, s) - has(d, p.worse, s))
	}
	return sum
}

// everyStump lists a weak ranker for every value of every feature.
func everyStump(d *dataset.Dataset) []scorer.Stump {
	var list []scorer.Stump
	for f := range d.Features {
		for row := range d.Docs() {
			list = append(list, scorer.Stump{Feature: f, Threshold: d.X()[row*d.Features+f]})
		}
	}
	return list
}

// scoresOf spreads the scores of an arrangement's documents to the data's rows.
func scoresOf(d *dataset.Dataset, a *arrangement, scores []float64) []float64 {
	h := make([]float64, d.Docs())
	for i, row := range a.rows {
		h[row] = scores[i]
	}
	return h
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

// The arrangement lists the documents of queries with pairs by increasing grade, and
// its weights are those of the pairs.
func TestArrange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, perQuery := draw(t), rapid.Bool().Draw(t, "perQuery")
		a := arrange(d, perQuery)
		grades := d.Grades()
		var total float64
		for i := range a.queries {
			q := &a.queries[i]
			total += q.weight * q.pairs()
			for k := range q.count() {
				for j := q.start[k]; j < q.start[k+1]; j++ {
					if grades[a.rows[j]] != grades[a.rows[q.start[k]]] {
						t.Fatal("a level has two grades")
					}
				}
				if k > 0 && grades[a.rows[q.start[k]]] <= grades[a.rows[q.start[k]-1]] {
					t.Fatal("levels do not increase")
				}
			}
		}
		if !near(total, 1, 1e-12) {
			t.Fatalf("weights of all pairs add up to %v", total)
		}
		pairs := allPairs(d, perQuery)
		if got := a.queries[0].weight; !near(got, pairs[0].weight, 1e-12) {
			t.Fatalf("a pair weighs %v, want %v", got, pairs[0].weight)
		}
	})
}

// A bin is the number of thresholds below the value; without cuts the thresholds are
// the values but the highest, with cuts at most that many, from the lowest value up.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, cuts := draw(t), rapid.IntRange(0, 4).Draw(t, "cuts")
		a := arrange(d, false)
		columns := newColumns(d, a.rows, cuts, 1)
		seen := make(map[int]bool)
		for i := range columns {
			c := &columns[i]
			seen[c.feature] = true
			values := make([]float32, len(a.rows))
			for doc, row := range a.rows {
				values[doc] = d.X()[row*d.Features+c.feature]
				below := 0
				for _, threshold := range c.thresholds {
					if threshold < values[doc] {
						below++
					}
				}
				if c.bin(doc) != below {
					t.Fatalf("bin %d of %v among %v", c.bin(doc), values[doc], c.thresholds)
				}
			}
			slices.Sort(values)
			values = slices.Compact(values)
			if cuts == 0 || len(values)-1 <= cuts {
				if !slices.Equal(c.thresholds, values[:len(values)-1]) {
					t.Fatalf("thresholds are %v of the values %v", c.thresholds, values)
				}
			} else if len(c.thresholds) != cuts || c.thresholds[0] != values[0] {
				t.Fatalf("%d cuts are %v of the values %v", cuts, c.thresholds, values)
			}
		}
		for f := range d.Features {
			constant := true
			for _, row := range a.rows {
				constant = constant && d.X()[row*d.Features+f] == d.X()[a.rows[0]*d.Features+f]
			}
			if seen[f] == constant {
				t.Fatalf("feature %d, constant %v, has a column: %v", f, constant, seen[f])
			}
		}
	})
}

// Columns of more values than 16 bits can count give the same edges.
func TestWideColumn(t *testing.T) {
	const docs = 70000
	x := make([]float32, docs)
	grades := make([]float64, docs)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range x {
		x[i], grades[i] = float32(rng.IntN(1<<23)), float64(rng.IntN(2))
	}
	setManyDocs(t, docs+1)
	r, err := NewRankBoost(datatest.Queries(t, datatest.Query{Grades: grades, X: x}), Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	c := &r.search.columns[0]
	if c.wide == nil {
		t.Fatalf("%d thresholds fit into 16 bits", len(c.thresholds))
	}
	best, _ := r.search.run(r.potential)
	var edge float64
	for i, row := range r.documents.rows {
		if x[row] > c.thresholds[best.cut] {
			edge += r.potential[i]
		}
	}
	if !near(edge, best.edge, 1e-12) {
		t.Errorf("edge %v, want %v", best.edge, edge)
	}
}

// Standings hold the measure of each query as a ranking from scratch gives it,
// however scores move, and the mean has the same bits as that of measure.Ranker.
func TestStandings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		if rapid.Bool().Draw(t, "weighted") {
			weights := make([]float64, len(d.Queries))
			for i := range weights {
				weights[i] = float64(rapid.IntRange(0, 3).Draw(t, "weight")) / 3
			}
			weights[0] = 0.1
			if err := d.Weigh(weights, nil); err != nil {
				t.Fatal(err)
			}
		}
		m := measure.MustParse(rapid.SampledFrom([]string{"map", "ndcg@3", "err", "mrr"}).Draw(t, "measure"), measure.LETOR3)
		s := NewStandings(d, m, 1)
		scores := make([]float64, d.Docs())
		ranker := measure.Ranker{Ties: measure.TiesAverage}
		for range 5 {
			for i := range scores {
				scores[i] += float64(rapid.IntRange(-2, 2).Draw(t, "step")) / 2
			}
			want, counted := ranker.Mean(d, scores, m)
			if got := s.Mean(scores); math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) || s.Queries() != counted {
				t.Fatalf("mean %v of %d queries, want %v of %d", got, s.Queries(), want, counted)
			}
		}
	})
}

// Lists long enough that sorting starts over are sorted, too.
func TestStandingsOfLongLists(t *testing.T) {
	d := random(3, 400, 2, 5)
	m := measure.MustParse("map", measure.LETOR3)
	s := NewStandings(d, m, 2)
	rng := rand.New(rand.NewPCG(5, 6))
	scores := make([]float64, d.Docs())
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	for range 3 {
		for i := range scores {
			scores[i] = math.Round(50 * rng.NormFloat64())
		}
		want, _ := ranker.Mean(d, scores, m)
		if got := s.Mean(scores); got != want {
			t.Errorf("mean %v, want %v", got, want)
		}
	}
}

// Data without documents of different grades in a query are refused by name.
func TestNoPairs(t *testing.T) {
	d := datatest.Queries(t, datatest.Query{Grades: []float64{0, 0}, X: []float32{1, 2}}, datatest.Query{Grades: []float64{2, 2}, X: []float32{1, 2}})
	if _, err := NewRankBoost(d, Options{}, false); !errors.Is(err, ErrNoPairs) {
		t.Errorf("RankBoost: %v", err)
	}
	if _, err := NewFRank(d, FRankOptions{}); !errors.Is(err, ErrNoPairs) {
		t.Errorf("FRank: %v", err)
	}
	if _, err := NewAdaRank(d, AdaRankOptions{Measure: measure.MustParse("map", measure.LETOR3)}); !errors.Is(err, ErrNoPairs) {
		t.Errorf("AdaRank: %v", err)
	}
}

// Where all documents have the same features no weak ranker has an edge.
func TestNoEdge(t *testing.T) {
	d := datatest.Queries(t, datatest.Query{Grades: []float64{0, 1, 2}, X: []float32{1, 1, 1}})
	r, err := NewRankBoost(d, Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if round, ok := r.Next(); ok {
		t.Errorf("RankBoost adds %+v", round)
	}
	f, err := NewFRank(d, FRankOptions{Search: ByLoss})
	if err != nil {
		t.Fatal(err)
	}
	if round, ok := f.Next(); ok {
		t.Errorf("FRank adds %+v", round)
	}
}

// booster is a boosting with rounds of type R.
type booster[R any] interface{ Next() (R, bool) }

// sameRounds checks that the first rounds are the same, bit for bit, for any number of
// workers.
func sameRounds[R comparable](t *testing.T, name string, rounds int, start func(workers int) booster[R]) {
	t.Helper()
	var want []R
	for _, workers := range []int{1, 2, 5} {
		b := start(workers)
		for r := range rounds {
			round, _ := b.Next()
			if workers == 1 {
				want = append(want, round)
			} else if round != want[r] {
				t.Fatalf("%s, %d workers, round %d: %+v, want %+v", name, workers, r, round, want[r])
			}
		}
	}
}
