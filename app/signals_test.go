package app

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/listwise/listwise/internal/testing/long"
)

// soon is how long a command may go on after a signal: the second that the contract
// gives it, and half of one for a machine that has other things to do.
const soon = 1500 * time.Millisecond

// startUp is how long a process may take until it listens to signals.
const startUp = 200 * time.Millisecond

// process is a command that runs as a process of its own.
type process struct {
	*exec.Cmd

	stdout bytes.Buffer
	stderr shared
	begun  time.Time
	ended  chan struct{}
}

func startProcess(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], args...), begun: time.Now(), ended: make(chan struct{})}
	p.Args[0] = "listwise" // makes the test's binary behave as the command: see TestMain
	p.Dir = dir
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.ended
	})
	return p
}

// signal sends a signal and checks that the process ends soon, as it should: with
// code 1 and one line, or with its result if it was about to end.
func (p *process) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	select {
	case <-p.ended:
		return
	default:
	}
	begun := time.Now()
	_ = p.Process.Signal(sig)
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		t.Fatalf("%v goes on 20 seconds after %v", p.Args, sig)
	}
	if took := time.Since(begun); took > soon {
		t.Errorf("%v ends %v after %v, want a second at most", p.Args, took, sig)
	}
	code, said := p.ProcessState.ExitCode(), p.stderr.String()
	if code == -1 && begun.Sub(p.begun) < startUp {
		return // there was nobody yet to take the signal, and nothing begun
	}
	if code != exitDone && (code != exitFailed || !strings.HasSuffix(said, "listwise: interrupted\n")) {
		t.Errorf("%v ends with %v, %q; want 1 and one line", p.Args, p.ProcessState, said)
	}
}

// Claim: what looks at no context ends within a second, too: one query of 200 000
// documents whose pairs a training goes through, and a compressed file that grows
// without end as it is read. A second signal ends it at once.
func TestSignalEndsWhatDoesNotListen(t *testing.T) {
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("takes seconds; there are no signals to send on Windows")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	var large strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&large, "%d qid:1 1:%d\n", i%2, i)
	}
	if err := os.WriteFile("large.txt", []byte(large.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	start := func() *process {
		p := startProcess(t, dir, "train", "--method", "boltzrank2", "--set", "largest_work=1e18", "--train", "large.txt", "--model", "m.json")
		time.Sleep(time.Second)
		return p
	}
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			continue // under nohup, which the processes started here inherit
		}
		p := start()
		p.signal(t, sig)
		if p.ProcessState.Success() {
			t.Fatal("the training ended before it was interrupted")
		}
	}
	least := time.Hour // of some, as other work may have the processors
	for range 5 {
		p := start()
		begun := time.Now()
		_ = p.Process.Signal(syscall.SIGTERM)
		time.Sleep(50 * time.Millisecond)
		p.signal(t, syscall.SIGTERM)
		if least = min(least, time.Since(begun)); least <= 500*time.Millisecond {
			break
		}
	}
	if least > 500*time.Millisecond {
		t.Errorf("two signals take %v", least)
	}
	if _, err := os.Stat("m.json"); err == nil {
		t.Error("an interrupted training left a model")
	}
	if left := leftovers(t, dir); left != nil {
		t.Errorf("left %v", left)
	}
	for _, line := range strings.Split(strings.TrimSpace(mustCall(t, "runs", "list", "--format", "csv")), "\n")[1:] {
		if !strings.Contains(line, ",interrupted,") {
			t.Errorf("the record says %s", line)
		}
	}
}

// signalled are commands that are stopped at random moments. All of them write to
// the folder out.
var signalled = []string{
	"train --method lambdarank --scorer net --set epochs=120 --train d.txt --valid folds/Fold1/vali.txt --curve out/c.jsonl --checkpoint out/c.ckpt --model out/m.json",
	"train --method expgain --set restarts=20 --train d.txt --curve out/c.jsonl --checkpoint out/c.ckpt --model out/m.json",
	"tune --method mle,ranksvm --grid C=0.01,0.1,1 --data folds --out out",
	"eval --data large.txt --model m.json --per-query out/q.csv",
	"score --data large.txt --model m.json --out out/s.scores",
	"data convert large.txt --out out/large.lwd",
	"data convert large.txt --out out/large.txt.zst",
	"data fold large.txt --folds 3 --out out",
	"compare --data d.txt m.json n.json --permutations 3000000",
	"report --data d.txt --out out/r.html m.json n.json",
	"fuse --data folds --out out t/mle t/ranksvm",
	"reproduce lambda-jacobian --out out",
	"demo --out out/models --report out/demo.html",
}

