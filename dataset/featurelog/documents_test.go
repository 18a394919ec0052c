package featurelog

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
)

const scored = `{"response":{"docs":[{"id":"a","score":3.5,"[features]":"bm25=1.5,ctr=1.0"},{"id":7,"score":-1,"[features]":""}]}}`

func TestReadDocuments(t *testing.T) {
	plugin := `{"hits":{"hits":[{"_id":"a","_score":2.5,"fields":{"_ltrlog":[{"log":[{"name":"bm25","value":1.5},{"name":"ctr"}]}]}}]}}`
	answers, err := ReadDocuments(strings.NewReader(scored+"\n["+plugin+`,{"query":"hat","answer":{"response":{"docs":[]}}}]`), "log", "", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]Document{
		{{"a", 3.5, map[string]float64{"bm25": 1.5, "ctr": 1}}, {"7", -1, map[string]float64{}}},
		{{"a", 2.5, map[string]float64{"bm25": 1.5, "ctr": 0}}},
		nil,
	}, answers); diff != "" {
		t.Error(diff)
	}
	answers, err = ReadDocuments(strings.NewReader(`{"response":{"docs":[{"sku":"a","id":[1],"score":3.5,"[features]":"x=1"}]}}`), "log", "sku", dataset.Options{})
	if err != nil || answers[0][0].ID != "a" {
		t.Errorf("found %v, %v", answers, err)
	}
	answers, err = ReadDocuments(strings.NewReader("id,score,[features]\na,3.5,\"x=1.0,y=2.0\"\n"), "log", "", dataset.Options{})
	if err != nil || answers[0][0].Score != 3.5 || answers[0][0].Features["y"] != 2 {
		t.Errorf("found %v, %v", answers, err)
	}
	for text, want := range map[string]string{
		`{"error":{"msg":"x"}}`:                                           `log:2: found an error of the search engine`,
		`{"response":{"docs":[{"score":1,"[features]":"a=1"}]}}`:          `log:2: found document 1 of the answer without an id`,
		`{"response":{"docs":[{"id":"a","[features]":"a=1"}]}}`:           `found document "a" without a score`,
		`{"response":{"docs":[{"id":"a","score":1}]}}`:                    `found document "a" without logged features`,
		`{"response":{"docs":[{"id":"a","score":1,"[features]":"a"}]}}`:   `found "a" in the features of document "a"`,
		`{"response":{"docs":[{"id":"a","score":1,"[features]":"a=x"}]}}`: `the value "x" of the feature "a" of document "a"`,
		`{"hits":{"hits":[{"_score":1}]}}`:                                `document 1 of the answer without an id`,
		`{"hits":{"hits":[{"_id":"a","_score":null}]}}`:                   `found document "a" without`,
		`{"response":`: "log:2: found the end of the text",
	} {
		_, err := ReadDocuments(strings.NewReader(scored+"\n"+text), "log", "", dataset.Options{})
		if _, ok := errors.AsType[*dataset.SyntaxError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %s", text, err, want)
		}
	}
}

func FuzzReadDocuments(f *testing.F) {
	f.Add(scored)
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = ReadDocuments(strings.NewReader(text), "log", "", dataset.Options{})
	})
}
