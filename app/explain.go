package app

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
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
		Short: "Explain a model by feature importance, or single scores",
		Long: `Without --of, lists the features by importance: how much a measure drops when the
feature's values are permuted (within queries, or over all data with --permute data),
with an interval over the queries, and the mean magnitude of its contributions.

With --of QUERY, shows the contributions to the scores of its documents; with
--document D, those of one document, feature by feature. With --above A --below B,
shows why A is ranked above B: the differences of their contributions, which add up to
the difference of the scores.

Contributions are exact: base value, contributions and remainder add up to the score.
They refer to features after preprocessing, relative to the background documents of
--background (default: the data):
  linear, stumps     the feature's part of the score minus its mean
  trees              Shapley values: path (TreeSHAP) weights each split by its share of
                     background documents; background compares with a sample of
                     --background-docs documents
  networks, fm,
  classes            integrated gradients from the mean background document; or
                     background: Shapley values, for up to ` + strconv.Itoa(explain.MostEnumerated) + ` features
  combsum fusions    the sum of the members' contributions
  other fusions      weighted votes of the members instead of features
Models whose scores depend on the query's other documents have importances but no
contributions.

--svg plots what is printed. With --dependence FEATURE it plots the contributions of
one feature against its values.`,
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
	fl.StringVar(&f.model, "model", "", "model `file`")
	fl.StringVar(&f.data, "data", "", "data `file`; must be judged unless --of is given")
	fl.StringVar(&f.background, "background", "", "background data `file`, such as the training data (default: --data)")
	fl.StringVar(&f.of, "of", "", "id of the `query` to explain")
	fl.StringVar(&f.document, "document", "", "`document` to explain, by id, or by number without ids")
	fl.StringVar(&f.above, "above", "", "`document` whose rank above --below is explained")
	fl.StringVar(&f.below, "below", "", "`document` to compare --above with")
	fl.StringVar(&f.attribution, "attribution", string(explain.Auto), "`method` of attribution: "+suggest.OneOf(explain.Attributions()))
	addWhole(fl, &f.sample, "background-docs", explain.DefaultSample, 1, "`number` of background documents to sample")
	addWhole(fl, &f.mostDocs, "max-docs", 5000, 0, "`number` of documents to explain without --of; 0: all")
	fl.StringVar(&f.measure, "measure", "ndcg@10", "`measure` for feature importance")
	fl.StringVar(&f.ties, "ties", "input", "`order` of equal scores (average: all orders): "+strings.Join(measure.TiePolicies(), ", "))
	fl.StringVar(&f.permute, "permute", withinQuery, "permute values within queries or over all data: `query` or data")
	addWhole(fl, &f.repeats, "repeats", explain.DefaultRepeats, 1, "`number` of permutations of each feature")
	addWhole(fl, &f.permutations, "permutations", 10_000, 1, "`number` of sign flips in the significance test")
	fl.Uint64Var(&f.seed, "seed", 1, "random `seed`")
	addWhole(fl, &f.top, "top", 10, 0, "`number` of features to list; 0: all")
	fl.StringVar(&f.svg, "svg", "", "`file` for a plot of the result (SVG, or .pdf)")
	fl.StringVar(&f.dependence, "dependence", "", "`feature` to plot contributions against, by name or number")
	f.scoring.addTo(cmd)
	f.judging.addTo(cmd)
}

