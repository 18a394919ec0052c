package app

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/featurelog"
	"github.com/listwise/listwise/dataset/trec"
)

type logFlags struct {
	dataOutput
	judgementInput
	unjudgedFlag
	memoryLimit
	queries    string
	doc        string
	absent     string
	negative   string
	maxFeature int
	long       bool
}

func newDataLogCommand(env *environment) *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:   "log ANSWERS... --judgements FILE --out FILE",
		Short: "Make training data of the answers of a search engine",
		Long: `Reads answers of Solr, Elasticsearch or OpenSearch with logged features, and a
judgement list. Writes the documents with their features and grades, joined by query
and document. Answers may be one JSON text or several, a line each or not, and
compressed. Their content tells the form:
  Solr                 [features], dense or sparse, as JSON or CSV
  Elasticsearch,       fields._ltrlog of the learning-to-rank plugin, or matched_queries
  OpenSearch           with scores; also the answers of _msearch

The query of an answer is responseHeader.params.q (in Solr with echoParams=explicit) or
a member "query". --queries names a file with the queries, one a line, in the order of
the answers. --doc names the key of document ids.

A feature that a document lacks is 0, or missing with --absent missing. If documents of
one answer have the same features, but answers differ, the log is taken as dense, and
the difference is an error. --absent zero or missing takes it as sparse.

--unjudged says what happens to documents without a judgement: drop, zero (grade 0),
keep (an empty grade, in CSV, TSV and JSON lines) or error. The table shows, for the
queries with the most of them, judged documents that were not returned, documents that
were not judged, and documents that a query has again. --long shows all queries. A
warning names features that are the same in all documents.

` + judgementForms,
		Example: `  listwise data log answers.jsonl --judgements quepid.csv --out train.csv
  listwise data log page1.json page2.json --queries queries.txt --judgements judged.qrels --unjudged zero --out train.lwd`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	fl := cmd.Flags()
	f.dataOutput.addTo(cmd)
	f.judgementInput.addTo(cmd)
	f.unjudgedFlag.addTo(cmd, trec.UnjudgedDrop)
	f.memoryLimit.addTo(cmd)
	fl.StringVar(&f.queries, "queries", "", "`file` of queries, one a line, in the order of the answers")
	fl.StringVar(&f.doc, "doc", "", "`key` of document ids (default: id, _id)")
	fl.StringVar(&f.absent, "absent", "", "`value` of features a document lacks: zero or missing (default: zero)")
	fl.StringVar(&f.negative, "negative-grades", "error", "`how` to treat negative grades: error, zero or drop")
	addWhole(fl, &f.maxFeature, "max-feature", dataset.DefaultMaxFeature, 1, "largest `number` of features accepted")
	fl.BoolVar(&f.long, "long", false, "show all queries")
	return cmd
}

func (f *logFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	if len(args) == 0 {
		return needs(cmd, "a file of answers")
	}
	if err := f.judgementInput.check(cmd, args); err != nil {
		return err
	}
	if err := required(cmd, "out"); err != nil {
		return err
	}
	o := featurelog.Options{Files: args, Stdin: env.stdin, Doc: f.doc, MaxFeature: min(f.maxFeature, mostFeatures), Context: cmd.Context()}
	var err error
	if o.Unjudged, err = f.parse(env, f.out); err != nil {
		return err
	}
	if f.absent != "" {
		missing, err := parseAbsent(f.absent)
		if err != nil {
			return err
		}
		o.Absent = featurelog.AbsentZero
		if missing {
			o.Absent = featurelog.AbsentMissing
		}
	}
	if err := f.dataOutput.check(cmd, args...); err != nil {
		return err
	}
	if err := f.targets(args).check(); err != nil {
		return err
	}
	opts := f.options()
	opts.Context = cmd.Context()
	if opts.Negative, err = dataset.ParseNegative(f.negative); err != nil {
		return usageErrorf("--negative-grades: %w", err)
	}
	if o.Judged, err = f.judged(cmd, env, opts); err != nil {
		return err
	}
	if o.Judged.Weights() != nil {
		env.note("warning: %s: the document weights are not written; data join takes them", f.judgements)
	}
	if f.queries != "" {
		if o.Queries, err = featurelog.ReadQueries(f.queries, opts); err != nil {
			return logFault("--queries: ", err)
		}
	}
	o.MaxBytes = opts.MaxBytes
	bar := env.startProgress("reading answers", 0)
	defer bar.finish()
	o.Observe = bar.bytes
	err = featurelog.Open(o, func(l *featurelog.Log) error {
		opts.Missing = dataset.MissingKeep
		c := datafile.Conversion{Made: l, Name: "the answers", Options: opts}
		return f.convert(env, c, datafile.Convert, func(w writtenJSON) report {
			bar.finish()
			return f.report(w, l, &o, env.format == "text")
		})
	})
	return logFault("", err)
}

