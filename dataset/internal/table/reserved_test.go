package table

import (
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/stream"
)

// Claim: a second column with a name of what there is a column for is no feature unless options
// name it; the error says what to do, and doing it helps.
func TestReservedNames(t *testing.T) {
	const text = "query,id,bm25,Relevance,grade,ctr\nq,1,0.5,1,2,0.25\n"
	type options = dataset.TableOptions
	for _, test := range []struct {
		text     string
		o        options
		features string // or the error
		grade    float64
		doc      string
	}{
		{text, options{}, `f:1: found column "grade" beside the grades of column "Relevance", expected a choice: --features 'all but grade'; or --grade grade --features 'all but Relevance'; or --features with the names of all features, where it is one`, 0, ""},
		{text, options{Except: []string{"grade"}}, "bm25 ctr", 1, "1"},
		{text, options{Grade: "grade", Except: []string{"Relevance"}}, "bm25 ctr", 2, "1"},
		{text, options{Except: []string{"Relevance"}}, "bm25 ctr", 2, "1"},
		{text, options{Grade: "grade"}, "bm25 Relevance ctr", 2, "1"}, // the option settles it
		{text, options{Features: []string{"Relevance", "ctr"}}, "Relevance ctr", 2, "1"},
		{text, options{Features: []string{"Relevance", "id"}}, "Relevance id", 2, ""},
		{text, options{Except: []string{"id", "grade"}}, "bm25 ctr", 1, "1"},
		{"qid,grade,x,doc_id,item id\nq,1,1,d,7\n", options{}, `f:1: found column "item id" beside the documents of column "doc_id", expected a choice: --features 'all but item id'; or --doc 'item id' --features 'all but doc_id'; `, 0, ""},
		{"qid,grade,x,Topic-ID\nq,1,1,d\n", options{}, `f:1: found column "Topic-ID" beside the queries of column "qid", expected a choice: `, 0, ""},
		{"qid,grade,x,query_weight,Query Weight\nq,1,1,1,1\n", options{}, `f:1: found column "Query Weight" beside the weights of queries of column "query_weight", expected a choice: `, 0, ""},
		{"qid,grade,x,label\nq,1,1,1\n", options{Except: []string{"x"}}, `f:1: found column "label" beside the grades of column "grade", expected a choice: --features 'all but x,label'; `, 0, ""},
	} {
		d, err := checkCuts(t, test.text, csvReader, dataset.Options{Table: test.o})
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), test.features):
			t.Errorf("%+v: error %v, expected %s", test.o, err, test.features)
		case err != nil:
		case strings.Join(d.FeatureNames, " ") != test.features || d.Grades()[0] != test.grade || d.Queries[0].DocID(0) != test.doc:
			t.Errorf("%+v: features %q, grade %v, document %q", test.o, d.FeatureNames, d.Grades()[0], d.Queries[0].DocID(0))
		}
	}
	d, err := checkCuts(t, `{"query":"q","grade":1,"features":{"label":3,"x":1}}`+"\n", ReadJSON, dataset.Options{})
	if err != nil || strings.Join(d.FeatureNames, " ") != "label x" {
		t.Errorf("features named in an object: %v, %+v", err, d)
	}
	if _, err := checkCuts(t, `{"query":"q","grade":1,"rating":3,"x":1}`+"\n", ReadJSON, dataset.Options{}); err == nil || !strings.HasPrefix(err.Error(), `f: found column "rating" beside the grades of column "grade", expected a choice: `) {
		t.Errorf("error %v", err)
	}
}

