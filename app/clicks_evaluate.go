package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/policy"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
)

type evaluateFlags struct {
	scoring
	reader pagesFlags

	pages        []string
	data         string
	propensities string
	baseline     string
	candidates   string
	maxMissing   float64

	estimator      string
	value          string
	selfNormalize  bool
	clip, bound    float64
	maxUnsupported float64
	ignoreWeights  bool
	ignoreChecks   bool
	safe           float64
}

// The values of --candidates.
const (
	candidatesAuto  = "auto"
	candidatesPage  = "page"
	candidatesTable = "table"
	candidatesShown = "shown"
)

var candidateSets = []string{candidatesAuto, candidatesPage, candidatesTable, candidatesShown}

func newClicksEvaluateCommand(env *environment) *cobra.Command {
	var f evaluateFlags
	cmd := &cobra.Command{
		Use:   "evaluate --pages PAGES --data FILE [--propensities FILE] [--baseline MODEL] MODEL...",
		Short: "Estimate the clicks of models from a log",
		Long: `Estimates how many clicks per page models would get if they ranked the pages of a log. Use
pages that no model was trained on.

For every page, each model ranks the candidates, and its first documents take the slots of
the page. --data has the features of the documents, as for "listwise score". Scores
are computed once per query of the table. Candidates (--candidates):
  auto    those of the page (member candidates), else those of the table
  page    those of the page
  table   all documents of the query in the table
  shown   the documents that the page showed, in another order

Estimators (--estimator), c is a click, θ the propensity of a slot (--propensities):
  pbm      clicks over examinations of each document. Assumes the position-based model.
  dr       pbm, with predictions of relevance from the features for what was not shown
  model    the predictions alone, without an interval
  slate    clicks of pages that show exactly the model's ranking, weighted by the
           probability of the ranking. Assumes nothing.
  item     clicks of documents in exactly their slot, weighted by its probability
  cascade  clicks of documents below exactly the documents above them
  pseudo   assumes that the clicks of a page are a sum over documents and ranks

pbm, dr and model take the logging probabilities of pages from orders, else from the shares
of the query's pages. slate needs propensity or orders, item propensities or orders,
cascade and pseudo orders.

Checks come first:
  arm      clicks of each arm of the log, and the estimate from the other arms' pages
  same     clicks of the pages that show exactly a model's ranking, and its estimate
  slot     clicks in a slot, and those that follow from the documents' clicks in all
           slots; the table has the slot that differs most
A check that differs says that the estimator or the propensities are wrong.

--safe chooses the model with the largest lower end of the one-sided interval of its gain over
the log. If none is above 0, the command fails with exit code 1: keep the ranking of the log.

Intervals are by user, with Student's t. There is none below an effective sample of 100
pages or 30 users. The command fails with exit code 1 if more than --max-unsupported of a
model's value is where the log never put the document, if the mean weight differs from 1 by
more than three standard errors, or if the clicks of a slot differ from those expected by
more than a tenth (p < .001 over all slots).

A warning says if a model was trained on pages that it is evaluated on. Models know their
pages from "listwise train --clicks".`,
		Example: `  listwise clicks evaluate --pages held.jsonl.gz --data products.csv --propensities theta.json --baseline old.json new.json
  listwise clicks evaluate --pages noise.jsonl.gz --data products.csv --estimator item new.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "pages", "data"); err != nil {
				return err
			}
			if len(args) == 0 {
				return needs(cmd, "a model")
			}
			return f.run(cmd, env, args)
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.pages, "pages", nil, "`file` of pages; repeatable")
	fl.StringVar(&f.data, "data", "", "data `file` with the features of the documents")
	fl.StringVar(&f.propensities, "propensities", "", "`file` of propensities, for pbm, dr and model")
	fl.StringVar(&f.baseline, "baseline", "", "`model` to compare with (default: the log itself)")
	fl.StringVar(&f.candidates, "candidates", candidatesAuto, "`documents` to rank: "+suggest.OneOf(candidateSets))
	addReal(fl, &f.maxMissing, "max-missing", 0.2, 1, "largest `share` of shown documents without features")
	fl.StringVar(&f.estimator, "estimator", string(policy.PBM), "`estimator`: "+suggest.OneOf(mapped(policy.Estimators, func(e policy.Estimator) string { return string(e) })))
	fl.StringVar(&f.value, "value", string(policy.Clicks), "`what` to estimate: clicks, or dcg of relevance")
	fl.BoolVar(&f.selfNormalize, "self-normalize", false, "divide by the sum of weights (SNIPS), for pbm and slate")
	addReal(fl, &f.clip, "clip", 0, 1e18, "largest `weight`, which lowers variance; 0: none")
	addReal(fl, &f.bound, "bound", 0, 1e18, "largest possible `clicks` times weight; intervals are guaranteed")
	addReal(fl, &f.safe, "safe", 0, 0.5, "choose a model to deploy, wrongly with this `probability`; 0: none")
	addReal(fl, &f.maxUnsupported, "max-unsupported", policy.DefaultUnsupported, 1, "largest `share` of a value without support in the log")
	fl.BoolVar(&f.ignoreWeights, "ignore-weights", false, "accept weights whose mean is not 1")
	fl.BoolVar(&f.ignoreChecks, "ignore-checks", false, "accept clicks of slots that contradict the propensities")
	f.reader.addReading(cmd)
	f.addTo(cmd)
	return cmd
}

func (f *evaluateFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	c, err := f.config()
	if err != nil {
		return err
	}
	if slices.Contains(f.pages, "-") {
		return usageErrorf("--pages: clicks evaluate reads pages twice, expected files, not standard input")
	}
	if err := new(targets).reads("--pages", f.pages...).reads("--data", f.data).reads("--propensities", f.propensities).reads("--baseline", f.baseline).reads("", args...).check(); err != nil {
		return err
	}
	if f.propensities != "" {
		theta, err := propensity.Load(f.propensities)
		if err != nil {
			return usageErrorf("--propensities: %w", err)
		}
		c.Slots, c.Part = policy.SlotsOf(theta), pageColumns[theta.By]
		if theta.Parts != nil && c.Part == nil {
			return usageErrorf("--propensities %s: found propensities by %q, expected by arm, experiment or version", f.propensities, theta.By)
		}
	}
	f.reader.maxMemory = f.maxMemory
	c.Mem = f.reader.account()
	rankers, err := f.rankers(cmd.Context(), env, args, &c)
	if err != nil {
		return err
	}
	for i := range rankers.names {
		c.Policies = append(c.Policies, policy.Policy{Name: rankers.names[i], Rankings: func(*click.Page) []click.Order { return rankers.rank(i) }})
	}
	e, err := policy.New(c)
	if err != nil {
		return usageErrorf("%w", err)
	}
	r, err := f.evaluate(cmd, env, e, rankers)
	if err != nil {
		return err
	}
	return f.print(env, r, rankers)
}

// config returns what the flags say about the estimator.
func (f *evaluateFlags) config() (policy.Config, error) {
	c := policy.Config{
		Estimator: policy.Estimator(f.estimator), Value: policy.Value(f.value), Normalise: f.selfNormalize, Clip: f.clip, Bound: f.bound,
		MaxUnsupported: f.maxUnsupported, IgnoreWeights: f.ignoreWeights, IgnoreChecks: f.ignoreChecks,
	}
	switch {
	case !slices.Contains(policy.Estimators, c.Estimator):
		return c, usageErrorf("--estimator: found %q, expected %s", f.estimator, suggest.OneOf(mapped(policy.Estimators, func(e policy.Estimator) string { return string(e) })))
	case c.Value != policy.Clicks && c.Value != policy.DCG:
		return c, usageErrorf("--value: found %q, expected clicks or dcg", f.value)
	case !slices.Contains(candidateSets, f.candidates):
		return c, usageErrorf("--candidates: found %q, expected %s", f.candidates, suggest.OneOf(candidateSets))
	}
	examined := c.Estimator == policy.PBM || c.Estimator == policy.DR || c.Estimator == policy.Direct
	switch {
	case examined && f.propensities == "":
		return c, usageErrorf(`--estimator %s needs --propensities, a file of "listwise clicks propensities"`, f.estimator)
	case !examined && f.propensities != "":
		return c, usageErrorf("--propensities is for --estimator pbm, dr and model, found %s", f.estimator)
	case !examined && c.Value == policy.DCG:
		return c, usageErrorf("--value dcg is for --estimator pbm, dr and model, found %s", f.estimator)
	case f.selfNormalize && c.Estimator != policy.PBM && c.Estimator != policy.Slate:
		return c, usageErrorf("--self-normalize is for --estimator pbm and slate, found %s", f.estimator)
	case f.selfNormalize && f.bound > 0:
		return c, usageErrorf("--bound: found --self-normalize, expected one of both")
	case f.safe > 0 && c.Estimator == policy.Direct:
		return c, usageErrorf("--safe needs an interval, which --estimator %s does not have", policy.Direct)
	case f.clip > 0 && c.Estimator == policy.Direct:
		return c, usageErrorf("--clip: found --estimator model, which has no weights")
	}
	return c, nil
}

// rankers ranks the documents of a page by several models.
type rankers struct {
	names  []string
	scores [][]float64 // of all documents of the table, by model
	of     map[string]*tableQuery
	set    string // of --candidates

	trained []trainedPages // by model

	page  *click.Page
	query *tableQuery // nil if the page cannot be ranked
	rows  []int       // of the candidates

	shown, missing int // documents shown, and those without features
	example        string
	bySet          map[string]int // pages by their candidates
	unknown        int            // candidates without features
	anonymous      int            // pages without a user
}

// trainedPages counts the pages on which a model was trained.
type trainedPages struct {
	sets          []*dataset.QuerySet // of the model's members that know their pages
	common, known []int               // pages in a set, and those of which that is known
}

// count counts a page.
func (t *trainedPages) count(p *click.Page) {
	for i, set := range t.sets {
		hash, ok := p.Hash()
		if !ok {
			return
		}
		in, known := set.Has(hash)
		if known {
			t.known[i]++
		}
		if in {
			t.common[i]++
		}
	}
}

// share returns the largest share of a member's training pages among the pages, nil if it is unknown.
func (t *trainedPages) share() *float64 {
	var most *float64
	for i, n := range t.known {
		if v := float64(t.common[i]) / float64(max(1, n)); n > 0 && (most == nil || v > *most) {
			most = &v
		}
	}
	return most
}

// tableQuery is a query of the table of features.
type tableQuery struct {
	start  int // row of the first document
	docs   []string
	row    map[string]int
	ranked [][]string // all documents, by model; nil before their use
}

// rankers reads the features and scores them with the models.
func (f *evaluateFlags) rankers(ctx context.Context, env *environment, args []string, c *policy.Config) (*rankers, error) {
	paths, flags := args, make([]string, len(args))
	if f.baseline != "" {
		paths, flags = append([]string{f.baseline}, args...), append([]string{"baseline"}, flags...)
	}
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, usageErrorf("found the model %s twice, expected each once", path)
		}
	}
	opts, err := f.options()
	if err != nil {
		return nil, err
	}
	var models []*model.Model
	for i, path := range paths {
		m, err := env.loadModel(flags[i], path)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	opts.Table.Ungraded = true
	if err := f.forModels(&opts, models...); err != nil {
		return nil, err
	}
	opts.Stream = true
	if opts.Negative == dataset.NegativeError { // grades do not matter
		opts.Negative = dataset.NegativeZero
	}
	d, err := env.openAndWarn(ctx, "data", f.data, opts)
	if err != nil {
		return nil, err
	}
	if d, err = f.withRoom(ctx, env, f.data, d, opts); err != nil {
		return nil, err
	}
	if !d.HasDocIDs() {
		return nil, usageErrorf("--data %s: found no ids of documents, expected those of the pages", f.data)
	}
	r := &rankers{names: paths, set: f.candidates, of: make(map[string]*tableQuery, len(d.Queries)), bySet: map[string]int{}}
	for i := range d.Queries {
		q := &d.Queries[i]
		t := &tableQuery{start: q.Start, row: make(map[string]int, q.Len()), ranked: make([][]string, len(paths))}
		bytes := int64(200)
		for k := range q.Len() {
			id := q.DocID(k)
			t.docs = append(t.docs, id)
			t.row[id] = q.Start + k
			bytes += 100 + int64(len(id))
		}
		if err := c.Mem.Take(bytes, "documents of the features"); err != nil {
			return nil, hintAtMemory(err)
		}
		r.of[q.ID] = t
	}
	for k, m := range models {
		var own trainedPages
		for _, member := range m.Members() {
			if set := member.Training.Pages; set != nil {
				own.sets, own.known, own.common = append(own.sets, set), append(own.known, 0), append(own.common, 0)
			}
		}
		r.trained = append(r.trained, own)
		err := env.during("scoring "+f.data, func() error {
			scores, err := scoreWith(m, paths[k], f.data, d)
			r.scores = append(r.scores, scores)
			return err
		})
		if err == nil {
			err = f.checkModel(paths[k], m, make(map[string]bool))
		}
		if err != nil {
			return nil, err
		}
	}
	if c.Estimator == policy.DR || c.Estimator == policy.Direct {
		features, err := propensity.NewFeatures(d)
		if err != nil {
			return nil, usageErrorf("--data %s: %w", f.data, err)
		}
		c.Regression = features
	}
	return r, nil
}

// take makes the candidates of a page those of rank.
func (r *rankers) take(p *click.Page) error {
	r.page, r.rows, r.query = p, r.rows[:0], r.of[p.Query]
	set := r.set
	if set == candidatesAuto {
		if set = candidatesTable; p.Candidates != nil {
			set = candidatesPage
		}
	}
	if set == candidatesPage && p.Candidates == nil {
		return &dataset.FormatError{Found: "no candidates", Expected: "candidates, for --candidates page"}
	}
	r.bySet[set]++
	for _, d := range p.Docs {
		r.shown++
		known := false
		if r.query != nil {
			_, known = r.query.row[d]
		}
		if !known {
			if r.missing++; r.example == "" {
				r.example = fmt.Sprintf("%q of query %q", d, p.Query)
			}
		}
	}
	if r.query == nil || set == candidatesTable {
		return nil
	}
	docs := p.Docs
	if set == candidatesPage {
		docs = p.Candidates
	}
	for _, d := range docs {
		if row, ok := r.query.row[d]; ok {
			r.rows = append(r.rows, row)
		} else {
			r.unknown++
		}
	}
	if len(r.rows) == 0 {
		r.query = nil
	}
	return nil
}

// rank returns the ranking of a model, nil if it cannot rank the page.
func (r *rankers) rank(k int) []click.Order {
	q := r.query
	if q == nil {
		return nil
	}
	byScore := func(a, b int) int { return cmp.Or(cmp.Compare(r.scores[k][b], r.scores[k][a]), cmp.Compare(a, b)) }
	named := func(rows []int) []string {
		return mapped(rows, func(row int) string { return q.docs[row-q.start] })
	}
	if len(r.rows) > 0 {
		slices.SortFunc(r.rows, byScore)
		return []click.Order{{Docs: named(r.rows[:min(len(r.rows), len(r.page.Docs))]), Probability: 1}}
	}
	if q.ranked[k] == nil {
		rows := make([]int, len(q.docs))
		for i := range rows {
			rows[i] = q.start + i
		}
		slices.SortFunc(rows, byScore)
		q.ranked[k] = named(rows[:min(len(rows), click.MaxDocs)])
	}
	return []click.Order{{Docs: q.ranked[k], Probability: 1}}
}

// evaluate reads the pages twice.
func (f *evaluateFlags) evaluate(cmd *cobra.Command, env *environment, e *policy.Evaluation, r *rankers) (*policy.Result, error) {
	first := memory.New("the pages", f.memoryLimit.options())
	_, err := f.reader.readQuietly(cmd, env, "pages", f.pages, first, func(p *click.Page) error {
		if err := r.take(p); err != nil {
			return err
		}
		return e.Count(p)
	})
	if err != nil {
		return nil, err
	}
	if share := float64(r.missing) / float64(max(1, r.shown)); share > f.maxMissing {
		return nil, usageErrorf("--data %s: found no features of %.3g %% of the shown documents, such as %s, expected at most %.3g %% (--max-missing)", f.data, 100*share, r.example, 100*f.maxMissing)
	}
	if r.missing > 0 {
		env.note("note: %s of %d shown have no features, such as %s, and are in no ranking", counted(r.missing, "document", "documents"), r.shown, r.example)
	}
	if r.unknown > 0 {
		env.note("note: %s no features and are in no ranking", counted(r.unknown, "candidate has", "candidates have"))
	}
	if err := env.during("preparing", e.Prepare); err != nil {
		return nil, usageErrorf("%w", err)
	}
	r.bySet = map[string]int{}
	tally, err := f.reader.read(cmd, env, "pages", f.pages, func(p *click.Page) error {
		if err := r.take(p); err != nil {
			return err
		}
		for i := range r.trained {
			r.trained[i].count(p)
		}
		return e.Add(p)
	})
	if err != nil {
		return nil, err
	}
	for i := range r.trained {
		if share := r.trained[i].share(); share != nil && *share > 0 {
			env.note("warning: %s was trained on %.3g %% of these pages, so its estimate is too high; evaluate it on pages of a later time (--since), and train it on those before (--until)", r.names[i], 100**share)
		}
	}
	r.anonymous = tally.Anonymous
	s := e.Skipped()
	if s.Unplaced > 0 {
		env.note("note: %s documents in slots without propensities, such as %s, and %s left out", counted(s.Unplaced, "page has", "pages have"), strings.Join(s.Slots, ", "), was(s.Unplaced))
	}
	if s.Unranked > 0 {
		env.note("note: %s of queries or candidates without features and %s left out", counted(s.Unranked, "page is", "pages are"), was(s.Unranked))
	}
	result, err := e.Result()
	if err != nil {
		return nil, usageErrorf("%s: %w", strings.Join(f.pages, ", "), err)
	}
	return result, nil
}

type evaluateJSON struct {
	Estimator   policy.Estimator         `json:"estimator"`
	Value       policy.Value             `json:"value"`
	Pages       int                      `json:"pages"`
	Weight      float64                  `json:"weight"`
	Units       int                      `json:"units"`
	Candidates  map[string]int           `json:"pages_by_candidates"`
	Unplaced    int                      `json:"left_out_slots"`
	Unranked    int                      `json:"left_out_features"`
	Checks      evaluateChecksJSON       `json:"checks"`
	Log         modelValueJSON           `json:"log"`
	Models      []modelValueJSON         `json:"models"`
	Baseline    string                   `json:"baseline"`
	Differences []evaluateDifferenceJSON `json:"differences"`
	Safe        *safeJSON                `json:"safe,omitempty"`
}

// safeJSON is the choice of --safe.
type safeJSON struct {
	Probability float64    `json:"probability"` // of a choice that is worse than the log
	Deploy      *string    `json:"deploy"`      // null: keep the ranking of the log
	Lower       []*float64 `json:"lower"`       // ends of one-sided intervals of the models' gains over the log; null without one
}

type evaluateChecksJSON struct {
	Arms   []evaluateCheckJSON `json:"arms"`
	Same   []evaluateCheckJSON `json:"same"`
	Slots  []evaluateCheckJSON `json:"slots"`
	SlotsP float64             `json:"slots_p"`
}

type evaluateCheckJSON struct {
	Name       string      `json:"name"`
	Pages      float64     `json:"pages"`
	Observed   float64     `json:"observed"`
	Estimate   float64     `json:"estimate"`
	Difference float64     `json:"difference"`
	Interval   *[2]float64 `json:"interval"`
	P          float64     `json:"p"`
	Differs    bool        `json:"differs"`
}

type modelValueJSON struct {
	Model          string         `json:"model"`
	Estimate       float64        `json:"estimate"`
	Error          float64        `json:"standard_error"`
	DF             float64        `json:"df"`
	Interval       *[2]float64    `json:"interval"` // null if refused
	Effective      float64        `json:"effective_pages"`
	EffectiveUnits float64        `json:"effective_units"`
	MeanWeight     float64        `json:"mean_weight"`
	WeightError    float64        `json:"mean_weight_standard_error"`
	Largest        float64        `json:"largest_weight"`
	Term           float64        `json:"largest_contribution"`
	Unsupported    float64        `json:"unsupported"`
	Trained        *float64       `json:"share_of_pages_trained_on,omitempty"` // absent if unknown
	Refused        policy.Refusal `json:"refused,omitempty"`
	Reason         string         `json:"reason,omitempty"`
}

type evaluateDifferenceJSON struct {
	Model      string         `json:"model"`
	Baseline   string         `json:"baseline"`
	Difference float64        `json:"difference"`
	Error      float64        `json:"standard_error"`
	Interval   *[2]float64    `json:"interval"`
	P          *float64       `json:"p"`
	Holm       *float64       `json:"p_holm"`
	Refused    policy.Refusal `json:"refused,omitempty"`
}

// endsOrNil returns the ends of an interval, nil if there is none.
func endsOrNil(i stats.Interval) *[2]float64 {
	if math.IsInf(i.Low, 0) || math.IsInf(i.High, 0) {
		return nil
	}
	return &[2]float64{i.Low, i.High}
}

// endCells are the cells of an interval.
func endCells(i stats.Interval) []any {
	if b := endsOrNil(i); b != nil {
		return []any{b[0], b[1]}
	}
	return []any{nil, nil}
}

// print prints the checks and the table of the models. CSV has the latter alone.
func (f *evaluateFlags) print(env *environment, r *policy.Result, from *rankers) error {
	baseline := policy.Log
	if f.baseline != "" {
		baseline = 0
	}
	table, j := f.table(r, baseline)
	j.Candidates = from.bySet
	for i := range j.Models {
		j.Models[i].Trained = from.trained[i].share()
	}
	if f.safe > 0 {
		j.Safe = f.choose(r, &table)
	}
	checks := f.checks(r, &j)
	checks.title = f.title(r, from)
	var err error
	if env.format == "text" && env.take == nil {
		err = env.printText(textOf([]report{checks, table}, "\n", env.width()))
	} else {
		table.json = j
		err = env.print(table)
	}
	if err != nil {
		return err
	}
	var refused []string
	for i := range r.Policies {
		if e := &r.Policies[i]; e.Void() {
			hint := " (--max-unsupported; --candidates shown ranks the documents of the page)"
			switch e.Refused {
			case policy.WrongWeights:
				hint = " (--ignore-weights)"
			case policy.WrongClicks:
				hint = " (--ignore-checks)"
			}
			refused = append(refused, e.Name+": "+e.Reason()+hint)
		}
	}
	if refused != nil {
		return errors.New(strings.Join(refused, "; "))
	}
	if j.Safe != nil && j.Safe.Deploy == nil {
		return fmt.Errorf("--safe %v: no model is better than the ranking of the log with this confidence; keep that ranking", f.safe)
	}
	return nil
}

// choose chooses a model to deploy, and says which and why below the table.
func (f *evaluateFlags) choose(r *policy.Result, t *report) *safeJSON {
	best, lower := r.Choose(f.safe)
	j := &safeJSON{Probability: f.safe, Lower: []*float64{}}
	for _, v := range lower {
		if math.IsInf(v, 0) {
			j.Lower = append(j.Lower, nil)
			continue
		}
		j.Lower = append(j.Lower, &v)
	}
	if best != policy.Log {
		name := r.Policies[best].Name
		j.Deploy = &name
		t.notes = append(t.notes, fmt.Sprintf("Deploy %s: its value is at least %.4f above that of the log, with confidence %.4g %% over all models.", name, lower[best], 100*(1-f.safe)))
	}
	return j
}

// title says which pages and candidates the estimates are from.
func (f *evaluateFlags) title(r *policy.Result, from *rankers) string {
	var sets []string
	for _, set := range candidateSets {
		if n := from.bySet[set]; n > 0 {
			sets = append(sets, map[string]string{
				candidatesPage: "those of the page", candidatesTable: "all documents of the query in " + f.data, candidatesShown: "the documents shown",
			}[set])
		}
	}
	unit := counted(r.Units, "user", "users")
	if from.anonymous > 0 {
		unit = counted(r.Units, "user or page without user", "users and pages without user")
	}
	return fmt.Sprintf("%s of %s; candidates: %s", counted(r.Pages, "page", "pages"), unit, strings.Join(sets, ", or "))
}

// checks returns the table of the checks, and adds them to j.
func (f *evaluateFlags) checks(r *policy.Result, j *evaluateJSON) report {
	t := report{columns: []string{"check", "of", "pages", "observed", "estimate", "difference", "from", "to", "result"}, keys: 2}
	failed := false
	add := func(kind string, c *policy.Check, differs bool) {
		verdict := "agrees"
		if differs {
			verdict, failed = "differs", true
		}
		row := []any{kind, c.Name, wholeCount(c.Pages), c.Observed, c.Estimate, c.Difference.Mean}
		t.rows = append(t.rows, append(append(row, endCells(c.Difference.Interval)...), verdict))
	}
	list := func(kind string, of []policy.Check) []evaluateCheckJSON {
		all := []evaluateCheckJSON{}
		for i := range of {
			c := &of[i]
			if kind != "" {
				add(kind, c, c.Failed())
			}
			all = append(all, evaluateCheckJSON{c.Name, c.Pages, c.Observed, c.Estimate, c.Difference.Mean, endsOrNil(c.Difference.Interval), c.Difference.P, c.Failed()})
		}
		return all
	}
	c := &r.Checks
	j.Checks = evaluateChecksJSON{Arms: list("arm", c.Arms), Same: list("same", c.Same), Slots: list("", c.Slots), SlotsP: c.SlotsP}
	if len(c.Slots) > 1 {
		worst := slices.MinFunc(c.Slots, func(a, b policy.Check) int { return cmp.Compare(a.Difference.P, b.Difference.P) })
		add("slot", &worst, stats.Significant(c.SlotsP))
	}
	switch {
	case len(t.rows) == 0:
		t.notes = []string{"", "The log allows no check: it has one arm, and no page with the ranking of a model."}
	case failed:
		t.notes = []string{"", fmt.Sprintf("The estimator %s fails a check: it, or its propensities, are wrong for this log.", r.Estimator)}
	}
	if len(c.Slots) > 1 {
		t.notes = append(t.notes, fmt.Sprintf("Of %d slots, the one that differs most; p %s over all.", len(c.Slots), probability(c.SlotsP)))
	}
	return t
}

// table returns the table of the models.
func (f *evaluateFlags) table(r *policy.Result, baseline int) (report, evaluateJSON) {
	what := map[policy.Value]string{policy.Clicks: "clicks per page", policy.DCG: "dcg per page"}[r.Value]
	t := report{columns: []string{"model", what, "from", "to", "difference", "from", "to", "p"}, keys: 1}
	j := evaluateJSON{
		Estimator: r.Estimator, Value: r.Value, Pages: r.Pages, Weight: r.Weight, Units: r.Units, Unplaced: r.Skipped.Unplaced, Unranked: r.Skipped.Unranked,
		Log: modelValue(&r.Log), Baseline: r.Log.Name, Models: []modelValueJSON{}, Differences: []evaluateDifferenceJSON{},
	}
	if baseline != policy.Log {
		j.Baseline = r.Policies[baseline].Name
	}
	differences := r.Differences(baseline)
	several := len(differences) > 1
	if several {
		t.columns = append(t.columns, "p (Holm)")
	}
	t.columns = append(t.columns, "effective pages", "unsupported")
	if r.Weighed {
		t.columns = append(t.columns, "mean weight")
	}
	row := func(e *policy.Estimate, d *policy.Difference) {
		cells := []any{e.Name, e.Mean}
		if e.Void() {
			cells[1] = nil
		}
		cells = append(cells, endCells(e.Interval)...)
		switch {
		case d == nil || e.Void():
			cells = append(cells, nil, nil, nil, nil)
		case d.Refused != "":
			cells = append(cells, d.Mean, nil, nil, nil)
		default:
			cells = append(append(append(cells, d.Mean), endCells(d.Interval)...), pValue(d.P))
		}
		if several {
			if cells = append(cells, nil); d != nil && d.Refused == "" {
				cells[len(cells)-1] = pValue(d.Holm)
			}
		}
		cells = append(cells, int(math.Round(e.Effective)), e.Unsupported)
		if r.Weighed {
			cells = append(cells, e.Weight)
		}
		t.rows = append(t.rows, cells)
	}
	row(&r.Log, nil)
	for i := range r.Policies {
		e := &r.Policies[i]
		var d *policy.Difference
		if i != baseline {
			d, differences = &differences[0], differences[1:]
			x := evaluateDifferenceJSON{Model: d.Policy, Baseline: d.Baseline, Difference: d.Mean, Error: d.Error, Interval: endsOrNil(d.Interval), Refused: d.Refused}
			if d.Refused == "" {
				x.P, x.Holm = &d.P, &d.Holm
			}
			j.Differences = append(j.Differences, x)
		}
		row(e, d)
		j.Models = append(j.Models, modelValue(e))
	}
	note := fmt.Sprintf("Estimator %s. Differences are from %s, on the same pages. Intervals are of %v %% by user (Student's t).", r.Estimator, j.Baseline, 100*stats.Level)
	if f.bound > 0 {
		note = fmt.Sprintf("Estimator %s. Differences are from %s, on the same pages. Intervals are of %v %% by user (empirical Bernstein).", r.Estimator, j.Baseline, 100*stats.Level)
	}
	if several {
		note += " p (Holm) is corrected over all rows."
	}
	t.notes = []string{"", note}
	for i := range r.Policies {
		if e := &r.Policies[i]; e.Refused != "" && !e.Void() {
			t.notes = append(t.notes, fmt.Sprintf("No interval of %s: %s.", e.Name, e.Reason()))
		}
	}
	return t, j
}

func modelValue(e *policy.Estimate) modelValueJSON {
	return modelValueJSON{
		Model: e.Name, Estimate: e.Mean, Error: e.Error, DF: e.DF, Interval: endsOrNil(e.Interval), Effective: e.Effective, EffectiveUnits: e.EffectiveUnits,
		MeanWeight: e.Weight, WeightError: e.WeightError, Largest: e.Largest, Term: e.Term, Unsupported: e.Unsupported, Refused: e.Refused, Reason: e.Reason(),
	}
}
