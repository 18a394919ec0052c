package dataset

import (
	"fmt"
	"slices"
	"sync"
)

// Info describes a data set. Its JSON form is the output of "data info".
type Info struct {
	Queries   int `json:"queries"`   // number of queries
	Documents int `json:"documents"` // number of documents
	Features  int `json:"features"`  // number of features

	// FeatureNames are the names of the features in their order, or nil.
	FeatureNames []string `json:"feature_names,omitempty"`

	Grades Grades `json:"grades"` // number of documents by grade

	// DistinctGrades is the number of different grades. Grades combines them to bins if there are many.
	DistinctGrades int `json:"distinct_grades"`

	Threshold              float64 `json:"threshold"`                // lowest grade that counts as relevant
	QueriesWithoutRelevant int     `json:"queries_without_relevant"` // number of queries without a relevant document

	// QueriesWithoutPair is the number of queries whose documents all have the same grade. No order of these
	// documents is better than another.
	QueriesWithoutPair int `json:"queries_without_pair"`

	DocumentsPerQuery Spread `json:"documents_per_query"` // number of documents of a query

	QueryWeights    *WeightRange `json:"query_weights,omitempty"`    // weights of queries; nil if all are 1
	DocumentWeights *WeightRange `json:"document_weights,omitempty"` // weights of documents; nil if all are 1

	// ConstantFeatures lists the features that have one value in the whole data set. Features are numbered from
	// 1, as in LETOR text.
	ConstantFeatures []int `json:"constant_features"`

	// ConstantWithinQueries lists the features that have one value within each query, so a ranking function of
	// a single query's documents cannot use them. It includes the ConstantFeatures.
	ConstantWithinQueries []int `json:"constant_within_queries"`

	// MissingValues lists the features that some documents lack, in ascending order. It is nil if there are
	// none.
	MissingValues []MissingFeature `json:"missing_values,omitempty"`

	Duplicates Duplicates `json:"duplicates"` // documents that occur twice in a query

	// Warnings are those of the reader, then warnings about properties of the data that matter for training.
	Warnings []string `json:"warnings"`
}

// Spread is the distribution of a count over the queries.
type Spread struct {
	Min       int      `json:"min"`       // smallest count
	Median    float64  `json:"median"`    // middle count, or the mean of the two middle ones
	Mean      float64  `json:"mean"`      // mean count
	Max       int      `json:"max"`       // largest count
	Histogram []Bucket `json:"histogram"` // number of queries by the count
}

// WeightRange describes the weights of queries or documents.
type WeightRange struct {
	Min  float64 `json:"min"`  // smallest weight
	Max  float64 `json:"max"`  // largest weight
	Sum  float64 `json:"sum"`  // sum of the weights
	Zero int     `json:"zero"` // number of weights that are 0
}

func weightRange(weights []float64) *WeightRange {
	if weights == nil {
		return nil
	}
	r := &WeightRange{Min: slices.Min(weights), Max: slices.Max(weights)}
	for _, w := range weights {
		r.Sum += w
		if w == 0 {
			r.Zero++
		}
	}
	return r
}

// MissingFeature is a feature that some documents lack.
type MissingFeature struct {
	Feature   int `json:"feature"`   // number of the feature, from 1 as in LETOR text
	Documents int `json:"documents"` // number of documents without a value
}

func missingFeatures(counts []int) (list []MissingFeature) {
	for j, n := range counts {
		if n > 0 {
			list = append(list, MissingFeature{Feature: j + 1, Documents: n})
		}
	}
	return list
}

// Bucket is a bin of the histogram of a [Spread].
type Bucket struct {
	From    int `json:"from"`    // smallest count of the bin
	To      int `json:"to"`      // largest count of the bin
	Queries int `json:"queries"` // number of queries with such a count
}

