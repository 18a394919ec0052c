package papers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/chart"
)

// listPublished is a row of the slides' table.
type listPublished struct {
	accuracy, accuracySpread, ap, apSpread float64
}

// publishedListSynthetic returns the rows of the slides' table by name.
func publishedListSynthetic() map[string]listPublished {
	_, rows := publishedTable("listmle-synthetic.csv")
	numbers := make(map[string]listPublished)
	for _, row := range rows {
		numbers[row[0]] = listPublished{parse(row[1]), parse(row[2]), parse(row[3]), parse(row[4])}
	}
	return numbers
}

// listReport contains the data of the report: the experiment, its results and the slides' table.
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
	r.fact("tried", "rates %s, steps %s; the pair with the highest mean accuracy over starts on the validation lists serves all starts", commas(s.rates), commas(s.steps))
	r.fact("mappings", "ψ(%d − r) of the r-th document from 0", s.docs)
	r.fact("accuracy", "share of the test lists ranked exactly right, mean ± standard deviation over starts, on one data set as in the slides")
	r.fact("MAP", "the first %d documents of a list count as relevant", listRelevant)
	r.fact("own budget", "rate and steps chosen for each start by its own accuracy on the validation lists")
	r.fact("minimum", "accuracy, and direction, of the lowest minimum that L-BFGS finds from the same starts")
	r.fact("fresh", "mean accuracy on %d lists that nothing was chosen by", s.fresh)
	r.fact("verdicts", "on numbers: by an interval for one more data set, not informative if it is wider than %g; on claims: by differences on the same data sets, means with 95 %% intervals, significant at 5 %% after Holm's correction", listWidest)
	r.Tables = []Table{l.table(), l.why(), l.others(), l.differences(), l.budgets()}
	r.Sheets = []Sheet{l.sheet(), l.budgetSheet(), l.otherSheet()}
	r.Plots = []Plot{l.plot()}
	l.claim(r)
	n := len(r.Claims)
	r.Reaches = []Reach{{Table: "results on synthetic data", Numbers: 2 * n, Judged: n, Lacking: "the standard deviations over starts"}}
	l.verdicts(o, r)
	return r
}

// commas joins numbers with commas.
func commas[T int | float64](values []T) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ", "), "[]")
}

// trueWeights names the row of the weights that generated the true rankings.
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

// overSets returns a value of the i-th loss on each further data set.
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

// overfit returns the accuracy on the training lists minus the accuracy on the test lists.
func overfit(o *listOutcome) float64 { return o.training - mean(o.accuracy) }

// others returns a table that shows how much the results vary between data sets.
func (l *listReport) others() Table {
	t := Table{Title: fmt.Sprintf("%d further data sets of the same recipe, %d starts each: accuracy, mean ± standard deviation over data sets, and lowest to highest", l.sets, l.setsStarts), Left: 1,
		Columns: []string{"algorithm", "slides", "ours", "range", "own budget", "range", "minimum", "range", "training − test"}}
	for i, loss := range l.losses {
		row := []string{loss.name, fmt.Sprintf("%.3f", l.slide[loss.name].accuracy)}
		for _, value := range []func(*listOutcome) float64{tunedAccuracy, ownAccuracy, minimumAccuracy} {
			row = append(row, plusMinus(l.overSets(i, value)), rangeOf(l.overSets(i, value)))
		}
		row = append(row, plusMinus(l.overSets(i, overfit)))
		t.Rows = append(t.Rows, row)
	}
	bayes := make([]float64, len(l.again))
	for k, set := range l.again {
		bayes[k] = set.bayes
	}
	t.Rows = append(t.Rows, []string{trueWeights, "", plusMinus(bayes), rangeOf(bayes), "", "", "", "", ""})
	for k, system := range l.trivials() {
		t.Rows = append(t.Rows, []string{l.first.trivial[k].system, "", fmt.Sprintf("%.3f", system.accuracy), "", "", "", "", "", ""})
	}
	return t
}

func rangeOf(values []float64) string {
	return fmt.Sprintf("%.3f–%.3f", slices.Min(values), slices.Max(values))
}

