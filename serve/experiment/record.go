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
	Shadow     = "shadow"     // a model scored, and its ranking was not shown
)

// Record is a line of the log: the ranking shown for a query, and its models.
type Record struct {
	Time       time.Time          `json:"time"`
	Experiment string             `json:"experiment"`
	Kind       string             `json:"kind"`
	User       string             `json:"user,omitempty"`
	Query      string             `json:"query,omitempty"`
	Models     []rankjson.Version `json:"models"` // the models that ranked; of an interleaving, the first and the second team
	Ranking    []Shown            `json:"ranking"`
}

// Shown is a document of a shown ranking.
type Shown struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"` // by the model that placed the document
	Team  int     `json:"team"`  // the index of that model in Models

	// Softmax is that of the document's Place, of a probabilistic interleaving.
	Softmax *[2]float64 `json:"softmax,omitempty"`
}

// AppendRecord appends the log line for the ranking shown for query i of a request. places has the
// team of each document of the ranking. places is nil if one model ranked.
func AppendRecord(dst []byte, now time.Time, name, kind string, r *rankjson.Request, i int, models []rankjson.Version, ranking []rankjson.Ranked, places []Place) []byte {
	q := &r.Queries[i]
	dst = append(dst, `{"time":"`...)
	dst = now.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = rankjson.AppendString(append(dst, `","experiment":`...), name)
	dst = rankjson.AppendString(append(dst, `,"kind":`...), kind)
	if r.User != nil {
		dst = rankjson.AppendString(append(dst, `,"user":`...), r.User)
	}
	if q.ID != nil {
		dst = rankjson.AppendString(append(dst, `,"query":`...), q.ID)
	}
	dst = append(dst, `,"models":[`...)
	for k, m := range models {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = rankjson.AppendString(append(dst, `{"model":`...), m.Model)
		dst = append(rankjson.AppendString(append(dst, `,"version":`...), m.Version), '}')
	}
	dst = append(dst, `],"ranking":[`...)
	for k := range ranking {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = rankjson.AppendID(append(dst, `{"id":`...), r.IDs[q.First+ranking[k].Doc], ranking[k].Doc)
		dst = rankjson.AppendNumber(append(dst, `,"score":`...), ranking[k].Score)
		team := 0
		if places != nil {
			team = places[k].Team
		}
		dst = strconv.AppendInt(append(dst, `,"team":`...), int64(team), 10)
		if places != nil && places[k].Softmax != [2]float64{} {
			dst = rankjson.AppendNumber(append(dst, `,"softmax":[`...), places[k].Softmax[0])
			dst = append(rankjson.AppendNumber(append(dst, ','), places[k].Softmax[1]), ']')
		}
		dst = append(dst, '}')
	}
	return append(dst, "]}\n"...)
}
