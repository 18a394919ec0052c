// Command explain reads a model that LightGBM wrote, and says why it ranks one product above another.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"log"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/explain"
	"github.com/listwise/listwise/model/interchange"
)

var (
	//go:embed lightgbm.txt
	trees []byte
	//go:embed products.csv
	table []byte
)

func main() {
	m, notes, err := interchange.Decode(trees, interchange.ReadOptions{File: "lightgbm.txt"}) // recognises the format
	check(err)
	fmt.Println(m.Method, "with the features", m.FeatureNames, notes)
	products, err := datafile.Read(bytes.NewReader(table), "products.csv", dataset.Options{Missing: dataset.MissingKeep})
	check(err)

	// The base and the contributions of the features add up to the score. The base is the mean score of the background.
	e, err := explain.New(m, products, explain.Options{})
	check(err)
	q := &products.Queries[0]
	x, err := e.Explain(q)
	check(err)
	order := model.AppendOrder(nil, x.Scores)
	best, second := order[0], order[1]
	fmt.Printf("%s has the score %.3f, %s %.3f; base %.3f\n", q.DocID(best), x.Scores[best], q.DocID(second), x.Scores[second], x.Base)

	// The differences of the contributions add up to the difference of the scores.
	difference, _ := x.Pair(best, second)
	for k, term := range e.Terms() {
		fmt.Printf("%-5s %+.3f - %+.3f = %+.3f\n", term.Name, x.Row(best)[k], x.Row(second)[k], difference[k])
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
