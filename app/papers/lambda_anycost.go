package papers

import (
	"context"
	"fmt"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
)

// The costs and classes of functions on which the paper's last section is tried.
var (
	anyCosts   = []string{"ndcg@10", "map", "mrr", "err"}
	anyClasses = []string{"linear", "net", "trees"}
)

// anyCost tries the claim of section 7: λ make any cost that need not be smooth trainable, on any
// differentiable class of functions, and trees here. Each has to rank its own training queries
// significantly better than a random order, after Holm's correction.
func anyCost(ctx context.Context, r *Report, seed uint64) error {
	shape, err := synth.Lookup("mq2008")
	if err != nil {
		return err
	}
	options := shape.Defaults
	options.Queries, options.Docs, options.Seed = 40, 30, seed
	d, err := shape.Generate(options)
	if err != nil {
		return err
	}
	var figures []string
	var found severalDifferences
	for _, cost := range anyCosts {
		m, err := measure.Parse(cost, standard, measure.Options{})
		if err != nil {
			return err
		}
		random, err := measure.Evaluate(d, make([]float64, d.Docs()), []measure.Measure{m}, measure.TiesAverage)
		if err != nil {
			return err
		}
		for _, class := range anyClasses {
			trained, err := trainedFor(ctx, d, m, class, seed)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", cost, class, err)
			}
			gain, err := stats.Paired(trained.TieNeutralPerQuery(m), random.TieNeutralPerQuery(m), nil)
			if err != nil {
				return err
			}
			found = append(found, difference{Difference: gain})
			figures = append(figures, fmt.Sprintf("%s, %s %.3f (%.3f)", title(cost), class, trained.TieNeutral(m), random.TieNeutral(m)))
		}
	}
	above, _ := found.corrected().significant()
	r.found(ofCases(above, len(found)), "λ functions work for any non-smooth target cost and any differentiable class of functions (sections 1 and 7)",
		"LambdaRank's λ raise their own measure significantly above a random order (in brackets) on the training queries, synthetic mq2008, in %d of %d cases: %s", above, len(found), strings.Join(figures, "; "))
	return nil
}

// trainedFor measures LambdaRank's ranking function for a measure on the queries that it learned from.
func trainedFor(ctx context.Context, d *dataset.Dataset, m measure.Measure, class string, seed uint64) (*measure.Result, error) {
	lambdaRank, err := method.Lookup("lambdarank")
	if err != nil {
		return nil, err
	}
	of, err := method.ForScorer(lambdaRank, class)
	if err != nil {
		return nil, err
	}
	set := map[string]string{"epochs": "20"}
	if class == "trees" {
		set = map[string]string{"trees": "20"}
	}
	p := &method.Problem{Problem: train.Problem{Data: d, Measure: m, Seed: seed, Workers: 1}, Scorer: class}
	if p.Values, err = of.Values(set); err != nil {
		return nil, err
	}
	trained, err := of.Train(ctx, p)
	if err != nil {
		return nil, err
	}
	scores, err := trained.Score(d)
	if err != nil {
		return nil, err
	}
	return measure.Evaluate(d, scores, []measure.Measure{m}, measure.TiesAverage)
}
