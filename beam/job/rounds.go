package job

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/train"
)

// A round is a pipeline that evaluates the risk of every shard at one point. The end of the
// pipeline writes its results to a file. A rerun reads the files of finished rounds, and so repeats
// the earlier run up to where that ended.

// round is the file of a round.
type round struct {
	Key   string   `json:"key"`   // the job's
	At    string   `json:"at"`    // the SHA-256 of the point
	Parts [][]byte `json:"parts"` // of every shard the gradient and then the value, as float64s, little-endian
	Sum   string   `json:"sum"`   // the SHA-256 of the parts
}

func (r *round) sum() string { return sum(bytes.Join(r.Parts, nil)) }

// floats appends numbers to bytes.
func floats(b []byte, numbers ...float64) []byte {
	for _, v := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// numbers sets v to what floats made.
func numbers(v []float64, b []byte) {
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

// rounds evaluates all shards at once, for as many parts, each of which is asked by itself.
type rounds struct {
	ctx context.Context // of the job, for objectives take none
	job *Job
	run func(ctx context.Context, p *beam.Pipeline) error

	sync.Mutex
	n    int    // rounds so far
	at   []byte // the point of the last
	last *round // nil if it failed
}

// part is a shard's part of the risk.
type part struct {
	rounds *rounds
	number int
}

// Eval implements objective.PartialRisk. Of a round that failed one part tells.
func (p part) Eval(w, grad []float64) (float64, error) {
	r, err := p.rounds.evaluate(floats(nil, w...), 8*(len(w)+1))
	if r == nil {
		return math.NaN(), err
	}
	text := r.Parts[p.number]
	numbers(grad, text)
	var value [1]float64
	numbers(value[:], text[8*len(grad):])
	return value[0], nil
}

// evaluate returns the round of a point. The first part that asks runs it. If it fails, the others
// get nil and no error.
func (r *rounds) evaluate(at []byte, size int) (*round, error) {
	r.Lock()
	defer r.Unlock()
	if bytes.Equal(at, r.at) {
		return r.last, nil
	}
	r.n++
	r.at, r.last = at, nil
	file := under(r.job.Out, "rounds", fmt.Sprintf("round-%05d.json", r.n))
	done, err := r.job.standingRound(r.ctx, file, at, size)
	if err != nil {
		if err = r.do(file, at); err == nil {
			done, err = r.job.standingRound(r.ctx, file, at, size)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("round %d: %w", r.n, err)
	}
	r.last = done
	return done, nil
}

// do runs the pipeline of a round.
func (r *rounds) do(file string, at []byte) error {
	text, err := json.Marshal(r.job)
	if err != nil {
		return err
	}
	return r.run(r.ctx, pipeline(len(r.job.Inputs), &evaluateFn{Job: string(text), At: at}, &roundFn{Job: string(text), At: at, File: file}))
}

// standingRound returns the results in a file if they are complete and of the same point.
func (j *Job) standingRound(ctx context.Context, file string, at []byte, size int) (*round, error) {
	text, err := read(ctx, file)
	if err != nil {
		return nil, err
	}
	r := new(round)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if r.Key != j.Key || r.At != sum(at) || r.Sum != r.sum() || len(r.Parts) != len(j.Inputs) {
		return nil, fmt.Errorf("%s: found the results of another round, or damaged ones", file)
	}
	for i, p := range r.Parts {
		if len(p) != size {
			return nil, fmt.Errorf("%s: found %d bytes of shard %d, expected %d", file, len(p), i, size)
		}
	}
	return r, nil
}

// evaluateFn evaluates the risk of one shard.
type evaluateFn struct {
	Job string // as JSON
	At  []byte // the point
}

// evaluated is what evaluateFn tells roundFn.
type evaluated struct {
	Part   int
	Result []byte
}

// ProcessElement evaluates the shard of that number.
func (f *evaluateFn) ProcessElement(ctx context.Context, part int, emit func(int, []byte)) error {
	var j Job
	if err := json.Unmarshal([]byte(f.Job), &j); err != nil {
		return err
	}
	w := make([]float64, len(f.At)/8)
	grad := make([]float64, len(w))
	numbers(w, f.At)
	var value float64
	err := j.onPart(ctx, part, func(risk *train.Part) (err error) {
		value, err = risk.Eval(w, grad)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s, part %d of %d: %w", j.Command, part, len(j.Inputs), err)
	}
	text, err := json.Marshal(evaluated{part, floats(floats(nil, grad...), value)})
	if err != nil {
		return err
	}
	emit(0, text)
	return nil
}

// roundFn writes the results of a round.
type roundFn struct {
	Job  string // as JSON
	At   []byte
	File string
}

// ProcessElement is called once, with the results of all shards. What a runner did twice is the same.
func (f *roundFn) ProcessElement(ctx context.Context, _ int, next func(*[]byte) bool) error {
	var j Job
	if err := json.Unmarshal([]byte(f.Job), &j); err != nil {
		return err
	}
	r := round{Key: j.Key, At: sum(f.At), Parts: make([][]byte, len(j.Inputs))}
	var text []byte
	for next(&text) {
		var e evaluated
		if err := json.Unmarshal(text, &e); err != nil {
			return err
		}
		if e.Part < 0 || e.Part >= len(r.Parts) || r.Parts[e.Part] != nil && !bytes.Equal(r.Parts[e.Part], e.Result) {
			return fmt.Errorf("%s: found shard %d twice with different results, or more than %d shards", j.Command, e.Part, len(r.Parts))
		}
		r.Parts[e.Part] = e.Result
	}
	for i, p := range r.Parts {
		if p == nil {
			return fmt.Errorf("%s: found no result of shard %d, expected those of all %d", j.Command, i, len(r.Parts))
		}
	}
	r.Sum = r.sum()
	out, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return write(ctx, f.File, bytes.NewReader(out))
}

// openPart is a shard that stays open between rounds.
type openPart struct {
	sync.Mutex // held while it is opened and used

	risk *train.Part // nil if it is not open
	data *dataset.Dataset
}

// openParts are the shards that this process has open, so that the workers of a process that sees many rounds, as that
// of the driver may, open each once. They take at most half of the memory for data; what is more, and what comes
// from a store, is opened for every round.
type openParts struct {
	sync.Mutex

	of    map[string]*openPart // by job and shard
	bytes int64
}

var opened = openParts{of: make(map[string]*openPart)} // one a process: Beam makes the values that work in it

// onPart does something with the risk of a shard.
func (j *Job) onPart(ctx context.Context, number int, do func(risk *train.Part) error) (err error) {
	opened.Lock()
	name := fmt.Sprintf("%s %d", j.Key, number)
	p := opened.of[name]
	if p == nil {
		p = new(openPart)
		opened.of[name] = p
	}
	opened.Unlock()
	p.Lock()
	defer p.Unlock()
	if p.risk == nil {
		w, err := newWorkspace()
		if err != nil {
			return err
		}
		defer w.remove()
		if p.risk, p.data, err = j.openShard(context.WithoutCancel(ctx), w, number); err != nil { // it outlives this bundle
			return err
		}
		if remote(j.Data) || !opened.keeps(p.data) {
			defer func() { err = errors.Join(err, p.close()) }()
		}
	}
	return do(p.risk)
}

// keeps reports whether there is room for data, and counts them if there is.
func (o *openParts) keeps(d *dataset.Dataset) bool {
	o.Lock()
	defer o.Unlock()
	size := 4 * int64(d.Docs()) * int64(d.Features)
	if o.bytes+size > dataset.MemoryLimit(0)/2 {
		return false
	}
	o.bytes += size
	return true
}

func (p *openPart) close() error {
	d := p.data
	if p.risk, p.data = nil, nil; d == nil {
		return nil
	}
	return d.Close()
}

// closeAll closes what is open in this process, when no pipeline runs.
func (o *openParts) closeAll() (err error) {
	o.Lock()
	defer o.Unlock()
	for _, p := range o.of {
		err = errors.Join(err, p.close())
	}
	clear(o.of)
	o.bytes = 0
	return err
}
