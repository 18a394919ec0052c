package runs

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Diff contains the differences between two runs.
type Diff struct {
	Changes     []Change     // sorted by name
	Comparisons []Comparison // of the rankers in both runs, by ranker, then measure
	OnlyA       []string     // rankers of run A that are not compared with run B
	OnlyB       []string
}

// Change is a difference in a setting, a data set or the program.
type Change struct {
	Name string `json:"name"` // such as seed, code.revision, data.train or hyperparameters.C
	A    any    `json:"a"`    // nil if the run has no value
	B    any    `json:"b"`
}

// Comparison compares a ranker of one run with a ranker of the other by one measure.
type Comparison struct {
	RankerA    string `json:"a"`
	RankerB    string `json:"b"`
	Measure    string `json:"measure"`
	A          Number `json:"mean_a"` // NaN if there is no value
	B          Number `json:"mean_b"`
	Difference Number `json:"difference"` // B minus A

	// The numbers of common queries on which B is better, equal and worse. All are 0 if a run has
	// no per-query results.
	Wins   int `json:"wins"`
	Ties   int `json:"ties"`
	Losses int `json:"losses"`
}

// Compare compares two runs with their per-query results, as returned by Get. It compares rankers
// of the same name. If there is no common name and each run has one ranker, it compares these two.
// Queries are matched by id. If a query is in several folds of a run, the first occurrence counts.
func Compare(a, b *Run) *Diff {
	d := &Diff{Changes: changes(a, b)}
	namesA, namesB := a.rankers(), b.rankers()
	pairs := make(map[string]string)
	for _, name := range namesA {
		if slices.Contains(namesB, name) {
			pairs[name] = name
		}
	}
	if len(pairs) == 0 && len(namesA) == 1 && len(namesB) == 1 {
		pairs[namesA[0]] = namesB[0]
	}
	for _, name := range namesA {
		other, ok := pairs[name]
		if !ok {
			d.OnlyA = append(d.OnlyA, name)
			continue
		}
		d.Comparisons = append(d.Comparisons, compareRankers(a, b, name, other)...)
	}
	paired := slices.Collect(maps.Values(pairs))
	for _, name := range namesB {
		if !slices.Contains(paired, name) {
			d.OnlyB = append(d.OnlyB, name)
		}
	}
	return d
}

func (r *Run) rankers() []string {
	var names []string
	for i := range r.Results {
		if name := r.Results[i].Ranker; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func compareRankers(a, b *Run, rankerA, rankerB string) []Comparison {
	var all []Comparison
	for _, m := range a.summary(rankerA) {
		other := b.summary(rankerB)
		i := slices.IndexFunc(other, func(o Measure) bool { return o.Name == m.Name })
		if i < 0 {
			continue
		}
		c := Comparison{RankerA: rankerA, RankerB: rankerB, Measure: m.Name, A: m.Mean, B: other[i].Mean, Difference: other[i].Mean - m.Mean}
		c.count(a.perQuery(rankerA, m.Name), b.perQuery(rankerB, m.Name))
		all = append(all, c)
	}
	return all
}

// summary returns a ranker's means over all data, or over folds if there are folds.
func (r *Run) summary(ranker string) []Measure {
	for i := range r.Results {
		if r.Results[i].Ranker == ranker && r.Results[i].Fold == "" {
			return r.Results[i].Measures
		}
	}
	return nil
}

// perQuery returns a ranker's values of a measure, by query id.
func (r *Run) perQuery(ranker, measure string) map[string]Number {
	values := make(map[string]Number)
	for _, result := range r.Results {
		for _, m := range result.Measures {
			if result.Ranker != ranker || m.Name != measure {
				continue
			}
			for _, v := range m.PerQuery {
				if _, twice := values[v.Query]; !twice {
					values[v.Query] = v.Value
				}
			}
		}
	}
	return values
}

func (c *Comparison) count(a, b map[string]Number) {
	for query, x := range a {
		y, ok := b[query]
		switch {
		case !ok || math.IsNaN(float64(x)) || math.IsNaN(float64(y)):
		case y > x:
			c.Wins++
		case y < x:
			c.Losses++
		default:
			c.Ties++
		}
	}
}

func changes(a, b *Run) []Change {
	x, y := a.facts(), b.facts()
	var all []Change
	for name, v := range x {
		if w := y[name]; !reflect.DeepEqual(v, w) {
			all = append(all, Change{name, v, w})
		}
	}
	for name, w := range y {
		if _, both := x[name]; !both {
			all = append(all, Change{name, nil, w})
		}
	}
	slices.SortFunc(all, func(p, q Change) int { return strings.Compare(p.Name, q.Name) })
	return all
}

// facts returns everything on which a run depends, by name. Data are represented by their
// fingerprints, not by paths.
func (r *Run) facts() map[string]any {
	facts := map[string]any{"kind": string(r.Kind), "code.version": r.Code.Version, "code.revision": r.Code.Revision, "code.modified": r.Code.Modified, "code.go": r.Code.Go, "code.program": r.Code.Program}
	if r.Seed != nil {
		facts["seed"] = strconv.FormatUint(*r.Seed, 10)
	}
	for _, d := range r.Data {
		facts["data."+d.Role] = d.Fingerprint
	}
	maps.Copy(facts, r.Settings())
	return facts
}

// Settings returns the leaves of Config by their paths, such as methods.mle.hyperparameters.C.
func (r *Run) Settings() map[string]any {
	settings := make(map[string]any)
	for name, v := range r.Config {
		flatten(settings, name, v)
	}
	return settings
}

func flatten(into map[string]any, name string, v any) {
	nested, ok := v.(map[string]any)
	if !ok {
		into[name] = v
		return
	}
	for key, value := range nested {
		flatten(into, name+"."+key, value)
	}
}
