package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/suggest"
)

// Normalization rescales each feature within each query. It uses the documents of the query alone and no state
// from training data. So the same Normalization applies when new documents are scored. Model files contain its
// name.
type Normalization uint8

const (
	// NoNormalization leaves features as they are; "none".
	NoNormalization Normalization = iota

	// MinMax maps a feature to (x − min)/(max − min) over the documents of the query, and to 0 if it is
	// constant; "minmax". This is LETOR's QueryLevelNorm.
	MinMax

	// ZScore maps a feature to (x − mean)/deviation over the documents of the query, and to 0 if it is
	// constant; "zscore". The deviation is the population standard deviation.
	ZScore
)

var normalizationNames = []string{"none", "minmax", "zscore"}

// ParseNormalization reads "none", "minmax" or "zscore".
func ParseNormalization(name string) (Normalization, error) {
	if i := slices.Index(normalizationNames, name); i >= 0 {
		return Normalization(i), nil
	}
	return 0, fmt.Errorf("found %q%s", name, suggest.Or(name, normalizationNames, ", expected none, minmax or zscore"))
}

// String returns the name that ParseNormalization reads.
func (n Normalization) String() string {
	if int(n) >= len(normalizationNames) {
		return fmt.Sprintf("Normalization(%d)", uint8(n))
	}
	return normalizationNames[n]
}

// MarshalText returns the name.
func (n Normalization) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads the name.
func (n *Normalization) UnmarshalText(name []byte) error {
	v, err := ParseNormalization(string(name))
	if err != nil {
		return err
	}
	*n = v
	return nil
}

// Normalize returns a normalised copy of d.
func Normalize(d *Dataset, n Normalization) *Dataset {
	c := d.Clone()
	NormalizeInPlace(c, n)
	return c
}

// NormalizeInPlace normalises every query of d.
func NormalizeInPlace(d *Dataset, n Normalization) { NormalizeObserved(d, n, nil) }

// NormalizeObserved does the work of NormalizeInPlace. If observe is not nil, it is called after every query
// with the number of queries done and the total. It is not called for a streamed data set.
func NormalizeObserved(d *Dataset, n Normalization, observe func(done, total int)) {
	if d.streamed {
		d.see(inPlaceLens(d.Features, func(x []float32) { n.Apply(x, d.Features) }))
		return
	}
	defer d.Modified()
	r := makeRescaling(d.Features)
	for i := range d.Queries {
		r.apply(n, d.Queries[i].X)
		if observe != nil {
			observe(i+1, len(d.Queries))
		}
	}
}

// Apply normalises one query in place. x is the row-major matrix of its documents, with the given number of
// features.
func (n Normalization) Apply(x []float32, features int) { n.ApplyWith(nil, x, features) }

// ApplyWith does the work of Apply with reused memory. It returns the memory, which may have grown, for the
// next call.
func (n Normalization) ApplyWith(memory []float64, x []float32, features int) []float64 {
	if n != NoNormalization {
		memory = slices.Grow(memory[:0], 2*features)[:2*features]
		rescaling{shift: memory[:features], span: memory[features:]}.apply(n, x)
	}
	return memory
}

// rescaling maps each column linearly, x ↦ (x − shift)/span, or to 0 if span is 0.
type rescaling struct {
	shift, span []float64
}

func makeRescaling(features int) rescaling {
	block := make([]float64, 2*features)
	return rescaling{shift: block[:features], span: block[features:]}
}

func (s rescaling) apply(n Normalization, x []float32) {
	if len(x) == 0 {
		return
	}
	if len(x)%len(s.shift) != 0 {
		panic(fmt.Sprintf("dataset: %d values in a matrix of %d columns", len(x), len(s.shift)))
	}
	switch n {
	case MinMax:
		s.fitMinMax(x)
	case ZScore:
		s.fitZScore(x)
	default:
		return
	}
	s.transform(x)
}

func (s rescaling) fitMinMax(x []float32) {
	for j := range s.shift {
		s.shift[j], s.span[j] = math.Inf(1), math.Inf(-1)
	}
	for row := range slices.Chunk(x, len(s.shift)) {
		for j, v := range row {
			s.shift[j] = min(s.shift[j], float64(v))
			s.span[j] = max(s.span[j], float64(v))
		}
	}
	for j := range s.span {
		s.span[j] -= s.shift[j]
	}
}

// fitZScore takes two passes, so it loses no precision if the mean is large compared with the deviation.
func (s rescaling) fitZScore(x []float32) {
	clear(s.shift)
	clear(s.span)
	docs := float64(len(x) / len(s.shift))
	s.sum(x)
	for j := range s.shift {
		s.shift[j] /= docs
	}
	s.sumSquares(x)
	for j, v := range s.span {
		s.span[j] = math.Sqrt(v / docs)
	}
}

// sum adds the rows of x to shift. The sum of a column over four rows stays in a register. Terms are added in
// the order of the rows.
func (s rescaling) sum(x []float32) {
	sums := s.shift
	for len(x) >= 4*len(sums) {
		a, b, c, d := x[:len(sums)], x[len(sums):][:len(sums)], x[2*len(sums):][:len(sums)], x[3*len(sums):][:len(sums)]
		x = x[4*len(sums):]
		for j, v := range sums {
			v += float64(a[j])
			v += float64(b[j])
			v += float64(c[j])
			v += float64(d[j])
			sums[j] = v
		}
	}
	for row := range slices.Chunk(x, len(sums)) {
		for j, v := range row {
			sums[j] += float64(v)
		}
	}
}

// sumSquares adds to span the squares of the differences between the rows of x and shift.
func (s rescaling) sumSquares(x []float32) {
	sums, means := s.span, s.shift[:len(s.span)]
	for len(x) >= 4*len(sums) {
		a, b, c, d := x[:len(sums)], x[len(sums):][:len(sums)], x[2*len(sums):][:len(sums)], x[3*len(sums):][:len(sums)]
		x = x[4*len(sums):]
		for j, v := range sums {
			mean := means[j]
			t, u := float64(a[j])-mean, float64(b[j])-mean
			v += float64(t * t)
			v += float64(u * u)
			t, u = float64(c[j])-mean, float64(d[j])-mean
			v += float64(t * t)
			v += float64(u * u)
			sums[j] = v
		}
	}
	for row := range slices.Chunk(x, len(sums)) {
		for j, v := range row {
			t := float64(v) - means[j]
			sums[j] += float64(t * t)
		}
	}
}

func (s rescaling) transform(x []float32) {
	shift := s.shift[:len(s.span)]
	for row := range slices.Chunk(x, len(s.span)) {
		for j, span := range s.span {
			if span > 0 {
				row[j] = float32((float64(row[j]) - shift[j]) / span)
			} else {
				row[j] = 0
			}
		}
	}
}
