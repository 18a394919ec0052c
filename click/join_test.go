package click

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// joined runs a join of texts, and returns a line "id: documents with clicks, order" for each page.
func joined(t *testing.T, j *Join, shown, clicks string) (pages []string, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"shown": shown, "clicks": clicks} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j.Shown, j.Clicks = []string{filepath.Join(dir, "shown")}, []string{filepath.Join(dir, "clicks")}
	if clicks == "same" {
		j.Clicks = j.Shown
	}
	err = j.Run(context.Background(), func(p *Page) error {
		if err := p.Check(); err != nil {
			t.Errorf("page %s: %v", p.ID, err)
		}
		var docs []string
		for r, d := range p.Docs {
			docs = append(docs, d+strings.Repeat("*", p.Clicks[r]))
		}
		pages = append(pages, strings.TrimSpace(fmt.Sprintf("%s %s %s: %s %v", p.ID, p.User, p.Query, strings.Join(docs, " "), p.Order)))
		return nil
	})
	if err != nil {
		err = fmt.Errorf("%s", strings.ReplaceAll(err.Error(), dir+"/", ""))
	}
	return pages, err
}

// shownAt is a line of serve's log.
func shownAt(page, clock, user, query string, docs ...string) string {
	var ids []string
	for _, d := range docs {
		ids = append(ids, fmt.Sprintf(`{"id":%q,"score":1,"team":0}`, d))
	}
	return fmt.Sprintf(`{"time":"2026-01-02T%sZ","page":%q,"experiment":"ab","kind":"split","user":%q,"query":%q,"models":[{"model":"web@1","version":"0f"}],"share":[9,1],"ranking":[%s]}`+"\n",
		clock, page, user, query, strings.Join(ids, ","))
}

