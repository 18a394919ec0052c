package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Claim: a last line that is cut off, as in a log that is still written, is left out with a note.
func TestClicksInfoLeavesOutACutLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(`{"query":"q","docs":["a"],"clicks":[1]}`+"\n"+`{"query":"q","do`), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call("clicks", "info", path, "--format", "csv")
	if code != exitDone || !strings.Contains(out, "\npages,1\n") || !strings.Contains(errs, "note: 1 last page was cut off and left out\n") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}

// Claim: a flag that would do nothing is refused, and messages name the flag that helps.
func TestClicksFlagsThatDoNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	var pages strings.Builder
	for n := range 60 {
		docs, clicks := `["a","b","c"]`, `[1,0,0]`
		if n%2 == 0 {
			docs, clicks = `["b","a","c"]`, `[0,1,0]`
		}
		arm := []string{"old", "new"}[n%2]
		fmt.Fprintf(&pages, `{"page":"p%d","user":"u%d","query":"q","experiment":"e","arm":%q,"docs":%s,"clicks":%s}`+"\n", n, n, arm, docs, clicks)
	}
	mustWrite(t, "p.jsonl", pages.String())
	mustWrite(t, "two.jsonl", `{"user":"u","query":"q","experiment":"e","arm":"a","docs":["a"],"clicks":[1]}`+"\n"+`{"user":"v","query":"q","experiment":"f","arm":"a","docs":["a"],"clicks":[1]}`+"\n")
	mustWrite(t, "users.csv", "user,orders\nu1,1\n")
	mustCall(t, "clicks", "fit", "--model", "pbm", "p.jsonl", "--out", "pbm.json")
	mustCall(t, "data", "synth", "--queries", "3", "--docs", "8", "--relevant", "3", "--out", "d.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json")
	for args, want := range map[string]string{
		"fit --model pbm p.jsonl --exact":                                       "--exact needs dcm or sdbn to fit",
		"fit --model gctr,cm p.jsonl --iterations 3":                            "--iterations needs a model without a closed form",
		"fit --model dcm p.jsonl --iterations 3":                                "--iterations needs a model without a closed form",
		"fit --model gctr,rctr p.jsonl --prior laplace":                         "--prior needs a model with parameters of documents",
		"fit --model ./pbm.json p.jsonl --valid p.jsonl --prior laplace":        "--prior needs",
		"fit --model pbm p.jsonl --seed 3":                                      "--seed needs --valid or --judgements",
		"fit --model pbm p.jsonl --valid p.jsonl --resamples 0 --seed 3":        "--seed needs --resamples above 0",
		"judge p.jsonl --model pbm --exact":                                     "--exact needs dcm or sdbn to fit",
		"judge p.jsonl --model dcm --exact=false --iterations 9":                "--iterations needs",
		"report p.jsonl --out r.html --model dctr --iterations 9":               "--iterations needs",
		"report p.jsonl --out r.html --valid p.jsonl --resamples 0 --seed 2":    "--seed needs --resamples above 0",
		"propensities --from pbm.json --top 3":                                  "--top is for pages, expected it without --from",
		"propensities --from pbm.json --drop-users-above 3":                     "--drop-users-above is for pages",
		"propensities p.jsonl --method swap --bootstrap 9":                      "--bootstrap is for --method harvest, trust, em, regression or dual, found swap",
		"propensities p.jsonl --method harvest --bootstrap 0 --seed 3":          "--seed needs --bootstrap above 0",
		"propensities p.jsonl --method em --max-missing 0.5":                    "--max-missing is for --method regression or dual, found em",
		"propensities p.jsonl --max-missing 0.5":                                "--max-missing needs --data",
		"propensities p.jsonl --method regression":                              "(--data)",
		"propensities p.jsonl --method trust":                                   "(--judged)",
		"ab p.jsonl --users users.csv":                                          "--users: found none of its columns in --measures and --before",
		"ab two.jsonl":                                                          "the name of one (--experiment)",
		"plan --share 0.6 --seed 3":                                             "--seed is for the difference of a measure, expected it without --share",
		"simulate --data d.txt --model m.json --click pbm.json --out out.jsonl": "--click pbm.json, --top 10: found slot",
	} {
		if code, out, errs := call(append([]string{"clicks"}, strings.Fields(args)...)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d, %s%s, expected %s", args, code, out, errs, want)
		}
	}
}

