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
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/serve"
	"github.com/listwise/listwise/serve/experiment"
)

// answered is an answer of a request about one query.
type answered struct {
	Model, Version, Experiment string
	Models                     map[string]string
	Ranking                    []struct {
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
