// Package sample draws rankings of a query's good documents against its bad
// ones: LogRank's random walks (section 4, Figure 2). The sampled form sums over their
// states where it would sum over all rankings.
//
// A sample is drawn once for a query, before optimising starts, and never
// depends on scores. Start reading at [Draw], then at [Set], which stores the
// walks so that the energies of all states follow from two passes over them. The
// package must not know of features, scores or losses.
package sample

import "fmt"

// Options set the number of rankings and the start of the walks. The zero value means [DefaultOptions].
type Options struct {
	// Samples is the number m of draws for a query, at least 1. It is rounded up to a
	// multiple of the number of walks, because the memory layout needs walks of equal
	// length.
	Samples int

	// Steps is the length T ≥ 0 of a walk: it visits its restart state and up to
	// Steps states after it. Walks are shortened evenly so as to meet Samples.
	Steps int

	// Thin keeps the restart state and every Thin-th state after it, Thin ≥ 1.
	Thin int

	// Mix is the probability with which a walk starts at the ideal ranking
	// (Δ = 0); otherwise it starts at the worst (Δ = 1). It is used when Levels
	// is 0.
	Mix float64

	// Levels, if not 0, is the number of restart states, at least 2, instead of the two of Mix. State l
	// puts round(f·n⁻) randomly chosen bads on top, then all goods, then the other bads, with f =
	// l/(Levels−1). A walk starts at state y with probability ∝ exp(Skew·Δ(y)), where Δ is the training
	// loss.
	Levels int
	Skew   float64

	// Literal makes the walks by Figure 2 as printed, which proposes pairs and rejects
	// some, instead of by the much faster equivalent without rejections.
	Literal bool

	// Unique counts every distinct ranking once, however often it was drawn.
	Unique bool

	// IncludeIdeal adds the ideal ranking as one more draw if no walk visited it.
	// Without it a loss −log p(y*) may be unbounded below.
	IncludeIdeal bool
}

// DefaultOptions returns 1000 draws by walks of 20 steps from the ideal ranking,
// of which every distinct ranking counts once: the sample Ŷ is a set. The paper
// starts a tenth of its walks at the worst ranking (Figure 5). On collections with many
// relevant documents a query the states of those walks are far from the rankings of
// trained models.
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

// Bytes returns how much memory a sample takes.
func (o Options) Bytes() float64 {
	const state, step = 12, 8 // its gain and weight; the documents that change places
	o = o.orDefault()
	return float64(float64(o.Samples) * float64(state+step*o.Thin))
}

// shape returns the number of walks and the number of states kept of each.
func (o Options) shape() (walks, rows int) {
	longest := o.Steps/o.Thin + 1
	walks = (o.Samples + longest - 1) / longest
	rows = (o.Samples + walks - 1) / walks
	return walks, rows
}
