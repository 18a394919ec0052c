// Package bridge runs the jobs of the Python package. A job takes a request in JSON and arrays in
// the caller's memory. It answers with JSON and arrays.
//
// Start reading at [Start]; jobs.go lists the operations. The package has no cgo, which is in
// native alone.
package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/listwise/listwise/internal/parallel"
)

// Arrays are the arrays of a request: slices of numbers or bytes in the caller's memory. A job does
// not change them, and does not use them after it has ended.
type Arrays []any

// State is that of a job.
type State int

// The states of a job.
const (
	Running State = iota
	Done
	Failed
)

// job is a computation under way, or its outcome.
type job struct {
	cancel context.CancelFunc
	over   chan struct{} // closed at the end
	state  State         // set before over is closed
	answer []byte        // JSON
	arrays []any         // []float64, []float32 or []byte

	progress atomic.Pointer[string] // the last sentence; nil: none that was not told
}

var jobs struct {
	sync.Mutex
	last uint64
	by   map[uint64]*job
}

// Start begins the operation that a request names and returns the job's number. The arrays must
// stay in place until the job has ended, which [Cancel] hastens.
func Start(request []byte, arrays Arrays) uint64 {
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{cancel: cancel, over: make(chan struct{})}
	jobs.Lock()
	defer jobs.Unlock()
	if jobs.by == nil {
		jobs.by = make(map[uint64]*job)
	}
	jobs.last++
	jobs.by[jobs.last] = j
	text := append([]byte(nil), request...)
	go j.run(ctx, text, arrays)
	return jobs.last
}

// Threads sets on how many cores jobs run, and returns on how many they did; 0 changes nothing.
func Threads(n int) int { return parallel.SetWorkers(n) }

func find(number uint64) *job {
	jobs.Lock()
	defer jobs.Unlock()
	return jobs.by[number]
}

// run runs the operation of the request.
func (j *job) run(ctx context.Context, request []byte, arrays Arrays) {
	defer close(j.over)
	defer j.cancel()
	answer, err := j.guarded(ctx, request, arrays)
	j.state = Done
	if err != nil {
		j.state, j.arrays = Failed, nil
		answer = failure{Kind: kindOf(ctx, err), Message: messageOf(err)}
	}
	if j.answer, err = json.Marshal(answer); err != nil {
		j.state, j.arrays = Failed, nil
		j.answer = fmt.Appendf(nil, `{"kind":"internal","message":%q}`, err.Error())
	}
}

// guarded is perform with a panic, which would end the caller's process, as an error.
func (j *job) guarded(ctx context.Context, request []byte, arrays Arrays) (answer any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &internalError{p, string(debug.Stack())}
		}
	}()
	return j.perform(ctx, request, arrays)
}

// internalError is a mistake of the program.
type internalError struct {
	value any
	stack string
}

func (e *internalError) Error() string {
	return fmt.Sprintf("a mistake in listwise itself: %v\n%s", e.value, e.stack)
}

// tell sets the progress that the caller may show.
func (j *job) tell(sentence string) { j.progress.Store(&sentence) }

// Wait waits until a job has ended, at most for a time, and returns its state. With the state of an
// ended job comes the answer, a JSON object. With the state of a running job comes its latest
// progress, a sentence or nothing.
func Wait(number uint64, most time.Duration) (State, []byte) {
	j := find(number)
	if j == nil {
		return Failed, []byte(`{"kind":"internal","message":"found no such job"}`)
	}
	select {
	case <-j.over:
		return j.state, j.answer
	default:
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-j.over:
		return j.state, j.answer
	case <-timer.C:
		if text := j.progress.Swap(nil); text != nil {
			return Running, []byte(*text)
		}
		return Running, nil
	}
}

// Cancel makes a job end soon, with an error.
func Cancel(number uint64) {
	if j := find(number); j != nil {
		j.cancel()
	}
}

// Array returns array i of a job that is done: []float64, []float32 or []byte; nil if there is
// none.
func Array(number uint64, i int) any {
	j := find(number)
	if j == nil || i < 0 || i >= len(j.arrays) {
		return nil
	}
	return j.arrays[i]
}

// End forgets a job, and cancels it if it runs.
func End(number uint64) {
	Cancel(number)
	jobs.Lock()
	defer jobs.Unlock()
	delete(jobs.by, number)
}
