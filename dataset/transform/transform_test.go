package transform_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
)

// drawStep draws a step that a model may have.
func drawStep(t *rapid.T) transform.Step {
	number := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.Float64Range(-3e38, 3e38), rapid.SampledFrom([]float64{0, 1, -1, 1e-30}))
	switch rapid.IntRange(0, 3).Draw(t, "step") {
	case 0:
		a, b := number.Draw(t, "low"), number.Draw(t, "high")
		return transform.Clip{Low: min(a, b), High: max(a, b)}
	case 1:
		return transform.Log1p{}
	case 2:
		deviation := math.Abs(number.Draw(t, "deviation"))
		if deviation < 1e-300 {
			deviation = 0 // New refuses what is between
		}
		return transform.Standard{Mean: number.Draw(t, "mean"), Deviation: deviation}
	}
	return transform.Fill{Value: number.Draw(t, "value")}
}

func drawChain(t *rapid.T) transform.Chain {
	return rapid.SliceOfN(rapid.Custom(drawStep), 0, 4).Draw(t, "chain")
}

var finite = rapid.OneOf(rapid.Float32Range(-20, 20), rapid.Float32(), rapid.SampledFrom([]float32{0, 1, -1, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32})).
	Filter(func(x float32) bool { return x-x == 0 })

// Finite stays finite, what is missing stays missing unless it is filled in, and of two
// numbers the larger one is never made the smaller one.
func TestStepsKeepFiniteAndOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChain(t)
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		x, y := finite.Draw(t, "x"), finite.Draw(t, "y")
		fx, fy := c.Apply(min(x, y)), c.Apply(max(x, y))
		if fx-fx != 0 || fy-fy != 0 {
			t.Fatalf("%v makes %v of %v, and %v of %v", c, fx, min(x, y), fy, max(x, y))
		}
		if fx > fy {
			t.Fatalf("%v makes %v of %v but %v of %v", c, fx, min(x, y), fy, max(x, y))
		}
		fills := slices.ContainsFunc(c, func(s transform.Step) bool { _, ok := s.(transform.Fill); return ok })
		if v := c.Apply(float32(math.NaN())); (v == v) != fills {
			t.Fatalf("%v makes %v of a missing value", c, v)
		}
	})
}

// The steps against their formulas in float64.
func TestFormulas(t *testing.T) {
	for _, c := range []struct {
		step transform.Step
		x    float32
		want float64
	}{
		{transform.Clip{Low: -1, High: 2}, 5, 2},
		{transform.Clip{Low: -1, High: 2}, -5, -1},
		{transform.Clip{Low: -1, High: 2}, 0.5, 0.5},
		{transform.Clip{Low: -transform.Unbounded, High: 2}, -5, -5},
		{transform.Log1p{}, 9, math.Log(10)},
		{transform.Log1p{}, -9, -math.Log(10)},
		{transform.Log1p{}, 0, 0},
		{transform.Standard{Mean: 3, Deviation: 2}, 4, 0.5},
		{transform.Standard{Mean: 3, Deviation: 0}, 4, 0},
		{transform.Standard{Mean: 0, Deviation: 1e-300}, 4, math.MaxFloat32},
		{transform.Fill{Value: 7}, 4, 4},
		{transform.Fill{Value: 7}, float32(math.NaN()), 7},
	} {
		if got := c.step.Apply(c.x); got != float32(c.want) {
			t.Errorf("%s %+v of %v is %v, expected %v", c.step.Name(), c.step, c.x, got, c.want)
		}
	}
}

// A chain is at most t exactly up to Largest.
func TestLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChain(t)
		at := float64(c.Apply(finite.Draw(t, "of")))
		if rapid.Bool().Draw(t, "elsewhere") {
			at = rapid.Float64Range(-1e39, 1e39).Draw(t, "t")
		}
		last, ok := c.Largest(at)
		x := finite.Draw(t, "x")
		if got, want := float64(c.Apply(x)) <= at, ok && x <= last; got != want {
			t.Fatalf("%v of %v is %v: at most %v is %v, but Largest is %v, %v", c, x, c.Apply(x), at, got, last, ok)
		}
	})
	if _, ok := (transform.Chain{}).Largest(math.NaN()); ok {
		t.Error("something is at most NaN")
	}
}