// seconds are what differs between two runs of the demo.
var seconds = regexp.MustCompile(`[0-9.]+ seconds`)

// Claim: a command that a signal stops at a random moment ends within a second and
// leaves no temporary file, and what it writes is whole or not there. The command
// called again gives the same files as one that nobody stopped.
func TestSignalsAtRandomMoments(t *testing.T) {
	long.Test(t)
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send on Windows")
	}
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "40", "--docs", "30", "--relevant", "9", "--features", "10", "--out", "d.txt")
	mustCall(t, "data", "synth", "--queries", "2000", "--docs", "60", "--relevant", "9", "--features", "10", "--out", "large.txt")
	mustCall(t, "data", "fold", "d.txt", "--folds", "3", "--out", "folds")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json")
	mustCall(t, "train", "--method", "ranknet", "--train", "d.txt", "--model", "n.json")
	mustCall(t, "tune", "--method", "mle,ranksvm", "--grid", "C=0.1", "--data", "folds", "--out", "t")
	for _, command := range signalled {
		args := strings.Fields(command)
		t.Run(args[0], func(t *testing.T) {
			if args[0] == "reproduce" { // which takes minutes to its end
				emptyOut(t)
				for range 3 {
					signalAtRandom(t, args, 5*time.Second)
				}
				return
			}
			want, stdout, takes := undisturbed(t, args)
			for range 3 {
				signalAtRandom(t, args, takes)
				checkWhole(t, want, files(t, "out"))
			}
			again := startProcess(t, ".", args...)
			<-again.ended
			checkSame(t, want, files(t, "out"))
			if got := seconds.ReplaceAllString(again.stdout.String(), ""); got != stdout {
				t.Errorf("the rerun prints\n%s\nwant\n%s", got, stdout)
			}
		})
	}
}

// signalAtRandom stops the command at a moment before the time that it takes.
func signalAtRandom(t *testing.T, args []string, takes time.Duration) {
	t.Helper()
	p := startProcess(t, ".", args...)
	time.Sleep(rand.N(takes)) // random, independent of the seed
	p.signal(t, []os.Signal{syscall.SIGINT, syscall.SIGTERM}[rand.IntN(2)])
	if left := leftovers(t, "."); left != nil {
		t.Errorf("%v left %v", args, left)
	}
}

// undisturbed returns what a command writes and prints when it is left alone, and how
// long it takes.
func undisturbed(t *testing.T, args []string) (wrote map[string]string, stdout string, takes time.Duration) {
	t.Helper()
	emptyOut(t)
	begun := time.Now()
	p := startProcess(t, ".", args...)
	<-p.ended
	if !p.ProcessState.Success() {
		t.Fatal(p.stderr.String())
	}
	takes = time.Since(begun)
	wrote = files(t, "out")
	emptyOut(t)
	return wrote, seconds.ReplaceAllString(p.stdout.String(), ""), takes
}

func emptyOut(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll("out"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("out", 0o777); err != nil {
		t.Fatal(err)
	}
}

// checkWhole checks that what is there is as it should be in the end. A curve grows
// line by line.
func checkWhole(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name, text := range got {
		switch {
		case name == "c.ckpt":
		case name == "c.jsonl" && strings.HasPrefix(want[name], text) && (text == "" || strings.HasSuffix(text, "\n")):
		case text != want[name]:
			t.Errorf("%s has %d bytes that it should not have, want %d others", name, len(text), len(want[name]))
		}
	}
}

func checkSame(t *testing.T, want, got map[string]string) {
	t.Helper()
	checkWhole(t, want, got)
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("after the rerun %s has %d bytes, want %d", name, len(got[name]), len(want[name]))
		}
	}
}
