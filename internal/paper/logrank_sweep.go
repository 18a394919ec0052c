package paper

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/svg"
	"github.com/listwise/listwise/tune"
)

// sweep is an experiment on the sampler: it trains ConvexLoss_NDCG on one set
// under several settings of the sampler, each with several seeds, and looks at
// the accuracy on test data. C is chosen by validation NDCG@10 for every setting
// and seed anew.
type sweep struct {
	name, title string
	axis        string // what varies, for tables and plots
	log         bool   // the plot's abscissa
	points      []sweepPoint
	grid        map[string][]string // what is tried or held fixed at all points
	seeds       int
	size        govSize // of synthetic data

	// published are the paper's MAP and NDCG@10, by the points' x; nil if the
	// figure was a plot without numbers.
	published map[float64][2]float64

	// verdict sums up what came out against what the paper states.
	verdict func(sweepResult) string
}

// sweepPoint is one setting.
type sweepPoint struct {
	label    string
	x        float64
	settings map[string]string
}

// gridSweep is what all points try; the paper's beta is 1.
var gridSweep = map[string][]string{"C": {"1e-3", "1e-2", "1e-1", "1", "10"}, "form": {"sampled"}, "beta": {"1"}}

// sweepSeeds is the number of seeds: each draws samples of its own.
const sweepSeeds = 5

// sweepResult holds the mean over folds, by measure, point and seed.
type sweepResult map[string][][]float64

// sweepQueries holds the values on the test queries, by measure and point, as means
// over seeds.
type sweepQueries map[string][][]float64

// add adds one seed's values.
func (q sweepQueries) add(m string, point int, values []float64, seeds int) {
	if q[m][point] == nil {
		q[m][point] = make([]float64, len(values))
	}
	for i, v := range values {
		q[m][point][i] += v / float64(seeds)
	}
}

// mean returns the mean over seeds.
func (r sweepResult) mean(m string, point int) float64 { return mean(r[m][point]) }

func (s sweep) run(ctx context.Context, o Options) (*Report, error) {
	data, err := hp2004(o, s.size)
	if err != nil {
		return nil, err
	}
	folds, err := data.read()
	if err != nil {
		return nil, err
	}
	result, each := make(sweepResult), make(sweepQueries)
	for _, m := range reported {
		result[m], each[m] = make([][]float64, len(s.points)), make([][]float64, len(s.points))
	}
	chosen := Sheet{Name: "chosen", Columns: []string{"seed", s.axis, "fold", "settings", "validation"}}
	grid := ""
	for k := range s.seeds {
		seed := o
		seed.Seed += uint64(k)
		rows, err := s.train(ctx, seed, folds)
		if err != nil {
			return nil, fmt.Errorf("%s, seed %d: %w", data.name, seed.Seed, err)
		}
		for i := range rows {
			for _, m := range rows[i].Measures {
				name := m.Measure.Name()
				result[name][i] = append(result[name][i], m.Mean)
				each.add(name, i, perQuery(&rows[i], name), s.seeds)
			}
			for j := range rows[i].Folds {
				f := &rows[i].Folds[j]
				chosen.Rows = append(chosen.Rows, []any{int(seed.Seed), s.points[i].label, f.Fold, describeChoice(&rows[i], f), f.Validation})
			}
		}
		grid = describeGrid(&rows[0].Entry, s.axis)
	}
	r := s.report(o, &data, folds, result)
	r.fact("tried", "%s, with %s as the table says", grid, s.axis)
	r.Sheets = append(r.Sheets, chosen)
	s.claim(r, o, &data, queries(folds), result, each)
	return r, nil
}

// train trains all points with one seed.
func (s sweep) train(ctx context.Context, o Options, folds []tune.Fold) ([]tune.Row, error) {
	c, err := tuneConfig(o, fmt.Sprintf("seed %d", o.Seed), folds, "ndcg@10")
	if err != nil {
		return nil, err
	}
	if o.Records != "" {
		c.Dir = filepath.Join(o.Records, fmt.Sprintf("seed%d", o.Seed))
	}
	row := logRankRow{name: "ConvexLoss_NDCG", method: "convexloss", training: "ndcg@10", grid: s.grid}
	for _, p := range s.points {
		override := make(map[string][]string)
		for name, value := range p.settings {
			override[name] = []string{value}
		}
		e, err := row.entry(p.label, override)
		if err != nil {
			return nil, err
		}
		c.Entries = append(c.Entries, e)
	}
	result, err := tune.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	return result.Rows, nil
}

