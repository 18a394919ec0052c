package propensity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// Method is a way to estimate propensities.
type Method string

// The methods. Choose prefers the earlier ones and does not choose EM, Dual and Trust.
const (
	Shuffle  Method = "shuffle"    // pages whose first documents were shuffled
	Swap     Method = "swap"       // pages where two documents or pairs of neighbours were exchanged by chance
	Harvest  Method = "harvest"    // documents that rankers put in different slots
	Regress  Method = "regression" // a position-based model whose attraction is a function of features
	EM       Method = "em"         // a position-based model with an attraction for each pair
	Dual     Method = "dual"       // dual learning of a linear ranker and propensities
	Trust    Method = "trust"      // clicks by trust in high slots; needs grades
	explicit        = 4            // number of methods that Choose tries
)

// Methods are all methods, in the order of preference.
var Methods = []Method{Shuffle, Swap, Harvest, Regress, EM, Dual, Trust}

// Options are the options of an estimate. The zero value chooses the method.
type Options struct {
	Method     Method
	Top        int  // estimate the first slots only; 0 is all
	AcrossTime bool // Harvest: compare arms that ran at different times
	Published  bool // Harvest: each pair has weight 1, as published, instead of one by its impressions
	Squares    bool // Harvest: least squares on logarithms of ratios instead of the likelihood

	Features   *Features  // of the documents, for Regress and Dual
	Regression Regression // Regress: another regression than the logistic one on Features
	MaxMissing float64    // largest share of impressions of documents without features

	// Grade returns the relevance of a pair from 0 to 1, for Trust.
	Grade func(Pair) (float64, bool)

	Iterations int // of EM, Regress and Dual; 0 is 200, 100 and 400
	Resamples  int // of the bootstrap; below 2 there are no standard errors, except by the delta method
	Seed       uint64
	Workers    int // 0 is all cores; the result does not depend on it

	harvest *harvest // what supports prepared
}

const (
	// Level is the coverage of the intervals.
	Level = 0.95
	// LeastClicks is the number of clicks in either of two slots from which their ratio connects them.
	LeastClicks = 10
	// fewGroups is the number of groups of units below which there are no standard errors.
	fewGroups = 5
)

var (
	errNoClicks  = errors.New("found a page without clicks, expected clicks or clicked")
	errSlots     = errors.New("found more than 65536 slots, expected at most as many")
	errArms      = errors.New("found more than 65536 arms and versions, expected at most as many")
	errDocIDs    = errors.New("found documents without ids, expected ids that match those of the pages")
	errSingular  = errors.New("found slots whose propensities cannot be told apart, expected more clicks")
	errOneGrade  = errors.New("found judged documents of one grade only")
	errNotRising = errors.New("found no more clicks on relevant documents")
)

// Refusal is the error of a log that does not tell propensities. It says what was found and what would supply the
// rest.
type Refusal struct {
	Method Method `json:"-"`
	Found  string `json:"found"`
	Apart  string `json:"apart,omitempty"` // the slots whose propensities are unknown, if they are not all
	Supply string `json:"supply"`

	reached []int // slots that are connected to the first, and the first
}

func (r *Refusal) Error() string { return string(r.Method) + ": " + r.Reason() }

// Reason returns the text of the error without the method.
func (r *Refusal) Reason() string {
	apart := r.Apart
	if apart != "" {
		apart = ", and " + apart
	}
	return fmt.Sprintf("found %s%s; %s", r.Found, apart, r.Supply)
}

// fitted are estimates with standard errors, which a method may leave to the bootstrap.
type fitted struct {
	logs   []float64
	errors []float64

	covariance [][]float64 // of logs, in the lower triangle; nil if unknown

	resamples [][]float64 // see Estimate
	factor    float64

	more []float64 // further values

	moreErrors []float64
}

// Estimate estimates the propensities of all slots. It returns a [*Refusal], or several joined, if the log does not
// tell them.
func (l *Log) Estimate(ctx context.Context, o Options) (*Estimate, error) {
	if err := l.check(o); err != nil {
		return nil, err
	}
	o, why, err := l.choose(o)
	if err != nil {
		return nil, err
	}
	e, err := l.estimate(ctx, l.order(o.Top), o)
	if e != nil {
		e.Reason = why
	}
	return e, err
}

