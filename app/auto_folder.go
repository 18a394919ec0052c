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
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/interchange"
	"github.com/listwise/listwise/tune/auto"
)

const modelName = "model.json"

// memberFile returns the path of a member's model of a part, both by number.
func (w *automatic) memberFile(of string, r *auto.Result, member, part int) string {
	m := &r.Members[member]
	name := fmt.Sprintf("%03d-%s", member+1, m.Entry.Name)
	if len(m.Models) > 1 {
		name += "." + r.Tune.Folds[part].Name
	}
	return filepath.Join(w.autoFlags.out, "members", of, name+".json")
}

// foldsName is the folder in the folder of auto that has the results of each fold.
const foldsName = "folds"

// foldFile returns the path of a file of a system and a fold without its ending.
func (w *automatic) foldFile(system, fold string) string {
	return filepath.Join(w.autoFlags.out, foldsName, system, fold)
}

func (w *automatic) foldModel(system, fold string) string {
	return w.foldFile(system, fold) + ".model.json"
}

// writeFolds writes the files that tune writes for each fold with test data: the model, its test scores,
// and its values for each query. It returns their paths.
func (w *automatic) writeFolds() (files []string, err error) {
	write := func(path string, content func(io.Writer) error) error {
		files = append(files, path)
		return atomicfile.Write(path, content)
	}
	for s, name := range w.out.names {
		for k := range w.out.divisions {
			d := &w.out.divisions[k]
			system := &d.Systems[s]
			if system.Model == nil {
				continue // nested validation
			}
			base := w.foldFile(name, d.Name)
			files = append(files, w.foldModel(name, d.Name))
			if err := saveIn(w.foldModel(name, d.Name), system.Model); err != nil {
				return nil, err
			}
			scores := make([]float64, len(system.Test))
			d.Test.ToInputOrder(scores, system.Test)
			if err := write(base+".scores", func(out io.Writer) error { return datafile.WriteScores(out, scores) }); err != nil {
				return nil, err
			}
			if err := write(base+valuesEnding, w.out.results[s][k].WriteCSV); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// results returns the searches by name: "all" for the final one, and those of folds.
func (w *automatic) results() (names []string, all []*auto.Result) {
	names, all = []string{"all"}, []*auto.Result{w.result}
	for _, f := range w.tested {
		names, all = append(names, f.Name), append(all, f.Result)
	}
	return names, all
}

func (w *automatic) write(ctx context.Context, env *environment) error {
	dir := w.autoFlags.out
	names, all := w.results()
	for n, r := range all {
		for i := range r.Members {
			for k, m := range r.Members[i].Models {
				if err := saveIn(w.memberFile(names[n], r, i, k), m); err != nil {
					return err
				}
			}
		}
	}
	var err error
	if w.foldFiles, err = w.writeFolds(); err != nil {
		return err
	}
	if err := saveIn(filepath.Join(dir, modelName), w.result.Model); err != nil {
		return err
	}
	if w.target != nil {
		if err := w.target.write(env, dir, w.result.Model); err != nil {
			return err
		}
	}
	commands, err := w.commands()
	if err != nil {
		return err
	}
	text := func(name, content string) error {
		return atomicfile.Write(filepath.Join(dir, name), func(w io.Writer) error {
			_, err := io.WriteString(w, content)
			return err
		})
	}
	if err := text("commands.sh", commands); err != nil {
		return err
	}
	if err := writeLines(filepath.Join(dir, "trials.jsonl"), trialLines(w.result)); err != nil {
		return err
	}
	for _, c := range chosenCurves(w.result) {
		name := filepath.Join("curves", c.part, c.Entry.Name+".curve")
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			return err
		}
		if err := text(name, string(c.curve)); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(filepath.Join(dir, "results.json"), atomicfile.JSON(w.summary())); err != nil {
		return err
	}
	return w.writePage(ctx, env)
}

func saveIn(path string, m *model.Model) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return m.Save(path)
}

// mostCurves is the number of members whose learning curves are written and shown, the largest weight first.
const mostCurves = 8

// curveOf is the learning curve of a member on a part.
type curveOf struct {
	*auto.Trial

	part  string
	curve []byte
}

// chosenCurves returns the learning curves of the first members that have one, and of one member a family.
func chosenCurves(r *auto.Result) (all []curveOf) {
	seen := make(map[string]bool)
	for _, m := range r.Members {
		if len(m.Curves[0]) == 0 || seen[m.Entry.Name] || len(seen) == mostCurves {
			continue
		}
		seen[m.Entry.Name] = true
		for k, curve := range m.Curves {
			all = append(all, curveOf{m.Trial, r.Tune.Folds[k].Name, curve})
		}
	}
	return all
}

func autoCurves(r *auto.Result) ([]page.Curve, error) {
	var curves []page.Curve
	for _, c := range chosenCurves(r) {
		read, err := page.ReadCurve(bytes.NewReader(c.curve), c.Entry.Name)
		if err != nil {
			return nil, fmt.Errorf("the learning curve of %s, %s: %w", c.Entry.Name, c.part, err)
		}
		read.Fold = c.part
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
	Transforms []string       `json:"transforms,omitempty"`
	Seed       uint64         `json:"seed"`
	Settings   map[string]any `json:"settings"`
	Validation *float64       `json:"validation,omitempty"` // mean over the validation queries
	Best       *float64       `json:"best,omitempty"`       // so far
	Final      *float64       `json:"final,omitempty"`      // of the final models, for the trials that fusions choose from
	FinalCI    *[2]any        `json:"final_ci,omitempty"`   // for other queries, 95 %
	Refused    string         `json:"refused,omitempty"`
	LeftOut    bool           `json:"left_out,omitempty"`
}

// trialLines returns the lines of trials.jsonl, one for each trial in the order of the search.
func trialLines(r *auto.Result) (lines []trialJSON) {
	finals := make(map[int]*auto.Trial)
	for _, t := range r.Ranked {
		finals[t.Number] = t
	}
	var best *float64
	for _, t := range r.Trials {
		e := t.Entry
		line := trialJSON{
			Trial: t.Number + 1, Name: e.Name, Method: e.Method.Name, Scorer: e.Own.Scorer, Views: e.Own.Views.Texts(), Transforms: transform.Texts(e.Own.Transforms),
			Seed: e.Own.Seed, Settings: t.Setting.Typed(), Refused: t.Refused, LeftOut: t.LeftOut,
		}
		if t.Models != nil {
			if line.Validation = &t.Mean; best == nil || t.Mean > *best {
				best = &t.Mean
			}
		}
		if final := finals[t.Number]; final != nil {
			ci := ends(final.Interval)
			line.Final, line.FinalCI = &final.Mean, &ci
		}
		line.Best = best
		lines = append(lines, line)
	}
	return lines
}

func (w *automatic) writePage(ctx context.Context, env *environment) error {
	r, m := w.result, &w.out
	name := filepath.Base(filepath.Clean(cmp.Or(w.data, w.files.Train)))
	title := "auto on " + name
	if !w.hasTests() {
		title += ": nested validation"
	}
	c := page.Config{
		Title: title, Source: fmt.Sprintf("%s; %d trials, %d members", name, len(r.Trials), len(r.Members)),
		Measures: r.Tune.Measures, Ties: r.Tune.Ties, Permutations: 10_000, Resamples: 2_000, Seed: w.seed,
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
	return atomicfile.Write(filepath.Join(w.autoFlags.out, "report.html"), built.Write)
}

// autoCommands writes commands.sh, whose commands repeat the trainings of auto.
type autoCommands struct {
	*retraining
	*automatic
	text strings.Builder

	folders []string // that models are written to
}

// into remembers the folder of a file, which commands.sh must create.
func (c *autoCommands) into(path string) {
	if dir := filepath.Dir(path); !slices.Contains(c.folders, dir) {
		c.folders = append(c.folders, dir)
	}
}

func (w *automatic) commands() (string, error) {
	how, err := newRetraining(w.cmd, &w.source, w.transform, w.result.Tune.Convention)
	if err != nil {
		return "", err
	}
	c := autoCommands{retraining: how, automatic: w}
	c.comment("%d trials were done. This command writes the whole folder again:\n%s", len(w.result.Trials), commandLine(c.again()...))
	header := c.text.String()
	c.text.Reset()
	fmt.Fprintln(&c.text)
	c.comment("The model:")
	c.fusion("all", w.result, c.whole(), filepath.Join(w.autoFlags.out, modelName))
	for k, f := range w.tested {
		fmt.Fprintln(&c.text)
		c.comment("%s, whose test data it has not seen:", f.Name)
		c.fusion(f.Name, f.Result, []string{c.retraining.files[k].Train, c.retraining.files[k].Valid}, w.foldModel(autoSystem, f.Name))
	}
	return header + shellLine(append([]string{"mkdir", "-p"}, operands(c.folders)...)...) + "\n" + c.text.String(), nil
}

// comment adds a comment. Line feeds in names must not end it.
func (c *autoCommands) comment(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Fprintf(&c.text, "# %s\n", strings.ReplaceAll(text, "\n", "\n# "))
}

// again returns the auto command that was run, with the number of finished trials in place of the time limit. It gives
// the same result on any machine.
func (c *autoCommands) again() []string {
	args := []string{"auto"}
	c.automatic.cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "trials", "without", "budget", "out", "format", "quiet", "jobs", "no-record":
		case "transform":
			for _, t := range c.automatic.transform {
				args = append(args, "--transform", t)
			}
		default:
			args = append(args, "--"+flag.Name, flag.Value.String())
		}
	})
	args = append(args, "--trials", strconv.Itoa(len(c.result.Trials)))
	if without := c.result.Without(); without != nil {
		args = append(args, "--without", strings.Join(mapped(without, func(i int) string { return strconv.Itoa(i + 1) }), ","))
	}
	return append(args, "--out", c.autoFlags.out)
}

// fusion writes the commands that train the members of a result and fuse them. files are those of its data.
func (c *autoCommands) fusion(name string, r *auto.Result, files []string, path string) {
	var members, weights []string
	_, shares := r.Shares(r.Members)
	for i := range r.Members {
		for k := range r.Members[i].Models {
			file := c.memberFile(name, r, i, k)
			if len(shares) == 1 {
				file = path
			}
			weights = append(weights, strconv.FormatFloat(shares[len(members)], 'g', -1, 64))
			members = append(members, file)
			c.into(file)
			fmt.Fprintln(&c.text, commandLine(c.member(r, &r.Members[i], k, files, file)...))
		}
	}
	c.into(path)
	if len(members) > 1 {
		args := append([]string{"fuse", "--data", files[0]}, c.shared(newFuseCommand(new(environment)), "missing")...)
		args = append(args, "--rule", r.Rule.Kind.String(), "--scale", r.Rule.Scale.String(), "--weights", strings.Join(weights, ","), "--model", path)
		fmt.Fprintln(&c.text, commandLine(append(args, operands(members)...)...))
	}
}

// member returns the command that trains a member's model of a part.
func (c *autoCommands) member(r *auto.Result, m *auto.Member, part int, files []string, path string) []string {
	own, v := []string{"--scorer", m.Entry.Own.Scorer, "--views", m.Entry.Own.Views.String()}, m.Setting
	if m.Parts != nil {
		own, v = append(own, "--select", "none"), m.Parts[part]
	} else {
		own = append(own, "--select", r.Tune.Select.Name())
	}
	for _, t := range m.Entry.Own.Transforms[len(r.Tune.Transforms):] {
		own = append(own, "--transform", t.String())
	}
	from := material{files, []*dataset.Dataset{r.Data}}
	if r.Of == 0 {
		own = append(own, "--valid", files[1])
		from.files = files[:1]
	} else {
		own = append(own, "--hold-out", fmt.Sprintf("%d/%d", part+1, r.Of))
	}
	return c.train(m.Entry.Method, own, v, m.Entry.Own.Seed, from, path)
}

// exportTarget is an export format as the target of a search.
type exportTarget struct{ format string }

func targetOf(format string) (*exportTarget, error) {
	if err := interchange.CheckWritable(format); err != nil {
		return nil, usageErrorf("--for: %w", err)
	}
	if interchange.NeedsExtractors(format) {
		return nil, usageErrorf("--for: found %s, which needs the extractors of features, expected elasticsearch-xgboost-raw, which holds the same models; then listwise export --to %[1]s", format)
	}
	return &exportTarget{format}, nil
}

// Name implements auto.Target.
func (t *exportTarget) Name() string { return t.format }

// Scorers implements auto.Target: fusions of these kinds are one sum.
func (t *exportTarget) Scorers() []string { return []string{"linear", "trees"} }

// Check implements auto.Target.
func (t *exportTarget) Check(m *model.Model) error {
	_, err := interchange.Write(io.Discard, m, t.format, interchange.WriteOptions{})
	return err
}

// write writes the model beside model.json.
func (t *exportTarget) write(env *environment, dir string, m *model.Model) error {
	path := filepath.Join(dir, "model."+t.format)
	var notes []string
	err := atomicfile.Write(path, func(w io.Writer) (err error) {
		notes, err = interchange.Write(w, m, t.format, interchange.WriteOptions{})
		return err
	})
	if err == nil {
		env.notesOn(path, notes)
	}
	return err
}
