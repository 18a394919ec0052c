package judgements

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
)

func read(text string, opts dataset.Options) (*dataset.Dataset, error) {
	in, err := input.Hold(strings.NewReader(text), "f", opts, nil)
	if err != nil {
		return nil, err
	}
	return Read(in, opts)
}

// listed lists judgements as "query|document|grade".
func listed(d *dataset.Dataset) (list []string) {
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			list = append(list, fmt.Sprint(q.ID, "|", q.DocID(j), "|", q.Grades[j]))
		}
	}
	return list
}

// Claim: document weights of a table belong to their documents, also where the lines of queries are apart; a document with
// two weights is an error, and so is a weight that is no number.
func TestWeights(t *testing.T) {
	d, err := read("query,doc,grade,low,document_weight\nq,a,.5,0,2\nr,a,1,0,3\nq,b,,0,9\nq,c,.25,0,\nq,d,0,0,.5\n", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"q|a|0.5", "q|c|0.25", "q|d|0", "r|a|1"}, listed(d)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{2, 1, .5, 3}, d.Weights()); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		"query,doc,grade,document_weight\nq,a,1,x\n":        `f:2: found "x", expected a document weight, a finite number that is not negative`,
		"query,doc,grade,document_weight\nq,a,1,-1\n":       `f:2: found "-1", expected a document weight, a finite number that is not negative`,
		"query,doc,grade,document_weight\nq,a,1,1\nq,a,1,2": `f:3: found document "a" of query "q", which line 2 has too, expected each document of a query once in a list with document weights`,
	} {
		if _, err := read(text, dataset.Options{}); err == nil || err.Error() != want {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// Claim: one list of judgements reads alike in every form, compressed or not. Looks recognises all forms except TREC's
// and BEIR's.
func TestForms(t *testing.T) {
	want := []string{"red shoes|a|3", "red shoes|b|0", "hat|a|1.5"}
	for name, text := range map[string]string{
		"Quepid, basic":      "query,docid,rating\r\nred shoes,a,3\r\n\"red shoes\",b,0\r\nhat,a,1.5\r\n",
		"Quepid, older":      "\ufeffquery,doc_id,rating\nred shoes,a,3\nred shoes,b,0.0\nhat,a,1.5",
		"Quepid, detailed":   "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating,price\nT,C,1,red shoes,a,1,\"Shoes, \"\"red\"\"\nand new\",3,x\nT,C,1,red shoes,b,2,Socks,0,y\nT,C,1,hat,a,1,Hat,1.5,\n",
		"with features":      "query,grade,doc,rating\nred shoes,3,a,9\nred shoes,0,b,8\nhat,1.5,a,7\n",
		"tabs":               "query\tdocid\trating\nred shoes\ta\t3\nred shoes\tb\t0\nhat\ta\t1.5\n",
		"Quepid, JSON":       `{"queries":[{"query":"red shoes","ratings":{"a":3,"b":0}},{"query":"hat","ratings":{"a":1.5}}]}`,
		"Quepid, a case":     `{"case_name":"C","queries":[{"arranged_at":0,"query_text":"red shoes","options":{"x":[1]},"ratings":{"a":3,"b":"0"}},{"ratings":{"a":1.5},"query_text":"hat"}]}`,
		"Quepid, LTR":        "\n3 qid:1 # a red shoes\n\n0 qid:1 # b red shoes\n1.5 qid:2 # a hat\n",
		"Quepid, for RRE":    `{"id_field":"id","index":"C","template":"t.json","queries":[{"placeholders":{"$query":"red shoes"},"relevant_documents":{"3":["a"],"0":["b"]}},{"placeholders":{"$query":"hat"},"relevant_documents":{"1.5":["a"]}}]}`,
		"RRE":                `{"index":"core","topics":[{"description":"d","query_groups":[{"name":"n","queries":[{"template":"t","placeholders":{"$lang":"en","$query":"red shoes"}}],"relevant_documents":{"a":{"gain":3},"b":{"gain":0}}},{"queries":[{"placeholders":{"$words":"hat"}}],"relevant_documents":{"a":{"rating":1.5}}}]}]}`,
		"RRE, two templates": `{"topics":[{"query_groups":[{"queries":[{"template":"t","placeholders":{"$query":"red shoes"}},{"template":"u","placeholders":{"$query":"red shoes"}}],"relevant_documents":{"a":{"gain":3},"b":{"gain":0}}},{"queries":[{"placeholders":{"$query":"hat"}}],"relevant_documents":{"a":{"gain":1.5}}}]}]}`,
		"TREC, tabs":         "red shoes\t0\ta\t3\nred shoes\t0\tb\t0\nhat\t0\ta\t1.5\n",
		"BEIR":               "query-id\tcorpus-id\tscore\nred shoes\ta\t3\nred shoes\tb\t0\nhat\ta\t1.5\n",
	} {
		for _, bytes := range []string{text, string(datatest.Gzip(text)), string(datatest.Zstd(text))} {
			d, err := read(bytes, dataset.Options{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			if diff := cmp.Diff(want, listed(d)); diff != "" || d.Features != 0 {
				t.Errorf("%s: %d features %s", name, d.Features, diff)
			}
		}
		if looks := Looks([]byte(text)); looks == (name == "TREC, tabs" || name == "BEIR" || name == "with features") {
			t.Errorf("%s: recognised: %v", name, looks)
		}
	}
}

// Claim: data with features are not taken for judgement lists, even without features in their first lines.
func TestLooks(t *testing.T) {
	for _, text := range []string{
		"2 qid:1 1:0.5 2:1 # a shoes\n", "2 qid:1 # a shoes\n1 qid:1 1:1 # b shoes\n", "0 qid:1 # docid = a\n", "query,docid,rating,price\n1,a,2,3\n", "query,docid,price\n",
		`{"query":"1","grade":2,"doc":"a","queries":7}`, "1 0 a 2\n", "", "\n",
	} {
		if Looks([]byte(text)) {
			t.Errorf("%q is taken for a judgement list", text)
		}
	}
}

// Claim: entries without a grade are counted, equal judgements merged, and different grades of a document
// treated as the policy says.
func TestUnratedAndConflicting(t *testing.T) {
	csv := "query,docid,rating\nnew\nq,a,1\nq,b,\nq,a,1\nq,c,2\n"
	conflict := csv + "p,a,0\nq,c,3\nq,c,3\n"
	for _, c := range []struct {
		text     string
		policy   dataset.Conflicts
		want     []string
		warnings string
	}{
		{csv, dataset.ConflictsError, []string{"q|a|1", "q|c|2"}, "f: left out 2 entries without a grade: they count as not judged; f: merged 1 repeated judgements with the first of their document"},
		{conflict, dataset.ConflictsLast, []string{"q|a|1", "q|c|3", "p|a|0"}, "f: left out 2 entries without a grade: they count as not judged; f: merged 3 repeated judgements with the first of their document; f: 1 documents have several grades; took the last of each"},
		{conflict, dataset.ConflictsMean, []string{"q|a|1", "q|c|2.6666666666666665", "p|a|0"}, "f: left out 2 entries without a grade: they count as not judged; f: merged 3 repeated judgements with the first of their document; f: 1 documents have several grades; took the mean of each"},
		{`{"queries":[{"query":"q","ratings":{"a":1,"b":null,"c":{"gain":null}}},{"query":"p"},{"query":"r","ratings":{}}]}`, dataset.ConflictsError, []string{"q|a|1"}, "f: left out 3 entries without a grade: they count as not judged"},
	} {
		d, err := read(c.text, dataset.Options{Conflicts: c.policy})
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if diff := cmp.Diff(c.want, listed(d)); diff != "" {
			t.Errorf("%q, %v: %s", c.text, c.policy, diff)
		}
		if got := strings.Join(d.Warnings, "; "); got != c.warnings {
			t.Errorf("%q, %v: warnings %q", c.text, c.policy, got)
		}
	}
}

// Claim: an error names the line, what was found and what was expected.
func TestErrors(t *testing.T) {
	deep := strings.Repeat(`{"queries":[`, 102)
	for text, want := range map[string]string{
		"query,docid,rating\n":                                                                         "f: found no judgements, expected queries, documents and grades",
		"query,docid,rating\nq,a,\n":                                                                   "f: found no judgements",
		"query,docid,rating\nq,a,good\n":                                                               `f:2: found "good", expected a grade, a finite number`,
		"query,docid,rating\nq,a,NaN\n":                                                                `f:2: found "NaN", expected a grade`,
		"query,docid,rating\nq,a,-1\n":                                                                 `f:2: found the negative grade "-1", expected a grade of at least 0, or --negative-grades zero`,
		"query,docid,rating\nq,,1\n":                                                                   `f:2: found the grade "1" without a document id`,
		"query,docid,rating\n,a,1\n":                                                                   "f:2: found a judgement without a query",
		"query,docid,rating\n\nq,a,1\nq,\"a,1\nq,b,2\n":                                                `f:4: found a row that is no CSV: extraneous or missing " in quoted-field`,
		"query,docid,rating\nq,a,1,\nshoes,7,3,2\n":                                                    `f:3: found 4 cells, the last "2", expected 3 as in the first line; a cell with ',' needs quotes`,
		"query,docid,rating\nq,a\"b,1\n":                                                               `f:2: found a row that is no CSV: bare " in non-quoted-field`,
		"query,docid,rating\nq,\xff,1\n":                                                               `f:2: found "\xff", expected a document id in UTF-8`,
		"query,docid,rating\nq\x01,a,1\n":                                                              `f:2: found "q\x01", expected a query id without control characters`,
		"query,docid,rating\nq,a,1\nq,a,2\n":                                                           `f:3: found document "a" of query "q", which line 2 has too, there with the grade 1 and here with 2, expected one grade, or --conflicts mean or last`,
		"query,docid,rating\nq,\"" + strings.Repeat("x", pairs.LongestRow+5000):                        "f:2: found a row of more than 4194304 bytes, expected a shorter one; the closing quote",
		"1 qid:1 # a b\n1 qid:1 1:2\n2 qid:1 3:1 # a b\n":                                              `f:1: found 5 fields, expected 4: QUERY ITERATION DOCUMENT GRADE`,
		"1 qid:1 # a b\n" + strings.Repeat("1 qid:1 # c b\n", 400) + "1 qid:1 1:3\n":                   `f:402: found "1 qid:1 1:3", expected a line of GRADE qid:NUMBER # DOCUMENT QUERY`,
		"x qid:1 # a b\n":                                                                              `f:1: found "x", expected a grade`,
		"1 qid: # a\n":                                                                                 `f:1: found a judgement without a query`,
		"1 qid:1 # a b\n2 qid:1 # a b\n":                                                               `f:2: found document "a" of query "b", which line 1 has too`,
		`{"queries":[]}`:                                                                               "f: found no judgements",
		`{"queries":{}}`:                                                                               `f:1: found "{", expected queries as a list`,
		`{"queries":["q"]}`:                                                                            `f:1: found "\"q\"", expected a list of judgements as an object`,
		"{\"queries\":[\n{\"ratings\":{\"a\":1}}]}":                                                    `f:2: found ratings without a query, expected "query" or "placeholders"`,
		"{\"queries\":[\n{\"query\":\"q\",\n\"ratings\":{\"a\":\"x\"}}]}":                              `f:3: found "x", expected a grade`,
		"{\"queries\":[\n{\"query\":\"q\",\n\"ratings\":{\"a\":true}}]}":                               `f:3: found "true", expected a grade`,
		"{\"queries\":[\n{\"query\":\"q\",\n\"ratings\":{\"a\":-2}}]}":                                 `f:3: found the negative grade "-2"`,
		"{\"queries\":[\n{\"query\":\"q\",\"ratings\":[1]}]}":                                          `f:2: found "[", expected ratings as an object`,
		"{\"queries\":[\n{\"query\":{},\"ratings\":{}}]}":                                              `f:2: found "{", expected a value`,
		"{\"queries\":[\n{\"query\":null,\"ratings\":{\"a\":1}}]}":                                     `f:2: found a judgement without a query`,
		"{\"queries\":[\n{\"query\":\"q\",\"ratings\":{\"a\":1}}":                                      `f:2: found the end of the text behind a value, expected a comma or the end of queries`,
		"{\"queries\":[\n{\"query\":\"q\",\"ratings\":{\"a\":1}}]}\n{}":                                `f:3: found "{" behind the list, expected the end of the text`,
		"{\"queries\":[\n{\"query\":\"q\",\"ratings\":{\"1\":[\"a\",[]]}}]}":                           `f:2: found "[", expected a value`,
		"{\"queries\":[\n{\"query\":\"q\",\"ratings\":{\"a\":1,\n\"a\":2}}]}":                          `f:3: found document "a" of query "q", which line 2 has too, there with the grade 1 and here with 2`,
		`{"topics":[{"query_groups":[{"queries":[{"placeholders":["x"]}],"relevant_documents":{}}]}]}`: `f:1: found "[", expected placeholders as an object`,
		`{"topics":[{"query_groups":[{"relevant_documents":{"a":{"gain":1}}}]}]}`:                      "f:1: found ratings without a query",
		`{"topics":[{"query_groups":[{"queries":[{"placeholders":{"$query":""}}],"relevant_documents":{"a":{"gain":1}}}]}]}`: "f:1: found a judgement without a query",
		deep:                    "f:1: found more than 100 levels of objects",
		`{"queries":[` + "\xff": `f:1: found "\xff", expected a list of judgements as an object`,
		`{"queries":[{"query":"` + "\xff" + `"}]}`:                `f:1: found the byte "\xff", which is not UTF-8`,
		"query,grade\nq,1\n":                                      `f:1: found 1 field, "query,grade", expected 4: QUERY ITERATION DOCUMENT GRADE`,
		string(datatest.Gzip("query,docid,rating\nq,a,1\n")[:25]): "f",
	} {
		if _, err := read(text, dataset.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

// FuzzRead: any bytes are read or refused. Grades in Quepid's JSON are the numbers that encoding/json finds.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"query,docid,rating\nq,a,3\n", "Query Text;Doc ID;Rating\n\"a\nb\";1;2\n", "3 qid:1 # a red shoes\n", "1 0 a 2\n",
		`{"queries":[{"query":"q","ratings":{"a":3,"b":null}}]}`, `{"topics":[{"query_groups":[{"queries":[{"placeholders":{"$query":"q"}}],"relevant_documents":{"a":{"gain":3},"2":["b"]}}]}]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := read(text, dataset.Options{Conflicts: dataset.ConflictsLast, Negative: dataset.NegativeZero})
		Looks([]byte(text))
		if err != nil {
			return
		}
		for _, line := range listed(d) {
			if strings.HasPrefix(line, "|") || strings.Contains(line, "||") && !strings.Contains(text, "|") {
				t.Fatalf("a judgement without an id: %q", line)
			}
		}
		var quepid struct {
			Queries []struct {
				Query   string             `json:"query"`
				Ratings map[string]float64 `json:"ratings"`
			} `json:"queries"`
		}
		if strings.Count(text, ":") > 6 || json.Unmarshal([]byte(text), &quepid) != nil || len(quepid.Queries) != 1 || len(d.Queries) != 1 || quepid.Queries[0].Query != d.Queries[0].ID {
			return
		}
		for j := range d.Queries[0].Len() {
			id := d.Queries[0].DocID(j)
			if v, ok := quepid.Queries[0].Ratings[id]; ok && max(v, 0) != d.Queries[0].Grades[j] {
				t.Fatalf("document %q of %q has the grade %v, want %v", id, slices.Collect(maps.Keys(quepid.Queries[0].Ratings)), d.Queries[0].Grades[j], v)
			}
		}
	})
}
