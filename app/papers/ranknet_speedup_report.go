package papers

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/chart"
)

// report returns the report of the results.
func (t *speedupTimes) report(o Options) *Report {
	s := t.sizes
	r := newReport(speedupExperiment(), o, lambdaRank+", section 6.1")
	r.fact("seed", "%d", o.Seed)
	r.fact("machine", "%s/%s, one thread for all forms", runtime.GOOS, runtime.GOARCH)
	r.fact("times", "processor time, medians of %d epochs; epochs of all forms take turns, and a ratio is of neighbours", s.times)
	r.fact("V1", "each pair of differently graded documents is scored, and its force propagated back for both documents; weights are updated after each query, or after each pair")
	r.fact("V2", "documents are scored, forces summed per document, and each document scored again and propagated back once; one document at a time, an exponential a pair, as V1")
	r.fact("footnote 3", "activations and exponentials are kept, and passes take several documents at once: --method ranknet")
	r.fact("operations", "counted: passes of a document through the net, exponentials, and multiply-adds of passes and updates, one a parameter each")
	worst := 0.0
	for _, l := range t.web {
		worst = math.Max(worst, l.disagreed)
	}
	r.fact("agreement", "after one epoch on the web data no weight of V1, V2 and footnote 3 differs by more than %.1g of the largest step", worst)
	r.fact("web data", "cubic polynomials: %d queries × %d documents × %d features, %d validation queries, grades 0 to 4 in the shares %v of MSLR-WEB10K's first fold", s.web.train, s.web.docs, s.web.features, s.web.valid, s.web.shares)
	var rates []string
	for i, l := range t.learning {
		rates = append(rates, l.rate+" with "+speedupNets[i].name)
	}
	r.fact("learning", "%s epochs at the rate of %s that is best for --method ranknet: %s; rate × 0.8 when the training cost rose", s.web.epochs, strings.Join(s.web.rates, ", "), strings.Join(rates, ", "))
	r.fact("lists", "cubic polynomials in 50 dimensions, 6 equally frequent grades, %d queries", s.lists)
	r.fact("timed lists", "the first queries only, with some %d pairs in all for V1 and %d for V2; numbers are given for all %d queries", s.pairs[0], s.pairs[1], s.lists)
	r.Tables = []Table{t.webTable(), t.workTable(), t.learningTable(), t.listTable(), t.slopeTable()}
	r.Sheets = []Sheet{t.webSheet(), t.listSheet(), t.slopeSheet(), t.learningSheet()}
	r.Plots = append(t.learningPlots(), t.plot())
	t.claim(r)
	n := len(publishedSpeedup())
	r.Reaches = []Reach{{Table: "speed-up and slopes, section 6.1 and Figure 1", Numbers: n, Judged: n}}
	t.find(r)
	r.note("Times differ from run to run and from machine to machine, unlike all other experiments' numbers; data, weights and counts of operations do not. Verdicts have room for a factor of 1.5.")
	r.note("Slopes of V2 depend on how long a pair takes beside a pass: in lists of 512 a document has some 200 pairs, each with an exponential and a logarithm. Here passes are vectorised, and pairs, but for footnote 3, are not. With footnote 3 time is close to linear.")
	r.note(`The paper varies "the number of documents per query from 4,000 to 512,000". That is read as all documents of 1000 queries, 4 to 512 each: in lists of 512,000 the loop over pairs alone would give V2 a slope of 2. Its Figure 1 does not say whose slopes are given; the caption has "two layer nets" for the panel.`)
	return r
}

// The rules for verdicts. Times have no interval over queries.
const (
	// gainFactor is the largest factor between two ratios of times that agree. The ratio of the
	// same two programs varies by a factor of 1.5 between machines.
	gainFactor = 2

	slopeSlack = 0.2  // margin between slopes; a slope within two margins of 1 or 2 counts as close to it
	batchSlack = 0.1  // margin between almost equal times
	curveSlack = 0.01 // margin of NDCG between equal learning curves
)

