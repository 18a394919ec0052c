package app

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/listwise/listwise/tune/runs"
)

// checkScript is check.sh. The commands of the runs replace its line RUNS.
//
//go:embed bundle_check.sh
var checkScript string

// script returns check.sh of the bundle.
func (b *bundle) script() []byte {
	var text strings.Builder
	for _, r := range b.manifest.Runs {
		if r.Budget != "" {
			fmt.Fprintf(&text, "\n%s\n", shellLine("say", "not checked: the training of "+r.Name+", as --budget "+r.Budget+" depends on the machine"))
			continue
		}
		conditions := []string{shellLine(append([]string{"have", r.Name}, r.Data...)...)}
		if r.Kind == programKind {
			conditions = append(conditions, shellLine("build", r.Name), shellLine(append([]string{"start", r.Name}, r.Commands[0]...)...))
		} else {
			conditions = append(conditions, shellLine("begin", r.Name, versionStart(r.Code), r.Code.Program))
			for _, command := range r.Commands {
				conditions = append(conditions, shellLine(append([]string{"call"}, command...)...))
			}
		}
		fmt.Fprintf(&text, "\nif %s; then\n", strings.Join(conditions, " && "))
		files := 0
		for _, s := range r.Systems {
			for _, f := range s.Folds {
				fmt.Fprintf(&text, "\t%s\n", shellLine("compare", f.Values, "runs/"+r.Name+"/"+f.Result))
				files++
				for _, o := range f.Others {
					fmt.Fprintf(&text, "\t%s\n", shellLine("other", o.File, "runs/"+r.Name+"/"+o.Result))
				}
			}
		}
		fmt.Fprintf(&text, "\tcompared %d\nfi\n", files)
	}
	return []byte(strings.Replace(checkScript, "RUNS\n", strings.TrimPrefix(text.String(), "\n")+"\n", 1))
}

// versionStart returns the text with which "listwise version" begins for a program: the version and
// the commit. Versions of Go and platforms do not change results.
func versionStart(c *runs.Code) string {
	v := versionJSON{Version: "devel", Commit: c.Revision, Modified: c.Modified}
	if c.Version != "(devel)" {
		v.Version = c.Version
	}
	return strings.TrimSuffix(v.line(), " /)\n")
}

// versionText returns the version of a program for people.
func versionText(c *runs.Code) string {
	text, commit := strings.CutSuffix(versionStart(c), ", ")
	if commit {
		return text + ")"
	}
	return strings.TrimSuffix(text, " (")
}

const bundleReadme = `# %s

This bundle has the results of %s. It does not contain the data.

## Check it

    sh check.sh

verifies the checksums of all files, and computes the means from the values of the queries. With
[listwise](https://github.com/listwise/listwise) in the PATH, or named by the variable LISTWISE, it
also computes the tables again.

    sh check.sh%s

also verifies the data, trains again and compares the values of all queries. The same version of
listwise gives the same bytes, also of learning curves and models. Values by another version may differ
by 0.0001 (--tolerance).

## Data

| name | files | SHA-256 of |
|---|---:|---|
%s
## Runs

%s
## Files

| path | content |
|---|---|
| manifest.json | commands, versions, seeds, chosen settings, fingerprints |
| SHA256SUMS | checksums of all files but itself |
| runs/RUN/SYSTEM/FOLD.queries.csv | values of each test query; with several random seeds, in a folder for each seed |
| runs/RUN/SYSTEM/FOLD.curve | learning curve, for methods that learn in epochs or rounds |
| tables/means | means over folds of all systems; in CSV also means over all queries |
| tables/DATA | comparison of the systems on one data set, with means over all queries |
%s| data/NAME.sha256 | checksums of the data files |
%s`

// readme returns README.md of the bundle.
func (b *bundle) readme() []byte {
	var data, commands, options, more strings.Builder
	for _, d := range b.manifest.Data {
		fmt.Fprintf(&options, " --data %s=PATH", d.Name)
		names := make([]string, len(d.Files))
		for i, f := range d.Files {
			names[i] = f.Path
		}
		files := strings.Join(names, ", ")
		if files == "." {
			files = "the file"
		}
		fmt.Fprintf(&data, "| %s | %d | %s |\n", d.Name, len(d.Files), escapeMarkdown(files))
	}
	systems := 0
	for _, r := range b.manifest.Runs {
		systems += len(r.Systems)
		names := make([]string, len(r.Systems))
		for i, s := range r.Systems {
			names[i] = escapeMarkdown(s.Name)
		}
		if r.Kind == programKind {
			fmt.Fprintf(&commands, "%s (%s), by the Go program in source with the arguments\n\n    %s\n\n", r.Name, strings.Join(names, ", "), shellLine(r.Commands[0]...))
		} else {
			lines := mapped(r.Commands, func(command []string) string { return "    " + commandLine(command...) })
			fmt.Fprintf(&commands, "%s (%s), by %s:\n\n%s\n\n", r.Name, strings.Join(names, ", "), versionText(r.Code), strings.Join(lines, "\n"))
		}
	}
	if b.models {
		more.WriteString("| runs/RUN/SYSTEM/FOLD.model.json, FOLD.scores | models, and their scores of the test documents |\n")
	}
	if g := b.manifest.Source; g != nil {
		fmt.Fprintf(&more, "| source | Go program of the module %s, listwise %s |\n", escapeMarkdown(g.Module), g.Listwise)
		if g.Listwise == localVersion {
			options.WriteString(" --module CHECKOUT-OF-LISTWISE")
		}
	}
	if b.add != nil {
		more.WriteString("| files | added by the author; check.sh verifies their checksums alone |\n")
	}
	joint := ""
	if b.files["tables/"+jointName+".csv"] != nil {
		joint = "| tables/" + jointName + " | comparison on all data sets with " + escapeMarkdown(b.baseline) + ", with means over all queries |\n"
	}
	what := fmt.Sprintf("%d runs with %d systems", len(b.manifest.Runs), systems)
	if len(b.manifest.Runs) == 1 {
		what = fmt.Sprintf("one run with %d systems", systems)
	}
	return fmt.Appendf(nil, bundleReadme, b.top(), what, options.String(), data.String(), strings.TrimSuffix(commands.String(), "\n"), joint, more.String())
}
