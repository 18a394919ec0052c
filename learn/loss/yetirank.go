package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/suggest"
)

// YetiRank is the pairwise logistic loss over documents that have adjacent ranks after noise ε is added
// to the scores,
//
//	L(s) = mean over draws of ε of Σ_ij w_ij log(1 + exp(−(s_i − s_j))),   l_i > l_j,
//	λ_i += w_ij ρ_ij,   λ_j −= w_ij ρ_ij,   ρ_ij = 1/(1 + exp(s_i − s_j))
//
// where i and j are adjacent in the order of s + ε. If the upper document of a pair is at rank r,
// counted from 0, the weight is
//
//	w_ij = |l_i − l_j| δ^r        YetiRank (Gulin, Kuralenok, Pavlov, Winning the Transfer
//	                              Learning Track of Yahoo!'s Learning to Rank Challenge with
//	                              YetiRank, JMLR W&CP 14, 2011, with δ as in CatBoost)
//	w_ij = |ΔM_ij|                YetiLoss: the change of the measure M if the two swap
//	                              ranks (Lyzhin, Ustimenko, Gulin, Prokhorenkova, Which
//	                              Tricks Are Important for Learning to Rank?, ICML 2023)
//
// λ and the second derivative w_ij ρ_ij (1 − ρ_ij) treat the weights as constants. The loss is
// discontinuous where two documents swap ranks, so λ is no gradient ([Traits].NonGradient). Bind draws
// the noise. The papers draw new noise before each step; to do so, bind the loss again. For n documents,
// an evaluation takes a sort and O(n) time for each draw.
//
// Bind returns [Nothing] if all documents of a query have the same grade, or all rankings have the same
// measure.
type YetiRank struct {
	// Measure is the M of YetiLoss, which may be any measure. nil means YetiRank.
	Measure measure.Measure

	// Decay is YetiRank's δ, at most 1; 0 means CatBoost's 0.99.
	Decay float64

	// Neighbours is the largest distance in ranks between the documents of a pair, for YetiLoss; 0 means 1.
	Neighbours int

	// Draws is the number of draws of the noise over which the loss is averaged; 0 means CatBoost's 10.
	Draws int

	// Noise is the distribution of the noise that is added to the scores. The zero value is LogisticNoise.
	Noise Noise
}

// Noise is the distribution of the random numbers that [YetiRank] adds to scores.
type Noise int

// The distributions, with their quantile functions of a uniform u.
const (
	LogisticNoise Noise = iota // log(u/(1 − u)), as in YetiRank and CatBoost
	GumbelNoise                // −log(−log u); rankings then have the Plackett–Luce distribution
)

var noiseNames = [...]string{"logistic", "gumbel"}

// ParseNoise returns the distribution with the given name: logistic or gumbel.
func ParseNoise(name string) (Noise, error) {
	i := slices.Index(noiseNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("noise %q, expected %s", name, suggest.OneOf(noiseNames[:]))
	}
	return Noise(i), nil
}

// String returns the name that ParseNoise reads.
func (n Noise) String() string { return noiseNames[n] }

var _ Loss = YetiRank{}

const (
	defaultYetiDecay = 0.99
	defaultYetiDraws = 10
)

// Validate returns an error for options that fit no query.
func (l YetiRank) Validate() error {
	switch {
	case !(l.Decay >= 0 && l.Decay <= 1):
		return fmt.Errorf("decay %v, expected a number above 0, at most 1", l.Decay)
	case l.Measure != nil && l.Decay != 0:
		return fmt.Errorf("decay %v, expected none: the measure weighs ranks", l.Decay)
	case l.Neighbours < 0:
		return fmt.Errorf("neighbours %d, expected a positive number", l.Neighbours)
	case l.Measure == nil && l.Neighbours > 1:
		return fmt.Errorf("neighbours %d, expected 1: there is no measure", l.Neighbours)
	case l.Draws < 0:
		return fmt.Errorf("draws %d, expected a positive number", l.Draws)
	case l.Noise < 0 || int(l.Noise) >= len(noiseNames):
		return fmt.Errorf("noise %d, expected %s", int(l.Noise), suggest.OneOf(noiseNames[:]))
	}
	return nil
}

// Bind implements [Loss]. It returns a [Diagonal], unless the loss is [Nothing].
func (l YetiRank) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if constant(grades) || l.Measure != nil && settled(l.Measure, grades) {
		return Nothing, nil
	}
	n := len(grades)
	b := &boundYetiRank{
		order: newPermutation(n, nil), depth: n, neighbours: max(1, l.Neighbours), draws: l.Draws, noise: l.Noise,
		seed: [2]uint64{rng.Uint64(), rng.Uint64()},
	}
	if b.draws == 0 {
		b.draws = defaultYetiDraws
	}
	if l.Measure == nil {
		b.swaps = newDecaySwaps(grades, orDefault(l.Decay, defaultYetiDecay))
		return b, nil
	}
	var err error
	if b.swaps, err = measure.SwapsOf(l.Measure, grades); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Measure.Name(), err)
	}
	if cut := depthOf(l.Measure); cut < n {
		b.depth = min(n, cut+b.neighbours)
	}
	return b, nil
}

// Traits implements [Loss].
func (YetiRank) Traits() Traits { return Traits{ShiftInvariant: true, NonGradient: true} }

