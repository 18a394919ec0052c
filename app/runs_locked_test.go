package app

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/tune/runs"
)

// recordable are commands whose runs are recorded, and what their result begins with.
var recordable = map[string]string{
	"train --method mle --train d.txt --model n.json":                "n.json",
	"tune --method mle --grid C=1 --data folds --out out --jobs 1":   "test results of 3 folds",
	"eval --data d.txt --model m.json --measures map --ties average": "convention standard",
}

func recordableData(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "9", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "d.txt")
	mustCall(t, "data", "fold", "d.txt", "--folds", "3", "--out", "folds")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json", "--no-record")
}

// lockRecord keeps all others from writing to the record, or from reading it as well,
// until the function that it returns is called.
func lockRecord(t *testing.T, whole bool) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", runs.Path("."))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	statements := []string{"BEGIN IMMEDIATE"}
	if whole {
		statements = []string{"PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "UPDATE run SET error = error"}
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if _, err := db.Exec("ROLLBACK"); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// timed is what was written, and when the first text that has a part was.
type timed struct {
	bytes.Buffer

	part string
	at   time.Time
}

func (w *timed) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if w.at.IsZero() && strings.Contains(w.String(), w.part) {
		w.at = time.Now()
	}
	return n, err
}

// checkUnrecorded checks that the result came, then the note, and that the command ended no
// later after the result than the record's patience.
func checkUnrecorded(t *testing.T, args, result string) {
	t.Helper()
	out := &timed{part: result}
	code := Run(context.Background(), strings.Fields(args), strings.NewReader(""), out, out)
	said := out.String()
	if took := time.Since(out.at); took > runs.Patience+10*hurry && !out.at.IsZero() {
		t.Errorf("%s takes %v after its result", args, took)
	}
	note := strings.Index(said, "warning: this run is not recorded: ")
	at := strings.Index(said, result)
	if code != exitDone || at < 0 || note < at || strings.Count(said, "not recorded") != 1 {
		t.Errorf("%s: exit code %d and\n%s\nwant its result, then one note", args, code, said)
	}
}

// Claim: a record that others keep locked costs the result nothing but two seconds
// after it is printed, and training begins at once.
func TestLockedRecord(t *testing.T) {
	long.Test(t)
	recordableData(t)
	mustCall(t, "eval", "--data", "d.txt", "--model", "m.json")
	for _, whole := range []bool{false, true} {
		release := lockRecord(t, whole)
		for args, result := range recordable {
			checkUnrecorded(t, args, result)
		}
		begun := time.Now()
		rec := (&recording{}).begin(&environment{}, func() *runs.Run { return &runs.Run{Kind: runs.Train} })
		if took := time.Since(begun); took > 10*hurry {
			t.Errorf("beginning takes %v", took)
		}
		release()
		rec.run.Error = "it was not"
		rec.run.End(nil)
		rec.insist() // what failed at the beginning is made up for
		last := lastRun(t)
		if last.Status != runs.Finished || last.Begun.Sub(begun).Abs() > time.Second || last.Kind != runs.Train {
			t.Errorf("the record has %+v", last)
		}
	}
}

func lastRun(t *testing.T) *runs.Run {
	t.Helper()
	s, err := runs.OpenExisting(".")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.List(runs.Filter{Limit: 1})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return &list[0]
}

// Claim: if a run cannot be recorded, for any reason, the result is printed and the exit
// code 0.
func TestUnusableRecord(t *testing.T) {
	write := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, spoil := range map[string]func(t *testing.T){
		"a file in the folder's place": func(t *testing.T) { write(t, ".listwise", "x") },
		"a folder in its place": func(t *testing.T) {
			if err := os.MkdirAll(runs.Path("."), 0o777); err != nil {
				t.Fatal(err)
			}
		},
		"no database": func(t *testing.T) {
			mustCall(t, "eval", "--data", "d.txt", "--model", "m.json")
			write(t, runs.Path("."), strings.Repeat("no database ", 1000))
		},
		"a damaged database": func(t *testing.T) {
			mustCall(t, "eval", "--data", "d.txt", "--model", "m.json")
			text, err := os.ReadFile(runs.Path("."))
			if err != nil {
				t.Fatal(err)
			}
			for i := 4096; i < len(text); i++ { // all but the first page
				text[i] ^= 0x55
			}
			write(t, runs.Path("."), string(text))
		},
		"a folder that cannot be written to": func(t *testing.T) {
			if os.Getuid() == 0 {
				t.Skip("root may write anywhere")
			}
			if err := os.Mkdir(".listwise", 0o555); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			recordableData(t)
			spoil(t)
			for args, result := range recordable {
				checkUnrecorded(t, args, result)
			}
		})
	}
}

// Claim: the same where the disk is full, here for files beyond a size that the
// models keep within and the database does not.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no ulimit")
	}
	recordableData(t)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for args, result := range recordable {
		cmd := exec.Command("bash", "-c", `ulimit -f 12 && exec -a listwise "$0" "$@"`, os.Args[0])
		cmd.Args = append(cmd.Args, strings.Fields(args)...)
		cmd.Dir = dir
		said, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(said), result) || strings.Count(string(said), "warning: this run is not recorded: ") != 1 {
			t.Errorf("%s: %v\n%s", args, err, said)
		}
	}
	// Runs that were recorded can be read there, and not deleted.
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "recorded.json")
	for args, want := range map[string]string{"list": "finished", "show 1": "recorded.json", "export 1": "recorded.json", "delete 1": "the disk may be full"} {
		cmd := exec.Command("bash", "-c", `ulimit -f 0 && exec -a listwise "$0" runs "$@"`, os.Args[0])
		cmd.Args, cmd.Dir = append(cmd.Args, strings.Fields(args)...), dir
		said, err := cmd.CombinedOutput()
		if (err == nil) != (args != "delete 1") || !strings.Contains(string(said), want) {
			t.Errorf("runs %s on a full disk: %v, %s", args, err, said)
		}
	}
	// And what is too large itself is an error and leaves nothing.
	large := exec.Command("bash", "-c", `ulimit -f 4 && exec -a listwise "$0" data convert d.txt --out large.txt`, os.Args[0])
	large.Dir = dir
	mustCall(t, "data", "synth", "--queries", "99", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "d.txt")
	if said, err := large.CombinedOutput(); err == nil || large.ProcessState.ExitCode() != exitFailed || !strings.Contains(string(said), "too large") {
		t.Errorf("%v: %s", err, said)
	}
	if left, _ := filepath.Glob("*large*"); left != nil || leftovers(t, ".") != nil {
		t.Errorf("left %v and %v", left, leftovers(t, "."))
	}
}
