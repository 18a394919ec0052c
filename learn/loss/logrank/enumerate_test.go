package logrank

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// The tests of the laws compare them with sums over written-out rankings. A
// ranking is a bit mask of its inverted pairs, bit g·n⁻+b.

type outcome struct {
	inverted uint64
	gain     float64
}

// universe is a query with all the rankings of a law written out.
type universe struct {
	bipartite.Scaled
	outcomes []outcome
}

// referenceGamma is γ_i(a) from the definitions, without the measures' code.
func referenceGamma(name string, k int, i, a, good, bad int) float64 {
	discount := func(at int) float64 {
		switch {
		case at >= k:
			return 0
		case at <= 1:
			return 1
		}
		return 1 / math.Log2(1+float64(at))
	}
	switch name {
	case "auc":
		return (1 - float64(a)/float64(bad)) / float64(good)
	case "map":
		return float64(i+1) / float64(i+1+a) / float64(good)
	case "mrr":
		if i == 0 {
			return 1 / float64(1+a)
		}
		return 0
	case "ndcg":
		var ideal float64
		for r := range good {
			ideal += discount(r)
		}
		return discount(i+a) / ideal
	}
	panic(name)
}

type namedGain struct {
	name string
	kind string
	k    int
}

var testedGains = []namedGain{
	{"auc", "auc", 0}, {"map", "map", 0}, {"mrr", "mrr", 0},
	{"ndcg@1", "ndcg", 1}, {"ndcg@2", "ndcg", 2}, {"ndcg@3", "ndcg", 3}, {"ndcg@10", "ndcg", 10},
}

// TestGainTermsAreTheDefinitions checks the four γ of the measures against their
// definitions, which the enumerations below use.
func TestGainTermsAreTheDefinitions(t *testing.T) {
	for _, gain := range testedGains {
		m := additive(t, gain.name)
		for _, shape := range [][2]int{{1, 1}, {3, 4}, {12, 5}, {2, 15}} {
			for i := range shape[0] {
				for a := range shape[1] + 1 {
					got, want := m.GoodGain(i, a, shape[0], shape[1]), referenceGamma(gain.kind, gain.k, i, a, shape[0], shape[1])
					if math.Abs(got-want) > 1e-15 {
						t.Fatalf("%s of %v: γ_%d(%d) = %v, want %v", gain.name, shape, i, a, got, want)
					}
				}
			}
		}
	}
}

// gainOf returns the gain of a labeling: that of the ascending numbers of bads
// above the goods.
func (u *universe) gainOf(inverted uint64, gain namedGain) float64 {
	good, bad := len(u.Good), len(u.Bad)
	above := make([]int, good)
	for g := range good {
		for b := range bad {
			above[g] += int(inverted >> (g*bad + b) & 1)
		}
	}
	slices.Sort(above)
	var sum float64
	for i, a := range above {
		sum += referenceGamma(gain.kind, gain.k, i, a, good, bad)
	}
	return sum
}

// valid reports whether a labeling is a ranking: the goods' sets of bads above them
// are nested.
func (u *universe) valid(inverted uint64) bool {
	bad := len(u.Bad)
	mask := uint64(1)<<bad - 1
	for g := range u.Good {
		for h := range g {
			x, y := inverted>>(g*bad)&mask, inverted>>(h*bad)&mask
			if x&^y != 0 && y&^x != 0 {
				return false
			}
		}
	}
	return true
}

func (u *universe) add(inverted uint64, gain namedGain) {
	u.outcomes = append(u.outcomes, outcome{inverted, u.gainOf(inverted, gain)})
}

