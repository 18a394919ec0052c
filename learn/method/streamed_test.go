package method

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/cache"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/testing/long"
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
	if err := cache.Write(path, kept); err != nil {
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

// memories are sizes of memory to compare; the race detector has the one that takes the most steps.
func memories(little, much int64) []int64 {
	if testing.Short() {
		return []int64{little}
	}
	return []int64{little, much}
}

// Claim: the model of RankBoost, AdaRank, FRank and coordinate ascent of data that are read query by query has the bytes
// of the one of data in memory: with missing values, normalizations, transforms, views, weights of queries, every choice
// of their own, any number of workers and whatever memory there is. No file is left.
func TestColumnsStream(t *testing.T) {
	long.Test(t)
	clip, err := transform.ParseSpec("clip=1%:99%")
	if err != nil {
		t.Fatal(err)
	}
	none := func(*Problem) {}
	zscore := func(p *Problem) { p.Normalization = dataset.ZScore }
	minmax := func(p *Problem) { p.Normalization = dataset.MinMax }
	changed := func(p *Problem) {
		p.Transforms, p.Views = []transform.Spec{clip}, dataset.Views{dataset.RawView, dataset.RankView}
	}
	for name, c := range map[string]struct {
		method   string
		missing  dataset.Missing
		set      map[string]string
		weighted bool
		prepare  func(p *Problem)
	}{
		"plain":   {"rankboost", dataset.MissingZero, map[string]string{}, false, none},
		"zscore":  {"rankboost", dataset.MissingMin, map[string]string{"direction": "both"}, true, zscore},
		"cuts":    {"rankboost", dataset.MissingMin, map[string]string{"cuts": "7", "alpha": "exact"}, false, minmax},
		"changed": {"rankboost", dataset.MissingZero, map[string]string{"pairs": "uniform"}, false, changed},

		"adarank plain":   {"adarank", dataset.MissingZero, map[string]string{}, false, none},
		"adarank zscore":  {"adarank", dataset.MissingMin, map[string]string{"direction": "both", "stop": "paper"}, true, zscore},
		"adarank enqueue": {"adarank", dataset.MissingMin, map[string]string{"enqueue": "true", "stop": "ranklib"}, false, minmax},
		"adarank changed": {"adarank", dataset.MissingZero, map[string]string{"reweight": "cumulative", "rate": "1"}, true, changed},

		"frank plain":   {"frank", dataset.MissingZero, map[string]string{}, false, none},
		"frank zscore":  {"frank", dataset.MissingMin, map[string]string{"direction": "both", "alpha": "minimum"}, true, zscore},
		"frank cuts":    {"frank", dataset.MissingMin, map[string]string{"cuts": "7"}, false, minmax},
		"frank changed": {"frank", dataset.MissingZero, map[string]string{"pairs": "uniform"}, true, changed},

		"frank features": {"frank", dataset.MissingZero, map[string]string{"search": "features", "rounds": "4"}, true, zscore},
		"frank feature":  {"frank", dataset.MissingMin, map[string]string{"search": "features", "direction": "both", "cuts": "5", "rounds": "4"}, false, changed},
		"frank loss":     {"frank", dataset.MissingZero, map[string]string{"search": "loss", "cuts": "40", "rounds": "1"}, true, none},
		"frank few":      {"frank", dataset.MissingMin, map[string]string{"search": "loss", "cuts": "2", "alpha": "minimum", "rounds": "2"}, false, minmax},

		"coordascent exact":   {"coordascent", dataset.MissingMin, map[string]string{"search": "exact"}, true, zscore},
		"coordascent plain":   {"coordascent", dataset.MissingZero, map[string]string{}, false, none},
		"coordascent zscore":  {"coordascent", dataset.MissingMin, map[string]string{"keep": "sweep"}, true, zscore},
		"coordascent minmax":  {"coordascent", dataset.MissingMin, map[string]string{"keep": "training"}, false, minmax},
		"coordascent changed": {"coordascent", dataset.MissingZero, map[string]string{"keep": "start"}, true, changed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			streamed, whole := cachedWith(t, 1, c.missing, c.weighted)
			validStreamed, valid := cachedWith(t, 2, c.missing, c.weighted)
			switch {
			case c.method == "coordascent":
				c.set["sweeps"], c.set["restarts"] = "2", "1"
				if testing.Short() {
					c.set["sweeps"] = "1"
				}
			case c.set["rounds"] == "" && testing.Short():
				c.set["rounds"] = "10"
			case c.set["rounds"] == "":
				c.set["rounds"] = "40"
			}
			run := func(d, v *dataset.Dataset, maxBytes int64, workers int) []byte {
				p := &Problem{Data: d, Valid: v, Missing: c.missing, MaxBytes: maxBytes, Workers: workers, Values: valuesOf(t, c.method, c.set)}
				if c.method == "adarank" || c.method == "coordascent" {
					p.Measure = measure.MustParse("map", measure.LETOR3)
				}
				c.prepare(p)
				m, err := lookup(t, c.method).Train(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				var b bytes.Buffer
				if err := m.Write(&b); err != nil {
					t.Fatal(err)
				}
				return b.Bytes()
			}
			want := run(whole, valid, 0, 1)
			least := int64(500 << 10)
			if c.set["search"] == "exact" {
				least = 1 << 20
			}
			for _, workers := range crews() {
				for _, memory := range memories(least, 4<<20) {
					if !bytes.Equal(run(streamed, validStreamed, memory, workers), want) {
						t.Errorf("%d workers, %d bytes: another model of streamed data", workers, memory)
					}
				}
				if !bytes.Equal(run(streamed, valid, 1000<<10+least, workers), want) {
					t.Errorf("%d workers: another model of streamed data with validation data in memory", workers)
				}
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("%v, %v is left", left, err)
			}
		})
	}
}

// Claim: what cannot be done with streamed data is an error before they are read: too little memory, a measure on which
// all rankings are equal, more crossings than fit, and weak rankers whose losses take too long.
func TestColumnsStreamedRefused(t *testing.T) {
	streamed, _ := cached(t, 1, dataset.MissingZero)
	for name, c := range map[string]struct {
		method   string
		set      map[string]string
		relevant float64
		memory   int64
		want     string
	}{
		"memory":      {"adarank", nil, 1, 100 << 10, "raise the limit"},
		"no relevant": {"adarank", nil, 9, 1 << 20, "found no query on which map depends"},
		"FRank":       {"frank", nil, 1, 150 << 10, "raise the limit"},
		"features":    {"frank", map[string]string{"search": "features"}, 1, 150 << 10, "raise the limit"},
		"work":        {"frank", map[string]string{"search": "features", "largest_work": "1000"}, 1, 500 << 10, "largest_work"},
		"ascent":      {"coordascent", nil, 1, 150 << 10, "raise the limit"},
		"equal":       {"coordascent", nil, 9, 1 << 20, "found no query on which map depends"},
		"crossings":   {"coordascent", map[string]string{"search": "exact"}, 1, 250 << 10, "raise the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			told := ""
			p := &Problem{
				Data: streamed, Missing: dataset.MissingZero, MaxBytes: c.memory, Workers: 1, Values: valuesOf(t, c.method, c.set),
				Measure: measure.MustParse("map", measure.LETOR3.WithThreshold(c.relevant)), Note: func(sentence string) { told = sentence },
			}
			if _, err := lookup(t, c.method).Train(t.Context(), p); err == nil || !strings.Contains(err.Error(), c.want) || told != "" {
				t.Errorf("%v, %q; want an error with %q", err, told, c.want)
			}
		})
	}
}

