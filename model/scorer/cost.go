package scorer

// Coster is a [Scorer] that takes more time than in proportion to a query's documents.
type Coster interface {
	Scorer

	// Cost returns about how many operations, of a nanosecond each on one core, Score and
	// Backward take for a query with the given number of documents.
	Cost(docs int) float64
}

var _ Coster = PairNetwork{}

// Cost implements [Coster]: some operations a pair of documents and unit.
func (n PairNetwork) Cost(docs int) float64 {
	return 9 * float64(docs) * float64(docs) * float64(n.PairHidden)
}

// Holder is a [Scorer] of which Score leaves more of a query in the Workspace than its scores, for Backward.
type Holder interface {
	Scorer

	// Held returns how many float64s that takes for a query with the given number of documents.
	Held(docs int) int
}

var _, _, _ Holder = Network{}, PairNetwork{}, (*Layers)(nil)

// Held implements [Holder].
func (n Network) Held(docs int) int { return n.memory(docs) }

// Held implements [Holder].
func (n PairNetwork) Held(docs int) int { return n.single().memory(docs) + n.pairMemory(docs) }

// Held implements [Holder].
func (n *Layers) Held(docs int) int { return 2 * n.units() * docs }
