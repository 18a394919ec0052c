package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/bench"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/chart"
)

type benchFlags struct {
	documents string
	features  int
	methods   []string
	folder    string
	plots     string
	plan      string
	memory    float64
	price     float64
	longest   time.Duration
}

// ownProgram returns the path of this program and its name as an argument. Tests replace it,
// because their binary is not listwise.
var ownProgram = func() ([]string, error) {
	path, err := os.Executable()
	return []string{path, os.Args[0]}, err
}

func newBenchCommand(env *environment) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure time and memory on this machine, and extrapolate",
		Long: `Generates data of several sizes, runs this program on them, one process at a time, and
measures time, processor time and peak memory. Each method is trained with few and
with more passes over the data, which separates fixed costs from the cost of a pass.
The growth is the exponent of processor time (for the usual number of passes) and of
memory over the number of documents: 1 is linear.

--plan extrapolates to more documents, 100 per query, on machines like this one. If the
data do not fit into memory, time is at least that of reading them from disk: once for
an evaluation or an epoch, a quarter of them for a round of RankBoost, three times for
a tree whose bins do not fit either. Data kept for every document need memory.

A training that exceeds --longest is not measured with more documents. Without
--methods:
` + strings.Join(trainingNames(), ", ") + `.`,
		Example: `  listwise bench --documents 300,900 --features 4 --methods mle,lambdamart
  listwise bench --documents 300,900 --features 4 --methods mle --plan 3.8e6,1e9 --price 0.05 --plots plots`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), env) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.documents, "documents", "50000,200000", "`numbers` of documents to measure with, ascending, such as 1e5,1e6")
	addWhole(fl, &f.features, "features", 136, 1, "`number` of features")
	fl.StringSliceVar(&f.methods, "methods", nil, "`methods` to measure, separated by commas (default: common ones)")
	fl.StringVar(&f.folder, "dir", "", "`folder` for temporary data; its disk is measured; empty: the system's")
	fl.StringVar(&f.plots, "plots", "", "`folder` for the plots time.svg and memory.svg")
	fl.StringVar(&f.plan, "plan", "", "`numbers` of documents to plan for, such as 1e7,1e9")
	addPositive(fl, &f.memory, "plan-memory", 16, 1e9, "memory of the machines to plan for, in `GiB`")
	addReal(fl, &f.price, "price", 0, 1e9, "`cost` of one core hour; adds costs to the plan")
	fl.DurationVar(&f.longest, "longest", 10*time.Minute, "`time` limit of one process")
	return cmd
}

func trainingNames() []string {
	return mapped(bench.Trainings(), func(w bench.Work) string { return w.Name })
}

func (f *benchFlags) run(ctx context.Context, env *environment) error {
	c, err := f.config()
	if err != nil {
		return err
	}
	plans, err := f.numbers("plan", f.plan, 1e15)
	if err != nil {
		return err
	}
	if err := f.targets().check(); err != nil {
		return err
	}
	bar := env.startProgress("measuring", 0)
	c.Observe = func(done, total int, what string) { bar.show("measuring", done, total, ", "+what) }
	r, err := bench.Run(ctx, *c)
	bar.finish()
	if err != nil {
		return err
	}
	if f.plots != "" {
		if err := f.writePlots(r); err != nil {
			return fmt.Errorf("--plots: %w", err)
		}
	}
	if err := env.printBench(f, r, plans); err != nil {
		return err
	}
	var left []error
	for i := range r.Series {
		if s := &r.Series[i]; len(s.Points) == 0 {
			left = append(left, errors.New(s.Left))
		}
	}
	return errors.Join(left...)
}

