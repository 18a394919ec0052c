package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// serveCases test the service in four ways: damaged models and unexpected flags at its start,
// damaged requests, and a model file that is damaged while the service runs. A running server must
// answer, and must end cleanly at SIGTERM.
func serveCases(f *fixture) []Case {
	var cases []Case
	for _, file := range slices.Concat(models, foreign, []string{"lightgbm.txt", "ranklib.txt"}) {
		for i := range 8 {
			name := fmt.Sprintf("serve/model/%s/%d", file, i)
			cases = append(cases, Case{Name: name, Files: []string{file}, Args: words("serve --addr 127.0.0.1:0 --model m=" + file),
				Harm: change(file, func(text []byte) []byte { return spoil(random(name), text) }),
				Run:  func(b *box) (Verdict, string, *Result) { return b.serves(nil, b.c.Args...) }})
		}
	}
	for i := range 200 {
		name := fmt.Sprintf("serve/requests/%d", i)
		cases = append(cases, Case{Name: name, Files: []string{"linear.json", "trees.json"}, Outs: []string{"log", "pages"}, Run: func(b *box) (Verdict, string, *Result) {
			rng := random(name)
			return b.serves(func(s *server) string { return s.damaged(rng) }, words("serve --addr 127.0.0.1:0 --model a=linear.json --model b=trees.json --split ab=a,b --explore x=b:noise=1 --experiment-log log --page-log pages --page-share 1 --page-candidates 3")...)
		}})
	}
	for i, file := range slices.Concat(models, models, models) {
		name := fmt.Sprintf("serve/reload/%s/%d", file, i/len(models))
		cases = append(cases, Case{Name: name, Files: []string{file}, Outs: []string{file}, Run: func(b *box) (Verdict, string, *Result) {
			rng := random(name)
			return b.serves(func(s *server) string { return s.reloads(b, file, rng) }, words("serve --addr 127.0.0.1:0 --reload 20ms --model m="+file)...)
		}})
	}
	return append(cases, serveFlagCases(f)...)
}

// needs are the flags that a flag of the service requires.
var needs = map[string]string{"explore": "--experiment-log=log", "shadow": "--experiment-log=log", "page-share": "--page-log=log", "page-candidates": "--page-log=log"}

// serveFlagCases set every flag of the service to unexpected values.
func serveFlagCases(f *fixture) []Case {
	var cases []Case
	help := f.expect(nil, "serve", "--help")
	for _, m := range flagLine.FindAllStringSubmatch(help, -1) {
		if m[1] == "help" {
			continue
		}
		for i, v := range []string{"", "-1", "0", "1", "99999999999999999999", "1e999s", "é漢", "\x1b[31mred", "a\nb", "=", "a=b", "m=none", "m=m", "e=m:swap", "e=m:noise=1e-320:share=1e-320", "e=m:top=99999999999999999999", ":", "..", strings.Repeat("x", 100000)} {
			outs := []string{"log"}
			if strings.HasSuffix(m[1], "-log") && v != "" {
				outs = append(outs, filepath.Clean(v))
			}
			args := append(words("serve --addr 127.0.0.1:0 --model m=linear.json"), "--"+m[1]+"="+v)
			if other := needs[m[1]]; other != "" {
				args = append(args, other)
			}
			cases = append(cases, Case{Name: fmt.Sprintf("serve/--%s/%d", m[1], i), Files: []string{"linear.json"}, Outs: outs, Args: args,
				Run: func(b *box) (Verdict, string, *Result) { return b.serves(nil, args...) }})
		}
	}
	return cases
}

// spoil changes a byte, cuts out a piece or truncates the text.
func spoil(rng *rand.Rand, text []byte) []byte {
	at := rng.IntN(len(text))
	switch rng.IntN(3) {
	case 0:
		text = bytes.Clone(text)
		text[at] ^= 1 << rng.IntN(8)
		return text
	case 1:
		return slices.Concat(text[:at], text[min(len(text), at+1+rng.IntN(20)):])
	}
	return text[:at]
}

// server is a running service.
type server struct {
	url   string
	ended chan struct{} // closed when the process has ended
}

// lines is the output of a process, for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var listens = regexp.MustCompile(`msg"?[=:]"?listening.*(http://[^"\s]+)`)

// serves starts the service, calls meanwhile once the service listens, and ends the service.
// meanwhile returns what is wrong with the answers, or "". serves judges the run.
func (b *box) serves(meanwhile func(s *server) string, args ...string) (Verdict, string, *Result) {
	var out, errs lines
	cmd := exec.Command("/bin/sh", append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memoryLimit), b.f.binary}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.dir, &out, &errs
	if err := cmd.Start(); err != nil {
		return broken, err.Error(), nil
	}
	s := &server{ended: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(s.ended) }() // ProcessState has the exit status
	why := ""
	if s.listens(&errs) && meanwhile != nil {
		why = meanwhile(s)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	hangs := !s.within(wallLimit)
	if hangs {
		_ = cmd.Process.Kill()
		<-s.ended
	}
	state := cmd.ProcessState
	r := &Result{args: args, code: state.ExitCode(), stdout: out.String(), stderr: errs.String(), cpu: state.UserTime() + state.SystemTime(), timedOut: hangs}
	v, verdict := b.judge(r)
	if v == right && why != "" {
		return silent, why, r
	}
	if v == refused && s.url != "" {
		return unclear, "it listened, and ended with an error: " + first(r.stderr), r
	}
	return v, verdict, r
}

