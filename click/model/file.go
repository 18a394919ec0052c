package model

import (
	"fmt"
	"io"
	"slices"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/strictjson"
	ranking "github.com/listwise/listwise/model"
)

const (
	// FormatName is the value of "format" in a file of a click model.
	FormatName = "listwise click model"
	// FormatVersion is the version of the format that Write writes.
	FormatVersion = 1
)

// head is what a model file states besides parameters.
type head struct {
	Format     string   `json:"format"`
	Version    int      `json:"version"`
	Model      string   `json:"model"`
	Prior      string   `json:"prior"`
	Exact      bool     `json:"exact,omitempty"`
	Pages      int      `json:"pages"`
	Iterations int      `json:"iterations,omitempty"`
	Slots      []string `json:"slots,omitempty"`
	Ranks      int      `json:"ranks,omitempty"`
	Sum        *string  `json:"sum,omitempty"`
}

// query are the parameters of a query's documents.
type query struct {
	Query        string             `json:"query"`
	Docs         []string           `json:"docs"`
	Attraction   strictjson.Numbers `json:"attraction,omitempty"`
	Satisfaction strictjson.Numbers `json:"satisfaction,omitempty"`
}

// The members of a file that are not in head or named after the shared parameters.
const (
	unseenKey  = "unseen"
	queriesKey = "queries"
)

// Save writes the model to a file.
func (m *Model) Save(path string) error { return atomicfile.Write(path, m.Write) }

// Write writes the model as JSON: the shared parameters under their names, the pairs by query, and a checksum. The
// numbers read back with the same bits.
func (m *Model) Write(w io.Writer) error {
	text, err := strictjson.Marshal(head{FormatName, FormatVersion, m.Name, m.Prior.String(), m.Exact, m.Pages, m.Iterations, m.Slots, m.Ranks, nil})
	if err != nil {
		return err
	}
	if m.shared.name != "" {
		text = strictjson.AppendNumbers(text, m.shared.name, m.Shared)
	}
	if m.attracts {
		unseen := strictjson.AppendNumbers([]byte("{}"), "attraction", []float64{m.Unseen.Attraction})
		if m.satisfies {
			unseen = strictjson.AppendNumbers(unseen, "satisfaction", []float64{m.Unseen.Satisfaction})
		}
		text = strictjson.AppendMember(text, unseenKey, unseen)
		queries := []byte{'['}
		for from := 0; from < m.Pairs(); {
			own, to := m.query(from)
			part, err := strictjson.Marshal(own)
			if err != nil {
				return err
			}
			if from > 0 {
				queries = append(queries, ',')
			}
			queries = append(queries, part...)
			from = to
		}
		text = strictjson.AppendMember(text, queriesKey, append(queries, ']'))
	}
	if text, err = strictjson.AppendSum(text); err != nil {
		return err
	}
	return strictjson.Indent(w, text)
}

// query returns the query whose first pair is given, and the pair after its last.
func (m *Model) query(from int) (q query, to int) {
	q.Query, _ = m.PairName(from)
	for to = from; to < m.Pairs(); to++ {
		name, doc := m.PairName(to)
		if name != q.Query {
			break
		}
		q.Docs = append(q.Docs, doc)
	}
	q.Attraction = m.Attraction[from:to]
	if m.satisfies {
		q.Satisfaction = m.Satisfaction[from:to]
	}
	return q, to
}

// Load reads a model file. If the content is invalid, the error names the file and the line.
func Load(path string) (*Model, error) {
	text, err := ranking.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Decode(path, text)
}

// Decode reads a model from the text of a file. All its errors name the path, and the line if they are about
// a part of the text.
func Decode(path string, text []byte) (*Model, error) {
	m, err := decode(text)
	if err != nil {
		return nil, ranking.Locate(path, text, err)
	}
	return m, nil
}

func decode(text []byte) (*Model, error) {
	if err := strictjson.Check(text); err != nil {
		return nil, err
	}
	o, err := strictjson.Members(strictjson.Whole(text))
	if err != nil {
		return nil, err
	}
	var h head
	if err := o.Decode(&h); err != nil {
		return nil, err
	}
	switch {
	case h.Format != FormatName:
		return nil, fmt.Errorf(`found "format": %q, expected %q`, h.Format, FormatName)
	case h.Version != FormatVersion:
		return nil, fmt.Errorf("found format version %d, expected %d", h.Version, FormatVersion)
	}
	m := &Model{Exact: h.Exact, Pages: h.Pages, Iterations: h.Iterations, Slots: h.Slots, Ranks: h.Ranks, Unseen: Pair{0.5, 0.5}}
	if m.Kind, err = Lookup(h.Model); err != nil {
		return nil, err
	}
	if m.Prior, err = ParsePrior(h.Prior); err != nil {
		return nil, err
	}
	switch {
	case m.Pages < 0 || m.Iterations < 0:
		return nil, fmt.Errorf("found %d pages and %d iterations, expected 0 or more", m.Pages, m.Iterations)
	case m.Ranks < 0 || m.Ranks > click.MaxDocs:
		return nil, fmt.Errorf("found %d ranks, expected at most %d", m.Ranks, click.MaxDocs)
	case (m.shared.by == byRank) != (m.Ranks > 0) || (m.shared.by == bySlot) != (len(m.Slots) > 0):
		return nil, fmt.Errorf("found %d ranks and %d slots, expected those of a model %s", m.Ranks, len(m.Slots), m.Name)
	}
	for i, name := range m.Slots {
		if slices.Contains(m.Slots[:i], name) {
			return nil, fmt.Errorf("found slot %q twice, expected each slot once", name)
		}
	}
	if err := m.decodeParameters(o); err != nil {
		return nil, err
	}
	return m, strictjson.CheckSum(o, h.Sum)
}

