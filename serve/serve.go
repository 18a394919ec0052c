// Package serve ranks documents over HTTP. Its [http.Handler] serves models from files, reloads
// changed files, and serves models in memory.
//
// Start reading at [New] and at rank.go, the path of a request. docs/serve.md is the manual of the
// service. openapi.json describes it for programs.
//
// Requests are untrusted. Each request is limited in bytes, documents, values and time. All
// requests together are limited in number and memory. No request stops the server. A request uses
// one [Snapshot] of the models, so it never sees a partial change of their files.
//
// A [Server] may be part of another program, which routes requests to it and registers
// [Server.Collector] (examples/serve). The command listwise serve calls [Server.Serve] and
// [Server.Watch].
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

// Config configures a server. Only Models is required.
type Config struct {
	Models  []Source          // at least one, with different names
	Aliases map[string]string // alternative names of models, by alias

	// Backgrounds has the background documents of models, by model name. Contributions and drift
	// are measured against them. A model without a background is explained against the documents of
	// each query.
	Backgrounds map[string]*dataset.Dataset

	Experiments []Experiment        // comparisons of models in use
	Shadows     map[string][]string // by model name, the models that also score its requests; their rankings are only logged
	Records     *experiment.Log     // log of the rankings of experiments; nil means no log

	// Pages logs rankings outside experiments; nil means no log. A hash selects a share of the users,
	// or of the queries if a request names no user. Rankings without both ids are not logged.
	Pages     *experiment.Log
	PageShare float64 // above 0, and at most 1

	// Candidates is the largest number of documents that a line of a log lists, best first, if the
	// answer has only the top documents. 0 means none.
	Candidates int

	Tokens []string // bearer tokens, one of which a request must have; see [Server.SetTokens]

	// Clients has, by model name, the names of the client certificates that may use the model. All clients
	// may use a model without an entry.
	Clients map[string][]string

	LocalHost bool // refuses requests for hosts other than this machine

	Limits  Limits // of requests
	Lenient bool   // requests may omit features and have unknown ones, unless they say "lenient": false
	Absent  Absent // value of a feature that a lenient request omits

	Log *slog.Logger // nil means no log
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	config   Config
	log      *slog.Logger
	limits   Limits
	mux      *http.ServeMux
	snapshot atomic.Pointer[Snapshot]
	loading  sync.Mutex           // held while models are loaded
	broken   map[string]fileState // by model name, the files that could not be read; guarded by loading
	costs    map[string]float64   // by the names of large models, bytes of memory per byte of the file; guarded by loading
	draining atomic.Bool          // the server is stopping
	desks    chan *desk           // the desks that no request uses
	waiting  atomic.Int64         // number of requests that wait for a desk or have one
	jobs     sync.Pool            // of *job
	blocks   sync.Pool            // of *block
	memory   memory
	tidying  atomic.Bool // the memory of large requests is about to be released
	tokens   atomic.Pointer[hashed]
	metrics  *metrics

	experiments map[string]*Experiment
	shadows     *shadows // nil if there are none
}

// New loads the models and returns a server for them. An invalid name or model file is an error.
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
	if err := errors.Join(c.check(), c.checkLogs()); err != nil {
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
	for _, l := range c.Logs() {
		s.watchLog(l)
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
		if err := m.check(); err != nil {
			return err
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

// ServeHTTP answers a request. POST /v1/models/NAME:rank ranks documents by the model with this name, and
// GET /v1/models/NAME describes the model. GET /v1/models, /healthz, /readyz, /metrics and /openapi.json
// describe the service. openapi.json defines all requests and answers. If a host serves these paths under a
// prefix, [http.StripPrefix] removes it.
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
	if !cleanPath(r.URL.EscapedPath()) { // the mux would redirect such a path
		s.noSuchPath(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// cleanPath reports whether a path has no empty, "." or ".." segments. The last segment may be
// empty.
func cleanPath(p string) bool {
	clean := path.Clean(p)
	return p == clean && p[0] == '/' || p == clean+"/" && clean != "/"
}

// handlers returns the handlers of requests, by method and path.
func (s *Server) handlers() map[string]http.Handler {
	return map[string]http.Handler{
		"POST /v1/models/{call}": http.HandlerFunc(s.call), // NAME:rank; the mux cannot match a part of a segment
		"GET /v1/models/{name}":  http.HandlerFunc(s.describe),
		"GET /v1/models":         http.HandlerFunc(s.list),
		"GET /healthz":           http.HandlerFunc(s.health),
		"GET /readyz":            http.HandlerFunc(s.ready),
		"GET /metrics":           s.metrics.handler(),
		"GET /openapi.json":      http.HandlerFunc(describeAPI),
	}
}

// routes returns a mux with all handlers.
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
