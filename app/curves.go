package app

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	page "github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/chart"
)

type curvesFlags struct {
	out      string
	title    string
	training bool
}

func newCurveCommand(env *environment) *cobra.Command {
	var f curvesFlags
	cmd := &cobra.Command{
		Use:   "curve [NAME=]FILE… --out FILE",
		Short: "Plot learning curves, with bands over random seeds",
		Long: `Plots learning curves of train --curve, tune and ablate, as SVG or, if the file of
--out ends in .pdf, as PDF. The figure is as wide as a column of a paper.

Files with the same NAME are runs of one method with different seeds: the line is their
mean, and the band is its 95 % interval (Student's t). A curve ends at the last epoch
that all its runs have. FILE may be a pattern such as 'runs/seed*.curve', in quotes.

The table has each curve's best epoch by its mean. --format json has all points.`,
		Example: `  listwise curve ranknet=r1.curve ranknet=r2.curve ranknet=r3.curve --out learning.pdf
  listwise curve small=hidden/hidden=5.seed*/Fold1.curve large=hidden/hidden=40.seed*/Fold1.curve --out hidden.svg`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "out"); err != nil {
				return err
			}
			if len(args) == 0 {
				return usageErrorf("%s: found no learning curve, expected [NAME=]FILE", cmd.CommandPath())
			}
			return f.run(env, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "`file` for the figure: .svg or .pdf")
	fl.BoolVar(&f.training, "training", false, "plot the training objective, not the validation measure")
	fl.StringVar(&f.title, "title", "", "`title` of the figure (default: none)")
	return cmd
}

// meanCurve is the mean of several learning curves. It is also their JSON form; scripts rely on its
// names.
type meanCurve struct {
	Name   string      `json:"name"`
	Runs   int         `json:"runs"`
	Points []meanPoint `json:"points"`
}

type meanPoint struct {
	Epoch int         `json:"epoch"`
	Mean  float64     `json:"mean"`
	CI    *[2]float64 `json:"ci"` // null for one run
}

func (f *curvesFlags) run(env *environment, args []string) error {
	names, files, err := curveFiles(args)
	if err != nil {
		return err
	}
	t := new(targets).writes("--out", f.out)
	for _, list := range files {
		t.reads("", list...)
	}
	if err := t.check(); err != nil {
		return err
	}
	if err := checkFigure("out", f.out); err != nil {
		return err
	}
	var curves []meanCurve
	for i, name := range names {
		c, err := f.mean(env, name, files[i])
		if err != nil {
			return err
		}
		curves = append(curves, c)
	}
	if err := writeFigure("out", f.out, f.plot(curves)); err != nil {
		return err
	}
	return env.print(f.report(curves))
}

// curveFiles returns the names of the arguments [NAME=]FILE and the files of each.
func curveFiles(args []string) (names []string, files [][]string, err error) {
	for _, arg := range args {
		name, path, named := strings.Cut(arg, "=")
		if !named || exists(arg) {
			name, path = strings.TrimSuffix(arg, ".curve"), arg
		}
		found := []string{path}
		if !exists(path) && strings.ContainsAny(path, "*?[") {
			if found, err = filepath.Glob(path); err != nil || len(found) == 0 {
				return nil, nil, usageErrorf("%s: found no file of this pattern", arg)
			}
		}
		i := slices.Index(names, name)
		if i < 0 {
			i = len(names)
			names, files = append(names, name), append(files, nil)
		}
		for _, path := range found {
			if slices.ContainsFunc(files[i], func(other string) bool { return filepath.Clean(other) == filepath.Clean(path) }) {
				return nil, nil, usageErrorf("%s: found %s twice", name, path)
			}
			files[i] = append(files[i], path)
		}
	}
	return names, files, nil
}

