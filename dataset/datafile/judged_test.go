package datafile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Claim: a judgement list is recognised by its content, whatever its name says. Options about columns and features make
// a table of it.
func TestOpenJudgements(t *testing.T) {
	dir := t.TempDir()
	const list, letor = "query,id,rating\nq,a,3\nq,b,1\n", "3 qid:1 # a q\n1 qid:1 # b q\n"
	for _, c := range []struct {
		name, text string
		opts       dataset.Options
		features   int
	}{
		{"list.csv", list, dataset.Options{}, 0},
		{"list", list, dataset.Options{}, 0},
		{"list.txt", letor, dataset.Options{}, 0},
		{"list.json", `{"queries": [{"query": "q", "ratings": {"a": 3, "b": 1}}]}`, dataset.Options{}, 0},
		{"list.tsv", "query-id\tcorpus-id\tscore\nq\ta\t3\nq\tb\t1\n", dataset.Options{}, 0},
		{"table.csv", list, dataset.Options{FeatureNames: []string{"rating"}, Table: dataset.TableOptions{Ungraded: true}}, 1},
		{"table.csv", list, dataset.Options{Table: dataset.TableOptions{Ungraded: true, Features: []string{"rating"}}}, 1},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Open(path, c.opts)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d.Features != c.features || d.Docs() != 2 || d.Queries[0].DocID(1) != "b" || c.features == 0 && d.Grades()[0] != 3 {
			t.Errorf("%s: %d features, %d documents", c.name, d.Features, d.Docs())
		}
	}
}
