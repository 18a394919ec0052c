// Package bench measures the time and memory that the program needs on this machine. It measures
// reading, training, scoring and evaluation at several numbers of documents. From their growth it
// extrapolates to more documents.
//
// Start reading at [Run]. The package starts the program as a process and measures whole processes
// ([Usage]), as users experience them. works.go lists the measured tasks, machine.go measures the
// machine, and plan.go extrapolates. The package knows the program only by its command line.
package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Config describes the measurements.
type Config struct {
	Program   []string // path of the program and its name as an argument
	Documents []int    // ascending
	Features  int
	Works     []Work
	Folder    string        // for temporary data and models
	Longest   time.Duration // time limit of a process; after it the process is stopped, and larger sizes are skipped

	// Observe, if not nil, is called before every work, with the number of works done.
	Observe func(done, total int, what string)
}

// Docs is the mean number of documents in a query of the generated data.
const Docs = 100

// Point is the cost of a work at one size. If the work has passes, it ran twice, with few and with
// many passes.
type Point struct {
	Documents int     `json:"documents"`
	Seconds   float64 `json:"seconds"`     // of the run with many passes
	CPU       float64 `json:"cpu_seconds"` // processor time of this run, over all threads
	Memory    int64   `json:"peak_bytes"`  // peak of resident memory, mapped files included; 0 if the system does not report it
	Passes    int     `json:"passes"`      // passes of this run; 0 for a work without passes

	// Setup and Pass are seconds, SetupCPU and PassCPU are seconds of processor time. A run takes
	// Setup, and Pass for each pass. For a work without passes, Setup is the whole time.
	Setup    float64 `json:"setup_seconds"`
	Pass     float64 `json:"pass_seconds"`
	SetupCPU float64 `json:"setup_cpu_seconds"`
	PassCPU  float64 `json:"pass_cpu_seconds"`
}

// Series contains the costs of a work at all sizes.
type Series struct {
	Work   Work    `json:"work"`
	Points []Point `json:"points"`

	// Left gives the reason if sizes are missing from Points. Otherwise it is "".
	Left string `json:"left_out,omitempty"`
}

// Result contains the measurements of [Run].
type Result struct {
	Machine  Machine  `json:"machine"`
	Features int      `json:"features"`
	Bytes    []int64  `json:"cache_bytes"` // of the cache file, at each size
	Series   []Series `json:"series"`
}

// Run measures all works at all sizes, one process at a time.
func Run(ctx context.Context, c Config) (*Result, error) {
	dir, err := os.MkdirTemp(c.Folder, "listwise-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)                       //nolint:errcheck // temporary files
	if dir, err = filepath.Abs(dir); err != nil { // the processes have another working folder
		return nil, err
	}
	r := &Result{Features: c.Features, Series: make([]Series, len(c.Works))}
	for i, w := range c.Works {
		r.Series[i].Work = w
	}
	for i, n := range c.Documents {
		at := size{Config: &c, dir: filepath.Join(dir, strconv.Itoa(n)), documents: n, step: i}
		if err := at.measure(ctx, r); err != nil {
			return nil, fmt.Errorf("%d documents: %w", n, err)
		}
	}
	return r, nil
}

type size struct {
	*Config
	dir       string // folder of this size
	documents int
	step      int // index of the size
}

func (s *size) measure(ctx context.Context, r *Result) error {
	if err := os.Mkdir(s.dir, 0o777); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir) //nolint:errcheck // temporary files
	s.observe(0, "making data")
	queries := max(2, s.documents/Docs)
	data := []string{"data", "synth", "--shape", "ohsumed", "--queries", strconv.Itoa(queries), "--docs", strconv.Itoa(Docs),
		"--features", strconv.Itoa(s.Features), "--max-memory", "1000000", "--out", s.file(dataFile), "--format", "json"}
	made, _, err := s.run(ctx, data)
	if err != nil {
		return err
	}
	if s.documents = made.documents; s.documents == 0 {
		return fmt.Errorf("%v: found no number of documents in what it printed", data)
	}
	info, err := os.Stat(s.file(dataFile))
	if err != nil {
		return err
	}
	r.Bytes = append(r.Bytes, info.Size())
	for i := range r.Series {
		series := &r.Series[i]
		s.observe(i, series.Work.Name)
		if err := s.point(ctx, series); err != nil {
			return err
		}
	}
	if s.step < len(s.Documents)-1 {
		return nil
	}
	_, nothing, err := s.run(ctx, []string{"version"})
	if err != nil {
		return err
	}
	// Start this process last: a child's peak memory is at least the memory of its parent at the
	// start.
	r.Machine, err = measureMachine(s.file(dataFile))
	r.Machine.Process, r.Machine.Start = nothing.Memory, nothing.Seconds
	return err
}

func (s *size) observe(done int, what string) {
	if s.Observe != nil {
		s.Observe(s.step*len(s.Works)+done, len(s.Documents)*len(s.Works), fmt.Sprintf("%s, %d documents", what, s.documents))
	}
}

func (s *size) point(ctx context.Context, series *Series) error {
	w := &series.Work
	if series.Left != "" {
		return nil
	}
	if w.Most > 0 && s.documents > w.Most {
		series.Left = fmt.Sprintf("%s: not measured beyond %d documents", w.Name, w.Most)
		return nil
	}
	p, err := s.cost(ctx, w)
	if err == nil {
		series.Points = append(series.Points, p)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	series.Left = fmt.Sprintf("%s: not measured from %d documents: %v", w.Name, s.documents, err)
	return nil
}

// cost runs a work with few and with many passes, or once if it has no passes.
func (s *size) cost(ctx context.Context, w *Work) (Point, error) {
	p := Point{Documents: s.documents}
	many, use, err := s.run(ctx, s.arguments(w, w.Many))
	if err != nil {
		return p, err
	}
	p.Seconds, p.CPU, p.Memory = use.Seconds, use.CPU, use.Memory
	p.Setup, p.SetupCPU = p.Seconds, p.CPU
	if w.Knob == "" {
		return p, nil
	}
	p.Passes = many.passes(w)
	few, less, err := s.run(ctx, s.arguments(w, w.Few))
	if err != nil {
		return p, err
	}
	p.Setup, p.Pass = divide(few.passes(w), less.Seconds, p.Passes, use.Seconds)
	p.SetupCPU, p.PassCPU = divide(few.passes(w), less.CPU, p.Passes, use.CPU)
	return p, nil
}

// divide splits the time of a run into setup and passes, given the times of two runs with few and
// with many passes. Neither result is negative. If both runs have the same number of passes, all of
// the time counts as passes.
func divide(few int, shorter float64, many int, longer float64) (setup, pass float64) {
	if many <= 0 {
		return longer, 0
	}
	if many > few {
		pass = max(0, (longer-shorter)/float64(many-few))
	} else {
		pass = longer / float64(many)
	}
	pass = min(pass, longer/float64(many))
	return max(0, longer-float64(float64(many)*pass)), pass
}
