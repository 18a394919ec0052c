package app

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/model/explain"
)

// importanceJSON is what explain says of a data set.
type importanceJSON struct {
	Measure    string                  `json:"measure"`
	Convention string                  `json:"convention"`
	Mean       any                     `json:"mean"`
	Queries    int                     `json:"queries"`
	Permuted   string                  `json:"permuted_within"`
	Repeats    int                     `json:"repeats"`
	Seed       uint64                  `json:"seed"`
	About      string                  `json:"contributions,omitempty"`
	Documents  int                     `json:"documents_explained"`
	Features   []featureImportanceJSON `json:"features"`
	Members    []memberJSON            `json:"members,omitempty"`
}

type featureImportanceJSON struct {
	Feature string `json:"feature"`
	Used    bool   `json:"used"`
	Loss    any    `json:"loss"`
	Low     any    `json:"low"`
	High    any    `json:"high"`
	P       any    `json:"p"`
	Holm    any    `json:"p_holm"`
	Size    any    `json:"mean_contribution,omitempty"`
}

type memberJSON struct {
	Member string  `json:"member"`
	Size   float64 `json:"mean_contribution"`
}

// set explains the model on the whole data.
func (e *explaining) set(ctx context.Context) error {
	convention, err := e.parseConvention()
	if err != nil {
		return err
	}
	of := measuring{measures: e.measure, ties: e.ties}
	measures, ties, err := of.parseMeasures(convention)
	if err != nil {
		return err
	}
	if len(measures) != 1 {
		return usageErrorf("--measure %s: found %d measures, expected one", e.measure, len(measures))
	}
	convention, measures = e.env.settle(convention, e.data), measure.ForAll(measures, e.data)
	if err := measure.CheckVaries(measures[0], e.data); err != nil {
		return usageErrorf("%s: feature importance needs a measure: %w", e.explainFlags.data, err)
	}
	bar := e.env.startProgress("permuting, features", 0)
	permuted, err := explain.Permute(ctx, e.model, e.data, explain.PermuteOptions{
		Measure: measures[0], Ties: ties, Across: e.permute == acrossData, Repeats: e.repeats, Seed: e.seed,
		Permutations: e.permutations, Observe: bar.set,
	})
	bar.finish()
	if err != nil {
		return err
	}
	set, err := e.explainSet(ctx)
	if err != nil {
		return err
	}
	if e.svg != "" {
		if err := e.drawSet(set); err != nil {
			return err
		}
	}
	return e.env.print(e.importance(convention, permuted, set))
}

// explainSet takes the scores of the set apart; nil where the model is refused.
func (e *explaining) explainSet(ctx context.Context) (set *explain.Set, err error) {
	if e.refused != nil {
		e.env.note("note: no contributions: %v", e.refused)
		return nil, nil
	}
	err = e.env.during("explaining "+e.explainFlags.data, func() error {
		set, err = e.explainer.ExplainSet(ctx, e.data, e.mostDocs, e.seed)
		return err
	})
	return set, err
}

// importance is the table of features.
func (e *explaining) importance(c measure.Convention, p *explain.Permuted, set *explain.Set) report {
	name := e.measure
	j := importanceJSON{
		Measure: name, Convention: c.Name(), Mean: number(p.Mean), Queries: p.Queries, Permuted: e.permute, Repeats: e.repeats, Seed: e.seed,
	}
	out := report{columns: []string{"feature", "loss of " + name, "low", "high", "p (Holm)"}}
	out.title = fmt.Sprintf("%s %s over %s; drop when a feature is permuted within the %s (repeats: %d)\n", name, e.fixed(p.Mean, 4), counted(p.Queries, "query", "queries"), e.permute, e.repeats)
	sizes := make(map[string]float64)
	byFeature := false
	if set != nil {
		j.About, j.Documents = e.explainer.About(), len(set.Docs)
		byFeature = e.explainer.ByFeature()
		for k, v := range set.Sizes() {
			term := e.explainer.Terms()[k]
			if sizes[term.Name] = v; !byFeature {
				j.Members = append(j.Members, memberJSON{term.Name, v})
			}
		}
		out.notes = append(out.notes, fmt.Sprintf("\nContributions, of %s: %s.", counted(len(set.Docs), "document", "documents"), j.About))
	}
	if byFeature {
		out.columns = append(out.columns, "mean |contribution|")
	}
	all := p.ByLoss()
	decimals := decimalsFor(sizes)
	unused := 0
	for k, f := range all {
		line := featureImportanceJSON{Feature: f.Name, Used: f.Used, Loss: number(f.Loss), Low: number(f.Interval.Low), High: number(f.Interval.High), P: number(f.P), Holm: number(f.Holm)}
		row := []any{f.Name, line.Loss, line.Low, line.High, nil}
		if line.Holm != nil {
			row[4] = pValue(f.Holm)
		}
		if byFeature {
			line.Size = number(sizes[f.Name])
			row = append(row, e.fixed(sizes[f.Name], decimals))
		}
		j.Features = append(j.Features, line)
		if !f.Used {
			unused++
		}
		if f.Used && (e.top == 0 || k < e.top) || e.env.format == "csv" {
			out.rows = append(out.rows, row)
		}
	}
	if more := len(all) - unused - len(out.rows); more > 0 {
		out.notes = slices.Insert(out.notes, 0, fmt.Sprintf("… and %d more features that the model uses (--top 0)", more))
	}
	if unused > 0 {
		out.notes = slices.Insert(out.notes, 0, fmt.Sprintf("The model does not use %s of %d.", counted(unused, "feature", "features"), len(all)))
	}
	for _, m := range j.Members {
		out.notes = append(out.notes, fmt.Sprintf("%s: mean |contribution| %s", m.Member, e.fixed(m.Size, decimals)))
	}
	out.json, out.keys = j, 1
	out.alignNumbers()
	return out
}

// fixed returns a number as a cell: of so many decimals as text, in full as CSV.
func (e *explaining) fixed(v float64, decimals int) any {
	if math.IsNaN(v) || e.env.format == "csv" {
		return number(v)
	}
	return fmt.Sprintf("%.*f", decimals, v+0) // no −0
}

// decimalsFor returns how many decimals show four digits of the largest of some numbers, two at
// least.
func decimalsFor[K cmp.Ordered](sizes map[K]float64) int {
	largest := 0.0
	for _, v := range sizes {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return 4
	}
	return min(12, max(2, 3-int(math.Floor(elementary.Log10(largest)))))
}

// counted says how many of something there are.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