// Claim: each rule of matching a click to a ranking, with what it leaves out.
func TestJoinRules(t *testing.T) {
	log := shownAt("p1", "10:00:00", "u", "q", "a", "b", "c") + shownAt("p2", "11:00:00", "u", "q", "b", "d") + shownAt("p3", "11:00:00", "v", "q", "a")
	none := []string{"p1 u q: a b c []", "p2 u q: b d []", "p3 v q: a []"}
	with := func(i int, page string) []string {
		pages := append([]string{}, none...)
		pages[i] = page
		return pages
	}
	for _, c := range []struct {
		name, clicks string
		pages        []string
		tally        JoinTally
	}{
		{"no click", "", none, JoinTally{}},
		{"by page, whatever the rest says", `{"page":"p1","id":"b","user":"x","query":"y","time":"2020-01-02T10:00:00Z"}`, with(0, "p1 u q: a b* c [1]"), JoinTally{Used: 1, Clicked: 1, Before: 1, Lead: 6 * 8768 * time.Hour}},
		{"by page, document not shown", `{"page":"p1","id":"d"}`, none, JoinTally{NotShown: 1}},
		{"by page, unknown", `{"page":"p9","id":"d"}`, none, JoinTally{Unmatched: 1}},
		{"the last ranking no later", `{"user":"u","query":"q","id":"b","time":"2026-01-02T10:59:59Z"}`, with(0, "p1 u q: a b* c [1]"), JoinTally{Used: 1, Clicked: 1}},
		{"at the same time", `{"user":"u","query":"q","id":"b","time":"2026-01-02T11:00:00Z"}`, with(1, "p2 u q: b* d [0]"), JoinTally{Used: 1, Clicked: 1}},
		{"in Unix seconds", `{"user":"u","query":"q","id":"b","time":1767351600.5}`, with(1, "p2 u q: b* d [0]"), JoinTally{Used: 1, Clicked: 1}},
		{"the last does not show it, an earlier one does", `{"user":"u","query":"q","id":"a","time":"2026-01-02T12:00:00Z"}`, none, JoinTally{NotShown: 1}},
		{"before all", `{"user":"u","query":"q","id":"a","time":"2026-01-02T09:00:00Z"}`, none, JoinTally{Unmatched: 1, Early: 1}},
		{"just in time", `{"user":"u","query":"q","id":"b","time":"2026-01-03T11:00:00Z"}`, with(1, "p2 u q: b* d [0]"), JoinTally{Used: 1, Clicked: 1}},
		{"too late", `{"user":"u","query":"q","id":"b","time":"2026-01-03T11:00:00.001Z"}`, none, JoinTally{Late: 1}},
		{"without a time", `{"user":"u","query":"q","id":"b"}`, with(1, "p2 u q: b* d [0]"), JoinTally{Used: 1, Clicked: 1, Ambiguous: 1}},
		{"without a time, one ranking", `{"user":"v","query":"q","id":"a"}`, with(2, "p3 v q: a* [0]"), JoinTally{Used: 1, Clicked: 1}},
		{"another user", `{"user":"w","query":"q","id":"b"}`, none, JoinTally{Unmatched: 1}},
		{"another query", `{"user":"u","query":"r","id":"b"}`, none, JoinTally{Unmatched: 1}},
		{"of the experiment", `{"user":"u","query":"q","id":"b","experiment":"ab","time":"2026-01-02T12:00:00Z"}`, with(1, "p2 u q: b* d [0]"), JoinTally{Used: 1, Clicked: 1}},
		{"of another experiment", `{"user":"u","query":"q","id":"b","experiment":"cd"}`, none, JoinTally{Unmatched: 1}},
		{"order of clicks and a second click", `{"page":"p1","id":"c","time":"2026-01-02T10:00:03Z"}` + "\n" + `{"page":"p1","id":"a","time":"2026-01-02T10:00:02Z"}` + "\n" + `{"page":"p1","id":"c","time":"2026-01-02T10:00:04Z"}`,
			with(0, "p1 u q: a* b c** [0 2 2]"), JoinTally{Used: 3, Clicked: 1}},
		{"a repeated line", strings.Repeat(`{"page":"p1","id":"c","time":"2026-01-02T10:00:03Z"}`+"\n", 3), with(0, "p1 u q: a b c* [2]"), JoinTally{Used: 1, Clicked: 1, RepeatedClicks: 2}},
		{"ids as numbers, a cut off line", `{"page":"p1","id":7}` + "\n" + `{"page":"p1","i`, none, JoinTally{NotShown: 1, Incomplete: 1}},
	} {
		j := &Join{Format: ServeLog{}, Within: 24 * time.Hour}
		pages, err := joined(t, j, log, c.clicks)
		c.tally.Pages = 3
		if err != nil || fmt.Sprint(pages) != fmt.Sprint(c.pages) || j.JoinTally != c.tally {
			t.Errorf("%s: found %v, %q, %+v, expected %q, %+v", c.name, err, pages, j.JoinTally, c.pages, c.tally)
		}
	}
}

