package click

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Claim: pages of interleavings are read with the probabilities or rankings of both models, and a damaged
// one is an error that says what was found.
func TestInterleaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pages.jsonl")
	read := func(members string) (got Page, err error) {
		t.Helper()
		line := `{"query":"q","docs":["a","b"],"clicks":[0,1],` + members + "}\n"
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		err = Read(t.Context(), path, Options{}, func(p *Page) error { got = *p; return nil })
		return got, err
	}
	if p, err := read(`"softmax":[[0.5,1],[1e-3,0]]`); err != nil || !reflect.DeepEqual(p.Softmax, [][2]float64{{0.5, 1}, {1e-3, 0}}) {
		t.Errorf("found %v, %v", p.Softmax, err)
	}
	if p, err := read(`"balanced":[["a","b"],["b",7]]`); err != nil || !reflect.DeepEqual(p.Balanced, [2][]string{{"a", "b"}, {"b", "7"}}) {
		t.Errorf("found %v, %v", p.Balanced, err)
	}
	for members, want := range map[string]string{
		`"softmax":[[1,1]]`:              "found 1 pairs in softmax, expected 2, one for each document",
		`"softmax":[[1,1],[0,0]]`:        `found softmax probabilities [0 0] of document "b", expected two from 0 to 1 that are not both 0`,
		`"softmax":[[1,1],[1,1.5]]`:      `found softmax probabilities [1 1.5] of document "b"`,
		`"softmax":[[1,1],[1]]`:          "found 1 probabilities in softmax, expected two of each document",
		`"softmax":[1,1]`:                "expected",
		`"balanced":[["a"]]`:             "found 1 rankings in balanced, expected two",
		`"balanced":[["a"],["b"],["c"]]`: "found a third ranking in balanced, expected two",
		`"balanced":[["a","a"],["b"]]`:   `found document "a" twice in a ranking of balanced, expected each document once`,
	} {
		if _, err := read(members); err == nil || !strings.HasPrefix(err.Error(), path+":1: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %s", members, err, want)
		}
	}
}
