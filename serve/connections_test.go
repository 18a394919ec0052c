package serve_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
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
