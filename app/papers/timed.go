package papers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/listwise/listwise/internal/atomicfile"
)

// Took is the time of an experiment.
type Took struct {
	Run time.Duration // this run

	// All is the total time of this run, and of earlier runs with the same records and command
	// whose finished trainings this run reused. It equals Run if trainings are not recorded.
	All time.Duration
}

// timedEvery is the interval at which the time is saved, so that the time of a killed run is almost
// complete.
const timedEvery = 5 * time.Second

// Timed runs the experiment and returns its time. The records contain the time of each command.
func (e *Experiment) Timed(ctx context.Context, o Options) (*Report, Took, error) {
	s, err := newStopwatch(o)
	if err != nil {
		return nil, Took{}, err
	}
	observe := o.Observe
	o.Observe = func(stage string, done, total int) {
		s.tick()
		if observe != nil {
			observe(stage, done, total)
		}
	}
	r, err := e.Run(ctx, o)
	if err != nil && !s.begun() {
		return nil, Took{}, err // nothing was trained, and no folder was created
	}
	took, saved := s.stop()
	return r, took, errors.Join(err, saved)
}

// stopwatch adds the time of a run to the time of earlier runs.
type stopwatch struct {
	path    string // "" if nothing is recorded
	command string
	before  map[string]float64 // seconds by command
	started time.Time

	mu    sync.Mutex
	saved time.Time
}

func newStopwatch(o Options) (*stopwatch, error) {
	now := time.Now()
	s := &stopwatch{command: o.Command, before: make(map[string]float64), started: now, saved: now}
	if o.Records == "" {
		return s, nil
	}
	s.path = filepath.Join(o.Records, "seconds.json")
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if s.before, err = parseSeconds(text); err != nil {
		return nil, fmt.Errorf("%s: found no record of times (%w); delete it to begin anew", s.path, err)
	}
	return s, nil
}

// mostSeconds is about thirty years, more than any experiment takes.
const mostSeconds = 1e9

// parseSeconds parses the time of each command, in seconds.
func parseSeconds(text []byte) (map[string]float64, error) {
	var seconds map[string]float64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return nil, err
	}
	for command, s := range seconds {
		if !(s >= 0 && s <= mostSeconds) {
			return nil, fmt.Errorf("%q took %v seconds, expected 0 to %v", command, s, mostSeconds)
		}
	}
	return seconds, nil
}

// tick saves the time at intervals of timedEvery. It ignores errors, because stop reports them.
func (s *stopwatch) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.saved) >= timedEvery {
		_ = s.save()
	}
}

func (s *stopwatch) stop() (Took, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.save()
	run := s.saved.Sub(s.started)
	took := Took{Run: run, All: run}
	if s.recorded() {
		took.All += time.Duration(s.before[s.command] * float64(time.Second))
	}
	return took, err
}

// begun reports whether the folder of records exists. It is true if nothing is recorded.
func (s *stopwatch) begun() bool {
	if s.path == "" {
		return true
	}
	_, err := os.Stat(filepath.Dir(s.path))
	return err == nil
}

// recorded reports whether the folder of records contains anything besides times.
func (s *stopwatch) recorded() bool {
	if s.path == "" {
		return false
	}
	entries, err := os.ReadDir(filepath.Dir(s.path))
	return err == nil && len(entries) > 1
}

// save writes the file with the time so far.
func (s *stopwatch) save() error {
	s.saved = time.Now()
	if s.path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	all := make(map[string]float64)
	for command, seconds := range s.before {
		all[command] = seconds
	}
	all[s.command] += s.saved.Sub(s.started).Seconds()
	return atomicfile.Write(s.path, atomicfile.JSON(all))
}
