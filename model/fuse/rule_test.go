package fuse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*max(1, math.Abs(y)) })
}

// Votes as worked out by hand: four documents, two of which system A ties.
func TestVotesByHand(t *testing.T) {
	for _, c := range []struct {
		name string
		rule Rule
		a, b []float64
	}{
		// A gives 4, 2, 2, 0, so ranks 1, 2–3, 2–3, 4; B gives 1, 9, 5, 5: 4, 1, 2–3, 2–3.
		{"rrf", Rule{Kind: RRF, K: 60},
			[]float64{1.0 / 61, (1.0/62 + 1.0/63) / 2, (1.0/62 + 1.0/63) / 2, 1.0 / 64},
			[]float64{1.0 / 64, 1.0 / 61, (1.0/62 + 1.0/63) / 2, (1.0/62 + 1.0/63) / 2}},
		{"rrf, k=0", Rule{Kind: RRF}, []float64{1, 5.0 / 12, 5.0 / 12, 0.25}, []float64{0.25, 1, 5.0 / 12, 5.0 / 12}},
		{"borda", Rule{Kind: Borda}, []float64{1, 0.5, 0.5, 0}, []float64{0, 1, 0.5, 0.5}},
		{"combsum minmax", Rule{Kind: CombSUM}, []float64{1, 0.5, 0.5, 0}, []float64{0, 1, 0.5, 0.5}},
		{"combsum sum", Rule{Kind: CombSUM, Scale: Sum}, []float64{0.5, 0.25, 0.25, 0}, []float64{0, 0.5, 0.25, 0.25}},
		// A: mean 2, variance (4+0+0+4)/4 = 2; B: mean 5, variance (16+16+0+0)/4 = 8.
		{"combsum zscore", Rule{Kind: CombSUM, Scale: ZScore}, []float64{math.Sqrt2, 0, 0, -math.Sqrt2}, []float64{-math.Sqrt2, math.Sqrt2, 0, 0}},
		// Documents 1 and 4 have one voter, the others two.
		{"combsum raw", Rule{Kind: CombSUM, Scale: Raw}, []float64{4, 2, 2, 0}, []float64{1, 9, 5, 5}},
		{"combmnz", Rule{Kind: CombMNZ}, []float64{1, 1, 1, 0}, []float64{0, 2, 1, 0.5}},
	} {
		votes := [][]float64{{4, 2, 2, 0}, {1, 9, 5, 5}}
		c.rule.Votes(votes)
		if !near(votes[0], c.a) || !near(votes[1], c.b) {
			t.Errorf("%s: votes are %v, want %v and %v", c.name, votes, c.a, c.b)
		}
		fused := make([]float64, 4)
		Add(fused, votes, []float64{2, 1})
		for i := range fused {
			if math.Abs(fused[i]-(2*c.a[i]+c.b[i])) > 1e-12 {
				t.Errorf("%s: fused scores are %v", c.name, fused)
			}
		}
	}
}

func rules() []Rule {
	return []Rule{{Kind: RRF, K: 60}, {Kind: RRF}, {Kind: Borda}, {Kind: CombSUM}, {Kind: CombSUM, Scale: ZScore}, {Kind: CombSUM, Scale: Sum}, {Kind: CombSUM, Scale: Raw}, {Kind: CombMNZ}, {Kind: CombMNZ, Scale: Sum}}
}

func drawScores(t *rapid.T) [][]float64 {
	n, systems := rapid.IntRange(1, 12).Draw(t, "documents"), rapid.IntRange(1, 4).Draw(t, "systems")
	scores := make([][]float64, systems)
	for s := range scores {
		scores[s] = rapid.SliceOfN(rapid.OneOf(rapid.Map(rapid.IntRange(-300, 300), func(i int) float64 { return float64(i) / 64 }), rapid.Map(rapid.IntRange(-2, 2), func(i int) float64 { return float64(i) })), n, n).Draw(t, "scores")
	}
	return scores
}

func clone(scores [][]float64) [][]float64 {
	c := make([][]float64, len(scores))
	for s := range scores {
		c[s] = slices.Clone(scores[s])
	}
	return c
}

