package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/listwise/listwise/internal/suggest"
)

// Names of the files of one size.
const (
	dataFile  = "data.lwd"
	textFile  = "data.txt"
	modelFile = "model.json"
	otherFile = "other"
)

// Work is a task of the program that is measured.
type Work struct {
	Name string `json:"name"`

	// Args is the command line. The words DATA, TEXT, MODEL and OTHER are replaced by file names.
	Args []string `json:"args"`

	// Knob is the hyperparameter that limits the passes over the data. It is empty for a work
	// without passes. Few and Many are its values in the two runs. Usual is the number of passes in
	// plans, and Unit is the name of a pass.
	Knob  string `json:"knob,omitempty"`
	Few   int    `json:"-"`
	Many  int    `json:"-"`
	Usual int    `json:"usual_passes,omitempty"`
	Unit  string `json:"unit,omitempty"`

	// Whole means that the work needs all features in memory.
	Whole bool `json:"needs_memory,omitempty"`

	// If the features exceed the memory, each pass after the first reads Reads times their size
	// from disk. The work then needs Least bytes of memory for a document, and Cell bytes for each
	// feature of a document.
	Reads float64 `json:"reads_per_pass,omitempty"`
	Least float64 `json:"least_bytes_per_document,omitempty"`
	Cell  float64 `json:"least_bytes_per_value,omitempty"`

	// Most is the largest number of documents to measure. 0 is no limit.
	Most int `json:"-"`
}

// arguments returns the command line with a value of the knob and the files of this size.
func (s *size) arguments(w *Work, value int) []string {
	names := strings.NewReplacer("DATA", s.file(dataFile), "TEXT", s.file(textFile), "MODEL", s.file(modelFile), "OTHER", s.file(otherFile))
	args := make([]string, len(w.Args), len(w.Args)+2)
	for i, a := range w.Args {
		args[i] = a
		if slices.Contains([]string{"DATA", "TEXT", "MODEL", "OTHER"}, strings.SplitN(a, ".", 2)[0]) {
			args[i] = names.Replace(a)
		}
	}
	if w.Knob != "" {
		args = append(args, "--set", w.Knob+"="+strconv.Itoa(value))
	}
	return args
}

func (s *size) file(name string) string { return filepath.Join(s.dir, name) }

// textMost is the largest number of documents to write as text. Text takes three times the space of
// a cache.
const textMost = 12_000_000

// Programs returns the works that are not measured as trainings: conversion, regression, eval and
// score.
func Programs() []Work {
	return []Work{
		{Name: "write text", Args: words("data convert DATA --out TEXT --max-memory 1000000 -q"), Most: textMost},
		{Name: "convert text", Args: words("data convert TEXT --out OTHER.lwd --max-memory 1000000 -q"), Most: textMost},
		{Name: "regression", Args: training("regression")}, // its model is used by the next two works
		{Name: "eval", Args: words("eval --data DATA --model MODEL --max-memory 1000000 --no-record --format json")},
		{Name: "score", Args: words("score --data DATA --model MODEL --out OTHER.scores --max-memory 1000000 -q")},
	}
}

// Trainings returns the default trainings. L-BFGS needs a number of evaluations that depends on the
// data. Plans assume 100.
func Trainings() []Work {
	evaluations := func(name string, more ...string) Work {
		return Work{Name: name, Args: training(name, more...), Knob: "iterations", Few: 2, Many: 32, Usual: 100, Unit: "evaluation", Reads: 1}
	}
	epochs := func(name, title string, more ...string) Work {
		return Work{Name: title, Args: training(name, more...), Knob: "epochs", Few: 1, Many: 6, Usual: 100, Unit: "epoch", Reads: 1}
	}
	rounds := func(name, knob string, usual int, more ...string) Work {
		return Work{Name: name, Args: training(name, more...), Knob: knob, Few: 2, Many: 32, Usual: usual, Unit: strings.TrimSuffix(knob, "s"), Whole: true}
	}
	// Newton's method stops after a few iterations with different numbers of passes, so the
	// training is measured as a whole. It read the features 52 and 54 times on two data sets with
	// 136 features.
	newton := Work{Name: "ranksvm", Args: training("ranksvm"), Usual: 1, Unit: "training", Reads: 52}
	// ConvexLoss stores 196 bytes for each document, measured on a million documents with 100 in a
	// query.
	convex := evaluations("convexloss")
	convex.Least = 200
	return []Work{
		evaluations("mle"), evaluations("listnet"), evaluations("listmle"), convex, newton,
		epochs("lambdarank", "lambdarank"), epochs("ranknet", "ranknet-net", "--scorer", "net"),
		rounds("adarank", "rounds", 500), rounds("rankboost", "rounds", 300), codes(rounds("lambdamart", "trees", 300)),
		{Name: "coordascent", Args: training("coordascent", "--set", "restarts=0"), Knob: "sweeps", Few: 1, Many: 2, Usual: 25, Unit: "sweep", Whole: true},
	}
}

// codes sets the memory that trees need if the data do not fit: the state of each document, and a
// byte for each feature (docs/out-of-core.md).
func codes(w Work) Work {
	w.Whole, w.Least, w.Cell = false, 80, 1
	return w
}

func training(method string, more ...string) []string {
	return append(words("train --method "+method+" --train DATA --model MODEL --max-memory 1000000 --no-record --format json"), more...)
}

// Select returns the trainings with these names, or all trainings if names is empty. An unknown
// name is an error.
func Select(names []string) ([]Work, error) {
	all := Trainings()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, w := range all {
		known = append(known, w.Name)
	}
	var chosen []Work
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("found %q%s", name, suggest.Or(name, known, ", expected names among "+strings.Join(known, ", ")))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func words(line string) []string { return strings.Fields(line) }

// Usage is the measured cost of a process.
type Usage struct {
	Seconds float64 // from its start to its end
	CPU     float64 // processor time of all its threads, including time in the kernel
	Memory  int64   // peak of resident memory in bytes, mapped files included; 0 if the system does not report it
}

// output contains the counts in a command's JSON output.
type output struct {
	documents, iterations, evaluations int
}

func (o *output) UnmarshalJSON(text []byte) error {
	var v struct {
		Documents int
		Training  struct{ Iterations, Evaluations int }
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	*o = output{v.Documents, v.Training.Iterations, v.Training.Evaluations}
	return nil
}

func (o *output) passes(w *Work) int {
	if w.Unit == "evaluation" {
		return o.evaluations
	}
	return o.iterations
}

func (s *size) run(ctx context.Context, args []string) (output, Usage, error) {
	var out output
	limited, stop := context.WithTimeout(ctx, s.Longest)
	defer stop()
	cmd := exec.CommandContext(limited, s.Program[0], args...)
	cmd.Args[0] = s.Program[1]
	cmd.Dir = s.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if ctx.Err() != nil {
		return out, Usage{}, ctx.Err()
	}
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		return out, Usage{}, fmt.Errorf("it took longer than %v", s.Longest)
	}
	if err != nil {
		return out, Usage{}, fmt.Errorf("listwise %s: %w: %s", strings.Join(args, " "), err, lastLine(stderr.String()))
	}
	if stdout.Len() > 0 && stdout.Bytes()[0] == '{' {
		if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
			return out, Usage{}, fmt.Errorf("listwise %s: %w", strings.Join(args, " "), err)
		}
	}
	state := cmd.ProcessState
	return out, Usage{took.Seconds(), (state.UserTime() + state.SystemTime()).Seconds(), peakMemory(state)}, nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
