package app

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
)

// goisms are words of the language or the system that no message may hold.
var goisms = regexp.MustCompile(`strconv|\.go:|parsing "|open [^ ]+: |stat [^ ]+: |lstat|mkdir [^ ]+: |rename |no such file or directory|\.tmp|0x[0-9a-f]{6}|<nil>|goroutine|EOF|unmarshal|invalid argument|%!`)

// wrongInputs makes a folder with a file of every kind that a flag may be given by
// mistake: those below are no input of any command.
func wrongInputs(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "9", "--docs", "8", "--relevant", "3", "--features", "4", "--out", "d.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json", "--no-record")
	mustCall(t, "score", "--model", "m.json", "--data", "d.txt", "--out", "d.scores")
	mustCall(t, "data", "fold", "d.txt", "--folds", "3", "--out", "folds")
	mustCall(t, "tune", "--method", "regression,random", "--data", "folds", "--out", "runs", "--no-record")
	for name, text := range map[string]string{"empty": "", "noise": "\x00\xff\x01\n", "note.txt": "to whom it may concern\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir("dir", 0o777), os.Symlink("missing/o", "lost")); err != nil {
		t.Fatal(err)
	}
}

// If anything is wrong with a file or folder given to a command, it exits with 2 and one
// line, which names the file or its flag and speaks no Go.
func TestWrongFiles(t *testing.T) {
	wrongInputs(t)
	commands := []struct {
		args string // X is the file in question
		bad  string // what X may not be
	}{
		{"train --method mle --model o.json --no-record --train X", "missing dir empty noise note.txt m.json d.scores d.txt/x runs"},
		{"train --method mle --model o.json --no-record --train d.txt --valid X", "missing dir empty noise m.json d.scores"},
		{"train --method mle --train d.txt --no-record --model X", "dir missing/o d.txt/x lost"},
		{"train --method mle --train d.txt --no-record --model o.json --curve X", "dir missing/o d.txt/x lost"},
		{"train --method mle --train d.txt --no-record --model o.json --checkpoint X", "dir missing/o d.txt/x empty m.json"},
		{"tune --method mle --out o --no-record --data X", "missing dir empty note.txt d.scores m.json runs d.txt/x"},
		{"auto --trials 1 --out o --data X", "missing dir empty note.txt d.scores m.json runs d.txt/x"},
		{"auto --trials 1 --data folds --out X", "d.txt d.txt/x"},
		{"tune --method mle --data folds --no-record --out X", "d.txt d.txt/x"},
		{"score --model m.json --data X", "missing dir empty noise note.txt m.json d.scores folds"},
		{"score --data d.txt --model X", "missing dir empty noise note.txt d.txt d.scores folds runs/results.json"},
		{"score --data d.txt --model m.json --out X", "dir missing/o d.txt/x lost"},
		{"eval --no-record --model m.json --data X", "missing dir empty m.json d.scores folds"},
		{"eval --no-record --data d.txt --model X", "missing dir empty d.txt d.scores runs/results.json"},
		{"eval --no-record --data d.txt --scores X", "missing dir empty d.txt m.json noise note.txt"},
		{"eval --no-record --data d.txt --model m.json --per-query X", "dir missing/o d.txt/x lost"},
		{"compare --data X m.json d.scores", "missing dir empty m.json d.scores folds"},
		{"compare --data d.txt m.json X", "missing dir empty d.txt noise runs/results.json runs"},
		{"compare --baseline m --data X --data d.txt m.json n=m.json", "missing dir empty m.json d.scores folds"},
		{"compare --data folds runs/random X", "missing dir d.txt m.json runs/results.json"},
		{"report --out o.html --data X m.json", "missing dir empty m.json d.scores folds"},
		{"report --out o.html --data d.txt X", "missing dir empty d.txt noise runs/results.json"},
		{"report --out o.html --data d.txt m.json --curve X", "missing dir d.txt m.json"},
		{"report --data d.txt m.json --out X", "dir missing/o d.txt/x lost"},
		{"fuse --data X m.json d.scores", "missing dir empty m.json d.scores folds"},
		{"fuse --data d.txt m.json X", "missing dir empty d.txt noise runs/results.json"},
		{"fuse --data d.txt --rule rrf m.json d.scores --out X", "dir missing/o d.txt/x lost"},
		{"fuse --data folds runs/random runs/regression --out X", "d.txt d.txt/x"},
		{"data info X", "missing dir empty noise note.txt m.json d.scores d.txt/x"},
		{"data info --data X", "missing dir m.json"},
		{"data clean --out o.txt X", "missing dir empty m.json"},
		{"data clean d.txt --out X", "dir missing/o d.txt/x lost"},
		{"data normalize --out o.txt X", "missing dir empty m.json"},
		{"data convert --out o.txt X", "missing dir empty m.json"},
		{"data convert d.txt --out X", "dir missing/o d.txt/x lost"},
		{"data fold --out o X", "missing dir empty m.json"},
		{"data fold --folds 3 d.txt --out X", "d.txt d.txt/x"},
		{"data synth --queries 2 --out X", "dir missing/o d.txt/x lost"},
		{"demo --report X", "dir missing/o d.txt/x lost"},
		{"demo --out X", "d.txt d.txt/x"},
		{"reproduce logrank-fig3 --out o --data X", "missing dir d.txt"},
		{"reproduce logrank-fig3 --data folds --out X", "d.txt d.txt/x"},
		{"reproduce all --out o --data X", "missing d.txt"},
		{"runs show X", "missing 0 -1 99999999999999999999"},
	}
	for _, c := range commands {
		for bad := range strings.FieldsSeq(c.bad) {
			args := strings.Fields(strings.ReplaceAll(c.args, "X", bad))
			code, out, errs := call(args...)
			if code != exitUsage || out != "" || strings.Count(errs, "\n") != 1 || goisms.MatchString(errs) {
				t.Errorf("listwise %s exits with %d, prints %q and says %q", strings.Join(args, " "), code, out, errs)
			}
			if stem, _, _ := strings.Cut(bad, "/"); !strings.Contains(errs, stem) && !strings.Contains(errs, "--") {
				t.Errorf("listwise %s names neither the file nor the flag: %q", strings.Join(args, " "), errs)
			}
		}
	}
	for _, left := range []string{"o.json", "o.txt", "o.html"} {
		if exists(left) {
			t.Errorf("a command that failed left %s", left)
		}
	}
}

