package app

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

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