// enumerate writes out the rankings of a form for the given scores; the form
// "valid" has all rankings and "factored" all labelings.
func enumerate(form string, docs bipartite.Scaled, gain namedGain, s []float64) *universe {
	u := &universe{Scaled: docs}
	good, bad := len(docs.Good), len(docs.Bad)
	switch form {
	case "factored", "valid":
		for y := range uint64(1) << (good * bad) {
			if form == "factored" || u.valid(y) {
				u.add(y, gain)
			}
		}
	case "shell":
		u.add(0, gain)
		for pair := range good * bad {
			u.add(1<<pair, gain)
		}
	case "lattice":
		byScore := func(docs []int32) []int {
			at := make([]int, len(docs))
			for i := range at {
				at[i] = i
			}
			slices.SortStableFunc(at, func(i, j int) int {
				return cmp.Compare(s[docs[j]], s[docs[i]])
			})
			return at
		}
		goods, bads := byScore(docs.Good), byScore(docs.Bad)
		var walk func(i, least int, inverted uint64)
		walk = func(i, least int, inverted uint64) {
			if i == good {
				u.add(inverted, gain)
				return
			}
			for j := least; j <= bad; j++ {
				y := inverted
				for _, b := range bads[:j] {
					y |= 1 << (goods[i]*bad + b)
				}
				walk(i+1, j, y)
			}
		}
		walk(0, 0, 0)
	default:
		panic(form)
	}
	return u
}

// energy returns −w·δφ(y) and, if grad is not nil, adds weight times its gradient.
func (u *universe) energy(y uint64, s, grad []float64, weight float64) float64 {
	var e float64
	for g, gd := range u.Good {
		for b, bd := range u.Bad {
			if y>>(g*len(u.Bad)+b)&1 == 1 {
				e += u.Slope * (s[bd] - s[gd])
				if grad != nil {
					grad[gd] -= u.Slope * weight
					grad[bd] += u.Slope * weight
				}
			}
		}
	}
	return e
}

// sum returns log Σ_y exp(e_y + tilt(gain)) and adds sign times its gradient.
func (u *universe) sum(s, grad []float64, sign float64, tilt func(gain float64) float64) float64 {
	x := make([]float64, len(u.outcomes))
	for i, y := range u.outcomes {
		x[i] = u.energy(y.inverted, s, nil, 0) + tilt(y.gain)
	}
	top := slices.Max(x)
	var sum float64
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	total := top + math.Log(sum)
	for i, y := range u.outcomes {
		u.energy(y.inverted, s, grad, sign*math.Exp(x[i]-total))
	}
	return total
}

func (u *universe) logPartition(beta float64, s []float64) (value float64, grad []float64) {
	grad = make([]float64, len(s))
	value = u.sum(s, grad, 1, func(gain float64) float64 { return beta * (1 - gain) })
	return value, grad
}

func (u *universe) logGain(s []float64) (value float64, grad []float64) {
	grad = make([]float64, len(s))
	value = u.sum(s, grad, 1, math.Log)
	value -= u.sum(s, grad, -1, func(float64) float64 { return 0 })
	return value, grad
}

// mixed returns a query's classes with goods and bads interleaved.
func mixed(good, bad int, slope float64) bipartite.Scaled {
	grades := make([]float64, good+bad)
	for _, i := range rand.New(rand.NewPCG(uint64(good), uint64(bad))).Perm(good + bad)[:good] {
		grades[i] = 1
	}
	return bipartite.Scaled{Classes: bipartite.Split(grades, 1), Slope: slope}
}

// testScores returns score vectors from nearly equal to far apart, with the best
// and the worst ranking among them.
func testScores(docs bipartite.Scaled, rng *rand.Rand) map[string][]float64 {
	n := docs.Docs()
	vectors := map[string][]float64{}
	for _, spread := range []float64{1e-3, 0.5, 3, 40, 700} {
		s := make([]float64, n)
		for i := range s {
			s[i] = spread * rng.NormFloat64()
		}
		vectors[fmt.Sprintf("spread %v", spread)] = s
	}
	for name, sign := range map[string]float64{"best": 1, "worst": -1} {
		for _, gap := range []float64{2, 30, 300, 700} {
			s := make([]float64, n)
			for i := range s {
				s[i] = 0.1 * rng.NormFloat64()
			}
			for _, g := range docs.Good {
				s[g] += sign * gap
			}
			for _, b := range docs.Bad {
				s[b] -= sign * gap
			}
			vectors[fmt.Sprintf("%s by %v", name, 2*gap)] = s
		}
	}
	return vectors
}

