package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/listwise/listwise/serve/rankjson"
)

// Claim: lines of many goroutines are in the files whole and once, though the file is renamed and
// opened anew meanwhile.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 400
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if !l.Add(fmt.Appendf(nil, "%d-%d-%s\n", w, i, strings.Repeat("x", i))) {
					t.Error("a line was dropped")
				}
				if i%100 == 50 && w == 0 {
					if err := os.Rename(path, fmt.Sprintf("%s.%d", path, i)); err != nil {
						t.Error(err)
					}
					if err := l.Reopen(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 5 {
		t.Fatalf("files %q, error %v, want 5", files, err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var w, i int
			var rest string
			if n, _ := fmt.Sscanf(line, "%d-%d-%s", &w, &i, &rest); n < 2 || line != fmt.Sprintf("%d-%d-%s\n", w, i, strings.Repeat("x", i)) || seen[line] {
				t.Fatalf("%s has the line %q", file, line)
			}
			seen[line] = true
		}
	}
	if len(seen) != writers*each {
		t.Errorf("%d lines, want %d", len(seen), writers*each)
	}
	if l.Add([]byte("late\n")) || l.Reopen() != nil || l.file != nil || l.Close() != nil {
		t.Error("a closed log takes lines, is opened anew or cannot be closed again")
	}
}

// Claim: half a line that a killed process left is ended, so that the next is whole.
func TestLogAfterKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("{}\n{\"ti"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Add([]byte("{}\n"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "{}\n{\"ti\n{}\n" {
		t.Errorf("%q, %v", text, err)
	}
	c := NewCredits()
	if err = c.ReadLog(bytes.NewReader(text)); err != nil || c.Damaged != 1 {
		t.Errorf("%d damaged lines, %v, want 1", c.Damaged, err)
	}
}

// Claim: a disk that takes nothing costs lines, which are counted, and no request waits.
func TestLogOfFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("found no /dev/full")
	}
	l, err := OpenLog("/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	line := bytes.Repeat([]byte("x"), 1<<20)
	start := time.Now()
	for range 100 {
		l.Add(line)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("100 lines took %v", took)
	}
	if err := l.Close(); err == nil {
		t.Error("a full disk is no error")
	}
	if n, _ := l.Dropped(); n != 100 {
		t.Errorf("%d lines were dropped, want 100", n)
	}
}

// Claim: a log tells when lines begin to be lost and when they are written again, each once.
func TestLogNotifies(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("found no /dev/full")
	}
	path := filepath.Join(t.TempDir(), "log")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 10)
	l.Notify(func(err error) { told <- err })
	for range 3 {
		l.Add([]byte("lost\n"))
	}
	if err := <-told; !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("told %v, want that there is no space", err)
	}
	for l.dropped.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	if _, err := l.Dropped(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("found %v, want that there is no space", err)
	}
	if err := errors.Join(os.Remove(path), l.Reopen()); err != nil {
		t.Fatal(err)
	}
	l.Add([]byte("soon\n"))
	waitForWrites(l)
	if _, err := l.Dropped(); err == nil {
		t.Error("the fault is over with the first line")
	}
	l.state.Lock()
	l.lost = l.lost.Add(-calm)
	l.state.Unlock()
	l.Add([]byte("later\n"))
	if err := <-told; err != nil {
		t.Errorf("told %v, want that lines are written again", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "soon\nlater\n" || len(told) > 0 {
		t.Errorf("found %q, %v, told %d times more", text, err, len(told))
	}
}

// waitForWrites waits until no line waits.
func waitForWrites(l *Log) {
	for l.waiting.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
}

// Claim: a queue that is full, as behind a disk that hangs, is a fault, too.
func TestLogBehind(t *testing.T) {
	l := &Log{lines: make(chan []byte)} // which nobody writes
	told := 0
	l.Notify(func(error) { told++ })
	for range 2 {
		if l.Add([]byte("x\n")) {
			t.Error("a line was taken")
		}
	}
	if n, err := l.Dropped(); n != 2 || !errors.Is(err, errBehind) || told != 1 || l.waiting.Load() != 0 {
		t.Errorf("%d lines lost, %v, told %d times", n, err, told)
	}
}

// records is the number of lines that record made, which is the page of the last.
var records int

// record is a line of a log.
func record(at int64, user string, teams ...int) []byte {
	r := &rankjson.Request{User: []byte(user), Queries: []rankjson.Query{{ID: []byte("q\n"), Docs: len(teams)}}}
	var ranking []rankjson.Ranked
	var places []Place
	for i, team := range teams {
		r.IDs = append(r.IDs, []byte(fmt.Sprint("d", i)))
		ranking = append(ranking, rankjson.Ranked{Doc: i, Score: 1.5})
		places = append(places, Place{Doc: i, Team: team})
	}
	records++
	l := Line{
		Time: time.Unix(at, 0), Page: rankjson.Page(records), Experiment: "exp", Kind: Interleave, Request: r,
		Models: []rankjson.Version{{Model: "old", Version: "1"}, {Model: "new", Version: "2"}}, Ranking: ranking, Places: places,
	}
	return l.Append(nil)
}

// Claim: clicks are credited to the ranking that was shown last before, and to the team of the
// document; counted by hand.
func TestCredit(t *testing.T) {
	var log []byte
	log = append(log, record(100, "u1", 0, 1, 1, 0)...)
	log = append(log, `{"kind":"shadow","models":[],"ranking":[]}`+"\n\n"...)
	log = append(log, record(200, "u1", 1, 0, 0, 1)...)
	log = append(log, record(100, "u2", 0, 1)...)
	log = append(log, record(100, "u3", 0, 1)...)
	log = append(log, record(100, "u4", 0, 1)...)
	c := NewCredits()
	if err := c.ReadLog(bytes.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	err := c.ReadClicks(strings.NewReader(`
{"time":"1970-01-01T00:02:30Z","user":"u1","query":"q\n","id":"d0"}
{"time":"1970-01-01T00:02:31Z","user":"u1","query":"q\n","id":"d1"}
{"time":"1970-01-01T00:02:32Z","user":"u1","query":"q\n","id":"d2"}
{"user":"u1","query":"q\n","id":"d0","experiment":"exp"}
{"user":"u2","query":"q\n","id":"d0"}
{"user":"u2","query":"q\n","id":"d1"}
{"user":"u3","query":"q\n","id":"d1"}
{"user":"u3","query":"q\n","id":"d7"}
{"user":"u9","query":"q\n","id":"d1"}
{"user":"u3","query":"q\n","id":"d1","experiment":"other"}
{"time":"1970-01-01T00:00:01Z","user":"u3","query":"q\n","id":"d1"}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Outcome{Experiment: "exp", Models: [2]string{"old", "new"}, Shown: 5, Clicked: 4, Wins: [2]int{0, 3}, Ties: 1, Clicks: [2]int{2, 5}}
	if got := c.Outcomes(); len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if c.Unmatched != 4 {
		t.Errorf("%d clicks without a ranking, want 4", c.Unmatched)
	}
	for _, bad := range []string{"{", `{"id":7}`, `{"user":"u"}`} {
		if err := c.ReadClicks(strings.NewReader("\n" + bad)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Claim: a click that names a page is matched by it alone; one that does not, by user and query. A
// page that is in two lines is an error. The ranking that a shadow line names is not one shown.
func TestClicksNamePages(t *testing.T) {
	const line = `{"kind":%q,"page":"%016x","experiment":%q,"user":"u","query":"q","time":"2026-01-02T03:04:0%dZ","models":[{"model":"a"},{"model":"b"}],"ranking":[{"id":"d0"},{"id":"d1","team":1}]}` + "\n"
	log := fmt.Sprintf(line, Interleave, 1, "e", 1) + fmt.Sprintf(line, Interleave, 2, "e", 2) + fmt.Sprintf(line, Explore, 3, "x", 3) +
		fmt.Sprintf(line, Shadow, 4, "a", 4) + fmt.Sprintf(line, Page, 4, "", 4) + fmt.Sprintf(line, Split, 5, "s", 5)
	c := NewCredits()
	if err := c.ReadLog(strings.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	err := c.ReadClicks(strings.NewReader(`
{"page":"0000000000000001","id":"d1"}
{"page":"0000000000000001","id":"d0","user":"other","query":"other","experiment":"x","time":"2020-01-02T03:04:05Z"}
{"page":"0000000000000001","id":"d0","time":"2027-01-02T03:04:05Z"}
{"page":"0000000000000003","id":"d0"}
{"page":"0000000000000004","id":"d0"}
{"page":"0000000000000005","id":"d1"}
{"page":"0000000000000006","id":"d1","user":"u","query":"q"}
{"page":"0000000000000001","id":"d7"}
{"user":"u","query":"q","id":"d1","experiment":"e"}
`))
	want := Outcome{Experiment: "e", Models: [2]string{"a", "b"}, Shown: 2, Clicked: 2, Wins: [2]int{0, 1}, Ties: 1, Clicks: [2]int{1, 2}}
	if got := c.Outcomes(); err != nil || len(got) != 1 || got[0] != want || c.Single != 3 || c.Unmatched != 2 {
		t.Errorf("%v, got %+v with %d on one model and %d without a ranking, want %+v, 3 and 2", err, got, c.Single, c.Unmatched, want)
	}
	if err := c.ReadLog(strings.NewReader(fmt.Sprintf(line, Split, 2, "e", 9))); err == nil || !strings.Contains(err.Error(), `line 1: found the page "0000000000000002" a second time`) {
		t.Errorf("a page in two lines: %v", err)
	}
}

// Claim: whatever a log and clicks hold, reading them ends with outcomes or an error.
func FuzzCredit(f *testing.F) {
	f.Add(record(1, "u", 0, 1), []byte(`{"user":"u","query":"q\n","id":"d0"}`))
	f.Fuzz(func(t *testing.T, log, clicks []byte) {
		c := NewCredits()
		if c.ReadLog(bytes.NewReader(log)) != nil || c.ReadClicks(bytes.NewReader(clicks)) != nil {
			return
		}
		for _, o := range c.Outcomes() {
			if o.Wins[0]+o.Wins[1]+o.Ties != o.Clicked || o.Clicked > o.Shown {
				t.Errorf("%+v", o)
			}
		}
	})
}

// Claim: lines delivered twice change nothing but their count: 20 rankings with a click for each
// model stay ties. A document counts once a ranking, so that two documents with a click
// each win over one with three.
func TestRepeatedLines(t *testing.T) {
	var log, first, second, thrice bytes.Buffer
	for i := range 20 {
		user := fmt.Sprint("u", i)
		log.Write(record(int64(i), user, 0, 1))
		fmt.Fprintf(&first, `{"user":%q,"query":"q\n","id":"d0"}`+"\n", user)
		fmt.Fprintf(&second, `{"user":%q,"query":"q\n","id":"d1"}`+"\n", user)
	}
	log.Write(record(99, "v", 0, 1, 1))
	for _, id := range []string{"d0", "d0", "d0", "d1", "d2"} {
		fmt.Fprintf(&thrice, `{"user":"v","query":"q\n","id":%q,"time":"1970-01-01T00:02:%02dZ"}`+"\n", id, thrice.Len()%60)
	}
	c := NewCredits()
	for range 2 {
		if err := c.ReadLog(bytes.NewReader(log.Bytes())); err != nil {
			t.Fatal(err)
		}
	}
	for _, clicks := range []*bytes.Buffer{&first, &second, &second, &thrice} {
		if err := c.ReadClicks(bytes.NewReader(clicks.Bytes())); err != nil {
			t.Fatal(err)
		}
	}
	want := Outcome{Experiment: "exp", Models: [2]string{"old", "new"}, Shown: 21, Clicked: 21, Wins: [2]int{0, 1}, Ties: 20, Clicks: [2]int{21, 22}}
	if got := c.Outcomes(); len(got) != 1 || got[0] != want || c.Repeated != 21+20 {
		t.Errorf("got %+v with %d repeated lines, want %+v with 41", got, c.Repeated, want)
	}
}

// Claim: clicks on a split's rankings are known, prefer no model, and say so. Errors about lines
// contain no names of Go types.
func TestClicksOnSplit(t *testing.T) {
	c := NewCredits()
	log := `{"kind":"split","experiment":"ab","user":"u","query":"q","models":[{"model":"m"}],"ranking":[{"id":"a"}]}`
	if err := c.ReadLog(strings.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	if err := c.ReadClicks(strings.NewReader(`{"user":"u","query":"q","id":"a"}` + "\n" + `{"user":"u","query":"q","id":"b"}`)); err != nil {
		t.Fatal(err)
	}
	if len(c.Outcomes()) != 0 || c.Single != 1 || c.Unmatched != 1 {
		t.Errorf("%+v", c)
	}
	for line, want := range map[string]string{
		`{"id":7}`:              `line 1: found number as "id", expected text in quotes`,
		`{"id":"a","time":"x"}`: `line 1: found the time "x", expected one such as 2006-01-02T15:04:05Z`,
		`[]`:                    "line 1: found array, expected an object",
	} {
		if err := c.ReadClicks(strings.NewReader(line)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
