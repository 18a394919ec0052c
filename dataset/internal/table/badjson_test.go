package table

import (
	"errors"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Every mistake is reported with its line and column, what stands there and what should.
func TestBadJSON(t *testing.T) {
	const good = `{"query":"q","grade":1,"doc":"a","bm25":0.5,"ctr":1}` + "\n"
	const number = "a number (--one-hot bm25 makes features of text, --features 'all but bm25' leaves it out)"
	const value = "a value: a number, a string, true, false or null"
	tests := []struct {
		name, text string
		opts       dataset.Options
		want       string
	}{
		{"empty file", "", dataset.Options{}, `f: found no documents, expected lines of the form {"query": …, "grade": …, "NAME": VALUE, …}`},
		{"blank lines alone", "\n \r\n", dataset.Options{}, `f: found no documents, expected lines of the form {"query": …, "grade": …, "NAME": VALUE, …}`},
		{"no object", good + "[1,2]\n", dataset.Options{}, `f:2: found "[", expected an object, {…}, on every line`},
		{"empty object", good + "{}\n", dataset.Options{}, `f:2: found nothing in column grade, expected a grade, a finite non-negative number`},
		{"a number", "1\n" + good, dataset.Options{}, `f:1: found "1", expected an object, {…}, on every line`},
		{"no query", `{"grade":1,"x":1}`, dataset.Options{}, `f: found no column of queries among grade, x, expected one called query, queryid, qid, or --query COLUMN`},
		{"no grade", `{"qid":1,"x":1}`, dataset.Options{}, `f: found no column of grades among qid, x, expected one called grade, label, relevance, or --grade COLUMN`},
		{"no features", `{"qid":1,"label":1}`, dataset.Options{}, `f: found no features, expected one or more members beside those of queries, grades and documents`},
		{"an object over two lines", good + "{\"query\":\n\"q\"}\n", dataset.Options{}, `f:2: found the end of the line in column query, expected ` + value},
		{"truncated", good + `{"query":"q","grade":1,"bm`, dataset.Options{}, `f:2: found a string without its end, expected another quote`},
		{"truncated behind a backslash", good + `{"query":"q","grade":1,"bm\`, dataset.Options{}, `f:2: found a string without its end, expected another quote`},
		{"truncated behind a value", good + `{"query":"q","grade":1`, dataset.Options{}, `f:2: found the end of the line behind a value, expected a comma or the end of the object, }`},
		{"two objects", good + good[:len(good)-1] + good, dataset.Options{}, `f:2: found "{" behind the object, expected the end of the line`},
		{"comma behind the last", good + `{"query":"q","grade":1,}`, dataset.Options{}, `f:2: found "}", expected a key in quotes`},
		{"name without quotes", good + `{query:"q"}`, dataset.Options{}, `f:2: found "query", expected a key in quotes`},
		{"single quotes", good + `{'query':"q"}`, dataset.Options{}, `f:2: found "'query'", expected a key in quotes`},
		{"no colon", good + `{"query" "q"}`, dataset.Options{}, `f:2: found "\"q\"" behind the key "query", expected a colon and a value`},
		{"no comma", good + `{"query":"q" "grade":1}`, dataset.Options{}, `f:2: found "\"grade\"" behind a value, expected a comma or the end of the object, }`},
		{"name twice", good + `{"query":"q","grade":1,"bm25":1,"ctr":2,"bm25":3}`, dataset.Options{}, `f:2: found "bm25" twice, expected every name once in a line`},
		{"leading zero", good + `{"query":"q","grade":01}`, dataset.Options{}, `f:2: found "01" in column grade, expected ` + value},
		{"point without digits", good + `{"query":"q","grade":1,"bm25":1.}`, dataset.Options{}, `f:2: found "1." in column bm25, expected ` + value},
		{"plus", good + `{"query":"q","grade":1,"bm25":+1}`, dataset.Options{}, `f:2: found "+1" in column bm25, expected ` + value},
		{"a word", good + `{"query":"q","grade":1,"bm25":True}`, dataset.Options{}, `f:2: found "True" in column bm25, expected ` + value},
		{"a comment", "// x\n" + good, dataset.Options{}, `f:1: found "//", expected an object, {…}, on every line`},
		{"control character", good + "{\"query\":\"a\tb\"}", dataset.Options{}, `f:2: found the control character '\t' in a string in column query, expected an escape`},
		{"half a pair of surrogates", good + `{"query":"a\ud800"}`, dataset.Options{}, `f:2: found "\\ud800", half of a surrogate pair in column query, expected both halves`},
		{"the second half first", good + `{"query":"\udc00\ud800"}`, dataset.Options{}, `f:2: found "\\udc00", half of a surrogate pair in column query, expected both halves`},
		{"bad escape", good + `{"query":"a\x41"}`, dataset.Options{}, `f:2: found "\\x41" in column query, expected one of the escapes \" \\ \/ \b \f \n \r \t \uXXXX`},
		{"bad hexadecimals", good + `{"query":"\u12g4"}`, dataset.Options{}, `f:2: found "\\u12g4" in column query, expected one of the escapes \" \\ \/ \b \f \n \r \t \uXXXX`},
		{"text for a number", good + `{"query":"q","grade":1,"bm25":"red","ctr":1}`, dataset.Options{}, `f:2: found "red" in column bm25, expected ` + number},
		{"null", good + `{"query":"q","grade":1,"bm25":null,"ctr":1}`, dataset.Options{}, `f:2: found nothing in column bm25, expected a number (or --missing zero, min or keep, which says what missing values become)`},
		{"left out", good + `{"query":"q","grade":1,"ctr":1}`, dataset.Options{}, `f:2: found nothing in column bm25, expected a number (or --missing zero, min or keep, which says what missing values become)`},
		{"NaN", good + `{"query":"q","grade":1,"bm25":1,"ctr":NaN}`, dataset.Options{}, `f:2: found "NaN" in column ctr, expected a number (or --missing zero, min or keep, which says what missing values become)`},
		{"infinite", good + `{"query":"q","grade":1,"bm25":-Infinity,"ctr":1}`, dataset.Options{Missing: dataset.MissingZero}, `f:2: found "-Infinity" in column bm25, expected a finite value within the range of float32, ±3.4e38 (or --missing-value for one that stands for a missing value)`},
		{"too large", good + `{"query":"q","grade":1,"bm25":1e39,"ctr":1}`, dataset.Options{}, `f:2: found "1e39" in column bm25, expected a finite value within the range of float32, ±3.4e38 (or --missing-value for one that stands for a missing value)`},
		{"an array for a number", good + `{"query":"q","grade":1,"bm25":[1],"ctr":1}`, dataset.Options{}, `f:2: found an array in column bm25, expected a number, a string, true, false or null`},
		{"an object for a number", good + `{"query":"q","grade":1,"bm25":{},"ctr":1}`, dataset.Options{}, `f:2: found an object in column bm25, expected a number, a string, true, false or null`},
		{"query null", good + `{"query":null,"grade":1,"bm25":1,"ctr":1}`, dataset.Options{}, `f:2: found no query in column query, expected a query id in every row`},
		{"grade left out", good + `{"query":"q","bm25":1,"ctr":1}`, dataset.Options{}, `f:2: found nothing in column grade, expected a grade, a finite non-negative number`},
		{"negative grade", good + `{"query":"q","grade":-2,"bm25":1,"ctr":1}`, dataset.Options{}, `f:2: found -2 in column grade, expected a grade, a finite non-negative number (or --negative-grades zero or drop)`},
		{"control character in an id", good + `{"query":"a\nb","grade":1,"bm25":1,"ctr":1}`, dataset.Options{}, `f:2: found "a\nb" in column query, expected a query id without control characters`},
		{"features are a number", `{"query":"q","grade":1,"features":3}`, dataset.Options{}, `f:1: found "3" for the features, expected an object or an array of them`},
		{"a short array", `{"query":"q","grade":1,"features":[1,2]}` + "\n" + `{"query":"q","grade":1,"features":[1]}`, dataset.Options{}, `f:2: found an array of 1 features, expected 2, as elsewhere`},
		{"an array within", `{"query":"q","grade":1,"features":[1,[2]]}`, dataset.Options{}, `f:1: found an array in column 2, expected a number, a string, true, false or null`},
		{"too deep", good + `{"query":"q","grade":1,"x":` + strings.Repeat("[", 102) + strings.Repeat("]", 102) + `}`, dataset.Options{Table: dataset.TableOptions{Features: []string{"bm25"}}}, `f:2: found more than 100 levels of objects and lists, expected fewer`},
		{"not the model's", good, dataset.Options{FeatureNames: []string{"bm25", "age"}}, `f: found no column for 1 of 2 features that the model or an option names: age, expected a column for each, among query, grade, doc, bm25, ctr`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := checkCuts(t, test.text, ReadJSON, test.opts)
			if err == nil || err.Error() != test.want {
				t.Fatalf("error is\n\t%v\nwant\n\t%s", err, test.want)
			}
			if _, ok := errors.AsType[*dataset.SyntaxError](err); !ok {
				t.Errorf("error is a %T, want a *SyntaxError", err)
			}
		})
	}
}
