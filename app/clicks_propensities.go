package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	clickmodel "github.com/listwise/listwise/click/model"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/dataset"
)

type propensitiesFlags struct {
	pagesFlags
	method       string
	by           string
	top          int
	acrossTime   bool
	published    bool
	leastSquares bool
	iterations   int
	data, judged string
	maxMissing   float64
	resamples    int
	seed         uint64
	from         string
	out          string
}

// Largest values of flags.
const (
	mostIterations = 100_000
	mostResamples  = 100_000
)

// propensityResamples is the default number of resamples for standard errors of propensities.
const propensityResamples = 100

// pageColumns are the members of a page by which propensities may differ.
var pageColumns = map[string]func(*click.Page) string{
	"arm":        func(p *click.Page) string { return p.Arm },
	"experiment": func(p *click.Page) string { return p.Experiment },
	"version":    func(p *click.Page) string { return p.Version },
}

func newClicksPropensitiesCommand(env *environment) *cobra.Command {
	var f propensitiesFlags
	cmd := &cobra.Command{
		Use:   "propensities PAGES... [--method M] [--out FILE]",
		Short: "Estimate how often users look at each slot",
		Long: `Estimates the examination of each slot, relative to the first slot, with intervals of
95 %. Methods, in the order of preference:

  shuffle      pages whose first documents were shuffled (shuffled)
  swap         pages where two documents, or pairs of neighbors, were exchanged with
               probability ½ (swapped, pairs)
  harvest      documents that rankers put in different slots. Chance must decide which
               ranker a user sees, as in an A/B test.
  regression   position-based model with attraction as a function of the features in
               --data. It is right as far as the features express relevance.
  em           position-based model with an attraction for each pair. It is biased where
               documents are in one slot only.
  dual         dual learning of a linear ranker on --data and of propensities
  trust        clicks with probability α γ + β in each slot, from the grades γ in --judged
               (divided by the highest grade)

Without --method, the command takes the first of the first four that the log supports in
all slots. Two slots are connected if both have 10 clicks on pages or documents that can
be compared. A method that does not connect all slots to the first is refused. --top
leaves out low slots.

Harvest compares arms only if they ran at the same time: both for 90 % of the time from
the first to the last page of either. An arm is an experiment, arm and version. A test of
the position-based model compares the ratio of clicks in two slots with the ratio of
their propensities; a small p says that the model does not fit.

Standard errors are by the delta method for shuffle and swap, and by a bootstrap else.
Both use 100 groups of users, or of pages without users. Memory grows with the distinct
combinations of a document, a slot, an arm and a group; for dual also with the pages that
have clicks.

--by fits each value of a column alone and shrinks it to the whole log. --from takes the
examination of a position-based model that "listwise clicks fit" wrote, instead of pages.`,
		Example: `  listwise clicks propensities pages.jsonl.gz --out theta.json
  listwise clicks propensities pages.jsonl.gz --method regression --data train.txt`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", "", "`how` to estimate (default: the first that the log supports)")
	fl.StringVar(&f.by, "by", "", "`column` by which propensities may differ: arm, experiment or version")
	addWhole(fl, &f.top, "top", 0, 0, "estimate this `number` of slots only; 0: all")
	fl.BoolVar(&f.acrossTime, "across-time", false, "harvest: compare arms that ran at different times")
	fl.BoolVar(&f.published, "published-weights", false, "harvest: weight 1 for each document, as published")
	fl.BoolVar(&f.leastSquares, "least-squares", false, "harvest: least squares on logarithms of ratios")
	addWhole(fl, &f.iterations, "iterations", 0, 0, "`number` of iterations; 0: em 200, regression 100, dual 400")
	fl.StringVar(&f.data, "data", "", "`file` with the features of the documents")
	fl.StringVar(&f.judged, "judged", "", "`file` of judged data, for trust")
	addReal(fl, &f.maxMissing, "max-missing", 0.2, 1, "largest `share` of impressions of documents without features")
	addWhole(fl, &f.resamples, "bootstrap", propensityResamples, 0, "`number` of resamples for standard errors; 0: none")
	fl.Uint64Var(&f.seed, "seed", 1, "random `seed`")
	fl.StringVar(&f.from, "from", "", "click model `file` (pbm) whose examination to take")
	fl.StringVar(&f.out, "out", "", "output `file` of the propensities, JSON")
	return cmd
}

func (f *propensitiesFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	o, value, err := f.options(cmd)
	if err != nil {
		return err
	}
	if err := new(targets).reads("--from", f.from).reads("", args...).reads("--data", f.data).reads("--judged", f.judged).writes("--out", f.out).check(); err != nil {
		return err
	}
	if f.from != "" {
		return f.fromModel(cmd, env, args)
	}
	if err := f.readData(cmd, env, &o); err != nil {
		return err
	}
	l := &propensity.Log{Interventions: o.Method == propensity.Shuffle || o.Method == propensity.Swap, KeepClicked: o.Method == propensity.Dual, Mem: f.account(), Value: value}
	if _, err := f.read(cmd, env, "", args, l.Add); err != nil {
		return err
	}
	var e *propensity.Estimate
	err = env.during("estimating propensities", func() (err error) {
		e, err = l.Estimate(cmd.Context(), o)
		return err
	})
	switch {
	case err != nil && cmd.Context().Err() != nil:
		return err
	case err != nil:
		return usageErrorf("%s: %w", strings.Join(mapped(args, inputName), ", "), refusals(env, err))
	}
	e.By = f.by
	if err := f.unused(cmd, e.Method); err != nil {
		env.note("note: a flag was not used: %v", err)
	}
	return f.write(env, e)
}

// fromModel takes the propensities of a click model.
func (f *propensitiesFlags) fromModel(cmd *cobra.Command, env *environment, args []string) error {
	if len(args) > 0 {
		return usageErrorf("--from takes the propensities of a model, expected no pages")
	}
	const why = "is for pages, expected it without --from"
	if err := refuse(cmd, why, "method", "by", "top", "across-time", "published-weights", "least-squares", "iterations", "data", "judged", "max-missing", "bootstrap", "seed", "duplicates", "drop-users-above", "drop-alike", "since", "until"); err != nil {
		return err
	}
	m, err := clickmodel.Load(f.from)
	if err != nil {
		return usageErrorf("--from: %w", err)
	}
	e, err := propensity.FromModel(m)
	if err != nil {
		return usageErrorf("--from %s: %w", f.from, err)
	}
	return f.write(env, e)
}

// write writes and prints an estimate.
func (f *propensitiesFlags) write(env *environment, e *propensity.Estimate) error {
	for _, n := range e.Notes {
		env.note("note: %s", n)
	}
	if f.out != "" {
		if err := e.Save(f.out); err != nil {
			return err
		}
	}
	return env.print(propensitiesReport(e))
}

// refusals prints the reasons why several methods were refused, and returns the error to report. The error of a
// function has the reasons, as nothing is printed.
func refusals(env *environment, err error) error {
	several, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // the error itself, not what it wraps
	if ok && env.take != nil {
		return errors.New(strings.Join(mapped(several.Unwrap(), error.Error), "; "))
	}
	if !ok {
		return err
	}
	for _, e := range several.Unwrap() {
		env.note("%s", e)
	}
	return errors.New("found a log that tells propensities by no method, expected what is named above")
}

func (f *propensitiesFlags) options(cmd *cobra.Command) (o propensity.Options, value func(*click.Page) string, err error) {
	o = propensity.Options{
		Method: propensity.Method(f.method), Top: f.top, AcrossTime: f.acrossTime, Published: f.published, Squares: f.leastSquares,
		MaxMissing: f.maxMissing, Iterations: f.iterations, Resamples: f.resamples, Seed: f.seed,
	}
	if f.method != "" && !slices.Contains(propensity.Methods, o.Method) {
		return o, nil, usageErrorf("--method: found %q, expected %s", f.method, orList(propensity.Methods))
	}
	if f.iterations > mostIterations || f.resamples > mostResamples {
		return o, nil, usageErrorf("--iterations %d --bootstrap %d: expected at most %d and %d", f.iterations, f.resamples, mostIterations, mostResamples)
	}
	if f.method != "" {
		err = f.unused(cmd, o.Method)
	} else {
		err = refuse(cmd, "is for --method trust", "judged")
	}
	if err == nil && f.data == "" {
		err = refuse(cmd, "needs --data", "max-missing")
	}
	if err == nil && f.resamples == 0 {
		err = refuse(cmd, "needs --bootstrap above 0", "seed")
	}
	if err != nil {
		return o, nil, err
	}
	if f.by != "" {
		if value = pageColumns[f.by]; value == nil {
			return o, nil, usageErrorf("--by: found %q, expected arm, experiment or version", f.by)
		}
	}
	return o, value, nil
}

// unused returns an error about a flag that does nothing for a method.
func (f *propensitiesFlags) unused(cmd *cobra.Command, m propensity.Method) error {
	harvest, features := []propensity.Method{propensity.Harvest}, []propensity.Method{propensity.Regress, propensity.Dual}
	iterate := append([]propensity.Method{propensity.EM}, features...)
	drawn := append([]propensity.Method{propensity.Harvest, propensity.Trust}, iterate...)
	for _, n := range []struct {
		methods []propensity.Method
		flags   []string
	}{
		{harvest, []string{"across-time", "published-weights", "least-squares"}}, {[]propensity.Method{propensity.Trust}, []string{"judged"}},
		{features, []string{"data", "max-missing"}}, {iterate, []string{"iterations"}}, {drawn, []string{"bootstrap", "seed"}},
	} {
		if !slices.Contains(n.methods, m) {
			if err := refuse(cmd, fmt.Sprintf("is for --method %s, found %s", orList(n.methods), m), n.flags...); err != nil {
				return err
			}
		}
	}
	return nil
}

// orList lists methods.
func orList(list []propensity.Method) string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = string(m)
	}
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " or " + names[n]
	}
	return names[0]
}

