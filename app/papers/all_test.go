package papers

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/listwise/listwise/internal/chart"
)

// threeExperiments are one with claims, one that lacks its data, and one that scales.
func threeExperiments(scales *[]float64) []Experiment {
	return []Experiment{
		{Name: "one", Title: "a | table", Shows: "<this>", Run: func(_ context.Context, o Options) (*Report, error) {
			*scales = append(*scales, o.Scale)
			r := &Report{Name: "one", Title: "a | table"}
			r.fact("command", "%s", o.Command)
			r.claim(Claim{Data: "D", Row: "A|B", Measure: "MAP", Published: 0.5, Ours: 0.5}, spanning(0.06))
			r.claim(Claim{Data: "D", Row: "C", Measure: "MAP", Published: 0.1, Ours: 0.5}, incomparable("other data"))
			r.Tables = []Table{{Title: "counts", Columns: []string{"x"}, Rows: [][]string{{"3 of 4"}}, Main: true}, {Title: "detail", Columns: []string{"y"}, Rows: [][]string{{"5"}}}}
			r.Sheets = []Sheet{{Columns: []string{"x"}}}
			r.Plots = []Plot{{Plot: chart.Plot{Title: "drawn", Series: []chart.Series{{X: []float64{1, 2}, Y: []float64{3, 4}}}}}}
			r.note("a *note*")
			return r, nil
		}},
		{Name: "two", Reads: true, Run: func(context.Context, Options) (*Report, error) {
			return nil, inputError("no data: expected a folder")
		}},
		{Name: "three", Scales: "queries", Run: func(_ context.Context, o Options) (*Report, error) {
			*scales = append(*scales, o.Scale)
			o.Observe("stage", 1, 2)
			return &Report{Name: "three", Sheets: []Sheet{{Columns: []string{"x"}}}}, nil
		}},
	}
}

