package papers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// Claim is a published number with our number and the verdict.
type Claim struct {
	Data    string // name of the set, and how it was read
	Row     string // name of the method, as published
	Measure string

	Published, Ours float64 // NaN for a number that was not published

	// Against is the name of the published row, or "" if it equals Row. Quoted reports whether the
	// publication quotes the number, such as a baseline's, from elsewhere.
	Against string
	Quoted  bool

	// Low and High bound the interval around Ours that decides about Published. They are NaN if the
	// numbers are not comparable.
	Low, High float64
	Basis     string // describes the interval

	// Detectable is the difference that would be detected with probability stats.Power. It is 0 if
	// it is not known.
	Detectable float64

	Verdict Verdict
	Why     string // reason for a verdict that does not follow from the interval

	// Repeats is the name of the experiment in which the published number counts. It is "" if the
	// number counts here.
	Repeats string

	less     bool // a smaller number is better
	decimals int  // number of printed decimals; 0: four
}

// evidence is the basis of a verdict: the interval around our number, or the reason why there is
// none. Each kind of number has one function that returns evidence, so that all experiments decide
// by the same rules.
type evidence struct {
	low, high  float64
	basis      string
	why        string // reason why the numbers are not comparable; otherwise ""
	detectable float64

	widest float64 // an interval wider than this makes the verdict "not informative"; 0: no limit

	trivial []trivial // systems that do not learn from several features
	turned  string    // name of a system whose published order to this one is significantly reversed; otherwise ""
}

// trivial is the result of a system that does not learn from several features.
type trivial struct {
	system string
	value  float64   // mean over folds
	each   []float64 // value on each test query
}

// Verdict is the relation of our number to the published number.
type Verdict string

// The verdicts. A number is reproduced if the published number lies in the interval around ours. It
// is not informative if the interval is too wide, or if a trivial system lies in the interval or as
// near to the published number. Other numbers are better or worse. The order changed if the
// difference reverses the order of two systems significantly.
const (
	Reproduced     Verdict = "reproduced"
	Better         Verdict = "better"
	Worse          Verdict = "worse"
	OrderChanged   Verdict = "order changed"
	NotInformative Verdict = "not informative"
	NotComparable  Verdict = "not comparable"
)

// Verdicts returns all verdicts.
func Verdicts() []Verdict {
	return []Verdict{Reproduced, Better, Worse, OrderChanged, NotInformative, NotComparable}
}

// overRuns returns the evidence for a mean over folds. The interval covers another run of the same
// method on the same queries, plus half a unit of the last printed digit. If only one setting was
// tried, grid supplies the spread between grids.
func overRuns(runs [][]stats.Tried, grid, rounding float64, seed uint64) evidence {
	r, err := stats.Replicate(runs, stats.ReplicationConfig{Seed: seed, Grid: grid})
	if err != nil {
		return incomparable("too little is known of what was tried: " + err.Error())
	}
	return evidence{
		low: r.Interval.Low - rounding, high: r.Interval.High + rounding, detectable: r.Detectable + rounding,
		basis: "95 % interval of another run of the same method on the same queries",
	}
}

// overDraws returns the evidence for a share, from 0 to 1, that was published for one data set.
// Ours is the mean over several synthetic sets of the same recipe. The interval runs from the k-th
// lowest to the k-th highest of n draws. It contains another draw with probability (n + 1 − 2k)/(n
// + 1), for any distribution.
func overDraws(draws []float64, rounding float64) (ours float64, e evidence) {
	n := len(draws)
	k := int(float64(stats.Alpha/2) * float64(n+1))
	if k < 1 {
		return mean(draws), incomparable(fmt.Sprintf("%d data sets are too few for an interval", n))
	}
	sorted := slices.Sorted(slices.Values(draws))
	return mean(draws), evidence{
		low: max(0, sorted[k-1]-rounding), high: min(1, sorted[n-k]+rounding), widest: listWidest,
		basis: "95 % prediction interval for one more data set",
	}
}