func (f *benchFlags) config() (*bench.Config, error) {
	sizes, err := f.numbers("documents", f.documents, mostOf)
	if err != nil {
		return nil, err
	}
	if sizes == nil {
		return nil, usageErrorf("--documents: found nothing, expected numbers such as 1e5,1e6")
	}
	if f.longest <= 0 {
		return nil, usageErrorf("--longest: found %v, expected more than 0s", f.longest)
	}
	trainings, err := bench.Select(f.methods)
	if err != nil {
		return nil, usageErrorf("--methods: %w", err)
	}
	if f.folder != "" {
		if _, err := os.Stat(f.folder); err != nil {
			return nil, usageErrorf("--dir: %w", err)
		}
	}
	program, err := ownProgram()
	if err != nil {
		return nil, err
	}
	c := &bench.Config{
		Program: program, Features: f.features, Folder: f.folder, Longest: f.longest,
		Works: append(bench.Programs(), trainings...),
	}
	for _, n := range sizes {
		c.Documents = append(c.Documents, int(n))
	}
	return c, nil
}

const leastDocuments = 2 * bench.Docs

func (f *benchFlags) numbers(flag, list string, most float64) ([]float64, error) {
	if list == "" {
		return nil, nil
	}
	var numbers []float64
	for word := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(v >= leastDocuments && v <= most) || len(numbers) > 0 && v <= numbers[len(numbers)-1] {
			return nil, usageErrorf("--%s %s: found %q, expected ascending numbers from %d to %g", flag, list, word, leastDocuments, most)
		}
		numbers = append(numbers, v)
	}
	return numbers, nil
}

func (env *environment) printBench(f *benchFlags, r *bench.Result, plans []float64) error {
	var expected []bench.Plan
	for _, n := range plans {
		for i := range r.Series {
			if p, ok := r.Plan(&r.Series[i], n, f.memory*(1<<30)); ok {
				expected = append(expected, p)
			}
		}
	}
	if env.format == "json" {
		return env.printJSON(struct {
			*bench.Result
			Plan []bench.Plan `json:"plan,omitempty"`
		}{r, expected})
	}
	measured := measuredReport(r)
	if expected == nil {
		return env.print(measured)
	}
	plan := planReport(f, r, expected)
	if env.format == "csv" {
		return env.print(plan)
	}
	return env.printText(textOf([]report{measured, plan}, "\n", env.width()))
}

// measuredReport returns a table with a row for each measurement. The last row of each work shows
// its growth.
func measuredReport(r *bench.Result) report {
	out := report{
		title:   fmt.Sprintf("%s, %s; %d documents per query, %d features", r.Machine.System, counted(r.Machine.Cores, "core", "cores"), bench.Docs, r.Features),
		columns: []string{"work", "documents", "passes", "s", "CPU-s", "MiB", "µs before", "µs a pass", "growth: time", "memory"}, keys: 2,
	}
	for i := range r.Series {
		s := &r.Series[i]
		for k, p := range s.Points {
			each := 1e6 / float64(p.Documents)
			row := []any{s.Work.Name, p.Documents, nil, shortNumber(p.Seconds), shortNumber(p.CPU), int(math.Round(float64(p.Memory) / (1 << 20))), shortNumber(p.SetupCPU * each), nil, nil, nil}
			if s.Work.Knob != "" {
				row[2], row[7] = p.Passes, shortNumber(p.PassCPU*each)
			}
			if time, memory := s.Growth(); k == len(s.Points)-1 && k > 0 {
				row[8], row[9] = exponent(time), exponent(memory)
			}
			out.rows = append(out.rows, row)
		}
		if s.Left != "" {
			out.notes = append(out.notes, s.Left+".")
		}
	}
	out.alignNumbers()
	out.notes = append([]string{"", "s, CPU-s and MiB (peak memory with mapped files) are for one process. µs are processor time per document, before the first",
		"pass and in each pass. Growth is the exponent of processor time (with the usual passes) and of memory over documents; 1 is linear.",
		speeds(r)}, out.notes...)
	return out
}

