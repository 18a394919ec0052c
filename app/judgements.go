package app

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/trec"
)

// conflicts has the flag of commands that read judgement lists.
type conflicts struct{ policy string }

func (c *conflicts) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.policy, "conflicts", dataset.ConflictsError.String(), "`how` to treat different grades of one document: error, mean or last")
}

func (c *conflicts) apply(opts *dataset.Options) (err error) {
	if opts.Conflicts, err = dataset.ParseConflicts(c.policy); err != nil {
		return usageErrorf("--conflicts: %w", err)
	}
	return nil
}

// judgementInput has the flags of commands that join documents with a judgement list.
type judgementInput struct {
	judgements string
	conflicts
}

// judgementForms describes judgement lists in help texts.
const judgementForms = `The list has queries, documents and grades, in one of these forms:
  Quepid                  CSV (basic or detailed), JSON, or text for learning to rank
  Rated Ranking Evaluator ratings in JSON
  TREC, BEIR              lines of QUERY ITERATION DOCUMENT GRADE, or of QUERY DOCUMENT
                          GRADE under a header
Its content tells the form. Queries and documents without a grade are not judged.
--conflicts says what happens to a document with several grades for a query: error,
mean, or last (the last in the file). Equal judgements are merged.`

func (j *judgementInput) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&j.judgements, "judgements", "", "judgement list, a `file`; - is standard input")
	j.conflicts.addTo(cmd)
}

// check returns an error for invalid flags of a command that reads the given files.
func (j *judgementInput) check(cmd *cobra.Command, inputs []string) error {
	if err := required(cmd, "judgements"); err != nil {
		return err
	}
	if j.judgements == "-" && slices.Contains(inputs, "-") {
		return usageErrorf("the data and --judgements cannot both be standard input")
	}
	return nil
}

// judged reads the list. What the options say of formats and columns is about the data.
func (j *judgementInput) judged(cmd *cobra.Command, env *environment, opts dataset.Options) (*dataset.Dataset, error) {
	opts.Input, opts.Table = "qrels", dataset.TableOptions{}
	if err := j.apply(&opts); err != nil {
		return nil, err
	}
	return env.openAndWarn(cmd.Context(), "judgements", j.judgements, opts)
}

// unjudgedFlag is the flag for documents without a judgement.
type unjudgedFlag struct{ policy string }

func (u *unjudgedFlag) addTo(cmd *cobra.Command, standard trec.Unjudged) {
	cmd.Flags().StringVar(&u.policy, "unjudged", standard.String(), "`how` to treat unjudged documents: error, zero, drop or keep")
}

// parse returns the policy for documents that are written to a file.
func (u *unjudgedFlag) parse(env *environment, out string) (trec.Unjudged, error) {
	unjudged, err := trec.ParseUnjudged(u.policy)
	if err != nil {
		return 0, usageErrorf("--unjudged: %w", err)
	}
	if out == "-" {
		out = env.streamName()
	}
	if unjudged == trec.UnjudgedKeep && !datafile.KeepsUnjudged(out) {
		return 0, usageErrorf("--unjudged keep: found the output %s, expected CSV, TSV or JSON lines, which have empty grades", out)
	}
	return unjudged, nil
}
