// Package sample draws samples of rankings of a query's good (relevant) and bad (irrelevant)
// documents by LogRank's random walks (section 4, Figure 2). A state is the ranking after a step of
// a walk, and a restart state is a ranking at which walks start. LogRank's sampled form sums over
// the states instead of over all rankings.
//
// A sample is drawn once for a query, before optimisation starts, and does not depend on scores. Start
// reading at [Draw], then at [Set], which stores the walks so that running sums give the energies of all
// states. The package must not depend on features, scores or losses.
package sample

import "fmt"

// Options control the drawing of a sample. The zero value means [DefaultOptions].
type Options struct {
	// Samples is the number m of states for a query, at least 1. It is rounded up to a multiple of
	// the number of walks, because all walks have the same length.
	Samples int

	// Steps is the largest number T ≥ 0 of steps of a walk, which has the restart state and up to
	// Steps more states. All walks are shortened equally if shorter walks give enough states.
	Steps int

	// Thin ≥ 1 selects the states of a walk that belong to the sample: the restart state and every
	// Thin-th state after it.
	Thin int

	// Mix is the probability that a walk starts at the ideal ranking (Δ = 0). Otherwise the walk
	// starts at the worst ranking (Δ = 1). Mix is ignored unless Levels is 0.
	Mix float64

	// Levels, if not 0, is the number of restart states, at least 2, which replace the two restart
	// states of Mix. Restart state l, from 0, has round(f·n⁻) random bads, then all goods, then the
	// remaining bads, with f = l/(Levels−1). A walk starts at restart state y with probability ∝
	// exp(Skew·Δ(y)), where Δ is the training loss.
	Levels int
	Skew   float64

	// Literal selects the walk of Figure 2 as printed, which rejects some of the pairs that it proposes.
	// The default is an equivalent walk without rejections, which is much faster.
	Literal bool

	// Unique counts every distinct ranking once, regardless of how often it was drawn.
	Unique bool

	// IncludeIdeal adds the ideal ranking y* as one more state if no walk visited it. Without the
	// ideal ranking, a loss −log p(y*) may be unbounded below.
	IncludeIdeal bool
}

// DefaultOptions returns options for 1000 states by walks of up to 20 steps from the ideal ranking.
// Every distinct ranking counts once, since the paper's sample Ŷ is a set. The paper starts a tenth
// of its walks at the worst ranking (Figure 5). DefaultOptions does not: if queries have many
// relevant documents, the states of such walks are far from the rankings of trained models.
func DefaultOptions() Options {
	return Options{Samples: 1000, Steps: 20, Thin: 1, Mix: 1, Unique: true, IncludeIdeal: true}
}

// orDefault returns the options, or the defaults for the zero value.
func (o Options) orDefault() Options {
	if o == (Options{}) {
		return DefaultOptions()
	}
	return o
}

func (o Options) check() error {
	switch {
	case o.Samples < 1:
		return fmt.Errorf("samples %d, expected at least 1", o.Samples)
	case o.Steps < 0:
		return fmt.Errorf("steps %d, expected at least 0", o.Steps)
	case o.Thin < 1:
		return fmt.Errorf("thin %d, expected at least 1", o.Thin)
	case o.Levels == 0 && !(o.Mix >= 0 && o.Mix <= 1):
		return fmt.Errorf("mix %v, expected a probability", o.Mix)
	case o.Levels < 0 || o.Levels == 1:
		return fmt.Errorf("%d restart levels, expected 0 or at least 2", o.Levels)
	case o.Skew-o.Skew != 0:
		return fmt.Errorf("skew %v, expected a finite number", o.Skew)
	}
	return nil
}

// Bytes returns the memory of a sample in bytes.
func (o Options) Bytes() float64 {
	const state, step = 12, 8 // a state's gain and weight; a step's two documents
	o = o.orDefault()
	return float64(float64(o.Samples) * float64(state+step*o.Thin))
}

// shape returns the number of walks and the number of states of each walk in the sample.
func (o Options) shape() (walks, rows int) {
	longest := o.Steps/o.Thin + 1
	walks = (o.Samples + longest - 1) / longest
	rows = (o.Samples + walks - 1) / walks
	return walks, rows
}
