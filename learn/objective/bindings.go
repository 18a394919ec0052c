package objective

import (
	"reflect"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/loss"
)

// Bindings is a cache of losses that are bound to the queries of a data set. Risks with the same loss, data and seed
// share them. For example, trainings that differ only in the penalty draw their sampled rankings once. The zero value
// is ready to use. Several goroutines may use it at once. Results have the same bits with and without Bindings.
//
// Losses are compared by [reflect.DeepEqual], so losses that contain functions are never equal. Only the most
// recently used losses are kept.
type Bindings struct {
	mu   sync.Mutex
	kept []*boundLosses // sorted by last use, the most recent last
}

// mostBound is the number of losses that are kept: enough for one in each concurrent training.
const mostBound = 4

// boundLosses is a loss that is bound to the queries of a data set.
type boundLosses struct {
	loss loss.Loss
	data string // fingerprint of the data set
	seed uint64

	mu      sync.Mutex // held during binding, so that others wait for the result
	queries []loss.QueryLoss
}

// of returns the entry for a loss, data and seed. It adds an entry without queries if there is none.
func (b *Bindings) of(l loss.Loss, d *dataset.Dataset, seed uint64) *boundLosses {
	data := d.Fingerprint()
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, k := range b.kept {
		if k.seed == seed && k.data == data && reflect.DeepEqual(k.loss, l) {
			b.kept = append(append(b.kept[:i:i], b.kept[i+1:]...), k)
			return k
		}
	}
	k := &boundLosses{loss: l, data: data, seed: seed}
	b.kept = append(b.kept[max(0, len(b.kept)+1-mostBound):], k)
	return k
}

// bindFrom does what bind does, but reuses the bound losses in b if there are any. b may be nil. If
// documents have weights, b is not used, because the losses are then bound to these weights as well.
func (f *Functional) bindFrom(b *Bindings, d *dataset.Dataset, workers int, done <-chan struct{}) (query int, err error) {
	const purpose = "bind"
	if b == nil || d.Weights() != nil {
		return f.bind(purpose, workers, done)
	}
	k := b.of(f.loss, d, f.seed)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.queries == nil {
		if query, err = f.bind(purpose, workers, done); err != nil {
			return query, err
		}
		k.queries = make([]loss.QueryLoss, len(f.queries))
		for i := range f.queries {
			k.queries[i] = f.queries[i].loss
		}
		return 0, nil
	}
	for i := range f.queries {
		f.queries[i].loss = k.queries[i]
	}
	return 0, nil
}
