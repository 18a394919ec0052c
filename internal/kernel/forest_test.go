package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// randomForest has trees as NewForest describes them: a split's To is a leaf that is new.
func randomForest(rng *rand.Rand, heights []int, trees, mostLeaves int) []DecisionTree {
	all := make([]DecisionTree, trees)
	for k := range all {
		leaves := rng.Perm(1 + rng.IntN(mostLeaves))
		t := DecisionTree{Leaves: len(leaves), First: uint8(leaves[0])}
		for n := 1; n < len(leaves); n++ {
			column := rng.IntN(len(heights))
			t.Splits = append(t.Splits, Split{Column: column, Above: uint8(rng.IntN(heights[column])), At: uint8(leaves[rng.IntN(n)]), To: uint8(leaves[n])})
		}
		all[k] = t
	}
	return all
}

// A forest adds the values of the leaves that its trees' splits lead to, in the order of the
// trees: with and without assembly the bits of the definition, for any number of documents,
// and nothing after them is written.
func TestForestAddsTheValuesOfTheLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		heights := make([]int, rapid.IntRange(0, 5).Draw(t, "columns"))
		for c := range heights {
			heights[c] = 1 + rng.IntN(255)
		}
		most := rapid.SampledFrom([]int{1, 2, 8, 9, 16, 17, 64, 256}).Draw(t, "leaves")
		if len(heights) == 0 {
			most = 1
		}
		trees := randomForest(rng, heights, rapid.IntRange(0, 5).Draw(t, "trees"), most)
		f := NewForest(heights, trees)
		codes := make([]uint8, ForestDocs*len(heights))
		for i := range codes {
			codes[i] = uint8(rng.IntN(heights[i/ForestDocs] + 1))
		}
		values := numbers(t, f.leaves, "values")
		start := numbers(t, rapid.IntRange(0, ForestDocs).Draw(t, "documents"), "start")
		want := slices.Clone(start)
		for d := range want {
			first := 0
			for _, tree := range trees {
				at := tree.First
				for _, s := range tree.Splits {
					if s.At == at && codes[s.Column*ForestDocs+d] > s.Above {
						at = s.To
					}
				}
				want[d] += values[first+int(at)]
				first += tree.Leaves
			}
		}
		got := shifted(start, offsets.Draw(t, "offset"))
		f.Add(got, shifted(values, offsets.Draw(t, "values offset")), codes, make([]uint64, f.Work()))
		checkSame(t, got, want, "Add")
		checkFence(t, got)
		addForestGo(f, start, values, codes, make([]uint64, f.bits))
		checkSame(t, start, want, "the reference")
	})
}

// What is no tree, or has codes that no byte holds, is a programmer's mistake.
func TestNewForestRefuses(t *testing.T) {
	split := func(s ...Split) []DecisionTree { return []DecisionTree{{Leaves: 2, Splits: s}} }
	for name, forest := range map[string]func() *Forest{
		"height": func() *Forest { return NewForest([]int{256}, nil) },
		"leaves": func() *Forest { return NewForest([]int{1}, []DecisionTree{{Leaves: 257}}) },
		"first":  func() *Forest { return NewForest([]int{1}, []DecisionTree{{Leaves: 1, First: 1}}) },
		"column": func() *Forest { return NewForest([]int{1}, split(Split{Column: 1, To: 1})) },
		"above":  func() *Forest { return NewForest([]int{1}, split(Split{Above: 1, To: 1})) },
		"to":     func() *Forest { return NewForest([]int{1}, split(Split{To: 2})) },
		"itself": func() *Forest { return NewForest([]int{1}, split(Split{})) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: nothing panics", name)
				}
			}()
			forest()
		}()
	}
}

// Codes counts the cuts below, by definition, for numbers of all kinds and cuts among them.
func TestCodesCountTheCutsBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := shifted(singles(numbers(t, lengths.Draw(t, "n"), "x")), offsets.Draw(t, "x offset"))
		cuts := singles(numbers(t, rapid.IntRange(0, 255).Draw(t, "cuts"), "cut"))
		for i := range min(len(x), len(cuts)/2) {
			cuts[i] = x[i]
		}
		cuts = slices.DeleteFunc(cuts, func(c float32) bool { return math.IsNaN(float64(c)) })
		slices.Sort(cuts)
		got, reference := make([]uint8, len(x)+1), make([]uint8, len(x))
		got[len(x)] = 77
		Codes(got[:len(x)], x, shifted(cuts, offsets.Draw(t, "cuts offset")))
		codesGo(reference, x, cuts)
		for i, v := range x {
			want := 0
			for _, c := range cuts {
				if c < v {
					want++
				}
			}
			if int(got[i]) != want || int(reference[i]) != want {
				t.Fatalf("%v has %d of %d cuts below it, the reference says %d, want %d", v, got[i], len(cuts), reference[i], want)
			}
		}
		if got[len(x)] != 77 {
			t.Fatalf("the byte after %d codes was written", len(x))
		}
	})
}
