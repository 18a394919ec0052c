// Package slicing divides queries into slices, for example by country or by number of relevant
// documents, and measures systems on each slice.
//
// Start reading at [Parse], which parses keys, and [Key.Divide]. mean.go computes the means of slices
// with their intervals, and compare.go compares systems. Every query is in exactly one slice, so the
// mean over all queries is a weighted mean of the slices' means. The package must not depend on the
// source of data and scores.
package slicing

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
)

// The keys that count documents: all documents of a query, or its relevant documents.
const (
	Length   = "length"
	Relevant = "relevant"
)

// Key defines how queries are divided.
type Key struct {
	// Name is Length, Relevant, the name of an attribute or a feature of the data, or the name of a
	// file.
	Name string

	values *values // values in a file; nil if the key is not a file
}

// Parse parses keys separated by commas. A key is "length", "relevant", FILE.tsv, NAME=FILE, or the
// name of an attribute or a feature of the data. If features have no names, it may be a feature's
// number from 1. The files contain a line for each query: its id, a tab and its value.
func Parse(text string) ([]Key, error) {
	var keys []Key
	for word := range strings.SplitSeq(text, ",") {
		name, path, named := cut(word)
		if name == "" || named && path == "" {
			return nil, fmt.Errorf("found %q in %q, expected length, relevant, a column, a feature, or NAME=FILE, separated by commas", word, text)
		}
		k := Key{Name: name}
		if slices.ContainsFunc(keys, func(other Key) bool { return other.Name == name }) {
			return nil, fmt.Errorf("found %s twice in %q, expected every key once", name, text)
		}
		if named {
			var err error
			if k.values, err = readFile(path); err != nil {
				return nil, err
			}
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// cut returns the name of a key and the path of its file, if it has one.
func cut(word string) (name, path string, named bool) {
	word = strings.TrimSpace(word)
	name, path, named = strings.Cut(word, "=")
	if !named && strings.HasSuffix(word, fileEnding) {
		return nameOf(word), word, true
	}
	return name, path, named
}

// Files returns the paths of the files in the keys that Parse accepts.
func Files(text string) []string {
	var paths []string
	for word := range strings.SplitSeq(text, ",") {
		if _, path, named := cut(word); named && path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// Attributes returns the names of the keys that are attributes or features of the data. A table is read
// with these names in [dataset.TableOptions].
func Attributes(keys []Key) []string {
	var names []string
	for _, k := range keys {
		if k.values == nil && !k.counts() {
			names = append(names, k.Name)
		}
	}
	return names
}

// counts reports whether the key counts documents.
func (k *Key) counts() bool { return k.values == nil && (k.Name == Length || k.Name == Relevant) }

// Division is the result of dividing the queries of data sets by a key.
type Division struct {
	By     string
	Slices []Slice
	Note   string // how values were grouped, or "" if each value has its own slice
}

// Slice is a set of queries.
type Slice struct {
	Name    string
	Queries []int // indices of the queries among those of all data sets, ascending
	None    bool  // the queries have no value
}

// Most is the largest number of values that each get their own slice. More values are grouped. Numbers
// are grouped into four slices with about equal numbers of queries. Of other values, the most frequent
// ones keep their own slices, and all others share a slice.
const Most = 20

// Names of slices that are not values.
const (
	NoValue = "(no value)"
	others  = "(others)"
)

// Divide divides the queries of data sets, one set after the other, such as the test data of folds.
// Documents are relevant from the threshold on. Divide returns an error if the data do not have the
// key, or if the key is a feature that differs between the documents of a query.
func (k *Key) Divide(sets []*dataset.Dataset, threshold float64) (*Division, error) {
	if k.counts() {
		return k.count(sets, threshold), nil
	}
	var all []string
	for _, d := range sets {
		labels, err := k.labels(d)
		if err != nil {
			return nil, err
		}
		all = append(all, labels...)
	}
	if k.values != nil && !slices.ContainsFunc(all, func(v string) bool { return v != "" }) {
		return nil, k.values.noQuery()
	}
	return group(k.Name, all), nil
}

// count divides the queries by their number of documents or of relevant documents.
func (k *Key) count(sets []*dataset.Dataset, threshold float64) *Division {
	d := &Division{By: k.Name}
	places, at := make(map[int][]int), 0 // indices of queries, by the highest number in the slice
	for _, set := range sets {
		for i := range set.Queries {
			n := set.Queries[i].Len()
			if k.Name == Relevant {
				n = 0
				for _, g := range set.Queries[i].Grades {
					if g >= threshold {
						n++
					}
				}
			}
			high := upTo(n)
			places[high] = append(places[high], at)
			at++
		}
	}
	for _, high := range slices.Sorted(maps.Keys(places)) {
		name := strconv.Itoa(high)
		if low := lowest(high); low < high {
			name = fmt.Sprintf("%d to %d", low, high)
		}
		d.Slices = append(d.Slices, Slice{Name: name, Queries: places[high]})
	}
	return d
}

// upTo returns the highest number in the slice that contains n: 0 for 0, otherwise the first of 1, 2,
// 5, 10, 20, 50, … that is at least n. The bounds do not depend on the data, so that slices of two data
// sets can be compared.
func upTo(n int) int {
	if n == 0 {
		return 0
	}
	for step := 1; ; step *= 10 {
		for _, m := range []int{1, 2, 5} {
			if n <= m*step {
				return m * step
			}
		}
	}
}

// lowest returns the lowest number in the slice whose highest number is high.
func lowest(high int) int {
	before := high / 2 // the bound before 1, 2, 10, 20, 100, …
	for n := high; n > 0 && n%5 == 0; n /= 10 {
		if n == 5 {
			before = high / 5 * 2
		}
	}
	return min(high, before+1)
}

// group divides the queries by their values. Queries with the value "" form their own slice.
func group(by string, labels []string) *Division {
	d := &Division{By: by}
	of := make(map[string][]int)
	var none []int
	for i, v := range labels {
		if v == "" {
			none = append(none, i)
		} else {
			of[v] = append(of[v], i)
		}
	}
	values := slices.Collect(maps.Keys(of))
	numbers, numeric := numbersOf(values)
	switch {
	case numeric && len(values) > Most:
		d.quarters(of, numbers)
	case numeric:
		slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b)) })
		d.each(of, values)
	case len(values) > Most:
		d.largest(of, values)
	default:
		slices.Sort(values)
		d.each(of, values)
	}
	if none != nil {
		d.Slices = append(d.Slices, Slice{Name: NoValue, Queries: none, None: true})
	}
	return d
}

// each adds a slice for every value.
func (d *Division) each(of map[string][]int, values []string) {
	for _, v := range values {
		d.Slices = append(d.Slices, Slice{Name: v, Queries: of[v]})
	}
}

// largest adds a slice for each of the most frequent values, and one slice for all others.
func (d *Division) largest(of map[string][]int, values []string) {
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(of[b]), len(of[a])), cmp.Compare(a, b)) })
	kept, left := values[:Most-1], values[Most-1:]
	rest := Slice{Name: others}
	for _, v := range left {
		rest.Queries = append(rest.Queries, of[v]...)
	}
	slices.Sort(rest.Queries)
	d.Note = fmt.Sprintf("%s has %d values; the %d of the most queries have a slice each, %s is the other %d", d.By, len(values), len(kept), others, len(left))
	slices.Sort(kept)
	d.each(of, kept)
	d.Slices = append(d.Slices, rest)
}

