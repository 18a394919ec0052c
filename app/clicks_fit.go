package app

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/model"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
)

// clickFit has the flags of commands that fit click models.
type clickFit struct {
	pagesFlags
	prior      string
	iterations int
	exact      bool
	grading    string // --relevance
}

// The values of --relevance.
const (
	relevanceOfModel      = "model"
	relevanceOfAttraction = "attraction"
)

func (c *clickFit) addTo(cmd *cobra.Command, exact bool) {
	fl := cmd.Flags()
	fl.StringVar(&c.prior, "prior", model.DefaultPrior.String(), "`prior` of documents: mean:STRENGTH, or laplace")
	addWhole(fl, &c.iterations, "iterations", model.DefaultIterations, 1, "largest `number` of iterations")
	fl.BoolVar(&c.exact, "exact", exact, "fit dcm and sdbn by expectation maximization, not in closed form")
	fl.StringVar(&c.grading, "relevance", relevanceOfModel, "relevance of a document: `model` or attraction")
	c.add(cmd)
}

func (c *clickFit) options() (o model.Options, err error) {
	o.Iterations, o.Exact = c.iterations, c.exact
	if o.Prior, err = model.ParsePrior(c.prior); err != nil {
		return o, usageErrorf("--prior: %w", err)
	}
	if c.grading != relevanceOfModel && c.grading != relevanceOfAttraction {
		return o, usageErrorf("--relevance: found %q, expected model or attraction", c.grading)
	}
	return o, nil
}

// unused returns an error about flags that do nothing for the models to fit.
func (c *clickFit) unused(cmd *cobra.Command, kinds []*model.Kind) (err error) {
	some := func(is func(k *model.Kind) bool) bool { return slices.ContainsFunc(kinds, is) }
	if !some(func(k *model.Kind) bool { return k.Exact }) {
		err = refuse(cmd, "needs dcm or sdbn to fit", "exact")
	}
	if err == nil && !some(func(k *model.Kind) bool { return k.Iterates || k.Exact && c.exact }) {
		err = refuse(cmd, "needs a model without a closed form to fit, or --exact", "iterations")
	}
	if err == nil && !some((*model.Kind).Grades) {
		err = refuse(cmd, "needs a model with parameters of documents to fit", "prior")
	}
	return err
}

// fault returns the error to report for an error of a fit.
func (c *clickFit) fault(args []string, err error) error {
	if err == model.ErrNoClicks { //nolint:errorlint // returned as it is
		return usageErrorf("%s: %w", strings.Join(mapped(args, inputName), ", "), err)
	}
	return hintAtMemory(err)
}

type clicksFitFlags struct {
	clickFit
	judging
	conflicts
	models     []string
	valid      []string
	out        string
	ranks      bool
	judgements string
	measures   string
	minPages   int
	resamples  int
	seed       uint64
}