// claim compares ratios and slopes with the paper's.
func (t *speedupTimes) claim(r *Report) {
	for i, gain := range publishedGains() {
		ours := median(t.web[i].ratios(formV1, formV2))
		r.claim(Claim{Data: "web data", Row: speedupNets[i].name, Measure: "V1/V2", Published: gain, Ours: ours, decimals: 1},
			evidence{low: ours / gainFactor, high: ours * gainFactor, basis: fmt.Sprintf("rule: within a factor of %d of our ratio of times", gainFactor),
				trivial: counted(t.web[i].work[formV1].multiplyAdds / t.web[i].work[formV2].multiplyAdds)})
	}
	for i, net := range speedupNets {
		for _, f := range []int{formV1, formV2} {
			ours := median(t.curves[i].times[f])
			r.claim(Claim{Data: "lists", Row: formNames[f] + ", " + net.name, Measure: "slope", Published: publishedSlopes()[f], Ours: ours, less: true, decimals: 3},
				evidence{low: ours - slopeSlack, high: ours + slopeSlack, basis: fmt.Sprintf("rule: slopes no more than %v apart; a smaller one is better", slopeSlack),
					trivial: counted(t.curves[i].work[f])})
		}
	}
}

// counted returns the trivial system for claims about times: a count of operations.
func counted(operations float64) []trivial {
	return []trivial{{system: "a count of multiply-adds", value: operations}}
}

// find judges the claims of sections 5 and 6.1 in words.
func (t *speedupTimes) find(r *Report) {
	var faster, quadratic, byPairs, slip, linear, same, alike []FindVerdict
	var gains, ones, twos, updates, curves []string
	published, slopes := publishedGains(), publishedSlopes()
	for i, net := range speedupNets {
		l, c, learned := &t.web[i], &t.curves[i], &t.learning[i]
		gain, batch := l.ratios(formV1, formV2), l.ratios(formPairs, formV1)
		adds := l.work[formV1].multiplyAdds / l.work[formV2].multiplyAdds
		faster = append(faster, unlessCounted(median(gain) >= published[i]/gainFactor, adds >= published[i]/gainFactor))
		gains = append(gains, fmt.Sprintf("%s: %.1f times in time, %.1f in multiply-adds (paper: %.1f)", net.name, median(gain), adds, published[i]))

		slope := median(c.times[formV1])
		quadratic = append(quadratic, unlessCounted(slope > 2-2*slopeSlack, c.work[formV1] > 2-2*slopeSlack))
		byPairs = append(byPairs, holdsIf(slope/2 > 2-2*slopeSlack))
		slip = append(slip, holdsIf(slope < 1+2*slopeSlack))
		ones = append(ones, fmt.Sprintf("%s: slope %.2f, of multiply-adds %.2f", net.name, median(c.times[formV1]), c.work[formV1]))
		linear = append(linear, holdsIf(median(c.times[formV2]) < 1+2*slopeSlack))
		twos = append(twos, fmt.Sprintf("%s: slope %.2f, of multiply-adds %.2f; with footnote 3 %.2f", net.name, median(c.times[formV2]), c.work[formV2], median(c.times[formKept])))

		same = append(same, holdsIf(math.Abs(median(batch)-1) <= batchSlack))
		updates = append(updates, fmt.Sprintf("%s: %.1f passes a query either way, %.2f times faster", net.name, l.work[formV1].forward+l.work[formV1].back, median(batch)))

		apart, risen := learned.apart(formPairs, formV1), learned.risen(formPairs, formV1)
		alike = append(alike, holdsIf(apart <= curveSlack && risen > 5*curveSlack))
		curves = append(curves, fmt.Sprintf("%s: best validation NDCG@10 by epoch differs by %.4f at most, and rises by %.3f", net.name, apart, risen))
	}
	all := func(words []string) string { return strings.Join(words, "; ") }
	r.found(ofAll(faster...), "forces summed per document (V2) make an epoch of RankNet several times faster than pairs one by one (V1) (6.1)", "%s%s", all(gains), countedAsWell(faster)).Rule = fmt.Sprintf("1/%d of the paper's ratio in the median of the repetitions", gainFactor)
	r.found(ofAll(quadratic...), "V1's time is close to quadratic in the documents of a query (6.1)", "%s (paper: %.2f)%s", all(ones), slopes[formV1], countedAsWell(quadratic)).Rule = fmt.Sprintf("median slopes above %v", 2-2*slopeSlack)
	r.found(ofAll(linear...), "V2's time is close to linear in the documents of a query (sections 5, 6.1)", "%s (paper: %.2f)", all(twos), slopes[formV2]).Rule = fmt.Sprintf("median slopes below %v", 1+2*slopeSlack)
	r.found(ofAll(byPairs...), "training time scales quadratically with the mean number of pairs of a query, as printed (section 5)", "%s; pairs grow with the square of the documents, so that V1's slope over pairs is half of that: near 1", all(ones)).Rule = fmt.Sprintf("median slopes over pairs above %v", 2-2*slopeSlack)
	r.found(ofAll(slip...), "V1's time is close to linear in the documents of a query, as printed in the second place (6.1)", "%s; V2 is meant", all(ones)).Rule = fmt.Sprintf("median slopes below %v", 1+2*slopeSlack)
	r.found(ofAll(same...), "an update a query alone gives no speed-up: V1 takes almost the same time with one a pair (sections 5, 6.1)", "%s", all(updates)).Rule = fmt.Sprintf("times within %.0f %%", 100*batchSlack)
	r.found(ofAll(alike...), "V1 converges alike, by epoch, with an update a query and with one a pair (6.1)", "margin %v; %s", curveSlack, all(curves)).Rule = fmt.Sprintf("a rise of more than %v", 5*curveSlack)
}

