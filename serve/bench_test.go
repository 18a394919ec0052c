package serve_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/serve"
	"github.com/listwise/listwise/serve/experiment"
)

// bigRequest is a request of 100 documents and 136 features.
func bigRequest(kind string) (path, contentType string, body []byte) {
	const docs, features = 100, 136
	if kind == "binary" {
		for i := range docs * features {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(float32(i%97)/97))
		}
		return "/v1/models/web:rank?documents=100", "application/octet-stream", body
	}
	body = append(body, `{"query":"q","documents":[`...)
	for i := range docs {
		body = fmt.Appendf(body, `{"id":"document-%d","features":[`, i)
		for j := range features {
			body = fmt.Appendf(body, "%.6f,", float64((i*features+j)%97)/97)
		}
		body = append(body[:len(body)-1], "]},"...)
	}
	return "/v1/models/web:rank", "application/json", append(body[:len(body)-1], "]}"...)
}

// nowhere is a response that is not kept.
type nowhere struct {
	h    http.Header
	code int
}

func (n *nowhere) Header() http.Header         { return n.h }
func (n *nowhere) WriteHeader(code int)        { n.code = code }
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }

// SetReadDeadline is what the server asks of net/http's responses.
func (*nowhere) SetReadDeadline(time.Time) error { return nil }

// again is a body that can be read again.
type again struct{ bytes.Reader }

func (*again) Close() error { return nil }

func wideServer(t testing.TB) *serve.Server {
	t.Helper()
	return wideServerWith(t, serve.Config{})
}

func wideServerWith(t testing.TB, c serve.Config) *serve.Server {
	t.Helper()
	m := &model.Model{Method: "test", Scorer: scorer.Linear{Features: 136}, Params: make([]float64, 136)}
	for i := range m.Params {
		m.Params[i] = math.Sin(float64(i))
	}
	c.Models = []serve.Source{{Name: "web", Path: save(t, m)}}
	return newServer(t, c)
}

// handled returns a function that has the server answer the same request, without net/http's part.
func handled(t testing.TB, s *serve.Server, kind string) func() {
	t.Helper()
	path, contentType, body := bigRequest(kind)
	r := httptest.NewRequest(http.MethodPost, path, nil)
	r.Header.Set("Content-Type", contentType)
	r.ContentLength = int64(len(body))
	in := new(again)
	r.Body = in
	w := &nowhere{h: http.Header{}}
	return func() {
		in.Reset(body)
		clear(w.h)
		w.code = http.StatusOK
		if s.ServeHTTP(w, r); w.code != http.StatusOK {
			t.Fatalf("answered with %d", w.code)
		}
	}
}

// handle is what the server does of a request, without net/http's part.
func BenchmarkHandle(b *testing.B) {
	for _, kind := range []string{"json", "binary"} {
		b.Run(kind, func(b *testing.B) {
			do := handled(b, wideServer(b), kind)
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
}

// raceDetector is set where the tests run under the race detector.
var raceDetector bool

// Claim: a request takes no memory that is not used again, beside what net/http's mux takes to find the
// handler.
func TestHandleAllocates(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes sync.Pool forget at random")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/models/{call}", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	r := httptest.NewRequest(http.MethodPost, "/v1/models/web:rank", nil)
	floor := testing.AllocsPerRun(100, func() { mux.ServeHTTP(&nowhere{}, r) })
	pages, err := experiment.OpenLog(filepath.Join(t.TempDir(), "pages"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pages.Close() })
	for _, kind := range []string{"json", "binary", "json outside the page log"} {
		kind, logged := strings.CutSuffix(kind, " outside the page log")
		s := wideServer(t)
		if logged {
			s = wideServerWith(t, serve.Config{Pages: pages, PageShare: 1e-9, Candidates: 50})
		}
		do := handled(t, s, kind)
		do()
		if more := testing.AllocsPerRun(100, do) - floor; more > 0 {
			t.Errorf("%s: %v allocations beside the mux's, want none", kind, more)
		}
	}
}
