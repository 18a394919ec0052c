package app

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Claim: the commands of docs/interchange.md that lead from data to an engine work, and what they
// write ranks the documents as the model does.
func TestInterchangeDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "interchange.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	writeProducts(t)
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

// writeProducts writes the table that the document speaks of: string ids, fractional grades, gaps.
func writeProducts(t *testing.T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	table := []byte("query,doc,bm25,title,ctr,age,clicks,relevance\n")
	for q := range 20 {
		for d := range 10 {
			bm25, title := 8+3*rng.NormFloat64(), rng.IntN(2)
			table = fmt.Appendf(table, "red shoes %d,sku-%d,", q, 10*q+d)
			for _, value := range []string{fmt.Sprintf("%.2f", bm25), strconv.Itoa(title), fmt.Sprintf("%.3f", rng.Float64()), strconv.Itoa(rng.IntN(2000)), strconv.Itoa(rng.IntN(50))} {
				if rng.IntN(10) == 0 {
					value = ""
				}
				table = append(append(table, value...), ',')
			}
			table = fmt.Appendf(table, "%.1f\n", max(0, bm25/8+float64(title)-1+rng.NormFloat64()/3))
		}
	}
	if err := os.WriteFile("products.csv", table, 0o600); err != nil {
		t.Fatal(err)
	}
}

func scoresOf(t *testing.T, model string) []float64 {
	t.Helper()
	mustCall(t, "score", "--model", model, "--data", "products.csv", "--out", "scores")
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