// numbersOf returns the values as numbers. ok is false unless all are finite numbers.
func numbersOf(values []string) (numbers map[string]float64, ok bool) {
	numbers = make(map[string]float64, len(values))
	for _, v := range values {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, false
		}
		numbers[v] = x
	}
	return numbers, true
}

// quarters adds four slices with about the same number of queries, or fewer if many queries have the
// same number.
func (d *Division) quarters(of map[string][]int, numbers map[string]float64) {
	type query struct {
		place  int
		number float64
		text   string
	}
	var all []query
	for v, places := range of {
		for _, at := range places {
			all = append(all, query{at, numbers[v], v})
		}
	}
	slices.SortFunc(all, func(a, b query) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.place, b.place)) })
	for from, part := 0, 1; from < len(all); part++ {
		to := max(from, part*len(all)/4)
		for to > from && to < len(all) && all[to].number == all[to-1].number {
			to++
		}
		if to == from {
			continue
		}
		s := Slice{Name: all[from].text}
		if last := all[to-1]; last.number != all[from].number {
			s.Name += " to " + last.text
		}
		for _, q := range all[from:to] {
			s.Queries = append(s.Queries, q.place)
		}
		slices.Sort(s.Queries)
		d.Slices = append(d.Slices, s)
		from = to
	}
	d.Note = fmt.Sprintf("%s has %d numbers; slices are of about a quarter of the queries each", d.By, len(of))
}
