package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// reference is the algorithm of the documentation in its plainest form: it
// returns the training costs and the last x.
func reference(d Descent, a []float64, m [][]float64, x0 []float64) (costs, x []float64) {
	x = slices.Clone(x0)
	dim, n, t := len(x), len(m), 0.0
	v, s := make([]float64, dim), make([]float64, dim)
	for epoch := 1; epoch <= d.MaxEpochs; epoch++ {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		d.Shuffle(epoch).Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		cost := 0.0
		for batch := range slices.Chunk(order, min(d.Batch, n)) {
			t++
			next := make([]float64, dim)
			for j := range x {
				share := float64(len(batch)) / float64(n)
				g := 2 * x[j] / d.C * share
				cost += x[j] * x[j] / d.C * share
				for _, i := range batch {
					g += a[i] * (x[j] - m[i][j])
					cost += a[i] / 2 * (x[j] - m[i][j]) * (x[j] - m[i][j])
				}
				switch d.Rule {
				case Plain:
					next[j] = x[j] - d.Rate*g
				case Momentum:
					v[j] = d.Beta1*v[j] - d.Rate*g
					next[j] = x[j] + v[j]
				case Adam:
					v[j] = d.Beta1*v[j] + (1-d.Beta1)*g
					s[j] = d.Beta2*s[j] + (1-d.Beta2)*g*g
					mean, square := v[j]/(1-math.Pow(d.Beta1, t)), s[j]/(1-math.Pow(d.Beta2, t))
					next[j] = x[j] - d.Rate*mean/(math.Sqrt(square)+d.Epsilon)
				}
			}
			x = next
		}
		costs = append(costs, cost)
	}
	return costs, x
}

// Claim: with every rule, batch size and penalty the iterates and training costs
// are those of a plain second writing of the algorithm.
func TestDescentAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, dim := rapid.IntRange(1, 9).Draw(t, "terms"), rapid.IntRange(1, 5).Draw(t, "dim")
		rng := drawRand(t)
		terms, a, m := randomBowls(rng, n, dim)
		d := Descent{
			Rule:      rapid.SampledFrom([]Rule{Plain, Momentum, Adam}).Draw(t, "rule"),
			Batch:     rapid.IntRange(1, 11).Draw(t, "batch"),
			MaxEpochs: rapid.IntRange(1, 6).Draw(t, "epochs"),
			Rate:      0.02, Beta1: 0.7, Beta2: 0.9, Epsilon: 1e-3, Decay: 1,
			C:       rapid.SampledFrom([]float64{0.5, 10, math.Inf(1)}).Draw(t, "C"),
			Shuffle: shuffled(rng.Uint64()),
		}
		x0, last := normals(rng, dim), []float64(nil)
		var costs []float64
		d.Observe = func(e Epoch) error {
			costs, last = append(costs, e.TrainingCost), slices.Clone(e.X)
			return nil
		}
		start := slices.Clone(x0)
		if _, err := d.Minimize(context.Background(), terms, x0); err != nil || !slices.Equal(x0, start) {
			t.Fatal(err, x0, start)
		}
		wantCosts, want := reference(d, a, m, x0)
		if distance(last, want) > 1e-12 || len(costs) != len(wantCosts) || distance(costs, wantCosts) > 1e-11*(1+wantCosts[0]) {
			t.Fatalf("x %v, expected %v; costs %v, expected %v", last, want, costs, wantCosts)
		}
	})
}

