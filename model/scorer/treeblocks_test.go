package scorer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// grown returns a tree of so many leaves, of which chain, from 0 to 1, is how often the last
// leaf made is divided rather than any; thresholds come from the list.
func grown(rng *rand.Rand, features, leaves int, chain float64, thresholds []float32) []TreeNode {
	type place struct{ node, side int }
	nodes := make([]TreeNode, 0, leaves-1)
	open := []place{{-1, 0}}
	link := func(p place, child int) {
		if p.node >= 0 && p.side == 0 {
			nodes[p.node].Left = child
		} else if p.node >= 0 {
			nodes[p.node].Right = child
		}
	}
	for len(nodes) < leaves-1 {
		at := len(open) - 1
		if rng.Float64() >= chain {
			at = rng.IntN(len(open))
		}
		link(open[at], len(nodes))
		open[at] = place{len(nodes), rng.IntN(2)}
		open = append(open, place{len(nodes), 1 - open[at].side})
		nodes = append(nodes, TreeNode{Feature: rng.IntN(features), Threshold: thresholds[rng.IntN(len(thresholds))], MissingLeft: rng.IntN(2) == 0})
	}
	rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	for leaf, p := range open {
		link(p, -1-leaf)
	}
	return nodes
}

// set draws some categories.
func set(rng *rand.Rand, values []float32) []float32 {
	var s []float32
	for range 1 + rng.IntN(6) {
		s = append(s, values[rng.IntN(len(values))])
	}
	slices.Sort(s)
	return slices.Compact(s)
}

// odd are features on which comparisons go wrong first.
var odd = []float32{
	float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), 1, -1,
	math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 0x1p-127,
}

// checkBlocks fails unless Score has the bits of the walk, which are those of the definition
// (TestTreesScoreAndBackward).
func checkBlocks(t rapid.TB, s *Trees, params []float64, x []float32, ws *Workspace) {
	t.Helper()
	docs := len(x) / s.features
	got, want := make([]float64, docs), make([]float64, docs)
	s.walk(want, params, x, s.roots)
	s.scoreBlocks(got, params, x, ws)
	for range 2 {
		for i := range got {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Fatalf("document %d of %d scores %v, the walk says %v", i+1, docs, got[i], want[i])
			}
		}
		s.Score(got, params, x, ws)
	}
}

// Claim: blocks give the bits of the plain walk, whatever the trees' shapes, the number of
// documents, and the features, and whatever was scored before with the same memory.
func TestBlocksGiveTheBitsOfTheWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		features := rapid.IntRange(1, 9).Draw(t, "features")
		var values []float32 // of documents; thresholds are among them
		for range rapid.SampledFrom([]int{1, 10, 300, 2000}).Draw(t, "values") {
			values = append(values, float32(rng.NormFloat64()))
		}
		for n := rapid.IntRange(0, len(odd)).Draw(t, "odd values"); n > 0; n-- {
			values = append(values, odd[rng.IntN(len(odd))])
		}
		var thresholds []float32
		for _, v := range values {
			if !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) {
				thresholds = append(thresholds, v)
			}
		}
		trees := make([][]TreeNode, rapid.IntRange(0, 8).Draw(t, "trees"))
		most := rapid.SampledFrom([]int{1, 2, 10, 16, 17, 64, 256, 257, 300}).Draw(t, "leaves")
		chain := rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "chain")
		for k := range trees {
			leaves := most
			if k%2 == 1 {
				leaves = 1 + rng.IntN(most)
			}
			trees[k] = grown(rng, features, leaves, chain, thresholds)
			for range rng.IntN(leaves) / 4 {
				n := &trees[k][rng.IntN(leaves-1)]
				n.Threshold, n.MissingLeft, n.Categories = 0, false, set(rng, thresholds)
			}
		}
		s, err := NewTrees(features, trees)
		if err != nil {
			t.Fatal(err)
		}
		params := make([]float64, s.NumParams())
		for i := range params {
			params[i] = rng.NormFloat64()
		}
		var ws Workspace
		for range 2 {
			x := make([]float32, features*rapid.OneOf(rapid.IntRange(0, 140), rapid.IntRange(1, 1000)).Draw(t, "documents"))
			for i := range x {
				x[i] = values[rng.IntN(len(values))]
			}
			checkBlocks(t, s, params, x, &ws)
		}
	})
}

