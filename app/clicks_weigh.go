package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/click/weigh"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
)

// weighing has the flags of commands that make training data of clicks.
type weighing struct {
	pagesFlags
	propensities string
	debias       string
	weighQueries string
	shrink, clip float64
	regression   string
	maxMissing   float64

	seen *click.Seen // the pages, if a model is to know them
}

// regressions are the values of --regression.
var regressions = []string{"mart", "logistic"}

// Defaults of --debias in help texts.
const debiasForms = `Grades (--debias), where sums are over the pages of a query, c is 1 for a click on the
document, θ the propensity of its slot, and N the number of pages:
  none           click rate
  examinations   Σc/Σθ, with document weight Σθ/N; for squared error (mart, regression)
  robust         doubly robust: γ + (Σc − γΣθ)/(Σθ + --shrink), clipped to [0, 1], with
                 document weight Σθ/(Σθ + --shrink). A regression on the features, fitted
                 to other queries, predicts γ (--regression mart or logistic). For ndcg
                 with the grade as its gain (--convention trec).
  ips            Σc/(N max(ρ, --clip)). ρ is the mean of θ over the rankings that could
                 have been shown (orders). Pages without orders count as shown.
  affine         Σ(c − β)/Σα, for propensities of the method trust

With propensities of the method trust, all grades have α for θ and c − β for c.
Propensities by a column are those of the page's value.`

func (w *weighing) addTo(cmd *cobra.Command) {
	fl := cmd.Flags()
	w.addReading(cmd)
	fl.StringVar(&w.propensities, "propensities", "", "`file` that \"clicks propensities\" wrote")
	fl.StringVar(&w.weighQueries, "weigh-queries", string(weigh.Sqrt), "`how` query weights grow with pages: pages, sqrt or one")
	addReal(fl, &w.shrink, "shrink", weigh.Defaults(weigh.Robust).Shrink, 1e9, "robust: `examinations` that the regression is worth")
	addReal(fl, &w.clip, "clip", weigh.Defaults(weigh.IPS).Clip, 1, "ips: least `propensity`")
	fl.StringVar(&w.regression, "regression", regressions[0], "robust: `regression` on features: mart or logistic")
	addReal(fl, &w.maxMissing, "max-missing", weigh.Defaults(weigh.None).MaxMissing, 1, "largest `share` of impressions without features or propensities")
}

// options returns the options of a table with the given grades, without a regression. It reads the propensities.
func (w *weighing) options(debias weigh.Debias) (o weigh.Options, err error) {
	o = weigh.Options{Debias: debias, QueryWeight: weigh.QueryWeight(w.weighQueries), Shrink: w.shrink, Clip: w.clip, MaxMissing: w.maxMissing}
	switch {
	case !slices.Contains(weigh.QueryWeights, o.QueryWeight):
		return o, usageErrorf("--weigh-queries: found %q, expected %s", w.weighQueries, suggest.OneOf(textsOf(weigh.QueryWeights)))
	case !slices.Contains(regressions, w.regression):
		return o, usageErrorf("--regression: found %q, expected %s", w.regression, suggest.OneOf(regressions))
	case w.propensities == "" && o.Debias != weigh.None:
		return o, usageErrorf("--debias %s needs --propensities FILE (see \"listwise clicks propensities --help\"), or --debias none", w.debias)
	}
	if w.propensities != "" {
		if o.Propensities, err = propensity.Load(w.propensities); err != nil {
			return o, usageErrorf("--propensities: %w", err)
		}
		if e := o.Propensities; e.Parts != nil && pageColumns[e.By] == nil {
			return o, usageErrorf("--propensities %s: found propensities by %q, expected by arm, experiment or version", w.propensities, e.By)
		}
	}
	return o, nil
}

// checkDebias returns an error unless --debias is one of the known values.
func (w *weighing) checkDebias(known []string) error {
	if slices.Contains(known, w.debias) {
		return nil
	}
	return usageErrorf("--debias %s%s", w.debias, suggest.Or(w.debias, known, ": expected "+suggest.OneOf(known)))
}