// Claim: commands warn of held-out pages that are also pages of the fit, of measures without variance, and of a model
// that the log does not identify. They refuse a flag that the chosen method does not need.
func TestClicksWarnings(t *testing.T) {
	t.Chdir(t.TempDir())
	var pages, one strings.Builder
	for n := range 400 {
		docs, clicks := `["a","b"]`, []string{`[1,0]`, `[0,1]`, `[1,1]`}[n%3]
		if n%2 == 0 {
			docs = `["b","a"]`
		}
		fmt.Fprintf(&pages, `{"page":"p%d","user":"u%d","query":"q","experiment":"e","arm":%q,"docs":%s,"clicks":%s}`+"\n", n, n, []string{"old", "new"}[n/2%2], docs, clicks)
		fmt.Fprintf(&one, `{"user":"u%d","query":"q","docs":["d%d"],"clicks":[%d]}`+"\n", n, n%3, n%2)
	}
	mustWrite(t, "p.jsonl", pages.String())
	mustWrite(t, "copy.jsonl", pages.String())
	mustWrite(t, "one.jsonl", one.String())
	mustWrite(t, "robot.jsonl", strings.Repeat(`{"user":"r","query":"q","docs":["a","b"],"clicks":[1,0]}`+"\n", 500)+one.String())
	for args, want := range map[string]string{
		"fit --model dctr p.jsonl --valid copy.jsonl":                 "warning: --valid: 400 pages are also among the pages of the fit",
		"fit --model dctr one.jsonl --valid one.jsonl":                "warning: --valid: one.jsonl is also a file of the fit",
		"report p.jsonl --model dctr --valid copy.jsonl --out r.html": "warning: --valid: 400 pages are also",
		"fit --model pbm one.jsonl":                                   "pbm cannot separate",
		"judge --model pbm one.jsonl":                                 "pbm cannot separate",
		"ab p.jsonl --measures clicked-pages":                         "note: clicked-pages has the same value for all users of old, and for all of new",
		"propensities p.jsonl --iterations 3":                         "note: a flag was not used: --iterations is for --method em, regression or dual, found harvest",
	} {
		if code, out, errs := call(append([]string{"clicks"}, strings.Fields(args)...)...); code != exitDone || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d, %s%s, expected %s", args, code, out, errs, want)
		}
	}
	for _, args := range []string{"info robot.jsonl", "report robot.jsonl --model dctr --out r.html", "fit --model dctr robot.jsonl"} {
		_, out, errs := call(append([]string{"clicks"}, strings.Fields(args)...)...)
		if n := strings.Count(strings.ToLower(out+errs), "likely robots: r (500 pages, 500 clicks)"); n != 1 {
			t.Errorf("%s names the robot %d times, expected once: %s%s", args, n, out, errs)
		}
	}
}

// Claim: what tells propensities is left out of a summary, and said so, if it does not fit into memory. The rest is that
// of the summary with memory.
func TestInfoWithinMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "400", "--docs", "20", "--relevant", "5", "--features", "3", "--out", "d.txt")
	mustCall(t, "train", "--no-record", "--method", "mle", "--train", "d.txt", "--model", "m.json")
	mustCall(t, "clicks", "simulate", "--data", "d.txt", "--model", "m.json", "--order", "noise:1", "--pages", "20000", "--users", "5000", "--out", "pages.jsonl")
	type summary struct {
		Pages   int   `json:"pages"`
		Clicked int   `json:"clicked"`
		Moved   *int  `json:"pairs_in_two_slots"`
		Methods []any `json:"methods"`
		Odd     []string
	}
	var whole, part summary
	decode(t, mustCall(t, "clicks", "info", "pages.jsonl", "--format", "json"), &whole)
	decode(t, mustCall(t, "clicks", "info", "pages.jsonl", "--format", "json", "--max-memory", "0.01"), &part)
	if whole.Pages != 20000 || whole.Moved == nil || *whole.Moved == 0 || len(whole.Methods) != 3 || len(whole.Odd) != 0 {
		t.Errorf("with memory: %+v", whole)
	}
	if part.Pages != whole.Pages || part.Clicked != whole.Clicked || part.Moved != nil || len(part.Methods) != 0 || len(part.Odd) != 1 || !strings.Contains(part.Odd[0], "more memory") {
		t.Errorf("with too little: %+v", part)
	}
}
