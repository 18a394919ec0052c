// Package rows writes tables of mixed cells as CSV, for commands and experiments. Start reading at
// [WriteCSV]. The package must not know what the cells mean.
package rows

import (
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// ID is a cell that programs join with other files: the identifier of a query or document. It is written
// unchanged, even if a spreadsheet would interpret it.
type ID string

// WriteCSV writes a header and rows of cells: strings, whole numbers, float64s with
// all their digits, and nil, which is empty. The header is the program's own words;
// text below it is as [Text] returns it, unless it is an ID.
func WriteCSV(w io.Writer, columns []string, rows [][]any) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	for _, row := range rows {
		record := make([]string, len(row))
		for i, cell := range row {
			record[i] = plain(cell)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// plain formats a cell so that a program reads back the same value.
func plain(cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case ID:
		return string(v)
	}
	return Text(fmt.Sprint(cell))
}

// number is text that a spreadsheet takes for a number.
var number = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// Text returns text as a cell that a spreadsheet shows. Text that begins with =, +, -, @, a tab or a line
// end, and is no number, would be run as a formula. It gets a leading apostrophe, which spreadsheets read
// as "this is text".
func Text(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) && !number.MatchString(cell) {
		return "'" + cell
	}
	return cell
}
