package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// server is a listwise serve that this command started.
type server struct {
	url     string
	command *exec.Cmd
}

// start starts a server for a model on a free port and waits until it listens. cores are the
// server's cores in the form of taskset. If cores is empty, the server uses the cores of this
// process.
func start(program, model, cores string) (*server, error) {
	words := []string{program, "serve", "--model", "m=" + model, "--addr", "127.0.0.1:0", "--format", "json"}
	if cores != "" {
		words = append([]string{"taskset", "-c", cores}, words...)
	}
	s := &server{command: exec.Command(words[0], words[1:]...)}
	log, err := s.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var line struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			s.url = line.URL
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return s, nil
		}
		fmt.Fprintln(os.Stderr, lines.Text())
	}
	return nil, fmt.Errorf("listwise serve did not start: %w", s.command.Wait())
}

// stop interrupts the server and waits until it has ended.
func (s *server) stop() error {
	if err := s.command.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	late := time.AfterFunc(20*time.Second, func() { _ = s.command.Process.Kill() })
	defer late.Stop()
	_ = s.command.Wait() // the exit code is 1 after a signal
	return nil
}

// processorTime returns the processor time that a process has used, or 0 if /proc does not have it.
func processorTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const utime, stime, perSecond = 11, 12, 100 // fields counted from the state, in ticks
	if len(fields) <= stime {
		return 0
	}
	user, _ := strconv.Atoi(fields[utime])
	system, _ := strconv.Atoi(fields[stime])
	return time.Duration(user+system) * time.Second / perSecond
}
