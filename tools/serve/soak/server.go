package main

import (
	"bufio"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// grace is the server's grace time for ending.
const grace = 5 * time.Second

// server is a running listwise serve, with samples of the resources that it used.
type server struct {
	url     string
	address string
	command *exec.Cmd
	ended   chan error

	mu      sync.Mutex
	log     strings.Builder
	samples map[string][]float64
	stopped time.Duration
	exit    error
}

// start starts the server and waits until it listens.
func start(program, model string) (*server, error) {
	s := &server{command: exec.Command(program, "serve", "--model", "m="+model, "--addr", "127.0.0.1:0", "--format", "json", "--reload", "200ms", "--grace", grace.String()),
		ended: make(chan error, 1), samples: make(map[string][]float64)}
	log, err := s.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(log)
	for s.url == "" {
		text, err := lines.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("listwise serve did not start: %w\n%s", s.command.Wait(), &s.log)
		}
		s.log.WriteString(text)
		var line struct{ Msg, URL string }
		if json.Unmarshal([]byte(text), &line) == nil && line.Msg == "listening" {
			s.url, s.address = line.URL, strings.TrimPrefix(line.URL, "http://")
		}
	}
	go func() {
		for {
			text, err := lines.ReadString('\n')
			s.mu.Lock()
			if s.log.Len() < 16<<20 {
				s.log.WriteString(text)
			}
			s.mu.Unlock()
			if err != nil {
				s.ended <- s.command.Wait()
				return
			}
		}
	}()
	return s, nil
}

func (s *server) hangup() { _ = s.command.Process.Signal(syscall.SIGHUP) }

func (s *server) kill() { _ = s.command.Process.Kill() }

// stop ends the server and waits until it has ended. It closes stopping first.
func (s *server) stop(stopping chan<- struct{}) {
	began := time.Now()
	close(stopping)
	_ = s.command.Process.Signal(syscall.SIGTERM)
	select {
	case s.exit = <-s.ended:
	case <-time.After(4 * grace):
		s.exit = errors.New("it did not end")
	}
	s.stopped = time.Since(began)
}

var resident = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// sample records the resources that the server uses now.
func (s *server) sample() {
	now := make(map[string]float64)
	process := fmt.Sprintf("/proc/%d", s.command.Process.Pid)
	if text, err := os.ReadFile(filepath.Join(process, "status")); err == nil {
		if m := resident.FindSubmatch(text); m != nil {
			kB, _ := strconv.ParseFloat(string(m[1]), 64)
			now[memory] = kB / 1024
		}
	}
	if files, err := os.ReadDir(filepath.Join(process, "fd")); err == nil {
		now["open files"] = float64(len(files))
	}
	if n, ok := s.goroutines(); ok {
		now["goroutines"] = n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for what, v := range now {
		s.samples[what] = append(s.samples[what], v)
	}
}

var running = regexp.MustCompile(`(?m)^go_goroutines (\S+)`)

// goroutines returns the number of goroutines according to /metrics.
func (s *server) goroutines() (float64, bool) {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(s.url + "/metrics")
	if err != nil {
		return 0, false
	}
	text, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	m := running.FindSubmatch(text)
	if resp.StatusCode != http.StatusOK || m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(m[1]), 64)
	return n, err == nil
}

const memory = "MB of memory"

// raced reports whether a program was built with the race detector.
func raced(program string) bool {
	info, err := buildinfo.ReadFile(program)
	return err == nil && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-race" && s.Value == "true" })
}

// slack is how much more the server may use in the last quarter of the time than in the second, in
// addition to a quarter of the earlier use. Garbage collection and connections cause such
// variation.
var slack = map[string]float64{memory: 16, "open files": 20, "goroutines": 150}

// growth records a fault if the server's use of a resource grows.
func (s *server) growth(c *counts) {
	for what, more := range slack {
		if what == memory && raced(s.command.Path) {
			continue // the race detector keeps shadow memory for all memory ever used
		}
		if early, late, ok := s.quarters(what); ok && late > 1.25*early+more {
			c.fault("%s grew from %.0f to %.0f", what, early, late)
		}
	}
}

// settle records a fault if goroutines remain after their clients have gone. Only the four good
// clients are still there.
func (s *server) settle(c *counts) {
	const most, patience = 40, 15 * time.Second
	n, told := 0.0, false
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if n, told = s.goroutines(); !told || n <= most {
			return
		}
	}
	c.fault("%.0f goroutines stay when the clients have gone, expected %d at most", n, most)
}

// quarters returns the medians of the samples in the second and the last quarter of the time.
func (s *server) quarters(what string) (early, late float64, ok bool) {
	all := s.samples[what]
	n := len(all) / 4
	if n == 0 {
		return 0, 0, false
	}
	median := func(part []float64) float64 {
		part = slices.Sorted(slices.Values(part))
		return part[len(part)/2]
	}
	return median(all[n : 2*n]), median(all[3*n:]), true
}

// judgeLog records faults found in the log and at the end of the server.
func (s *server) judgeLog(c *counts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log.String()
	for _, bad := range []string{"DATA RACE", "panic", "fatal error", "a request failed"} {
		if i := strings.Index(log, bad); i >= 0 {
			c.fault("the log has %q: …%.2000s", bad, log[max(0, i-200):])
		}
	}
	if s.stopped > grace+time.Second {
		c.fault("the server took %v to end, expected %v at most", s.stopped, grace)
	}
	if s.exit != nil && strings.Contains(s.exit.Error(), "did not end") {
		c.fault("the server: %v", s.exit)
	}
}

func (s *server) print() {
	for what := range slack {
		if early, late, ok := s.quarters(what); ok {
			fmt.Printf("%-13s %5.0f in the second quarter of the time, %.0f in the last\n", what, early, late)
		}
	}
	ended := "well"
	if s.exit != nil {
		ended = "with " + s.exit.Error()
	}
	fmt.Printf("the server ended %s within %v of the signal\n", ended, s.stopped.Round(time.Millisecond))
}
