package serve

import (
	"cmp"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/listwise/listwise/serve/experiment"
	"github.com/listwise/listwise/serve/rankjson"
)

// Header values that all answers share. http.Header needs slices.
var (
	jsonType   = []string{mediaJSON}
	binaryType = []string{mediaBinary}
	noSniff    = []string{"nosniff"}
)

// call handles POST /v1/models/NAME:rank.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutSuffix(r.PathValue("call"), rankSuffix)
	if !ok {
		s.unknownPath(w, r)
		return
	}
	begun := time.Now()
	docs, err := s.rank(w, r, name)
	if err != nil {
		s.metrics.failed(s.Snapshot().canonical(name), asProblem(err).Status)
		s.fail(w, r, err)
		return
	}
	m := s.metrics.models[s.Snapshot().canonical(name)]
	m.ok.Inc()
	m.documents.Add(float64(docs))
	m.seconds.Observe(time.Since(begun).Seconds())
}

// job is the memory for one request, from a pool.
type job struct {
	*desk // set while a worker processes the request

	form   form
	body   []byte   // the body, or its beginning if there are blocks
	blocks []*block // the rest of a large body
	inLast int      // bytes of the body in the last block
	reader bodyReader
	models []*Loaded     // the models of an experiment
	model  *Loaded       // the model that ranked; nil if two were interleaved
	page   rankjson.Page // of the answer to a request with one query
	docs   int           // number of ranked documents
	out    []byte

	length   [1]string // the length of out as a header value
	lengthOf int
}

// desk is the memory for decoding and scoring a request. There is one desk per worker. A request
// has no desk while its body arrives or its answer is sent.
type desk struct {
	long    []byte // the text of a large body
	request rankjson.Request
	scores  []float64
	ranked  []rankjson.Ranked
	answer  rankjson.Answer
	trial   trial
}

// contentLength returns the header value for the answer's length. net/http copies it when the
// answer is written.
func (j *job) contentLength() []string {
	if n := len(j.out); n != j.lengthOf {
		j.length[0], j.lengthOf = strconv.Itoa(n), n
	}
	return j.length[:]
}

// mostKept is the largest memory, in bytes, of a job or desk that is reused.
const mostKept = 4 << 20

// size returns about how many bytes of memory a job has.
func (j *job) size() int { return cap(j.body) + cap(j.out) + 8*cap(j.blocks) }

// size returns about how many bytes of memory a desk has.
func (d *desk) size() int {
	return cap(d.long) + d.request.Size() + 8*cap(d.scores) + 32*cap(d.ranked) + d.trial.size()
}

// tidyAfter is the delay after which the memory of large requests is released.
var tidyAfter = 5 * time.Second

// tidy releases the memory of large requests to the system after a delay.
func (s *Server) tidy() {
	if !s.tidying.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(tidyAfter, func() {
		s.tidying.Store(false)
		for range cap(s.desks) { // the desks that no request uses
			select {
			case d := <-s.desks:
				if d.size() > mostKept {
					*d = desk{}
				}
				s.desks <- d
			default:
			}
		}
		runtime.GC() // a pool drops its items at the second collection, which is FreeOSMemory's
		debug.FreeOSMemory()
	})
}

// rank answers a request for the model or the experiment called name. It returns the number of
// ranked documents.
func (s *Server) rank(w http.ResponseWriter, r *http.Request, name string) (docs int, err error) {
	j := s.jobs.Get().(*job)
	defer func() {
		j.reader.done()
		s.dropBlocks(j)
		if j.size() <= mostKept {
			s.jobs.Put(j)
		} else {
			s.tidy()
		}
	}()
	m, e, err := s.find(j, name)
	if err != nil {
		return 0, err
	}
	if err := s.permitAll(r, j, m); err != nil {
		return 0, err
	}
	if j.form, err = formOf(r); err != nil {
		return 0, err
	}
	if err := s.read(j, w, r); err != nil {
		return 0, err
	}
	if err := s.work(j, r, m, e); err != nil {
		return 0, err
	}
	h := w.Header()
	h["X-Content-Type-Options"], h["Content-Type"] = noSniff, jsonType
	if j.form.scores {
		h["Content-Type"] = binaryType
	}
	h["Content-Length"] = j.contentLength()
	if j.model != nil { // nil if two models were interleaved
		h["Listwise-Model"], h["Listwise-Version"] = j.model.nameHeader, j.model.versionHeader
	}
	if j.page != 0 {
		h["Listwise-Page"] = []string{j.page.String()}
	}
	_, _ = w.Write(j.out) // the client is gone
	return j.docs, nil
}

