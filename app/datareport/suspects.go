package datareport

import (
	"fmt"
	"math"
	"strings"

	"github.com/listwise/listwise/dataset"
)

const (
	// nearlyAll is the share of what lies between a random and a perfect ranking from which on
	// one feature reaches more than features do.
	nearlyAll = 0.9
	// fewDocs is the number of documents below which different values say nothing.
	fewDocs = 50
)

// suspect marks features that may be no features: what is known only after the judgement, and
// identifiers.
func (r *Report) suspect(sample *dataset.Dataset) {
	values := make([]float64, sample.Docs())
	for j := range r.Features {
		f := &r.Features[j]
		column(values, sample, j)
		f.Suspect = r.suspicion(f, sample, values)
	}
}

// suspicion says why a feature is suspect, "" if it is not.
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
		return "is another whole number in every document: an identifier?" + inOrder(values)
	case f.ConstantWithin && f.Distinct == len(d.Queries) && f.Distinct > 10 && f.Missing == 0 && wholeNumbers(values):
		return "is another whole number in every query: its identifier?"
	case f.Distinct > 1 && isID(f.Name):
		return "is called an identifier"
	}
	return ""
}

// equalTo reports whether values, which were rounded as features are, are the grades.
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

// inOrder says that values ascend or descend from each document to the next.
func inOrder(values []float64) string {
	up, down := true, true
	for i := 1; i < len(values); i++ {
		up, down = up && values[i] > values[i-1], down && values[i] < values[i-1]
	}
	if up || down {
		return " It follows the order of the file."
	}
	return ""
}

// isID reports whether a name ends in the word id.
func isID(name string) bool {
	name = strings.ToLower(name)
	return name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "-id") || strings.HasSuffix(name, ".id") || name == "docid" || name == "qid"
}
