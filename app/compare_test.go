package app

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The JSON of compare that scripts rely on: with one measure, and with several the
// first at the same place; means are those of eval, a difference is that of the
// means, and the exact p value that of eval's values per query.
func TestCompareJSON(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	mustCall(t, "data", "synth", "--queries", "9", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "d.txt")
	for _, m := range []string{"mle", "regression"} {
		mustCall(t, "train", "--method", m, "--train", "d.txt", "--model", m+".json")
	}
	mustCall(t, "score", "--model", "mle.json", "--data", "d.txt", "--out", "scored.txt")
	type compared struct {
		Measure string
		Queries int
		Systems []struct {
			Name string
			Mean float64
			CI   [2]float64
		}
		Pairs []struct {
			A, B               string
			Difference         float64
			T                  struct{ P float64 }
			Randomization      map[string]float64
			Wins, Ties, Losses int
		}
	}
	var got struct {
		compared
		Measures []compared
	}
	decode(t, mustCall(t, "compare", "--data", "d.txt", "--measures", "ndcg@5,map", "--format", "json", "mle.json", "regression.json", "scored.txt"), &got)
	if got.Measure != "ndcg@5" || got.Queries != 9 || len(got.Systems) != 3 || len(got.Pairs) != 3 || len(got.Measures) != 2 || got.Measures[1].Measure != "map" {
		t.Fatalf("comparison is %+v", got)
	}
	for i, name := range []string{"mle", "regression"} {
		var e struct{ Measures map[string]float64 }
		decode(t, mustCall(t, "eval", "--data", "d.txt", "--model", name+".json", "--format", "json"), &e)
		s := got.Systems[i]
		if s.Name != name || math.Abs(s.Mean-e.Measures["ndcg@5"]) > 1e-12 || s.CI[0] > s.Mean || s.CI[1] < s.Mean || s.CI[0] >= s.CI[1] {
			t.Errorf("system is %+v, eval says %v", s, e.Measures)
		}
	}
	p := got.Pairs[0]
	if p.A != "mle" || p.B != "regression" || p.Wins+p.Ties+p.Losses != 9 || math.Abs(p.Difference-(got.Systems[0].Mean-got.Systems[1].Mean)) > 1e-12 {
		t.Errorf("pair is %+v", p)
	}
	if exact := exactP(t, "mle", "regression", "ndcg@5"); math.Abs(p.Randomization["p"]-exact) > 1e-12 || p.Randomization["p_holm"] < exact || p.Randomization["p_max_t"] < exact {
		t.Errorf("p values are %v, the exact one is %v", p.Randomization, exact)
	}
	if same := got.Pairs[1]; same.B != "scored.txt" || same.Ties != 9 || same.Randomization["p"] != 1 || same.T.P != 1 {
		t.Errorf("a model and its own scores differ: %+v", same)
	}
}

// exactP is the p value of Fisher's test by its definition, on the values that eval
// leaves for every query.
func exactP(t *testing.T, a, b, measure string) float64 {
	t.Helper()
	values := map[string][]float64{}
	for _, name := range []string{a, b} {
		mustCall(t, "eval", "--data", "d.txt", "--model", name+".json", "--per-query", name+".q.json")
		text, err := os.ReadFile(filepath.Clean(name + ".q.json"))
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Queries []struct{ Measures map[string]float64 }
		}
		decode(t, string(text), &file)
		for _, q := range file.Queries {
			values[name] = append(values[name], q.Measures[measure])
		}
	}
	n := len(values[a])
	sum := func(flip int) (s float64) {
		for q := range n {
			s += (values[a][q] - values[b][q]) * float64(1-2*(flip>>q&1))
		}
		return math.Abs(s)
	}
	count := 0
	for flip := range 1 << n {
		if sum(flip) >= sum(0)-1e-9 {
			count++
		}
	}
	return float64(count) / float64(int(1)<<n)
}

