package dataset_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

func drawMatrix(t *rapid.T) (x []float32, features int) {
	features = rapid.IntRange(1, 4).Draw(t, "features")
	rows := rapid.IntRange(1, 12).Draw(t, "rows")
	value := rapid.OneOf(rapid.Float32Range(-10, 10), rapid.Float32Range(-3e38, 3e38), rapid.SampledFrom([]float32{0, 1, 7}))
	return rapid.SliceOfN(value, rows*features, rows*features).Draw(t, "x"), features
}

func column(x []float32, features, j int) []float64 {
	var c []float64
	for i := j; i < len(x); i += features {
		c = append(c, float64(x[i]))
	}
	return c
}

// (x−min)/(max−min) and (x−mean)/sd, column by column as written.
func TestNormalizationFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, features := drawMatrix(t)
		lo, z, same := slices.Clone(x), slices.Clone(x), slices.Clone(x)
		dataset.MinMax.Apply(lo, features)
		dataset.ZScore.Apply(z, features)
		dataset.NoNormalization.Apply(same, features)
		if !slices.Equal(same, x) {
			t.Fatal("none changed something")
		}
		for j := range features {
			c := column(x, features, j)
			low, high := slices.Min(c), slices.Max(c)
			n, sum := float64(len(c)), 0.0
			for _, v := range c {
				sum += v
			}
			mean, square := sum/n, 0.0
			for _, v := range c {
				square += (v - mean) * (v - mean) / n
			}
			for i, v := range c {
				wantLo, wantZ := 0.0, 0.0
				if high > low {
					wantLo = (v - low) / (high - low)
					wantZ = (v - mean) / math.Sqrt(square)
				}
				if got := float64(lo[i*features+j]); math.Abs(got-wantLo) > 1e-6 {
					t.Fatalf("minmax of %v in %v: %v, expected %v", v, c, got, wantLo)
				}
				if got := float64(z[i*features+j]); math.Abs(got-wantZ) > 1e-5*(1+math.Abs(wantZ)) {
					t.Fatalf("zscore of %v in %v: %v, expected %v", v, c, got, wantZ)
				}
			}
		}
	})
}

func TestMinMaxIsIdempotentToTheBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, features := drawMatrix(t)
		dataset.MinMax.Apply(x, features)
		again := slices.Clone(x)
		dataset.MinMax.Apply(again, features)
		if !slices.Equal(x, again) {
			t.Fatalf("once %v\ntwice %v", x, again)
		}
	})
}

func TestZScoreGivesMeanZeroAndDeviationOne(t *testing.T) {
	x := []float32{1, 5, 2, 5, 3, 5, 10, 5}
	dataset.ZScore.Apply(x, 2)
	var sum, square float64
	for _, v := range column(x, 2, 0) {
		sum += v
		square += v * v
	}
	if math.Abs(sum) > 1e-6 || math.Abs(square/4-1) > 1e-6 {
		t.Errorf("sum %v, mean square %v, expected 0 and 1", sum, square/4)
	}
	if c := column(x, 2, 1); slices.Max(c) != 0 || slices.Min(c) != 0 {
		t.Errorf("constant feature became %v, expected 0", c)
	}
}

func TestNormalizeLeavesItsArgumentAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		d.SetInputRows(rapid.Permutation(indices(d.Docs())).Draw(t, "inputRow"))
		before := datatest.Documents(d)
		n := dataset.Normalize(d, dataset.MinMax)
		if !slices.Equal(datatest.Documents(d), before) {
			t.Fatal("the argument changed")
		}
		checkLayout(t, n)
		if !slices.Equal(n.InputRows(), d.InputRows()) {
			t.Fatal("the input order was lost")
		}
		dataset.NormalizeInPlace(d, dataset.MinMax)
		if !slices.Equal(datatest.Documents(d), datatest.Documents(n)) {
			t.Fatal("in place differs from the copy")
		}
		for i := range d.Queries {
			one := slices.Clone(d.Queries[i].X)
			dataset.MinMax.Apply(one, d.Features)
			if !slices.Equal(one, n.Queries[i].X) {
				t.Fatal("a query's result depends on other queries")
			}
		}
	})
}

func TestNormalizationNames(t *testing.T) {
	for _, n := range []dataset.Normalization{dataset.NoNormalization, dataset.MinMax, dataset.ZScore} {
		text, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		var back dataset.Normalization
		if err := json.Unmarshal(text, &back); err != nil || back != n {
			t.Errorf("%s read back as %v, %v", text, back, err)
		}
	}
	if _, err := dataset.ParseNormalization("l2"); err == nil {
		t.Error("l2 was accepted")
	}
	if err := new(dataset.Normalization).UnmarshalText([]byte("")); err == nil {
		t.Error("an empty name was accepted")
	}
}

// Claim: a column's mean and deviation are of sums in the order of the rows, whatever their number.
func TestZScoreAddsInTheOrderOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs, features := rapid.IntRange(1, 13).Draw(t, "docs"), rapid.IntRange(1, 5).Draw(t, "features")
		x := rapid.SliceOfN(rapid.Float32Range(-1e6, 1e6), docs*features, docs*features).Draw(t, "x")
		got := slices.Clone(x)
		dataset.ZScore.Apply(got, features)
		for j := range features {
			mean, square := 0.0, 0.0
			for i := range docs {
				mean += float64(x[i*features+j])
			}
			mean /= float64(docs)
			for i := range docs {
				d := float64(x[i*features+j]) - mean
				square += float64(d * d)
			}
			deviation := math.Sqrt(square / float64(docs))
			for i := range docs {
				want := float32(0)
				if deviation > 0 {
					want = float32((float64(x[i*features+j]) - mean) / deviation)
				}
				if v := got[i*features+j]; v != want {
					t.Fatalf("document %d, feature %d is %v, want %v", i, j, v, want)
				}
			}
		}
	})
}
