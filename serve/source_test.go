package serve_test

import (
	"bytes"
	"embed"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/serve"
)

// embedded has a model, which was written by hand, and openapi.json, which is no model.
//
//go:embed testdata/model.json openapi.json
var embedded embed.FS

// Claim: a model ranks the same, with the same version, from a file, from a file system and from memory. The version of
// a file with other bytes differs.
func TestSources(t *testing.T) {
	m := linear(1, 2, -1)
	path := save(t, m)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	for _, source := range []serve.Source{
		{Path: path},
		{FS: os.DirFS(filepath.Dir(path)), Path: "m.json"},
		{FS: fstest.MapFS{"models/m.json": {Data: text}}, Path: "models/m.json"},
		{Model: m},
		{FS: embedded, Path: "testdata/model.json"},
	} {
		source.Name = "web"
		s := newServer(t, serve.Config{Models: []serve.Source{source}})
		code, got := post(t, s, "/v1/models/web:rank", `{"documents":[{"id":"a","features":[1,0,0]},{"id":"b","features":[0,1,0]}]}`)
		if code != http.StatusOK {
			t.Fatal(code, got)
		}
		answers = append(answers, got)
		before, _ := s.Snapshot().Find("web")
		if err := s.Reload(false); err != nil {
			t.Errorf("reload: %v", err)
		}
		if after, _ := s.Snapshot().Find("web"); after != before {
			t.Error("an unchanged model was loaded again")
		}
		if err := s.Reload(true); err != nil {
			t.Errorf("reload of all: %v", err)
		}
	}
	for i, got := range answers {
		if same := got == answers[0]; same != (i < len(answers)-1) || !strings.Contains(got, `"ranking":[{"id":"b","rank":1,"score":2}`) {
			t.Errorf("answer %d is %s, from a file %s", i, got, answers[0])
		}
	}
}

// Claim: a changed file of a file system is loaded, an unchanged one is not, also if the file system knows no times.
// Models in memory stay.
func TestReloadOfSources(t *testing.T) {
	text := func(weights ...float64) []byte {
		var b bytes.Buffer
		if err := linear(weights...).Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	files := fstest.MapFS{"m.json": {Data: text(1, 2)}}
	s := newServer(t, serve.Config{Models: []serve.Source{{Name: "files", FS: files, Path: "m.json"}, {Name: "memory", Model: linear(1, 2)}}})
	loaded := func(name string) *serve.Loaded {
		m, _ := s.Snapshot().Find(name)
		return m
	}
	before, memory := loaded("files"), loaded("memory")
	if err := s.Reload(false); err != nil || loaded("files") != before {
		t.Errorf("an unchanged file was loaded: %v", err)
	}
	files["m.json"] = &fstest.MapFile{Data: text(2, 1), ModTime: time.Unix(1, 0)}
	if err := s.Reload(false); err != nil || loaded("files").Version == before.Version {
		t.Errorf("a changed file was not loaded: %v", err)
	}
	delete(files, "m.json")
	if err := s.Reload(true); err == nil || !strings.Contains(err.Error(), "model files: ") || loaded("files").Model.Params[0] != 2 {
		t.Errorf("a file that vanished: %v", err)
	}
	if loaded("memory") != memory {
		t.Error("a model in memory was loaded again")
	}
}

// Claim: a source that is no model is an error that names the model.
func TestSourceErrors(t *testing.T) {
	m := linear(1)
	for want, source := range map[string]serve.Source{
		"model web: found neither a path nor a model in memory":   {},
		"model web: found a model in memory and a file":           {Model: m, Path: "m.json"},
		"found a model in memory and a file, expected one":        {Model: m, FS: embedded},
		"model web: openapi.json":                                 {FS: embedded, Path: "openapi.json"},
		"model web: open none.json: file does not exist":          {FS: embedded, Path: "none.json"},
		"found a directory, expected a model file":                {FS: embedded, Path: "."},
		"found a model without a scorer":                          {Model: new(model.Model)},
		"model web: found 20000000 features, expected at most 16": {Model: &model.Model{Scorer: scorer.Random{Features: 20_000_000}}},
	} {
		source.Name = "web"
		if _, err := serve.New(serve.Config{Models: []serve.Source{source}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

// Claim: the collectors of two servers fit into one registry beside the metrics of the host, with a label each.
// They have the values of the servers' own /metrics. A collector that is registered twice is refused, as any is.
func TestCollector(t *testing.T) {
	host := prometheus.NewRegistry()
	host.MustRegister(collectors.NewGoCollector())
	servers := map[string]*serve.Server{"shop": newServer(t, serve.Config{}), "help": newServer(t, serve.Config{})}
	for name, s := range servers {
		with := prometheus.WrapRegistererWith(prometheus.Labels{"service": name}, host)
		if err := with.Register(s.Collector()); err != nil {
			t.Fatal(err)
		}
		if err := with.Register(s.Collector()); err == nil {
			t.Error("a collector was registered twice")
		}
	}
	if err := host.Register(servers["shop"].Collector()); err == nil {
		t.Error("a collector without a label fits beside those with one")
	}
	post(t, servers["shop"], "/v1/models/web:rank", `{"documents":[{"features":[1,0,0]},{"features":[1,0,0]}]}`)
	families, err := host.Gather()
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string]float64{}
	names := map[string]bool{}
	for _, f := range families {
		names[f.GetName()] = true
		for _, m := range f.GetMetric() {
			if f.GetName() == "listwise_documents_total" {
				labels := map[string]string{}
				for _, l := range m.GetLabel() {
					labels[l.GetName()] = l.GetValue()
				}
				if labels["model"] == "web" {
					documents[labels["service"]] = m.GetCounter().GetValue()
				}
			}
		}
	}
	if documents["shop"] != 2 || documents["help"] != 0 || len(documents) != 2 {
		t.Errorf("documents by service: %v", documents)
	}
	_, text := get(t, servers["shop"], "/metrics")
	if !strings.Contains(text, `listwise_documents_total{model="web"} 2`+"\n") || !strings.Contains(text, "\ngo_goroutines ") {
		t.Errorf("/metrics is\n%s", text)
	}
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "# TYPE listwise_"); ok {
			if name, _, _ = strings.Cut(name, " "); !names["listwise_"+name] {
				t.Errorf("the host's registry lacks listwise_%s", name)
			}
		}
	}
}
