package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// pause is the shortest time between two readings of the clock that counts as a pause of the
// machine.
const pause = time.Millisecond

// pauses describes the pauses of the machine without load. A thread on each core reads the clock
// continuously. A long time between two readings was taken by the system or, on a virtual machine,
// by other machines. A server cannot answer during such a pause, so its latencies include the
// pauses.
func pauses(d time.Duration) string {
	cores := runtime.GOMAXPROCS(0)
	sums, most := make([]time.Duration, cores), make([]time.Duration, cores)
	var wg sync.WaitGroup
	for core := range cores {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			start := time.Now()
			for last := start; last.Sub(start) < d; {
				now := time.Now()
				if gap := now.Sub(last); gap >= pause {
					sums[core] += gap
					most[core] = max(most[core], gap)
				}
				last = now
			}
		})
	}
	wg.Wait()
	var sum, longest time.Duration
	for core := range cores {
		sum += sums[core]
		longest = max(longest, most[core])
	}
	return fmt.Sprintf("without load, pauses of %v and more take %.2f %% of the time of %d cores; the longest takes %.1f ms",
		pause, 100*sum.Seconds()/d.Seconds()/float64(cores), cores, float64(longest)/float64(time.Millisecond))
}