// Told is what a log tells by a method: propensities, and why not those of all slots.
type Told struct {
	Method   Method    `json:"method"`
	Estimate *Estimate `json:"estimate,omitempty"` // nil if the log tells nothing
	Lacks    *Refusal  `json:"lacks,omitempty"`
}

// Tell estimates the propensities of the slots that the method of the options connects to the first. The error is
// that of the context.
func (l *Log) Tell(ctx context.Context, o Options) (t Told, err error) {
	t.Method = o.Method
	order := l.order(o.Top)
	err = l.check(o)
	if err == nil {
		err = l.supports(order, &o)
	}
	if r, refused := errors.AsType[*Refusal](err); refused && len(r.reached) > 1 {
		t.Lacks, order, o.harvest, err = r, r.reached, nil, nil
	}
	if err == nil {
		t.Estimate, err = l.estimate(ctx, order, o)
	}
	if err == nil || ctx.Err() != nil {
		return t, ctx.Err()
	}
	if r, refused := errors.AsType[*Refusal](err); refused {
		t.Lacks = r
	} else {
		found, supply, _ := strings.Cut(strings.TrimPrefix(err.Error(), "found "), ", ")
		t.Lacks = &Refusal{Method: o.Method, Found: found, Supply: supply}
	}
	return t, nil
}

// estimate estimates the propensities of the slots of an order.
func (l *Log) estimate(ctx context.Context, order []int, o Options) (*Estimate, error) {
	f, notes, err := l.fit(ctx, order, &o)
	if err != nil {
		return nil, err
	}
	e := &Estimate{Method: o.Method, Pages: l.Pages, Weight: l.Weight, Groups: int(l.groupCount()), Notes: notes, Level: Level}
	if f.errors != nil && f.moreErrors != nil {
		e.Resamples, e.Seed = o.Resamples, o.Seed
	}
	e.Slots, e.Covariance = l.report(order, f), f.covariance
	e.resamples, e.factor = f.resamples, f.factor
	if o.Method == Harvest {
		e.Check = check(e.Slots, f)
	}
	if l.Value != nil {
		e.Shrinkage, e.Parts, err = l.shrunk(ctx, e.names(), f, o)
	}
	return e, err
}

// check returns an error unless there are clicks in two slots.
func (l *Log) check(o Options) error {
	clicks := 0.0
	for _, s := range l.slots {
		clicks += s.clicks
	}
	order := l.order(o.Top)
	switch {
	case o.Method != "" && !slices.Contains(Methods, o.Method):
		return fmt.Errorf("found method %q, expected one of %v", o.Method, Methods)
	case clicks == 0:
		return fmt.Errorf("found no clicks on %d pages, expected pages with clicks", l.Pages)
	case len(order) < 2:
		return fmt.Errorf("found %d slot, expected two or more whose propensities can differ", len(order))
	case l.slots[order[0]].clicks == 0:
		return fmt.Errorf("found no clicks in the first slot, %q, to which propensities are relative", l.index.Slots()[order[0]])
	}
	return nil
}

// choose sets the method, and says why.
func (l *Log) choose(o Options) (Options, string, error) {
	if o.Method != "" {
		return o, "", nil
	}
	var refusals []error
	var why []string
	order := l.order(o.Top)
	for _, m := range Methods[:explicit] {
		o.Method, o.harvest = m, nil
		err := l.supports(order, &o)
		if err == nil {
			why = append(why, reasons[m])
			return o, strings.Join(why, "; "), nil
		}
		refusals = append(refusals, err)
		if r, ok := errors.AsType[*Refusal](err); ok {
			found := r.Found
			if !strings.HasPrefix(found, "no ") && r.Apart != "" {
				found += ", which connect too few slots"
			}
			why = append(why, fmt.Sprintf("not %s: %s", m, found))
		}
	}
	return o, "", errors.Join(refusals...)
}

// reasons say what speaks for a method.
var reasons = map[Method]string{
	Shuffle: "shuffle: documents in shuffled slots are alike, so click rates are proportional to propensities",
	Swap:    "swap: chance exchanged documents, so they are alike in both slots",
	Harvest: "harvest: documents stood in different slots at the same time",
	Regress: "regression: features tell relevance from position as far as they express relevance",
}

