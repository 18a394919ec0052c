package serve

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/listwise/listwise/serve/experiment"
	"github.com/listwise/listwise/serve/rankjson"
)

// The limits of the queue of shadow requests, in requests and in bytes of features.
const (
	mostShadows     = 256
	mostShadowBytes = 64 << 20
)

// shadows queues copies of requests and scores them by other models in the background. The rankings
// are logged and never sent to clients.
type shadows struct {
	records *experiment.Log
	queue   chan *shadow
	bytes   atomic.Int64
	dropped atomic.Int64 // number of requests
	done    chan struct{}
	closing sync.RWMutex // held for reading while a request is added
	closed  bool
}

// shadow is a copy of a request, and the model that scores it in the background.
type shadow struct {
	desk
	of    string
	model *Loaded
	pages []rankjson.Page // of the rankings that were shown
}

// newShadows starts the goroutine that scores.
func newShadows(records *experiment.Log) *shadows {
	s := &shadows{records: records, queue: make(chan *shadow, mostShadows), done: make(chan struct{})}
	go s.run()
	return s
}

// checkShadows checks the names. A shadow must have the same features as its model.
func (s *Server) checkShadows(first *Snapshot) error {
	for _, of := range slices.Sorted(maps.Keys(s.config.Shadows)) {
		m, ok := first.models[of]
		if !ok {
			return fmt.Errorf("found a shadow of %w", first.unknown(of))
		}
		for _, name := range s.config.Shadows[of] {
			shadow, ok := first.Find(name)
			switch {
			case !ok:
				return fmt.Errorf("shadow of %s: %w", of, first.unknown(name))
			case shadow == m:
				return fmt.Errorf("found %s as a shadow of itself, expected another model", of)
			case !sameFeatures(m, shadow):
				return fmt.Errorf("found %s as a shadow of %s, whose features are others, expected the same in the same order", name, of)
			}
		}
	}
	if len(s.config.Shadows) > 0 && s.config.Records == nil {
		return errors.New("found shadows without a log of experiments, expected one that gets their rankings")
	}
	return nil
}

// shade queues a request that m has answered for each shadow of m. It never waits.
func (s *Server) shade(j *job, m *Loaded) {
	for _, name := range s.config.Shadows[m.Name] {
		other, ok := s.Snapshot().Find(name)
		if !ok || !sameFeatures(m, other) {
			s.shadows.dropped.Add(1) // the model was replaced
			continue
		}
		s.shadows.add(&j.request, j.answer.Pages, m.Name, other)
	}
}

// add queues a copy of a request. It drops the request if the queue is full.
func (s *shadows) add(r *rankjson.Request, pages []rankjson.Page, of string, m *Loaded) {
	s.closing.RLock()
	defer s.closing.RUnlock()
	size := int64(4*len(r.X) + 64*len(r.IDs))
	if s.closed || s.bytes.Add(size) > mostShadowBytes {
		if !s.closed {
			s.bytes.Add(-size)
		}
		s.dropped.Add(1)
		return
	}
	c := &shadow{of: of, model: m, pages: slices.Clone(pages)}
	c.request = rankjson.Request{Queries: slices.Clone(r.Queries), X: slices.Clone(r.X), Top: r.Top, User: slices.Clone(r.User), IDs: make([][]byte, len(r.IDs))}
	for i, id := range r.IDs {
		c.request.IDs[i] = slices.Clone(id)
	}
	for i := range c.request.Queries {
		c.request.Queries[i].ID = slices.Clone(c.request.Queries[i].ID)
	}
	select {
	case s.queue <- c:
	default:
		s.bytes.Add(-size)
		s.dropped.Add(1)
	}
}

// run scores the queued requests.
func (s *shadows) run() {
	defer close(s.done)
	for c := range s.queue {
		s.score(c)
		s.bytes.Add(-int64(4*len(c.request.X) + 64*len(c.request.IDs)))
	}
}

func (s *shadows) score(c *shadow) {
	defer func() {
		if recover() != nil {
			s.dropped.Add(1)
		}
	}()
	if err := c.score(c.model); err != nil {
		s.dropped.Add(1)
		return
	}
	c.rank()
	now, models := time.Now(), []rankjson.Version{{Model: c.model.Name, Version: c.model.Version}}
	for i := range c.request.Queries {
		l := experiment.Line{Time: now, Page: c.pages[i], Experiment: c.of, Kind: experiment.Shadow, Request: &c.request, Query: i, Models: models, Ranking: c.answer.Rankings[i]}
		s.records.Add(l.Append(nil))
	}
}

// Dropped returns the number of requests that shadows did not score, because the queue was full or
// a model failed.
func (s *Server) Dropped() int64 {
	if s.shadows == nil {
		return 0
	}
	return s.shadows.dropped.Load()
}

// Close ends the server's own goroutines. It is called after the last request. Shadows score their
// queue first. The caller closes the log of experiments afterwards.
func (s *Server) Close() {
	if s.shadows == nil {
		return
	}
	s.shadows.closing.Lock()
	ended := s.shadows.closed
	s.shadows.closed = true
	s.shadows.closing.Unlock()
	if !ended {
		close(s.shadows.queue)
	}
	<-s.shadows.done
}