// differences returns a table of all pairs of rows on which verdicts are based.
func (l *listReport) differences() Table {
	t := Table{Title: fmt.Sprintf("differences in accuracy on the same data sets, %d of them, with 95 %% intervals; * significant at 5 %% after Holm's correction", l.sets+1), Left: 1, Columns: []string{"difference", "slides", "ours", "at the minimum"}}
	var pairs [][2]int
	listNet := l.rowsOf("ListNet")
	for _, row := range l.rowsOf("ListMLE") {
		pairs = append(pairs, against(row, append(slices.Clone(listNet), l.rowsOf("RankCosine")...))...)
	}
	pairs = append(pairs, ordered(listNet)...)
	chosen, minimum := l.leads(tunedAccuracy, pairs...), l.leads(minimumAccuracy, pairs...)
	text := func(d *difference) string {
		star := " "
		if d.holm < stats.Alpha {
			star = "*"
		}
		return fmt.Sprintf("%+.3f (%+.3f … %+.3f)%s", d.Mean, d.Interval.Low, d.Interval.High, star)
	}
	for i, p := range pairs {
		a, b := l.losses[p[0]].name, l.losses[p[1]].name
		t.Rows = append(t.Rows, []string{a + " − " + b, fmt.Sprintf("%+.3f", l.slide[a].accuracy-l.slide[b].accuracy), text(&chosen[i]), text(&minimum[i])})
	}
	return t
}

// budgets returns a table of the accuracy by rate and number of steps.
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

// why returns a table with each row's difference from the slides, and its likely reason.
func (l *listReport) why() Table {
	t := Table{Title: "where a row differs from the slides, by how much and why", Left: 3, Columns: []string{"algorithm", "ours − slides", "why"}}
	for i, loss := range l.losses {
		t.Rows = append(t.Rows, []string{loss.name, fmt.Sprintf("%+.3f", mean(l.first.rows[i].accuracy)-l.slide[loss.name].accuracy), l.reason(i)})
	}
	return t
}

// reason searches for a choice that the slides leave open and that explains the difference. It
// considers the random lists first, then the rate and the number of steps.
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

// overAll returns a value of the i-th loss on all data sets.
func (l *listReport) overAll(i int, value func(*listOutcome) float64) []float64 {
	return append(l.overSets(i, value), value(&l.first.rows[i]))
}

// trivials returns the results of systems that do not learn, averaged over all data sets.
func (l *listReport) trivials() []listTrivial {
	means := slices.Clone(l.first.trivial)
	for _, set := range l.again {
		for k, t := range set.trivial {
			means[k].accuracy += t.accuracy
			means[k].ap += t.ap
		}
	}
	for k := range means {
		means[k].accuracy /= float64(len(l.again) + 1)
		means[k].ap /= float64(len(l.again) + 1)
	}
	return means
}

// claim compares the slides' numbers, on one data set, with ours on all data sets.
func (l *listReport) claim(r *Report) {
	data := fmt.Sprintf("made, %d data sets", l.sets+1)
	for i, loss := range l.losses {
		p := l.slide[loss.name]
		for _, c := range []struct {
			measure   string
			published float64
			ours      func(*listOutcome) float64
			trivial   func(listTrivial) float64
		}{
			{"accuracy", p.accuracy, tunedAccuracy, func(t listTrivial) float64 { return t.accuracy }},
			{"MAP", p.ap, func(o *listOutcome) float64 { return mean(o.ap) }, func(t listTrivial) float64 { return t.ap }},
		} {
			ours, e := overDraws(l.overAll(i, c.ours), 0.0005)
			for _, t := range l.trivials() {
				e.trivial = append(e.trivial, trivial{system: t.system, value: c.trivial(t)})
			}
			r.claim(Claim{Data: data, Row: loss.name, Measure: c.measure, Published: c.published, Ours: ours}, e)
		}
	}
}

// leads returns the differences between the rows of each pair in a value, on the same data sets.
// Holm's correction is over all pairs.
func (l *listReport) leads(value func(*listOutcome) float64, pairs ...[2]int) severalDifferences {
	found := make(severalDifferences, len(pairs))
	for i, rows := range pairs {
		d, err := stats.Paired(l.overAll(rows[0], value), l.overAll(rows[1], value), nil)
		if err != nil {
			d.P = 1 // too few data sets
		}
		found[i].Difference = d
	}
	return found.corrected()
}

