package papers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/optimize"
)

func consistencyExperiment() Experiment {
	return Experiment{
		Name:      "listmle-consistency",
		Paper:     "ListMLE",
		Title:     "Consistency of likelihood, cross entropy and cosine with the 0–1 loss of whole permutations",
		Shows:     "whether the minimum of the expected loss ranks like the most probable permutation, where the theorem says so and where it does not",
		Data:      "none but random laws of permutations of 3 to 5 documents",
		Scales:    "the number of laws",
		Untrained: "the minima of exact expected losses are looked at",
		Run: consistency{
			documents: []int{3, 4, 5}, laws: 200, curves: 4,
			shares:  []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
			samples: []int{10, 30, 100, 300, 1000, 3000, 10000, 30000},
		}.run,
	}
}

// consistency contains the sizes of the experiment.
type consistency struct {
	documents []int
	laws      int // number of random laws of each family
	curves    int // number of documents in the two curves
	shares    []float64
	samples   []int
}

// agreement counts how often the minima of losses rank as the most probable order does, over some
// laws.
type agreement struct {
	family    string
	n, laws   int
	preserved int       // number of laws that preserve the order of their most probable ranking
	violated  float64   // mean share of pairs that violate this condition
	right     []int     // for each loss, the number of laws that its minimum ranks right
	kept      []int     // for each loss, the number of these laws that are order preserving
	excess    []float64 // for each loss, the mean expected 0–1 loss minus the smallest possible
	frequent  int       // number of laws whose most frequent order in the sample is right; for the learning curve
}

// expectedLoss is the mean of a surrogate over the orders of a law, as a function of the scores. It
// is not safe for concurrent use.
type expectedLoss struct {
	losses []rankingLoss // one per order
	p      []float64
	lambda []float64
}

func newExpectedLoss(of surrogate, s *permutationSpace) (*expectedLoss, error) {
	e := &expectedLoss{lambda: make([]float64, s.n)}
	for _, order := range s.orders {
		l, err := of.onOrder(order)
		if err != nil {
			return nil, err
		}
		e.losses = append(e.losses, l)
	}
	return e, nil
}

func (e *expectedLoss) Dim() int { return len(e.lambda) }

func (e *expectedLoss) Eval(x, grad []float64) float64 {
	clear(grad)
	value := 0.0
	for i, p := range e.p {
		if p == 0 {
			continue
		}
		value += float64(p * e.losses[i].value(x, e.lambda))
		for k, v := range e.lambda {
			grad[k] -= float64(p * v)
		}
	}
	return value
}

// minimum returns scores that minimize the expected loss under a law.
func (e *expectedLoss) minimum(ctx context.Context, l permutationLaw) ([]float64, error) {
	e.p = l.p
	start := make([]float64, l.space.n)
	gaussian(start, random.Stream(1, "consistency", "start"))
	best, err := optimize.LBFGS{GradientTolerance: 1e-9, FunctionTolerance: 1e-14}.Minimize(ctx, e, start)
	if err != nil {
		return nil, err
	}
	return best.X, nil
}

// problem is a law whose most probable order a minimum should reproduce. The loss is minimized
// under the law seen, which may be a sample of the law.
type problem struct{ law, seen permutationLaw }

func (c consistency) run(ctx context.Context, o Options) (*Report, error) {
	c.laws = o.scaled(c.laws)
	all := surrogates()
	var table []agreement
	for _, f := range lawFamilies() {
		for _, n := range c.documents {
			a, err := c.agree(ctx, o, fmt.Sprintf("%s, %d documents", f.name, n), all, n, func(s *permutationSpace, k int) problem {
				law := f.draw(s, random.Stream(o.Seed, "consistency "+f.name, fmt.Sprintf("%d, %d", n, k)))
				return problem{law, law}
			})
			if err != nil {
				return nil, err
			}
			a.family = f.name
			table = append(table, a)
		}
	}
	few := slices.DeleteFunc(slices.Clone(all), func(s surrogate) bool { return !slices.Contains(curvedLosses, s.name) })
	mixed, err := c.mixtures(ctx, o, few)
	if err != nil {
		return nil, err
	}
	learned, err := c.learning(ctx, o, few)
	if err != nil {
		return nil, err
	}
	return c.report(ctx, o, table, mixed, learned)
}

// curvedLosses are the losses in the two curves.
var curvedLosses = []string{"ListMLE", "ListNet-l", "ListNet-exp", "RankCosine-l", "RankCosine-exp"}

