package train

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/optimize"
)

// checkpoint is how far a training of several starts is.
type checkpoint struct {
	Start int              // the start under way
	Best  *optimize.Result // of the starts before it, nil at the first
	State *optimize.State  // of the start under way, nil at its beginning

	// Lowest is the lowest objective that was observed, +Inf if none was. It is
	// known to who observes alone.
	Lowest float64
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
	Lowest  *float64  `json:"lowest,omitempty"` // nil: nobody observed the training
	State   []byte    `json:"state"`
	Sum     string    `json:"sum"` // against damage, see the method sum
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

// maxCheckpointBytes is more than the state of an optimiser of ten million weights takes.
const maxCheckpointBytes = 4 << 30

const checkpointFormat = "listwise-checkpoint-1"

// sum is the checksum of all else in t.
func (t checkpointText) sum() (string, error) {
	t.Sum = ""
	text, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// read returns the file's checkpoint of a training with as many starts and
// parameters, or that of the beginning if there is no file. If the file is no
// undamaged checkpoint of this training, that is a *ProblemError.
func (f checkpointFile) read(starts, dim int) (*checkpoint, error) {
	text, err := f.load()
	if text == nil || err != nil {
		return &checkpoint{Lowest: math.Inf(1)}, err
	}
	c, err := f.parse(text, starts, dim)
	if err != nil {
		return nil, f.unfit(err)
	}
	return c, nil
}

// readDescent is read for a descent, with nil for its beginning.
func (f checkpointFile) readDescent() (*optimize.DescentState, error) {
	text, err := f.load()
	if text == nil || err != nil {
		return nil, err
	}
	t, err := f.open(text)
	if err != nil {
		return nil, f.unfit(err)
	}
	state := new(optimize.DescentState)
	if err := state.UnmarshalBinary(t.State); err != nil {
		return nil, f.unfit(err)
	}
	return state, nil
}

// load returns what is in the file, nil if there is none.
func (f checkpointFile) load() ([]byte, error) {
	if f.path == "" {
		return nil, nil
	}
	info, err := os.Stat(f.path) // before it is opened, which waits for the writer of a pipe
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, f.unfit(errors.New("found no regular file, expected one"))
	case info.Size() > maxCheckpointBytes:
		return nil, f.unfit(fmt.Errorf("found %d bytes, expected at most %d", info.Size(), maxCheckpointBytes))
	}
	return os.ReadFile(f.path)
}

func (f checkpointFile) unfit(err error) error {
	return BadProblem("checkpoint %s: %w; delete it to start anew, or name another file", f.path, err)
}

func (f checkpointFile) parse(text []byte, starts, dim int) (*checkpoint, error) {
	t, err := f.open(text)
	if err != nil {
		return nil, err
	}
	return t.checkpoint(starts, dim)
}

// open checks that the text is that of an undamaged checkpoint of this training.
func (f checkpointFile) open(text []byte) (*checkpointText, error) {
	var t checkpointText
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("found what is none (%w), expected what an interrupted training left", err)
	}
	if t.Format != checkpointFormat {
		return nil, fmt.Errorf("found the format %q, expected %q", t.Format, checkpointFormat)
	}
	if sum, err := t.sum(); err != nil || sum != t.Sum {
		return nil, fmt.Errorf("found the checksum %q, expected %q: the file is damaged", t.Sum, sum)
	}
	if t.Problem != f.fingerprint {
		found, expected := differences(t.Problem, f.fingerprint)
		return nil, fmt.Errorf("found that of another training (%s), expected %s", found, expected)
	}
	return &t, nil
}

// checkpoint checks that the content is possible.
func (t *checkpointText) checkpoint(starts, dim int) (*checkpoint, error) {
	if t.Start < 0 || t.Start >= starts || (t.Best == nil) != (t.Start == 0) {
		return nil, fmt.Errorf("found start %d, expected one from 0 to %d, with a best result except at 0", t.Start, starts-1)
	}
	if t.Best != nil && len(t.Best.X) != dim {
		return nil, fmt.Errorf("found a best result of %d parameters, expected %d", len(t.Best.X), dim)
	}
	c := &checkpoint{Start: t.Start, Best: t.Best.result(), State: new(optimize.State), Lowest: math.Inf(1)}
	if err := c.State.UnmarshalBinary(t.State); err != nil {
		return nil, err
	}
	if t.Lowest != nil {
		c.Lowest = *t.Lowest
	}
	return c, nil
}

// differences returns the words of two fingerprints that are not in the other.
func differences(found, expected string) (onlyFound, onlyExpected string) {
	without := func(a, b string) string {
		other := strings.Fields(b)
		words := slices.DeleteFunc(strings.Fields(a), func(w string) bool { return slices.Contains(other, w) })
		return strings.Join(words, " ")
	}
	return without(found, expected), without(expected, found)
}

func (f checkpointFile) write(c *checkpoint) error {
	state, err := c.State.MarshalBinary()
	if err != nil {
		return err
	}
	t := checkpointText{Start: c.Start, Best: newBestText(c.Best), State: state}
	if !math.IsInf(c.Lowest, 1) {
		t.Lowest = &c.Lowest
	}
	return f.save(t)
}

func (f checkpointFile) writeDescent(s *optimize.DescentState) error {
	state, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	return f.save(checkpointText{State: state})
}

// save completes and writes a checkpoint.
func (f checkpointFile) save(t checkpointText) (err error) {
	t.Format, t.Problem = checkpointFormat, f.fingerprint
	if t.Sum, err = t.sum(); err != nil {
		return err
	}
	return atomicfile.Write(f.path, atomicfile.JSON(t))
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
