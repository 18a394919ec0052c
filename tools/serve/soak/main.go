// Command soak sends good, bad, slow, cut-off and oversized requests to a listwise serve and
// replaces the server's model every second. It checks that
//
//   - no good request fails,
//   - no answer mixes two models,
//   - a bad request gets an answer 4xx or a closed connection,
//   - memory (except with the race detector), goroutines and open files do not grow,
//   - the server ends within its grace time and answers good requests until then.
//
// It prints the counts of requests and exits with 1 if a check fails:
//
//	cd tools && go run ./serve/soak [-time 10m] [-race] [-listwise PROGRAM]
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

func main() {
	var s soak
	flag.DurationVar(&s.time, "time", 20*time.Second, "how long")
	flag.BoolVar(&s.race, "race", false, "build the server with the race detector")
	flag.StringVar(&s.program, "listwise", "", "the program; built from the sources if not given")
	flag.Parse()
	if err := s.run(); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// soak is one run of the command.
type soak struct {
	time    time.Duration
	race    bool
	program string

	server *server
	end    time.Time // when the clients stop, except the good ones
	counts counts
}

func (s *soak) run() error {
	folder, err := os.MkdirTemp("", "listwise-soak")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if s.program == "" {
		s.program = filepath.Join(folder, "listwise")
		args := []string{"build", "-o", s.program}
		if s.race {
			args = append(args, "-race")
		}
		build := exec.Command("go", append(args, "./cmd/listwise")...)
		build.Dir, build.Stderr = "..", os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building listwise (in the folder tools): %w", err)
		}
	}
	models := newModels(folder)
	if err := models.replace(); err != nil {
		return err
	}
	if s.server, err = start(s.program, models.path); err != nil {
		return err
	}
	defer s.server.kill()
	s.end = time.Now().Add(s.time)
	s.clients(models)
	return s.verdict()
}

// clients runs all clients until the end. It stops the server while good clients continue.
func (s *soak) clients(models *models) {
	var all, good sync.WaitGroup
	until := func(work func(n int)) {
		all.Go(func() {
			for n := 0; time.Now().Before(s.end); n++ {
				work(n)
			}
		})
	}
	stopping := make(chan struct{})
	for i := range 4 {
		good.Go(func() { s.good(uint64(i), stopping) })
	}
	for i := range uint64(2) {
		rng := random(100 + i)
		until(func(int) { s.bad(rng) })
		until(func(n int) { s.cutOff(rng, n) })
	}
	for i := range 8 {
		until(func(n int) { s.slow(i + n) })
	}
	until(s.oversized)
	until(func(n int) {
		if err := models.replace(); err != nil {
			s.counts.fault("replacing the model: %v", err)
		}
		if n%3 == 0 {
			s.server.hangup()
		}
		time.Sleep(time.Second)
	})
	until(func(int) {
		s.server.sample()
		time.Sleep(min(time.Second, s.time/40))
	})
	all.Wait()
	s.server.settle(&s.counts)
	s.server.stop(stopping)
	good.Wait()
}

// verdict prints the counts and returns an error if there are faults.
func (s *soak) verdict() error {
	s.server.growth(&s.counts)
	s.server.judgeLog(&s.counts)
	s.counts.print()
	s.server.print()
	if s.counts.models() < 2 {
		s.counts.fault("answers of %d models, expected both", s.counts.models())
	}
	if n := s.counts.faults(); n > 0 {
		return fmt.Errorf("found %d faults", n)
	}
	return nil
}
