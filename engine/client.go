// Package engine talks over HTTP to the learning-to-rank APIs of search engines: Solr's module, and the plugin
// of Elasticsearch and OpenSearch.
//
// Start reading at [Engine.Put] and [Engine.Rerank]; solr.go and plugin.go have what differs between the APIs.
// [Compare] compares an engine's ranking with a model's. The package must not depend on models:
// model/interchange writes the bodies that it sends.
package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Engine is a search engine at an address.
type Engine struct {
	api
	address string // without a slash at its end
	auth    string // value of the header Authorization, "" without credentials
	header  bool   // the credentials are that value, not user:password
	private bool
	client  http.Client
	pause   time.Duration // before a request is repeated
}

// Options say how an Engine is reached.
type Options struct {
	// Credentials are user:password, or a header such as "Bearer TOKEN" or "ApiKey KEY"; "" sends none. No
	// error and no output contains them.
	Credentials string
	// Timeout limits each request.
	Timeout time.Duration
	// Index is the index that requests to Elasticsearch or OpenSearch search.
	Index string
}

// Solr returns the Solr core or collection at an address such as http://localhost:8983/solr/products.
func Solr(address string, o Options) (*Engine, error) { return newEngine(solr{}, address, o) }

// Plugin returns the Elasticsearch or OpenSearch at an address such as http://localhost:9200. title is its name in
// messages.
func Plugin(title, address string, o Options) (*Engine, error) {
	return newEngine(plugin{title, o.Index}, address, o)
}

func newEngine(a api, address string, o Options) (*Engine, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("expected an address such as %s", a.example())
	case u.User != nil:
		return nil, errors.New("found credentials in the address, expected them in a file")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("found more than a path in %s, expected an address such as %s", address, a.example())
	}
	e := &Engine{api: a, address: strings.TrimRight(address, "/"), pause: time.Second}
	e.private = u.Scheme == "https" || u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	e.client = http.Client{Timeout: o.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if e.auth, err = authorization(o.Credentials); err != nil {
		return nil, err
	}
	e.header = e.auth == o.Credentials
	return e, nil
}

// authorization returns the value of the header Authorization.
func authorization(credentials string) (string, error) {
	kind, rest, header := strings.Cut(credentials, " ")
	switch {
	case strings.ContainsAny(credentials, "\r\n"):
		return "", errors.New("found credentials of several lines, expected one")
	case credentials == "", header && rest != "" && (kind == "Basic" || kind == "Bearer" || kind == "ApiKey"):
		return credentials, nil
	case strings.Contains(credentials, ":"):
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(credentials)), nil
	}
	return "", errors.New("found credentials of an unknown form, expected user:password, Bearer TOKEN or ApiKey KEY")
}

// request is a request to an engine.
type request struct {
	method, path string
	body         []byte // JSON, or a form if it is encoded as one
	form         bool
}

// StatusError is an answer other than success.
type StatusError struct {
	Request string // method and address
	Status  int
	Message string // of the engine, "" if it gave none
	To      string // address of a redirection
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s: found %d %s", e.Request, e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.To != "" {
		text += " to " + e.To + ", expected the address of the engine itself"
	}
	if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden {
		text += ", expected credentials that the engine accepts"
	}
	return text
}

// ConnectionError is a request without an answer. The engine may have carried it out.
type ConnectionError struct {
	Request string // method and address
	Err     error
}

func (e *ConnectionError) Error() string {
	timeout, _ := errors.AsType[interface {
		error
		Timeout() bool
	}](e.Err)
	switch {
	case errors.Is(e.Err, io.EOF) || errors.Is(e.Err, io.ErrUnexpectedEOF) || errors.Is(e.Err, syscall.ECONNRESET):
		return e.Request + ": the connection was closed before the answer ended"
	case timeout != nil && timeout.Timeout():
		return e.Request + ": found no answer within the timeout"
	}
	return fmt.Sprintf("%s: %v", e.Request, e.Err)
}

func (e *ConnectionError) Unwrap() error { return e.Err }

// mostBytes limits an answer.
const mostBytes = 256 << 20

// once sends a request and returns the body of the answer.
func (e *Engine) once(ctx context.Context, r request) ([]byte, error) {
	name := r.method + " " + e.address + r.path
	q, err := http.NewRequestWithContext(ctx, r.method, e.address+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	switch {
	case r.form:
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	case r.body != nil:
		q.Header.Set("Content-Type", "application/json")
	}
	if e.auth != "" {
		q.Header.Set("Authorization", e.auth)
	}
	answer, err := e.client.Do(q)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return nil, &ConnectionError{name, err}
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostBytes+1))
	switch {
	case err != nil:
		return nil, &ConnectionError{name, err}
	case len(body) > mostBytes:
		return nil, fmt.Errorf("%s: found an answer of more than %d MiB", name, mostBytes>>20)
	case answer.StatusCode/100 != 2:
		return nil, &StatusError{name, answer.StatusCode, e.hide(messageOf(body)), e.hide(answer.Header.Get("Location"))}
	}
	return body, nil
}

// hide removes the credentials from a text of the engine.
func (e *Engine) hide(text string) string {
	kind, secret, _ := strings.Cut(e.auth, " ")
	if secret == "" {
		return text
	}
	text = strings.ReplaceAll(text, secret, "…")
	if plain, err := base64.StdEncoding.DecodeString(secret); kind == "Basic" && err == nil {
		_, password, _ := strings.Cut(string(plain), ":")
		text = strings.ReplaceAll(text, string(plain), "…")
		if password != "" {
			text = strings.ReplaceAll(text, password, "…")
		}
	}
	return text
}

// again sends a request whose repetition changes nothing. It repeats it once if there was no answer, or if a
// server was unavailable.
func (e *Engine) again(ctx context.Context, r request) ([]byte, error) {
	body, err := e.once(ctx, r)
	if !passing(err) {
		return body, err
	}
	if err := e.wait(ctx); err != nil {
		return nil, err
	}
	return e.once(ctx, r)
}

// passing reports whether a request may succeed if it is repeated.
func passing(err error) bool {
	if s, ok := errors.AsType[*StatusError](err); ok {
		return s.Status == http.StatusBadGateway || s.Status == http.StatusServiceUnavailable || s.Status == http.StatusGatewayTimeout
	}
	_, lost := errors.AsType[*ConnectionError](err)
	return lost
}

func (e *Engine) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(e.pause):
		return nil
	}
}

func (e *Engine) get(ctx context.Context, path string) ([]byte, error) {
	return e.again(ctx, request{method: http.MethodGet, path: path})
}

// Private reports whether nobody between can read the requests: the address is https, or of this machine.
func (e *Engine) Private() bool { return e.private }

// SendsHeader reports whether the credentials are a header's value, not user:password.
func (e *Engine) SendsHeader() bool { return e.header }
