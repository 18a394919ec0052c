package paper

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/internal/svg"
)

// listPublished is a row of the slides' table.
type listPublished struct {
	accuracy, accuracySpread, ap, apSpread float64
}

// publishedListSynthetic returns the slides' table by row.
func publishedListSynthetic() map[string]listPublished {
	_, rows := publishedTable("listmle-synthetic.csv")
	numbers := make(map[string]listPublished)
	for _, row := range rows {
		numbers[row[0]] = listPublished{parse(row[1]), parse(row[2]), parse(row[3]), parse(row[4])}
	}
	return numbers
}

// listReport is what the report is made of.
type listReport struct {
	listSynthetic
	first *listSet
	again []*listSet
	slide map[string]listPublished
}

func (s listSynthetic) report(o Options, first *listSet, again []*listSet) *Report {
	l := &listReport{s, first, again, publishedListSynthetic()}
	r := newReport(listSyntheticExperiment(), o, listMLESource)
	r.fact("seed", "%d; the %d data sets beside the first have the next ones", o.Seed, s.sets)
	r.fact("data", "%d lists of %d points of the unit square to train with, as many to choose the budget, as many to test; ranked by x1 + 10 x2 + noise of standard deviation %v", s.lists, s.docs, listNoise)
	r.fact("method", "g = w·x without bias, plain gradient descent on the mean loss from %d random w ~ N(0, I)", s.starts)
	r.fact("tried", "rates %s, steps %s; the pair with the highest mean accuracy over starts on the validation lists serves all starts", numberList(s.rates), intList(s.steps))
	r.fact("mappings", "ψ(%d − r) of the r-th document from 0", s.docs)
	r.fact("accuracy", "share of the test lists ranked exactly right, mean ± standard deviation over starts, on one data set as in the slides")
	r.fact("MAP", "the first %d documents of a list count as relevant", listRelevant)
	r.fact("own budget", "rate and steps chosen for each start by its own accuracy on the validation lists")
	r.fact("minimum", "accuracy, and direction, of the lowest minimum that L-BFGS finds from the same starts")
	r.fact("fresh", "mean accuracy on %d lists that nothing was chosen by", s.fresh)
	r.Tables = []Table{l.table(), l.why(), l.others(), l.budgets()}
	r.Sheets = []Sheet{l.sheet(), l.budgetSheet(), l.otherSheet()}
	r.Plots = []Plot{l.plot()}
	l.claim(r)
	l.verdicts(o, r)
	return r
}

func numberList(values []float64) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strings.Join(texts, ", ")
}

func intList(values []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ", "), "[]")
}

// trueWeights names the row of the weights by which lists are ranked.
const trueWeights = "w = (1, 10)"

func plusMinus(values []float64) string { return meanAndDeviation(values, 3) }

func (l *listReport) table() Table {
	t := Table{Title: "the data set of the seed", Left: 1, Columns: []string{
		"algorithm", "slides: accuracy", "ours", "ours − slides", "rate", "steps", "own budget", "minimum", "w2/w1", "fresh", "slides: MAP", "ours",
	}}
	for i, loss := range l.losses {
		p, out := l.slide[loss.name], &l.first.rows[i]
		t.Rows = append(t.Rows, []string{
			loss.name, fmt.Sprintf("%.3f ± %.3f", p.accuracy, p.accuracySpread), plusMinus(out.accuracy), fmt.Sprintf("%+.3f", mean(out.accuracy)-p.accuracy),
			strconv.FormatFloat(out.rate, 'g', -1, 64), strconv.Itoa(out.steps), plusMinus(out.own), fmt.Sprintf("%.3f", out.minimum), fmt.Sprintf("%.2f", out.slope), fmt.Sprintf("%.3f", out.fresh),
			fmt.Sprintf("%.3f ± %.3f", p.ap, p.apSpread), plusMinus(out.ap),
		})
	}
	t.Rows = append(t.Rows, []string{trueWeights, "", fmt.Sprintf("%.3f", l.first.bayes), "", "", "", "", "", "10.00", fmt.Sprintf("%.3f", l.first.fresh), "", fmt.Sprintf("%.3f", l.first.bayesAP)})
	return t
}