// Every experiment is on both pages, with verdicts or the reason why it was not run,
// and the files that the pages link are there.
func TestAllPages(t *testing.T) {
	out := t.TempDir()
	var scales []float64
	var seen string
	all, err := RunAll(context.Background(), threeExperiments(&scales), AllOptions{
		Options: Options{Seed: 1, Scale: 0.1, Command: "listwise reproduce all"}, Out: out,
		CommandOf: func(e *Experiment) string { return "run " + e.Name },
		Observe:   func(_, _ int, name, stage string, _, _ int) { seen = name + " " + stage },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(scales) != 2 || scales[0] != 1 || scales[1] != 0.1 {
		t.Errorf("scales %v, expected 1 for the experiment of one size and 0.1 for the other", scales)
	}
	if seen != "three stage" {
		t.Errorf("observed %q", seen)
	}
	var md, html bytes.Buffer
	if err := errors.Join(all.WriteMarkdown(&md, ""), all.WriteHTML(&html)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"no data: expected a folder", "not comparable (1)", "other data", "1 reproduced, 0 better, 0 worse, 0 order changed, 0 not informative, 1 not comparable", "3 of 4", "run one", "Reasons for verdicts"} {
		if !strings.Contains(md.String(), want) || !strings.Contains(html.String(), want) {
			t.Errorf("%q is not on both pages", want)
		}
	}
	for _, want := range []string{`| D | A\|B | MAP | 0.5000 | 0.5000 |`, "&lt;this>", `a \*note\*`, "![drawn](one.svg)"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("the Markdown page lacks %q", want)
		}
	}
	if !strings.Contains(html.String(), "<svg") || !strings.Contains(html.String(), "detail") || strings.Contains(html.String(), "<this>") {
		t.Error("the HTML page lacks plot or tables, or does not escape")
	}
	if got := all.shares(); len(got) != 2 || got[0] != (verdictShare{Reproduced, 1, "50 %"}) || got[1] != (verdictShare{NotComparable, 1, "50 %"}) {
		t.Errorf("the bar's parts are %v", got)
	}
	head, _, _ := strings.Cut(html.String(), "<section")
	for _, want := range []string{`style="flex: 1 1 0"`, "on the line they agree", "<summary>Settings of this run"} {
		if !strings.Contains(head, want) {
			t.Errorf("the top of the HTML page lacks %q", want)
		}
	}
	if regexp.MustCompile(`(src|href)="[^#]`).MatchString(html.String()) {
		t.Error("the HTML page needs other files")
	}
	for _, name := range []string{"one.svg", "one-claims.csv", "three.txt", "one/seconds.json"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	_, body, _ := strings.Cut(html.String(), "<main>")
	body, _, found := strings.Cut(body, "</main>")
	if !found {
		t.Fatal("the page has no main part")
	}
	dec := xml.NewDecoder(strings.NewReader(body))
	for {
		if _, err := dec.Token(); err != nil {
			if err.Error() != "EOF" {
				t.Errorf("the page's elements do not close: %v", err)
			}
			break
		}
	}
}

// The time of earlier runs with the same records counts.
func TestTimedAddsUp(t *testing.T) {
	e := Experiment{Run: func(context.Context, Options) (*Report, error) { return &Report{}, nil }}
	o := Options{Records: filepath.Join(t.TempDir(), "e"), Command: "c"}
	var total Took
	for range 2 { // nothing of use is left to the second run
		_, took, err := e.Timed(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if took.All != took.Run {
			t.Errorf("%v in all, expected %v, that of the run", took.All, took.Run)
		}
	}
	if err := os.WriteFile(filepath.Join(o.Records, "training.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, took, err := e.Timed(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if took.All < took.Run+total.All-time.Microsecond { // seconds are rounded
			t.Errorf("%v in all, expected %v and %v", took.All, took.Run, total.All)
		}
		total = took
	}
	o.Command = "d"
	if _, took, err := e.Timed(context.Background(), o); err != nil || took.All != took.Run {
		t.Errorf("another command: %v in all, this run %v (%v)", took.All, took.Run, err)
	}
	if err := os.WriteFile(filepath.Join(o.Records, "seconds.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Timed(context.Background(), o); err == nil {
		t.Error("a broken record of times: found no error")
	}
}

// Only wrong input skips an experiment.
func TestAllStopsAtErrors(t *testing.T) {
	broken := []Experiment{{Name: "x", Run: func(context.Context, Options) (*Report, error) { return nil, errors.New("disk") }}}
	_, err := RunAll(context.Background(), broken, AllOptions{Out: t.TempDir(), CommandOf: func(*Experiment) string { return "" }})
	if err == nil || !strings.Contains(err.Error(), "x: disk") {
		t.Errorf("found %v", err)
	}
}

// A table whose title begins with a symbol of several bytes keeps it, and the page is UTF-8.
func TestMarkdownTitles(t *testing.T) {
	for title, want := range map[string]string{"β chosen": "\nβ chosen:\n", "means": "\nMeans:\n", "MAP": "\nMAP:\n"} {
		b := &markdown{}
		b.table(&Table{Title: title, Columns: []string{"a"}})
		if got := "\n" + b.String(); !utf8.ValidString(got) || !strings.Contains(got, want) {
			t.Errorf("%q: %q, expected %q in it", title, got, want)
		}
	}
}

// A number that two experiments print counts in one of them, in the sheets of claims as on the
// pages: a recount from the sheets gives the pages' counts.
func TestAllClaimsCountOnce(t *testing.T) {
	out := t.TempDir()
	experiment := func(name string) Experiment {
		return Experiment{Name: name, Run: func(context.Context, Options) (*Report, error) {
			r := &Report{Name: name, Sheets: []Sheet{{Columns: []string{"x"}}}}
			r.claim(Claim{Data: "D", Row: "A", Measure: "MAP", Published: 0.45, Ours: 0.45}, spanning(0.06))
			return r, nil
		}}
	}
	all, err := RunAll(context.Background(), []Experiment{experiment("first"), experiment("second")}, AllOptions{
		Out: out, CommandOf: func(e *Experiment) string { return e.Name },
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"first": "", "second": "first"} {
		text, err := os.ReadFile(filepath.Join(out, name+"-claims.csv"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if fields := strings.Split(lines[1], ","); fields[len(fields)-1] != want {
			t.Errorf("%s-claims.csv says that the number counts in %q, expected %q", name, fields[len(fields)-1], want)
		}
	}
	if n := counts(all.claims())[Reproduced]; n != 1 {
		t.Errorf("%d reproduced, expected 1", n)
	}
}
