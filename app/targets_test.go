package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Claim: an output that is an input, or another output, is refused by every command, under
// any name, before anything is read or written: exit code 2, and the error names both flags
// and the path.
func TestOutputsThatAreInputs(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "w"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "w"))
	mustCall(t, "data", "synth", "--queries", "9", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "s.txt")
	mustCall(t, "data", "fold", "s.txt", "--folds", "3", "--out", "folds")
	mustCall(t, "train", "--method", "mle", "--train", "s.txt", "--curve", "c.jsonl", "--model", "m.json")
	mustCall(t, "score", "--model", "m.json", "--data", "s.txt", "--out", "s.scores")
	mustCall(t, "tune", "--method", "mle,ranksvm", "--grid", "C=1", "--data", "folds", "--out", "t")
	for _, err := range []error{
		os.Symlink("s.txt", "soft"), os.Link("s.txt", "hard"), os.Mkdir("sub", 0o777), os.Symlink("w/sub", "../also"),
		os.Symlink("w/sub/none", "../dangling"),
	} {
		if err != nil {
			t.Skip(err)
		}
	}
	before := files(t, ".")
	for args, names := range map[string]string{
		"train --method mle --train s.txt --model s.txt":                               "--model s.txt, --train s.txt",
		"train --method mle --train s.txt --model ./sub/../s.txt":                      "--model ./sub/../s.txt, --train s.txt",
		"train --method mle --train s.txt --model soft":                                "--model soft, --train s.txt",
		"train --method mle --train soft --model hard":                                 "--model hard, --train soft",
		"train --method mle --train s.txt --model n.json --curve s.txt":                "--curve s.txt, --train",
		"train --method mle --train s.txt --model n.json --checkpoint s.txt":           "--checkpoint s.txt, --train",
		"train --method mle --train s.txt --valid hard --model soft":                   "--model soft, --train s.txt",
		"train --method mle --train s.txt --model n.json --curve ./n.json":             "--model n.json, --curve ./n.json",
		"train --method mle --train s.txt --model sub/n --checkpoint ../also/n":        "--model sub/n, --checkpoint ../also/n",
		"train --method mle --train s.txt --model ../dangling --checkpoint sub/none":   "--model ../dangling, --checkpoint sub/none",
		"train --method mle --train s.txt --model .listwise/runs.db":                   "--model .listwise/runs.db, the record of runs",
		"eval --data s.txt --model m.json --per-query m.json":                          "--per-query m.json, --model m.json",
		"eval --data s.txt --scores s.scores --per-query ./s.scores":                   "--per-query ./s.scores, --scores s.scores",
		"score --model m.json --data s.txt --out hard":                                 "--out hard, --data s.txt",
		"data convert s.txt --out soft":                                                "--out soft, s.txt",
		"data convert --data s.txt --out s.txt":                                        "--out s.txt, s.txt",
		"data clean s.txt --out hard":                                                  "--out hard, s.txt",
		"data normalize s.txt --out ./s.txt":                                           "--out ./s.txt, s.txt",
		"data fold folds/Fold1/train.txt --folds 3 --out folds":                        "--out folds/Fold1/train.txt, folds/Fold1/train.txt",
		"data fold --parts folds/Fold1/test.txt s.txt folds/Fold9.txt --out folds":     "--out folds/Fold1/test.txt, folds/Fold1/test.txt",
		"tune --method mle --data folds --out folds":                                   "--out folds, --data folds",
		"tune --method mle --data folds --out .":                                       "--out ., --data folds",
		"fuse --data s.txt --rule rrf --out s.scores s.scores m.json":                  "--out s.scores, s.scores",
		"fuse --data s.txt --rule rrf --out x --model x m.json t/mle/Fold1.model.json": "--out x, --model x",
		"fuse --data s.txt --rule rrf --out m.json m.json:s.scores s.scores":           "--out m.json, m.json",
		"fuse --data folds --out t t/mle t/ranksvm":                                    "--out t, t/mle",
		"report --data s.txt --out m.json m.json":                                      "--out m.json, m.json",
		"report --data s.txt --out c.jsonl --curve a=c.jsonl m.json":                   "--out c.jsonl, --curve c.jsonl",
		"report --data folds --out folds/Fold2/test.txt t/mle":                         "--out folds/Fold2/test.txt, --data folds",
		"report --data folds --out t/mle/Fold2.model.json t/mle":                       "--out t/mle/Fold2.model.json, t/mle",
		"reproduce all --data folds --out . --scale 0.001":                             "--out ., --data folds",
		"reproduce all --out r --markdown r/all.md --scale 0.001":                      "--out r/all.md, --markdown r/all.md",
		"reproduce all --out r/x-held.md --markdown r/x.md --scale 0.001":              "--out r/x-held.md, --markdown r/x-held.md",
		"demo --out d --report ./d":                                                    "--out d, --report ./d",
	} {
		code, out, said := call(strings.Fields(args)...)
		if code != exitUsage || out != "" {
			t.Errorf("%s: exit code %d, %q, %q", args, code, out, said)
		}
		for name := range strings.SplitSeq(names, ", ") {
			if !strings.Contains(said, name) {
				t.Errorf("%s: the error is %q, want one that names %q", args, said, name)
			}
		}
		checkSame(t, before, files(t, "."))
	}
}

// Claim: what only looks alike is let through: folders beside the data, new files in
// them, devices and standard output named several times.
func TestOutputsOfTheirOwn(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "9", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "all.txt")
	mustCall(t, "data", "fold", "all.txt", "--folds", "3", "--out", ".")
	mustCall(t, "data", "fold", "--parts", "Fold1/test.txt", "Fold2/test.txt", "Fold3/test.txt", "--out", "again")
	mustCall(t, "train", "--method", "mle", "--train", "all.txt", "--valid", "all.txt", "--model", "m.json", "--curve", "c.jsonl")
	mustCall(t, "train", "--method", "mle", "--train", "all.txt", "--valid", "all.txt", "--model", "m.json", "--curve", "c.jsonl") // again
	mustCall(t, "tune", "--method", "mle,ranksvm", "--grid", "C=1", "--data", ".", "--out", filepath.Join("runs", "1"))
	mustCall(t, "fuse", "--data", ".", "--out", "runs/fused", "runs/1/mle", "runs/1/ranksvm")
	mustCall(t, "report", "--data", ".", "--out", "report.html", "runs/1/mle")
	mustCall(t, "report", "--data", ".", "--out", "report.html", "runs/1/mle") // again
	if _, err := os.Stat("/dev/null"); err == nil {
		mustCall(t, "train", "--method", "mle", "--train", "all.txt", "--model", "/dev/null", "--curve", "/dev/null")
		p := startProcess(t, ".", "train", "--method", "mle", "--train", "all.txt", "--model", "/dev/stdout", "--curve", "/dev/stdout")
		<-p.ended
		if !p.ProcessState.Success() || strings.Count(p.stdout.String(), `"epoch":1,`) != 1 || !strings.Contains(p.stdout.String(), `"listwise-model"`) {
			t.Errorf("%v: %s%s", p.ProcessState, p.stdout.String(), p.stderr.String())
		}
	}
}
