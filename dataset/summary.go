package dataset

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Summary is how the values of each feature are distributed over documents: by it a service
// notices that what it scores has drifted from what its model learned from. It is immutable.
type Summary struct {
	documents int
	features  []distribution
}

// distribution is that of one feature. Bin k has the values above bounds[k-1] and up to
// bounds[k]; the last one, those above all bounds. The first and the last bin are for values outside
// the range of the data.
type distribution struct {
	bounds []float32 // ascending: what is next below the least value, then deciles, those that are equal once
	counts []int     // of the documents with a value in each bin; one more than bounds
	n      int       // sum of counts; other documents' values are missing
}

// SummaryDocuments is the largest number of documents that a Summary is made of. Of more it takes
// every n-th: the share of a bin is then known to about ±0.013 (95 %).
const SummaryDocuments = 2048

// MaxSummaryBins is the largest number of bins of a feature: ten between its deciles, and one on
// either side for values outside the range of the data.
const MaxSummaryBins = 12

// Summary summarizes the features of the data set as they are.
func (d *Dataset) Summary() *Summary {
	s := &Summary{documents: min(d.Docs(), SummaryDocuments), features: make([]distribution, d.Features)}
	together := max(1, sampleBytes/4/max(1, s.documents))
	values, sample := make([]float32, 0, s.documents), make([]float32, 0, s.documents*min(together, d.Features))
	for from := 0; from < d.Features; from += together {
		n := min(together, d.Features-from)
		sample = d.sample(sample[:0], s.documents, from, from+n)
		for j := range n {
			values = values[:0]
			for i := range s.documents {
				if v := sample[i*n+j]; v == v {
					values = append(values, v+0)
				}
			}
			slices.Sort(values)
			s.features[from+j] = distributionOf(values)
		}
	}
	return s
}

// sampleBytes is about how much of the features of a sample is looked at together.
const sampleBytes = 8 << 20

// sample appends to x the features from one up to another of n documents at equal distances.
func (d *Dataset) sample(x []float32, n, from, to int) []float32 {
	rows := d.Reader()
	q, read := 0, -1
	var of []float32
	for i := range n {
		row := i * d.Docs() / n
		for row >= d.Queries[q].Start+d.Queries[q].Len() {
			q++
		}
		if read != q {
			of, read = rows.At(q), q
		}
		at := (row - d.Queries[q].Start) * d.Features
		x = append(x, of[at+from:at+to]...)
	}
	return x
}

// distributionOf returns the distribution of ascending values.
func distributionOf(values []float32) distribution {
	f := distribution{n: len(values)}
	add := func(bound float32, before int) int { // before: values in the bins so far
		to := after(values, bound)
		f.bounds, f.counts = append(f.bounds, bound), append(f.counts, to-before)
		return to
	}
	below := 0
	if len(values) > 0 {
		below = add(max(math.Nextafter32(values[0], float32(math.Inf(-1))), -math.MaxFloat32), 0)
	}
	const parts = 10
	for k := 1; k <= parts && below < len(values); k++ {
		if b := values[(k*len(values)+parts-1)/parts-1]; b > f.bounds[len(f.bounds)-1] { // else the same value once more
			below = add(b, below)
		}
	}
	f.counts = append(f.counts, 0)
	return f
}

// after returns the number of values of an ascending list that are at most b.
func after(values []float32, b float32) int {
	at, _ := slices.BinarySearchFunc(values, b, func(v, b float32) int {
		if v <= b {
			return -1
		}
		return 1
	})
	return at
}

// Documents is the number of documents that the summary is made of.
func (s *Summary) Documents() int { return s.documents }

// NumFeatures is the number of features; 0 of nil.
func (s *Summary) NumFeatures() int {
	if s == nil {
		return 0
	}
	return len(s.features)
}

// Bins returns the number of bins of feature j: 1 if all its values are missing, else 3 to
// MaxSummaryBins.
func (s *Summary) Bins(j int) int { return len(s.features[j].counts) }

