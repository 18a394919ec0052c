package serve

import (
	"runtime"
	"time"
)

// Limits bound the resources of requests. A field that is 0 has its default.
type Limits struct {
	Body       int64 // bytes of a request's body; 32 MiB
	Documents  int   // of a request; 10,000
	Queries    int   // of a request; 1,000
	Concurrent int   // requests that are worked at or wait for it; 256. Others are answered with 429
	Workers    int   // requests that are worked at; as many as GOMAXPROCS

	// Memory is the largest memory for the bodies of all requests and their decoded form together,
	// in bytes; 1 GiB. Others are answered with 429.
	Memory int64

	Connections int // that are open at once; 4096. Others wait to be accepted

	Header  time.Duration // for the head of a request to arrive; 5 s
	Read    time.Duration // for all of it; 30 s
	Pause   time.Duration // between parts of a body; 10 s
	Write   time.Duration // from the end of the head to the end of the answer; 60 s
	Idle    time.Duration // between requests of a connection; 2 min
	Headers int           // bytes of a head; 16 KiB
}

// withDefaults returns limits that have all fields.
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

// cells is the largest number of feature values that the body of a request can hold.
func (l *Limits) cells() int { return int(l.Body / 2) }