// unlessCounted returns the verdict on a claim about times. It is not informative if a count of
// multiply-adds satisfies the claim, too.
func unlessCounted(times, count bool) FindVerdict {
	if times && count {
		return ClaimTrivial
	}
	return holdsIf(times)
}

// countedAsWell returns the reason for such a verdict, or "".
func countedAsWell(verdicts []FindVerdict) string {
	if slices.Contains(verdicts, ClaimTrivial) {
		return "; a count of multiply-adds does as well"
	}
	return ""
}

// seconds converts nanoseconds per query into seconds for the given number of queries.
func seconds(perQuery float64, queries int) float64 { return perQuery * float64(queries) / 1e9 }

func (t *speedupTimes) webTable() Table {
	table := Table{Title: "an epoch on the web data, milliseconds; ratios with the least and the largest of the repetitions", Left: 1, Main: true}
	table.Columns = append(append([]string{"net"}, formNames[:]...), "V1/V2", "least … most", "paper's V1/V2", "V1/footnote 3", "least … most", "update a pair/V1", "least … most")
	gains := publishedGains()
	for i := range t.web {
		l := &t.web[i]
		line := []string{speedupNets[i].name}
		for f := range formNames {
			line = append(line, fmt.Sprintf("%.2f", 1e3*seconds(l.took(f), t.sizes.web.train)))
		}
		for k, of := range [][2]int{{formV1, formV2}, {formV1, formKept}, {formPairs, formV1}} {
			ratios := l.ratios(of[0], of[1])
			decimals := 1 + k/2
			line = append(line, fmt.Sprintf("%.*f", decimals, median(ratios)), spread(ratios, decimals))
			if k == 0 {
				line = append(line, fmt.Sprintf("%.1f", gains[i]))
			}
		}
		table.Rows = append(table.Rows, line)
	}
	return table
}

// workTable returns the counts of operations, which do not depend on the machine.
func (t *speedupTimes) workTable() Table {
	table := Table{Title: "operations of an epoch on the web data, a query in the mean", Left: 2, Main: true, Columns: []string{"net", "form", "passes forward", "passes back", "exponentials", "multiply-adds", "V1/this"}}
	for i := range t.web {
		for f, w := range t.web[i].work {
			table.Rows = append(table.Rows, []string{
				speedupNets[i].name, formNames[f], fmt.Sprintf("%.1f", w.forward), fmt.Sprintf("%.1f", w.back), fmt.Sprintf("%.1f", w.exponentials),
				fmt.Sprintf("%.0f", w.multiplyAdds), fmt.Sprintf("%.2f", t.web[i].work[formV1].multiplyAdds/w.multiplyAdds),
			})
		}
	}
	return table
}

