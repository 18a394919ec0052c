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

// instant is a time: text in RFC 3339 or ISO 8601, or a number, whose unit depends on the format.
type instant struct {
	time   time.Time
	number string // decimal digits; empty if the time is text
}

// layouts are the forms of times besides RFC 3339. Without a zone, times are UTC.
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

// Shown implements Format.
func (ServeLog) Shown(line []byte, e *event) error {
	var in struct {
		Time       instant `json:"time"`
		Page       text    `json:"page"`
		Experiment string  `json:"experiment"`
		Kind       string  `json:"kind"`
		User       text    `json:"user"`
		Query      text    `json:"query"`
		Models     []struct {
			Model   string `json:"model"`
			Version string `json:"version"`
		} `json:"models"`
		Ranking []struct {
			ID   text `json:"id"`
			Team int  `json:"team"`
		} `json:"ranking"`
		Candidates []text  `json:"candidates"`
		Swapped    []int   `json:"swapped"`
		Swap       bool    `json:"swap"`
		Pairs      int     `json:"pairs"`
		Exchanged  []int   `json:"exchanged"`
		Shuffled   int     `json:"shuffled"`
		Propensity float64 `json:"propensity"`
	}
	if err := decode(line, &in); err != nil {
		return err
	}
	switch in.Kind {
	case "split", "interleave", "explore", "page":
	case "shadow":
		e.kind = shadow
		return nil
	default:
		e.kind = other
		return nil
	}
	at, err := in.Time.in(time.Second)
	if err != nil {
		return err
	}
	p := &e.page
	*p = Page{ID: string(in.Page), Time: at, User: string(in.User), Query: string(in.Query), Experiment: in.Experiment,
		Swap: in.Swap, Pairs: in.Pairs, Shuffled: in.Shuffled, Propensity: in.Propensity, Weight: 1}
	e.kind, e.name = ranking, p.ID
	var arms, versions []string
	for _, m := range in.Models {
		arms, versions = append(arms, m.Model), append(versions, m.Version)
	}
	p.Arm, p.Version = strings.Join(arms, ","), strings.Join(versions, ",")
	for _, d := range in.Ranking {
		p.Docs = append(p.Docs, string(d.ID))
		if in.Kind == "interleave" {
			p.Team = append(p.Team, d.Team)
		}
	}
	if in.Swapped != nil {
		if len(in.Swapped) != 2 {
			return bad("swapped with "+strconv.Itoa(len(in.Swapped))+" ranks", "two")
		}
		p.Swapped = [2]int{in.Swapped[0] - 1, in.Swapped[1] - 1}
	}
	for _, r := range in.Exchanged {
		if r < 1 || r >= len(p.Docs) {
			return bad("the exchanged rank "+strconv.Itoa(r), "a rank above the last")
		}
		p.Exchanged = append(p.Exchanged, r-1)
	}
	if in.Candidates != nil {
		for _, d := range in.Candidates {
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

// UBI reads queries and events of User Behavior Insights 1.x: documents of the indexes ubi_queries and ubi_events,
// by themselves, as hits with _source, or behind the actions of a bulk request.
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
