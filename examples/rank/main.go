// Command rank ranks values of a Go type by a model. The model comes from "listwise train":
//
//	listwise train --method listnet --missing zero --transform standard --train train.csv --model model.json
//
// It finds its features by the names of the table's columns.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"log"

	"github.com/listwise/listwise/model"
)

//go:embed model.json
var file []byte

// product is a search result of a shop. The clicks of a new product are unknown.
type product struct {
	name          string
	text, price   float32 // text is its BM25 for the query
	shown, clicks int
}

func main() {
	m, err := model.Read(bytes.NewReader(file)) // listwise.Load reads a file by its path
	check(err)
	// The order of the names is ours. A feature that we leave out is a missing value of all products. The model has
	// a rule for missing values; otherwise BindNames would return an error.
	b, err := m.BindNames([]string{"bm25", "ctr", "price", "title", "stock"})
	check(err)
	fmt.Println("missing for all:", b.Missing())

	found := []product{{"office chair", 9.1, 120, 900, 27}, {"chair", 11.4, 35, 4000, 640}, {"new chair", 11.9, 50, 0, 0}}
	order, err := b.Rank(nil, len(found), func(i int, row []float32) {
		p := &found[i]
		row[0], row[2], row[3], row[4] = p.text, p.price, 1, 1
		if p.shown > 0 { // otherwise row[1] stays missing
			row[1] = float32(p.clicks) / float32(p.shown)
		}
	})
	check(err)
	for place, i := range order {
		fmt.Println(place+1, found[i].name)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
