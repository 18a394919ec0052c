package papers

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
)

// permutationLaw is a probability distribution over the orders of n documents. p contains the
// probabilities of space.orders.
type permutationLaw struct {
	space *permutationSpace
	p     []float64
}

// permutationSpace contains the orders of n documents in lexicographic order, each with the best
// document first. It also contains the pairs of orders that the theorem of Xia et al. compares for
// the ranking 0, 1, …, n−1. The first order of a pair has document k before k+1. The second
// exchanges the two.
type permutationSpace struct {
	n      int
	orders [][]int
	pairs  [][2]int
}

func newPermutationSpace(n int) *permutationSpace {
	s := &permutationSpace{n: n}
	eachPermutation(n, func(order []int) { s.orders = append(s.orders, slices.Clone(order)) })
	for i, order := range s.orders {
		for k := range n - 1 {
			a, b := slices.Index(order, k), slices.Index(order, k+1)
			if a > b {
				continue
			}
			other := slices.Clone(order)
			other[a], other[b] = k+1, k
			at, _ := slices.BinarySearchFunc(s.orders, other, slices.Compare)
			s.pairs = append(s.pairs, [2]int{i, at})
		}
	}
	return s
}

// inversions returns the number of pairs of documents that are not in ascending order.
func inversions(order []int) int {
	n := 0
	for i, a := range order {
		for _, b := range order[i+1:] {
			if a > b {
				n++
			}
		}
	}
	return n
}

// normalized returns the law with probabilities proportional to weights. It overwrites weights.
func (s *permutationSpace) normalized(weights []float64) permutationLaw {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for i := range weights {
		weights[i] /= sum
	}
	return permutationLaw{s, weights}
}

// violated returns the share of pairs whose first order is not the more probable one, after
// renaming the documents of a ranking to 0, 1, …, n−1. The theorem calls the law order preserving
// for this ranking if the share is 0.
func (l permutationLaw) violated(ranking []int) float64 {
	n, order := 0, make([]int, len(ranking))
	of := func(at int) float64 {
		for i, d := range l.space.orders[at] {
			order[i] = ranking[d]
		}
		return l.of(order)
	}
	for _, pair := range l.space.pairs {
		if !(of(pair[0]) > of(pair[1])) {
			n++
		}
	}
	return float64(n) / float64(len(l.space.pairs))
}

// best returns the most probable order and its probability. This order minimizes the expected 0–1
// loss.
func (l permutationLaw) best() (order []int, p float64) {
	at := slices.Index(l.p, slices.Max(l.p))
	return l.space.orders[at], l.p[at]
}

// of returns the probability of an order.
func (l permutationLaw) of(order []int) float64 {
	at, _ := slices.BinarySearchFunc(l.space.orders, order, slices.Compare)
	return l.p[at]
}

// sampled returns the empirical law of random draws.
func (l permutationLaw) sampled(draws int, rng *rand.Rand) permutationLaw {
	counts := make([]float64, len(l.p))
	for range draws {
		u, at := rng.Float64(), 0
		for at < len(l.p)-1 && u >= l.p[at] {
			u -= l.p[at]
			at++
		}
		counts[at]++
	}
	return l.space.normalized(counts)
}

// mixed returns the mixture (1−share)·l + share·other.
func (l permutationLaw) mixed(other permutationLaw, share float64) permutationLaw {
	p := make([]float64, len(l.p))
	for i := range p {
		p[i] = float64((1-share)*l.p[i]) + float64(share*other.p[i])
	}
	return permutationLaw{l.space, p}
}

// lawFamily is a way to draw random laws.
type lawFamily struct {
	name      string
	preserves bool // all laws of the family are order preserving
	draw      func(s *permutationSpace, rng *rand.Rand) permutationLaw
}

func lawFamilies() []lawFamily {
	return []lawFamily{
		{"any order-preserving", true, drawPreserving},
		{"Plackett–Luce", true, drawPlackettLuce},
		{"Mallows", true, drawMallows},
		{"any", false, drawAny},
	}
}

// gibbsSweeps is large enough to forget the initial weights.
const gibbsSweeps = 60

// drawPreserving draws weights from the uniform distribution over all weights that preserve the
// order. Gibbs sampling redraws each weight between its lower and upper neighbors. A random power
// then makes laws flat or peaked. It does not change the order.
func drawPreserving(s *permutationSpace, rng *rand.Rand) permutationLaw {
	w := make([]float64, len(s.orders))
	above, below := make([][]int, len(w)), make([][]int, len(w))
	for i, order := range s.orders {
		w[i] = 1 / (1 + float64(inversions(order)))
	}
	for _, pair := range s.pairs {
		above[pair[1]], below[pair[0]] = append(above[pair[1]], pair[0]), append(below[pair[0]], pair[1])
	}
	for range gibbsSweeps {
		for i := range w {
			low, high := 0.0, 1.0
			for _, k := range below[i] {
				low = max(low, w[k])
			}
			for _, k := range above[i] {
				high = min(high, w[k])
			}
			w[i] = low + float64((high-low)*rng.Float64())
		}
	}
	return s.normalized(sharpened(w, rng))
}

// sharpened raises weights to a random power from ¼ to 4.
func sharpened(w []float64, rng *rand.Rand) []float64 {
	power := elementary.Pow(4, float64(2*rng.Float64())-1)
	for i := range w {
		w[i] = elementary.Pow(w[i], power)
	}
	return w
}

// drawPlackettLuce draws a Plackett–Luce law. The logarithms of the strengths are Gaussian.
func drawPlackettLuce(s *permutationSpace, rng *rand.Rand) permutationLaw {
	logs := make([]float64, s.n)
	gaussian(logs, rng)
	slices.SortFunc(logs, func(a, b float64) int { return cmp.Compare(b, a) })
	return s.plackettLuce(logs)
}

// plackettLuce returns the Plackett–Luce law with these logarithms of strengths.
func (s *permutationSpace) plackettLuce(logs []float64) permutationLaw {
	w := make([]float64, len(s.orders))
	for i, order := range s.orders {
		sum := 0.0
		w[i] = 1
		for k := s.n - 1; k >= 0; k-- {
			strength := elementary.Exp(logs[order[k]])
			sum += strength
			w[i] *= strength / sum
		}
	}
	return s.normalized(w)
}

// drawMallows draws a law in which each inversion multiplies the probability by a random factor
// below 1.
func drawMallows(s *permutationSpace, rng *rand.Rand) permutationLaw {
	factor := 0.05 + float64(0.9*rng.Float64())
	w := make([]float64, len(s.orders))
	for i, order := range s.orders {
		w[i] = elementary.Pow(factor, float64(inversions(order)))
	}
	return s.normalized(w)
}

// drawAny draws a law uniformly over all laws, and raises its probabilities to a random power.
func drawAny(s *permutationSpace, rng *rand.Rand) permutationLaw {
	w := make([]float64, len(s.orders))
	for i := range w {
		w[i] = random.Exponential(rng)
	}
	return s.normalized(sharpened(w, rng))
}
