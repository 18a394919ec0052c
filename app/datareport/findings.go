package datareport

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/dataset"
)

const (
	// movedLevel is the significance level for a changed distribution. It applies to corrected
	// p-values.
	movedLevel = 0.05
	// movedMuch is the stability index of a large change. The value is usual in credit scoring.
	movedMuch = 0.25
)

func (r *Report) find() {
	r.Findings = report.Findings{}
	r.findSuspects()
	if r.Drift != nil {
		r.findDrift()
	}
	r.findQueries()
	r.findFeatures()
	r.findBest()
	r.Findings.Sort()
}

// have returns the beginning of a sentence about n features.
func have(n int) string {
	if n == 1 {
		return "1 feature has"
	}
	return fmt.Sprintf("%d features have", n)
}

func (f *Feature) label() string { return report.Label(f.Name) }

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
			level := report.Problem
			if f.Suspect == "has the name of an identifier" {
				level = report.Look
			}
			r.Findings.Say(level, "%s is probably not a feature: it %s.", f.label(), f.Suspect)
		}
	}
}

func (r *Report) findDrift() {
	d := r.Drift
	if d.SharedQueries > 0 {
		r.Findings.Say(report.Problem, "%d of %d queries are in both data sets, with the same documents and grades: a model trained on one must not be evaluated on the other.", d.SharedQueries, r.Info.Queries)
	} else if d.SharedIDs > 0 {
		r.Findings.Say(report.Look, "%d of %d query ids are in both data sets, with other documents or grades.", d.SharedIDs, r.Info.Queries)
	}
	if !d.Tested {
		r.Findings.Say(report.Note, "There are too few queries to test whether the data differ: %d and %d; each data set needs at least %d.", r.Info.Queries, d.Queries, fewQueries)
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
		r.Findings.Say(report.Problem, "%s a very different distribution (p < %g, corrected; stability index %g or more): %s.", have(len(much)), movedLevel, movedMuch, report.Names(much))
	}
	if len(some) > 0 {
		r.Findings.Say(report.Look, "%s a different distribution (p < %g, corrected): %s.", have(len(some)), movedLevel, report.Names(some))
	}
	if d.Grades.Holm < movedLevel {
		r.Findings.Say(report.Problem, "The distribution of grades differs (p %s, corrected).", short(d.Grades.Holm))
	}
	if d.Lengths.Holm < movedLevel {
		r.Findings.Say(report.Look, "The numbers of documents in a query differ: means of %s and %s (p %s, corrected).", short(r.Info.DocumentsPerQuery.Mean), short(d.Lengths.Mean), short(d.Lengths.Holm))
	}
	if len(much)+len(some) == 0 {
		r.Findings.Say(report.Note, "No feature's distribution over queries differs significantly between the data sets.")
	}
}

func (r *Report) findQueries() {
	i := &r.Info
	if n := i.QueriesWithoutPair; n > 0 {
		level := report.Note
		if 5*n > i.Queries {
			level = report.Look
		}
		r.Findings.Say(level, "%d of %d queries have documents of one grade only: all their rankings are equally good, and training learns nothing from them.", n, i.Queries)
	}
	if n := i.Duplicates.ConflictingGrades; n > 0 {
		r.Findings.Say(report.Look, "%d documents have the same features as another document of their query, but another grade: no model can distinguish them.", n)
	}
	if n := i.Duplicates.RepeatedIDs; n > 0 {
		r.Findings.Say(report.Look, "%d documents have the same identifier as an earlier document of their query.", n)
	}
}

