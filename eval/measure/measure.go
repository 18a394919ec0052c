// Package measure computes measures of ranking quality, such as average precision and NDCG. Tools
// disagree about details of these measures. A named convention fixes the details.
//
// Start reading at [Parse], which returns the [Measure] with a name such as "ndcg@10", and at
// [Convention]. Each measure has its own file and a line in the registry, from which help texts are
// printed. [Ranker] ranks the documents of one query by their scores and breaks ties. [Evaluate]
// measures a whole data set, of which it reads only the grades, and [Compare] tests the differences
// between results. The package must not depend on features, losses or models.
package measure

// Measure maps the ranking of one query to a number. Higher is better.
// Implementations are immutable and safe for concurrent use.
type Measure interface {
	// Name returns the name that [Parse] accepts, such as "ndcg@10".
	Name() string

	// Value returns the measure of a ranking. ranked contains the grades of all documents of the query
	// in rank order, best rank first. ok is false if the convention excludes the query from means.
	Value(ranked []float64) (value float64, ok bool)
}

// Additive is a Measure that, for binary grades, is a sum over the relevant documents,
//
//	Σ_i GoodGain(i, a_i, good, bad)
//
// good and bad are the numbers of the query's relevant and irrelevant documents. The i-th relevant
// document from the top, counted from 0, has a_i irrelevant documents ranked above it. Examples are
// AUC, AP, NDCG, MRR and precision. Some training losses require an Additive measure.
type Additive interface {
	Measure

	// GoodGain returns the term of the i-th relevant document, with 0 ≤ i < good and 0 ≤ a ≤ bad.
	GoodGain(i, a, good, bad int) float64
}
