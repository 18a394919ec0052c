package measure

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Part is a Result for a range of a data set's queries, for example from one of several machines. A
// Part contains the values of its queries, not their sums. So [Merge] gives the same bits as an
// evaluation of all queries at once, in any order of the parts.
type Part struct {
	First  int     // index of the first query in the data set
	Result *Result // values of the queries from First on
}

// partJSON is the form of a Part in files. The value of an excluded query is null.
type partJSON struct {
	First    int          `json:"first"`
	Measures []string     `json:"measures"` // full names, with conventions and thresholds
	Ties     string       `json:"ties"`
	Queries  []string     `json:"queries"`
	Weights  []float64    `json:"weights,omitempty"`
	Values   [][]optional `json:"values"`  // [measure][query]
	Neutral  [][]optional `json:"neutral"` // [measure][query]
	Pairs    [][2]int64   `json:"pairs"`   // [query]: pairs with different grades, and those of them that are tied
}

// optional is a number that is null in JSON if it is NaN.
type optional float64

// MarshalJSON implements json.Marshaler.
func (o optional) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(o)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(o))
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *optional) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*o = optional(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(o))
}

func optionals(lists [][]float64) [][]optional {
	all := make([][]optional, len(lists))
	for m, list := range lists {
		all[m] = make([]optional, len(list))
		for i, v := range list {
			all[m][i] = optional(v)
		}
	}
	return all
}

// MarshalJSON implements json.Marshaler. Every number reads back with the same bits.
func (p Part) MarshalJSON() ([]byte, error) {
	r := p.Result
	j := partJSON{First: p.First, Ties: r.ties.String(), Queries: r.queries, Weights: r.weights, Values: optionals(r.values), Neutral: optionals(r.neutral), Pairs: make([][2]int64, len(r.pairs))}
	for _, m := range r.measures {
		j.Measures = append(j.Measures, inFull(withChoice(m)))
	}
	for i, n := range r.pairs {
		j.Pairs[i] = [2]int64{n.all, n.tied}
	}
	return json.Marshal(j)
}

// ParsePart reads a Part. measures are the measures with the thresholds for all data. ParsePart returns
// an error if the Part was measured by other measures or under another tie policy.
func ParsePart(text []byte, measures []Measure, ties TiePolicy) (Part, error) {
	var j partJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return Part{}, errors.New("found no part of an evaluation, expected one")
	}
	var wanted []string
	for _, m := range measures {
		wanted = append(wanted, inFull(withChoice(m)))
	}
	if !slices.Equal(j.Measures, wanted) || j.Ties != ties.String() {
		return Part{}, fmt.Errorf("found the measures %q and ties %s, expected %q and %s", j.Measures, j.Ties, wanted, ties)
	}
	r := &Result{ties: ties, given: slices.Clone(measures), measures: measures, queries: j.Queries, weights: j.Weights}
	if err := j.check(); err != nil {
		return Part{}, err
	}
	for m := range measures {
		r.values, r.neutral = append(r.values, floats(j.Values[m])), append(r.neutral, floats(j.Neutral[m]))
	}
	for _, n := range j.Pairs {
		r.pairs = append(r.pairs, pairCount{n[0], n[1]})
	}
	return Part{j.First, r}, nil
}

func floats(list []optional) []float64 {
	all := make([]float64, len(list))
	for i, v := range list {
		all[i] = float64(v)
	}
	return all
}

// check returns an error if the lists have inconsistent lengths or a number is invalid.
func (j *partJSON) check() error {
	n := len(j.Queries)
	switch {
	case j.First < 0 || n == 0:
		return fmt.Errorf("found %d queries from number %d on, expected one at least, from 0 on", n, j.First)
	case len(j.Values) != len(j.Measures) || len(j.Neutral) != len(j.Measures):
		return fmt.Errorf("found values of %d and %d measures, expected %d", len(j.Values), len(j.Neutral), len(j.Measures))
	case len(j.Pairs) != n || j.Weights != nil && len(j.Weights) != n:
		return fmt.Errorf("found %d numbers of pairs and %d weights, expected %d, one a query", len(j.Pairs), len(j.Weights), n)
	}
	for m, name := range j.Measures {
		if len(j.Values[m]) != n || len(j.Neutral[m]) != n {
			return fmt.Errorf("%s: found %d and %d values, expected %d, one a query", name, len(j.Values[m]), len(j.Neutral[m]), n)
		}
	}
	for i, p := range j.Pairs {
		if p[1] < 0 || p[1] > p[0] {
			return fmt.Errorf("query %q: found %d tied pairs of %d", j.Queries[i], p[1], p[0])
		}
	}
	for i, w := range j.Weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("query %q: found the weight %v, expected a finite number that is not negative", j.Queries[i], w)
		}
	}
	return nil
}

// Merge combines the parts of a data set into one Result. queries is the number of queries of the data
// set. The parts may be in any order. Merge returns an error if queries are missing or repeated, or if
// parts have different measures or conventions.
func Merge(queries int, parts []Part) (*Result, error) {
	sorted := slices.SortedStableFunc(slices.Values(parts), func(a, b Part) int { return cmp.Compare(a.First, b.First) })
	next := 0
	var results []*Result
	for _, p := range sorted {
		switch {
		case p.First > next:
			return nil, fmt.Errorf("found no part with the queries %d to %d of %d", next+1, p.First, queries)
		case p.First < next:
			return nil, fmt.Errorf("found query %d (%s) in two parts, expected it in one", p.First+1, p.Result.queries[0])
		}
		if first := sorted[0].Result; p.Result.ties != first.ties || !slices.EqualFunc(p.Result.measures, first.measures, equal) {
			return nil, fmt.Errorf("found parts measured by %s (ties %s) and by %s (ties %s), expected the same",
				inFullAll(first.measures), first.ties, inFullAll(p.Result.measures), p.Result.ties)
		}
		next += len(p.Result.queries)
		results = append(results, p.Result)
	}
	if next != queries {
		return nil, fmt.Errorf("found parts with %d queries, expected the %d of the data", next, queries)
	}
	return Pool(results...), nil
}
