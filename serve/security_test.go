package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/listwise/listwise/serve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(withBrowser{m}) }

const oneDocument = `{"documents":[{"id":"a","features":[1,0,0]}]}`

// listen serves on a free port until the test ends, and returns the address.
func listen(t testing.TB, s *serve.Server, c *serve.Certificates) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, c, 2*time.Second) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// Claim: with tokens every path but the probes needs one of them, and a wrong one, one of
// another scheme or a part of one is none; what is broken is told to those with a token alone.
func TestTokens(t *testing.T) {
	path := save(t, linear(1, 2, -1))
	s := newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: path}}, Tokens: []string{"0123456789abcdef", "another token of this server"}})
	try := func(path, authorization string) int {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		if strings.HasSuffix(path, ":rank") {
			r = httptest.NewRequest(http.MethodPost, path, strings.NewReader(oneDocument))
			r.Header.Set("Content-Type", "application/json")
		}
		r.Header.Set("Authorization", authorization)
		code, _ := do(t, s, r)
		return code
	}
	for _, path := range []string{"/v1/models/web:rank", "/v1/models", "/v1/models/web", "/metrics", "/openapi.json"} {
		for authorization, want := range map[string]int{
			"Bearer 0123456789abcdef": 200, "bearer another token of this server": 200,
			"": 401, "Bearer": 401, "Bearer ": 401, "Bearer 0123456789abcde": 401, "Bearer 0123456789abcdef ": 401, "Basic 0123456789abcdef": 401, "0123456789abcdef": 401,
			"Bearer " + strings.Repeat("x", 10_000): 401,
		} {
			if got := try(path, authorization); got != want {
				t.Errorf("%s with %.50q is answered with %d, want %d", path, authorization, got, want)
			}
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := try(path, ""); got != http.StatusOK {
			t.Errorf("%s is answered with %d", path, got)
		}
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(true); err == nil {
		t.Fatal("an empty file is a model")
	}
	if _, got := get(t, s, "/readyz"); strings.TrimSpace(got) != `{"status":"degraded"}` {
		t.Errorf("/readyz tells those without a token %s", got)
	}
	if err := s.SetTokens([]string{"short"}); err == nil {
		t.Error("a token of 5 bytes is taken")
	}
	if err := s.SetTokens([]string{"a new token, and no other"}); err != nil || try("/v1/models", "Bearer 0123456789abcdef") != 401 || try("/v1/models", "Bearer a new token, and no other") != 200 {
		t.Errorf("tokens cannot be changed: %v", err)
	}
}

// Claim: a server for this machine refuses requests for other hosts, as they come from a page
// whose name was made to lead here.
func TestLocalHost(t *testing.T) {
	s := newServer(t, serve.Config{LocalHost: true})
	for host, want := range map[string]int{"localhost": 200, "LOCALHOST:8080": 200, "127.0.0.1:8080": 200, "[::1]:8080": 200, "127.8.8.8": 200, "evil.example": 421, "localhost.evil.example": 421, "10.0.0.1:8080": 421, "": 421} {
		r := httptest.NewRequest(http.MethodGet, "/v1/models", nil)
		r.Host = host
		if code, _ := do(t, s, r); code != want {
			t.Errorf("the host %q is answered with %d, want %d", host, code, want)
		}
	}
}

// Claim: a client that sends a request slowly, or not to its end, is cut off, and others are
// answered meanwhile.
func TestSlowClients(t *testing.T) {
	s := newServer(t, serve.Config{Limits: serve.Limits{Header: 300 * time.Millisecond, Read: 600 * time.Millisecond, Pause: 200 * time.Millisecond, Workers: 1, Concurrent: 1}})
	addr := listen(t, s, nil)
	head := "POST /v1/models/web:rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n"
	begun := time.Now()
	var slow []net.Conn
	for _, text := range []string{"", "P", head, head + "\r\n", head + "\r\n{", head + "\r\n{\"documents\":"} {
		for range 5 {
			c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			slow = append(slow, c)
		}
	}
	for range 10 {
		resp, err := http.Post("http://"+addr+"/v1/models/web:rank", "application/json", strings.NewReader(oneDocument))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("a good request is answered with %d while others are slow", resp.StatusCode)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	for i, c := range slow {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		answer, err := io.ReadAll(c)
		if err != nil || len(answer) > 0 && !bytes.Contains(answer, []byte(" 408 ")) && !bytes.Contains(answer, []byte(" 400 ")) {
			t.Errorf("slow client %d reads %.100q, %v", i, answer, err)
		}
	}
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("slow clients are cut off after %v", took)
	}
}

// endless is a body of the given number of bytes, which the client may go on to read while the
// answer is there.
type endless struct {
	left atomic.Int64
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := int(min(int64(len(p)), e.left.Load()))
	if n == 0 {
		return 0, io.EOF
	}
	for i := range n {
		p[i] = e.text[e.at]
		e.at = (e.at + 1) % len(e.text)
	}
	e.left.Add(-int64(n))
	return n, nil
}

// Claim: bodies of a GB, said or not, of white space, of nested lists and of documents, are refused
// without memory for them, and the server goes on.
func TestLargeBodies(t *testing.T) {
	s := newServer(t, serve.Config{Limits: serve.Limits{Body: 1 << 20, Memory: 8 << 20}})
	addr := listen(t, s, nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, text := range []string{" ", "[", `{"a":`, `{"documents":[{"features":[1,2,3]},`, `"`, "1"} {
		for _, said := range []bool{true, false} {
			const size = 1 << 30
			body := &endless{text: text}
			body.left.Store(size)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/v1/models/web:rank", body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			if said {
				r.ContentLength = size
			}
			resp, err := http.DefaultClient.Do(r)
			if err == nil {
				resp.Body.Close()
				if resp.StatusCode != http.StatusRequestEntityTooLarge {
					t.Errorf("a GB of %q is answered with %d", text, resp.StatusCode)
				}
			}
			if read := size - body.left.Load(); read > 64<<20 {
				t.Errorf("of a GB of %q the server takes %d bytes", text, read)
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	if code, got := post(t, s, "/v1/models/web:rank", oneDocument); code != http.StatusOK {
		t.Errorf("afterwards a good request is answered with %d %s", code, got)
	}
}

// Claim: JSON that is nested deeply, numbers of any exponent and length, and NaN are 4xx.
func TestHostileJSON(t *testing.T) {
	s := newServer(t, serve.Config{})
	document := func(value string) string { return `{"documents":[{"features":[1,2,` + value + `]}]}` }
	for _, body := range []string{
		strings.Repeat("[", 1_000_000), strings.Repeat(`{"documents":`, 100_000), strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000),
		document("NaN"), document("Infinity"), document("-Infinity"), document("1e400"), document("1e99999999999999999999"), document("-1e39"),
		document(strings.Repeat("9", 100_000)), document("0x10"), document("1_000"), document("01"), document("+1"), document(".5"), document("1."), document("1e"),
		document("true"), document(`"1"`), document("[]"), document("{}"), document("--1"), "\xff\xfe", `{"documents":[{"id":"\ud800","features":[1,2,3]}]}`,
		`{"documents":[{"features":[1,2,3]}]}x`, `{"documents":[{"features":[1,2,3]}],"documents":[{"features":[1,2,3]}]}`, "\x00", `{"documents":null}`,
	} {
		if code, got := post(t, s, "/v1/models/web:rank", body); code != http.StatusBadRequest {
			t.Errorf("%.60q is answered with %d %.200s", body, code, got)
		}
	}
	for value, want := range map[string]int{"1e-99999999999999999999": 200, "0." + strings.Repeat("0", 100_000) + "1": 200, "-0": 200, "3.4028235e38": 200, "1E+2": 200} {
		if code, got := post(t, s, "/v1/models/web:rank", document(value)); code != want {
			t.Errorf("%.60q is answered with %d %.200s", value, code, got)
		}
	}
}

// Claim: beyond the limits of requests, and of memory, the answer is 429 with Retry-After, and
// when there is room again all is well.
func TestTooManyRequests(t *testing.T) {
	s := newServer(t, serve.Config{Limits: serve.Limits{Memory: 1 << 20, Body: 1 << 20}})
	addr := listen(t, s, nil)
	// However the first body comes in parts, it takes 960,000 bytes to 1,025,536 and is not refused
	// itself; the second one's 120,000 are more than what is left. Nothing tells when the first has
	// been read, and a second that comes before takes memory that the first then has not: so both
	// are sent anew after longer times between them.
	const first = "POST /v1/models/web:rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 250000\r\n\r\n"
	second := strings.Repeat(" ", 30_000) + oneDocument
	status := 0
	for pause := 10 * time.Millisecond; status != http.StatusTooManyRequests && pause < 10*time.Second; pause *= 2 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, first+strings.Repeat(" ", 240_000))
		time.Sleep(pause)
		r := httptest.NewRequest(http.MethodPost, "/v1/models/web:rank", strings.NewReader(second))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if status = w.Code; status == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
			t.Error("429 does not say when to try again")
		}
		c.Close()
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("while all memory is taken a request is answered with %d", status)
	}
	for range 2000 {
		if code, _ := post(t, s, "/v1/models/web:rank", second); code == http.StatusOK {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("memory of a request that was cut off is not given back")
}

// Claim: a head of more than the limit is refused.
func TestLargeHead(t *testing.T) {
	s := newServer(t, serve.Config{})
	addr := listen(t, s, nil)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Large", strings.Repeat("x", 1<<20))
	resp, err := http.DefaultClient.Do(r)
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("is answered with %d", resp.StatusCode)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// Claim: when the server is to stop, requests that have begun are answered, no others are, and
// those that do not end within the grace are cut off, which is an error.
func TestGracefulEnd(t *testing.T) {
	for _, c := range []struct {
		grace time.Duration
		ends  bool
	}{{5 * time.Second, true}, {100 * time.Millisecond, false}} {
		s := newServer(t, serve.Config{})
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx, l, nil, c.grace) }()
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /v1/models/web:rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(oneDocument), oneDocument[:10])
		time.Sleep(200 * time.Millisecond) // the request has begun
		stop()
		time.Sleep(100 * time.Millisecond)
		if other, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String()); err == nil {
			other.Close()
			t.Error("a server that is to stop takes connections")
		}
		if code, _ := get(t, s, "/readyz"); code != http.StatusServiceUnavailable {
			t.Errorf("/readyz of a server that is to stop answers %d", code)
		}
		if !c.ends {
			if err := <-ended; err == nil || !strings.Contains(err.Error(), "cut off") {
				t.Errorf("requests were cut off: %v", err)
			}
			continue
		}
		_, _ = io.WriteString(conn, oneDocument[10:])
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if err := <-ended; err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("a request that had begun is answered with %d, %v", resp.StatusCode, err)
		}
	}
}