// mean returns the mean of the curves in files.
func (f *curvesFlags) mean(env *environment, name string, files []string) (meanCurve, error) {
	c := meanCurve{Name: name, Runs: len(files)}
	var runs []page.Curve
	shortest, longest := math.MaxInt, 0
	for _, path := range files {
		run, err := readCurve(path, name)
		if err != nil {
			return c, usageErrorf("%w", err)
		}
		if err := f.check(&run); err != nil {
			return c, usageErrorf("%s: %w", path, err)
		}
		runs = append(runs, run)
		shortest, longest = min(shortest, len(run.Points)), max(longest, len(run.Points))
	}
	if shortest < longest {
		env.note("note: the curve of %s ends at epoch %d, the last that all %d runs have; the longest run has %d more", name, runs[0].Points[shortest-1].Epoch, len(runs), longest-shortest)
	}
	for i := range shortest {
		p := meanPoint{Epoch: runs[0].Points[i].Epoch}
		var values []float64
		for k, run := range runs {
			if run.Points[i].Epoch != p.Epoch {
				return c, usageErrorf("%s: found epoch %d at the place where %s has epoch %d, expected the same epochs", files[k], run.Points[i].Epoch, files[0], p.Epoch)
			}
			values = append(values, f.valueOf(&run.Points[i]))
		}
		p.Mean = values[0]
		if len(values) > 1 {
			next, err := stats.Prediction(values)
			if err != nil {
				return c, err
			}
			// The interval of the mean is narrower than that of one more value by √(n + 1).
			half := (next.Interval.High - next.Mean) / math.Sqrt(float64(len(values)+1))
			ci := stats.Interval{Low: next.Mean - half, High: next.Mean + half}.Within(f.rangeOf(runs))
			p.Mean, p.CI = next.Mean, &[2]float64{ci.Low, ci.High}
		}
		c.Points = append(c.Points, p)
	}
	return c, nil
}

// rangeOf returns the range of the validation measure. A curve does not name it. It ends at 1 unless a value
// is higher, as of DCG.
func (f *curvesFlags) rangeOf(runs []page.Curve) stats.Interval {
	if f.training {
		return stats.Interval{}
	}
	of := stats.Interval{Low: 0, High: 1}
	for _, run := range runs {
		for i := range run.Points {
			if v := f.valueOf(&run.Points[i]); v > 1 {
				of.High = math.Inf(1)
			}
		}
	}
	return of
}

func (f *curvesFlags) valueOf(p *page.Point) float64 {
	if f.training {
		return p.Cost
	}
	return *p.Validation
}

// check returns an error for a curve that cannot be plotted.
func (f *curvesFlags) check(c *page.Curve) error {
	for i := range c.Points {
		p := &c.Points[i]
		switch {
		case !f.training && p.Validation == nil:
			return fmt.Errorf("found no validation value of epoch %d, expected a training with validation data, or --training", p.Epoch)
		case p.Restart != c.Points[0].Restart:
			return fmt.Errorf("found the epochs of several restarts, expected those of one, as of --set restarts=1")
		}
	}
	return nil
}

func (f *curvesFlags) plot(curves []meanCurve) *chart.Plot {
	p := &chart.Plot{Title: f.title, Width: columnWidth, Height: columnHeight, X: chart.Axis{Label: "epoch"}, Y: chart.Axis{Label: f.label()}}
	for _, c := range curves {
		s := chart.Series{Kind: chart.Line, Name: c.Name}
		for _, point := range c.Points {
			s.X, s.Y = append(s.X, float64(point.Epoch)), append(s.Y, point.Mean)
			if point.CI != nil {
				s.Low, s.High = append(s.Low, point.CI[0]), append(s.High, point.CI[1])
			}
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func (f *curvesFlags) label() string {
	if f.training {
		return "training objective"
	}
	return "validation measure"
}

func (f *curvesFlags) report(curves []meanCurve) report {
	out := report{title: "wrote " + f.out, columns: []string{"curve", "runs", "epochs", "best_epoch", "mean", "low", "high"}, json: curves, written: true}
	for _, c := range curves {
		best := &c.Points[0]
		for i := range c.Points {
			p := &c.Points[i]
			if p.Mean > best.Mean && !f.training || p.Mean < best.Mean && f.training {
				best = p
			}
		}
		row := []any{c.Name, c.Runs, len(c.Points), best.Epoch, best.Mean, nil, nil}
		if best.CI != nil {
			row[5], row[6] = best.CI[0], best.CI[1]
		}
		out.rows = append(out.rows, row)
	}
	return out
}
