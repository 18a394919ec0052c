package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/listwise/listwise/serve/rankjson"
)

// problem is the body of an error answer: problem details by RFC 9457, with a JSON pointer (RFC
// 6901) to the error in the request.
type problem struct {
	Title   string  `json:"title"`
	Status  int     `json:"status"`
	Detail  string  `json:"detail,omitempty"`
	Pointer *string `json:"pointer,omitempty"`
}

// Error returns the detail.
func (p *problem) Error() string { return p.Detail }

func problemf(status int, format string, args ...any) *problem {
	return &problem{Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// asProblem converts an error to a problem.
func asProblem(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*rankjson.Error](err); ok {
		status := http.StatusBadRequest
		switch e.Kind {
		case rankjson.TooLarge:
			status = http.StatusRequestEntityTooLarge
		case rankjson.Unprocessable:
			status = http.StatusUnprocessableEntity
		case rankjson.NoMemory:
			status = http.StatusTooManyRequests
		}
		p := problemf(status, "%s", e.Detail)
		p.Pointer = &e.Pointer
		return p
	}
	return problemf(http.StatusInternalServerError, "the server could not answer")
}

// fail answers a request with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := asProblem(err)
	if p.Status >= http.StatusInternalServerError && p.Status != http.StatusServiceUnavailable {
		s.log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("X-Content-Type-Options", "nosniff")
	if p.Status == http.StatusTooManyRequests {
		h.Set("Retry-After", "1")
	}
	if r.ProtoMajor > 1 || r.ContentLength >= 0 && r.ContentLength <= mostUnread {
		writeJSON(w, p.Status, p)
		return
	}
	// net/http would close the connection while the client is still sending. This resets the
	// connection, and the client may never see the answer. So fail reads the rest of the body, up
	// to the current deadline.
	c := http.NewResponseController(w)
	_ = c.EnableFullDuplex() // fails only without a connection, as the calls below do
	writeJSON(w, p.Status, p)
	_ = c.Flush()
	_, _ = io.Copy(io.Discard, r.Body)
}

// mostUnread is the number of bytes of an unread body that net/http reads by itself after a handler
// returns.
const mostUnread = 256 << 10

// writeJSON writes v as JSON. The caller has set the content type.
func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"title":"Internal Server Error","status":500}`)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the client is gone
}

// recovered answers a request whose handler panicked, so that the server continues.
func (s *Server) recovered(w http.ResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause) // net/http closes the connection
	}
	s.log.Error("a request panicked", "method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
	s.fail(w, r, problemf(http.StatusInternalServerError, "the server could not answer"))
}

// everywhereElse is the pattern for paths and methods without a handler.
const everywhereElse = "/"

// rankSuffix is the suffix of the path of a request to rank.
const rankSuffix = ":rank"

// unknownPath answers a request whose path is unknown or whose method does not fit its path.
func (s *Server) unknownPath(w http.ResponseWriter, r *http.Request) {
	method := s.methodOf(r)
	if method == "" {
		s.noSuchPath(w, r)
		return
	}
	w.Header().Set("Allow", method)
	s.fail(w, r, problemf(http.StatusMethodNotAllowed, "found the method %.20s, expected %s", r.Method, method))
}

func (s *Server) noSuchPath(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, problemf(http.StatusNotFound, "found no such path, expected one that /openapi.json has"))
}

// methodOf returns the method that a request's path supports, or "" if there is no such path.
func (s *Server) methodOf(r *http.Request) string {
	if name, ok := strings.CutPrefix(r.URL.Path, "/v1/models/"); ok {
		rank := strings.TrimSuffix(name, rankSuffix)
		switch {
		case CheckName(rank) != nil:
			return ""
		case rank != name:
			return http.MethodPost
		}
		return http.MethodGet
	}
	other := &http.Request{Method: http.MethodGet, URL: r.URL, Host: r.Host}
	if _, pattern := s.mux.Handler(other); pattern == everywhereElse {
		return ""
	}
	return http.MethodGet
}