// Votes go with the documents when these stand in another order, ties included.
func TestVotesAreEquivariant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := drawScores(t)
		order := rapid.Permutation(indices(len(scores[0]))).Draw(t, "order")
		for _, r := range rules() {
			votes, moved := clone(scores), clone(scores)
			for s := range scores {
				for i, from := range order {
					moved[s][i] = scores[s][from]
				}
			}
			r.Votes(votes)
			r.Votes(moved)
			for s := range votes {
				for i, from := range order {
					if math.Abs(moved[s][i]-votes[s][from]) > 1e-9 {
						t.Fatalf("%+v: votes %v, in another order %v", r, votes[s], moved[s])
					}
				}
			}
		}
	})
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// A higher score never gets a lower vote, and equal ones get the same (combmnz, which
// looks at the other systems too, left out).
func TestVotesFollowScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := drawScores(t)
		for _, r := range rules() {
			if r.Kind == CombMNZ {
				continue
			}
			votes := clone(scores)
			r.Votes(votes)
			for s := range votes {
				for i := range votes[s] {
					for k := range votes[s] {
						if scores[s][i] == scores[s][k] && votes[s][i] != votes[s][k] || scores[s][i] > scores[s][k] && votes[s][i] < votes[s][k] {
							t.Fatalf("%+v: scores %v, votes %v", r, scores[s], votes[s])
						}
					}
				}
			}
		}
	})
}

// Rules by rank see only the order: increasing functions of the scores change
// nothing. Rules by score do not see scale and shift, but for raw scores.
func TestVotesAreInvariant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := drawScores(t)
		for _, r := range rules() {
			if r.Scale == Raw {
				continue
			}
			f := func(v float64) float64 { return 1024*v + 8 }
			if !r.Kind.UsesScale() {
				f = func(v float64) float64 { return math.Copysign(math.Expm1(math.Abs(v)), v) }
			}
			votes, changed := clone(scores), clone(scores)
			for s := range changed {
				for i, v := range changed[s] {
					changed[s][i] = f(v)
				}
			}
			r.Votes(votes)
			r.Votes(changed)
			for s := range votes {
				for i := range votes[s] {
					if math.Abs(votes[s][i]-changed[s][i]) > 1e-6 {
						t.Fatalf("%+v: votes %v, after the change %v", r, votes[s], changed[s])
					}
				}
			}
		}
	})
}

// Any finite scores give finite votes; others make their own system's votes NaN and
// leave the rest alone.
func TestVotesOfExtremeScores(t *testing.T) {
	for _, r := range rules() {
		votes := [][]float64{{math.MaxFloat64, -math.MaxFloat64, 0}, {5e-324, 0, 0}, {1, math.Inf(1), 2}, {7, 7, 7}, {1, 2, 3}}
		r.Votes(votes)
		for s, list := range votes {
			for _, v := range list {
				if finite := !math.IsNaN(v) && !math.IsInf(v, 0); finite != (s != 2) {
					t.Errorf("%+v: votes of system %d are %v", r, s+1, list)
				}
			}
		}
	}
	one := [][]float64{{3}}
	for _, r := range rules() {
		r.Votes(one)
		r.Votes([][]float64{{}})
		r.Votes(nil)
		if math.IsNaN(one[0][0]) {
			t.Errorf("%+v: the vote for a single document is NaN", r)
		}
	}
}

func TestNamesAndChecks(t *testing.T) {
	for _, name := range Kinds() {
		if k, err := ParseKind(name); err != nil || k.String() != name || k.About() == "" {
			t.Errorf("%s is %v, %v", name, k, err)
		}
	}
	for i, name := range Scales() {
		if s, err := ParseScale(name); err != nil || int(s) != i || s.String() != name {
			t.Errorf("%s is %v, %v", name, s, err)
		}
	}
	if _, err := ParseKind("x"); err == nil {
		t.Error("rule x was accepted")
	}
	if _, err := ParseScale("x"); err == nil {
		t.Error("scale x was accepted")
	}
	for _, r := range rules() {
		if err := r.Check(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, r := range []Rule{{Kind: RRF, K: -1}, {Kind: RRF, K: math.NaN()}, {Kind: CombMNZ, Scale: ZScore}, {Kind: CombMNZ, Scale: Raw}, {Kind: "x"}, {Scale: -1}} {
		if r.Check() == nil {
			t.Errorf("%+v was accepted", r)
		}
	}
}

func BenchmarkVotes(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	scores := make([][]float64, 10)
	for s := range scores {
		scores[s] = make([]float64, 150)
		for i := range scores[s] {
			scores[s][i] = rng.NormFloat64()
		}
	}
	for _, r := range rules()[:4] {
		b.Run(r.Kind.String(), func(b *testing.B) {
			votes := clone(scores)
			for b.Loop() {
				for s := range votes {
					copy(votes[s], scores[s])
				}
				r.Votes(votes)
			}
		})
	}
}

// Claim: a rule that Check refuses does not vote; the panic has the error.
func TestVotesOfUnknownRules(t *testing.T) {
	for _, r := range []Rule{{Kind: "mine"}, {Scale: 7}, {K: -1}, {Kind: CombMNZ, Scale: ZScore}} {
		func() {
			defer func() {
				if got, want := recover(), "fuse: "+r.Check().Error(); got != want {
					t.Errorf("%+v: panic is %v, want %s", r, got, want)
				}
			}()
			r.Votes([][]float64{{1, 2}})
		}()
	}
}
