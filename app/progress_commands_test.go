package app

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tasksOf runs a command and returns the lines of its tasks as they were in the end: what
// a status shows of those that take long enough.
func tasksOf(t *testing.T, args ...string) []string {
	t.Helper()
	var tasks []string
	var errs bytes.Buffer
	env := &environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &errs, args: args}
	env.status = &status{w: io.Discard, stop: make(chan struct{}), stopped: make(chan struct{}), ended: func(p *progress) { tasks = append(tasks, p.line(false)) }}
	go env.status.run()
	root := newRoot(env)
	root.SetArgs(args)
	root.SetOut(io.Discard)
	err := root.ExecuteContext(context.Background())
	env.closeStatus()
	if err != nil {
		t.Fatalf("listwise %v: %v", args, err)
	}
	return tasks
}

// Every command that may take long shows what it does and, where it can be known, how far
// it is, from which the time left follows.
func TestCommandsShowProgress(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "12", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "d.txt")
	mustCall(t, "data", "fold", "d.txt", "--folds", "3", "--out", "folds")
	for _, m := range []string{"mle", "regression"} {
		mustCall(t, "train", "--no-record", "--method", m, "--train", "d.txt", "--model", m+".json")
	}
	for _, c := range []struct {
		args string
		want []string // how the lines of tasks begin, as regular expressions
	}{
		{"data synth --queries 3 --out s.lwd", []string{"writing s.lwd, queries: 3 of 3"}},
		{"data synth --shape cubic --queries 3 --out s.txt", []string{"writing s.txt, queries: 3 of 3"}},
		{"data clean d.txt --out c.txt", []string{"reading d.txt: [0-9]+ of [0-9]+ MB", "cleaning, queries: 12 of 12", "writing c.txt, queries: 12 of 12"}},
		{"data normalize d.txt --out n.txt.gz", []string{"reading d.txt: [0-9]+ of [0-9]+ MB", "normalizing, queries: 12 of 12", "writing n.txt.gz, queries: 12 of 12"}},
		{"data convert d.txt --out d.lwd", []string{"reading d.txt: [0-9]+ of [0-9]+ MB", "writing d.lwd, queries: 12 of 12"}},
		{"data fold d.txt --folds 3 --out f", []string{"reading d.txt: [0-9]+ of [0-9]+ MB", "dividing d.txt, ", "writing the folds, documents: ([0-9]+) of ([0-9]+)"}},
		{"data fold --parts folds/Fold1/test.txt folds/Fold2/test.txt folds/Fold3/test.txt --out g", []string{"reading folds/Fold3/test.txt: ", "writing the folds, documents: ([0-9]+) of ([0-9]+)"}},
		{"score --model mle.json --data d.txt --out d.scores", []string{"reading d.txt: [0-9]+ of [0-9]+ MB", "scoring d.txt, ", "writing d.scores, "}},
		{"eval --no-record --model mle.json --data d.txt", []string{"reading d.txt: [0-9]+ of [0-9]+ MB", "scoring d.txt, ", "measuring d.txt, "}},
		{"compare --data d.txt --measures map,ndcg@5 mle.json regression.json", []string{"reading d.txt: [0-9]+ of [0-9]+ MB", "scoring, systems: 1 of 2", "measuring, runs: 1 of 2", "comparing: ([0-9]+) of ([0-9]+)"}},
		{"fuse --data d.txt --valid d.txt --rule rrf,borda --draws 3 --out f.scores mle.json regression.json", []string{"reading d.txt: [0-9]+ of [0-9]+ MB", "scoring, systems: 1 of 2", "fusing, steps: 8 of 8", "writing the fusion, "}},
		{"report --data d.txt --out r.html mle.json regression.json", []string{
			"reading d.txt: [0-9]+ of [0-9]+ MB", "scoring, systems: 1 of 2", "measuring, ", "comparing: ([0-9]+) of ([0-9]+)", "weighing features, ", "laying out rankings, ",
		}},
		{"reproduce lambdarank-artificial --scale 0.001 --out r", []string{"linear: ([0-9]+) of ([0-9]+)", "two-layer: ([0-9]+) of ([0-9]+)"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			tasks := tasksOf(t, strings.Fields(c.args)...)
			for _, want := range c.want {
				begins := regexp.MustCompile("^" + want)
				i := slices.IndexFunc(tasks, begins.MatchString)
				if i < 0 {
					t.Errorf("no task begins with %q: %q", want, tasks)
				} else if m := begins.FindStringSubmatch(tasks[i]); len(m) == 3 && m[1] != m[2] {
					t.Errorf("%q ends before it is done", tasks[i])
				}
			}
		})
	}
}