// supports returns a Refusal unless the method can estimate all slots.
func (l *Log) supports(order []int, o *Options) error {
	switch o.Method {
	case Shuffle, Swap:
		joined := newUnion(len(order))
		list := l.ratios(order, o.Method == Shuffle)
		for i := range list {
			joined.join(list[i].a, list[i].b)
		}
		return l.refuse(o.Method, joined, order, l.drawnPages(order, o.Method == Shuffle))
	case Harvest:
		var found string
		o.harvest, found = l.harvest(order, o)
		return l.refuse(Harvest, o.harvest.joined(), order, found)
	case Regress, Dual:
		if o.Features == nil && (o.Regression == nil || o.Method == Dual) {
			return &Refusal{Method: o.Method, Found: "no features of documents", Supply: "expected judged data with the features of the documents (--data)"}
		}
	case Trust:
		if o.Grade == nil {
			return &Refusal{Method: Trust, Found: "no grades", Supply: "clicks tell trust only up to a linear function of relevance, expected grades of some documents (--judged)"}
		}
	case EM:
	}
	return nil
}

// supplies say what lets a method estimate all slots.
var supplies = map[Method]string{
	Shuffle: `"listwise serve --explore NAME=MODEL:top=N" supplies shuffled pages`,
	Swap:    `"listwise serve --explore NAME=MODEL:swap" or ":pairs" supplies them`,
	Harvest: `an A/B test of rankers that differ ("listwise serve --split") supplies them, and --top N leaves out low slots`,
}

// drawnPages says how many pages a method can use.
func (l *Log) drawnPages(order []int, shuffled bool) string {
	pages := map[bool]string{true: "shuffled pages", false: "pages with exchanges drawn by chance"}[shuffled]
	n, at := 0.0, places(order, len(l.slots))
	for i := range l.edges {
		if e := &l.edges[i]; e.shuffled == shuffled && at[e.a] >= 0 {
			sum := 0.0
			for s := range e.strata {
				for g := range e.strata[s] {
					sum += e.strata[s][g].pages
				}
			}
			n = max(n, sum)
		}
	}
	if n == 0 {
		return "no " + pages
	}
	return fmt.Sprintf("at most %v %s for two slots", n, pages)
}

// refuse returns a Refusal that names the slots that are not connected to the first.
func (l *Log) refuse(m Method, joined union, order []int, found string) error {
	apart := l.apart(joined, order)
	if apart == "" {
		return nil
	}
	r := &Refusal{Method: m, Found: found, Apart: apart, Supply: supplies[m]}
	for i, s := range order {
		if joined.root(i) == joined.root(0) {
			r.reached = append(r.reached, s)
		}
	}
	return r
}

// apart names the slots that are not connected to the first, "" if there are none.
func (l *Log) apart(joined union, order []int) string {
	const most = 10 // names
	var names []string
	for i, s := range order {
		if joined.root(i) != joined.root(0) {
			names = append(names, l.index.Slots()[s])
		}
	}
	if len(names) == 0 {
		return ""
	}
	n := len(names)
	if n > most {
		names = append(names[:most], fmt.Sprintf("%d more", n-most))
	}
	word, verb := "slots", "are"
	if n == 1 {
		word, verb = "slot", "is"
	}
	return fmt.Sprintf("%s %s %s not connected to slot %s by %d clicks in both", word, strings.Join(names, ", "), verb, l.index.Slots()[order[0]], LeastClicks)
}

// harvest prepares Harvest, and says what there is.
func (l *Log) harvest(order []int, o *Options) (*harvest, string) {
	var classes []int
	if !o.AcrossTime {
		classes, _ = l.classes()
	}
	h := &harvest{table: l.table(order, classes), k: len(order), one: o.Published, squares: o.Squares}
	several := 0
	for b := range len(h.blocks) - 1 {
		if h.blocks[b+1]-h.blocks[b] > 1 {
			several++
		}
	}
	found := fmt.Sprintf("%d of %d documents in two slots or more", several, max(0, len(h.blocks)-1))
	distinct := slices.Clone(classes)
	slices.Sort(distinct)
	if times := len(slices.Compact(distinct)); times > 1 {
		found += fmt.Sprintf(" (%d arms that ran at %d different times, which --across-time compares", len(l.arms), times)
		if hint := l.hint(classes); hint != "" {
			found += "; " + hint
		}
		found += ")"
	}
	return h, found
}

