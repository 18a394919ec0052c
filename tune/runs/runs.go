// Package runs is the record of experiments in a working folder, which "listwise runs" lists. It stores
// the settings, data, program version and results of every training, tuning and evaluation. The results
// include the values of each query.
//
// The record is an SQLite database, .listwise/runs.db in the working folder. Several processes may
// write to it at once. If a process is killed, finished runs remain intact.
//
// A program that trains calls [Open], and then [Store.Tune] or [Store.Train] in place of tune.Run or
// train.Run:
//
//	record, err := runs.Open(".", runs.Patience)
//	…
//	defer record.Close()
//	result, err := record.Tune(ctx, config)
//
// To change the package, start reading at [Run], which describes a run, and at [Store], the record.
// [Store.Begin] and [Store.Finish] write runs; [Store.List] and [Store.Get] read them. store.go defines
// the tables, which contain names and numbers. results.go describes data and results by them. lock.go
// detects whether the process of a run is alive. The package must not depend on command lines.
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
	Train  Kind = "train"
	Tune   Kind = "tune"
	Eval   Kind = "eval"
	Auto   Kind = "auto"
	Ablate Kind = "ablate"
)

// Kinds lists the kinds of runs.
func Kinds() []Kind { return []Kind{Train, Tune, Eval, Auto, Ablate} }

// Status is the state of a run.
type Status string

// The states of a run. Only a finished run has results.
const (
	Running     Status = "running"
	Finished    Status = "finished"
	Failed      Status = "failed"      // the run ended with the error in Run.Error
	Interrupted Status = "interrupted" // the run was stopped, or its process no longer exists
)

// Run is the run of a command. Unknown numbers are NaN.
type Run struct {
	// ID counts from 1. An ID is never reused, not even after Delete.
	ID       int64
	Kind     Kind
	Status   Status
	Begun    time.Time
	Duration time.Duration // 0 unless finished or failed
	Command  []string      // arguments as given, without the name of the program; empty for Store.Tune and Store.Train
	Code     Code
	Error    string // message of a failed run

	// Methods lists the trained methods in order. For eval it contains the method of the model, or
	// nothing for a score file. For auto it is "auto".
	Methods []string

	// Config contains all settings, including defaults. Values are strings, numbers, booleans, and
	// lists and maps of these. Numbers are float64 when read back. Config omits settings that
	// cannot change a result, such as the number of jobs.
	Config map[string]any

	Seed *uint64 // nil if the run has no random component

	Data    []Data
	Files   []string       // files written by the run, as given on the command line
	Results []RankerResult // finished runs only

	// Curve contains the points of all learning curves in the order of training. List does not set
	// it.
	Curve []Point
}

// Code identifies the program of a run.
type Code struct {
	Version  string `json:"version"`  // version of listwise; "(devel)" if unknown
	Revision string `json:"revision"` // revision of listwise in version control; "" if unknown
	Modified bool   `json:"modified"` // the source differed from Revision
	Go       string `json:"go"`       // version of Go

	// Program is the FileFingerprint of the program. It is set only if neither a revision nor a
	// release identifies the source.
	Program string `json:"program,omitempty"`
}

// Data is a data set that a run read.
type Data struct {
	Role        string `json:"role"`        // such as train, valid or test; in folds with a prefix: "Fold1 test"
	Path        string `json:"path"`        // as given on the command line
	Fingerprint string `json:"fingerprint"` // dataset.Dataset.Fingerprint
	Queries     int    `json:"queries"`
	Documents   int    `json:"documents"`
}

// RankerResult contains the results of one ranker on one set of queries.
type RankerResult struct {
	Ranker string `json:"ranker"` // name of the method; for eval the model or score file
	Fold   string `json:"fold"`   // fold of tune; "" for the mean over folds, and for train and eval

	// Settings are the hyperparameters. In a fold of tune they are the chosen ones. They are nil if
	// unknown.
	Settings map[string]any `json:"settings,omitempty"`

	Training   map[string]any `json:"training,omitempty"` // how the training ended, as in model files; nil without a training
	Validation Number         `json:"validation"`         // validation value that selected the settings
	Trials     []Trial        `json:"trials,omitempty"`   // settings that tune tried in this fold, in order

	Measures []Measure `json:"measures"`
}

// Trial is a setting that tune tried in a fold.
type Trial struct {
	Settings   map[string]any `json:"settings"` // hyperparameters that vary
	Validation float64        `json:"validation"`
}

// Measure contains the values of a measure in a RankerResult.
type Measure struct {
	Name       string `json:"measure"`
	Mean       Number `json:"mean"`        // mean over the queries that count, or over folds
	TieNeutral Number `json:"tie_neutral"` // mean if documents with equal scores are in random order
	Queries    int    `json:"queries"`     // number of queries that count

	// PerQuery contains the value of every query in the order of the data. It is nil for a mean
	// over folds, and List does not set it.
	PerQuery []Value `json:"per_query,omitempty"`
}

// Value is a measure's value on one query. It is NaN if the convention leaves the query out.
type Value struct {
	Query string `json:"query"`
	Value Number `json:"value"`
}

// Point is one point of a learning curve: an iteration or an epoch.
type Point struct {
	Ranker     string `json:"ranker"`        // name of the method
	Fold       string `json:"fold"`          // fold of tune
	Start      int    `json:"start"`         // number of the start, from 0
	Step       int    `json:"step"`          // number of the iteration or epoch
	Epoch      bool   `json:"epoch"`         // an epoch of descent, not an iteration
	Objective  Number `json:"objective"`     // the training cost
	GradNorm   Number `json:"gradient_norm"` // NaN after an epoch
	Rate       Number `json:"rate"`          // learning rate of an epoch; NaN for an iteration
	Validation Number `json:"validation"`    // value of the selection measure; NaN without validation data
	Best       bool   `json:"best"`          // better than all earlier points
}

// NotFoundError is the error for a run that is not in the record.
type NotFoundError struct {
	Path string // path of the database
	ID   int64
}

// Error implements error.
func (e *NotFoundError) Error() string { return fmt.Sprintf("%s has no run %d", e.Path, e.ID) }

// modulePath is the path of the module of listwise.
const modulePath = "github.com/listwise/listwise"

// ThisCode returns the version of the running program.
var ThisCode = sync.OnceValue(func() Code {
	info, _ := debug.ReadBuildInfo()
	c := codeOf(info)
	released := strings.HasPrefix(c.Version, "v") && c.Revision == "" && info.Main.Path == modulePath // installed as a module of this version
	if !released && (c.Revision == "" || c.Modified) {
		if path, err := os.Executable(); err == nil {
			c.Program = FileFingerprint(path)
		}
	}
	return c
})

// codeOf returns the version of listwise in a program. A program of another module has the version that
// it requires, and no revision.
func codeOf(info *debug.BuildInfo) Code {
	c := Code{Version: "(devel)", Go: runtime.Version()}
	if info == nil {
		return c
	}
	if info.Main.Path != modulePath {
		for _, m := range info.Deps {
			if m.Path == modulePath && m.Replace == nil && m.Version != "" {
				c.Version = m.Version
			}
		}
		return c
	}
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
	return c
}

// FileFingerprint returns the first half of a file's SHA-256 in hexadecimal. It returns "" if the
// file cannot be read.
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

// Number is a float64. NaN is NULL in the database. NaN and infinities are null in JSON.
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
