package loss

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
)

// StochasticRank minimises the expectation of 1 − M under normal noise on the scores. It estimates the
// gradient by
//
//	L(s) = 1 − E M(s + σε),   λ_i = ∂E M/∂s_i
//	     = E Σ_k [M(i at k, o_k at k+1) − M(o_k at k, i at k+1)] φ((z_k − s_i)/σ)/σ
//
// (Ustimenko, Prokhorenkova, StochasticRank: Global Optimization of Scale-Free Discrete Functions, ICML
// 2020, section 4: the coordinate conditional sampling estimate). Each draw of ε is for all documents.
// For the derivative of document i, the noise of all other documents is fixed; their noisy scores are
// z_0 > z_1 > … in the order o. The expectation over the noise of i is exact, since M only jumps where i
// passes another document. M is any measure. A jump of NDCG takes constant time; other measures are
// computed again.
//
// λ is centred to mean 0, since its expectation has mean 0. The value is the mean of 1 − M over the
// draws. Its gradient is 0 or undefined everywhere, so it is not λ ([Traits].NonGradient). Bind draws
// the noise. The paper draws new noise before each step; to do so, bind the loss again.
//
// Bind returns [Nothing] if the measure is the same for all rankings.
type StochasticRank struct {
	Measure measure.Measure // M

	// Sigma is the standard deviation σ of the noise; 0 means 1.
	Sigma float64

	// Draws is the number of draws of the noise over which the loss is averaged; 0 means 1.
	Draws int

	// Mu is the factor μ of a penalty: μσ times the grade is subtracted from a document's score before
	// noise is added. Documents with equal scores then count as if the worse ones ranked higher
	// (section 3).
	Mu float64

	// ScaleFree removes the component of λ along the scores. The scale of the scores does not change a
	// ranking, only the effect of the noise (section 4.4).
	ScaleFree bool
}

var _ Loss = StochasticRank{}

// leastLength is added to the length of the scores before project divides by it.
const leastLength = 0.01

// Validate returns an error for options that fit no query.
func (l StochasticRank) Validate() error {
	switch {
	case l.Measure == nil:
		return errors.New("no measure to train for")
	case l.Draws < 0:
		return fmt.Errorf("draws %d, expected a positive number", l.Draws)
	case !(l.Mu >= 0) || math.IsInf(l.Mu, 1):
		return fmt.Errorf("mu %v, expected a finite non-negative number", l.Mu)
	}
	return positiveOrZero("sigma", l.Sigma)
}

// Bind implements [Loss].
func (l StochasticRank) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if len(grades) == 0 || settled(l.Measure, grades) {
		return Nothing, nil
	}
	n := len(grades)
	b := &boundStochasticRank{
		measure: l.Measure, grades: grades, order: newPermutation(n, nil), sigma: orDefault(l.Sigma, 1), mu: l.Mu, scaleFree: l.ScaleFree,
		draws: max(1, l.Draws), seed: [2]uint64{rng.Uint64(), rng.Uint64()},
	}
	b.places = min(depthOf(l.Measure), n-1)
	if measure.Family(l.Measure) == "ndcg" {
		b.jumps = newGainJumps(l.Measure, grades, b.places)
	} else {
		b.jumps = anyJumps{l.Measure, grades}
	}
	return b, nil
}

// Traits implements [Loss].
func (l StochasticRank) Traits() Traits {
	return Traits{ShiftInvariant: true, NonGradient: true}
}

// Cost implements [Coster]. It counts a density for each document at each rank within the cutoff, and
// the computation of measures other than NDCG.
func (l StochasticRank) Cost(grades []float64) Cost {
	n := float64(len(grades))
	perJump := 8.0
	if l.Measure != nil && measure.Family(l.Measure) != "ndcg" {
		perJump += 2 * n
	}
	return Cost{Operations: perJump * float64(max(1, l.Draws)) * n * float64(measure.CountingRanks(l.Measure, len(grades)))}
}

type boundStochasticRank struct {
	measure   measure.Measure
	grades    []float64
	order     permutation
	places    int // number of ranks k such that a move from k to k + 1 can change M
	jumps     jumps
	sigma, mu float64
	scaleFree bool
	draws     int
	seed      [2]uint64
}

func (b *boundStochasticRank) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	clear(lambda)
	var source rand.PCG
	source.Seed(b.seed[0], b.seed[1])
	var value float64
	for range b.draws {
		scratch.Reset() // all draws use the same memory
		value += b.draw(scores, lambda, &source, scratch)
	}
	if lambda != nil {
		scratch.Reset()
		kernel.Scale(1/(float64(b.draws)*b.sigma*math.Sqrt(2*math.Pi)), lambda)
		b.project(scores, lambda, scratch)
	}
	return 1 - value/float64(b.draws)
}

