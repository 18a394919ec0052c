package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/stats"
	"github.com/listwise/listwise/tune"
)

// Claim is a published number beside ours, and what follows.
type Claim struct {
	Data    string // the set and how it is read
	Row     string // the method, as published
	Measure string

	Published, Ours float64

	// Low and High are the interval around Ours that Published is held against; NaN
	// where the numbers are not comparable.
	Low, High float64
	Basis     string // what the interval is

	Verdict Verdict
	Why     string // the numbers are not comparable; otherwise ""

	decimals int // printed
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

// The bases of verdicts.
const (
	fromQueries = "95 % bootstrap interval over the test queries"
	fromDraws   = "95 % prediction interval for one more data set"
)

// claimed is what a claim is about: a number as published and as found here.
type claimed struct {
	data, row, measure string
	published, ours    float64
	less               bool // a smaller number is the better one
	decimals           int  // to print; 0 means four
}

func (c claimed) claim() Claim {
	if c.decimals == 0 {
		c.decimals = 4
	}
	return Claim{Data: c.data, Row: c.row, Measure: c.measure, Published: c.published, Ours: c.ours, Low: math.NaN(), High: math.NaN(), decimals: c.decimals}
}

// claimMean adds a claim on a mean, given the value on every test query. Published
// means are means over folds, and so is ours; it differs a little from the mean
// over all queries, and the interval of the latter is moved by as much. Without a
// published number there is no claim.
func (r *Report) claimMean(c claimed, perQuery []float64, seed uint64) {
	known := make([]float64, 0, len(perQuery))
	for _, v := range perQuery {
		if !math.IsNaN(v) { // the measure is undefined there, as in the mean
			known = append(known, v)
		}
	}
	s, err := stats.MeanInterval(known, claimResamples, seed)
	if err != nil {
		r.claimNot(c, "too few test queries for an interval")
		return
	}
	r.claimWithin(c, s.Interval.Low+c.ours-s.Mean, s.Interval.High+c.ours-s.Mean, fromQueries)
}

// claimDraw adds a claim on a share, from 0 to 1, that was published for one data
// set, of which we drew several by the same recipe: ours is their mean.
func (r *Report) claimDraw(c claimed, draws []float64) {
	s, err := stats.Prediction(draws)
	if err != nil {
		r.claimNot(c, "too few data sets for an interval")
		return
	}
	c.ours = s.Mean
	r.claimWithin(c, max(0, s.Interval.Low), min(1, s.Interval.High), fromDraws)
}

// claimNear adds a claim by a rule, for numbers that are no means over queries: the
// published one is to be no further away than slack.
func (r *Report) claimNear(c claimed, slack float64, basis string) {
	r.claimWithin(c, c.ours-slack, c.ours+slack, basis)
}

func (r *Report) claimWithin(c claimed, low, high float64, basis string) {
	if math.IsNaN(c.published) {
		return
	}
	claim := c.claim()
	claim.Low, claim.High, claim.Basis, claim.Verdict = low, high, basis, Worse
	switch {
	case low <= c.published && c.published <= high:
		claim.Verdict = Reproduced
	case c.ours > c.published != c.less:
		claim.Verdict = Better
	}
	r.Claims = append(r.Claims, claim)
}

// claimNot adds a claim that cannot be judged.
func (r *Report) claimNot(c claimed, why string) {
	if math.IsNaN(c.published) {
		return
	}
	claim := c.claim()
	claim.Verdict, claim.Why = NotComparable, why
	r.Claims = append(r.Claims, claim)
}

// perQuery returns a row's values on the test queries of all folds.
func perQuery(row *tune.Row, m string) []float64 {
	var all []float64
	by := summaryOf(row, m).Measure
	for i := range row.Folds {
		all = append(all, row.Folds[i].Test.PerQuery(by)...)
	}
	return all
}

// otherData says why a set is not the one that numbers were published for, ""
// if it has as many queries and so may be.
func (l letorSetList) otherData(set string, queries int) string {
	if known, ok := l.named(set); ok && known.queries != queries {
		return fmt.Sprintf("%s has %d queries here, the published set %d: other data of that name", set, queries, known.queries)
	}
	return ""
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
