package interchange

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/model"
)

// Claim: files that other programs write beside their models are recognised by their first bytes, also
// where a format is named. The error says how to get a file that is read. The programs wrote files that
// begin so.
func TestForeignFiles(t *testing.T) {
	for text, want := range map[string]string{
		"": "found an empty file",
		"\x80\x04\x95\xd0\x16\x00\x00\x00\x00\x00\x00\x8c\x08lightgbm":     "found a pickle of Python",
		"ccopy_reg\n_reconstructor\np0\n(clightgbm.basic\nBooster\n":       "found a pickle of Python",
		"CBM1\xa8\x15\x00\x00\x24\x00":                                     "found CatBoost's binary format (.cbm)",
		`{"name": "tree", "version": "v4", "num_class": 1, "tree_info": [`: "found a JSON dump of LightGBM (dump_model)",
		"booster[0]:\n0:[f0<0.5] yes=1,no=2,missing=2\n\t1:leaf=1\n":       "found a text dump of XGBoost",
		"0:[colour:{0,2}] yes=2,no=1,missing=1,gain=3,cover=9\n":           "found a text dump of XGBoost",
		"booster[0]:\n0:leaf=0.25\n":                                       "found a text dump of XGBoost",
		"digraph {\n    graph [ rankdir=TB ]\n":                            "found a drawing of trees",
		"binf\x00\x00\x00\x3f":                                             "found XGBoost's old binary format",
		"\xfd7zXZ\x00\x00\x04":                                             "found a file that xz compressed",
		"\x1f\x8b\x08\x00":                                                 "found a file that gzip compressed",
		"\x28\xb5\x2f\xfd\x04":                                             "found a file that zstd compressed",
		"BZh91AY&SY":                                                       "found a file that bzip2 compressed",
		"\x78\x9c\xed\x9d":                                                 "found a file that zlib compressed",
		"PK\x03\x04\x14\x00":                                               "found a zip archive",
		"\x08\x08\x12\x08listwise:\x07":                                    "found ONNX",
		"<?xml version=\"1.0\"?>\n<PMML version=\"4.3\">":                  "found PMML",
		"\xff\xfet\x00r\x00e\x00e\x00":                                     "found text in UTF-16",
		`{"responseHeader":{"status":0},"features":[{"name":"a","class":"org.apache.solr.ltr.feature.SolrFeature"}]}`: "found Solr's feature store",
	} {
		for _, format := range []string{"", "lightgbm"} {
			_, _, err := Decode([]byte(text), ReadOptions{Format: format, File: "f"})
			var file *model.FileError
			if !errors.As(err, &file) || !strings.HasPrefix(err.Error(), "f: "+want) || !strings.Contains(err.Error(), "expected") {
				t.Errorf("%.20q as %q: the error is %v, expected %s", text, format, err, want)
			}
		}
	}
}

// Claim: nothing that is read is taken for a foreign file.
func TestNotForeign(t *testing.T) {
	for _, text := range []string{lgbmText, xgbText, cbText, lambdaMART, rankNet, solrLinear, solrTreeText, solrNetwork, elasticModelText, svmLight, libLinear, scikit} {
		if err := CheckForeign([]byte(text)); err != nil {
			t.Errorf("%.30q: %v", text, err)
		}
	}
}

// Claim: what Solr's model store answers, and a search for Elasticsearch's models, are read: the one
// model there is, or the one named.
func TestModelStores(t *testing.T) {
	store, err := os.ReadFile("testdata/solr-model-store.json")
	if err != nil {
		t.Fatal(err)
	}
	hits := func(models ...string) string {
		var list []string
		for _, m := range models {
			list = append(list, `{"_index": ".ltrstore", "_id": "model-x", "_source": {"name": "`+m+`", "type": "model", "model": {"name": "`+m+`", "model": {"type": "model/linear", "definition": {"`+m+`": 2}}}}}`)
		}
		return `{"took": 1, "hits": {"total": {"value": 2}, "hits": [` + strings.Join(list, ", ") + `]}}`
	}
	one := `{"responseHeader": {"status": 0}, "models": [` + solrLinear + `]}`
	for _, c := range []struct {
		text, name string
		names      []string // of the features; nil: want is the error
		want       string
	}{
		{string(store), "linear", []string{"originalScore", "titleMatch", "bodyMatch", "titlePhrase", "titleExact", "recency", "votes", "rating", "tomatoes"}, ""},
		{string(store), "", nil, `found 2 models, ["bm25" "linear"], expected one: listwise import --name chooses`},
		{string(store), "liner", nil, `found no model "liner", expected one of ["bm25" "linear"]`},
		{one, "", []string{"a", "b"}, ""},
		{one, "m", []string{"a", "b"}, ""},
		{`{"responseHeader": {}, "models": [], "note": "org.apache.solr.ltr.model."}`, "", nil, "found no models, expected one"},
		{hits("a"), "", []string{"a"}, ""},
		{hits("a", "b"), "b", []string{"b"}, ""},
		{hits("a", "b"), "", nil, `found 2 models, ["a" "b"]`},
	} {
		format := "solr"
		if strings.Contains(c.text, "hits") {
			format = "elasticsearch"
		}
		m, _, err := Read([]byte(c.text), ReadOptions{Name: c.name, Format: format})
		switch {
		case c.names == nil && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%.40s, %q: the error is %v, expected %s", c.text, c.name, err, c.want)
		case c.names != nil && (err != nil || !slices.Equal(m.FeatureNames, c.names)):
			t.Errorf("%.40s, %q: %v, expected the features %q", c.text, c.name, err, c.names)
		}
	}
	feature := `{"name": "a", "params": ["keywords"], "template_language": "mustache", "template": {"match": {"title": "{{keywords}}"}}}`
	stored := `{"_index": ".ltrstore", "_type": "_doc", "_id": "model-m", "found": true, "_source": {"name": "m", "type": "model", "model": {"name": "m", "feature_set": {"name": "s", "features": [` +
		strings.Repeat(feature+", ", headBytes/len(feature)+1) + feature + `]}, "model": {"type": "model/linear", "definition": "{\"a\": 2}"}}}}`
	if m, _, err := Decode([]byte(stored), ReadOptions{}); err != nil || !slices.Equal(m.FeatureNames, []string{"a"}) {
		t.Errorf("a GET of one model: %v", err)
	}
	if got := Recognise(store); got != "solr" {
		t.Errorf("a model store is recognised as %q", got)
	}
}

// Claim: names that XGBoost does not take are written as others, with a note, and stay different.
func TestXGBoostRenames(t *testing.T) {
	m, _, err := Read([]byte(xgbText), ReadOptions{Names: []string{"price[eur]", "age<3"}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	notes, err := Write(&out, m, "xgboost", WriteOptions{})
	const want = `XGBoost has no names such as "price[eur]": they are written as "price_eur_"`
	if err != nil || !slices.Contains(notes, want) || !strings.Contains(out.String(), `"feature_names":["price_eur_","age_3"]`) {
		t.Errorf("%v, notes %q, expected %q; the file is\n%s", err, notes, want, &out)
	}
	m.FeatureNames = []string{"a[", "a]"}
	if _, err := Write(new(strings.Builder), m, "xgboost", WriteOptions{}); err == nil || !strings.Contains(err.Error(), `found the feature name "a_" a second time`) {
		t.Errorf("names that become one: %v", err)
	}
}
