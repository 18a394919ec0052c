package method

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/train"
)

// cached writes queries, some of whose values are missing, to a cache and returns them as they are read query by query,
// and as they are in memory.
func cached(t *testing.T, seed uint64, missing dataset.Missing) (streamed, whole *dataset.Dataset) {
	t.Helper()
	return cachedWith(t, seed, missing, false)
}

// cachedWith is cached with weights of queries, a third of them 0, or without.
func cachedWith(t *testing.T, seed uint64, missing dataset.Missing, weighted bool) (streamed, whole *dataset.Dataset) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	r := dataset.Rows{Name: "rows", Features: 61}
	for q := range 120 {
		n := 1 + rng.IntN(40)
		for range n {
			grade := rng.IntN(3)
			for f := range r.Features {
				v := float32(float64(grade)/float64(f+1) + rng.NormFloat64())
				if rng.IntN(50) == 0 {
					v = float32(math.NaN())
				}
				r.X = append(r.X, v)
			}
			r.Grades = append(r.Grades, float64(grade))
		}
		r.Queries = append(r.Queries, dataset.Run{ID: fmt.Sprintf("%d-%d", seed, q), Docs: n})
		if weighted {
			r.QueryWeights = append(r.QueryWeights, float64(q%3))
		}
	}
	kept, err := dataset.FromRows(r, dataset.MissingKeep)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "d.lwd")
	if err := datafile.WriteCache(path, kept); err != nil {
		t.Fatal(err)
	}
	read := func(opts dataset.Options) *dataset.Dataset {
		opts.Missing = missing
		d, err := datafile.Open(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		return d
	}
	streamed, whole = read(dataset.Options{Stream: true, MaxBytes: 400 << 10}), read(dataset.Options{})
	if !streamed.Streamed() || whole.Streamed() || kept.Missing() == 0 {
		t.Fatal("one data set is to be streamed, the other not, with missing values")
	}
	return streamed, whole
}

func valuesOf(t *testing.T, method string, set map[string]string) Values {
	t.Helper()
	v, err := lookup(t, method).Values(set)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// crews are numbers of workers to compare; one that races is enough for the race detector.
func crews() []int {
	if testing.Short() {
		return []int{3}
	}
	return []int{1, 3}
}

// Claim: methods that look at all features again and again refuse data that are read from a file, or that are validated
// by such data, at once, however much memory there is, and say which others do not.
func TestRefusedFromDisk(t *testing.T) {
	streamed, whole := cached(t, 1, dataset.MissingZero)
	for name, c := range map[string]struct {
		method, scorer string
		set            map[string]string
	}{
		"rankboost":       {method: "rankboost"},
		"adarank":         {method: "adarank"},
		"frank":           {method: "frank"},
		"coordascent":     {method: "coordascent"},
		"prank":           {method: "prank"},
		"exact splits":    {method: "lambdamart", set: map[string]string{"splits": "exact"}},
		"dart":            {method: "lambdamart", set: map[string]string{"boosting": "dart"}},
		"forest":          {method: "mart", set: map[string]string{"boosting": "forest"}},
		"classes by dart": {method: "mcrank", scorer: treeScorer, set: map[string]string{"boosting": "dart"}},
	} {
		m, err := lookup(t, c.method).For(c.scorer)
		if err != nil {
			t.Fatal(err)
		}
		values, err := m.Values(c.set)
		if err != nil {
			t.Fatal(err)
		}
		if m.Streams(values) {
			t.Errorf("%s: it streams", name)
		}
		for _, of := range []train.Problem{{Data: streamed}, {Data: whole, Valid: streamed}} {
			of.Missing, of.Measure = dataset.MissingZero, measure.MustParse("map", measure.LETOR3)
			_, err := m.Train(t.Context(), &Problem{Problem: of, Values: values, Scorer: c.scorer})
			if !errors.Is(err, dataset.ErrTooLarge) || !strings.Contains(err.Error(), "use a learner that reads them from disk (linear functions and networks by ") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
