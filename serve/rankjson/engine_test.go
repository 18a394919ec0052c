package rankjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset/datatest"
)

// shopSchema has the features of the answers below.
var shopSchema = &Schema{Features: 3, Names: []string{"bm25", "title", "votes"}, Columns: map[string]int{"bm25": 0, "title": 1, "votes": 2}, Absent: float32(math.NaN())}

// solrAnswer has white space as Solr writes it, a feature that the model does not have, and a member after the documents.
const solrAnswer = `{
  "responseHeader":{
    "status":0,
    "QTime":11},
  "response":{"numFound":23,"start":0,"maxScore":14.148183,"docs":[
      {
        "id":"mv-1",
        "score":14.148183,
        "[features]":"bm25=14.148183,year=1999.0,title=4.7160606,votes=0.0"},
      {
        "id":7,
        "[features]":"title=1.0E-5,bm25=9.25,votes=17513.0",
        "tags":["a",{"score":1}]},
      {"[features]":"bm25=1,title=-2,votes=3","score":null}]
  },
  "highlighting":{"mv-1":{}}}
`

const solrReranked = `{
  "responseHeader":{
    "status":0,
    "QTime":11},
  "response":{"numFound":23,"start":0,"maxScore":3.5,"docs":[
      {"[features]":"bm25=1,title=-2,votes=3","score":3.5},
      {
        "id":"mv-1",
        "score":0.25,
        "[features]":"bm25=14.148183,year=1999.0,title=4.7160606,votes=0.0"},
      {"score":-1e-7,
        "id":7,
        "[features]":"title=1.0E-5,bm25=9.25,votes=17513.0",
        "tags":["a",{"score":1}]}]
  },
  "highlighting":{"mv-1":{}}}
`

const elasticAnswer = `{"took":5,"hits":{"total":{"value":2},"hits":[{"_id":"a","_score":1.5,"fields":{"x":[1],"_ltrlog":[{"shop":[{"name":"bm25","value":2.5},{"name":"title"},{"value":3,"name":"votes"}]}]},"matched_queries":["logged"]}, {"_id":"b","_score":null,"fields":{"_ltrlog":[{"main":[{"name":"votes","value":1}]},{"more":[{"name":"bm25","value":-1},{"name":"title","value":0.5}]}]}}],"max_score":null},"aggregations":{}}`

const elasticReranked = `{"took":5,"hits":{"total":{"value":2},"hits":[{"_id":"b","_score":8,"fields":{"_ltrlog":[{"main":[{"name":"votes","value":1}]},{"more":[{"name":"bm25","value":-1},{"name":"title","value":0.5}]}]}}, {"_id":"a","_score":0,"fields":{"x":[1],"_ltrlog":[{"shop":[{"name":"bm25","value":2.5},{"name":"title"},{"value":3,"name":"votes"}]}]},"matched_queries":["logged"]}],"max_score":8},"aggregations":{}}`

func TestEngineAnswers(t *testing.T) {
	for _, c := range []struct {
		engine, body string
		lenient      bool
		ids          []string
		x            []float32
		ranking      []Ranked
		want         string
	}{
		{
			"solr", solrAnswer, false, []string{"mv-1", "", ""}, []float32{14.148183, 4.7160606, 0, 9.25, 1e-5, 17513, 1, -2, 3},
			[]Ranked{{Doc: 2, Score: 3.5}, {Doc: 0, Score: 0.25}, {Doc: 1, Score: -1e-7}}, solrReranked,
		},
		{
			"elasticsearch", elasticAnswer, false, []string{"a", "b"}, []float32{2.5, 0, 3, -1, 0.5, 1},
			[]Ranked{{Doc: 1, Score: 8}, {Doc: 0}}, elasticReranked,
		},
		{"opensearch", `{"hits":{"max_score":null,"hits":[]}}` + "\n", false, nil, nil, nil, `{"hits":{"max_score":null,"hits":[]}}` + "\n"},
		{ // the best alone; features that are left out are 0
			"solr", `{"response":{"docs":[{"[features]":"bm25=1"}, {"[features]":"a\u003d\"b\",votes\u003d2"},{"[features]":""}],"maxScore":1}}`, true, []string{"", "", ""}, []float32{1, 0, 0, 0, 0, 2, 0, 0, 0},
			[]Ranked{{Doc: 1, Score: 2}}, `{"response":{"docs":[{"score":2,"[features]":"a\u003d\"b\",votes\u003d2"}],"maxScore":2}}`,
		},
	} {
		var r Request
		for range 2 { // the second time with memory of the first
			if err := r.DecodeEngine([]byte(c.body), EngineNamed(c.engine), shopSchema, Limits{}, c.lenient); err != nil {
				t.Fatalf("%s: %v", c.body, err)
			}
			var ids []string
			for _, id := range r.IDs {
				ids = append(ids, string(id))
			}
			if !slices.Equal(ids, c.ids) || !slices.Equal(r.X, c.x) || len(r.Queries) != 1 || r.Queries[0].Docs != len(ids) {
				t.Errorf("%s has the documents %q with %v", c.body, ids, r.X)
			}
			if got := string(AppendReranked([]byte("x"), c.ranking, &r)); got != "x"+c.want {
				t.Errorf("reranked to\n%s\nwant\n%s", got[1:], c.want)
			}
		}
	}
}

