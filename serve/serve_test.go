package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/serve"
)

// linear is a model of three features with names.
func linear(weights ...float64) *model.Model {
	return &model.Model{Method: "test", FeatureNames: []string{"bm25", "title", "ctr"}[:len(weights)], Scorer: scorer.Linear{Features: len(weights)}, Params: weights}
}

// save writes a model to a file of a new folder.
func save(t testing.TB, m *model.Model) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func newServer(t testing.TB, c serve.Config) *serve.Server {
	t.Helper()
	if c.Models == nil {
		c.Models = []serve.Source{{Name: "web", Path: save(t, linear(1, 2, -1))}}
	}
	s, err := serve.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// post sends a body of JSON and returns status and answer.
func post(t testing.TB, h http.Handler, path, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return do(t, h, r)
}

func do(t testing.TB, h http.Handler, r *http.Request) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	text, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(text)
}

func get(t testing.TB, h http.Handler, path string) (int, string) {
	t.Helper()
	return do(t, h, httptest.NewRequest(http.MethodGet, path, nil))
}

// Claim: a ranking is best first, ties in the order of the request, and features go by name or
// position; the scores are 1·bm25 + 2·title − 1·ctr, by hand.
func TestRank(t *testing.T) {
	s := newServer(t, serve.Config{Aliases: map[string]string{"main": "web"}})
	version := s.Snapshot().Names()
	if len(version) != 1 {
		t.Fatal(version)
	}
	m, _ := s.Snapshot().Find("main")
	for body, want := range map[string]string{
		`{"documents":[{"id":"a","features":[1,0,0]},{"id":"b","features":[0,1,0]}]}`:                                                      `"ranking":[{"id":"b","rank":1,"score":2},{"id":"a","rank":2,"score":1}]}`,
		`{"documents":[{"features":{"ctr":1,"bm25":0,"title":0}},{"features":[0,0,1]},{"features":[0.5,0,0]}],"top":2}`:                    `"ranking":[{"id":"3","rank":1,"score":0.5},{"id":"1","rank":2,"score":-1}]}`,
		`{"query":"q","documents":[{"features":{"ctr":1}}],"lenient":true}`:                                                                "",
		`{"queries":[{"query":"x","documents":[{"id":"a","features":[1,0,0]}]},{"documents":[{"id":"a","features":[2,0,0]}]}],"user":"u"}`: `"rankings":[{"query":"x","ranking":[{"id":"a","rank":1,"score":1}]},{"ranking":[{"id":"a","rank":1,"score":2}]}]}`,
	} {
		code, got := post(t, s, "/v1/models/main:rank", body)
		if want == "" { // ctr alone is there, and the model has no rule for what is missing
			if code != http.StatusUnprocessableEntity {
				t.Errorf("%s is answered with %d %s", body, code, got)
			}
			continue
		}
		want = fmt.Sprintf(`{"model":"web","version":%q,%s`, m.Version, want)
		if code != http.StatusOK || strings.TrimSpace(got) != want {
			t.Errorf("%s is answered with %d\n%s\nwant\n%s", body, code, got, want)
		}
	}
}

// Claim: a wrong request gets a 4xx that names the field.
func TestWrongRequests(t *testing.T) {
	s := newServer(t, serve.Config{Limits: serve.Limits{Documents: 3, Queries: 2, Body: 1000}})
	for _, c := range []struct {
		body    string
		code    int
		pointer string
	}{
		{``, 400, ""},
		{`[]`, 400, ""},
		{`{}`, 400, ""},
		{`{"documents":[]}`, 400, "/documents"},
		{`{"documents":[{"features":[1,2,3]}],"queries":[]}`, 400, "/queries"},
		{`{"documents":[{"features":[1,2,3]}],"querys":1}`, 400, "/querys"},
		{`{"documents":[{"features":[1,2]}]}`, 422, "/documents/0/features"},
		{`{"documents":[{"features":[1,2,"x"]}]}`, 400, "/documents/0/features/2"},
		{`{"documents":[{"features":[1,2,1e39]}]}`, 400, "/documents/0/features/2"},
		{`{"documents":[{"features":[1,2,null]}]}`, 422, "/documents"},
		{`{"documents":[{"features":[1,2,NaN]}]}`, 400, "/documents/0/features/2"},
		{`{"documents":[{"features":{"bm25":1,"title":2,"cta":1}}]}`, 422, "/documents/0/features/cta"},
		{`{"documents":[{"id":"a","features":[1,2,3]},{"id":"a","features":[1,2,3]}]}`, 400, "/documents/1/id"},
		{`{"documents":[{"id":"a","features":[1,2,3]},{"features":[1,2,3]}]}`, 400, "/documents/1"},
		{`{"documents":[{"id":7,"features":[1,2,3]}]}`, 400, "/documents/0/id"},
		{`{"documents":[{"features":[1,2,3]}],"top":0}`, 400, "/top"},
		{`{"documents":[{"features":[1,2,3]}],"top":1.5}`, 400, "/top"},
		{`{"documents":[{"features":[1,2,3]}],"lenient":1}`, 400, "/lenient"},
		{`{"queries":[{"query":"a","documents":[{"features":[1,2,3]}]},{"query":"a","documents":[{"features":[1,2,3]}]}]}`, 400, "/queries/1/query"},
		{`{"documents":[` + strings.Repeat(`{"features":[1,2,3]},`, 3) + `{"features":[1,2,3]}]}`, 413, "/documents"},
		{`{"queries":[` + strings.Repeat(`{"documents":[{"features":[1,2,3]}]},`, 2) + `{}]}`, 413, "/queries"},
		{strings.Repeat(" ", 1001), 413, "-"},
	} {
		code, got := post(t, s, "/v1/models/web:rank", c.body)
		var p struct {
			Title, Detail string
			Status        int
			Pointer       *string
		}
		if err := json.Unmarshal([]byte(got), &p); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		pointer := "-"
		if p.Pointer != nil {
			pointer = *p.Pointer
		}
		if code != c.code || p.Status != code || pointer != c.pointer || p.Detail == "" || p.Title != http.StatusText(code) {
			t.Errorf("%.100s is answered with %d %s; want %d at %q", c.body, code, got, c.code, c.pointer)
		}
	}
	for path, want := range map[string]int{
		"/v1/models/none:rank": 404, "/v1/models/web": 405, "/v1/models": 405, "/healthz": 405, "/v1/models/web:score": 404, "/v1/models/..%2fweb:rank": 404,
		"/v1/models/%00:rank": 404, "/v1/models/" + strings.Repeat("a", 5000) + ":rank": 404, "/nothing": 404, "/v1/models/a/b:rank": 404,
	} {
		if code, got := post(t, s, path, `{}`); code != want || !strings.Contains(got, `"status":`) {
			t.Errorf("%.100s is answered with %d %s, want %d", path, code, got, want)
		}
	}
}

