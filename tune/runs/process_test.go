package runs

import (
	"bufio"
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain makes the test's binary a process that writes to a record, for the tests
// that need several of them, or need to kill one.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RUNS_TEST_WRITE"); dir != "" {
		n, _ := strconv.Atoi(os.Getenv("RUNS_TEST_COUNT"))
		if err := writeRuns(dir, n, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// writeRuns records n runs and prints the number of each once it is finished.
func writeRuns(dir string, n int, w io.Writer) error {
	s, err := Open(dir, time.Minute)
	if err != nil {
		return err
	}
	for i := range n {
		r := example(i)
		if err := s.Begin(r); err != nil {
			return err
		}
		r.Status = Finished
		if err := s.Finish(r); err != nil {
			return err
		}
		fmt.Fprintln(w, r.ID, i)
	}
	return s.Close()
}

// startWriter starts writeRuns as a process of its own.
func startWriter(t *testing.T, dir string, n int) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RUNS_TEST_WRITE="+dir, "RUNS_TEST_COUNT="+strconv.Itoa(n))
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, stdout, stderr
}

// checkIntact checks the database itself.
func checkIntact(t *testing.T, s *Store) {
	t.Helper()
	var verdict string
	if err := s.db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("the database's integrity: %q, %v", verdict, err)
	}
	err := s.db.QueryRow("PRAGMA foreign_key_check").Scan(new(string), new(any), new(string), new(int))
	if !errors.Is(err, sql.ErrNoRows) {
		t.Fatalf("a row belongs to nothing: %v", err)
	}
}

// checkPrinted checks that every run whose end was printed is there, whole, and
// returns their number. A line that was cut off by the process's end does not count.
func checkPrinted(t *testing.T, s *Store, text string) int {
	t.Helper()
	n := 0
	for lines := bufio.NewReader(strings.NewReader(text)); ; n++ {
		line, err := lines.ReadString('\n')
		if err != nil {
			return n
		}
		var id int64
		var i int
		if _, err := fmt.Sscan(line, &id, &i); err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(id)
		if err != nil {
			t.Fatalf("a finished run is lost: %v", err)
		}
		want := example(i)
		want.ID, want.Status, want.Begun, want.Code = got.ID, Finished, got.Begun, got.Code
		if d := same(want, got); d != "" {
			t.Fatalf("run %d is not what was recorded:\n%s", id, d)
		}
	}
}

// Claim: processes that write at once, the first of which make the database at
// once, lose nothing and wait for one another instead of failing.
func TestProcessesWriteAtOnce(t *testing.T) {
	const processes, each = 4, 15
	for range 3 { // each with a new record
		dir := t.TempDir()
		var wait [processes]func()
		var out [processes]*bytes.Buffer
		for p := range processes {
			cmd, stdout, stderr := startWriter(t, dir, each)
			out[p] = stdout
			wait[p] = func() {
				if err := cmd.Wait(); err != nil {
					t.Errorf("%v: %s", err, stderr)
				}
			}
		}
		for _, w := range wait {
			w()
		}
		s := mustOpen(t, dir)
		checkIntact(t, s)
		for p := range processes {
			if n := checkPrinted(t, s, out[p].String()); n != each {
				t.Errorf("process %d finished %d runs, want %d", p, n, each)
			}
		}
		if list, err := s.List(Filter{}); err != nil || len(list) != processes*each {
			t.Errorf("%d runs, %v; want %d", len(list), err, processes*each)
		}
	}
}

// Claim: a process killed at any moment, while others write or not, leaves a record
// that opens, is intact, has every run that was finished, and shows the one that
// was going on as interrupted.
func TestKilledWriter(t *testing.T) {
	kills := 20
	if text := os.Getenv("LISTWISE_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)) // moments independent of the seed
	finished, begun := 0, 0
	for k := range kills {
		if k%10 == 0 { // from time to time the database is made anew, and killed while made
			dir, finished, begun = t.TempDir(), 0, 0
		}
		cmd, stdout, _ := startWriter(t, dir, 1_000_000)
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		s := mustOpen(t, dir)
		checkIntact(t, s)
		finished += checkPrinted(t, s, stdout.String())
		list, err := s.List(Filter{})
		if err != nil {
			t.Fatal(err)
		}
		count := make(map[Status]int)
		for i := range list {
			count[list[i].Status]++
		}
		// A kill may come after a run was finished and before that was printed.
		if n := count[Finished]; n < finished || n > finished+k%10+1 {
			t.Errorf("%d finished runs, want %d or a few more", n, finished)
		}
		if n := count[Interrupted] - begun; n < 0 || n > 1 || count[Running] > 0 {
			t.Errorf("%d more runs are interrupted and %d running, want at most one and none", n, count[Running])
		}
		begun = count[Interrupted]
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills", kills)
}

// Claim: a database of an older format is brought to today's with what it holds,
// all or nothing; one of a newer format is left alone.
func TestMigrate(t *testing.T) {
	dir := t.TempDir()
	r := example(1)
	s := mustOpen(t, dir)
	finish(t, s, r)
	ctx := t.Context()

	steps := append(slices.Clone(migrations), "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT 'none'", "CREATE TABLE run (id)")
	if err := migrate(ctx, s.db, steps); err == nil || !strings.Contains(err.Error(), "format "+strconv.Itoa(len(steps))) {
		t.Errorf("a step that cannot be done: %v", err)
	}
	if v, err := userVersion(ctx, s.db); err != nil || v != len(migrations) {
		t.Errorf("format is %d, %v after a step that failed", v, err)
	}
	steps = steps[:len(steps)-1]
	for range 2 { // the second time there is nothing to do
		if err := migrate(ctx, s.db, steps); err != nil {
			t.Fatal(err)
		}
	}
	var note string
	if err := s.db.QueryRow("SELECT note FROM run WHERE id = 1").Scan(&note); err != nil || note != "none" {
		t.Errorf("note is %q, %v", note, err)
	}
	if got, err := s.Get(1); err != nil || !cmp.Equal(got.Command, r.Command) {
		t.Errorf("run after the migration: %+v, %v", got, err)
	}

	if _, err := Open(dir, Patience); err == nil || !strings.Contains(err.Error(), "runs.db: was written by a newer listwise (format 2, this one knows up to 1)") {
		t.Errorf("opening a newer format: %v", err)
	}
}