func (t *speedupTimes) webSheet() Sheet {
	s := Sheet{Columns: []string{"net", "form", "queries", "docs", "features", "seconds", "passes_forward", "passes_back", "exponentials", "multiply_adds", "v1_time_ratio", "paper_ratio"}}
	gains := publishedGains()
	for i := range t.web {
		l, w := &t.web[i], t.sizes.web
		for f, name := range formNames {
			var paper any
			if f == formV2 {
				paper = gains[i]
			}
			n := float64(w.train)
			s.Rows = append(s.Rows, []any{speedupNets[i].name, name, w.train, w.docs, w.features, seconds(l.took(f), w.train),
				n * l.work[f].forward, n * l.work[f].back, n * l.work[f].exponentials, n * l.work[f].multiplyAdds, median(l.ratios(formV1, f)), paper})
		}
	}
	return s
}

func (t *speedupTimes) learningTable() Table {
	table := Table{Title: "the best validation NDCG@10 by epochs, and the seconds until the last", Left: 2, Columns: []string{"net", "form", "start"}}
	var shown []int
	for n, last := 1, len(t.learning[0].best[0]); ; n = min(last, 3*n) {
		shown = append(shown, n)
		table.Columns = append(table.Columns, fmt.Sprintf("epoch %d", n))
		if n == last {
			break
		}
	}
	table.Columns = append(table.Columns, "seconds")
	for i := range t.learning {
		l := &t.learning[i]
		for f, name := range formNames {
			line := []string{speedupNets[i].name, name, fmt.Sprintf("%.4f", l.start)}
			for _, n := range shown {
				line = append(line, fmt.Sprintf("%.4f", l.best[f][n-1]))
			}
			table.Rows = append(table.Rows, append(line, fmt.Sprintf("%.2f", l.seconds[f][len(l.seconds[f])-1])))
		}
	}
	return table
}

func (t *speedupTimes) learningSheet() Sheet {
	s := Sheet{Name: "learning", Columns: []string{"net", "form", "rate", "epoch", "best_validation_ndcg10", "seconds"}}
	for i := range t.learning {
		l := &t.learning[i]
		for f, name := range formNames {
			for k, best := range l.best[f] {
				s.Rows = append(s.Rows, []any{speedupNets[i].name, name, l.rate, k + 1, best, l.seconds[f][k]})
			}
		}
	}
	return s
}

// learningPlots returns the left panel of the paper's Figure 1, a plot for each net.
func (t *speedupTimes) learningPlots() []Plot {
	var plots []Plot
	for i := range t.learning {
		l := &t.learning[i]
		p := Plot{Name: []string{"learning", "learning-two-layers"}[i], Plot: chart.Plot{
			Title: "RankNet, " + speedupNets[i].name + ": validation NDCG by training time; a point an epoch",
			X:     chart.Axis{Label: "seconds of training", Log: true},
			Y:     chart.Axis{Label: "largest validation NDCG@10 so far"},
		}}
		for f, name := range formNames {
			p.Series = append(p.Series, chart.Series{Name: name, Kind: chart.LineMarkers, X: l.seconds[f], Y: l.best[f]})
		}
		plots = append(plots, p)
	}
	return plots
}

// shownForms are the forms whose time by list length is shown.
var shownForms = []int{formV1, formV2, formKept}

