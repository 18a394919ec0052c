package serve

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
)

// headListener accepts connections that store the head of the current request. net/http drops
// Content-Length if there is Transfer-Encoding, so a handler cannot detect that a request had both.
type headListener struct{ net.Listener }

// Accept accepts a connection.
func (l headListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &headConn{Conn: c}, nil
}

// headConn is a connection that stores the head of the current request.
type headConn struct {
	net.Conn

	mu    sync.Mutex
	head  []byte
	whole bool // the head is complete
}

// mostHead is the largest number of bytes of a head that are stored. It exceeds the read buffer of
// net/http.
const mostHead = 64 << 10

// Read reads from the connection.
func (c *headConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.whole {
		from := max(0, len(c.head)-len("\n\r"))
		c.head = append(c.head, p[:n]...)
		if rest := c.head[from:]; bytes.Contains(rest, []byte("\n\r\n")) || bytes.Contains(rest, []byte("\n\n")) || len(c.head) > mostHead {
			c.whole = true
		}
	}
	return n, err
}

// lengths reports whether the head has Content-Length, and whether it has Transfer-Encoding.
func (c *headConn) lengths() (length, encoding bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for line := range bytes.Lines(c.head) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		length = length || bytes.EqualFold(name, []byte("Content-Length"))
		encoding = encoding || bytes.EqualFold(name, []byte("Transfer-Encoding"))
	}
	return length, encoding
}

// headKey is the key of a request's connection in its context.
type headKey struct{}

func withHead(ctx context.Context, c net.Conn) context.Context {
	if _, ok := c.(*headConn); !ok {
		return ctx // the connection is encrypted
	}
	return context.WithValue(ctx, headKey{}, c)
}

// forgetHead discards the head when a connection becomes idle.
func forgetHead(c net.Conn, state http.ConnState) {
	if h, ok := c.(*headConn); ok && state == http.StateIdle {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.head, h.whole = h.head[:0], false; cap(h.head) > 4<<10 {
			h.head = nil
		}
	}
}

// frame refuses a request whose head states the length of the body in two ways. A proxy may use the
// other statement and forward a part of the body that this server would read as the next request
// (RFC 9112, 6.3). If the connection does not store heads, frame closes it after a request in
// chunks.
func frame(w http.ResponseWriter, r *http.Request) error {
	if r.ProtoMajor > 1 || len(r.TransferEncoding) == 0 && r.ProtoAtLeast(1, 1) {
		return nil
	}
	c, ok := r.Context().Value(headKey{}).(*headConn)
	if !ok {
		w.Header().Set("Connection", "close")
		return nil
	}
	if length, encoding := c.lengths(); encoding && (length || !r.ProtoAtLeast(1, 1)) {
		w.Header().Set("Connection", "close")
		return problemf(http.StatusBadRequest, "found Transfer-Encoding beside Content-Length or in HTTP/1.0, expected one statement of the body's length")
	}
	return nil
}
