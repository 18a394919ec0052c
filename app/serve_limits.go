package app

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/serve"
)

// limitFlags bound what requests take.
type limitFlags struct {
	body, memory               float64 // MiB
	documents, queries         int
	concurrent, workers        int
	connections                int
	header, read, pause, write time.Duration
}

func (l *limitFlags) addTo(cmd *cobra.Command) {
	fl := cmd.Flags()
	addPositive(fl, &l.body, "max-body", 32, 1024, "largest request body in `MiB`")
	addPositive(fl, &l.memory, "max-request-memory", 1024, maxMemory, "memory limit of all requests together in `MiB`")
	addWhole(fl, &l.documents, "max-documents", 10_000, 1, "largest `number` of documents in a request")
	addWhole(fl, &l.queries, "max-queries", 1000, 1, "largest `number` of queries in a request")
	addWhole(fl, &l.concurrent, "max-concurrent", 256, 1, "largest `number` of requests processed or waiting")
	addWhole(fl, &l.workers, "workers", 0, 0, "`number` of requests processed in parallel; 0: number of cores")
	addWhole(fl, &l.connections, "max-connections", 4096, 1, "largest `number` of open connections")
	fl.DurationVar(&l.header, "header-timeout", 5*time.Second, "`time` limit for the request header")
	fl.DurationVar(&l.read, "read-timeout", 30*time.Second, "`time` limit for reading a whole request")
	fl.DurationVar(&l.pause, "pause-timeout", 10*time.Second, "`time` limit between parts of a request body")
	fl.DurationVar(&l.write, "write-timeout", time.Minute, "`time` limit from request header to end of response")
}

func (l *limitFlags) limits() (serve.Limits, error) {
	const mib = 1 << 20
	for name, t := range map[string]time.Duration{"header": l.header, "read": l.read, "pause": l.pause, "write": l.write} {
		if t <= 0 {
			return serve.Limits{}, usageErrorf("--%s-timeout %v: expected a time above 0", name, t)
		}
	}
	return serve.Limits{
		Body: int64(l.body * mib), Memory: int64(l.memory * mib), Documents: l.documents, Queries: l.queries, Concurrent: l.concurrent, Workers: l.workers, Connections: l.connections,
		Header: l.header, Read: l.read, Pause: l.pause, Write: l.write,
	}, nil
}