var smallShapes = [][2]int{{1, 1}, {1, 5}, {5, 1}, {2, 3}, {3, 2}, {3, 3}, {2, 5}}

// bothLaws builds the law of a form for a gain, for partition and for gain.
func bothLaws(t *testing.T, form string, docs bipartite.Scaled, gain namedGain) (partition, expectation law) {
	t.Helper()
	table, err := bipartite.NewGainTable(additive(t, gain.name), len(docs.Good), len(docs.Bad))
	if err != nil {
		t.Fatal(err)
	}
	switch form {
	case "lattice":
		l := newLatticeLaw(docs, table)
		return l, l
	case "shell":
		l := newShellLaw(docs, table)
		return l, l
	}
	if expectation, err = newFactoredLaw(docs, table, expectedGain); err != nil {
		t.Fatal(err)
	}
	partition, _ = newFactoredLaw(docs, table, lossPartition)
	return partition, expectation
}

// TestLawsAgainstEnumeration compares A(0), A(β), log E[G] and their gradients
// with sums over all rankings of each form, from near ties to scores at which
// nothing but logarithms survives.
func TestLawsAgainstEnumeration(t *testing.T) {
	for _, form := range []string{"factored", "lattice", "shell"} {
		for _, shape := range smallShapes {
			for _, gain := range testedGains {
				name := fmt.Sprintf("%s/%dx%d/%s", form, shape[0], shape[1], gain.name)
				t.Run(name, func(t *testing.T) {
					for _, slope := range []float64{2, 2 / float64(shape[0]*shape[1])} {
						docs := mixed(shape[0], shape[1], slope)
						partition, expectation := bothLaws(t, form, docs, gain)
						rng := rand.New(rand.NewPCG(1, uint64(shape[0]*10+shape[1])))
						for what, s := range testScores(docs, rng) {
							u := enumerate(form, docs, gain, s)
							checkLaw(t, what, u, partition, expectation, s)
						}
					}
				})
			}
		}
	}
}

func checkLaw(t *testing.T, what string, u *universe, partition, expectation law, s []float64) {
	t.Helper()
	var scratch loss.Scratch
	tolerance := 2e-12
	for _, v := range s {
		if math.Abs(v) > 50 {
			tolerance = 1e-10 // of the enumeration: its energies have 4 digits before the point
		}
	}
	grad := make([]float64, len(s))
	for _, beta := range []float64{0, 1, 20, 100} {
		l := partition
		if l == nil { // the factored form does not have A(β) here
			if l = expectation; beta != 0 {
				continue
			}
		}
		scratch.Reset()
		want, wantGrad := u.logPartition(beta, s)
		if got := l.logPartition(beta, s, grad, &scratch); !near(got, want, tolerance) {
			t.Fatalf("%s: A(%v) = %v, want %v", what, beta, got, want)
		}
		checkVector(t, fmt.Sprintf("%s: gradient of A(%v)", what, beta), grad, wantGrad, tolerance)
		if got := l.logPartition(beta, s, nil, &scratch); !near(got, want, tolerance) {
			t.Fatalf("%s: A(%v) without gradient = %v, want %v", what, beta, got, want)
		}
	}
	scratch.Reset()
	want, wantGrad := u.logGain(s)
	if got := expectation.logGain(s, grad, &scratch); !near(got, want, tolerance) {
		t.Fatalf("%s: log E[G] = %v, want %v", what, got, want)
	}
	checkVector(t, what+": gradient of log E[G]", grad, wantGrad, tolerance)
	if got := expectation.logGain(s, nil, &scratch); !near(got, want, tolerance) {
		t.Fatalf("%s: log E[G] without gradient = %v, want %v", what, got, want)
	}
}