// Cost implements [Coster]. Each draw takes a sort. A measure that does not implement [measure.Swapper]
// is computed again for each swap.
func (l YetiRank) Cost(grades []float64) Cost {
	n := float64(len(grades))
	draws := float64(max(l.Draws, 1))
	if l.Draws == 0 {
		draws = defaultYetiDraws
	}
	perPair := 20.0
	if _, ok := l.Measure.(measure.Swapper); !ok && l.Measure != nil {
		perPair = 2 * n
	}
	return Cost{Operations: draws * n * (100 + float64(perPair*float64(max(1, l.Neighbours))))}
}

type boundYetiRank struct {
	order      permutation
	depth      int // number of top ranks that have weights
	neighbours int
	draws      int
	noise      Noise
	seed       [2]uint64
	swaps      measure.Swaps
}

func (b *boundYetiRank) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	return b.EvalSecond(scores, lambda, nil, scratch)
}

// EvalSecond implements [Diagonal].
func (b *boundYetiRank) EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64 {
	scratch.Reset()
	clear(lambda)
	clear(second)
	var source rand.PCG
	source.Seed(b.seed[0], b.seed[1])
	var value float64
	for range b.draws {
		scratch.Reset() // all draws use the same memory
		value += b.draw(scores, lambda, second, &source, scratch)
	}
	share := 1 / float64(b.draws)
	kernel.Scale(share, lambda)
	kernel.Scale(share, second)
	return share * value
}

// draw adds λ and the second derivatives of one draw to lambda and second, if they are not nil, and
// returns the loss of the draw. Exponentials and logarithms are computed for all pairs at once, which
// is faster.
func (b *boundYetiRank) draw(scores, lambda, second []float64, source *rand.PCG, scratch *Scratch) float64 {
	n := len(scores)
	noisy, x, loss := scratch.Floats(n), scratch.Floats(n), scratch.Floats(n)
	b.noise.draw(noisy, source)
	kernel.Axpy(1, scores, noisy)
	r := rankByScore(noisy, b.order, b.depth, scratch)
	r.gather(x, b.swaps.Counts())
	work := scratch.Floats(b.swaps.Work(n))
	ranks := min(b.swaps.Prepare(x, work), n-1)
	gains := scratch.Floats(ranks * min(b.neighbours, n-1)) // by pair; negative if the lower document is better
	behind, k := scratch.Floats(len(gains)), 0
	for above := range ranks {
		to := b.last(above, n)
		b.swaps.Row(loss, x, work, above, to)
		for below := above + 1; below < to; below++ {
			gains[k] = loss[below]
			behind[k] = math.Copysign(1, loss[below]) * (scores[r.document(below)] - scores[r.document(above)])
			k++
		}
	}
	gains, behind = gains[:k], behind[:k]
	if lambda != nil {
		rho := scratch.Floats(k)
		kernel.Logistic(rho, behind)
		b.spread(lambda, second, r, gains, rho)
	}
	kernel.Softplus(behind, behind)
	var value float64
	for k, g := range gains {
		value += float64(math.Abs(g) * behind[k])
	}
	return value
}

// last returns the end of the range of ranks that form pairs with rank above. The range starts at
// above + 1.
func (b *boundYetiRank) last(above, n int) int { return min(n, above+1+b.neighbours) }

// spread adds the contribution of each pair to lambda and, unless second is nil, to second.
func (b *boundYetiRank) spread(lambda, second []float64, r byScore, gains, rho []float64) {
	n := len(lambda)
	for above, k := 0, 0; k < len(gains); above++ {
		i := r.document(above)
		for below := above + 1; below < b.last(above, n); below++ {
			j, f := r.document(below), float64(gains[k]*rho[k])
			lambda[i] += f
			lambda[j] -= f
			if second != nil {
				c := float64(math.Abs(f) * (1 - rho[k]))
				second[i] += c
				second[j] += c
			}
			k++
		}
	}
}

// draw overwrites x with independent random numbers from the distribution.
func (n Noise) draw(x []float64, source *rand.PCG) {
	for i := range x {
		u := uniform(source)
		if n == LogisticNoise {
			u /= 1 - u
		}
		x[i] = u
	}
	kernel.Log(x, x)
	if n == GumbelNoise {
		kernel.Scale(-1, x)
		kernel.Log(x, x)
		kernel.Scale(-1, x)
	}
}

// uniform returns a random number above 0 and below 1.
func uniform(source *rand.PCG) float64 { return (float64(source.Uint64()>>12) + 0.5) * 0x1p-52 }

// decaySwaps implements [measure.Swaps] with YetiRank's weights as the decrease of a measure.
type decaySwaps struct {
	grades []float64
	power  []float64 // δ^r by rank
}

func newDecaySwaps(grades []float64, decay float64) decaySwaps {
	s := decaySwaps{grades, make([]float64, len(grades))}
	weight := 1.0
	for r := range s.power {
		s.power[r] = weight
		weight *= decay
	}
	return s
}

func (s decaySwaps) Counts() []float64 { return s.grades }

func (s decaySwaps) Work(int) int { return 0 }

func (s decaySwaps) Prepare(x, _ []float64) int { return len(x) }

func (s decaySwaps) Row(loss, x, _ []float64, a, to int) {
	for b := a + 1; b < to; b++ {
		loss[b] = s.power[a] * (x[a] - x[b])
	}
}
