package sample

// Set is a sample of rankings of one query, stored as random walks. Consecutive states of a walk differ
// in one pair. With
//
//	e(y) = −w·δφ(y)/2κ = Σ_{(g,b) inverted in y} (s_b − s_g)
//
// a step from the state yᵗ⁻¹ to yᵗ in which document u rises above document v gives
//
//	e(yᵗ) = e(yᵗ⁻¹) + s_u − s_v,
//
// whether the step inverts a pair or restores its order. e is called the energy. All arrays over
// states and steps have a row per step and a column per walk, so one vector instruction advances
// several walks. The energies are running sums down the columns:
//
//	row 0:             Σ_i Restarts[Start[walk]][i]·s_i   (0 for the ideal ranking)
//	row t = 1 … Steps: row t−1 + s[Plus[(t−1)·Walks+walk]] − s[Minus[(t−1)·Walks+walk]]
//
// The states in rows 0, Thin, 2·Thin, … are the sample. A Set does not change after Draw returned
// it and may be read concurrently.
type Set struct {
	Walks int // number of walks
	Steps int // steps of each walk, a multiple of Thin
	Thin  int // every Thin-th state of a walk counts

	// Plus and Minus are the documents that rise and fall in each step: Steps × Walks elements.
	Plus, Minus []int32

	// Start has the restart state of each walk, as an index into Restarts. Restarts[0] is nil and
	// means the ideal ranking. Every other element has a coefficient for each document of the
	// query. The coefficient is −A_g for a good document with A_g bads above it, and B_b for a bad
	// document with B_b goods below it.
	Start    []int32
	Restarts [][]float64

	// Gain is G(y) of the states of the sample: Rows() × Walks elements, then the gain of the ideal
	// ranking if Ideal is set.
	Gain []float64

	// More[k] contains, like Gain, the additional gain k passed to Draw.
	More [][]float64

	// Ideal reports whether the ideal ranking is an additional state, after the states of the
	// walks. Its energy is 0.
	Ideal bool

	// LogWeight has the logarithm of the weight ω of each state, in the order of Gain: 0 for weight
	// 1, and −Inf for weight 0. LogWeight is nil if all states have the weight 1.
	LogWeight []float64

	// Total is Σ ω, the number of states that count.
	Total float64
}

// Rows returns the number of states of each walk in the sample.
func (s *Set) Rows() int { return s.Steps/s.Thin + 1 }

// Len returns the number of states of the sample, including repeated states.
func (s *Set) Len() int { return len(s.Gain) }
