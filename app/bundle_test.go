package app

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/runs"
)

const quickTests = "--permutations=50"

// bundled writes two data sets to a folder, tunes on both there, and makes it the working folder. It
// returns the folder.
func bundled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"one", "two"} {
		mustCall(t, "data", "synth", "--shape", "ohsumed", "--queries", "8", "--docs", "6", "--relevant", "3", "--features", "4", "--seed", map[string]string{"one": "1", "two": "2"}[name], "--out", name+".txt")
		mustCall(t, "data", "fold", name+".txt", "--folds", "3", "--out", "data "+name)
		mustCall(t, "tune", "--quiet", "--method", "mle,regression", "--grid", "C=1", "--data", "data "+name, "--measures", "map,ndcg@5", "--jobs", "1", "--out", "runs/"+name)
	}
	return dir
}

// unpack unpacks a bundle to a new folder and returns the folder of its files.
func unpack(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(zipped)
	plain := regexp.MustCompile(`^paper(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)
	last := ""
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, "paper")
		}
		if err != nil {
			t.Fatal(err)
		}
		if !plain.MatchString(h.Name) || h.Name <= last || h.Uid != 0 || h.Uname != "" || h.ModTime.Year() != 1980 {
			t.Errorf("found the member %+v, expected plain, sorted names without users and times", h)
		}
		last = h.Name
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		mustWrite(t, filepath.Join(dir, filepath.FromSlash(h.Name)), string(text))
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// replaceIn replaces the first occurrence of a text in a file.
func replaceIn(t *testing.T, path, old, with string) {
	t.Helper()
	text := mustRead(t, path)
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q:\n%s", path, old, text)
	}
	mustWrite(t, path, strings.Replace(text, old, with, 1))
}

// runCheck runs check.sh of a bundle. listwise is the program that it calls.
func runCheck(t *testing.T, paper, listwise string, args ...string) (code int, said string) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	cmd := exec.Command("sh", append([]string{filepath.Join(paper, "check.sh")}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "LISTWISE="+listwise)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, string(out)
}

// thisListwise returns a path at which this test's binary behaves as listwise: see TestMain.
func thisListwise(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "listwise")
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Claim: an unpacked bundle checks itself in another folder, with and without listwise and the data.
// Two calls write the same bytes. The tables equal the output of compare, also that of both data sets. No path of this machine is inside.
func TestBundle(t *testing.T) {
	dir := bundled(t)
	mustWrite(t, "curve of us.svg", "<svg/>")
	args := []string{"bundle", "runs/one", "2", "--add", "curve of us.svg", "--baseline", "mle", quickTests, "--resamples", "50", "--models", "--out"}
	if wrote := mustCall(t, append(args, "paper.tar.gz")...); strings.Contains(wrote, "of all data sets") {
		t.Errorf("with the same systems on all data, bundle says\n%s", wrote)
	}
	if err := os.Mkdir("again", 0o755); err != nil {
		t.Fatal(err)
	}
	mustCall(t, append(args, "again/paper.tar.gz")...)
	if mustRead(t, "paper.tar.gz") != mustRead(t, "again/paper.tar.gz") {
		t.Error("two calls write different bytes")
	}
	paper := unpack(t, "paper.tar.gz")
	compared := mustCall(t, "compare", "--quiet", "--data", "data one", "--measures", "map,ndcg@5", "--baseline", "mle", quickTests, "--resamples", "50", "--format", "latex", "runs/one/mle", "runs/one/regression")
	if got := mustRead(t, filepath.Join(paper, "tables/data_one.tex")); got != compared {
		t.Errorf("the table is\n%s\ncompare prints\n%s", got, compared)
	}
	for _, name := range []string{"one", "two"} {
		if err := os.CopyFS("in/data_"+name, os.DirFS("runs/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	for format, ending := range map[string]string{"latex": "tex", "markdown": "md", "csv": "csv"} {
		compared := mustCall(t, "compare", "--quiet", "--data", "data_one=data one", "--data", "data_two=data two", "--measures", "map,ndcg@5", "--baseline", "mle",
			quickTests, "--resamples", "50", "--format", format, "in/{data}/mle", "in/{data}/regression")
		if got := mustRead(t, filepath.Join(paper, "tables/joint."+ending)); got != compared {
			t.Errorf("the table of both data sets is\n%s\ncompare prints\n%s", got, compared)
		}
	}
	for _, name := range []string{"files/curve_of_us.svg", "runs/two/mle/Fold2.queries.csv", "runs/one/regression/Fold3.scores", "tables/means.md", "tables/data_two.csv", "README.md"} {
		if text := mustRead(t, filepath.Join(paper, name)); text == "" || strings.Contains(text, dir) {
			t.Errorf("%s is\n%s", name, text)
		}
	}
	for _, c := range []struct {
		listwise string
		args     []string
		want     []string
	}{
		{"none", nil, []string{"have their checksums", "give the means of 4 systems", "not checked: the tables"}},
		{thisListwise(t), nil, []string{"give all tables", "not checked: the training of one (needs --data data_one=PATH)", "not checked: the training of two"}},
		{thisListwise(t), []string{"--data", "data_one=" + filepath.Join(dir, "data one"), "--data", "data_two=" + filepath.Join(dir, "data two")}, []string{
			"ok: training one again gives the same bytes of 6 files of values", "ok: training two again gives the same bytes of 6 files of values",
		}},
	} {
		code, said := runCheck(t, paper, c.listwise, c.args...)
		for _, want := range c.want {
			if code != 0 || !strings.Contains(said, want) {
				t.Errorf("check.sh %v exits with %d and says\n%sexpected %q", c.args, code, said, want)
			}
		}
	}
	t.Run("tampered", func(t *testing.T) { checkTampered(t, dir, paper) })
}

// resign writes the checksum of a changed file to SHA256SUMS, as someone would who hides the change.
func resign(t *testing.T, paper, name string) {
	t.Helper()
	sumsFile := filepath.Join(paper, sumsName)
	was := regexp.MustCompile(`(?m)^[0-9a-f]{64}  ` + regexp.QuoteMeta(name) + "$").FindString(mustRead(t, sumsFile))
	replaceIn(t, sumsFile, was, sha256Of([]byte(mustRead(t, filepath.Join(paper, name))))+"  "+name)
}

// longNumber returns the first value of a file that has many digits.
func longNumber(t *testing.T, text string) string {
	t.Helper()
	number := regexp.MustCompile(`0\.[0-9]{10,}`).FindString(text)
	if number == "" {
		t.Fatalf("found no long number in\n%s", text)
	}
	return number
}

// checkTampered claims that check.sh finds every kind of change of a bundle and of the data.
func checkTampered(t *testing.T, dir, paper string) {
	listwise := thisListwise(t)
	const values, table = "runs/one/mle/Fold1.queries.csv", "tables/data_one.tex"
	text := mustRead(t, filepath.Join(paper, values))
	number := longNumber(t, text)
	data := filepath.Join(dir, "data one")
	for _, c := range []struct {
		name   string
		change func(t *testing.T, paper string)
		tables bool // needs listwise
		args   []string
		code   int
		want   []string
	}{
		{"a value", func(t *testing.T, paper string) { replaceIn(t, filepath.Join(paper, values), number, "0.123") }, false, nil, 1, []string{values + ": found sha256"}},
		{"a value with its checksum", func(t *testing.T, paper string) {
			replaceIn(t, filepath.Join(paper, values), number, "0.123")
			resign(t, paper, values)
		}, true, []string{"--data", "data_one=" + data}, 1, []string{"the mean of", "of 12 differ", "gives other bytes of " + values}},
		{"a table with its checksum", func(t *testing.T, paper string) {
			replaceIn(t, filepath.Join(paper, table), "mle & ", "mle & 0.9")
			resign(t, paper, table)
		}, true, nil, 1, []string{table, "1 of 12 differ"}},
		{"the means with their checksum", func(t *testing.T, paper string) {
			replaceIn(t, filepath.Join(paper, "tables/means.csv"), ",map,8,0.", ",map,8,0.9")
			resign(t, paper, "tables/means.csv")
		}, false, nil, 1, []string{"but tables/means.csv has 0.9"}},
		{"another table with a checksum", func(t *testing.T, paper string) {
			const more = "tables/more.tex"
			mustWrite(t, filepath.Join(paper, more), "0.9")
			listed := filepath.Join(paper, "SHA256SUMS")
			mustWrite(t, listed, mustRead(t, listed)+sha256Of([]byte("0.9"))+"  "+more+"\n")
		}, true, nil, 1, []string{"tables/more.tex", "not a table of these values", "1 of 13 differ"}},
		{"a missing file", func(t *testing.T, paper string) {
			if err := os.Remove(filepath.Join(paper, "tables/means.md")); err != nil {
				t.Fatal(err)
			}
		}, false, nil, 1, []string{"tables/means.md is missing"}},
		{"another file", func(t *testing.T, paper string) {
			mustWrite(t, filepath.Join(paper, "runs/one/mle/Fold4.queries.csv"), text)
		}, false, nil, 1, []string{"runs/one/mle/Fold4.queries.csv is not in SHA256SUMS"}},
		{"the script", func(t *testing.T, paper string) { replaceIn(t, filepath.Join(paper, "check.sh"), "\n", "\n\n") }, false, nil, 1, []string{"check.sh: found sha256"}},
		{"other data", func(*testing.T, string) {}, false, []string{"--data", "data_one=" + filepath.Join(dir, "data two")}, 2, []string{"data data_one: ", "Fold1/test.txt: found sha256 ", ", expected "}},
		{"missing data", func(*testing.T, string) {}, false, []string{"--data", "data_one=" + paper}, 2, []string{"Fold1/test.txt is missing, expected sha256 "}},
		{"unknown data", func(*testing.T, string) {}, false, []string{"--data", "three=" + data}, 2, []string{"found --data three, expected one of: data_one data_two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := filepath.Join(t.TempDir(), "copy of paper")
			if err := os.CopyFS(changed, os.DirFS(paper)); err != nil {
				t.Fatal(err)
			}
			c.change(t, changed)
			program := "none"
			if c.tables {
				program = listwise
			}
			code, said := runCheck(t, changed, program, c.args...)
			for _, want := range c.want {
				if code != c.code || !strings.Contains(said, want) {
					t.Errorf("check.sh exits with %d and says\n%sexpected %d and %q", code, said, c.code, want)
				}
			}
		})
	}
}

// Claim: runs of tune --seeds, of auto with a number of trials, and of train with eval are bundled, with tables
// over the seeds as compare prints them. check.sh trains all of them again and compares values, learning
// curves, models and scores. Another version of listwise may give other curves.
func TestBundleOfAllKinds(t *testing.T) {
	dir := bundled(t)
	mustCall(t, "tune", "--quiet", "--method", "mle,ranknet", "--scorer", "ranknet=net", "--grid", "epochs=2", "--seeds", "2,5", "--data", "data one", "--measures", "map,ndcg@5", "--out", "runs/seeds")
	mustCall(t, "auto", "--quiet", "--data", "data one", "--trials", "2", "--measures", "map,ndcg@5", "--out", "runs/auto")
	train, test := filepath.Join("data one", "Fold1", "train.txt"), filepath.Join("data one", "Fold1", "test.txt")
	mustCall(t, "train", "--quiet", "--method", "mle", "--train", train, "--train", filepath.Join("data one", "Fold1", "vali.txt"), "--model", "all.json")
	mustCall(t, "train", "--quiet", "--method", "ranknet", "--set", "epochs=2", "--train", train, "--curve", "net.curve", "--model", "net.json")
	for _, m := range []string{"all.json", "net.json"} {
		mustCall(t, "eval", "--quiet", "--data", test, "--model", m, "--measures", "map")
	}
	wrote := mustCall(t, "bundle", "runs/seeds", "runs/auto", "all.json", "8", "runs/one", "--models", "--resamples", "50", quickTests, "--out", "paper.tar.gz")
	if !strings.Contains(wrote, "No table of all data sets: it needs --baseline.") {
		t.Errorf("bundle says\n%s", wrote)
	}
	paper := unpack(t, "paper.tar.gz")
	systems := []string{"runs/seeds/mle", "runs/seeds/ranknet", "runs/auto/folds/auto", "runs/auto/folds/best-single", "one=runs/one/mle", "runs/one/regression"}
	compared := mustCall(t, append([]string{"compare", "--quiet", "--data", "data one", "--measures", "map,ndcg@5", quickTests, "--resamples", "50", "--format", "csv"}, systems...)...)
	if got := strings.ReplaceAll(mustRead(t, filepath.Join(paper, "tables/data_one.csv")), "seeds/mle", "mle"); got != strings.ReplaceAll(compared, ",one,", ",one/mle,") {
		t.Errorf("the table is\n%s\ncompare prints\n%s", got, compared)
	}
	if text := mustRead(t, filepath.Join(paper, "tables/test.csv")); !strings.Contains(text, "map,3,all,net,") {
		t.Errorf("the table of both models of train is\n%s", text)
	}
	listwise := thisListwise(t)
	args := []string{"--data", "data_one=" + filepath.Join(dir, "data one")}
	for _, name := range []string{"test.txt", "train.txt", "vali.txt"} {
		args = append(args, "--data", name+"="+filepath.Join(dir, "data one", "Fold1", name))
	}
	code, said := runCheck(t, paper, listwise, args...)
	for _, want := range []string{
		"ok: the values give the means of 8 systems",
		"ok: the values give all tables",
		"training seeds again gives the same bytes of 12 files of values", "training seeds again gives the same bytes of 30 curves, models or scores",
		"training auto again gives the same bytes of 6 files of values", "training auto again gives the same bytes of 12 curves",
		"training all again gives the same bytes of 1 files of values", "training net again gives the same bytes of 1 files of values",
		"training net again gives the same bytes of 2 curves",
	} {
		if code != 0 || !strings.Contains(said, want) {
			t.Errorf("check.sh exits with %d and says\n%sexpected %q", code, said, want)
		}
	}
	const curve = "runs/net/net/test.txt.curve"
	replaceIn(t, filepath.Join(paper, curve), `"epoch":1`, `"epoch":3`)
	resign(t, paper, curve)
	args = args[2:] // the models of train alone
	if code, said := runCheck(t, paper, listwise, args...); code != 1 || !strings.Contains(said, "net: the same version of listwise gives other bytes of "+curve) {
		t.Errorf("after a change of a curve, check.sh exits with %d and says\n%s", code, said)
	}
	m, err := readManifest(paper)
	if err != nil {
		t.Fatal(err)
	}
	replaceIn(t, filepath.Join(paper, "check.sh"), "begin net 'listwise devel (' "+m.Runs[3].Code.Program, "begin net 'listwise devel (' another")
	resign(t, paper, "check.sh")
	if code, said := runCheck(t, paper, listwise, args...); code != 0 || !strings.Contains(said, "not checked: 1 curves, models or scores of net, which only the version of listwise that trained gives again") {
		t.Errorf("with another version, check.sh exits with %d and says\n%s", code, said)
	}
}

// Claim: the table of all data sets has the systems that are on all of them. bundle says what the table
// leaves out, and why there is none.
func TestBundleOfAllData(t *testing.T) {
	bundled(t)
	tuned := func(method, data, out string, more ...string) {
		mustCall(t, append([]string{"tune", "--quiet", "--method", method, "--data", "data " + data, "--measures", "map", "--out", out}, more...)...)
	}
	tuned("random", "one", "runs/three")
	tuned("mle,random", "two", "runs/four", "--convention", "letor3")
	tuned("singlefeature,mle", "two", "runs/five")
	for _, c := range []struct{ args, want string }{
		{"1 2 3 --baseline mle", "The table of all data sets leaves out random, without results on some."},
		{"1 4 2 --baseline mle", "No table of all data sets: the tables data_two and data_two-2 are on the same test data."},
		{"1 5 --baseline mle", "No table of all data sets: it needs mle, another system and a measure on all of them."},
	} {
		wrote := mustCall(t, append([]string{"bundle", quickTests, "--resamples", "50", "--out", "paper.tar.gz"}, strings.Fields(c.args)...)...)
		paper := unpack(t, "paper.tar.gz")
		if exists(filepath.Join(paper, "tables/joint.tex")) != strings.HasPrefix(c.want, "The table") || !strings.Contains(wrote, c.want) {
			t.Errorf("bundle %s says\n%sexpected %q", c.args, wrote, c.want)
		}
		if code, said := runCheck(t, paper, thisListwise(t)); code != 0 || !strings.Contains(said, "ok: the values give all tables") {
			t.Errorf("check.sh exits with %d and says\n%s", code, said)
		}
	}
}

// Claim: bundle refuses a run whose files or data are not those of its record, with the reason.
func TestBundleRefuses(t *testing.T) {
	dir := bundled(t)
	template := filepath.Join(t.TempDir(), "template")
	if err := os.CopyFS(template, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T)
		args   string
		want   string
	}{
		{"values", func(t *testing.T) { mustWrite(t, "runs/one/mle/Fold1.queries.csv", "query,map,ndcg@5\n1,0.5,0.5\n") }, "runs/one", "Fold1.queries.csv: found 1 queries, expected"},
		{"a value", func(t *testing.T) {
			text := mustRead(t, "runs/one/mle/Fold1.queries.csv")
			replaceIn(t, "runs/one/mle/Fold1.queries.csv", text[strings.LastIndex(text, ","):], ",0.123\n")
		}, "1", "found 0.123 for ndcg@5"},
		{"a mean", func(t *testing.T) { replaceIn(t, "runs/one/results.json", `"mean": 0.`, `"mean": 0.1`) }, "runs/one", "results.json, mle: found the mean 0.1"},
		{"a missing fold", func(t *testing.T) {
			if err := os.Remove("runs/one/mle/Fold2.queries.csv"); err != nil {
				t.Fatal(err)
			}
		}, "runs/one", "Fold2.queries.csv is missing, expected it as recorded"},
		{"scores", func(t *testing.T) {
			mustWrite(t, "runs/one/mle/Fold1.scores", strings.Repeat("1\n", strings.Count(mustRead(t, "runs/one/mle/Fold1.scores"), "\n")))
		}, "runs/one --models", "but the scores give"},
		{"a model", func(t *testing.T) {
			mustWrite(t, "runs/one/mle/Fold1.model.json", mustRead(t, "runs/one/mle/Fold2.model.json"))
		}, "runs/one --models", "Fold1.model.json: found a model that does not give the scores beside it"},
		{"a missing seed", func(t *testing.T) {
			mustCall(t, "tune", "--quiet", "--method", "mle", "--grid", "C=1", "--seeds", "1,2", "--data", "data one", "--out", "runs/seeds")
			if err := os.RemoveAll("runs/seeds/mle/seed-2"); err != nil {
				t.Fatal(err)
			}
		}, "runs/seeds", "Fold1.queries.csv is missing, expected it as recorded"},
		{"a search with a time limit", func(t *testing.T) {
			mustCall(t, "auto", "--quiet", "--data", "data one", "--budget", "1h", "--trials", "1", "--out", "runs/auto")
		}, "runs/auto", "found a search of auto with --budget 1h0m0s, whose result depends on the machine, expected one with --trials alone: the first lines of runs/auto/commands.sh"},
		{"a search without test data", func(t *testing.T) {
			mustCall(t, "auto", "--quiet", "--data", "one.txt", "--trials", "1", "--out", "runs/auto")
		}, "runs/auto", "expected the results of tune, or of auto with test data"},
		{"a model without values", func(t *testing.T) {
			mustCall(t, "train", "--quiet", "--method", "mle", "--train", "data one/Fold1/train.txt", "--model", "m.json")
		}, "m.json", "found no recorded run of eval with this model, expected its values on test data: listwise eval --model m.json --data TEST"},
		{"a model and its training data", func(t *testing.T) {
			mustCall(t, "train", "--quiet", "--method", "mle", "--train", "data one/Fold1/train.txt", "--model", "m.json")
			mustCall(t, "eval", "--quiet", "--data", "data one/Fold1/train.txt", "--model", "m.json")
		}, "m.json", "found values of data one/Fold1/train.txt, the train data of the model, expected values of test data"},
		{"a model of two evaluations", func(t *testing.T) {
			mustCall(t, "train", "--quiet", "--method", "mle", "--train", "data one/Fold1/train.txt", "--model", "m.json")
			for _, test := range []string{"data one/Fold1/test.txt", "data two/Fold1/test.txt"} {
				mustCall(t, "eval", "--quiet", "--data", test, "--model", "m.json")
			}
		}, "m.json", "found evaluations on several data, runs 5, 4, expected the number of each to pack"},
		{"a model with two evaluations on the same data", func(t *testing.T) {
			mustCall(t, "train", "--quiet", "--method", "mle", "--train", "data one/Fold1/train.txt", "--model", "m.json")
			for range 2 {
				mustCall(t, "eval", "--quiet", "--data", "data one/Fold1/test.txt", "--model", "m.json")
			}
		}, "4 m.json", "m.json, run 5: found two evaluations of the model on the same data, expected one"},
		{"a model that was trained again", func(t *testing.T) {
			for _, method := range []string{"mle", "regression"} {
				mustCall(t, "train", "--quiet", "--method", method, "--train", "data one/Fold1/train.txt", "--model", "m.json")
				mustCall(t, "eval", "--quiet", "--data", "data one/Fold1/test.txt", "--model", "m.json")
			}
		}, "4", "the data have changed since: m.json, model: found fingerprint"},
		{"a model that was copied", func(t *testing.T) {
			for _, method := range []string{"mle", "regression"} {
				mustCall(t, "train", "--quiet", "--method", method, "--train", "data one/Fold1/train.txt", "--model", method+".json")
			}
			mustWrite(t, "mle.json", mustRead(t, "regression.json"))
			mustCall(t, "eval", "--quiet", "--data", "data one/Fold1/test.txt", "--model", "mle.json")
		}, "mle.json", "found a model of another training, expected that of run 3"},
		{"a model that a copy began", func(t *testing.T) {
			mustCall(t, "train", "--quiet", "--method", "lambdamart", "--set", "trees=1", "--train", "data one/Fold1/train.txt", "--model", "m.json")
			mustCall(t, "train", "--quiet", "--method", "lambdamart", "--set", "trees=1", "--train", "data one/Fold1/train.txt", "--continue", "m.json", "--model", "n.json")
			mustCall(t, "eval", "--quiet", "--data", "data one/Fold1/test.txt", "--model", "n.json")
		}, "n.json", "found --continue m.json, a model of another command, expected a training from data alone"},
		{"a run of a Go program", func(t *testing.T) {
			record, err := runs.Open(".", runs.Patience)
			if err != nil {
				t.Fatal(err)
			}
			run := &runs.Run{Kind: runs.Train}
			if err := record.Begin(run); err != nil {
				t.Fatal(err)
			}
			run.Status = runs.Finished
			if err := errors.Join(record.Finish(run), record.Close()); err != nil {
				t.Fatal(err)
			}
		}, "3", "run 3: found a run of a Go program, expected one of a command"},
		{"scores", func(t *testing.T) {
			mustWrite(t, "a.scores", strings.Repeat("1\n", strings.Count(mustRead(t, "data one/Fold1/test.txt"), "\n")))
			mustCall(t, "eval", "--quiet", "--data", "data one/Fold1/test.txt", "--scores", "a.scores")
		}, "3", "found an evaluation of scores, which check.sh cannot compute again"},
		{"a missing system", func(t *testing.T) {
			if err := os.RemoveAll("runs/one/mle"); err != nil {
				t.Fatal(err)
			}
		}, "runs/one", "found no values of mle, expected those of all systems in results.json"},
		{"a fold too many", func(t *testing.T) { mustWrite(t, "runs/one/mle/Fold4.queries.csv", "query,map,ndcg@5\n") }, "runs/one", "found the values of fold Fold4"},
		{"data", func(t *testing.T) { replaceIn(t, "data one/Fold1/test.txt", " 1:", " 1:7") }, "runs/one", "the data have changed since: data one/Fold1, Fold1 test: found fingerprint"},
		{"no data", func(t *testing.T) {
			if err := os.Rename("data one", "gone"); err != nil {
				t.Fatal(err)
			}
		}, "runs/one", "data one"},
		{"no record", func(t *testing.T) {
			if err := os.RemoveAll(".listwise"); err != nil {
				t.Fatal(err)
			}
		}, "runs/one", "found no recorded run of this folder that wrote mle, regression"},
		{"the same twice", func(*testing.T) {}, "1 runs/one", "found the run twice"},
		{"the same by a symbolic link", func(t *testing.T) {
			if err := os.Symlink("runs/one", "link"); err != nil {
				t.Skip(err)
			}
		}, "link runs/one", "runs/one, run 1: found the run twice"},
		{"no results", func(*testing.T) {}, "runs", "found no folders with Foldk.queries.csv"},
		{"no run", func(*testing.T) {}, "9", "no run 9"},
		{"no baseline", func(*testing.T) {}, "1 --baseline bm25", `found no "bm25" in the table on data_one, which has mle, regression, expected it in every table`},
		{"a table without the baseline", func(t *testing.T) {
			mustCall(t, "tune", "--quiet", "--method", "random,regression", "--grid", "C=1", "--data", "data two", "--measures", "map,ndcg@5", "--out", "runs/three")
		}, "1 runs/three --baseline mle", `found no "mle" in the table on data_two, which has random, regression, expected it in every table`},
		{"no measure", func(*testing.T) {}, "1 --measures err", `found "err", expected a measure that all systems`},
		{"no source", func(*testing.T) {}, "1 --data one.txt", "found no --source"},
		{"a path of this machine", func(t *testing.T) {
			here, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			mustWrite(t, "note.md", "see "+here+"/runs")
		}, "1 --add note.md", "files/note.md of the bundle contains the path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.CopyFS(".", os.DirFS(template)); err != nil {
				t.Fatal(err)
			}
			c.change(t)
			args := append([]string{"bundle", quickTests, "--resamples", "50", "--out", "paper.tar.gz"}, strings.Fields(c.args)...)
			code, _, said := call(args...)
			if code != exitUsage || !strings.Contains(said, c.want) {
				t.Errorf("listwise %v exits with %d and says %q, expected %q", args, code, said, c.want)
			}
			if exists("paper.tar.gz") {
				t.Error("the file was written")
			}
		})
	}
}

// Claim: only whole paths of a folder count as private.
func TestContainsPath(t *testing.T) {
	for text, want := range map[string]bool{
		"/home/ada": true, "see /home/ada/x": true, `"/home/ada"`: true, "a=/home/ada": true,
		"/home/adam": false, "$here/home/ada": false, "/data/home/ada/x": false, "home/ada": false, "": false, "/home/adam /home/ada": true,
	} {
		if got := containsPath([]byte(text), "/home/ada"); got != want {
			t.Errorf("%q: found %v, expected %v", text, got, want)
		}
	}
}

// Claim: names with spaces, dots and quotation marks, and absolute paths of data, give plain paths in
// the bundle and a check that passes. A folder that two commands filled is two runs.
func TestBundleOfUnusualNames(t *testing.T) {
	dir := bundled(t)
	out := "runs/it's; a $(run) ..\\"
	for _, m := range []string{"mle", "regression"} {
		mustCall(t, "tune", "--quiet", "--method", m, "--grid", "C=1", "--data="+filepath.Join(dir, "data one"), "--measures", "map", "--out", out)
	}
	mustCall(t, "bundle", out, quickTests, "--out", "paper.tar.gz")
	paper := unpack(t, "paper.tar.gz")
	code, said := runCheck(t, paper, thisListwise(t), "--data", "data_one="+filepath.Join(dir, "data one"))
	if code != 0 || strings.Count(said, "gives the same bytes of 3 files") != 2 {
		t.Errorf("check.sh exits with %d and says\n%s", code, said)
	}
}

// Claim: files of one fold are data of their own names, and a command with a time limit is not repeated.
func TestBundleOfFiles(t *testing.T) {
	dir := bundled(t)
	fold := filepath.Join("data one", "Fold1")
	mustCall(t, "tune", "--quiet", "--method", "mle", "--grid", "C=1", "--train", filepath.Join(fold, "train.txt"), "--valid", filepath.Join(fold, "vali.txt"), "--test", filepath.Join(fold, "test.txt"), "--measures", "map", "--out", "runs/files")
	mustCall(t, "tune", "--quiet", "--method", "regression", "--grid", "C=1", "--data", "data one", "--budget", "1h", "--measures", "map", "--out", "runs/timed")
	mustCall(t, "tune", "--quiet", "--method", "mle", "--grid", "C=1", "--data", "one.txt", "--measures", "map", "--out", "runs/untested")
	mustCall(t, "bundle", "runs/files", "runs/timed", "--out", "paper.tar.gz")
	var args []string
	for _, name := range []string{"train.txt", "vali.txt", "test.txt"} {
		args = append(args, "--data", name+"="+filepath.Join(dir, fold, name))
	}
	code, said := runCheck(t, unpack(t, "paper.tar.gz"), thisListwise(t), args...)
	for _, want := range []string{"training files again gives the same bytes of 1 files", "not checked: the training of timed, as --budget 1h"} {
		if code != 0 || !strings.Contains(said, want) {
			t.Errorf("check.sh exits with %d and says\n%sexpected %q", code, said, want)
		}
	}
	if code, _, said := call("bundle", "runs/untested", "--out", "untested.tar.gz"); code != exitUsage || !strings.Contains(said, "found values of the validation data") {
		t.Errorf("bundle exits with %d and says %q", code, said)
	}
}

// ownResults trains an own loss on the folds of data as a Go program would.
func ownResults(t *testing.T, data, out string) {
	t.Helper()
	folds, err := tune.ReadFolds(data, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type setting struct{ C float64 }
	own := func(s setting) (loss.Loss, train.Learner, error) {
		return loss.RankCosine{}, train.LBFGS{Architecture: train.Linear, C: s.C, Tolerance: 1e-6, Iterations: 50}, nil
	}
	_, err = tune.Run(context.Background(), tune.Config{
		Folds: folds, Seed: 1, Dir: out, Ties: measure.TiesPessimistic,
		Measures: []measure.Measure{measure.MustParse("map", measure.LETOR3), measure.MustParse("ndcg@5", measure.LETOR3)},
		Entries:  []tune.Entry{tune.OwnOf("our loss", []setting{{1}}, own)},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Claim: the results of a Go program are bundled with its source, under the convention and the ties
// that it chose. check.sh builds and runs it if there is Go. Values that the scores do not give and
// other data are refused.
func TestBundleOfProgram(t *testing.T) {
	dir := bundled(t)
	ownResults(t, "data one", "runs/own")
	mustWrite(t, "main.go", "package main\n\nfunc main() {}\n")
	args := []string{"bundle", "runs/own", "runs/one", "--source", "main.go", "--data", "data one", quickTests, "--out", "paper.tar.gz"}
	if code, _, said := call(args...); code != exitUsage || !strings.Contains(said, "found no go.mod") {
		t.Errorf("without a module, bundle exits with %d and says %q", code, said)
	}
	mustWrite(t, "go.mod", "module paper\n\nrequire (\n\t"+listwiseModule+" v1.2.3 // indirect\n\texample.com/x v1.0.0\n)\n\nreplace example.com/x => ../x\n")
	mustCall(t, args...)
	paper := unpack(t, "paper.tar.gz")
	m, err := readManifest(paper)
	if err != nil {
		t.Fatal(err)
	}
	if want := (bundleEvaluation{"letor3", 1, "pessimistic"}); m.Runs[0].Evaluation != want {
		t.Errorf("found the evaluation %v, expected %v", m.Runs[0].Evaluation, want)
	}
	if m.Source.Listwise != "v1.2.3" || m.Source.Module != "paper" || strings.Contains(mustRead(t, filepath.Join(paper, "source/go.mod")), "..") {
		t.Errorf("found the module %+v", m.Source)
	}

	// A program named go "builds" a script that copies the results, or results of another version.
	bin := t.TempDir()
	slightly := filepath.Join(t.TempDir(), "own")
	if err := os.CopyFS(slightly, os.DirFS("runs/own")); err != nil {
		t.Fatal(err)
	}
	text := mustRead(t, filepath.Join(slightly, "our loss/Fold1.queries.csv"))
	number := longNumber(t, text)
	other := number[:8] + string('0'+(number[8]-'0'+1)%10) + number[9:]
	mustWrite(t, filepath.Join(slightly, "our loss/Fold1.queries.csv"), strings.Replace(text, number, other, 1))
	listwise := thisListwise(t)
	for _, c := range []struct {
		from string
		args []string
		code int
		want string
	}{
		{filepath.Join(dir, "runs/own"), nil, 0, "training own again gives the same bytes of 3 files"},
		{slightly, nil, 0, "training own again gives values within 0.0001 in 1 files, the same bytes in 2"},
		{slightly, []string{"--tolerance", "1e-20"}, 1, "within 1e-20"},
		{"/nonexistent", nil, 1, "own: the program fails"},
	} {
		fake := "#!/bin/sh\nprintf '#!/bin/sh\\ncp -R \"" + c.from + "\" \"$2\"\\n' >\"$3\"\nchmod +x \"$3\"\n"
		mustWrite(t, filepath.Join(bin, "go"), fake)
		if err := os.Chmod(filepath.Join(bin, "go"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		code, said := runCheck(t, paper, listwise, append([]string{"--data", "data_one=" + filepath.Join(dir, "data one")}, c.args...)...)
		if code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("check.sh exits with %d and says\n%sexpected %d and %q", code, said, c.code, c.want)
		}
	}

	for _, c := range []struct{ name, data, want string }{
		{"edited", "data one", "but the scores give"},
		{"other data", "data two", "found training data with fingerprint"},
	} {
		if c.name == "edited" {
			mustWrite(t, "runs/own/our loss/Fold1.queries.csv", strings.Replace(text, number, "0.123", 1))
		}
		args := slices.Clone(args)
		args[6] = c.data
		if code, _, said := call(args...); code != exitUsage || !strings.Contains(said, c.want) {
			t.Errorf("%s: bundle exits with %d and says %q, expected %q", c.name, code, said, c.want)
		}
	}
}
