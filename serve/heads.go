package serve

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
)

// headListener accepts connections that keep the head of the current request. net/http drops
// Content-Length if there is Transfer-Encoding, so a handler cannot see that there were both.
type headListener struct{ net.Listener }

// Accept accepts a connection.
func (l headListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &headConn{Conn: c}, nil
}

// headConn is a connection that keeps the head of the current request.
type headConn struct {
	net.Conn

	mu    sync.Mutex
	head  []byte
	whole bool // the head has ended
}

// mostHead is how many bytes of a head are kept, more than the buffer that net/http reads with.
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

// lengths reports whether the head has Content-Length and Transfer-Encoding.
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
		return ctx // it is encrypted
	}
	return context.WithValue(ctx, headKey{}, c)
}

// forgetHead makes room for the head of the next request.
func forgetHead(c net.Conn, state http.ConnState) {
	if h, ok := c.(*headConn); ok && state == http.StateIdle {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.head, h.whole = h.head[:0], false; cap(h.head) > 4<<10 {
			h.head = nil
		}
	}
}

// frame refuses a request whose head states the length of the body in two ways. A proxy may go by the
// other one, and pass on a part of the body that would be the next request here (RFC 9112, 6.3). On
// a connection whose heads cannot be seen, a request in chunks is the last.
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