// aboveEach returns the verdict on the claim that the first row is above in every comparison.
func aboveEach(found severalDifferences) FindVerdict {
	switch above, below := found.significant(); {
	case above == len(found) && above > 0:
		return ClaimHeld
	case above > 0:
		return ClaimPartly
	case below > 0:
		return ClaimFailed
	}
	return ClaimUndecided
}

// named lists comparisons as "ListNet-log +0.140 (+0.098 … +0.182)".
func (l *listReport) named(found severalDifferences, pairs [][2]int) string {
	texts := make([]string, len(found))
	for i, d := range found {
		texts[i] = fmt.Sprintf("%s %+.3f (%+.3f … %+.3f)", l.losses[pairs[i][1]].name, d.Mean, d.Interval.Low, d.Interval.High)
	}
	return strings.Join(texts, ", ")
}

// rowsOf returns the rows of a family, by descending accuracy on the slides.
func (l *listReport) rowsOf(family string) []int {
	var rows []int
	for i, loss := range l.losses {
		if loss.name == family || strings.HasPrefix(loss.name, family+"-") {
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Compare(l.slide[l.losses[b].name].accuracy, l.slide[l.losses[a].name].accuracy)
	})
	return rows
}

// against pairs a row with each other row of a list.
func against(row int, others []int) [][2]int {
	var pairs [][2]int
	for _, than := range others {
		if than != row {
			pairs = append(pairs, [2]int{row, than})
		}
	}
	return pairs
}

// ordered pairs every row with all rows behind it.
func ordered(rows []int) [][2]int {
	var pairs [][2]int
	for i, row := range rows {
		pairs = append(pairs, against(row, rows[i+1:])...)
	}
	return pairs
}

// verdicts compares the experiment with the slides' statements.
func (l *listReport) verdicts(o Options, r *Report) {
	likelihood, listNet, cosine := l.rowsOf("ListMLE"), l.rowsOf("ListNet"), l.rowsOf("RankCosine")
	if len(likelihood) > 0 {
		accuracy := l.overAll(likelihood[0], tunedAccuracy)
		bayes := []float64{l.first.bayes}
		for _, set := range l.again {
			bayes = append(bayes, set.bayes)
		}
		r.stated(holdsIf(slices.Min(accuracy) > 0.5), "ListMLE ranks most synthetic lists exactly right (slides: .920), our reading", "%s on %d data sets, on each at least %.3f; the true weights %.3f; %s",
			plusMinus(accuracy), len(accuracy), slices.Min(accuracy), mean(bayes), l.trivialText()).Rule = "half of the lists of every data set"
		if len(listNet) > 0 {
			pairs := against(likelihood[0], listNet)
			found := l.leads(tunedAccuracy, pairs...)
			r.stated(aboveEach(found), "ListMLE is above ListNet with every mapping (slides: .920 against at most .917)", "accuracy of ListMLE less that of %s", l.named(found, pairs))
		}
		if len(cosine) > 0 {
			pairs := against(likelihood[0], cosine)
			found := l.leads(tunedAccuracy, pairs...)
			r.stated(aboveEach(found), "ListMLE is above RankCosine with every mapping (slides: .920 against at most .917)", "accuracy of ListMLE less that of %s", l.named(found, pairs))
		}
	}
	if len(listNet) > 1 {
		l.mappingOrder(r, listNet)
	}
	if at := slices.IndexFunc(cosine, func(i int) bool { return l.losses[i].name == "RankCosine-l" }); at >= 0 && len(cosine) > 1 {
		pairs := against(cosine[at], cosine)
		found := l.leads(tunedAccuracy, pairs...)
		verdict := aboveEach(found)
		if verdict == ClaimHeld && slices.ContainsFunc(found, func(d difference) bool { return d.Interval.Low < 0.5 }) {
			verdict = ClaimPartly
		}
		r.stated(verdict, "RankCosine needs the linear mapping (slides: .917 against at most .180), our reading", "accuracy of RankCosine-l less that of %s; by half of all lists at least, to hold", l.named(found, pairs))
	}
	l.startClaim(r)
	l.minimized(r)
	l.generalization(r)
	r.note("The slides' ± is over starts on one data set, and does not show how much the lists matter. On the further data sets the rows fall short of the true weights, as chosen on validation data, by %s (mean and most).", l.shortfalls())
	r.note("w2/w1 at the minimum tells why a mapping fails: the lists are ranked by %v. RankCosine, which is to meet ψ itself with a linear function without bias, meets only the linear mapping near there, and its other rows are right only where a descent happens to be on its way past that direction when it is stopped.", synth.SquareWeights[1]/synth.SquareWeights[0])
	if o.Scale != 0 && o.Scale != 1 {
		r.note("This is the experiment at scale %v: the slides have %d starts.", o.Scale, xiaSynthetic.starts)
	}
}