func (s sweep) report(o Options, data *source, folds []tune.Fold, result sweepResult) *Report {
	r := &Report{Name: s.name, Title: s.title + " — " + data.name}
	logRankFacts(r, o, data, folds)
	r.fact("seeds", "%d to %d, a sample each; values are means over folds, then mean ± standard deviation over seeds", o.Seed, o.Seed+uint64(s.seeds)-1)
	r.fact("method", "ConvexLoss trained for NDCG@10 on sampled rankings, chosen by validation NDCG@10")
	r.Tables = []Table{s.table(data, result)}
	r.Sheets = []Sheet{s.sheet(data, result)}
	r.Plots = []Plot{s.plot(data, result)}
	if s.verdict != nil {
		r.note("%s", s.verdict(result))
	}
	if data.about != "" {
		r.note("%s", data.about)
	}
	return r
}

// logRankFacts are those that all of LogRank's experiments on one set share.
func logRankFacts(r *Report, o Options, data *source, folds []tune.Fold) {
	r.fact("source", "%s", logRank)
	r.fact("command", "%s", o.Command)
	r.fact("data", "%s: %s, %d test queries in all, as published (not cleaned)", data.name, foldList(folds), queries(folds))
	if data.about != "" {
		r.fact("mind", "%s", data.about)
	}
	r.fact("convention", "%s (%s)", letor3.Name(), letor3.Explanation())
}

// foldList names the folds.
func foldList(folds []tune.Fold) string {
	if len(folds) == 1 {
		return folds[0].Name
	}
	return folds[0].Name + " to " + folds[len(folds)-1].Name
}

func (s sweep) table(data *source, result sweepResult) Table {
	t := Table{Title: "test accuracy on " + data.name, Columns: []string{s.axis}, Left: 1}
	for _, m := range reported {
		t.Columns = append(t.Columns, title(m))
	}
	if s.published != nil {
		t.Columns = append(t.Columns, "paper (HP2004) MAP", "NDCG@10")
	}
	for i, p := range s.points {
		row := []string{p.label}
		for _, m := range reported {
			cell := fmt.Sprintf("%.4f", result.mean(m, i))
			if s.seeds > 1 {
				cell += fmt.Sprintf(" ± %.4f", sd(result[m][i]))
			}
			row = append(row, cell)
		}
		if s.published != nil {
			for _, v := range s.published[p.x] {
				row = append(row, strconv.FormatFloat(v, 'f', 3, 64))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (s sweep) sheet(data *source, result sweepResult) Sheet {
	sheet := Sheet{Columns: []string{"data", s.axis, "measure", "mean", "sd", "paper_hp2004"}}
	for k := range s.seeds {
		sheet.Columns = append(sheet.Columns, fmt.Sprintf("seed_%d", k+1))
	}
	for i, p := range s.points {
		for _, m := range reported {
			row := []any{data.name, p.label, m, result.mean(m, i), orNil(sd(result[m][i])), orNil(s.paper(p, m))}
			for _, v := range result[m][i] {
				row = append(row, v)
			}
			sheet.Rows = append(sheet.Rows, row)
		}
	}
	return sheet
}

// claim holds the paper's numbers against ours, which must be on HP2004.
func (s sweep) claim(r *Report, o Options, data *source, queries int, result sweepResult, each sweepQueries) {
	for i, p := range s.points {
		for _, m := range reported {
			held := claimed{data: data.name, row: s.axis + " " + p.label, measure: title(m), published: s.paper(p, m), ours: result.mean(m, i)}
			switch other := letorSets.otherData(data.name, queries); {
			case data.about != "":
				r.claimNot(held, data.about)
			case other != "":
				r.claimNot(held, other)
			default:
				r.claimMean(held, each[m][i], o.Seed)
			}
		}
	}
}

// paper returns the paper's value at a point, NaN if it has none.
func (s sweep) paper(p sweepPoint, m string) float64 {
	if v, ok := s.published[p.x]; ok {
		switch m {
		case "map":
			return v[0]
		case "ndcg@10":
			return v[1]
		}
	}
	return math.NaN()
}

func (s sweep) plot(data *source, result sweepResult) Plot {
	p := Plot{Plot: svg.Plot{
		Title: s.title + " — " + data.name,
		X:     svg.Axis{Label: s.axis, Log: s.log},
		Y:     svg.Axis{Label: "test accuracy, mean over folds and seeds"},
	}}
	for _, point := range s.points {
		p.X.Ticks = append(p.X.Ticks, svg.Tick{Value: point.x, Label: strings.TrimPrefix(point.label, s.axis+" ")})
	}
	for _, m := range reported {
		line := svg.Series{Name: title(m), Kind: svg.LineMarkers}
		for i, point := range s.points {
			line.X, line.Y = append(line.X, point.x), append(line.Y, result.mean(m, i))
		}
		p.Series = append(p.Series, line)
	}
	if s.published == nil {
		return p
	}
	for _, m := range []string{"ndcg@10", "map"} {
		line := svg.Series{Name: title(m) + ", paper on HP2004", Kind: svg.LineMarkers}
		for _, point := range s.points {
			line.X, line.Y = append(line.X, point.x), append(line.Y, s.paper(point, m))
		}
		p.Series = append(p.Series, line)
	}
	return p
}
