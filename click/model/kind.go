package model

import (
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// Kind is a click model without parameters.
type Kind struct {
	Name  string // as on the command line
	Title string
	Exact bool // the model has a closed form, and an exact fit by expectation maximisation

	// Iterates reports that every fit is by expectation maximisation.
	Iterates bool

	// Patterns reports that fits need the patterns of the counts.
	Patterns bool

	shared    shared
	attracts  bool // each pair has an attraction
	satisfies bool // each pair has a satisfaction
	law       law
}

// law has the formulas of a model.
type law interface {
	// fit sets the parameters of a model.
	fit(f *fitting) error
	// conditional sets v.out to the probabilities of a click at each rank, given the clicks above.
	conditional(v *view)
	// full sets v.out to the probabilities of a click at each rank.
	full(v *view)
	// relevance returns the relevance of a pair with the given attraction and satisfaction, with its derivatives.
	relevance(a, s float64) (value, da, ds float64)
	// weigh adds what the pages say of each pair.
	weigh(f *fitting, e *evidence)
}

// shared are the parameters that pairs share.
type shared struct {
	name string // in a model file
	size func(slots, ranks int) int
	by   byWhat
}

// byWhat says whether the places of a page are slots or ranks for a model.
type byWhat int

const (
	byNothing byWhat = iota
	bySlot
	byRank
)

func none(_, _ int) int        { return 0 }
func one(_, _ int) int         { return 1 }
func three(_, _ int) int       { return 3 }
func perSlot(slots, _ int) int { return slots }
func perRank(_, ranks int) int { return ranks }

// perAbove is the number of pairs of a rank and a last click above, or none.
func perAbove(_, ranks int) int { return triangle(ranks) }

// triangle returns the place of the first parameter of a rank in a list of parameters by rank and last
// click above.
func triangle(rank int) int { return rank * (rank + 1) / 2 }

// Kinds returns the models in the order of the help text. The caller must not change them.
func Kinds() []*Kind { return registry }

// Names returns the names of the models.
func Names() []string {
	names := make([]string, len(registry))
	for i, k := range registry {
		names[i] = k.Name
	}
	return names
}

// Lookup returns the model with a name, in upper or lower case.
func Lookup(name string) (*Kind, error) {
	for _, k := range registry {
		if strings.EqualFold(k.Name, name) {
			return k, nil
		}
	}
	return nil, suggest.Unknown("click model", name, Names())
}

// Grades reports whether the model tells the documents of a query apart.
func (k *Kind) Grades() bool { return k.attracts }

// Ranked reports whether the model has a relevance of documents.
func (k *Kind) Ranked() bool { return k.law != law(rctr{}) }
