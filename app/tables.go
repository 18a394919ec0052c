package app

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/internal/suggest"
)

// tables are the flags that say how an input is read whose form leaves that open.
type tables struct {
	input, delimiter        string
	query, grade, doc       string
	weight, queryWeight     string
	features, oneHot        string
	negative                string
	featuresGiven, hotGiven func() bool
}

func (t *tables) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.input, "input", "", "input `format` (lwd: cache): "+suggest.OneOf(datafile.Formats()))
	f.StringVar(&t.query, "query", "", "`column` of query ids (default: query, qid, query_id, …)")
	f.StringVar(&t.grade, "grade", "", "`column` of grades (default: grade, label, relevance, …)")
	f.StringVar(&t.doc, "doc", "", "`column` of document ids (default: doc, docid, document_id, …)")
	f.StringVar(&t.weight, "weight", "", "`column` of document weights (default: document_weight)")
	f.StringVar(&t.queryWeight, "query-weight", "", "`column` of query weights, constant within a query (default: query_weight)")
	f.StringVar(&t.features, "features", "", "feature `columns`, or \"all but A,B\" (default: all but ids, grades, weights)")
	f.StringVar(&t.oneHot, "one-hot", "", "text `columns` to one-hot encode, or auto for all text columns")
	f.StringVar(&t.delimiter, "delimiter", "", "CSV `delimiter`, or tab (default: comma)")
	f.StringVar(&t.negative, "negative-grades", "error", "`how` to treat negative grades: error, zero or drop")
	t.featuresGiven = func() bool { return f.Changed("features") }
	t.hotGiven = func() bool { return f.Changed("one-hot") }
}

// allBut begins a list of the columns that are no features.
const allBut = "all but "

// apply adds what the flags ask for to a reader's options.
func (t *tables) apply(opts *dataset.Options) (err error) {
	if t.input != "" && !slices.Contains(datafile.Formats(), t.input) {
		return usageErrorf("--input %s%s", t.input, suggest.Or(t.input, datafile.Formats(), ": expected "+suggest.OneOf(datafile.Formats())+" (--data and --train name files)"))
	}
	opts.Input = t.input
	if opts.Negative, err = dataset.ParseNegative(t.negative); err != nil {
		return usageErrorf("--negative-grades: %w", err)
	}
	o := dataset.TableOptions{Query: t.query, Grade: t.grade, Doc: t.doc, Weight: t.weight, QueryWeight: t.queryWeight}
	if o.Delimiter, err = t.delimiterByte(); err != nil {
		return err
	}
	if list, but := strings.CutPrefix(t.features, allBut); but {
		o.Except, err = columnList("features", list)
	} else if t.featuresGiven() {
		o.Features, err = columnList("features", t.features)
	}
	if err != nil {
		return err
	}
	if t.oneHot == "auto" {
		o.OneHotAuto = true
	} else if t.hotGiven() {
		if o.OneHot, err = columnList("one-hot", t.oneHot); err != nil {
			return err
		}
	}
	opts.Table = o
	return nil
}

// columnList splits names at commas.
func columnList(flag, list string) ([]string, error) {
	names := strings.Split(list, ",")
	for i, name := range names {
		if names[i] = strings.TrimSpace(name); names[i] == "" {
			return nil, usageErrorf("--%s %q: expected names of columns, separated by commas", flag, list)
		}
		if slices.Contains(names[:i], names[i]) {
			return nil, usageErrorf("--%s: column %s is given twice", flag, names[i])
		}
	}
	return names, nil
}

// delimiterByte is the delimiter, 0 for the format's own.
func (t *tables) delimiterByte() (byte, error) {
	switch {
	case t.delimiter == "":
		return 0, nil
	case t.delimiter == "tab" || t.delimiter == `\t`:
		return '\t', nil
	case len(t.delimiter) == 1 && strings.ContainsAny(t.delimiter, "\t !#$%&'*,/:;<=>?@\\^_`|~"):
		return t.delimiter[0], nil
	}
	return 0, usageErrorf("--delimiter %q: expected tab or one of the characters , ; : | and others that do not occur in numbers, quotes or names", t.delimiter)
}
