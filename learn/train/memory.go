package train

import (
	"fmt"
	"slices"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model/scorer"
)

// Streamer is a Learner that can read the features of one query at a time, by a dataset.RowReader. It can learn from
// data larger than memory, which dataset.Options.Stream opens. Other learners read Task.Normalized().X() as a whole.
type Streamer interface {
	Learner

	// Streams reports whether the learner reads query by query with its present settings.
	Streams() bool
}

// Streams reports whether l is a Streamer that reads query by query.
func Streams(l Learner) bool {
	s, ok := l.(Streamer)
	return ok && s.Streams()
}

// Estimator is a Learner that states how much memory it needs. Other learners count as needing none.
type Estimator interface {
	Learner

	// Memory returns the number of bytes needed in addition to features and grades. It depends only on the settings
	// and on the numbers of documents and features.
	Memory(p *Problem) float64
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

// Upper estimates of the number of parameter vectors in an optimiser.
const (
	descentVectors = 24
	lbfgsVectors   = descentVectors + 2*memory
)

// Memory implements Estimator.
func (l LBFGS) Memory(p *Problem) float64 {
	return p.riskBytes(l.Architecture.new(p.Inputs()), lbfgsVectors)
}

// Memory implements Estimator.
func (d Descent) Memory(p *Problem) float64 {
	return p.riskBytes(d.Architecture.new(p.Inputs()), descentVectors*max(1, d.Bag))
}

// Memory implements Estimator.
func (Newton) Memory(p *Problem) float64 { return p.riskBytes(Linear(p.Inputs()), descentVectors) }

// Memory implements Estimator.
func (Smoothing) Memory(p *Problem) float64 { return p.riskBytes(Linear(p.Inputs()), lbfgsVectors) }

// Memory implements Estimator.
func (Planes) Memory(p *Problem) float64 { return p.riskBytes(Linear(p.Inputs()), lbfgsVectors) }

// Memory implements Estimator.
func (c Classification) Memory(p *Problem) float64 {
	const document = 8 // its class
	return float64(document*float64(p.Data.Docs())) + p.riskBytes(Linear(p.Inputs()*len(gradesOf(p.Data))), lbfgsVectors)
}

// riskBytes estimates the bytes needed to minimise the loss over the parameters of s. They are the given number of
// parameter vectors, the bound losses of all queries, and each worker's buffers for one query.
func (p *Problem) riskBytes(s scorer.Scorer, vectors int) float64 {
	const document = 64 // bytes for its score and λ, and for the buffers of most losses
	if s == nil {
		return 0 // the learner reports the missing scorer
	}
	longest, queries := p.longest(), len(p.Data.Queries)
	each := float64(document * float64(longest))
	if h, ok := s.(scorer.Holder); ok {
		each += float64(8 * float64(h.Held(longest)))
	}
	vectors += min(parallel.DefaultBlocks, queries)
	return float64(float64(parallel.Workers(p.Workers, queries))*each) + float64(8*float64(vectors)*float64(s.NumParams())) + p.lossBytes()
}

// lossBytes estimates the bytes of the loss bound to all queries.
func (p *Problem) lossBytes() (bytes float64) {
	const query, document = 288, 12 // for losses that are no loss.Holder
	h, more := p.Loss.(loss.Holder)
	for i := range p.Data.Queries {
		q := &p.Data.Queries[i]
		if bytes += query; more {
			bytes += h.Held(q.Grades)
		} else {
			bytes += float64(document * float64(q.Len()))
		}
	}
	return bytes
}

// planMemory decides whether features are prepared once, as a copy of the data, or each time they are read. The
// decision depends on the data, the learner and the limit of MaxBytes. It does not affect the model. planMemory
// returns a *ProblemError with the memory needed if neither way fits.
func (p *Problem) planMemory() error {
	limit := float64(dataset.MemoryLimit(p.MaxBytes))
	held, copies := p.held()
	read := p.Data.Streamed() || p.Valid != nil && p.Valid.Streamed()
	need := p.estimate()
	if read {
		need += p.readingBytes()
	}
	switch {
	case !Streams(p.Learner) && (read || held+copies+need > limit):
		return p.tooLarge(held+copies, need, limit, "use a learner that reads them from disk ("+FromDisk+")")
	case held+copies+need <= limit:
		return nil
	}
	if !read && copies > 0 { // prepared features are read query by query, too
		need += p.readingBytes()
	}
	if held+need > limit {
		return p.tooLarge(held, need, limit, "use a sample")
	}
	p.streaming = copies > 0
	return nil
}

// FromDisk lists the learners that read features from disk, for error messages.
const FromDisk = "linear functions and networks by L-BFGS, Newton's method, descent or least squares; trees by histograms"

// tooLarge returns the error that the data do not fit into memory. It wraps dataset.ErrTooLarge.
func (p *Problem) tooLarge(held, need, limit float64, instead string) error {
	found := fmt.Sprintf("found %d queries with %d documents × %d features", len(p.Data.Queries), p.Data.Docs(), p.Inputs())
	for _, d := range p.sets() {
		if d.Streamed() && !Streams(p.Learner) {
			return &ProblemError{dataset.TooLarge(fmt.Errorf("the data do not fit into memory: %s that are read from disk, expected all features (%s) in memory, and %s for learning; %s, or raise the limit",
				found, gigabytes(held+featuresBytes(d, p.Inputs())), gigabytes(need), instead))}
		}
	}
	return &ProblemError{dataset.TooLarge(fmt.Errorf("the data do not fit into memory: %s, whose features take %s and learning from them %s, expected at most %s; %s, or raise the limit",
		found, gigabytes(held), gigabytes(need), gigabytes(limit), instead))}
}

// estimate returns the bytes needed in addition to features and grades: for queries, validation documents and the
// learner. It leaves out the first two MiB.
func (p *Problem) estimate() (bytes float64) {
	const few, query, validated = 2 << 20, 352, 40
	queries := len(p.Data.Queries)
	if p.Valid != nil {
		queries += len(p.Valid.Queries)
		bytes += float64(validated * float64(p.Valid.Docs()))
	}
	bytes += float64(query * float64(queries))
	if l, ok := p.Learner.(Estimator); ok {
		bytes += l.Memory(p)
	}
	return max(0, bytes-few)
}

// readingBytes returns the number of bytes for reading queries. Every worker reads one query at a time. Every query
// counts as long as the longest query.
func (p *Problem) readingBytes() float64 {
	workers := parallel.Workers(p.Workers, len(p.Data.Queries))
	return float64(4 * float64(workers) * float64(p.longest()) * float64(2*p.Data.Features+3*p.Inputs()))
}

// held returns the bytes of the features in memory, and the bytes of their prepared copies.
func (p *Problem) held() (held, copies float64) {
	for _, d := range p.sets() {
		if d.Streamed() {
			continue
		}
		held += featuresBytes(d, d.Features)
		changed := p.transforms() || !p.Views.Raw() || p.Normalization != dataset.NoNormalization
		if changed || d == p.Data && d.Weighted() && slices.Contains(d.RowWeights(), 0) {
			copies += featuresBytes(d, p.Inputs())
		}
	}
	return held, copies
}

// memoryLeft returns the bytes below the limit that remain after the features and the estimate.
func (t *Task) memoryLeft() float64 {
	held, copies := t.held()
	if !t.streaming {
		held += copies
	}
	return max(0, float64(dataset.MemoryLimit(t.MaxBytes))-held-t.estimate())
}

// longest returns the number of documents of the longest query in the training and validation data.
func (p *Problem) longest() (longest int) {
	for _, d := range p.sets() {
		longest = max(longest, d.LongestQuery())
	}
	return longest
}

// featuresBytes returns the bytes for the given number of features of the documents of d.
func featuresBytes(d *dataset.Dataset, features int) float64 {
	return float64(4 * float64(d.Docs()) * float64(features))
}

// gigabytes formats a number of bytes.
func gigabytes(n float64) string { return fmt.Sprintf("%.3g GB", n/1e9) }

// lens returns the function that transforms and normalizes the features of d as they are read. Views come later.
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
