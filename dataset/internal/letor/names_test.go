package letor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// Names in a comment are those of the features, whose number they say.
func TestNames(t *testing.T) {
	const line = "# features: [\"bm25\", \"title length\",\"x\"]\n"
	for _, test := range []struct {
		name, text string
		want       []string
		err        string
	}{
		{"before", line + "1 qid:1 1:2\n", []string{"bm25", "title length", "x"}, ""},
		{"behind other comments", "# a file\n\n" + line + "1 qid:1 1:2\n", []string{"bm25", "title length", "x"}, ""},
		{"files put together", line + "1 qid:1 1:2\n" + line + "1 qid:2 3:2\n", []string{"bm25", "title length", "x"}, ""},
		{"behind a byte order mark", "\ufeff" + line + "1 qid:1 1:2\n", []string{"bm25", "title length", "x"}, ""},
		{"no names", "# features: bm25\n1 qid:1 1:2\n", nil, ""},
		{"no JSON", "# features: [1..45]\n1 qid:1 1:2\n", nil, ""},
		{"a name twice", "# features: [\"a\",\"a\"]\n1 qid:1 1:2\n", nil, ""},
		{"an empty name", "# features: [\"\"]\n1 qid:1 1:2\n", nil, ""},
		{"behind a document", "1 qid:1 1:2 " + line, nil, ""},
		{"more features", line + "1 qid:1 1:2\n1 qid:1 4:2\n", nil, `f:3: found "4:2", expected one of the 3 features`},
		{"a replacement character", "# features: [\"bm25\",\"\ufffd\",\"\\ufffd2\"]\n1 qid:1 1:2\n", []string{"bm25", "\ufffd", "\ufffd2"}, ""},
		{"no UTF-8", "# features: [\"a\xff\",\"a\xfe\"]\n1 qid:1 1:2\n", nil, `f:1: found names of features that are not UTF-8, "# features: [\"a\xff\",\"a\xfe\"]", expected text in UTF-8, without half a surrogate pair`},
		{"half a surrogate pair", "1 qid:1 1:2\n# features: [\"\\ud800\"]\n", nil, `f:2: found names of features that are not UTF-8, "# features: [\"\\ud800\"]", expected text in UTF-8, without half a surrogate pair`},
		{"other names", line + "1 qid:1 1:2\n# features: [\"a\"]\n1 qid:1 1:2\n", nil, `f:3: found other names of features, "# features: [\"a\"]", expected the same names as in the line before them`},
	} {
		for _, chunk := range []int64{1, 30, 0} {
			for _, data := range []string{test.text, string(datatest.Gzip(test.text))} {
				d, err := readCut(strings.NewReader(data), "f", dataset.Options{Workers: 2}, chunk, 0)
				if test.err != "" {
					if err == nil || err.Error() != test.err {
						t.Errorf("%s: error is %v, want %s", test.name, err, test.err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", test.name, err)
					continue
				}
				if diff := cmp.Diff(test.want, d.FeatureNames); diff != "" || test.want != nil && d.Features != 3 {
					t.Errorf("%s: %d features, %s", test.name, d.Features, diff)
				}
			}
		}
	}
}
