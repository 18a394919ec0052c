package train

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/model/scorer"
)

// Streamer is a Learner that reads the features of one query after the other, by a dataset.RowReader,
// and so learns from data that are larger than memory, as dataset.Options.Stream opens them. Others take
// Task.Normalized().X() as a whole.
type Streamer interface {
	Learner

	// Streams reports whether it does.
	Streams() bool
}

// streams reports whether the learner reads query by query.
func (p *Problem) streams() bool {
	s, ok := p.Learner.(Streamer)
	return ok && s.Streams()
}

// Streams implements Streamer.
func (LBFGS) Streams() bool { return true }

// Streams implements Streamer.
func (Descent) Streams() bool { return true }

// Streams implements Streamer.
func (Newton) Streams() bool { return true }

// Streams implements Streamer.
func (Smoothing) Streams() bool { return true }

// Streams implements Streamer.
func (Planes) Streams() bool { return true }

// Streams implements Streamer.
func (Classification) Streams() bool { return true }

// planMemory decides whether what is done to the features is done once, to a copy of the data, or as
// they are read: by MaxBytes alone, and with the same numbers either way. A *ProblemError says what
// would be needed, before anything is done.
func (p *Problem) planMemory() error {
	limit := float64(dataset.MemoryLimit(p.MaxBytes))
	held, copies := p.held()
	streamed := p.Data.Streamed()
	if need := p.queriesBytes(); need > limit {
		return tooLarge("found %d queries, of which what is known takes %s, expected at most %s; raise the limit or use a sample", len(p.Data.Queries), gigabytes(need), gigabytes(limit))
	}
	switch {
	case !streamed && held+copies <= limit:
		return nil
	case !p.streams():
		if !streamed && copies == 0 {
			return nil // a mapped file, or what the caller holds
		}
		return tooLarge("found features of %s, of which this way of training holds a copy, as it sees them, of %s, expected at most %s of memory for both; raise the limit, use a sample, or a learner that reads features query by query",
			gigabytes(held+p.streamedBytes()), gigabytes(max(copies, p.streamedBytes())), gigabytes(limit))
	}
	longest := p.longest()
	// As many workers as there is memory to read queries: the model is the same.
	workers, buffer := parallel.Workers(p.Workers, len(p.Data.Queries)), 4*float64(longest)*float64(2*p.Data.Features+3*p.Inputs())
	if buffer > limit {
		return tooLarge("found a query of %d documents × %d features, which take %s of memory while they are read, expected at most %s; raise the limit, or leave such queries out",
			longest, p.Inputs(), gigabytes(buffer), gigabytes(limit))
	}
	if most := int(min(limit/buffer, math.MaxInt32)); most < workers {
		p.Workers = most
	}
	p.streaming = p.streaming || copies > 0
	return nil
}

// tooLarge returns a *ProblemError, whose cause is dataset.ErrTooLarge, of a formatted message.
func tooLarge(format string, args ...any) error {
	return &ProblemError{dataset.TooLarge(fmt.Errorf(format, args...))}
}

// held returns the bytes of features that are in memory, and of the copies that would be made.
func (p *Problem) held() (held, copies float64) {
	for _, d := range []*dataset.Dataset{p.Data, p.Valid} {
		if d == nil {
			continue
		}
		if !d.Streamed() {
			held += featuresBytes(d, d.Features)
		}
		changed := p.transforms() || !p.Views.Raw()
		if changed || d == p.Data && (p.Normalization != dataset.NoNormalization || d.Weighted() && slices.Contains(d.RowWeights(), 0)) {
			copies += featuresBytes(d, p.Inputs())
		}
	}
	return held, copies
}

// MemoryLeft returns the bytes of memory that there are besides the features that are held, with copies of them as the model
// sees them, and what is known of the queries and of the validation documents; 0 if there are none.
func (t *Task) MemoryLeft() int64 {
	const standing = 40 // bytes of a validation document
	held, copies := t.held()
	if !t.streaming {
		held += copies
	}
	if held += max(t.queriesBytes(), t.readQueriesBytes()+t.lossHolds); t.Valid != nil {
		held += float64(standing * float64(t.Valid.Docs()))
	}
	return max(0, dataset.MemoryLimit(t.MaxBytes)-int64(held))
}

