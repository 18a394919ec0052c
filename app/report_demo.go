package app

import (
	"context"

	page "github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
)

// demoPage is the default file of the demo's report.
const demoPage = "listwise-demo.html"

// writeDemoPage writes the report of the demo's rankers, trained and untrained.
func writeDemoPage(ctx context.Context, path string, c *tune.Config, untrained []ensemble.System, result *tune.Result) error {
	fold := &c.Folds[0]
	d := ensemble.Division{Test: fold.Test, Systems: untrained}
	var curves []page.Curve
	for i := range result.Rows {
		row, title := &result.Rows[i], demoMethods[i].title
		scores, err := row.Folds[0].Model.Score(fold.Test)
		if err != nil {
			return err
		}
		d.Systems = append(d.Systems, ensemble.System{Name: title, Model: row.Folds[0].Model, Test: scores})
		curve, err := demoCurve(ctx, title, c, row)
		if err != nil {
			return err
		}
		curves = append(curves, curve)
	}
	r, err := page.Build(ctx, page.Config{
		Title: "The demo of listwise", Source: "generated data of the shape of LETOR's OHSUMED", Measures: c.Measures, Ties: c.Ties,
		Baseline: len(untrained) - 1, Permutations: 20_000, Resamples: 2000, Seed: c.Seed,
	}, []ensemble.Division{d}, curves)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, r.Write)
}

// demoCurve trains once more with the chosen settings, for its learning curve.
func demoCurve(ctx context.Context, title string, c *tune.Config, row *tune.Row) (page.Curve, error) {
	curve := page.Curve{Name: title}
	fold := &c.Folds[0]
	_, err := row.Entry.Method.Train(ctx, &method.Problem{
		Problem: train.Problem{
			Data: fold.Train, Measure: row.Entry.Measure, Normalization: c.Normalization, Views: c.Views, Transforms: c.Transforms, Missing: c.Missing, Seed: c.Seed, Observe: func(it method.Iteration) {
				curve.Points = append(curve.Points, page.Point{Epoch: it.Number, Restart: it.Start, Cost: it.Objective, Best: it.Best})
			},
		},
		Values: row.Folds[0].Chosen.(method.Values),
	})
	return curve, err
}
