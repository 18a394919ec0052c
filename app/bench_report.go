package app

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/listwise/listwise/app/bench"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/svg"
)

// printBench prints what was measured and what follows for the numbers of documents to plan for.
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

// measuredReport has a row for every point; the largest size of a work has its growth.
func measuredReport(r *bench.Result) report {
	out := report{
		title:   fmt.Sprintf("%s, %s; %d documents a query, %d features", r.Machine.System, counted(r.Machine.Cores, "core", "cores"), bench.Docs, r.Features),
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
	out.notes = append([]string{"", "s, CPU-s and MiB (peak, mapped files included) are of one process; µs are of processor time, a document, before the",
		"first pass and for every pass. Growth: exponents over documents, of processor time with a training's usual passes and of memory.",
		speeds(r)}, out.notes...)
	return out
}

// speeds says how fast the machine is by itself.
func speeds(r *bench.Result) string {
	text := fmt.Sprintf("A core reads %s GB of memory a second", shortNumber(r.Machine.Memory/1e9))
	if r.Machine.Disk > 0 {
		text += fmt.Sprintf(", the disk %s GB (the cache of the largest size, in order, not in memory before)", shortNumber(r.Machine.Disk/1e9))
	}
	return text + "."
}

func exponent(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// shortNumber has three digits.
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
	out.notes = []string{"", "An extrapolation: × measured says how far. Memory is what all of the data resident takes; with less, linear methods and networks",
		"read the cache from the disk once a pass; what is bound by memory needs a machine that has it, whose time this is."}
	if untold {
		out.notes = append(out.notes, fmt.Sprintf("Memory is omitted if the largest size took less than twice the %s MB of an idle process: measure more documents.", shortNumber(float64(r.Machine.Process)/1e6)))
	}
	return out
}

// span is a time in the unit that suits it.
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

// writePlots draws the growth of processor time and of memory on logarithmic axes.
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
		p := svg.Plot{Title: d.title, X: svg.Axis{Label: "documents", Log: true}, Y: svg.Axis{Label: d.label, Log: true}, Height: 520}
		for i := range r.Series {
			s := &r.Series[i]
			line := svg.Series{Name: s.Work.Name, Kind: svg.LineMarkers}
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