func incomparable(why string) evidence {
	return evidence{low: math.NaN(), high: math.NaN(), why: why}
}

// decide sets the verdict of a claim. It also sets Why if the verdict does not follow from the
// numbers.
func (c *Claim) decide(e evidence) {
	switch {
	case e.why != "":
		c.Verdict, c.Why = NotComparable, e.why
	case e.low <= c.Published && c.Published <= e.high:
		c.Verdict = Reproduced
		if e.widest > 0 && e.high-e.low > e.widest {
			c.Verdict, c.Why = NotInformative, fmt.Sprintf("the interval is wider than %g", e.widest)
			break
		}
		for _, t := range e.trivial {
			if math.Abs(t.value-c.Published) <= (e.high-e.low)/2 || e.low <= t.value && t.value <= e.high {
				c.Verdict, c.Why = NotInformative, t.system+" does as well"
				break
			}
		}
	case e.turned != "":
		c.Verdict, c.Why = OrderChanged, "against "+e.turned
	case c.Ours > c.Published != c.less:
		c.Verdict = Better
	default:
		c.Verdict = Worse
	}
}

// claim adds a claim to the report. It skips a claim without published number.
func (r *Report) claim(c Claim, e evidence) {
	if math.IsNaN(c.Published) {
		return
	}
	if c.decimals == 0 {
		c.decimals = 4
	}
	c.Low, c.High, c.Basis, c.Detectable = e.low, e.high, e.basis, e.detectable
	c.decide(e)
	r.Claims = append(r.Claims, c)
	markRepeats(r)
}

// source returns a key of the published number: set, system, measure and value. It normalizes
// names, because tables spell systems in several ways. It rounds the value to eight digits, because
// 53.88/100 and .5388 are different floating-point numbers.
func (c *Claim) source() string {
	set, _, _ := strings.Cut(c.Data, ",")
	system := strings.NewReplacer("-", "", ".", "", "_", "", " ", "").Replace(cmp.Or(c.Against, c.Row))
	return fmt.Sprintf("%s|%s|%s|%.8g", set, strings.ToLower(system), c.Measure, c.Published)
}

// markRepeats sets Repeats in claims that repeat a published number. The number counts in its first
// comparable claim, or in its first claim if none is comparable.
func markRepeats(reports ...*Report) {
	type place struct {
		claim *Claim
		in    string
	}
	counted := make(map[string]place)
	visit := func(do func(c *Claim, in, source string)) {
		for _, r := range reports {
			for i := range r.Claims {
				do(&r.Claims[i], r.Name, r.Claims[i].source())
			}
		}
	}
	visit(func(c *Claim, in, source string) {
		if first := counted[source].claim; first == nil || first.Verdict == NotComparable && c.Verdict != NotComparable {
			counted[source] = place{c, in}
		}
	})
	visit(func(c *Claim, _, source string) {
		c.Repeats = ""
		if first := counted[source]; first.claim != c {
			c.Repeats = first.in
		}
	})
}

// claims is the part of a study that compares all its numbers with the published ones.
var claims partFunc = func(s *results, r *Report) {
	for p := range s.places(nil) {
		row, against := p.row(), p.row().against
		if against == "" {
			against = row.name
		}
		held := Claim{
			Data: p.column.heading(s.study), Row: strings.TrimSpace(s.axis + " " + row.name), Measure: title(p.measure),
			Published: p.view.published.of(against, p.measure), Ours: p.ours(), Against: against, Quoted: s.quoted || row.quoted,
		}
		if len(p.column.views) > 1 {
			held.Data += ", " + p.view.convention.Name()
		}
		switch why := s.otherThanPublished(p.column); {
		case math.IsNaN(held.Published), math.IsNaN(held.Ours):
		case why != "":
			r.claim(held, incomparable(why))
		default:
			r.claim(held, p.evidence(against))
		}
	}
}

