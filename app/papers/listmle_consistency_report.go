package papers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/svg"
)

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

// share is a number of the laws as a share of them.
func (a *agreement) share(laws int) float64 { return float64(laws) / float64(a.laws) }

// excessTable is about the kinds of laws that need not preserve an order.
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

// exampleLaw is one in which the most probable permutation does not begin with the document
// that is most often first. Permutations that are not named have what is left.
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

// letters names documents a, b, c ….
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
	p := svg.Plot{Title: of.title, X: svg.Axis{Label: of.label, Log: of.log}, Y: svg.Axis{Label: "share of the laws", Min: 0, Max: 1.02}}
	for k, name := range curvedLosses {
		line := svg.Series{Name: name, Kind: svg.LineMarkers, X: of.at}
		for i, a := range along {
			line.Y = append(line.Y, a.share(a.right[k]))
			sheet.Rows = append(sheet.Rows, []any{of.at[i], a.laws, a.violated, name, a.right[k], a.excess[k]})
		}
		p.Series = append(p.Series, line)
	}
	if of.frequent {
		line := svg.Series{Name: "the most frequent permutation", Kind: svg.LineMarkers, X: of.at}
		for i, a := range along {
			line.Y = append(line.Y, a.share(a.frequent))
			sheet.Rows = append(sheet.Rows, []any{of.at[i], a.laws, a.violated, "most frequent permutation", a.frequent, nil})
		}
		p.Series = append(p.Series, line)
	}
	r.Sheets = append(r.Sheets, sheet)
	r.Plots = append(r.Plots, Plot{Name: of.name, Plot: p})
}

// notes hold the theorem against what was counted.
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
		c.samples[0], 100*few.share(few.right[0]), c.samples[len(c.samples)-1], 100*most.share(most.right[0]), 100*few.share(few.frequent), 100*most.share(most.frequent))
}
