package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	page "github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
)

func newDemoCommand(env *environment) *cobra.Command {
	var seed uint64
	var out, html string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Train and compare rankers on synthetic data",
		Long: `Generates judged queries like those of LETOR's OHSUMED collection and divides them
into training, validation and test data. Trains several rankers, chooses their
hyperparameters on the validation data, and compares them on the test data.

Prints a table and writes an HTML report (see "listwise report"). It needs no file and
no network.`,
		Example: `  listwise demo
  listwise demo --seed 7 --out demo-models`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo(cmd.Context(), env, seed, out, html)
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "random `seed`")
	cmd.Flags().StringVar(&out, "out", "", "`folder` for models, scores and per-query results")
	cmd.Flags().StringVar(&html, "report", demoPage, "`file` for the HTML report; empty: none")
	return cmd
}

// demoMethods lists the methods that the demo trains, with their grids.
var demoMethods = []struct {
	name, title, method, measure string
	grid                         map[string][]string
}{
	{"lambdamart", "LambdaMART (boosted trees)", "lambdamart", "ndcg@10", map[string][]string{"trees": {"100"}, "leaves": {"4", "8"}, "rate": {"0.1"}}},
	{"regression", "linear regression", "regression", "", map[string][]string{"C": demoStrengths}},
	{"ranknet", "RankNet (pairs, linear)", "ranknet", "", map[string][]string{"C": demoStrengths}},
	{"listnet", "ListNet (lists, linear)", "listnet", "", map[string][]string{"C": demoStrengths}},
	{"convexloss-ndcg", "ConvexLoss (lists, linear)", "convexloss", "ndcg@10", map[string][]string{"C": demoStrengths}},
}

// demoStrengths are the strengths of regularization. They are few, so that the demo takes seconds.
var demoStrengths = []string{"0.001", "0.01", "0.1", "1"}

func demo(ctx context.Context, env *environment, seed uint64, out, html string) error {
	if err := demoTargets(out, html).check(); err != nil {
		return err
	}
	fold, err := demoData(seed)
	if err != nil {
		return err
	}
	config, err := demoConfig(fold, seed, out)
	if err != nil {
		return err
	}
	bar := env.startProgress("training", 0)
	config.Observe = bar.set
	result, err := tune.Run(ctx, config)
	bar.finish()
	if err != nil {
		return err
	}
	untrained := demoUntrained(fold, seed)
	rows, err := demoRows(config, fold, untrained, result)
	if err != nil {
		return err
	}
	if html != "" {
		err := env.during("drawing the report", func() error { return writeDemoPage(ctx, html, &config, untrained, result) })
		if err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	return env.print(demoReport(&fold, &config, rows, html))
}

func demoReport(fold *tune.Fold, config *tune.Config, rows []demoRow, html string) report {
	r := report{
		title: fmt.Sprintf("trained on %d queries (%d documents, %d features), validated on %d, tested on %d queries; convention %s",
			len(fold.Train.Queries), fold.Train.Docs(), fold.Train.Features, len(fold.Valid.Queries), len(fold.Test.Queries), config.Convention.Name()),
		columns: []string{"ranker"},
	}
	for _, m := range config.Measures {
		r.columns = append(r.columns, m.Name())
	}
	for _, row := range rows {
		cells := []any{row.Ranker}
		for _, m := range config.Measures {
			cells = append(cells, row.Measures[m.Name()])
		}
		r.rows = append(r.rows, cells)
	}
	r.json = map[string]any{"convention": config.Convention.Name(), "queries": len(fold.Test.Queries), "rankers": rows, "report": html}
	r.notes = []string{
		"",
		"map and ndcg@K are higher the nearer the top the relevant documents are; 1 is best.",
		"The data are synthetic: they show that learning works, not which method is best.",
		`Next: "listwise methods", "listwise data info" on your own data, or a tutorial in docs/guide.`,
	}
	if html != "" {
		r.notes = append(r.notes, fmt.Sprintf("Open %s in a browser to explore queries, rankings and their explanations.", html))
	}
	return r
}

type demoRow struct {
	Ranker   string             `json:"ranker"`
	Measures map[string]float64 `json:"measures"`
}

// demoData generates 106 queries and divides them 60 : 20 : 26, the sizes of a fold of OHSUMED.
func demoData(seed uint64) (tune.Fold, error) {
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		return tune.Fold{}, err
	}
	o := shape.Defaults
	o.Seed = seed
	d, err := shape.Generate(o)
	if err != nil {
		return tune.Fold{}, err
	}
	part := func(from, to int) *dataset.Dataset {
		var queries []int
		for i := from; i < to; i++ {
			queries = append(queries, i)
		}
		return d.Subset(queries)
	}
	return tune.Fold{Name: "demo", Train: part(0, 60), Valid: part(60, 80), Test: part(80, len(d.Queries))}, nil
}

