package app

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
)

// warnings prints the readers' warnings, each of which begins with a file name. Warnings that
// differ only in the file name are printed once, with the number of other files.
func (env *environment) warnings(sets ...*dataset.Dataset) {
	for _, w := range oncePerCause(sets) {
		env.note("warning: %s", w)
	}
}

// oncePerCause returns the first warning of each cause, in order of appearance. It adds the number
// of other files with the same cause.
func oncePerCause(sets []*dataset.Dataset) []string {
	var first []string
	at := make(map[string]int)  // index of a cause in first
	others := make(map[int]int) // number of further data sets with the cause
	for _, d := range sets {
		for _, w := range d.Warnings {
			cause := causeOf(w)
			if i, ok := at[cause]; ok {
				others[i]++
				continue
			}
			at[cause] = len(first)
			first = append(first, w)
		}
	}
	for i, n := range others {
		files := "files"
		if n == 1 {
			files = "file"
		}
		first[i] += fmt.Sprintf(" (also in %d other %s)", n, files)
	}
	return first
}

// causeOf returns a warning without the parts that differ between files: the file name, numbers and
// quoted text.
func causeOf(warning string) string {
	if _, text, ok := strings.Cut(warning, ": "); ok {
		warning = text
	}
	words := strings.FieldsFunc(warning, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == '(' || r == ')' })
	var plain []string
	for _, w := range words {
		if !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsDigit(r) || r == '"' }) {
			plain = append(plain, w)
		}
	}
	return strings.Join(plain, " ")
}

// warnOfSeen warns if system i of the divisions is evaluated on queries on which it was trained.
func warnOfSeen(env *environment, data, path string, i int, divisions []ensemble.Division) {
	common, known, all := 0, 0, 0
	for k := range divisions {
		d := &divisions[k]
		all += len(d.Test.Queries)
		if m := d.Systems[i].Model; m != nil {
			c, n := seenBy(m, d.Test)
			common, known = common+c, known+n
		}
	}
	if common > 0 {
		env.note("warning: %s %s was trained on: these results do not generalize to other queries", seenText(common, known, all, data), path)
	}
}

// warnOfOtherData warns if the models of system i of the divisions are of other data: no fold's model was
// trained on test queries of another fold. Cross-validation trains on these.
func warnOfOtherData(env *environment, data, path string, i int, divisions []ensemble.Division) {
	const enough = 20 // queries of large data, of which models know a sample
	known, all := 0, 0
	for k := range divisions {
		m := divisions[k].Systems[i].Model
		if m == nil {
			return
		}
		for j := range divisions {
			if j == k {
				continue
			}
			common, n := seenBy(m, divisions[j].Test)
			if common > 0 {
				return
			}
			known, all = known+n, all+len(divisions[j].Test.Queries)
		}
	}
	if known == 0 || known < min(enough, all) {
		return
	}
	first := &divisions[0]
	env.note("warning: %s: no fold's model was trained on queries of another fold of %s, as in cross-validation: the models are of other data. "+
		"The model of %s was trained on data with fingerprint %s, and the test data of %[3]s here have fingerprint %[5]s (\"listwise runs show\" prints both for a run)",
		path, data, first.Name, first.Systems[i].Model.Members()[0].Training.Fingerprint, first.Test.Fingerprint())
}

// seenBy returns the number of queries of d on which a model was trained, and the number of queries
// for which this is known. For a fusion, the member with the most such queries counts.
func seenBy(m *model.Model, d *dataset.Dataset) (common, known int) {
	for _, member := range m.Members() {
		if member.Training.Seen == nil {
			continue
		}
		data := d
		if d.Missing() > 0 {
			data = d.Clone()
			data.FillMissing(member.Missing)
		}
		columns, err := dataset.MatchNames(member.FeatureNames, data.FeatureNames, true)
		if err != nil {
			continue
		}
		if c, n := member.Training.Seen.Common(data, columns); c > common || known == 0 {
			common, known = c, n
		}
	}
	return common, known
}

// seenText describes the share of a file's queries that are among the training queries. For large
// data the share is an estimate from a sample.
func seenText(common, known, all int, path string) string {
	switch {
	case common == all:
		return fmt.Sprintf("all %d queries of %s are among the queries that", all, path)
	case known == all:
		return fmt.Sprintf("%d of %d queries of %s are among the queries that", common, all, path)
	}
	return fmt.Sprintf("about %.0f %% of the queries of %s are among the queries that", 100*float64(common)/float64(known), path)
}

// warnOfCommon warns if validation or test data share queries with other data.
func warnOfCommon(env *environment, name string, d *dataset.Dataset, ofName string, of *dataset.Dataset) {
	if sentence := method.CommonQueries(name, d, ofName, of); sentence != "" {
		env.note("warning: %s", sentence)
	}
}

// warnOfFolds warns if two parts of a fold share queries. Folds in which the same two parts do so
// are reported in one warning.
func warnOfFolds(env *environment, folds []tune.Fold) {
	type pair struct{ part, of string }
	for _, p := range []pair{{"test", "train"}, {"vali", "train"}, {"test", "vali"}} {
		var worst tune.Fold
		most, others := 0, 0
		for _, f := range folds {
			parts := map[string]*dataset.Dataset{"train": f.Train, "vali": f.Valid, "test": f.Test}
			if !f.Tested() {
				parts["test"] = nil
			}
			if parts[p.part] == nil || parts[p.of] == nil {
				continue
			}
			n := parts[p.part].CommonQueries(parts[p.of])
			if n > 0 && most > 0 {
				others++
			}
			if n > most {
				worst, most = f, n
			}
		}
		if most == 0 {
			continue
		}
		more := ""
		if others > 0 {
			more = ", as in " + counted(others, "other fold", "other folds")
		}
		env.note("warning: %d queries of the %s data of %s are also in its %s data%s: results on them do not generalize to other queries", most, p.part, worst.Name, p.of, more)
	}
}
