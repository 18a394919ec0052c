package parallel

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// term is the value and the vector of an item, of widely different magnitudes so
// that the order of addition shows in the last bits.
func term(item, dim int, grad []float64) float64 {
	rng := rand.New(rand.NewPCG(7, uint64(item)))
	for j := range dim {
		grad[j] += rng.NormFloat64() * math.Exp(8*rng.NormFloat64())
	}
	return rng.NormFloat64() * math.Exp(8*rng.NormFloat64())
}

func addTerms(dim int) func(worker, from, to int, grad []float64) float64 {
	return func(_, from, to int, grad []float64) float64 {
		var v float64
		for i := from; i < to; i++ {
			v += term(i, dim, grad)
		}
		return v
	}
}

// Claim: the sums are bit-identical for any number of workers and any
// GOMAXPROCS, and equal to those added block by block without this package.
func TestSumsDoNotDependOnWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const items, dim = 300, 13
	cuts := Split(make([]int, items), DefaultBlocks)
	wantTotal, wantValue := make([]float64, dim), 0.0
	for b := range len(cuts) - 1 {
		grad := make([]float64, dim)
		wantValue += addTerms(dim)(0, cuts[b], cuts[b+1], grad)
		for j, g := range grad {
			wantTotal[j] += g
		}
	}
	s := NewSums(dim, cuts)
	for _, procs := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(procs)
		for _, workers := range []int{0, 1, 2, 3, 8, 100} {
			value := s.Run(workers, addTerms(dim))
			if value != wantValue || !slices.Equal(s.Total, wantTotal) {
				t.Errorf("GOMAXPROCS %d, workers %d: other bits", procs, workers)
			}
		}
	}
}

// Claim: the value and the vector are the sums over the items, for any split.
func TestSumsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		costs := rapid.SliceOfN(rapid.IntRange(0, 50), 0, 40).Draw(t, "costs")
		dim := rapid.IntRange(0, 20).Draw(t, "dim")
		s := NewSums(dim, Split(costs, rapid.IntRange(1, 50).Draw(t, "blocks")))
		for range 2 { // the second run must not see the first one's sums
			// Integers add exactly in any order.
			value := s.Run(rapid.IntRange(0, 4).Draw(t, "workers"), func(_, from, to int, grad []float64) float64 {
				v := 0
				for i := from; i < to; i++ {
					v += costs[i]
					for j := range grad {
						grad[j] += float64(costs[i] * j)
					}
				}
				return float64(v)
			})
			want := 0
			for _, c := range costs {
				want += c
			}
			if value != float64(want) {
				t.Fatalf("value %v, expected %d", value, want)
			}
			for j, g := range s.Total {
				if g != float64(want*j) {
					t.Fatalf("total[%d] = %v, expected %d", j, g, want*j)
				}
			}
		}
	})
}

// Claim: Split covers all items by non-empty blocks, as many as asked for where
// there are enough items, and cuts where the blocks' costs come out about equal.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		costs := rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 200).Draw(t, "costs")
		blocks := rapid.IntRange(1, 80).Draw(t, "blocks")
		cuts := Split(costs, blocks)
		n := len(costs)
		if len(cuts) != min(blocks, n)+1 || cuts[0] != 0 || cuts[len(cuts)-1] != n {
			t.Fatalf("cuts %v of %d items", cuts, n)
		}
		for b := range len(cuts) - 1 {
			if cuts[b+1] <= cuts[b] {
				t.Fatalf("block %d is empty: %v", b, cuts)
			}
		}
	})
	even := Split([]int{1, 1, 1, 1, 1, 1, 1, 1}, 4)
	if want := []int{0, 2, 4, 6, 8}; !slices.Equal(even, want) {
		t.Errorf("equal costs are cut at %v, expected %v", even, want)
	}
	if free := Split(make([]int, 8), 4); !slices.Equal(free, even) {
		t.Errorf("items without cost are cut at %v, expected %v", free, even)
	}
	skewed := Split([]int{100, 1, 1, 1, 1, 96, 100}, 3)
	if want := []int{0, 1, 6, 7}; !slices.Equal(skewed, want) {
		t.Errorf("skewed costs are cut at %v, expected %v", skewed, want)
	}
}

// Claim: no block is much dearer than its share on costs as queries have them.
func TestSplitBalances(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	costs := make([]int, 1000)
	total := 0
	for i := range costs {
		costs[i] = 5 + rng.IntN(200)
		total += costs[i]
	}
	cuts := Split(costs, 64)
	for b := range 64 {
		sum := 0
		for _, c := range costs[cuts[b]:cuts[b+1]] {
			sum += c
		}
		if share := float64(total) / 64; math.Abs(float64(sum)-share) > 110 {
			t.Errorf("block %d costs %d, an equal share is %.0f", b, sum, share)
		}
	}
}

// Claim: a Sums whose function panicked works again.
func TestSumsAfterPanic(t *testing.T) {
	s := NewSums(3, Split(make([]int, 50), 10))
	p := catch(func() {
		s.Run(2, func(_, from, _ int, _ []float64) float64 {
			if from == 25 {
				panic("broken")
			}
			return 1
		})
	})
	if p == nil || p.Value != "broken" || p.Item != 5 {
		t.Fatalf("panic %v, expected that of block 5", p)
	}
	if v := s.Run(2, func(_, from, to int, _ []float64) float64 { return float64(to - from) }); v != 50 {
		t.Errorf("value %v after a panic, expected 50", v)
	}
}

func TestNewSumsRejectsDecreasingCuts(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewSums(1, []int{0, 3, 2})
}

// Claim: Run allocates nothing once it has run.
func TestRunAllocatesNothing(t *testing.T) {
	s := NewSums(46, Split(make([]int, 200), DefaultBlocks))
	fn := func(_, from, to int, grad []float64) float64 {
		for i := from; i < to; i++ {
			grad[i%46]++
		}
		return 1
	}
	for _, workers := range []int{1, 2, 4} {
		if n := testing.AllocsPerRun(200, func() { s.Run(workers, fn) }); n > 0 {
			t.Errorf("workers %d: %v allocations a run", workers, n)
		}
	}
}

// BenchmarkForkJoin measures what Run costs beyond the work: 64 blocks that do
// nothing, of vectors of the length of OHSUMED's features.
func BenchmarkForkJoin(b *testing.B) {
	s := NewSums(45, Split(make([]int, 64), DefaultBlocks))
	fn := func(_, _, _ int, _ []float64) float64 { return 0 }
	for _, workers := range []int{1, 2, 4, 8} {
		b.Run(string(rune('0'+workers)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Run(workers, fn)
			}
		})
	}
}

// BenchmarkSpeedup does about 100 µs of work in 64 blocks.
func BenchmarkSpeedup(b *testing.B) {
	s := NewSums(45, Split(make([]int, 64), DefaultBlocks))
	fn := func(_, _, _ int, grad []float64) float64 {
		for r := range 40 {
			for j := range grad {
				grad[j] += float64(r) * 0.5
			}
		}
		return grad[0]
	}
	for _, workers := range []int{1, 2} {
		b.Run(string(rune('0'+workers)), func(b *testing.B) {
			for b.Loop() {
				s.Run(workers, fn)
			}
		})
	}
}