// textsOf returns values as strings.
func textsOf[T ~string](list []T) []string {
	return mapped(list, func(v T) string { return string(v) })
}

// log reads the pages. keep keeps the distinct pages, for rows of pages. The features are in memory already.
func (w *weighing) log(cmd *cobra.Command, env *environment, flag string, paths []string, features *dataset.Dataset, e *propensity.Estimate, keep bool) (*weigh.Log, error) {
	w.account().Held(features.FeatureBytes())
	l := &weigh.Log{}
	l.Mem, l.Keep = w.account(), keep
	if e != nil && e.Parts != nil {
		l.Value = pageColumns[e.By]
	}
	_, err := w.read(cmd, env, flag, paths, func(p *click.Page) error {
		if w.seen != nil {
			w.seen.Add(p)
		}
		return l.Add(p)
	})
	return l, err
}

// table makes training data. from names the pages, for messages.
func (w *weighing) table(ctx context.Context, env *environment, l *weigh.Log, features *dataset.Dataset, o weigh.Options, from string) (t *weigh.Table, err error) {
	if o.Debias == weigh.Robust {
		if o.Regression, err = w.regress(ctx, features); err != nil {
			return nil, hintAtMemory(err)
		}
		copied := features.FeatureBytes() // by a regression while it runs
		if err := w.account().Take(copied, "training data of the regression"); err != nil {
			return nil, hintAtMemory(err)
		}
		defer w.account().Give(copied)
	}
	err = env.during("weighing clicks", func() error {
		t, err = l.Table(ctx, features, o)
		return err
	})
	if err != nil && ctx.Err() == nil {
		err = usageErrorf("%s: %w", from, hintAtMemory(err))
	}
	return t, err
}

// Below these numbers, clicks tell little.
const (
	fewClicks    = 5    // per document
	fewEffective = 1000 // effective number
)

// notesOn prints what a table leaves out, and warns if there are few clicks.
func (w *weighing) notesOn(env *environment, t *weigh.Tally) {
	if t.MissingDocs > 0 {
		env.note("note: left out %s without features, with %.3g %% of the impressions; %s no features at all",
			counted(t.MissingDocs, "document", "documents"), 100*t.Missing, counted(t.MissingQueries, "query has", "queries have"))
	}
	if len(t.Slotless) > 0 {
		env.note("note: left out what stood in slots without propensities, %.3g %% of the impressions: %s", 100*t.SlotlessShare, listOf(t.Slotless, slotsNamed))
	}
	if t.Partless {
		env.note("note: pages whose value has no propensities of its own have those of all pages")
	}
	if t.Below > 0 {
		env.note("note: set %s below 0 to 0", counted(t.Below, "grade", "grades"))
	}
	if m := t.Misfit; m != nil {
		env.note("warning: the propensities do not fit this log: slot %s has %.4g clicks on documents of several slots, expected %.4g; are they of another log, or do robots click?", m.Slot, m.Clicks, m.Expected)
	}
	if n := t.PerPair(); n < fewClicks {
		env.note("warning: found %.3g clicks per document, expected %d or more; corrections rarely help with fewer", n, fewClicks)
	}
	if t.Effective < fewEffective {
		env.note("warning: found %.4g effective clicks, weighted by 1/θ, expected %d or more; corrections rarely help with fewer", t.Effective, fewEffective)
	}
}

// slotsNamed is the number of slots that a note names.
const slotsNamed = 10