// Claim: a seed that results.json of tune --seeds has, but the folder of the method lacks, is an error.
func TestMissingSeeds(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"o/mle/seed-1", "o/mle/seed-3", "o/net/seed-1", "alone/mle/seed-1"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mustWrite(t, "o/results.json", `{"methods": [{"method": "mle", "seeds": [{"seed": 1}, {"seed": 2}, {"seed": 3}]}, {"method": "net", "seeds": [{"seed": 1}]}]}`)
	for arg, runs := range map[string]int{"o/net/": 1, "alone/mle": 1, "m=o/mle/seed-1,o/mle/seed-3": 2} {
		if s, err := newContestant(arg, nil); err != nil || len(s.runs) != runs {
			t.Errorf("%s: %v, %v, expected %d runs", arg, s, err, runs)
		}
	}
	for _, arg := range []string{"o/mle", "m=o/mle/"} {
		if _, err := newContestant(arg, nil); err == nil || !strings.Contains(err.Error(), "found no folder seed-2, expected the results of seed 2") {
			t.Errorf("%s: %v, expected an error about seed 2", arg, err)
		}
	}
}

// Names of systems are the parts of their paths that tell them apart.
func TestShortName(t *testing.T) {
	for path, want := range map[string]string{
		"runs/mle/":                "mle",
		"a.model.json":             "a",
		"runs/mle.v2/Fold1.scores": "Fold1",
		"runs/{seed}/ranknet":      "ranknet",
		"runs/ranknet/{seed}":      "ranknet",
		"runs/ranknet/seed{seed}":  "ranknet",
		"runs/{data}/mle":          "mle",
		"runs/{data}/{seed}/net":   "net",
		"runs/mle-{data}.json":     "mle",
		"net-{seed}.json":          "net",
		"seed-{seed}.scores":       "seed-{seed}",
		"/x/{seed}/net.model.json": "net",
		".json":                    ".json",
	} {
		if got := shortName(path); got != want {
			t.Errorf("shortName(%q) = %q, want %q", path, got, want)
		}
	}
}

// A name cannot break out of its cell in Markdown or LaTeX.
func TestEscapes(t *testing.T) {
	const nasty = "a|b_c*d<e`f\\g&h%i$j#k{l}m~n^o>p\n\nq[r](s)\rt"
	if got := escapeMarkdown(nasty); regexp.MustCompile("(^|[^\\\\])[|*_<`\\[\\]&$~]|[\n\r]").MatchString(got) {
		t.Errorf("Markdown: %s", got)
	}
	for name, want := range map[string]string{"[a]": "{}[a]", "*a": "{}*a", "a[1]*": "a[1]*"} {
		if got := latexMarks.text(name); got != want { // \\ before a row would take [a] and * for its own
			t.Errorf("LaTeX: %s, want %s", got, want)
		}
	}
	got := strings.NewReplacer(`\textbackslash{}`, "", `\textasciitilde{}`, "", `\textasciicircum{}`, "", "$<$", "", "$>$", "").Replace(escapeLatex(nasty))
	if regexp.MustCompile(`(^|[^\\])[&%$#_{}~^]|[\n\r]`).MatchString(got) {
		t.Errorf("LaTeX: %s", got)
	}
}

// Any argument of compare is refused as the caller's error, or is a system with a name and
// runs whose paths are known.
func FuzzContestant(f *testing.F) {
	for _, arg := range []string{"a.json", "NAME=A,B", "mle=runs/{seed}/mle", "=a", "a=", "x=a,,b", "a,b", "{seed}", "", ".", "/", "a/b=c,d", "\x00", "n=.json"} {
		f.Add(arg, true)
		f.Add(arg, false)
	}
	f.Fuzz(func(t *testing.T, arg string, seeded bool) {
		var seeds []uint64
		if seeded {
			seeds = []uint64{1, 2}
		}
		s, err := newContestant(arg, seeds)
		if err != nil {
			if exitCode(err) != exitUsage {
				t.Fatalf("%q: %v is not the caller's", arg, err)
			}
			return
		}
		if s.name == "" || len(s.runs) == 0 {
			t.Fatalf("%q is the system %+v", arg, s)
		}
		for _, r := range s.runs {
			if r.path == "" || strings.Contains(r.path, seedMark) {
				t.Fatalf("%q has the run %q", arg, r.path)
			}
		}
		if !seeded && !s.given && (len(s.runs) > 1 || s.runs[0].path != arg) {
			t.Fatalf("%q without a name has the runs %+v", arg, s.runs)
		}
	})
}

// Letters go on after z.
func TestLetter(t *testing.T) {
	for i, want := range map[int]string{0: "a", 25: "z", 26: "aa", 27: "ab", 51: "az", 52: "ba", 702: "aaa"} {
		if got := letter(i); got != want {
			t.Errorf("letter(%d) = %s, want %s", i, got, want)
		}
	}
}
