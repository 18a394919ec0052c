package ranking

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss/bipartite"
	"pgregory.net/rapid"
)

// labels is y as a matrix, y[g][b] = good g stands above bad b, read off the
// blocks without using their counts.
func labels(o *Order) [][]bool {
	p := o.Pairs()
	position := make([]int, p.Docs())
	n := 0
	for k := range o.Blocks() {
		docs, _ := o.Block(k)
		for _, d := range docs {
			position[d] = n
			n++
		}
	}
	y := make([][]bool, len(p.Good))
	for i, g := range p.Good {
		y[i] = make([]bool, len(p.Bad))
		for j, b := range p.Bad {
			y[i][j] = position[g] < position[b]
		}
	}
	return y
}

func key(y [][]bool) string { return fmt.Sprint(y) }

// valid reports whether some total order induces y: the graph of "stands above"
// has no cycle, found by removing documents nobody remaining stands above.
func valid(y [][]bool) bool {
	good, bad := len(y), len(y[0])
	goneG, goneB := make([]bool, good), make([]bool, bad)
	for range good + bad {
		removed := false
		for g := range good {
			top := !goneG[g]
			for b := range bad {
				top = top && (goneB[b] || y[g][b])
			}
			if top {
				goneG[g], removed = true, true
			}
		}
		for b := range bad {
			top := !goneB[b]
			for g := range good {
				top = top && (goneG[g] || !y[g][b])
			}
			if top {
				goneB[b], removed = true, true
			}
		}
		if !removed {
			return !slices.Contains(goneG, false) && !slices.Contains(goneB, false)
		}
	}
	return true
}

// classes returns a query with the given numbers of goods and bads, in an order
// that mixes them.
func classes(good, bad int) bipartite.Classes {
	grades := make([]float64, good+bad)
	for i := range good {
		grades[(i*7+3)%(good+bad)] = 1
	}
	p := bipartite.Split(grades, 1)
	for i := 0; len(p.Good) < good; i++ { // the stride met a place twice
		grades[i] = 1
		p = bipartite.Split(grades, 1)
	}
	return p
}

// clone copies an order.
func clone(o *Order) *Order {
	return &Order{pairs: o.pairs, docs: slices.Clone(o.docs), cuts: slices.Clone(o.cuts)}
}

// reachable returns all rankings reachable from the ideal one by flips.
func reachable(p bipartite.Classes) map[string]*Order {
	start := NewOrder(p)
	found := map[string]*Order{key(labels(start)): start}
	for queue := []*Order{start}; len(queue) > 0; queue = queue[1:] {
		eachFlip(queue[0], func(next *Order, _ Flip) {
			if k := key(labels(next)); found[k] == nil {
				found[k] = next
				queue = append(queue, next)
			}
		})
	}
	return found
}

func eachFlip(o *Order, visit func(next *Order, f Flip)) {
	for k := range o.Blocks() - 1 {
		b := o.Boundary(k)
		for x := range b.Upper {
			for y := range b.Lower {
				next := clone(o)
				f := next.Flip(k, x, y)
				visit(next, f)
			}
		}
	}
}

func stirling2(n, k int) int {
	switch {
	case n == k:
		return 1
	case k == 0 || k > n:
		return 0
	}
	return k*stirling2(n-1, k) + stirling2(n-1, k-1)
}

// polyBernoulli is the number of valid rankings of n goods against k bads.
func polyBernoulli(n, k int) int {
	sum, factorial := 0, 1
	for m := 0; m <= min(n, k); m++ {
		if m > 0 {
			factorial *= m
		}
		sum += factorial * factorial * stirling2(n+1, m+1) * stirling2(k+1, m+1)
	}
	return sum
}

// Flips of adjacent blocks lead from the ideal ranking to every valid ranking
// and to nothing else; their number is the poly-Bernoulli number.
func TestFlipsReachExactlyTheValidRankings(t *testing.T) {
	for _, n := range []struct{ good, bad, want int }{{1, 1, 2}, {1, 3, 8}, {2, 2, 14}, {2, 3, 46}, {3, 2, 46}, {3, 3, 230}, {2, 4, 146}} {
		got := reachable(classes(n.good, n.bad))
		if len(got) != n.want || polyBernoulli(n.good, n.bad) != n.want {
			t.Errorf("%d goods, %d bads: reached %d rankings, poly-Bernoulli number %d, expected %d", n.good, n.bad, len(got), polyBernoulli(n.good, n.bad), n.want)
		}
		for _, o := range got {
			if !valid(labels(o)) {
				t.Fatalf("%v is not a ranking", o.docs)
			}
		}
	}
}

// A pair can be flipped if and only if its documents are in adjacent blocks, and
// a Flip changes that pair alone and describes itself correctly.
func TestFlipChangesOnePair(t *testing.T) {
	p := classes(3, 3)
	for _, o := range reachable(p) {
		before := labels(o)
		allowed := map[string]bool{}
		eachFlip(o, func(next *Order, f Flip) {
			after := labels(next)
			allowed[key(after)] = true
			checkFlip(t, o, next, f)
		})
		for g := range before {
			for b := range before[g] {
				before[g][b] = !before[g][b]
				if valid(before) != allowed[key(before)] {
					t.Fatalf("pair %d, %d of %v: valid %v, adjacent %v", g, b, o.docs, valid(before), allowed[key(before)])
				}
				before[g][b] = !before[g][b]
			}
		}
	}
}

