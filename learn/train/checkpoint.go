package train

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

// checkpointFile is the file of an optimiser's state.
type checkpointFile struct {
	path        string // empty: none
	fingerprint string // identity of the problem
}

// checkpointEvery is the number of iterations or epochs between two checkpoints.
const checkpointEvery = 10

// resumable returns the Resumption by which an optimiser writes its states to the file and resumes from the state in
// it. A file that is damaged or of another training is a *ProblemError.
func resumable[S any, P interface {
	*S
	optimize.State
}](f checkpointFile) (optimize.Resumption[S], error) {
	var r optimize.Resumption[S]
	if f.path == "" {
		return r, nil
	}
	r.CheckpointEvery = checkpointEvery
	r.Checkpoint = func(s *S) error { return f.write(P(s)) }
	state := new(S)
	found, err := f.read(P(state))
	if found {
		r.Resume = state
	}
	return r, err
}

// read sets s to the state in the file. found is false if there is no file.
func (f checkpointFile) read(s optimize.State) (found bool, err error) {
	data, err := f.load()
	if data == nil || err != nil {
		return false, err
	}
	if err := optimize.ReadCheckpoint(data, f.fingerprint, s); err != nil {
		return false, f.explain(err)
	}
	return true, nil
}

// maxCheckpointBytes exceeds the state of L-BFGS for five million weights.
const maxCheckpointBytes = 4 << 30

// load returns the contents of the file, nil if there is no file.
func (f checkpointFile) load() ([]byte, error) {
	info, err := os.Stat(f.path) // before opening, which would block on a pipe
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

// explain adds the name of the file to a *optimize.StateError.
func (f checkpointFile) explain(err error) error {
	var state *optimize.StateError
	if errors.As(err, &state) {
		return f.unfit(state)
	}
	return err
}

func (f checkpointFile) unfit(err error) error {
	return BadProblem("checkpoint %s: %w; delete it to start anew, or name another file", f.path, err)
}

func (f checkpointFile) write(s optimize.State) error {
	data, err := optimize.AppendCheckpoint(nil, f.fingerprint, s)
	if err != nil {
		return err
	}
	return atomicfile.Write(f.path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// remove deletes the file after the training.
func (f checkpointFile) remove() error {
	if f.path == "" {
		return nil
	}
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// identity names everything that determines the training, as words NAME=VALUE.
func (p *Problem) identity() string {
	words := p.Identity
	if words == "" {
		words = IdentityOf(p.Method, p.Loss, p.Learner, p.Settings)
	}
	if len(p.Transforms) > 0 {
		words += " transforms=" + strings.Join(transform.Texts(p.Transforms), ",")
	}
	if !p.Views.Raw() {
		words += " views=" + p.Views.String()
	}
	if !p.Weights.IsZero() {
		words += " weights=" + fingerprint(p.Weights.Better, p.Weights.Worse)
	}
	if l, ok := p.Learner.(debiaser); ok && p.Slots != nil {
		slots := make([]float64, len(p.Slots))
		for i, k := range p.Slots {
			slots[i] = float64(k)
		}
		words = strings.Join(described([]string{words, "slots=" + fingerprint(slots)}, "debias", reflect.ValueOf(l.debias())), " ")
	}
	return fmt.Sprintf("%s seed=%d relevant=%g normalization=%s data=%s", words, p.Seed, p.relevant.Threshold(), p.Normalization, p.Data.Fingerprint())
}

// fingerprint returns a hash of lists of numbers.
func fingerprint(lists ...[]float64) string {
	h := sha256.New()
	for _, list := range lists {
		fmt.Fprintln(h, len(list))
		for _, v := range list {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// IdentityOf returns the default of Problem.Identity, as words NAME=VALUE. They name the method, the settings, and
// the types and fields of the loss and the learner. Pointers, lists and functions are described by their type alone.
func IdentityOf(method string, l loss.Loss, learner Learner, settings map[string]any) string {
	words := []string{"method=" + method}
	words = described(words, "loss", reflect.ValueOf(l))
	words = described(words, "learner", reflect.ValueOf(learner))
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		words = append(words, fmt.Sprintf("%s=%v", name, settings[name]))
	}
	return strings.Join(words, " ")
}

// identityWith adds the scorer to the identity, because an Architecture, a function, is described by its type alone.
func (p *Problem) identityWith(s scorer.Scorer) string {
	return p.identity() + " " + strings.Join(described(nil, "scorer", reflect.ValueOf(s)), " ")
}

// described appends words for the types in v and for the numbers, strings and booleans in its fields.
func described(words []string, name string, v reflect.Value) []string {
	switch {
	case !v.IsValid():
		return append(words, name+"=nil")
	case v.Kind() == reflect.Interface:
		return described(words, name, v.Elem())
	case v.CanInt(), v.CanUint(), v.CanFloat(), v.Kind() == reflect.Bool, v.Kind() == reflect.String:
		return append(words, fmt.Sprintf("%s=%v", name, v))
	}
	words = append(words, fmt.Sprintf("%s=%v", name, v.Type()))
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			words = described(words, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
	return words
}
