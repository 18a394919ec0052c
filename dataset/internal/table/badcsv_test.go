package table

import (
	"errors"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Every mistake is reported with its line and column, what stands there and what should.
func TestBadCSV(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector; other tests run the same goroutines")
	}
	const head = "query,grade,doc,bm25,ctr\n"
	const good = head + "q1,1,a,0.5,1\n"
	table := func(o dataset.TableOptions) dataset.Options { return dataset.Options{Table: o} }
	const number = "a number (--one-hot bm25 makes features of text, --features 'all but bm25' leaves it out)"
	const cells = "5, one for each column (query, grade, doc, bm25, ctr)"
	tests := []struct {
		name, text string
		opts       dataset.Options
		want       string
	}{
		{"empty file", "", dataset.Options{}, `f:1: found no rows, expected a table that begins with the names of its columns`},
		{"blank lines alone", "\n\r\n\n", dataset.Options{}, `f:4: found no rows, expected a table that begins with the names of its columns`},
		{"header alone", head, dataset.Options{}, `f: found no rows below the names of the columns, expected a row for each document`},
		{"no header", "1,2,0.5\n1,0,0.7\n", dataset.Options{}, `f:1: found numbers, the first "1,2,0.5", expected a first line with the names of the columns`},
		{"no query", "id,grade,x\n", dataset.Options{}, `f:1: found no column of queries among id, grade, x, expected one called query, queryid, qid, or --query COLUMN`},
		{"no grade", "qid,x\nq,1\n", dataset.Options{}, `f:1: found no column of grades among qid, x, expected one called grade, label, relevance, or --grade COLUMN`},
		{"no feature", "qid,grade\nq,1\n", dataset.Options{}, `f: found no column of features, expected one or more beside those of queries, grades and documents`},
		{"name twice", "query,grade,x,y,x\n", dataset.Options{}, `f:1: found two columns called "x", the 3rd and the 5th, expected columns of different names`},
		{"name not in UTF-8", "query,grade,k\xe4se\n", dataset.Options{}, `f:1: found "k\xe4se", expected a name of a column in UTF-8`},
		{"header behind blank lines", "\n\nquery,grad,x\n", dataset.Options{}, `f:3: found no column of grades among query, grad, x, expected one called grade, label, relevance, or --grade COLUMN`},
		{"semicolons", "query;grade;x\nq;1;2\n", dataset.Options{}, `f:1: found one column, "query;grade;x", expected names of columns with commas between them (or --delimiter ';')`},
		{"tabs", "query\tgrade\tx\nq\t1\t2\n", dataset.Options{}, `f:1: found one column, "query\tgrade\tx", expected names of columns with commas between them (or --delimiter tab)`},
		{"unknown query column", good, table(dataset.TableOptions{Query: "qurey"}), `f:1: found no column "qurey" (--query), expected "query"`},
		{"unknown feature", good, table(dataset.TableOptions{Features: []string{"bm26"}}), `f:1: found no column "bm26" (--features), expected "bm25"`},
		{"unknown exception", good, table(dataset.TableOptions{Except: []string{"zzz"}}), `f:1: found no column "zzz" (--features), expected one of query, grade, doc, bm25, ctr`},
		{"unknown text column", good, table(dataset.TableOptions{OneHot: []string{"color"}}), `f:1: found no column "color" (--one-hot), expected one of query, grade, doc, bm25, ctr`},
		{"one column for two ends", good, table(dataset.TableOptions{Grade: "query"}), `f:1: found column "query" for grades, which has another use, expected another column (--grade)`},
		{"grade as feature", good, table(dataset.TableOptions{Features: []string{"grade"}}), `f:1: found column "grade" among the features, which has another use or stands there twice, expected every feature once (--features)`},
		{"query as text", good, table(dataset.TableOptions{OneHot: []string{"query"}}), `f:1: found column "query", which is no feature, among those of text, expected columns of features (--one-hot)`},
		{"not the model's columns", good, dataset.Options{FeatureNames: []string{"bm25", "age", "color=red"}}, `f:1: found no column for 2 of 3 features that the model or an option names: age, color=red, expected a column for each, among query, grade, doc, bm25, ctr`},

		{"too few cells", good + "q1,1,a,0.5\n", dataset.Options{}, `f:3: found 4 cells, expected ` + cells},
		{"too few cells in the last line", good + "q1", dataset.Options{}, `f:3: found 1 cells, expected ` + cells},
		{"too many cells", good + "q1,1,a,0.5,1,17,8\n", dataset.Options{}, `f:3: found more than 5 cells, the next begins with "17,8", expected one for each column (query, grade, doc, bm25, ctr)`},
		{"decimal comma", good + "q1,1,a,0,5,1\n", dataset.Options{}, `f:3: found more than 5 cells, the next begins with "1", expected one for each column (query, grade, doc, bm25, ctr)`},
		{"text for a number", good + "q1,1,a,red,1\n", dataset.Options{}, `f:3: found "red" in column bm25, expected ` + number},
		{"unit behind a number", good + "q1,1,a,5km,1\n", dataset.Options{}, `f:3: found "5km" in column bm25, expected ` + number},
		{"hexadecimal", good + "q1,1,a,0x10,1\n", dataset.Options{}, `f:3: found "0x10" in column bm25, expected ` + number},
		{"thousands", good + "q1,1,a,\"1,000\",1\n", dataset.Options{}, `f:3: found "1,000" in column bm25, expected ` + number},
		{"empty cell", good + "q1,1,a,,1\n", dataset.Options{}, `f:3: found nothing in column bm25, expected a number (or --missing zero, min or keep, which says what missing values become)`},
		{"NA", good + "q1,1,a,1,NA\n", dataset.Options{}, `f:3: found "NA" in column ctr, expected a number (or --missing zero, min or keep, which says what missing values become)`},
		{"infinite", good + "q1,1,a,-inf,1\n", dataset.Options{Missing: dataset.MissingZero}, `f:3: found "-inf" in column bm25, expected a finite value within the range of float32, ±3.4e38 (or --missing-value for one that stands for a missing value)`},
		{"too large", good + "q1,1,a,1e39,1\n", dataset.Options{}, `f:3: found "1e39" in column bm25, expected a finite value within the range of float32, ±3.4e38 (or --missing-value for one that stands for a missing value)`},
		{"no query id", good + ",1,a,1,1\n", dataset.Options{}, `f:3: found no query in column query, expected a query id in every row`},
		{"query id with a control character", good + "q\x01,1,a,1,1\n", dataset.Options{}, `f:3: found "q\x01" in column query, expected a query id without control characters`},
		{"query id over two lines", good + "\"q\n1\",1,a,1,1\n", dataset.Options{}, `f:3: found "q\n1" in column query, expected a query id without control characters`},
		{"document id in Latin-1", good + "q,1,k\xe4se,1,1\n", dataset.Options{}, `f:3: found "k\xe4se" in column doc, expected a document id in UTF-8`},
		{"text for a grade", good + "q,good,a,1,1\n", dataset.Options{}, `f:3: found "good" in column grade, expected a grade, a finite non-negative number`},
		{"no grade in a row", good + "q,,a,1,1\n", dataset.Options{Missing: dataset.MissingZero}, `f:3: found nothing in column grade, expected a grade, a finite non-negative number`},
		{"infinite grade", good + "q,1e999,a,1,1\n", dataset.Options{}, `f:3: found "1e999" in column grade, expected a grade, a finite non-negative number`},
		{"negative grade", good + "q,-1,a,1,1\n", dataset.Options{}, `f:3: found -1 in column grade, expected a grade, a finite non-negative number (or --negative-grades zero or drop)`},
		{"negative grades alone", head + "q,-1,a,1,1\n", dataset.Options{Negative: dataset.NegativeDrop}, `f: found negative grades alone, expected documents that are not to be dropped`},
		{"quote within a cell", good + "q,1,5\" disk,1,1\n", dataset.Options{}, `f:3: found a quote within a cell that does not begin with one in column doc, expected the whole cell in quotes, and quotes in it twice`},
		{"text behind a quote", good + "q,1,\"a\"b,1,1\n", dataset.Options{}, `f:3: found text behind a quoted cell in column doc, expected the next cell, or the end of the line (quotes within cells stand twice)`},
		{"open quote", good + "q,1,\"a,1,1\nq,1,b,2,3\n", dataset.Options{}, `f:3: found a quote without its end in column doc, expected another quote, and quotes within cells twice`},
		{"line behind cells of several", head + "q1,1,\"a\n\nb\",x,1\n", dataset.Options{}, `f:4: found "x" in column bm25, expected ` + number},
		{"first of two mistakes", good + "q,1,b,x,1\nq,1,b,1\n", dataset.Options{}, `f:3: found "x" in column bm25, expected ` + number},
		{"too many values of text", head + values(dataset.MaxOneHot+1), table(dataset.TableOptions{OneHot: []string{"bm25"}}), `f: found more than 1000 values in column "bm25", expected at most so many to make features of (--features 'all but bm25' leaves the column out)`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := checkCuts(t, test.text, csvReader, test.opts)
			if err == nil || err.Error() != test.want {
				t.Fatalf("error is\n\t%v\nwant\n\t%s", err, test.want)
			}
			if _, ok := errors.AsType[*dataset.SyntaxError](err); !ok {
				t.Errorf("error is a %T, want a *SyntaxError", err)
			}
		})
	}
}

// values are rows with so many values of text.
func values(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("q1,1,a,v" + strings.Repeat("x", i) + ",1\n")
	}
	return b.String()
}