// Bin returns the bin of feature j, from 0, that a value is in; −1 for a missing one (NaN).
func (s *Summary) Bin(j int, v float32) int {
	if v != v {
		return -1
	}
	for k, b := range s.features[j].bounds {
		if v <= b {
			return k
		}
	}
	return len(s.features[j].bounds)
}

// Bounds returns the upper ends of the bins of feature j but the last, ascending. They must not
// be changed.
func (s *Summary) Bounds(j int) []float32 { return s.features[j].bounds }

// Share returns the share of a bin among the values of feature j that are not missing, 0 if all are missing. For
// bin −1 it returns the share of missing values among all documents.
func (s *Summary) Share(j, bin int) float64 {
	f := &s.features[j]
	if bin < 0 {
		return float64(s.documents-f.n) / float64(max(s.documents, 1))
	}
	return float64(f.counts[bin]) / float64(max(f.n, 1))
}

// summaryFile is the JSON form of a Summary. Of each feature it has the bounds and the counts as
// numbers with spaces between them, so that a model file has a line a feature.
type summaryFile struct {
	Documents int      `json:"documents"`
	Bounds    []string `json:"bounds"`
	Counts    []string `json:"counts"`
}

// MarshalJSON implements json.Marshaler.
func (s *Summary) MarshalJSON() ([]byte, error) {
	f := summaryFile{Documents: s.documents, Bounds: make([]string, len(s.features)), Counts: make([]string, len(s.features))}
	for j := range s.features {
		d := &s.features[j]
		var text []byte
		for k, b := range d.bounds {
			if k > 0 {
				text = append(text, ' ')
			}
			text = strconv.AppendFloat(text, float64(b), 'g', -1, 32)
		}
		f.Bounds[j] = string(text)
		f.Counts[j] = strings.Trim(fmt.Sprint(d.counts), "[]")
	}
	return json.Marshal(f)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Summary) UnmarshalJSON(text []byte) error {
	var f summaryFile
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	if f.Documents < 0 || f.Documents > SummaryDocuments || len(f.Counts) != len(f.Bounds) {
		return fmt.Errorf("found a summary of %d documents with bounds of %d features and counts of %d, expected up to %d documents and as many of each", f.Documents, len(f.Bounds), len(f.Counts), SummaryDocuments)
	}
	features := make([]distribution, len(f.Bounds))
	for j := range features {
		d, err := parseDistribution(f.Bounds[j], f.Counts[j], f.Documents)
		if err != nil {
			return fmt.Errorf("feature %d of a summary: %w", j+1, err)
		}
		features[j] = d
	}
	s.documents, s.features = f.Documents, features
	return nil
}

// parseDistribution reads the distribution of a feature over a number of documents.
func parseDistribution(bounds, counts string, documents int) (d distribution, err error) {
	if words := strings.Count(bounds, " ") + strings.Count(counts, " "); words > 2*MaxSummaryBins {
		return d, fmt.Errorf("found more than %d numbers, expected at most %d bounds and one count more", words, MaxSummaryBins-1)
	}
	for _, word := range strings.Fields(bounds) {
		b, err := strconv.ParseFloat(word, 32)
		if err != nil || math.IsNaN(b) || math.IsInf(b, 0) {
			return d, fmt.Errorf("found the bound %q, expected a finite number", word)
		}
		if n := len(d.bounds); n > 0 && !(d.bounds[n-1] < float32(b)) {
			return d, fmt.Errorf("found the bounds %q, expected ascending ones", bounds)
		}
		d.bounds = append(d.bounds, float32(b))
	}
	for _, word := range strings.Fields(counts) {
		c, err := strconv.Atoi(word)
		if err != nil || c < 0 || c > documents-d.n {
			return d, fmt.Errorf("found the counts %q, expected whole numbers from 0, together at most %d", counts, documents)
		}
		d.n += c
		d.counts = append(d.counts, c)
	}
	if len(d.counts) != len(d.bounds)+1 || len(d.counts) > MaxSummaryBins {
		return d, fmt.Errorf("found %d bounds and %d counts, expected at most %d, and one count more than bounds", len(d.bounds), len(d.counts), MaxSummaryBins-1)
	}
	return d, nil
}