// Claim: too little memory for RankBoost on streamed data is told before it begins.
func TestRankBoostStreamedRefused(t *testing.T) {
	streamed, _ := cached(t, 1, dataset.MissingZero)
	p := &Problem{Data: streamed, Missing: dataset.MissingZero, MaxBytes: 150 << 10, Workers: 1, Values: valuesOf(t, "rankboost", map[string]string{"rounds": "3"})}
	told := ""
	p.Note = func(sentence string) { told = sentence }
	if _, err := lookup(t, "rankboost").Train(t.Context(), p); err == nil || !strings.Contains(err.Error(), "raise the limit") || told != "" {
		t.Errorf("%v, %q; want an error about memory", err, told)
	}
	_, p.Valid = cached(t, 2, dataset.MissingZero)
	p.MaxBytes = 4*int64(len(p.Valid.X())) + 50<<10
	if _, err := lookup(t, "rankboost").Train(t.Context(), p); err == nil || !strings.Contains(err.Error(), "raise the limit") || told != "" {
		t.Errorf("%v, %q; want an error about memory beside the validation data", err, told)
	}
	p.MaxBytes = 4 << 20
	if _, err := lookup(t, "rankboost").Train(t.Context(), p); err != nil || !strings.Contains(told, "temporary file") {
		t.Errorf("%v, %q; want a note on the temporary file", err, told)
	}
}
