package app

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/chart"
)

// ablationData writes folds and a file of judged queries with five features, of which the last is constant.
func ablationData(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--shape", "mq2008", "--queries", "45", "--docs", "8", "--features", "4", "--out", "four.txt")
	text, err := os.ReadFile("four.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for line := range strings.Lines(string(text)) {
		before, after, comment := strings.Cut(strings.TrimSuffix(line, "\n"), " #")
		all.WriteString(before + " 5:0.5")
		if comment {
			all.WriteString(" #" + after)
		}
		all.WriteString("\n")
	}
	if err := os.WriteFile("all.txt", []byte(all.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	mustCall(t, "data", "fold", "all.txt", "--folds", "3", "--out", "folds")
}

// repeated runs commands.sh and returns, for each folder in it, the value of every test query by a measure.
func repeated(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	values, folder := make(map[string][]float64), ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if of, ok := strings.CutPrefix(line, "# "); ok {
			folder, _, _ = strings.Cut(of, ", ")
			continue
		}
		if line == "" {
			continue
		}
		args := slices.DeleteFunc(strings.Split(strings.ReplaceAll(line, "'", ""), " "), func(w string) bool { return w == "" })[1:]
		if args[0] == "eval" {
			args = append(args, "--per-query", "q.csv")
		}
		if args[0] != "data" {
			args = append(args, "--no-record")
		}
		mustCall(t, args...)
		if args[0] != "eval" {
			continue
		}
		table, err := os.Open("q.csv")
		if err != nil {
			t.Fatal(err)
		}
		cells, err := csv.NewReader(table).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		_ = table.Close()
		column := slices.Index(cells[0], "map")
		for _, row := range cells[1:] {
			var v float64
			if _, err := fmt.Sscan(row[column], &v); err != nil {
				t.Fatal(err)
			}
			values[folder] = append(values[folder], v)
		}
	}
	return values
}

// Claim: commands.sh trains and evaluates every point of an ablation again: the means over seeds and test queries come
// out, for each kind of points, and for a file that is divided.
func TestAblationIsRepeatedByItsCommands(t *testing.T) {
	ablationData(t)
	for name, args := range map[string][]string{
		"sizes":   {"--method", "ranknet", "--scorer", "net", "--set", "epochs=3", "--vary", "queries=40%,100%", "--data", "folds"},
		"groups":  {"--method", "ranknet", "--scorer", "net", "--set", "epochs=3", "--leave-out", "first=1,2..3", "--transform", "standard", "--data", "folds"},
		"file":    {"--method", "ranknet", "--scorer", "net", "--set", "epochs=3", "--vary", "hidden=1,4", "--data", "all.txt", "--folds", "3"},
		"of-fold": {"--method", "ranknet", "--scorer", "net", "--set", "epochs=3", "--vary", "hidden=1,4", "--train", "folds/Fold1/train.txt", "--valid", "folds/Fold1/vali.txt", "--test", "folds/Fold1/test.txt"},
	} {
		var a ablationJSON
		decode(t, mustCall(t, append([]string{"ablate", "--measures", "map", "--seeds", "1-2", "--no-record", "--out", name, "--format", "json"}, args...)...), &a)
		if name == "file" {
			if err := os.RemoveAll("folds"); err != nil { // commands.sh writes it
				t.Fatal(err)
			}
		}
		values := repeated(t, filepath.Join(name, ablationCommands))
		for _, p := range a.Points {
			var sum float64
			n := 0
			for folder, of := range values {
				if strings.HasPrefix(folder, p.Point+".seed") || strings.HasPrefix(folder, a.Varies+"="+p.Point+".seed") {
					for _, v := range of {
						sum += v
						n++
					}
				}
			}
			if n != a.Queries*len(a.Seeds) || n == 0 {
				t.Errorf("%s, %s: %d values, expected %d queries and %d seeds", name, p.Point, n, a.Queries, len(a.Seeds))
			}
			if got := p.Measures["map"].Mean.(float64); math.Abs(got-sum/float64(n)) > 1e-9 {
				t.Errorf("%s, %s: mean %v, the commands give %v", name, p.Point, got, sum/float64(n))
			}
		}
		if name == "file" {
			mustCall(t, "data", "fold", "all.txt", "--folds", "3", "--out", "folds")
		}
	}
}

// Claim: interval, difference and p value are those of compare for runs of the same seeds.
func TestAblationComparesAsCompare(t *testing.T) {
	ablationData(t)
	var a ablationJSON
	decode(t, mustCall(t, "ablate", "--method", "ranknet", "--scorer", "net", "--set", "epochs=2", "--vary", "hidden=1,3,9", "--baseline", "3", "--measures", "map", "--seeds", "1-3",
		"--data", "folds", "--no-record", "--out", "out", "--format", "json"), &a)
	var c compareJSON
	decode(t, mustCall(t, "compare", "--data", "folds", "--measures", "map", "--seeds", "1-3", "--baseline", "b", "--format", "json",
		"a=out/hidden=1.seed{seed}", "b=out/hidden=3.seed{seed}", "c=out/hidden=9.seed{seed}"), &c)
	for _, pair := range c.Pairs {
		point := map[string]int{"a": 0, "c": 2}[strings.Trim(pair.A+pair.B, "b")]
		sign := 1.0
		if pair.A == "b" {
			sign = -1
		}
		m := a.Points[point].Measures["map"]
		if d := m.Difference.(float64); math.Abs(d-sign*pair.Difference) > 1e-12 {
			t.Errorf("difference %v, compare says %v", d, sign*pair.Difference)
		}
		if m.P != any(pair.Randomization.P) {
			t.Errorf("p %v, compare says %v", m.P, pair.Randomization.P)
		}
	}
	if d := a.Points[0].Measures["map"].Difference.(float64); d == 0 {
		t.Error("both points have one mean, so this test cannot fail")
	}
	if a.Baseline != "3" || a.Points[1].Measures["map"].Difference != nil {
		t.Errorf("found the baseline %s, with a difference, expected 3 without", a.Baseline)
	}
}

// Claim: a hyperparameter without effect gets a warning.
func TestAblationWarnsOfNoEffect(t *testing.T) {
	ablationData(t)
	args := []string{"ablate", "--seeds", "1-2", "--data", "folds", "--no-record", "--set", "optimizer=lbfgs", "--method", "ranknet"}
	if text := mustCall(t, append(args, "--vary", "rate=0.1,0.2", "--out", "none")...); !strings.Contains(text, "rate has no effect") {
		t.Errorf("prints %s", text)
	}
	if text := mustCall(t, append(args, "--vary", "C=1e-9,100", "--out", "some")...); strings.Contains(text, "has no effect") || !strings.Contains(text, "all seeds give the same") {
		t.Errorf("prints %s", text)
	}
}

// Claim: leaving out a constant feature changes no ranking; leaving out all others gives every document one score.
func TestAblationLeavesOut(t *testing.T) {
	ablationData(t)
	var a ablationJSON
	decode(t, mustCall(t, "ablate", "--method", "mle", "--leave-out", "constant=5", "--leave-out", "1..4", "--measures", "map", "--seeds", "1",
		"--data", "folds", "--no-record", "--out", "out", "--format", "json"), &a)
	if d := a.Points[1].Measures["map"].Difference.(float64); d != 0 {
		t.Errorf("without a constant feature the difference is %v, expected 0", d)
	}
	if d := a.Points[2].Measures["map"].Difference.(float64); d == 0 {
		t.Error("without all informative features the difference is 0")
	}
	if a.Points[1].Point != "without constant" || a.Points[2].LeftOut != "1..4" {
		t.Errorf("found %+v", a.Points)
	}
}

// Claim: an ablation has the same files, byte for byte, with any number of jobs, and if it is run again.
func TestAblationHasTheSameBytes(t *testing.T) {
	ablationData(t)
	run := func(jobs string) map[string][]byte {
		mustCall(t, "ablate", "--method", "ranknet", "--scorer", "net", "--set", "epochs=2", "--vary", "hidden=9,1,3", "--seeds", "1,4", "--data", "folds", "--jobs", jobs, "--out", "out")
		files := make(map[string][]byte)
		for _, name := range []string{ablationTable, ablationResults, ablationCommands, "ablation.svg", "ablation.pdf"} {
			text, err := os.ReadFile(filepath.Join("out", name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = text
		}
		return files
	}
	first := run("1")
	again := run("2")
	if err := os.RemoveAll("out"); err != nil {
		t.Fatal(err)
	}
	for name, text := range run("4") {
		if !bytes.Equal(text, first[name]) || !bytes.Equal(again[name], first[name]) {
			t.Errorf("%s differs", name)
		}
	}
	if shown := mustCall(t, "runs", "list", "--method", "ranknet"); strings.Count(shown, "hidden=9.seed4") != 3 || !strings.Contains(shown, "ablate") {
		t.Errorf("runs list prints\n%s", shown)
	}
	mustCall(t, "compare", "--data", "folds", "--seeds", "1,4", "a=out/hidden=9.seed{seed}", "b=out/hidden=1.seed{seed}") // a folder of a point is one of tune
}

// Claim: ticks ascend, whatever the order of the values.
func TestAblationSortsTicks(t *testing.T) {
	plotted := func(at ...float64) []chart.Tick {
		a := &ablation{varies: "leaves"}
		one := measured{name: "map", Comparison: &stats.Comparison{Systems: make([]stats.System, len(at))}}
		for _, v := range at {
			a.points = append(a.points, ablated{label: fmt.Sprint(v), at: v})
		}
		a.measured = []measured{one}
		return a.plot().X.Ticks
	}
	if a, b := plotted(2, 8, 4), plotted(2, 4, 8); !slices.Equal(a, b) {
		t.Errorf("the ticks are %v, expected %v", a, b)
	}
}

// Claim: the axis is logarithmic for values whose ratios are alike, and linear for values whose differences are.
func TestGeometric(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   bool
	}{
		{[]float64{5, 10, 20, 40}, true}, {[]float64{40, 5, 20, 10}, true}, {[]float64{10, 25, 50, 100}, true}, {[]float64{1, 2, 3, 4}, false},
		{[]float64{0, 1, 10, 100}, false}, {[]float64{1, 100}, false}, {[]float64{0.1, 0.2, 0.3}, false}, {[]float64{-1, 1, 2}, false},
	} {
		if got := geometric(c.values); got != c.want {
			t.Errorf("%v: %v, expected %v", c.values, got, c.want)
		}
	}
}

// Claim: mistaken command lines of ablate are refused, with the flag that is wrong.
func TestAblateRefuses(t *testing.T) {
	ablationData(t)
	mustCall(t, "tune", "--method", "mle", "--grid", "C=1", "--data", "folds", "--no-record", "--out", "tuned")
	mustCall(t, "ablate", "--method", "mle", "--vary", "C=1,3", "--seeds", "1", "--data", "folds", "--no-record", "--out", "other")
	for args, want := range map[string]string{
		"--method mle --out o":                                                                         "--vary or --leave-out",
		"--method mle --vary C=1,2 --leave-out 1 --out o":                                              "--vary or --leave-out",
		"--method mle --vary C --out o":                                                                "--vary C: expected NAME=V1,V2",
		"--method mle --vary C=1 --out o":                                                              "at least two",
		"--method mle --vary C=1,1.0 --out o":                                                          "found 1 twice",
		"--method mle --vary C=1,x --out o":                                                            "C=x: expected a number",
		"--method mle --vary D=1,2 --out o":                                                            "D",
		"--method mle --vary C=1,2 --set C=3 --out o":                                                  "--set C=3: expected it without --vary C",
		"--method mle --vary C=1,2 --baseline 3 --out o":                                               "--baseline 3: expected one of the points 1, 2",
		"--method mle --vary C=1,2 --seeds 3-1 --out o":                                                "--seeds 3-1",
		"--method mle --vary C=1,2 --seeds , --out o":                                                  "--seeds ,",
		"--method mle --vary queries=0,1 --out o":                                                      `found "0", expected shares`,
		"--method mle --leave-out 1-2 --out o":                                                         "1-2",
		"--method mle --leave-out a/b=1 --out o":                                                       "--leave-out a/b=1",
		"--method mle --leave-out a=, --out o":                                                         "--leave-out a=,",
		"--method mle --leave-out 9 --out o":                                                           "9",
		"--method mle --vary C=1,2 --seeds 1 --out other":                                              "found C=3.seed1, which is no point and seed of this call",
		"--method mle --vary C=1,2 --out tuned":                                                        "results.json of tune",
		"--method mle --vary C=1,2 --select x --out o":                                                 "--select",
		"--method lambdamart --vary hidden=2,4 --out o":                                                "hidden",
		"--method mle --vary C=1,2 --train folds/Fold1/train.txt --valid folds/Fold1/vali.txt --out o": "test data",
	} {
		words := append([]string{"ablate", "--no-record"}, strings.Fields(args)...)
		if !slices.Contains(words, "--train") {
			words = append(words, "--data", "folds")
		}
		code, out, errs := call(words...)
		if code != exitUsage || out != "" || !strings.Contains(errs, want) || goisms.MatchString(errs) {
			t.Errorf("ablate %s exits with %d and says %q, expected %q", args, code, errs, want)
		}
	}
}
