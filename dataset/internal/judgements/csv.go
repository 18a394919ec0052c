package judgements

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
	"github.com/listwise/listwise/internal/suggest"
)

// columns says where a table has its queries, documents and grades.
type columns struct {
	delimiter          rune
	query, doc, rating int
	weight             int  // of document weights, -1 if there is none
	bare               bool // it has no column that may be a feature
}

// roles are the names of the three columns, the best first, in lower case and without blanks, hyphens and low
// lines. A rating may also be a feature, so it is the last.
var roles = [3][]string{
	{"querytext", "query", "queryid", "qid"},
	{"docid", "doc", "documentid", "document", "docno", "corpusid", "id"},
	{"grade", "label", "relevance", "judgement", "judgment", "rel", "rating"},
}

// detailed are the names in Quepid's detailed export, whose further columns are text.
var detailed = []string{"querytext", "docid", "rating"}

// columnsOf returns the columns that the first line of a table names, nil if there is none or one is missing.
func columnsOf(head []byte) (found *columns) {
	lines(head, func(line []byte) bool {
		for _, delimiter := range ",\t;" {
			r := csv.NewReader(bytes.NewReader(line))
			r.Comma = delimiter
			if names, err := r.Read(); err == nil {
				if found = choose(names); found != nil {
					found.delimiter = delimiter
					break
				}
			}
		}
		return false
	})
	return found
}

// choose returns the columns with the best names.
func choose(names []string) *columns {
	for i := range names {
		names[i] = plain.Replace(strings.ToLower(names[i]))
	}
	var at [3]int
	quepid := !slices.ContainsFunc(detailed, func(name string) bool { return !slices.Contains(names, name) })
	for k, known := range roles {
		if quepid {
			known = detailed[k : k+1]
		}
		at[k] = -1
		for _, name := range known {
			if at[k] = slices.Index(names, name); at[k] >= 0 {
				break
			}
		}
		if at[k] < 0 {
			return nil
		}
	}
	return &columns{query: at[0], doc: at[1], rating: at[2], weight: slices.Index(names, "documentweight"), bare: len(names) == len(roles) || quepid}
}

var plain = strings.NewReplacer(" ", "", "_", "", "-", "")

// readCSV reads a table. A row may end before its rating: Quepid writes such rows for queries without ratings. A row with
// more cells than the first has a delimiter without quotes, so its cells are not where the names say.
func readCSV(in *input.Input, opts dataset.Options, c *columns, j *pairs.Judgements) error {
	width := 0
	return pairs.EachRow(in, opts, c.delimiter, func(line int, cells []string) error {
		if width == 0 {
			width = len(cells)
			return nil
		}
		if more := slices.IndexFunc(cells[min(width, len(cells)):], func(s string) bool { return s != "" }); more >= 0 {
			return &dataset.SyntaxError{
				Found:    fmt.Sprintf("%d cells, the last %s", len(cells), suggest.Quote([]byte(cells[len(cells)-1]))),
				Expected: fmt.Sprintf("%d as in the first line; a cell with %q needs quotes", width, c.delimiter),
			}
		}
		return j.AddWeighted(line, cell(cells, c.query), cell(cells, c.doc), cell(cells, c.rating), cell(cells, c.weight))
	})
}

// cell returns a cell of a row, nil if the row ends before or the table has no such column.
func cell(cells []string, i int) []byte {
	if i < 0 || i >= len(cells) {
		return nil
	}
	return []byte(strings.TrimSpace(cells[i]))
}
