package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// writeSplit writes a log of a split with a page a minute. edit may change what a page says, or leave it out.
func writeSplit(t *testing.T, path string, edit func(n int, arm, clicks string) (string, string, bool)) {
	t.Helper()
	var b strings.Builder
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range 3000 {
		user := n * 7919 % 500
		arm, docs := "a", `["x","y","z"]`
		if user%2 == 0 {
			arm, docs = "b", `["y","z","x"]`
		}
		clicks := []string{"[1,0,0]", "[0,0,0]", "[0,1,0]", "[0,0,0]", "[1,0,1]"}[n*n%97%5]
		if arm, clicks, use := edit(n, arm, clicks); use {
			fmt.Fprintf(&b, `{"page":"%d","time":%q,"user":"u%d","query":"q%d","experiment":"e","arm":%q,"docs":%s,"clicks":%s}`+"\n",
				n, begin.Add(time.Duration(n)*time.Minute).Format(time.RFC3339), user, n%13, arm, docs, clicks)
		}
	}
	mustWrite(t, path, b.String())
}

// Claim: every command that estimates from pages reports the same fault of a log once. The time that the finding names can be
// left out, and then there is no finding.
func TestFaultsOfALogInEveryCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	sound := func(_ int, arm, clicks string) (string, string, bool) { return arm, clicks, true }
	writeSplit(t, "sound.jsonl", sound)
	writeSplit(t, "stop.jsonl", func(n int, arm, clicks string) (string, string, bool) {
		if n >= 2000 {
			clicks = "[0,0,0]"
		}
		return arm, clicks, true
	})
	writeSplit(t, "off.jsonl", func(n int, arm, clicks string) (string, string, bool) {
		return arm, clicks, arm == "a" || n < 1000 || n >= 1600
	})
	writeSplit(t, "late.jsonl", func(n int, arm, clicks string) (string, string, bool) { return arm, clicks, arm == "a" || n >= 1000 })
	mustWrite(t, "features.csv", "query,doc,grade,f\n"+strings.Join(slices.Collect(func(yield func(string) bool) {
		for q := range 13 {
			if !yield(fmt.Sprintf("q%d,x,0,1\nq%[1]d,y,0,2\nq%[1]d,z,0,3\n", q)) {
				return
			}
		}
	}), ""))
	run := func(args string) string {
		_, out, errs := call(strings.Fields(args)...)
		return out + errs
	}
	const stopped, off, late = "were clicks logged?", `arm "b" was off from 2026-01-01T16:`, `arm "b" began at 2026-01-01T16:40`
	for _, command := range []string{
		"clicks info %s", "clicks propensities %s --bootstrap 0", "clicks fit --model dctr %s", "clicks judge --model dctr %s", "clicks ab %s", "clicks report %s --model dctr --resamples 20 --out r.html",
		"clicks weigh %s --data features.csv --debias none --out w.csv", "train --clicks %s --train features.csv --debias none --no-record --model m.json",
	} {
		for file, want := range map[string]string{"stop.jsonl": stopped, "off.jsonl": off, "late.jsonl": late} {
			args := fmt.Sprintf(command, file)
			if out := run(args); strings.Count(strings.ToLower(out), strings.ToLower(want)) != 1 {
				t.Errorf("%s: expected %q once, found %s", args, want, out)
			}
		}
		if out := run(fmt.Sprintf(command, "sound.jsonl")); strings.Contains(out, stopped) || strings.Contains(out, "arm \"b\" ") {
			t.Errorf("%s: found %s", command, out)
		}
	}
	if out := run("clicks info stop.jsonl --until 2026-01-02T09:00:00Z"); strings.Contains(out, stopped) || !strings.Contains(out, "note: 1020 pages outside of --since and --until were left out") {
		t.Errorf("found %s", out)
	}
	if out := run("clicks propensities late.jsonl --method harvest --bootstrap 0"); !strings.Contains(out, "; --since 2026-01-01T16:40:00Z reads the time that all arms have in common") {
		t.Errorf("found %s", out)
	}
	for args, want := range map[string]string{
		"clicks info sound.jsonl --since tomorrow":                            `--since: found "tomorrow", expected a date such as 2026-01-31, or a time`,
		"clicks info sound.jsonl --since 2026-01-02 --until 2026-01-01":       "expected an earlier time first",
		"clicks info - --drop-alike":                                          "--drop-alike reads pages twice",
		"clicks propensities --from theta.json --since 2026-01-02":            "--since is for pages",
		"train --method mle --train features.csv --model m.json --drop-alike": "--drop-alike: expected it with --clicks",
		"clicks prefer sound.jsonl":                                           `"listwise clicks ab" compares the arms of a split`,
	} {
		if code, _, errs := call(strings.Fields(args)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d, %s, expected %q", args, code, errs, want)
		}
	}
}

