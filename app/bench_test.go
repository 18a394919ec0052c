package app

import (
	"os"
	"strings"
	"testing"
)

// Claim: every work is measured at every size, by processes that did it: with more passes for
// the longer one, more documents for the larger size, and nothing left behind.
func TestBenchMeasuresEveryWork(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	out := mustCall(t, "bench", "--documents", "400,2000", "--features", "4", "--methods", "mle,lambdarank,rankboost", "--dir", ".", "--plan", "1e6", "--plots", "plots", "--format", "json", "-q")
	var r struct {
		Machine struct{ Cores int }
		Bytes   []int64 `json:"cache_bytes"`
		Series  []struct {
			Work   struct{ Name string }
			Points []struct {
				Documents, Passes int
				CPU               float64 `json:"cpu_seconds"`
				Memory            int64   `json:"peak_bytes"`
			}
		}
		Plan []struct{ Name string }
	}
	decode(t, out, &r)
	want := map[string]int{"mle": 30, "lambdarank": 6, "rankboost": 32}
	for _, s := range r.Series {
		if len(s.Points) != 2 {
			t.Fatalf("%s: found %d points, expected 2", s.Work.Name, len(s.Points))
		}
		for _, p := range s.Points {
			if p.CPU <= 0 || p.Passes < want[s.Work.Name] && s.Work.Name != "mle" {
				t.Errorf("%s: found %+v, expected processor time and %d passes", s.Work.Name, p, want[s.Work.Name])
			}
		}
		if a, b := s.Points[0].Documents, s.Points[1].Documents; a > 800 || b < 1500 {
			t.Errorf("%s: found %d and %d documents, expected about 400 and 2000", s.Work.Name, a, b)
		}
	}
	if len(r.Series) != 8 || len(r.Plan) != 8 || len(r.Bytes) != 2 || r.Bytes[1] < 1500*4*4 || r.Machine.Cores < 1 {
		t.Errorf("found %s", out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "plots" {
		t.Errorf("found %v, %v in the folder, expected plots alone", entries, err)
	}
	for _, name := range []string{"plots/time.svg", "plots/memory.svg"} {
		if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), "rankboost") {
			t.Errorf("%s: %v, expected a drawing with rankboost in it", name, err)
		}
	}
}

// Claim: a work that takes too long is named, and the others are measured.
func TestBenchLeavesOutWhatTakesTooLong(t *testing.T) {
	code, _, errs := call("bench", "--documents", "200", "--features", "2", "--methods", "mle", "--longest", "1us")
	if code != exitFailed || !strings.Contains(errs, "longer than 1µs") {
		t.Errorf("exits with %d: %s", code, errs)
	}
}

// Claim: wrong flags are refused before anything is made.
func TestBenchRefuses(t *testing.T) {
	for flags, want := range map[string]string{
		"--documents 5":           "expected ascending numbers from 200",
		"--documents 1e4,1e3":     `found "1e3"`,
		"--documents 1e12":        "expected ascending",
		"--documents ,":           `found ""`,
		"--methods mel":           `"mel"`,
		"--plan x":                `found "x"`,
		"--plan 1e6 --price -1":   "--price",
		"--longest 0s":            "--longest",
		"--features 0":            "--features",
		"--plots bench_test.go/a": "--plots",
		"--dir bench_test.go":     "--dir",
		"--dir none":              "--dir",
	} {
		code, _, errs := call(append([]string{"bench"}, strings.Fields(flags)...)...)
		if code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exits with %d: %s", flags, code, errs)
		}
	}
}
