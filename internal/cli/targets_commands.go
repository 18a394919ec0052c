package cli

import (
	"path/filepath"
	"strings"

	"github.com/listwise/listwise/dataset/datafile"
)

// What each command that writes files reads and writes.

func (f *trainFlags) targets() *targets {
	t := new(targets)
	t.reads("--train", f.train)
	t.reads("--valid", f.valid)
	t.writes("--model", f.model)
	t.writes("--curve", f.curve)
	t.writes("--checkpoint", f.checkpoint) // which is read, too
	return t
}

func (f *tuneFlags) targets() *targets {
	t := new(targets)
	t.reads("--data", f.data)
	t.reads("--train", f.files.Train)
	t.reads("--valid", f.files.Valid)
	t.reads("--test", f.files.Test)
	t.fills(f.out)
	return t
}

func (f *evalFlags) targets() *targets {
	t := new(targets)
	t.reads("--data", f.data)
	t.reads("--model", f.model)
	t.reads("--scores", f.scores)
	t.writes("--per-query", f.perQuery)
	return t
}

func (f *scoreFlags) targets() *targets {
	t := new(targets)
	t.reads("--model", f.model)
	t.reads("--data", f.data)
	t.writes("--out", f.out)
	return t
}

func (o *dataOutput) targets(inputs []string) *targets {
	t := new(targets)
	t.reads("", inputs...)
	t.writes("--out", o.out)
	return t
}

func (f *foldFlags) targets(inputs []string, folds int) *targets {
	t := new(targets)
	t.reads("", inputs...)
	t.writes("--out", datafile.FoldNames(f.out, folds)...)
	return t
}

func (f *fuseFlags) targets(systems []string, inFolds bool) *targets {
	t := new(targets)
	t.reads("--data", f.data)
	t.reads("--valid", f.valid)
	for _, s := range systems {
		t.reads("", s)
		if !exists(s) { // A.scores:A.valid.scores
			t.reads("", strings.Split(s, ":")...)
		}
	}
	t.writes("--model", f.model)
	if inFolds {
		t.fills(f.out)
	} else {
		t.writes("--out", f.out)
	}
	return t
}

func (f *reportFlags) targets(systems []*contestant) *targets {
	t := new(targets)
	t.reads("--data", f.data)
	for _, s := range systems {
		t.reads("", s.runs[0].path)
	}
	for _, arg := range f.curves {
		_, path := curveArgument(arg)
		t.reads("--curve", path)
	}
	t.writes("--out", f.out)
	return t
}

func (f *reproduceFlags) targets(name string) *targets {
	t := new(targets)
	t.reads("--data", f.data)
	t.fills(f.out)
	t.writes("--markdown", f.markdown)
	if name == "all" {
		t.writes("--out", filepath.Join(f.out, "all.html"), filepath.Join(f.out, "all.md"))
	}
	return t
}

func demoTargets(out, html string) *targets {
	t := new(targets)
	t.fills(out)
	t.writes("--report", html)
	return t
}