// within reports whether the server ends within the limit. It waits at most that long.
func (s *server) within(limit time.Duration) bool {
	select {
	case <-s.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// listens waits until the server listens or has ended. It reports whether the server listens.
func (s *server) listens(errs *lines) bool {
	for range int(wallLimit / (5 * time.Millisecond)) {
		if m := listens.FindStringSubmatch(errs.String()); m != nil {
			s.url = m[1]
			return true
		}
		if s.within(5 * time.Millisecond) {
			return false
		}
	}
	return false
}

// page is the id of a ranking, which no two answers share.
var page = regexp.MustCompile(`"page":"[0-9a-f]{16}",`)

const goodRequest = `{"user":"u","query":"q","documents":[{"id":"a","features":[0.1,2,-3e-1,4,5]},{"id":"b","features":{"1":0,"2":1,"3":0.5,"4":2,"5":1e1}}],"top":2,"contributions":3,"lenient":true}`

// engineAnswers are good requests that are answers of search engines, by the parameters of the URL.
var engineAnswers = map[string]string{
	"from=solr&lenient=true": `{"responseHeader":{"status":0},"response":{"numFound":2,"maxScore":1.5,"docs":[{"id":"a","score":1.5,"[features]":"1=1.0,2=0.5,3=0,4=1E-3,5=2"},{"id":"b","[features]":"1=2.0"}]}}`,
	"from=elasticsearch":     `{"hits":{"max_score":1,"hits":[{"_id":"a","_score":1,"fields":{"_ltrlog":[{"l":[{"name":"1","value":1},{"name":"2"},{"name":"3","value":0},{"name":"4","value":1e-3},{"name":"5","value":2}]}]}}]}}`,
}

// ask sends a request and returns the status and the body of the answer.
func (s *server) ask(name, body string) (int, string) { return s.askWith(name, "", body) }

// askWith is ask with parameters of the URL.
func (s *server) askWith(name, parameters, body string) (int, string) {
	r, err := http.Post(s.url+"/v1/models/"+name+":rank?"+parameters, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = r.Body.Close() }() // closing after reading cannot lose data
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return 0, err.Error()
	}
	return r.StatusCode, string(text)
}

// damaged sends damaged requests. Each must be answered or its connection closed, and a good
// request must be answered as before.
func (s *server) damaged(rng *rand.Rand) string {
	status, want := s.ask("ab", goodRequest)
	want = page.ReplaceAllString(want, "")
	if status != http.StatusOK {
		return fmt.Sprintf("a good request is answered with %d: %s", status, want)
	}
	for parameters, good := range engineAnswers {
		if status, got := s.askWith("a", parameters, good); status != http.StatusOK {
			return fmt.Sprintf("a good answer of an engine is answered with %d: %s", status, got)
		}
		for range 10 {
			body := spoil(rng, []byte(good))
			if status, got := s.askWith("a", parameters, string(body)); status != 200 && (status < 400 || status > 499) {
				return fmt.Sprintf("%q with %s is answered with %d: %s", body, parameters, status, got)
			}
		}
	}
	for range 20 {
		body := spoil(rng, []byte(goodRequest))
		if status, got := s.ask([]string{"a", "b", "ab", "x"}[rng.IntN(4)], string(body)); status != 200 && (status < 400 || status > 499) {
			return fmt.Sprintf("%q is answered with %d: %s", body, status, got)
		}
		head := fmt.Sprintf("POST /v1/models/a:rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(goodRequest), goodRequest)
		if why := s.raw(spoil(rng, []byte(head))); why != "" {
			return why
		}
	}
	if status, got := s.ask("ab", goodRequest); status != http.StatusOK || page.ReplaceAllString(got, "") != want {
		return fmt.Sprintf("a good request is answered with %d %s, before with %s", status, got, want)
	}
	return ""
}

// raw sends bytes and closes the sending half of the connection.
func (s *server) raw(text []byte) string {
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		return err.Error()
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(text); err != nil {
		return ""
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		return ""
	}
	_ = c.SetReadDeadline(time.Now().Add(wallLimit))
	line, err := bufio.NewReader(c).ReadString('\n')
	switch {
	case err != nil && os.IsTimeout(err):
		return fmt.Sprintf("%q is not answered", text)
	case strings.HasPrefix(line, "HTTP/1.1 5") && !strings.HasPrefix(line, "HTTP/1.1 505") && !strings.HasPrefix(line, "HTTP/1.1 501"):
		return fmt.Sprintf("%q is answered with %s", text, line)
	}
	return ""
}

// reloads damages the model file several times. Meanwhile, requests must be answered. After the
// file is restored, they must be answered by the first model.
func (s *server) reloads(b *box, file string, rng *rand.Rand) string {
	path := filepath.Join(b.dir, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	const request = `{"documents":[{"features":[0.1,2,0.5,4,5]},{"features":[3,1,2,0.5,1]}]}`
	status, want := s.ask("m", request)
	if status != http.StatusOK {
		return fmt.Sprintf("a good request is answered with %d: %s", status, want)
	}
	for range 4 {
		if err := os.WriteFile(path, spoil(rng, text), 0o600); err != nil { // in place, as an editor would
			return err.Error()
		}
		time.Sleep(30 * time.Millisecond)
		if status, got := s.ask("m", request); status != 200 && status != http.StatusUnprocessableEntity {
			return fmt.Sprintf("a request is answered with %d: %s", status, got)
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err.Error()
	}
	for range 500 {
		if status, got := s.ask("m", request); status == http.StatusOK && got == want {
			return ""
		}
		time.Sleep(20 * time.Millisecond)
	}
	return "the model that is back is not served"
}
