package method

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/optimize"
)

// checkpoint is how far a training of several starts is.
type checkpoint struct {
	Start int              // the start under way
	Best  *optimize.Result // of the starts before it, nil at the first
	State *optimize.State  // of the start under way, nil at its beginning
}

// checkpointFile keeps a checkpoint in a file; with an empty path it does
// nothing.
type checkpointFile struct {
	path        string
	fingerprint string
}

// checkpointText is the layout of a checkpoint file.
type checkpointText struct {
	Format  string    `json:"format"`
	Problem string    `json:"problem"`
	Start   int       `json:"start"`
	Best    *bestText `json:"best,omitempty"`
	State   []byte    `json:"state"`
}

// bestText is an optimize.Result without its gap, which is unknown where there
// are several starts.
type bestText struct {
	X           []float64       `json:"x"`
	F           float64         `json:"f"`
	GradNorm    float64         `json:"gradient_norm"`
	Iterations  int             `json:"iterations"`
	Evaluations int             `json:"evaluations"`
	Status      optimize.Status `json:"status"`
}

func newBestText(r *optimize.Result) *bestText {
	if r == nil {
		return nil
	}
	return &bestText{r.X, r.F, r.GradNorm, r.Iterations, r.Evaluations, r.Status}
}

func (b *bestText) result() *optimize.Result {
	if b == nil {
		return nil
	}
	return &optimize.Result{X: b.X, F: b.F, GradNorm: b.GradNorm, Gap: math.Inf(1), Iterations: b.Iterations, Evaluations: b.Evaluations, Status: b.Status}
}

const checkpointFormat = "listwise-checkpoint-1"

// read returns the file's checkpoint, or that of the beginning if there is no
// file.
func (f checkpointFile) read() (*checkpoint, error) {
	if f.path == "" {
		return &checkpoint{}, nil
	}
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return &checkpoint{}, nil
	}
	if err != nil {
		return nil, err
	}
	var t checkpointText
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", f.path, err)
	}
	if t.Format != checkpointFormat {
		return nil, fmt.Errorf("checkpoint %s: found format %q, expected %q", f.path, t.Format, checkpointFormat)
	}
	if t.Problem != f.fingerprint {
		return nil, fmt.Errorf("checkpoint %s: found that of another training (%s), expected %s; delete it or name another file", f.path, t.Problem, f.fingerprint)
	}
	c := &checkpoint{Start: t.Start, Best: t.Best.result(), State: new(optimize.State)}
	if err := c.State.UnmarshalBinary(t.State); err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", f.path, err)
	}
	return c, nil
}

func (f checkpointFile) write(c *checkpoint) error {
	state, err := c.State.MarshalBinary()
	if err != nil {
		return err
	}
	text, err := json.Marshal(checkpointText{Format: checkpointFormat, Problem: f.fingerprint, Start: c.Start, Best: newBestText(c.Best), State: state})
	if err != nil {
		return err
	}
	return atomicfile.Write(f.path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// remove deletes the file: the training it belongs to is finished.
func (f checkpointFile) remove() error {
	if f.path == "" {
		return nil
	}
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