// queriesBytes returns the bytes of what is known of all queries, above those of few.
func (p *Problem) queriesBytes() float64 {
	return p.bytesOfQueries(640) // with what a loss knows of it; as many as are counted when it is read
}

// readQueriesBytes is queriesBytes without what a loss knows of them.
func (p *Problem) readQueriesBytes() float64 { return p.bytesOfQueries(352) }

// bytesOfQueries returns the bytes of all queries of so many each, above those of few.
func (p *Problem) bytesOfQueries(each float64) float64 {
	const few = 2 << 20
	queries := len(p.Data.Queries)
	if p.Valid != nil {
		queries += len(p.Valid.Queries)
	}
	return max(0, float64(each*float64(queries))-few)
}

// CheckHeld returns a *ProblemError, whose cause is dataset.ErrTooLarge, if what a learner holds of features that are in
// memory takes more bytes beside them than there are. what names the learner.
func (t *Task) CheckHeld(what string, need float64) error {
	d := t.Normalized()
	if left := float64(t.MemoryLeft()); need > left && !d.Streamed() {
		return tooLarge("found %d documents × %d features in memory, beside which %s %s, expected at most %s of memory; raise the limit or use a sample",
			d.Docs(), d.Features, what, gigabytes(need), gigabytes(left))
	}
	return nil
}

// streamedBytes returns the bytes of features that are not in memory.
func (p *Problem) streamedBytes() (bytes float64) {
	for _, d := range []*dataset.Dataset{p.Data, p.Valid} {
		if d != nil && d.Streamed() {
			bytes += featuresBytes(d, d.Features)
		}
	}
	return bytes
}

// limitWorkers has as many workers as there is memory for a query for each: the model is the same. It returns a
// *ProblemError if there is too little for one.
func (t *Task) limitWorkers(s scorer.Scorer) error {
	const document = 64 // bytes of its score, λ, and what most losses hold of it meanwhile
	longest := t.longest()
	each := float64(document * float64(longest))
	if h, ok := s.(scorer.Holder); ok {
		each += float64(8 * float64(h.Held(longest)))
	}
	const remembered, few = 24, 4 << 20 // vectors of parameters that optimisers hold; bytes of all that are not counted
	vectors := float64(remembered + min(parallel.DefaultBlocks, len(t.Data.Queries)))
	left, params := float64(t.MemoryLeft()), max(0, float64(8*vectors*float64(s.NumParams()))-few)
	if params > left {
		return tooLarge("found %d parameters, of which learning holds %s, expected at most %s besides the features; raise the limit", s.NumParams(), gigabytes(params), gigabytes(left))
	}
	left -= params
	if each > left {
		return tooLarge("found a query of %d documents, of which the scorer %s and the loss hold %s while they learn from it, expected at most %s besides the features; raise the limit, or leave such queries out",
			longest, s.Kind(), gigabytes(each), gigabytes(left))
	}
	if most := int(min(left/max(1, each), math.MaxInt32)); most < parallel.Workers(t.Workers, len(t.Data.Queries)) {
		t.Workers = most
	}
	return nil
}

// longest returns the number of documents of the longest query, of the validation data too.
func (p *Problem) longest() int {
	longest := p.Data.LongestQuery()
	if p.Valid != nil {
		longest = max(longest, p.Valid.LongestQuery())
	}
	return longest
}

// manyDocuments is the number of documents from which on what a loss holds is worth an estimate.
const manyDocuments = 1 << 15

// checkHeld returns a *ProblemError if what the loss holds of all queries, such as samples of rankings,
// would take more memory than there is besides the features, judged by some of the queries.
func (t *Task) checkHeld(l loss.Loss) error {
	d := t.Data
	need := t.lossBytes(l)
	if need == 0 {
		return nil // however much there is
	}
	held, copies := t.held()
	if t.streaming {
		copies = 0
	}
	t.lossHolds = need
	held += copies + t.readQueriesBytes()
	if limit := float64(dataset.MemoryLimit(t.MaxBytes)); need > limit-held {
		return tooLarge("found %d queries of which the loss holds about %s, besides features and queries of %s, expected at most %s for both; raise the limit, use a sample, or a form of the loss that holds less (of LogRank's: fewer samples and steps, or one that draws none)",
			len(d.Queries), gigabytes(need), gigabytes(held), gigabytes(limit))
	}
	return nil
}