// trivialText returns the text "random order 0.000, feature 1 alone 0.000, …".
func (l *listReport) trivialText() string {
	var texts []string
	for _, t := range l.trivials() {
		texts = append(texts, fmt.Sprintf("%s %.3f", t.system, t.accuracy))
	}
	return strings.Join(texts, ", ")
}

// mappingOrder tests the slides' order of ListNet's mappings, pair by pair. It does so with the
// chosen rates and steps, and at the minimum, which does not depend on them.
func (l *listReport) mappingOrder(r *Report, rows []int) {
	slides := make([]string, len(rows))
	for i, row := range rows {
		slides[i] = fmt.Sprintf("%s %.3f", l.losses[row].name, l.slide[l.losses[row].name].accuracy)
	}
	for _, at := range []struct {
		where string
		value func(*listOutcome) float64
	}{{"with the chosen budgets", tunedAccuracy}, {"at the minimum", minimumAccuracy}} {
		found := l.leads(at.value, ordered(rows)...)
		above, below := found.significant()
		ours := slices.Clone(rows)
		slices.SortStableFunc(ours, func(a, b int) int {
			return cmp.Compare(mean(l.overAll(b, at.value)), mean(l.overAll(a, at.value)))
		})
		texts, same := make([]string, len(ours)), 0
		for i, row := range ours {
			texts[i] = fmt.Sprintf("%s %.3f", l.losses[row].name, mean(l.overAll(row, at.value)))
		}
		for _, d := range found {
			if d.Mean > 0 {
				same++
			}
		}
		r.stated(inOrder(len(found), above, below), fmt.Sprintf("ListNet's mappings are in the slides' order (our reading), %s: %s", at.where, strings.Join(slides, ", ")),
			"ours: %s; of %d pairs %d are in the slides' order, significantly %d, and %d significantly in the opposite one", strings.Join(texts, ", "), len(found), same, above, below)
	}
}

// inOrder returns the verdict on an order of rows. above and below are the numbers of pairs with a
// significant difference in either direction.
func inOrder(pairs, above, below int) FindVerdict {
	switch {
	case above > 0 && below > 0:
		return ClaimMixed
	case below > 0:
		return ClaimFailed
	case above == pairs:
		return ClaimHeld
	case above > 0:
		return ClaimPartly
	}
	return ClaimUndecided
}

// startClaim judges the claim that the cosine depends on the initial weights.
func (l *listReport) startClaim(r *Report) {
	cosine, others, one := 0.0, 0.0, true // one: the cosine's starts all reach the lowest minimum
	for i, loss := range l.losses {
		spread := mean(l.overAll(i, func(o *listOutcome) float64 { return sd(o.accuracy) }))
		if strings.HasPrefix(loss.name, "RankCosine-") {
			cosine = max(cosine, spread)
			one = one && mean(l.overAll(i, func(o *listOutcome) float64 { return o.reached })) == 1
		} else {
			others = max(others, spread)
		}
	}
	verdict, at := holdsIf(cosine > 2*others), "at the minimum see the next claim"
	if verdict == ClaimHeld && one {
		verdict, at = ClaimPartly, "all starts reach one minimum, so that it is stopped descent that depends on them"
	}
	r.stated(verdict, "The cosine loss is sensitive to the initial setting of its minimisation", "standard deviation of the accuracy over starts, mean over data sets: up to %.3f after the steps chosen, of the other losses up to %.3f; %s", cosine, others, at).Rule = "twice theirs"
}

