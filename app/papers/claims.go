package papers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/eval/stats"
)

// Claim is a published number beside ours, and what follows.
type Claim struct {
	Data    string // the set and how it is read
	Row     string // the method, as published
	Measure string

	Published, Ours float64 // NaN for a number that was not published

	// Against is the published row, "" if it is Row. Quoted is whether the publication took the
	// number from elsewhere: a baseline, not its own system.
	Against string
	Quoted  bool

	// Low and High are the interval around Ours that Published is held against; NaN
	// where the numbers are not comparable.
	Low, High float64
	Basis     string // what the interval is

	// Detectable is the difference at which another method would be told apart with
	// probability stats.Power; 0 where that is not known.
	Detectable float64

	Verdict Verdict
	Why     string // of the verdicts that do not follow from the interval

	// Repeats is the experiment in which the published number counts, if not by this claim;
	// otherwise "".
	Repeats string

	less     bool // a smaller number is the better one
	decimals int  // to print; 0 means four
}

// evidence is what a verdict rests on: the interval around our number that the published
// one is held against, or why there is none. Numbers of another kind are another function
// that returns evidence; no experiment decides by itself.
type evidence struct {
	low, high  float64
	basis      string
	why        string // the numbers are not comparable; otherwise ""
	detectable float64

	widest float64 // an interval wider than this makes the verdict not informative; 0 for no limit

	trivial []trivial // systems that anybody has without learning from several features
	turned  string    // the system whose order to this one is turned round significantly
}

// trivial is a number of a system that learns nothing from several features.
type trivial struct {
	system string
	value  float64   // mean over folds
	each   []float64 // on the test queries
}

// Verdict says how our number stands to the published one.
type Verdict string

// The verdicts. A number is reproduced if the published one is in the interval around ours.
// Such a number is not informative in two cases: the interval is too wide, or the number of a
// trivial system is also in it, or as near to the published one. Others are better or worse. If
// that turns the order of two systems round significantly, the order changed.
const (
	Reproduced     Verdict = "reproduced"
	Better         Verdict = "better"
	Worse          Verdict = "worse"
	OrderChanged   Verdict = "order changed"
	NotInformative Verdict = "not informative"
	NotComparable  Verdict = "not comparable"
)

// Verdicts lists them.
func Verdicts() []Verdict {
	return []Verdict{Reproduced, Better, Worse, OrderChanged, NotInformative, NotComparable}
}

// overRuns is the evidence for a mean over folds, given what our runs tried: how far another
// run of the same method on the same queries may lie from ours, and half a unit of the last
// digit printed. grid is the spread between grids if only one setting was tried.
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

// overDraws is the evidence for a share, from 0 to 1, that was published for one data set,
// of which we drew several by the same recipe, and their mean. The k-th lowest to the k-th
// highest of n draws hold one more draw with probability (n + 1 − 2k)/(n + 1), for any
// distribution.
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

// decide sets a claim's verdict and, if that is not plain from the numbers, why.
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

// claim adds a claim, unless there is no published number.
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

// source identifies the published number: the set, the system, the measure, the number. Tables
// write the systems' names in several ways, and numbers as fractions or in per cent: 53.88/100
// and .5388 are different floating-point numbers, so that eight digits count.
func (c *Claim) source() string {
	set, _, _ := strings.Cut(c.Data, ",")
	system := strings.NewReplacer("-", "", ".", "", "_", "", " ", "").Replace(cmp.Or(c.Against, c.Row))
	return fmt.Sprintf("%s|%s|%s|%.8g", set, strings.ToLower(system), c.Measure, c.Published)
}

// markRepeats marks the claims that are not the one by which a published number counts: the
// first that is comparable, or the first.
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

// claims is the part of a study that holds every number of ours against the published one.
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

// otherThanPublished says why a column's numbers cannot be held against published ones.
func (s *results) otherThanPublished(c *column) string {
	if c.about != "" {
		return c.about
	}
	if known, ok := s.sizes.named(c.name); ok && known.queries != c.queries {
		return fmt.Sprintf("%s has %d queries here, the published set %d: other data of that name", c.name, c.queries, known.queries)
	}
	return c.reading.incomparable
}

// counts returns how many published numbers have each verdict.
func counts(claims []Claim) map[Verdict]int {
	n := make(map[Verdict]int)
	for i := range claims {
		if claims[i].Repeats == "" {
			n[claims[i].Verdict]++
		}
	}
	return n
}

// countsText is "the papers' own systems: 3 reproduced, …; quoted baselines: …", each
// published number once.
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

// claimSheet has all claims in full precision.
func claimSheet(claims []Claim) Sheet {
	s := Sheet{Name: "claims", Columns: []string{"data", "method", "measure", "published", "ours", "difference", "low", "high", "detectable", "verdict", "basis", "why", "quoted", "repeats"}}
	for _, c := range claims {
		s.Rows = append(s.Rows, []any{c.Data, c.Row, c.Measure, c.Published, c.Ours, c.Ours - c.Published, orNil(c.Low), orNil(c.High), c.Detectable, string(c.Verdict), c.Basis, c.Why, c.Quoted, c.Repeats})
	}
	return s
}

// claimTable lays claims out, and lists the reasons that the verdicts refer to by
// number.
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

// bases lists what the intervals of claims are.
func bases(claims []Claim) []string {
	var list []string
	for _, c := range claims {
		if c.Basis != "" && !slices.Contains(list, c.Basis) {
			list = append(list, c.Basis)
		}
	}
	return list
}
