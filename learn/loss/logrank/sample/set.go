package sample

// Set is a sample of rankings of one query, stored as the walks that produced
// them. Consecutive states of a walk differ in one pair, so with
//
//	e(y) = −w·δφ(y)/2κ = Σ_{(g,b) inverted in y} (s_b − s_g)
//
// a step that lets document u rise above document v gives
//
//	e(yᵗ) = e(yᵗ⁻¹) + s_u − s_v,
//
// whether it inverts a pair or puts one right. All arrays over states and steps
// are time-major: row t holds step t of every walk, so one vector instruction
// advances several walks. The energies are running sums down the columns
//
//	row 0:             Σ_i Restarts[Start[walk]][i]·s_i   (0 for the ideal ranking)
//	row t = 1 … Steps: row t−1 + s[Plus[(t−1)·Walks+walk]] − s[Minus[(t−1)·Walks+walk]]
//
// of which rows 0, Thin, 2·Thin, … are the sample. A Set is not changed after it
// was drawn and may be read concurrently.
type Set struct {
	Walks int // number of walks
	Steps int // steps of each walk, a multiple of Thin
	Thin  int // distance of the states that count

	// Plus and Minus are the documents that rise and fall, Steps × Walks.
	Plus, Minus []int32

	// Start has one restart state for each walk, an index into Restarts. Restarts[0] is the ideal ranking
	// and nil. The others hold one coefficient for every document of the query: −A_g (bads above) of a good
	// one, B_b (goods below) of a bad one.
	Start    []int32
	Restarts [][]float64

	// Gain is G(y) of the states that count: Rows() × Walks, then that of the
	// ideal ranking if Ideal is set.
	Gain []float64

	// More holds the same of each further gain that was asked for.
	More [][]float64

	// Ideal: the ideal ranking counts as one more state, after the walks' states; its e is 0.
	Ideal bool

	// LogWeight holds log ω of the states in the order of Gain: 0 for a state
	// that counts once and −Inf for one that does not count. It is nil if all
	// count once.
	LogWeight []float64

	// Total is Σ ω, the number of states that count.
	Total float64
}

// Rows returns the number of states of a walk that count.
func (s *Set) Rows() int { return s.Steps/s.Thin + 1 }

// Len returns the number of states, repeated ones included.
func (s *Set) Len() int { return len(s.Gain) }
