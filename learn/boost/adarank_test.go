package boost

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
)

// naive is AdaRank from its definition: nothing is kept but the list of features
// taken, and every quantity is computed from it anew.
type naive struct {
	d       *dataset.Dataset
	queries []*dataset.Query
	o       AdaRankOptions
	ranker  measure.Ranker
}

// taken is a weak ranker in the sum.
type taken struct {
	feature int
	weight  float64 // with the direction's sign
	alpha   float64
}

func newNaive(d *dataset.Dataset, o AdaRankOptions) *naive {
	n := &naive{d: d, o: o, ranker: measure.Ranker{Ties: measure.TiesAverage}}
	for i := range d.Queries {
		n.queries = append(n.queries, &d.Queries[i])
	}
	return n
}

// e is E(q, f).
func (n *naive) e(q *dataset.Query, sum []taken) float64 {
	scores := make([]float64, q.Len())
	for _, t := range sum {
		for i := range scores {
			scores[i] += float64(t.weight * float64(q.Row(i)[t.feature]))
		}
	}
	v, _ := n.ranker.Value(n.o.Measure, q.Grades, scores)
	return v
}

func (n *naive) mean(sum []taken) float64 {
	if len(sum) == 0 {
		return math.Inf(-1)
	}
	var total float64
	for _, q := range n.queries {
		total += n.e(q, sum)
	}
	return total / float64(len(n.queries))
}

