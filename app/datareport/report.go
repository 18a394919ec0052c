// Package datareport makes one HTML page about judged data: what they hold, what each feature
// is worth by itself, what is odd about them, and whether two files are of one kind.
//
// Start reading at [Build]; each subject has a file, and words.go says in sentences what a
// reader should look at first. The package must not know of models.
package datareport

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
)

const (
	// DefaultMaxDocs is the number of documents from which on features are described by a sample.
	DefaultMaxDocs = 100_000
	// DefaultMaxBytes is the size that a page keeps within.
	DefaultMaxBytes = 4_000_000
)

// Config says what to report on.
type Config struct {
	Title   string
	Source  string // name of the data
	Against string // of the data they are compared with

	Convention measure.Convention // of NDCG@10, with the threshold of relevance
	MaxDocs    int                // of the sample; 0: DefaultMaxDocs
	MaxBytes   int                // of the page; 0: DefaultMaxBytes
	Seed       uint64             // of the sample and the bootstrap

	// Observe, if not nil, is called as features are worked on.
	Observe func(done, total int)
}

// Report is what is known of the data. Its JSON form is the output of "data report".
type Report struct {
	config Config

	Findings []Finding    `json:"findings"` // the most important first
	Info     dataset.Info `json:"data"`
	Sampled  int          `json:"documents_sampled"` // for all that follows: whole queries, drawn; all if not more
	Random   float64      `json:"random_ndcg@10"`    // NDCG@10 of documents in random order
	Features []Feature    `json:"features"`
	Pairs    []Pair       `json:"correlated"`        // features by their rank correlation, the strongest first
	Copies   [][]int      `json:"equal_features"`    // numbers of features that are the same in every document
	Drift    *Drift       `json:"against,omitempty"` // nil without other data
}

// Finding is a sentence about the data.
type Finding struct {
	Level string `json:"level"` // problem, look or note
	Text  string `json:"text"`
}

// Build works out the report of d and, unless it is nil, of how it differs from other data with the
// same features. Missing values are NaN. The result is a function of the arguments alone.
func Build(ctx context.Context, d, against *dataset.Dataset, c Config) (*Report, error) {
	if d.Docs() == 0 || d.Features == 0 {
		return nil, errors.New("found no documents with features, expected some")
	}
	if c.MaxDocs == 0 {
		c.MaxDocs = DefaultMaxDocs
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	r := &Report{config: c, Info: dataset.Describe(d, c.Convention.Threshold()), Pairs: []Pair{}, Copies: [][]int{}}
	sample := sampleOf(d, c)
	r.Sampled = sample.Docs()
	if err := r.describe(ctx, d, sample); err != nil {
		return nil, err
	}
	r.Copies = equalColumns(d)
	r.Pairs = correlated(sample, r.Features)
	r.suspect(sample)
	if against != nil {
		drift, err := newDrift(d, against, sample, r.Features, c)
		if err != nil {
			return nil, err
		}
		r.Drift = drift
	}
	r.find()
	return r, d.Changed()
}

// sampleOf returns whole queries of d, drawn until they have MaxDocs documents; d itself if it
// has no more.
func sampleOf(d *dataset.Dataset, c Config) *dataset.Dataset {
	if d.Docs() <= c.MaxDocs {
		return d
	}
	var chosen []int
	docs := 0
	for _, i := range random.Stream(c.Seed, "data report", "").Perm(len(d.Queries)) {
		if docs >= c.MaxDocs {
			break
		}
		chosen = append(chosen, i)
		docs += d.Queries[i].Len()
	}
	slices.Sort(chosen)
	return d.Subset(chosen)
}

// nameOf is what a feature is called: its name, or its number.
func nameOf(d *dataset.Dataset, feature int) string {
	if d.FeatureNames != nil {
		return d.FeatureNames[feature]
	}
	return fmt.Sprintf("feature %d", feature+1)
}
