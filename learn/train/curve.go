package train

// CurveLine is a line of a learning curve as files hold it, a JSON object each: an epoch of descent, a round of
// boosting, or an iteration of a minimisation, which has no rate but a gradient.
type CurveLine struct {
	Epoch        int      `json:"epoch"`
	Restart      int      `json:"restart"`
	Rate         float64  `json:"rate,omitempty"`
	TrainingCost float64  `json:"training_cost"`
	GradientNorm *float64 `json:"gradient_norm,omitempty"`
	Validation   *float64 `json:"validation,omitempty"`
	Best         bool     `json:"best"`
}

// Line returns what a learning curve says of the iteration.
func (it *Iteration) Line() CurveLine {
	line := CurveLine{Epoch: it.Number, Restart: it.Start, Rate: it.Rate, TrainingCost: it.Objective, Best: it.Best}
	if norm := it.GradNorm; !it.Epoch {
		line.GradientNorm = &norm
	}
	if value := it.Validation; it.Validated {
		line.Validation = &value
	}
	return line
}
