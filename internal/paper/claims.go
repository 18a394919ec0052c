package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/stats"
)

// Claim is a published number beside ours, and what follows.
type Claim struct {
	Data    string // the set and how it is read
	Row     string // the method, as published
	Measure string

	Published, Ours float64 // NaN for a number that was not published

	// Low and High are the interval around Ours that Published is held against; NaN
	// where the numbers are not comparable.
	Low, High float64
	Basis     string // what the interval is
	Why       string // the numbers are not comparable; otherwise ""

	Verdict Verdict

	less     bool // a smaller number is the better one
	decimals int  // to print; 0 means four
}

// evidence is what a verdict rests on: the interval around our number that the published
// one is held against, or why there is none. Numbers of another kind are another function
// that returns evidence; no experiment decides by itself.
type evidence struct {
	low, high  float64
	basis, why string
}

// Verdict says how our number stands to the published one.
type Verdict string

// The verdicts. A number is reproduced if the published one is in the interval
// around it, otherwise better or worse.
const (
	Reproduced    Verdict = "reproduced"
	Better        Verdict = "better"
	Worse         Verdict = "worse"
	NotComparable Verdict = "not comparable"
)

// Verdicts lists them.
func Verdicts() []Verdict { return []Verdict{Reproduced, Better, Worse, NotComparable} }

// claimResamples is the number of bootstrap samples behind an interval.
const claimResamples = 5000

// overQueries is the evidence for a mean over folds, given the value on every test query:
// the interval of the mean over all queries, moved by as much as the two means differ.
func overQueries(ours float64, perQuery []float64, seed uint64) evidence {
	known := make([]float64, 0, len(perQuery))
	for _, v := range perQuery {
		if !math.IsNaN(v) { // the measure is undefined there, as in the mean
			known = append(known, v)
		}
	}
	s, err := stats.MeanInterval(known, claimResamples, seed)
	if err != nil {
		return incomparable("too few test queries for an interval")
	}
	return evidence{low: s.Interval.Low + ours - s.Mean, high: s.Interval.High + ours - s.Mean, basis: "95 % bootstrap interval over the test queries"}
}

// overDraws is the evidence for a share, from 0 to 1, that was published for one data set,
// of which we drew several by the same recipe, and their mean.
func overDraws(draws []float64) (ours float64, e evidence) {
	s, err := stats.Prediction(draws)
	if err != nil {
		return mean(draws), incomparable("too few data sets for an interval")
	}
	return s.Mean, evidence{low: max(0, s.Interval.Low), high: min(1, s.Interval.High), basis: "95 % prediction interval for one more data set"}
}

// near is a rule in place of evidence, for numbers that are no means over queries: the
// published one is to be no further away than slack.
func near(ours, slack float64, rule string) evidence {
	return evidence{low: ours - slack, high: ours + slack, basis: rule}
}

func incomparable(why string) evidence {
	return evidence{low: math.NaN(), high: math.NaN(), why: why}
}

// verdict decides a claim.
func (c *Claim) verdict() Verdict {
	switch {
	case c.Why != "":
		return NotComparable
	case c.Low <= c.Published && c.Published <= c.High:
		return Reproduced
	case c.Ours > c.Published != c.less:
		return Better
	}
	return Worse
}

// claim adds a claim, unless there is no published number.
func (r *Report) claim(c Claim, e evidence) {
	if math.IsNaN(c.Published) {
		return
	}
	if c.decimals == 0 {
		c.decimals = 4
	}
	c.Low, c.High, c.Basis, c.Why = e.low, e.high, e.basis, e.why
	c.Verdict = c.verdict()
	r.Claims = append(r.Claims, c)
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
			Published: p.view.published.of(against, p.measure), Ours: p.ours(),
		}
		if len(p.column.views) > 1 {
			held.Data += ", " + p.view.convention.Name()
		}
		switch why := s.otherThanPublished(p.column); {
		case math.IsNaN(held.Published), math.IsNaN(held.Ours):
		case why != "":
			r.claim(held, incomparable(why))
		default:
			r.claim(held, overQueries(held.Ours, p.view.each(p.at, p.measure), s.options.Seed))
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

// counts returns how many claims have each verdict.
func counts(claims []Claim) map[Verdict]int {
	n := make(map[Verdict]int)
	for i := range claims {
		n[claims[i].Verdict]++
	}
	return n
}

// countsText is "3 reproduced, 1 better, 0 worse, 2 not comparable".
func countsText(claims []Claim) string {
	n := counts(claims)
	var parts []string
	for _, v := range Verdicts() {
		parts = append(parts, fmt.Sprintf("%d %s", n[v], v))
	}
	return strings.Join(parts, ", ")
}

// claimSheet has all claims in full precision.
func claimSheet(claims []Claim) Sheet {
	s := Sheet{Name: "claims", Columns: []string{"data", "method", "measure", "published", "ours", "difference", "low", "high", "verdict", "basis_or_why"}}
	for _, c := range claims {
		s.Rows = append(s.Rows, []any{c.Data, c.Row, c.Measure, c.Published, c.Ours, c.Ours - c.Published, orNil(c.Low), orNil(c.High), string(c.Verdict), c.Basis + c.Why})
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
		} else {
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
