package serve_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/serve"
)

// matrix returns a body of float32.
func matrix(x ...float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func postBinary(t testing.TB, h http.Handler, path, accept string, body []byte) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/octet-stream")
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	return do(t, h, r)
}

// Claim: a matrix of float32 is scored as the same numbers in JSON are, and answered as float64 in
// the order of the request, or as JSON.
func TestBinary(t *testing.T) {
	s := newServer(t, serve.Config{})
	body := matrix(1, 0, 0, 0, 1, 0, 0.1, 0.2, 0.3)
	code, got := postBinary(t, s, "/v1/models/web:rank", "", body)
	if code != http.StatusOK || len(got) != 24 {
		t.Fatalf("is answered with %d %q", code, got)
	}
	var scores [3]float64
	if _, err := binary.Decode([]byte(got), binary.LittleEndian, &scores); err != nil {
		t.Fatal(err)
	}
	if want := [3]float64{1, 2, float64(float32(0.1)) + 2*float64(float32(0.2)) - float64(float32(0.3))}; scores[0] != want[0] || scores[1] != want[1] || math.Abs(scores[2]-want[2]) > 1e-15 {
		t.Errorf("scores %v, want %v", scores, want)
	}
	_, plain := post(t, s, "/v1/models/web:rank", `{"queries":[{"documents":[{"features":[1,0,0]}]},{"documents":[{"features":[0,1,0]},{"features":[0.1,0.2,0.3]}]}],"top":1}`)
	if code, got := postBinary(t, s, "/v1/models/web:rank?documents=1,2&top=1", "application/json", body); code != http.StatusOK || got != plain {
		t.Errorf("is answered with %d %s, want %s", code, got, plain)
	}
	if code, got := postBinary(t, s, "/v1/models/web:rank?query=q&user=u&features=3&documents=3", "application/json", body); code != http.StatusOK || !strings.Contains(got, `"query":"q"`) {
		t.Errorf("is answered with %d %s", code, got)
	}
	nan := float32(math.NaN())
	for _, c := range []struct {
		query, accept string
		body          []byte
		want          int
	}{
		{"", "", nil, 400}, {"", "", body[:11], 400}, {"", "", matrix(1, nan, 1), 422}, {"", "", matrix(1, float32(math.Inf(1)), 1), 422},
		{"features=4", "", body, 422}, {"features=2", "", body, 422}, {"features=2&lenient=true", "", matrix(1, 2), 422}, {"features=0", "", body, 400}, {"features=x", "", body, 400},
		{"documents=2", "", body, 400}, {"documents=4", "", body, 400}, {"documents=1,1,1,1", "", body, 400}, {"documents=3,0", "", body, 400}, {"documents=-1,4", "", body, 400},
		{"documents=1,99999999999999999999", "", body, 400}, {"documents=", "", body, 400}, {"documents=1,2&query=a", "", body, 400},
		{"top=0", "", body, 400}, {"none=1", "", body, 400}, {"top=1&top=2", "", body, 400}, {"lenient=2", "", body, 400}, {"query=", "", body, 400}, {"%zz", "", body, 400},
		{"", "text/html", body, 406}, {"", "*/*", body, 200}, {"", "application/*", body, 200},
	} {
		if code, got := postBinary(t, s, "/v1/models/web:rank?"+c.query, c.accept, c.body); code != c.want {
			t.Errorf("%s (Accept: %s) is answered with %d %s, want %d", c.query, c.accept, code, got, c.want)
		}
	}
}

// explained is an answer with contributions.
type explained struct {
	About, Background string
	Ranking           []struct {
		ID                             string
		Score, Base, Remainder, Others float64
		Contributions                  []struct {
			Feature      string
			Value        *float64
			Contribution float64
		}
	}
}

