package train

import (
	"fmt"
	"slices"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
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
	switch {
	case !streamed && held+copies <= limit:
		return nil
	case !p.streams():
		if !streamed && copies == 0 {
			return nil // a mapped file, or what the caller holds
		}
		return BadProblem("found features of %s, of which the learner %T holds a copy, as it sees them, of %s, expected at most %s of memory for both; raise the limit, use a sample, or a method that reads features query by query (linear functions and networks)",
			gigabytes(held+p.streamedBytes()), p.Learner, gigabytes(max(copies, p.streamedBytes())), gigabytes(limit))
	}
	longest := p.Data.LongestQuery()
	if p.Valid != nil {
		longest = max(longest, p.Valid.LongestQuery())
	}
	buffers := 4 * float64(parallel.Workers(p.Workers, len(p.Data.Queries))) * float64(longest) * float64(2*p.Data.Features+3*p.Inputs())
	if buffers > limit {
		return BadProblem("found a query of %d documents × %d features, which take %s of memory while they are read, expected at most %s; raise the limit or use fewer cores",
			longest, p.Inputs(), gigabytes(buffers), gigabytes(limit))
	}
	p.streaming = p.streaming || copies > 0
	return nil
}

// held returns the bytes of features that are in memory, and of the copies that would be made.
func (p *Problem) held() (held, copies float64) {
	for _, d := range []*dataset.Dataset{p.Data, p.Valid} {
		if d == nil {
			continue
		}
		if !d.Streamed() {
			held += 4 * float64(d.Docs()) * float64(d.Features)
		}
		changed := p.pipeline != nil || !p.Views.Raw()
		if changed || d == p.Data && (p.Normalization != dataset.NoNormalization || d.Weighted() && slices.Contains(d.RowWeights(), 0)) {
			copies += 4 * float64(d.Docs()) * float64(p.Inputs())
		}
	}
	return held, copies
}

// streamedBytes returns the bytes of features that are not in memory.
func (p *Problem) streamedBytes() (bytes float64) {
	for _, d := range []*dataset.Dataset{p.Data, p.Valid} {
		if d != nil && d.Streamed() {
			bytes += 4 * float64(d.Docs()) * float64(d.Features)
		}
	}
	return bytes
}

func gigabytes(n float64) string { return fmt.Sprintf("%.3g GB", n/1e9) }

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
