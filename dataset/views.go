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

// View is a form in which a scorer sees features, such as their ranks. It maps the values of a feature
// over the documents of a query to new values. Like a Normalization it has no parameters from training
// data. Model files contain its name.
type View uint8

const (
	// RawView is the feature itself; "raw".
	RawView View = iota

	// RankView is the scaled rank of a document by the feature among the documents of its query: 0 for the
	// smallest value, 1 for the largest; "rank". Let m documents have a value. Let l be the number of
	// values smaller than the document's, and e the number of equal values, its own included. The rank is
	//
	//	(l + (e − 1)/2)/(m − 1)
	//
	// or 1/2 if m = 1. So equal values share the mean of their ranks (mid-ranks). Strictly increasing
	// transforms of the feature do not change it. A missing value stays missing.
	RankView

	// ZScoreView is (x − mean)/deviation; "zscore". Mean and population standard deviation are over the
	// documents of the query that have a value. If the deviation is 0, so is the result. Without missing
	// values it is the same as the normalization ZScore. A missing value stays missing.
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
// second, and so on. Empty Views are the raw features alone.
type Views []View

// ParseViews reads names of views, separated by commas. It returns nil for "raw" alone.
func ParseViews(text string) (Views, error) {
	return ViewsOf(strings.Split(text, ","))
}

// ViewsOf returns the views with the given names. It returns nil for no names and for "raw" alone.
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

// Canonical returns the views, or nil if they are the raw features alone. Equal views then compare equal.
func (v Views) Canonical() Views {
	if v.Raw() {
		return nil
	}
	return v
}

// Raw reports whether the views are the raw features alone.
func (v Views) Raw() bool { return len(v) == 0 || len(v) == 1 && v[0] == RawView }

// Check returns an error if a view does not exist or occurs twice.
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

// Texts returns the names of the views, or "raw" if there are no views.
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

// Count returns the number of columns for each feature.
func (v Views) Count() int { return max(1, len(v)) }

// Names returns the names of all columns, from the names of the features. The rank of bm25 is called
// rank(bm25). For nil it returns nil.
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

// Source returns the feature and the view of a column. Columns and features are counted from 0, and
// features is their number.
func (v Views) Source(column, features int) (feature int, view View) {
	if len(v) == 0 {
		return column, RawView
	}
	return column % features, v[column/features]
}

// ViewMemory is the memory for computing views in one goroutine. The zero value is ready to use.
type ViewMemory struct {
	keys        []uint64 // for each document that has a value, the rankOrder of the value and the row
	mean, scale []float64
	present     []int
}

// Append appends the views of one query to dst. x is the row-major matrix of its documents, with the given
// number of features. The result has Count times as many columns. x must not overlap dst. Append allocates
// nothing once dst and the memory are large enough.
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

// rank writes the ranks of x to out. Rows of out are width elements apart.
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

// share writes the mid-ranks of the sorted keys to the rows of one column of out.
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

// rankOrder maps a float32 to an integer of the same order. 0 and −0 are equal.
func rankOrder(v float32) uint32 {
	bits := math.Float32bits(v + 0) // −0 + 0 is 0
	if bits>>31 == 1 {
		return ^bits
	}
	return bits | 1<<31
}

// zscore writes the z-scores of x to out. Rows of out are width elements apart. It computes mean and
// deviation in two passes and adds in the same order as the normalization does.
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

// moments sets m.mean and m.scale, the standard deviation, of every feature over the documents with a
// value.
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
		m.mean[j] /= float64(n) // NaN if n is 0; it is never used
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

// View returns a data set whose features are the views of d's features. It is a copy, or d itself for
// the raw features alone.
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
