package papers

import (
	"embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

// The papers' tables, as printed; an empty cell is a number the paper lacks.
//
//go:embed published/*.csv
var publishedFiles embed.FS

// publishedTable reads an embedded table as its header and rows.
func publishedTable(name string) (header []string, rows [][]string) {
	f, err := publishedFiles.Open("published/" + name)
	if err != nil {
		panic(err) // the file is part of the program
	}
	defer func() { _ = f.Close() }() // it was only read
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) == 0 {
		panic(fmt.Sprintf("published table %s: %v", name, err))
	}
	return all[0], all[1:]
}

// publishedNumbers reads a table whose first column names the row and whose others are
// measures.
func publishedNumbers(name string) numbers {
	header, rows := publishedTable(name)
	found := make(numbers)
	for _, row := range rows {
		for i := 1; i < len(row); i++ {
			found.set(row[0], measureOf(header[i]), parse(row[i]))
		}
	}
	return found
}

// publishedOnSet reads a table whose first columns name the set and the row; its numbers
// are divided by the unit. It is nil for a set that the table lacks.
func publishedOnSet(name, set string, unit float64) numbers {
	var found numbers
	header, rows := publishedTable(name)
	for _, row := range rows {
		if row[0] != set {
			continue
		}
		if found == nil {
			found = make(numbers)
		}
		for i := 2; i < len(row); i++ {
			found.set(row[1], measureOf(header[i]), parse(row[i])/unit)
		}
	}
	return found
}

// measureOf returns our name of a printed measure: NDCG@5 and N@5 are ndcg@5.
func measureOf(printed string) string {
	m := strings.ToLower(printed)
	if k, short := strings.CutPrefix(m, "n@"); short {
		return "ndcg@" + k
	}
	return strings.Replace(m, "meanndcg", "mean-ndcg", 1)
}

// set puts a number in its place.
func (n numbers) set(row, m string, v float64) {
	if n[row] == nil {
		n[row] = make(map[string]float64)
	}
	n[row][m] = v
}

func parse(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("published table: " + err.Error())
	}
	return v
}
