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

// A round is a pipeline that evaluates the risk of every shard at one point. Its last step writes the results
// to a file. A rerun reads the files of finished rounds, so it repeats the earlier run up to its end.

// round is the content of a round's file.
type round struct {
	Key   string   `json:"key"`   // key of the job
	At    string   `json:"at"`    // SHA-256 of the point
	Parts [][]byte `json:"parts"` // for each shard, the gradient and the value, as little-endian float64s
	Sum   string   `json:"sum"`   // SHA-256 of the parts
}

func (r *round) sum() string { return sum(bytes.Join(r.Parts, nil)) }

// floats appends numbers to bytes, as little-endian float64s.
func floats(b []byte, numbers ...float64) []byte {
	for _, v := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// numbers sets v to the numbers in b, which floats has appended.
func numbers(v []float64, b []byte) {
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

// rounds evaluates the risk of all shards at once. The parts of the objective ask for their results one by
// one.
type rounds struct {
	ctx context.Context // context of the job, because objectives take none
	job *Job
	run func(ctx context.Context, p *beam.Pipeline) error

	sync.Mutex
	n    int    // number of rounds so far
	at   []byte // point of the last round
	last *round // last round, nil if it failed
}

// part is the risk of one shard.
type part struct {
	rounds *rounds
	number int
}

// Eval implements objective.PartialRisk. If a round fails, only one part returns the error.
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

// evaluate returns the round at a point. The first part that asks for it runs the round. If the round fails,
// the other parts get nil and no error.
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

// do runs the pipeline of a round, which writes the file.
func (r *rounds) do(file string, at []byte) error {
	text, err := json.Marshal(r.job)
	if err != nil {
		return err
	}
	return r.run(r.ctx, pipeline(len(r.job.Inputs), &evaluateFn{Job: string(text), At: at}, &roundFn{Job: string(text), At: at, File: file}))
}

// standingRound returns the round in a file. It is an error if the round is incomplete, damaged or of another
// point.
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
	At  []byte // point, as float64s
}

// evaluated is the message from evaluateFn to roundFn.
type evaluated struct {
	Part   int
	Result []byte
}

// ProcessElement evaluates the risk of one shard.
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

// ProcessElement is called once, with the results of all shards. A runner may evaluate a shard twice; both
// results must be the same.
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

// openPart is a shard that may stay open between rounds.
type openPart struct {
	sync.Mutex // held while the shard is opened or used

	risk *train.Part // nil if it is not open
	data *dataset.Dataset
}

// openParts are the shards that this process has open. If the process handles several rounds, it opens each
// shard once. Open shards take at most half of the memory for data. Further shards, and shards from a store,
// are opened in every round.
type openParts struct {
	sync.Mutex

	of    map[string]*openPart // by the job's key and the number of the shard
	bytes int64
}

var opened = openParts{of: make(map[string]*openPart)} // one per process, because Beam makes the values of evaluateFn

// onPart calls do with the risk of a shard.
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
		if p.risk, p.data, err = j.openShard(context.WithoutCancel(ctx), w, number); err != nil { // the shard outlives this bundle
			return err
		}
		if remote(j.Data) || !opened.keeps(p.data) {
			defer func() { err = errors.Join(err, p.close()) }()
		}
	}
	return do(p.risk)
}

// keeps reports whether open shards may take the memory for d. If so, it counts this memory.
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

// closeAll closes all open shards of this process. No pipeline may be running.
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
