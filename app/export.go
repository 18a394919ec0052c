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
	queries string // file of extractors
	options interchange.WriteOptions
}

func newExportCommand(env *environment) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export --model M --to FORMAT --out FILE",
		Short: "Convert a model to another system's format",
		Long: `Writes a model in the format of another system, with the same ranking.

Formats:
` + formatList(writes) + `

A model that the format cannot represent is an error that states the reason. Formats
for weighted sums do not take trees. Engines that see one document at a time do not
take per-query normalization or views. A fusion by combsum with --scale raw is written
as one model if all members are trees or all are linear. elasticsearch-native needs
--extractors, the queries that compute the features. Notes state what users of the file
must know.

--scores changes scores but not their order: shift adds a constant so that no score is
negative; logistic is 1/(1+exp(-score)), if the format supports it. --features defaults
to the model's names, or feature_1, feature_2, … without any. Files for Solr and
Elasticsearch list only features that change a score, because engines compute every
listed feature; --all-features lists all. --first-feature says whether the format's
columns count from 0 or 1.`,
		Example: `  listwise export --model trees.json --to lightgbm --out lightgbm.txt
  listwise export --model trees.json --to elasticsearch --name shop --scores shift --out shop.json
  listwise export --model m.json --to solr --name shop --features bm25,title,ctr,age,clicks --out shop.json
  listwise export --model trees.json --to elasticsearch-native --extractors queries.json --out shop.json
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
	fl.StringVar(&f.model, "model", "", "model `file`")
	fl.StringVar(&f.to, "to", "", "`format` of the exported model")
	fl.StringVar(&f.out, "out", "", "output `file`; - is standard output")
	fl.StringVar(&f.scores, "scores", interchange.RawScores.String(), "`how` to transform scores: raw, shift or logistic")
	fl.StringVar(&f.options.Name, "name", "", "model `name`, for formats that have one (default listwise)")
	fl.StringVar(&f.names, "features", "", "feature `names` in the engine, separated by commas or as JSON")
	fl.StringVar(&f.queries, "extractors", "", "`file` of feature extractors, for elasticsearch-native")
	fl.StringVar(&f.options.FeatureSet, "featureset", "", "`name` of the feature set, feature store or table")
	fl.BoolVar(&f.options.AllFeatures, "all-features", false, "list unused features too, in formats that list them by name")
	f.addTo(fl, "0")
	return cmd
}

func (f *exportFlags) targets() *targets {
	return new(targets).reads("--model", f.model).reads("--extractors", f.queries).writes("--out", f.out)
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
	if err := f.readExtractors(); err != nil {
		return err
	}
	m, err := env.loadModel("model", f.model)
	if err != nil {
		return err
	}
	return f.write(env, m)
}

// readExtractors reads --extractors.
func (f *exportFlags) readExtractors() error {
	if needs := interchange.NeedsExtractors(f.to); needs != (f.queries != "") {
		if needs {
			return usageErrorf("--to %s: expected --extractors FILE: a JSON list of {\"query_extractor\": {\"feature_name\": …, \"query\": {…}}}", f.to)
		}
		return usageErrorf("--extractors: found --to %s, expected a format that has extractors: elasticsearch-native", f.to)
	} else if !needs {
		return nil
	}
	data, err := model.ReadFile(f.queries)
	if err == nil {
		f.options.Extractors, err = interchange.ReadExtractors(f.queries, data)
	}
	if err != nil {
		return usageErrorf("--extractors: %w", err)
	}
	return nil
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