func checkFlip(t interface {
	Helper()
	Fatalf(string, ...any)
}, before, after *Order, f Flip) {
	t.Helper()
	p := before.Pairs()
	a, b := labels(before), labels(after)
	changed := 0
	for i, g := range p.Good {
		for j, d := range p.Bad {
			if a[i][j] == b[i][j] {
				continue
			}
			changed++
			up, down := g, d
			if a[i][j] {
				up, down = d, g
			}
			if f.Up != up || f.Down != down || f.Inverts != a[i][j] {
				t.Fatalf("%+v, expected %d to rise above %d", f, up, down)
			}
		}
	}
	was, is := badsAbove(before), badsAbove(after)
	for i := range was {
		want := was[i]
		if i == int(f.Rank) {
			want = int(f.Above)
		}
		if is[i] != want || i == int(f.Rank) && was[i]-is[i] != 1 && is[i]-was[i] != 1 {
			t.Fatalf("bads above the goods %v after %+v, were %v", is, f, was)
		}
	}
	if changed != 1 {
		t.Fatalf("%d pairs changed", changed)
	}
}

// checkBlocks fails unless the blocks alternate, are not empty, hold every
// document once and agree with the boundaries.
func checkBlocks(t *rapid.T, o *Order) {
	p := o.Pairs()
	seen := make([]bool, p.Docs())
	goods, bads := 0, 0
	for k := range o.Blocks() {
		docs, good := o.Block(k)
		if len(docs) == 0 {
			t.Fatalf("block %d is empty", k)
		}
		if k > 0 {
			upper, upperGood := o.Block(k - 1)
			if upperGood == good {
				t.Fatalf("blocks %d and %d are of one class", k-1, k)
			}
			want := Boundary{Upper: len(upper), Lower: len(docs), UpperGood: upperGood, Goods: goods, Bads: bads}
			if b := o.Boundary(k - 1); b != want {
				t.Fatalf("boundary %d is %+v, expected %+v", k-1, b, want)
			}
		}
		for _, d := range docs {
			if seen[d] || slices.Contains(p.Good, d) != good {
				t.Fatalf("document %d in block %d", d, k)
			}
			seen[d] = true
		}
		if good {
			goods += len(docs)
		} else {
			bads += len(docs)
		}
	}
	if slices.Contains(seen, false) {
		t.Fatalf("a document is missing from %v", o.docs)
	}
}

func TestOrderInvariantsOverRandomWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := classes(rapid.IntRange(1, 6).Draw(t, "goods"), rapid.IntRange(1, 9).Draw(t, "bads"))
		o := NewOrder(p)
		o.Restart(p.Bad, rapid.IntRange(0, len(p.Bad)).Draw(t, "top"))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		tracker, err := NewTracker(averagePrecision{}, o)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			checkBlocks(t, o)
			k := rng.IntN(o.Blocks() - 1)
			b := o.Boundary(k)
			before := clone(o)
			f := o.Flip(k, rng.IntN(b.Upper), rng.IntN(b.Lower))
			checkFlip(t, before, o, f)
			tracker.Apply(f)
			if want := o.Gain(averagePrecision{}); !near(tracker.Value(), want, 1e-14) {
				t.Fatalf("tracked gain %v, expected %v", tracker.Value(), want)
			}
		}
	})
}

func TestRestart(t *testing.T) {
	p := bipartite.Split([]float64{0, 2, 0, 1, 0}, 1)
	o := NewOrder(p)
	for _, c := range []struct {
		top  int
		want string
	}{
		{0, "[1 3][4 0 2]"}, {1, "[4][1 3][0 2]"}, {3, "[4 0 2][1 3]"},
	} {
		o.Restart([]int32{4, 0, 2}, c.top)
		var blocks []string
		for k := range o.Blocks() {
			docs, _ := o.Block(k)
			blocks = append(blocks, fmt.Sprint(docs))
		}
		if got := strings.Join(blocks, ""); got != c.want {
			t.Errorf("%d bads on top: %s, expected %s", c.top, got, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	p := bipartite.Split([]float64{0, 2, 1, 0.5, 3}, 1)
	if !slices.Equal(p.Good, []int32{1, 2, 4}) || !slices.Equal(p.Bad, []int32{0, 3}) || p.Docs() != 5 || p.Pairs() != 6 {
		t.Errorf("%+v", p)
	}
	if p := bipartite.Split([]float64{0, 0}, 1); p.Pairs() != 0 {
		t.Errorf("%d pairs without goods", p.Pairs())
	}
}

// badsAbove returns the number of bads above the i-th good from the top, for every i.
func badsAbove(o *Order) (list []int) {
	for _, a := range o.goods() {
		list = append(list, a)
	}
	return list
}
