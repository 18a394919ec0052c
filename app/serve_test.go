package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

// shared is a buffer that a command writes and a test reads.
type shared struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

var listening = regexp.MustCompile(`url=(\S+)`)

// startServe runs listwise serve on a free port until the test ends, and returns its URL and
// what it logs.
func startServe(t *testing.T, args ...string) (url string, log *shared) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	log = new(shared)
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), strings.NewReader(""), io.Discard, log)
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitDone {
			t.Errorf("listwise serve exits with %d: %s", code, log)
		}
	})
	for range 1000 {
		if m := listening.FindStringSubmatch(log.String()); m != nil {
			return m[1], log
		}
		select {
		case code := <-ended:
			ended <- exitDone
			t.Fatalf("listwise serve exits with %d: %s", code, log)
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatalf("listwise serve does not listen: %s", log)
	return "", nil
}

// sent sends a body and returns the answer.
func sent(t *testing.T, url, body string) (code int, answer string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// requestOf returns the request that has all queries of a data set.
func requestOf(d *dataset.Dataset) string {
	type document struct {
		Features []any `json:"features"`
	}
	type query struct {
		Query     string     `json:"query"`
		Documents []document `json:"documents"`
	}
	var all struct {
		Queries []query `json:"queries"`
		Lenient bool    `json:"lenient"`
	}
	all.Lenient = true
	for i := range d.Queries {
		q := query{Query: d.Queries[i].ID}
		for doc := range d.Queries[i].Len() {
			var x []any
			for _, v := range d.Queries[i].Row(doc) {
				if x = append(x, any(v)); v != v {
					x[len(x)-1] = nil
				}
			}
			q.Documents = append(q.Documents, document{x})
		}
		all.Queries = append(all.Queries, q)
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Claim: the service scores as "listwise score" does, bit for bit, whatever the model: sums,
// networks, trees that take missing values, views, transforms, normalization per query,
// fusions, and models of other systems.
func TestServeScoresAsScore(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "12", "--docs", "20", "--relevant", "6", "--features", "5", "--out", "d.txt")
	text, err := os.ReadFile("d.txt")
	if err != nil {
		t.Fatal(err)
	}
	holes := regexp.MustCompile(` 3:[0-4]\S*`).ReplaceAllString(string(text), " 3:nan")
	if err := os.WriteFile("holes.txt", []byte(holes), 0o666); err != nil {
		t.Fatal(err)
	}
	train := func(name string, args ...string) {
		t.Helper()
		mustCall(t, append([]string{"train", "--seed", "3", "--model", name + ".json"}, args...)...)
	}
	train("linear", "--method", "ranknet", "--train", "d.txt")
	train("net", "--method", "lambdarank", "--scorer", "net", "--set", "epochs=3", "--train", "d.txt")
	train("trees", "--method", "lambdamart", "--set", "trees=20", "--train", "d.txt")
	train("kept", "--method", "lambdamart", "--set", "trees=20", "--missing", "keep", "--train", "holes.txt")
	train("views", "--method", "mart", "--set", "trees=10", "--views", "raw,rank,zscore", "--train", "d.txt")
	train("min", "--method", "mle", "--missing", "min", "--normalize", "zscore", "--train", "holes.txt")
	mustCall(t, "export", "--model", "trees.json", "--to", "lightgbm", "--out", "imported.txt")
	data := map[string]string{"linear.json": "d.txt", "net.json": "d.txt", "trees.json": "d.txt", "kept.json": "holes.txt", "views.json": "d.txt", "min.json": "holes.txt", "imported.txt": "d.txt"}
	for _, rule := range []string{"combsum", "rrf", "borda"} {
		mustCall(t, "fuse", "--rule", rule, "--data", "d.txt", "--model", rule+".json", "linear.json", "views.json", "trees.json")
		data[rule+".json"] = "d.txt"
	}
	var args []string
	for file := range data {
		args = append(args, "--model", file+"="+file)
	}
	url, log := startServe(t, args...)
	for file, path := range data {
		d, err := datafile.Open(path, dataset.Options{Missing: dataset.MissingKeep})
		if err != nil {
			t.Fatal(err)
		}
		code, got := sent(t, url+"/v1/models/"+file+":rank", requestOf(d))
		if code != http.StatusOK {
			t.Fatalf("%s is answered with %d %s\n%s", file, code, got, log)
		}
		var answer struct {
			Rankings []struct {
				Query   string
				Ranking []struct {
					ID    string
					Score float64
				}
			}
		}
		decode(t, got, &answer)
		served := make(map[string]float64)
		for _, q := range answer.Rankings {
			for _, doc := range q.Ranking {
				served[q.Query+" "+doc.ID] = doc.Score
			}
		}
		lines := strings.Split(strings.TrimSpace(mustCall(t, "score", "--model", file, "--data", path)), "\n")
		for i := range d.Queries {
			q := &d.Queries[i]
			for doc := range q.Len() {
				want, err := strconv.ParseFloat(lines[q.Start+doc], 64)
				if got := served[fmt.Sprintf("%s %d", q.ID, doc+1)]; err != nil || math.Float64bits(got) != math.Float64bits(want) {
					t.Fatalf("%s scores document %d of query %s as %v, listwise score as %v (%v)", file, doc+1, q.ID, got, want, err)
				}
			}
		}
	}
}

// Claim: the command refuses addresses that other machines reach unless told, and says how; and
// what it is told wrongly is named.
func TestServeRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "3", "--docs", "8", "--relevant", "3", "--out", "d.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json")
	for args, want := range map[string]string{
		"":                                              "listwise serve needs --model",
		"--model m.json":                                "expected NAME=FILE, such as web=m.json",
		"--model a=none.json":                           "none.json",
		"--model a=d.txt":                               "model a: ",
		"--model a/b=m.json":                            `found the name "a/b"`,
		"--model a=m.json --model a=m.json":             `two models named "a"`,
		"--model a=m.json --alias b=c":                  `unknown model "c"`,
		"--model a=m.json --alias b":                    "expected NAME=MODEL",
		"--model a=m.json --split =a,a":                 `--split =a,a: found the name ""`,
		"--model a=m.json --addr 0.0.0.0:0":             "--allow-remote",
		"--model a=m.json --addr :0":                    "--allow-remote",
		"--model a=m.json --addr [::]:0":                "--allow-remote",
		"--model a=m.json --addr 127.0.0.1":             "expected HOST:PORT",
		"--model a=m.json --absent x":                   "--absent",
		"--model a=m.json --reload 0s":                  "--reload",
		"--model a=m.json --reload 1":                   "--reload 1: expected a time with its unit",
		"--model a=m.json --format csv":                 "--format",
		"--model a=m.json --addr 127.0.0.1:0 something": "something",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		var errs shared
		code := Run(ctx, append([]string{"serve"}, strings.Fields(args)...), strings.NewReader(""), io.Discard, &errs)
		cancel()
		if code != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("listwise serve %s exits with %d: %s; want 2 and %q", args, code, &errs, want)
		}
	}
}