// Reach is the coverage of a published table: how many of its numbers have a verdict.
type Reach struct {
	Table           string
	Numbers, Judged int
	Lacking         string // numbers without verdict: "TD2003 60 of 60, …"
}

// reach is the part of a study that computes the coverage of a published table. It must come after
// claims.
type reach struct {
	table string
	sets  []string // sets of the table; nil: the sets of the study
}

func (n reach) add(s *results, r *Report) {
	if n.sets == nil {
		n.sets = s.sizes.names()
	}
	judged := make(map[string]bool)
	for i := range r.Claims {
		if r.Claims[i].Verdict != NotComparable {
			judged[r.Claims[i].source()] = true
		}
	}
	found, lacking := Reach{Table: n.table}, []string(nil)
	for _, set := range n.sets {
		all, some := s.printed(set), 0
		for source := range all {
			if judged[source] {
				some++
			}
		}
		found.Numbers, found.Judged = found.Numbers+len(all), found.Judged+some
		if some < len(all) {
			lacking = append(lacking, fmt.Sprintf("%s %d of %d", set, len(all)-some, len(all)))
		}
	}
	found.Lacking = strings.Join(lacking, ", ")
	r.Reaches = append(r.Reaches, found)
}

// printed returns the keys of the published numbers on a set, as [Claim.source] forms them.
func (s *study) printed(set string) map[string]bool {
	views := []view{{}}
	if s.views != nil {
		views = s.views(set)
	} else {
		views[0].published = s.published(set)
	}
	all := make(map[string]bool)
	for _, v := range views {
		for name, row := range v.published {
			for m, number := range row {
				c := Claim{Data: set, Row: name, Measure: title(m), Published: number}
				all[c.source()] = true
			}
		}
	}
	return all
}

// otherThanPublished returns the reason why a column's numbers are not comparable with published
// ones, or "".
func (s *results) otherThanPublished(c *column) string {
	if c.about != "" {
		return c.about
	}
	if known, ok := s.sizes.named(c.name); ok && known.queries != c.queries {
		return fmt.Sprintf("%s has %d queries here, the published set %d: other data of that name", c.name, c.queries, known.queries)
	}
	return c.reading.incomparable
}

// counts returns the number of published numbers with each verdict. Repeated claims do not count.
func counts(claims []Claim) map[Verdict]int {
	n := make(map[Verdict]int)
	for i := range claims {
		if claims[i].Repeats == "" {
			n[claims[i].Verdict]++
		}
	}
	return n
}

// countsText returns the text "the papers' own systems: 3 reproduced, …; quoted baselines: …". Each
// published number counts once.
func countsText(claims []Claim) string {
	whose := []string{"the papers' own systems", "quoted baselines"}
	var parts []string
	for k, quoted := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return c.Quoted != quoted })
		if len(some) == 0 {
			continue
		}
		n, verdicts := counts(some), []string(nil)
		for _, v := range Verdicts() {
			verdicts = append(verdicts, fmt.Sprintf("%d %s", n[v], v))
		}
		parts = append(parts, whose[k]+": "+strings.Join(verdicts, ", "))
	}
	return strings.Join(parts, "; ")
}

// claimSheet returns a sheet of all claims in full precision.
func claimSheet(claims []Claim) Sheet {
	s := Sheet{Name: "claims", Columns: []string{"data", "method", "measure", "published", "ours", "difference", "low", "high", "detectable", "verdict", "basis", "why", "quoted", "repeats"}}
	for _, c := range claims {
		s.Rows = append(s.Rows, []any{c.Data, c.Row, c.Measure, c.Published, c.Ours, c.Ours - c.Published, orNil(c.Low), orNil(c.High), c.Detectable, string(c.Verdict), c.Basis, c.Why, c.Quoted, c.Repeats})
	}
	return s
}

