package serve_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/serve"
)

// resident is about how many bytes of memory the process has.
func resident() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// Claim: large bodies take at most twice their size, bodies beyond the limit are refused with 429, and
// afterwards the memory goes back to the system.
func TestMemoryOfLargeBodies(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector has memory of its own")
	}
	serve.TidyAfter(t, 100*time.Millisecond)
	const size, fit = 15 << 20, 8
	s := newServer(t, serve.Config{Limits: serve.Limits{Body: 16 << 20, Memory: fit * 4 * size, Workers: 1}})
	addr := listen(t, s, nil)
	body := bytes.Repeat([]byte(" "), size)
	debug.FreeOSMemory()
	before, most := resident(), int64(0)
	var mu sync.Mutex
	status := make(map[string]int)
	var clients sync.WaitGroup
	for range 40 {
		clients.Go(func() {
			c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(30 * time.Second))
			fmt.Fprintf(c, "POST /v1/models/web:rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)
			_, _ = c.Write(body)
			line := make([]byte, len("HTTP/1.1 400"))
			_, _ = io.ReadFull(c, line)
			mu.Lock()
			defer mu.Unlock()
			status[string(line[len("HTTP/1.1 "):])]++
		})
	}
	done := make(chan struct{})
	go func() {
		clients.Wait()
		close(done)
	}()
	for going := true; going; {
		select {
		case <-done:
			going = false
		case <-time.After(5 * time.Millisecond):
			most = max(most, resident()-before)
		}
	}
	if status["400"]+status["429"] != 40 || status["400"] == 0 || status["429"] == 0 {
		t.Errorf("found answers %v, want 400 and 429", status)
	}
	if bound := int64(2 * fit * size); most > bound {
		t.Errorf("they took %d MiB, want %d at most", most>>20, bound>>20)
	}
	for range 100 {
		if resident()-before < 16<<20 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d MiB stay", (resident()-before)>>20)
}

// wideRequest is a request whose documents leave out all features. With a model of many features it
// takes a thousand times as much memory as its body.
func wideRequest(docs int) string {
	return `{"lenient":true,"documents":[` + strings.Repeat(`{"features":[]},`, docs-1) + `{"features":[]}]}`
}

// large saves a linear model, in a file of about 20 bytes a feature.
func large(t *testing.T, features int) string {
	t.Helper()
	m := &model.Model{Method: "test", Scorer: scorer.Linear{Features: features}, Params: make([]float64, features)}
	for i := range m.Params {
		m.Params[i] = math.Sin(float64(i))
	}
	return save(t, m)
}

// stuck is a response whose client does not read until it is let go.
type stuck struct {
	nowhere

	writes chan struct{}
	let    chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	close(s.writes)
	<-s.let
	return len(p), nil
}

// Claim: decoded documents count against the limit of memory, even if they are far larger than the body. They are
// released before the answer is sent, so that a client that does not read holds only its answer.
func TestMemoryOfDocuments(t *testing.T) {
	s := newServer(t, serve.Config{Models: []serve.Source{{Name: "wide", Path: large(t, 1600)}}, Limits: serve.Limits{Memory: 16 << 20, Workers: 1}})
	if code, got := post(t, s, "/v1/models/wide:rank", wideRequest(4000)); code != http.StatusTooManyRequests { // 4000·1600·4 bytes are 24 MiB
		t.Errorf("is answered with %d %.200s, want 429", code, got)
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/models/wide:rank", bytes.NewReader(make([]byte, 2000*1600*4)))
	r.Header.Set("Content-Type", "application/octet-stream")
	if code, got := do(t, s, r); code != http.StatusTooManyRequests {
		t.Errorf("a matrix is answered with %d %.200s, want 429", code, got)
	}
	let := make(chan struct{})
	var waiting sync.WaitGroup
	for range 20 {
		w := &stuck{nowhere{h: http.Header{}, code: http.StatusOK}, make(chan struct{}), let}
		r := httptest.NewRequest(http.MethodPost, "/v1/models/wide:rank", strings.NewReader(wideRequest(500)))
		r.Header.Set("Content-Type", "application/json")
		waiting.Go(func() { s.ServeHTTP(w, r) })
		<-w.writes
		if w.code != http.StatusOK {
			t.Fatalf("while others do not read a request is answered with %d", w.code)
		}
	}
	close(let)
	waiting.Wait()
}

// Claim: what trees score faster with is made when they are loaded, not by one of the first requests.
func TestTreesArePrepared(t *testing.T) {
	var trees [][]scorer.TreeNode
	for k := range 3000 {
		trees = append(trees, []scorer.TreeNode{{Feature: 0, Threshold: float32(k), Left: 1, Right: -3}, {Feature: 1, Threshold: float32(k), Left: -1, Right: -2}})
	}
	s, err := scorer.NewTrees(2, trees)
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Method: "test", Scorer: s, Params: make([]float64, s.NumParams())}
	server := newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: save(t, m)}}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		if code, got := postBinary(t, server, "/v1/models/web:rank", "", matrix(make([]float32, 2*64)...)); code != http.StatusOK {
			t.Fatal(code, got)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 400<<10 {
		t.Errorf("20 requests of 64 documents took %d bytes of memory", n)
	}
}

// Claim: a large model is loaded beside the old one if both fit into Go's memory limit; else the old one stays, which
// /readyz tells.
func TestReloadThatDoesNotFit(t *testing.T) {
	path := large(t, 1_000_000)
	s := newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: path}}})
	old, _ := s.Snapshot().Find("web")
	other := large(t, 1_000_001)
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	debug.FreeOSMemory()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	was := debug.SetMemoryLimit(int64(now.Sys-now.HeapIdle) + 4<<20)
	defer debug.SetMemoryLimit(was)
	if err := s.Reload(false); err == nil || !strings.Contains(err.Error(), "MiB to load beside the ") {
		t.Errorf("without memory for both: %v", err)
	}
	if m, _ := s.Snapshot().Find("web"); m != old {
		t.Error("the old model does not stay")
	}
	if _, got := get(t, s, "/readyz"); !strings.HasPrefix(got, `{"status":"degraded","faults":{"web":"found a file that takes about `) {
		t.Errorf("/readyz is %s", got)
	}
	debug.SetMemoryLimit(resident() + 1<<30)
	if err := s.Reload(true); err != nil {
		t.Fatal(err)
	}
	if m, _ := s.Snapshot().Find("web"); m == old || m.Model.NumFeatures() != 1_000_001 {
		t.Error("with memory for both the new one is not loaded")
	}
	if code, got := get(t, s, "/readyz"); code != http.StatusOK || strings.TrimSpace(got) != `{"status":"ok"}` {
		t.Errorf("/readyz is %d %s", code, got)
	}
	if info, err := os.Stat(filepath.Clean(path)); err != nil || info.Size() < 16<<20 {
		t.Errorf("the model's file is too small for this test: %v", err)
	}
}
