package loss

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
	"github.com/listwise/listwise/internal/suggest"
)

// BoltzRank is the negated objective of Volkovs and Zemel (BoltzRank: Learning to Rank with Pairwise
// Potentials, ICML 2009):
//
//	loss = −[λ⟨N⟩ − (1−λ)C]
//	⟨N⟩  = Σ_R p_R N_R,   C = −Σ_R P_R log p_R         (R over the set R_q)
//	p_R ∝ exp(−E(R|s)),   P_R ∝ exp(−E(R|grades))
//	E(R|s) = 2/(m(m−1)) Σ_{r_j>r_k} g(r_j − r_k)(s_j − s_k)
//
// where R_q is a set of rankings, N_R the measure of ranking R, r_j the rank of document j in R, and m
// the number of documents. Energies are linear in the scores,
//
//	E(R|s) = Σ_j e_j s_j,   e_j = a·(r_j − (m+1)/2),
//	a = 2α/(m−1) for g(x) = αx,   a = 4α/(m(m−1)) for g(x) = α·sign(x).
//
// If the energy is a sum over only the P pairs of documents with different grades,
//
//	e_j = a·[(r_j − (m+1)/2) − (r′_j − (n_j+1)/2)],   a = 2α/P,
//
// where r′_j is j's rank among the n_j documents of its grade. The second term removes the pairs of
// equal grades. So all energies are one matrix-vector product, and the derivatives another:
//
//	∂loss/∂s_j = Σ_R [λ p_R(N_R − ⟨N⟩) + (1−λ)(P_R − p_R)] e_j(R).
//
// With Lambda 0, the loss is the cross entropy C alone, which is convex. A positive Lambda requires a
// Measure. The zero values of all other options are defaults.
type BoltzRank struct {
	// Measure is the measure whose expectation is maximised, NDCG in the paper. It may be nil if Lambda
	// is 0. It counts as 0 for a query that its convention leaves out.
	Measure measure.Measure

	// Lambda is the weight λ of the expected measure, from 0 to 1.
	Lambda float64

	// Energy is the function g.
	Energy Energy

	// Alpha is the scale α > 0 of g; 0 means 1. With a linear g and α = 1, e_j goes from −1 to 1.
	Alpha float64

	// Growing multiplies α by (m−1)/2. With a linear g and α = 1, a difference of one rank then has the
	// same weight in queries of any size.
	Growing bool

	// Sampler determines how R_q is drawn from the grades.
	Sampler PermutationOptions

	// Negatives is the number of irrelevant documents kept for each relevant one; 0 keeps all. Bind
	// draws them once for each query. The omitted documents are in no ranking and have λ = 0. The paper
	// omits documents of TD2004, whose queries have a thousand documents.
	Negatives float64

	// Threshold is the lowest grade of relevant documents, which are never omitted; 0 means 1.
	Threshold float64
}

var _ Loss = BoltzRank{}

// Energy is the function g of a difference of ranks in BoltzRank's energy.
type Energy int

const (
	// LinearEnergy is g(x) = αx.
	LinearEnergy Energy = iota
	// SignEnergy is g(x) = α·sign(x).
	SignEnergy
	// GradedEnergy is g(x) = α·sign(x), but the energy is the mean over the pairs of documents with
	// different grades. It is LogRank's feature map instead of BoltzRank's.
	GradedEnergy
)

var energyNames = [...]string{"linear", "sign", "graded"}

// ParseEnergy returns the energy with the given name: linear, sign or graded.
func ParseEnergy(name string) (Energy, error) {
	i := slices.Index(energyNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("energy %q, expected %s", name, suggest.OneOf(energyNames[:]))
	}
	return Energy(i), nil
}

// String returns the name that ParseEnergy reads.
func (e Energy) String() string { return energyNames[e] }

// Validate returns an error for options that fit no query.
func (b BoltzRank) Validate() error {
	switch {
	case !(b.Lambda >= 0 && b.Lambda <= 1):
		return fmt.Errorf("lambda %v, expected a number from 0 to 1", b.Lambda)
	case b.Lambda > 0 && b.Measure == nil:
		return errors.New("no measure to train for")
	case b.Energy < 0 || int(b.Energy) >= len(energyNames):
		return fmt.Errorf("energy %d, expected %s", int(b.Energy), suggest.OneOf(energyNames[:]))
	case !(b.Alpha >= 0) || b.Alpha > maxAlpha:
		return fmt.Errorf("alpha %v, expected a positive number up to %v", b.Alpha, float64(maxAlpha))
	case !(b.Negatives >= 0):
		return fmt.Errorf("negatives %v, expected a non-negative number", b.Negatives)
	case !(b.Threshold >= 0) || math.IsInf(b.Threshold, 1):
		return fmt.Errorf("threshold %v, expected a finite non-negative number", b.Threshold)
	}
	return nil
}

// maxAlpha bounds the scale of energies, so that the energies of grades are finite.
const maxAlpha = 1e100

// Traits implements [Loss].
func (b BoltzRank) Traits() Traits {
	return Traits{Convex: b.Lambda == 0, ShiftInvariant: true, Smooth: true}
}

// Bind implements [Loss]. It draws the rankings and, if Negatives is set, the documents. Memory is 4
// bytes for each document of each ranking.
func (b BoltzRank) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	var docs []int32
	if b.Negatives > 0 {
		threshold := b.Threshold
		if threshold == 0 {
			threshold = 1
		}
		if docs = Negatives(grades, threshold, b.Negatives, rng); docs != nil {
			kept := make([]float64, len(docs))
			kernel.Gather(kept, grades, docs, 1)
			grades = kept
		}
	}
	if len(grades) == 0 || slices.Max(grades) == slices.Min(grades) {
		return Nothing, nil
	}
	set, err := DrawPermutations(grades, b.Sampler, rng)
	if err != nil {
		return nil, fmt.Errorf("set of rankings: %w", err)
	}
	if set.Len() == 1 {
		return Nothing, nil // p_R = 1 whatever the scores
	}
	return b.newBound(grades, docs, set), nil
}

