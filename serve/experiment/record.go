package experiment

import (
	"strconv"
	"time"

	"github.com/listwise/listwise/serve/rankjson"
)

// The kinds of records.
const (
	Split      = "split"      // one of several models ranked
	Interleave = "interleave" // two models ranked
	Explore    = "explore"    // a model ranked, and an exploration changed its ranking
	Shadow     = "shadow"     // a model scored, and its ranking was not shown
	Page       = "page"       // a model ranked outside experiments
)

// Record is a line of the log: the ranking shown for a query, and its models.
type Record struct {
	Draw // of an exploration

	Time       time.Time          `json:"time"`
	Page       string             `json:"page"`       // the id of the ranking; that of the ranking shown, if Kind is Shadow
	Experiment string             `json:"experiment"` // empty if the request named a model
	Kind       string             `json:"kind"`
	User       string             `json:"user,omitempty"`
	Query      string             `json:"query,omitempty"`
	Models     []rankjson.Version `json:"models"` // the models that ranked; of an interleaving, the first and the second team
	Share      []int              `json:"share"`  // of a split, the shares of all its models
	Ranking    []Shown            `json:"ranking"`
	Candidates []string           `json:"candidates"` // the model's first documents, if not all were shown; see serve.Config
}

// Shown is a document of a shown ranking.
type Shown struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"` // by the model that placed the document
	Team  int     `json:"team"`  // the index of that model in Models

	// Softmax is that of the document's Place, of a probabilistic interleaving.
	Softmax *[2]float64 `json:"softmax,omitempty"`
}

// Line is a line of the log before it is written. [Record] documents its fields.
type Line struct {
	Time       time.Time
	Page       rankjson.Page
	Experiment string
	Kind       string
	Request    *rankjson.Request
	Query      int // the index of the query in Request
	Models     []rankjson.Version
	Share      []int
	Draw       *Draw // nil if nothing was explored
	Ranking    []rankjson.Ranked
	Places     []Place // of the documents of Ranking; nil if one model ranked
	Candidates []int   // indexes of documents of the query
}

// Append appends the line as JSON.
func (l *Line) Append(dst []byte) []byte {
	r, q := l.Request, &l.Request.Queries[l.Query]
	dst = append(dst, `{"time":"`...)
	dst = l.Time.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = rankjson.AppendPage(append(dst, `","page":`...), l.Page)
	if l.Experiment != "" {
		dst = rankjson.AppendString(append(dst, `,"experiment":`...), l.Experiment)
	}
	dst = rankjson.AppendString(append(dst, `,"kind":`...), l.Kind)
	if r.User != nil {
		dst = rankjson.AppendString(append(dst, `,"user":`...), r.User)
	}
	if q.ID != nil {
		dst = rankjson.AppendString(append(dst, `,"query":`...), q.ID)
	}
	dst = append(dst, `,"models":[`...)
	for k, m := range l.Models {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = rankjson.AppendString(append(dst, `{"model":`...), m.Model)
		dst = append(rankjson.AppendString(append(dst, `,"version":`...), m.Version), '}')
	}
	dst = append(dst, "],"...)
	if l.Share != nil {
		dst = append(appendList(append(dst, `"share":`...), l.Share), ',')
	}
	if l.Draw != nil {
		dst = l.Draw.append(dst)
	}
	dst = append(dst, `"ranking":[`...)
	for k := range l.Ranking {
		if k > 0 {
			dst = append(dst, ',')
		}
		doc := &l.Ranking[k]
		dst = rankjson.AppendID(append(dst, `{"id":`...), r.IDs[q.First+doc.Doc], doc.Doc)
		dst = rankjson.AppendNumber(append(dst, `,"score":`...), doc.Score)
		team := 0
		if l.Places != nil {
			team = l.Places[k].Team
		}
		dst = strconv.AppendInt(append(dst, `,"team":`...), int64(team), 10)
		if l.Places != nil && l.Places[k].Softmax != [2]float64{} {
			dst = rankjson.AppendNumber(append(dst, `,"softmax":[`...), l.Places[k].Softmax[0])
			dst = append(rankjson.AppendNumber(append(dst, ','), l.Places[k].Softmax[1]), ']')
		}
		dst = append(dst, '}')
	}
	for k, doc := range l.Candidates {
		if k == 0 {
			dst = append(dst, `],"candidates":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = rankjson.AppendID(dst, r.IDs[q.First+doc], doc)
	}
	return append(dst, "]}\n"...)
}
