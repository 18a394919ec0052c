// Package measure computes how good a ranking is: average precision, NDCG and
// the rest of the field's measures, each under a named convention, because tools
// disagree about the details.
//
// Start reading at [Parse], which turns a name such as "ndcg@10" into a [Measure], and at
// [Convention]. Each measure has a file of its own and a line in the registry, which is
// also the help text. [Ranker] turns one query's scores into a ranking, ties included;
// [Evaluate] measures a whole data set, of which it looks at the grades alone. The package
// must not depend on features, losses or models.
package measure

// Measure maps one query's ranking to a number, higher being better.
// Implementations are immutable and safe for concurrent use.
type Measure interface {
	// Name is the measure as [Parse] reads it, "ndcg@10" for example.
	Name() string

	// Value returns the measure of a ranking given as the grades of all the
	// query's documents in rank order, best first. ok is false when the
	// convention leaves such a query out of means.
	Value(ranked []float64) (value float64, ok bool)
}

// Additive is a Measure that, on binary grades, is a sum of a term per relevant document. The term
// depends only on the document's place among the relevant ones and on the number of irrelevant ones
// ranked above it. AUC, AP, NDCG, MRR and precision are additive. Some training losses require it.
type Additive interface {
	Measure

	// GoodGain returns the term of the i-th relevant document from the top, counting from 0, with a
	// irrelevant documents above it. The query has good relevant and bad irrelevant documents; 0 ≤
	// i < good, 0 ≤ a ≤ bad.
	GoodGain(i, a, good, bad int) float64
}