// listOf lists the first of some names.
func listOf(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

type weighFlags struct {
	dataOutput
	reading
	weighing
	data        []string
	uncorrected bool
}

func newClicksWeighCommand(env *environment) *cobra.Command {
	var f weighFlags
	cmd := &cobra.Command{
		Use:   "weigh PAGES... --data FILE --propensities FILE --debias D --out FILE",
		Short: "Make training data from clicks and features",
		Long: `Writes a row for each document of a query, with its features, a grade and weights from
clicks. "listwise train" reads it. "listwise train --clicks" does both.

` + debiasForms + `

Query weights grow with the pages of a query as --weigh-queries says, and have mean 1.
Grades, and weights of --data, are not used.

--uncorrected takes all propensities for 1. Train with both to see what the correction is
worth.

The ending of --out sets the format, as in "listwise data convert". LETOR text has no
weights, so use a table or a cache for them.`,
		Example: `  listwise clicks weigh pages.jsonl.gz --data products.csv --propensities theta.json --debias examinations --out train.csv
  listwise clicks weigh pages.jsonl.gz --data products.csv --propensities theta.json --debias robust --uncorrected --out twin.lwd`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.data, "data", nil, "`file` with the features of documents; repeatable; - is standard input")
	fl.StringVar(&f.debias, "debias", string(weigh.Examinations), "`grades`: none, examinations, robust, ips or affine")
	fl.BoolVar(&f.uncorrected, "uncorrected", false, "take all propensities for 1")
	f.reading.addTo(cmd)
	f.weighing.addTo(cmd)
	f.dataOutput.addTo(cmd)
	return cmd
}

// weighJSON is the JSON form of what clicks weigh wrote. Scripts rely on its names.
type weighJSON struct {
	writtenJSON
	Debias         string   `json:"debias"`
	Uncorrected    bool     `json:"uncorrected"`
	Pages          float64  `json:"pages"`
	Impressions    float64  `json:"impressions"`
	Clicks         float64  `json:"clicks"`
	Effective      float64  `json:"effective_clicks"`
	Missing        float64  `json:"share_without_features"`
	MissingDocs    int      `json:"documents_without_features"`
	MissingQueries int      `json:"queries_without_features"`
	Slotless       []string `json:"slots_without_propensities"`
	SlotlessShare  float64  `json:"share_without_propensities"`
	Below          int      `json:"grades_below_0"`
	Above          int      `json:"grades_above_1"`
}

func (f *weighFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	if err := required(cmd, "data"); err != nil {
		return err
	}
	if err := f.checkDebias(textsOf(weigh.Debiases)); err != nil {
		return err
	}
	o, err := f.weighing.options(weigh.Debias(f.debias))
	if err != nil {
		return err
	}
	o.Uncorrected = f.uncorrected
	if err := f.check(cmd, slices.Concat(args, f.data, []string{f.propensities})...); err != nil {
		return err
	}
	opts, err := f.reading.options()
	if err != nil {
		return err
	}
	opts.Table.Ungraded, opts.MaxBytes = true, max(1, opts.MaxBytes/2)
	f.pagesFlags.memoryLimit = f.memoryLimit
	if slices.Contains(f.data, "-") && slices.Contains(args, "-") {
		return usageErrorf("--data and the pages cannot both be standard input")
	}
	features, err := env.openParts(cmd.Context(), "data", f.data, opts)
	if err != nil {
		return err
	}
	l, err := f.log(cmd, env, "", args, features, o.Propensities, false)
	if err != nil {
		return err
	}
	t, err := f.table(cmd.Context(), env, l, features, o, strings.Join(mapped(args, inputName), ", "))
	if err != nil {
		return err
	}
	f.notesOn(env, &t.Tally)
	r, w := f.written(t.Data)
	r.rows = append(r.rows, []any{"pages", wholeCount(t.Pages)}, []any{"clicks", wholeCount(t.Clicks)}, []any{"clicks per document", t.PerPair()}, []any{"effective clicks", t.Effective})
	r.json = weighJSON{w, f.debias, f.uncorrected, t.Pages, t.Impressions, t.Clicks, t.Effective, t.Missing, t.MissingDocs, t.MissingQueries,
		append([]string{}, t.Slotless...), t.SlotlessShare, t.Below, t.Above}
	return f.write(cmd.Context(), env, t.Data, r)
}
