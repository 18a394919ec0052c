package featurelog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/dataset/trec"
)

// judged makes judgements of "query|document|grade".
func judged(t testing.TB, lines ...string) *dataset.Dataset {
	t.Helper()
	var text strings.Builder
	for _, line := range lines {
		f := strings.Split(line, "|")
		fmt.Fprintf(&text, "%s\t0\t%s\t%s\n", f[0], f[1], f[2])
	}
	d, err := trec.ReadQrels(strings.NewReader(text.String()), int64(text.Len()), "j", memory.Unlimited(), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// collect reads a log given as text.
func collect(text string, o Options) (d *dataset.Dataset, queries []Query, absent int, err error) {
	o.Files, o.Stdin = append(o.Files, "-"), strings.NewReader(text)
	err = Open(o, func(l *Log) (err error) {
		d, err = stream.Collect(context.Background(), stream.File{Source: l, Name: "log", Mem: memory.Unlimited()}, dataset.MissingKeep)
		queries, absent = l.Queries(), l.Absent()
		return err
	})
	return d, queries, absent, err
}

// rows lists documents as "query|document|grade|values".
func rows(d *dataset.Dataset) (list []string) {
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			grade := fmt.Sprint(q.Grades[j])
			if dataset.IsUnjudged(q.Grades[j]) {
				grade = ""
			}
			list = append(list, fmt.Sprint(q.ID, "|", q.DocID(j), "|", grade, "|", q.Row(j)))
		}
	}
	return list
}

const (
	solrBegin = `{"responseHeader":{"status":0,"params":{"fl":"id,[features]","q":"hat"}},"response":{"numFound":2,"docs":[`
	esBegin   = `{"query":"hat","took":3,"hits":{"total":{"value":2},"hits":[`
)

func hatJudged(t testing.TB) *dataset.Dataset { return judged(t, "hat|a|3", "hat|b|0") }

