package slicing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
)

// built returns a data set of queries with so many documents, of which some are relevant, and with one
// feature that is the same in all documents of a query.
func built(t testing.TB, lengths, relevant []int, feature []float32) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	for i, n := range lengths {
		grades, x := make([]float64, n), make([]float32, n)
		for j := range n {
			if j < relevant[i] {
				grades[j] = 1
			}
			x[j] = feature[i]
		}
		if err := b.Add(strconv.Itoa(i+1), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

func divide(t testing.TB, text string, sets ...*dataset.Dataset) *Division {
	t.Helper()
	keys, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := keys[0].Divide(sets, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// names returns the slices as "NAME: QUERIES".
func names(d *Division) []string {
	var all []string
	for _, s := range d.Slices {
		all = append(all, fmt.Sprint(s.Name, ": ", s.Queries))
	}
	return all
}

func wantSlices(t *testing.T, d *Division, want ...string) {
	t.Helper()
	if got := names(d); !slices.Equal(got, want) {
		t.Errorf("by %s:\n%s\nwant\n%s", d.By, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Claim: the slices of numbers of documents have the bounds 0, 1, 2, 5, 10, 20, 50, …, each number
// is in the slice whose name has it between its bounds, and sets are counted one after the other.
func TestCounts(t *testing.T) {
	for n := range 3000 {
		high := upTo(n)
		low := lowest(high)
		if n < low || n > high {
			t.Fatalf("%d is in the slice %d to %d", n, low, high)
		}
		if n > 0 && upTo(low-1) >= low {
			t.Fatalf("the slice %d to %d overlaps that of %d", low, high, low-1)
		}
	}
	a := built(t, []int{1, 10, 11}, []int{0, 6, 1}, make([]float32, 3))
	b := built(t, []int{2, 6}, []int{2, 0}, make([]float32, 2))
	wantSlices(t, divide(t, "length", a, b), "1: [0]", "2: [3]", "6 to 10: [1 4]", "11 to 20: [2]")
	wantSlices(t, divide(t, "relevant", a, b), "0: [0 4]", "1: [2]", "2: [3]", "6 to 10: [1]")
	keys, _ := Parse("relevant")
	d, err := keys[0].Divide([]*dataset.Dataset{a, b}, 2)
	if err != nil {
		t.Fatal(err)
	}
	wantSlices(t, d, "0: [0 1 2 3 4]")
}

// Claim: a feature that a query's documents share is a key, by number or name; one that they do not
// share is an error that says where, and what differs; so is one that is not there. Features that are
// not in memory are keys as well.
func TestFeatures(t *testing.T) {
	nan := float32(math.NaN())
	d := built(t, []int{1, 2, 1}, []int{0, 0, 0}, []float32{2.5, 0.1, -3})
	wantSlices(t, divide(t, "1", d), "-3: [2]", "0.1: [1]", "2.5: [0]")
	streamed := d.Through(dataset.Lens{Features: 1, Append: func(dst, x []float32) []float32 { return append(dst, x...) }})
	wantSlices(t, divide(t, "1", streamed), "-3: [2]", "0.1: [1]", "2.5: [0]")
	d.FeatureNames = []string{"age"}
	wantSlices(t, divide(t, "age", d), "-3: [2]", "0.1: [1]", "2.5: [0]")
	d.X()[0] = nan
	wantSlices(t, divide(t, "age", d), "-3: [2]", "0.1: [1]", "(no value): [0]")
	d.X()[2] = 7
	for _, c := range []struct{ key, want string }{
		{"age", `found 7 as feature age of document 3 of the data, of query "2", expected 0.1, as of document 2`},
		{"1", `found no column or feature "1" in the data, expected length, relevant, the name of a feature, or 1=FILE`},
	} {
		keys, _ := Parse(c.key)
		if _, err := keys[0].Divide([]*dataset.Dataset{d}, 1); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.key, err, c.want)
		}
	}
}

// Claim: up to Most values get a slice each; of more, the most frequent do and the rest are one, which
// the note says; numbers become four slices of about as many queries, cut between different numbers.
func TestManyValues(t *testing.T) {
	var labels []string
	for v := range 30 {
		labels = append(labels, slices.Repeat([]string{fmt.Sprintf("v%02d", v)}, 1+v%3)...)
	}
	d := group("brand", labels)
	if len(d.Slices) != Most || d.Slices[Most-1].Name != others || !strings.Contains(d.Note, "30 values; the 19 of the most queries have a slice each, (others) is the other 11") {
		t.Errorf("slices %v, note %q", names(d), d.Note)
	}
	least := math.MaxInt
	for _, s := range d.Slices[:Most-1] {
		least = min(least, len(s.Queries))
	}
	for _, q := range d.Slices[Most-1].Queries {
		if n := strings.Count(strings.Join(labels, " "), labels[q]); n > least {
			t.Errorf("%s of %d queries is among the others, a value of %d has a slice", labels[q], n, least)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.IntRange(0, 60), 30, 80).Draw(t, "numbers")
		for i := range Most + 1 {
			numbers[i] = i // more than Most
		}
		var labels []string
		for _, n := range numbers {
			labels = append(labels, strconv.Itoa(n))
		}
		d := group("age", labels)
		seen, before := 0, -1
		for _, s := range d.Slices {
			seen += len(s.Queries)
			least, most := math.MaxInt, -1
			for _, q := range s.Queries {
				least, most = min(least, numbers[q]), max(most, numbers[q])
			}
			if least <= before || s.Name != strconv.Itoa(least) && s.Name != fmt.Sprintf("%d to %d", least, most) {
				t.Fatalf("slice %q has the numbers %d to %d, behind %d", s.Name, least, most, before)
			}
			before = most
		}
		if seen != len(numbers) || len(d.Slices) > 4 || d.Note == "" {
			t.Fatalf("slices %v of %d queries", names(d), len(numbers))
		}
	})
}

// Claim: every query is in exactly one slice, so that the slices' means, weighted by the weights of
// their queries that count, add up to the mean over all.
func TestMeansAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 120).Draw(t, "queries")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		kinds := rapid.IntRange(1, 40).Draw(t, "values")
		prefix := rapid.SampledFrom([]string{"", "v"}).Draw(t, "prefix")
		labels, values := make([]string, n), make([]float64, n)
		var weights []float64
		for q := range n {
			if v := rng.IntN(kinds); v > 0 {
				labels[q] = prefix + strconv.Itoa(v)
			}
			if values[q] = rng.Float64(); rng.IntN(10) == 0 {
				values[q] = math.NaN()
			}
		}
		if rapid.Bool().Draw(t, "weighted") {
			for range n {
				weights = append(weights, 0.1+rng.Float64())
			}
		}
		d := group("by", labels)
		seen := make([]int, n)
		var sum, total float64
		for i := range d.Slices {
			s := &d.Slices[i]
			m, err := s.Of(values, weights, stats.Config{Resamples: 10})
			if err != nil {
				t.Fatal(err)
			}
			weight := 0.0
			for _, q := range s.Queries {
				seen[q]++
				if values[q] == values[q] {
					w := 1.0
					if weights != nil {
						w = weights[q]
					}
					weight += w
				}
				if s.None != (labels[q] == "") {
					t.Fatalf("query %d of %q is in slice %q", q, labels[q], s.Name)
				}
			}
			if m.Counted > 0 {
				sum += weight * m.Mean
			}
			total += weight
		}
		for q, times := range seen {
			if times != 1 {
				t.Fatalf("query %d is in %d slices", q, times)
			}
		}
		if want := measure.WeightedMean(values, weights); total > 0 && math.Abs(sum/total-want) > 1e-12 {
			t.Fatalf("the slices' means add up to %v, the mean is %v", sum/total, want)
		}
	})
}