// Claim: on sums of quadratics every rule, in batches of all terms, finds the
// known minimum of the penalised sum.
func TestDescentFindsMinimaOfQuadratics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, dim := rapid.IntRange(1, 8).Draw(t, "terms"), rapid.IntRange(1, 4).Draw(t, "dim")
		c := rapid.SampledFrom([]float64{0, 0.3, 20}).Draw(t, "C")
		terms, a, m := randomBowls(drawRand(t), n, dim)
		curvature, want := 0.0, make([]float64, dim)
		for i := range a {
			curvature += a[i]
			for j := range want {
				want[j] += a[i] * m[i][j]
			}
		}
		if c > 0 {
			curvature += 2 / c
		}
		for j := range want {
			want[j] /= curvature
		}
		for rule, rate := range map[Rule]float64{Plain: 0.5 / curvature, Momentum: 0.1 / curvature, Adam: 0.02} {
			d := Descent{Rule: rule, Rate: rate, Batch: n, C: c, MaxEpochs: 1500, Decay: 1}
			r, err := d.Minimize(context.Background(), terms, make([]float64, dim))
			if err != nil {
				t.Fatal(err)
			}
			most := 1e-6
			if rule == Adam {
				most = 1e-4 // at a constant rate it circles around the minimum
			}
			if distance(r.X, want) > most || r.Status != EpochLimit || r.Epochs != 1500 {
				t.Fatalf("%v: off by %v: %+v", rule, distance(r.X, want), r)
			}
		}
	})
}

// Claim: on a regularised logistic regression the minimum that L-BFGS certifies is
// reached: to 1e-4 relative a term or a few at a time, by the rate's decay alone,
// and to rounding with all of them.
func TestDescentReachesTheMinimumOfLBFGS(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	rows, labels, truth := make([][]float64, 150), make([]float64, 150), normals(rng, 6)
	for i := range rows {
		rows[i] = normals(rng, 6)
		z := rng.NormFloat64()
		for j, v := range rows[i] {
			z += v * truth[j]
		}
		labels[i] = math.Copysign(1, z)
	}
	const c = 2
	whole := logistic(rows, labels, c)
	best := minimize(t, LBFGS{StrongConvexity: 2. / c, GapTolerance: 1e-12}, whole, make([]float64, 6))
	for _, p := range []struct {
		d         Descent
		tolerance float64 // relative
	}{
		{Descent{Rule: Plain, Rate: 0.1}, 1e-4},
		{Descent{Rule: Plain, Rate: 0.05, Batch: 7}, 1e-4},
		{Descent{Rule: Momentum, Rate: 0.01, Batch: 3}, 1e-4},
		{Descent{Rule: Adam, Rate: 0.02}, 1e-4},
		{Descent{Rule: Adam, Rate: 0.1, Batch: 150}, 1e-4},
		{Descent{Rule: Plain, Rate: 0.05, Batch: 150}, 1e-11},
	} {
		d := p.d
		d.C, d.Shuffle = c, shuffled(1)
		grad := make([]float64, 6)
		d.Validate = func(_ int, x []float64) (float64, error) { return -whole.Eval(x, grad), nil }
		r := descend(t, d, logisticTerms(rows, labels), make([]float64, 6))
		if over := -r.Validation - best.F; over < -1e-9 || over > p.tolerance*best.F {
			t.Errorf("%v, batch %d: %v above the minimum %v", d.Rule, d.Batch, over, best.F)
		} else {
			t.Logf("%v, batch %d: %.2e above %.4f in epoch %d", d.Rule, d.Batch, over, best.F, r.Epoch)
		}
	}
}

// Claim: Adam's first four steps on x² from 1 with rate 0.1 are those worked out
// by hand: g₁ = 2, m₁ = 0.2, v₁ = 0.004, x₁ = 1 − 0.1·2/(2+10⁻⁸), … (40-digit
// decimal arithmetic).
func TestAdamByHand(t *testing.T) {
	want := []float64{0.9000000004999999975, 0.8004122286917921452374, 0.7015862729460295451643, 0.6039390605737448392954}
	square := sum{1, 1, func(_ int, x, grad []float64) float64 { grad[0] += 2 * x[0]; return x[0] * x[0] }}
	d := Descent{Rule: Adam, Rate: 0.1, MaxEpochs: 4, Observe: func(e Epoch) error {
		if math.Abs(e.X[0]-want[e.Number-1]) > 2e-15 {
			t.Errorf("step %d: x %.17g, expected %.17g", e.Number, e.X[0], want[e.Number-1])
		}
		return nil
	}}
	descend(t, d, square, []float64{1})
}

