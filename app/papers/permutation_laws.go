package papers

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
)

// permutationLaw is a probability of every order of n documents, the best first, in
// lexicographic order.
type permutationLaw struct {
	space *permutationSpace
	p     []float64
}

// permutationSpace are the orders of n documents, and the pairs of orders that the theorem
// of Xia et al. compares for the ranking 0, 1, …, n−1: the first of a pair has document k before
// k+1, the second exchanges the two.
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

// inversions is the number of pairs of documents that an order has the other way round.
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

// normalized returns the law of some weights.
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

// violated is the share of pairs whose first order is not the more probable one, with the documents of
// a ranking renamed 0, 1, …, n−1. The theorem calls the law order preserving for that ranking if the
// share is 0.
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

// best returns the most probable order, which no ranking falls short of in expected 0–1
// loss, and its probability.
func (l permutationLaw) best() (order []int, p float64) {
	at := slices.Index(l.p, slices.Max(l.p))
	return l.space.orders[at], l.p[at]
}

// of returns the probability of an order.
func (l permutationLaw) of(order []int) float64 {
	at, _ := slices.BinarySearchFunc(l.space.orders, order, slices.Compare)
	return l.p[at]
}

// sampled returns the shares of the orders among draws from the law.
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

// mixed returns (1−share)·l + share·other.
func (l permutationLaw) mixed(other permutationLaw, share float64) permutationLaw {
	p := make([]float64, len(l.p))
	for i := range p {
		p[i] = float64((1-share)*l.p[i]) + float64(share*other.p[i])
	}
	return permutationLaw{l.space, p}
}

// lawFamily is a way to draw laws.
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

// gibbsSweeps are enough to forget the start.
const gibbsSweeps = 60

// drawPreserving draws weights from the uniform law over all weights that preserve the order. Gibbs
// sampling redraws each weight between its lower and upper neighbours. A random power, which keeps the
// order, then makes flat and peaked laws.
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

// sharpened raises weights to a power from ¼ to 4.
func sharpened(w []float64, rng *rand.Rand) []float64 {
	power := elementary.Pow(4, float64(2*rng.Float64())-1)
	for i := range w {
		w[i] = elementary.Pow(w[i], power)
	}
	return w
}

// drawPlackettLuce draws the law of picks with probabilities proportional to strengths,
// whose logarithms are Gaussian.
func drawPlackettLuce(s *permutationSpace, rng *rand.Rand) permutationLaw {
	logs := make([]float64, s.n)
	gaussian(logs, rng)
	slices.SortFunc(logs, func(a, b float64) int { return cmp.Compare(b, a) })
	return s.plackettLuce(logs)
}

// plackettLuce is the law of those logarithms of strengths.
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

// drawMallows draws a law that falls by a factor with every inversion.
func drawMallows(s *permutationSpace, rng *rand.Rand) permutationLaw {
	factor := 0.05 + float64(0.9*rng.Float64())
	w := make([]float64, len(s.orders))
	for i, order := range s.orders {
		w[i] = elementary.Pow(factor, float64(inversions(order)))
	}
	return s.normalized(w)
}

// drawAny draws from a power of the uniform law over all laws.
func drawAny(s *permutationSpace, rng *rand.Rand) permutationLaw {
	w := make([]float64, len(s.orders))
	for i := range w {
		w[i] = random.Exponential(rng)
	}
	return s.normalized(sharpened(w, rng))
}
