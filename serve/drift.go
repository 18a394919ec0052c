package serve

import (
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/model"
)

// drift compares the features in requests with the training data of a model. It compares their
// distributions over the bins of the training data's summary.
type drift struct {
	model    *model.Model
	features []feature
	requests atomic.Uint64

	mu     sync.Mutex
	x      []float32 // features of a request
	counts []uint64  // number of documents per feature and bin
	docs   uint64
}

// feature refers to the training distribution of a feature: its summary and its index in the
// summary.
type feature struct {
	of *dataset.Summary // nil if unknown
	at int
}

const (
	driftEvery = 16      // one of so many requests is counted
	driftLeast = 500     // number of documents before an index is reported
	driftMost  = 100_000 // number of documents after which all counts are halved, so that old requests lose weight

	driftBins = dataset.MaxSummaryBins + 1 // the last bin is for missing values
)

// newDrift returns the drift of a model, or nil if the distribution of its training data is
// unknown. A background, in the model's order of features, replaces a missing summary.
func newDrift(m *model.Model, background *dataset.Dataset) *drift {
	d := &drift{model: m, features: make([]feature, m.NumFeatures())}
	var other *dataset.Summary
	if background != nil {
		other = background.Summary()
	}
	known := false
	for j := range d.features {
		of, at := m.Summary(j)
		if of == nil && j < other.NumFeatures() {
			of, at = other, j
		}
		d.features[j] = feature{of, at}
		known = known || of != nil
	}
	if !known {
		return nil
	}
	d.counts = make([]uint64, len(d.features)*driftBins)
	return d
}

// add counts the documents of a query. It counts one of driftEvery queries. x has all the model's
// features; add does not change x.
func (d *drift) add(x []float32) {
	if d == nil || d.requests.Add(1)%driftEvery != 1 || !d.mu.TryLock() {
		return
	}
	defer d.mu.Unlock()
	width := len(d.features)
	d.x = append(d.x[:0], x...)
	d.model.Missing.Apply(d.x, width) // as training did before it made the summary
	for i, v := range d.x {
		j := i % width
		if f := d.features[j]; f.of != nil {
			bin := f.of.Bin(f.at, v)
			if bin < 0 {
				bin = driftBins - 1
			}
			d.counts[j*driftBins+bin]++
		}
	}
	if d.docs += uint64(len(x) / width); d.docs > driftMost {
		for i := range d.counts {
			d.counts[i] /= 2
		}
		d.docs /= 2
	}
	if 4*cap(d.x) > mostKept {
		d.x = nil
	}
}

// index returns the population stability index of feature j,
//
//	Σ (q − p)·ln(q/p)
//
// over the bins, one of which is for missing values. p is the share of a bin in training, and q its
// share in requests (N. Siddiqi, Credit Risk Scorecards, 2006, chapter 8; 0.25 and more is a large
// change). Half a document is added to every bin, so that none is empty. ok is false if too few
// documents were counted or the training distribution is unknown.
func (d *drift) index(j int) (index float64, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.features[j]
	if f.of == nil || d.docs < driftLeast {
		return 0, false
	}
	bins, known := f.of.Bins(f.at), float64(f.of.Documents())
	missing := f.of.Share(f.at, -1)
	smooth := func(share, docs float64) float64 {
		return (float64(share*docs) + 0.5) / (docs + float64(0.5*float64(bins+1)))
	}
	for bin := -1; bin < bins; bin++ {
		at, p := bin, missing
		if bin < 0 {
			at = driftBins - 1
		} else {
			p = float64(f.of.Share(f.at, bin) * (1 - missing))
		}
		p = smooth(p, known)
		q := smooth(float64(d.counts[j*driftBins+at])/float64(d.docs), float64(d.docs))
		index += float64((q - p) * elementary.Log(q/p))
	}
	return index, true
}
