package measure

// base is what all measures have.
type base struct {
	name       string
	convention Convention
}

func newBase(s spec) base { return base{name: s.name, convention: s.convention} }

// Name implements Measure.
func (b base) Name() string { return b.name }

// Convention returns the convention that the measure was parsed under.
func (b base) Convention() Convention { return b.convention }

// ConventionOf returns the convention that a measure follows: the one it was
// parsed under, or the zero Convention for a measure from elsewhere.
func ConventionOf(m Measure) Convention {
	if c, ok := m.(interface{ Convention() Convention }); ok {
		return c.Convention()
	}
	return Convention{}
}

// binary is what the measures have that only ask whether a document is
// relevant.
type binary struct {
	base
	threshold float64 // the lowest relevant grade
}

func newBinary(s spec) binary { return binary{base: newBase(s), threshold: s.threshold} }

func (b binary) relevant(grade float64) bool { return grade >= b.threshold }

// count returns the number of relevant documents among the grades.
func (b binary) count(grades []float64) int {
	n := 0
	for _, l := range grades {
		if l >= b.threshold {
			n++
		}
	}
	return n
}