func (r *Report) findFeatures() {
	if list := r.which(func(f *Feature) bool { return f.Constant }); len(list) > 0 {
		r.Findings.Say(report.Note, "%s one value in all documents: %s.", have(len(list)), report.Names(list))
	}
	if list := r.which(func(f *Feature) bool { return f.ConstantWithin && !f.Constant }); len(list) > 0 {
		r.Findings.Say(report.Note, "%s one value within each query, which cannot rank documents alone but may help trees: %s.", have(len(list)), report.Names(list))
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
		r.Findings.Say(report.Look, "Features that are equal in every document: %s.", report.Names(list))
	}
	if list := r.which(func(f *Feature) bool { return f.Missing > 0 }); len(list) > 0 {
		most := slices.MaxFunc(r.Features, func(a, b Feature) int { return cmp.Compare(a.Missing, b.Missing) })
		r.Findings.Say(report.Look, "%s missing values, %s most: %s %% of its values. Trees use them as they are; other models need --missing.", have(len(list)), most.label(), short(100*most.Missing))
	}
	low, high := math.Inf(1), 0.0
	for j := range r.Features {
		if s := r.Features[j].Deviation; s > 0 {
			low, high = min(low, s), max(high, s)
		}
	}
	if high > 1000*low {
		r.Findings.Say(report.Look, "The features' scales differ by a factor of %s: trees are not affected, linear functions and networks need --normalize or --transform.", short(high/low))
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
		direction = ", lower is better"
	}
	r.Findings.Say(report.Note, "The best single feature is %s%s: NDCG@10 %.4f (interval %.4f to %.4f); random order has %.4f. A model should do better.", best.label(), direction, best.best(), best.Low, best.High, r.Random)
}

const (
	// nearlyAll is a share of the distance between random and perfect ranking. A feature that
	// covers more of the distance is suspect.
	nearlyAll = 0.9
	// fewDocs is the number of documents below which distinct values do not indicate identifiers.
	fewDocs = 50
)

// suspect marks columns that are probably not features: values known only after the judgement, and
// identifiers.
func (r *Report) suspect(sample *dataset.Dataset) {
	values := make([]float64, sample.Docs())
	for j := range r.Features {
		f := &r.Features[j]
		column(values, sample, j)
		f.Suspect = r.suspicion(f, sample, values)
	}
}

// suspicion returns the reason why a column is probably not a feature, or "".
func (r *Report) suspicion(f *Feature, d *dataset.Dataset, values []float64) string {
	switch {
	case f.Constant:
		return ""
	case equalTo(values, d.Grades()):
		return "equals the grade of every document"
	case math.Abs(f.WithGrade) > 0.999:
		return "orders the documents of every query as their grades do"
	case r.Random < 0.999 && f.best()-r.Random > nearlyAll*(1-r.Random):
		return fmt.Sprintf("ranks nearly perfectly by itself: NDCG@10 %.4f, where random order has %.4f", f.best(), r.Random)
	case d.Docs() < fewDocs:
		return ""
	case f.Distinct == d.Docs() && wholeNumbers(values):
		return "has a different whole number in every document, like an identifier" + inOrder(values)
	case f.ConstantWithin && f.Distinct == len(d.Queries) && f.Distinct > 10 && f.Missing == 0 && wholeNumbers(values):
		return "has a different whole number in every query, like a query identifier"
	case f.Distinct > 1 && isID(f.Name):
		return "has the name of an identifier"
	}
	return ""
}

// equalTo reports whether values equal the grades, rounded to float32 as features are.
func equalTo(values, grades []float64) bool {
	for i, v := range values {
		if v != float64(float32(grades[i])) {
			return false
		}
	}
	return true
}

func wholeNumbers(values []float64) bool {
	for _, v := range values {
		if v != math.Trunc(v) {
			return false
		}
	}
	return true
}

// inOrder returns a clause if values ascend or descend strictly from each document to the next.
// Otherwise it returns "".
func inOrder(values []float64) string {
	up, down := true, true
	for i := 1; i < len(values); i++ {
		up, down = up && values[i] > values[i-1], down && values[i] < values[i-1]
	}
	if up || down {
		return ", and follows the order of the file"
	}
	return ""
}

func isID(name string) bool {
	name = strings.ToLower(name)
	return name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "-id") || strings.HasSuffix(name, ".id") || name == "docid" || name == "qid"
}
