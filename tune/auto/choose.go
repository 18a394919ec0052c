package auto

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/tune"
)

// group returns the name of an entry's candidate: the method, its scorer and its views. Its trials differ
// in settings and seeds.
func group(e *tune.Entry) string {
	name, _, _ := strings.Cut(e.Name, ".seed")
	return name
}

// Candidate returns the name of the candidate that a member is a trial of.
func (m *Member) Candidate() string { return group(m.Entry) }

// members returns the trials of the chosen candidates, a list for each, and all candidates' best trials.
// All are best first by value, the first of equals. At most r.Members and at most half of the candidates
// on the suited views are chosen.
func (r *run) members(outcomes []Outcome, value func(o *Outcome) float64) (chosen [][]int, candidates []int) {
	trials := make(map[string][]int) // of each candidate, best first
	var names []string
	for i := range outcomes {
		if outcomes[i].Folds == nil {
			continue
		}
		name := group(&r.config.Entries[outcomes[i].Entry])
		if trials[name] == nil {
			names = append(names, name)
		}
		trials[name] = append(trials[name], i)
	}
	better := func(a, b int) int {
		return cmp.Or(cmp.Compare(value(&outcomes[b]), value(&outcomes[a])), cmp.Compare(a, b))
	}
	for _, name := range names {
		slices.SortFunc(trials[name], better)
		candidates = append(candidates, trials[name][0])
	}
	slices.SortFunc(candidates, better)
	suited := r.suited(outcomes, candidates, value)
	for _, i := range suited[:min(r.Members, (len(suited)+1)/2)] {
		chosen = append(chosen, trials[group(&r.config.Entries[outcomes[i].Entry])])
	}
	return chosen, candidates
}

// suited returns the candidates on the views with the highest mean value. The mean is over the methods and
// scorers tried with all views, since it is more reliable than a comparison of two candidates. It returns
// all candidates if nothing was tried with all views.
func (r *run) suited(outcomes []Outcome, candidates []int, value func(o *Outcome) float64) []int {
	type system struct{ method, scorer string }
	of := func(i int) (system, string) {
		e := &r.config.Entries[outcomes[i].Entry]
		return system{e.Method.Name, e.Own.Scorer}, e.Own.Views.String()
	}
	tried := make(map[system]int) // views
	for _, i := range candidates {
		s, _ := of(i)
		tried[s]++
	}
	sums := make(map[string]float64)
	for _, i := range candidates {
		if s, views := of(i); tried[s] == len(r.Views) {
			sums[views] += value(&outcomes[i])
		}
	}
	best := ""
	for k := range r.Views {
		if views := r.Views[k].String(); k == 0 || sums[views] > sums[best] {
			best = views
		}
	}
	if len(sums) == 0 {
		return candidates
	}
	var list []int
	for _, i := range candidates {
		if _, views := of(i); views == best {
			list = append(list, i)
		}
	}
	return list
}

// choose chooses the members of every fold and of the last model.
func (r *run) choose(result *Result) error {
	for k := range r.config.Folds {
		value := func(o *Outcome) float64 { return o.Folds[k].Validation }
		f := r.fused(result, r.config.Folds[k].Name, value, []int{k})
		if len(f.Members) == 0 {
			return r.refusal(result)
		}
		result.Folds = append(result.Folds, f)
	}
	var all []int
	for k := range r.config.Folds {
		all = append(all, k)
	}
	result.Final = r.fused(result, "all", (*Outcome).mean, all)
	return nil
}

// refusal is the error if all trials were refused.
func (r *run) refusal(result *Result) error {
	for i := range result.Outcomes {
		if o := &result.Outcomes[i]; o.Refused != "" {
			return fmt.Errorf("found no method that learns from the data in %d trials; the first: %s: %s", result.Trials, result.Entries[o.Entry].Name, o.Refused)
		}
	}
	return errors.New("found no trial to choose from, expected at least one that is not left out")
}

func pointers(folds []Fused) (p []*Fused) {
	for i := range folds {
		p = append(p, &folds[i])
	}
	return p
}

// fused returns the members and candidates that are best by a value, with the models of their trials on
// some folds.
func (r *run) fused(result *Result, name string, value func(o *Outcome) float64, folds []int) Fused {
	f := Fused{Name: name}
	chosen, candidates := r.members(result.Outcomes, value)
	member := func(i int) Member {
		o := &result.Outcomes[i]
		m := Member{Entry: &result.Entries[o.Entry], Number: o.Entry, Trial: o.Setting, Validation: value(o), outcome: i}
		if len(folds) == 1 {
			m.Tried, m.Curve = o.Folds[folds[0]].Model, o.Folds[folds[0]].Curve
		}
		for _, k := range folds {
			m.tried = append(m.tried, o.Folds[k].Model)
		}
		return m
	}
	for _, i := range candidates {
		f.Candidates = append(f.Candidates, member(i))
	}
	f.Chosen = len(chosen)
	for _, i := range slices.Concat(chosen...) {
		f.Members = append(f.Members, member(i))
	}
	return f
}
