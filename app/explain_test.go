package app

import (
	"math"
	"os"
	"strings"
	"testing"
)

// prepareExplained writes data and a model of each kind that is explained another way.
func prepareExplained(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "8", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "d.txt")
	for name, args := range map[string]string{
		"linear": "--method mle --normalize zscore", "trees": "--method lambdamart --set trees=5 --set leaf_documents=3", "stumps": "--method rankboost --set rounds=5",
		"net": "--method ranknet --scorer net --set hidden=3 --set epochs=2", "fm": "--method listnet --scorer fm --set epochs=2", "pairnet": "--method boltzrank2 --set epochs=1", "random": "--method random",
	} {
		mustCall(t, append([]string{"train", "--no-record", "--train", "d.txt", "--model", name + ".json"}, strings.Fields(args)...)...)
	}
	mustCall(t, "fuse", "--data", "d.txt", "--rule", "combsum", "--model", "sum.json", "linear.json", "trees.json", "net.json")
	mustCall(t, "fuse", "--data", "d.txt", "--rule", "borda", "--model", "ranks.json", "linear.json", "trees.json")
}

// Claim: what explain prints adds up to the scores that score prints, of every kind, and the
// differences of a pair to the difference of their scores, to 1e-9.
func TestExplainAddsUp(t *testing.T) {
	prepareExplained(t)
	for _, name := range []string{"linear", "trees", "stumps", "net", "fm", "sum", "ranks"} {
		scores := make(map[string]float64)
		for line := range strings.Lines(mustCall(t, "score", "--model", name+".json", "--data", "d.txt", "--format", "jsonl")) {
			var row struct {
				Query, Document string
				Score           float64
			}
			decode(t, line, &row)
			if row.Query == "1" {
				scores[row.Document] = row.Score
			}
		}
		var got queryExplainedJSON
		decode(t, mustCall(t, "explain", "--model", name+".json", "--data", "d.txt", "--of", "1", "--format", "json"), &got)
		if len(got.Documents) != len(scores) || len(scores) != 11 {
			t.Fatalf("%s: %d documents are explained, %d scored", name, len(got.Documents), len(scores))
		}
		for _, doc := range got.Documents {
			total := doc.Base + doc.Remainder
			for _, p := range doc.Parts {
				total += p.Contribution
			}
			if want := scores[doc.Document]; math.Abs(total-want) > 1e-9 || math.Abs(doc.Score-want) > 1e-9 || math.Abs(doc.Remainder) > 1e-9 {
				t.Errorf("%s, %s: base, contributions and remainder %v are %v, the score is %v", name, doc.Document, doc.Remainder, total, want)
			}
		}
		a, b := got.Documents[0], got.Documents[4]
		var pair pairJSON
		decode(t, mustCall(t, "explain", "--model", name+".json", "--data", "d.txt", "--of", "1", "--above", a.Document, "--below", b.Document, "--format", "json"), &pair)
		total := pair.Remainder
		for _, p := range pair.Parts {
			total += p.Difference
		}
		if math.Abs(total-(a.Score-b.Score)) > 1e-9 {
			t.Errorf("%s: differences are %v, the scores' %v", name, total, a.Score-b.Score)
		}
	}
}

// Claim: the table of a document has its base, the features asked for, the others together and
// the score, which is their sum as printed, in full as CSV; drawings are SVG.
func TestExplainOutputs(t *testing.T) {
	prepareExplained(t)
	csv := mustCall(t, "explain", "--model", "trees.json", "--data", "d.txt", "--of", "1", "--document", "1-0003", "--top", "2", "--format", "csv")
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	if first, last := strings.Split(lines[1], ",")[0], strings.Split(lines[len(lines)-1], ",")[0]; first != "base" || last != "score" || len(lines) > 6 {
		t.Errorf("found\n%s", csv)
	}
	for _, args := range []string{"", "--dependence 2", "--of 1", "--of 1 --document 1-0002", "--of 1 --above 1-0002 --below 1-0003"} {
		mustCall(t, append([]string{"explain", "--model", "trees.json", "--data", "d.txt", "--svg", "e.svg"}, strings.Fields(args)...)...)
		text, err := os.ReadFile("e.svg")
		if err != nil || !strings.HasPrefix(string(text), "<svg ") {
			t.Errorf("%s: no drawing: %v", args, err)
		}
	}
	first := mustCall(t, "explain", "--model", "ranks.json", "--data", "d.txt", "--format", "json")
	if again := mustCall(t, "explain", "--model", "ranks.json", "--data", "d.txt", "--format", "json"); again != first {
		t.Error("the same command prints something else")
	}
	if out := mustCall(t, "explain", "--model", "ranks.json", "--data", "d.txt"); !strings.Contains(out, "not linear in the members' scores") || !strings.Contains(out, "member 1 (mle)") {
		t.Errorf("a fusion by ranks prints\n%s", out)
	}
	if out := mustCall(t, "explain", "--model", "pairnet.json", "--data", "d.txt"); !strings.Contains(out, "loss of ndcg@10") || strings.Contains(out, "contribution") {
		t.Errorf("a network over pairs prints\n%s", out)
	}
}

// Claim: an unknown query, document or feature is told with what there is; a model without exact
// contributions with its kind and what can be had; flags that contradict each other as such.
func TestExplainErrors(t *testing.T) {
	prepareExplained(t)
	for _, c := range []struct{ args, want string }{
		{"--model trees.json --of 77", "--of 77: found no such query in d.txt; there are 8 queries: 1, 2, 3, 4, 5, 6, 7, 8"},
		{"--model trees.json --of 1 --document zzz", "there are 11 documents: 1-0001, 1-0002"},
		{"--model trees.json --of 1 --document 1-00003", `did you mean "1-0003"`},
		{"--model trees.json --of 1 --above 1-0003 --below 1-0003", "the same document"},
		{"--model trees.json --of 1 --above 1-0003", "--above and --below go together"},
		{"--model trees.json --document 1-0003", "need --of QUERY"},
		{"--model trees.json --dependence 9 --svg e.svg", "--dependence 9: found no contributions of this feature; there are contributions of 5 features: 1, 2, 3, 4, 5"},
		{"--model pairnet.json --of 1", "kind pairnet have no exact contributions here: a document's score depends on the query's other documents; its features' importance by the loss"},
		{"--model random.json --of 1", "kind random"},
		{"--model pairnet.json --svg e.svg", "kind pairnet"},
		{"--model net.json --of 1 --attribution path", "path is for trees"},
		{"--model net.json --attribution paths", `did you mean "path"`},
		{"--model net.json --measure map,ndcg@10", "found 2 measures, expected one"},
		{"--model net.json --permute queries", "expected query or data"},
	} {
		code, _, errs := call(append([]string{"explain", "--data", "d.txt"}, strings.Fields(c.args)...)...)
		if code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exits with %d: %s\nexpected %q", c.args, code, errs, c.want)
		}
	}
}
