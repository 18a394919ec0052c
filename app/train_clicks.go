package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/weigh"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune/runs"
)

// fromClicks has the flags of a training from clicks.
type fromClicks struct {
	weighing
	pages     []string
	twinShare float64

	cmd      *cobra.Command
	o        weigh.Options
	by       train.DebiasBy // of learners that correct for slots themselves
	log      *weigh.Log
	features *dataset.Dataset
}

func (c *fromClicks) addTo(cmd *cobra.Command) {
	c.cmd = cmd
	fl := cmd.Flags()
	fl.StringArrayVar(&c.pages, "clicks", nil, "`file` of pages with clicks; --train then has features; repeatable")
	fl.StringVar(&c.debias, "debias", "", "`correction`: as in \"clicks weigh\", position or pairs (default: the method's)")
	addReal(fl, &c.twinShare, "twin-share", 0.2, 0.5, "`share` of queries to compare with an uncorrected twin; 0: none")
	c.weighing.addTo(cmd)
}

// slotDebiases are the corrections for slots by learners.
var slotDebiases = []train.DebiasBy{train.DebiasPosition, train.DebiasPairs}

// debiases are the values of --debias.
var debiases = append(textsOf(weigh.Debiases), mapped(slotDebiases, train.DebiasBy.String)...)

// clicksFlagNames are flags that mean something with --clicks alone.
var clicksFlagNames = []string{"debias", "propensities", "weigh-queries", "shrink", "clip", "regression", "max-missing", "twin-share", "duplicates", "drop-users-above", "drop-alike", "since", "until"}

// Names of what training from clicks chooses by itself.
const (
	clicksMethod     = "mart"
	clicksConvention = "trec" // NDCG with the grade as its gain
	clicksMeasure    = "ndcg@10"
)

// given reports whether training is from clicks.
func (c *fromClicks) given() bool { return len(c.pages) > 0 }

// grades reports whether training is from grades that are fractions.
func (c *fromClicks) grades() bool { return c.given() && c.by == train.NoDebias }

// squared reports whether a method minimises squared error.
func squared(name string) bool { return name == "mart" || name == "regression" }

// classes are the methods that take each grade as a class.
var classes = []string{"mcrank", "prank"}

// binaryLosses are the methods whose loss takes documents for relevant or not, at its defaults.
var binaryLosses = []string{"mle", "expgain", "l2", "l3", "convexloss", "exploss", "combined", "svmmap"}

// takesRelevance reports whether the loss takes documents for relevant or not.
func takesRelevance(f *trainFlags) bool {
	graded := slices.ContainsFunc(f.set, func(s string) bool { return strings.HasPrefix(s, "grades=") })
	return slices.Contains(binaryLosses, f.method) && !graded
}

// choose sets the flags that are not given, and refuses combinations that have no meaning.
func (c *fromClicks) choose(f *trainFlags) (err error) {
	if !c.given() {
		for _, name := range clicksFlagNames {
			if c.cmd.Flags().Changed(name) {
				return usageErrorf("--%s: expected it with --clicks", name)
			}
		}
		return nil
	}
	for _, by := range slotDebiases {
		if c.debias == by.String() {
			c.by = by
		}
	}
	if f.method == "" {
		if f.method = clicksMethod; c.by != train.NoDebias {
			f.method = "lambdamart"
		}
	}
	if c.debias == "" {
		if c.debias = string(weigh.Robust); squared(f.method) {
			c.debias = string(weigh.Examinations)
		}
	}
	if err := c.checkDebias(debiases); err != nil {
		return err
	}
	switch {
	case f.share < 1:
		return usageErrorf("--sample: expected none with --clicks, which needs the features of all documents on the pages")
	case slices.Contains(c.pages, "-") && slices.Contains(f.train, "-"):
		return usageErrorf("--clicks and --train cannot both be standard input")
	}
	if c.by != train.NoDebias {
		if f.holdOut != "" {
			return usageErrorf("--hold-out: expected --valid with --debias %s, whose training data are pages", c.debias)
		}
		c.o, err = c.options(weigh.None)
		return err
	}
	if !c.cmd.Flags().Changed("convention") {
		f.convention = clicksConvention
	}
	if m, err := method.Lookup(f.method); err == nil && f.measure == "" && m.UsesMeasure && isBinary(measure.MustParse(m.DefaultMeasure, measure.Standard)) {
		f.measure = clicksMeasure
	}
	if c.o, err = c.options(weigh.Debias(c.debias)); err != nil {
		return err
	}
	switch {
	case slices.Contains(classes, f.method):
		return usageErrorf("--method %s takes each grade as a class, found grades of clicks, which are fractions; expected --method mart, or whole grades of \"listwise clicks judge --levels\"", f.method)
	case c.o.Debias == weigh.Examinations && !squared(f.method):
		return usageErrorf("--debias examinations weighs documents for squared error alone, found --method %s; expected --debias robust, or --method mart or regression", f.method)
	case takesRelevance(f) && f.threshold == method.AutoThreshold:
		return usageErrorf("--method %s takes documents for relevant or not, found grades of clicks, which are fractions; expected --method lambdamart, or --threshold with the lowest relevant grade", f.method)
	}
	return nil
}

