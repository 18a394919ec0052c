package click

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/internal/suggest"
)

// text is an id or a text: a JSON string or number. null is "".
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(value []byte) error {
	switch {
	case len(value) == 0 || string(value) == "null":
		*t = ""
	case value[0] == '"' && plain(value[1:len(value)-1]):
		*t = text(value[1 : len(value)-1])
	case value[0] == '"':
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return err
		}
		*t = text(s)
	case value[0] == '-' || value[0] >= '0' && value[0] <= '9':
		*t = text(value)
	default:
		return bad(suggest.Quote(value), "text or a number as an id")
	}
	return nil
}

// plain reports whether the content of a JSON string is its text.
func plain(content []byte) bool {
	for _, c := range content {
		if c < ' ' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// instant is a time: text in RFC 3339 or ISO 8601, or a number, whose unit depends on the format.
type instant struct {
	time   time.Time
	number string // decimal digits; empty if the time is text
}

// layouts are the forms of times. Without a zone, times are UTC.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"}

// UnmarshalJSON implements json.Unmarshaler.
func (t *instant) UnmarshalJSON(value []byte) error {
	var s text
	if err := s.UnmarshalJSON(value); err != nil {
		return bad(suggest.Quote(value)+" as a time", "text or a number")
	}
	if s == "" {
		return nil
	}
	if _, err := strconv.ParseFloat(string(s), 64); err == nil {
		t.number = string(s)
		return nil
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, string(s)); err == nil {
			t.time = at.UTC()
			return checkTime(t.time, string(s))
		}
	}
	return bad("the time "+suggest.Quote([]byte(s)), "one such as 2006-01-02T15:04:05Z")
}

// in returns the time, with numbers in the given unit since 1970.
func (t *instant) in(unit time.Duration) (time.Time, error) {
	if t.number == "" {
		return t.time, nil
	}
	v, err := strconv.ParseFloat(t.number, 64)
	if limit := float64(math.MaxInt64 / int64(unit)); err != nil || !(math.Abs(v) < limit) {
		return time.Time{}, bad("the time "+suggest.Quote([]byte(t.number)), "seconds or milliseconds since 1970")
	}
	whole := math.Floor(v)
	rest := time.Duration(math.Round((v - whole) * float64(unit)))
	at := time.Unix(0, int64(whole)*int64(unit)).Add(rest.Round(time.Microsecond)).UTC()
	return at, checkTime(at, t.number)
}

// checkTime returns an error if a time has no nanoseconds since 1970.
func checkTime(t time.Time, text string) error {
	if y := t.Year(); y < 1700 || y > 2200 {
		return bad("the time "+suggest.Quote([]byte(text)), "a year from 1700 to 2200")
	}
	return nil
}

// decode reads the JSON object of a line.
func decode(line []byte, into any) error {
	if line[0] != '{' && json.Valid(line) {
		return bad(suggest.Quote(line[:min(len(line), 20)]), "a JSON object")
	}
	err := json.Unmarshal(line, into)
	if notJSON(err) {
		return err
	}
	_, err = strictjson.Plain(err)
	if err == nil || has[*dataset.FormatError](err) {
		return err
	}
	found, expected, _ := strings.Cut(strings.TrimPrefix(err.Error(), "found "), ", expected ")
	return bad(found, expected)
}

func has[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// notJSON reports whether an error is that a line is not JSON, such as half a line.
func notJSON(err error) bool { return has[*json.SyntaxError](err) }

// set sets the time of a click.
func (c *joinClick) set(t time.Time) {
	if !t.IsZero() {
		c.timed, c.time = true, t.UnixNano()
	}
}

// ServeLog reads the logs of listwise serve, and clicks with the members page, or user and query, and id, time and
// experiment.
type ServeLog struct{}

func (ServeLog) lenient() bool { return true }

// serveLine are the members of a line of serve's log.
type serveLine struct {
	time                                instant
	page, experiment, kind, user, query text
	models                              []struct{ Model, Version string }
	docs                                []string
	teams                               []int
	softmax                             [][2]float64
	candidates                          []text
	swapped, exchanged                  []int
	swap                                bool
	pairs, shuffled                     int
	propensity                          float64
}

// member returns where the value of a member belongs, nil if it is not needed.
func (l *serveLine) member(key string) any {
	switch key {
	case "time":
		return &l.time
	case "page":
		return &l.page
	case "experiment":
		return &l.experiment
	case "kind":
		return &l.kind
	case "user":
		return &l.user
	case "query":
		return &l.query
	case "models":
		return &l.models
	case "candidates":
		return &l.candidates
	case "swapped":
		return &l.swapped
	case "exchanged":
		return &l.exchanged
	case "swap":
		return &l.swap
	case "pairs":
		return &l.pairs
	case "shuffled":
		return &l.shuffled
	case "propensity":
		return &l.propensity
	}
	return nil
}

// read reads a line. encoding/json would take three times as long.
func (l *serveLine) read(line []byte) error {
	s := strictjson.Scanner{Text: line}
	next, err := s.Object(0, "the line", func(key []byte, _, p int) (int, error) {
		if string(key) == "ranking" {
			return s.List(p, "the ranking", func(_, p int) (int, error) { return l.document(&s, p) })
		}
		return readMember(&s, p, key, l.member(string(key)))
	})
	if err == nil && s.Blanks(next) < len(line) {
		err = &strictjson.Fault{At: next, Found: s.Token(s.Blanks(next)) + " behind the line's object", Expected: "nothing"}
	}
	if err == nil {
		return nil
	}
	if err := json.Unmarshal(line, new(json.RawMessage)); err != nil {
		return err // the line is not JSON
	}
	if f, ok := errors.AsType[*strictjson.Fault](err); ok {
		return bad(f.Found, f.Expected)
	}
	return err
}

// document reads a document of the ranking.
func (l *serveLine) document(s *strictjson.Scanner, p int) (next int, err error) {
	var id text
	team := 0
	var softmax *[2]float64
	next, err = s.Object(p, "a document", func(key []byte, _, p int) (int, error) {
		switch string(key) {
		case "id":
			return readMember(s, p, key, &id)
		case "team":
			return readMember(s, p, key, &team)
		case "softmax":
			return readMember(s, p, key, &softmax)
		}
		return s.Skip(p)
	})
	l.docs, l.teams = append(l.docs, string(id)), append(l.teams, team)
	if softmax != nil {
		l.softmax = append(l.softmax, *softmax)
	}
	return next, err
}

// readMember reads the value of a member, unless to is nil.
func readMember(s *strictjson.Scanner, p int, key []byte, to any) (next int, err error) {
	next, err = s.Skip(p)
	if err != nil || to == nil {
		return next, err
	}
	value := s.Text[p:next]
	switch to := to.(type) {
	case json.Unmarshaler:
		err = to.UnmarshalJSON(value)
	case *int:
		if len(value) == 1 && value[0] >= '0' && value[0] <= '9' {
			*to = int(value[0] - '0')
			return next, nil
		}
		err = json.Unmarshal(value, to)
	default:
		err = json.Unmarshal(value, to)
	}
	if err == nil || has[*dataset.FormatError](err) {
		return next, err
	}
	_, err = strictjson.Plain(err)
	found, expected, _ := strings.Cut(strings.TrimPrefix(err.Error(), "found "), ", expected ")
	return next, bad(found+" in "+string(key), expected)
}

// Shown implements Format.
func (ServeLog) Shown(line []byte, e *event) error {
	var in serveLine
	if err := in.read(line); err != nil {
		return err
	}
	switch in.kind {
	case "split", "interleave", "explore", "page":
	case "shadow":
		e.kind = shadow
		return nil
	default:
		e.kind = other
		return nil
	}
	at, err := in.time.in(time.Second)
	if err != nil {
		return err
	}
	p := &e.page
	*p = Page{ID: string(in.page), Time: at, User: string(in.user), Query: string(in.query), Experiment: string(in.experiment),
		Docs: in.docs, Softmax: in.softmax, Swap: in.swap, Pairs: in.pairs, Shuffled: in.shuffled, Propensity: in.propensity, Weight: 1}
	e.kind, e.name = ranking, p.ID
	if in.kind == "interleave" {
		p.Team = in.teams
	}
	if len(in.models) == 1 {
		p.Arm, p.Version = in.models[0].Model, in.models[0].Version
	} else {
		var arms, versions []string
		for _, m := range in.models {
			arms, versions = append(arms, m.Model), append(versions, m.Version)
		}
		p.Arm, p.Version = strings.Join(arms, ","), strings.Join(versions, ",")
	}
	if in.swapped != nil {
		if len(in.swapped) != 2 {
			return bad("swapped with "+strconv.Itoa(len(in.swapped))+" ranks", "two")
		}
		p.Swapped = [2]int{in.swapped[0] - 1, in.swapped[1] - 1}
	}
	for _, r := range in.exchanged {
		if r < 1 || r >= len(p.Docs) {
			return bad("the exchanged rank "+strconv.Itoa(r), "a rank above the last")
		}
		p.Exchanged = append(p.Exchanged, r-1)
	}
	if in.candidates != nil {
		for _, d := range in.candidates {
			p.Candidates = append(p.Candidates, string(d))
		}
		for _, d := range p.Docs { // an exploration may show others than the model's first
			if !slices.Contains(p.Candidates, d) {
				p.Candidates = append(p.Candidates, d)
			}
		}
	}
	return nil
}

// Click implements Format.
func (ServeLog) Click(line []byte, e *event) error {
	var in struct {
		Page       text    `json:"page"`
		User       text    `json:"user"`
		Query      text    `json:"query"`
		ID         text    `json:"id"`
		Time       instant `json:"time"`
		Experiment string  `json:"experiment"`
	}
	if err := decode(line, &in); err != nil {
		return err
	}
	if in.ID == "" {
		return bad(`no "id"`, "that of the document")
	}
	at, err := in.Time.in(time.Second)
	if err != nil {
		return err
	}
	*e = event{kind: click, name: string(in.Page), user: string(in.User), query: string(in.Query)}
	e.click = joinClick{doc: string(in.ID), experiment: in.Experiment}
	e.click.set(at)
	return nil
}

// UBI reads queries and events of User Behavior Insights 1.x, the documents of the indexes ubi_queries and ubi_events.
// A line is a document, a hit with _source, or an action of a bulk request, which is skipped.
type UBI struct {
	Actions []string // names of events that are clicks
}

func (*UBI) lenient() bool { return false }

// ubi has the members of both kinds of documents.
type ubi struct {
	QueryID         text    `json:"query_id"`
	ClientID        text    `json:"client_id"`
	Timestamp       instant `json:"timestamp"`
	UserQuery       text    `json:"user_query"`
	ResponseID      text    `json:"query_response_id"`
	HitIDs          []text  `json:"query_response_hit_ids"`
	ObjectIDs       []text  `json:"query_response_object_ids"`  // earlier versions
	ObjectsIDs      []text  `json:"query_response_objects_ids"` // the documentation
	ActionName      *text   `json:"action_name"`
	EventAttributes struct {
		Object struct {
			ObjectID text `json:"object_id"`
		} `json:"object"`
		Position struct {
			Ordinal ordinal `json:"ordinal"`
		} `json:"position"`
	} `json:"event_attributes"`

	Source json.RawMessage `json:"_source"`
	Index  json.RawMessage `json:"index"`
	Create json.RawMessage `json:"create"`
}

// ordinal is the place of a document, counted from 1: a number, or an object with an index.
type ordinal int32

// UnmarshalJSON implements json.Unmarshaler.
func (o *ordinal) UnmarshalJSON(value []byte) error {
	var n float64
	if value[0] == '{' {
		var in struct{ Index *float64 }
		if err := json.Unmarshal(value, &in); err != nil || in.Index == nil {
			return bad(suggest.Quote(value)+" as ordinal", "a number, or an object with an index")
		}
		n = *in.Index
	} else if string(value) == "null" {
		return nil
	} else if err := json.Unmarshal(value, &n); err != nil {
		return bad(suggest.Quote(value)+" as ordinal", "a number, or an object with an index")
	}
	if n != math.Trunc(n) || n < 0 || n > math.MaxInt32 {
		return bad(suggest.Quote(value)+" as ordinal", "a whole number")
	}
	*o = ordinal(n)
	return nil
}

// read reads a document. It returns nil for the action of a bulk request.
func (*UBI) read(line []byte) (*ubi, error) {
	in := new(ubi)
	if err := decode(line, in); err != nil {
		return nil, err
	}
	if in.Source != nil {
		source := in.Source
		in = new(ubi)
		if err := decode(bytes.TrimSpace(source), in); err != nil {
			return nil, err
		}
	}
	if in.QueryID == "" && in.ActionName == nil && (in.Index != nil || in.Create != nil) {
		return nil, nil //nolint:nilnil // no document
	}
	return in, nil
}

// Shown implements Format.
func (u *UBI) Shown(line []byte, e *event) error {
	in, err := u.read(line)
	if err != nil || in == nil || in.ActionName != nil { // an event, which Click reads
		return err
	}
	if in.QueryID == "" {
		return bad("no query_id", "that of a query")
	}
	at, err := in.Timestamp.in(time.Millisecond)
	if err != nil {
		return err
	}
	p := &e.page
	*p = Page{ID: string(in.ResponseID), Time: at, User: string(in.ClientID), Query: string(in.UserQuery), Weight: 1}
	if p.ID == "" {
		p.ID = string(in.QueryID)
	}
	e.kind, e.name = ranking, string(in.QueryID)
	for _, list := range [][]text{in.HitIDs, in.ObjectIDs, in.ObjectsIDs} {
		if p.Docs == nil {
			for _, d := range list {
				p.Docs = append(p.Docs, string(d))
			}
		}
	}
	return nil
}

// Click implements Format.
func (u *UBI) Click(line []byte, e *event) error {
	in, err := u.read(line)
	if err != nil || in == nil || in.ActionName == nil {
		return err
	}
	if !slices.Contains(u.Actions, string(*in.ActionName)) {
		e.kind = other
		return nil
	}
	at, err := in.Timestamp.in(time.Millisecond)
	if err != nil {
		return err
	}
	*e = event{kind: click, name: string(in.QueryID)}
	e.click = joinClick{doc: string(in.EventAttributes.Object.ObjectID), ordinal: int32(in.EventAttributes.Position.Ordinal)}
	e.click.set(at)
	switch {
	case e.name == "":
		e.kind = unnamed
	case e.click.doc == "" && e.click.ordinal == 0:
		return bad("a click without object_id and ordinal", "one of them, of the clicked document")
	}
	return nil
}

// Metarank reads events of metarank: rankings, and interactions that name a ranking.
type Metarank struct {
	Actions []string // types of interactions that are clicks
	Query   string   // name of the field that has the query
}

func (*Metarank) lenient() bool { return false }

type metarank struct {
	Event     string  `json:"event"`
	ID        text    `json:"id"`
	Timestamp instant `json:"timestamp"`
	User      text    `json:"user"`
	Ranking   text    `json:"ranking"`
	Type      string  `json:"type"`
	Item      text    `json:"item"`
	Fields    []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	} `json:"fields"`
	Items []struct {
		ID text `json:"id"`
	} `json:"items"`
}

// Shown implements Format.
func (m *Metarank) Shown(line []byte, e *event) error {
	var in metarank
	if err := decode(line, &in); err != nil {
		return err
	}
	switch in.Event {
	case "ranking":
	case "interaction": // Click reads it
		return nil
	default:
		e.kind = other
		return nil
	}
	if in.ID == "" {
		return bad("a ranking without id", "its id")
	}
	at, err := in.Timestamp.in(time.Millisecond)
	if err != nil {
		return err
	}
	p := &e.page
	*p = Page{ID: string(in.ID), Time: at, User: string(in.User), Weight: 1}
	e.kind, e.name = ranking, p.ID
	for _, f := range in.Fields {
		if f.Name == m.Query {
			var query text
			if query.UnmarshalJSON(f.Value) == nil { // a list is no query
				p.Query = string(query)
			}
		}
	}
	for _, d := range in.Items {
		p.Docs = append(p.Docs, string(d.ID))
	}
	return nil
}

// Click implements Format.
func (m *Metarank) Click(line []byte, e *event) error {
	var in metarank
	if err := decode(line, &in); err != nil {
		return err
	}
	if in.Event != "interaction" { // Shown reads it
		return nil
	}
	if !slices.Contains(m.Actions, in.Type) {
		e.kind = other
		return nil
	}
	if in.Ranking == "" {
		e.kind = unnamed
		return nil
	}
	if in.Item == "" {
		return bad("an interaction without item", "the id of the clicked one")
	}
	at, err := in.Timestamp.in(time.Millisecond)
	if err != nil {
		return err
	}
	*e = event{kind: click, name: string(in.Ranking)}
	e.click = joinClick{doc: string(in.Item)}
	e.click.set(at)
	return nil
}
