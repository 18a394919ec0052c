package app

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune/runs"
)

// equalNumbers compares numbers, of which NaN equals itself.
var equalNumbers = cmp.Comparer(func(a, b runs.Number) bool { return a == b || math.IsNaN(float64(a)) && math.IsNaN(float64(b)) })

// getRun reads a run from the record of the working folder.
func getRun(t *testing.T, id int64) *runs.Run {
	t.Helper()
	s, err := runs.OpenExisting(".")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// files returns the content of all files below dir but the record's.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == ".listwise" {
				return filepath.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Claim: what commands print and write does not depend on whether they are recorded.
func TestRecordChangesNothing(t *testing.T) {
	var outputs [2]string
	var written [2]map[string]string
	for i, flags := range [][]string{nil, {"--no-record"}} {
		dir := t.TempDir()
		t.Chdir(dir)
		mustCall(t, "data", "synth", "--queries", "9", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "all.txt")
		mustCall(t, "data", "fold", "all.txt", "--folds", "3", "--out", "folds")
		out := mustCall(t, append([]string{"train", "--method", "lambdarank", "--set", "epochs=7", "--train", "folds/Fold1/train.txt", "--valid", "folds/Fold1/vali.txt", "--curve", "c", "--model", "m.json"}, flags...)...)
		out += mustCall(t, append([]string{"tune", "--method", "mle,l2", "--grid", "C=0.1,1", "--grid", "restarts=0", "--data", "folds", "--out", "t", "--format", "json"}, flags...)...)
		out += mustCall(t, append([]string{"eval", "--data", "folds/Fold1/test.txt", "--model", "m.json", "--per-query", "q.csv"}, flags...)...)
		outputs[i], written[i] = out, files(t, dir)
		if _, err := os.Stat(".listwise"); (err == nil) != (i == 0) {
			t.Errorf("with %v: .listwise: %v", flags, err)
		}
	}
	if d := cmp.Diff(outputs[0], outputs[1]); d != "" {
		t.Errorf("output with and without the record:\n%s", d)
	}
	if d := cmp.Diff(written[0], written[1]); d != "" {
		t.Errorf("files with and without the record:\n%s", d)
	}
}

// Claim: the record has the numbers that the commands report, to the last bit: the
// means and per-query values of eval, the folds of tune, the curve of --curve.
func TestRecordHasWhatIsReported(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "14", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "all.txt")
	mustCall(t, "data", "fold", "all.txt", "--folds", "3", "--out", "folds")
	mustCall(t, "train", "--method", "lambdarank", "--set", "epochs=7", "--train", "folds/Fold1/train.txt", "--valid", "folds/Fold1/vali.txt", "--curve", "c", "--model", "m.json")
	var e struct {
		Measures   map[string]float64
		TieNeutral map[string]float64 `json:"tie_neutral"`
	}
	decode(t, mustCall(t, "eval", "--data", "folds/Fold1/test.txt", "--model", "m.json", "--per-query", "q.csv", "--format", "json"), &e)
	var tuned tuneJSON
	decode(t, mustCall(t, "tune", "--method", "mle,regression", "--grid", "C=0.1,10", "--data", "folds", "--out", "t", "--format", "json"), &tuned)

	checkRecordedCurve(t, getRun(t, 1), "c")
	evaluated := getRun(t, 2)
	if len(evaluated.Results) != 1 || len(evaluated.Results[0].Measures) != len(e.Measures) {
		t.Fatalf("results of eval are %+v", evaluated.Results)
	}
	for _, m := range evaluated.Results[0].Measures {
		if float64(m.Mean) != e.Measures[m.Name] || float64(m.TieNeutral) != e.TieNeutral[m.Name] {
			t.Errorf("%s is %v, tie-neutral %v; want %v, %v", m.Name, m.Mean, m.TieNeutral, e.Measures[m.Name], e.TieNeutral[m.Name])
		}
	}
	if d := cmp.Diff(readTable(t, "q.csv"), perQueryTable(&evaluated.Results[0])); d != "" {
		t.Errorf("per-query results of eval: %s", d)
	}
	checkRecordedTuning(t, getRun(t, 3), &tuned)
}

