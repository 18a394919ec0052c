package loss

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/suggest"
)

// Mapping is a function ψ from grades l ≥ 0 to the scores of a perfect model. [ListNet] and [RankCosine]
// compare the scores of documents with these. All mappings are increasing. The zero value is the
// identity. The names are from Xia et al., Listwise Approach to Learning to Rank: Theory and Algorithm
// (ICML 2008). The grades of that paper start at 1. For grades from 0 on, the mappings are
//
//	log        ψ(l) = log(1 + l)
//	sqrt       ψ(l) = √l
//	linear     ψ(l) = l
//	quadratic  ψ(l) = l²
//	exp        ψ(l) = eˡ
//
// All mappings except exp map grade 0 to 0.
type Mapping int

// The mappings, from the steepest at low grades to the steepest at high grades.
const (
	LogMapping       Mapping = iota - 2 // log(1 + l)
	SqrtMapping                         // √l
	LinearMapping                       // l
	QuadraticMapping                    // l²
	ExpMapping                          // eˡ
)

var mappingNames = [...]string{"log", "sqrt", "linear", "quadratic", "exp"}

// ParseMapping reads a mapping's name: log, sqrt, linear, quadratic or exp.
func ParseMapping(name string) (Mapping, error) {
	i := slices.Index(mappingNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("mapping %q, expected %s", name, suggest.OneOf(mappingNames[:]))
	}
	return LogMapping + Mapping(i), nil
}

// String returns the name that ParseMapping reads.
func (m Mapping) String() string { return mappingNames[m-LogMapping] }

// validate returns an error unless m is one of the constants.
func (m Mapping) validate() error {
	if m < LogMapping || m > ExpMapping {
		return fmt.Errorf("mapping %d, expected %s", int(m), suggest.OneOf(mappingNames[:]))
	}
	return nil
}

// Score returns ψ(grade). On overflow it returns +Inf: from grade 709.79 on for exp, and from 1.35e154
// on for quadratic.
func (m Mapping) Score(grade float64) float64 {
	switch m {
	case LogMapping:
		return elementary.Log1p(grade)
	case SqrtMapping:
		return math.Sqrt(grade)
	case QuadraticMapping:
		return grade * grade
	case ExpMapping:
		return elementary.Exp(grade)
	default:
		return grade
	}
}

// scores returns ψ of each grade. It returns an error if a result is not finite.
func (m Mapping) scores(grades []float64) ([]float64, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	mapped := make([]float64, len(grades))
	for i, l := range grades {
		mapped[i] = m.Score(l)
		if math.IsInf(mapped[i], 1) {
			return nil, fmt.Errorf("document %d: grade %v overflows under the mapping %v", i+1, l, m)
		}
	}
	return mapped, nil
}

// relative returns ψ(grade)/ψ(top) for 0 ≤ grade ≤ top and top > 0. It never overflows.
func (m Mapping) relative(grade, top float64) float64 {
	switch m {
	case QuadraticMapping:
		r := grade / top
		return r * r
	case ExpMapping:
		return elementary.Exp(grade - top)
	default:
		return m.Score(grade) / m.Score(top)
	}
}

// constant reports whether all grades are equal, so there is no pair to rank.
func constant(grades []float64) bool {
	return len(grades) == 0 || slices.Max(grades) == slices.Min(grades)
}
