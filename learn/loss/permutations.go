package loss

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
)

// PermutationOptions determines how a set of rankings of a query's documents is drawn from their grades.
// The zero value means 100 rankings, as in BoltzRank.
type PermutationOptions struct {
	// Rankings is the largest size N of the set; 0 means 100. The paper found no gain from larger sets.
	Rankings int

	// Sharpness contains factors τ. Each draw multiplies the grades by a random factor. The larger τ is,
	// the nearer rankings are to perfect ones; +Inf makes them perfect. The default is ½, 1, 2, 4 and
	// +Inf.
	Sharpness []float64
}

var usualSharpness = []float64{0.5, 1, 2, 4, math.Inf(1)}

const (
	usualRankings = 100
	// drawsPerRanking limits the number of draws, since a query with few documents may have fewer than N
	// rankings.
	drawsPerRanking = 10
)

// complete returns o with defaults instead of zero values, or an error if o is out of range.
func (o PermutationOptions) complete() (PermutationOptions, error) {
	if o.Rankings < 0 {
		return o, fmt.Errorf("rankings %d, expected at least 1, or 0 for %d", o.Rankings, usualRankings)
	}
	for _, tau := range o.Sharpness {
		if !(tau >= 0) {
			return o, fmt.Errorf("sharpness %v, expected a non-negative number", tau)
		}
	}
	if o.Rankings == 0 {
		o.Rankings = usualRankings
	}
	if len(o.Sharpness) == 0 {
		o.Sharpness = usualSharpness
	}
	return o, nil
}

// Permutations is a set of different rankings of m documents.
type Permutations struct {
	// Docs is m ≥ 1.
	Docs int

	// Ranks has a row for each ranking, with the rank of each document: 1 for the best, m for the last.
	// The first row is a perfect ranking.
	Ranks []int32
}

// Len returns the number of rankings.
func (p *Permutations) Len() int { return len(p.Ranks) / p.Docs }

// Row returns the ranks of the documents in ranking i.
func (p *Permutations) Row(i int) []int32 { return p.Ranks[i*p.Docs : (i+1)*p.Docs] }

// DrawPermutations draws R_q, the set of rankings over which BoltzRank sums instead of all rankings.
// Volkovs and Zemel, ICML 2009, only say "use relevance levels to pre-compute", so this procedure is not
// theirs. A draw takes a random τ and sorts the documents by
//
//	τ·grade + G,   G ~ Gumbel: P(G ≤ x) = exp(−exp(−x)),
//
// which is a draw from the Plackett–Luce distribution with weights exp(τ·grade). Documents of equal
// grade are in a uniformly random order. The first ranking is perfect. Further draws are added if they
// are not yet in the set, until the set has N rankings or 10·N draws have been made. So a query with few
// documents may have fewer rankings. Grades must be finite and non-negative. DrawPermutations returns an
// error if the options are out of range.
func DrawPermutations(grades []float64, o PermutationOptions, rng *rand.Rand) (*Permutations, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	set := &Permutations{Docs: len(grades)}
	d := newPermuter(grades)
	seen := make(map[string]bool, o.Rankings)
	key := make([]byte, 0, 4*len(grades))
	tau := math.Inf(1)
	for range drawsPerRanking * o.Rankings {
		ranks := d.draw(tau, rng)
		key = key[:0]
		for _, r := range ranks {
			key = binary.LittleEndian.AppendUint32(key, uint32(r))
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			if set.Ranks = append(set.Ranks, ranks...); len(seen) == o.Rankings {
				break
			}
		}
		tau = o.Sharpness[rng.IntN(len(o.Sharpness))]
	}
	return set, nil
}

// permuter draws rankings of one query.
type permuter struct {
	grades []float64
	sorted []noisyGrade
	ranks  []int32
}

type noisyGrade struct {
	key, grade, noise float64
	doc               int32
}

// compare orders noisy grades by descending key, and equal keys by grade, then noise. Keys are equal for
// τ = +Inf, and if rounding next to a large grade loses the noise.
func (d noisyGrade) compare(e noisyGrade) int {
	switch {
	case d.key != e.key:
		return cmp.Compare(e.key, d.key)
	case d.grade != e.grade:
		return cmp.Compare(e.grade, d.grade)
	case d.noise != e.noise:
		return cmp.Compare(e.noise, d.noise)
	}
	return cmp.Compare(d.doc, e.doc)
}

func newPermuter(grades []float64) *permuter {
	return &permuter{grades, make([]noisyGrade, len(grades)), make([]int32, len(grades))}
}

// draw returns the ranks of the documents. The next call overwrites them.
func (p *permuter) draw(tau float64, rng *rand.Rand) []int32 {
	for i, g := range p.grades {
		d := noisyGrade{grade: g, noise: -elementary.Log(random.Exponential(rng)), doc: int32(i)}
		if !math.IsInf(tau, 1) {
			d.key = float64(tau*g) + d.noise
		}
		p.sorted[i] = d
	}
	slices.SortFunc(p.sorted, noisyGrade.compare)
	for r, d := range p.sorted {
		p.ranks[d.doc] = int32(r + 1)
	}
	return p.ranks
}

// Negatives draws the training documents of a query with many irrelevant documents. It keeps all
// documents with a grade of at least threshold. It also keeps a uniform sample of the other documents.
// The size of the sample is ratio times the number of documents that reach the threshold, rounded up. It
// returns the indices of the kept documents in ascending order, or nil if it keeps all or if none is
// relevant.
func Negatives(grades []float64, threshold, ratio float64, rng *rand.Rand) []int32 {
	var kept, bad []int32
	for i, g := range grades {
		if g >= threshold {
			kept = append(kept, int32(i))
		} else {
			bad = append(bad, int32(i))
		}
	}
	want := math.Ceil(ratio * float64(len(kept)))
	if len(kept) == 0 || !(want < float64(len(bad))) {
		return nil
	}
	for i := range int(want) {
		j := i + rng.IntN(len(bad)-i)
		bad[i], bad[j] = bad[j], bad[i]
	}
	kept = append(kept, bad[:int(want)]...)
	slices.Sort(kept)
	return kept
}