// Claim: serve's log gives all members of a page, and lines that are no pages are counted.
func TestJoinServe(t *testing.T) {
	log := `{"time":"2026-01-02T10:00:00.5Z","page":"p1","experiment":"mix","kind":"interleave","user":"u","query":"q","models":[{"model":"a@1","version":"0f"},{"model":"a@2","version":"1f"}],"ranking":[{"id":"x","score":1,"team":1},{"id":7,"score":1,"team":0}]}
{"time":"2026-01-02T10:00:00Z","page":"p2","experiment":"e","kind":"explore","query":"q","models":[{"model":"a","version":"0f"}],"swapped":[1,2],"swap":true,"ranking":[{"id":"x"},{"id":"y"}],"candidates":["y","z"]}
{"time":"2026-01-02T10:00:00Z","page":"p3","experiment":"e","kind":"explore","query":"q","models":[{"model":"a","version":"0f"}],"pairs":2,"exchanged":[2],"ranking":[{"id":"x"},{"id":"y"},{"id":"z"}]}
{"time":"2026-01-02T10:00:00Z","page":"p4","experiment":"e","kind":"explore","query":"q","models":[{"model":"a","version":"0f"}],"shuffled":2,"ranking":[{"id":"x"},{"id":"y"}]}
{"time":"2026-01-02T10:00:00Z","page":"p5","experiment":"e","kind":"explore","query":"q","models":[{"model":"a","version":"0f"}],"noise":0.5,"propensity":0.25,"ranking":[{"id":"x"},{"id":"y"}]}
{"time":"2026-01-02T10:00:00Z","page":"p6","kind":"page","query":"q","models":[{"model":"a","version":"0f"}],"ranking":[{"id":"x"}]}
{"time":"2026-01-02T10:00:00Z","page":"p11","experiment":"drawn","kind":"interleave","query":"q","models":[{"model":"a","version":"0f"},{"model":"b","version":"1f"}],"ranking":[{"id":"x","team":1,"softmax":[0.25,1]},{"id":"y","team":0,"softmax":[1,0.5]}]}

{"time":"2026-01-02T10:00:00Z","page":"p6","kind":"page","query":"q","models":[{"model":"a","version":"0f"}],"ranking":[{"id":"x"}]}
{"time":"2026-01-02T10:00:00Z","page":"p7","kind":"shadow","query":"q","models":[{"model":"a","version":"0f"}],"ranking":[{"id":"x"}]}
{"time":"2026-01-02T10:00:00Z","page":"p8","kind":"page","user":"u","models":[{"model":"a","version":"0f"}],"ranking":[{"id":"x"}]}
{"time":"2026-01-02T10:00:00Z","page":"p9","kind":"page","query":"q","models":[{"model":"a","version":"0f"}],"ranking":[]}
{"time":"2026-01-02T10:0{"time":"2026-01-02T10:00:00Z","kind":"strange"}
{"time":"2026-01-02T10:00:00Z","kind":"strange"}
{"time":"2026-01-02T10:00:00Z","page":"p10","kind":"pa`
	j := &Join{Format: ServeLog{}}
	dir := t.TempDir()
	path := filepath.Join(dir, "log.gz")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte(log))
	_ = w.Close()
	if err := os.WriteFile(path, z.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	j.Shown = []string{path}
	var out []byte
	if err := j.Run(context.Background(), func(p *Page) error {
		out = AppendJSON(out, p)
		return p.Check()
	}); err != nil {
		t.Fatal(err)
	}
	want := `{"page":"p1","time":"2026-01-02T10:00:00.5Z","user":"u","query":"q","experiment":"mix","arm":"a@1,a@2","version":"0f,1f","docs":["x","7"],"clicks":[0,0],"team":[1,0]}
{"page":"p2","time":"2026-01-02T10:00:00Z","query":"q","experiment":"e","arm":"a","version":"0f","docs":["x","y"],"clicks":[0,0],"swapped":[1,2],"swap":true,"candidates":["y","z","x"]}
{"page":"p3","time":"2026-01-02T10:00:00Z","query":"q","experiment":"e","arm":"a","version":"0f","docs":["x","y","z"],"clicks":[0,0,0],"pairs":2,"exchanged":[2]}
{"page":"p4","time":"2026-01-02T10:00:00Z","query":"q","experiment":"e","arm":"a","version":"0f","docs":["x","y"],"clicks":[0,0],"shuffled":2}
{"page":"p5","time":"2026-01-02T10:00:00Z","query":"q","experiment":"e","arm":"a","version":"0f","docs":["x","y"],"clicks":[0,0],"propensity":0.25}
{"page":"p6","time":"2026-01-02T10:00:00Z","query":"q","arm":"a","version":"0f","docs":["x"],"clicks":[0]}
{"page":"p11","time":"2026-01-02T10:00:00Z","query":"q","experiment":"drawn","arm":"a,b","version":"0f,1f","docs":["x","y"],"clicks":[0,0],"team":[1,0],"softmax":[[0.25,1],[1,0.5]]}
`
	if string(out) != want {
		t.Errorf("found\n%s, expected\n%s", out, want)
	}
	if tally := (JoinTally{Pages: 7, Shadows: 1, Unasked: 1, Empty: 1, Repeated: 1, Others: 1, Damaged: 1, Incomplete: 1}); j.JoinTally != tally {
		t.Errorf("found %+v, expected %+v", j.JoinTally, tally)
	}
}