// logFault returns an error about files in the command's words.
func logFault(flag string, err error) error {
	if has[*fs.PathError](err) {
		return usageErrorf("%s%w", flag, err)
	}
	return err
}

// logJSON is the result for scripts.
type logJSON struct {
	writtenJSON
	NotReturned int            `json:"judged_not_returned"`
	NotJudged   int            `json:"returned_not_judged"`
	Duplicates  int            `json:"duplicates"`
	Unanswered  int            `json:"judged_queries_without_answer"`
	Absent      int            `json:"absent_features"`
	PerQuery    []logQueryJSON `json:"per_query"`
}

type logQueryJSON struct {
	Query       string `json:"query"`
	Documents   int    `json:"documents"`
	Judged      int    `json:"judged"`
	NotReturned int    `json:"judged_not_returned"`
	NotJudged   int    `json:"returned_not_judged"`
	Duplicates  int    `json:"duplicates"`
}

func (f *logFlags) report(w writtenJSON, l *featurelog.Log, o *featurelog.Options, text bool) report {
	queries := l.Queries()
	j := logJSON{writtenJSON: w, Absent: l.Absent(), PerQuery: mapped(queries, func(q featurelog.Query) logQueryJSON {
		return logQueryJSON{q.ID, q.Documents, q.Judged, q.NotReturned, q.NotJudged, q.Duplicates}
	})}
	answered := make(map[string]bool)
	for _, q := range queries {
		j.NotReturned, j.NotJudged, j.Duplicates = j.NotReturned+q.NotReturned, j.NotJudged+q.NotJudged, j.Duplicates+q.Duplicates
		answered[q.ID] = true
	}
	for i := range o.Judged.Queries {
		if !answered[o.Judged.Queries[i].ID] {
			j.Unanswered++
		}
	}
	absent := "zero"
	if o.Absent == featurelog.AbsentMissing {
		absent = "missing"
	}
	r := report{
		title:   fmt.Sprintf("wrote %s: queries %d, documents %d, features %d", w.Out, w.Queries, w.Documents, w.Features),
		written: true,
		columns: []string{"query", "documents", "judged, not returned", "not judged", "duplicates"},
		keys:    1,
		json:    j,
	}
	worst := slices.Clone(queries)
	slices.SortStableFunc(worst, func(a, b featurelog.Query) int {
		return cmp.Compare(b.NotReturned+b.NotJudged+b.Duplicates, a.NotReturned+a.NotJudged+a.Duplicates)
	})
	for _, q := range worst {
		r.rows = append(r.rows, []any{q.ID, q.Documents, q.NotReturned, q.NotJudged, q.Duplicates})
	}
	if !f.long && text {
		r.shorten("queries")
	}
	r.notes = append(r.notes,
		fmt.Sprintf("judged, not returned: %d; returned, not judged: %d (%s); duplicates: %d", j.NotReturned, j.NotJudged, o.Unjudged, j.Duplicates),
		fmt.Sprintf("judged queries without an answer: %d; features that documents lack: %d (%s)", j.Unanswered, j.Absent, absent))
	return r
}