func newClicksFitCommand(env *environment) *cobra.Command {
	var f clicksFitFlags
	cmd := &cobra.Command{
		Use:   "fit --model MODELS PAGES...",
		Short: "Fit click models and measure them on held-out pages",
		Long: `Fits click models to logs of pages. Each model gives the probability of a click at each
rank, given the clicks above:

` + clickModelList() + `
pbm and rctr have parameters by slot, ubm and dcm by rank. pbm, ubm, dbn and ccm are fitted
by exact expectation maximization; --exact also fits dcm and sdbn so. The closed forms of
these two assume that users stopped at the last click.

--prior adds a Beta prior to the parameters of documents: mean:3 adds 3 examinations with
the mean of all documents, laplace 2 with mean 1/2. Shared parameters have laplace.

--valid measures all models on the same held-out pages:
  log-likelihood          mean over pages of the mean over ranks
  perplexity              mean over ranks of 2 to the power of -log2 P(click or none); P
                          is not given other clicks. 1 is perfect
  conditional perplexity  the same, with P given the clicks above
Intervals of 95 % are from --resamples bootstrap samples of users, or of pages if pages
name no users. Differences are from the model with the highest log-likelihood. Pages with
slots or ranks that a model does not have are left out.

--judgements evaluates the order of judged documents by --relevance: attraction alone, or
the model's own relevance: attraction, times satisfaction for sdbn and dbn, squared for
ccm. Documents without pages have the prior's mean. Queries with fewer than --min-pages
pages are left out.

--out writes the model as JSON; several models go into a folder, as NAME.json. --model
also takes such files, which are measured without a fit.`,
		Example: `  listwise clicks fit --model pbm,ubm,dbn pages.jsonl.gz --valid held.jsonl.gz
  listwise clicks fit --model all pages.jsonl.gz --valid held.jsonl.gz --ranks --out fitted
  listwise clicks fit --model dbn pages.jsonl.gz --out dbn.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&f.models, "model", nil, "`models` or model files, separated by commas; all: all models")
	fl.StringArrayVar(&f.valid, "valid", nil, "`file` of held-out pages; repeatable")
	fl.BoolVar(&f.ranks, "ranks", false, "print perplexities of every rank")
	fl.StringVar(&f.judgements, "judgements", "", "judgement list, a `file`, to evaluate the order of documents")
	fl.StringVar(&f.measures, "measures", "ndcg@10", "`measures` of the order of documents, separated by commas")
	addWhole(fl, &f.minPages, "min-pages", 10, 0, "least `number` of pages of a judged query")
	addWhole(fl, &f.resamples, "resamples", 1000, 0, "`number` of bootstrap samples; 0: no intervals")
	fl.Uint64Var(&f.seed, "seed", 1, "random `seed`")
	fl.StringVar(&f.out, "out", "", "model `file`, or folder for several models")
	f.clickFit.addTo(cmd, false)
	f.judging.addTo(cmd)
	f.conflicts.addTo(cmd)
	return cmd
}

// clickModelList describes the models in help texts.
func clickModelList() string {
	var b strings.Builder
	for _, k := range model.Kinds() {
		fmt.Fprintf(&b, "  %-5s %s\n", k.Name, k.Title)
	}
	return b.String()
}

// clickModel is a click model on the command line: a kind to fit, or a model file.
type clickModel struct {
	name  string
	kind  *model.Kind
	model *model.Model
}

// choose returns the models of --model.
func (f *clicksFitFlags) choose() (list []clickModel, err error) {
	for _, name := range f.models {
		names := []string{name}
		if name == "all" {
			names = model.Names()
		}
		for _, name := range names {
			m := clickModel{name: name}
			if m.kind, err = model.Lookup(name); err == nil {
				m.name = m.kind.Name
			} else if strings.ContainsAny(name, `./\`) {
				if m.model, err = loadClickModel("--model", name); err != nil {
					return nil, err
				}
				m.kind = m.model.Kind
			} else {
				return nil, usageErrorf("--model: %w", err)
			}
			if slices.ContainsFunc(list, func(o clickModel) bool { return o.name == m.name }) {
				return nil, usageErrorf("--model: found %s twice, expected each model once", m.name)
			}
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil, usageErrorf("--model: found no model, expected one or more")
	}
	return list, nil
}

// loadClickModel reads the file of a click model.
func loadClickModel(flag, path string) (*model.Model, error) {
	m, err := model.Load(path)
	if has[*fs.PathError](err) {
		return nil, usageErrorf("%s: %w", flag, err)
	}
	if err != nil {
		return nil, usageErrorf("%w", err)
	}
	return m, nil
}

func (f *clicksFitFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	if err := required(cmd, "model"); err != nil {
		return err
	}
	options, err := f.options()
	if err != nil {
		return err
	}
	t := new(targets).reads("", args...).reads("--valid", f.valid...).reads("--judgements", f.judgements)
	t.reads("--model", slices.DeleteFunc(slices.Clone(f.models), func(name string) bool { return !strings.ContainsAny(name, `./\`) })...)
	list, err := f.choose()
	if err != nil {
		return err
	}
	if f.out != "" && len(list) == 1 {
		t.writes("--out", f.out)
	} else if f.out != "" {
		t.fills(f.out)
	}
	if err := t.check(); err != nil {
		return err
	}
	if err := f.checkChoice(cmd, list); err != nil {
		return err
	}
	judged, err := f.judged(cmd, env)
	if err != nil {
		return err
	}
	r := fitReport{flags: f, list: list}
	var tally *click.Tally
	if r.counts, r.pagesOf, tally, err = f.count(cmd, env, args, list, judged != nil); err != nil {
		return err
	}
	if err := f.fit(cmd, env, args, r.counts, list, options); err != nil {
		return err
	}
	if f.valid != nil {
		if r.compared, err = f.compare(cmd, env, tally, args, list); err != nil {
			return err
		}
	}
	if judged != nil {
		if err := r.predict(env, judged); err != nil {
			return err
		}
	}
	if err := f.save(list); err != nil {
		return err
	}
	return env.print(r.report(env.take == nil && env.format == "text"))
}

// checkChoice returns an error for flags that do nothing together.
func (f *clicksFitFlags) checkChoice(cmd *cobra.Command, list []clickModel) error {
	for _, m := range list {
		switch {
		case m.model != nil && f.valid == nil && f.judgements == "":
			return usageErrorf("--model %s: found a fitted model, expected --valid or --judgements to measure it", m.name)
		case m.model != nil && f.out != "":
			return usageErrorf("--out: found the fitted model %s, expected names of models to fit", m.name)
		}
	}
	var fitted []*model.Kind
	for _, m := range list {
		if m.model == nil {
			fitted = append(fitted, m.kind)
		}
	}
	err := f.unused(cmd, fitted)
	if err == nil && f.valid == nil {
		err = refuse(cmd, "needs --valid", "ranks")
	}
	if err == nil && f.judgements == "" {
		err = refuse(cmd, "needs --judgements", "relevance", "measures", "min-pages", "convention", "threshold", "conflicts")
	}
	if err == nil && f.valid == nil && f.judgements == "" {
		err = refuse(cmd, "needs --valid or --judgements", "resamples", "seed")
	}
	if err == nil && f.resamples == 0 {
		err = refuse(cmd, "needs --resamples above 0", "seed")
	}
	return err
}

// count reads the pages. The number of pages of each query is nil if nobody needs it.
func (f *clicksFitFlags) count(cmd *cobra.Command, env *environment, args []string, list []clickModel, byQuery bool) (*click.Counts, map[string]int, *click.Tally, error) {
	c := &click.Counts{Mem: f.account(), Keep: slices.ContainsFunc(list, func(m clickModel) bool { return m.kind.Patterns })}
	var pagesOf map[string]int
	if byQuery {
		pagesOf = map[string]int{}
	}
	tally, err := f.read(cmd, env, "", args, func(p *click.Page) error {
		if byQuery {
			pagesOf[strings.Clone(p.Query)]++
		}
		return c.Add(p)
	})
	if err == nil {
		warnOfFixedOrder(env, c, mapped(list, func(m clickModel) *model.Kind { return m.kind }))
	}
	return c, pagesOf, tally, err
}

// warnOfFixedOrder warns if a model cannot tell why users click, since each document stood in one slot only.
func warnOfFixedOrder(env *environment, c *click.Counts, kinds []*model.Kind) {
	for _, k := range kinds {
		if k.Name == "pbm" && c.Pairs() > 0 && c.Moved() == 0 {
			env.note("warning: each document stood in one slot only, so pbm cannot separate attraction from examination; serve --explore changes the order")
		}
	}
}

func (f *clicksFitFlags) fit(cmd *cobra.Command, env *environment, args []string, c *click.Counts, list []clickModel, o model.Options) error {
	d, err := model.Arrange(c)
	if err != nil {
		return f.fault(args, err)
	}
	for i := range list {
		m := &list[i]
		if m.model != nil {
			continue
		}
		err := env.during("fitting "+m.name, func() (err error) {
			m.model, err = d.Fit(cmd.Context(), m.kind, o)
			return err
		})
		if err != nil {
			return f.fault(args, err)
		}
	}
	return nil
}

// compare measures the models on the held-out pages.
func (f *clicksFitFlags) compare(cmd *cobra.Command, env *environment, t *click.Tally, args []string, list []clickModel) (c *model.Comparison, err error) {
	s := new(model.Sample)
	s.Mem = f.account()
	if err := f.readValid(cmd, env, t, args, f.valid, s.Add); err != nil {
		return nil, err
	}
	models := mapped(list, func(m clickModel) *model.Model { return m.model })
	err = env.during("measuring click models", func() (err error) {
		c, err = model.Compare(cmd.Context(), models, s, model.CompareOptions{Resamples: f.resamples, Seed: f.seed})
		return err
	})
	if err != nil {
		return nil, usageErrorf("--valid: %w", hintAtMemory(err))
	}
	if c.LeftOut > 0 {
		env.note("warning: --valid: left out %s with slots or ranks that a model does not have: %s", counted(c.LeftOut, "page", "pages"), strings.Join(c.Unknown, ", "))
	}
	return c, nil
}

// judged reads the judgements, nil if there are none.
func (f *clicksFitFlags) judged(cmd *cobra.Command, env *environment) (*dataset.Dataset, error) {
	if f.judgements == "" {
		return nil, nil
	}
	in := judgementInput{f.judgements, f.conflicts}
	return in.judged(cmd, env, f.memoryLimit.options())
}

func (f *clicksFitFlags) save(list []clickModel) error {
	if f.out == "" {
		return nil
	}
	if len(list) == 1 {
		return list[0].model.Save(f.out)
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	for _, m := range list {
		if err := m.model.Save(filepath.Join(f.out, m.name+".json")); err != nil {
			return err
		}
	}
	return nil
}

// fitReport is the result of clicks fit.
type fitReport struct {
	flags    *clicksFitFlags
	list     []clickModel
	counts   *click.Counts
	pagesOf  map[string]int
	compared *model.Comparison

	measures  []measure.Measure
	predicted [][]stats.System // of the models and measures; nil without a relevance
	queries   int              // judged
	leftOut   int              // judged queries with few pages
}

// predict evaluates the order of the judged documents by relevance.
func (r *fitReport) predict(env *environment, judged *dataset.Dataset) error {
	convention, err := r.flags.parseConvention()
	if err != nil {
		return err
	}
	if r.measures, err = measure.ParseList(r.flags.measures, convention, measure.Options{MaxGrade: 4}); err != nil {
		return usageErrorf("--measures: %w", err)
	}
	_, r.measures = r.flags.ofJudgements(convention, r.measures, judged)
	var grades [][]float64
	var queries []*dataset.Query
	for i := range judged.Queries {
		q := &judged.Queries[i]
		if r.pagesOf[q.ID] < max(1, r.flags.minPages) {
			r.leftOut++
			continue
		}
		queries, grades = append(queries, q), append(grades, q.Grades)
	}
	if r.queries = len(queries); r.queries < 2 {
		return usageErrorf("--judgements %s: found %d queries with at least %d pages, expected two (--min-pages)", r.flags.judgements, r.queries, max(1, r.flags.minPages))
	}
	if r.leftOut > 0 {
		env.note("note: --judgements: left out %s with fewer than %d pages", counted(r.leftOut, "query", "queries"), max(1, r.flags.minPages))
	}
	for _, m := range r.list {
		if !m.kind.Ranked() {
			r.predicted = append(r.predicted, nil)
			continue
		}
		scores := make([][]float64, len(queries))
		for i, q := range queries {
			for d := range q.Len() {
				scores[i] = append(scores[i], r.relevance(m.model, q.ID, q.DocID(d)))
			}
		}
		result, err := measure.EvaluateLists(grades, scores, r.measures, measure.TiesAverage)
		if err != nil {
			return usageErrorf("--judgements %s: %w", r.flags.judgements, err)
		}
		var row []stats.System
		for _, ms := range r.measures {
			s := stats.System{Mean: result.Mean(ms), Interval: stats.Unbounded}
			if values := slices.DeleteFunc(slices.Clone(result.PerQuery(ms)), math.IsNaN); len(values) > 1 && r.flags.resamples > 0 {
				if s, err = stats.MeanInterval(values, r.flags.resamples, r.flags.seed); err != nil {
					return err
				}
			}
			row = append(row, s)
		}
		r.predicted = append(r.predicted, row)
	}
	return nil
}

func (r *fitReport) relevance(m *model.Model, query, doc string) float64 {
	if r.flags.grading == relevanceOfAttraction && m.Attraction != nil {
		p, _ := m.Pair(query, doc)
		return p.Attraction
	}
	return m.Relevance(query, doc)
}

// fitJSON is the JSON form of the result of clicks fit. Scripts rely on its names.
type fitJSON struct {
	Pages   int             `json:"pages"`
	Queries int             `json:"queries"`
	Pairs   int             `json:"pairs"`
	Models  []clickJSON     `json:"models"`
	Valid   *validPagesJSON `json:"valid,omitempty"`
	Judged  *judgedJSON     `json:"judged,omitempty"`
}

type validPagesJSON struct {
	Pages   int      `json:"pages"`
	Units   int      `json:"units"`
	LeftOut int      `json:"left_out"`
	Unknown []string `json:"unknown_slots"`
	Best    string   `json:"best"`
	Seed    uint64   `json:"seed"`
}

type judgedJSON struct {
	Queries int `json:"queries"`
	LeftOut int `json:"left_out"`
}

type clickJSON struct {
	Model      string          `json:"model"`
	Prior      string          `json:"prior"`
	Exact      bool            `json:"exact"`
	Iterations int             `json:"iterations"`
	Objective  *float64        `json:"objective"` // null for closed forms and model files
	Shared     []float64       `json:"parameters"`
	Measures   []clickMeasured `json:"measures,omitempty"`
}

// clickMeasured is a measure of a click model. Numbers that are not known are null.
type clickMeasured struct {
	Measure string `json:"measure"`
	estimateJSON
	Difference *estimateJSON `json:"difference,omitempty"` // from the best model
}

type estimateJSON struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

func newEstimate(value, low, high float64) estimateJSON {
	e := estimateJSON{Value: value}
	if !math.IsInf(low, 0) {
		e.Low, e.High = &low, &high
	}
	return e
}

// cells are the cells of a row.
func (e *estimateJSON) cells() []any {
	if e == nil {
		return []any{nil, nil, nil}
	}
	if e.Low == nil {
		return []any{e.Value, nil, nil}
	}
	return []any{e.Value, *e.Low, *e.High}
}

// report returns the result. short asks for a row for each model instead of one for each measure.
func (r *fitReport) report(short bool) report {
	j := fitJSON{Pages: r.counts.Pages, Queries: r.counts.Queries(), Pairs: r.counts.Pairs()}
	for i, m := range r.list {
		own := clickJSON{Model: m.name, Prior: m.model.Prior.String(), Exact: m.model.Exact, Iterations: m.model.Iterations, Shared: m.model.Shared, Measures: r.measured(i)}
		if n := len(m.model.Steps); n > 0 {
			own.Objective = &m.model.Steps[n-1].Objective
		}
		j.Models = append(j.Models, own)
	}
	out := report{title: fmt.Sprintf("%s of %s, %s", counted(j.Pages, "page", "pages"), counted(j.Queries, "query", "queries"), counted(j.Pairs, "pair", "pairs"))}
	if c := r.compared; c != nil {
		j.Valid = &validPagesJSON{c.Pages, c.Units, c.LeftOut, slices.Concat([]string{}, c.Unknown), r.list[c.Best].name, r.flags.seed}
		out.title += fmt.Sprintf("; measured on %s, %s", counted(c.Pages, "held-out page", "held-out pages"), counted(c.Units, "unit", "units"))
	}
	if r.predicted != nil {
		j.Judged = &judgedJSON{r.queries, r.leftOut}
		out.title += fmt.Sprintf("; %s", counted(r.queries, "judged query", "judged queries"))
	}
	out.json = j
	if r.compared == nil && r.predicted == nil {
		out.columns = []string{"model", "iterations", "objective", "parameters"}
		for _, m := range j.Models {
			var objective any
			if m.Objective != nil {
				objective = *m.Objective
			}
			out.rows = append(out.rows, []any{m.Model, m.Iterations, objective, list(strings.Join(mapped(m.Shared[:min(10, len(m.Shared))], func(v float64) string { return fmt.Sprintf("%.4f", v) }), " "))})
		}
		return out
	}
	if short && !r.flags.ranks {
		r.line(&out, j.Models)
		return out
	}
	out.columns, out.keys = []string{"model", "iterations", "measure", "value", "from", "to", "difference", "low", "high"}, 3
	for _, m := range j.Models {
		for _, v := range m.Measures {
			out.rows = append(out.rows, slices.Concat([]any{m.Model, m.Iterations, v.Measure}, v.cells(), v.Difference.cells()))
		}
	}
	if c := r.compared; c != nil && len(r.list) > 1 {
		out.notes = append(out.notes, fmt.Sprintf("The difference is from %s, the best by log-likelihood, with its interval (low, high).", r.list[c.Best].name))
	}
	return out
}

// line writes a row for each model. The difference is that of the log-likelihood; all intervals would be too wide.
func (r *fitReport) line(out *report, models []clickJSON) {
	out.columns = []string{"model", "iterations"}
	compared := r.compared != nil && len(models) > 1
	for i := range models { // models that predict no relevance have fewer measures
		for _, v := range models[i].Measures {
			if !slices.Contains(out.columns, v.Measure) {
				out.columns = append(out.columns, v.Measure)
			}
		}
	}
	measures := out.columns[2:]
	for _, m := range models {
		row := []any{m.Model, m.Iterations}
		for _, name := range measures {
			var cell any
			for _, v := range m.Measures {
				if v.Measure == name {
					cell = v.Value
				}
			}
			row = append(row, cell)
		}
		if compared {
			row = append(row, m.Measures[0].Difference.cells()...)
		}
		out.rows = append(out.rows, row)
	}
	if compared {
		out.columns = append(slices.Clip(out.columns), "difference", "low", "high")
		out.notes = append(out.notes, "", fmt.Sprintf("The difference is that of the log-likelihood from %s, the best, with its interval of 95 %%.", r.list[r.compared.Best].name),
			"--ranks and --format json have all intervals.")
	}
}

// measured returns the measures of a model.
func (r *fitReport) measured(i int) (all []clickMeasured) {
	add := func(name string, e model.Estimate, less *model.Estimate) {
		m := clickMeasured{Measure: name, estimateJSON: newEstimate(e.Value, e.Low, e.High)}
		if less != nil && i != r.compared.Best {
			d := newEstimate(less.Value, less.Low, less.High)
			m.Difference = &d
		}
		all = append(all, m)
	}
	if r.compared != nil {
		m := &r.compared.Models[i]
		add("log-likelihood", m.LogLikelihood, &m.Less.LogLikelihood)
		add("perplexity", m.Perplexity, &m.Less.Perplexity)
		add("conditional perplexity", m.Conditional, &m.Less.Conditional)
		for k, rank := range m.Ranks {
			if r.flags.ranks && !math.IsNaN(rank.Perplexity.Value) {
				add(fmt.Sprintf("perplexity@%d", k+1), rank.Perplexity, nil)
				add(fmt.Sprintf("conditional perplexity@%d", k+1), rank.Conditional, nil)
			}
		}
	}
	if r.predicted != nil && r.predicted[i] != nil {
		for k, s := range r.predicted[i] {
			add(r.measures[k].Name(), model.Estimate{Value: s.Mean, Low: s.Interval.Low, High: s.Interval.High}, nil)
		}
	}
	return all
}
