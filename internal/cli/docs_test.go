package cli

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Claim: the commands of docs/interchange.md that lead from data to an engine work, and what they
// write ranks the documents as the model does.
func TestInterchangeDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "interchange.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "15", "--docs", "10", "--relevant", "4", "--features", "5", "--out", "train.txt")
	written := 0
	for i, block := range strings.Split(string(text), "```sh\n")[1:] {
		commands, _, _ := strings.Cut(block, "```")
		var model []float64
		for line := range strings.Lines(commands) {
			words := strings.Fields(line)
			mustCall(t, words[1:]...)
			out := words[len(words)-1]
			if out == "elasticsearch.json" { // which does not tell the order of features
				mustCall(t, "import", out, "--features", "bm25,title,ctr,age,clicks", "--model", "back.json")
				out = "back.json"
			}
			scores := scoresOf(t, out)
			if model == nil {
				model = scores
				continue
			}
			written++
			sameRanks(t, "block "+strconv.Itoa(i+1)+", "+out, model, scores)
		}
	}
	if written != 4 {
		t.Errorf("found %d exported models, expected 4", written)
	}
}

func scoresOf(t *testing.T, model string) []float64 {
	t.Helper()
	mustCall(t, "score", "--model", model, "--data", "train.txt", "--out", "scores")
	text, err := os.ReadFile("scores")
	if err != nil {
		t.Fatal(err)
	}
	var scores []float64
	for _, line := range strings.Fields(string(text)) {
		v, err := strconv.ParseFloat(line, 64)
		if err != nil {
			t.Fatal(err)
		}
		scores = append(scores, v)
	}
	return scores
}

// sameRanks checks that scores have the same order, but for those that float32 makes equal.
func sameRanks(t *testing.T, what string, want, got []float64) {
	t.Helper()
	for i := range want {
		for j := range i {
			if math.Abs(want[i]-want[j]) > 1e-5 && (want[i] < want[j]) != (got[i] < got[j]) {
				t.Fatalf("%s: documents %d and %d have the scores %v and %v, expected the order of %v and %v", what, i, j, got[i], got[j], want[i], want[j])
			}
		}
	}
}