// Claim: a net of robots is left out by --drop-alike, and nobody else.
func TestDropAlike(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSplit(t, "sound.jsonl", func(_ int, arm, clicks string) (string, string, bool) { return arm, clicks, true })
	robots := strings.Builder{}
	for u := range 30 {
		for n := range 10 {
			fmt.Fprintf(&robots, `{"page":"r%d-%d","time":"2026-01-01T%02d:%02d:00Z","user":"bot%d","query":"q%d","docs":["x","y","z"],"clicks":[0,0,1]}`+"\n", u, n, 2*n, (u*7+n*n)%60, u, (u+n)%13)
		}
	}
	mustWrite(t, "net.jsonl", string(read(t, "sound.jsonl"))+robots.String())
	code, out, errs := call("clicks", "info", "net.jsonl")
	if code != exitDone || !strings.Contains(out, "30 users with 300 pages (9.09 %, such as bot0, bot1, bot2) click the same ranks on every page") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	code, out, errs = call("clicks", "info", "net.jsonl", "--drop-alike")
	if code != exitDone || strings.Contains(out, "likely robots") || !strings.Contains(errs, "note: 300 pages of users whose pages are all alike were left out") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}

// Claim: clicks that are earlier than the ranking that they name, or than all rankings of their user and query, are told.
func TestJoinTellsClicksBeforeTheirPage(t *testing.T) {
	t.Chdir(t.TempDir())
	mustWrite(t, "log.jsonl", `{"time":"2026-01-02T10:00:00Z","page":"p1","kind":"page","user":"u","query":"q","models":[{"model":"m","version":"0f"}],"ranking":[{"id":"a"},{"id":"b"}]}`+"\n")
	mustWrite(t, "clicks.jsonl", `{"page":"p1","id":"a","time":"2026-01-02T09:59:00Z"}`+"\n"+`{"page":"p1","id":"b","time":"2026-01-02T10:01:00Z"}`+"\n"+`{"user":"u","query":"q","id":"a","time":"2026-01-02T09:00:00Z"}`+"\n")
	code, out, errs := call("clicks", "join", "--log", "log.jsonl", "--clicks", "clicks.jsonl", "--out", "p.jsonl")
	if code != exitDone || !strings.Contains(errs, "1 of 2 clicks (50 %) are earlier than the ranking that they name, by 1m0s in the mean") || !strings.Contains(errs, "1 click without a ranking is left out, although the user and query have a ranking later") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}

// Claim: clicks evaluate says which share of its pages a model was trained on, and refuses an estimate if the clicks of a
// slot contradict the propensities.
func TestEvaluateFaults(t *testing.T) {
	clicked(t)
	mustCall(t, "train", "--method", "singlefeature", "--set", "feature=1", "--missing", "zero", "--train", "train.csv", "--model", "bm25.json", "--no-record")
	simulate := []string{"clicks", "simulate", "--data", "train.csv", "--model", "bm25.json", "--order", "noise:0.3", "--pages", "3000", "--users", "300"}
	mustCall(t, append(simulate, "--out", "pages.jsonl")...)
	mustCall(t, append(simulate, "--from", "1500", "--out", "half.jsonl")...)
	mustCall(t, append(simulate, "--from", "3000", "--out", "later.jsonl")...)
	mustCall(t, "clicks", "propensities", "pages.jsonl", "--bootstrap", "20", "--out", "theta.json")
	mustCall(t, "train", "--clicks", "pages.jsonl", "--train", "train.csv", "--missing", "zero", "--propensities", "theta.json", "--twin-share", "0", "--set", "trees=10", "--set", "leaves=4", "--no-record", "--model", "new.json")
	evaluate := func(pages, theta string, more ...string) (int, string) {
		code, out, errs := call(append([]string{"clicks", "evaluate", "--pages", pages, "--data", "train.csv", "--propensities", theta, "new.json"}, more...)...)
		return code, out + errs
	}
	for pages, want := range map[string]string{"pages.jsonl": "new.json was trained on 100 % of these pages", "half.jsonl": "new.json was trained on "} {
		if code, out := evaluate(pages, "theta.json"); code != exitDone || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, %s, expected %s", pages, code, out, want)
		}
	}
	var half struct{ Models []modelValueJSON }
	decode(t, mustCall(t, "clicks", "evaluate", "--pages", "half.jsonl", "--data", "train.csv", "--propensities", "theta.json", "new.json", "--format", "json"), &half)
	if share := half.Models[0].Trained; share == nil || *share < 0.42 || *share > 0.58 {
		t.Errorf("trained on %v of the pages, expected a half", share)
	}
	if code, out := evaluate("later.jsonl", "theta.json"); code != exitDone || strings.Contains(out, "trained on") {
		t.Errorf("later: exit code %d, %s", code, out)
	}
	mustWrite(t, "flat.json", strings.ReplaceAll(`{"format":"listwise propensities","version":1,"method":"harvest","pages":1,"weight":1,"groups":1,"level":0.95,"slots":[`+strings.Join(slices.Collect(func(yield func(string) bool) {
		for k := range 10 {
			if !yield(fmt.Sprintf(`{"slot":"%d","theta":1,"se":null,"low":null,"high":null,"impressions":1,"clicks":1,"interventions":0}`, k+1)) {
				return
			}
		}
	}), ",")+"]}", "\n", ""))
	if code, out := evaluate("later.jsonl", "flat.json"); code != exitFailed || !strings.Contains(out, "by the propensities and the clicks on its documents in all slots") || !strings.Contains(out, "(--ignore-checks)") {
		t.Errorf("flat: exit code %d, %s", code, out)
	}
	if code, out := evaluate("later.jsonl", "flat.json", "--ignore-checks"); code != exitDone || !strings.Contains(out, "fails a check") {
		t.Errorf("flat, ignored: exit code %d, %s", code, out)
	}
}
