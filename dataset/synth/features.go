package synth

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
)

// A document has five hidden properties. Four of them say how well a field (such as title, body, anchors or
// address) matches the query. The fifth is its authority, which does not depend on the query. The matches of a
// document are correlated, and a field may be empty. Each feature is a noisy statistic of one property, as
// LETOR's features are statistics of one field each. Relevance is a function of all properties that is mostly
// linear.
const (
	fields     = 4
	properties = fields + 1
	authority  = fields
)

var (
	// weights are the weights of the properties in relevance.
	weights = [properties]float64{0.7, 1, 0.6, 0.3, 0.5}

	// empty is the share of documents in which the field does not match at all.
	empty = [fields]float64{0.35, 0.05, 0.6, 0.75}
)

// likeness is the correlation between the matches of a document's fields.
const likeness = 0.5

// statistic is a way to turn a property into a feature.
type statistic int

const (
	score   statistic = iota // like BM25: grows with the property, skewed
	log                      // like log tf: compressed
	tally                    // like tf: whole numbers with a heavy tail
	model                    // like a language model: bounded above
	rank                     // a noisy score
	length                   // like a length: heavy tail, nearly independent of relevance
	nothing                  // zero throughout, as some of LETOR's features are
	statistics
)

// column is the definition of one feature.
type column struct {
	property  int
	statistic statistic
	scale     float64 // factor of the property
	noise     float64 // standard deviation of the feature's own noise
}

// makeColumns draws the definitions. They depend only on the number of the feature, so a feature has the same
// meaning in all data sets.
func makeColumns(features int) []column {
	columns := make([]column, features)
	for j := range columns {
		rng := random.Stream(0, "synth feature", strconv.Itoa(j))
		columns[j] = column{
			property:  j % properties,
			statistic: statistic(j / properties % int(statistics)),
			scale:     0.6 + float64(0.6*rng.Float64()),
			noise:     0.2 + float64(0.5*rng.Float64()),
		}
	}
	return columns
}

// originals is the number of a query's documents that other documents may copy.
const originals = 4

// documents draws the n documents of a query. x is their normalised feature matrix. signal is the part of
// their relevance that the properties determine, with mean 0 and standard deviation 1. copies is the share of
// documents that copy the features and the signal of one of the first documents.
func documents(columns []column, n int, copies float64, rng *rand.Rand) (x []float32, signal []float64) {
	var emphasis [properties]float64
	for p := range emphasis {
		emphasis[p] = weights[p] * elementary.Exp(0.3*random.Normal(rng))
	}
	abundance := elementary.Exp(random.Normal(rng)) // how often this query's words occur
	x = make([]float32, 0, n*len(columns))
	signal = make([]float64, n)
	for i := range signal {
		if i > 0 && rng.Float64() < copies {
			k := rng.IntN(min(i, originals))
			signal[i] = signal[k]
			x = append(x, x[k*len(columns):(k+1)*len(columns)]...)
			continue
		}
		doc := draw(rng)
		signal[i] = doc.signal(&emphasis)
		for _, c := range columns {
			x = append(x, float32(c.value(&doc, abundance, random.Normal(rng))))
		}
	}
	standardise(signal)
	dataset.MinMax.Apply(x, len(columns))
	for i, v := range x {
		x[i] = float32(math.Round(float64(v)*1e6) / 1e6)
	}
	return x, signal
}

// hidden has the properties of a document. Values are standard normal.
type hidden struct {
	value   [properties]float64
	present [properties]bool
}

func draw(rng *rand.Rand) hidden {
	var h hidden
	topic := random.Normal(rng)
	for p := range fields {
		h.value[p] = float64(math.Sqrt(likeness)*topic) + float64(math.Sqrt(1-likeness)*random.Normal(rng))
		h.present[p] = rng.Float64() >= empty[p]
	}
	h.value[authority] = random.Normal(rng)
	h.present[authority] = true
	return h
}

// signal is linear in the properties of present fields, with two exceptions. Title and body have a larger
// effect if both match. Anchors have a larger effect in documents of high authority.
func (h *hidden) signal(emphasis *[properties]float64) float64 {
	var v [properties]float64
	for p, present := range h.present {
		v[p] = -1 // an empty field counts as a poor match
		if present {
			v[p] = h.value[p]
		}
	}
	s := 0.0
	for p, w := range emphasis {
		s += float64(w * v[p])
	}
	s += float64(0.8 * max(0, v[0]) * max(0, v[1]))
	if v[authority] > 0.5 {
		s += float64(0.6 * max(0, v[2]))
	}
	return s
}

// value returns the feature of a document. z is a standard normal number drawn for this feature of this
// document.
func (c column) value(h *hidden, abundance, z float64) float64 {
	if !h.present[c.property] || c.statistic == nothing {
		return 0
	}
	v := float64(c.scale*h.value[c.property]) + float64(c.noise*z)
	switch c.statistic {
	case score:
		return softplus(v + 1)
	case log:
		return elementary.Log1p(abundance * elementary.Exp(v))
	case tally:
		return math.Floor(3 * abundance * elementary.Exp(1.2*v))
	case model:
		return logistic(2 * v)
	case rank:
		return softplus(v + float64(c.noise*z) + 2)
	default: // length
		return elementary.Exp(float64(1.2*z) + float64(0.1*v))
	}
}

func softplus(v float64) float64 { return elementary.Log1p(elementary.Exp(-math.Abs(v))) + max(v, 0) }

func standardise(v []float64) {
	n := float64(len(v))
	mean, square := 0.0, 0.0
	for _, a := range v {
		mean += a / n
	}
	for _, a := range v {
		square += (a - mean) * (a - mean) / n
	}
	if square == 0 {
		square = 1
	}
	for i := range v {
		v[i] = (v[i] - mean) / math.Sqrt(square)
	}
}
