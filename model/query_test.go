package model

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
)

// Claim: a query scored by itself has the scores that it has in a data set, from any
// number of goroutines at once, for every kind of model and documents that lack features.
func TestScoreQuery(t *testing.T) {
	d := read(t, wideQueries)
	models := append(members(), linear(1, 2, 3, 4, 5))
	fused, err := NewFused(fusionRules()[1], members(), []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range append(models, fused) {
		if m.Scorer.NumFeatures() < d.Features {
			continue
		}
		want, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for _, q := range d.Queries {
					x := slices.Clone(q.X)
					got := make([]float64, q.Len())
					if err := m.ScoreQuery(got, x); err != nil {
						t.Error(err)
					}
					if !slices.Equal(got, want[q.Start:q.Start+q.Len()]) || !slices.Equal(x, q.X) {
						t.Errorf("%s: query %s has the scores %v, in its data set %v", m.Method, q.ID, got, want)
					}
				}
			})
		}
		wg.Wait()
	}
}

// Claim: what ScoreQuery cannot score is an error that says why: never a score of 0.
func TestScoreQueryErrors(t *testing.T) {
	plain, normalized, filling := linear(1, 2), linear(1, 2), linear(1, 2)
	normalized.Normalization, filling.Missing = dataset.MinMax, dataset.MissingZero
	nan := float32(math.NaN())
	one := make([]float64, 1)
	for _, c := range []struct {
		want string
		err  error
	}{
		{"found no features, expected 1 to 2 for each document", plain.ScoreQuery(one, nil)},
		{"found 3 feature values for 2 documents, expected a multiple of 2: all documents have the same number of features", plain.ScoreQuery(make([]float64, 2), make([]float32, 3))},
		{"found 3 features for each document, expected 1 to 2", plain.ScoreQuery(one, make([]float32, 3))},
		{"found a missing value (NaN)", plain.ScoreQuery(one, []float32{nan, 1})},
		{"found the value +Inf for feature 1 of document 1", plain.ScoreQuery(one, []float32{float32(math.Inf(1)), 1})},
		{"a single document cannot be normalized", normalized.ScoreQuery(one, []float32{1, 2})},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error is %v, want %q", c.err, c.want)
		}
	}
	if err := normalized.ScoreQuery(one, []float32{1, 2}); !errors.Is(err, ErrSingleDocument) {
		t.Errorf("error is %v", err)
	}
	if err := filling.ScoreQuery(one, []float32{nan, 1}); err != nil || one[0] != 2 {
		t.Errorf("score is %v, %v", one, err)
	}
	if err := plain.ScoreQuery(nil, nil); err != nil {
		t.Errorf("no documents: %v", err)
	}
}

// Claim: an infinite feature is an error that says where it stands, under every
// normalization, whatever becomes of missing values, and for a scorer that has no use for
// the feature.
func TestScoreQueryOfInfiniteFeatures(t *testing.T) {
	nan := float32(math.NaN())
	for _, n := range []dataset.Normalization{dataset.NoNormalization, dataset.MinMax, dataset.ZScore} {
		for _, infinite := range []float64{math.Inf(1), math.Inf(-1)} {
			m := linear(1, 0, 3)
			m.Normalization, m.Missing = n, dataset.MissingZero
			x := []float32{1, 2, 3, 4, float32(infinite), 6, nan, 8, 9}
			err := m.ScoreQuery(make([]float64, 3), x)
			if want := fmt.Sprintf("found the value %v for feature 2 of document 2, expected a finite one", infinite); err == nil || err.Error() != want {
				t.Errorf("%v: error is %v, want %s", n, err, want)
			}
			x[4] = math.MaxFloat32
			if err := m.ScoreQuery(make([]float64, 3), x); err != nil {
				t.Errorf("%v, the largest finite number: %v", n, err)
			}
		}
	}
}

// raceDetector is set where the tests run under the race detector.
var raceDetector bool

// Claim: after warming up, scoring a query allocates nothing.
func TestScoreQueryAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	m := members()[1]
	dst, x := make([]float64, 20), make([]float32, 60)
	for i := range x {
		x[i] = float32(i * i % 7)
	}
	if n := testing.AllocsPerRun(200, func() {
		if err := m.ScoreQuery(dst, x); err != nil {
			t.Fatal(err)
		}
	}); n > 0.1 { // the pool may be emptied between
		t.Errorf("%v allocations a query", n)
	}
}

// Claim: Write and Read are Save and Load without a file.
func TestReadWrite(t *testing.T) {
	var b bytes.Buffer
	if err := full().Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, text := save(t, full()); text != b.String() {
		t.Error("Write and Save write different text")
	}
	m, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), m); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if _, err := Read(bytes.NewReader([]byte("{\n1}"))); err == nil || err.Error()[:8] != "model:2:" {
		t.Errorf("error is %v", err)
	}
}
