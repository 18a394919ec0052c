package transform_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
)

// naive are the statistics of a feature by sorting.
func naive(d *dataset.Dataset, feature int) (sorted []float64, mean, deviation float64) {
	for i := range d.Queries {
		for k := range d.Queries[i].Len() {
			if v := float64(d.Queries[i].Row(k)[feature]); v == v {
				sorted = append(sorted, v)
			}
		}
	}
	slices.Sort(sorted)
	for _, v := range sorted {
		mean += v / float64(len(sorted))
	}
	for _, v := range sorted {
		deviation += (v - mean) * (v - mean) / float64(len(sorted))
	}
	return sorted, mean, math.Sqrt(deviation)
}

func parse(t rapid.TB, texts ...string) []transform.Spec {
	t.Helper()
	var specs []transform.Spec
	for _, text := range texts {
		s, err := transform.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, s)
	}
	return specs
}

// drawData draws data with missing values, constant features and extremes.
func drawData(t *rapid.T) *dataset.Dataset {
	features := rapid.IntRange(1, 4).Draw(t, "features")
	blocks := dataset.Blocks{Features: features}
	for i := range rapid.IntRange(1, 4).Draw(t, "queries") {
		n := rapid.IntRange(1, 6).Draw(t, "docs")
		blocks.IDs, blocks.Counts = append(blocks.IDs, string(rune('a'+i))), append(blocks.Counts, n)
		blocks.Grades = append(blocks.Grades, make([]float64, n)...)
		blocks.X = append(blocks.X, rapid.SliceOfN(rapid.OneOf(rapid.Float32Range(-100, 100), rapid.SampledFrom([]float32{0, 1, 1, -5, float32(math.NaN())})), n*features, n*features).Draw(t, "x")...)
	}
	for _, v := range blocks.X {
		if v != v {
			blocks.Missing++
		}
	}
	return dataset.FromBlocks(blocks)
}

// What is learned, against sorting and summing.
func TestLearnedNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawData(t)
		p, err := transform.Learn(parse(t, "clip=10%:75%", "standard"), d)
		if err != nil {
			t.Fatal(err)
		}
		only, err := transform.Learn(parse(t, "standard"), d)
		if err != nil {
			t.Fatal(err)
		}
		fill, err := transform.Learn(parse(t, "fill=median", "fill=mean"), d)
		if err != nil {
			t.Fatal(err)
		}
		for j := range d.Features {
			sorted, mean, deviation := naive(d, j)
			s := only.Chain(j)[0].(transform.Standard)
			if math.Abs(s.Mean-mean) > 1e-9 || math.Abs(s.Deviation-deviation) > 1e-9*(1+deviation) {
				t.Fatalf("feature %d: %+v, expected mean %v and deviation %v", j, s, mean, deviation)
			}
			c := p.Chain(j)[0].(transform.Clip)
			filled := fill.Chain(j)[0].(transform.Fill)
			if len(sorted) == 0 {
				if c != (transform.Clip{Low: -transform.Unbounded, High: transform.Unbounded}) || filled.Value != 0 {
					t.Fatalf("a feature without values: %+v, %+v", c, filled)
				}
				continue
			}
			quantile := func(q float64) float64 {
				at := q * float64(len(sorted)-1)
				i := int(at)
				return sorted[i] + (at-float64(i))*(sorted[min(i+1, len(sorted)-1)]-sorted[i])
			}
			if math.Abs(c.Low-quantile(0.1)) > 1e-9 || math.Abs(c.High-quantile(0.75)) > 1e-9 || math.Abs(filled.Value-quantile(0.5)) > 1e-9 {
				t.Fatalf("feature %d of %v: %+v and %+v, expected quantiles %v, %v, %v", j, sorted, c, filled, quantile(0.1), quantile(0.75), quantile(0.5))
			}
			if sorted[0] == sorted[len(sorted)-1] && s.Deviation != 0 {
				t.Fatalf("a constant feature has the deviation %v", s.Deviation)
			}
		}
	})
}