// Claim: one log reads alike in every form of every engine, compressed or not.
func TestForms(t *testing.T) {
	want := []string{"hat|a|3|[1.5 0 2]", "hat|b|0|[-7 0.25 2.5e+06]"}
	for name, text := range map[string]string{
		"Solr":             solrBegin + `{"id":"a","score":1.5,"[features]":"x=1.5,y=0.0,z=2.0"},{"id":"b","title":"\"[features]\"","[features]":"x=-7.0,y=0.25,z=2500000.0"}]}}`,
		"Solr, sparse":     solrBegin + `{"id":"a","[features]":"x=1.5,z=2.0"},{"id":"b","[features]":"y=0.25,z=2.5E6,x=-7"}]}}`,
		"Solr, no header":  "\ufeff" + `{"response":{"docs":[{"[features]":"x=1.5,y=0.0,z=2.0","id":"a"},{"id":"b","[features]":"x=-7,y=.25,z=2.5e6"}]},"query":"hat"}`,
		"Elasticsearch":    esBegin + `{"_id":"a","_score":1,"_source":{"id":"c"},"fields":{"_ltrlog":[{"log":[{"name":"x","value":1.5},{"name":"y"},{"name":"z","value":2}]}]},"matched_queries":["logged"]},{"_id":"b","matched_queries":{"logged":1},"fields":{"title":["t"],"_ltrlog":[{"log":[{"name":"x","value":-7},{"value":0.25,"name":"y"}]},{"more":[{"name":"z","value":2.5e6}]}]}}]}}`,
		"_msearch":         `{"took":1,"responses":[{"query":"hat","hits":{"hits":[{"_id":"a","fields":{"_ltrlog":[{"l":[{"name":"x","value":1.5},{"name":"y","value":null},{"name":"z","value":2}]}]}}]}},` + esBegin + `{"_id":"b","fields":{"_ltrlog":[{"l":[{"name":"x","value":-7},{"name":"y","value":0.25},{"name":"z","value":2500000}]}]}}]}}]}`,
		"named queries":    esBegin + `{"_id":"a","matched_queries":{"x":1.5,"z":2}},{"_id":"b","fields":{"title":["t"]},"matched_queries":{"x":-7,"y":0.25,"z":2.5E+6}}]}}`,
		"several lines":    solrBegin + `{"id":"a","[features]":"x=1.5,y=0,z=2"}]}}` + "\n" + solrBegin + `{"id":"b","[features]":"x=-7,y=0.25,z=2500000"}]}}` + "\n",
		"a list":           "[" + solrBegin + `{"id":"a","[features]":"x=1.5,y=0,z=2"}]}},` + "\n" + solrBegin + `{"id":"b","[features]":"x=-7,y=0.25,z=2500000"}]}}]`,
		"within an answer": `{"query":"hat","answer":{"hits":{"hits":[{"_id":"a","matched_queries":{"x":1.5,"z":2}},{"_id":"b","matched_queries":{"x":-7,"y":0.25,"z":2500000}}]}}}`,
	} {
		for _, bytes := range []string{text, string(datatest.Gzip(text)), string(datatest.Zstd(text))} {
			d, queries, _, err := collect(bytes, Options{Judged: hatJudged(t)})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			row := rows(d)
			if strings.Join(d.FeatureNames, "") == "xzy" { // the order of a sparse log
				for i := range row {
					row[i] = strings.NewReplacer("[1.5 2 0]", "[1.5 0 2]", "[-7 2.5e+06 0.25]", "[-7 0.25 2.5e+06]").Replace(row[i])
				}
			}
			if diff := cmp.Diff(want, row); diff != "" {
				t.Errorf("%s: %v %s", name, d.FeatureNames, diff)
			}
			if diff := cmp.Diff([]Query{{ID: "hat", Documents: 2, Judged: 2}}, queries); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
	csv := "id,score,[features]\na,1.5,\"x=1.5,y=0.0,z=2.0\"\nb,1,\"x=-7,y=0.25,z=2500000\"\n"
	d, _, _, err := collect(csv, Options{Judged: hatJudged(t), Queries: []string{"hat"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, rows(d)); diff != "" {
		t.Errorf("CSV: %s", diff)
	}
}

// Claim: unjudged documents, documents that are returned again and judged documents that are not returned are
// counted by query; the policies say what becomes of documents and features.
func TestPolicies(t *testing.T) {
	text := `{"query":"hat","hits":{"hits":[{"_id":"a","matched_queries":{"x":1}},{"_id":"n","matched_queries":{"x":2,"y":1}},{"_id":"a","matched_queries":{"x":5}}]}}
{"query":"cap","hits":{"hits":[]}}
{"query":"tie","hits":{"hits":[{"_id":"a"}]}}
{"query":"hat","hits":{"hits":[{"_id":"b","matched_queries":{"x":3}},{"_id":"n"}]}}`
	list := judged(t, "hat|a|3", "hat|b|0", "hat|c|1", "cap|a|1")
	counts := []Query{{ID: "hat", Documents: 2, Judged: 2, NotReturned: 1, NotJudged: 1, Duplicates: 2}, {ID: "cap", NotReturned: 1}, {ID: "tie", NotJudged: 1}}
	kept := []Query{counts[0], counts[1], counts[2]}
	kept[0].Documents, kept[2].Documents = 3, 1
	for _, c := range []struct {
		o       Options
		rows    []string
		queries []Query
		absent  int
	}{
		{Options{Unjudged: trec.UnjudgedDrop}, []string{"hat|a|3|[1 0]", "hat|b|0|[3 0]"}, counts, 2},
		{Options{Unjudged: trec.UnjudgedZero}, []string{"hat|a|3|[1 0]", "hat|n|0|[2 1]", "hat|b|0|[3 0]", "tie|a|0|[0 0]"}, kept, 4},
		{Options{Unjudged: trec.UnjudgedKeep, Absent: AbsentMissing}, []string{"hat|a|3|[1 NaN]", "hat|n||[2 1]", "hat|b|0|[3 NaN]", "tie|a||[NaN NaN]"}, kept, 4},
	} {
		c.o.Judged = list
		d, queries, absent, err := collect(text, c.o)
		if err != nil {
			t.Errorf("%v: %v", c.o.Unjudged, err)
			continue
		}
		if diff := cmp.Diff(c.rows, rows(d)); diff != "" {
			t.Errorf("%v: %s", c.o.Unjudged, diff)
		}
		if diff := cmp.Diff(c.queries, queries); diff != "" || absent != c.absent {
			t.Errorf("%v: %d absent, %s", c.o.Unjudged, absent, diff)
		}
	}
	_, _, _, err := collect(text, Options{Judged: list, Unjudged: trec.UnjudgedError})
	if err == nil || !strings.Contains(err.Error(), `standard input:1: found document "n" of query "hat" without a judgement`) {
		t.Error(err)
	}
}

// Claim: a feature in some answers only is an error for a dense log, which names file, line, document and feature.
func TestDense(t *testing.T) {
	line := func(id, features string) string {
		return solrBegin + `{"id":"` + id + `","[features]":"` + features + `"}]}}` + "\n"
	}
	dense := line("a", "x=1,y=2") + line("b", "x=1")
	for text, want := range map[string]string{
		dense:                                   `standard input:2: found document "b", which lacks the feature "y" unlike those of the answer before, expected the same features in all answers of a dense log; --absent zero or missing takes the log as sparse`,
		line("a", "x=1") + line("b", "y=1,x=1"): `standard input:2: found document "b", which has the feature "y" unlike`,
		line("a", "x=1") + line("b", "y=1"):     `standard input:2: found document "b", which lacks the feature "x" unlike`,
	} {
		if _, _, _, err := collect(text, Options{Judged: hatJudged(t)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, absent := range []Absent{AbsentZero, AbsentMissing} {
		if d, _, n, err := collect(dense, Options{Judged: hatJudged(t), Absent: absent}); err != nil || n != 1 || math.IsNaN(float64(d.Queries[0].Row(1)[1])) != (absent == AbsentMissing) {
			t.Errorf("%v: %v, %d absent", absent, err, n)
		}
	}
	if _, _, _, err := collect(line("a", "x=1,y=2")+line("b", "y=1,x=3"), Options{Judged: hatJudged(t)}); err != nil {
		t.Errorf("another order: %v", err)
	}
}

// Claim: a feature with one value in all documents is warned of, absent zeros included.
func TestConstant(t *testing.T) {
	d, _, _, err := collect(solrBegin+`{"id":"a","[features]":"one=1.0,x=1,zero=0"},{"id":"b","[features]":"one=1,x=0"}]}}`, Options{Judged: hatJudged(t)})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"standard input: the feature one is 1 in all documents: it cannot rank them", "standard input: the feature zero is 0 in all documents: it cannot rank them"}
	if diff := cmp.Diff(want, d.Warnings); diff != "" {
		t.Error(diff)
	}
}

// Claim: an answer of a search that the engine ended early is warned of in a log, and is an error where an engine's
// ranking is read. The query of the outermost object counts, wherever it is.
func TestPartialAnswers(t *testing.T) {
	const docs = `"response":{"docs":[{"id":"a","score":1,"[features]":"x=1"}]}}`
	const hits = `"hits":{"hits":[{"_id":"a","_score":1,"matched_queries":{"x":1}}]}}`
	for text, want := range map[string]string{
		`{"query":"hat","responseHeader":{"partialResults":true},` + docs:                           `"partialResults"`,
		`{"query":"hat","answer":{"responseHeader":{"partialResults":"omitted"},` + docs + `}`:      `"partialResults"`,
		`{"query":"hat","responseHeader":{"partialResults":false},` + docs:                          "",
		`{"query":"hat","timed_out":true,"_shards":{"total":2,"failed":0},` + hits:                  `"timed_out": true`,
		`{"query":"hat","answer":{"timed_out":false,"_shards":{"total":2,"failed":1},` + hits + `}`: `"failed": 1 in "_shards"`,
		`{"query":"hat","answer":{"query":"hood",` + docs + `}`:                                     "",
		`{"answer":{"query":"hood",` + docs[:len(docs)-1] + `},"query":"hat"}`:                      "",
	} {
		d, _, _, err := collect(text, Options{Judged: hatJudged(t)})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var warnings []string
		if want != "" {
			warnings = []string{"standard input: the engine did not search all documents in 1 of 1 answers, first for the query hat: found " + want}
		}
		if diff := cmp.Diff(warnings, d.Warnings); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		_, err = ReadDocuments(strings.NewReader(text), "the answer", "", dataset.Options{})
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), "the answer:1: found an answer of an incomplete search, "+want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Claim: scores that order nothing, and documents that an answer has twice, are errors.
func TestRankings(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":"a","score":"NaN","[features]":"x=1"}`:                                                            `found the score NaN of document "a", expected a finite number`,
		`{"id":"a","score":"-Infinity","[features]":"x=1"}`:                                                      `found the score -Infinity of document "a"`,
		`{"id":"a","score":null,"[features]":"x=1"}`:                                                             `found document "a" without a score`,
		`{"id":"a","score":1,"[features]":"x=1"},{"id":"a","score":1,"[features]":"x=1"}`:                        `found document "a" twice in an answer`,
		`{"id":"a","score":1,"[features]":"x=1"}]}}{"response":{"docs":[{"id":"a","score":1,"[features]":"x=1"}`: "",
	} {
		_, err := ReadDocuments(strings.NewReader(`{"response":{"docs":[`+text+"]}}"), "the answer", "", dataset.Options{})
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), "the answer:1: "+want) {
			t.Errorf("%s: found %v, expected %q", text, err, want)
		}
	}
}

// Claim: an error names the file, the line, and the document and feature that it is about.
func TestErrors(t *testing.T) {
	doc := func(rest string) string { return solrBegin + "\n{\"id\":\"a\"," + rest + "}]}}" }
	hit := func(rest string) string { return esBegin + "\n{\"_id\":\"a\"," + rest + "}]}}" }
	ltr := func(features string) string { return hit(`"fields":{"_ltrlog":[{"log":` + features + `}]}`) }
	for text, want := range map[string]string{
		"":                                "standard input:1: found an empty file, expected an answer of a search engine",
		"\n\n":                            "standard input:1: found an empty file",
		"a,b\n1,2\n":                      `standard input:1: found the line "a,b", expected an answer of a search engine: JSON, or CSV with the columns id and [features]`,
		"[]":                              "found answers without documents, expected documents with logged features",
		"{}":                              "standard input:1: found an answer without documents, expected response.docs of Solr, or hits.hits",
		"{\n\"x\":1} 7":                   "standard input:1: found an answer without documents",
		"[\n7]":                           `standard input:2: found "7", expected an answer as an object`,
		`{"response":7}`:                  "standard input:1: found an answer without documents",
		solrBegin:                         "standard input:1: found the end of the text, expected a value",
		solrBegin + "\n{\"id\":\"a\"":     "standard input:2: found the end of the text in a value, expected the end of the value",
		solrBegin + "\n7]}}":              `standard input:2: found "7", expected a document as an object`,
		solrBegin + "\n{\"id\" \"a\"}]}}": `standard input:2: found "\"a\"" behind the key "id", expected a colon and a value`,
		solrBegin + "]}}":                 "found answers without documents, expected documents with logged features",
		solrBegin + "]}}\n}":              `standard input:2: found "}", expected an answer as an object`,
		solrBegin + "]}":                  "standard input:1: found the end of the text, expected a comma or the end of an answer, }",
		solrBegin + "\n{\"[features]\":\"x=1\"}]}}":                     `standard input:2: found document 1 of the answer without an id, expected the key id or _id; --doc names another`,
		solrBegin + "\n{\"id\":null,\"[features]\":\"x=1\"}]}}":         `standard input:2: found document 1 of the answer without an id`,
		solrBegin + "\n{\"id\":[\"a\"],\"[features]\":\"x=1\"}]}}":      `standard input:2: found "[", expected a value`,
		solrBegin + "\n{\"id\":\"a\\u0001\",\"[features]\":\"x=1\"}]}}": `standard input:2: found "a\x01", expected a document id without control characters`,
		doc(`"score":1`):                                       `standard input:2: found document "a" without logged features, expected [features] (fl=id,[features] in Solr), fields._ltrlog, or matched_queries with scores`,
		doc(`"[features]":7`):                                  `standard input:2: found "7" in the features of document "a", expected NAME=VALUE, separated by commas`,
		doc(`"[features]":"x"`):                                `standard input:2: found "x" in the features of document "a", expected NAME=VALUE`,
		doc(`"[features]":"x=1,"`):                             "",
		doc(`"[features]":"x=1,,y=2"`):                         `standard input:2: found "" in the features of document "a"`,
		doc(`"[features]":"=1"`):                               `standard input:2: found a feature of document "a" without a name, expected one for every feature`,
		doc(`"[features]":"x=1,x=1"`):                          `standard input:2: found the feature "x" of document "a" twice, expected every feature once`,
		doc(`"[features]":"x="`):                               `standard input:2: found the value "" of the feature "x" of document "a", expected a finite number`,
		doc(`"[features]":"x=NaN"`):                            `standard input:2: found the value "NaN" of the feature "x" of document "a", expected a finite number that float32 can hold`,
		doc(`"[features]":"x=1e39"`):                           `standard input:2: found the value "1e39" of the feature "x" of document "a"`,
		doc(`"[features]":"x=0x1p3"`):                          `standard input:2: found the value "0x1p3" of the feature "x" of document "a"`,
		doc(`"[features]":"x\u0007=1"`):                        `standard input:2: found "x\a", expected a feature's name without control characters`,
		doc(`"[features]":["x=1"]`):                            `standard input:2: found "[", expected a value`,
		hit(`"matched_queries":["x"]`):                         `standard input:2: found document "a" without logged features`,
		hit(`"matched_queries":{"x":"high"}`):                  `standard input:2: found the value "high" of the feature "x" of document "a"`,
		hit(`"matched_queries":{"x":[1]}`):                     `standard input:2: found "[", expected a value`,
		hit(`"matched_queries":{"x":1,"x":2}`):                 `standard input:2: found the feature "x" of document "a" twice`,
		hit(`"fields":[]`):                                     `standard input:2: found "[", expected fields as an object`,
		hit(`"fields":{"_ltrlog":{}}`):                         `standard input:2: found "{", expected _ltrlog as a list`,
		hit(`"fields":{"_ltrlog":[1]}`):                        `standard input:2: found "1", expected an entry of _ltrlog as an object`,
		ltr(`{}`):                                              `standard input:2: found "{", expected the features of log as a list`,
		ltr(`["x"]`):                                           `standard input:2: found "\"x\"", expected a feature as an object`,
		ltr(`[{"value":1}]`):                                   `standard input:2: found a feature of document "a" without a name`,
		ltr(`[{"name":"x","value":"one"}]`):                    `standard input:2: found the value "one" of the feature "x" of document "a"`,
		ltr(`[{"name":"x","value":1},{"name":"x","value":1}]`): `standard input:2: found the feature "x" of document "a" twice`,
		`{"error":{"msg":"undefined field"},"status":400}`:     `standard input:1: found an error of the search engine: "{\"msg\":\"undefined field\"}", expected documents`,
		`{"responses":[` + "\n" + `{"error":{"type":"x"}}]}`:   `standard input:2: found an error of the search engine`,
		`{"responses":7}`:                                      "standard input:1: found an answer without documents",
		"{\"response\":{\"docs\":[\n{\"id\":\"a\",\"[features]\":\"x=1\"}]}}":         `standard input:1: found an answer without its query, expected responseHeader.params.q`,
		`{"query":"h\u0001","hits":{"hits":[{"_id":"a","matched_queries":{"x":1}}]}}`: `standard input:1: found "h\x01", expected a query without control characters`,
		`{"query":"other","hits":{"hits":[{"_id":"a","matched_queries":{"x":1}}]}}`:   `found no judged document; the answers have queries such as "other", expected those of the judgements, such as "hat" with document "a"`,
		strings.Repeat(`{"responses":[`, 12):                                          "standard input:1: found more than 8 answers within each other",
		strings.Repeat(`{"response":`, 12):                                            "standard input:1: found more than 8 answers within each other, expected fewer",
		"id,[features]\n":                                                             "standard input:1: found an answer without its query",
		"id,[features]\na,x\n":                                                        `standard input:2: found "x" in the features of document "a", expected NAME=VALUE`,
		"id,[features]\na,\"x=1\n":                                                    `standard input:2: found a row that is no CSV`,
		"id,[features]\n,x=1\n":                                                       `standard input:2: found document 1 of the answer without an id`,
		"id,[features]\na\n":                                                          `standard input:1: found an answer without its query`,
		string(datatest.Gzip(solrBegin)[:30]):                                         "standard input",
	} {
		_, _, _, err := collect(text, Options{Judged: hatJudged(t), Unjudged: trec.UnjudgedDrop})
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", strings.TrimPrefix(text, solrBegin), err, want)
		}
	}
	for n, want := range map[int]string{1: "found more than 1 answers, expected one for every query of --queries", 3: "found 2 answers, expected 3, one for every query of --queries"} {
		text := strings.Repeat(solrBegin+`{"id":"a","[features]":"x=1"}]}}`, 2)
		if _, _, _, err := collect(text, Options{Judged: hatJudged(t), Queries: []string{"hat", "hat", "cap"}[:n]}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d queries: %v, want %s", n, err, want)
		}
	}
	if _, _, _, err := collect(doc(`"[features]":"x=1,y=2"`), Options{Judged: hatJudged(t), MaxFeature: 1}); err == nil || !strings.Contains(err.Error(), `found more than 1 features; one more is "y" of document "a"`) {
		t.Error(err)
	}
}

// Claim: the queries of a file have precedence over the answers' own. The given key has the ids of documents. A file
// that does not exist is an error.
func TestOptions(t *testing.T) {
	dir := t.TempDir()
	queries, answers := filepath.Join(dir, "q.txt"), filepath.Join(dir, "a.json")
	for path, text := range map[string]string{queries: "hat \r\n\n red hat\n", answers: solrBegin + `{"id":"1","sku":"a","[features]":"x=1"}]}}` + solrBegin + `{"id":"2","sku":7,"[features]":"x=2"}]}}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := ReadQueries(queries, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, _, _, err := collect(`[]`, Options{Files: []string{answers}, Queries: list, Doc: "sku", Judged: judged(t, "hat|a|3", "red hat|7|1")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"hat|a|3|[1]", "red hat|7|1|[2]"}, rows(d)); diff != "" {
		t.Error(diff)
	}
	for _, o := range []Options{{Files: []string{dir}}, {Files: []string{filepath.Join(dir, "none")}}} {
		o.Judged = hatJudged(t)
		if _, _, _, err := collect("[]", o); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v: %v", o.Files, err)
		}
	}
	if err := os.WriteFile(queries, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadQueries(queries, dataset.Options{}); err == nil || !strings.Contains(err.Error(), "found no queries") {
		t.Error(err)
	}
}

// Claim: what a log takes is counted against the limit; a document that is larger than any is refused.
func TestMemory(t *testing.T) {
	var b strings.Builder
	b.WriteString(solrBegin)
	for i := range 20_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"document-%d","[features]":"x=%d"}`, i, i)
	}
	b.WriteString("]}}")
	list := judged(t, "hat|document-7|1")
	if _, _, _, err := collect(b.String(), Options{Judged: list, Unjudged: trec.UnjudgedDrop, MaxBytes: 1 << 20}); !errors.Is(err, dataset.ErrTooLarge) {
		t.Error(err)
	}
	if _, _, _, err := collect(b.String(), Options{Judged: list, Unjudged: trec.UnjudgedDrop, MaxBytes: 16 << 20}); err != nil {
		t.Error(err)
	}
}

// FuzzLog: any bytes are read or refused. Documents have ids and finite features, and the counts are right.
func FuzzLog(f *testing.F) {
	for _, text := range []string{
		solrBegin + `{"id":"a","[features]":"x=1.5,y=0.0"},{"id":"b","[features]":"x=-7.0"}]}}`,
		esBegin + `{"_id":"a","fields":{"_ltrlog":[{"log":[{"name":"x","value":1.5},{"name":"y"}]}]}}]}}`,
		esBegin + `{"_id":"a","matched_queries":{"x":1.5}},{"_id":"b"}]}}`,
		`{"responses":[{"query":"hat","hits":{"hits":[{"_id":"a","matched_queries":{"x":1}}]}}]}`,
		"id,[features]\na,\"x=1,y=2\"\n",
	} {
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, named bool) {
		o := Options{Judged: hatJudged(t), Unjudged: trec.UnjudgedZero, MaxBytes: 64 << 20}
		if !named {
			o.Queries = []string{"hat"}
		}
		d, queries, _, err := collect(text, o)
		if err != nil {
			return
		}
		n := 0
		for _, q := range queries {
			if q.Documents != q.Judged+q.NotJudged || q.Judged > 2 || q.NotReturned < 0 {
				t.Fatalf("%+v", q)
			}
			n += q.Documents
		}
		if n != d.Docs() {
			t.Fatalf("%d documents, counted %d", d.Docs(), n)
		}
		for i := range d.Queries {
			q := &d.Queries[i]
			for j := range q.Len() {
				if q.DocID(j) == "" {
					t.Fatal("a document without an id")
				}
				for _, x := range q.Row(j) {
					if x != x || math.IsInf(float64(x), 0) {
						t.Fatalf("document %s has the value %v", q.DocID(j), x)
					}
				}
			}
		}
	})
}
