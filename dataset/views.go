package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/suggest"
)

// View is a form in which a scorer sees features: each feature's column over the documents of a
// query becomes another one. Like a Normalization it keeps no state from training data. Its text
// form, which model files hold, is its name.
type View uint8

const (
	// RawView is the feature itself; "raw".
	RawView View = iota

	// RankView is the rank of a document among the documents of its query by the feature, from 0 for the least
	// value to 1 for the largest; "rank". Of m documents that have a value, l less than the document's and e
	// equal to it, itself included, it is
	//
	//	(l + (e − 1)/2)/(m − 1)
	//
	// so that equal values share the mean of their ranks (mid-ranks); 1/2 if m = 1. No strictly
	// increasing map of the feature changes it. A missing value stays missing.
	RankView

	// ZScoreView is (x − mean)/deviation over the query's documents that have a value, with the
	// population's standard deviation, and 0 where that is 0; "zscore". Of complete data it is
	// what the normalization ZScore makes. A missing value stays missing.
	ZScoreView
)

var viewNames = []string{"raw", "rank", "zscore"}

// String returns the name that ParseViews reads.
func (v View) String() string {
	if int(v) >= len(viewNames) {
		return fmt.Sprintf("View(%d)", uint8(v))
	}
	return viewNames[v]
}

// Views are the forms in which a scorer sees the features: all features in the first view, then all in the
// second, and so on. No views are the raw features alone.
type Views []View

// ParseViews reads names of views, separated by commas; "raw" alone is nil.
func ParseViews(text string) (Views, error) {
	return ViewsOf(strings.Split(text, ","))
}

// ViewsOf returns the views of the names; of none, and of "raw" alone, that is nil.
func ViewsOf(names []string) (Views, error) {
	var views Views
	for _, name := range names {
		name = strings.TrimSpace(name)
		i := slices.Index(viewNames, name)
		if i < 0 {
			return nil, fmt.Errorf("found the view %q%s", name, suggest.Or(name, viewNames, ", expected "+suggest.OneOf(viewNames)))
		}
		views = append(views, View(i))
	}
	return views.Canonical(), views.Check()
}

// Canonical returns nil for the raw features alone, else the views.
func (v Views) Canonical() Views {
	if v.Raw() {
		return nil
	}
	return v
}

// Raw reports whether the views are the raw features alone.
func (v Views) Raw() bool { return len(v) == 0 || len(v) == 1 && v[0] == RawView }

// Check returns an error for a view that does not exist or is there twice.
func (v Views) Check() error {
	for i, view := range v {
		if int(view) >= len(viewNames) {
			return fmt.Errorf("found %v, expected %s", view, suggest.OneOf(viewNames))
		}
		if slices.Contains(v[:i], view) {
			return fmt.Errorf("found the view %v twice, expected each once", view)
		}
	}
	return nil
}

// Texts returns the names, "raw" if there are none.
func (v Views) Texts() []string {
	if len(v) == 0 {
		return []string{RawView.String()}
	}
	names := make([]string, len(v))
	for i, view := range v {
		names[i] = view.String()
	}
	return names
}

// String returns the text that ParseViews reads.
func (v Views) String() string { return strings.Join(v.Texts(), ",") }

// Count returns how many columns a feature becomes.
func (v Views) Count() int { return max(1, len(v)) }

// Names returns the names of the columns that features of the given names become: rank(bm25) is
// the rank of bm25. nil becomes nil.
func (v Views) Names(names []string) []string {
	if names == nil || v.Raw() {
		return names
	}
	all := make([]string, 0, len(v)*len(names))
	for _, view := range v {
		for _, name := range names {
			all = append(all, view.Name(name))
		}
	}
	return all
}

// Name returns the name of a feature's column: bm25, rank(bm25) or zscore(bm25).
func (v View) Name(feature string) string {
	if v == RawView {
		return feature
	}
	return v.String() + "(" + feature + ")"
}

// Source returns the feature that a column, from 0, is made of, and by which view, where there
// are the given number of features.
func (v Views) Source(column, features int) (feature int, view View) {
	if len(v) == 0 {
		return column, RawView
	}
	return column % features, v[column/features]
}

// ViewMemory is the memory in which views are made, for one goroutine; the zero value is ready
// to use.
type ViewMemory struct {
	keys        []uint64 // of the documents that have a value: its order, and the row
	mean, scale []float64
	present     []int
}

