package kernel

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPairsGiveTheReferencesBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "documents")
		rows, width := rapid.IntRange(0, 9).Draw(t, "rows"), rapid.IntRange(1, 30).Draw(t, "width")
		plus, minus := indices(t, rows*width, n, "plus"), indices(t, rows*width, n, "minus")
		p := NewPairs(n, plus, minus)
		a, s, c := rapid.Float64Range(-3, 3).Draw(t, "a"), numbers(t, n, "s"), numbers(t, rows*width+1, "c")

		e := shifted(numbers(t, (1+rows)*width, "e"), offsets.Draw(t, "e offset"))
		want := append([]float64(nil), e...)
		prefixDiffGo(want, a, s, plus, minus, width)
		p.PrefixDiff(e, a, s, width)
		checkSame(t, e, want, "PrefixDiff")
		checkFence(t, e)

		y, kept := numbers(t, len(e), "y"), rapid.SliceOfN(rapid.Bool(), len(e), len(e)).Draw(t, "kept")
		var without []int32
		start := numbers(t, len(e), "start")
		copy(e, start)
		prefixDiffGo(start, a, s, plus, minus, width)
		expPlusGo(start, start, -a, y)
		for i, k := range kept {
			if !k {
				without, start[i] = append(without, int32(i)), 0
			}
		}
		q := p
		if rapid.Bool().Draw(t, "wide") {
			q = newWidePairs(n, plus, minus)
		}
		q.ExpWalks(e, a, s, -a, y, NewKept(1+rows, width, without))
		checkSame(t, e, start, "ExpWalks")
		checkFence(t, e)

		work := shifted(numbers(t, p.Work(), "work"), offsets.Draw(t, "work offset"))
		dst := shifted(s, offsets.Draw(t, "dst offset"))
		p.TransposeDiff(dst, a, c, work)
		sums := make([]float64, p.Work())
		addListsGo(sums, c, p.narrow.at, p.lists.steps)
		p.lists.join(sums)
		gatherDiffGo(s, a, sums, p.narrow.up, p.narrow.down)
		checkSame(t, dst, s, "TransposeDiff")
		checkFence(t, dst)
		checkFence(t, work)

		p = newWidePairs(n, plus, minus)
		p.TransposeDiff(dst, a, c, work)
		checkSame(t, dst, s, "TransposeDiff by wide numbers")
	})
}