// Claim: a wrong answer of an engine is refused with the place and, if one is at fault, the feature.
func TestEngineAnswersRefused(t *testing.T) {
	solr := func(features string) string {
		return `{"response":{"docs":[{"id":"a","[features]":` + features + `}]}}`
	}
	elastic := func(entries string) string {
		return `{"hits":{"hits":[{"_id":"a","fields":{"_ltrlog":` + entries + `}}]}}`
	}
	good := `"bm25=1,title=2,votes=3"`
	many := `{"response":{"docs":[` + strings.Repeat(`{"[features]":`+good+`},`, 3) + `{}]}}`
	for _, c := range []struct {
		engine, body, pointer string
		kind                  Kind
		detail                string
	}{
		{"solr", ``, "", Malformed, "found the end of the text, expected the answer of Solr as an object"},
		{"solr", `[]`, "", Malformed, "expected the answer of Solr as an object"},
		{"solr", `{"error":{"msg":"no"}}`, "", Malformed, `found no documents, expected an answer of Solr, with documents in "docs" in "response"`},
		{"solr", `{"documents":[{"features":[1,2,3]}]}`, "", Malformed, "found no documents"},
		{"solr", elasticAnswer, "", Malformed, "found no documents"},
		{"elasticsearch", solrAnswer, "", Malformed, `an answer of Elasticsearch, with documents in "hits" in "hits"`},
		{"solr", `{"response":7}`, "/response", Malformed, `found "7", expected "response" as an object`},
		{"solr", `{"response":{"docs":{}}}`, "/response/docs", Malformed, "expected documents as a list"},
		{"solr", `{"response":{"docs":[1]}}`, "/response/docs/0", Malformed, "expected a document as an object"},
		{"solr", `{"response":{"docs":[],"docs":[]}}`, "/response/docs", Malformed, "twice"},
		{"solr", `{"response":{"docs":[]},"response":{}}`, "/response", Malformed, "twice"},
		{"solr", `{"response":{"docs":[]}} x`, "", Malformed, "behind the answer"},
		{"solr", `{"response":{"docs":[{"id":"a","score":1}]}}`, "/response/docs/0", Malformed, `found a document without "[features]", expected the features that Solr logs`},
		{"solr", `{"response":{"docs":[{"score":1,"score":2}]}}`, "/response/docs/0/score", Malformed, "twice"},
		{"solr", `{"response":{"docs":[{"[features]":"","[features]":""}]}}`, "/response/docs/0/[features]", Malformed, "twice"},
		{"solr", `{"response":{"docs":[{"x":` + strings.Repeat("[", 200) + `}]}}`, "/response/docs/0", Malformed, "levels"},
		{"solr", `{"response":{"docs":[{"x":"\ud800"}]}}`, "/response/docs/0", Malformed, "half of a surrogate pair"},
		{"solr", solr(`["bm25=1"]`), "/response/docs/0/[features]", Malformed, "expected a text of features, NAME=VALUE,NAME=VALUE"},
		{"solr", solr(`"bm25=1,title,votes=3"`), "/response/docs/0/[features]", Malformed, `found "title", expected NAME=VALUE`},
		{"solr", solr(`"bm25=NaN,title=1,votes=3"`), "/response/docs/0/[features]", Malformed, `found "NaN" as feature "bm25", expected a number`},
		{"solr", solr(`"bm25=1,title=1e39,votes=3"`), "/response/docs/0/[features]", Malformed, `found "1e39" as feature "title"`},
		{"solr", solr(`"bm25=0x1p3,title=1,votes=3"`), "/response/docs/0/[features]", Malformed, `found "0x1p3"`},
		{"solr", solr(`"bm25=1,title=,votes=3"`), "/response/docs/0/[features]", Malformed, `found "" as feature "title"`},
		{"solr", solr(`"bm25=1,bm25=1,title=1,votes=3"`), "/response/docs/0/[features]", Malformed, `found the feature "bm25" twice`},
		{"solr", solr(`"bm25=1,Title=1,votes=3"`), "/response/docs/0/[features]", Unprocessable, `found no feature "title", expected all 3 of the model (lenient=true makes 0 of the others)`},
		{"elasticsearch", `{"hits":{"hits":[{"_id":"a","fields":{}}]}}`, "/hits/hits/0/fields/_ltrlog", Malformed, `found fields without "_ltrlog", expected the features that Elasticsearch logs`},
		{"opensearch", `{"hits":{"hits":[{"_id":"a","_source":{}}]}}`, "/hits/hits/0", Malformed, `found a document without "fields", expected the features that OpenSearch logs`},
		{"elasticsearch", elastic(`{}`), "/hits/hits/0/fields/_ltrlog", Malformed, `expected "_ltrlog" as a list`},
		{"elasticsearch", elastic(`[[]]`), "/hits/hits/0/fields/_ltrlog", Malformed, "expected a log as an object"},
		{"elasticsearch", elastic(`[{"l":{}}]`), "/hits/hits/0/fields/_ltrlog", Malformed, "expected the features of a log as a list"},
		{"elasticsearch", elastic(`[{"l":[{"value":1}]}]`), "/hits/hits/0/fields/_ltrlog", Malformed, `found a feature without "name"`},
		{"elasticsearch", elastic(`[{"l":[{"name":1}]}]`), "/hits/hits/0/fields/_ltrlog", Malformed, `found "1", expected the name of a feature`},
		{"elasticsearch", elastic(`[{"l":[{"name":"bm25","value":"1"}]}]`), "/hits/hits/0/fields/_ltrlog", Malformed, `found "\"1\"", expected a number`},
		{"elasticsearch", elastic(`[{"l":[{"name":"bm25","value":1,"value":2}]}]`), "/hits/hits/0/fields/_ltrlog/value", Malformed, "twice"},
		{"elasticsearch", elastic(`[{"l":[{"name":"bm25"},{"name":"bm25"}]}]`), "/hits/hits/0/fields/_ltrlog", Malformed, `found the feature "bm25" twice`},
		{"elasticsearch", elastic(`[{"l":[]}]`), "/hits/hits/0/fields/_ltrlog", Unprocessable, `found no feature "bm25"`},
		{"solr", many, "/response/docs", TooLarge, "more than 2 documents"},
	} {
		var e *Error
		err := new(Request).DecodeEngine([]byte(c.body), EngineNamed(c.engine), shopSchema, Limits{Documents: 2}, false)
		if !errors.As(err, &e) || e.Pointer != c.pointer || e.Kind != c.kind || !strings.Contains(e.Detail, c.detail) {
			t.Errorf("%s: got %+v, want %q, kind %d: …%s…", c.body, e, c.pointer, c.kind, c.detail)
		}
	}
	var e *Error
	unnamed := &Schema{Features: 1, Unnamed: "two features have a name"}
	if err := new(Request).DecodeEngine([]byte(solr(good)), EngineNamed("solr"), unnamed, Limits{}, true); !errors.As(err, &e) || e.Kind != Unprocessable || e.Pointer != "/response/docs/0/[features]" {
		t.Errorf("a model without names: %v", err)
	}
}

