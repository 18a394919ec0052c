package main

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// mostOpen is the number of connections of the open loop. A request waits for a connection only if
// so many requests are unanswered.
const mostOpen = 128

// flight is a connection of the open loop.
type flight struct {
	*connection                // nil before the first request
	used        time.Time      // time of its last answer
	due         chan time.Time // when the current request was due
	sent        []time.Time    // when the requests of times were due
	result
	err error // of the last request; no request is sent after an error
}

// open sends requests at a rate, whether or not earlier requests were answered. One thread sends
// all requests and sleeps by the system's clock in between. time.Sleep may wake up a millisecond
// late. All requests that were due meanwhile would then be sent at once, a burst that a Poisson
// process does not have. The delay of the thread counts as latency and is also returned as late.
//
// seconds has the p99 of each second, sorted.
func (r *request) open(rate float64, d time.Duration) (all, late, seconds *result, err error) {
	idle := newStack(mostOpen)
	for range mostOpen {
		f := &flight{due: make(chan time.Time, 1)}
		idle.push(f)
		go f.land(idle)
	}
	start := time.Now().Add(50 * time.Millisecond)
	late, err = r.sendAll(idle, start, rate, d)
	all, seconds = &result{took: d}, &result{took: d}
	bySecond := make([]result, int(d.Seconds())+1)
	for range mostOpen { // also waits for the last answers
		f := idle.pop()
		close(f.due)
		if f.connection != nil {
			_ = f.Close()
		}
		err = errors.Join(err, f.err)
		all.times = append(all.times, f.times...)
		all.failed += f.failed
		for i, t := range f.times {
			second := &bySecond[int(f.sent[i].Sub(start).Seconds())]
			second.times = append(second.times, t)
		}
	}
	slices.Sort(all.times)
	for _, second := range bySecond[:max(1, int(d.Seconds()))] { // complete seconds
		if len(second.times) > 0 {
			slices.Sort(second.times)
			seconds.times = append(seconds.times, second.quantile(0.99))
		}
	}
	slices.Sort(seconds.times)
	return all, late, seconds, err
}

// sendAll sends each request when it is due, and returns the delays.
func (r *request) sendAll(idle *stack, start time.Time, rate float64, d time.Duration) (*result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	late := &result{took: d}
	defer func() { slices.Sort(late.times) }()
	rng := rand.New(rand.NewPCG(3, 4))
	for at := rng.ExpFloat64() / rate; at < d.Seconds(); at += rng.ExpFloat64() / rate {
		due := start.Add(time.Duration(at * float64(time.Second)))
		sleepUntil(due)
		f := idle.pop()
		if f.err == nil {
			f.err = f.ready(r, due)
		}
		if f.err != nil {
			idle.push(f)
			break // open reports the error
		}
		late.times = append(late.times, time.Since(due))
		f.due <- due
		if _, err := f.Write(r.text); err != nil {
			_ = f.Close() // no answer will come: land reports that, and open stops waiting
			return late, err
		}
	}
	return late, nil
}

// land reads the answers that arrive on a connection.
func (f *flight) land(idle *stack) {
	for due := range f.due {
		ok, err := f.answer()
		f.used = time.Now()
		f.times, f.sent = append(f.times, f.used.Sub(due)), append(f.sent, due)
		if !ok {
			f.failed++
		}
		f.err = err
		idle.push(f)
	}
}