// work waits for a free desk and computes the answer of a request.
func (s *Server) work(j *job, r *http.Request, m *Loaded, e *Experiment) error {
	if s.waiting.Add(1) > int64(s.limits.Concurrent) {
		s.waiting.Add(-1)
		return problemf(http.StatusTooManyRequests, "found %d requests at once, expected no more: try again", s.limits.Concurrent)
	}
	defer s.waiting.Add(-1)
	select {
	case j.desk = <-s.desks:
	default: // closing the sending half of a connection ends the context; such clients still get an answer if a desk is free
		select {
		case j.desk = <-s.desks:
		case <-r.Context().Done():
			return problemf(http.StatusServiceUnavailable, "the client closed its side of the connection while the request waited for a worker")
		}
	}
	defer func() {
		if j.desk.size() > mostKept {
			s.tidy()
		}
		s.desks <- j.desk
		j.desk = nil
		j.reader.keep(int64(len(j.body) + len(j.out)))
	}()
	j.out = j.out[:0]
	err := s.reply(j, m, e)
	j.docs = j.request.Docs()
	return err
}

// reply computes the answer of a request to experiment e, or to model m if e is nil.
func (s *Server) reply(j *job, m *Loaded, e *Experiment) error {
	var err error
	j.model, j.page = nil, 0
	switch {
	case e != nil && e.Kind == experiment.Interleave && j.form.scores:
		return problemf(http.StatusNotAcceptable, "found scores asked for, expected Accept: %s: the documents have scores of two models", mediaJSON)
	case e != nil && e.Kind == experiment.Explore && j.form.scores:
		return problemf(http.StatusNotAcceptable, "found scores asked for, expected Accept: %s: the ranking is not always that of the scores", mediaJSON)
	case e != nil:
		err = s.try(j, e)
	default:
		if err = s.decode(j, m); err == nil {
			err = s.answerLogged(j, m, nil)
		}
	}
	if err != nil {
		return err
	}
	if len(j.answer.Pages) == 1 {
		j.page = j.answer.Pages[0]
	}
	return j.write()
}

// decode reads a request for model m.
func (s *Server) decode(j *job, m *Loaded) error {
	if j.form.binary {
		return s.decodeBinary(j, m)
	}
	if j.form.engine != nil {
		return s.decodeEngine(j, m)
	}
	return j.request.Decode(s.text(j), &m.schema, s.limitsOf(j), s.config.Lenient)
}

// answer scores and ranks the documents of a request by model m, and queues the request for m's
// shadows.
func (s *Server) answer(j *job, m *Loaded) error {
	if err := j.score(m); err != nil {
		return err
	}
	j.rank()
	j.answer = rankjson.Answer{Model: m.Name, Version: m.Version, Models: j.answer.Models[:0], Rankings: j.answer.Rankings, Pages: j.answer.Pages}
	j.model = m
	s.shade(j, m)
	return nil
}

// write encodes the answer into j.out.
func (j *job) write() (err error) {
	switch {
	case j.form.scores:
		j.out = appendScores(j.out[:0], j.scores)
	case j.request.Engine != nil:
		j.out = rankjson.AppendReranked(j.out[:0], j.answer.Rankings[0], &j.request)
	case j.request.Contributions != 0:
		j.out, err = j.appendExplained(j.out[:0], j.model)
	default:
		j.out = rankjson.AppendAnswer(j.out[:0], &j.answer, &j.request)
	}
	return err
}

// limitsOf returns the limits for decoding a request.
func (s *Server) limitsOf(j *job) rankjson.Limits {
	return rankjson.Limits{Documents: s.limits.Documents, Cells: s.limits.cells(), Queries: s.limits.Queries, Memory: &j.reader}
}

// score sets the scores of all documents by model m, and counts their features for the drift.
func (d *desk) score(m *Loaded) error {
	d.scores = slices.Grow(d.scores[:0], d.request.Docs())[:d.request.Docs()]
	for i, q := range d.request.Queries {
		end := q.First + q.Docs
		x := d.request.X[q.First*m.schema.Features : end*m.schema.Features]
		if err := m.Model.ScoreWhole(d.scores[q.First:end], x); err != nil {
			return &rankjson.Error{Kind: rankjson.Unprocessable, Pointer: d.request.Documents(i), Detail: err.Error()}
		}
		m.drift.add(x)
	}
	return nil
}

// rank sets the rankings of all queries, best first. Tied documents stay in the order of the
// request.
func (d *desk) rank() {
	d.ranked = d.ranked[:0]
	d.answer.Rankings = d.answer.Rankings[:0]
	for _, q := range d.request.Queries {
		for doc := range q.Docs {
			d.ranked = append(d.ranked, rankjson.Ranked{Doc: doc, Score: d.scores[q.First+doc]})
		}
	}
	for _, q := range d.request.Queries {
		ranking := d.ranked[q.First : q.First+q.Docs]
		slices.SortFunc(ranking, func(a, b rankjson.Ranked) int {
			if c := cmp.Compare(b.Score, a.Score); c != 0 {
				return c
			}
			return cmp.Compare(a.Doc, b.Doc)
		})
		if d.request.Top > 0 {
			ranking = ranking[:min(d.request.Top, len(ranking))]
		}
		d.answer.Rankings = append(d.answer.Rankings, ranking)
	}
}