// FuzzBlocks makes trees, values and documents of bytes: thresholds and features share few
// values, so that they meet.
func FuzzBlocks(f *testing.F) {
	f.Add(uint64(1), 3, 40, 100, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 200})
	f.Add(uint64(2), 1, 300, 5, []byte{3, 3, 3, 4})
	f.Fuzz(func(t *testing.T, seed uint64, features, leaves, docs int, kinds []byte) {
		rng := rand.New(rand.NewPCG(seed, 3))
		features, leaves, docs = 1+abs(features)%20, 1+abs(leaves)%300, abs(docs)%300
		values := []float32{0}
		for _, k := range kinds {
			if int(k) < len(odd) {
				values = append(values, odd[k])
			} else {
				values = append(values, float32(k)/8-16)
			}
		}
		thresholds := []float32{0.5}
		for _, v := range values {
			if v-v == 0 { // finite
				thresholds = append(thresholds, v)
			}
		}
		s, err := NewTrees(features, [][]TreeNode{grown(rng, features, leaves, 0.3, thresholds), nil, grown(rng, features, 1+leaves/2, 0.7, thresholds)})
		if err != nil {
			t.Fatal(err)
		}
		params, x := make([]float64, s.NumParams()), make([]float32, docs*features)
		for i := range params {
			params[i] = rng.NormFloat64()
		}
		for i := range x {
			x[i] = values[rng.IntN(len(values))]
		}
		checkBlocks(t, s, params, x, nil)
	})
}

func abs(n int) int { return max(n, -1-n) }

// BenchmarkTrees scores 128 documents at a time by trees grown leaf by leaf with at most 254
// thresholds a feature, as training has them: the plain walk, and blocks. The times are the
// least of many. The layout of blocks is made once.
//
// The floor of blocks are two comparisons of bytes into masks a split and 64 documents, of which
// a processor with AVX-512 does one a cycle; x-floor is the time as a multiple of it.
func BenchmarkTrees(b *testing.B) {
	for _, shape := range []struct{ features, trees, leaves int }{{46, 300, 10}, {136, 300, 10}, {46, 1000, 64}, {136, 1000, 64}} {
		const docs = 128
		rng := rand.New(rand.NewPCG(1, 2))
		thresholds, x := make([]float32, 254), make([]float32, 8*docs*shape.features)
		for i := range thresholds {
			thresholds[i] = float32(rng.NormFloat64())
		}
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		trees := make([][]TreeNode, shape.trees)
		for k := range trees {
			trees[k] = grown(rng, shape.features, shape.leaves, 0.1, thresholds)
		}
		s, err := NewTrees(shape.features, trees)
		if err != nil {
			b.Fatal(err)
		}
		params, dst := make([]float64, s.NumParams()), make([]float64, docs)
		var ws Workspace
		floor := cycle() * float64(2*shape.trees*(shape.leaves-1)) * docs / 64
		measure := func(name, unit string, scale float64, step func(x []float32)) {
			b.Run(fmt.Sprintf("%dx%d/%d/%s", shape.trees, shape.leaves, shape.features, name), func(b *testing.B) {
				least, block := time.Duration(math.MaxInt64), 0
				for b.Loop() {
					start := time.Now()
					step(x[block*docs*shape.features:][:docs*shape.features])
					least, block = min(least, time.Since(start)), (block+1)%8
				}
				b.ReportMetric(least.Seconds()*scale, unit)
				if name == "blocks" {
					b.ReportMetric(least.Seconds()/floor, "x-floor")
				}
			})
		}
		measure("walk", "µs/document", 1e6/docs, func(x []float32) { clear(dst); s.walk(dst, params, x, s.roots) })
		measure("blocks", "µs/document", 1e6/docs, func(x []float32) { s.Score(dst, params, x, &ws) })
		measure("layout", "ms", 1e3, func([]float32) { newBlocks(s) })
	}
}

// cycle returns the processor's cycle in seconds: a third of a multiplication that waits for
// the one before.
func cycle() float64 {
	const steps = 1 << 18
	least, x := time.Duration(math.MaxInt64), uint64(time.Now().UnixNano())
	for range 50 {
		start := time.Now()
		for range steps {
			x *= 6364136223846793005
		}
		least = min(least, time.Since(start))
	}
	if x == 1 { // for the compiler
		return 0
	}
	return least.Seconds() / (3 * steps)
}
