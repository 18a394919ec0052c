package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// Claim: what the service logs of an interleaving and clicks that prefer one model come out as that
// model's wins; the log is opened anew at SIGHUP, under its old name.
func TestServeInterleavesAndClicksTell(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "6", "--docs", "8", "--relevant", "3", "--features", "5", "--out", "d.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "a.json")
	mustCall(t, "train", "--method", "random", "--train", "d.txt", "--model", "b.json")
	url, _ := startServe(t, "--model", "web@1=a.json", "--model", "web@2=b.json", "--interleave", "mixed=web@1,web@2", "--interleave", "drawn=web@1,web@2:probabilistic",
		"--split", "ab=web@1:9,web@2:1", "--shadow", "web@1=web@2", "--explore", "x=web@1:swap", "--experiment-log", "log.jsonl",
		"--page-log", "pages.jsonl", "--page-share", "1", "--page-candidates", "2")
	var clicks strings.Builder
	for i := range 30 {
		body := fmt.Sprintf(`{"user":"u%d","query":"q","documents":[{"features":[1,2,3,4,5]},{"features":[5,4,3,2,1]},{"features":[0,1,0,1,0]}]}`, i)
		code, answer := sent(t, url+"/v1/models/mixed:rank", body)
		if code != http.StatusOK {
			t.Fatal(code, answer)
		}
		var a struct {
			Page    string
			Ranking []struct {
				ID       string
				PlacedBy string `json:"placed_by"`
			}
		}
		decode(t, answer, &a)
		for _, d := range a.Ranking {
			if d.PlacedBy == "web@2" {
				if i%2 == 0 {
					fmt.Fprintf(&clicks, "{\"user\":\"u%d\",\"query\":\"q\",\"id\":%q}\n", i, d.ID)
				} else {
					fmt.Fprintf(&clicks, "{\"page\":%q,\"id\":%q}\n", a.Page, d.ID)
				}
				break
			}
		}
		for _, name := range []string{"ab", "web@1", "x", "drawn"} {
			if code, answer := sent(t, url+"/v1/models/"+name+":rank", body); code != http.StatusOK {
				t.Fatal(code, answer)
			}
		}
	}
	mustWrite(t, "clicks.jsonl", clicks.String())
	waitForLines(t, "log.jsonl", `"kind":"interleave"`, 60)
	waitForLines(t, "log.jsonl", `"softmax":[`, 30)
	waitForLines(t, "log.jsonl", `"swapped":[1,`, 30)
	waitForLines(t, "log.jsonl", `"share":[9,1]`, 30)
	waitForLines(t, "pages.jsonl", `"kind":"page"`, 30)
	if err := os.Rename("log.jsonl", "old.jsonl"); err != nil {
		t.Fatal(err)
	}
	var all []clicksJSON
	decode(t, mustCall(t, "clicks", "--log", "old.jsonl", "--clicks", "clicks.jsonl", "--format", "json"), &all)
	if len(all) != 2 || all[0].Experiment != "mixed" || all[0].Shown != 30 || all[0].Clicked != 30 || all[0].Wins != [2]int{0, 30} || all[0].P > 1e-8 || all[0].Models != [2]string{"web@1", "web@2"} {
		t.Errorf("%+v", all)
	}
	if text := mustCall(t, "clicks", "--log", "old.jsonl", "--log", "pages.jsonl", "--clicks", "clicks.jsonl"); !strings.Contains(text, "sign test") || !strings.Contains(text, "mixed") {
		t.Errorf("prints %s", text)
	}
}

// waitForLines waits until a file has so many whole lines or more with a text: they are written after the answer.
func waitForLines(t *testing.T, path, with string, n int) {
	t.Helper()
	for range 500 {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, with) && strings.HasSuffix(line, "\n") {
				found++
			}
		}
		if found >= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not come to %d lines with %s", path, n, with)
}

// Claim: experiments and logs that make no sense are named.
func TestWrongExperimentFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "3", "--docs", "8", "--relevant", "3", "--out", "d.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json")
	mustWrite(t, "wrong.jsonl", "{}\n{\"kind\":\"interleave\",\"models\":[]}\n")
	serve := "serve --model a=m.json --model b=m.json --addr 127.0.0.1:0 "
	for args, want := range map[string]string{
		serve + "--split e":                                     "expected NAME=MODEL,MODEL",
		serve + "--split e=a":                                   "found 1 models",
		serve + "--split e=a:x,b":                               `found the share "x"`,
		serve + "--interleave e=a:1,b:1":                        "and of --split alone",
		serve + "--interleave e=a:probabilistic,b":              `found the share "probabilistic"`,
		serve + "--split e=a,b:probabilistic":                   `found the share "probabilistic"`,
		serve + "--interleave e=a,c":                            `unknown model "c"`,
		serve + "--interleave a=a,b":                            "found the name taken",
		serve + "--interleave e=a,b --by x":                     "expected user or query",
		serve + "--shadow a=b":                                  "--experiment-log",
		serve + "--shadow a":                                    "expected MODEL=MODEL",
		serve + "--experiment-log x.jsonl":                      "expected it with --split, --interleave, --explore or --shadow",
		serve + "--explore e":                                   "expected NAME=MODEL:HOW",
		serve + "--explore e=a":                                 "expected NAME=MODEL:HOW",
		serve + "--explore e=a:swop":                            `found the exploration "swop"`,
		serve + "--explore e=a:top=1":                           "whole number from 2 on",
		serve + "--explore e=a:noise=0":                         "a number above 0",
		serve + "--explore e=a:swap:share=2":                    "found the share",
		serve + "--explore ../e=a:swap":                         "--explore ../e=a:swap",
		serve + "--explore e=a:swap":                            "--experiment-log FILE, which logs what was drawn",
		serve + "--explore e=c:swap --experiment-log x":         `unknown model "c"`,
		serve + "--explore a=a:swap --experiment-log x":         "found the name taken",
		serve + "--page-log m.json":                             "m.json",
		serve + "--page-log .":                                  "--page-log",
		serve + "--page-share 0.5":                              "expected it with --page-log",
		serve + "--page-log x --page-share 0":                   "above 0",
		serve + "--page-log x --page-share 1.5":                 "1 at most",
		serve + "--page-candidates 3":                           "expected it with --experiment-log or --page-log",
		serve + "--page-log x --page-candidates -1":             "from 0",
		serve + "--split e=a,b --experiment-log x --page-log x": "are one file",
		serve + "--split e=a,b --experiment-log m.json":         "m.json",
		serve + "--split e=a,b --experiment-log .":              "--experiment-log",
		"clicks --log none --clicks m.json":                     "none",
		"clicks --log wrong.jsonl --clicks m.json":              "--log wrong.jsonl: line 2: found 0 models",
		"clicks --log m.json":                                   "--clicks",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		var errs shared
		code := Run(ctx, strings.Fields(args), strings.NewReader(""), io.Discard, &errs)
		cancel()
		if code != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("listwise %s exits with %d: %s; want 2 and %q", args, code, &errs, want)
		}
	}
}