// readData reads the features and the grades.
func (f *propensitiesFlags) readData(cmd *cobra.Command, env *environment, o *propensity.Options) error {
	opts := f.memoryLimit.options()
	opts.Missing = dataset.MissingKeep
	if f.data != "" {
		d, err := env.open(cmd.Context(), "data", f.data, opts)
		if err != nil {
			return err
		}
		if o.Features, err = propensity.NewFeatures(d); err != nil {
			return usageErrorf("--data %s: %w", f.data, err)
		}
	}
	if f.judged != "" {
		d, err := env.open(cmd.Context(), "judged", f.judged, opts)
		if err != nil {
			return err
		}
		highest := d.HighestGrade()
		if !d.HasDocIDs() || highest == 0 {
			return usageErrorf("--judged %s: found no documents with ids and positive grades, expected some", f.judged)
		}
		grades := make(map[propensity.Pair]float64, d.Docs())
		for i := range d.Queries {
			q := &d.Queries[i]
			for k, g := range q.Grades {
				grades[propensity.Pair{Query: q.ID, Doc: q.DocID(k)}] = g / highest
			}
		}
		o.Grade = func(p propensity.Pair) (float64, bool) { g, ok := grades[p]; return g, ok }
	}
	return nil
}

func propensitiesReport(e *propensity.Estimate) report {
	cell := func(v *float64) any {
		if v == nil {
			return nil
		}
		return *v
	}
	r := report{columns: []string{"slot", "propensity", "from", "to", "impressions", "clicks", "interventions"}, json: e}
	trust := e.Method == propensity.Trust
	if trust {
		r.columns = append(r.columns, "alpha", "beta")
	}
	if e.Parts != nil {
		r.columns = append([]string{e.By}, r.columns...)
		r.keys = 1
	}
	rows := func(part []any, slots []propensity.Slot) {
		for _, s := range slots {
			row := append(slices.Clone(part), s.Slot, s.Theta, cell(s.Low), cell(s.High), wholeCount(s.Impressions), wholeCount(s.Clicks), wholeCount(s.Interventions))
			switch {
			case trust && s.Alpha != nil:
				row = append(row, s.Alpha.Value, s.Beta.Value)
			case trust:
				row = append(row, nil, nil)
			}
			r.rows = append(r.rows, row)
		}
	}
	if e.Parts == nil {
		rows(nil, e.Slots)
	} else {
		rows([]any{"(all)"}, e.Slots)
		for _, p := range e.Parts {
			rows([]any{p.Value}, p.Slots)
		}
	}
	how := "delta method"
	if e.Resamples > 0 {
		how = fmt.Sprintf("bootstrap with %d resamples", e.Resamples)
	}
	r.notes = []string{"", fmt.Sprintf("Method %s. Propensities are relative to slot %s, with intervals of %v %% (%s over %d groups of users or pages).", e.Method, e.Slots[0].Slot, 100*e.Level, how, e.Groups)}
	if e.Slots[1].SE == nil {
		r.notes[1] = fmt.Sprintf("Method %s. Propensities are relative to slot %s.", e.Method, e.Slots[0].Slot)
	}
	if e.Reason != "" {
		r.notes = append(r.notes, "Chosen "+e.Reason+".")
	}
	if c := e.Check; c != nil {
		verdict := "A position-based model fits"
		if c.P < 0.05 {
			verdict = "A position-based model does not fit"
		}
		r.notes = append(r.notes, fmt.Sprintf("%s: the largest deviation is z = %.2f, of slots %s and %s (p = %.3g for %d pairs of slots).", verdict, c.Z, c.Slots[0], c.Slots[1], c.P, c.Pairs))
	}
	if e.Parts != nil {
		r.notes = append(r.notes, fmt.Sprintf("Logarithms of propensities differ between values of %s with standard deviation %.4f.", e.By, e.Shrinkage))
		for _, p := range e.Parts {
			if !p.Alone {
				r.notes = append(r.notes, fmt.Sprintf("The pages of %s %q do not tell propensities; those of all pages are given.", e.By, p.Value))
			}
		}
	}
	return r
}
