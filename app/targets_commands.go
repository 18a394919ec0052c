package app

import (
	"path/filepath"
	"strings"

	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/serve"
)

// What each command that writes files reads and writes.

func (f *trainFlags) targets() *targets {
	t := new(targets).reads("--train", f.train...).reads("--valid", f.valid).reads("--continue", f.from)
	return t.writes("--model", f.model).writes("--curve", f.curve).writes("--checkpoint", f.checkpoint) // which is read, too
}

func (f *tuneFlags) targets() *targets {
	t := new(targets).reads("--data", f.data).reads("--train", f.files.Train).reads("--valid", f.files.Valid)
	return t.reads("--test", f.files.Test).reads("--by", slicing.Files(f.by)...).fills(f.out)
}

func (f *evalFlags) targets() *targets {
	t := new(targets).reads("--data", f.data).reads("--model", f.model).reads("--scores", f.scores)
	return t.reads("--by", slicing.Files(f.by)...).reads("--parts", partsIn(f.parts)...).writes("--per-query", f.perQuery).writes("--part", f.part)
}

func (f *scoreFlags) targets() *targets {
	return new(targets).reads("--model", f.model).reads("--data", f.data).writes("--out", f.out)
}

func (f *serveFlags) targets(c *serve.Config) *targets {
	t := new(targets)
	for _, m := range c.Models {
		t.reads("--model", m.Path)
	}
	return t.writes("--experiment-log", f.experiments.log)
}

func (o *dataOutput) targets(inputs []string) *targets {
	return new(targets).reads("", inputs...).writes("--out", o.out)
}

func (f *joinFlags) targets(inputs []string) *targets {
	return f.dataOutput.targets(inputs).reads("--qrels", f.qrels)
}

func (f *foldFlags) targets(inputs []string, folds int) *targets {
	return new(targets).reads("", inputs...).makes("--out", datafile.FoldNames(f.out, folds, inputs[0])...)
}

func (f *fuseFlags) targets(systems []string, inFolds bool) *targets {
	t := new(targets).reads("--data", f.data).reads("--valid", f.valid).reads("", systems...).reads("--by", slicing.Files(f.by)...)
	for _, s := range systems {
		if !exists(s) { // A.scores:A.valid.scores
			t.reads("", strings.Split(s, ":")...)
		}
	}
	t.writes("--model", f.model)
	if inFolds {
		return t.fills(f.out)
	}
	return t.writes("--out", f.out)
}

func (f *reportFlags) targets(systems []*contestant) *targets {
	t := new(targets).reads("--data", f.data).reads("--by", slicing.Files(f.by)...)
	for _, s := range systems {
		t.reads("", s.runs[0].path)
	}
	for _, arg := range f.curves {
		_, path := curveArgument(arg)
		t.reads("--curve", path)
	}
	return t.writes("--out", f.out)
}

func (f *reproduceFlags) targets(name string) *targets {
	t := new(targets).reads("--data", f.data).fills(f.out).makes("--markdown", f.markdown)
	if name == "all" {
		t.makes("--out", filepath.Join(f.out, "all.html"), filepath.Join(f.out, "all.md"), filepath.Join(f.out, "held.md"))
		if f.markdown != "" {
			t.makes("--markdown", f.heldPage())
		}
	}
	return t
}

func (f *benchFlags) targets() *targets {
	t := new(targets)
	return t.declare(&t.folders, "--plots", []string{f.plots}).declare(&t.folders, "--dir", []string{f.folder})
}

func demoTargets(out, html string) *targets { return new(targets).fills(out).writes("--report", html) }
