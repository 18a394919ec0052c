package auto

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/tune"
)

// group returns the name by which trials are of one candidate: the method, its scorer and its views,
// whatever the setting and the seed.
func group(e *tune.Entry) string {
	name, _, _ := strings.Cut(e.Name, ".seed")
	return name
}

// members returns the trials that a fusion is made of, best first by a value, and all that it is
// chosen from: of each method, scorer and views the best trial; of these the best, at most as many as
// the configuration has and at most half of them. Of equals the first counts.
func (r *run) members(outcomes []Outcome, value func(o *Outcome) float64) (chosen, candidates []int) {
	at := make(map[string]int)
	for i := range outcomes {
		o := &outcomes[i]
		if o.Folds == nil {
			continue
		}
		name := group(&r.config.Entries[o.Entry])
		k, ok := at[name]
		switch {
		case !ok:
			at[name] = len(candidates)
			candidates = append(candidates, i)
		case value(o) > value(&outcomes[candidates[k]]):
			candidates[k] = i
		}
	}
	slices.SortStableFunc(candidates, func(a, b int) int {
		return cmp.Or(cmp.Compare(value(&outcomes[b]), value(&outcomes[a])), cmp.Compare(a, b))
	})
	return candidates[:min(r.Members, (len(candidates)+1)/2)], candidates
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
	for _, f := range append([]*Fused{&result.Final}, pointers(result.Folds)...) {
		if err := r.setLengths(f); err != nil {
			return err
		}
	}
	return nil
}

// refusal is the error of trials that were all refused.
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

// fused returns the members that are best by a value, and the candidates, with what is known of their
// trials on some folds.
func (r *run) fused(result *Result, name string, value func(o *Outcome) float64, folds []int) Fused {
	f := Fused{Name: name}
	chosen, candidates := r.members(result.Outcomes, value)
	for _, i := range candidates {
		o := &result.Outcomes[i]
		m := Member{Entry: &result.Entries[o.Entry], Number: o.Entry, Trial: o.Setting, Validation: value(o)}
		if len(folds) == 1 {
			m.Tried = o.Folds[folds[0]].Model
		}
		for _, k := range folds {
			m.tried = append(m.tried, o.Folds[k].Model)
		}
		f.Candidates = append(f.Candidates, m)
	}
	f.Members = f.Candidates[:len(chosen):len(chosen)]
	return f
}