// Duplicates counts documents of a query that have equal features or the same identifier.
type Duplicates struct {
	Sets      int `json:"sets"`      // number of sets of two or more documents of a query with the same feature vector
	Documents int `json:"documents"` // number of documents in these sets

	ConflictingGrades    int `json:"conflicting_grades"`    // number of documents in sets with different grades
	ConflictingRelevance int `json:"conflicting_relevance"` // number of documents in sets with relevant and irrelevant documents

	RepeatedIDs int `json:"repeated_ids"` // number of documents with the identifier of an earlier document of the query
}

// Describe returns the description of d. A grade of at least threshold counts as relevant.
func Describe(d *Dataset, threshold float64) Info {
	info := Info{
		Queries:           len(d.Queries),
		Documents:         d.Docs(),
		Features:          d.Features,
		FeatureNames:      d.FeatureNames,
		Threshold:         threshold,
		DocumentsPerQuery: spread(d),
		QueryWeights:      weightRange(d.QueryWeights()),
		DocumentWeights:   weightRange(d.Weights()),
	}
	info.Grades, info.DistinctGrades = countGrades(d)
	for i := range d.Queries {
		q := &d.Queries[i]
		if q.Relevant(threshold) == 0 {
			info.QueriesWithoutRelevant++
		}
		if slices.Min(q.Grades) == slices.Max(q.Grades) {
			info.QueriesWithoutPair++
		}
	}
	features := describeFeatures(d, threshold)
	info.MissingValues, info.Duplicates = missingFeatures(features.missing), features.duplicates
	info.ConstantFeatures, info.ConstantWithinQueries = features.constant()
	info.Warnings = append([]string{}, d.Warnings...)
	info.warn(d.HighestGrade())
	return info
}

func spread(d *Dataset) Spread {
	if len(d.Queries) == 0 {
		return Spread{Histogram: []Bucket{}}
	}
	sizes := make([]int, len(d.Queries))
	for i := range d.Queries {
		sizes[i] = d.Queries[i].Len()
	}
	slices.Sort(sizes)
	n := len(sizes)
	return Spread{
		Min:       sizes[0],
		Median:    float64(sizes[(n-1)/2]+sizes[n/2]) / 2,
		Mean:      float64(d.Docs()) / float64(n),
		Max:       sizes[n-1],
		Histogram: histogram(sizes),
	}
}

// histogram counts sizes, which must be ascending, in buckets that end at 1, 2, 5, 10, 20, 50, …. The first
// bucket contains the smallest size, and the last bucket the largest.
func histogram(sizes []int) []Bucket {
	buckets := []Bucket{}
	from := 1
	for to := 1; len(sizes) > 0; to = nextBound(to) {
		n := 0
		for n < len(sizes) && sizes[n] <= to {
			n++
		}
		if n > 0 || len(buckets) > 0 {
			buckets = append(buckets, Bucket{From: from, To: to, Queries: n})
		}
		sizes = sizes[n:]
		from = to + 1
	}
	return buckets
}

// nextBound returns the number after b in 1, 2, 5, 10, 20, 50, ….
func nextBound(b int) int {
	for ten := 1; ; ten *= 10 {
		switch b {
		case ten:
			return 2 * ten
		case 2 * ten:
			return 5 * ten
		case 5 * ten:
			return 10 * ten
		}
	}
}

func (i *Info) warn(highest float64) {
	add := func(format string, args ...any) { i.Warnings = append(i.Warnings, fmt.Sprintf(format, args...)) }
	threshold := FormatGrade(i.Threshold)
	switch n := i.QueriesWithoutRelevant; {
	case i.Queries == 0:
		add("there are no queries")
	case i.QueriesWithoutPair == i.Queries:
		add("in every query all documents have the same grade: nothing can be learned")
	case n == i.Queries:
		add("no grade reaches the relevance threshold %s, the highest is %s: binary measures such as map "+
			"are the same for all rankings; set a lower threshold", threshold, FormatGrade(highest))
	case n > 0:
		add("%d of %d queries have no relevant document (grade %s or higher); most conventions count them as 0",
			n, i.Queries, threshold)
	}
	if n := i.Duplicates.ConflictingRelevance; n > 0 {
		add("%d documents have duplicates with the same features, some of them relevant and others not", n)
	}
	if n := i.Duplicates.RepeatedIDs; n > 0 {
		add("%d documents repeat an earlier document id of their query", n)
	}
	if n := len(i.ConstantWithinQueries); n > 0 && i.Documents > i.Queries {
		add("%d features are constant within every query and cannot help to rank", n)
	}
}

