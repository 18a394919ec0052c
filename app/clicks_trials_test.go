package app

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/click/trial"
)

// Claim: from serve's log of a probabilistic interleaving and a split, and clicks on documents that the second model
// ranks first, join makes pages from which prefer finds the second model and ab finds both arms.
func TestTrialsOfServe(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "6", "--docs", "8", "--relevant", "3", "--features", "5", "--out", "d.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "a.json")
	mustCall(t, "train", "--method", "random", "--train", "d.txt", "--model", "b.json")
	url, _ := startServe(t, "--model", "web@1=a.json", "--model", "web@2=b.json", "--interleave", "mixed=web@1,web@2:probabilistic", "--split", "ab=web@1,web@2", "--experiment-log", "log.jsonl")
	const documents = `"documents":[{"id":"x","features":[1,2,3,4,5]},{"id":"y","features":[5,4,3,2,1]},{"id":"z","features":[0,1,0,1,0]}]`
	first := func(name, user string) string {
		t.Helper()
		code, text := sent(t, url+"/v1/models/"+name+":rank", fmt.Sprintf(`{"user":%q,"query":"q",%s}`, user, documents))
		var a struct{ Ranking []struct{ ID string } }
		if code != http.StatusOK {
			t.Fatal(code, text)
		}
		decode(t, text, &a)
		return a.Ranking[0].ID
	}
	best := first("web@2", "v")
	if best == first("web@1", "v") {
		t.Fatal("both models rank the same document first")
	}
	var clicks strings.Builder
	for i := range 60 {
		user := fmt.Sprint("u", i)
		first("mixed", user)
		first("ab", user)
		fmt.Fprintf(&clicks, "{\"user\":%q,\"query\":\"q\",\"experiment\":\"mixed\",\"id\":%q}\n", user, best)
	}
	mustWrite(t, "clicks.jsonl", clicks.String())
	waitForLines(t, "log.jsonl", "", 120)
	mustCall(t, "clicks", "join", "--log", "log.jsonl", "--clicks", "clicks.jsonl", "--out", "pages.jsonl")
	var all []preferJSON
	decode(t, mustCall(t, "clicks", "prefer", "pages.jsonl", "--at-any-time", "--format", "json"), &all)
	if len(all) != 1 || all[0].Method != trial.Probabilistic || all[0].Models != [2]string{"web@1", "web@2"} || all[0].Units != 60 || all[0].Wins[1] < 50 || all[0].AnyTime.Rejected == nil {
		t.Errorf("found %+v", all)
	}
	var split abJSON
	decode(t, mustCall(t, "clicks", "ab", "pages.jsonl", "--format", "json"), &split)
	if len(split.Arms) != 2 || split.Arms[0].Users+split.Arms[1].Users != 60 || split.Experiment != "ab" || split.Split.P < 0.01 {
		t.Errorf("found %+v", split)
	}
}

// writeTrials writes the files of docs/clicks-trials.md: pages of an interleaving and of a split, and a table of
// users.
func writeTrials(t *testing.T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	begin := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	var mixed, split, table strings.Builder
	for i := range 2600 {
		team, clicks := "[0,1,0,1]", []int{0, 0, 0, 0}
		if rng.IntN(2) == 0 {
			team = "[1,0,1,0]"
		}
		for r := range clicks {
			chance := 0.4 / float64(r+1)
			if team[1+2*r] == '1' {
				chance *= 1.25
			}
			if rng.Float64() < chance {
				clicks[r] = 1
			}
		}
		fmt.Fprintf(&mixed, `{"time":%q,"user":"u%d","query":"q%d","experiment":"mixed","arm":"web@1,web@2","docs":["a","b","c","d"],"clicks":%s,"team":%s}`+"\n",
			begin.Add(time.Duration(i)*3*time.Minute).Format(time.RFC3339), rng.IntN(1200), rng.IntN(50), strings.ReplaceAll(fmt.Sprint(clicks), " ", ","), team)
	}
	table.WriteString("user,orders\n")
	page := func(user int, when time.Duration, experiment string, likes float64) {
		clicks := []int{0, 0, 0, 0}
		for r := range clicks {
			if rng.Float64() < likes/float64(r+1) {
				clicks[r] = 1
			}
		}
		fmt.Fprintf(&split, `{"time":%q,"user":"u%d","query":"q%d",%s"docs":["a","b","c","d"],"clicks":%s}`+"\n",
			begin.Add(when).Format(time.RFC3339), user, rng.IntN(50), experiment, strings.ReplaceAll(fmt.Sprint(clicks), " ", ","))
	}
	const week = 7 * 24 * time.Hour
	for user := range 3000 {
		likes, orders := 0.6*rng.Float64(), 0
		arm, lift := "web@1", 1.0
		if rng.IntN(2) == 0 {
			arm, lift = "web@2", 1.07
		}
		if user%4 > 0 { // others have no history
			for range 4 {
				page(user, -time.Duration(rng.Int64N(int64(week))), "", likes)
			}
		}
		for range 4 {
			page(user, time.Duration(rng.Int64N(int64(week))), `"experiment":"ab","arm":"`+arm+`",`, likes*lift)
			if rng.Float64() < likes/4 {
				orders++
			}
		}
		fmt.Fprintf(&table, "u%d,%d\n", user, orders)
	}
	mustWrite(t, "mixed.jsonl", mixed.String())
	mustWrite(t, "ab.jsonl", split.String())
	mustWrite(t, "users.csv", table.String())
}
