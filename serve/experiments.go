package serve

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/serve/experiment"
	"github.com/listwise/listwise/serve/rankjson"
)

// Experiment is a name under which several models rank, or one model whose rankings are explored.
// All its models must have the same features.
type Experiment struct {
	Name string // name by which requests select it; see [CheckName]
	Kind string // experiment.Split, experiment.Interleave or experiment.Explore
	Arms []Arm  // two or more; an interleaving has exactly two, an exploration one, and both ignore shares

	Explore experiment.Exploration // of an exploration

	// ByQuery makes the query's id choose the model of a request, the interleaving of rankings, or
	// whether to explore. Otherwise, the user's id chooses the model and whether to explore, and the
	// user's and the query's id together choose the interleaving.
	ByQuery bool
	Salt    string // salt for hashing the id; empty means the name

	// Probabilistic makes an interleaving draw documents by softmaxes over ranks, see
	// [experiment.Softmax.Draw]. Otherwise it is a team draft.
	Probabilistic bool
}

// Arm is a model of an experiment.
type Arm struct {
	Model string // the name of a model or an alias
	Share int    // share of the users or queries, relative to the sum of all shares
}

// checkExperiments checks the names and arms of experiments. The models of the arms must exist and
// have the same features.
func (s *Server) checkExperiments(first *Snapshot) error {
	s.experiments = make(map[string]*Experiment)
	for i := range s.config.Experiments {
		e := s.config.Experiments[i] // a copy
		if err := CheckName(e.Name); err != nil {
			return fmt.Errorf("experiment: %w", err)
		}
		if _, taken := first.Find(e.Name); taken || s.experiments[e.Name] != nil {
			return fmt.Errorf("experiment %s: found the name taken by a model, an alias or an experiment, expected another", e.Name)
		}
		if e.Salt == "" {
			e.Salt = e.Name
		}
		if err := e.check(); err != nil {
			return fmt.Errorf("experiment %s: %w", e.Name, err)
		}
		if e.Kind == experiment.Explore && s.config.Records == nil {
			return fmt.Errorf("experiment %s: found an exploration without a log of experiments, expected one that gets its draws", e.Name)
		}
		if _, err := e.arms(first, nil); err != nil {
			return fmt.Errorf("experiment %s: %w", e.Name, err)
		}
		s.experiments[e.Name] = &e
	}
	return nil
}

// mostShares is the largest allowed sum of shares.
const mostShares = 1 << 30

// check checks the kind and the arms.
func (e *Experiment) check() error {
	total := 0
	for i, a := range e.Arms {
		if a.Share < 0 || a.Share > mostShares {
			return fmt.Errorf("found the share %d, expected 0 to %d", a.Share, mostShares)
		}
		total += a.Share
		if slices.ContainsFunc(e.Arms[:i], func(b Arm) bool { return a.Model == b.Model }) {
			return fmt.Errorf("found the model %s twice, expected different ones", a.Model)
		}
	}
	switch {
	case e.Probabilistic && e.Kind != experiment.Interleave:
		return errors.New("found probabilistic draws, expected them of an interleaving alone")
	case e.Kind == experiment.Interleave && len(e.Arms) != 2:
		return fmt.Errorf("found %d models, expected 2 to interleave", len(e.Arms))
	case e.Kind == experiment.Interleave:
	case e.Kind == experiment.Explore && len(e.Arms) != 1:
		return fmt.Errorf("found %d models, expected 1 to explore", len(e.Arms))
	case e.Kind == experiment.Explore:
		_, err := experiment.ParseExploration(e.Explore.String())
		return err
	case e.Kind != experiment.Split:
		return fmt.Errorf("found the kind %q, expected %s, %s or %s", e.Kind, experiment.Split, experiment.Interleave, experiment.Explore)
	case len(e.Arms) < 2:
		return fmt.Errorf("found %d models, expected 2 or more", len(e.Arms))
	case total == 0 || total > mostShares:
		return fmt.Errorf("found shares that add up to %d, expected 1 to %d", total, mostShares)
	}
	return nil
}

// arms appends the current models of an experiment to into.
func (e *Experiment) arms(snapshot *Snapshot, into []*Loaded) ([]*Loaded, error) {
	for _, a := range e.Arms {
		m, ok := snapshot.Find(a.Model)
		if !ok {
			return nil, snapshot.unknown(a.Model)
		}
		into = append(into, m)
	}
	for _, m := range into[1:] {
		if !sameFeatures(into[0], m) {
			return nil, fmt.Errorf("found models of different features, %s and %s, expected the same in the same order", into[0].Name, m.Name)
		}
	}
	return into, nil
}

// sameFeatures reports whether a request decodes to the same Request for both models.
func sameFeatures(a, b *Loaded) bool {
	x, y := &a.schema, &b.schema
	sameCategories := slices.EqualFunc(a.Model.InputCategories(), b.Model.InputCategories(), (*dataset.Categories).Equal)
	return x.Features == y.Features && slices.Equal(x.Names, y.Names) && (x.Absent == 0) == (y.Absent == 0) && sameCategories
}

// trial is the part of a desk's memory that experiments and logs use.
type trial struct {
	orders [2][]int
	scores [2][]float64
	places []experiment.Place // of the documents shown, of all queries
	long   []experiment.Place // of a query: those shown, and further candidates
	draft  experiment.Drafter
	drawn  experiment.Softmax
	shares []int
	id     []byte

	kinds      []string          // of the queries' lines in a log; empty means no line
	draws      []experiment.Draw // of the queries that are explored
	candidates []int             // documents of all queries
}