// mixtures computes agreement for mixtures of order-preserving laws and arbitrary laws.
func (c consistency) mixtures(ctx context.Context, o Options, few []surrogate) ([]agreement, error) {
	var all []agreement
	for _, share := range c.shares {
		a, err := c.agree(ctx, o, fmt.Sprintf("mixtures, share %g", share), few, c.curves, func(s *permutationSpace, k int) problem {
			rng := random.Stream(o.Seed, "consistency mixture", strconv.Itoa(k))
			law := drawPreserving(s, rng).mixed(drawAny(s, rng), share)
			return problem{law, law}
		})
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// learning computes agreement for minima under samples of order-preserving laws.
func (c consistency) learning(ctx context.Context, o Options, few []surrogate) ([]agreement, error) {
	var all []agreement
	for _, draws := range c.samples {
		a, err := c.agree(ctx, o, fmt.Sprintf("samples of %d", draws), few, c.curves, func(s *permutationSpace, k int) problem {
			law := drawPreserving(s, random.Stream(o.Seed, "consistency law", strconv.Itoa(k)))
			return problem{law, law.sampled(draws, random.Stream(o.Seed, "consistency sample", fmt.Sprintf("%d, %d", k, draws)))}
		})
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// agree minimizes the expected losses for c.laws laws and returns their agreement.
func (c consistency) agree(ctx context.Context, o Options, stage string, losses []surrogate, n int, draw func(s *permutationSpace, k int) problem) (agreement, error) {
	space := newPermutationSpace(n)
	found := make([]agreement, c.laws)
	expected := make([][]*expectedLoss, parallel.Workers(o.Jobs, c.laws))
	for w := range expected {
		for _, l := range losses {
			e, err := newExpectedLoss(l, space)
			if err != nil {
				return agreement{}, err
			}
			expected[w] = append(expected[w], e)
		}
	}
	err := o.sideBySide(ctx, stage, c.laws, func(w, k int) (err error) {
		found[k], err = agreeOn(ctx, draw(space, k), expected[w])
		return err
	})
	if err != nil {
		return agreement{}, err
	}
	sum := agreement{n: n, laws: c.laws, right: make([]int, len(losses)), kept: make([]int, len(losses)), excess: make([]float64, len(losses))}
	for i := range found {
		sum.preserved += found[i].preserved
		sum.violated += found[i].violated / float64(c.laws)
		sum.frequent += found[i].frequent
		for k := range losses {
			sum.right[k] += found[i].right[k]
			sum.kept[k] += found[i].right[k] * found[i].preserved
			sum.excess[k] += found[i].excess[k] / float64(c.laws)
		}
	}
	return sum, nil
}

// agreeOn minimizes the expected losses for one law.
func agreeOn(ctx context.Context, p problem, losses []*expectedLoss) (agreement, error) {
	best, highest := p.law.best()
	a := agreement{violated: p.law.violated(best)}
	if a.violated == 0 {
		a.preserved = 1
	}
	if seen, _ := p.seen.best(); slices.Equal(seen, best) {
		a.frequent = 1
	}
	for _, e := range losses {
		scores, err := e.minimum(ctx, p.seen)
		if err != nil {
			return a, err
		}
		right := 0
		if strictlyRanked(scores, best) {
			right = 1
		}
		a.right = append(a.right, right)
		a.excess = append(a.excess, highest-p.law.of(byScore(scores)))
	}
	return a, nil
}

// byScore returns the documents by descending score.
func byScore(scores []float64) []int {
	order := identity(len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

func (c consistency) report(ctx context.Context, o Options, table, mixed, learned []agreement) (*Report, error) {
	r := newReport(consistencyExperiment(), o, listMLESource)
	r.fact("seed", "%d", o.Seed)
	r.fact("laws", "%d of each kind and length; \"any order-preserving\": uniform over all weights that preserve the order, by Gibbs sampling, \"any\": uniform over all, both raised to a random power from ¼ to 4 and normalized", c.laws)
	r.fact("order preserving", "exchanging neighbours of the most probable ranking lowers the probability of every permutation that has them in its order: the theorem's condition")
	r.fact("minimum", "of the expected loss over the scores, by L-BFGS, with the exact sum over all permutations")
	r.fact("right", "the scores at the minimum rank the documents, without a tie, like the most probable permutation, which has the least expected 0–1 loss")
	r.fact("excess", "expected 0–1 loss of the ranking at the minimum less the least there is, mean over laws")
	example, err := exampleTable(ctx)
	if err != nil {
		return nil, err
	}
	r.Tables = []Table{agreementTable(table), excessTable(table), example, learningTable(learned, c.samples)}
	r.Sheets = []Sheet{agreementSheet(table)}
	c.curve(r, mixed, curveOf{
		name: "mixtures", column: "share", title: fmt.Sprintf("Minima that rank right, %d documents: order-preserving laws mixed with others", c.curves),
		label: "share of the law that preserves nothing", at: c.shares,
	})
	c.curve(r, learned, curveOf{
		name: "learning", column: "permutations", title: fmt.Sprintf("Minima that rank right, %d documents: order-preserving laws known from a sample", c.curves),
		label: "permutations seen", log: true, at: floats(c.samples), frequent: true,
	})
	c.notes(r, table, mixed, learned)
	return r, nil
}

func floats(values []int) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = float64(v)
	}
	return all
}

func agreementTable(table []agreement) Table {
	t := Table{Title: "laws for which the minimum ranks right, of those drawn", Left: 1, Main: true, Columns: []string{"law", "documents", "laws", "order preserving"}}
	for _, s := range surrogates() {
		t.Columns = append(t.Columns, s.name)
	}
	for _, a := range table {
		row := []string{a.family, strconv.Itoa(a.n), strconv.Itoa(a.laws), strconv.Itoa(a.preserved)}
		for _, right := range a.right {
			row = append(row, strconv.Itoa(right))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// share returns a number of laws as a share of all laws.
func (a *agreement) share(laws int) float64 { return float64(laws) / float64(a.laws) }

// excessTable returns the table for the families of laws that need not preserve an order.
func excessTable(table []agreement) Table {
	t := Table{Title: "laws of any kind: expected 0–1 loss at the minimum above the least, mean", Left: 1, Columns: []string{"law", "documents"}}
	for _, s := range surrogates() {
		t.Columns = append(t.Columns, s.name)
	}
	for _, a := range table {
		if a.preserved == a.laws {
			continue
		}
		row := []string{a.family, strconv.Itoa(a.n)}
		for _, e := range a.excess {
			row = append(row, fmt.Sprintf("%.4f", e))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// exampleLaw returns a law with two different winners: the most probable permutation does not begin
// with the document that is most often first. Permutations that are not listed have equal
// probabilities.
func exampleLaw() permutationLaw {
	s := newPermutationSpace(3)
	p := make([]float64, len(s.orders))
	for i, order := range s.orders {
		switch fmt.Sprint(order) {
		case "[0 1 2]":
			p[i] = 0.39
		case "[1 2 0]":
			p[i] = 0.34
		case "[1 0 2]":
			p[i] = 0.24
		default:
			p[i] = 0.01
		}
	}
	return permutationLaw{s, p}
}

// letters names documents a, b, c, … in the given order.
func letters(order []int) string {
	names := make([]string, len(order))
	for i, d := range order {
		names[i] = string(rune('a' + d))
	}
	return strings.Join(names, " > ")
}

func exampleTable(ctx context.Context) (Table, error) {
	l := exampleLaw()
	best, highest := l.best()
	t := Table{Left: 2, Columns: []string{"loss", "ranks", "scores of a, b, c", "expected 0–1 loss"}, Title: fmt.Sprintf(
		"a law that preserves no order: P(a > b > c) = .39, P(b > c > a) = .34, P(b > a > c) = .24, the others .01; %s has the least expected 0–1 loss, %.2f", letters(best), 1-highest)}
	for _, s := range surrogates() {
		e, err := newExpectedLoss(s, l.space)
		if err != nil {
			return t, err
		}
		scores, err := e.minimum(ctx, l)
		if err != nil {
			return t, err
		}
		texts := make([]string, len(scores))
		for i, v := range scores {
			if s.family != rankCosineFamily {
				v -= mean(scores)
			}
			texts[i] = fmt.Sprintf("%.2f", v)
		}
		order := byScore(scores)
		t.Rows = append(t.Rows, []string{s.name, letters(order), strings.Join(texts, ", "), fmt.Sprintf("%.2f", 1-l.of(order))})
	}
	return t, nil
}

func learningTable(learned []agreement, samples []int) Table {
	t := Table{Title: fmt.Sprintf("order-preserving laws of %d documents, known from a sample: share for which the minimum ranks right", learned[0].n), Columns: []string{"permutations seen"}}
	t.Columns = append(append(t.Columns, curvedLosses...), "most frequent")
	for i, a := range learned {
		row := []string{strconv.Itoa(samples[i])}
		for _, right := range append(slices.Clone(a.right), a.frequent) {
			row = append(row, fmt.Sprintf("%.3f", a.share(right)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func agreementSheet(table []agreement) Sheet {
	s := Sheet{Columns: []string{"law", "documents", "laws", "order_preserving", "violated", "loss", "right", "right_and_preserving", "excess"}}
	for _, a := range table {
		for k, l := range surrogates() {
			s.Rows = append(s.Rows, []any{a.family, a.n, a.laws, a.preserved, a.violated, l.name, a.right[k], a.kept[k], a.excess[k]})
		}
	}
	return s
}

// curveOf describes a curve over agreements.
type curveOf struct {
	name, column, title, label string
	log, frequent              bool
	at                         []float64
}

// curve adds a plot and its sheet.
func (c consistency) curve(r *Report, along []agreement, of curveOf) {
	sheet := Sheet{Name: of.name, Columns: []string{of.column, "laws", "violated", "loss", "right", "excess"}}
	p := chart.Plot{Title: of.title, X: chart.Axis{Label: of.label, Log: of.log}, Y: chart.Axis{Label: "share of the laws", Min: 0, Max: 1.02}}
	for k, name := range curvedLosses {
		line := chart.Series{Name: name, Kind: chart.LineMarkers, X: of.at}
		for i, a := range along {
			line.Y = append(line.Y, a.share(a.right[k]))
			sheet.Rows = append(sheet.Rows, []any{of.at[i], a.laws, a.violated, name, a.right[k], a.excess[k]})
		}
		p.Series = append(p.Series, line)
	}
	if of.frequent {
		line := chart.Series{Name: "the most frequent permutation", Kind: chart.LineMarkers, X: of.at}
		for i, a := range along {
			line.Y = append(line.Y, a.share(a.frequent))
			sheet.Rows = append(sheet.Rows, []any{of.at[i], a.laws, a.violated, "most frequent permutation", a.frequent, nil})
		}
		p.Series = append(p.Series, line)
	}
	r.Sheets = append(r.Sheets, sheet)
	r.Plots = append(r.Plots, Plot{Name: of.name, Plot: p})
}

// notes compares the theorem with the counts.
func (c consistency) notes(r *Report, table, mixed, learned []agreement) {
	preserving, minima, right, others, failed := 0, 0, 0, 0, 0
	for _, a := range table {
		preserving += a.preserved
		for k := range a.right {
			minima, right = minima+a.preserved, right+a.kept[k]
			others, failed = others+a.laws-a.preserved, failed+a.laws-a.preserved-(a.right[k]-a.kept[k])
		}
	}
	r.stated(holdsIf(minima > 0 && right == minima), "Likelihood, cross entropy and cosine are consistent where the law of permutations preserves an order (theorem)",
		"%d of %d minima rank right, over %d laws that preserve one", right, minima, preserving)
	r.note("Where the law preserves none, none of the three is consistent: %d of %d minima rank otherwise than the most probable permutation. They follow the places that documents have over all permutations, the 0–1 loss looks for one permutation.", failed, others)
	last, first := mixed[len(mixed)-1], mixed[0]
	r.note("From one to the other: with %d documents and nothing of the law order preserving, the likelihood's minimum ranks right for %.0f %% of the laws, against %.0f %% with all of it.", c.curves, 100*last.share(last.right[0]), 100*first.share(first.right[0]))
	few, most := learned[0], learned[len(learned)-1]
	r.stated(holdsIf(most.right[0] > few.right[0] && most.share(most.right[0]) > 0.95), "\"When the number of training samples is very large, the model learning can be effective\"",
		"after %d permutations %.0f %% of the likelihood's minima rank right, after %d %.0f %%; the most frequent permutation, the minimum of the 0–1 loss itself, is right for %.0f %% and %.0f %%: a surrogate that uses all places needs fewer permutations than the loss it stands for",
		c.samples[0], 100*few.share(few.right[0]), c.samples[len(c.samples)-1], 100*most.share(most.right[0]), 100*few.share(few.frequent), 100*most.share(most.frequent)).Rule = "95 % after the most permutations, and more than after the fewest"
}
