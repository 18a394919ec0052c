package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/serve"
	"github.com/listwise/listwise/serve/experiment"
	"github.com/listwise/listwise/serve/rankjson"
)

// answered is an answer of a request about one query.
type answered struct {
	Model, Version, Experiment, Page string
	Models                           map[string]string
	Ranking                          []struct {
		ID       string
		Score    float64
		PlacedBy string `json:"placed_by"`
	}
}

func asked(t testing.TB, h http.Handler, name, body string) (a answered) {
	t.Helper()
	code, text := post(t, h, "/v1/models/"+name+":rank", body)
	if code != http.StatusOK {
		t.Fatalf("%s: %d %s", body, code, text)
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

// comparing is a server of two models, the second of which ranks the other way round, with
// experiments and a shadow, and its log.
func comparing(t testing.TB) (s *serve.Server, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "log.jsonl")
	records, err := experiment.OpenLog(log)
	if err != nil {
		t.Fatal(err)
	}
	arms := []serve.Arm{{Model: "web@1", Share: 3}, {Model: "new", Share: 1}}
	s = newServer(t, serve.Config{
		Models:  []serve.Source{{Name: "web@1", Path: save(t, linear(1, 0, 0))}, {Name: "web@2", Path: save(t, linear(-2, 0, 0))}},
		Aliases: map[string]string{"new": "web@2"},
		Experiments: []serve.Experiment{
			{Name: "split", Kind: experiment.Split, Arms: arms}, {Name: "mixed", Kind: experiment.Interleave, Arms: arms}, {Name: "byquery", Kind: experiment.Interleave, Arms: arms, ByQuery: true},
			{Name: "splitbyquery", Kind: experiment.Split, Arms: arms, ByQuery: true, Salt: "s"},
		},
		Shadows: map[string][]string{"web@1": {"new"}}, Records: records,
	})
	t.Cleanup(func() {
		s.Close()
		if err := records.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, log
}

const threeDocs = `"documents":[{"id":"a","features":[1,0,0]},{"id":"b","features":[2,0,0]},{"id":"c","features":[3,0,0]}]`

// Claim: a split gives every user the model of the documented hash, always the same, and its whole
// ranking.
func TestSplit(t *testing.T) {
	s, _ := comparing(t)
	counts := map[string]int{}
	for i := range 400 {
		user := fmt.Sprint("user", i)
		body := fmt.Sprintf(`{"user":%q,%s}`, user, threeDocs)
		a := asked(t, s, "split", body)
		want, order := "web@1", "cba"
		if experiment.Pick("split", []byte(user), []int{3, 1}) == 1 {
			want, order = "web@2", "abc"
		}
		m, _ := s.Snapshot().Find(want)
		if a.Model != want || a.Version != m.Version || a.Experiment != "split" || a.Models != nil || ids(a) != order || a.Ranking[0].PlacedBy != "" {
			t.Fatalf("%s: %+v, want %s", user, a, want)
		}
		if counts[a.Model]++; asked(t, s, "split", body).Model != want {
			t.Errorf("%s gets another model the second time", user)
		}
	}
	if n := counts["web@1"]; n < 270 || n > 330 {
		t.Errorf("models get %v of 400 users, want about 300 and 100", counts)
	}
}

func ids(a answered) (s string) {
	for _, d := range a.Ranking {
		s += d.ID //nolint:perfsprint // three letters
	}
	return s
}

// Claim: a log of experiments on a full disk is on /readyz, whose status stays 200, and in the log.
func TestFullDiskShows(t *testing.T) {
	records, err := experiment.OpenLog("/dev/full")
	if err != nil {
		t.Skip("found no /dev/full")
	}
	var log bytes.Buffer
	s := newServer(t, serve.Config{
		Models:      []serve.Source{{Name: "a", Path: save(t, linear(1, 0, 0))}, {Name: "b", Path: save(t, linear(2, 0, 0))}},
		Experiments: []serve.Experiment{{Name: "ab", Kind: experiment.Split, Arms: []serve.Arm{{Model: "a", Share: 1}, {Model: "b", Share: 1}}}},
		Records:     records, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if code, got := get(t, s, "/readyz"); code != http.StatusOK || strings.TrimSpace(got) != `{"status":"ok"}` {
		t.Errorf("before any line /readyz is %d %s", code, got)
	}
	asked(t, s, "ab", `{"user":"u",`+threeDocs+`}`)
	if err := records.Close(); err == nil { // after it the line has been tried
		t.Error("a full disk is no error")
	}
	want := `{"status":"degraded","faults":{"experiment log":"write: no space left on device"}}`
	if code, got := get(t, s, "/readyz"); code != http.StatusOK || strings.TrimSpace(got) != want {
		t.Errorf("/readyz is %d %s, want %s", code, got, want)
	}
	if text := log.String(); strings.Count(text, "loses lines") != 1 || !strings.Contains(text, "no space left on device") {
		t.Errorf("the log has %s", text)
	}
}

// Claim: GET /v1/models and GET /v1/models/NAME tell of experiments, as the description says, and a
// name that is wrong is compared with theirs.
func TestExperimentsAreListed(t *testing.T) {
	s, _ := comparing(t)
	_, router := description(t)
	for _, path := range []string{"/v1/models", "/v1/models/split", "/v1/models/web@1"} {
		checkAgainst(t, router, s, httptest.NewRequest(http.MethodGet, path, nil), "", http.StatusOK)
	}
	type trial struct {
		Name, Kind, By string
		Models         []struct {
			Name  string
			Share *int
		}
	}
	var all struct{ Experiments []trial }
	if _, text := get(t, s, "/v1/models"); json.Unmarshal([]byte(text), &all) != nil || len(all.Experiments) != 4 {
		t.Fatalf("found %s", text)
	}
	for i, want := range []string{"byquery interleave query", "mixed interleave user", "split split user", "splitbyquery split query"} {
		e := all.Experiments[i]
		if got := strings.Join([]string{e.Name, e.Kind, e.By}, " "); got != want || len(e.Models) != 2 || e.Models[0].Name != "web@1" || e.Models[1].Name != "new" {
			t.Errorf("found %+v, want %s of web@1 and new", e, want)
		}
		if shared := e.Models[0].Share != nil && *e.Models[0].Share == 3; shared != (e.Kind == experiment.Split) {
			t.Errorf("%s: found the share %v", e.Name, e.Models[0].Share)
		}
	}
	if code, text := post(t, s, "/v1/models/mixd:rank", "{}"); code != http.StatusNotFound || !strings.Contains(text, `did you mean \"mixed\"?`) {
		t.Errorf("found %d %s", code, text)
	}
}

// Claim: an interleaved ranking is the draft of both models' rankings, each document with the score
// of the model that placed it, and the log has the same.
func TestInterleave(t *testing.T) {
	s, log := comparing(t)
	score := map[string]func(x float64) float64{"web@1": func(x float64) float64 { return x }, "web@2": func(x float64) float64 { return -2 * x }}
	var d experiment.Drafter
	for i := range 50 {
		user := fmt.Sprint("user", i)
		a := asked(t, s, "mixed", fmt.Sprintf(`{"user":%q,"query":"q",%s}`, user, threeDocs))
		if a.Model != "mixed" || a.Version != "" || len(a.Models) != 2 || a.Models["web@1"] == a.Models["web@2"] {
			t.Fatalf("%+v", a)
		}
		for k, p := range d.Draft(nil, []int{2, 1, 0}, []int{0, 1, 2}, "mixed", []byte(user+"\x00q"), 0) {
			by := []string{"web@1", "web@2"}[p.Team]
			if got := a.Ranking[k]; got.ID != "abc"[p.Doc:p.Doc+1] || got.PlacedBy != by || got.Score != score[by](float64(p.Doc+1)) {
				t.Fatalf("%s: %+v, want document %d by %s", user, a.Ranking, p.Doc, by)
			}
		}
	}
	several := `{"user":"u","top":2,"queries":[{"query":"x",` + threeDocs + `},{"query":"y",` + threeDocs + `}]}`
	if code, text := post(t, s, "/v1/models/mixed:rank", several); code != http.StatusOK || strings.Count(text, "placed_by") != 4 {
		t.Errorf("several queries are answered with %d %s", code, text)
	}
	if a, b := asked(t, s, "byquery", `{"query":"q",`+threeDocs+`}`), asked(t, s, "byquery", `{"query":"q","user":"v",`+threeDocs+`}`); !slices.Equal(a.Ranking, b.Ranking) {
		t.Errorf("users of a query see %v and %v", a, b)
	}
	s.Close()
	records := readRecords(t, log, 54)
	if r := records[7]; r.Kind != experiment.Interleave || r.User != "user7" || r.Query != "q" || len(r.Ranking) != 3 || r.Models[1].Model != "web@2" {
		t.Errorf("a record is %+v", r)
	}
}

// Claim: a probabilistic interleaving is that of both models' rankings, and the log has the softmax
// probabilities of each place, which clicks need for their credit.
func TestProbabilisticInterleave(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.jsonl")
	records, err := experiment.OpenLog(log)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, serve.Config{
		Models:      []serve.Source{{Name: "web@1", Path: save(t, linear(1, 0, 0))}, {Name: "web@2", Path: save(t, linear(-2, 0, 0))}},
		Experiments: []serve.Experiment{{Name: "mixed", Kind: experiment.Interleave, Probabilistic: true, Arms: []serve.Arm{{Model: "web@1"}, {Model: "web@2"}}}},
		Records:     records,
	})
	var d experiment.Softmax
	var want [][]experiment.Place
	for i := range 50 {
		user := fmt.Sprint("user", i)
		a := asked(t, s, "mixed", fmt.Sprintf(`{"user":%q,"query":"q","top":2,%s}`, user, threeDocs))
		places := d.Draw(nil, []int{2, 1, 0}, []int{0, 1, 2}, "mixed", []byte(user+"\x00q"), 2)
		for k, p := range places {
			if got := a.Ranking[k]; len(a.Ranking) != 2 || got.ID != "abc"[p.Doc:p.Doc+1] || got.PlacedBy != []string{"web@1", "web@2"}[p.Team] {
				t.Fatalf("%s: %+v, want %+v", user, a.Ranking, places)
			}
		}
		want = append(want, places)
	}
	s.Close()
	for i, r := range readRecords(t, log, 50) {
		for k, p := range want[i] {
			if got := r.Ranking[k]; r.Kind != experiment.Interleave || got.Team != p.Team || got.Softmax == nil || *got.Softmax != p.Softmax {
				t.Fatalf("the record is %+v, want %+v", r, want[i])
			}
		}
	}
	if err := records.Close(); err != nil {
		t.Error(err)
	}
}

// readRecords waits until a log has so many lines and returns them.
func readRecords(t testing.TB, log string, n int) (records []experiment.Record) {
	t.Helper()
	var text []byte
	for range 500 {
		var err error
		if text, err = os.ReadFile(log); err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), "\n") >= n {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for line := range strings.Lines(string(text)) {
		var r experiment.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		records = append(records, r)
	}
	if len(records) != n {
		t.Fatalf("the log has %d records, want %d: %s", len(records), n, text)
	}
	return records
}

// Claim: a shadow scores what its model answers, for the log alone.
func TestShadow(t *testing.T) {
	s, log := comparing(t)
	a := asked(t, s, "web@1", `{"user":"u","query":"q",`+threeDocs+`}`)
	if ids(a) != "cba" || a.Experiment != "" {
		t.Errorf("%+v", a)
	}
	s.Close()
	r := readRecords(t, log, 1)[0]
	if r.Kind != experiment.Shadow || r.Experiment != "web@1" || r.Models[0].Model != "web@2" || r.Ranking[0] != (experiment.Shown{ID: "a", Score: -2}) || s.Dropped() != 0 {
		t.Errorf("the record is %+v, %d were dropped", r, s.Dropped())
	}
	asked(t, s, "web@1", `{`+threeDocs+`}`) // after Close it is answered still
	if s.Dropped() != 1 {
		t.Errorf("%d were dropped, want 1", s.Dropped())
	}
	if _, text := get(t, s, "/metrics"); !strings.Contains(text, "\nlistwise_shadow_dropped_total 1\n") || !strings.Contains(text, "\nlistwise_experiment_log_dropped_total 0\n") {
		t.Errorf("/metrics does not have what was dropped: %s", text)
	}
}

// Claim: what an experiment cannot do is refused at its place.
func TestWrongTrials(t *testing.T) {
	s, _ := comparing(t)
	for _, c := range []struct{ name, body, pointer string }{
		{"split", `{` + threeDocs + `}`, "/user"},
		{"mixed", `{"query":"q",` + threeDocs + `}`, "/user"},
		{"byquery", `{"user":"u",` + threeDocs + `}`, "/query"},
		{"splitbyquery", `{"user":"u",` + threeDocs + `}`, "/query"},
		{"splitbyquery", `{"queries":[{"query":"a",` + threeDocs + `},{"query":"b",` + threeDocs + `}]}`, "/queries"},
		{"mixed", `{"contributions":true,"user":"u",` + threeDocs + `}`, "/contributions"},
	} {
		code, text := post(t, s, "/v1/models/"+c.name+":rank", c.body)
		if code != http.StatusBadRequest || !strings.Contains(text, fmt.Sprintf(`"pointer":%q`, c.pointer)) {
			t.Errorf("%s of %s is answered with %d %s, want %s", c.body, c.name, code, text, c.pointer)
		}
	}
	if code, _ := post(t, s, "/v1/models/none:rank", `{}`); code != http.StatusNotFound {
		t.Errorf("an unknown name is answered with %d", code)
	}
}

// Claim: an experiment whose models come to have different features is refused, and goes on when
// they are alike again; requests about its models are answered all the while.
func TestTrialOfChangedModels(t *testing.T) {
	first, second := save(t, linear(1, 2)), save(t, linear(2, 1))
	s := newServer(t, serve.Config{
		Models:      []serve.Source{{Name: "a", Path: first}, {Name: "b", Path: second}},
		Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Split, Arms: []serve.Arm{{"a", 1}, {"b", 1}}}},
	})
	body := `{"user":"u","documents":[{"features":[1,2]}]}`
	for _, weights := range [][]float64{{1, 2}, {1, 2, 3}, {3, 4}} {
		if err := linear(weights...).Save(second); err != nil {
			t.Fatal(err)
		}
		if err := s.Reload(true); err != nil {
			t.Fatal(err)
		}
		want := http.StatusOK
		if len(weights) == 3 {
			want = http.StatusServiceUnavailable
		}
		if code, text := post(t, s, "/v1/models/e:rank", body); code != want {
			t.Errorf("%v: answered with %d %s, want %d", weights, code, text, want)
		}
		if code, text := post(t, s, "/v1/models/a:rank", body); code != http.StatusOK {
			t.Errorf("%v: answered with %d %s", weights, code, text)
		}
	}
}

// Claim: experiments that make no sense are refused when a server is made.
func TestWrongExperiments(t *testing.T) {
	models := []serve.Source{{Name: "a", Path: save(t, linear(1, 2))}, {Name: "b", Path: save(t, linear(2, 1))}, {Name: "wide", Path: save(t, linear(2, 1, 0))}}
	two := []serve.Arm{{"a", 1}, {"b", 1}}
	swap := experiment.Exploration{Method: experiment.Swap, Share: 1}
	for _, c := range []serve.Config{
		{Experiments: []serve.Experiment{{Name: "a", Kind: experiment.Split, Arms: two}}},
		{Experiments: []serve.Experiment{{Name: "../e", Kind: experiment.Split, Arms: two}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: "other", Arms: two}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Split, Arms: two[:1]}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Split, Arms: []serve.Arm{{"a", 1}, {"none", 1}}}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Split, Arms: []serve.Arm{{"a", 1}, {"a", 1}}}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Split, Arms: []serve.Arm{{"a", 0}, {"b", 0}}}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Split, Arms: []serve.Arm{{"a", -1}, {"b", 2}}}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Split, Arms: []serve.Arm{{"a", math.MaxInt}, {"b", math.MaxInt}}}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Split, Arms: []serve.Arm{{"a", 1}, {"wide", 1}}}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Interleave, Arms: append(two, serve.Arm{"wide", 1})}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Split, Probabilistic: true, Arms: two}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Split, Arms: two}, {Name: "e", Kind: experiment.Split, Arms: two}}},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Explore, Arms: two[:1], Explore: swap}}}, // without a log
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Explore, Arms: two, Explore: swap}}, Records: new(experiment.Log)},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Explore, Arms: two[:1]}}, Records: new(experiment.Log)},
		{Experiments: []serve.Experiment{{Name: "e", Kind: experiment.Explore, Arms: two[:1], Explore: experiment.Exploration{Method: experiment.Top, Share: 1}}}, Records: new(experiment.Log)},
		{Pages: new(experiment.Log)}, {Pages: new(experiment.Log), PageShare: 1.1}, {Pages: new(experiment.Log), PageShare: math.NaN()},
		{Candidates: 1}, {Candidates: -1, Pages: new(experiment.Log), PageShare: 1},
		{Shadows: map[string][]string{"a": {"b"}}}, // without a log
		{Shadows: map[string][]string{"a": {"a"}}, Records: new(experiment.Log)},
		{Shadows: map[string][]string{"a": {"wide"}}, Records: new(experiment.Log)},
		{Shadows: map[string][]string{"a": {"none"}}, Records: new(experiment.Log)},
		{Shadows: map[string][]string{"none": {"a"}}, Records: new(experiment.Log)},
	} {
		c.Models = models
		if _, err := serve.New(c); err == nil {
			t.Errorf("%+v %v is no error", c.Experiments, c.Shadows)
		}
	}
}

