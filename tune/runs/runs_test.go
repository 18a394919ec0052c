package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// mustOpen opens the record of dir for the time of the test.
func mustOpen(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// example is a run of tune with everything a run can have; its numbers depend on n.
func example(n int) *Run {
	seed := uint64(math.MaxUint64)
	x := Number(n) + 0.1
	perQuery := []Value{{"q1", x / 3}, {"qé 'x'", NaN()}, {"", 1}}
	return &Run{
		Kind:    Tune,
		Command: []string{"tune", "--out", "a b"},
		Methods: []string{"mle", "l2"},
		Config:  map[string]any{"C": 0.1, "hinge": "l1", "unique": true, "grid": []any{1.0, 2.0}, "n": float64(n)},
		Seed:    &seed,
		Data:    []Data{{"Fold1 train", "data/Fold1/train.txt", "ab12", 3, 40}, {"Fold1 test", "-", "cd", 2, 7}},
		Files:   []string{"out/results.json", "out/mle/Fold1.scores"},
		Results: []RankerResult{
			{Ranker: "mle", Validation: NaN(), Measures: []Measure{{Name: "map", Mean: x, TieNeutral: x / 7, Queries: 2}}},
			{
				Ranker: "mle", Fold: "Fold1", Settings: map[string]any{"C": 0.1}, Validation: 0.3, Training: map[string]any{"status": "done", "objective": 1.5},
				Trials:   []Trial{{map[string]any{"C": 0.1}, 0.3}, {map[string]any{"C": 1.0}, 0.2}},
				Measures: []Measure{{Name: "map", Mean: x, TieNeutral: x, Queries: 2, PerQuery: perQuery}, {Name: "ndcg@1", Mean: NaN(), TieNeutral: NaN()}},
			},
		},
		Curve: []Point{
			{Ranker: "mle", Fold: "Fold1", Step: 0, Objective: Number(math.Inf(1)), GradNorm: 2, Rate: NaN(), Validation: NaN()},
			{Ranker: "mle", Fold: "Fold1", Start: 1, Step: 1, Epoch: true, Objective: -1e-300, GradNorm: NaN(), Rate: 0.1, Validation: 0.5, Best: true},
		},
	}
}

// finish records r as a finished run.
func finish(t testing.TB, s *Store, r *Run) {
	t.Helper()
	if err := s.Begin(r); err != nil {
		t.Fatal(err)
	}
	r.Status = Finished
	if err := s.Finish(r); err != nil {
		t.Fatal(err)
	}
}

// equalNumbers compares numbers, of which NaN equals itself.
var equalNumbers = cmp.Comparer(func(a, b Number) bool { return a == b || math.IsNaN(float64(a)) && math.IsNaN(float64(b)) })

// same compares runs; durations are kept to the microsecond.
func same(want, got *Run) string {
	return cmp.Diff(want, got, equalNumbers, cmpopts.IgnoreFields(Run{}, "Duration"))
}

// Claim: Get returns what Finish was given, every field and every bit, and List all
// of it but per-query results and curve, the newest first.
func TestFinishGetList(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	var all []*Run
	for n := range 3 {
		r := example(n)
		finish(t, s, r)
		all = append(all, r)
		if r.ID != int64(n+1) || r.Duration <= 0 || r.Begun.IsZero() || r.Code != ThisCode() {
			t.Errorf("run is %+v", r)
		}
	}
	for _, want := range all {
		got, err := s.Get(want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := same(want, got); d != "" {
			t.Errorf("run %d differs from what was recorded:\n%s", want.ID, d)
		}
		if d := got.Duration - want.Duration; d.Abs() > 1000 {
			t.Errorf("duration is %v, want %v", got.Duration, want.Duration)
		}
	}
	list, err := s.List(Filter{})
	if err != nil || len(list) != 3 {
		t.Fatalf("%d runs, %v; want 3", len(list), err)
	}
	for i := range list {
		want := *example(2 - i)
		want.ID, want.Status, want.Begun, want.Code = all[2-i].ID, Finished, all[2-i].Begun, ThisCode()
		want.Curve = nil
		for k := range want.Results {
			for m := range want.Results[k].Measures {
				want.Results[k].Measures[m].PerQuery = nil
			}
		}
		if d := same(&want, &list[i]); d != "" {
			t.Errorf("run %d of the list:\n%s", i, d)
		}
	}
}

// Claim: more rows than one statement takes are all kept, in order.
func TestManyRows(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	for _, n := range []int{0, 1, 249, 250, 251, 1000} {
		r := &Run{Kind: Eval, Results: []RankerResult{{Ranker: "m", Validation: NaN(), Measures: []Measure{{Name: "map"}}}}}
		for i := range n {
			r.Results[0].Measures[0].PerQuery = append(r.Results[0].Measures[0].PerQuery, Value{strconv.Itoa(i), Number(i) / 7})
		}
		finish(t, s, r)
		got, err := s.Get(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r.Results, got.Results, equalNumbers); d != "" {
			t.Errorf("%d rows: %s", n, d)
		}
	}
}

// Claim: List keeps the runs that the filter describes, the newest Limit of them.
func TestFilter(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	for _, r := range []*Run{
		{Kind: Train, Methods: []string{"mle"}},
		{Kind: Tune, Methods: []string{"mle", "l2"}},
		{Kind: Eval},
		{Kind: Train, Methods: []string{"l2"}},
	} {
		finish(t, s, r)
	}
	for _, c := range []struct {
		filter Filter
		want   []int64
	}{
		{Filter{}, []int64{4, 3, 2, 1}},
		{Filter{Limit: 2}, []int64{4, 3}},
		{Filter{Kind: Train}, []int64{4, 1}},
		{Filter{Kind: Train, Limit: 1}, []int64{4}},
		{Filter{Method: "mle"}, []int64{2, 1}},
		{Filter{Method: "l2", Kind: Tune}, []int64{2}},
		{Filter{Method: "l"}, nil},
	} {
		list, err := s.List(c.filter)
		if err != nil {
			t.Fatal(err)
		}
		var ids []int64
		for _, r := range list {
			ids = append(ids, r.ID)
		}
		if !cmp.Equal(ids, c.want) {
			t.Errorf("%+v: runs %v, want %v", c.filter, ids, c.want)
		}
	}
}

// Claim: a run shows as running while its Store is open, then as what Finish was
// told, and as interrupted if nobody finished it; a run without success keeps no
// results.
func TestStatus(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	status := func(id int64) Status {
		t.Helper()
		r, err := s.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		return r.Status
	}
	other := mustOpen(t, dir)
	abandoned, failed := example(1), example(2)
	if err := errors.Join(other.Begin(abandoned), other.Begin(failed)); err != nil {
		t.Fatal(err)
	}
	if got := status(abandoned.ID); got != Running {
		t.Errorf("status is %s while it runs", got)
	}
	if err := s.Delete(abandoned.ID); err == nil || !strings.Contains(err.Error(), "still running") {
		t.Errorf("deleting a run that goes on: %v", err)
	}
	failed.Status, failed.Error = Failed, "no such luck"
	if err := other.Finish(failed); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(failed.ID)
	if err != nil || got.Status != Failed || got.Error != "no such luck" || got.Results != nil || got.Curve != nil || got.Files != nil || len(got.Data) != 2 {
		t.Errorf("failed run is %+v, %v", got, err)
	}
	if err := other.Finish(failed); err == nil {
		t.Error("a run was finished twice")
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if got := status(abandoned.ID); got != Interrupted {
		t.Errorf("status is %s after its end", got)
	}
	finish(t, s, example(3)) // Begin writes down what was interrupted
	var written string
	if err := s.db.QueryRow("SELECT status FROM run WHERE id = ?", abandoned.ID).Scan(&written); err != nil || written != string(Interrupted) {
		t.Errorf("the database has the status %s, %v; want interrupted", written, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".listwise", "*.running")); left != nil {
		t.Errorf("%v is left", left)
	}
}

// Claim: Delete takes runs with all that belongs to them, all or none, and their
// numbers are not used again.
func TestDelete(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	for n := range 3 {
		finish(t, s, example(n))
	}
	var missing *NotFoundError
	if err := s.Delete(1, 7); !errors.As(err, &missing) || missing.ID != 7 {
		t.Errorf("deleting run 7 of 3: %v", err)
	}
	if _, err := s.Get(1); err != nil {
		t.Errorf("run 1 is gone though the deletion failed: %v", err)
	}
	if err := s.Delete(3, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(3); !errors.As(err, &missing) {
		t.Errorf("run 3 after its deletion: %v", err)
	}
	for table, want := range map[string]int{"run": 1, "data": 2, "file": 2, "result": 2, "measure": 3, "per_query": 3, "curve": 2} {
		var n int
		if err := s.db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n != want {
			t.Errorf("%d rows in %s, %v; want %d", n, table, err, want)
		}
	}
	r := example(4)
	finish(t, s, r)
	if r.ID != 4 {
		t.Errorf("new run is %d, want 4", r.ID)
	}
}

// Claim: the folder's name may be anything; reading makes no record; and what is
// no database, or a folder that cannot be made, is an error with its path.
func TestOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "50% of ?mode=memory#é &x=1")
	if _, err := OpenExisting(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening what is not there: %v", err)
	}
	finish(t, mustOpen(t, dir), example(1))
	if _, err := os.Stat(Path(dir)); err != nil {
		t.Error(err)
	}
	s, err := OpenExisting(dir)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(Filter{}); err != nil || len(list) != 1 {
		t.Errorf("%d runs, %v; want 1", len(list), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	bad := t.TempDir()
	if err := os.MkdirAll(filepath.Dir(Path(bad)), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(Path(bad), []byte(strings.Repeat("no database ", 100)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(bad, Patience); err == nil || !strings.HasPrefix(err.Error(), Path(bad)+": ") {
		t.Errorf("opening what is no database: %v", err)
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, Patience); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file as the folder: %v", err)
	}
}

// Claim: a record in a folder that cannot be written to can still be read, and
// writing to it is an error.
func TestReadOnlyFolder(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("nothing is forbidden to this user")
	}
	dir := t.TempDir()
	s := mustOpen(t, dir)
	r := example(1)
	finish(t, s, r)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(Path(dir))
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(folder, 0o755)
	if _, err := Open(dir, Patience); err == nil {
		t.Error("opened for writing")
	}
	s, err := OpenExisting(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	if d := same(r, got); d != "" {
		t.Error(d)
	}
	if err := s.Delete(1); err == nil {
		t.Error("deleted a run")
	}
}

// Claim: goroutines may share a Store.
func TestConcurrentUse(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			r := example(n)
			err := s.Begin(r)
			if err == nil {
				r.Status = Finished
				err = s.Finish(r)
			}
			if err != nil {
				t.Error(err)
				return
			}
			got, err := s.Get(r.ID)
			if err != nil {
				t.Error(err)
			} else if d := same(r, got); d != "" {
				t.Error(d)
			}
		})
	}
	wg.Wait()
}

func BenchmarkFinish(b *testing.B) {
	s := mustOpen(b, b.TempDir())
	for _, n := range []int{0, 100, 30000} {
		b.Run(fmt.Sprint(n, "rows"), func(b *testing.B) {
			values := make([]Value, n)
			for i := range values {
				values[i] = Value{strconv.Itoa(i), Number(i) / 7}
			}
			for b.Loop() {
				finish(b, s, &Run{Kind: Eval, Results: []RankerResult{{Measures: []Measure{{PerQuery: values}}}}})
			}
		})
	}
}