// Claim: what features contribute to a score, from the mean document of the request or of the
// background, adds up to it; of a linear model it is weight × (value − mean), by hand.
func TestContributions(t *testing.T) {
	path := save(t, linear(1, 2, -1))
	var b dataset.Builder
	if err := b.Add("q", []float64{0, 0}, []float32{2, 0, 0, 4, 2, 0}, nil); err != nil { // mean (3, 1, 0)
		t.Fatal(err)
	}
	s := newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: path}, {Name: "data", Path: path}}, Backgrounds: map[string]*dataset.Dataset{"data": b.Dataset()}})
	for name, want := range map[string]struct {
		background string
		base       float64
		first      string
		parts      float64
	}{
		"web": {"request", 1.5, "title", 1}, "data": {"data", 5, "bm25", -3},
	} {
		code, got := post(t, s, "/v1/models/"+name+":rank", `{"documents":[{"features":[1,0,0]},{"id":"b","features":[0,1,0]}],"contributions":true}`)
		if code != http.StatusBadRequest {
			t.Errorf("ids of some documents are answered with %d %s", code, got)
		}
		code, got = post(t, s, "/v1/models/"+name+":rank", `{"documents":[{"id":"a","features":[1,0,0]},{"id":"b","features":[0,1,0]}],"contributions":true}`)
		var a explained
		if err := json.Unmarshal([]byte(got), &a); err != nil || code != http.StatusOK {
			t.Fatal(code, got)
		}
		top := a.Ranking[0]
		sum := top.Base + top.Remainder
		for _, c := range top.Contributions {
			sum += c.Contribution
		}
		if top.ID != "b" || top.Score != 2 || top.Base != want.base || math.Abs(sum-2) > 1e-12 || len(top.Contributions) != 3 || a.Background != want.background || a.About == "" ||
			top.Contributions[0].Feature != want.first || top.Contributions[0].Contribution != want.parts {
			t.Errorf("%s: %s", name, got)
		}
		_, got = post(t, s, "/v1/models/"+name+":rank", `{"queries":[{"query":"q","documents":[{"id":"a","features":[1,0,0]},{"id":"b","features":[0,1,0]}]}],"contributions":1,"top":1}`)
		var several struct{ Rankings []explained }
		if err := json.Unmarshal([]byte(got), &several); err != nil || len(several.Rankings) != 1 {
			t.Fatal(got, err)
		}
		if r := several.Rankings[0].Ranking; len(r) != 1 || len(r[0].Contributions) != 1 || math.Abs(r[0].Base+r[0].Contributions[0].Contribution+r[0].Others-2) > 1e-12 {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Claim: /metrics counts requests and documents by model and status, and tells versions and
// whether a file is broken; names that clients make up do not appear.
func TestMetrics(t *testing.T) {
	s := newServer(t, serve.Config{Aliases: map[string]string{"main": "web"}})
	for range 3 {
		post(t, s, "/v1/models/main:rank", `{"documents":[{"features":[1,0,0]},{"features":[1,0,0]}]}`)
	}
	post(t, s, "/v1/models/main:rank", `{}`)
	post(t, s, "/v1/models/invented:rank", `{}`)
	m, _ := s.Snapshot().Find("web")
	_, got := get(t, s, "/metrics")
	for _, want := range []string{
		`listwise_requests_total{code="200",model="web"} 3`, `listwise_documents_total{model="web"} 6`, `listwise_request_seconds_count{model="web"} 3`,
		`listwise_requests_total{code="400",model="web"} 1`, `listwise_requests_total{code="404",model=""} 1`, `listwise_requests_in_flight 0`,
		fmt.Sprintf(`listwise_model_info{model="web",version=%q} 1`, m.Version), `listwise_model_fault{model="web"} 0`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("found no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "invented") || strings.Contains(got, `"main"`) {
		t.Errorf("a name of a request is a label:\n%s", got)
	}
}

// Claim: the drift of a feature is small while requests are like the training data and large when
// they are not, and that of the other feature stays.
func TestDrift(t *testing.T) {
	var b dataset.Builder
	var x []float32
	for i := range 1000 {
		x = append(x, float32(i%97), float32(i%89))
	}
	if err := b.Add("q", make([]float64, 1000), x, nil); err != nil {
		t.Fatal(err)
	}
	m := linear(1, 2)
	m.Training.Summary = b.Dataset().Summary()
	s := newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: save(t, m)}}})
	drifts := func() (v [2]float64) {
		_, got := get(t, s, "/metrics")
		for j, name := range []string{"bm25", "title"} {
			_, rest, ok := strings.Cut(got, fmt.Sprintf("listwise_feature_drift{feature=%q,model=\"web\"} ", name))
			if !ok {
				return [2]float64{-1, -1}
			}
			if _, err := fmt.Sscan(rest, &v[j]); err != nil {
				t.Fatal(err)
			}
		}
		return v
	}
	if v := drifts(); v[0] != -1 {
		t.Errorf("before any request the drift is %v", v)
	}
	send := func(shift float32) {
		for range 64 {
			var y []float32
			for i := 0; i < len(x); i += 2 {
				y = append(y, x[i]+shift, x[i+1])
			}
			if code, got := postBinary(t, s, "/v1/models/web:rank", "", matrix(y...)); code != http.StatusOK {
				t.Fatal(code, got)
			}
		}
	}
	if send(0); drifts()[0] > 0.01 || drifts()[1] > 0.01 {
		t.Errorf("of the training data the drift is %v", drifts())
	}
	for range 4 {
		send(60)
	}
	if v := drifts(); v[0] < 0.25 || v[1] > 0.01 {
		t.Errorf("of a feature that moved the drift is %v", v)
	}
	for column, name := range []string{"\xff", "\xfe"} {
		loaded, _ := s.Snapshot().Find("web")
		loaded.RenameFeature(column, name)
	}
	if code, got := get(t, s, "/metrics"); code != http.StatusOK || strings.Count(got, "listwise_feature_drift{feature=\"\uFFFD\"") != 1 {
		t.Errorf("with names that are no UTF-8 /metrics is %d %s", code, got)
	}
}

