// Package datareport makes an HTML page about judged data. The page describes sizes, grades and
// features, and reports anomalies and differences between two data sets.
//
// Start reading at [Build]. Each subject has a file, and findings.go writes the sentences at the
// beginning of the page. The package must not depend on models.
package datareport

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
)

const (
	// DefaultMaxDocs is the default size of the sample, in documents.
	DefaultMaxDocs = 100_000
	// DefaultMaxBytes is the default size limit of a page.
	DefaultMaxBytes = 4_000_000
)

// Config contains the options of a report.
type Config struct {
	Title   string
	Source  string // name of the data
	Against string // name of the data to compare with

	Convention measure.Convention // of NDCG@10; its threshold defines relevance
	MaxDocs    int                // size of the sample; 0: DefaultMaxDocs
	MaxBytes   int                // size limit of the page; 0: DefaultMaxBytes
	Seed       uint64             // of the sample and the bootstrap

	// Observe, if not nil, is called with the number of features done.
	Observe func(done, total int)
}

// Report contains the results. Its JSON form is the output of "data report".
type Report struct {
	config Config

	Findings report.Findings `json:"findings"` // the most important first
	Info     dataset.Info    `json:"data"`
	Sampled  int             `json:"documents_sampled"` // documents in the sample, which the following fields describe
	Random   float64         `json:"random_ndcg@10"`    // NDCG@10 of documents in random order
	Features []Feature       `json:"features"`
	Pairs    []Pair          `json:"correlated"`        // correlated features, the strongest pair first
	Copies   [][]int         `json:"equal_features"`    // groups of features that are equal in every document
	Drift    *Drift          `json:"against,omitempty"` // nil without other data
}

// Build describes d and, unless against is nil, how against differs from d. Both must have the same
// features, with NaN for missing values. The result depends only on the arguments.
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

// sampleOf returns randomly drawn queries with about c.MaxDocs documents. It returns d itself if d
// has at most c.MaxDocs documents.
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

func nameOf(d *dataset.Dataset, feature int) string {
	if d.FeatureNames != nil {
		return d.FeatureNames[feature]
	}
	return fmt.Sprintf("feature %d", feature+1)
}