// Claim: UBI documents by themselves, as hits, or in a bulk request, with all names of the list of documents.
func TestJoinUBI(t *testing.T) {
	queries := `{"query_id":"1","query_response_id":"r1","client_id":"c","user_query":"shoes","timestamp":"2026-01-02T10:00:00.000+0000","query_response_hit_ids":["a","b"],"application":"x","query_attributes":{}}
{"index":{"_index":"ubi_queries","_id":"0"}}
{"query_id":"2","client_id":null,"user_query":"hats","timestamp":1767348000000,"query_response_object_ids":["a",7]}
{"_index":"ubi_queries","_source":{"query_id":"3","user_query":"socks","timestamp":"2026-01-02T10:00:00Z","query_response_objects_ids":["a","b","c"]}}
{"query_id":"3","query_response_id":"r3b","user_query":"socks","timestamp":"2026-01-02T10:01:00Z","query_response_hit_ids":["d","b"]}
{"query_id":"4","user_query":"","timestamp":"2026-01-02T10:00:00Z","query_response_hit_ids":["a"]}
{"query_id":"5","user_query":"none","timestamp":"2026-01-02T10:00:00Z","query_response_hit_ids":[]}
`
	events := `{"action_name":"click","query_id":"1","client_id":"c","timestamp":"2026-01-02T10:00:09Z","event_attributes":{"object":{"object_id":"b","object_id_field":"id"},"position":{"ordinal":2}}}
{"index":{}}
{"action_name":"click","query_id":"2","timestamp":"2026-01-02T10:00:09Z","event_attributes":{"object":{"object_id":7},"position":{"ordinal":{"index":2}}}}
{"_source":{"action_name":"click","query_id":"3","timestamp":"2026-01-02T10:00:30Z","event_attributes":{"position":{"ordinal":3}}}}
{"action_name":"click","query_id":"3","timestamp":"2026-01-02T10:02:00Z","event_attributes":{"object":{"object_id":"b"}}}
{"action_name":"click","query_id":"3","timestamp":"2026-01-02T10:02:00Z","event_attributes":{"object":{"object_id":"a"}}}
{"action_name":"click","query_id":"3","timestamp":"2026-01-02T09:00:00Z","event_attributes":{"object":{"object_id":"d"}}}
{"action_name":"click","query_id":"3","event_attributes":{"object":{"object_id":"e"}}}
{"action_name":"click","query_id":"9","event_attributes":{"object":{"object_id":"e"}}}
{"action_name":"click","event_attributes":{"object":{"object_id":"e"}}}
{"action_name":"buy","query_id":"3","event_attributes":{"object":{"object_id":"b"}}}
{"action_name":"hover","query_id":"3"}
`
	want := []string{"r1 c shoes: a b* [1]", "2  hats: a 7* [1]", "3  socks: a* b c* [2 0]", "r3b  socks: d* b** [0 1 1]"}
	for name, text := range map[string][2]string{"two files": {queries, events}, "one file": {events + queries, "same"}} {
		j := &Join{Format: &UBI{Actions: []string{"click", "buy"}}}
		pages, err := joined(t, j, text[0], text[1])
		// The purchase without a time belongs to the last ranking that shows it.
		tally := JoinTally{Pages: 4, Clicked: 4, Used: 7, Unasked: 1, Empty: 1, NotShown: 1, Unmatched: 1, Unnamed: 1, Others: 1, Before: 1, Lead: 61 * time.Minute}
		if err != nil || len(pages) != 4 || strings.Join(pages[:3], "\n") != strings.Join(want[:3], "\n") || !strings.HasPrefix(pages[3], "r3b  socks: d* b** [") || j.JoinTally != tally {
			t.Errorf("%s: found %v, %q, %+v, expected %q, %+v", name, err, pages, j.JoinTally, want, tally)
		}
	}
}

