package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/papers"
	"github.com/listwise/listwise/internal/atomicfile"
)

// runAll runs all experiments and writes the pages.
func (f *reproduceFlags) runAll(cmd *cobra.Command, env *environment) error {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	stages := stagedProgress{env: env}
	all, err := papers.RunAll(cmd.Context(), nil, papers.AllOptions{
		Options: papers.Options{Data: f.data, Set: f.set, Seed: f.seed, Jobs: f.jobs, Scale: f.scale, Command: f.command("all", true, true), Opened: env.keep},
		Out:     f.out,
		CommandOf: func(e *papers.Experiment) string {
			return f.command(e.Name, e.Reads, e.Scales != "")
		},
		Observe: func(at, of int, name, stage string, done, total int) {
			stages.set(fmt.Sprintf("%d/%d %s: %s", at+1, of, name, stage), done, total)
		},
	})
	stages.finish()
	if err != nil {
		return err
	}
	paths, err := f.writePages(all)
	if err != nil {
		return err
	}
	if err := env.print(allReport(all)); err != nil {
		return err
	}
	env.note("written: %s and the files of the experiments", strings.Join(paths, ", "))
	return nil
}

// writePages writes the pages into the folder and, with --markdown, the Markdown
// page where it is asked for, with copies of its plots beside it.
func (f *reproduceFlags) writePages(all *papers.All) ([]string, error) {
	page := filepath.Join(f.out, "all.html")
	if err := atomicfile.Write(page, all.WriteHTML); err != nil {
		return nil, err
	}
	paths := []string{page}
	markdown := func(path, figures string) error {
		paths = append(paths, path)
		return atomicfile.Write(path, func(w io.Writer) error { return all.WriteMarkdown(w, figures) })
	}
	held := func(path string) error {
		paths = append(paths, path)
		return atomicfile.Write(path, all.WriteHeld)
	}
	if err := markdown(filepath.Join(f.out, "all.md"), ""); err != nil {
		return paths, err
	}
	if err := held(filepath.Join(f.out, "held.md")); err != nil || f.markdown == "" {
		return paths, err
	}
	if err := held(f.heldPage()); err != nil {
		return paths, err
	}
	base := filepath.Base(f.markdown)
	figures := filepath.Join("figures", strings.TrimSuffix(base, filepath.Ext(base)))
	dir := filepath.Join(filepath.Dir(f.markdown), figures)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for i := range all.Outcomes {
		if r := all.Outcomes[i].Report; r != nil {
			if _, err := r.WritePlots(dir); err != nil {
				return nil, err
			}
		}
	}
	return paths, markdown(f.markdown, filepath.ToSlash(figures))
}

// heldPage is where --markdown writes the page of what held.
func (f *reproduceFlags) heldPage() string {
	return strings.TrimSuffix(f.markdown, filepath.Ext(f.markdown)) + "-held.md"
}

// allReport is what the command prints: the verdicts' numbers and, as JSON, all
// verdicts.
func allReport(all *papers.All) report {
	type claim struct {
		Experiment string         `json:"experiment"`
		Data       string         `json:"data"`
		Method     string         `json:"method"`
		Measure    string         `json:"measure"`
		Published  float64        `json:"published"`
		Ours       float64        `json:"ours"`
		Interval   []float64      `json:"interval,omitempty"`
		Verdict    papers.Verdict `json:"verdict"`
		Why        string         `json:"why,omitempty"`
	}
	t := all.Summary()
	r := report{columns: t.Columns}
	for _, row := range t.Rows {
		r.rows = append(r.rows, cellsOf(row))
	}
	list := []claim{}
	for i := range all.Outcomes {
		o := &all.Outcomes[i]
		if o.Report == nil {
			r.notes = append(r.notes, fmt.Sprintf("%s was not run: %s", o.Name, o.Why))
			continue
		}
		for _, c := range o.Report.Claims {
			line := claim{Experiment: o.Name, Data: c.Data, Method: c.Row, Measure: c.Measure, Published: c.Published, Ours: c.Ours, Verdict: c.Verdict, Why: c.Why}
			if c.Why == "" {
				line.Interval = []float64{c.Low, c.High}
			}
			list = append(list, line)
		}
	}
	for _, fact := range all.Facts {
		if slices.Contains([]string{"time", "verdicts"}, fact.Name) {
			r.notes = append(r.notes, fact.Name+": "+fact.Value)
		}
	}
	r.json = list
	return r
}