// overSets returns a value of one loss on the further data sets.
func (l *listReport) overSets(i int, value func(*listOutcome) float64) []float64 {
	values := make([]float64, len(l.again))
	for k, set := range l.again {
		values[k] = value(&set.rows[i])
	}
	return values
}

func tunedAccuracy(o *listOutcome) float64   { return mean(o.accuracy) }
func ownAccuracy(o *listOutcome) float64     { return mean(o.own) }
func minimumAccuracy(o *listOutcome) float64 { return o.minimum }

// others reports how much the values vary with the lists drawn.
func (l *listReport) others() Table {
	t := Table{Title: fmt.Sprintf("%d further data sets of the same recipe, %d starts each: accuracy, mean ± standard deviation over data sets, and lowest to highest", l.sets, l.setsStarts), Left: 1,
		Columns: []string{"algorithm", "slides", "ours", "range", "own budget", "range", "minimum", "range"}}
	for i, loss := range l.losses {
		row := []string{loss.name, fmt.Sprintf("%.3f", l.slide[loss.name].accuracy)}
		for _, value := range []func(*listOutcome) float64{tunedAccuracy, ownAccuracy, minimumAccuracy} {
			row = append(row, plusMinus(l.overSets(i, value)), rangeOf(l.overSets(i, value)))
		}
		t.Rows = append(t.Rows, row)
	}
	bayes := make([]float64, len(l.again))
	for k, set := range l.again {
		bayes[k] = set.bayes
	}
	t.Rows = append(t.Rows, []string{trueWeights, "", plusMinus(bayes), rangeOf(bayes), "", "", "", ""})
	return t
}

func rangeOf(values []float64) string {
	return fmt.Sprintf("%.3f–%.3f", slices.Min(values), slices.Max(values))
}