// Learning two steps at once is learning the second one from what the first one left.
func TestLearningComposes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawData(t)
		specs := parse(t, rapid.SliceOfN(rapid.SampledFrom([]string{"log1p", "standard", "clip=5%:95%", "clip=-1:40", "fill=mean", "fill=median"}), 1, 4).Draw(t, "specs")...)
		at := rapid.IntRange(0, len(specs)).Draw(t, "at")
		whole, err := transform.Learn(specs, d)
		if err != nil {
			t.Fatal(err)
		}
		first, err := transform.Learn(specs[:at], d)
		if err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(d.X())
		between := d.Clone()
		between.Change(func(x []float32) { first.Apply(x, d.Features) })
		second, err := transform.Learn(specs[at:], between)
		if err != nil {
			t.Fatal(err)
		}
		between.Change(func(x []float32) { second.Apply(x, d.Features) })
		all := d.Clone()
		all.Change(func(x []float32) { whole.Apply(x, d.Features) })
		if !same(all.X(), between.X()) {
			t.Fatalf("%v at once: %v\none after the other: %v", transform.Texts(specs), all.X(), between.X())
		}
		if !same(d.X(), before) {
			t.Fatal("learning changed the data")
		}
	})
}

// same compares bits, but takes all NaNs for one.
func same(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
	})
}

func TestLearnForSomeFeatures(t *testing.T) {
	d := dataset.FromBlocks(dataset.Blocks{
		Features: 4, FeatureNames: []string{"price", "2", "clicks", "age"},
		X: []float32{1, 2, 3, 4, 5, 6, 7, 8}, Grades: []float64{0, 1}, IDs: []string{"q"}, Counts: []int{2},
	})
	p, err := transform.Learn(parse(t, "log1p:clicks,price", "clip=0:5:2..4", "fill=0:2"), d)
	if err != nil {
		t.Fatal(err)
	}
	clip := transform.Clip{Low: 0, High: 5}
	for j, want := range []transform.Chain{{transform.Log1p{}}, {clip, transform.Fill{}}, {transform.Log1p{}, clip}, {clip}} {
		if !slices.Equal(p.Chain(j), want) {
			t.Errorf("feature %d has %v, expected %v", j+1, p.Chain(j), want)
		}
	}
	if p.Fills(4) || !slices.Equal(p.Features(), []int{0, 1, 2, 3}) {
		t.Error("the pipeline is another one")
	}
	for text, want := range map[string]string{
		"log1p:prise":     `did you mean "price"?`,
		"log1p:5":         "expected one of the data's names or a number from 1 to 4",
		"log1p:0":         "expected one of",
		"log1p:3..2":      "expected one of",
		"log1p:age,3..4":  "found feature 4 twice",
		"clip=0:1:length": "transform clip=0:1:length: found no feature",
	} {
		if _, err := transform.Learn(parse(t, text), d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
	d.FeatureNames = nil
	if _, err := transform.Learn(parse(t, "log1p:price"), d); err == nil || !strings.Contains(err.Error(), "the data have no names") {
		t.Errorf("data without names: %v", err)
	}
	if _, err := transform.Learn(make([]transform.Spec, transform.MaxSteps+1), d); err == nil {
		t.Error("too many specs were accepted")
	}
}

// Claim: what is learned of streamed data is what is learned of the same in memory, however few features are read at
// once; where nothing is to be learned from values, none are read.
func TestLearnWithinAnyMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawData(t)
		read := 0
		streamed := d.Through(dataset.Lens{Features: d.Features, Append: func(dst, x []float32) []float32 {
			read++
			return append(dst, x...)
		}})
		if _, err := transform.LearnWithin(parse(t, "log1p"), streamed, 1); err != nil || read > 0 {
			t.Fatalf("%v, and %d queries were read for a step without numbers", err, read)
		}
		specs := parse(t, "clip=10%:75%", "standard")
		want, err := transform.Learn(specs, d)
		if err != nil {
			t.Fatal(err)
		}
		memory := rapid.Int64Range(1, int64(4*d.Docs()*d.Features+1)).Draw(t, "memory")
		got, err := transform.LearnWithin(specs, streamed, memory)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("found %v with %d bytes, want %v", got, memory, want)
		}
	})
}
