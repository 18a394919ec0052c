package datafile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// Claim: LightGBM's text is read with the queries of its .query file, plain and compressed, in memory
// and streamed. A number of documents that does not fit is an error about that file.
func TestGroupsBesideText(t *testing.T) {
	const text = "# made by hand\n2 0:0.5 1:1\n0 1:2 # docid = a\n\n1 0:7\r\n"
	for _, test := range []struct {
		name, groups, ending, text string
		want                       string // the error
	}{
		{"rank.train", "2\n1\n", ".query", text, ""},
		{"rank train#1.txt", "2\n\n0\n1", ".query", text, ""},
		{"rank.train", "2\r\n1\r\n", ".group", text, ""},
		{"rank.train", "2\n2\n", ".query", text, "rank.train.query: found 4 documents of 2 queries, expected the 3 documents of rank.train"},
		{"rank.train", "2\n1\n3\n", ".query", text, "rank.train.query: found 6 documents of 3 queries, expected the 3 documents of rank.train"},
		{"rank.train", "2\n", ".query", text, "rank.train.query: found 2 documents of 1 queries, expected as many documents as rank.train has, which are more"},
		{"rank.train", "2\nx\n", ".query", text, "rank.train.query:2: found \"x\", expected the number of documents of a query"},
		{"rank.train", "2\n", ".query", "2 0:1\n1 0:x\n", "rank.train:2: found \"0:x\", expected INDEX:VALUE with a decimal number"},
		{"rank.train", "1\n", ".query", "2 qid:7 0:1\n1 qid:8 0:3\n", ""}, // which has queries
	} {
		for _, compressed := range []bool{false, true} {
			dir := t.TempDir()
			path := filepath.Join(dir, test.name)
			if err := os.WriteFile(path+test.ending, []byte(test.groups), 0o600); err != nil {
				t.Fatal(err)
			}
			content := test.text
			if compressed {
				path, content = path+".gz", string(datatest.Gzip(content))
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, o := range []dataset.Options{{FromZero: true}, {FromZero: true, Stream: true, Unheld: true}} {
				d, err := Open(path, o)
				if test.want != "" {
					if err == nil || strings.ReplaceAll(strings.ReplaceAll(err.Error(), dir+"/", ""), ".gz", "") != test.want {
						t.Errorf("%s: error %v, expected %s", test.groups, err, test.want)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", test.groups, err)
					continue
				}
				ids := []string{test.name + ":1", test.name + ":2"}
				if strings.Contains(test.name, " ") {
					ids = []string{"rank_train_1.txt:1", "rank_train_1.txt:3"}
				} else if strings.Contains(test.text, "qid:") {
					ids = []string{"7", "8"}
				}
				var got []string
				for i := range d.Queries {
					got = append(got, d.Queries[i].ID)
				}
				if !slices.Equal(got, ids) || !slices.Equal(d.Grades(), []float64{2, 0, 1}) && !strings.Contains(test.text, "qid:") {
					t.Errorf("%s: queries %q, grades %v", test.groups, got, d.Grades())
				}
				if !d.Streamed() && d.Docs() == 3 && !slices.Equal(d.X(), []float32{.5, 1, 0, 2, 7, 0}) {
					t.Errorf("%s: features %v", test.groups, d.X())
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