// decodeParameters reads the members that head does not have.
func (m *Model) decodeParameters(o strictjson.Object) error {
	m.names.index = new(click.Index)
	known := []string{"format", "version", "model", "prior", "exact", "pages", "iterations", "slots", "ranks", strictjson.SumKey}
	wanted := map[string]func(strictjson.Value) error{}
	if m.shared.name != "" {
		wanted[m.shared.name] = func(v strictjson.Value) (err error) {
			m.Shared, err = probabilities(v, m.shared.name, m.shared.size(len(m.Slots), m.Ranks))
			return err
		}
	}
	if m.attracts {
		wanted[unseenKey] = m.decodeUnseen
		wanted[queriesKey] = m.decodeQueries
	}
	for _, member := range o {
		decode, ok := wanted[member.Key]
		switch {
		case ok:
			delete(wanted, member.Key)
			if err := decode(member.Value); err != nil {
				return err
			}
		case !slices.Contains(known, member.Key):
			return &strictjson.Error{At: member.Value.At, Err: fmt.Errorf("found the key %q, which a model %s does not have", member.Key, m.Name)}
		}
	}
	for key := range wanted {
		return fmt.Errorf("found no %q, expected the parameters of a model %s", key, m.Name)
	}
	return nil
}

func (m *Model) decodeUnseen(v strictjson.Value) (err error) {
	o, err := strictjson.Members(v)
	if err != nil {
		return err
	}
	q, err := m.decodeQuery(o, v, 1, 0)
	if err != nil {
		return err
	}
	m.Unseen.Attraction = q.Attraction[0]
	if m.satisfies {
		m.Unseen.Satisfaction = q.Satisfaction[0]
	}
	return nil
}

// decodeQuery reads an object with the parameters of n documents and the given number of other members.
func (m *Model) decodeQuery(o strictjson.Object, v strictjson.Value, n, others int) (q query, err error) {
	lists := 1
	if m.satisfies {
		lists = 2
	}
	for _, member := range o {
		switch member.Key {
		case "attraction":
			q.Attraction, err = probabilities(member.Value, member.Key, n)
		case "satisfaction":
			q.Satisfaction, err = probabilities(member.Value, member.Key, n)
		}
		if err != nil {
			return q, err
		}
	}
	if q.Attraction == nil || (q.Satisfaction != nil) != m.satisfies || len(o) != lists+others {
		return q, &strictjson.Error{At: v.At, Err: fmt.Errorf("found other keys than those of a model %s", m.Name)}
	}
	return q, nil
}

func (m *Model) decodeQueries(v strictjson.Value) error {
	list, err := strictjson.Elements(v)
	if err != nil {
		return err
	}
	for _, e := range list {
		var own query
		o, err := strictjson.Members(e)
		if err != nil {
			return err
		}
		if err := o.Decode(&own); err != nil {
			return err
		}
		q, err := m.decodeQuery(o, e, len(own.Docs), 2)
		if err != nil {
			return err
		}
		if own.Query == "" || own.Docs == nil {
			return &strictjson.Error{At: e.At, Err: fmt.Errorf(`found a query without "query" or "docs", expected both`)}
		}
		for _, doc := range own.Docs {
			if m.names.index.Lookup(own.Query, doc) >= 0 {
				return &strictjson.Error{At: e.At, Err: fmt.Errorf("found document %q of query %q twice, expected it once", doc, own.Query)}
			}
			pair := int32(m.names.index.Pair(own.Query, doc))
			m.names.number, m.names.pairs = append(m.names.number, pair), append(m.names.pairs, pair)
		}
		m.Attraction = append(m.Attraction, q.Attraction...)
		m.Satisfaction = append(m.Satisfaction, q.Satisfaction...)
	}
	return nil
}

// probabilities reads n probabilities.
func probabilities(v strictjson.Value, name string, n int) ([]float64, error) {
	elements, err := strictjson.Elements(v)
	if err != nil {
		return nil, err
	}
	if len(elements) != n {
		return nil, &strictjson.Error{At: v.At, Err: fmt.Errorf("found %d numbers in %q, expected %d", len(elements), name, n)}
	}
	var list struct {
		Numbers strictjson.Numbers `json:"numbers"`
	}
	if err := (strictjson.Object{{Key: "numbers", Value: v}}).Decode(&list); err != nil {
		return nil, err
	}
	for i, p := range list.Numbers {
		if !(p >= Least && p <= 1-Least) {
			return nil, &strictjson.Error{At: elements[i].At, Err: fmt.Errorf("found %v in %q, expected a probability from %v to 1 − %v", p, name, Least, Least)}
		}
	}
	if n == 0 {
		return []float64{}, nil
	}
	return list.Numbers, nil
}