func checkRecordedTuning(t *testing.T, r *runs.Run, tuned *tuneJSON) {
	t.Helper()
	if len(r.Results) != 8 || len(r.Data) != 9 || len(r.Files) != 2+2*3*3 { // results.json, tuning.jsonl, and of each method and fold three
		t.Fatalf("run of tune is %+v", r)
	}
	for _, m := range tuned.Methods {
		own := slices.DeleteFunc(slices.Clone(r.Results), func(r runs.RankerResult) bool { return r.Ranker != m.Method })
		for k, result := range own { // the mean comes first
			for _, v := range result.Measures {
				want := m.Measures[v.Name].Mean
				if k > 0 {
					want = m.Measures[v.Name].Folds[k-1]
				}
				if any(float64(v.Mean)) != want {
					t.Errorf("%s %q: %s is %v, want %v", m.Method, result.Fold, v.Name, v.Mean, want)
				}
			}
			if k == 0 {
				continue
			}
			if float64(result.Validation) != m.Validation[k-1] || len(result.Trials) != m.Tried {
				t.Errorf("%s %q: validation %v of %d settings, want %v of %d", m.Method, result.Fold, result.Validation, len(result.Trials), m.Validation[k-1], m.Tried)
			}
			if d := cmp.Diff(m.Chosen[k-1], result.Settings); d != "" {
				t.Errorf("%s %q: chosen settings: %s", m.Method, result.Fold, d)
			}
			if d := cmp.Diff(readTable(t, filepath.Join("t", m.Method, result.Fold+".queries.csv")), perQueryTable(&result)); d != "" {
				t.Errorf("%s %q: per-query results: %s", m.Method, result.Fold, d)
			}
		}
	}
	for _, name := range r.Files {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

func checkRecordedCurve(t *testing.T, r *runs.Run, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []runs.Point
	for line := range strings.Lines(string(text)) {
		var c train.CurveLine
		decode(t, line, &c)
		want = append(want, runs.Point{
			Ranker: "lambdarank", Start: c.Restart, Step: c.Epoch, Epoch: true, Objective: runs.Number(c.TrainingCost),
			GradNorm: runs.NaN(), Rate: runs.Number(c.Rate), Validation: runs.Number(*c.Validation), Best: c.Best,
		})
	}
	if d := cmp.Diff(want, r.Curve, equalNumbers); d != "" || len(want) == 0 {
		t.Errorf("curve of %d points: %s", len(want), d)
	}
}

func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// perQueryTable is a result in the form of a --per-query file.
func perQueryTable(r *runs.RankerResult) [][]string {
	table := [][]string{{"query"}}
	for _, m := range r.Measures {
		table[0] = append(table[0], m.Name)
		for i, v := range m.PerQuery {
			if i+1 == len(table) {
				table = append(table, []string{v.Query})
			}
			table[i+1] = append(table[i+1], strconv.FormatFloat(float64(v.Value), 'g', -1, 64))
		}
	}
	return table
}

// Claim: a sparkline is as wide as its values, up to the limit, and runs from the
// lowest block to the highest.
func TestSparkline(t *testing.T) {
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 60, "▁▂▃▄▅▆▇█"},
		{[]float64{7, 0}, 60, "█▁"},
		{[]float64{5, 5, 5}, 60, "▁▁▁"},
		{[]float64{0, 0, 7, 7, 3, 3}, 3, "▁█▄"},
		{[]float64{-math.MaxFloat64, 0, math.MaxFloat64}, 60, "▁▅█"},
	} {
		if got := sparkline(c.values, c.width); got != c.want {
			t.Errorf("%v in %d: %s, want %s", c.values, c.width, got, c.want)
		}
	}
}

// Claim: a command that Ctrl-C stops is recorded as interrupted, without an error.
func TestRecordOfInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGINT to send")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	mustCall(t, "data", "synth", "--queries", "30", "--docs", "60", "--relevant", "15", "--out", "d.txt")
	code, _ := interrupt(t, dir, "c.ckpt", "train", "--method", "expgain", "--set", "restarts=1000", "--train", "d.txt", "--model", "m.json", "--checkpoint", "c.ckpt")
	if code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	s, err := runs.OpenExisting(".")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// What Finish wrote has a duration, which nobody knows of a run that was killed.
	if r, err := s.Get(1); err != nil || r.Status != runs.Interrupted || r.Error != "" || r.Duration == 0 || r.Results != nil {
		t.Errorf("run is %+v, %v", r, err)
	}
}

// Claim: auto is recorded with the numbers that it reports, its data and its files, found by runs list, and shown by
// report as the fusions of its folds; what it writes does not depend on the record.
func TestAutoIsRecorded(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "18", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "all.txt")
	mustCall(t, "data", "fold", "all.txt", "--folds", "3", "--out", "folds")
	args := []string{"auto", "--data", "folds", "--trials", "4", "--by", "relevant", "--out", "o", "--format", "json"}
	unrecorded := mustCall(t, append(args, "--no-record")...)
	want := files(t, "o")
	if err := os.RemoveAll("o"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(".listwise"); err == nil {
		t.Error("--no-record records")
	}
	out := mustCall(t, args...)
	got := files(t, "o")
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs if the run is recorded", name)
		}
	}
	if out != unrecorded {
		t.Error("the output differs if the run is recorded")
	}
	var found autoJSON
	decode(t, out, &found)
	r := getRun(t, 1)
	if r.Kind != runs.Auto || r.Status != runs.Finished || len(r.Data) != 9 || r.Data[2].Role != "Fold1 test" || len(r.Results) != 2*4 || r.Config["trials"] != 4. {
		t.Fatalf("run is %+v", r)
	}
	for i, s := range found.Systems {
		means := r.Results[4*i]
		if means.Ranker != s.System || means.Fold != "" || float64(means.Measures[0].Mean) != s.Measures["map"].Mean {
			t.Errorf("result %+v of %s, which has %v", means, s.System, s.Measures["map"])
		}
		for k := range 3 {
			fold := r.Results[4*i+1+k]
			if fold.Fold != "Fold"+strconv.Itoa(k+1) || float64(fold.Measures[0].Mean) != s.Measures["map"].Folds[k] || len(fold.Measures[0].PerQuery) != 6 {
				t.Errorf("%s of %s is %+v", fold.Fold, s.System, fold.Measures[0])
			}
		}
	}
	if members := r.Results[0].Settings["members"].([]any); len(members) != len(found.Members) || members[0] != found.Members[0].Name {
		t.Errorf("members are %v, of %+v", members, found.Members)
	}
	for _, path := range r.Files {
		if !exists(path) {
			t.Errorf("%s is recorded and not there", path)
		}
	}
	if list := mustCall(t, "runs", "list", "--kind", "auto", "--format", "csv"); strings.Count(list, "\n") != 3 || !strings.Contains(list, ",auto,finished,best-single,folds,") {
		t.Errorf("the list is\n%s", list)
	}
	mustCall(t, "runs", "show", "1")
	mustCall(t, "report", "--data", "folds", "--out", "r.html", "--permutations", "100", "--resamples", "100", "1")
	page, err := os.ReadFile("r.html")
	if err != nil || !strings.Contains(string(page), "auto #1") {
		t.Errorf("the page has no system of the run (%v)", err)
	}
}
