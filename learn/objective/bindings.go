package objective

import (
	"reflect"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/loss"
)

// Bindings keep losses that were bound to the queries of a data set, for other functions of equal loss,
// data and seed. For example, trainings that differ only in the penalty draw their rankings once. The zero
// value is ready to use, by several goroutines. Bindings change no bit of the functions.
//
// Losses are equal by [reflect.DeepEqual]; losses with functions never are. Only the losses used last are
// kept.
type Bindings struct {
	mu   sync.Mutex
	kept []*boundLosses // the last asked for at the end
}

// mostBound is the number of losses kept, one for each concurrent training.
const mostBound = 4

// boundLosses are a loss bound to the queries of a data set.
type boundLosses struct {
	loss loss.Loss
	data string // fingerprint
	seed uint64

	mu      sync.Mutex // held while they are bound: who asks for the same waits
	queries []loss.QueryLoss
}

// of returns the bound losses of a function, which may still be empty.
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

// bindFrom is bind, but takes the losses from b if b has them. b may be nil. It takes nothing from b if
// the data have weights of documents, since losses are bound to these, too.
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
