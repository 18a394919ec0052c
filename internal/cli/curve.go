package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/listwise/listwise/method"
)

// curveLine is a line of a --curve file: an epoch of descent, or an iteration of
// L-BFGS, which has no rate but a gradient.
type curveLine struct {
	Epoch        int      `json:"epoch"`
	Restart      int      `json:"restart"`
	Rate         float64  `json:"rate,omitempty"`
	TrainingCost float64  `json:"training_cost"`
	GradientNorm *float64 `json:"gradient_norm,omitempty"`
	Validation   *float64 `json:"validation,omitempty"`
	Best         bool     `json:"best"`
}

// curve writes a learning curve while training runs: each line is in the file as
// soon as its epoch ends.
type curve struct {
	file *os.File
	fail func(cause error) // ends the training
	err  error
}

// newCurve opens the file, empty unless training goes on from a checkpoint.
// After a crash, epochs since the last checkpoint stand in it twice.
func newCurve(path, checkpoint string, fail func(error)) (*curve, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if _, err := os.Stat(checkpoint); checkpoint != "" && err == nil {
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	file, err := os.OpenFile(path, flags, 0o666)
	if err != nil {
		return nil, badCall("--curve: %w", err)
	}
	return &curve{file: file, fail: fail}, nil
}

func (c *curve) observe(it method.Iteration) {
	if c.err != nil {
		return
	}
	line := curveLine{Epoch: it.Number, Restart: it.Start, Rate: it.Rate, TrainingCost: it.Objective, Best: it.Best}
	if !it.Epoch {
		line.GradientNorm = &it.GradNorm
	}
	if it.Validated {
		line.Validation = &it.Validation
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = c.file.Write(append(text, '\n'))
	}
	if err != nil {
		c.err = fmt.Errorf("--curve: %w", err)
		c.fail(c.err)
	}
}

// close returns the first error there was.
func (c *curve) close() error {
	if err := c.file.Close(); err != nil && c.err == nil {
		c.err = fmt.Errorf("--curve: %w", err)
	}
	return c.err
}
