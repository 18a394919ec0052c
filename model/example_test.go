package model_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// A model made by hand is written, read and applied.
func ExampleRead() {
	m := &model.Model{Method: "by hand", Scorer: scorer.Linear{Features: 2}, Params: []float64{1, -1}}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		panic(err)
	}
	again, err := model.Read(&file)
	if err != nil {
		panic(err)
	}
	scores := make([]float64, 2)
	if err := again.ScoreQuery(scores, []float32{3, 1, 0, 4}); err != nil {
		panic(err)
	}
	fmt.Println(scores)
	// Output: [2 -4]
}

// Features that are normalized per query say nothing of a single document.
func ExampleModel_ScoreQuery_single() {
	m := &model.Model{
		Method: "by hand", Scorer: scorer.Linear{Features: 1}, Params: []float64{1},
		Normalization: dataset.MinMax,
	}
	err := m.ScoreQuery(make([]float64, 1), []float32{7})
	fmt.Println(errors.Is(err, model.ErrSingleDocument))
	// Output:
	// true
}

// A program ranks its own values. It names their features in its own order, and leaves out what it does not know.
func ExampleModel_BindNames() {
	m := &model.Model{
		Method: "by hand", Scorer: scorer.Linear{Features: 3}, Params: []float64{1, 5, -0.01},
		FeatureNames: []string{"bm25", "ctr", "price"}, Missing: dataset.MissingZero,
	}
	b, err := m.BindNames([]string{"price", "bm25"})
	if err != nil {
		panic(err)
	}
	fmt.Println("missing:", b.Missing())
	type product struct {
		name        string
		text, price float32
	}
	found := []product{{"desk", 3, 100}, {"lamp", 4, 20}, {"chair", 5, 400}}
	order, err := b.Rank(nil, len(found), func(i int, row []float32) {
		row[0], row[1] = found[i].price, found[i].text
	})
	if err != nil {
		panic(err)
	}
	for _, i := range order {
		fmt.Println(found[i].name)
	}
	// Output:
	// missing: [ctr]
	// lamp
	// desk
	// chair
}
