package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// The program behaves under all damage done to it: a small share of the cases, or all of
// them if LISTWISE_HOSTILE is "all".
func TestProgramBehaves(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limits of a run need a shell that knows them")
	}
	o := options{share: 0.003, workers: 2}
	switch {
	case os.Getenv("LISTWISE_HOSTILE") == "all":
		o.share = 1
	case testing.Short():
		o.share = 0.001
	}
	var out bytes.Buffer
	failed, err := hunt(o, &out)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", out.Bytes())
	if failed > 0 {
		t.Errorf("%d cases failed", failed)
	}
}

// Every kind of misbehaviour is found: here the program is a script that has it.
func TestJudgeFindsFaults(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limits of a run need a shell that knows them")
	}
	for script, want := range map[string]Verdict{
		`echo 1`:                               right,
		`echo 2`:                               silent,
		`echo 'note: warning: odd'>&2; echo 2`: right,
		`echo 'data.lwd: bad'>&2; exit 2`:      refused,
		`exit 2`:                               unclear,
		`echo 'it is bad'>&2; exit 2`:          unclear,
		`echo 'data.lwd: strconv.Atoi'>&2; exit 1`: unclear,
		`printf 'data.lwd: \033[1m'>&2; exit 1`:    unclear,
		`echo 'panic: oh'>&2; exit 2`:              panicked,
		`kill -9 $$`:                               panicked,
		`echo 1; echo x >> data.lwd`:               lost,
		`echo 1; rm data.lwd`:                      lost,
		`echo 1; echo x > .out.tmp`:                lost,
		`echo 1; echo x > other`:                   lost,
		`echo 1; echo x > out.json`:                right,
		`while :; do :; done`:                      hung,
	} {
		dir := t.TempDir()
		f := &fixture{binary: filepath.Join(dir, "program"), dir: dir, cpuLimit: time.Second}
		if err := os.WriteFile(f.binary, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "data.lwd"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := Case{Files: []string{"data.lwd"}, Args: []string{"data.lwd"}, Outs: []string{"out.json"}, Judge: asUnharmed("1\n", "data.lwd")}
		if x := f.runCase(c, filepath.Join(dir, "run")); x.verdict != want {
			t.Errorf("%s: %s (%s), want %s", script, x.verdict, x.why, want)
		}
	}
}

// The plain reading of data, against which the program's is held.
func TestReadPlainly(t *testing.T) {
	docs, err := readPlainly([]byte("# c\n1.5 qid:a 1:0.1 3:-2e3 # d\r\n\n0\tqid:b\n"))
	if err != nil || len(docs) != 2 || docs[0].grade != 1.5 || docs[0].query != "a" || docs[0].features[1] != 0.1 || docs[0].features[3] != -2000 || docs[1].query != "b" {
		t.Errorf("%+v, %v", docs, err)
	}
	for _, line := range []string{"1", "1 1:2", "-1 qid:a", "nan qid:a", "1 qid:", "1 qid:a 0:1", "1 qid:a 1:1 1:2", "1 qid:a 1:", "1 qid:a 1:NULL", "1 qid:a 1:1e39", "1 qid:a 1:0x1", "1 qid:a 1"} {
		if docs, err := readPlainly([]byte(line)); err == nil {
			t.Errorf("%q was read: %+v", line, docs)
		}
	}
}

// A mutation changes a file, and what is not mutated is written as it was.
func TestMutate(t *testing.T) {
	const text = `{"a":[1,2e5,"x",null,true],"b":{"c":-0.5},"sum":"s"}`
	none := mutation{apply: func(*rand.Rand, *node) {}}
	var compact bytes.Buffer
	for _, b := range mutate(random(""), text, none, true) {
		if b != '\n' {
			compact.WriteByte(b)
		}
	}
	if compact.String() != text {
		t.Errorf("%s became %s", text, compact.Bytes())
	}
	for _, m := range mutations {
		changed := false
		for i := range 20 {
			changed = changed || !bytes.Equal(mutate(random(string(rune('a'+i))), text, m, true), mutate(random(""), text, none, true))
		}
		if !changed {
			t.Errorf("%s changes nothing", m.name)
		}
	}
}