// exploring is a server of the models of comparing and the given experiments, with both logs.
func exploring(t testing.TB, c serve.Config) (s *serve.Server, experiments, pages string) {
	t.Helper()
	experiments, pages = filepath.Join(t.TempDir(), "log.jsonl"), filepath.Join(t.TempDir(), "pages.jsonl")
	var err error
	if c.Records, err = experiment.OpenLog(experiments); err != nil {
		t.Fatal(err)
	}
	if c.Pages, err = experiment.OpenLog(pages); err != nil {
		t.Fatal(err)
	}
	c.Models = []serve.Source{{Name: "web@1", Path: save(t, linear(1, 0, 0))}, {Name: "web@2", Path: save(t, linear(-2, 0, 0))}}
	s = newServer(t, c)
	t.Cleanup(func() {
		s.Close()
		for _, l := range c.Logs() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s, experiments, pages
}

// shownIn is the documents of a line of a log.
func shownIn(r experiment.Record) (text string) {
	for _, d := range r.Ranking {
		text += d.ID //nolint:perfsprint // a few letters
	}
	return text
}

const fiveDocs = `"documents":[{"id":"a","features":[1,0,0]},{"id":"b","features":[2,0,0]},{"id":"c","features":[3,0,0]},{"id":"d","features":[4,0,0]},{"id":"e","features":[5,0,0]}]`

// Claim: each exploration shows what its definition makes of the model's ranking and the page, the
// log has the same page, ranking, draw and candidates, and a user who asks again gets another draw.
func TestExplore(t *testing.T) {
	methods := []string{"swap", "pairs", "top=2", "noise=2"}
	var c serve.Config
	for i, how := range methods {
		e, err := experiment.ParseExploration(how)
		if err != nil {
			t.Fatal(err)
		}
		c.Experiments = append(c.Experiments, serve.Experiment{Name: fmt.Sprint("x", i), Kind: experiment.Explore, Arms: []serve.Arm{{Model: "web@1"}}, Explore: e})
	}
	c.PageShare, c.Candidates = 1, 4
	s, log, pages := exploring(t, c)
	const each = 60
	var answers []answered
	for i := range methods {
		orders := map[string]bool{}
		for range each {
			a := asked(t, s, fmt.Sprint("x", i), `{"user":"u","query":"q","top":3,`+fiveDocs+`}`)
			if a.Model != "web@1" || a.Version == "" || a.Experiment != fmt.Sprint("x", i) || len(a.Page) != 16 {
				t.Fatalf("%+v", a)
			}
			orders[ids(a)] = true
			answers = append(answers, a)
		}
		if len(orders) < 2 {
			t.Errorf("%s: a user sees only %v", methods[i], orders)
		}
	}
	s.Close()
	for k, r := range readRecords(t, log, len(answers)) {
		a, e := answers[k], c.Experiments[k/each]
		page, err := strconv.ParseUint(a.Page, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		var ranking []rankjson.Ranked
		for doc := 4; doc >= 0; doc-- {
			ranking = append(ranking, rankjson.Ranked{Doc: doc, Score: float64(doc + 1)})
		}
		want := e.Explore.Apply(ranking, 3, rankjson.Page(page))
		for i, d := range ranking[:3] {
			if got := a.Ranking[i]; got.ID != "abcde"[d.Doc:d.Doc+1] || got.Score != d.Score || got.PlacedBy != "" {
				t.Fatalf("%s: %+v, want %+v", e.Explore, a.Ranking, ranking)
			}
		}
		if fmt.Sprint(r.Draw) != fmt.Sprint(want) || r.Page != a.Page || shownIn(r) != ids(a) || r.Kind != experiment.Explore || r.Experiment != e.Name || r.User != "u" || r.Query != "q" || r.Models[0].Model != "web@1" || strings.Join(r.Candidates, "") != "edcb" {
			t.Fatalf("the record is %+v of the answer %+v", r, a)
		}
	}
	readRecords(t, pages, 0) // all were explored
}

// Claim: a share of the users is explored, as a whole, and the others get the model's ranking, which
// the page log gets of the documented share of users.
func TestExploreShare(t *testing.T) {
	c := serve.Config{PageShare: 0.4}
	x := experiment.Exploration{Method: experiment.Top, Depth: 3, Share: 0.3}
	arms := []serve.Arm{{Model: "web@1"}}
	c.Experiments = []serve.Experiment{{Name: "x", Kind: experiment.Explore, Arms: arms, Explore: x}, {Name: "byquery", Kind: experiment.Explore, Arms: arms, Explore: x, ByQuery: true}}
	s, log, pages := exploring(t, c)
	const users = 200
	explored, logged := 0, 0
	for i := range users {
		user := fmt.Sprint("user", i)
		a := asked(t, s, "x", fmt.Sprintf(`{"user":%q,"query":"q",%s}`, user, threeDocs))
		inside, kept := experiment.Within("x", []byte(user), 0.3), experiment.Within("page log", []byte(user), 0.4)
		if inside {
			explored++
		} else if kept {
			logged++
		}
		if !inside && ids(a) != "cba" || (a.Page != "") != (inside || kept) || a.Experiment != "x" {
			t.Errorf("%s: explored %v, kept %v: %+v", user, inside, kept, a)
		}
	}
	asked(t, s, "byquery", `{"queries":[{"query":"q0",`+threeDocs+`},{"query":"q1",`+threeDocs+`}]}`)
	for i := range 20 {
		if id := fmt.Sprint("q", i%2); i < 2 && experiment.Within("byquery", []byte(id), 0.3) {
			explored++
		} else if i < 2 && experiment.Within("page log", []byte(id), 0.4) {
			logged++
		}
	}
	s.Close()
	for _, r := range readRecords(t, log, explored) {
		if r.Kind != experiment.Explore || r.Shuffled != 3 {
			t.Errorf("%+v is explored", r)
		}
	}
	for _, r := range readRecords(t, pages, logged) {
		if r.Kind != experiment.Page || shownIn(r) != "cba" || r.Shuffled != 0 || r.Experiment == "" {
			t.Errorf("%+v is no page of the model's ranking", r)
		}
	}
}

// Claim: the page log has the rankings of the documented share of users, or of queries without a
// user, as the model gave them; answers of other rankings have no page.
func TestPageLog(t *testing.T) {
	s, log, pages := exploring(t, serve.Config{
		PageShare: 0.5, Candidates: 9, Aliases: map[string]string{"web": "web@2"},
		Experiments: []serve.Experiment{{Name: "ab", Kind: experiment.Split, Arms: []serve.Arm{{Model: "web@1", Share: 9}, {Model: "web@2", Share: 1}}}},
	})
	var want []string
	keep := func(id string) bool { return experiment.Within("page log", []byte(id), 0.5) }
	for i := range 60 {
		user, query := fmt.Sprint("user", i), fmt.Sprint("query", i)
		a := asked(t, s, "web", fmt.Sprintf(`{"user":%q,"query":%q,"top":1,%s}`, user, query, threeDocs))
		b := asked(t, s, "web", fmt.Sprintf(`{"query":%q,%s}`, query, threeDocs))
		if (a.Page != "") != keep(user) || (b.Page != "") != keep(query) {
			t.Errorf("%s and %s get the pages %q and %q", user, query, a.Page, b.Page)
		}
		if keep(user) {
			want = append(want, a.Page+user+query+"a[a b c]")
		}
		if keep(query) {
			want = append(want, b.Page+query+"abc[]")
		}
	}
	if a := asked(t, s, "web", `{`+threeDocs+`}`); a.Page != "" {
		t.Errorf("a ranking without user and query has the page %s", a.Page)
	}
	a := asked(t, s, "ab", `{"user":"u","top":2,`+threeDocs+`}`)
	s.Close()
	if r := readRecords(t, log, 1)[0]; r.Page != a.Page || !slices.Equal(r.Share, []int{9, 1}) || r.Kind != experiment.Split || len(r.Candidates) != 3 || r.Candidates[0] != ids(a)[:1] {
		t.Errorf("the record of a split is %+v of %+v", r, a)
	}
	for i, r := range readRecords(t, pages, len(want)) {
		if got := r.Page + r.User + r.Query + shownIn(r) + fmt.Sprint(r.Candidates); got != want[i] || r.Kind != experiment.Page || r.Experiment != "" || r.Models[0].Model != "web@2" || r.Share != nil {
			t.Errorf("the record is %+v, want %s", r, want[i])
		}
	}
}

// Claim: every ranking of a request has its own page, in the answer and in the log; a shadow's line
// has the page of the ranking that was shown; the candidates of an interleaving are its longer draft.
func TestPagesOfRankings(t *testing.T) {
	arms := []serve.Arm{{Model: "web@1", Share: 1}, {Model: "web@2", Share: 1}}
	s, log, pages := exploring(t, serve.Config{
		PageShare: 1, Candidates: 4, Shadows: map[string][]string{"web@2": {"web@1"}},
		Experiments: []serve.Experiment{{Name: "mixed", Kind: experiment.Interleave, Arms: arms}},
	})
	several := `{"user":"u","top":2,"queries":[{"query":"x",` + fiveDocs + `},{"query":"y",` + threeDocs + `}]}`
	var seen []string
	for _, name := range []string{"mixed", "web@2"} {
		code, text := post(t, s, "/v1/models/"+name+":rank", several)
		var a struct{ Rankings []answered }
		if err := json.Unmarshal([]byte(text), &a); err != nil || code != http.StatusOK {
			t.Fatal(code, text, err)
		}
		for _, r := range a.Rankings {
			if len(r.Page) != 16 || slices.Contains(seen, r.Page) {
				t.Fatalf("a page is %q, after %v", r.Page, seen)
			}
			seen = append(seen, r.Page)
		}
	}
	s.Close()
	records := readRecords(t, log, 4)
	for i, r := range records {
		if r.Page != seen[i] || (r.Kind == experiment.Shadow) != (i >= 2) {
			t.Errorf("line %d is %+v, want the page %s", i, r, seen[i])
		}
	}
	for i, r := range readRecords(t, pages, 2) {
		if r.Page != seen[2+i] {
			t.Errorf("line %d of the page log is %+v, want the page %s", i, r, seen[2+i])
		}
	}
	var d experiment.Drafter
	var want []string
	for _, p := range d.Draft(nil, []int{4, 3, 2, 1, 0}, []int{0, 1, 2, 3, 4}, "mixed", []byte("u\x00x"), 4) {
		want = append(want, "abcde"[p.Doc:p.Doc+1])
	}
	if r := records[0]; !slices.Equal(r.Candidates, want) || shownIn(r) != strings.Join(want[:2], "") || len(records[1].Candidates) != 3 || records[2].Candidates != nil {
		t.Errorf("candidates are %v, want %v; of three documents %v", r.Candidates, want, records[1].Candidates)
	}
}

// Claim: answers of every form name their page: in the header if they are about one query, and with
// contributions. An exploration has no answer of scores.
func TestPageOfEveryForm(t *testing.T) {
	_, router := description(t)
	arms := []serve.Arm{{Model: "web@1"}}
	s, log, _ := exploring(t, serve.Config{
		PageShare: 1, Experiments: []serve.Experiment{{Name: "x", Kind: experiment.Explore, Arms: arms, Explore: experiment.Exploration{Method: experiment.Swap, Share: 1}}},
	})
	checkAgainst(t, router, s, httptest.NewRequest(http.MethodGet, "/v1/models/x", nil), "", http.StatusOK)
	if _, text := get(t, s, "/v1/models/x"); !strings.Contains(text, `"exploration":"swap"`) {
		t.Errorf("the experiment is %s", text)
	}
	const solr = `{"response":{"docs":[{"id":"a","[features]":"bm25=1,title=0,ctr=0"},{"id":"b","[features]":"bm25=2,title=0,ctr=0"}]}}`
	for _, c := range []struct {
		path, kind, body string
		status           int
		page             bool // in the body
	}{
		{"x:rank", "application/json", `{"contributions":1,"query":"q",` + threeDocs + `}`, http.StatusOK, true},
		{"x:rank", "application/json", `{"query":"q",` + threeDocs + `}`, http.StatusOK, true},
		{"web@1:rank?query=q", "application/octet-stream", string(matrix(1, 2, 3)), http.StatusOK, false},
		{"x:rank?query=q", "application/octet-stream", string(matrix(1, 2, 3)), http.StatusNotAcceptable, false},
	} {
		request := func() *http.Request {
			r := httptest.NewRequest(http.MethodPost, "/v1/models/"+c.path, strings.NewReader(c.body))
			r.Header.Set("Content-Type", c.kind)
			return r
		}
		checkAgainst(t, router, s, request(), c.body, c.status)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request())
		page := w.Header().Get("Listwise-Page")
		if (len(page) == 16) != (c.status == http.StatusOK) || strings.Contains(w.Body.String(), `"page":"`+page+`"`) != c.page {
			t.Errorf("%s: the header is %q, the answer %s", c.path, page, w.Body)
		}
	}
	// An engine's answer is explored, too: b and a in both orders.
	orders := map[string]bool{}
	for range 60 {
		r := httptest.NewRequest(http.MethodPost, "/v1/models/x:rank?from=solr&user=u", strings.NewReader(solr))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != http.StatusOK || len(w.Header().Get("Listwise-Page")) != 16 {
			t.Fatal(w.Code, w.Header(), w.Body)
		}
		orders[strconv.FormatBool(strings.Index(w.Body.String(), `"id":"a"`) < strings.Index(w.Body.String(), `"id":"b"`))] = true
	}
	if len(orders) != 2 {
		t.Errorf("an engine's answer is in the orders %v alone", orders)
	}
	s.Close()
	readRecords(t, log, 4+60)
}
