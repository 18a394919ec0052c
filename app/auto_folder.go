package app

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	page "github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune/auto"
)

const modelName = "model.json"

// memberFile returns the path of the model file of a fusion's member. i is the index of the member, and
// model that of its model: a member has one or several.
func (f *autoFlags) memberFile(of *auto.Fused, i, model int) string {
	m := &of.Members[i]
	name := fmt.Sprintf("%03d-%s", i+1, m.Entry.Name)
	if len(m.Learned) > 1 && m.Learned[model].Part > 0 {
		name += fmt.Sprintf(".part%d", m.Learned[model].Part)
	}
	return filepath.Join(f.out, "members", of.Name, name+".json")
}

func (f *autoFlags) foldModel(system, fold string) string {
	return filepath.Join(f.out, "folds", system, fold+".model.json")
}

func (f *autoFlags) write(ctx context.Context, env *environment, r *auto.Result, m *autoMeasured) error {
	fusions := []*auto.Fused{&r.Final}
	for k := range r.Folds {
		if r.Folds[k].Model != nil {
			fusions = append(fusions, &r.Folds[k])
		}
	}
	for _, of := range fusions {
		for i := range of.Members {
			for j, l := range of.Members[i].Learned {
				if err := saveIn(f.memberFile(of, i, j), l.Model); err != nil {
					return err
				}
			}
		}
	}
	for s, name := range m.names {
		for k, trained := range m.modelsOf(s) {
			if err := saveIn(f.foldModel(name, m.divisions[k].Name), trained); err != nil {
				return err
			}
		}
	}
	if err := saveIn(filepath.Join(f.out, modelName), r.Final.Model); err != nil {
		return err
	}
	commands, err := f.commands(r)
	if err != nil {
		return err
	}
	text := func(name, content string) error {
		return atomicfile.Write(filepath.Join(f.out, name), func(w io.Writer) error {
			_, err := io.WriteString(w, content)
			return err
		})
	}
	if err := text("commands.sh", commands); err != nil {
		return err
	}
	if err := writeLines(filepath.Join(f.out, "trials.jsonl"), trialLines(r)); err != nil {
		return err
	}
	for _, c := range chosenCurves(r) {
		name := filepath.Join("curves", c.fold, c.Entry.Name+".curve")
		if err := os.MkdirAll(filepath.Dir(filepath.Join(f.out, name)), 0o755); err != nil {
			return err
		}
		if err := text(name, string(c.Curve)); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(filepath.Join(f.out, "results.json"), atomicfile.JSON(autoSummary(r, m))); err != nil {
		return err
	}
	return f.writePage(ctx, env, r, m)
}

func saveIn(path string, m *model.Model) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return m.Save(path)
}

// mostCurves is the number of learning curves of a fold that are written and shown. The best
// candidates come first.
const mostCurves = 8

// curveOf is a member of a fold's fusion whose learning curve is written. Curve is that of the best
// trial of the member's candidate.
type curveOf struct {
	*auto.Member

	fold string
}

// chosenCurves returns, for each fold, the learning curves of the chosen candidates that have one.
func chosenCurves(r *auto.Result) []curveOf {
	var all []curveOf
	for k := range r.Folds {
		f, n := &r.Folds[k], 0
		seen := make(map[string]bool)
		for i := range f.Members {
			m := &f.Members[i]
			name := m.Candidate()
			if len(m.Curve) > 0 && !seen[name] && n < mostCurves {
				all = append(all, curveOf{m, f.Name})
				n++
			}
			seen[name] = true // members are sorted, best first
		}
	}
	return all
}

func autoCurves(r *auto.Result) ([]page.Curve, error) {
	var curves []page.Curve
	for _, c := range chosenCurves(r) {
		read, err := page.ReadCurve(bytes.NewReader(c.Curve), c.Entry.Name)
		if err != nil {
			return nil, fmt.Errorf("the learning curve of %s, %s: %w", c.Entry.Name, c.fold, err)
		}
		read.Fold = c.fold
		curves = append(curves, read)
	}
	return curves, nil
}

type trialJSON struct {
	Trial      int            `json:"trial"` // from 1
	Name       string         `json:"name"`
	Method     string         `json:"method"`
	Scorer     string         `json:"scorer"`
	Views      []string       `json:"views"`
	Seed       uint64         `json:"seed"`
	Settings   map[string]any `json:"settings"`
	Validation []float64      `json:"validation,omitempty"` // of the folds
	Mean       *float64       `json:"mean,omitempty"`
	Best       *float64       `json:"best,omitempty"` // mean so far
	Refused    string         `json:"refused,omitempty"`
	LeftOut    bool           `json:"left_out,omitempty"`
}

// trialLines returns the lines of trials.jsonl, one for each trial in the order of the search.
func trialLines(r *auto.Result) (lines []trialJSON) {
	var best *float64
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		e := &r.Entries[o.Entry]
		line := trialJSON{
			Trial: i + 1, Name: e.Name, Method: e.Method.Name, Scorer: e.Own.Scorer, Views: e.Own.Views.Texts(), Seed: e.Own.Seed,
			Settings: o.Setting.Typed(), Refused: o.Refused, LeftOut: o.LeftOut,
		}
		sum := 0.0
		for _, t := range o.Folds {
			line.Validation = append(line.Validation, t.Validation)
			sum += t.Validation
		}
		if n := len(o.Folds); n > 0 {
			mean := sum / float64(n)
			if line.Mean = &mean; best == nil || mean > *best {
				best = &mean
			}
		}
		line.Best = best
		lines = append(lines, line)
	}
	return lines
}