func demoConfig(fold tune.Fold, seed uint64, out string) (tune.Config, error) {
	c := tune.Config{Folds: []tune.Fold{fold}, Seed: seed, Dir: out}
	var err error
	if c.Measures, err = measure.ParseList("map,ndcg@1,ndcg@5,ndcg@10", c.Convention, measure.Options{}); err != nil {
		return c, err
	}
	c.Select = c.Measures[0]
	for _, dm := range demoMethods {
		m, err := method.Lookup(dm.method)
		if err != nil {
			return c, err
		}
		entry, err := tune.NewEntry(m, dm.grid)
		if err != nil {
			return c, err
		}
		entry.Name = dm.name
		if m.UsesMeasure {
			if entry.Measure, err = measure.Parse(dm.measure, c.Convention, measure.Options{}); err != nil {
				return c, err
			}
		}
		c.Entries = append(c.Entries, entry)
	}
	return c, nil
}

// demoUntrained returns two rankers that do not learn from grades: a random order, and the sum of
// all features.
func demoUntrained(fold tune.Fold, seed uint64) []ensemble.System {
	rng := random.Stream(seed, "demo", "random order")
	shuffled := make([]float64, fold.Test.Docs())
	summed := make([]float64, fold.Test.Docs())
	for i := range shuffled {
		shuffled[i] = rng.Float64()
		for _, v := range fold.Test.X()[i*fold.Test.Features : (i+1)*fold.Test.Features] {
			summed[i] += float64(v)
		}
	}
	return []ensemble.System{{Name: "untrained: random order", Test: shuffled}, {Name: "untrained: all weights 1", Test: summed}}
}

func demoRows(c tune.Config, fold tune.Fold, untrained []ensemble.System, result *tune.Result) ([]demoRow, error) {
	var rows []demoRow
	for _, u := range untrained {
		r, err := measure.Evaluate(fold.Test, u.Test, c.Measures, c.Ties)
		if err != nil {
			return nil, err
		}
		rows = append(rows, newDemoRow(u.Name, c.Measures, r))
	}
	for i, row := range result.Rows {
		rows = append(rows, newDemoRow(demoMethods[i].title, c.Measures, row.Folds[0].Test))
	}
	return rows, nil
}

func newDemoRow(name string, measures []measure.Measure, r *measure.Result) demoRow {
	row := demoRow{Ranker: name, Measures: make(map[string]float64)}
	for _, m := range measures {
		row.Measures[m.Name()] = r.Mean(m)
	}
	return row
}

const demoPage = "listwise-demo.html"

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

// demoCurve repeats the training with the chosen settings and returns its learning curve.
func demoCurve(ctx context.Context, title string, c *tune.Config, row *tune.Row) (page.Curve, error) {
	curve := page.Curve{Name: title}
	fold := &c.Folds[0]
	_, err := row.Entry.Method.Train(ctx, &method.Problem{
		Problem: train.Problem{
			Data: fold.Train, Measure: row.Entry.Measure, Normalization: c.Normalization, Views: c.Views, Transforms: c.Transforms, Missing: c.Missing, Seed: c.Seed,
			Observe: func(it method.Iteration) {
				curve.Points = append(curve.Points, page.Point{Epoch: it.Number, Restart: it.Start, Cost: it.Objective, Best: it.Best})
			},
		},
		Values: row.Folds[0].Chosen.(method.Values),
	})
	return curve, err
}