// Files that are something else are called what they are.
func TestSwappedFiles(t *testing.T) {
	wrongInputs(t)
	for _, c := range []struct{ args, want string }{
		{"score --model m.json --data m.json", "--data: m.json is a model, expected judged queries"},
		{"score --model d.txt --data d.txt", "--model: d.txt is a file of judged queries, expected a model"},
		{"score --model d.scores --data d.txt", "--model: d.scores is a file of scores, expected a model"},
		{"eval --data d.scores --model m.json", "--data: d.scores is a file of scores, expected judged queries"},
		{"eval --data d.txt --scores m.json", "--scores: m.json is a model, expected scores"},
		{"train --method mle --train folds --model o.json", "--train: folds is a folder, expected a file with judged queries"},
		{"tune --method mle --data m.json --out o", "--data: m.json is a model, expected judged queries"},
		{"compare --data d.txt m.json d.txt", "d.txt is a file of judged queries, expected a model, a file of scores or a run"},
		{"compare --data d.txt runs/random m.json", "runs/random is a folder: with --data d.txt, a file, expected a model, a file of scores or a run"},
		{"compare --data folds m.json runs/random", "m.json is a file: with --data folds, a folder, expected one with Fold1.model.json"},
		{"fuse --data folds folds runs/random", "folds: found neither Fold1.model.json nor Fold1.scores"},
		{"score --model none.json --data d.txt", "--model: none.json: no such file or folder"},
		{"data info m.json", "m.json is a model, expected judged queries"},
	} {
		code, _, errs := call(strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(errs, "listwise: "+c.want) {
			t.Errorf("listwise %s exits with %d and says %q, want %q", c.args, code, errs, c.want)
		}
	}
}

// A file that may not be read, or a folder that may not be written to, is the caller's
// to mend.
func TestForbiddenFiles(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may do everything")
	}
	wrongInputs(t)
	if err := errors.Join(os.Chmod("d.scores", 0), os.Chmod("dir", 0o555)); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"eval --data d.txt --scores d.scores --no-record",
		"data info d.scores",
		"train --method mle --train d.txt --model dir/m.json --no-record",
		"data convert d.txt --out dir/d.lwd",
		"demo --out dir/x",
	} {
		code, _, errs := call(strings.Fields(args)...)
		if code != exitUsage || !strings.Contains(errs, "permission denied") || goisms.MatchString(errs) {
			t.Errorf("listwise %s exits with %d and says %q", args, code, errs)
		}
	}
}

