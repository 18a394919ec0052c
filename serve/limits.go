package serve

import (
	"runtime"
	"time"
)

// Limits bound the resources of requests. A field that is 0 gets the default stated after the
// semicolon.
type Limits struct {
	Body       int64 // bytes of a request's body; 32 MiB
	Documents  int   // per request; 10,000
	Queries    int   // per request; 1,000
	Concurrent int   // requests in work or waiting; 256. Further requests get status 429
	Workers    int   // requests in work; GOMAXPROCS

	// Memory is the largest memory for the bodies and the decoded form of all requests together, in
	// bytes; 1 GiB. Further requests get status 429.
	Memory int64

	Connections int // open connections; 4096. Further connections wait

	Header  time.Duration // time for the head of a request to arrive; 5 s
	Read    time.Duration // time for the whole request to arrive; 30 s
	Pause   time.Duration // time between parts of a body; 10 s
	Write   time.Duration // time from the end of the head to the end of the answer; 60 s
	Idle    time.Duration // time between requests of a connection; 2 min
	Headers int           // bytes of a head; 16 KiB
}

// withDefaults returns l with defaults for fields that are not positive.
func (l Limits) withDefaults() Limits {
	setDefault(&l.Body, 32<<20)
	setDefault(&l.Documents, 10_000)
	setDefault(&l.Queries, 1000)
	setDefault(&l.Concurrent, 256)
	setDefault(&l.Workers, runtime.GOMAXPROCS(0))
	setDefault(&l.Memory, 1<<30)
	setDefault(&l.Connections, 4096)
	setDefault(&l.Pause, 10*time.Second)
	setDefault(&l.Header, 5*time.Second)
	setDefault(&l.Read, 30*time.Second)
	setDefault(&l.Write, 60*time.Second)
	setDefault(&l.Idle, 2*time.Minute)
	setDefault(&l.Headers, 16<<10)
	return l
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// cells returns the largest number of feature values that the body of a request can contain.
func (l *Limits) cells() int { return int(l.Body / 2) }
