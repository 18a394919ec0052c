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
