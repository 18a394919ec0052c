// Command hostile runs the real program under hostile conditions: damaged files, meaningless
// command lines, signals at random moments, and outputs that are inputs. It judges whether the
// program behaved in every run. It prints a table of counts and the failed cases, and exits with 1
// if there are any.
//
//	cd tools
//	go run ./hostile                 everything: some thousands of runs
//	go run ./hostile -share 0.01      about every hundredth case
//	go run ./hostile -match shard     the cases whose names contain "shard"
//	go run ./hostile -case NAME       one case, whose folder is kept
//
// The cases are the same each time, because a case's randomness depends on its name. Start reading
// at [Case]. judge.go judges the runs, and each other file has the cases of one kind. The command
// knows the program only by its command line and imports nothing from the module.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "", "program to run (default: built from ./cmd/listwise)")
	flag.Float64Var(&o.share, "share", 1, "share of the cases to run")
	flag.StringVar(&o.only, "case", "", "run this case only and keep its folder")
	flag.StringVar(&o.kind, "kind", "", "run the cases of this kind only")
	flag.StringVar(&o.match, "match", "", "run the cases whose name has this in it only")
	flag.IntVar(&o.workers, "workers", 2, "cases side by side")
	flag.Parse()
	failed, err := hunt(o, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

type options struct {
	binary     string
	share      float64
	only, kind string
	match      string // part of the name of a case
	workers    int
}

// kinds are the kinds of cases, in the order of the table.
var kinds = []struct {
	name  string
	cases func(f *fixture) []Case
}{
	{"bytes", byteCases},
	{"model", modelCases},
	{"data", dataCases},
	{"paths", pathCases},
	{"flags", flagCases},
	{"signals", signalCases},
	{"serve", serveCases},
}

// hunt runs the cases that the options select and returns the number of failures.
func hunt(o options, out io.Writer) (failed int, err error) {
	root, err := os.MkdirTemp("", "hostile")
	if err != nil {
		return 0, err
	}
	if o.only == "" {
		defer os.RemoveAll(root) //nolint:errcheck // a leftover in the folder for such
	}
	if o.binary == "" {
		o.binary = filepath.Join(root, "listwise")
		build := exec.Command("go", "build", "-o", o.binary, "./cmd/listwise")
		build.Dir = ".."
		if text, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("building the program (in the folder tools): %w\n%s", err, text)
		}
	}
	f, err := newFixture(o.binary, filepath.Join(root, "fixture"))
	if err != nil {
		return 0, err
	}
	var cases []Case
	for _, k := range kinds {
		if o.kind != "" && o.kind != k.name {
			continue
		}
		for _, c := range k.cases(f) {
			c.Kind = k.name
			cases = append(cases, c)
		}
	}
	cases = slices.DeleteFunc(cases, func(c Case) bool {
		if o.only != "" {
			return c.Name != o.only
		}
		if !strings.Contains(c.Name, o.match) {
			return true
		}
		return o.share < 1 && random(c.Name+" share").Float64() >= o.share
	})
	findings := f.runAll(cases, filepath.Join(root, "runs"), o.workers, o.only != "")
	printTable(out, findings)
	for _, x := range findings {
		if x.verdict.failed() {
			failed++
			printFinding(out, x)
		}
		if o.only != "" {
			fmt.Fprintf(out, "%s: %s %s\nin %s\n", x.c.Name, x.verdict, x.why, x.dir)
		}
	}
	return failed, nil
}
