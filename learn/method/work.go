package method

// largestWork is a hyperparameter of all methods that have a loss on scores. Its
// default is about 10 seconds a pass, or a gigabyte, for one query.
var largestWork = Hyperparameter{
	Name: "largest_work", Kind: Number, Default: "1e10", Min: 1, Max: unbounded,
	Doc: "operations, of about a nanosecond each, that one query may take a pass, and ten times the bytes of memory that it may take; a query that needs more of either is refused before training",
}
