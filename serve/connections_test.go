package serve_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/serve"
)

// Claim: bodies that end early, connections that are closed, and nonsense instead of HTTP do no
// harm.
func TestCutOff(t *testing.T) {
	s := newServer(t, serve.Config{})
	addr := listen(t, s, nil)
	whole := "POST /v1/models/web:rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(oneDocument)) + "\r\n\r\n" + oneDocument
	for i := range len(whole) {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, whole[:i])
		c.Close()
	}
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, whole)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("after all that a request is answered with %d", resp.StatusCode)
	}
}

// Claim: a body that is broken, and not late, is called so at once; one that does not come is late.
func TestBrokenChunks(t *testing.T) {
	addr := listen(t, newServer(t, serve.Config{Limits: serve.Limits{Pause: 200 * time.Millisecond}}), nil)
	for chunks, want := range map[string]string{"zz\r\n": "400", "1\r\nxy\r\n": "400", "5\r\n{": "408"} {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST /v1/models/web:rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%s", chunks)
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
		line, _ := bufio.NewReader(c).ReadString('\n')
		if !strings.Contains(line, " "+want+" ") {
			t.Errorf("%q is answered with %q, want %s", chunks, line, want)
		}
		c.Close()
	}
}

// Claim: a client that closes its half of the connection behind a request is answered.
func TestHalfClosed(t *testing.T) {
	addr := listen(t, newServer(t, serve.Config{}), nil)
	for range 40 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST /v1/models/web:rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(oneDocument), oneDocument)
		_ = c.(*net.TCPConn).CloseWrite()
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
		if line, _ := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, " 200 ") {
			t.Fatalf("found %q", line)
		}
		c.Close()
	}
}

// Claim: a request that says both how long its body is and that it comes in chunks is refused, and
// what follows on the connection is no request. With one of them it is answered.
func TestTwoLengths(t *testing.T) {
	addr := listen(t, newServer(t, serve.Config{}), nil)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(oneDocument), oneDocument)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(oneDocument))
	const next = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for _, c := range []struct{ version, headers, body, want string }{
		{"1.1", length, oneDocument, "200 200"},
		{"1.1", "Transfer-Encoding: chunked\r\n", chunked, "200 200"},
		{"1.1", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", chunked, "400"},
		{"1.1", "transfer-encoding: chunked\r\ncontent-length:4\r\n", chunked, "400"},
		{"1.0", length + "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n", oneDocument, "400"},
		{"1.0", "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n", chunked, "400"},
	} {
		for _, before := range []string{"", next} { // the second request of a connection, too
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			in := bufio.NewReader(conn)
			var got []string
			for i, text := range []string{before, "POST /v1/models/web:rank HTTP/" + c.version + "\r\nHost: localhost\r\nContent-Type: application/json\r\n" + c.headers + "\r\n" + c.body, next} {
				if text == "" {
					continue
				}
				_, _ = io.WriteString(conn, text)
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if i > 0 {
					got = append(got, strconv.Itoa(resp.StatusCode))
				}
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("HTTP/%s with %q is answered with %s, want %s", c.version, c.headers, got, c.want)
			}
			conn.Close()
		}
	}
}

// Claim: a client that sends all of a large body before it reads gets the answer that refuses it: 401, 404,
// 405, 413 and 415.
func TestRefusedBodiesAreAnswered(t *testing.T) {
	s := newServer(t, serve.Config{Limits: serve.Limits{Body: 1 << 20, Memory: 4 << 20}, Tokens: []string{"0123456789abcdef"}})
	addr := listen(t, s, nil)
	const token = "Authorization: Bearer 0123456789abcdef\r\n"
	for head, want := range map[string]string{
		"POST /v1/models/web:rank HTTP/1.1\r\nContent-Type: application/json\r\n":          " 401 ",
		"POST /v1/models/web:rank HTTP/1.1\r\nContent-Type: application/json\r\n" + token:  " 413 ",
		"POST /v1/models/web:rank HTTP/1.1\r\nContent-Type: text/plain\r\n" + token:        " 415 ",
		"POST /v1/models/none:rank HTTP/1.1\r\nContent-Type: application/json\r\n" + token: " 404 ",
		"PUT /v1/models/web:rank HTTP/1.1\r\n" + token:                                     " 405 ",
	} {
		for _, length := range []string{"Content-Length: 67108864\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n4000000\r\n"} {
			c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			_, _ = io.WriteString(c, head+"Host: localhost\r\n"+length)
			if _, err := c.Write(make([]byte, 64<<20)); err != nil {
				t.Errorf("%q: the body cannot be sent: %v", head, err)
			}
			if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, want) {
				t.Errorf("%q is answered with %q, %v, want %s", head, line, err, want)
			}
			c.Close()
		}
	}
}

// Claim: a path that the mux would redirect, or that is no path, is not found, as any other.
func TestPathsAreNotRedirected(t *testing.T) {
	s := newServer(t, serve.Config{})
	for _, path := range []string{"//v1/models", "/v1//models", "/v1/models/../models", "/./healthz", "/v1/models//", "//", "/v1/models/", "/%2e/healthz"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.Path, r.URL.RawPath = path, ""
		if code, got := do(t, s, r); code != http.StatusNotFound || !strings.HasPrefix(got, `{"title":"Not Found"`) {
			t.Errorf("%s is answered with %d %s", path, code, got)
		}
	}
	for _, path := range []string{"/", "/v1/models", "/healthz"} {
		if code, got := get(t, s, path); code != http.StatusOK {
			t.Errorf("%s is answered with %d %s", path, code, got)
		}
	}
}

// Claim: where a head cannot be seen, as over TLS, a request in chunks is the last of its connection.
func TestChunksEndConnections(t *testing.T) {
	s := newServer(t, serve.Config{})
	for _, encoding := range [][]string{nil, {"chunked"}} {
		r := httptest.NewRequest(http.MethodPost, "/v1/models/web:rank", strings.NewReader(oneDocument))
		r.Header.Set("Content-Type", "application/json")
		r.TransferEncoding = encoding
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if got := w.Header().Get("Connection"); w.Code != http.StatusOK || (got == "close") != (encoding != nil) {
			t.Errorf("%q is answered with %d and Connection: %q", encoding, w.Code, got)
		}
	}
}