// Append appends the views of one query. x is the row-major matrix of its documents, with the given number of
// features. The result has Count times as many columns. x may not be a part of dst. It allocates nothing once
// dst and the memory are large enough.
func (v Views) Append(dst, x []float32, features int, m *ViewMemory) []float32 {
	if v.Raw() {
		return append(dst, x...)
	}
	from, width := len(dst), features*len(v)
	dst = slices.Grow(dst, len(x)*len(v))[:from+len(x)*len(v)]
	if len(x) == 0 {
		return dst
	}
	for i, view := range v {
		out := dst[from+i*features:]
		switch view {
		case RankView:
			m.rank(out, x, features, width)
		case ZScoreView:
			m.zscore(out, x, features, width)
		default:
			for row := 0; row*features < len(x); row++ {
				copy(out[row*width:], x[row*features:(row+1)*features])
			}
		}
	}
	return dst
}

// rank sets the columns that begin in the rows of out, width apart, to the ranks of x.
func (m *ViewMemory) rank(out, x []float32, features, width int) {
	for j := range features {
		m.keys = m.keys[:0]
		sorted := true
		for row, at := 0, j; at < len(x); row, at = row+1, at+features {
			v := x[at]
			if v != v {
				out[row*width+j] = v
				continue
			}
			key := uint64(rankOrder(v))<<32 | uint64(row)
			sorted = sorted && (len(m.keys) == 0 || m.keys[len(m.keys)-1] < key)
			m.keys = append(m.keys, key)
		}
		if !sorted {
			slices.Sort(m.keys)
		}
		m.share(out[j:], width)
	}
}

// share sets the rows of the sorted keys to their mid-ranks.
func (m *ViewMemory) share(out []float32, width int) {
	last := len(m.keys) - 1
	for i := 0; i <= last; {
		end := i + 1
		for end <= last && m.keys[end]>>32 == m.keys[i]>>32 {
			end++
		}
		rank := float32(0.5)
		if last > 0 {
			rank = float32(float64(i+end-1) / float64(2*last))
		}
		for ; i < end; i++ {
			out[int(uint32(m.keys[i]))*width] = rank
		}
	}
}

// rankOrder returns whole numbers in the order of the float32s; 0 and −0 have the same.
func rankOrder(v float32) uint32 {
	bits := math.Float32bits(v + 0) // −0 + 0 is 0
	if bits>>31 == 1 {
		return ^bits
	}
	return bits | 1<<31
}

// zscore sets the columns that begin in the rows of out, width apart, to the z-scores of x. It
// takes two passes, as the normalization does, and adds in the same order.
func (m *ViewMemory) zscore(out, x []float32, features, width int) {
	m.moments(x, features)
	for row := 0; row*features < len(x); row++ {
		to := out[row*width : row*width+features]
		for j, v := range x[row*features : (row+1)*features] {
			switch {
			case v != v:
				to[j] = v
			case m.scale[j] > 0:
				to[j] = float32((float64(v) - m.mean[j]) / m.scale[j])
			default:
				to[j] = 0
			}
		}
	}
}

// moments sets mean and deviation of every feature over the documents that have it.
func (m *ViewMemory) moments(x []float32, features int) {
	m.mean = slices.Grow(m.mean[:0], features)[:features]
	m.scale = slices.Grow(m.scale[:0], features)[:features]
	m.present = slices.Grow(m.present[:0], features)[:features]
	clear(m.mean)
	clear(m.scale)
	clear(m.present)
	for row := range slices.Chunk(x, features) {
		for j, v := range row {
			if v == v {
				m.mean[j] += float64(v)
				m.present[j]++
			}
		}
	}
	for j, n := range m.present {
		m.mean[j] /= float64(n) // of nothing NaN, which is never used
	}
	for row := range slices.Chunk(x, features) {
		for j, v := range row {
			if v == v {
				t := float64(v) - m.mean[j]
				m.scale[j] += float64(t * t)
			}
		}
	}
	for j, n := range m.present {
		m.scale[j] = math.Sqrt(m.scale[j] / float64(n))
	}
}

// View returns a data set whose features are the views of d's: a copy, or d itself for the raw
// features alone.
func (d *Dataset) View(v Views) *Dataset {
	if v.Raw() {
		return d
	}
	if d.streamed {
		c := d.Through(viewLens(v, d.Features))
		c.FeatureNames = v.Names(d.FeatureNames)
		return c
	}
	c := d.Clone()
	c.Features, c.FeatureNames = d.Features*len(v), v.Names(d.FeatureNames)
	c.x = block.New(d.Docs() * c.Features)
	workers := parallel.Workers(0, len(d.Queries))
	memory := make([]ViewMemory, workers)
	parallel.For(len(d.Queries), workers, func(worker, i int) {
		q := &c.Queries[i]
		begin, end := q.Start*c.Features, (q.Start+q.Len())*c.Features
		x := c.x[begin:begin:end]
		q.X = v.Append(x, d.Queries[i].X, d.Features, &memory[worker])
	})
	c.missing = countMissing(c.x)
	c.Modified()
	return c
}