// checkMeasure refuses measures that take documents for relevant or not, unless --threshold says which are.
func (c *fromClicks) checkMeasure(f *trainFlags, p *method.Problem) error {
	for _, by := range []struct {
		flag    string
		measure measure.Measure
	}{{"measure", p.Measure}, {"select", p.Select}} {
		if isBinary(by.measure) && f.threshold == method.AutoThreshold {
			return usageErrorf("--%s %s takes documents for relevant or not, found grades of clicks, which are fractions; expected %s, or --threshold with the lowest relevant grade", by.flag, by.measure.Name(), clicksMeasure)
		}
	}
	return nil
}

// isBinary reports whether a measure, which may be nil, takes documents for relevant or not, by a threshold that its name does not state.
func isBinary(m measure.Measure) bool {
	if m == nil {
		return false
	}
	_, binary := measure.RelevanceOf(m)
	return binary && !measure.StatesRelevance(m)
}

// read reads the pages and sets the training data of a problem.
func (c *fromClicks) read(ctx context.Context, env *environment, f *trainFlags, m *method.Method, p *method.Problem, features *dataset.Dataset) (*dataset.Dataset, error) {
	c.features = features
	c.memoryLimit, c.seen = f.memoryLimit, new(click.Seen)
	var err error
	if c.log, err = c.weighing.log(c.cmd, env, "clicks", c.pages, features, c.o.Propensities, c.by != train.NoDebias); err != nil {
		return nil, err
	}
	if !m.Weighs().Documents && c.o.Debias == weigh.Robust {
		env.note("note: %s takes no weights of documents, so --debias robust has none", m.Name)
	}
	t, err := c.part(ctx, env, m, p, c.o)
	if err != nil {
		return nil, err
	}
	c.notesOn(env, t)
	return p.Data, nil
}

// part sets the training data of a problem, from a part of the queries.
func (c *fromClicks) part(ctx context.Context, env *environment, m *method.Method, p *method.Problem, o weigh.Options) (*weigh.Tally, error) {
	if c.by != train.NoDebias {
		return c.pageRows(ctx, env, p, o)
	}
	t, err := c.table(ctx, env, c.log, c.features, o, c.from())
	if err != nil {
		return nil, err
	}
	if t.Data.Weights() != nil && !m.Weighs().Documents {
		err = t.Data.Weigh(t.Data.QueryWeights(), nil)
	}
	p.Data = t.Data
	return &t.Tally, err
}

// pageRows sets the training data of a problem to rows of pages. The uncorrected twin has no slots.
func (c *fromClicks) pageRows(ctx context.Context, env *environment, p *method.Problem, o weigh.Options) (t *weigh.Tally, err error) {
	var r *weigh.PageRows
	err = env.during("arranging pages", func() error {
		r, err = c.log.PageRows(ctx, c.features, o)
		return err
	})
	if err != nil && ctx.Err() == nil {
		err = usageErrorf("%s: %w", c.from(), hintAtMemory(err))
	}
	if err != nil {
		return nil, err
	}
	if p.Data, p.Slots, p.Debias.By = r.Data, r.Slots, c.by; o.Uncorrected {
		p.Slots, p.Debias.By = nil, train.NoDebias
	}
	return &r.Tally, nil
}

// giveBack ends the count of memory beyond an earlier amount.
func (c *fromClicks) giveBack(taken int64) { c.account().Give(c.account().Taken() - taken) }

// from names the pages in messages.
func (c *fromClicks) from() string {
	return "--clicks " + strings.Join(mapped(c.pages, inputName), ", ")
}

// twins compares a training with its uncorrected twin on clicks that neither was trained on.
type twins struct {
	Measure     string     `json:"measure"`
	By          string     `json:"gain"` // of a document
	Queries     int        `json:"held_out_queries"`
	Corrected   float64    `json:"corrected"`
	Uncorrected float64    `json:"uncorrected"`
	Difference  float64    `json:"difference"`
	Interval    [2]float64 `json:"interval"`
	P           float64    `json:"p"`
}

