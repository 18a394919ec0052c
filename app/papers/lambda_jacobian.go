package papers

import (
	"context"
	"fmt"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/loss"
)

func jacobianExperiment() Experiment {
	return Experiment{
		Name:  "lambda-jacobian",
		Paper: "LambdaRank",
		Title: "LambdaRank, section 4: which λ functions have a potential, and which of those are convex",
		Shows: "that λ functions scaled by a measure are gradients inside each order of the documents, but of no cost across orders",
		Data:  "none but a few random lists",
		Run:   jacobian{lists: 12, steps: 4000, pairs: 400}.run,
	}
}

// jacobian looks at λ functions in the space of the scores of a few lists.
type jacobian struct {
	lists int // random lists of documents
	steps int // of the integral around a circle
	pairs int // of random points a list, for monotony
}

// lambdaField is a loss to look at.
type lambdaField struct {
	name    string // of the λ function
	measure string // that scales it, "" for none
	loss    loss.Loss
}

func (f *lambdaField) title() string {
	if f.measure == "" {
		return f.name
	}
	return f.name + " × Δ" + title(f.measure)
}

// lambdaMeasures scale the forces.
var lambdaMeasures = []string{"ndcg", "map", "mrr", "err"}

// lambdaFields are RankNet and every λ function with every measure. Differences of
// the measure are taken with steps of the mean gap between scores and of fixed
// length.
func lambdaFields() ([]lambdaField, error) {
	fields := []lambdaField{{name: "RankNet", loss: loss.RankNet{}}}
	for _, name := range lambdaMeasures {
		m, err := measure.Parse(name, standard, measure.Options{})
		if err != nil {
			return nil, err
		}
		for _, info := range loss.Lambdas() {
			kind, err := loss.ParseLambda(info.Name)
			if err != nil {
				return nil, err
			}
			fields = append(fields, lambdaField{info.Name, name, loss.LambdaRank{Measure: m, Kind: kind}})
			if kind == loss.LambdaDifference {
				fields = append(fields, lambdaField{info.Name + ", ε = 1", name, loss.LambdaRank{Measure: m, Kind: kind, Margin: 1}})
			}
		}
	}
	return fields, nil
}

func (j jacobian) run(ctx context.Context, o Options) (*Report, error) {
	fields, err := lambdaFields()
	if err != nil {
		return nil, err
	}
	findings, errs := make([]lambdaFinding, len(fields)), make([]error, len(fields))
	ended := o.counter("λ functions", len(fields))
	parallel.For(len(fields), o.Jobs, func(_, i int) {
		if errs[i] = ctx.Err(); errs[i] != nil {
			return
		}
		findings[i], errs[i] = j.look(fields[i], o.Seed)
		ended()
	})
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fields[i].title(), err)
		}
	}
	return j.report(ctx, o, findings)
}