// Wrong values of every flag that takes a number or a word: exit 2, one line, and no
// Go.
func TestWrongValues(t *testing.T) {
	wrongInputs(t)
	const numbers = "x nan inf -inf -1 1e999 99999999999999999999 1,5"
	base := map[string]string{
		"train":   "train --method mle --train d.txt --model o.json --no-record",
		"tune":    "tune --method mle --data folds --out o --no-record",
		"ablate":  "ablate --method mle --vary C=1,2 --data folds --out o --no-record",
		"eval":    "eval --data d.txt --model m.json --no-record",
		"compare": "compare --data d.txt m.json d.scores",
		"report":  "report --data d.txt --out o.html m.json",
		"fuse":    "fuse --data d.txt m.json d.scores",
		"fold":    "data fold d.txt --out o",
		"synth":   "data synth --out o.txt",
		"clean":   "data clean d.txt --out o.txt",
		"norm":    "data normalize d.txt --out o.txt",
		"paper":   "reproduce logrank-fig6 --out o",
		"demo":    "demo",
		"list":    "runs list",
	}
	for _, c := range []struct{ command, flags, values string }{
		{"train", "seed max-memory", numbers},
		{"train", "convention measure normalize scorer missing method", "x X@1 1"},
		{"train", "set", "C=x C=nan C=inf C=-1 C=1e999 C= =1 C hidden=1.5 hidden=99999999999999999999 form=x no=1"},
		{"tune", "seed jobs max-memory", numbers},
		{"tune", "convention measure normalize scorer missing method select measures ties", "x X@1 1"},
		{"tune", "grid", "C=x C=nan C=inf C= C=1,1 =1 C no=1"},
		{"ablate", "seed jobs max-memory", numbers},
		{"ablate", "convention measure normalize scorer missing method select measures ties seeds baseline leave-out vary", "x X@1 , C= =1"},
		{"eval", "max-grade max-memory", numbers},
		{"eval", "measures convention ties missing", "x X@1 map, rprec@5 ndcg@0 ndcg@-1 ndcg@99999999999"},
		{"compare", "permutations resamples seed max-memory", numbers},
		{"compare", "measure convention ties unit seeds baseline missing", "x X@1"},
		{"report", "permutations resamples seed max-size max-memory", numbers},
		{"report", "measures convention ties baseline missing", "x X@1"},
		{"fuse", "draws seed max-memory", numbers},
		{"fuse", "k", "x nan inf -inf -1 1e999"},
		{"fuse", "rule scale select measures convention ties missing weights", "x X@1 1 1,nan 1,x"},
		{"fold", "folds seed", numbers},
		{"fold", "folds", "0 1 2"},
		{"synth", "queries docs features relevant noise seed polynomial", numbers},
		{"synth", "shape", "x"},
		{"clean", "reading missing", "x R4"},
		{"norm", "kind missing", "x"},
		{"paper", "scale jobs seed", numbers},
		{"demo", "seed", numbers},
		{"list", "limit", numbers},
		{"list", "kind method", "x"},
	} {
		for flag := range strings.FieldsSeq(c.flags) {
			for value := range strings.FieldsSeq(c.values) {
				args := append(strings.Fields(base[c.command]), "--"+flag+"="+value)
				code, out, errs := call(args...)
				if code != exitUsage || out != "" || strings.Count(errs, "\n") != 1 || goisms.MatchString(errs) || !strings.Contains(errs, flag) {
					t.Errorf("listwise %s exits with %d, prints %q and says %q", strings.Join(args, " "), code, out, errs)
				}
			}
		}
	}
}

// full is a standard output that takes nothing more.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Failures of the machine exit with 1.
func TestFailures(t *testing.T) {
	for _, args := range []string{"methods", "methods mle", "reproduce", "version", "data synth --queries 2 --out -"} {
		var errs bytes.Buffer
		if code := Run(context.Background(), strings.Fields(args), strings.NewReader(""), full{}, &errs); code != exitFailed {
			t.Errorf("listwise %s > a full disk exits with %d and says %q, want %d", args, code, errs.String(), exitFailed)
		}
	}
}

// Nothing that begins a file makes its recognition panic, and what is recognised as
// scores is read as such.
func FuzzContentFrom(f *testing.F) {
	for _, text := range []string{"", "1\n2\n", "1 qid:1 1:0\n", "{\"format\": \"listwise-model\"}", "{\"epoch\":1}", "a,b,c\n", "# x\n0.5\n", "\x89LWDATA\n", "<!DOCTYPE html>"} {
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, start []byte, more bool) {
		c := contentFrom(start, more)
		if c == scores && bytes.Contains(start, []byte("qid:")) && !bytes.Contains(start, []byte("#")) && !more {
			t.Errorf("%q is taken for scores", start)
		}
	})
}