// Where Affine says so, the chain is slope·x + intercept; and where no value of the range
// is clipped or put on a logarithmic scale, Affine says so.
func TestAffine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.Float64Range(-10, 10)
		var c transform.Chain
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				a, b := small.Draw(t, "a"), small.Draw(t, "b")
				c = append(c, transform.Clip{Low: min(a, b), High: max(a, b)})
			case 1:
				c = append(c, transform.Log1p{})
			case 2:
				c = append(c, transform.Standard{Mean: small.Draw(t, "mean"), Deviation: rapid.SampledFrom([]float64{0, 0.5, 1, 3}).Draw(t, "deviation")})
			case 3:
				c = append(c, transform.Fill{Value: 1})
			}
		}
		a, b := small.Draw(t, "from"), small.Draw(t, "to")
		low, high := min(a, b), max(a, b)
		slope, intercept, ok := c.Affine(low, high)
		x := float32(rapid.Float64Range(low, high).Draw(t, "x"))
		if !ok || float64(x) < low || float64(x) > high {
			return
		}
		if got, want := float64(c.Apply(x)), slope*float64(x)+intercept; math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
			t.Fatalf("%v of %v is %v, but %v·x + %v is %v", c, x, got, slope, intercept, want)
		}
	})
	for _, c := range []struct {
		chain transform.Chain
		ok    bool
	}{
		{nil, true},
		{transform.Chain{transform.Standard{Mean: 5, Deviation: 2}, transform.Fill{Value: 3}}, true},
		{transform.Chain{transform.Clip{Low: -100, High: 100}}, false},
		{transform.Chain{transform.Log1p{}}, false},
		{transform.Chain{transform.Standard{Mean: 5}, transform.Log1p{}}, true}, // a constant
	} {
		if _, _, ok := c.chain.Affine(math.Inf(-1), math.Inf(1)); ok != c.ok {
			t.Errorf("Affine of %v everywhere is %v, expected %v", c.chain, ok, c.ok)
		}
	}
}

func TestCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, s := range []transform.Step{
		nil, transform.Clip{Low: 2, High: 1}, transform.Clip{Low: nan, High: 1}, transform.Clip{Low: 0, High: inf}, transform.Clip{Low: -inf, High: 0},
		transform.Standard{Mean: nan, Deviation: 1}, transform.Standard{Deviation: nan}, transform.Standard{Deviation: -1}, transform.Standard{Deviation: inf},
		transform.Standard{Deviation: 5e-324}, transform.Standard{Mean: 1e300, Deviation: 1}, transform.Fill{Value: nan}, transform.Fill{Value: 1e39},
	} {
		if _, err := transform.New(map[int]transform.Chain{2: {s}}); err == nil || !strings.Contains(err.Error(), "feature 3: step 1") {
			t.Errorf("%#v: %v", s, err)
		}
	}
	if _, err := transform.New(map[int]transform.Chain{0: make(transform.Chain, transform.MaxSteps+1)}); err == nil {
		t.Error("too many steps were accepted")
	}
	if _, err := transform.New(map[int]transform.Chain{-1: {transform.Log1p{}}}); err == nil {
		t.Error("feature -1 was accepted")
	}
	if p, err := transform.New(map[int]transform.Chain{3: nil}); p != nil || err != nil {
		t.Errorf("no steps are %v, %v", p, err)
	}
}