// Claim: what is said of a slice is what stats says of its queries alone, with weights; Holm's
// correction is over all pairs and slices.
func TestCompareIsOfTheQueriesAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 60
	labels, values, weights := make([]string, n), [][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}, make([]float64, n)
	for q := range n {
		labels[q], weights[q] = strconv.Itoa(q%3), 1+rng.Float64()
		for i := range values {
			values[i][q] = rng.Float64() + 0.1*float64(i)
		}
	}
	labels[7] = "alone"
	config := stats.Config{Baseline: 1, Permutations: 500, Resamples: 200, Seed: 3}
	runs := [][][]float64{values[:1], values[1:2], values[2:]}
	got, err := Compare(runs, weights, []*Division{group("by", labels)}, config)
	if err != nil {
		t.Fatal(err)
	}
	var p, holm []float64
	for _, c := range got {
		own, w := make([][]float64, 3), []float64(nil)
		for q, label := range labels {
			if label == c.Slice {
				w = append(w, weights[q])
				for i := range own {
					own[i] = append(own[i], values[i][q])
				}
			}
		}
		if c.Queries != len(w) || len(c.Means) != 3 {
			t.Fatalf("slice %s: %+v", c.Slice, c)
		}
		if len(w) == 1 {
			if c.Comparison != nil || c.Means[2].Known || c.Means[2].Mean != own[2][0] {
				t.Errorf("a slice of one query: %+v", c)
			}
			continue
		}
		with := config
		with.Weights = w
		want, err := stats.Compare(own, with)
		if err != nil {
			t.Fatal(err)
		}
		for i, pair := range want.Pairs {
			have := c.Pairs[i]
			if have.Difference != pair.Difference || have.Interval != pair.Interval || have.Randomization.P != pair.Randomization.P || have.T.P != pair.T.P || !math.IsNaN(have.Randomization.MaxT) {
				t.Errorf("slice %s, pair %d: %+v, want %+v", c.Slice, i, have, pair)
			}
			p, holm = append(p, have.Randomization.P), append(holm, have.Randomization.Holm)
		}
		for i, s := range want.Systems {
			if c.Means[i].Mean != s.Mean || c.Means[i].Interval != s.Interval {
				t.Errorf("slice %s, system %d: %+v, want %+v", c.Slice, i, c.Means[i], s)
			}
			d := group("by", labels)
			k := slices.IndexFunc(d.Slices, func(of Slice) bool { return of.Name == c.Slice })
			alone, err := d.Slices[k].Of(values[i], weights, config)
			if err != nil || alone.Interval != s.Interval || math.Abs(alone.Mean-s.Mean) > 1e-15 {
				t.Errorf("slice %s, system %d: %+v alone, want %+v (%v)", c.Slice, i, alone, s, err)
			}
		}
	}
	if want := stats.Holm(p); !reflect.DeepEqual(holm, want) || len(p) != 6 {
		t.Errorf("corrected %v, want %v", holm, want)
	}
}

