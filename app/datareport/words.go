package datareport

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The levels of findings.
const (
	problem = "problem" // something is probably wrong
	look    = "look"    // something to decide before a training
	note    = "note"    // something to know
)

const (
	// movedLevel is the p value, corrected, below which a distribution has moved.
	movedLevel = 0.05
	// movedMuch is the stability index from which on a move is called large, by the custom of credit scoring.
	movedMuch = 0.25
	// mostNames is how many features a sentence names.
	mostNames = 8
)

// find puts what is known into sentences, the most important first.
func (r *Report) find() {
	r.Findings = []Finding{}
	r.findSuspects()
	if r.Drift != nil {
		r.findDrift()
	}
	r.findQueries()
	r.findFeatures()
	r.findBest()
	order := []string{problem, look, note}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return slices.Index(order, a.Level) - slices.Index(order, b.Level) })
}

func (r *Report) say(level, text string, args ...any) {
	r.Findings = append(r.Findings, Finding{level, fmt.Sprintf(text, args...)})
}

// have begins a sentence on so many features.
func have(n int) string {
	if n == 1 {
		return "1 feature has"
	}
	return fmt.Sprintf("%d features have", n)
}

// names lists features in a sentence, all if they are few.
func names(list []string) string {
	if len(list) <= mostNames {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:mostNames], ", "), len(list)-mostNames)
}

// mostLabel is how many characters of a name are shown.
const mostLabel = 80

// label is the name, cut off where it is long.
func (f *Feature) label() string {
	if r := []rune(f.Name); len(r) > mostLabel {
		return string(r[:mostLabel-1]) + "…"
	}
	return f.Name
}

// which returns the names of the features for which a condition holds.
func (r *Report) which(is func(f *Feature) bool) []string {
	var list []string
	for j := range r.Features {
		if is(&r.Features[j]) {
			list = append(list, r.Features[j].label())
		}
	}
	return list
}

func (r *Report) findSuspects() {
	for j := range r.Features {
		if f := &r.Features[j]; f.Suspect != "" {
			level := problem
			if f.Suspect == "is called an identifier" {
				level = look
			}
			r.say(level, "%s may be no feature: it %s.", f.label(), f.Suspect)
		}
	}
}

func (r *Report) findDrift() {
	d := r.Drift
	if d.SharedQueries > 0 {
		r.say(problem, "%d of %d queries are in both data sets, with the same documents and grades: what is trained on one must not be measured on the other.", d.SharedQueries, r.Info.Queries)
	} else if d.SharedIDs > 0 {
		r.say(look, "%d of %d query ids are in both data sets, with other documents or grades.", d.SharedIDs, r.Info.Queries)
	}
	if !d.Tested {
		r.say(note, "Too few queries to test whether the data differ: %d and %d, at least %d of each are needed.", r.Info.Queries, d.Queries, fewQueries)
		return
	}
	var much, some []string
	for j := range d.Features {
		if m := &d.Features[j]; m.Holm < movedLevel && m.Stability >= movedMuch {
			much = append(much, r.Features[j].label())
		} else if m.Holm < movedLevel {
			some = append(some, r.Features[j].label())
		}
	}
	if len(much) > 0 {
		r.say(problem, "%s moved far (p < %g, corrected; stability index %g or more): %s.", have(len(much)), movedLevel, movedMuch, names(much))
	}
	if len(some) > 0 {
		r.say(look, "%s moved (p < %g, corrected): %s.", have(len(some)), movedLevel, names(some))
	}
	if d.Grades.Holm < movedLevel {
		r.say(problem, "The grades are distributed otherwise (p %s, corrected).", short(d.Grades.Holm))
	}
	if d.Lengths.Holm < movedLevel {
		r.say(look, "Queries have other numbers of documents: %s in the mean, and %s (p %s, corrected).", short(r.Info.DocumentsPerQuery.Mean), short(d.Lengths.Mean), short(d.Lengths.Holm))
	}
	if len(much)+len(some) == 0 {
		r.say(note, "No feature's distribution over queries differs between the data sets beyond chance.")
	}
}

func (r *Report) findQueries() {
	i := &r.Info
	if n := i.QueriesWithoutPair; n > 0 {
		level := note
		if 5*n > i.Queries {
			level = look
		}
		r.say(level, "%d of %d queries have documents of one grade only: no order of them is better than another, and nothing is learned from them.", n, i.Queries)
	}
	if n := i.Duplicates.ConflictingGrades; n > 0 {
		r.say(look, "%d documents have the features of another one of their query, and another grade: no model can tell them apart.", n)
	}
	if n := i.Duplicates.RepeatedIDs; n > 0 {
		r.say(look, "%d documents have the identifier of an earlier one of their query.", n)
	}
}

func (r *Report) findFeatures() {
	if list := r.which(func(f *Feature) bool { return f.Constant }); len(list) > 0 {
		r.say(note, "%s one value in all documents: %s.", have(len(list)), names(list))
	}
	if list := r.which(func(f *Feature) bool { return f.ConstantWithin && !f.Constant }); len(list) > 0 {
		r.say(note, "%s one value in every query, by which alone nothing is ranked; trees may divide by it: %s.", have(len(list)), names(list))
	}
	if len(r.Copies) > 0 {
		var list []string
		for _, group := range r.Copies {
			var each []string
			for _, j := range group {
				each = append(each, r.Features[j-1].label())
			}
			list = append(list, strings.Join(each[:min(4, len(each))], " = "))
		}
		r.say(look, "Features that are the same in every document: %s.", names(list))
	}
	if list := r.which(func(f *Feature) bool { return f.Missing > 0 }); len(list) > 0 {
		most := slices.MaxFunc(r.Features, func(a, b Feature) int { return sign(a.Missing - b.Missing) })
		r.say(look, "%s missing values, %s most: %s %% of its values. Trees learn from them as they are; for others, --missing says what they become.", have(len(list)), most.label(), short(100*most.Missing))
	}
	low, high := math.Inf(1), 0.0
	for j := range r.Features {
		if s := r.Features[j].Deviation; s > 0 {
			low, high = min(low, s), max(high, s)
		}
	}
	if high > 1000*low {
		r.say(look, "The features' scales differ by a factor of %s: trees do not care, weighted sums and networks need --normalize or --transform.", short(high/low))
	}
}

func (r *Report) findBest() {
	var best *Feature
	for j := range r.Features {
		if f := &r.Features[j]; f.Suspect == "" && (best == nil || f.best() > best.best()) {
			best = f
		}
	}
	if best == nil || best.best() <= r.Random {
		return
	}
	direction := ""
	if best.Down > best.Up {
		direction = ", the less of it the better"
	}
	r.say(note, "The best single feature is %s%s: NDCG@10 %.4f, from %.4f to %.4f, where random order has %.4f. A model should do better.", best.label(), direction, best.best(), best.Low, best.High, r.Random)
}

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
