package cache

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// weighted is a data set with weights of queries and of documents.
func weighted(t rapid.TB) *dataset.Dataset {
	t.Helper()
	d := datatest.Split()
	if err := d.Weigh([]float64{2, 0, 0.5}, []float64{1, 0, 3, 1e-300}); err != nil {
		t.Fatal(err)
	}
	return d
}

// A cache keeps weights, of either kind alone too, and with columns added; one of data
// without weights is, byte for byte, what it was before there were any.
func TestCacheOfWeights(t *testing.T) {
	plain := cacheBytes(t, datatest.Split())
	for _, w := range []struct{ queries, documents []float64 }{
		{nil, nil}, {[]float64{1, 1, 1}, []float64{1, 1, 1, 1}},
		{[]float64{2, 0, 1}, nil}, {nil, []float64{1, 0, 3, 1}}, {[]float64{2, 0, 1}, []float64{1, 0, 3, 1}},
	} {
		d := datatest.Split()
		if err := d.Weigh(w.queries, w.documents); err != nil {
			t.Fatal(err)
		}
		data := cacheBytes(t, d)
		if d.Weighted() == bytes.Equal(data, plain) {
			t.Errorf("weights %v: the cache differs from one without weights: %v", w, !bytes.Equal(data, plain))
		}
		for _, features := range []int{0, d.Features + 1} {
			got, err := readFrom(bytes.NewReader(data), "f", dataset.Options{MinFeatures: features})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.QueryWeights(), d.QueryWeights()) || !slices.Equal(got.Weights(), d.Weights()) {
				t.Errorf("weights %v became %v, %v", w, got.QueryWeights(), got.Weights())
			}
			if features == 0 && got.Fingerprint() != d.Fingerprint() {
				t.Errorf("weights %v: the fingerprint is another one", w)
			}
		}
	}
}

// Weights that are negative, not finite or all 0 are refused, each with its place.
func TestCacheOfWrongWeights(t *testing.T) {
	d := weighted(t)
	data := cacheBytes(t, d)
	for want, weights := range map[string][]float64{
		"f: found the weight -1 of document 1, expected a finite number that is not negative": {1, -1, 3, 1, 2, 0, 1},
		"f: found the weight +Inf of query 2, expected a finite number that is not negative":  {1, 1, 3, 1, 2, 0, math.Inf(1)},
		"f: found the weight NaN of query 0, expected a finite number that is not negative":   {1, 1, 3, 1, math.NaN(), 0, 1},
		"f: found weights of 0 of every query, expected one at least that is not":             {1, 1, 3, 1, 0, 0, 0},
		"f: found weights of 0 of every document, expected one at least that is not":          {0, 0, 0, 0, 1, 0, 0},
	} {
		bad := slices.Clone(data)
		for i, w := range weights {
			binary.LittleEndian.PutUint64(cacheBlock(bad, blockGrades)[8*(d.Docs()+i):], math.Float64bits(w))
		}
		fixSums(bad)
		if _, err := readFrom(bytes.NewReader(bad), "f", dataset.Options{}); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}