// Claim: metarank's rankings with their interactions.
func TestJoinMetarank(t *testing.T) {
	events := `{"event":"item","id":"i","item":"a","timestamp":"1767348000000","fields":[{"name":"title","value":"x"}]}
{"event":"ranking","id":"1","timestamp":"1767348000000","user":"u","session":"s","fields":[{"name":"query","value":"cat"},{"name":"source","value":"search"}],"items":[{"id":"c","relevancy":2.0},{"id":"a"},{"id":"b"}]}
{"event":"interaction","id":"2","ranking":"1","timestamp":"2026-01-02T10:00:09Z","type":"click","item":"a"}
{"event":"interaction","id":"3","ranking":"1","timestamp":1767348008000,"type":"click","item":"b"}
{"event":"interaction","id":"4","ranking":"1","timestamp":1767348008000,"type":"purchase","item":"b"}
{"event":"interaction","id":"5","timestamp":1767348008000,"type":"click","item":"b"}
{"event":"interaction","id":"6","ranking":"1","timestamp":1767348008000,"type":"click","item":"z"}
{"event":"ranking","id":"2","timestamp":"1767348000000","fields":[{"name":"query","value":["cat"]}],"items":[{"id":"c"}]}
{"event":"ranking","id":"3","timestamp":"1767348000000","fields":[{"name":"query","value":7},{"name":"empty"}],"items":[{"id":"c"}]}
{"event":"ranking","id":"4","timestamp":"1767348000000","items":[]}
`
	j := &Join{Format: &Metarank{Actions: []string{"click"}, Query: "query"}}
	pages, err := joined(t, j, events, "same")
	tally := JoinTally{Pages: 2, Clicked: 1, Used: 2, Unasked: 2, NotShown: 1, Unnamed: 1, Others: 2}
	if want := []string{"1 u cat: c a* b* [2 1]", "3  7: c []"}; err != nil || fmt.Sprint(pages) != fmt.Sprint(want) || j.JoinTally != tally {
		t.Errorf("found %v, %q, %+v, expected %q, %+v", err, pages, j.JoinTally, want, tally)
	}
}

