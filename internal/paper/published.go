package paper

import (
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
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

// figure3Numbers are LogRank's Figure 3: measure ("map", "ndcg@1"), then row,
// then set.
type figure3Numbers map[string]map[string]map[string]float64

// publishedFigure3 returns the numbers and the names of the rows in the paper's
// order.
func publishedFigure3() (numbers figure3Numbers, names []string) {
	measures := map[string]string{"MAP": "map", "NDCG@1": "ndcg@1", "NDCG@5": "ndcg@5", "NDCG@10": "ndcg@10"}
	header, rows := publishedTable("logrank-figure3.csv")
	numbers = make(figure3Numbers)
	for _, row := range rows {
		m, name := measures[row[0]], row[1]
		if numbers[m] == nil {
			numbers[m] = make(map[string]map[string]float64)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		numbers[m][name] = make(map[string]float64)
		for i := 2; i < len(row); i++ {
			if row[i] != "" {
				numbers[m][name][header[i]] = number(row[i])
			}
		}
	}
	return numbers, names
}

// publishedFigure6 returns MAP and NDCG@10 for every skew of LogRank's Figure 6.
func publishedFigure6() map[float64][2]float64 {
	_, rows := publishedTable("logrank-figure6.csv")
	points := make(map[float64][2]float64)
	for _, row := range rows {
		points[number(row[0])] = [2]float64{number(row[1]), number(row[2])}
	}
	return points
}

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("published table: " + err.Error())
	}
	return v
}