// Claim: the features of an ordinary request may be a text, which means what the object means.
func TestTextFeatures(t *testing.T) {
	for text, object := range map[string]string{
		`"1=2,2=-1.5,3=1E3"`:   `{"1":2,"2":-1.5,"3":1e3}`,
		`"3=2,1\u003d1,2=1"`:   `{"3":2,"1":1,"2":1}`,
		`"1=2"`:                `{"1":2}`,
		`""`:                   `{}`,
		`"1=2,4=7,2=1,3=0"`:    `{"1":2,"4":7,"2":1,"3":0}`,
		`"1=2,2=1,3=0,1=2"`:    `{"1":2,"2":1,"3":0,"1":2}`,
		`"1=2,2=x,3=0"`:        `{"1":2,"2":"x","3":0}`,
		`"1"`:                  `{"1"}`,
		`"1=2,2=1,3=0" "1"`:    `{"1":2,"2":1,"3":0} 1`,
		`"1=1e39,2=1,3=0"`:     `{"1":1e39,"2":1,"3":0}`,
		`"1=2,2=1,3=0`:         `{"1":2,"2":1,"3":0`,
		`"01=2,2=1,3=0,1=0.5"`: `{"01":2,"2":1,"3":0,"1":0.5}`,
	} {
		for _, lenient := range []bool{false, true} {
			var got, want Request
			err, wantErr := got.Decode([]byte(doc(text)), plainSchema, Limits{}, lenient), want.Decode([]byte(doc(object)), plainSchema, Limits{}, lenient)
			if (err == nil) != (wantErr == nil) {
				t.Errorf("%s, lenient %v: %v, and %s: %v", text, lenient, err, object, wantErr)
			} else if diff := sameRequest(&want, &got); err == nil && diff != "" {
				t.Errorf("%s, lenient %v (-object +text):\n%s", text, lenient, diff)
			}
		}
	}
}