// fit estimates by the method of the options.
func (l *Log) fit(ctx context.Context, order []int, o *Options) (f *fitted, notes []string, err error) {
	if o.harvest == nil {
		if err := l.supports(order, o); err != nil {
			return nil, nil, err
		}
	}
	var run func(weights []float64) ([]float64, error)
	switch o.Method {
	case Shuffle, Swap:
		f, err = l.interventions(order, o.Method == Shuffle)
		if err == nil && l.groupCount() < fewGroups {
			f.errors, notes = nil, append(notes, fewUnits(l))
		}
		return f, notes, err
	case Harvest:
		if _, known := l.classes(); !known && !o.AcrossTime {
			notes = append(notes, "pages have no time, so all arms are taken to have run at the same time")
		}
		if classes, known := l.classes(); known && !o.AcrossTime {
			if hint := l.hint(classes); hint != "" {
				notes = append(notes, "arms that did not run at the same time are not compared; "+hint)
			}
		}
		if len(l.arms) == 1 {
			notes = append(notes, "the pages are of one arm; harvest is right if what put documents in different slots has nothing to do with relevance")
		}
		run = o.harvest.fit
	case EM, Regress:
		e, share, err := l.em(order, o)
		if err != nil {
			return nil, nil, err
		}
		notes = append(notes, share...)
		run = e.fit
	case Dual:
		if o.Iterations == 0 {
			o.Iterations = 400
		}
		d := l.newDual(order, o)
		if len(d.pages) == 0 {
			return nil, nil, &Refusal{Method: Dual, Found: "no clicks on documents with features", Supply: "expected features of the documents on the pages"}
		}
		notes = append(notes, "dual learning is less exact than other methods; it does not end at a maximum")
		run = d.fit
	case Trust:
		t, err := l.trust(order, o)
		if err != nil {
			return nil, nil, err
		}
		run = t.fit
	}
	all, err := run(nil)
	if err != nil {
		return nil, nil, &Refusal{Method: o.Method, Found: strings.TrimPrefix(err.Error(), "found "), Supply: "expected more clicks, or --top N for fewer slots"}
	}
	f = &fitted{logs: all[:len(order)], more: all[len(order):]}
	switch {
	case o.Resamples < 2:
	case l.groupCount() < fewGroups:
		notes = append(notes, fewUnits(l))
	default:
		results, factor, err := l.bootstrap(ctx, o, len(all), run)
		if err != nil {
			return nil, nil, err
		}
		f.resamples, f.factor = results, factor
		results = slices.DeleteFunc(slices.Clone(results), func(v []float64) bool { return v == nil })
		if failed := o.Resamples - len(results); failed > 0 {
			notes = append(notes, fmt.Sprintf("%d of %d resamples do not tell all propensities and were left out", failed, o.Resamples))
		}
		deviations, covariance := spread(results, factor, len(all), len(order))
		f.errors, f.moreErrors, f.covariance = deviations[:len(order)], deviations[len(order):], covariance
	}
	return f, notes, nil
}

func fewUnits(l *Log) string {
	return fmt.Sprintf("found %v groups of users or pages, too few for standard errors; expected %d", l.groupCount(), fewGroups)
}

