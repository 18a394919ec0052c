package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
)

// query returns goods and bads mixed in document order.
func query(good, bad int) bipartite.Classes {
	grades := make([]float64, good+bad)
	rng := rand.New(rand.NewPCG(uint64(good), uint64(bad)))
	for _, i := range rng.Perm(good + bad)[:good] {
		grades[i] = 1
	}
	return bipartite.Split(grades, 1)
}

// state is a ranking as its inversion counts, which determine it.
func state(o *ranking.Order) string {
	c := make([]int32, o.Pairs().Docs())
	o.Inversions(c)
	return fmt.Sprint(c)
}

// positions returns every document's place in the order.
func positions(o *ranking.Order) []int {
	p := make([]int, o.Pairs().Docs())
	n := 0
	for k := range o.Blocks() {
		docs, _ := o.Block(k)
		for _, d := range docs {
			p[d] = n
			n++
		}
	}
	return p
}

// copyOf returns an order in o's state.
func copyOf(o *ranking.Order) *ranking.Order {
	c := ranking.NewOrder(o.Pairs())
	// Every inverted pair is put in place by a flip of its own, in the order of
	// the goods from the top and the bads of the blocks above them.
	for k := range o.Blocks() {
		goods, good := o.Block(k)
		if !good {
			continue
		}
		for _, g := range goods {
			for j := range k {
				above, good := o.Block(j)
				if good {
					continue
				}
				for _, b := range above {
					flipPair(c, g, b)
				}
			}
		}
	}
	return c
}

// flipPair flips good g, standing above bad b, which must be adjacent.
func flipPair(o *ranking.Order, g, b int32) {
	for k := range o.Blocks() - 1 {
		upper, _ := o.Block(k)
		lower, _ := o.Block(k + 1)
		x, y := slices.Index(upper, g), slices.Index(lower, b)
		if x >= 0 && y >= 0 {
			o.Flip(k, x, y)
			return
		}
	}
	panic("the pair is not adjacent")
}

// nextStates is the law of Figure 2's next state, from the printed θ and the
// definition of validity: flip every pair, keep what some order induces.
func nextStates(o *ranking.Order) map[string]float64 {
	p := o.Pairs()
	at := positions(o)
	good, bad := len(p.Good), len(p.Bad)
	law := map[string]float64{}
	var total float64
	for _, g := range p.Good {
		for _, b := range p.Bad {
			ng, nb := 0, 0
			for _, other := range p.Bad {
				if at[g] < at[other] {
					ng++
				}
			}
			for _, other := range p.Good {
				if at[b] < at[other] {
					nb++
				}
			}
			counts := make([]int32, p.Docs())
			o.Inversions(counts)
			theta := float64(good+ng-nb+1) / float64(2+good+bad)
			change := int32(-1)
			if at[g] < at[b] {
				theta = float64(bad-ng+nb+1) / float64(2+good+bad)
				change = 1
			}
			counts[g] += change
			counts[b] += change
			if validFlip(p, at, g, b) {
				law[fmt.Sprint(counts)] = theta
				total += theta
			}
		}
	}
	for k := range law {
		law[k] /= total
	}
	return law
}

// validFlip reports whether y with the pair g, b flipped is transitive: no third
// and fourth document make a cycle g b' … — for bipartite tournaments it is
// enough that no two goods and two bads form one.
func validFlip(p bipartite.Classes, at []int, g, b int32) bool {
	above := func(i, j int32) bool { // good i above bad j, after the flip
		return (at[i] < at[j]) != (i == g && j == b)
	}
	for _, h := range p.Good {
		for _, c := range p.Bad {
			if h == g || c == b {
				continue
			}
			// g>b>h>c>g or g>c>h>b>g.
			if above(g, b) && !above(h, b) && above(h, c) && !above(g, c) ||
				above(g, c) && !above(h, c) && above(h, b) && !above(g, b) {
				return false
			}
		}
	}
	return true
}