// newBound precomputes everything that does not depend on the scores.
func (b BoltzRank) newBound(grades []float64, docs []int32, set *Permutations) *boundBoltzRank {
	m := float64(set.Docs)
	bound := &boundBoltzRank{
		docs:     docs,
		lambda:   b.Lambda,
		scale:    b.scale(grades),
		centered: make([]float32, len(set.Ranks)),
		target:   make([]float64, set.Len()),
	}
	bound.lowest = -math.MaxFloat64 / 4 / (m * m * max(bound.scale, 1))
	for i, r := range set.Ranks {
		bound.centered[i] = float32(float64(r) - float64((m+1)/2)) // exact: a multiple of ½
	}
	if b.Energy == GradedEnergy {
		lessOwnGrade(bound.centered, grades, set)
	}
	var scratch Scratch
	bound.logs(bound.target, grades, &scratch)
	logspace.Softmax(bound.target, bound.target)
	if b.Lambda > 0 {
		bound.gain = gainsOf(b.Measure, grades, set)
	}
	return bound
}

// lessOwnGrade subtracts from a document's centred rank its centred rank among the documents of its
// grade.
func lessOwnGrade(centered []float32, grades []float64, set *Permutations) {
	levels := slices.Compact(slices.Sorted(slices.Values(grades)))
	of, size, rank := make([]int, len(grades)), make([]int, len(levels)), make([]int, len(levels))
	for d, l := range grades {
		of[d], _ = slices.BinarySearch(levels, l)
		size[of[d]]++
	}
	at := make([]int, len(grades)) // documents by rank
	for i := range set.Len() {
		for d, r := range set.Row(i) {
			at[r-1] = d
		}
		clear(rank)
		row := centered[i*set.Docs:][:set.Docs]
		for _, d := range at {
			l := of[d]
			rank[l]++
			row[d] -= float32(rank[l]) - float32(float32(size[l]+1)/2)
		}
	}
}

// scale returns the factor a of e_j.
func (b BoltzRank) scale(grades []float64) float64 {
	m := float64(len(grades))
	alpha := b.Alpha
	if alpha == 0 {
		alpha = 1
	}
	if b.Growing {
		alpha *= (m - 1) / 2
	}
	switch b.Energy {
	case SignEnergy:
		return 4 * alpha / (m * (m - 1))
	case GradedEnergy:
		return 2 * alpha / differentPairs(grades)
	case LinearEnergy:
	}
	return 2 * alpha / (m - 1)
}

// gainsOf returns the measure of every ranking of the set.
func gainsOf(by measure.Measure, grades []float64, set *Permutations) []float64 {
	gains, ranked := make([]float64, set.Len()), make([]float64, set.Docs)
	for i := range gains {
		for d, r := range set.Row(i) {
			ranked[r-1] = grades[d]
		}
		if v, ok := by.Value(ranked); ok {
			gains[i] = v
		}
	}
	return gains
}

type boundBoltzRank struct {
	docs     []int32   // documents that are kept; nil means all
	centered []float32 // a row of r_j − (m+1)/2 for every ranking
	scale    float64   // a
	lowest   float64   // lower bound of a score minus the highest, which keeps energies finite
	lambda   float64
	gain     []float64 // N_R; nil if λ = 0
	target   []float64 // P_R
}

func (b *boundBoltzRank) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	if b.docs == nil {
		return b.eval(scores, lambda, scratch)
	}
	kept := scratch.Floats(len(b.docs))
	kernel.Gather(kept, scores, b.docs, 1)
	if lambda == nil {
		return b.eval(kept, nil, scratch)
	}
	part := scratch.Floats(len(b.docs))
	value := b.eval(kept, part, scratch)
	clear(lambda)
	kernel.Scatter(lambda, part, b.docs, 1)
	return value
}

// eval is Eval for the kept documents.
func (b *boundBoltzRank) eval(scores, lambda []float64, scratch *Scratch) float64 {
	p, logs := scratch.Floats(len(b.target)), scratch.Floats(len(b.target))
	b.logs(logs, scores, scratch)
	logZ := logspace.Softmax(p, logs)
	var entropy float64
	for i, t := range b.target {
		entropy += float64(t * (logZ - logs[i]))
	}
	value := float64((1 - b.lambda) * entropy)
	var expected float64
	if b.gain != nil {
		expected = kernel.Dot(p, b.gain)
		value -= float64(b.lambda * expected)
	}
	if lambda == nil {
		return value
	}
	// c contains minus the coefficients of e_j(R) in the formula.
	c := logs
	for i, t := range b.target {
		c[i] = float64((1 - b.lambda) * (p[i] - t))
	}
	for i, g := range b.gain {
		c[i] -= float64(b.lambda * p[i] * (g - expected))
	}
	kernel.Scale(b.scale, c)
	clear(lambda)
	kernel.GemvT(lambda, b.centered, c)
	return value
}

// logs sets dst to −E(R|s) of all rankings, which is log p_R plus a constant. It first subtracts the
// highest score. This does not change the energies, but avoids rounding errors from a large constant in
// all scores.
func (b *boundBoltzRank) logs(dst, s []float64, scratch *Scratch) {
	below := scratch.Floats(len(s))
	top := kernel.Max(s)
	for i, v := range s {
		below[i] = max(v-top, b.lowest)
	}
	kernel.Gemv(dst, b.centered, below)
	kernel.Scale(-b.scale, dst)
}
