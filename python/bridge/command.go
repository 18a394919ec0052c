package bridge

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/listwise/listwise/app"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/cache"
)

// commandRequest is a request to run a command of the command line.
type commandRequest struct{ Args []string }

// commandAnswer has what the command printed.
type commandAnswer struct {
	Out   string   `json:"out"`
	Notes []string `json:"notes"` // lines on standard error
}

// command runs a command, whose wrong use is a failure.
func (j *job) command(ctx context.Context, request []byte, _ Arrays) (any, error) {
	var r commandRequest
	if err := decode(request, &r); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	said := new(safeBuffer)
	code := app.Run(ctx, r.Args, strings.NewReader(""), &out, said)
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	if code != 0 {
		last := lines[len(lines)-1]
		if at := strings.LastIndex(said.String(), "listwise: "); at >= 0 {
			last = strings.TrimSpace(said.String()[at+len("listwise: "):])
		}
		return nil, errors.New(last)
	}
	return commandAnswer{Out: out.String(), Notes: lines}, nil
}

// safeBuffer is a buffer that several goroutines write to.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// writeRequest is a request to write documents to a cache, which commands read.
type writeRequest struct {
	Data rows
	Path string
}

func (j *job) write(_ context.Context, request []byte, arrays Arrays) (any, error) {
	var r writeRequest
	if err := decode(request, &r); err != nil {
		return nil, err
	}
	d, err := r.Data.dataset(arrays, dataset.MissingKeep)
	if err != nil {
		return nil, err
	}
	return map[string]any{"warnings": d.Warnings}, cache.Write(r.Path, d)
}
