package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/papers"
	"github.com/listwise/listwise/internal/atomicfile"
)

type reproduceFlags struct {
	data  string
	set   string
	out   string
	seed  uint64
	jobs  int
	scale float64

	markdown string
}

func newReproduceCommand(env *environment) *cobra.Command {
	var f reproduceFlags
	cmd := &cobra.Command{
		Use:   "reproduce [NAME|all --out DIR]",
		Short: "Repeat a published experiment and compare the results",
		Long: `Repeats a table or figure of a published paper. Without NAME, lists the experiments.

--data is a folder with LETOR's data sets, DIR/TD2003/Fold1 … DIR/OHSUMED/Fold5;
missing sets are skipped. It may also be the folder of one set, DIR/Fold1 …, whose
name is taken from --set, its size (OHSUMED) or the folder. Sets without published
numbers run as well. Experiments on synthetic data generate them, with the published
size times --scale.

The folder --out gets NAME.txt (the printed output), NAME.json, NAME.csv and NAME.svg,
and finished trainings in the folder NAME. A run that was interrupted resumes.

NAME "all" runs every experiment that the data allow (without --data, those on
synthetic data) and adds three pages. all.html and all.md compare every published
number with ours, test the claimed orders of systems, and give times. held.md has one
line per claim: confirmed or not. --markdown FILE.md also writes the second page to
FILE.md, with plots in figures/FILE, and the third to FILE-held.md.`,
		Example: `  listwise reproduce
  listwise reproduce logrank-fig3 --data LETOR3 --out results
  listwise reproduce logrank-fig6 --out results
  listwise reproduce lambdarank-artificial --scale 0.1 --out results
  listwise reproduce all --data SETS --scale 0.1 --out results`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageErrorf("reproduce: found %d arguments, expected NAME or none", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.runLine(cmd, env, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.data, "data", "", "`folder` of LETOR data sets, or of one set's folds")
	fl.StringVar(&f.set, "set", "", "data `sets` to use, separated by commas")
	fl.StringVar(&f.out, "out", "", "`folder` for tables, plots and finished trainings")
	fl.Uint64Var(&f.seed, "seed", 1, "random `seed`")
	addWhole(fl, &f.jobs, "jobs", 0, 0, "`number` of parallel trainings (default: number of cores)")
	addPositive(fl, &f.scale, "scale", 1, papers.MaxScale, "`size` of synthetic data, relative to the published experiment")
	fl.StringVar(&f.markdown, "markdown", "", "`file` for a Markdown page of all experiments")
	return cmd
}

func (f *reproduceFlags) runLine(cmd *cobra.Command, env *environment, args []string) error {
	if len(args) == 0 {
		return env.print(experimentList())
	}
	if err := required(cmd, "out"); err != nil {
		return err
	}
	if f.data != "" {
		if _, err := os.ReadDir(f.data); err != nil {
			return folderFault(f.data, err)
		}
	}
	if err := f.targets(args[0]).check(); err != nil {
		return err
	}
	if args[0] == "all" {
		return f.runAll(cmd, env)
	}
	if f.markdown != "" {
		return usageErrorf("reproduce %s: --markdown is for all", args[0])
	}
	return f.run(cmd, env, args[0])
}

// experimentList returns the table of experiments, which the command prints without a name.
func experimentList() report {
	type experiment struct {
		Name  string `json:"name"`
		Title string `json:"title"`
		Shows string `json:"shows"`
		Data  string `json:"data"`

		// Scales names the quantity that --scale multiplies. It is empty if there is none.
		Scales string `json:"scales"`
	}
	r := report{columns: []string{"name", "experiment", "data"}}
	var list []experiment
	for _, e := range papers.Experiments() {
		list = append(list, experiment{e.Name, e.Title, e.Shows, e.Data, e.Scales})
		r.rows = append(r.rows, []any{e.Name, e.Title, e.Data})
		note := fmt.Sprintf("%s shows %s.", e.Name, e.Shows)
		if e.Scales != "" {
			note += fmt.Sprintf(" --scale multiplies %s.", e.Scales)
		}
		r.notes = append(r.notes, note)
	}
	r.json = list
	return r
}

func (f *reproduceFlags) run(cmd *cobra.Command, env *environment, name string) error {
	e, err := papers.Lookup(name)
	if err != nil {
		return usageErrorf("%w", err)
	}
	if err := e.CheckScale(f.scale); err != nil {
		return usageErrorf("%w", err)
	}
	stages := stagedProgress{env: env}
	r, _, err := e.Timed(cmd.Context(), papers.Options{
		Data: f.data, Set: f.set, Seed: f.seed, Jobs: f.jobs, Scale: f.scale,
		Records: filepath.Join(f.out, name),
		Command: f.command(name, true, true),
		Opened:  env.keep,
		Observe: stages.set,
	})
	stages.finish()
	if has[*papers.InputError](err) {
		return usageErrorf("%s: %w", name, err)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	paths, err := r.Write(f.out)
	if err != nil {
		return err
	}
	if err := env.printExperiment(r); err != nil {
		return err
	}
	env.note("written: %s", strings.Join(paths, ", "))
	return nil
}

// command returns the command line of an experiment without flags that do not change results. reads
// and scales state whether the experiment reads data and obeys --scale.
func (f *reproduceFlags) command(name string, reads, scales bool) string {
	parts := []string{"listwise reproduce", name}
	if f.data != "" && reads {
		parts = append(parts, "--data "+f.data)
	}
	if f.set != "" && reads {
		parts = append(parts, "--set "+f.set)
	}
	if f.scale != 1 && scales {
		parts = append(parts, fmt.Sprintf("--scale %v", f.scale))
	}
	return strings.Join(append(parts, fmt.Sprintf("--seed %d", f.seed)), " ")
}

// printExperiment prints the report. CSV output is its first table.
func (env *environment) printExperiment(r *papers.Report) error {
	switch env.format {
	case "json":
		return r.WriteJSON(env.stdout)
	case "csv":
		return r.Sheets[0].WriteCSV(env.stdout)
	}
	if width := env.width(); width > 0 {
		return env.printText(experimentText(r, width))
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		return err
	}
	return env.printText(b.String())
}

// experimentText returns the text of the report for a terminal of that width.
func experimentText(r *papers.Report, width int) string {
	parts := []report{{title: r.Title}}
	for _, f := range r.Facts {
		parts = append(parts, report{title: f.Name + ": " + f.Value})
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		table := report{title: "\n" + t.Title, columns: t.Columns, keys: max(1, t.Left)}
		for _, row := range t.Rows {
			table.rows = append(table.rows, cellsOf(row))
		}
		table.alignNumbers()
		parts = append(parts, table)
	}
	return textOf(append(parts, report{notes: r.Closing()}), "", width)
}

// stagedProgress shows a progress bar for each stage in turn. Its methods may be called from any
// goroutine.
type stagedProgress struct {
	env *environment

	mu    sync.Mutex
	stage string
	bar   *progress
}

func (s *stagedProgress) set(stage string, done, total int) {
	s.setUnit(stage, int64(done), int64(total), false)
}

// setUnit is like set. If bytes is set, the steps are bytes.
func (s *stagedProgress) setUnit(stage string, done, total int64, bytes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar == nil || s.stage != stage {
		if s.bar != nil {
			s.bar.finish()
		}
		s.stage, s.bar = stage, s.env.startProgress(stage, 0)
	}
	if bytes {
		s.bar.bytes(done, total)
	} else {
		s.bar.update(done, total, "")
	}
}

func (s *stagedProgress) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar != nil {
		s.bar.finish()
		s.bar = nil
	}
}

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

// writePages writes the pages into the folder of --out. With --markdown it also writes the Markdown
// page and copies of its plots.
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
	base := filepath.Base(f.markdown)
	figures := filepath.Join("figures", strings.TrimSuffix(base, filepath.Ext(base)))
	dir := filepath.Join(filepath.Dir(f.markdown), figures)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := held(f.heldPage()); err != nil {
		return paths, err
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

// heldPage returns the path of the Markdown page with the confirmed claims.
func (f *reproduceFlags) heldPage() string {
	return strings.TrimSuffix(f.markdown, filepath.Ext(f.markdown)) + "-held.md"
}

// allReport returns the output of "all": the number of each verdict as text, and all verdicts as
// JSON.
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
