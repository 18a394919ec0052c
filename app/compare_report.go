package app

import (
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/rows"
)

// compareJSON is the result of compare that scripts rely on: the comparison by the
// first measure and, if there are several, those by all of them.
type compareJSON struct {
	comparedJSON
	Convention string         `json:"convention"`
	Threshold  float64        `json:"threshold"`
	Ties       string         `json:"ties"`
	Folds      int            `json:"folds,omitempty"`
	Baseline   string         `json:"baseline,omitempty"`
	Seed       uint64         `json:"seed"`
	Resamples  int            `json:"resamples"`
	Measures   []comparedJSON `json:"measures,omitempty"`
}

type comparedJSON struct {
	Measure  string               `json:"measure"`
	Queries  int                  `json:"queries"`
	Weighted bool                 `json:"weighted,omitempty"`
	Flips    int                  `json:"permutations"`
	Exact    bool                 `json:"exact"`
	Systems  []comparedSystemJSON `json:"systems"`
	Pairs    []comparedPairJSON   `json:"pairs"`
	Slices   []comparedSliceJSON  `json:"slices,omitempty"`
}

type comparedSystemJSON struct {
	Name      string  `json:"name"`
	Mean      float64 `json:"mean"`
	CI        [2]any  `json:"ci"`
	Runs      int     `json:"runs"`
	Deviation any     `json:"sd_of_runs,omitempty"`
}

// comparedPairJSON has null for what is not finite: t and effect sizes where all differences are
// equal, intervals of too few queries.
type comparedPairJSON struct {
	A             string         `json:"a"`
	B             string         `json:"b"`
	Difference    float64        `json:"difference"`
	CI            [2]any         `json:"ci"`
	Claim         stats.Claim    `json:"claim"`
	T             tJSON          `json:"t"`
	Randomization randomizedJSON `json:"randomization"`
	Bootstrap     testJSON       `json:"bootstrap"`
	CohenD        any            `json:"cohen_d"`
	HedgesG       any            `json:"hedges_g"`
	Wins          int            `json:"wins"`
	Ties          int            `json:"ties"`
	Losses        int            `json:"losses"`
	Detectable    float64        `json:"detectable"`
}

type testJSON struct {
	P    float64 `json:"p"`
	Holm float64 `json:"p_holm"`
}

type tJSON struct {
	T  any     `json:"t"`
	DF float64 `json:"df"`
	testJSON
}

type randomizedJSON struct {
	testJSON
	MaxT float64 `json:"p_max_t"`
}

func (env *environment) printComparison(c *comparison) error {
	if env.take != nil {
		env.take(c)
		return nil
	}
	switch env.format {
	case "json":
		return env.printJSON(c.json())
	case "csv":
		columns, cells := c.csv()
		return rows.WriteCSV(env.stdout, columns, cells)
	}
	var text string
	switch env.format {
	case "markdown":
		text = markdown(c.paper(markdownMarks))
	case "latex":
		text = latex(c.paper(latexMarks))
	default:
		text = textOf(c.sheets(), "", env.width())
	}
	return env.printText(text)
}

func (c *comparison) json() compareJSON {
	j := compareJSON{
		Convention: c.convention.Name(), Threshold: c.convention.Threshold(), Ties: c.ties.String(), Folds: c.folds, Baseline: c.baseline,
		Seed: c.seed, Resamples: c.resamples,
	}
	for i := range c.measured {
		j.Measures = append(j.Measures, c.measuredJSON(&c.measured[i]))
	}
	j.comparedJSON = j.Measures[0]
	if len(j.Measures) == 1 {
		j.Measures = nil
	}
	return j
}

func (c *comparison) measuredJSON(m *measured) comparedJSON {
	j := comparedJSON{Measure: m.name, Queries: m.Queries, Weighted: m.weighted, Flips: m.Permutations, Exact: m.Exact}
	for i, s := range m.Systems {
		j.Systems = append(j.Systems, comparedSystemJSON{
			Name: c.systems[i].name, Mean: s.Mean, CI: ends(s.Interval),
			Runs: len(c.systems[i].runs), Deviation: number(m.deviations[i]),
		})
	}
	for _, p := range m.Pairs {
		j.Pairs = append(j.Pairs, comparedPairJSON{
			A: c.systems[p.A].name, B: c.systems[p.B].name, Difference: p.Difference, CI: ends(p.Interval), Claim: p.Claim,
			T:             tJSON{number(p.T.T), p.T.DF, testJSON{p.T.P, p.T.Holm}},
			Randomization: randomizedJSON{testJSON{p.Randomization.P, p.Randomization.Holm}, p.Randomization.MaxT},
			Bootstrap:     testJSON{p.Bootstrap.P, p.Bootstrap.Holm},
			CohenD:        number(p.CohenD), HedgesG: number(p.HedgesG),
			Wins: p.Wins, Ties: p.Ties, Losses: p.Losses, Detectable: p.Detectable,
		})
	}
	j.Slices = c.slicesJSON(m)
	return j
}

// ends are null where an interval is unbounded.
func ends(i stats.Interval) [2]any { return [2]any{number(i.Low), number(i.High)} }

// csv has a row for every pair and measure.
func (c *comparison) csv() (columns []string, cells [][]any) {
	columns = []string{
		"measure", "queries", "a", "b",
		"mean_a", "mean_a_low", "mean_a_high", "mean_b", "mean_b_low", "mean_b_high",
		"difference", "difference_low", "difference_high",
		"t", "df", "t_p", "t_p_holm", "randomization_p", "randomization_p_holm", "randomization_p_max_t", "bootstrap_p", "bootstrap_p_holm",
		"cohen_d", "hedges_g", "wins", "ties", "losses", "detectable", "claim",
	}
	for _, m := range c.measured {
		for _, p := range m.Pairs {
			a, b := m.Systems[p.A], m.Systems[p.B]
			cells = append(cells, []any{
				m.name, m.Queries, c.systems[p.A].name, c.systems[p.B].name,
				a.Mean, number(a.Interval.Low), number(a.Interval.High), b.Mean, number(b.Interval.Low), number(b.Interval.High),
				p.Difference, number(p.Interval.Low), number(p.Interval.High),
				number(p.T.T), p.T.DF, p.T.P, p.T.Holm, p.Randomization.P, p.Randomization.Holm, p.Randomization.MaxT, p.Bootstrap.P, p.Bootstrap.Holm,
				number(p.CohenD), number(p.HedgesG), p.Wins, p.Ties, p.Losses, p.Detectable, string(p.Claim),
			})
		}
	}
	return c.slicesCSV(columns, cells)
}
