package app

import (
	"bufio"
	"io"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/interchange"
)

type exportFlags struct {
	numberingFlag
	model   string
	to      string
	out     string
	scores  string
	names   string
	options interchange.WriteOptions
}

func newExportCommand(env *environment) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export --model M --to FORMAT --out FILE",
		Short: "Write a model for another system",
		Long: `Writes a model in the format of another system, in which it ranks as it does here.

Formats:
` + formatList(writes) + `

What the format cannot express is an error that says why: trees do not go into a
format for weighted sums, and per-query normalization or views not into an engine that
sees one document. A fusion by combsum with --scale raw, of trees alone or of linear
models alone, is written as one model. Notes say what a user of the file must know.`,
		Example: `  listwise export --model trees.json --to lightgbm --out lightgbm.txt
  listwise export --model trees.json --to elasticsearch --name shop --scores shift --out shop.json
  listwise export --model m.json --to solr --name shop --features bm25,title,ctr,age,clicks --out shop.json
  listwise export --model m.json --to sql --featureset products --out score.sql`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "model", "to", "out"); err != nil {
				return err
			}
			return f.run(env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "", "model `file` written by train, tune, fuse or import, or by another system")
	fl.StringVar(&f.to, "to", "", "`format` to write")
	fl.StringVar(&f.out, "out", "", "`file` to write; - is standard output")
	fl.StringVar(&f.scores, "scores", interchange.RawScores.String(), "`how` scores are changed, which keeps their order: raw, shift (by a constant, so that none is negative) or logistic (1/(1+exp(-score)), where the format has it)")
	fl.StringVar(&f.options.Name, "name", "", "`name` of the model in formats that have one (default listwise)")
	fl.StringVar(&f.names, "features", "", "`names` of the features in the engine, separated by commas or as a JSON list (default: the model's, or feature_1, feature_2, … if it has none)")
	fl.StringVar(&f.options.FeatureSet, "featureset", "", "`name` of the feature set or store, or of the table, in formats that have one")
	f.addTo(fl, "0")
	return cmd
}

func (f *exportFlags) targets() *targets {
	return new(targets).reads("--model", f.model).writes("--out", f.out)
}

func (f *exportFlags) run(env *environment) error {
	if err := f.targets().check(); err != nil {
		return err
	}
	err := interchange.CheckWritable(f.to)
	if err != nil {
		return usageErrorf("--to: %w", err)
	}
	if f.options.FirstFeature, err = f.numbering(); err != nil {
		return err
	}
	if f.options.Scores, err = interchange.ParseScores(f.scores); err != nil {
		return usageErrorf("--scores: %w", err)
	}
	if f.options.Names, err = parseFeatures(f.names); err != nil {
		return err
	}
	m, err := env.loadModel("model", f.model)
	if err != nil {
		return err
	}
	return f.write(env, m)
}

func (f *exportFlags) write(env *environment, m *model.Model) error {
	var notes []string
	put := func(w io.Writer) (err error) {
		notes, err = interchange.Write(w, m, f.to, f.options)
		return err
	}
	var err error
	if f.out == "-" {
		w := bufio.NewWriter(env.stdout)
		if err = put(w); err == nil {
			err = w.Flush()
		}
	} else {
		err = atomicfile.Write(f.out, put)
	}
	switch {
	case has[*interchange.RefusalError](err):
		return usageErrorf("%s: %w", f.model, err)
	case err != nil:
		return err
	}
	env.notesOn(f.out, notes)
	return nil
}