// size returns about how many bytes of memory a trial has.
func (t *trial) size() int {
	n := 32*(cap(t.places)+cap(t.long)) + 8*cap(t.candidates) + t.drawn.Size()
	for k := range t.orders {
		n += 8 * (cap(t.orders[k]) + cap(t.scores[k]))
	}
	return n
}

// try answers a request to an experiment.
func (s *Server) try(j *job, e *Experiment) error {
	if err := s.decode(j, j.models[0]); err != nil {
		return err
	}
	switch e.Kind {
	case experiment.Interleave:
		return s.interleave(j, e)
	case experiment.Explore:
		return s.answerLogged(j, j.models[0], e)
	}
	return s.split(j, e)
}

// split answers a request with the model that the user's or query's id selects.
func (s *Server) split(j *job, e *Experiment) error {
	if e.ByQuery && len(j.request.Queries) > 1 {
		return wrong("/queries", "found several queries, expected one: %s chooses the model by the query", e.Name)
	}
	id, err := e.idOf(j, 0)
	if err != nil {
		return err
	}
	t := &j.trial
	t.shares = t.shares[:0]
	for _, a := range e.Arms {
		t.shares = append(t.shares, a.Share)
	}
	return s.answerLogged(j, j.models[experiment.Pick(e.Salt, id, t.shares)], e)
}

// interleave answers a request with the interleaved rankings of both models.
func (s *Server) interleave(j *job, e *Experiment) error {
	if j.request.Contributions != 0 {
		return wrong("/contributions", "found contributions asked for, expected none: two models rank for %s", e.Name)
	}
	if err := s.plan(j, nil, e); err != nil {
		return err
	}
	t := &j.trial
	for k, m := range j.models {
		if err := j.score(m); err != nil {
			return err
		}
		j.rank()
		t.scores[k] = append(t.scores[k][:0], j.scores...)
		t.orders[k] = t.orders[k][:0]
		for i := range j.ranked {
			t.orders[k] = append(t.orders[k], j.ranked[i].Doc)
		}
	}
	j.answer = rankjson.Answer{Model: e.Name, Models: j.answer.Models[:0], Rankings: j.answer.Rankings, Pages: j.answer.Pages}
	for _, m := range j.models {
		j.answer.Models = append(j.answer.Models, rankjson.Version{Model: m.Name, Version: m.Version})
	}
	t.places, t.candidates = t.places[:0], t.candidates[:0]
	for i, q := range j.request.Queries {
		id, err := e.idOf(j, i)
		if err != nil {
			return err
		}
		end, shown, candidates := q.First+q.Docs, min(cmp.Or(j.request.Top, q.Docs), q.Docs), s.candidatesOf(j, i)
		interleave := t.draft.Draft
		if e.Probabilistic {
			interleave = t.drawn.Draw
		}
		t.long = interleave(t.long[:0], t.orders[0][q.First:end], t.orders[1][q.First:end], e.Salt, id, max(shown, candidates))
		ranking := j.ranked[q.First : q.First+shown]
		for k, p := range t.long[:shown] {
			ranking[k] = rankjson.Ranked{Doc: p.Doc, Score: t.scores[p.Team][q.First+p.Doc], PlacedBy: j.models[p.Team].Name}
		}
		t.places = append(t.places, t.long[:shown]...)
		for _, p := range t.long[:candidates] {
			t.candidates = append(t.candidates, p.Doc)
		}
		j.answer.Rankings[i] = ranking
	}
	s.record(j, e.Name, nil)
	return nil
}

// idOf returns the id that assigns query i of a request to a model or an interleaving, or decides
// whether to explore it.
func (e *Experiment) idOf(j *job, i int) ([]byte, error) {
	user, query := j.request.User, j.request.Queries[i].ID
	if e.ByQuery {
		if query == nil {
			return nil, wrong("/query", `found a query without an id, expected "query": %s goes by it`, e.Name)
		}
		return query, nil
	}
	if user == nil {
		return nil, wrong("/user", `found no "user", expected an id: %s goes by it`, e.Name)
	}
	if e.Kind != experiment.Interleave {
		return user, nil
	}
	j.trial.id = append(append(append(j.trial.id[:0], user...), 0), query...)
	return j.trial.id, nil
}

func wrong(pointer, format string, args ...any) error {
	return &rankjson.Error{Pointer: pointer, Detail: fmt.Sprintf(format, args...)}
}

// find returns the model or the experiment with the given name. It stores the models of an
// experiment in j.
func (s *Server) find(j *job, name string) (m *Loaded, e *Experiment, err error) {
	snapshot := s.Snapshot() // the only snapshot that the request uses
	if m, ok := snapshot.Find(name); ok {
		return m, nil, nil
	}
	e, ok := s.experiments[name]
	if !ok {
		return nil, nil, problemf(http.StatusNotFound, "%v", s.unknown(snapshot, name))
	}
	if j.models, err = e.arms(snapshot, j.models[:0]); err != nil {
		s.log.Error("an experiment cannot go on", "experiment", e.Name, "error", err)
		return nil, nil, problemf(http.StatusServiceUnavailable, "the models of the experiment %s were changed and have different features now", e.Name)
	}
	return nil, e, nil
}

// unknown returns the error about an unknown name.
func (s *Server) unknown(snapshot *Snapshot, name string) error {
	if len(s.experiments) == 0 {
		return snapshot.unknown(name)
	}
	names := snapshot.known()
	for e := range s.experiments {
		names[e] = true
	}
	return suggest.Unknown("model or experiment", name, slices.Sorted(maps.Keys(names)))
}
