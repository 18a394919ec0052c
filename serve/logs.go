package serve

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/listwise/listwise/serve/experiment"
	"github.com/listwise/listwise/serve/rankjson"
)

// answerLogged answers a request by model m and appends the rankings to the logs. An exploration
// changes the rankings that its share selects. e is nil, a split or an exploration.
func (s *Server) answerLogged(j *job, m *Loaded, e *Experiment) error {
	if err := s.plan(j, m, e); err != nil {
		return err
	}
	if err := s.answer(j, m); err != nil {
		return err
	}
	t, name := &j.trial, ""
	if e != nil {
		name = e.Name
	}
	j.answer.Experiment = name
	t.candidates, t.draws = t.candidates[:0], slices.Grow(t.draws[:0], len(t.kinds))[:len(t.kinds)]
	for i, kind := range t.kinds {
		q := j.request.Queries[i]
		all := j.ranked[q.First : q.First+q.Docs]
		for k := range all[:s.candidatesOf(j, i)] {
			t.candidates = append(t.candidates, all[k].Doc)
		}
		if kind == experiment.Explore {
			t.draws[i] = e.Explore.Apply(all, len(j.answer.Rankings[i]), j.answer.Pages[i])
		}
	}
	s.record(j, name, m)
	return nil
}

// pageSalt is the salt of the hash that selects rankings for the page log. No experiment can have
// this name.
const pageSalt = "page log"

// kindOf returns the kind of line that a log gets about the ranking of query i, or "" if no log does.
func (s *Server) kindOf(j *job, e *Experiment, i int) (string, error) {
	switch {
	case e == nil:
	case e.Kind == experiment.Explore:
		if e.Explore.Share == 1 {
			return e.Kind, nil
		}
		id, err := e.idOf(j, i)
		if err != nil || experiment.Within(e.Salt, id, e.Explore.Share) {
			return e.Kind, err
		}
	case s.config.Records != nil:
		return e.Kind, nil
	default:
		return "", nil
	}
	id := j.request.User
	if id == nil {
		id = j.request.Queries[i].ID
	}
	if s.config.Pages != nil && id != nil && experiment.Within(pageSalt, id, s.config.PageShare) {
		return experiment.Page, nil
	}
	return "", nil
}

// plan decides which rankings of a request the logs get, and draws ids for them. m is the model that
// ranks; it is nil if two do.
func (s *Server) plan(j *job, m *Loaded, e *Experiment) error {
	t := &j.trial
	t.kinds, j.answer.Pages = t.kinds[:0], j.answer.Pages[:0]
	if s.config.Records == nil && s.config.Pages == nil {
		return nil
	}
	shadowed := m != nil && len(s.config.Shadows[m.Name]) > 0
	for i := range j.request.Queries {
		kind, err := s.kindOf(j, e, i)
		if err != nil {
			return err
		}
		page := rankjson.Page(0)
		if kind != "" || shadowed {
			page = newPage()
		}
		t.kinds, j.answer.Pages = append(t.kinds, kind), append(j.answer.Pages, page)
	}
	return nil
}

// newPage draws the id of a ranking.
func newPage() (p rankjson.Page) {
	for p == 0 { // which means no id
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		p = rankjson.Page(binary.BigEndian.Uint64(b[:]))
	}
	return p
}

// candidatesOf returns the number of candidates in the line about query i.
func (s *Server) candidatesOf(j *job, i int) int {
	docs := j.request.Queries[i].Docs
	if top := j.request.Top; top == 0 || top >= docs || len(j.trial.kinds) == 0 || j.trial.kinds[i] == "" {
		return 0
	}
	return min(s.config.Candidates, docs)
}

// record appends the rankings of an answer to the logs. name is that of the experiment, or empty. m
// is the model that ranked; it is nil if two did.
func (s *Server) record(j *job, name string, m *Loaded) {
	t := &j.trial
	places, candidates := t.places, t.candidates
	for i, kind := range t.kinds {
		if kind == "" {
			continue
		}
		ranking, log := j.answer.Rankings[i], s.config.Records
		l := experiment.Line{Time: time.Now(), Page: j.answer.Pages[i], Experiment: name, Kind: kind, Request: &j.request, Query: i, Models: j.answer.Models, Ranking: ranking}
		if m != nil {
			l.Models = []rankjson.Version{{Model: m.Name, Version: m.Version}}
		}
		n := s.candidatesOf(j, i)
		l.Candidates, candidates = candidates[:n], candidates[n:]
		switch kind {
		case experiment.Interleave:
			l.Places, places = places[:len(ranking)], places[len(ranking):]
		case experiment.Split:
			l.Share = t.shares
		case experiment.Explore:
			l.Draw = &t.draws[i]
		case experiment.Page:
			log = s.config.Pages
		}
		log.Add(l.Append(make([]byte, 0, 256+64*(len(ranking)+n))))
	}
}

// NamedLog is a log of rankings and its name.
type NamedLog struct {
	*experiment.Log

	Name string // "experiment log" or "page log", which no model can be called
}

// Logs returns the logs that the configuration has.
func (c *Config) Logs() []NamedLog {
	all := []NamedLog{{c.Records, "experiment log"}, {c.Pages, "page log"}}
	return slices.DeleteFunc(all, func(l NamedLog) bool { return l.Log == nil })
}

// checkLogs checks the settings of logs.
func (c *Config) checkLogs() error {
	switch {
	case c.Pages != nil && !(c.PageShare > 0 && c.PageShare <= 1):
		return fmt.Errorf("found the share %v of the page log, expected a number above 0, 1 at most", c.PageShare)
	case c.Candidates < 0:
		return fmt.Errorf("found %d candidates, expected 0 or more", c.Candidates)
	case c.Candidates > 0 && len(c.Logs()) == 0:
		return errors.New("found candidates without a log of rankings, expected one that gets them")
	}
	return nil
}

// watchLog logs when a log of rankings begins to lose lines, and when its lines are written again.
func (s *Server) watchLog(l NamedLog) {
	l.Notify(func(err error) {
		if err != nil {
			s.log.Error("the "+l.Name+" loses lines", "error", err)
			return
		}
		lost, _ := l.Dropped()
		s.log.Info("the "+l.Name+" is written again", "lost", lost)
	})
}
