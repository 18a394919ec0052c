package dataset

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Summary is the distribution of each feature's values over documents. A service compares scored documents
// with the Summary of the training data to detect drift. A Summary is immutable.
type Summary struct {
	documents int
	features  []distribution
}

// distribution is the distribution of one feature. Bin k has the values above bounds[k-1] and up to bounds[k].
// The last bin has the values above all bounds. The first and the last bin are for values outside the range of
// the data.
type distribution struct {
	bounds []float32 // ascending: the number below the smallest value, then the deciles without repetition
	counts []int     // number of values in each bin; one element more than bounds
	n      int       // sum of counts; the other documents have no value
}

// SummaryDocuments is the largest number of documents that a Summary describes. From a larger data set, it
// takes documents at equal distances. The share of a bin is then known to about ±0.013 (95 %).
const SummaryDocuments = 2048

// MaxSummaryBins is the largest number of bins of a feature: ten between its deciles, and two for values
// outside the range of the data.
const MaxSummaryBins = 12

// Summary returns the distribution of each feature over the documents.
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

// sampleBytes is the approximate memory for the features of the sample that are processed together.
const sampleBytes = 8 << 20

// sample appends the features from, …, to−1 of n documents at equal distances to x.
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

// distributionOf returns the distribution of values, which must be ascending.
func distributionOf(values []float32) distribution {
	f := distribution{n: len(values)}
	add := func(bound float32, before int) int { // before is the number of values in earlier bins
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
		if b := values[(k*len(values)+parts-1)/parts-1]; b > f.bounds[len(f.bounds)-1] { // skips a repeated decile
			below = add(b, below)
		}
	}
	f.counts = append(f.counts, 0)
	return f
}

// after returns the number of values that are at most b. values must be ascending.
func after(values []float32, b float32) int {
	at, _ := slices.BinarySearchFunc(values, b, func(v, b float32) int {
		if v <= b {
			return -1
		}
		return 1
	})
	return at
}

// Documents returns the number of documents that the summary describes.
func (s *Summary) Documents() int { return s.documents }

// NumFeatures returns the number of features. It is 0 if s is nil.
func (s *Summary) NumFeatures() int {
	if s == nil {
		return 0
	}
	return len(s.features)
}

// Bins returns the number of bins of feature j. It is 1 if all values are missing, and otherwise from 3 to
// MaxSummaryBins.
func (s *Summary) Bins(j int) int { return len(s.features[j].counts) }

// Bin returns the index of the bin of feature j that contains v, or −1 for a missing value (NaN).
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

// Bounds returns the upper ends of the bins of feature j, except for the last bin, in ascending order. The
// caller must not change them.
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

// summaryFile is the JSON form of a Summary. The bounds and the counts of a feature are numbers in a string,
// separated by spaces. So a model file has one line per feature.
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

// parseDistribution parses the distribution of a feature. documents is the number of documents of the summary.
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
