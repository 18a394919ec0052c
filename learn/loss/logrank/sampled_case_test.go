package logrank

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
)

// sampledCase is a law together with its sample written out: for every state the
// inversion counts, which the tests' sums are made of, and the gain.
type sampledCase struct {
	pairs bipartite.Classes
	kappa float64
	law   *sampledLaw
	set   *sample.Set
	delta [][]float64 // coefficients of δφ, one row a state
	gain  []float64
	mass  []float64 // ω_y
}

func mixedQuery(good, bad int) bipartite.Classes {
	grades := make([]float64, good+bad)
	for _, i := range rand.New(rand.NewPCG(uint64(good), uint64(bad))).Perm(good + bad)[:good] {
		grades[i] = 1
	}
	return bipartite.Split(grades, 1)
}

func newSampledCase(t testing.TB, pairs bipartite.Classes, gain measure.Additive, kappa float64, opts sample.Options) *sampledCase {
	t.Helper()
	l, err := newSampledLaw(pairs, gain, kappa, opts, rand.New(rand.NewPCG(5, 6)))
	if err != nil {
		t.Fatal(err)
	}
	// The same stream gives the same sample; the law keeps only part of its own.
	set, err := sample.Draw(pairs, gain, opts, rand.New(rand.NewPCG(5, 6)))
	if err != nil {
		t.Fatal(err)
	}
	c := &sampledCase{pairs: pairs, kappa: kappa, law: l, set: set}
	c.delta = make([][]float64, l.set.Len())
	c.gain = make([]float64, l.set.Len())
	c.mass = make([]float64, l.set.Len())
	for w := range l.set.Walks {
		c.writeOut(w, gain)
	}
	if l.set.Ideal {
		c.delta[len(c.delta)-1] = make([]float64, pairs.Docs())
		c.gain[len(c.gain)-1] = ranking.NewOrder(pairs).Gain(gain)
	}
	for y := range c.mass {
		c.mass[y] = 1 / l.set.Total
		if set.LogWeight != nil {
			c.mass[y] *= math.Exp(set.LogWeight[y])
		}
	}
	return c
}

// writeOut follows walk w pair by pair on a matrix of inverted pairs.
func (c *sampledCase) writeOut(w int, gain measure.Additive) {
	set, n := c.set, c.pairs.Docs()
	isGood := make([]bool, n)
	for _, g := range c.pairs.Good {
		isGood[g] = true
	}
	inverted := make([][]bool, n) // [good][bad]
	for i := range inverted {
		inverted[i] = make([]bool, n)
	}
	if start := set.Restarts[set.Start[w]]; start != nil {
		for _, g := range c.pairs.Good {
			for _, b := range c.pairs.Bad {
				inverted[g][b] = start[b] != 0
			}
		}
	}
	for t := 0; ; t++ {
		if t%set.Thin == 0 {
			y := t/set.Thin*set.Walks + w
			c.delta[y], c.gain[y] = c.describe(inverted, gain)
		}
		if t == set.Steps {
			return
		}
		up, down := set.Plus[t*set.Walks+w], set.Minus[t*set.Walks+w]
		if isGood[up] {
			inverted[up][down] = false
		} else {
			inverted[down][up] = true
		}
	}
}

// describe sums the definition of δφ over inverted pairs and measures the order
// in which goods have ever more bads above them.
func (c *sampledCase) describe(inverted [][]bool, gain measure.Additive) (delta []float64, g float64) {
	delta = make([]float64, c.pairs.Docs())
	above := make([]int, len(c.pairs.Bad)+1) // goods with so many bads above
	for _, g := range c.pairs.Good {
		a := 0
		for _, b := range c.pairs.Bad {
			if inverted[g][b] {
				delta[g] += 2 * c.kappa
				delta[b] -= 2 * c.kappa
				a++
			}
		}
		above[a]++
	}
	// The ranking as grades from the top, for the measure itself.
	var ranked []float64
	for a, goods := range above {
		for range goods {
			ranked = append(ranked, 1)
		}
		if a < len(c.pairs.Bad) {
			ranked = append(ranked, 0)
		}
	}
	g, _ = gain.Value(ranked)
	return delta, g
}

// exponent is log ω_y − w·δφ(y), from the definition.
func (c *sampledCase) exponent(y int, s []float64) float64 {
	var e float64
	for i, d := range c.delta[y] {
		e -= d * s[i]
	}
	return math.Log(c.mass[y]) + e
}

// partition and logGain are the two quantities of the law, term by term.
func (c *sampledCase) partition(beta float64, s []float64) float64 {
	x := make([]float64, len(c.delta))
	for y := range x {
		x[y] = c.exponent(y, s) + beta*(1-c.gain[y])
	}
	return plainLSE(x)
}

// partitionGradient is the mean of −δφ under the law at beta, by definition.
func (c *sampledCase) partitionGradient(beta float64, s []float64) []float64 {
	x := make([]float64, len(c.delta))
	for y := range x {
		x[y] = c.exponent(y, s) + beta*(1-c.gain[y])
	}
	top, sum := slices.Max(x), 0.0
	grad := make([]float64, len(s))
	for y, d := range c.delta {
		p := math.Exp(x[y] - top)
		sum += p
		for i := range grad {
			grad[i] -= p * d[i]
		}
	}
	for i := range grad {
		grad[i] /= sum
	}
	return grad
}

func (c *sampledCase) logGain(s []float64) float64 {
	x := make([]float64, len(c.delta))
	for y := range x {
		x[y] = c.exponent(y, s) + math.Log(c.gain[y])
	}
	return plainLSE(x) - c.partition(0, s)
}
