package method

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/cache"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/input"
)

// cached writes queries, some of whose values are missing, to a cache and returns them as they are read query by query,
// and as they are in memory.
func cached(t *testing.T, seed uint64, missing dataset.Missing) (streamed, whole *dataset.Dataset) {
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
	}
	kept, err := dataset.FromRows(r, dataset.MissingKeep)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "d.lwd")
	if err := cache.Write(path, kept); err != nil {
		t.Fatal(err)
	}
	read := func(opts dataset.Options) (d *dataset.Dataset) {
		opts.Missing = missing
		err := input.With(path, opts, nil, func(in *input.Input) (err error) {
			d, err = cache.Read(in, opts)
			return err
		})
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

func rankBoostValues(t *testing.T, set map[string]string) Values {
	t.Helper()
	return valuesOf(t, "rankboost", set)
}

func valuesOf(t *testing.T, method string, set map[string]string) Values {
	t.Helper()
	v, err := lookup(t, method).Values(set)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Claim: RankBoost's model of data that are read query by query has the bytes of the one of data in memory: with
// missing values, normalizations, transforms, views, every choice of its own, any number of workers and
// whatever memory there is.
func TestRankBoostStreams(t *testing.T) {
	clip, err := transform.ParseSpec("clip=1%:99%")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		missing dataset.Missing
		set     map[string]string
		prepare func(p *Problem)
	}{
		"plain":  {dataset.MissingZero, map[string]string{"rounds": "40"}, func(*Problem) {}},
		"zscore": {dataset.MissingMin, map[string]string{"rounds": "40", "direction": "both"}, func(p *Problem) { p.Normalization = dataset.ZScore }},
		"cuts":   {dataset.MissingMin, map[string]string{"rounds": "40", "cuts": "7", "alpha": "exact"}, func(p *Problem) { p.Normalization = dataset.MinMax }},
		"changed": {dataset.MissingZero, map[string]string{"rounds": "40", "pairs": "uniform"}, func(p *Problem) {
			p.Transforms, p.Views = []transform.Spec{clip}, dataset.Views{dataset.RawView, dataset.RankView}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			streamed, whole := cached(t, 1, c.missing)
			validStreamed, valid := cached(t, 2, c.missing)
			run := func(d, v *dataset.Dataset, maxBytes int64, workers int) []byte {
				p := &Problem{Data: d, Valid: v, Missing: c.missing, MaxBytes: maxBytes, Workers: workers, Values: rankBoostValues(t, c.set)}
				c.prepare(p)
				m, err := lookup(t, "rankboost").Train(t.Context(), p)
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
			for _, workers := range []int{1, 3} {
				for _, memory := range []int64{500 << 10, 4 << 20} {
					if !bytes.Equal(run(streamed, validStreamed, memory, workers), want) {
						t.Errorf("%d workers, %d bytes: another model of streamed data", workers, memory)
					}
				}
				if !bytes.Equal(run(streamed, valid, 1500<<10, workers), want) {
					t.Errorf("%d workers: another model of streamed data with validation data in memory", workers)
				}
			}
		})
	}
}

// Claim: too little memory for RankBoost on streamed data is told before it begins.
func TestRankBoostStreamedRefused(t *testing.T) {
	streamed, _ := cached(t, 1, dataset.MissingZero)
	p := &Problem{Data: streamed, Missing: dataset.MissingZero, MaxBytes: 150 << 10, Workers: 1, Values: rankBoostValues(t, map[string]string{"rounds": "3"})}
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