// compare trains on a part of the queries, with and without the correction, and measures both on the clicks of the
// others. It returns nil if there is no comparison.
func (c *fromClicks) compare(ctx context.Context, env *environment, f *trainFlags, m *method.Method, p *method.Problem) (*twins, error) {
	if c.twinShare == 0 || c.debias == string(weigh.None) {
		return nil, nil
	}
	held := dataset.SampleQueries(c.twinShare, f.seed)
	o, by := c.o, "clicks weighted by propensities"
	if o.Debias = weigh.IPS; o.Propensities == nil {
		o.Debias, by = weigh.None, "click rates, which favor the order shown (--propensities corrects them)"
	}
	o.Keep, o.QueryWeight, o.MaxMissing = held, weigh.Pages, 1
	defer c.giveBack(c.account().Taken())
	test, err := c.table(ctx, env, c.log, c.features, o, c.from())
	if errors.Is(err, weigh.ErrNoClicks) || err == nil && len(test.Data.Queries) < 2 {
		env.note("note: too few clicks on queries held out for a comparison with the uncorrected twin")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dcg := measure.MustParse("dcg@10", measure.TREC)
	var values [2][]float64
	t := &twins{Measure: dcg.Name(), By: by, Queries: len(test.Data.Queries)}
	var weights []float64
	for i, uncorrected := range []bool{false, true} {
		o := c.o
		o.Uncorrected, o.Keep, o.MaxMissing = uncorrected, func(query string) bool { return !held(query) }, 1
		r, err := c.result(ctx, env, f, m, p, o, test.Data, dcg)
		if err != nil {
			return nil, fmt.Errorf("comparison with the uncorrected twin: %w", err)
		}
		values[i], weights = r.PerQuery(dcg), r.Weights()
		*[]*float64{&t.Corrected, &t.Uncorrected}[i] = r.Mean(dcg)
	}
	d, err := stats.Paired(values[0], values[1], weights)
	if err != nil {
		return nil, err
	}
	t.Difference, t.Interval, t.P = d.Mean, [2]float64{d.Interval.Low, d.Interval.High}, d.P
	return t, nil
}

// result trains on a part of the queries and measures the model on others.
func (c *fromClicks) result(ctx context.Context, env *environment, f *trainFlags, m *method.Method, p *method.Problem, o weigh.Options, test *dataset.Dataset, by measure.Measure) (*measure.Result, error) {
	own := *p
	defer c.giveBack(c.account().Taken())
	if _, err := c.part(ctx, env, m, &own, o); err != nil {
		return nil, err
	}
	own.Checkpoint, own.Observe = "", nil
	data := own.Data
	if part, parts, err := f.part(); err == nil && parts > 0 {
		if data, own.Valid, err = f.heldOut(&f.learning, data, part, parts); err != nil {
			return nil, err
		}
	}
	own.Settle(data, own.Valid)
	what := "training for comparison"
	if o.Uncorrected {
		what = "training the uncorrected twin"
	}
	var r *measure.Result
	err := env.during(what, func() error {
		trained, err := m.Train(ctx, &own)
		if err != nil {
			return err
		}
		scores, err := trained.Score(test)
		if err != nil {
			return err
		}
		r, err = measure.Evaluate(test, scores, []measure.Measure{by}, measure.TiesAverage)
		return err
	})
	return r, err
}

// addTo adds the comparison to the report of a training.
func (t *twins) addTo(r *report, debias string) {
	r.notes = append(r.notes, "", fmt.Sprintf("On the clicks of %s held out, by %s of %s:", counted(t.Queries, "query", "queries"), t.Measure, t.By),
		fmt.Sprintf("%s %.4f, uncorrected twin %.4f, difference %+.4f with an interval from %+.4f to %+.4f (p = %.3g).", debias, t.Corrected, t.Uncorrected, t.Difference, t.Interval[0], t.Interval[1], t.P))
	if j, ok := r.json.(map[string]any); ok {
		j["twin"] = t
	}
}

// record adds the flags and files to the record of a run.
func (c *fromClicks) record(r *runs.Run) {
	r.Config["debias"], r.Config["weigh_queries"] = c.debias, c.weighQueries
	for _, path := range c.pages {
		r.Data = append(r.Data, recordedFile("clicks", path))
	}
	if c.propensities != "" {
		r.Data = append(r.Data, recordedFile("propensities", c.propensities))
	}
}