// Claim: on SIGHUP a server reads its models again and goes on, and SIGTERM ends it well, also while it
// still reads. Both hold under nohup, which starts it with SIGHUP ignored.
func TestServeSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGHUP")
	}
	t.Run("usual", serveSignals)
	signal.Ignore(syscall.SIGHUP) // which the process inherits
	defer signal.Reset(syscall.SIGHUP)
	t.Run("nohup", serveSignals)
}

func serveSignals(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "3", "--docs", "8", "--relevant", "3", "--out", "d.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json")
	mustWrite(t, "tokens", "0123456789abcdef\n")
	p := startProcess(t, ".", "serve", "--model", "a=m.json", "--addr", "127.0.0.1:0", "--reload", "1h", "--token-file", "tokens")
	until := func(times int, text string) {
		t.Helper()
		for range 1000 {
			if strings.Count(p.stderr.String(), text) == times {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("found %q not %d times in the log: %s", text, times, p.stderr.String())
	}
	until(1, "listening")
	mustCall(t, "train", "--method", "regression", "--train", "d.txt", "--model", "m.json")
	_ = p.Process.Signal(syscall.SIGHUP)
	until(1, "a model was loaded")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json")
	// A second SIGHUP has it read a pipe that nobody writes to, as slow as the largest model.
	if err := errors.Join(os.Remove("tokens"), exec.Command("mkfifo", "tokens").Run()); err != nil {
		t.Fatal(err)
	}
	_ = p.Process.Signal(syscall.SIGHUP)
	until(2, "a model was loaded") // a file that is being read would count as left open
	_ = p.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on after SIGTERM")
	}
	if code := p.ProcessState.ExitCode(); code != exitDone {
		t.Errorf("ends with %d: %s", code, p.stderr.String())
	}
}