// claimTable returns a table of claims, and the reasons for verdicts. The table refers to reasons
// by their numbers.
func claimTable(claims []Claim) (t Table, reasons []string) {
	t = Table{Columns: []string{"data", "method", "measure", "published", "ours", "interval", "difference", "verdict"}, Left: 3}
	for _, c := range claims {
		number := func(sign string, v float64) string { return fmt.Sprintf("%"+sign+".*f", c.decimals, v) }
		interval, verdict := "", string(c.Verdict)
		if c.Why != "" {
			at := slices.Index(reasons, c.Why)
			if at < 0 {
				at = len(reasons)
				reasons = append(reasons, c.Why)
			}
			verdict += fmt.Sprintf(" (%d)", at+1)
		}
		if c.Repeats != "" {
			verdict += ", counted elsewhere"
		}
		if !math.IsNaN(c.Low) {
			interval = number("", c.Low) + " … " + number("", c.High)
		}
		t.Rows = append(t.Rows, []string{c.Data, c.Row, c.Measure, number("", c.Published), number("", c.Ours), interval, number("+", c.Ours-c.Published), verdict})
	}
	return t, reasons
}

// bases returns the distinct descriptions of the claims' intervals.
func bases(claims []Claim) []string {
	var list []string
	for _, c := range claims {
		if c.Basis != "" && !slices.Contains(list, c.Basis) {
			list = append(list, c.Basis)
		}
	}
	return list
}

// The evidence for verdicts on a study's numbers consists of the test results of every tried
// setting, and of the results of trivial systems.

// judge evaluates models on the test data of folds, with the measures of a view.
type judge struct {
	measures []measure.Measure
	tests    []*dataset.Dataset
}

func (v *view) judge(folds []tune.Fold) (*judge, error) {
	list, err := measure.ParseList(strings.Join(v.measures, ","), v.convention, measure.Options{})
	if err != nil {
		return nil, err
	}
	j := &judge{}
	for i := range folds {
		j.tests = append(j.tests, folds[i].Test)
	}
	j.measures = measure.ForAll(list, j.tests...)
	return j, nil
}

// fold evaluates a model on fold k.
func (j *judge) fold(k int, m *model.Model) (*measure.Result, error) {
	scores, err := m.Score(j.tests[k])
	if err != nil {
		return nil, err
	}
	return measure.Evaluate(j.tests[k], scores, j.measures, measure.TiesInput)
}

// chosen returns, by measure, the numbers of a row's chosen models. There is one model per fold.
func (j *judge) chosen(row *tune.Row) (map[string]number, error) {
	tests := make([]*measure.Result, len(row.Folds))
	for k := range row.Folds {
		var err error
		if tests[k], err = j.fold(k, row.Folds[k].Model); err != nil {
			return nil, err
		}
	}
	pooled := measure.Pool(tests...)
	values := make(map[string]number)
	for _, s := range tune.Summarise(tests...) {
		values[s.Measure.Name()] = number{mean: s.Mean, neutral: s.TieNeutral, pooled: s.Pooled, each: pooled.PerQuery(s.Measure)}
	}
	return values, nil
}

// tried adds the validation and test results of all settings of a row to values.
func (j *judge) tried(row *tune.Row, values map[string]number) error {
	for _, m := range j.measures {
		n := values[m.Name()]
		for k := range row.Folds {
			n.tried = append(n.tried, stats.Tried{Validation: row.Folds[k].Tried, Test: make([]float64, len(row.Folds[k].Models))})
		}
		values[m.Name()] = n
	}
	for k := range row.Folds {
		for setting, trained := range row.Folds[k].Models {
			test, err := j.fold(k, trained)
			if err != nil {
				return err
			}
			for _, m := range j.measures {
				values[m.Name()].tried[k].Test[setting] = test.Mean(m)
			}
		}
	}
	return nil
}

// bestFeatures returns for each fold the model that ranks by one feature. It is the feature with
// the best MAP on the training data.
func bestFeatures(ctx context.Context, folds []tune.Fold) ([]*model.Model, error) {
	m, err := method.Lookup("singlefeature")
	if err != nil {
		return nil, err
	}
	training, err := measure.Parse(m.DefaultMeasure, letor3, measure.Options{})
	if err != nil {
		return nil, err
	}
	models := make([]*model.Model, len(folds))
	for k := range folds {
		if models[k], err = m.Train(ctx, &method.Problem{Problem: train.Problem{Data: folds[k].Train, Measure: training}}); err != nil {
			return nil, err
		}
	}
	return models, nil
}