// bootstrap returns the deviations of values from their mean over resamples of the groups, nil where a resample failed,
// and the factor of the sum of squares that is the variance. A stream of random numbers belongs to each resample, so the result does not depend on
// the number of cores.
func (l *Log) bootstrap(ctx context.Context, o *Options, values int, run func(weights []float64) ([]float64, error)) (results [][]float64, factor float64, err error) {
	var present []int
	for g, w := range l.groups {
		if w > 0 {
			present = append(present, g)
		}
	}
	results = make([][]float64, o.Resamples)
	parallel.For(o.Resamples, o.Workers, func(_, i int) {
		if ctx.Err() != nil {
			return
		}
		rng := random.Stream(o.Seed, "propensity bootstrap", strconv.Itoa(i))
		weights := make([]float64, Groups)
		for range present {
			weights[present[rng.IntN(len(present))]]++
		}
		if v, err := run(weights); err == nil && len(v) == values {
			results[i] = v
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	n, g := 0.0, float64(len(present))
	for _, v := range results {
		if v != nil {
			n++
		}
	}
	for j := range values {
		mean := 0.0
		for _, v := range results {
			if v != nil {
				mean += v[j] / n
			}
		}
		for _, v := range results {
			if v != nil {
				v[j] -= mean
			}
		}
	}
	return results, g / (g - 1) / (n - 1), nil
}

// pair returns the names of a pair.
func (l *Log) pair(n int) Pair {
	q, d := l.index.Name(n)
	return Pair{q, d}
}

// em prepares EM or Regress.
func (l *Log) em(order []int, o *Options) (e *em, notes []string, err error) {
	e = &em{table: l.table(order, nil), k: len(order), iterations: o.Iterations}
	if o.Method == EM {
		if e.iterations == 0 {
			e.iterations = 200
		}
		return e, []string{l.oneSlot(e.table)}, nil
	}
	if e.iterations == 0 {
		e.iterations = 100
	}
	e.regression = o.Regression
	if e.regression == nil {
		e.regression = o.Features
	}
	missing, err := e.keep(func(pair int) bool { return e.regression.Has(l.pair(pair)) }, o.MaxMissing)
	if err != nil {
		return nil, nil, err
	}
	if missing > 0 {
		notes = append(notes, fmt.Sprintf("%.3g %% of the impressions are of documents without features and were left out", 100*missing))
	}
	for _, b := range e.blocks[:len(e.blocks)-1] {
		e.pairs = append(e.pairs, l.pair(int(e.table.pairs[b])))
	}
	return e, notes, nil
}

// oneSlot warns of the bias of EM.
func (l *Log) oneSlot(t *table) string {
	one, all := 0.0, 0.0
	sums := t.sums(nil)
	for b := range len(t.blocks) - 1 {
		for i := t.blocks[b]; i < t.blocks[b+1]; i++ {
			all += sums[i].shown
			if t.blocks[b+1]-t.blocks[b] == 1 {
				one += sums[i].shown
			}
		}
	}
	return fmt.Sprintf("EM is biased where documents are in one slot only, which is true of %.3g %% of the impressions", 100*one/all)
}

// keep leaves out the pairs that are not to be used, and returns their share of the impressions.
func (t *table) keep(use func(pair int) bool, most float64) (missing float64, err error) {
	var pairs, slots, starts, blocks []int32
	var groups []uint8
	var counts []count
	all := 0.0
	sums := t.sums(nil)
	for b := range len(t.blocks) - 1 {
		from, to := t.blocks[b], t.blocks[b+1]
		used := use(int(t.pairs[from]))
		if used {
			blocks = append(blocks, int32(len(pairs)))
		}
		for i := from; i < to; i++ {
			all += sums[i].shown
			if !used {
				missing += sums[i].shown
				continue
			}
			pairs, slots, starts = append(pairs, t.pairs[i]), append(slots, t.slots[i]), append(starts, int32(len(groups)))
			groups, counts = append(groups, t.groups[t.starts[i]:t.starts[i+1]]...), append(counts, t.counts[t.starts[i]:t.starts[i+1]]...)
		}
	}
	blocks, starts = append(blocks, int32(len(pairs))), append(starts, int32(len(groups)))
	missing /= all
	if missing > most || len(pairs) == 0 {
		return missing, fmt.Errorf("found %.3g %% of the impressions of documents without features, expected at most %.3g %%", 100*missing, 100*most)
	}
	*t = table{pairs, slots, starts, blocks, groups, counts}
	return missing, nil
}

// trust prepares Trust. Pairs without a grade are left out.
func (l *Log) trust(order []int, o *Options) (*trust, error) {
	t := &trust{table: l.table(order, nil), k: len(order)}
	if _, err := t.keep(func(pair int) bool { _, ok := o.Grade(l.pair(pair)); return ok }, 1); err != nil {
		return nil, &Refusal{Method: Trust, Found: "no pages with judged documents", Supply: "expected grades of documents on the pages"}
	}
	for _, b := range t.blocks[:len(t.blocks)-1] {
		g, _ := o.Grade(l.pair(int(t.pairs[b])))
		t.gamma = append(t.gamma, g)
	}
	return t, nil
}

// quantile returns the quantile of Student's t for an interval of the coverage Level.
func quantile(df float64) float64 {
	x := elementary.BetaInverse(0.5, df/2, Level)
	return math.Sqrt(df * x / (1 - x))
}
