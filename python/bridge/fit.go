package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/method"
)

// fitRequest is a request for a training. Omitted fields have the defaults of "listwise train".
type fitRequest struct {
	Method  string
	Recipe  method.Recipe
	Set     map[string]string
	Data    rows
	Valid   *rows
	Initial uint64 // number of the model that is continued, 0: none
}

// fitAnswer is the answer of fit. Its first array is the model file. The others are the learning curve,
// one element for each iteration or epoch: its number, the index of the random start, the objective, and
// the value on the validation data, which is NaN if there is none.
type fitAnswer struct {
	Warnings []string `json:"warnings"`
	Model    *about   `json:"model"`
	Epochs   bool     `json:"epochs"` // points of the curve are epochs or rounds, not iterations
}

// fit trains a model.
func (j *job) fit(ctx context.Context, request []byte, arrays Arrays) (any, error) {
	r := fitRequest{Recipe: method.DefaultRecipe()}
	if err := decode(request, &r); err != nil {
		return nil, err
	}
	m, p, err := r.Recipe.Problem(r.Method, r.Set)
	if err != nil {
		return nil, err
	}
	answer := fitAnswer{}
	if err := r.settle(p, arrays, &answer); err != nil {
		return nil, err
	}
	var curve [4][]float64
	p.Observe = func(it method.Iteration) {
		j.tell(describe(it))
		answer.Epochs = it.Epoch
		validation := math.NaN()
		if it.Validated {
			validation = it.Validation
		}
		for i, v := range []float64{float64(it.Number), float64(it.Start), it.Objective, validation} {
			curve[i] = append(curve[i], v)
		}
	}
	p.Warn = func(sentence string) { answer.Warnings = append(answer.Warnings, sentence) }
	trained, err := m.Train(ctx, p)
	if err != nil {
		return nil, err
	}
	if t := trained.Training.Converged; t != nil && !*t && trained.Training.Iterations > 0 { // without an iteration, training has warned
		answer.Warnings = append(answer.Warnings, fmt.Sprintf("%s did not converge: it stopped because of %s", m.Name, trained.Training.Status))
	}
	if trained.Constant() {
		answer.Warnings = append(answer.Warnings, "all weights are 0, so the model gives every document the same score and ranks nothing")
	}
	var file bytes.Buffer
	if err := trained.Write(&file); err != nil {
		return nil, err
	}
	answer.Model = describeModel(keep(trained), trained)
	j.arrays = []any{file.Bytes(), curve[0], curve[1], curve[2], curve[3]}
	return answer, nil
}

// settle adds the data to the problem.
func (r *fitRequest) settle(p *method.Problem, arrays Arrays, answer *fitAnswer) error {
	data, err := r.Data.dataset(arrays, p.Missing)
	if err != nil {
		return err
	}
	answer.Warnings = append(answer.Warnings, data.Warnings...)
	var valid *dataset.Dataset
	if r.Valid != nil {
		if valid, err = r.Valid.dataset(arrays, p.Missing); err != nil {
			return err
		}
		answer.Warnings = append(answer.Warnings, valid.Warnings...)
		if sentence := method.CommonQueries(r.Valid.Name, valid, r.Data.Name, data); sentence != "" {
			answer.Warnings = append(answer.Warnings, sentence)
		}
	}
	if note := p.Settle(data, valid); note != "" {
		answer.Warnings = append(answer.Warnings, note+" (threshold says otherwise)")
	}
	return nil
}

// progress is the progress of a training, as the caller gets it.
type progress struct {
	Number     int      `json:"number"` // of the iteration, epoch or round
	Objective  float64  `json:"objective"`
	Validation *float64 `json:"validation,omitempty"`
	Text       string   `json:"text"`
}

// describe returns the progress of a training as JSON.
func describe(it method.Iteration) string {
	p := progress{Number: it.Number, Objective: it.Objective}
	if p.Text = fmt.Sprintf("iteration %d, objective %.6g", it.Number, it.Objective); it.Epoch {
		p.Text = fmt.Sprintf("epoch %d, cost %.6g", it.Number, it.Objective)
	}
	if it.Validated {
		p.Validation = &it.Validation
		p.Text += fmt.Sprintf(", validation %.4f", it.Validation)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return "" // a number that is not finite
	}
	return string(text)
}
