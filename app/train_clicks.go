package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/runs"
	"github.com/listwise/listwise/click/weigh"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/method"
)

// fromClicks has the flags of a training from clicks.
type fromClicks struct {
	weighing
	pages     []string
	twinShare float64

	cmd  *cobra.Command
	o    weigh.Options
	log  *weigh.Log
	held func(query string) bool // whether a query is held out for the comparison with the twin

	features *dataset.Dataset
}

func (c *fromClicks) addTo(cmd *cobra.Command) {
	c.cmd = cmd
	fl := cmd.Flags()
	fl.StringArrayVar(&c.pages, "clicks", nil, "`file` of pages with clicks; --train then has features; repeatable")
	fl.StringVar(&c.debias, "debias", "", "`grades` from clicks: none, examinations, robust, ips or affine (default: the method's)")
	addReal(fl, &c.twinShare, "twin-share", 0.2, 0.5, "`share` of queries to compare with an uncorrected twin; 0: none")
	c.weighing.addTo(cmd)
}

// clicksFlags are the flags that --clicks needs.
var clicksFlagNames = []string{"debias", "propensities", "weigh-queries", "shrink", "clip", "regression", "max-missing", "twin-share", "duplicates", "drop-users-above"}

// Names of what training from clicks chooses by itself.
const (
	clicksMethod     = "mart"
	clicksConvention = "trec" // NDCG with the grade as its gain
	clicksMeasure    = "ndcg@10"
)

// given reports whether training is from clicks.
func (c *fromClicks) given() bool { return len(c.pages) > 0 }

// squared reports whether a method minimises squared error.
func squared(name string) bool { return name == "mart" || name == "regression" }

// classes are the methods that take each grade as a class.
var classes = []string{"mcrank", "prank"}

// binaryLosses are the methods whose loss takes documents for relevant or not.
var binaryLosses = []string{"mle", "expgain", "l2", "l3", "convexloss", "exploss", "combined"}

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
	if f.method == "" {
		f.method = clicksMethod
	}
	if c.debias == "" {
		if c.debias = string(weigh.Robust); squared(f.method) {
			c.debias = string(weigh.Examinations)
		}
	}
	if !c.cmd.Flags().Changed("convention") {
		f.convention = clicksConvention
	}
	if c.o, err = c.weighing.options(); err != nil {
		return err
	}
	switch {
	case f.share < 1:
		return usageErrorf("--sample: expected none with --clicks, which needs the features of all documents on the pages")
	case slices.Contains(c.pages, "-") && slices.Contains(f.train, "-"):
		return usageErrorf("--clicks and --train cannot both be standard input")
	case slices.Contains(classes, f.method):
		return usageErrorf("--method %s takes each grade as a class, found grades of clicks, which are fractions; expected --method mart, or whole grades of \"listwise clicks judge --levels\"", f.method)
	case c.o.Debias == weigh.Examinations && !squared(f.method):
		return usageErrorf("--debias examinations weighs documents for squared error alone, found --method %s; expected --debias robust, or --method mart or regression", f.method)
	case slices.Contains(binaryLosses, f.method) && f.threshold == method.AutoThreshold:
		return usageErrorf("--method %s takes documents for relevant or not, found grades of clicks, which are fractions; expected --method lambdamart, or --threshold with the lowest relevant grade", f.method)
	}
	return nil
}

// checkMeasure refuses measures that take documents for relevant or not, unless --threshold says which are.
func (c *fromClicks) checkMeasure(f *trainFlags, p *method.Problem) error {
	for flag, m := range map[string]measure.Measure{"measure": p.Measure, "select": p.Select} {
		if m == nil || flag == "select" && m == p.Measure {
			continue
		}
		if _, binary := measure.RelevanceOf(m); binary && f.threshold == method.AutoThreshold && !measure.StatesRelevance(m) {
			return usageErrorf("--%s %s takes documents for relevant or not, found grades of clicks, which are fractions; expected %s, or --threshold with the lowest relevant grade", flag, m.Name(), clicksMeasure)
		}
	}
	return nil
}

// train makes the training data of all pages.
func (c *fromClicks) data(ctx context.Context, env *environment, f *trainFlags, m *method.Method, features *dataset.Dataset) (*dataset.Dataset, error) {
	c.features = features
	c.pagesFlags.memoryLimit = f.reading.memoryLimit
	var err error
	if c.log, err = c.weighing.log(c.cmd, env, "clicks", c.pages, c.o.Propensities); err != nil {
		return nil, err
	}
	if !m.Weighs().Documents && c.o.Debias == weigh.Robust {
		env.note("note: %s takes no weights of documents, so --debias robust has none", m.Name)
	}
	t, err := c.part(ctx, env, m, c.o)
	if err != nil {
		return nil, err
	}
	c.notesOn(env, t)
	return t.Data, nil
}

// part makes the training data of a part of the queries.
func (c *fromClicks) part(ctx context.Context, env *environment, m *method.Method, o weigh.Options) (*weigh.Table, error) {
	t, err := c.table(ctx, env, c.log, c.features, o, "--clicks "+strings.Join(mapped(c.pages, inputName), ", "))
	if err == nil && t.Data.Weights() != nil && !m.Weighs().Documents {
		err = t.Data.Weigh(t.Data.QueryWeights(), nil)
	}
	return t, err
}

// twins compares a training with its uncorrected twin on clicks that neither was trained on.
type twins struct {
	Measure     string     `json:"measure"`
	Queries     int        `json:"held_out_queries"`
	Corrected   float64    `json:"corrected"`
	Uncorrected float64    `json:"uncorrected"`
	Difference  float64    `json:"difference"`
	Interval    [2]float64 `json:"interval"`
	P           float64    `json:"p"`
}

// errTooFew says that queries or clicks do not suffice for a comparison.
var errTooFew = errors.New("too few")

// compare trains on a part of the queries, with and without the correction, and measures both on the clicks of the
// others. It returns nil if there is no comparison.
func (c *fromClicks) compare(ctx context.Context, env *environment, f *trainFlags, m *method.Method, p *method.Problem) (*twins, error) {
	if c.twinShare == 0 || c.o.Debias == weigh.None {
		return nil, nil
	}
	held := dataset.SampleQueries(c.twinShare, f.seed)
	o := c.o
	o.Debias, o.Keep, o.QueryWeight, o.Regression, o.MaxMissing = weigh.IPS, held, weigh.Pages, nil, 1
	test, err := c.table(ctx, env, c.log, c.features, o, "--clicks")
	if err != nil && ctx.Err() == nil || err == nil && len(test.Data.Queries) < 2 {
		env.note("note: too few clicks on queries held out for a comparison with the uncorrected twin")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dcg := measure.MustParse("dcg@10", measure.TREC)
	var values [2][]float64
	t := &twins{Measure: dcg.Name(), Queries: len(test.Data.Queries)}
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
	table, err := c.part(ctx, env, m, o)
	if err != nil {
		return nil, err
	}
	own := *p
	own.Checkpoint, own.Observe, own.Valid = "", nil, p.Valid
	data := table.Data
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
	err = env.during(what, func() error {
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
	r.notes = append(r.notes, "", fmt.Sprintf("On the clicks of %s held out, by %s of clicks weighted by propensities:", counted(t.Queries, "query", "queries"), t.Measure),
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
