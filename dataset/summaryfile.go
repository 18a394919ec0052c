package dataset

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

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
