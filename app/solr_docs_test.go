package app

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/testing/sessions"
)

// Claim: the tutorial with Solr works from an empty folder, and prints what the page says. Reranking offline to a depth
// gives the figures of a live Solr that reranks to it. tools/engines/check.sh runs this test: it needs listwise in the
// path, the films of vega-datasets, and a port for Solr.
func TestSolrDocument(t *testing.T) {
	port, films := os.Getenv("CHECK_SOLR_PORT"), os.Getenv("CHECK_SOLR_FILMS")
	if port == "" {
		t.Skip("not run: tools/engines/check.sh runs it with a Solr")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(films)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	mustWrite(t, "movies.json", string(text))
	t.Setenv("LISTWISE", root)
	t.Cleanup(func() { _ = exec.Command(filepath.Join(root, "tools/engines/solr/stop.sh")).Run() })
	// The service takes the port after Solr's.
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	sessions.CheckShell(t, filepath.Join(root, "docs/guide/search-engineer.md"), strings.NewReplacer("8983", port, "8080", strconv.Itoa(number+1)))

	var offline struct {
		Rerank []struct {
			Depths []struct {
				Depth int
				Mean  float64
			}
		}
	}
	data := []string{"eval", "--data", "folds/Fold1/test.csv", "--measures", "ndcg@10", "--format", "json"}
	if err := json.Unmarshal([]byte(mustCall(t, append(data, "--model", "trees.json", "--rerank", "10,20,30", "--first", "originalScore")...)), &offline); err != nil {
		t.Fatal(err)
	}
	for _, d := range offline.Rerank[0].Depths {
		var live struct{ Measures map[string]float64 }
		if err := json.Unmarshal([]byte(mustCall(t, append(data, "--scores", fmt.Sprintf("live%d.run", d.Depth))...)), &live); err != nil {
			t.Fatal(err)
		}
		if mean := live.Measures["ndcg@10"]; math.Abs(mean-d.Mean) > 1e-12 || mean == 0 {
			t.Errorf("depth %d: found ndcg@10 %v in Solr, expected %v as offline", d.Depth, mean, d.Mean)
		}
	}
	if len(offline.Rerank[0].Depths) != 3 {
		t.Errorf("found %d depths", len(offline.Rerank[0].Depths))
	}
}
