// Package serve ranks documents over HTTP. Its [http.Handler] loads models from files and reloads
// changed files.
//
// Start reading at [New] and rank.go, the path of a request; docs/serve.md is the manual of the
// service and openapi.json its description for programs. Requests are untrusted. Each is bounded in
// bytes, documents, values and time, and all together in number and memory. No request stops the
// server. A request is answered from one [Snapshot] of the models, so it never sees half of a
// change of their files.
//
// [Server] may be a part of another program; [Server.Listen] and [Server.Serve] are what
// listwise serve does with it.
package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/serve/experiment"
)

// Source is a model of a file.
type Source struct {
	Name string // see [CheckName]
	Path string // of a model file, or of one that another system wrote
}

// Config configures a server. Only Models is required.
type Config struct {
	Models  []Source
	Aliases map[string]string // further names of models

	// Backgrounds has the background documents of models, by model name. Contributions and drift
	// are measured against them. A model without them is explained against the documents of each
	// request.
	Backgrounds map[string]*dataset.Dataset

	Experiments []Experiment
	Shadows     map[string][]string // of models, the names of those that score the same requests, which is logged alone
	Records     *experiment.Log     // gets what experiments rank; nil: nothing is logged

	Tokens    []string            // bearer tokens of which a request must have one; see [Server.SetTokens]
	Clients   map[string][]string // of models, the names of the certificates of the clients that they are for; without any, all clients
	LocalHost bool                // refuse requests for hosts that are not this machine

	Limits  Limits
	Lenient bool   // whether requests are that do not say
	Absent  Absent // what a feature is that a lenient request leaves out

	Log *slog.Logger // nil: nothing is logged
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	config   Config
	log      *slog.Logger
	limits   Limits
	mux      *http.ServeMux
	snapshot atomic.Pointer[Snapshot]
	loading  sync.Mutex           // held while models are loaded
	broken   map[string]fileState // by the names of models, files that could not be read; guarded by loading
	costs    map[string]float64   // by the names of large models, bytes of memory that a byte of the file took; guarded by loading
	draining atomic.Bool          // no new requests should come
	desks    chan *desk           // that no request has
	waiting  atomic.Int64         // requests that want a desk or have one
	jobs     sync.Pool            // of *job
	blocks   sync.Pool            // of *block
	memory   memory
	tidying  atomic.Bool // memory of large requests is to be given back
	tokens   atomic.Pointer[hashed]
	metrics  *metrics

	experiments map[string]*Experiment
	shadows     *shadows // nil if there are none
}

// New loads the models and returns a server of them. An invalid name or model file is an error.
func New(c Config) (*Server, error) {
	s := &Server{config: c, log: c.Log, limits: c.Limits.withDefaults(), broken: make(map[string]fileState), costs: make(map[string]float64)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.desks = make(chan *desk, s.limits.Workers)
	for range s.limits.Workers {
		s.desks <- new(desk)
	}
	s.jobs.New = func() any { return new(job) }
	s.blocks.New = func() any { return new(block) }
	s.memory.left.Store(s.limits.Memory)
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := s.SetTokens(c.Tokens); err != nil {
		return nil, err
	}
	first := &Snapshot{models: make(map[string]*Loaded), aliases: maps.Clone(c.Aliases)}
	for _, source := range c.Models {
		m, err := s.measured(source)
		if err != nil {
			return nil, err
		}
		first.models[source.Name] = m
	}
	if err := errors.Join(s.checkExperiments(first), s.checkShadows(first)); err != nil {
		return nil, err
	}
	if len(c.Shadows) > 0 {
		s.shadows = newShadows(c.Records)
	}
	s.snapshot.Store(first)
	if c.Records != nil {
		c.Records.Notify(s.recordsChanged)
	}
	s.metrics = newMetrics(s, slices.Concat(first.Names(), slices.Sorted(maps.Keys(s.experiments))))
	s.mux = s.routes()
	return s, nil
}

// check checks the names.
func (c *Config) check() error {
	if len(c.Models) == 0 {
		return errors.New("found no models to serve, expected at least one")
	}
	known := make(map[string]bool)
	for _, m := range c.Models {
		if err := CheckName(m.Name); err != nil {
			return err
		}
		if known[m.Name] {
			return fmt.Errorf("found two models named %q, expected different names (versions of one model are NAME@VERSION)", m.Name)
		}
		known[m.Name] = true
	}
	names := slices.Sorted(maps.Keys(known))
	for _, alias := range slices.Sorted(maps.Keys(c.Aliases)) {
		if err := CheckName(alias); err != nil {
			return err
		}
		if known[alias] {
			return fmt.Errorf("found the alias %q, which is the name of a model, expected another", alias)
		}
		if of := c.Aliases[alias]; !known[of] {
			return fmt.Errorf("found the alias %s of %w", alias, suggest.Unknown("model", of, names))
		}
	}
	for what, of := range map[string][]string{"a background": slices.Sorted(maps.Keys(c.Backgrounds)), "clients": slices.Sorted(maps.Keys(c.Clients))} {
		for _, name := range of {
			if !known[name] {
				return fmt.Errorf("found %s of %w", what, suggest.Unknown("model", name, names))
			}
		}
	}
	return nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.recovered(w, r)
	err := frame(w, r)
	if err == nil {
		err = s.admit(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !cleanPath(r.URL.EscapedPath()) { // the mux would redirect it
		s.noSuchPath(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// cleanPath reports whether a path has no empty, "." or ".." segments but an empty last one.
func cleanPath(p string) bool {
	clean := path.Clean(p)
	return p == clean && p[0] == '/' || p == clean+"/" && clean != "/"
}

// handlers are what answers requests, by method and path.
func (s *Server) handlers() map[string]http.Handler {
	return map[string]http.Handler{
		"POST /v1/models/{call}": http.HandlerFunc(s.call), // NAME:rank, one part of a path to the mux
		"GET /v1/models/{name}":  http.HandlerFunc(s.describe),
		"GET /v1/models":         http.HandlerFunc(s.list),
		"GET /healthz":           http.HandlerFunc(s.health),
		"GET /readyz":            http.HandlerFunc(s.ready),
		"GET /metrics":           s.metrics.handler(),
		"GET /openapi.json":      http.HandlerFunc(describeAPI),
	}
}

// routes lead requests to their handlers.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, h := range s.handlers() {
		mux.Handle(pattern, h)
	}
	for page, h := range pagePaths {
		mux.Handle("GET "+page, h)
	}
	mux.HandleFunc(everywhereElse, s.unknownPath)
	return mux
}