func speeds(r *bench.Result) string {
	text := fmt.Sprintf("A core reads memory at %s GB/s", shortNumber(r.Machine.Memory/1e9))
	if r.Machine.Disk > 0 {
		text += fmt.Sprintf(", and the disk reads at %s GB/s (the largest cache, in order)", shortNumber(r.Machine.Disk/1e9))
	}
	return text + "."
}

func exponent(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// shortNumber formats a number with three significant digits, or as a whole number if it is larger.
func shortNumber(v float64) string {
	digits := 3
	for limit := 1.0; digits > 0 && math.Abs(v) >= limit; limit *= 10 {
		digits--
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

func planReport(f *benchFlags, r *bench.Result, plans []bench.Plan) report {
	out := report{
		title:   fmt.Sprintf("a plan for %d features, on machines like this one with %v GiB of memory", r.Features, f.memory),
		columns: []string{"work", "documents", "× measured", "passes", "cache, GB", "memory, GB", "time", "bound by", "core hours"}, keys: 2,
	}
	if f.price > 0 {
		out.columns = append(out.columns, "price")
	}
	untold := false
	for _, p := range plans {
		row := []any{p.Name, strconv.FormatFloat(p.Documents, 'g', -1, 64), shortNumber(p.Beyond), nil, shortNumber(p.Disk / 1e9), nil, span(p.Hours), p.Bound, shortNumber(p.CoreHours)}
		if p.Passes > 0 {
			row[3] = p.Passes
		}
		if p.Memory > 0 {
			row[5] = shortNumber(p.Memory / 1e9)
		} else {
			untold = true
		}
		if f.price > 0 {
			row = append(row, shortNumber(p.CoreHours*f.price))
		}
		out.rows = append(out.rows, row)
	}
	out.alignNumbers()
	out.notes = []string{"", "The plan extrapolates from the largest measured size: × measured is the ratio. Memory is the peak with all data in memory. With less,",
		"linear methods and networks read the cache from disk in each pass. Works bound by memory need a machine with that much memory."}
	if untold {
		out.notes = append(out.notes, fmt.Sprintf("Memory is omitted if the largest size took less than twice the %s MB of an idle process: measure more documents.", shortNumber(float64(r.Machine.Process)/1e6)))
	}
	return out
}

func span(hours float64) string {
	switch {
	case hours < 1.0/60:
		return shortNumber(hours*3600) + " s"
	case hours < 1:
		return shortNumber(hours*60) + " min"
	case hours < 100:
		return shortNumber(hours) + " h"
	}
	return shortNumber(hours/24) + " days"
}

// writePlots plots processor time and memory over the number of documents, on logarithmic axes.
func (f *benchFlags) writePlots(r *bench.Result) error {
	drawings := []struct {
		file, title, label string
		value              func(*bench.Work, bench.Point) float64
	}{
		{"time.svg", "Processor time with the usual passes", "CPU seconds", func(w *bench.Work, p bench.Point) float64 { return p.SetupCPU + float64(float64(w.Usual)*p.PassCPU) }},
		{"memory.svg", "Peak memory", "MiB", func(_ *bench.Work, p bench.Point) float64 { return float64(p.Memory) / (1 << 20) }},
	}
	if err := os.MkdirAll(f.plots, 0o755); err != nil {
		return err
	}
	for _, d := range drawings {
		p := chart.Plot{Title: d.title, X: chart.Axis{Label: "documents", Log: true}, Y: chart.Axis{Label: d.label, Log: true}, Height: 520}
		for i := range r.Series {
			s := &r.Series[i]
			line := chart.Series{Name: s.Work.Name, Kind: chart.LineMarkers}
			for _, at := range s.Points {
				line.X, line.Y = append(line.X, float64(at.Documents)), append(line.Y, d.value(&s.Work, at))
			}
			p.Series = append(p.Series, line)
		}
		if err := atomicfile.Write(filepath.Join(f.plots, d.file), p.Write); err != nil {
			return err
		}
	}
	return nil
}