// Claim: what is wrong is an error that names the line, what was found and what was expected.
func TestJoinMistakes(t *testing.T) {
	serve, ubi, rank := ServeLog{}, &UBI{Actions: []string{"click"}}, &Metarank{Actions: []string{"click"}, Query: "query"}
	for _, c := range []struct {
		format        Format
		shown, clicks string
		want          string
	}{
		{serve, shownAt("p1", "10:00:00", "u", "q", "a", "b", "a"), "", `shown:1: found document "a" twice, expected each document once`},
		{serve, shownAt("p1", "10:00:00", "u", "q", "a") + shownAt("p1", "10:00:00", "u", "q", "b"), "", `shown:2: found another ranking "p1" than in shown:1, expected one ranking with this id`},
		{serve, `{"time":"2026-01-02","kind":"page"}` + "\n", "", `shown:1: found the time "2026-01-02", expected one such as 2006-01-02T15:04:05Z`},
		{serve, `{"time":1e300,"kind":"page"}` + "\n", "", `shown:1: found the time "1e300", expected seconds or milliseconds since 1970`},
		{serve, `{"time":"0001-01-02T10:00:00Z","kind":"page"}` + "\n", "", `shown:1: found the time "0001-01-02T10:00:00Z", expected a year from 1700 to 2200`},
		{serve, `{"kind":"explore","swapped":[1],"ranking":[{"id":"a"}]}` + "\n", "", `shown:1: found swapped with 1 ranks, expected two`},
		{serve, `{"kind":"explore","query":"q","swapped":[1,3],"ranking":[{"id":"a"}]}` + "\n", "", `shown:1: found swapped ranks 1 and 3, expected two different ranks from 1 to 1`},
		{serve, `{"kind":"explore","pairs":1,"exchanged":[1],"ranking":[{"id":"a"}]}` + "\n", "", `shown:1: found the exchanged rank 1, expected a rank above the last`},
		{serve, `{"kind":"page","pairs":"x"}` + "\n", "", `shown:1: found string in pairs, expected a whole number within range`},
		{serve, `{"kind":"page","ranking":[{"id":[]}]}` + "\n", "", `shown:1: found "[]", expected text or a number as an id`},
		{serve, `{"kind":"page","ranking":7}` + "\n", "", `shown:1: found "7", expected the ranking as a list, […]`},
		{serve, "{\"kind\":\"\xff\"}\n", "", `shown:1: found the byte "\xff", which is not UTF-8, expected text in UTF-8`},
		{serve, `[1]` + "\n", "", `shown:1: found "[", expected the line as an object, {…}`},
		{serve, "", `{"user":"u","query":"q"}` + "\n", `clicks:1: found no "id", expected that of the document`},
		{serve, "", `{"id":{}}` + "\n", `clicks:1: found "{}", expected text or a number as an id`},
		{serve, "", "{\"id\":\"a\"}\n{\"id\":\"b\",\n{}\n", `clicks:2: found what is not JSON (unexpected end of JSON input), expected a JSON object`},
		{ubi, `{"query_response_hit_ids":["a"]}` + "\n", "", `shown:1: found no query_id, expected that of a query`},
		{ubi, "x\n", "", `shown:1: found what is not JSON (invalid character 'x' looking for beginning of value), expected a JSON object`},
		{ubi, "", `{"action_name":"click","query_id":"1"}` + "\n", `clicks:1: found a click without object_id and ordinal, expected one of them, of the clicked document`},
		{ubi, "", `{"action_name":"click","event_attributes":{"position":{"ordinal":1.5}}}` + "\n", `clicks:1: found "1.5" as ordinal, expected a whole number`},
		{ubi, "", `{"action_name":"click","event_attributes":{"position":{"ordinal":{}}}}` + "\n", `clicks:1: found "{}" as ordinal, expected a number, or an object with an index`},
		{rank, `{"event":"ranking"}` + "\n", "same", `shown:1: found a ranking without id, expected its id`},
		{rank, `{"event":"interaction","ranking":"1","type":"click"}` + "\n", "same", `shown:1: found an interaction without item, expected the id of the clicked one`},
		{rank, `{"event":"interaction","ranking":"1","type":"click","item":"a","timestamp":"soon"}` + "\n", "same", `shown:1: found the time "soon", expected one such as 2006-01-02T15:04:05Z`},
	} {
		if _, err := joined(t, &Join{Format: c.format}, c.shown, c.clicks); err == nil || err.Error() != c.want {
			t.Errorf("found %v, expected %s", err, c.want)
		}
	}
	j := &Join{Format: serve, KeepFirst: true}
	if pages, err := joined(t, j, shownAt("p1", "10:00:00", "u", "q", "a")+shownAt("p1", "10:00:00", "u", "q", "b"), ""); err != nil || len(pages) != 1 || j.Conflicting != 1 {
		t.Errorf("found %v, %q and %+v, expected the first ranking", err, pages, j.JoinTally)
	}
}