// featureFacts are the results of a pass over the features.
type featureFacts struct {
	missing                   []int  // for each feature, the number of documents that lack it
	variesWhole, variesWithin []bool // for each feature, whether it varies in the data set, and within some query
	duplicates                Duplicates
}

func newFeatureFacts(features int) featureFacts {
	return featureFacts{missing: make([]int, features), variesWhole: make([]bool, features), variesWithin: make([]bool, features)}
}

// describeFeatures computes the facts in one parallel pass over the features.
func describeFeatures(d *Dataset, threshold float64) featureFacts {
	if d.Docs() == 0 {
		return featureFacts{}
	}
	f := newFeatureFacts(d.Features)
	first := slices.Clone(d.Reader().Query(0).Row(0))
	var joining sync.Mutex
	d.eachPart(func(_, from, to int, rows *RowReader) {
		part := newFeatureFacts(d.Features)
		var find copyFinder
		for i := from; i < to; i++ {
			part.add(rows.Query(i), first, threshold, &find, d.missing > 0)
		}
		joining.Lock()
		defer joining.Unlock()
		f.join(&part)
	})
	return f
}

// add adds a query. first is the feature vector of the data set's first document.
func (f *featureFacts) add(q *Query, first []float32, threshold float64, find *copyFinder, missing bool) {
	if missing {
		for k, v := range q.X {
			if isNaN(v) {
				f.missing[k%len(first)]++
			}
		}
	}
	head := q.Row(0)
	for row := range slices.Chunk(q.X, max(len(first), 1)) {
		for j, v := range row {
			f.variesWithin[j] = f.variesWithin[j] || differ(v, head[j])
			f.variesWhole[j] = f.variesWhole[j] || differ(v, first[j])
		}
	}
	f.duplicates.add(q, threshold, find)
}

// join adds the facts about other queries.
func (f *featureFacts) join(o *featureFacts) {
	for j := range f.missing {
		f.missing[j] += o.missing[j]
		f.variesWhole[j] = f.variesWhole[j] || o.variesWhole[j]
		f.variesWithin[j] = f.variesWithin[j] || o.variesWithin[j]
	}
	f.duplicates.Sets += o.duplicates.Sets
	f.duplicates.Documents += o.duplicates.Documents
	f.duplicates.ConflictingGrades += o.duplicates.ConflictingGrades
	f.duplicates.ConflictingRelevance += o.duplicates.ConflictingRelevance
	f.duplicates.RepeatedIDs += o.duplicates.RepeatedIDs
}

// constant returns the features that are constant in the whole data set, and those constant within every
// query. They are numbered from 1.
func (f *featureFacts) constant() (whole, within []int) {
	whole, within = []int{}, []int{}
	for j := range f.variesWhole {
		if !f.variesWhole[j] {
			whole = append(whole, j+1)
		}
		if !f.variesWithin[j] {
			within = append(within, j+1)
		}
	}
	return whole, within
}

// differ reports whether two values differ. Two missing values are equal.
func differ(a, b float32) bool { return a != b && !(isNaN(a) && isNaN(b)) }

// add counts the duplicates among a query's documents.
func (c *Duplicates) add(q *Query, threshold float64, find *copyFinder) {
	find.vectors(q, func(docs []int) {
		c.Sets++
		c.Documents += len(docs)
		if slices.ContainsFunc(docs, func(j int) bool { return q.Grades[j] != q.Grades[docs[0]] }) {
			c.ConflictingGrades += len(docs)
		}
		if mixed(q.Grades, docs, threshold) {
			c.ConflictingRelevance += len(docs)
		}
	})
	find.ids(q, func(docs []int) { c.RepeatedIDs += len(docs) - 1 })
}
