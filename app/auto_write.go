package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	page "github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune/auto"
)

// modelName is the file of the last model.
const modelName = "model.json"

func (f *autoFlags) targets() *targets {
	t := new(targets).reads("--data", f.data).reads("--train", f.files.Train).reads("--valid", f.files.Valid)
	return t.reads("--test", f.files.Test).reads("--by", slicing.Files(f.by)...).fills(f.out)
}

// memberFile returns the file of a model of a member of a fusion, both by number.
func (f *autoFlags) memberFile(of *auto.Fused, i, model int) string {
	m := &of.Members[i]
	name := fmt.Sprintf("%03d-%s", i+1, m.Entry.Name)
	if len(m.Learned) > 1 && m.Learned[model].Part > 0 {
		name += fmt.Sprintf(".part%d", m.Learned[model].Part)
	}
	return filepath.Join(f.out, "members", of.Name, name+".json")
}

// foldModel returns the file of a system's model of a fold.
func (f *autoFlags) foldModel(system, fold string) string {
	return filepath.Join(f.out, "folds", system, fold+".model.json")
}

// write leaves all files of the result.
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
	trials, err := trialLines(r)
	if err != nil {
		return err
	}
	if err := text("trials.jsonl", trials); err != nil {
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

// saveIn saves a model in a folder that is made if need be.
func saveIn(path string, m *model.Model) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return m.Save(path)
}

// mostCurves is how many learning curves of a fold are written and shown: those of the best candidates.
const mostCurves = 8

// curveOf is the learning curve of the best trial of a candidate.
type curveOf struct {
	*auto.Member

	fold string
}

// chosenCurves returns the learning curves of what was chosen in every fold, of methods that have any.
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
			seen[name] = true // members stand best first
		}
	}
	return all
}

// autoCurves returns the curves as the report shows them.
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

// trialJSON is a line of trials.jsonl.
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

// trialLines returns the tuning curve: a line of JSON a trial.
func trialLines(r *auto.Result) (string, error) {
	var b bytes.Buffer
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
		text, err := json.Marshal(line)
		if err != nil {
			return "", err
		}
		b.Write(append(text, '\n'))
	}
	return b.String(), nil
}

// writePage writes the report on the folds' fusions.
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