// lossBytes returns about how many bytes the loss holds of all queries, judged by some of them; 0 of few documents.
func (t *Task) lossBytes(l loss.Loss) (bytes float64) {
	const few = 128 // a sample of fewer would be most of them
	if t.Data.Docs() < manyDocuments || len(t.Data.Queries) < few {
		return 0
	}
	for _, queries := range byLength(t.Data) {
		each, err := t.heldEach(l, queries)
		if err != nil {
			return 0 // it is told, with its query, when all are bound
		}
		bytes += float64(each * float64(len(queries)))
	}
	return bytes
}

// byLength returns the queries in groups of similar numbers of documents: what a loss holds of one long query is
// not what it holds of most others.
func byLength(d *dataset.Dataset) (groups [][]int) {
	const factor = 4 // powers of 2 that a group spans
	for i := range d.Queries {
		g := bits.Len(uint(d.Queries[i].Len())) / factor
		for g >= len(groups) {
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return slices.DeleteFunc(groups, func(g []int) bool { return len(g) == 0 })
}

// heldEach returns the bytes that a loss holds of each of the queries, judged by some.
func (t *Task) heldEach(l loss.Loss, queries []int) (float64, error) {
	const fewest, most, documents = 64, 1024, 8192 // of short queries more, beside which what any number takes is little
	longest := 1
	for _, q := range queries {
		longest = max(longest, t.Data.Queries[q].Len())
	}
	picked := make([]int, min(len(queries), max(fewest, min(most, documents/longest))))
	for i := range picked {
		picked[i] = queries[i*len(queries)/len(picked)]
	}
	part := judgedOf(t.Data, picked)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	bound, err := objective.NewFunctional(part, l, t.Seed, t.Workers, t.done)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(bound)
	runtime.KeepAlive(part)
	return max(0, float64(after.HeapAlloc)-float64(before.HeapAlloc)) / float64(len(picked)), err
}

// judgedOf returns the grades and weights of some queries, without features. A loss draws by a query's content.
// Without features that reads no file, whose buffers would count as the loss's memory.
func judgedOf(d *dataset.Dataset, queries []int) *dataset.Dataset {
	b := dataset.Blocks{}
	for _, i := range queries {
		q := &d.Queries[i]
		b.IDs, b.Counts = append(b.IDs, q.ID), append(b.Counts, q.Len())
		b.Grades = append(b.Grades, q.Grades...)
		b.QueryWeights = append(b.QueryWeights, q.Weight())
		if d.Weights() != nil {
			b.Weights = append(b.Weights, q.Weights()...)
		}
	}
	return dataset.FromBlocks(b)
}

// featuresBytes returns the bytes of so many features of the documents of d.
func featuresBytes(d *dataset.Dataset, features int) float64 {
	return float64(4 * float64(d.Docs()) * float64(features))
}

// gigabytes formats a number of bytes. A negative one, such as what is left of a limit that is passed, is 0.
func gigabytes(n float64) string { return fmt.Sprintf("%.3g GB", max(0, n)/1e9) }

// lens returns what is done to the features of d before views are taken.
func (p *Problem) lens(d *dataset.Dataset) dataset.Lens {
	features := max(d.Features, p.Data.Features)
	memories := sync.Pool{New: func() any { return new([]float64) }}
	return dataset.Lens{Features: features, Append: func(dst, x []float32) []float32 {
		begin := len(dst)
		for row := range slices.Chunk(x, d.Features) {
			end := len(dst) + features
			dst = append(dst, row...)
			for len(dst) < end {
				dst = append(dst, 0)
			}
		}
		memory := memories.Get().(*[]float64)
		p.pipeline.Apply(dst[begin:], features)
		*memory = p.Normalization.ApplyWith(*memory, dst[begin:], features)
		memories.Put(memory)
		return dst
	}}
}