// p returns the query weights after a sum.
func (n *naive) p(sum []taken) []float64 {
	p := make([]float64, len(n.queries))
	var total float64
	for i, q := range n.queries {
		p[i] = 1
		if len(sum) > 0 && n.o.Reweight == ReweightPaper {
			p[i] = math.Exp(-n.e(q, sum))
		}
		if n.o.Reweight == ReweightCumulative {
			for t := range sum {
				p[i] *= math.Exp(-n.o.Rate * sum[t].alpha * n.e(q, sum[:t+1]))
			}
		}
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

// gap returns by how much the greatest edge is above the edge of a weak ranker.
func (n *naive) gap(sum []taken, of taken) (gap, edge float64) {
	p := n.p(sum)
	edgeOf := func(t taken) float64 {
		var sum float64
		for i, q := range n.queries {
			sum += p[i] * n.e(q, []taken{t})
		}
		return sum
	}
	most := math.Inf(-1)
	for f := range n.d.Features {
		most = max(most, edgeOf(taken{feature: f, weight: 1}))
		if n.o.Both {
			most = max(most, edgeOf(taken{feature: f, weight: -1}))
		}
	}
	of.weight = math.Copysign(1, of.weight)
	edge = edgeOf(of)
	return most - edge, edge
}

func newAdaRank(t interface{ Fatal(...any) }, d *dataset.Dataset, o AdaRankOptions) *AdaRank {
	a, err := NewAdaRank(d, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Without setting features aside, each round takes the weak ranker of the greatest
// edge by query weights made anew from the sum so far, α is the formula's, mean and
// loss are those of the sum; and the rules stop where they say.
func TestAdaRankAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		o := AdaRankOptions{
			Measure:   measure.MustParse(rapid.SampledFrom([]string{"map", "ndcg@3"}).Draw(t, "measure"), measure.LETOR3),
			Both:      rapid.Bool().Draw(t, "both"),
			Stop:      Stop(rapid.IntRange(0, 2).Draw(t, "stop")),
			Tolerance: rapid.SampledFrom([]float64{0, 0.01}).Draw(t, "tolerance"),
			Reweight:  Reweighting(rapid.IntRange(0, 1).Draw(t, "reweight")),
			Rate:      rapid.SampledFrom([]float64{1, 0.25}).Draw(t, "rate"),
			Workers:   1,
		}
		a, n := newAdaRank(t, d, o), newNaive(d, o)
		var sum []taken
		for range 6 {
			before := n.mean(sum)
			round, ok := a.Next()
			if !ok {
				// Without a rule, only weak rankers that are all without a positive edge end boosting.
				gap, edge := n.gap(sum, taken{feature: 0, weight: 1})
				if o.Stop == StopNever && gap+edge > 1e-9 {
					t.Fatalf("a round is missing: the greatest edge is %v", gap+edge)
				}
				return
			}
			w := taken{round.Feature, round.Weight, math.Abs(round.Weight)}
			gap, edge := n.gap(sum, w)
			if gap > 1e-9 {
				t.Fatalf("the edge of %+v is %v below the greatest", round, gap)
			}
			if want := halfLogRatio(1+edge, 1-edge); !near(w.alpha, want, 1e-6) {
				t.Fatalf("α is %v, want %v", w.alpha, want)
			}
			sum = append(sum, w)
			checkRound(t, n, sum, round, before)
		}
	})
}

func checkRound(t *rapid.T, n *naive, sum []taken, round LinearRound, before float64) {
	mean := n.mean(sum)
	if !near(round.Mean, mean, 1e-12) {
		t.Fatalf("mean is %v, want %v", round.Mean, mean)
	}
	var loss float64
	for _, q := range n.queries {
		loss += math.Exp(-n.e(q, sum)) / float64(len(n.queries))
	}
	if !near(round.Loss, loss, 1e-12) {
		t.Fatalf("loss is %v, want %v", round.Loss, loss)
	}
	if n.o.Stop == StopPaper && mean <= before || n.o.Stop == StopRankLib && mean <= before-n.o.Tolerance-1e-12 {
		t.Fatalf("the mean goes from %v to %v without a stop", before, mean)
	}
}

// What stops AdaRank is not in its weights, and nothing comes after.
func TestAdaRankStops(t *testing.T) {
	d := random(12, 15, 4, 3)
	for _, stop := range []Stop{StopPaper, StopRankLib} {
		a := newAdaRank(t, d, AdaRankOptions{Measure: measure.MustParse("map", measure.LETOR3), Stop: stop})
		sums := make([]float64, d.Features)
		rounds := 0
		for ; rounds < 1000; rounds++ {
			round, ok := a.Next()
			if !ok {
				break
			}
			sums[round.Feature] += round.Weight
		}
		if rounds == 0 || rounds == 1000 {
			t.Errorf("stop %d: %d rounds", stop, rounds)
		}
		for f, w := range a.Weights() {
			if !near(w, sums[f], 1e-12) {
				t.Errorf("stop %d: weight %d is %v, the rounds' are %v", stop, f, w, sums[f])
			}
		}
		if _, ok := a.Next(); ok {
			t.Errorf("stop %d: a round after the last", stop)
		}
	}
}

// A feature that is taken again and again without any effect on the mean is set aside
// after that number of repetitions, another one gets its turn, and then it returns.
func TestRepeats(t *testing.T) {
	d := random(12, 15, 4, 3)
	for _, repeats := range []int{1, 3} {
		a := newAdaRank(t, d, AdaRankOptions{Measure: measure.MustParse("map", measure.LETOR3), Stop: StopNever, Repeats: repeats})
		last, mean, idle, asides := -1, math.Inf(-1), 0, 0
		for range 200 {
			round, _ := a.Next()
			if round.Feature == last && round.Mean == mean {
				idle++
			} else {
				idle = 0
			}
			if idle > repeats {
				t.Fatalf("repeats %d: feature %d repeated %d times", repeats, last, idle)
			}
			if idle == repeats {
				asides, idle = asides+1, 0
				if !a.aside[round.Feature] {
					t.Fatalf("repeats %d: feature %d is not set aside", repeats, last)
				}
			}
			last, mean = round.Feature, round.Mean
		}
		if asides == 0 {
			t.Errorf("repeats %d: no feature was ever set aside", repeats)
		}
	}
}

// With Enqueue no feature is taken twice running while the queue fills, what was
// taken back leaves no trace in the weights, and in the end every feature of the queue
// has been admitted.
func TestEnqueue(t *testing.T) {
	for _, stop := range []Stop{StopPaper, StopRankLib} {
		waited := 0
		for seed := range uint64(5) {
			waited += enqueue(t, AdaRankOptions{Measure: measure.MustParse("ndcg@5", measure.LETOR3), Stop: stop, Enqueue: true, Tolerance: 0.01}, seed)
		}
		if waited == 0 {
			t.Errorf("stop %d: no feature ever waited", stop)
		}
	}
}

// enqueue returns the greatest length of the queue.
func enqueue(t *testing.T, o AdaRankOptions, seed uint64) (waited int) {
	a := newAdaRank(t, random(15, 12, 5, seed), o)
	rng := rand.New(rand.NewPCG(1, 1))
	for last := -1; !a.over; {
		round, ok := a.Next()
		if waited = max(waited, len(a.queue)); ok && a.enqueuing && round.Feature == last {
			t.Errorf("stop %d: feature %d is taken twice running", o.Stop, last)
		}
		last = round.Feature
		checkScores(t, a, rng)
	}
	if a.enqueuing || len(a.queue) != 0 || slices.Contains(a.aside, true) {
		t.Errorf("stop %d: it ends with the queue %v, aside %v", o.Stop, a.queue, a.aside)
	}
	return waited
}

// checkScores compares the scores of some rows with the weights.
func checkScores(t *testing.T, a *AdaRank, rng *rand.Rand) {
	for range 5 {
		row := rng.IntN(a.data.Docs())
		var want float64
		for f, w := range a.Weights() {
			want += w * float64(a.data.X()[row*a.data.Features+f])
		}
		if !near(a.scores[row], want, 1e-9) {
			t.Fatalf("row %d scores %v, by the weights %v", row, a.scores[row], want)
		}
	}
}

// A measure that is not between −1 and 1 is refused, as are unknown rules.
func TestAdaRankErrors(t *testing.T) {
	d := random(3, 10, 2, 4)
	_, err := NewAdaRank(d, AdaRankOptions{Measure: measure.MustParse("dcg", measure.LETOR3)})
	if err == nil || !strings.Contains(err.Error(), "of dcg on the training data, expected a measure between -1 and 1") {
		t.Errorf("error is %v", err)
	}
	for _, o := range []AdaRankOptions{{}, {Measure: measure.MustParse("map", measure.LETOR3), Stop: 3}, {Measure: measure.MustParse("map", measure.LETOR3), Reweight: -1}} {
		if _, err := NewAdaRank(d, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// The rounds are the same, bit for bit, for any number of workers.
func TestSameAdaRankForAnyNumberOfWorkers(t *testing.T) {
	d := random(30, 25, 6, 2)
	sameRounds(t, "AdaRank", 40, func(workers int) booster[LinearRound] {
		return newAdaRank(t, d, AdaRankOptions{
			Measure: measure.MustParse("ndcg@10", measure.LETOR3), Stop: StopNever, Both: true,
			Reweight: ReweightCumulative, Rate: 1, Repeats: 2, Workers: workers,
		})
	})
}
