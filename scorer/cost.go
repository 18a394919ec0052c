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