// Claim: a background has the features of the model: fewer, more, or others are an error.
func TestBackgroundOfOtherFeatures(t *testing.T) {
	path := save(t, linear(1, 2, -1))
	for names, ok := range map[string]bool{"": true, "bm25 title ctr": true, "ctr bm25 title": true, "bm25 title price": false, "bm25 title": false} {
		for _, width := range []int{2, 3, 4} {
			b := dataset.Blocks{Features: width, FeatureNames: strings.Fields(names), X: make([]float32, width), Grades: []float64{0}, IDs: []string{"q"}, Counts: []int{1}}
			if names == "" {
				b.FeatureNames = nil
			} else if len(b.FeatureNames) != width {
				continue
			}
			_, err := serve.New(serve.Config{Models: []serve.Source{{Name: "a", Path: path}}, Backgrounds: map[string]*dataset.Dataset{"a": dataset.FromBlocks(b)}})
			if want := ok && width == 3; (err == nil) != want {
				t.Errorf("%d features named %q: error %v", width, names, err)
			}
		}
	}
}

// Claim: while files change, every answer is of one model: its version, and all its scores.
func TestNoMixedAnswers(t *testing.T) {
	path := save(t, linear(1, 1, 1))
	s := newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: path}}})
	versions := make(map[string]float64)
	models := []*model.Model{linear(1, 1, 1), linear(2, 2, 2), linear(3, 3, 3)}
	for i, m := range models { // the version of each
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		if err := s.Reload(true); err != nil {
			t.Fatal(err)
		}
		loaded, _ := s.Snapshot().Find("web")
		versions[loaded.Version] = float64(i + 1)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = models[i%3].Save(path)
			_ = s.Reload(true)
		}
	}()
	body := `{"documents":[` + strings.Repeat(`{"features":[1,0,0]},`, 99) + `{"features":[0,1,0]}]}`
	for range 300 {
		code, got := post(t, s, "/v1/models/web:rank", body)
		var a struct {
			Version string
			Ranking []struct{ Score float64 }
		}
		if err := json.Unmarshal([]byte(got), &a); err != nil || code != http.StatusOK {
			t.Fatal(code, got)
		}
		want, ok := versions[a.Version]
		if !ok {
			t.Fatalf("found the version %s", a.Version)
		}
		for _, doc := range a.Ranking {
			if doc.Score != want {
				t.Fatalf("version %s scores %v, want %v", a.Version, doc.Score, want)
			}
		}
	}
	close(stop)
	<-done
}

// Claim: parameters of a binary request are those of net/url, its escapes among them; what would do
// nothing is refused; and types of answers have letters of any size.
func TestBinaryParameters(t *testing.T) {
	s := newServer(t, serve.Config{})
	for query, want := range map[string]int{
		"documents=1%2C1": 200, "&documents=2&": 200, "%71uery=a+b": 200, "query=%ff": 200, "": 200,
		"documents=2&documents=2": 400, "documents": 400, "x=1": 400, "query=%zz": 400, "top=1;query=a": 400, "query=": 400, "top=1": 400,
	} {
		r := httptest.NewRequest(http.MethodPost, "/v1/models/web:rank?"+query, bytes.NewReader(matrix(1, 2, 3, 4, 5, 6)))
		r.Header.Set("Content-Type", "application/octet-stream")
		if code, got := do(t, s, r); code != want || code == 200 && len(got) != 16 {
			t.Errorf("?%s is answered with %d %q, want %d", query, code, got, want)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/models/web:rank?top=1&query=a+b", bytes.NewReader(matrix(1, 2, 3, 4, 5, 6)))
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("Accept", "Application/JSON")
	if code, got := do(t, s, r); code != 200 || !strings.Contains(got, `"query":"a b","ranking":[{"id":"2"`) {
		t.Errorf("found %d %s", code, got)
	}
}
