package app

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/trec"
)

type joinFlags struct {
	dataInput
	dataOutput
	judgementInput
	unjudgedFlag
}

func newDataJoinCommand(env *environment) *cobra.Command {
	var f joinFlags
	cmd := &cobra.Command{
		Use:   "join FILE... --judgements FILE --out FILE",
		Short: "Add the grades of a judgement list to documents",
		Long: `Reads documents with features and ids, and a judgement list. Writes the documents with
the judged grades, joined by query and document. Existing grades are replaced; a table
needs none.

` + judgementForms + `
Document weights in a column document_weight, as "clicks judge" writes them, replace the
weights of the data.

--unjudged says what happens to documents without a judgement: error, zero (grade 0),
drop, or keep (an empty grade, in CSV, TSV and JSON lines). A warning counts judged
documents that have no features.`,
		Example: `  listwise data join features.csv --judgements quepid.csv --unjudged zero --out train.csv
  listwise data join features.txt --judgements judged.qrels --unjudged drop --negative-grades zero --out train.lwd`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	f.dataInput.addTo(cmd)
	f.dataOutput.addTo(cmd)
	f.judgementInput.addTo(cmd)
	f.unjudgedFlag.addTo(cmd, trec.UnjudgedError)
	return cmd
}

type joinJSON struct {
	writtenJSON
	Judged   int `json:"judged"`
	Unjudged int `json:"unjudged"`
	Absent   int `json:"judged_without_features"`
	Queries  int `json:"queries_without_judgement"`
}

func (f *joinFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	unjudged, err := f.parse(env, f.out)
	if err != nil {
		return err
	}
	inputs := slices.Concat(f.data, args)
	if err := f.judgementInput.check(cmd, inputs); err != nil {
		return err
	}
	if err := f.dataOutput.check(cmd, inputs...); err != nil {
		return err
	}
	if err := f.targets(inputs).check(); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	judged, err := f.judged(cmd, env, opts)
	if err != nil {
		return err
	}
	f.ungraded = true
	data, err := f.readAndWarn(cmd, env, args)
	if err != nil {
		return err
	}
	var d *dataset.Dataset
	var n trec.Graded
	err = env.during("joining", func() (err error) {
		d, n, err = trec.Grade(data, judged, unjudged)
		return err
	})
	if err != nil {
		return usageErrorf("--judgements %s: %w", f.judgements, err)
	}
	f.warn(env, n)
	r, w := f.written(d)
	r.rows = append(r.rows, []any{"judged documents", n.Judged}, []any{"documents without a judgement: " + unjudged.String(), n.Unjudged},
		[]any{"judged documents without features", n.Absent}, []any{"queries without a judgement", n.Queries})
	r.json = joinJSON{w, n.Judged, n.Unjudged, n.Absent, n.Queries}
	return f.write(cmd.Context(), env, d, r)
}

func (f *joinFlags) warn(env *environment, n trec.Graded) {
	if n.Absent > 0 {
		env.note("warning: %s: ignored judged documents without features: %d", f.judgements, n.Absent)
	}
	if n.Queries > 0 {
		env.note("warning: %s: queries of the data without a judged document: %d", f.judgements, n.Queries)
	}
}
