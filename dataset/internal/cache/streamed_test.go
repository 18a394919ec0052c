package cache

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
)

// someData returns queries of many lengths, so that pieces of the matrix begin and end within
// queries, some of them of several pieces.
func someData(t *testing.T, rng *rand.Rand, features int) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	for q := range 40 {
		docs := 1 + rng.IntN(60)
		if q == 7 {
			docs = 3*matrixPiece/4/features + 5
		}
		x, grades, ids := make([]float32, docs*features), make([]float64, docs), make([]string, docs)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		for i := range grades {
			grades[i], ids[i] = float64(rng.IntN(3)), fmt.Sprintf("d%d", i)
		}
		if err := b.Add(fmt.Sprintf("q%d", q), grades, x, ids); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// openStreamed opens a cache whose matrix stays in its file.
func openStreamed(t *testing.T, path string, opts dataset.Options) *dataset.Dataset {
	t.Helper()
	opts.Stream, opts.Unheld, opts.MaxBytes = true, true, 8<<20
	d, err := open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if !d.Streamed() || d.X() != nil {
		t.Fatal("the data set is not streamed")
	}
	return d
}

func open(path string, opts dataset.Options) (d *dataset.Dataset, err error) {
	err = input.With(path, opts, nil, func(in *input.Input) error {
		d, err = Read(in, opts)
		return err
	})
	return d, err
}

// sameRows compares the features of two data sets, query by query in an order.
func sameRows(t *testing.T, got, want *dataset.Dataset, order []int) {
	t.Helper()
	a, b := got.Reader(), want.Reader()
	for _, i := range order {
		if x, y := a.At(i), b.At(i); !slices.EqualFunc(x, y, func(v, w float32) bool { return math.Float32bits(v) == math.Float32bits(w) }) {
			t.Fatalf("query %d of %d has other features", i, len(order))
		}
	}
}

func inOrder(d *dataset.Dataset) []int {
	order := make([]int, len(d.Queries))
	for i := range order {
		order[i] = i
	}
	return order
}

// Claim: a streamed cache has the features, the description, the fingerprint and the queries'
// hashes of one in memory, in any order of reading, and so has everything made of it.
func TestStreamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "d.lwd")
	d := someData(t, rng, 40)
	if err := Write(path, d); err != nil {
		t.Fatal(err)
	}
	made := map[string]func(d *dataset.Dataset) *dataset.Dataset{
		"itself": func(d *dataset.Dataset) *dataset.Dataset { return d },
		"clone":  (*dataset.Dataset).Clone,
		"subset": func(d *dataset.Dataset) *dataset.Dataset { return d.Subset([]int{9, 7, 3}) },
		"documents": func(d *dataset.Dataset) *dataset.Dataset {
			return d.KeepDocs(func(q, i int) bool { return (q+i)%3 > 0 })
		},
		"features": func(d *dataset.Dataset) *dataset.Dataset { return d.KeepFeatures([]int{3, 0, 39}) },
		"wider":    func(d *dataset.Dataset) *dataset.Dataset { return d.Widen(43) },
		"zscore":   func(d *dataset.Dataset) *dataset.Dataset { return dataset.Normalize(d, dataset.ZScore) },
		"views": func(d *dataset.Dataset) *dataset.Dataset {
			return dataset.Normalize(d, dataset.MinMax).View(dataset.Views{dataset.ZScoreView, dataset.RankView})
		},
		"parts of parts": func(d *dataset.Dataset) *dataset.Dataset {
			return dataset.Normalize(d, dataset.MinMax).KeepDocs(func(_, i int) bool { return i%2 == 0 }).Subset([]int{8, 7, 1}).KeepFeatures([]int{5})
		},
	}
	for name, of := range made {
		t.Run(name, func(t *testing.T) {
			got, want := of(openStreamed(t, path, dataset.Options{})), of(d)
			if !got.Streamed() {
				t.Error("what was made is not streamed")
			}
			order := inOrder(want)
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			sameRows(t, got, want, order)
			sameRows(t, got, want, inOrder(want))
			if a, b := got.Fingerprint(), want.Fingerprint(); a != b {
				t.Errorf("fingerprint %s, want %s", a, b)
			}
			if !got.QuerySet().Equal(want.QuerySet()) || got.CommonQueries(want) != len(want.Queries) {
				t.Error("queries have other hashes")
			}
			if a, b := dataset.Describe(got, 1), dataset.Describe(want, 1); !reflect.DeepEqual(a, b) {
				t.Errorf("description %+v, want %+v", a, b)
			}
			if !reflect.DeepEqual(got.Summary(), want.Summary()) || !slices.Equal(got.Scales(), want.Scales()) {
				t.Error("features have other distributions")
			}
			if err := got.Changed(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Claim: missing values of a streamed cache are counted, kept, replaced or refused as of one in
// memory.
func TestStreamedMissing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	b := dataset.Blocks{Features: 30, IDs: []string{"a", "b"}, Counts: []int{20000, 30}}
	docs := 20030
	b.X, b.Grades = make([]float32, docs*30), make([]float64, docs)
	for i := range b.X {
		if b.X[i] = float32(rng.NormFloat64()); rng.IntN(50) == 0 {
			b.X[i] = float32(math.NaN())
			b.Missing++
		}
	}
	path := filepath.Join(t.TempDir(), "d.lwd")
	if err := Write(path, dataset.FromBlocks(b)); err != nil {
		t.Fatal(err)
	}
	for _, policy := range []dataset.Missing{dataset.MissingKeep, dataset.MissingZero, dataset.MissingMin} {
		whole, err := open(path, dataset.Options{Missing: policy})
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close() //nolint:errcheck // only read
		d := openStreamed(t, path, dataset.Options{Missing: policy})
		sameRows(t, d, whole, []int{1, 0})
		if d.Missing() != whole.Missing() || d.Filled() != whole.Filled() || !slices.Equal(d.Warnings, whole.Warnings) || d.Fingerprint() != whole.Fingerprint() {
			t.Errorf("%v: %d missing, %d filled, %q; want %d, %d, %q", policy, d.Missing(), d.Filled(), d.Warnings, whole.Missing(), whole.Filled(), whole.Warnings)
		}
	}
	_, err := open(path, dataset.Options{Stream: true, Unheld: true, MaxBytes: 8 << 20})
	if _, want := open(path, dataset.Options{}); err == nil || err.Error() != want.Error() {
		t.Errorf("refused with %v, want %v", err, want)
	}
}

// Claim: whichever byte of the matrix is damaged, whatever is read of it in whatever order, a query
// with the damage, or beside it in a piece, is not read.
func TestStreamedDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	path := filepath.Join(t.TempDir(), "d.lwd")
	d := someData(t, rng, 40)
	if err := Write(path, d); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin := len(good) - 4*len(d.X())
	for range 60 {
		at := begin + rng.IntN(len(good)-begin)
		bad := slices.Clone(good)
		bad[at] ^= 1 << rng.IntN(8)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		damaged := 0
		for (at-begin)/160 >= d.Queries[damaged].Start+d.Queries[damaged].Len() {
			damaged++
		}
		order := rng.Perm(len(d.Queries))
		order = order[:1+rng.IntN(len(order))]
		err := func() (err error) {
			defer dataset.GuardFaults(&err)()
			s := openStreamed(t, path, dataset.Options{})
			rows := s.Reader()
			for _, i := range order {
				rows.At(i)
			}
			return s.Changed()
		}()
		var syntax *dataset.SyntaxError
		if read := slices.Contains(order, damaged); read && !errors.As(err, &syntax) {
			t.Fatalf("byte %d damaged: %v", at, err)
		}
		if err != nil && !strings.Contains(err.Error(), "checksum") && !strings.Contains(err.Error(), "finite") {
			t.Fatalf("byte %d damaged: %v", at, err)
		}
	}
}

// Claim: a cache with a query that takes more than half of the memory is refused as too large before any of it is read, with
// the query's size; grades are read all the same.
func TestLongQueryRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.lwd")
	d := someData(t, rand.New(rand.NewPCG(7, 8)), 40)
	if err := Write(path, d); err != nil {
		t.Fatal(err)
	}
	longest := 0
	for i := range d.Queries {
		longest = max(longest, d.Queries[i].Len())
	}
	need := int64(2 * 4 * 40 * longest)
	for _, c := range []struct {
		opts    dataset.Options
		refused bool
	}{
		{dataset.Options{Stream: true, Unheld: true, MaxBytes: need}, false},
		{dataset.Options{Stream: true, Unheld: true, MaxBytes: need - 1}, true},
		{dataset.Options{Stream: true, GradesOnly: true, MaxBytes: need - 1}, false},
	} {
		s, err := open(path, c.opts)
		if c.refused != errors.Is(err, dataset.ErrTooLarge) || (err == nil) == c.refused || c.refused && !strings.Contains(err.Error(), fmt.Sprintf("a query of %d documents × 40 features", longest)) {
			t.Errorf("%+v: found %v, refused is to be %v", c.opts, err, c.refused)
		}
		if err == nil {
			_ = s.Close()
		}
	}
}
