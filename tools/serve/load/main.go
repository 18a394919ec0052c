// Command load measures how fast listwise serve answers, and prints a table.
//
//	cd tools && go run ./serve/load [-time 5s] [-repeat 5] [-listwise PROGRAM]
//
// It makes data and models with listwise and starts a server for each case on this machine. Server
// and client share the cores. Each case has two measurements:
//
//   - saturation: as many connections as -connections says send requests. Each sends a request as soon
//     as it has the answer to the one before (a closed loop).
//   - latency: requests begin at random times (a Poisson process) at half of the saturation rate,
//     whether or not earlier requests were answered. There are as many connections as this takes. A
//     request is timed from the moment when it should have begun. So a pause of the server delays all
//     requests that fall into the pause, as it does in practice. A closed loop would not count
//     them (coordinated omission).
//
// Two columns help to separate the server from the machine. "late" is the client's delay in
// sending. "second p99" is the median of the p99 of single seconds, which occasional pauses of the
// machine affect less.
//
// The client sends prepared requests and reads only the length of an answer, so most of the
// measured time is the server's. With -url it loads a server that already runs.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// settings are the values of the flags.
type settings struct {
	listwise    string
	url         string
	seconds     time.Duration
	connections int
	documents   int
	features    int
	trees       int
	only        string
	rate        float64
	repeat      int
	serverOn    string
}

func main() {
	var s settings
	flag.StringVar(&s.listwise, "listwise", "", "the program; built from the sources if not given")
	flag.StringVar(&s.url, "url", "", "URL of a model's :rank to load instead of servers of its own, with requests of -documents and -features as JSON")
	flag.DurationVar(&s.seconds, "time", 5*time.Second, "how long every measurement takes")
	flag.IntVar(&s.connections, "connections", 16, "connections of the closed loop")
	flag.IntVar(&s.documents, "documents", 100, "documents of a request")
	flag.IntVar(&s.features, "features", 136, "features of a document")
	flag.IntVar(&s.trees, "trees", 300, "trees of the model of trees")
	flag.StringVar(&s.only, "only", "", "one of the cases alone: json, trees or binary")
	flag.Float64Var(&s.rate, "rate", 0, "requests a second of the open loop (default: half of what the closed loop finds)")
	flag.IntVar(&s.repeat, "repeat", 1, "how often all is measured; if more than once, medians follow")
	flag.StringVar(&s.serverOn, "server-on", "", "cores of the server, as taskset takes them: with taskset -c 1 before load, -server-on 0 gives each a core")
	flag.Parse()
	if s.repeat < 1 || s.seconds <= 0 {
		fmt.Fprintf(os.Stderr, "load: -repeat %d -time %v: expected 1 and some time at least\n", s.repeat, s.seconds)
		os.Exit(2)
	}
	if err := s.run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// load is a kind of request to a kind of model.
type load struct{ name, model, format string }

func (s *settings) run() error {
	if s.url != "" {
		return s.repeated(func() ([]row, error) {
			r, err := s.measure("given", s.url, "json", 0)
			return []row{r}, err
		})
	}
	folder, err := os.MkdirTemp("", "listwise-load")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if s.listwise == "" {
		s.listwise = filepath.Join(folder, "listwise")
		build := exec.Command("go", "build", "-o", s.listwise, "./cmd/listwise")
		build.Dir, build.Stderr = "..", os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building listwise (in the folder tools): %w", err)
		}
	}
	loads := []load{{"json", "linear", "json"}, {"trees", "trees", "json"}, {"binary", "linear", "binary"}}
	if s.only != "" {
		loads = slices.DeleteFunc(loads, func(l load) bool { return l.name != s.only })
	}
	if len(loads) == 0 {
		return fmt.Errorf("-only %s: expected json, trees or binary", s.only)
	}
	if err := s.models(folder); err != nil {
		return err
	}
	return s.repeated(func() (rows []row, err error) {
		for _, l := range loads {
			r, err := s.served(filepath.Join(folder, l.model+".json"), l)
			if err != nil {
				return nil, err
			}
			rows = append(rows, r)
		}
		return rows, nil
	})
}

// repeated prints a table of the measurements of all, as often as -repeat says, and their medians.
func (s *settings) repeated(all func() ([]row, error)) error {
	fmt.Printf("%d documents × %d features, %d connections, %v each\n", s.documents, s.features, s.connections, s.seconds)
	var rows []row
	for range s.repeat {
		fmt.Printf("%s\n\n", pauses(s.seconds))
		header()
		some, err := all()
		if err != nil {
			return err
		}
		rows = append(rows, some...)
		fmt.Println()
	}
	if s.repeat > 1 {
		fmt.Printf("medians of %d\n\n", s.repeat)
		header()
		medians(rows)
	}
	return nil
}

// models makes the data and trains the models.
func (s *settings) models(folder string) error {
	data := filepath.Join(folder, "train.txt")
	for _, args := range [][]string{
		{"data", "synth", "--shape", "mq2008", "--queries", "200", "--features", fmt.Sprint(s.features), "--out", data},
		{"train", "--method", "listnet", "--train", data, "--no-record", "--model", filepath.Join(folder, "linear.json")},
		{"train", "--method", "lambdamart", "--set", fmt.Sprintf("trees=%d", s.trees), "--train", data, "--no-record", "--model", filepath.Join(folder, "trees.json")},
	} {
		if text, err := exec.Command(s.listwise, append(args, "--quiet")...).CombinedOutput(); err != nil {
			return fmt.Errorf("listwise %s: %w\n%s", strings.Join(args, " "), err, text)
		}
	}
	return nil
}

// served starts a server, measures a load and stops the server.
func (s *settings) served(model string, l load) (r row, err error) {
	server, err := start(s.listwise, model, s.serverOn)
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	return s.measure(l.name, server.url+"/v1/models/m:rank", l.format, server.command.Process.Pid)
}

// measure measures a load, prints a line of the table and returns it. pid is the server's process.
// The processor times per request, of the server and of this client, do not depend on other work of
// the machine.
func (s *settings) measure(name, url, format string, pid int) (row, error) {
	request, err := newRequest(url, format, s.documents, s.features)
	if err != nil {
		return row{}, err
	}
	if _, err := request.closed(s.connections, time.Second); err != nil { // warms up
		return row{}, err
	}
	server, client := processorTime(pid), processorTime(os.Getpid())
	busy := s.seconds
	if s.rate > 0 {
		busy = time.Second // the rate is given, so only the open loop matters
	}
	full, err := request.closed(s.connections, busy)
	if err != nil {
		return row{}, err
	}
	server, client = processorTime(pid)-server, processorTime(os.Getpid())-client
	rate := s.rate
	if rate == 0 {
		rate = full.rate() / 2
	}
	half, late, seconds, err := request.open(rate, s.seconds)
	if err != nil {
		return row{}, err
	}
	each := func(d time.Duration) float64 { return in(d, time.Microsecond) / float64(len(full.times)) }
	line := row{name, []float64{
		full.rate(), full.ms(0.5), full.ms(0.99), each(server), each(client),
		half.rate(), half.ms(0.5), half.ms(0.99), half.ms(0.999), late.ms(0.99), seconds.ms(0.5), float64(full.failed + half.failed),
	}}
	line.print()
	return line, nil
}
