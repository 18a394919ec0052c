package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// disturbed are the commands that are stopped at random moments, with the files that they need and
// write.
var disturbed = []struct{ args, files, outs string }{
	{"train --method mle --train data.txt --model out.json --no-record", "data.txt", "out.json"},
	{"train --method expgain --set restarts=1000 --train data.txt --model out.json --checkpoint c.ckpt --curve c.jsonl --no-record", "data.txt", "out.json"},
	{"train --method lambdamart --set trees=3000 --set leaf_documents=1 --train data.txt --valid vali.txt --model out.json --checkpoint c.ckpt --no-record", "data.txt vali.txt", "out.json"},
	{"train --method ranknet --scorer net --set hidden=2 --set epochs=30 --train data.txt --valid vali.txt --model out.json --checkpoint c.ckpt --no-record", "data.txt vali.txt", "out.json"},
	{"auto --trials 4 --data folds --out out", "folds", "out/model.json out/report.html out/commands.sh"},
	{"tune --method mle,rankboost --grid C=0.1,1,10 --grid rounds=3,9 --data folds --out out --no-record", "folds", "out/results.json out/mle/Fold1.scores"},
	{"ablate --method mle --vary C=0.1,1,10 --seeds 1 --data folds --out out --no-record", "folds", "out/results.json out/ablation.csv out/ablation.pdf"},
	{"eval --data data.txt --model linear.json --per-query out.csv", "data.txt linear.json", "out.csv"},
	{"score --data data.txt --model fusion.json --out out.scores", "data.txt fusion.json", "out.scores"},
	{"score --data data.txt --model fusion.json --format csv --best-first --out out.csv", "data.txt fusion.json", "out.csv"},
	{"data join data.txt --judgements a.qrels --out out.txt", "data.txt a.qrels", "out.txt"},
	{"data log answers.jsonl --judgements a.csv --out out.csv", "answers.jsonl a.csv", "out.csv"},
	{"import lightgbm.txt --model out.json", "lightgbm.txt", "out.json"},
	{"export --model mart.json --to xgboost --out out.json", "mart.json", "out.json"},
	{"export --model mart.json --to lightgbm --out out.txt", "mart.json", "out.txt"},
	{"data convert data.txt --out out.lwd", "data.txt", "out.lwd"},
	{"data convert data.lwd --out out.txt.gz", "data.lwd", "out.txt.gz"},
	{"data convert data.txt --missing min --out out.txt.gz", "data.txt", "out.txt.gz"},
	{"data report --data data.txt --out out.html", "data.txt", "out.html"},
	{"clicks report pages.jsonl --resamples 20000 --out out.html", "pages.jsonl", "out.html"},
	{"data fold data.txt --folds 5 --out out", "data.txt", "out/Fold1/train.txt out/Fold5/test.txt"},
	{"compare --data data.txt --resamples 2000 linear.json stumps.json net.json", "data.txt linear.json stumps.json net.json", ""},
	{"report --data data.txt --resamples 500 --permutations 1000 --out out.html linear.json stumps.json", "data.txt linear.json stumps.json", "out.html"},
	{"explain --model stumps.json --data data.txt --repeats 50 --svg out.svg", "data.txt stumps.json", "out.svg"},
	{"fuse --data data.txt --valid vali.txt --model out.json linear.json net.json stumps.json", "data.txt vali.txt linear.json net.json stumps.json", "out.json"},
}

var signals = []os.Signal{os.Interrupt, syscall.SIGTERM, os.Kill}

// signalCases stop commands at random moments and run them again. The files must then equal those
// of an undisturbed run.
func signalCases(f *fixture) []Case {
	const each = 40
	var cases []Case
	for n, d := range disturbed {
		args, files, outs := words(d.args), words(d.files), words(d.outs)
		want := map[string][]byte{}
		for _, out := range outs {
			want[out] = f.made(files, out, args...)
		}
		start := time.Now()
		stdout := f.expect(files, args...)
		took := time.Since(start)
		for i := range each {
			name := fmt.Sprintf("signals/%s-%d/%d", args[0], n, i)
			cases = append(cases, Case{Name: name, Files: files, Outs: []string{"out", "out.json", "out.txt", "out.csv", "out.scores", "out.lwd", "out.txt.gz", "out.html", "out.svg", "c.ckpt", "c.jsonl", ".listwise"},
				Run: func(b *box) (Verdict, string, *Result) {
					rng := random(name)
					signal := signals[i%len(signals)]
					moment := time.Duration(rng.Float64() * 1.1 * float64(took))
					if why := b.stop(signal, moment, args, want); why != "" {
						return lost, fmt.Sprintf("%v after %v: %s", signal, moment, why), nil
					}
					r := b.run(args...)
					v, why := b.judge(r)
					if v == right && outs == nil && r.stdout != stdout {
						v, why = silent, "the output differs from that of an undisturbed run"
					}
					if v != right {
						return spoilt(v), fmt.Sprintf("%v after %v, then again: %s", signal, moment, why), r
					}
					for out, text := range want {
						if got, err := os.ReadFile(filepath.Join(b.dir, out)); err != nil || !bytes.Equal(got, text) {
							return silent, fmt.Sprintf("%v after %v, then again: %s differs from that of an undisturbed run, %v", signal, moment, out, err), r
						}
					}
					return right, "", r
				}})
		}
	}
	return cases
}

// spoilt returns the verdict for a second run that fails. The second run must not be refused.
func spoilt(v Verdict) Verdict {
	if v == refused {
		return silent
	}
	return v
}

// stop runs a command and stops it at a moment. It returns what is wrong with the files afterwards,
// or "".
func (b *box) stop(signal os.Signal, moment time.Duration, args []string, want map[string][]byte) string {
	r := b.f.run(b.dir, func(p *os.Process) { time.Sleep(moment); _ = p.Signal(signal) }, args...)
	if r.timedOut {
		return "it goes on"
	}
	if panics.MatchString(r.stderr) {
		return first(r.stderr)
	}
	for out, text := range want {
		got, err := os.ReadFile(filepath.Join(b.dir, out))
		if err == nil && !bytes.Equal(got, text) {
			return out + " is half-written"
		}
	}
	after, err := snapshot(b.dir)
	if err != nil {
		return err.Error()
	}
	if signal == os.Kill {
		return "" // the next run must remove what the killed run left
	}
	for name := range after {
		if strings.HasSuffix(name, ".tmp") {
			return name + " was left"
		}
	}
	if r.code == -1 && r.stderr == "" {
		return "" // the signal came before the program handled signals
	}
	if !slices.Contains([]int{0, 1, 2}, r.code) {
		return fmt.Sprintf("exit code %d, %s", r.code, first(r.stderr))
	}
	return ""
}
