// Package runs is the record of experiments in a working folder. It stores the settings, data,
// program version and results of every training, tuning and evaluation, query by query.
//
// The record is an SQLite database, .listwise/runs.db below the working folder. Several processes
// may write to it at once. If a process is killed, finished runs stay intact.
//
// Start reading at [Run], which describes a run, and at [Store], the record. [Store.Begin] and
// [Store.Finish] write; [Store.List] and [Store.Get] read. store.go has the tables; lock.go tells a
// running process from one that is gone.
//
// The package must not know how anything is trained or evaluated: it stores names and numbers.
package runs

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// Kind is the command of a run.
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

	// Methods are the trained methods in order. For eval it is the method of the model, empty for a
	// file of scores; for auto it is "auto".
	Methods []string

	// Config has all settings, including defaults: strings, numbers, booleans, and lists and maps
	// of them (numbers come back as float64). Settings that cannot change a result, such as the
	// number of jobs, are left out.
	Config map[string]any

	Seed *uint64 // nil where nothing is random

	Data    []Data
	Files   []string       // written by the run, as given on the command line
	Results []RankerResult // finished runs only

	// Curve has the points of all learning curves in the order of training. List leaves it out.
	Curve []Point
}

// Code identifies the program of a run.
type Code struct {
	Version  string `json:"version"`  // of the module, "(devel)" when it has none
	Revision string `json:"revision"` // of the source's version control, "" if the build did not say
	Modified bool   `json:"modified"` // the source differed from that revision
	Go       string `json:"go"`       // the Go version

	// Program is the FileFingerprint of the program if neither a revision nor a release identifies
	// its source.
	Program string `json:"program,omitempty"`
}

// Data is a data set that a run read.
type Data struct {
	Role        string `json:"role"`        // such as train, valid, test; with the fold before it, as in "Fold1 test"
	Path        string `json:"path"`        // as given on the command line
	Fingerprint string `json:"fingerprint"` // dataset.Dataset.Fingerprint
	Queries     int    `json:"queries"`
	Documents   int    `json:"documents"`
}

// RankerResult has the results of one ranker on one set of queries.
type RankerResult struct {
	Ranker string `json:"ranker"` // the method, or for eval the file of the model or the scores
	Fold   string `json:"fold"`   // of tune; "" for the mean over its folds, and for train and eval

	// Settings are the hyperparameters, in a fold of tune the chosen ones. They are nil if unknown.
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

// Measure is the value of one measure in a RankerResult.
type Measure struct {
	Name       string `json:"measure"`
	Mean       Number `json:"mean"`        // over the queries that count, or over folds
	TieNeutral Number `json:"tie_neutral"` // Mean with documents of equal score in random order
	Queries    int    `json:"queries"`     // how many count

	// PerQuery has the value of every query in the order of the data. It is nil in a mean over
	// folds, and List leaves it out.
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

// NotFoundError is the error if the record has no run of that number.
type NotFoundError struct {
	Path string // of the database
	ID   int64
}

// Error implements error.
func (e *NotFoundError) Error() string { return fmt.Sprintf("%s has no run %d", e.Path, e.ID) }

// ThisCode identifies the running program.
var ThisCode = sync.OnceValue(func() Code {
	c := Code{Version: "(devel)", Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			c.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				c.Revision = s.Value
			case "vcs.modified":
				c.Modified = s.Value == "true"
			}
		}
	}
	released := strings.HasPrefix(c.Version, "v") && c.Revision == "" // installed as a module of that version
	if !released && (c.Revision == "" || c.Modified) {
		if path, err := os.Executable(); err == nil {
			c.Program = FileFingerprint(path)
		}
	}
	return c
})

// FileFingerprint returns half of a file's SHA-256 in hexadecimal, or "" if the file cannot be
// read.
func FileFingerprint(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Number is a float64 that is NULL in the database if it is NaN, and null in JSON if it is not
// finite.
type Number float64

// NaN returns an unknown Number.
func NaN() Number { return Number(math.NaN()) }

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return json.Marshal(v)
	}
	return []byte("null"), nil
}

// Value implements driver.Valuer.
func (n Number) Value() (driver.Value, error) {
	if math.IsNaN(float64(n)) {
		return nil, nil
	}
	return float64(n), nil
}

// Scan implements sql.Scanner.
func (n *Number) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*n = NaN()
	case float64:
		*n = Number(v)
	case int64:
		*n = Number(v)
	default:
		return fmt.Errorf("found %T %v, expected a number", value, value)
	}
	return nil
}