// Claim: under a constant gradient plain steps have length α‖g‖, Adam's α per variable for
// any g, and momentum's the sum of a geometric series.
func TestStepsUnderConstantGradient(t *testing.T) {
	const rate, mu = 0.01, 0.5
	for rule, step := range map[Rule]func(update int, g float64) float64{
		Plain:    func(_ int, g float64) float64 { return rate * g },
		Momentum: func(k int, g float64) float64 { return rate * g * (1 - math.Pow(mu, float64(k))) / (1 - mu) },
		Adam:     func(_ int, g float64) float64 { return rate * g / (math.Abs(g) + 1e-8) },
	} {
		x := []float64{0, 0, 0}
		updates := 0
		d := Descent{Rule: rule, Rate: rate, Beta1: mu, Decay: 1, MaxEpochs: 7, Observe: func(e Epoch) error {
			before := slices.Clone(x)
			for range 4 {
				updates++
				for j, g := range []float64{3, -1, 1e-3} {
					x[j] -= step(updates, g)
				}
			}
			if distance(x, e.X) > 1e-14 || math.Abs(e.Step-math.Hypot(math.Hypot(x[0]-before[0], x[1]-before[1]), x[2]-before[2])) > 1e-14 {
				t.Errorf("%v, epoch %d: x %v, expected %v; step %v", rule, e.Number, e.X, x, e.Step)
			}
			return nil
		}}
		descend(t, d, slope(4, 3, -1, 1e-3), []float64{0, 0, 0})
	}
}

// Claim: the penalty alone shrinks x by 1 − 2α·b/(NC) an update of b of N terms,
// so that an epoch's plain steps amount to ‖x‖²/C, not to N times it.
func TestPenaltyIsSpreadOverTerms(t *testing.T) {
	nothing := sum{2, 10, func(int, []float64, []float64) float64 { return 0 }}
	const rate, c = 0.03, 0.5
	for batch, want := range map[int]float64{
		1:  math.Pow(1-2*rate/(10*c), 10),
		4:  (1 - 2*rate*4/(10*c)) * (1 - 2*rate*4/(10*c)) * (1 - 2*rate*2/(10*c)),
		10: 1 - 2*rate/c,
	} {
		r := descend(t, Descent{Rate: rate, C: c, Batch: batch, MaxEpochs: 1}, nothing, []float64{3, -4})
		if math.Abs(r.X[0]-3*want) > 1e-14 || math.Abs(r.X[1]+4*want) > 1e-14 {
			t.Errorf("batch %d: x %v, expected a factor of %v", batch, r.X, want)
		}
		if batch == 10 && math.Abs(r.TrainingCost-25/c) > 1e-12 {
			t.Errorf("training cost %v, expected the penalty %v", r.TrainingCost, 25/c)
		}
	}
}

// Claim: an epoch visits every term once, in an order of its own that depends on
// the epoch alone; without Shuffle in the terms' order.
func TestOrderOfTerms(t *testing.T) {
	const n = 17
	orders := func(shuffle func(int) *rand.Rand) [][]int {
		var visited []int
		terms := sum{1, n, func(i int, _, _ []float64) float64 { visited = append(visited, i); return 0 }}
		descend(t, Descent{MaxEpochs: 5, Shuffle: shuffle}, terms, []float64{0})
		return slices.Collect(slices.Chunk(visited, n))
	}
	identity := make([]int, n)
	for i := range identity {
		identity[i] = i
	}
	first := orders(shuffled(3))
	if diff := cmp.Diff(first, orders(shuffled(3))); diff != "" {
		t.Errorf("equal streams give other orders:\n%s", diff)
	}
	for k, order := range first {
		if slices.Equal(order, first[(k+1)%5]) || slices.Equal(order, identity) {
			t.Errorf("epoch %d: order %v again", k+1, order)
		}
		sorted := slices.Sorted(slices.Values(order))
		if !slices.Equal(sorted, identity) {
			t.Errorf("epoch %d: %v is no permutation", k+1, order)
		}
	}
	for _, order := range orders(nil) {
		if !slices.Equal(order, identity) {
			t.Errorf("unshuffled order %v", order)
		}
	}
}

