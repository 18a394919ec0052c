// Package papers repeats experiments of the literature and compares the results with the published
// ones.
//
// Start reading at [Experiments], the registry. Most experiments are declarations of a study
// (study.go). A study names its methods, data sets, selection measure, published numbers and the
// parts of its report. Read boltzrank.go for an example, or copy it for a new study. One runner
// trains all studies. It records finished trainings, so that an interrupted run can resume.
// results.go contains the results, and parts.go and marked.go the parts of reports.
//
// Three files produce verdicts. claims.go judges published numbers, orders.go published orders of
// methods, and findings.go claims in words.
//
// Other experiments have their own Run function. All experiments return a [Report], which report.go
// writes to files. sets.go finds LETOR's data. The package must not depend on flags and terminals.
// Only experiments about losses and optimizers may depend on how methods learn.
package papers

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/suggest"
)

// Experiment is an experiment of a paper, such as a table or figure.
type Experiment struct {
	Name  string // on the command line and in file names
	Paper string // name of the paper's system; "" if the experiment belongs to no paper
	Title string // title of the result, and its source
	Shows string // the question or statement that the results answer
	Data  string // the data that the experiment needs
	Reads bool   // the experiment reads Options.Data, at least sometimes

	Picture   string // the paper's figure without printed numbers; "" if there is none
	Untrained string // reason why the experiment has no trivial system for comparison; "" if it has one

	// Scales names the quantity that Options.Scale multiplies. It is empty for experiments with a
	// fixed size.
	Scales string

	// Run runs the experiment. Equal options give equal reports, for any number of jobs, and also
	// if an earlier run was interrupted. The times that ranknet-speedup measures are an exception.
	Run func(context.Context, Options) (*Report, error)

	study *study // the study, if the experiment is one
}

// Options are the options of an experiment.
type Options struct {
	// Data is a folder of LETOR's sets, or a folder of one set with Fold1 … FoldK. It is "" without
	// data. sets.go describes the layout.
	Data string

	// Set lists the names of sets in Data to use, separated by commas. If Data is the folder of one
	// set, Set is the name of this set.
	Set string

	Seed uint64
	Jobs int // number of parallel trainings; 0: GOMAXPROCS

	// Scale makes an experiment smaller or larger than published. See Experiment.Scales.
	// Experiments with a fixed size ignore it. 0 means 1.
	Scale float64

	// Records, if not empty, is the folder for finished trainings, from which an interrupted run
	// resumes.
	Records string

	// Command is the command line of this run, for the report.
	Command string

	// Opened, if not nil, is called with the files of the data. See [dataset.Options].
	Opened func(io.Closer)

	// Observe, if not nil, is called with the name and the progress of the current stage. Several
	// goroutines may call it.
	Observe func(stage string, done, total int)
}

// Experiments returns all experiments in the order of the help text.
func Experiments() []Experiment {
	return []Experiment{
		figure3().experiment(),
		figure4().study().experiment(),
		figure5().study().experiment(),
		figure6Experiment(),
		figure7Experiment(),
		figure8Experiment(),
		logRankDelta.experiment(),
		tracesExperiment(),
		logRankCombined().experiment(),
		gainExperiment(),
		redrawnExperiment(),
		restartsExperiment(),
		mathematicsExperiment(),
		burges2006.study().experiment(),
		lambdaRankReal().experiment(),
		intranetExperiment(),
		burges2006Functions.study().experiment(),
		speedupExperiment(),
		jacobianExperiment(),
		boltzRank().experiment(),
		boltzRankSeeds().experiment(),
		boltzRankObjective().experiment(),
		boltzRankEnergy(td2004Size).experiment(),
		listSyntheticExperiment(),
		listMLEOnOHSUMED().experiment(),
		soundnessExperiment(),
		consistencyExperiment(),
		letorBaselines().experiment(),
	}
}

// Lookup returns the named experiment. For an unknown name, the error lists the names.
func Lookup(name string) (Experiment, error) {
	var names []string
	for _, e := range Experiments() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Experiment{}, &InputError{fmt.Errorf("experiment %q%s", name, suggest.Or(name, names, ": expected one of "+strings.Join(names, ", ")))}
}

// MaxScale is the largest Options.Scale.
const MaxScale = 100

// CheckScale returns an error if the experiment cannot run at this scale.
func (e *Experiment) CheckScale(scale float64) error {
	switch {
	case !(scale > 0 && scale <= MaxScale):
		return inputError("scale %v: expected a number above 0, %d at most", scale, MaxScale)
	case scale != 1 && e.Scales == "":
		return inputError("scale %v: the experiment %s has one size only", scale, e.Name)
	}
	return nil
}

// observe reports the progress of the current stage.
func (o *Options) observe(stage string, done, total int) {
	if o.Observe != nil {
		o.Observe(stage, done, total)
	}
}

// counter returns a function that concurrent steps call when they end. It reports the number of
// ended steps as progress.
func (o *Options) counter(stage string, total int) func() {
	var mu sync.Mutex
	done := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		o.observe(stage, done, total)
	}
}

// sideBySide runs n jobs in parallel and returns the first error in the order of jobs.
func (o *Options) sideBySide(ctx context.Context, stage string, n int, job func(worker, i int) error) error {
	errs, ended := make([]error, n), o.counter(stage, n)
	parallel.For(n, o.Jobs, func(worker, i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = job(worker, i)
		}
		ended()
	})
	return cmp.Or(errs...)
}

// scaled returns n multiplied by the scale, and at least 1.
func (o *Options) scaled(n int) int {
	if o.Scale == 0 {
		return n
	}
	return max(1, int(math.Round(float64(n)*o.Scale)))
}

// InputError is an error in the caller's input: a name, a folder or data.
type InputError struct{ Err error }

// Error implements error.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

func inputError(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// logRank names the source of the experiments in files logrank_*.go.
const logRank = "Dubey, Machchhar, Bhattacharyya, Chakrabarti: Conditional Models for Non-smooth Ranking Loss Functions, ICDM 2009"