// reranking is an answer of Solr as encoding/json reads it, with its documents apart.
func reranking(t *testing.T, text []byte) (docs []any, others map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&others); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	response, ok := others["response"].(map[string]any)
	if !ok {
		t.Fatalf("%s has no response", text)
	}
	docs, _ = response["docs"].([]any)
	delete(response, "docs")
	delete(response, "maxScore")
	return docs, others
}

func FuzzDecodeEngine(f *testing.F) {
	for _, body := range []string{solrAnswer, elasticAnswer, `{"response":{"docs":[{"[features]":"bm25=1"},{"[features]":"","score":{"a":[]}}],"maxScore":1}}`} {
		f.Add([]byte(body), true)
		f.Add([]byte(body), false)
	}
	f.Fuzz(checkEngines)
}

// Claim: damaged answers are refused or read as encoding/json reads them.
func TestEngineAnswersDamaged(t *testing.T) {
	rng := datatest.Rand()
	words := []string{"null", "{", "}", "[", "]", ",", ":", `"`, `\`, "=", "1e39", "-", " ", "\x00", "\xff", `"score":1,`, `"response":`, `"docs":[],`, `"[features]":"",`, `"name":"title",`, `\ud800`, "1"}
	n := 50_000
	if testing.Short() {
		n /= 10
	}
	for range n {
		body := []byte([]string{solrAnswer, elasticAnswer}[rng.IntN(2)])
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(body) + 1)
			cut := min(len(body), at+rng.IntN(4))
			body = slices.Concat(body[:at], []byte(words[rng.IntN(len(words))]), body[cut:])
		}
		checkEngines(t, body, rng.IntN(2) == 0)
	}
}

// checkEngines decodes a body as an answer of each engine. What is read has, after a ranking, the documents in its
// order with its scores, and nothing else changes.
func checkEngines(t *testing.T, body []byte, lenient bool) {
	t.Helper()
	before := string(body)
	for name, engine := range engines {
		var r Request
		err := r.DecodeEngine(body, engine, shopSchema, Limits{Documents: 50, Cells: 120}, lenient)
		if string(body) != before {
			t.Fatalf("%q became %q", before, body)
		}
		var e *Error
		if err != nil {
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(body) || e.Detail == "" {
				t.Fatalf("%q: %#v", body, err)
			}
			continue
		}
		for _, v := range r.X {
			if math.IsInf(float64(v), 0) || name == "solr" && v != v {
				t.Fatalf("%q has the value %v", body, v)
			}
		}
		ranking := make([]Ranked, len(r.IDs))
		for i := range ranking {
			ranking[i] = Ranked{Doc: len(ranking) - 1 - i, Score: float64(i)}
		}
		text := AppendReranked(nil, ranking, &r)
		if !json.Valid(text) {
			t.Fatalf("%q became %q", body, text)
		}
		if name != "solr" {
			continue
		}
		was, others := reranking(t, body)
		is, same := reranking(t, text)
		if !reflect.DeepEqual(others, same) || len(was) != len(is) {
			t.Fatalf("%q became %q", body, text)
		}
		for i, doc := range ranking {
			want, ok := was[doc.Doc].(map[string]any)
			if !ok {
				t.Fatalf("%q has a document that is no object", body)
			}
			if want["score"] = json.Number(AppendNumber(nil, doc.Score)); !reflect.DeepEqual(want, is[i]) {
				t.Fatalf("document %d is %v, want %v", i, is[i], fmt.Sprint(want))
			}
		}
	}
}
