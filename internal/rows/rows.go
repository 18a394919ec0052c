// Package rows writes tables of mixed cells as CSV, for commands and experiments. Start reading at
// [WriteCSV]. The package must not import other packages of the module.
package rows

import (
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// ID is a cell with the identifier of a query or document, which programs join with other files.
// WriteCSV writes it unchanged, even if a spreadsheet would interpret it.
type ID string

// WriteCSV writes a header and rows of cells. A cell is a string, an [ID], a whole number, a
// float64, which is written with all its digits, or nil, which is written as an empty cell. Strings
// are written as [Text] returns them. The header is written unchanged.
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

// plain returns the text of a cell in CSV.
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

// number matches text that a spreadsheet reads as a number.
var number = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// Text returns text for a cell that a spreadsheet should display. A spreadsheet would run text as a
// formula if it begins with =, +, -, @, a tab or a line end, and is not a number. Text prepends an
// apostrophe to such text, which makes spreadsheets display it.
func Text(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) && !number.MatchString(cell) {
		return "'" + cell
	}
	return cell
}
