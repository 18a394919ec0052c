package scorer

// Coster is a [Scorer] whose time per query grows faster than the number of documents.
type Coster interface {
	Scorer

	// Cost returns the approximate time of Score and Backward for a query with the given number of
	// documents, in nanoseconds on one core.
	Cost(docs int) float64
}

var _ Coster = PairNetwork{}

// Cost implements [Coster]. It counts 9 ns for each hidden unit of ϕ and each pair of documents.
func (n PairNetwork) Cost(docs int) float64 {
	return 9 * float64(docs) * float64(docs) * float64(n.PairHidden)
}

// Holder is a [Scorer] whose Score stores values for Backward in the Workspace.
type Holder interface {
	Scorer

	// Held returns the number of float64s that Score stores for a query with the given number of
	// documents.
	Held(docs int) int
}

var _, _, _, _ Holder = FM{}, Network{}, PairNetwork{}, (*Layers)(nil)

// Held returns the number of float64s that Score stores for a query of docs documents.
func (f FM) Held(docs int) int { return 2*f.Factors*docs + 2*f.Features }

// Held returns the number of float64s that Score stores for a query of docs documents.
func (n Network) Held(docs int) int { return n.memory(docs) }

// Held returns the number of float64s that Score stores for a query of docs documents.
func (n PairNetwork) Held(docs int) int { return n.single().memory(docs) + n.pairMemory(docs) }

// Held returns the number of float64s that Score stores for a query of docs documents.
func (n *Layers) Held(docs int) int { return 2 * n.units() * docs }