// Claim: a changed file is served after Reload; a broken one keeps the old model and shows on
// /readyz, which stays ready, until it is mended.
func TestReload(t *testing.T) {
	path := save(t, linear(1, 2, -1))
	s := newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: path}}})
	body := `{"documents":[{"features":[1,0,0]}]}`
	score := func() float64 {
		t.Helper()
		code, got := post(t, s, "/v1/models/web:rank", body)
		var a struct{ Ranking []struct{ Score float64 } }
		if err := json.Unmarshal([]byte(got), &a); err != nil || code != http.StatusOK {
			t.Fatal(code, got)
		}
		return a.Ranking[0].Score
	}
	if got := score(); got != 1 {
		t.Fatalf("scores %v, want 1", got)
	}
	if err := linear(5, 0, 0).Save(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(false); err != nil || score() != 5 {
		t.Errorf("after the change scores %v, %v, want 5", score(), err)
	}
	if err := os.WriteFile(path, []byte(`{"format":"listwise-model","version":1`), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(false); err == nil || score() != 5 {
		t.Errorf("of a broken file scores %v, %v, want 5 and an error", score(), err)
	}
	if err := s.Reload(false); err != nil {
		t.Errorf("a broken file is read again though it has not changed: %v", err)
	}
	if code, got := get(t, s, "/readyz"); code != http.StatusOK || !strings.Contains(got, `"degraded"`) || !strings.Contains(got, `"web":`) || strings.Contains(got, path) {
		t.Errorf("/readyz answers %d %s", code, got)
	}
	if err := linear(7, 0, 0).Save(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(false); err != nil || score() != 7 {
		t.Errorf("of a mended file scores %v, %v, want 7", score(), err)
	}
	if code, got := get(t, s, "/readyz"); code != http.StatusOK || strings.TrimSpace(got) != `{"status":"ok"}` {
		t.Errorf("/readyz answers %d %s", code, got)
	}
}

// Claim: a query of one document is scored, too, and with per-query normalization as Model.Score
// does.
func TestSingleDocument(t *testing.T) {
	m := linear(1, 2, -1)
	m.Normalization = dataset.ZScore
	var b dataset.Builder
	if err := b.Add("q", []float64{0}, []float32{1, 2, 3}, nil); err != nil {
		t.Fatal(err)
	}
	want, err := m.Score(b.Dataset())
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: save(t, m)}}})
	code, got := post(t, s, "/v1/models/web:rank", `{"documents":[{"features":[1,2,3]}]}`)
	var a struct{ Ranking []struct{ Score float64 } }
	if err := json.Unmarshal([]byte(got), &a); err != nil || code != http.StatusOK || math.Float64bits(a.Ranking[0].Score) != math.Float64bits(want[0]) {
		t.Errorf("is answered with %d %s, want the score %v", code, got, want)
	}
}