// Claim: the result does not depend on batches or cores, and the second pass ends where the first did.
func TestJoinLarge(t *testing.T) {
	var log, clicks strings.Builder
	const n = 3*batchLines + 7
	for i := range n {
		log.WriteString(shownAt(fmt.Sprint("p", i), fmt.Sprintf("%02d:%02d:%02d", i/3600, i/60%60, i%60), fmt.Sprint("u", i%100), "q", "a", "b", fmt.Sprint("d", i)))
		if i%3 == 0 {
			fmt.Fprintf(&clicks, "{\"page\":\"p%d\",\"id\":\"d%d\"}\n", i, i)
		} else {
			fmt.Fprintf(&clicks, "{\"user\":\"u%d\",\"query\":\"q\",\"id\":\"d%d\",\"time\":\"2026-01-02T%02d:%02d:%02dZ\"}\n", i%100, i, i/3600, i/60%60, i%60)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(cores)
		j := &Join{Format: ServeLog{}, Within: time.Hour}
		pages, err := joined(t, j, log.String(), clicks.String())
		if err != nil || j.Used != n || len(pages) != n {
			t.Fatalf("found %v, %d pages, %+v", err, len(pages), j.JoinTally)
		}
		for i, p := range pages {
			if want := fmt.Sprintf("p%d u%d q: a b d%d* [2]", i, i%100, i); p != want {
				t.Fatalf("found %q, expected %q", p, want)
			}
		}
	}
	grown := ""
	j := &Join{Format: ServeLog{}}
	dir := t.TempDir()
	j.Shown, j.Clicks = []string{filepath.Join(dir, "log")}, nil
	if err := os.WriteFile(j.Shown[0], []byte(shownAt("p1", "10:00:00", "u", "q", "a")), 0o600); err != nil {
		t.Fatal(err)
	}
	passes := 0
	j.Observe = func(done, _ int64) { // the log grows between the passes
		if done > 0 && passes == 0 {
			passes++
			f, err := os.OpenFile(j.Shown[0], os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("not JSON\n")
			}
			if err != nil || f.Close() != nil {
				t.Fatal(err)
			}
			grown += "grown"
		}
	}
	if err := j.Run(context.Background(), func(*Page) error { return nil }); err != nil || j.Pages != 1 || grown == "" {
		t.Errorf("found %v and %+v, expected one page", err, j.JoinTally)
	}
}

// FuzzJoin: any log is joined or refused with an error that names a line, and each page passes Check.
func FuzzJoin(f *testing.F) {
	f.Add(byte(0), shownAt("p1", "10:00:00", "u", "q", "a", "b"), `{"user":"u","query":"q","id":"a","time":1767351600}`)
	f.Add(byte(0), `{"kind":"explore","query":"q","swapped":[1,2],"pairs":1,"exchanged":[1],"shuffled":1,"ranking":[{"id":"a"},{"id":1}],"candidates":["b"]}`+"\n", `{"page":"p","id":"a"}`)
	f.Add(byte(1), `{"query_id":"1","user_query":"x","query_response_hit_ids":["a"]}`+"\n", `{"_source":{"action_name":"click","query_id":"1","event_attributes":{"position":{"ordinal":{"index":1}}}}}`)
	f.Add(byte(2), `{"event":"ranking","id":"1","timestamp":"1","fields":[{"name":"query","value":"cat"}],"items":[{"id":"c"}]}`+"\n", `{"event":"interaction","ranking":"1","type":"click","item":"c","timestamp":"2026-01-02T10:00:00Z"}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, kind byte, shown, clicks string) {
		j := &Join{Within: time.Hour, Format: []Format{ServeLog{}, &UBI{Actions: []string{"click"}}, &Metarank{Actions: []string{"click"}, Query: "query"}}[kind%3]}
		name := filepath.Join(dir, strconv.FormatInt(time.Now().UnixNano(), 10))
		j.Shown, j.Clicks = []string{name + "s"}, []string{name + "c"}
		for path, text := range map[string]string{name + "s": shown, name + "c": clicks} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = os.Remove(path) }()
		}
		used, pages := 0, 0
		err := j.Run(context.Background(), func(p *Page) error {
			pages++
			for _, n := range p.Clicks {
				used += n
			}
			if err := p.Check(); err != nil {
				t.Errorf("a page that breaks a rule: %v", err)
			}
			return nil
		})
		if err == nil && (used != j.Used || pages != j.Pages || j.Used+j.NotShown+j.Unmatched+j.Late != len(j.clicks)) {
			t.Errorf("%d clicks on %d pages, %d clicks read, counted %+v", used, pages, len(j.clicks), j.JoinTally)
		}
		if err != nil && !strings.Contains(err.Error(), "found ") {
			t.Errorf("error %v says not what was found", err)
		}
	})
}