func (f *explainFlags) checkFlags(cmd *cobra.Command) error {
	if err := required(cmd, "model", "data"); err != nil {
		return err
	}
	switch {
	case f.of == "" && (f.document != "" || f.above != "" || f.below != ""):
		return usageErrorf("--document, --above and --below need --of QUERY, the query of the documents")
	case (f.above == "") != (f.below == ""):
		return usageErrorf("--above and --below go together: found one of them")
	case f.document != "" && f.above != "":
		return usageErrorf("--document cannot be combined with --above and --below, expected one document or two")
	case f.dependence != "" && (f.of != "" || f.svg == ""):
		return usageErrorf("--dependence needs --svg FILE, and excludes --of")
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

type explaining struct {
	*explainFlags
	env       *environment
	model     *model.Model
	data      *dataset.Dataset
	explainer *explain.Explainer // nil if the model cannot be explained
	refused   error              // why there is no explainer
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

// read reads the model, the data and the background documents, and constructs the explainer.
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
	// Importance takes about 700 bytes for each query, and 24 more for each query and feature.
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
	return e.env.during("reading the background", func() error {
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

type importanceJSON struct {
	Measure    string                  `json:"measure"`
	Convention string                  `json:"convention"`
	Mean       any                     `json:"mean"`
	Queries    int                     `json:"queries"`
	Permuted   string                  `json:"permuted_within"`
	Repeats    int                     `json:"repeats"`
	Seed       uint64                  `json:"seed"`
	About      string                  `json:"contributions,omitempty"`
	Documents  int                     `json:"documents_explained"`
	Features   []featureImportanceJSON `json:"features"`
	Members    []memberJSON            `json:"members,omitempty"`
}

type featureImportanceJSON struct {
	Feature string `json:"feature"`
	Used    bool   `json:"used"`
	Loss    any    `json:"loss"`
	Low     any    `json:"low"`
	High    any    `json:"high"`
	P       any    `json:"p"`
	Holm    any    `json:"p_holm"`
	Size    any    `json:"mean_contribution,omitempty"`
}

type memberJSON struct {
	Member string  `json:"member"`
	Size   float64 `json:"mean_contribution"`
}

// set computes feature importance over all data, and prints it.
func (e *explaining) set(ctx context.Context) error {
	convention, err := e.parseConvention()
	if err != nil {
		return err
	}
	of := measuring{measures: e.measure, ties: e.ties}
	measures, ties, err := of.parseMeasures(convention)
	if err != nil {
		return err
	}
	if len(measures) != 1 {
		return usageErrorf("--measure %s: found %d measures, expected one", e.measure, len(measures))
	}
	convention, measures = e.env.settle(convention, e.data), measure.ForAll(measures, e.data)
	if err := measure.CheckVaries(measures[0], e.data); err != nil {
		return usageErrorf("%s: feature importance needs a measure: %w", e.explainFlags.data, err)
	}
	bar := e.env.startProgress("permuting, features", 0)
	permuted, err := explain.Permute(ctx, e.model, e.data, explain.PermuteOptions{
		Measure: measures[0], Ties: ties, Across: e.permute == acrossData, Repeats: e.repeats, Seed: e.seed,
		Permutations: e.permutations, Observe: bar.set,
	})
	bar.finish()
	if err != nil {
		return err
	}
	set, err := e.explainSet(ctx)
	if err != nil {
		return err
	}
	if e.svg != "" {
		if err := e.drawSet(set); err != nil {
			return err
		}
	}
	return e.env.print(e.importance(convention, permuted, set))
}

// explainSet computes the contributions for the data. It returns nil if the model has none.
func (e *explaining) explainSet(ctx context.Context) (set *explain.Set, err error) {
	if e.refused != nil {
		e.env.note("note: no contributions: %v", e.refused)
		return nil, nil
	}
	err = e.env.during("explaining "+e.explainFlags.data, func() error {
		set, err = e.explainer.ExplainSet(ctx, e.data, e.mostDocs, e.seed)
		return err
	})
	return set, err
}

func (e *explaining) importance(c measure.Convention, p *explain.Permuted, set *explain.Set) report {
	name := e.measure
	j := importanceJSON{
		Measure: name, Convention: c.Name(), Mean: number(p.Mean), Queries: p.Queries, Permuted: e.permute, Repeats: e.repeats, Seed: e.seed,
	}
	out := report{columns: []string{"feature", "loss of " + name, "low", "high", "p (Holm)"}}
	out.title = fmt.Sprintf("%s %s over %s; drop when a feature is permuted within the %s (repeats: %d)\n", name, e.fixed(p.Mean, 4), counted(p.Queries, "query", "queries"), e.permute, e.repeats)
	sizes := make(map[string]float64)
	byFeature := false
	if set != nil {
		j.About, j.Documents = e.explainer.About(), len(set.Docs)
		byFeature = e.explainer.ByFeature()
		for k, v := range set.Sizes() {
			term := e.explainer.Terms()[k]
			if sizes[term.Name] = v; !byFeature {
				j.Members = append(j.Members, memberJSON{term.Name, v})
			}
		}
		out.notes = append(out.notes, fmt.Sprintf("\nContributions, of %s: %s.", counted(len(set.Docs), "document", "documents"), j.About))
	}
	if byFeature {
		out.columns = append(out.columns, "mean |contribution|")
	}
	all := p.ByLoss()
	decimals := decimalsFor(sizes)
	unused := 0
	for k, f := range all {
		line := featureImportanceJSON{Feature: f.Name, Used: f.Used, Loss: number(f.Loss), Low: number(f.Interval.Low), High: number(f.Interval.High), P: number(f.P), Holm: number(f.Holm)}
		row := []any{f.Name, line.Loss, line.Low, line.High, nil}
		if line.Holm != nil {
			row[4] = pValue(f.Holm)
		}
		if byFeature {
			line.Size = number(sizes[f.Name])
			row = append(row, e.fixed(sizes[f.Name], decimals))
		}
		j.Features = append(j.Features, line)
		if !f.Used {
			unused++
		}
		if f.Used && (e.top == 0 || k < e.top) || e.env.format == "csv" {
			out.rows = append(out.rows, row)
		}
	}
	if more := len(all) - unused - len(out.rows); more > 0 {
		out.notes = slices.Insert(out.notes, 0, fmt.Sprintf("… and %d more features that the model uses (--top 0)", more))
	}
	if unused > 0 {
		out.notes = slices.Insert(out.notes, 0, fmt.Sprintf("The model does not use %s of %d.", counted(unused, "feature", "features"), len(all)))
	}
	for _, m := range j.Members {
		out.notes = append(out.notes, fmt.Sprintf("%s: mean |contribution| %s", m.Member, e.fixed(m.Size, decimals)))
	}
	out.json, out.keys = j, 1
	out.alignNumbers()
	return out
}

// fixed formats a number with the given decimals for text, and in full for CSV.
func (e *explaining) fixed(v float64, decimals int) any {
	if math.IsNaN(v) || e.env.format == "csv" {
		return number(v)
	}
	return fmt.Sprintf("%.*f", decimals, v+0) // no −0
}

// decimalsFor returns the number of decimals that shows four digits of the largest number. It
// returns at least two.
func decimalsFor[K cmp.Ordered](sizes map[K]float64) int {
	largest := 0.0
	for _, v := range sizes {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return 4
	}
	return min(12, max(2, 3-int(math.Floor(elementary.Log10(largest)))))
}

func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