// draw returns the measure under one draw of the noise. Unless lambda is nil, it adds σ√(2π) times the
// derivatives of the measure's expectation to lambda.
func (b *boundStochasticRank) draw(scores, lambda []float64, source *rand.PCG, scratch *Scratch) float64 {
	n := len(scores)
	middle, noisy, ranked := scratch.Floats(n), scratch.Floats(n), scratch.Floats(n)
	normal(noisy, source)
	for i, s := range scores {
		middle[i] = s - float64(b.sigma*b.mu*b.grades[i])
		noisy[i] = middle[i] + float64(b.sigma*noisy[i])
	}
	r := rankByScore(noisy, b.order, min(n, b.places+1), scratch)
	r.gather(ranked, b.grades)
	value, _ := b.measure.Value(ranked)
	if lambda == nil {
		return value
	}
	counts, jump, density, work := scratch.Floats(n), scratch.Floats(n), scratch.Floats(b.places), scratch.Floats(n)
	r.gather(counts, b.jumps.counts())
	jump = jump[:b.places]
	for p := range r.places {
		i := r.document(p)
		b.jumps.at(jump, counts, work, p)
		for k := range density {
			other := k
			if k >= p {
				other++
			}
			t := (r.scores[other] - middle[i]) / b.sigma
			density[k] = -t * t / 2
		}
		kernel.Exp(density, density)
		lambda[i] += kernel.Dot(jump, density)
	}
	return value
}

// project subtracts the mean from λ. If scaleFree is set, it also removes the component along the
// scores.
func (b *boundStochasticRank) project(scores, lambda []float64, scratch *Scratch) {
	center(lambda)
	if !b.scaleFree || len(scores) < 3 {
		return
	}
	along := scratch.Floats(len(scores))
	copy(along, scores)
	center(along)
	length := math.Sqrt(kernel.Dot(along, along)) + leastLength
	kernel.Axpy(-kernel.Dot(lambda, along)/length/length, along, lambda)
}

// center subtracts the mean.
func center(x []float64) {
	mean := kernel.Sum(x) / float64(len(x))
	for i := range x {
		x[i] -= mean
	}
}

// normal overwrites x with independent standard normal random numbers (Box and Muller, Annals of
// Mathematical Statistics 29, 1958).
func normal(x []float64, source *rand.PCG) {
	for i := 0; i < len(x); i += 2 {
		radius := math.Sqrt(-2 * elementary.Log(uniform(source)))
		sin, cos := elementary.Sincos(2 * math.Pi * uniform(source))
		x[i] = radius * cos
		if i+1 < len(x) {
			x[i+1] = radius * sin
		}
	}
}

// jumps computes the changes of a measure when a document passes the one above it.
type jumps interface {
	// counts returns a number for each document of the query, from which at computes the jumps.
	counts() []float64

	// at sets each jump[k] to the measure with the document at rank p moved to rank k, minus the measure
	// with the same document at rank k + 1. ranked contains the counts by rank. work has the length of
	// ranked.
	at(jump, ranked, work []float64, p int)
}

// gainJumps has the jumps of NDCG: differences of gains times differences of discounts.
type gainJumps struct{ gains, falls []float64 }

func newGainJumps(m measure.Measure, grades []float64, places int) gainJumps {
	c, cut := measure.ConventionOf(m), depthOf(m)
	j := gainJumps{normalGains(c, grades, measure.CutoffOf(m)), make([]float64, places)}
	for k := range j.falls {
		j.falls[k] = c.Discount(k + 1)
		if k+1 < cut {
			j.falls[k] -= c.Discount(k + 2)
		}
	}
	return j
}

func (j gainJumps) counts() []float64 { return j.gains }

func (j gainJumps) at(jump, ranked, _ []float64, p int) {
	own := ranked[p]
	for k := range jump {
		other := k
		if k >= p {
			other++
		}
		jump[k] = (own - ranked[other]) * j.falls[k]
	}
}

// anyJumps has the jumps of any measure, which it computes again at every rank.
type anyJumps struct {
	measure measure.Measure
	grades  []float64
}

func (j anyJumps) counts() []float64 { return j.grades }

func (j anyJumps) at(jump, ranked, work []float64, p int) {
	work[0] = ranked[p]
	copy(work[1:], ranked[:p])
	copy(work[p+1:], ranked[p+1:])
	before, _ := j.measure.Value(work)
	for k := range jump {
		work[k], work[k+1] = work[k+1], work[k]
		after, _ := j.measure.Value(work)
		jump[k], before = before-after, after
	}
}