func (f *autoFlags) writePage(ctx context.Context, env *environment, r *auto.Result, m *autoMeasured) error {
	name := filepath.Base(filepath.Clean(cmp.Or(f.data, f.files.Train)))
	title := "auto on " + name
	if !m.tested {
		title += ": validation queries, by which members were chosen"
	}
	c := page.Config{
		Title: title, Source: fmt.Sprintf("%s; %d trials, %d members", name, r.Trials, len(r.Final.Members)),
		Measures: r.Tune.Measures, Ties: r.Tune.Ties, Permutations: 10_000, Resamples: 2_000, Seed: f.seed,
	}
	if m.slices != nil {
		c.Slices = m.slices.divisions
	}
	stages := stagedProgress{env: env}
	c.Observe = stages.set
	curves, err := autoCurves(r)
	if err != nil {
		return err
	}
	built, err := page.Build(ctx, c, m.divisions, curves)
	stages.finish()
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(f.out, "report.html"), built.Write)
}

// autoCommands writes commands.sh, whose commands repeat the trainings of auto.
type autoCommands struct {
	*retraining
	flags  *autoFlags
	result *auto.Result
	text   strings.Builder

	folders []string // that models are written to
}

// into remembers the folder of a file, which commands.sh must create.
func (c *autoCommands) into(path string) {
	if dir := filepath.Dir(path); !slices.Contains(c.folders, dir) {
		c.folders = append(c.folders, dir)
	}
}

func (f *autoFlags) commands(r *auto.Result) (string, error) {
	how, err := newRetraining(f.cmd, &f.source, f.transform, r.Tune.Convention)
	if err != nil {
		return "", err
	}
	c := autoCommands{retraining: how, flags: f, result: r}
	c.comment("%d of %d trials were done. All that is in the folder comes of\n%s", r.Trials, r.Of, commandLine(c.all()...))
	header := c.text.String()
	c.text.Reset()
	fmt.Fprintln(&c.text)
	c.comment("The model, of all data:")
	c.fusion(&r.Final, material{c.whole(), []*dataset.Dataset{r.Whole}}, 0, filepath.Join(f.out, modelName))
	for k := range r.Folds {
		if len(r.Folds) > 1 && r.Folds[k].Model != nil {
			fmt.Fprintln(&c.text)
			c.comment("%s, whose test data it has not seen:", r.Folds[k].Name)
			fold := &r.Tune.Folds[k]
			from := material{[]string{c.files[k].Train, c.files[k].Valid}, []*dataset.Dataset{fold.Train, fold.Valid}}
			c.fusion(&r.Folds[k], from, k, f.foldModel(autoSystem, r.Folds[k].Name))
		}
	}
	return header + shellLine(append([]string{"mkdir", "-p"}, operands(c.folders)...)...) + "\n" + c.text.String(), nil
}

// comment adds a comment. Line feeds in names must not end it.
func (c *autoCommands) comment(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Fprintf(&c.text, "# %s\n", strings.ReplaceAll(text, "\n", "\n# "))
}

// all returns the auto command that was run, with the number of finished trials in place of the time
// limit. It gives the same result on any machine.
func (c *autoCommands) all() []string {
	f := c.flags
	args := []string{"auto"}
	f.cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "trials", "without", "budget", "out", "format", "quiet", "jobs", "no-record":
		case "transform":
			for _, t := range f.transform {
				args = append(args, "--transform", t)
			}
		default:
			args = append(args, "--"+flag.Name, flag.Value.String())
		}
	})
	args = append(args, "--trials", strconv.Itoa(c.result.Trials))
	if c.result.Without != nil {
		args = append(args, "--without", strings.Join(mapped(c.result.Without, func(i int) string { return strconv.Itoa(i + 1) }), ","))
	}
	return append(args, "--out", f.out)
}

// fusion writes the commands that train the members of a fusion and fuse them. Members that were not
// refitted are trained on the data of the given fold.
func (c *autoCommands) fusion(of *auto.Fused, from material, fold int, model string) {
	var members []string
	for i := range of.Members {
		m := &of.Members[i]
		for j := range m.Learned {
			path := c.flags.memberFile(of, i, j)
			if len(of.Members) == 1 && len(m.Learned) == 1 {
				path = model
			}
			members = append(members, path)
			c.into(path)
			fmt.Fprintln(&c.text, commandLine(c.member(m, &m.Learned[j], from, fold, path)...))
		}
	}
	c.into(model)
	if len(members) > 1 {
		args := append([]string{"fuse", "--data", from.files[0]}, c.shared(newFuseCommand(new(environment)), "missing")...)
		args = append(args, "--rule", auto.Rule().Kind.String(), "--scale", auto.Rule().Scale.String(), "--weights", "equal", "--model", model)
		fmt.Fprintln(&c.text, commandLine(append(args, operands(members)...)...))
	}
}

// member returns the command that trains the model l of the member m.
func (c *autoCommands) member(m *auto.Member, l *auto.Learned, from material, fold int, path string) []string {
	own := []string{"--scorer", m.Entry.Own.Scorer, "--views", m.Entry.Own.Views.String()}
	if l.Tried {
		f := c.files[fold]
		own = append(own, "--valid", f.Valid, "--select", c.result.Tune.Select.Name())
		from = material{[]string{f.Train}, []*dataset.Dataset{c.result.Tune.Folds[fold].Train}}
	}
	if l.Part > 0 {
		own = append(own, "--hold-out", fmt.Sprintf("%d/%d", l.Part, l.Parts), "--select", c.result.Tune.Select.Name())
		if base := c.result.Tune.Seed; m.Entry.Own.Seed != base {
			own = append(own, "--hold-out-seed", strconv.FormatUint(base, 10))
		}
	}
	return c.train(m.Entry.Method, own, l.Setting.(method.Values), m.Entry.Own.Seed, from, path)
}