// Claim: states after every epoch are the same bytes for any number of workers
// and any GOMAXPROCS, and batches are in fact evaluated side by side.
func TestDescentIsDeterministic(t *testing.T) {
	terms, _, _ := randomBowls(stream(1, 1), 203, 9)
	var running, most atomic.Int32
	busy := sum{9, 203, func(i int, x, grad []float64) float64 {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		runtime.Gosched()
		return terms.eval(i, x, grad)
	}}
	run := func(procs, workers, batch int, rule Rule) [][]byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		var states [][]byte
		d := Descent{Rule: rule, Rate: 0.01, Batch: batch, Workers: workers, C: 5, MaxEpochs: 4, Shuffle: shuffled(2), Init: gaussianInit(3)}
		d.Checkpoint = func(st *DescentState) error {
			states = append(states, marshal(t, st))
			return nil
		}
		descend(t, d, busy, nil)
		return states
	}
	for _, batch := range []int{1, 2, 16, 150, 203} {
		for _, rule := range []Rule{Plain, Momentum, Adam} {
			want := run(1, 1, batch, rule)
			for _, c := range [][2]int{{1, 3}, {2, 0}, {2, 2}, {4, 7}} {
				if diff := cmp.Diff(want, run(c[0], c[1], batch, rule)); diff != "" {
					t.Errorf("%v, batch %d: GOMAXPROCS %d and %d workers give other bits", rule, batch, c[0], c[1])
				}
			}
		}
	}
	if most.Load() < 2 {
		t.Error("terms were never evaluated side by side")
	}
}

// Claim: epochs allocate nothing, for any number of terms, as long as terms and callbacks
// do not.
func TestDescentAllocatesNothingInEpochs(t *testing.T) {
	terms, _, _ := randomBowls(stream(1, 1), 40, 5)
	for _, rule := range []Rule{Plain, Momentum, Adam} {
		for _, batch := range []int{1, 8} {
			cost := func(epochs int) float64 {
				d := Descent{Rule: rule, Batch: batch, Workers: 1, C: 1, MaxEpochs: epochs, Patience: 3,
					Init: func(_ int, x []float64) { x[0] = 1 },
					Cost: func([]float64) (float64, error) { return 1, nil },
				}
				return testing.AllocsPerRun(5, func() { descend(t, d, terms, nil) })
			}
			if short, long := cost(2), cost(102); long > short {
				t.Errorf("%v, batch %d: %v allocations in 2 epochs, %v in 102", rule, batch, short, long)
			}
		}
	}
}

// The time of an update beside its terms. Its lower bound is the time of reading the
// gradient for its norm, x for its norm, and moving x (and the moments).
func BenchmarkDescentUpdate(b *testing.B) {
	const n = 1000
	for _, rule := range []Rule{Plain, Momentum, Adam} {
		for _, dim := range []int{46, 1000} {
			b.Run(fmt.Sprintf("%v/%d", rule, dim), func(b *testing.B) {
				nothing := sum{dim, n, func(int, []float64, []float64) float64 { return 1 }}
				x0 := normals(stream(1, 1), dim)
				for b.Loop() {
					descend(b, Descent{Rule: rule, C: 1, MaxEpochs: 10}, nothing, x0)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(10*n), "ns/update")
			})
		}
	}
}

// A robust mean: the terms are √(1 + (x − mᵢ)²).
func ExampleDescent() {
	points := []float64{1, 2, 3, 100}
	terms := sum{1, len(points), func(i int, x, grad []float64) float64 {
		root := math.Sqrt(1 + (x[0]-points[i])*(x[0]-points[i]))
		grad[0] += (x[0] - points[i]) / root
		return root
	}}
	d := Descent{Rule: Adam, Rate: 0.1, Shuffle: func(epoch int) *rand.Rand { return rand.New(rand.NewPCG(1, uint64(epoch))) }}
	r, err := d.Minimize(context.Background(), terms, []float64{0})
	var bad *NotFinite
	if errors.As(err, &bad) {
		fmt.Println("point", bad.Term)
	}
	fmt.Printf("%v, %.1f\n", r.Status, r.X)
	// Output:
	// epoch limit reached, [2.6]
}