// Claim: a file gives queries their values; what is wrong with one is said with its line, the query and
// the two values.
func TestFiles(t *testing.T) {
	d := built(t, []int{1, 1, 1, 1}, make([]int, 4), make([]float32, 4))
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "country.tsv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	wantSlices(t, divide(t, write("\xef\xbb\xbf1\tDE\r\n\n2\tUS\n4\t\n9\tFR\n1\tDE"), d), "DE: [0]", "US: [1]", "(no value): [2 3]")
	if got := divide(t, "length="+write("1\tx\n"), d); got.By != "length" || got.Slices[0].Name != "x" {
		t.Errorf("a file called length gives %v", got)
	}
	for _, c := range []struct{ text, want string }{
		{"1\tDE\n2\tUS\n1\tFR\n", `country.tsv:3: found the value "FR" of query "1", expected "DE", as in a line before`},
		{"1 DE\n", `country.tsv:1: found "1 DE", expected a query's id, a tab and its value`},
		{"1\t\xff\n", "country.tsv:1: found a line that is not in UTF-8"},
		{"q9\tDE\n", "country.tsv: found values of 1 queries, none of which is in the data"},
	} {
		keys, err := Parse("by=" + write(c.text))
		if err == nil {
			_, err = keys[0].Divide([]*dataset.Dataset{d}, 1)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
	for _, text := range []string{"", "a,,b", "a,a", "=x", "x="} {
		if keys, err := Parse(text); err == nil {
			t.Errorf("%q: keys %v, want an error", text, keys)
		}
	}
}

// FuzzReadValues checks that any file is read or refused, and what is read is what lines say.
func FuzzReadValues(f *testing.F) {
	f.Add("1\tDE\n2\tUS\n")
	f.Add("1\tDE\r\n\r\n1\tFR")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := readValues(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		for query, value := range v.of {
			if query == "" || strings.TrimSpace(value) != value || !strings.Contains(text, query) || !strings.Contains(text, value) {
				t.Fatalf("query %q has the value %q of %q", query, value, text)
			}
		}
	})
}