// trivial returns, by measure, the results of three systems: the best single feature, the order of
// the file and a random order.
func (j *judge) trivial(features []*model.Model) (map[string][]trivial, error) {
	found := make(map[string][]trivial)
	for _, m := range j.measures {
		found[m.Name()] = []trivial{{system: "the best single feature"}, {system: "the order of the file"}, {system: "a random order"}}
	}
	for k := range j.tests {
		feature, err := j.fold(k, features[k])
		if err != nil {
			return nil, err
		}
		equal, err := measure.Evaluate(j.tests[k], make([]float64, j.tests[k].Docs()), j.measures, measure.TiesInput)
		if err != nil {
			return nil, err
		}
		for _, m := range j.measures {
			of := found[m.Name()]
			for i, value := range []float64{feature.Mean(m), equal.Mean(m), equal.TieNeutral(m)} {
				of[i].value += value / float64(len(j.tests))
			}
			for i, each := range [][]float64{feature.PerQuery(m), equal.PerQuery(m), equal.TieNeutralPerQuery(m)} {
				of[i].each = append(of[i].each, each...)
			}
		}
	}
	return found, nil
}

// evidence returns the evidence for the number at a place against a published row.
func (p *place) evidence(against string) evidence {
	runs, grid := p.view.tried(p.at, p.measure), 0.0
	if len(p.tuned().Varied()) == 0 { // only one setting
		grid = p.neighbouringGrid()
	}
	e := overRuns(runs, grid, p.view.published.rounding(), p.results.options.Seed)
	e.trivial = p.view.trivial[p.measure]
	e.turned = p.turned(against)
	return e
}

// tried returns what every run of a row tried.
func (v *view) tried(row int, m string) [][]stats.Tried {
	var runs [][]stats.Tried
	for _, values := range v.values[row] {
		runs = append(runs, values[m].tried)
	}
	return runs
}

// neighbouringGrid returns the median spread between grids over the rows that tried several
// settings.
func (p *place) neighbouringGrid() float64 {
	var spreads []float64
	for i := range p.results.rows {
		r, err := stats.Replicate(p.view.tried(i, p.measure), stats.ReplicationConfig{Seed: p.results.options.Seed})
		if err == nil && r.Grid > 0 {
			spreads = append(spreads, r.Grid)
		}
	}
	if len(spreads) == 0 {
		return 0
	}
	slices.Sort(spreads)
	return spreads[len(spreads)/2]
}

// turned returns the name of a row whose published order to the row at p is opposite to ours, or
// "". The difference must be significant at 5 % over test queries and seeds, with Bonferroni's
// correction over the other rows.
func (p *place) turned(against string) string {
	theirs := p.view.published.of(against, p.measure)
	var others []int
	for i := range p.results.rows {
		if other := p.results.rows[i].name; i != p.at && other != against && len(p.view.values[i]) > 0 && !math.IsNaN(p.view.published.of(other, p.measure)) {
			others = append(others, i)
		}
	}
	for _, i := range others {
		other := p.results.rows[i].name
		d := p.view.difference(p.at, i, p.measure)
		if d.Mean*(theirs-p.view.published.of(other, p.measure)) < 0 && d.P < stats.Alpha/float64(len(others)) {
			return other
		}
	}
	return ""
}

// rounding returns half a unit of the last digit with which the numbers are printed.
func (n numbers) rounding() float64 {
	unit := 1.0
	for _, row := range n {
		for _, v := range row {
			for !math.IsNaN(v) && unit > 1e-6 && math.Abs(v/unit-math.Round(v/unit)) > 1e-6 {
				unit /= 10
			}
		}
	}
	return unit / 2
}