// Apply is every feature's chain, one by one; ApplyFrom is so from a feature on.
func TestPipelineApplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chains := rapid.MapOfN(rapid.IntRange(0, 5), rapid.Custom(drawChain), 0, 4).Draw(t, "chains")
		p, err := transform.New(chains)
		if err != nil {
			t.Fatal(err)
		}
		features, from := rapid.IntRange(1, 6).Draw(t, "features"), rapid.IntRange(0, 6).Draw(t, "from")
		x := rapid.SliceOfN(finite, 2*features, 2*features).Draw(t, "x")
		got, part := slices.Clone(x), slices.Clone(x[:features])
		p.Apply(got, features)
		p.ApplyFrom(part, from)
		for i, v := range x {
			want := chains[i%features].Apply(v)
			if got[i] != want {
				t.Fatalf("value %d of %v became %v, expected %v", i, x, got[i], want)
			}
			if i < features && i < from {
				want = v
			}
			if i < features && part[i] != want {
				t.Fatalf("from %d, value %d of %v became %v, expected %v", from, i, x, part[i], want)
			}
		}
		for j := range 7 {
			if !slices.Equal(p.Chain(j), chains[j]) {
				t.Fatalf("feature %d has %v, expected %v", j, p.Chain(j), chains[j])
			}
		}
		again, _ := transform.New(chains)
		if !p.Equal(again) || p != nil && p.Equal(nil) {
			t.Fatal("not equal to itself, or equal to nothing")
		}
	})
}

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

func TestParseSpec(t *testing.T) {
	for text, want := range map[string]string{
		"log1p":                  "log1p",
		"log1p:a,b":              "log1p:a,b",
		"log1p: a , b":           "log1p:a,b",
		"log1p:a:b":              "log1p:a:b", // a name with a colon
		"clip=0%:99%":            "clip=0%:99%",
		"clip=:1e3":              "clip=:1000",
		"clip=-1:":               "clip=-1:",
		"clip=0.5%:99.5%:x,3..7": "clip=0.5%:99.5%:x,3..7",
		"standard:1":             "standard:1",
		"fill=mean":              "fill=mean",
		"fill=median:a":          "fill=median:a",
		"fill=-1.5":              "fill=-1.5",
	} {
		s, err := transform.ParseSpec(text)
		if err != nil || s.String() != want {
			t.Errorf("%s: %s, %v, expected %s", text, s, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                 "expected clip, log1p, standard or fill",
		"log":              `did you mean "log1p"?`,
		"standart":         `did you mean "standard"?`,
		"log1p=2":          "expected no setting",
		"log1p:":           "expected names or numbers",
		"log1p:a,,b":       "expected names or numbers",
		"clip":             "expected =LOW:HIGH",
		"clip=3":           "expected =LOW:HIGH",
		"clip=:":           "expected at least one",
		"clip=2:1":         "expected the lower one first",
		"clip=99%:1%":      "expected the lower one first",
		"clip=-1%:5%":      "expected a number or a quantile",
		"clip=0:101%":      "expected a number or a quantile",
		"clip=nan:1":       "expected a number or a quantile",
		"clip=0:inf":       "expected a number or a quantile",
		"clip=0:1e39":      "expected a number or a quantile",
		"fill":             "expected =mean, =median or a number",
		"fill=mode":        "expected =mean, =median or a number",
		"fill=nan":         "expected =mean, =median or a number",
		"clip=a:b:c":       "expected a number or a quantile",
		"standard=mean":    "expected no setting",
		"Standard:price,x": `did you mean "standard"?`,
	} {
		if s, err := transform.ParseSpec(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, expected %s", text, s, err, want)
		}
	}
}

// Whatever is read as a step is written as a text that is read as the same step.
func FuzzParseSpec(f *testing.F) {
	for _, text := range []string{"log1p", "clip=0%:99%:a,b", "clip=:5:3..4", "standard:x", "fill=median", "fill=2e3:y", "clip=1:2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := transform.ParseSpec(text)
		if err != nil {
			return
		}
		again, err := transform.ParseSpec(s.String())
		if err != nil || again.String() != s.String() {
			t.Fatalf("%q is read as %q, and that as %q, %v", text, s, again, err)
		}
	})
}