// Claim: a name that features have as well is not guessed to be that of grades, queries or weights,
// whichever other columns there are. The error names both ways out, and either helps.
func TestDoubtfulNames(t *testing.T) {
	type options = dataset.TableOptions
	const shop = "qid,rating,price,clicks\nq,5,1.5,0\n"
	for _, test := range []struct {
		text     string
		o        options
		features string // or the error
		grade    float64
		query    string
	}{
		{shop, options{}, `f:1: found column "rating", which may hold the grades or be a feature, expected a choice: --grade rating; or --grade with the column of the grades`, 0, ""},
		{shop, options{Grade: "rating"}, "price clicks", 5, "q"},
		{shop, options{Grade: "clicks"}, "rating price", 0, "q"},
		{shop, options{Grade: "clicks", Except: []string{"rating"}}, "price", 0, "q"},
		{shop, options{Ungraded: true}, `f:1: found column "rating", which may hold the grades or be a feature, expected a choice: --grade rating; or --features 'all but rating'; or --features with the names of all features, where it is one`, 0, ""},
		{shop, options{Ungraded: true, Features: []string{"rating"}}, "rating", 0, "q"},
		{"query,grade,doc,rating\nq,1,d,5\n", options{}, "rating", 1, "q"}, // as it is written
		{"query,grade,doc,rating,label\nq,1,d,5,1\n", options{}, `f:1: found column "label" beside the grades of column "grade"`, 0, ""},
		{"grade,query,doc,rating\n1,q,d,5\n", options{}, `f:1: found column "rating" beside the grades of column "grade"`, 0, ""},
		{"qid,rating,price,label\nq,5,1.5,1\n", options{}, `f:1: found column "rating" beside the grades of column "label", expected a choice: --features 'all but rating'; or --grade rating --features 'all but label'; `, 0, ""},
		{"session,Group,price,label\ns,7,1.5,1\n", options{}, `f:1: found column "Group", which may hold the queries or be a feature, expected a choice: --query Group; or --query with the column of the queries`, 0, ""},
		{"session,Group,price,label\ns,7,1.5,1\n", options{Query: "session"}, "Group price", 1, "s"},
		{"session,topic_id,price,label\n3,7,1.5,1\n", options{Query: "topic_id"}, "session price", 1, "7"},
		{"qid,doc_weight,price,label\nq,7,1.5,1\n", options{}, `f:1: found column "doc_weight", which may hold the weights of documents or be a feature, expected a choice: --weight doc_weight; or --features 'all but doc_weight'; or `, 0, ""},
		{"qid,doc_weight,price,label\nq,7,1.5,1\n", options{Weight: "doc_weight"}, "price", 1, "q"},
		{"qid,doc_weight,price,label\nq,7,1.5,1\n", options{Features: []string{"doc_weight"}}, "doc_weight", 1, "q"},
	} {
		d, err := checkCuts(t, test.text, csvReader, dataset.Options{Table: test.o})
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), test.features):
			t.Errorf("%+v: error %v, expected %s", test.o, err, test.features)
		case err != nil:
		case strings.Join(d.FeatureNames, " ") != test.features || d.Grades()[0] != test.grade || d.Queries[0].ID != test.query:
			t.Errorf("%+v: features %q, grade %v, query %q", test.o, d.FeatureNames, d.Grades()[0], d.Queries[0].ID)
		}
	}
}

// Claim: a feature with a usual name of what an option names another column for is noted.
func TestSettledNote(t *testing.T) {
	var notes []string
	o := dataset.Options{Table: dataset.TableOptions{Grade: "clicks"}, Note: func(s string) { notes = append(notes, s) }}
	if _, err := readCut(strings.NewReader("qid,label,price,clicks\nq,5,1.5,0\n"), csvReader, o, 0); err != nil {
		t.Fatal(err)
	}
	const want = "f: column label is used as a feature, because --grade clicks names the grades (--features 'all but label' excludes it)"
	if len(notes) != 2 || notes[0] != want {
		t.Errorf("notes %q", notes)
	}
}

// Claim: NA and its like are kept as ids of queries, and a note says so, in memory and streamed; an
// empty id is an error.
func TestQueriesCalledNA(t *testing.T) {
	const text = "qid,grade,x\nNA,1,2\nnan,0,3\nNA,0,4\nNAB,1,1\n"
	const want = "f: query ids that other programs read as missing values are kept: NA, nan"
	for _, streamed := range []bool{false, true} {
		var notes []string
		o := dataset.Options{Note: func(s string) { notes = append(notes, s) }}
		ids := 0
		if streamed {
			in, err := input.Hold(strings.NewReader(text), "f", o, nil)
			if err != nil {
				t.Fatal(err)
			}
			s, err := StreamCSV(in, o, ',')
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Survey(func(runs []stream.Run) error { ids += len(runs); return nil }); err != nil {
				t.Fatal(err)
			}
			ids-- // NA stands twice
		} else {
			d, err := readCut(strings.NewReader(text), csvReader, o, 0)
			if err != nil || d.Queries[0].ID != "NA" || d.Queries[1].ID != "nan" {
				t.Fatal(err, d)
			}
			ids = len(d.Queries)
		}
		if ids != 3 || len(notes) != 2 || notes[1] != want {
			t.Errorf("streamed %v: %d queries, notes %q", streamed, ids, notes)
		}
	}
}
