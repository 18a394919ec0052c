package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Verdict is the judgement of a run.
type Verdict string

// Verdicts of a correct program, then of a faulty one.
const (
	right        Verdict = "right"        // exit 0, and the result equals that of undamaged files or was checked
	refused      Verdict = "refused"      // exit 1 or 2 with a helpful message
	undetectable Verdict = "undetectable" // the damaged file is another valid file: plain text has no checksum

	silent   Verdict = "silently wrong" // exit 0 with another result and no warning
	unclear  Verdict = "unclear error"  // a message that does not state the place, or mentions Go
	panicked Verdict = "panic"
	hung     Verdict = "hang"
	lost     Verdict = "lost file" // an input changed, an output is incomplete, or a temporary file remains
	broken   Verdict = "not run"   // the case itself failed
)

var verdicts = []Verdict{right, refused, undetectable, silent, unclear, panicked, hung, lost, broken}

func (v Verdict) failed() bool { return v != right && v != refused && v != undetectable }

var (
	panics = regexp.MustCompile(`(?m)^panic:|^fatal error:|goroutine \d+ |^runtime:|SIGSEGV|unexpected fault address`)
	// goisms matches words that only a Go programmer understands, and names of files that the user
	// does not have.
	goisms = regexp.MustCompile(`panic|goroutine|strconv\.|runtime error|time: (missing|unknown|invalid)|\.tmp\b|%!|(^|[^.\w])(json|sql): |reflect\.|unmarshal|<nil>|\bnil\b|interface \{|\*[a-z]+\.[A-Z]|SIGSEGV|parsing "|invalid syntax`)
)

// judge judges a run of a case.
func (b *box) judge(r *Result) (Verdict, string) {
	if r.timedOut || r.cpu > b.f.cpuLimit {
		return hung, fmt.Sprintf("took %v of processor time, ended by the clock: %v", r.cpu, r.timedOut)
	}
	if panics.MatchString(r.stderr) {
		return panicked, first(r.stderr)
	}
	if why := b.lost(); why != "" {
		return lost, why
	}
	switch r.code {
	case 0:
		if b.c.Judge == nil {
			return right, ""
		}
		return b.c.Judge(b, r)
	case 1, 2:
		if why := b.unclear(r); why != "" {
			return unclear, why + ": " + first(r.stderr)
		}
		return refused, ""
	}
	return panicked, fmt.Sprintf("ended with %d: %s", r.code, first(r.stderr))
}

// lost returns a description of a file that a run changed, lost or left behind without permission,
// or "".
func (b *box) lost() string {
	after, err := snapshot(b.dir)
	if err != nil {
		return err.Error()
	}
	for _, name := range slices.Sorted(maps.Keys(b.before)) {
		if !b.mayWrite(name) && after[name] != b.before[name] {
			return name + " changed or is gone"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, ok := b.before[name]; !ok && !b.mayWrite(name) {
			return name + " was left"
		}
		if strings.HasSuffix(name, ".tmp") {
			return name + " was left"
		}
	}
	return ""
}

// mayWrite reports whether a file is an output of the case, or in a folder that is one.
func (b *box) mayWrite(name string) bool {
	return slices.ContainsFunc(b.c.Outs, func(out string) bool {
		return name == out || strings.HasPrefix(name, out+"/") || strings.HasPrefix(name, ".listwise/")
	})
}

// unclear returns a description of the fault of a failed run's message, or "".
func (b *box) unclear(r *Result) string {
	text := r.stderr
	switch {
	case strings.TrimSpace(text) == "":
		return "no message"
	case !utf8.ValidString(text):
		return "a message that is no UTF-8"
	case strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\n' || c == 0x7f }):
		return "control characters in the message"
	case len(text) > 4000:
		return "a message of more than 4000 characters"
	}
	if word := goisms.FindString(text); word != "" && !slices.ContainsFunc(r.args, func(a string) bool { return strings.Contains(a, word) }) {
		return fmt.Sprintf("a message with %q", word)
	}
	if strings.Contains(text, "--") {
		return ""
	}
	for _, a := range append(r.args, "standard input", "flag") {
		flag, value, _ := strings.Cut(a, "=")
		for _, name := range []string{a, value, filepath.Base(a), strings.Trim(strconv.QuoteToASCII(value), `"`), strings.TrimLeft(flag, "-")} {
			name = name[:min(len(name), 500)] // messages cut long names
			if len(name) > 1 && strings.Contains(text, name) || name != "" && strings.HasPrefix(text, "listwise: "+name) {
				return ""
			}
		}
	}
	return "a message that names neither file nor flag"
}

func first(text string) string {
	text = strings.TrimSpace(text)
	line, _, _ := strings.Cut(text, "\n")
	if len(line) > 300 {
		line = line[:300] + "…"
	}
	return line
}

// warned reports whether a run printed a warning.
func warned(r *Result) bool { return strings.Contains(r.stderr, "warning: ") }

// asUnharmed returns a judge that compares the output with want, the output for undamaged files.
// file was damaged. If file is plain text, another result is not a fault.
func asUnharmed(want, file string) func(*box, *Result) (Verdict, string) {
	return func(_ *box, r *Result) (Verdict, string) {
		switch {
		case r.stdout == want || warned(r):
			return right, ""
		case plain(file):
			return undetectable, ""
		}
		return silent, "the result differs from that of the unharmed file"
	}
}

// plain reports whether a file is of a kind without checksums, which cannot detect damage: text of
// numbers, answers of engines, an SQLite database, or a model file of another system. Compressed
// files, caches, model files and checkpoints have checksums.
func plain(file string) bool {
	if slices.Contains(foreign, file) || file == "answers.json" || file == "gamma.json" {
		return true
	}
	switch filepath.Ext(file) {
	case ".txt", ".scores", ".run", ".qrels", ".jsonl", ".ndjson", ".db", ".csv", ".tsv":
		return true
	}
	return false
}

// printTable prints the number of runs by kind of case and verdict.
func printTable(out io.Writer, found []finding) {
	counts := map[string]map[Verdict]int{}
	for _, x := range found {
		if counts[x.c.Kind] == nil {
			counts[x.c.Kind] = map[Verdict]int{}
		}
		counts[x.c.Kind][x.verdict]++
	}
	fmt.Fprintf(out, "%-10s%8s", "kind", "runs")
	for _, v := range verdicts {
		fmt.Fprintf(out, "  %s", v)
	}
	fmt.Fprintln(out)
	for _, k := range kinds {
		if counts[k.name] == nil {
			continue
		}
		total := 0
		for _, n := range counts[k.name] {
			total += n
		}
		fmt.Fprintf(out, "%-10s%8d", k.name, total)
		for _, v := range verdicts {
			fmt.Fprintf(out, "  %*d", len(v), counts[k.name][v])
		}
		fmt.Fprintln(out)
	}
}

func printFinding(out io.Writer, x finding) {
	fmt.Fprintf(out, "\n%s: %s\n  %s\n", x.c.Name, x.verdict, x.why)
	if x.last != nil {
		fmt.Fprintf(out, "  %s\n", shown(x.last.args))
	}
}
