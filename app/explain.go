package app

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/explain"
)

type explainFlags struct {
	scoring
	judging
	model, data, background string
	of, document            string
	above, below            string
	attribution             string
	sample, mostDocs        int
	measure, ties, permute  string
	repeats                 int
	permutations            int
	seed                    uint64
	top                     int
	svg, dependence         string
}

// The values of --permute.
const (
	withinQuery = "query"
	acrossData  = "data"
)

func newExplainCommand(env *environment) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain --model M --data FILE [--of QUERY [--document D | --above A --below B]]",
		Short: "Say why a model ranks so: features by importance, and what each contributes to a score",
		Long: `Without --of, the features of the model by importance: what a measure loses where
a feature's values are permuted among the documents of every query, its interval
over the queries, and the mean magnitude of its contributions to scores.

With --of QUERY, what the scores of its documents are made of; with --document D, of
one of them, feature by feature; with --above A --below B, why A stands above B:
the differences of their contributions, which add up to the difference of the scores.

Contributions are exact: base, contributions and remainder are the score. They are
of features as the model's scorer sees them, transformed and normalized, against a
background, the documents of --background or of the data:
  weighted sums, stumps   what a feature's part of the score is above its mean
  trees                   Shapley values: path (TreeSHAP), by the shares of the
                          background's documents at every split, or background,
                          against a sample of its documents
  networks, classes       integrated gradients from the background's mean document,
                          or background: Shapley values, of up to ` + strconv.Itoa(explain.MostEnumerated) + ` features
  fusions by combsum      the sum of the members' contributions
  other fusions           weighted votes of the members, not of features
Scores that depend on a query's other documents have none, but the importance by
loss of a measure, as any model has.

--svg draws what is printed: of the set each document's contributions by feature, or
with --dependence FEATURE those of one feature by its values.`,
		Example: `  listwise explain --model m.json --data test.txt
  listwise explain --model trees.json --data test.txt --background train.txt --svg features.svg
  listwise explain --model trees.json --data test.txt --dependence 3 --svg dependence.svg
  listwise explain --model trees.json --data test.txt --of 1 --document 1-0002 --top 3
  listwise explain --model m.json --data test.txt --of 1 --above 1-0002 --below 1-0005 --format json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.checkFlags(cmd); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	f.addTo(cmd)
	return cmd
}

func (f *explainFlags) addTo(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "", "model `file` written by train or tune, or of another system")
	fl.StringVar(&f.data, "data", "", "documents to explain, a `file`; judged where no query is named")
	fl.StringVar(&f.background, "background", "", "`file` of the documents that a document is compared with, such as the training data (default: those of --data)")
	fl.StringVar(&f.of, "of", "", "`query` whose documents are explained, by its id")
	fl.StringVar(&f.document, "document", "", "`document` of the query, by its id or, where documents have none, by its number")
	fl.StringVar(&f.above, "above", "", "`document` whose place above that of --below is explained")
	fl.StringVar(&f.below, "below", "", "`document` that it is compared with")
	fl.StringVar(&f.attribution, "attribution", string(explain.Auto), "`how` scores are divided among features: "+suggest.OneOf(explain.Attributions()))
	addWhole(fl, &f.sample, "background-docs", explain.DefaultSample, 1, "`number` of documents of the background that are drawn where each is compared with")
	addWhole(fl, &f.mostDocs, "max-docs", 5000, 0, "without --of: contributions are those of queries drawn until they have this `number` of documents; 0: of all")
	fl.StringVar(&f.measure, "measure", "ndcg@10", "`measure` whose loss is a feature's importance")
	fl.StringVar(&f.ties, "ties", "input", "`order` of documents with equal scores: "+strings.Join(measure.TiePolicies(), ", "))
	fl.StringVar(&f.permute, "permute", withinQuery, "`where` a feature's values are permuted: query (among the documents of each query), or data (among all documents)")
	addWhole(fl, &f.repeats, "repeats", explain.DefaultRepeats, 1, "`number` of permutations of each feature, over which losses are averaged")
	addWhole(fl, &f.permutations, "permutations", 10_000, 1, "`number` of sign flips that test whether a loss is none")
	fl.Uint64Var(&f.seed, "seed", 1, "`number` from which everything random is derived")
	addWhole(fl, &f.top, "top", 10, 0, "`number` of features that are listed, the largest; 0: all")
	fl.StringVar(&f.svg, "svg", "", "`file` for a drawing of what is printed")
	fl.StringVar(&f.dependence, "dependence", "", "`feature` whose contributions are drawn by its values, by its name or number")
	f.scoring.addTo(cmd)
	f.judging.addTo(cmd)
}

func (f *explainFlags) checkFlags(cmd *cobra.Command) error {
	if err := required(cmd, "model", "data"); err != nil {
		return err
	}
	switch {
	case f.of == "" && (f.document != "" || f.above != "" || f.below != ""):
		return usageErrorf("--document, --above and --below need --of QUERY, the query that the documents are of")
	case (f.above == "") != (f.below == ""):
		return usageErrorf("--above and --below go together: found one of them")
	case f.document != "" && f.above != "":
		return usageErrorf("--document cannot go with --above and --below: one document is explained, or two compared")
	case f.dependence != "" && (f.of != "" || f.svg == ""):
		return usageErrorf("--dependence goes with --svg FILE, for the drawing, and without --of")
	case f.permute != withinQuery && f.permute != acrossData:
		return usageErrorf("--permute %q: expected query or data", f.permute)
	case f.data == "-" && f.background == "-":
		return usageErrorf("--data and --background cannot both be standard input")
	}
	return f.targets().check()
}

func (f *explainFlags) targets() *targets {
	return new(targets).reads("--model", f.model).reads("--data", f.data).reads("--background", f.background).writes("--svg", f.svg)
}

// explaining is what all forms of the command work on.
type explaining struct {
	*explainFlags
	env       *environment
	model     *model.Model
	data      *dataset.Dataset
	explainer *explain.Explainer // nil if the model is refused
	refused   error              // then
}

func (f *explainFlags) run(ctx context.Context, env *environment) error {
	e := &explaining{explainFlags: f, env: env}
	if err := e.read(ctx); err != nil {
		return err
	}
	if f.of == "" {
		return e.set(ctx)
	}
	return e.query()
}

// read reads the model, the data and the background, and makes the explainer.
func (e *explaining) read(ctx context.Context) error {
	attribution, err := explain.ParseAttribution(e.attribution)
	if err != nil {
		return usageErrorf("--attribution: %w", err)
	}
	opts, err := e.options()
	if err != nil {
		return err
	}
	if e.model, err = e.env.loadModel("model", e.explainFlags.model); err != nil {
		return err
	}
	if err := e.forModels(&opts, e.model); err != nil {
		return err
	}
	opts.Table.Ungraded = e.of != ""
	if e.data, err = e.env.openAndWarn(ctx, "data", e.explainFlags.data, opts); err != nil {
		return err
	}
	// Importance holds, of each query, its mean by each feature twice, and in what order chance takes it.
	const query = 700
	held := int64(len(e.data.Queries)) * int64(query+24*e.data.Features)
	if err := checkCopied("data", e.explainFlags.data, e.data, held, opts.MaxBytes); err != nil {
		return err
	}
	background := e.data
	if e.background != "" {
		opts.Table.Ungraded = true
		if background, err = e.env.openAndWarn(ctx, "background", e.background, opts); err != nil {
			return err
		}
	}
	if err := e.checkModel(e.explainFlags.model, e.model, make(map[string]bool)); err != nil {
		return err
	}
	e.warnOfForm(e.env, e.explainFlags.model, e.explainFlags.data, e.model, e.data)
	if _, err := scoreWith(e.model, e.explainFlags.model, e.explainFlags.data, e.data); err != nil {
		return err
	}
	if background != e.data {
		if _, err := scoreWith(e.model, e.explainFlags.model, e.background, background); err != nil {
			return err
		}
	}
	return e.env.during("looking at the background", func() error {
		e.explainer, err = explain.New(e.model, background, explain.Options{Attribution: attribution, Sample: e.sample, Seed: e.seed})
		if has[*explain.RefusedError](err) && e.of == "" && attribution == explain.Auto {
			e.refused = err
			return nil
		}
		if err != nil {
			return usageErrorf("%s: %w", e.explainFlags.model, err)
		}
		return nil
	})
}
