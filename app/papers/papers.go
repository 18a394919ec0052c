// Package papers repeats experiments of the literature and compares the results with the
// published ones.
//
// Start reading at [Experiments], the registry. Most experiments are declarations of one kind, a
// study (study.go). A study names its methods, data sets, selection measure, published numbers and
// the parts of its report. Read boltzrank.go for an example, or start a new study from it. One
// runner trains all studies, with records that let an interrupted run resume. results.go holds the
// results, parts.go and marked.go the parts of reports.
//
// Verdicts have three files. claims.go judges single published numbers, orders.go published orders
// of methods, and findings.go claims in words.
//
// Other experiments have a Run function of their own. All share the [Report], which report.go turns
// into files. sets.go finds LETOR's data. The package must not know of flags and terminals, nor how
// methods learn, except in experiments about losses and optimisers.
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

// Experiment is a table or figure of a paper.
type Experiment struct {
	Name  string // on the command line and of the files
	Paper string // the system that the paper is about; "" if it is about none of the papers' own
	Title string // what it is, with its source
	Shows string // one sentence: what to look for
	Data  string // what it runs on
	Reads bool   // it takes Options.Data, if not always

	Picture   string // what the paper shows of it without numbers; "" for nothing
	Untrained string // why no trivial system can take the place of a trained model; "" if one can

	// Scales says what Options.Scale multiplies; empty for experiments that have
	// one size only.
	Scales string

	// Run does the experiment. Equal options give equal reports, for any number of jobs and
	// whether or not an earlier run was interrupted, except for the times that
	// ranknet-speedup measures.
	Run func(context.Context, Options) (*Report, error)

	study *study // that Run is of, if it is one
}

// Options are what an experiment takes from its caller.
type Options struct {
	// Data is a folder of LETOR's sets, or of one set's Fold1 … FoldK; "" means
	// none. See sets.go for the layout.
	Data string

	// Set chooses among the sets of Data, by name, several separated by commas;
	// where Data is one set's folder it names that set.
	Set string

	Seed uint64
	Jobs int // trainings side by side; 0 means GOMAXPROCS

	// Scale makes an experiment smaller or larger than the published one, see
	// Experiment.Scales; the others ignore it. 0 means 1.
	Scale float64

	// Records, if not empty, is the folder that keeps finished trainings, so that
	// an interrupted run resumes.
	Records string

	// Command is the command line that leads here, for the report.
	Command string

	// Opened, if not nil, is called with the files of the data: see [dataset.Options].
	Opened func(io.Closer)

	// Observe, if not nil, is called with the name and the progress of the current stage.
	// It is called from several goroutines.
	Observe func(stage string, done, total int)
}

// Experiments lists all experiments in the order of the help text.
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

// Lookup returns the experiment of that name; the error for an unknown one lists
// those known.
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

// CheckScale returns an error if the experiment cannot be run at a scale.
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

// counter returns a function that concurrent steps call when they end. It reports their number.
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

// sideBySide runs n jobs and returns the first error in their order.
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

// scaled returns n at the scale asked for, at least 1.
func (o *Options) scaled(n int) int {
	if o.Scale == 0 {
		return n
	}
	return max(1, int(math.Round(float64(n)*o.Scale)))
}

// InputError is an error in what the caller gave: a name, a folder, data.
type InputError struct{ Err error }

// Error implements error.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

func inputError(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// logRank names the source of the experiments in files logrank_*.go.
const logRank = "Dubey, Machchhar, Bhattacharyya, Chakrabarti: Conditional Models for Non-smooth Ranking Loss Functions, ICDM 2009"
