package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/app/papers"
)

// --markdown writes the page where it is wanted, with the plots it links beside it;
// the result names what was not run.
func TestReproduceAllPages(t *testing.T) {
	dir := t.TempDir()
	f := reproduceFlags{out: filepath.Join(dir, "out"), markdown: filepath.Join(dir, "docs", "page.md"), scale: 1, seed: 1, data: "SETS"}
	for _, d := range []string{f.out, filepath.Join(dir, "docs")} {
		if err := os.Mkdir(d, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	figure, err := papers.Lookup("logrank-fig3")
	if err != nil {
		t.Fatal(err)
	}
	drawn := papers.Experiment{Name: "drawn", Paper: "Paper", Run: func(context.Context, papers.Options) (*papers.Report, error) {
		return &papers.Report{Name: "drawn", Plots: make([]papers.Plot, 1), Findings: []papers.Finding{{Claim: "A > B", Verdict: papers.ClaimHeld, Figure: "2 to 1"}}, Claims: []papers.Claim{{Row: "A", Published: 1, Ours: 2, Verdict: papers.Better, Low: 1.5, High: 2.5}}}, nil
	}}
	all, err := papers.RunAll(t.Context(), []papers.Experiment{figure, drawn}, papers.AllOptions{
		Out: f.out, CommandOf: func(e *papers.Experiment) string { return f.command(e.Name, e.Reads, e.Scales != "") },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.writePages(all); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out/all.html", "out/all.md", "out/drawn.svg", "out/held.md", "docs/page-held.md", "docs/figures/page/drawn.svg"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{"out/held.md": "|  | A > B | held | 2 to 1 | reproduce drawn |", "out/all.md": "](drawn.svg)", "docs/page.md": "](figures/page/drawn.svg)"} {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", name, want)
		}
	}
	r := allReport(all)
	if !strings.Contains(strings.Join(r.notes, "\n"), "logrank-fig3 was not run: no data") {
		t.Errorf("notes: %q", r.notes)
	}
	if got := r.rows[1][2]; got != "1" {
		t.Errorf("better: found %v, expected 1", got)
	}
}