// starts are orders some flips away from the ideal one.
func starts(t *testing.T) []*ranking.Order {
	t.Helper()
	var orders []*ranking.Order
	for _, n := range []struct{ good, bad, steps int }{{2, 3, 0}, {2, 3, 4}, {3, 3, 5}, {4, 2, 7}, {1, 5, 2}} {
		o := ranking.NewOrder(query(n.good, n.bad))
		w := &blockWalk{order: o}
		rng := rand.New(rand.NewPCG(7, uint64(n.steps)))
		for range n.steps {
			w.step(rng)
		}
		if state(copyOf(o)) != state(o) {
			t.Fatal("copyOf does not copy")
		}
		orders = append(orders, o)
	}
	return orders
}

// Every random number below the sum of weights gives one flip, so counting them
// gives the law of blockWalk exactly; it is Figure 2's.
func TestBlockWalkHasFigure2Law(t *testing.T) {
	for _, o := range starts(t) {
		want := nextStates(o)
		got := map[string]int{}
		total := (&blockWalk{order: o}).weigh()
		for u := range total {
			w := &blockWalk{order: copyOf(o)}
			if w.weigh() != total {
				t.Fatal("weights depend on more than the ranking")
			}
			w.choose(u)
			got[state(w.order)]++
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d next states, expected %d", state(o), len(got), len(want))
		}
		for s, p := range want {
			if q := float64(got[s]) / float64(total); math.Abs(p-q) > 1e-14 {
				t.Errorf("%s → %s: probability %v, expected %v", state(o), s, q, p)
			}
		}
	}
}

// The literal walk, and the block walk driven by its random stream, follow the
// exact law: χ² over the next states stays below its 99.9 % point.
func TestWalksFollowFigure2Law(t *testing.T) {
	const draws = 20000
	for name, start := range map[string]func(bipartite.Classes) walk{
		"literal": func(p bipartite.Classes) walk { return newLiteralWalk(p) },
		"blocks":  func(bipartite.Classes) walk { return &blockWalk{} },
	} {
		for i, o := range starts(t) {
			want := nextStates(o)
			rng := rand.New(rand.NewPCG(uint64(i), 99))
			got := map[string]int{}
			w := start(o.Pairs())
			for range draws {
				from := copyOf(o)
				w.restart(from)
				got[after(o, w.step(rng))]++
			}
			var chi2 float64
			for s, p := range want {
				d := float64(got[s]) - draws*p
				chi2 += d * d / (draws * p)
				delete(got, s)
			}
			if len(got) != 0 {
				t.Errorf("%s: states that cannot follow %s: %v", name, state(o), got)
			}
			if limit := chi2Limit(len(want) - 1); chi2 > limit {
				t.Errorf("%s: χ² = %.1f with %d next states, limit %.1f", name, chi2, len(want), limit)
			}
		}
	}
}

// after returns o's state after a flip, from the documents it names alone.
func after(o *ranking.Order, f ranking.Flip) string {
	c := make([]int32, o.Pairs().Docs())
	o.Inversions(c)
	change := int32(-1)
	if f.Inverts {
		change = 1
	}
	c[f.Up] += change
	c[f.Down] += change
	return fmt.Sprint(c)
}

// chi2Limit is the 99.9 % point of χ² (Wilson and Hilferty's approximation).
func chi2Limit(freedom int) float64 {
	k := float64(freedom)
	h := 2 / (9 * k)
	return k * math.Pow(1-h+3.09*math.Sqrt(h), 3)
}

// Both walks describe their flips in the same way: the labels of the literal
// walk stay those of an order that follows it.
func TestLiteralWalkDescribesItsFlips(t *testing.T) {
	p := query(4, 6)
	order := ranking.NewOrder(p)
	order.Restart(p.Bad, 3)
	w := newLiteralWalk(p)
	w.restart(order)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		f := w.step(rng)
		got := follow(t, order, f)
		if got != f {
			t.Fatalf("literal walk says %+v, the order %+v", f, got)
		}
	}
}

// follow makes the flip of the documents that f names.
func follow(t *testing.T, o *ranking.Order, f ranking.Flip) ranking.Flip {
	t.Helper()
	for k := range o.Blocks() - 1 {
		upper, _ := o.Block(k)
		lower, _ := o.Block(k + 1)
		x, y := slices.Index(upper, f.Down), slices.Index(lower, f.Up)
		if x >= 0 && y >= 0 {
			return o.Flip(k, x, y)
		}
	}
	t.Fatalf("%+v: the documents are not in adjacent blocks of %s", f, state(o))
	return ranking.Flip{}
}
