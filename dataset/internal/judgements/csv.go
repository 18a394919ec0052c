package judgements

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
)

// columns says where a table has its queries, documents and grades.
type columns struct {
	delimiter          rune
	query, doc, rating int
	bare               bool // it has no column that may be a feature
}

// roles are the names of the three columns, the best first, in lower case and without blanks, hyphens and low
// lines. The first of each are those of Quepid's detailed export, which has columns of text after them.
var roles = [3][]string{
	{"querytext", "query", "queryid", "qid"},
	{"docid", "doc", "documentid", "document", "docno", "corpusid", "id"},
	{"rating", "grade", "label", "relevance", "judgement", "judgment", "rel"},
}

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
	for k, known := range roles {
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
	detailed := names[at[0]] == roles[0][0] && names[at[1]] == roles[1][0] && names[at[2]] == roles[2][0]
	return &columns{query: at[0], doc: at[1], rating: at[2], bare: len(names) == len(roles) || detailed}
}

var plain = strings.NewReplacer(" ", "", "_", "", "-", "")

// readCSV reads a table. A row may end before its rating, as those of Quepid do for queries without ratings.
func readCSV(in *input.Input, opts dataset.Options, c *columns, j *pairs.Judgements) error {
	text, err := pairs.Text(in, opts)
	if err != nil {
		return pairs.Located(err, in.Name, 1)
	}
	defer text.Close() //nolint:errcheck // only read
	row := &bounded{r: text}
	r := csv.NewReader(row)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = c.delimiter, -1, true
	ctx := input.Context(opts)
	for first := true; ; first = false {
		row.left = longestRow
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if syntax, ok := errors.AsType[*csv.ParseError](err); ok {
			return at(&dataset.SyntaxError{Found: "a row that is no CSV: " + syntax.Err.Error(), Expected: "cells with their quotes"}, in, syntax.StartLine)
		}
		if err == nil {
			err = ctx.Err()
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			return pairs.Located(err, in.Name, line)
		}
		if first {
			continue
		}
		if err := j.Add(line, cell(cells, c.query), cell(cells, c.doc), cell(cells, c.rating)); err != nil {
			return at(err, in, line)
		}
	}
}

// cell returns a cell of a row, nil if the row ends before.
func cell(cells []string, i int) []byte {
	if i >= len(cells) {
		return nil
	}
	return []byte(strings.TrimSpace(cells[i]))
}

// longestRow is the number of bytes that a row may have, about.
const longestRow = 1 << 22

// bounded reads no more than so many bytes until left is set again, so that a missing quote takes no memory.
type bounded struct {
	r    io.Reader
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &dataset.SyntaxError{Found: fmt.Sprintf("a row of more than %d bytes", longestRow), Expected: "a shorter one; the closing quote of a cell may be missing"}
	}
	n, err := b.r.Read(p)
	b.left -= n
	return n, err
}