// Claim: names that are not safe are refused, and so are aliases and models that contradict each
// other.
func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"web": true, "web@2": true, "a.b-c_1@2024-01-01": true, strings.Repeat("a", 64): true,
		"": false, "@2": false, "web@": false, "a@b@c": false, "../x": false, ".a": false, "a/b": false, "a b": false, "a:b": false, "ä": false, "a\n": false, strings.Repeat("a", 65): false,
	} {
		if err := serve.CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%q) is %v", name, err)
		}
	}
	path := save(t, linear(1))
	for _, c := range []serve.Config{
		{},
		{Models: []serve.Source{{Name: "a", Path: path}, {Name: "a", Path: path}}},
		{Models: []serve.Source{{Name: "a", Path: path + "x"}}},
		{Models: []serve.Source{{Name: "a", Path: path}}, Aliases: map[string]string{"a": "a"}},
		{Models: []serve.Source{{Name: "a", Path: path}}, Aliases: map[string]string{"b": "c"}},
		{Models: []serve.Source{{Name: "a", Path: path}}, Backgrounds: map[string]*dataset.Dataset{"c": nil}},
	} {
		if _, err := serve.New(c); err == nil {
			t.Errorf("%v is no error", c)
		}
	}
}

// Claim: whatever is asked, features are not in the log.
func TestLogHasNoFeatures(t *testing.T) {
	var log bytes.Buffer
	path := save(t, linear(1e300, 2, -1))
	s := newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: path}}, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	for _, body := range []string{
		`{"documents":[{"features":[12345.5,1,2]}]}`, `{"documents":[{"features":[12345.5,1,2]}],"contributions":true}`, `{"documents":[{"features":[12345.5]}]}`,
		`{"documents":[{"features":[1e38,12345.5,12345.5]}]}`, `{"documents":[{"features":{"bm25":12345.5}}]}`, `{"documents":[12345.5]}`, `12345.5`,
	} {
		post(t, s, "/v1/models/web:rank", body)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(true); err == nil || log.Len() == 0 {
		t.Errorf("a broken file is not in the log: %v", err)
	}
	if strings.Contains(log.String(), "12345") {
		t.Errorf("the log has features:\n%s", &log)
	}
}

// frameModel returns a model whose first feature has the categories of a data frame: "tan" and "blue"
// score 1, "red" 2; the second has those of numbers, of which 30 adds 10.
func frameModel(t *testing.T) *model.Model {
	t.Helper()
	colours, err := dataset.NewTextCategories([]string{"tan", "red", "blue"})
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := dataset.NewTextCategories([]string{"30", "10"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := scorer.NewTrees(3, [][]scorer.TreeNode{{{Categories: []float32{0, 2}, Left: -1, Right: -2}}, {{Feature: 1, Categories: []float32{0}, Left: -1, Right: -2}}})
	if err != nil {
		t.Fatal(err)
	}
	return &model.Model{Method: "test", FeatureNames: []string{"colour", "size", "ctr"}, Scorer: s, Params: []float64{1, 2, 10, 0}, Missing: dataset.MissingKeep, Categories: []*dataset.Categories{colours, sizes}}
}

// Claim: a request gives categories as their values, texts or numbers, or texts as their codes; any
// other value is refused with its place.
func TestRankCategories(t *testing.T) {
	s := newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: save(t, frameModel(t))}}})
	status, answer := post(t, s, "/v1/models/web:rank", `{"documents":[{"id":"a","features":["red",10,0]},{"id":"b","features":{"ctr":1,"size":"30","colour":"blue"}},{"id":"c","features":["red",30,0]},{"id":"d","features":[0,10,0]},{"id":"e","features":[null,null,0]}]}`)
	var got struct {
		Ranking []struct {
			ID    string
			Score float64
		}
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || status != http.StatusOK || len(got.Ranking) != 5 {
		t.Fatalf("%d: %s", status, answer)
	}
	for i, want := range []struct {
		id    string
		score float64
	}{{"c", 12}, {"b", 11}, {"a", 2}, {"e", 2}, {"d", 1}} {
		if g := got.Ranking[i]; g.ID != want.id || g.Score != want.score {
			t.Errorf("place %d is %v, expected %v", i+1, g, want)
		}
	}
	for features, want := range map[string]string{
		`["purple",10,0]`: `found \"purple\", expected one of the model's categories: \"tan\", \"red\", \"blue\", or its code, a number from 0 to 2","pointer":"/documents/0/features/0"`,
		`["red","7",0]`:   `found \"7\", expected one of the model's categories: \"30\", \"10\"","pointer":"/documents/0/features/1"`,
		`[3,10,0]`:        `found the value 3 of feature 1 (colour) for document 1, expected one of the model's categories`,
		`["red",0,0]`:     `found the value 0 of feature 2 (size) for document 1, expected one of the model's categories`,
		`["red",10,"x"]`:  `expected a number, or null where it is missing`,
	} {
		status, answer := post(t, s, "/v1/models/web:rank", `{"documents":[{"features":`+features+`}]}`)
		if status/100 != 4 || !strings.Contains(strings.ReplaceAll(answer, `\\\"`, `\"`), want) {
			t.Errorf("%s: %d, %s, expected %s", features, status, answer, want)
		}
	}
}

// Claim: a model with names of features that are not UTF-8 is not loaded, so that /metrics always
// answers.
func TestNamesThatAreNotUTF8(t *testing.T) {
	path := save(t, linear(1, 2, -1))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"bm25"`), []byte("\"bm\xff25\""), 1)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := serve.New(serve.Config{Models: []serve.Source{{Name: "web", Path: path}}}); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("the error is %v", err)
	}
}