// budgets shows how accuracy depends on the number of steps.
func (l *listReport) budgets() Table {
	t := Table{Title: "accuracy on the test lists, mean over starts, by rate × steps", Left: 1, Columns: []string{"algorithm"}}
	for _, rate := range l.rates {
		for _, steps := range l.steps {
			t.Columns = append(t.Columns, fmt.Sprintf("%g×%d", rate, steps))
		}
	}
	for i, loss := range l.losses {
		row := []string{loss.name}
		for _, rate := range l.first.rows[i].budgets {
			for _, v := range rate {
				row = append(row, fmt.Sprintf("%.3f", v))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// why says of every row how far it is from the slides' and what explains that.
func (l *listReport) why() Table {
	t := Table{Title: "where a row differs from the slides, by how much and why", Left: 3, Columns: []string{"algorithm", "ours − slides", "why"}}
	for i, loss := range l.losses {
		t.Rows = append(t.Rows, []string{loss.name, fmt.Sprintf("%+.3f", mean(l.first.rows[i].accuracy)-l.slide[loss.name].accuracy), l.reason(i)})
	}
	return t
}

// reason looks for what is open in the slides and can make the difference: which
// lists were drawn, then the budget.
func (l *listReport) reason(i int) string {
	p, out := l.slide[l.losses[i].name].accuracy, &l.first.rows[i]
	ours := mean(out.accuracy)
	chance := 2 * math.Sqrt((float64(p*(1-p))+float64(ours*(1-ours)))/float64(l.lists))
	within := func(values []float64) bool { return slices.Min(values) <= p && p <= slices.Max(values) }
	var budgets []float64
	for _, rate := range out.budgets {
		budgets = append(budgets, rate...)
	}
	sets, own := l.overSets(i, tunedAccuracy), l.overSets(i, ownAccuracy)
	switch {
	case math.Abs(ours-p) <= chance:
		return fmt.Sprintf("chance: two draws of %d test lists differ by up to %.3f (two standard errors)", l.lists, chance)
	case within(sets):
		return fmt.Sprintf("the lists drawn: on the further data sets it is %s", rangeOf(sets))
	case within(own):
		return fmt.Sprintf("how the budget is chosen, and the lists drawn: with a budget for each start it is %s on the further data sets", rangeOf(own))
	case within(budgets):
		return fmt.Sprintf("the budget, which the slides leave open: those tried give %s", rangeOf(budgets))
	}
	return fmt.Sprintf("open: neither the lists drawn (%s) nor the budget (%s) gives the slides' value", rangeOf(sets), rangeOf(budgets))
}

// claim holds the slides' numbers, on one data set, against ours on all.
func (l *listReport) claim(r *Report) {
	for i, loss := range l.losses {
		p := l.slide[loss.name]
		draws := func(value func(*listOutcome) float64) []float64 {
			return append(l.overSets(i, value), value(&l.first.rows[i]))
		}
		data := fmt.Sprintf("made, %d data sets", l.sets+1)
		for _, c := range []struct {
			measure   string
			published float64
			ours      func(*listOutcome) float64
		}{{"accuracy", p.accuracy, tunedAccuracy}, {"MAP", p.ap, func(o *listOutcome) float64 { return mean(o.ap) }}} {
			ours, e := overDraws(draws(c.ours))
			r.claim(Claim{Data: data, Row: loss.name, Measure: c.measure, Published: c.published, Ours: ours}, e)
		}
	}
}

// verdicts hold the experiment to what the slides show.
func (l *listReport) verdicts(o Options, r *Report) {
	cosine, others := math.NaN(), 0.0
	for i, loss := range l.losses {
		accuracy := mean(l.first.rows[i].accuracy)
		switch {
		case loss.name == "ListMLE":
			r.found(holdsIf(accuracy >= 0.9), "ListMLE ranks most synthetic lists exactly right (slides: .920)", "%.3f; the true weights %.3f", accuracy, l.first.bayes)
			r.note("ListMLE's accuracy is at least .90: %s, %.3f. The weights that rank the lists reach %.3f on the same lists.", holds(accuracy >= 0.9), accuracy, l.first.bayes)
		case loss.name == "RankCosine-l":
			cosine = accuracy
		case strings.HasPrefix(loss.name, "RankCosine-"):
			others = max(others, accuracy)
		}
	}
	r.found(holdsIf(cosine >= others+0.5), "RankCosine needs the linear mapping (slides: .917 against at most .180)", "%.3f against at most %.3f", cosine, others)
	r.note("RankCosine with the linear mapping is far above RankCosine with any other: %s, %.3f and at most %.3f; the slides have .917 and at most .180.", holds(cosine >= others+0.5), cosine, others)
	l.startClaim(r)
	r.note("The slides' ± is over starts on one data set, and does not show how much the lists matter. On the further data sets the rows fall short of the true weights, as chosen on validation data, by %s (mean and most).", l.shortfalls())
	r.note("w2/w1 at the minimum tells why a mapping fails: the lists are ranked by %v. RankCosine, which is to meet ψ itself with a linear function without bias, meets only the linear mapping near there, and its other rows are right only where a descent happens to be on its way past that direction when it is stopped.", synth.SquareWeights[1]/synth.SquareWeights[0])
	if o.Scale != 0 && o.Scale != 1 {
		r.note("This is the experiment at scale %v: the slides have %d starts.", o.Scale, xiaSynthetic.starts)
	}
}

// startClaim holds the claim that the cosine depends on where its minimisation begins.
func (l *listReport) startClaim(r *Report) {
	cosine, others := 0.0, 0.0
	for i, loss := range l.losses {
		spread := sd(l.first.rows[i].accuracy)
		if strings.HasPrefix(loss.name, "RankCosine-") {
			cosine = max(cosine, spread)
		} else {
			others = max(others, spread)
		}
	}
	r.found(holdsIf(cosine > 2*others), "The cosine loss is sensitive to the initial setting of its minimisation", "standard deviation of the accuracy over starts up to %.3f, of the other losses up to %.3f", cosine, others)
}

// shortfalls returns how far every row is below the true weights on the further data sets.
func (l *listReport) shortfalls() string {
	texts := make([]string, len(l.losses))
	for i, loss := range l.losses {
		short := l.overSets(i, tunedAccuracy)
		for k, set := range l.again {
			short[k] = set.bayes - short[k]
		}
		texts[i] = fmt.Sprintf("%s %.3f and %.3f", loss.name, mean(short), slices.Max(short))
	}
	return strings.Join(texts, ", ")
}

func holds(claim bool) string {
	if claim {
		return "holds"
	}
	return "DOES NOT HOLD"
}

func (l *listReport) sheet() Sheet {
	s := Sheet{Columns: []string{
		"algorithm", "slides_accuracy", "slides_accuracy_spread", "slides_map", "slides_map_spread",
		"accuracy", "accuracy_sd", "map", "map_sd", "difference", "rate", "steps", "own_budget", "own_budget_sd", "minimum", "slope", "fresh", "why",
	}}
	for i, loss := range l.losses {
		p, out := l.slide[loss.name], &l.first.rows[i]
		s.Rows = append(s.Rows, []any{
			loss.name, p.accuracy, p.accuracySpread, p.ap, p.apSpread,
			mean(out.accuracy), orNil(sd(out.accuracy)), mean(out.ap), orNil(sd(out.ap)), mean(out.accuracy) - p.accuracy, out.rate, out.steps,
			mean(out.own), orNil(sd(out.own)), out.minimum, out.slope, out.fresh, l.reason(i),
		})
	}
	return s
}

func (l *listReport) budgetSheet() Sheet {
	s := Sheet{Name: "budgets", Columns: []string{"algorithm", "rate", "steps", "accuracy"}}
	for i, loss := range l.losses {
		for r, rate := range l.rates {
			for k, steps := range l.steps {
				s.Rows = append(s.Rows, []any{loss.name, rate, steps, l.first.rows[i].budgets[r][k]})
			}
		}
	}
	return s
}

func (l *listReport) otherSheet() Sheet {
	s := Sheet{Name: "datasets", Columns: []string{"data_set", "algorithm", "accuracy", "own_budget", "minimum", "true_weights"}}
	for k, set := range l.again {
		for i, loss := range l.losses {
			out := &set.rows[i]
			s.Rows = append(s.Rows, []any{k + 1, loss.name, mean(out.accuracy), mean(out.own), out.minimum, set.bayes})
		}
	}
	return s
}

// plot shows the slides' accuracy and ours beside each other.
func (l *listReport) plot() Plot {
	p := Plot{Plot: svg.Plot{
		Title: "Lists ranked exactly right: the slides' table and ours",
		X:     svg.Axis{Min: 0.4, Max: float64(len(l.losses)) + 0.6},
		Y:     svg.Axis{Label: "accuracy", Min: 0, Max: 1},
		Width: 820,
	}}
	slides := svg.Series{Name: "slides", Kind: svg.Scatter}
	ours := svg.Series{Name: fmt.Sprintf("ours, mean of %d starts", l.starts), Kind: svg.Scatter}
	sets := svg.Series{Name: fmt.Sprintf("ours, lowest to highest of %d other data sets", l.sets)}
	bayes := svg.Series{Name: "the weights that rank the lists", X: []float64{0.4, float64(len(l.losses)) + 0.6}, Y: []float64{l.first.bayes, l.first.bayes}}
	for i, loss := range l.losses {
		x := float64(i + 1)
		p.X.Ticks = append(p.X.Ticks, svg.Tick{Value: x, Label: loss.name})
		slides.X, slides.Y = append(slides.X, x-0.12), append(slides.Y, l.slide[loss.name].accuracy)
		ours.X, ours.Y = append(ours.X, x+0.12), append(ours.Y, mean(l.first.rows[i].accuracy))
		values := l.overSets(i, tunedAccuracy)
		sets.X, sets.Y = append(sets.X, x+0.12, x+0.12, math.NaN()), append(sets.Y, slices.Min(values), slices.Max(values), math.NaN())
	}
	p.Series = []svg.Series{slides, ours, sets, bayes}
	return p
}