// minimized judges the claim that common techniques minimize all three losses. L-BFGS must come
// within a millionth of the lowest minimum from every start.
func (l *listReport) minimized(r *Report) {
	all, some := true, false
	var texts []string
	for i, loss := range l.losses {
		share := mean(l.overAll(i, func(o *listOutcome) float64 { return o.reached }))
		all, some = all && share == 1, some || share == 1
		texts = append(texts, fmt.Sprintf("%s %s", loss.name, percent(share)))
	}
	verdict := holdsIf(all)
	if some && !all {
		verdict = ClaimMixed
	}
	r.stated(verdict, "All three losses can be minimised by common techniques", "starts from which L-BFGS comes within a millionth of the lowest minimum: %s", strings.Join(texts, ", ")).Rule = "all starts, for all losses"
}

// generalization examines a question that the slides leave to future work: whether consistent
// losses lose different amounts of accuracy from training to test lists.
func (l *listReport) generalization(r *Report) {
	rows := append(l.rowsOf("ListMLE"), l.rowsOf("ListNet")...)
	if len(rows) < 2 {
		return
	}
	found := l.leads(overfit, against(rows[0], rows[1:])...)
	above, below := found.significant()
	texts := make([]string, len(rows))
	for i, row := range rows {
		texts[i] = fmt.Sprintf("%s %+.3f", l.losses[row].name, mean(l.overAll(row, overfit)))
	}
	verdict := ClaimUndecided
	if above+below > 0 {
		verdict = ClaimHeld
	}
	r.stated(verdict, "Generalization should be studied beside consistency (future work): losses that are consistent differ in it (our reading)", "accuracy on the training lists less that on the test lists: %s; ListMLE's differs significantly from %d of %d", strings.Join(texts, ", "), above+below, len(found))
}

// shortfalls returns the text with each row's distance below the true weights on the further data
// sets.
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
	s := Sheet{Name: "datasets", Columns: []string{"data_set", "algorithm", "accuracy", "own_budget", "minimum", "training", "true_weights"}}
	for k, set := range l.again {
		for i, loss := range l.losses {
			out := &set.rows[i]
			s.Rows = append(s.Rows, []any{k + 1, loss.name, mean(out.accuracy), mean(out.own), out.minimum, out.training, set.bayes})
		}
	}
	return s
}

// plot compares the slides' accuracy with ours.
func (l *listReport) plot() Plot {
	p := Plot{Plot: chart.Plot{
		Title: "Lists ranked exactly right: the slides' table and ours",
		X:     chart.Axis{Min: 0.4, Max: float64(len(l.losses)) + 0.6},
		Y:     chart.Axis{Label: "accuracy", Min: 0, Max: 1},
		Width: 820,
	}}
	slides := chart.Series{Name: "slides", Kind: chart.Scatter}
	ours := chart.Series{Name: fmt.Sprintf("ours, mean of %d starts", l.starts), Kind: chart.Scatter}
	sets := chart.Series{Name: fmt.Sprintf("ours, lowest to highest of %d other data sets", l.sets)}
	bayes := chart.Series{Name: "the weights that rank the lists", X: []float64{0.4, float64(len(l.losses)) + 0.6}, Y: []float64{l.first.bayes, l.first.bayes}}
	for i, loss := range l.losses {
		x := float64(i + 1)
		p.X.Ticks = append(p.X.Ticks, chart.Tick{Value: x, Label: loss.name})
		slides.X, slides.Y = append(slides.X, x-0.12), append(slides.Y, l.slide[loss.name].accuracy)
		ours.X, ours.Y = append(ours.X, x+0.12), append(ours.Y, mean(l.first.rows[i].accuracy))
		values := l.overSets(i, tunedAccuracy)
		sets.X, sets.Y = append(sets.X, x+0.12, x+0.12, math.NaN()), append(sets.Y, slices.Min(values), slices.Max(values), math.NaN())
	}
	p.Series = []chart.Series{slides, ours, sets, bayes}
	return p
}
