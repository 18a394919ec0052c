// Package runs is the record of experiments: what was trained, tuned and
// evaluated in a working folder, with which settings, on which data, by which
// version of the code, and with which results, query by query.
//
// The record is an SQLite database, .listwise/runs.db below the working folder.
// Several processes may write to it at once, and a process that is killed takes
// no finished run with it.
//
// Start reading at [Run], which is all that is known of a run, and [Store], which is the
// record: [Store.Begin] and [Store.Finish] write, [Store.List] and [Store.Get] read.
// schema.go has the tables, lock.go how a run whose process is gone is distinguished
// from one that goes on.
//
// The package must not know how anything is trained or measured: it stores names and
// numbers.
package runs

import (
	"fmt"
	"time"
)

// Kind is the command a run is of.
type Kind string

// The kinds of runs.
const (
	Train Kind = "train"
	Tune  Kind = "tune"
	Eval  Kind = "eval"
	Auto  Kind = "auto"
)

// Kinds lists the kinds of runs.
func Kinds() []Kind { return []Kind{Train, Tune, Eval, Auto} }

// Status is the state of a run.
type Status string

// The states of a run. Only a finished run has results.
const (
	Running     Status = "running"
	Finished    Status = "finished"
	Failed      Status = "failed"      // it ended with an error, see Run.Error
	Interrupted Status = "interrupted" // it was stopped, or its process is gone
)

// Run is one command's run. Numbers that are not known are NaN.
type Run struct {
	// ID counts from 1 and is never used again, not even after Delete.
	ID       int64
	Kind     Kind
	Status   Status
	Begun    time.Time
	Duration time.Duration // 0 unless finished or failed
	Command  []string      // the arguments as they were given, without the program's name
	Code     Code
	Error    string // of a failed run

	// Methods are those trained, in their order; for eval that of the model, none
	// for a file of scores; for auto "auto".
	Methods []string

	// Config has all settings, defaults as well: strings, numbers, booleans, and
	// lists and maps of them (numbers come back as float64). What cannot change
	// a result, such as the number of jobs, is not among them.
	Config map[string]any

	Seed *uint64 // nil where nothing is random

	Data    []Data
	Files   []string // written by the run, as given on the command line
	Results []Result // finished runs only

	// Curve has the points of all learning curves, in the order in which they were
	// met. List leaves it out.
	Curve []Point
}

// Code says what program a run was made by.
type Code struct {
	Version  string `json:"version"`  // of the module, "(devel)" when it has none
	Revision string `json:"revision"` // of the source's version control, "" if the build did not say
	Modified bool   `json:"modified"` // the source differed from that revision
	Go       string `json:"go"`       // the Go version

	// Program is the FileFingerprint of the program itself where neither a revision nor a
	// released version identifies what it was built from, else "".
	Program string `json:"program,omitempty"`
}

// Data is one data set that a run read.
type Data struct {
	Role        string `json:"role"`        // such as train, valid, test; with the fold before it, as in "Fold1 test"
	Path        string `json:"path"`        // as given on the command line
	Fingerprint string `json:"fingerprint"` // dataset.Dataset.Fingerprint
	Queries     int    `json:"queries"`
	Documents   int    `json:"documents"`
}

// Result is what one ranker reached on one set of queries.
type Result struct {
	Ranker string `json:"ranker"` // the method, or for eval the file of the model or the scores
	Fold   string `json:"fold"`   // of tune; "" for the mean over its folds, and for train and eval

	// Settings are the hyperparameters, those that tune chose in a fold, nil where
	// they are not known.
	Settings map[string]any `json:"settings,omitempty"`

	Training   map[string]any `json:"training,omitempty"` // how the training ended, as model files have it; nil if there was none
	Validation Number         `json:"validation"`         // the value the settings were chosen by
	Trials     []Trial        `json:"trials,omitempty"`   // what tune tried in this fold, in order

	Measures []Measure `json:"measures"`
}

// Trial is one setting that tune tried in one fold.
type Trial struct {
	Settings   map[string]any `json:"settings"` // those that were varied
	Validation float64        `json:"validation"`
}

// Measure is the value of one measure in a Result.
type Measure struct {
	Name       string `json:"measure"`
	Mean       Number `json:"mean"`        // over the queries that count, or over folds
	TieNeutral Number `json:"tie_neutral"` // Mean with documents of equal score in random order
	Queries    int    `json:"queries"`     // how many count

	// PerQuery has every query's value in the order of the data. It is nil in a
	// mean over folds, and List leaves it out.
	PerQuery []Value `json:"per_query,omitempty"`
}

// Value is a measure's value on one query; NaN if the convention leaves it out.
type Value struct {
	Query string `json:"query"`
	Value Number `json:"value"`
}

// Point is one point of a learning curve: an iteration or an epoch.
type Point struct {
	Ranker     string `json:"ranker"`        // the method
	Fold       string `json:"fold"`          // of tune
	Start      int    `json:"start"`         // of a method that starts several times, from 0
	Step       int    `json:"step"`          // the iteration's or epoch's number
	Epoch      bool   `json:"epoch"`         // an epoch of descent, not an iteration
	Objective  Number `json:"objective"`     // the training cost
	GradNorm   Number `json:"gradient_norm"` // NaN after an epoch
	Rate       Number `json:"rate"`          // of an epoch's steps, NaN after an iteration
	Validation Number `json:"validation"`    // of the measure that epochs are kept by; NaN without
	Best       bool   `json:"best"`          // better than all before
}

// NotFoundError is the error that the record has no run of that number.
type NotFoundError struct {
	Path string // of the database
	ID   int64
}

// Error implements error.
func (e *NotFoundError) Error() string { return fmt.Sprintf("%s has no run %d", e.Path, e.ID) }
