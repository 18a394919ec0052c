package app

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/tune/runs"
)

// Claim: tune killed at any moment, with another command recording at the same time,
// leaves a record that opens, is intact and has every finished run as it was; and the
// command called again gives the same files and the same results as one that was
// never disturbed.
//
// LISTWISE_KILLS is how many times, LISTWISE_KILL_DATA a folder with folds to use in
// place of generated data.
func TestKilledTune(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, and minutes with the race detector")
	}
	kills := 3
	if long.Enabled() {
		kills = 10
	}
	if text := os.Getenv("LISTWISE_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	k := newKilledTune(t)
	for killed := 0; killed < kills; {
		if k.kill() {
			killed++
		}
		k.rerun()
	}
	k.check(true)
	t.Logf("%d kills of a command that takes up to %v: %v", kills, k.takes, k.moments)
}

// killedTune is a tune command that is killed over and over.
type killedTune struct {
	t       *testing.T
	args    []string // all but --out
	takes   time.Duration
	calm    *runs.Run         // the run that nobody disturbed
	want    map[string]string // its files
	known   map[int64]*runs.Run
	moments map[string]int // how far the command was when it was killed
}

func newKilledTune(t *testing.T) *killedTune {
	data := os.Getenv("LISTWISE_KILL_DATA")
	t.Chdir(t.TempDir())
	if data == "" {
		data = "folds"
		mustCall(t, "data", "synth", "--queries", "40", "--docs", "20", "--relevant", "8", "--features", "10", "--out", "all.txt")
		mustCall(t, "data", "fold", "all.txt", "--folds", "3", "--out", data)
	}
	mustCall(t, "data", "synth", "--queries", "5", "--docs", "8", "--relevant", "3", "--out", "d.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json", "--no-record")
	k := &killedTune{
		t: t, known: make(map[int64]*runs.Run), moments: make(map[string]int),
		args: []string{"tune", "--method", "ranksvm,ranknet,mle", "--grid", "C=0.01,0.1,1", "--data", data, "--jobs", "1", "--format", "json"},
	}
	begun := time.Now()
	if err := k.start("calm").Wait(); err != nil {
		t.Fatal(err)
	}
	k.takes = time.Since(begun)
	k.want = files(t, "calm")
	k.check(false)
	k.calm = k.known[1]
	return k
}

// start starts the command as a process of its own.
func (k *killedTune) start(out string) *exec.Cmd {
	k.t.Helper()
	cmd := exec.Command(os.Args[0], append(k.args, "--out", out)...)
	cmd.Args[0] = "listwise" // makes the test's binary behave as the command: see TestMain
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	return cmd
}

// kill begins anew in an empty folder and kills at a random moment, while eval
// records a run of its own. It reports whether the command had not ended before.
func (k *killedTune) kill() bool {
	k.t.Helper()
	if err := os.RemoveAll("out"); err != nil {
		k.t.Fatal(err)
	}
	cmd := k.start("out")
	wait := rand.N(k.takes) // random, independent of the seed
	moment := time.After(wait)
	mustCall(k.t, "eval", "--data", "d.txt", "--model", "m.json")
	<-moment
	_ = cmd.Process.Kill()
	ended := cmd.Wait() == nil
	if ended {
		k.takes = wait // the first time, the machine was slower
	} else {
		k.moments[progressOf("out")]++
	}
	k.check(false)
	return !ended
}

// progressOf returns the progress of the tune that writes to dir.
func progressOf(dir string) string {
	if _, err := os.Stat(dir); err != nil {
		return "before training"
	}
	if _, err := os.Stat(filepath.Join(dir, "results.json")); err == nil {
		return "after results.json"
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "*", "*.model.json")); found != nil {
		return "while writing results"
	}
	return "while training"
}

// rerun calls the command again to its end and compares with the undisturbed one.
func (k *killedTune) rerun() {
	k.t.Helper()
	if err := k.start("out").Wait(); err != nil {
		k.t.Fatal(err)
	}
	got := files(k.t, "out")
	for name := range got {
		if strings.HasSuffix(name, ".tmp") { // what was being written: no file that counts
			delete(got, name)
		}
	}
	if d := cmp.Diff(k.want, got); d != "" {
		k.t.Fatalf("the rerun's files differ:\n%s", d)
	}
	k.check(false)
	last := k.known[k.newest()]
	if last.Kind != runs.Tune || last.Status != runs.Finished {
		k.t.Fatalf("the rerun is recorded as %+v", last)
	}
	if d := cmp.Diff(k.calm.Results, last.Results, equalNumbers); d != "" {
		k.t.Fatalf("the rerun's recorded results differ:\n%s", d)
	}
}

func (k *killedTune) newest() int64 {
	var newest int64
	for id := range k.known {
		newest = max(newest, id)
	}
	return newest
}

// check checks that the record is intact and has all that was in it, and notes what
// is new; thorough looks at every query of every run.
func (k *killedTune) check(thorough bool) {
	k.t.Helper()
	s, err := runs.OpenExisting(".")
	if err != nil {
		k.t.Fatal(err)
	}
	defer s.Close()
	if err := integrity(runs.Path(".")); err != nil {
		k.t.Fatal(err)
	}
	list, err := s.List(runs.Filter{})
	if err != nil {
		k.t.Fatal(err)
	}
	for i := range list {
		r := &list[i]
		if r.Status == runs.Running || r.Status == runs.Failed {
			k.t.Fatalf("run %d is %s: %s", r.ID, r.Status, r.Error)
		}
		old := k.known[r.ID]
		if old == nil || i < 5 || thorough { // per-query results of the oldest are left to the last check
			if r, err = s.Get(r.ID); err != nil {
				k.t.Fatal(err)
			}
		}
		if old == nil {
			k.known[r.ID] = r
		} else if d := cmp.Diff(old, r, equalNumbers, ignoreWhatIsMissing(old, r)); d != "" {
			k.t.Fatalf("run %d changed:\n%s", r.ID, d)
		}
	}
	if len(k.known) != len(list) {
		k.t.Fatalf("%d runs are recorded, %d are known", len(list), len(k.known))
	}
}

// ignoreWhatIsMissing leaves out of the comparison what List leaves out.
func ignoreWhatIsMissing(old, r *runs.Run) cmp.Option {
	detailed := func(r *runs.Run) bool {
		return len(r.Results) == 0 || r.Results[len(r.Results)-1].Measures[0].PerQuery != nil
	}
	if detailed(old) && detailed(r) {
		return cmp.Options{}
	}
	return cmp.Options{cmpopts.IgnoreFields(runs.Run{}, "Curve"), cmpopts.IgnoreFields(runs.Measure{}, "PerQuery")}
}

func integrity(path string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("the database's integrity: %s", verdict)
	}
	return nil
}