func (t *speedupTimes) listTable() Table {
	table := Table{Title: "an epoch by documents per query, seconds", Columns: []string{"documents per query", "documents in all"}}
	for _, net := range speedupNets {
		for k, f := range shownForms {
			name := formNames[f]
			if k == 0 {
				name += ", " + net.name
			}
			table.Columns = append(table.Columns, name)
		}
		table.Columns = append(table.Columns, "V1/V2")
	}
	for k, docs := range t.sizes.lengths {
		row := []string{strconv.Itoa(docs), strconv.Itoa(docs * t.sizes.lists)}
		for _, c := range t.curves {
			for _, f := range shownForms {
				row = append(row, fmt.Sprintf("%.4f", seconds(c.laps[k].took(f), t.sizes.lists)))
			}
			row = append(row, fmt.Sprintf("%.1f", median(c.laps[k].ratios(formV1, formV2))))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func (t *speedupTimes) listSheet() Sheet {
	s := Sheet{Name: "lists", Columns: []string{"net", "form", "docs", "queries", "queries_timed", "seconds", "multiply_adds"}}
	for i, c := range t.curves {
		for k, docs := range t.sizes.lengths {
			for f, name := range formNames {
				version := 0
				if f != formPairs && f != formV1 {
					version = 1
				}
				s.Rows = append(s.Rows, []any{speedupNets[i].name, name, docs, t.sizes.lists, t.sizes.timedQueries(docs, version), seconds(c.laps[k].took(f), t.sizes.lists), float64(t.sizes.lists) * c.laps[k].work[f].multiplyAdds})
			}
		}
	}
	return s
}

func (t *speedupTimes) slopeTable() Table {
	table := Table{Title: "slopes by log₂ documents, least squares: of log₂ time, with the least and the largest of the repetitions, and of log₂ multiply-adds", Columns: []string{"form"}, Left: 1, Main: true}
	for _, net := range speedupNets {
		table.Columns = append(table.Columns, "time, "+net.name, "least … most", "multiply-adds")
	}
	table.Columns = append(table.Columns, "paper's time")
	for f, name := range formNames {
		row := []string{name}
		for _, c := range t.curves {
			row = append(row, fmt.Sprintf("%.3f", median(c.times[f])), spread(c.times[f], 3), fmt.Sprintf("%.3f", c.work[f]))
		}
		paper := ""
		if v := publishedSlopes()[f]; !math.IsNaN(v) {
			paper = fmt.Sprintf("%.3f", v)
		}
		table.Rows = append(table.Rows, append(row, paper))
	}
	return table
}

func (t *speedupTimes) slopeSheet() Sheet {
	s := Sheet{Name: "slopes", Columns: []string{"net", "form", "time_slope", "time_slope_least", "time_slope_most", "multiply_add_slope", "paper_slope"}}
	for i, c := range t.curves {
		for f, name := range formNames {
			s.Rows = append(s.Rows, []any{speedupNets[i].name, name, median(c.times[f]), slices.Min(c.times[f]), slices.Max(c.times[f]), c.work[f], orNil(publishedSlopes()[f])})
		}
	}
	return s
}

// plot returns the right panel of the paper's Figure 1, for both nets.
func (t *speedupTimes) plot() Plot {
	p := Plot{Plot: chart.Plot{
		Title: "RankNet: time of an epoch by number of documents",
		X:     chart.Axis{Label: fmt.Sprintf("documents, of %d queries", t.sizes.lists), Log: true},
		Y:     chart.Axis{Label: "seconds an epoch", Log: true},
	}}
	for _, docs := range t.sizes.lengths {
		if n := docs * t.sizes.lists; docs&(docs-1) == 0 {
			p.X.Ticks = append(p.X.Ticks, chart.Tick{Value: float64(n), Label: strconv.Itoa(n)})
		}
	}
	for _, f := range shownForms {
		for i, c := range t.curves {
			line := chart.Series{Name: fmt.Sprintf("%s, %s (slope %.2f)", formNames[f], speedupNets[i].name, median(c.times[f])), Kind: chart.LineMarkers}
			for k, docs := range t.sizes.lengths {
				line.X = append(line.X, float64(docs*t.sizes.lists))
				line.Y = append(line.Y, seconds(c.laps[k].took(f), t.sizes.lists))
			}
			p.Series = append(p.Series, line)
		}
	}
	return p
}
