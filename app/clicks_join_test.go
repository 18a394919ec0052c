package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/click"
)

// Claim: what the service logs of splits, interleavings, every exploration and of rankings outside experiments
// becomes pages, with the clicks that name them.
func TestServeLogsBecomePages(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "6", "--docs", "8", "--relevant", "3", "--features", "3", "--out", "d.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "a.json")
	mustCall(t, "train", "--method", "random", "--train", "d.txt", "--model", "b.json")
	url, _ := startServe(t, "--model", "web@1=a.json", "--model", "web@2=b.json", "--interleave", "mixed=web@1,web@2", "--split", "ab=web@1,web@2",
		"--explore", "s=web@1:swap", "--explore", "p=web@1:pairs", "--explore", "t=web@1:top=2", "--explore", "n=web@1:noise=0.5", "--shadow", "web@1=web@2",
		"--experiment-log", "log.jsonl", "--page-log", "pages.log", "--page-share", "1", "--page-candidates", "4")
	names := []string{"mixed", "ab", "s", "p", "t", "n", "web@1"}
	var clicks strings.Builder
	const n = 20
	for i := range n {
		body := fmt.Sprintf(`{"user":"u%d","query":"q","top":3,"documents":[{"id":"a","features":[1,2,3]},{"id":"b","features":[5,4,3]},{"id":"c","features":[0,1,0]},{"id":"d","features":[0,1,9]},{"id":"e","features":[2,1,1]}]}`, i)
		for _, name := range names {
			code, answer := sent(t, url+"/v1/models/"+name+":rank", body)
			if code != http.StatusOK {
				t.Fatal(code, answer)
			}
			var a struct {
				Page    string
				Ranking []struct{ ID string }
			}
			decode(t, answer, &a)
			fmt.Fprintf(&clicks, "{\"page\":%q,\"id\":%q}\n", a.Page, a.Ranking[1].ID)
		}
	}
	mustWrite(t, "clicks.jsonl", clicks.String())
	for kind, lines := range map[string]int{"explore": 4 * n, "split": n, "interleave": n, "shadow": n} {
		waitForLines(t, "log.jsonl", `"kind":"`+kind+`"`, lines)
	}
	waitForLines(t, "pages.log", `"page":`, n)
	var result joinedJSON
	decode(t, mustCall(t, "clicks", "join", "--log", "log.jsonl", "--log", "pages.log", "--clicks", "clicks.jsonl", "--out", "pages.parquet", "--format", "json"), &result)
	if result.Pages != 7*n || result.Clicks != 7*n || result.Left != (leftClicks{}) || result.Rankings.Shadows == 0 {
		t.Errorf("%+v", result)
	}
	found := map[string]int{}
	if err := click.Read(context.Background(), "pages.parquet", click.Options{}, func(p *click.Page) error {
		if !slices.Equal(p.Clicks, []int{0, 1, 0}) || len(p.Candidates) < 4 || p.ID == "" || p.Time.IsZero() || !strings.HasPrefix(p.User, "u") {
			t.Errorf("page %+v", *p)
		}
		arm := "web@1"
		switch p.Experiment {
		case "mixed":
			if arm = "web@1,web@2"; p.Team == nil {
				t.Errorf("no teams in %+v", *p)
			}
		case "ab":
			arm = p.Arm
		case "s":
			if p.Swapped[1] == 0 {
				t.Errorf("no swap in %+v", *p)
			}
		case "p":
			if p.Pairs == 0 {
				t.Errorf("no pairs in %+v", *p)
			}
		case "t":
			if p.Shuffled != 2 {
				t.Errorf("shuffled %d in %+v", p.Shuffled, *p)
			}
		case "n":
			if p.Propensity == 0 {
				t.Errorf("no propensity in %+v", *p)
			}
		}
		if p.Arm != arm || p.Version == "" {
			t.Errorf("arm %q version %q in %+v", p.Arm, p.Version, *p)
		}
		found[p.Experiment]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names[:6:6], "") {
		if found[name] != n {
			t.Errorf("found %d pages of %q, expected %d", found[name], name, n)
		}
	}
}
