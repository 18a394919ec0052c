package app

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
)

func newDataInfoCommand(env *environment) *cobra.Command {
	var in dataInput
	var relevant relevance
	cmd := &cobra.Command{
		Use:   "info FILE...",
		Short: "Summarize a data set and report anomalies",
		Long: `Counts queries, documents and grades, and reports anomalies: queries without a
relevant document, constant features, and documents with equal features but different
grades. Missing values are counted, unless --missing replaces them. Several files
count as one data set.`,
		Example: `  listwise data info train.txt
  listwise data info S1.txt.gz S2.txt.gz S3.txt.gz --format json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := relevant.parse(); err != nil {
				return err
			}
			in.stream = true
			d, err := in.read(cmd, env, args)
			if err != nil {
				return err
			}
			threshold, err := relevant.of(env, d)
			if err != nil {
				return err
			}
			bar := env.startProgress("describing", 0)
			info := dataset.Describe(d, threshold)
			bar.finish()
			if err := d.Changed(); err != nil {
				return err
			}
			r := infoReport(info)
			r.narrow(cmp.Or(env.width(), infoWidth))
			return env.print(r)
		},
	}
	in.addTo(cmd)
	missing := cmd.Flags().Lookup("missing")
	missing.DefValue, in.missing = dataset.MissingKeep.String(), dataset.MissingKeep.String()
	missing.Usage = "`how` to treat missing values: keep, error, zero or min"
	relevant.addTo(cmd)
	return cmd
}

const infoWidth = 100

func infoReport(info dataset.Info) report {
	r := report{columns: []string{"what", "value"}, json: info}
	add := func(what string, value any) { r.rows = append(r.rows, []any{what, value}) }
	add("queries", info.Queries)
	add("documents", info.Documents)
	add("features", info.Features)
	if info.FeatureNames != nil {
		add("feature names", list(numberedNames(info.FeatureNames)))
	}
	for _, g := range info.Grades {
		if g.From == g.To {
			add("grade "+g.String(), g.Documents)
		} else {
			add(fmt.Sprintf("grades above %s up to %s", dataset.FormatGrade(g.From), dataset.FormatGrade(g.To)), g.Documents)
		}
	}
	add("relevance threshold", dataset.FormatGrade(info.Threshold))
	add("queries without a relevant document", info.QueriesWithoutRelevant)
	per := info.DocumentsPerQuery
	add("documents per query: minimum", per.Min)
	add("documents per query: median", per.Median)
	add("documents per query: mean", per.Mean)
	add("documents per query: maximum", per.Max)
	for _, b := range per.Histogram {
		add(fmt.Sprintf("queries of %s documents", interval(b.From, b.To)), b.Queries)
	}
	addWeights(add, "query", info.QueryWeights)
	addWeights(add, "document", info.DocumentWeights)
	add("constant features", featureNumbers(info.ConstantFeatures))
	add("constant within every query", featureNumbers(info.ConstantWithinQueries))
	if info.MissingValues != nil {
		add("documents that lack a feature", list(missingFeatures(info)))
	}
	add("documents that duplicate the features of another", info.Duplicates.Documents)
	add("duplicates with different grades", info.Duplicates.ConflictingGrades)
	add("duplicates both relevant and irrelevant", info.Duplicates.ConflictingRelevance)
	add("documents that repeat an id of their query", info.Duplicates.RepeatedIDs)
	for _, w := range info.Warnings {
		r.notes = append(r.notes, "warning: "+w)
	}
	return r
}

func addWeights(add func(what string, value any), of string, w *dataset.WeightRange) {
	if w == nil {
		return
	}
	add(of+" weights: minimum", w.Min)
	add(of+" weights: maximum", w.Max)
	add(of+" weights: sum", w.Sum)
	add(of+" weights of 0", w.Zero)
}

// missingFeatures lists the features with missing values, and for each the number of documents
// without a value.
func missingFeatures(info dataset.Info) string {
	parts := make([]string, len(info.MissingValues))
	for i, m := range info.MissingValues {
		name := strconv.Itoa(m.Feature)
		if info.FeatureNames != nil {
			name += " " + info.FeatureNames[m.Feature-1]
		}
		parts[i] = fmt.Sprintf("%s: %d", name, m.Documents)
	}
	return strings.Join(parts, ", ")
}

// numberedNames lists names with their numbers, counted from 1.
func numberedNames(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("%d %s", i+1, name)
	}
	return strings.Join(parts, ", ")
}

func interval(from, to int) string {
	if from == to {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d to %d", from, to)
}

// featureNumbers is a cell with feature numbers. The text form also states how many there are,
// because a single number looks like a count.
type featureNumbers []int

// String lists the numbers.
func (f featureNumbers) String() string { return numbers(f) }

func (f featureNumbers) counted() string {
	switch len(f) {
	case 0:
		return f.String()
	case 1:
		return "1 feature: " + f.String()
	}
	return fmt.Sprintf("%d features: %s", len(f), f)
}

// numbers lists ascending numbers, with ranges such as 3-7.
func numbers(list []int) string {
	if len(list) == 0 {
		return "none"
	}
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.Itoa(list[i])
		if j > i {
			part += "-" + strconv.Itoa(list[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
