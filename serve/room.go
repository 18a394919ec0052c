package serve

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
)

// largeModel is the size of a model file, in bytes, from which the memory for loading is checked.
const largeModel = 16 << 20

// usualCost is the estimated memory for loading a model that has not been measured, in bytes per
// byte of the file. Files of listwise take 1 to 3, and files of other systems up to 7.
const usualCost = 4

// measured loads a model and stores the memory that loading a large model took.
func (s *Server) measured(source Source) (*Loaded, error) {
	var before, after runtime.MemStats
	if !source.isLarge() {
		return s.load(source)
	}
	debug.FreeOSMemory()
	runtime.ReadMemStats(&before)
	m, err := s.load(source)
	if err != nil {
		return nil, err
	}
	runtime.ReadMemStats(&after)
	taken := float64(after.Sys-after.HeapReleased) - float64(before.Sys-before.HeapReleased)
	s.costs[source.Name] = max(1, taken/float64(m.file.info.Size()))
	s.tidy()
	return m, nil
}

// roomError is the error that the memory does not suffice for loading a model.
type roomError struct{ text string }

// Error returns the text.
func (e *roomError) Error() string { return e.text }

// loadBeside loads a new version of a model while the old one is served. It returns an error if
// both do not fit into Go's memory limit. Until it returns, requests get less memory.
func (s *Server) loadBeside(source Source) (*Loaded, error) {
	limit := debug.SetMemoryLimit(-1)
	if !source.isLarge() || limit == math.MaxInt64 {
		return s.load(source)
	}
	state, err := source.state()
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", source.Name, err)
	}
	cost := s.costs[source.Name]
	if cost == 0 {
		cost = usualCost
	}
	need := int64(cost * float64(state.info.Size()))
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	used := int64(now.Sys - now.HeapIdle)
	room := limit - used - need
	if room < 0 {
		const mib = 1 << 20
		return nil, fmt.Errorf("model %s: %w", source.Name, &roomError{fmt.Sprintf("found a file that takes about %d MiB to load beside the %d MiB in use, expected at most %d MiB in all", need/mib, used/mib, limit/mib)})
	}
	if short := s.memory.left.Load() - room; short > 0 {
		s.memory.give(-short)
		defer s.memory.give(short)
	}
	defer s.tidy()
	return s.load(source)
}
