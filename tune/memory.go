package tune

import (
	"errors"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model"
)

// sharing is how trainings side by side share Config.MaxBytes: each has a part, and one to which that is too little
// has all of it, alone. So what can be trained does not depend on how many there are.
type sharing struct{ alone sync.RWMutex }

// within trains on a fold with a part of the memory, or with all of it. train is told the bytes that there are for the
// features of the fold and what is learned beside them, 0 for as many as are usual.
func (c *Config) within(f *Fold, train func(maxBytes int64) (*model.Model, error)) (*model.Model, error) {
	if c.MaxBytes == 0 {
		return train(0)
	}
	held := heldBytes(f.Train) + heldBytes(f.Valid)
	m, err := func() (*model.Model, error) {
		c.sharing.alone.RLock()
		defer c.sharing.alone.RUnlock()
		const few = 1 << 20 // that a training does not count
		return train(max(1, held+c.MaxBytes/int64(parallel.Workers(c.Jobs, mostJobs))-few))
	}()
	if !errors.Is(err, dataset.ErrTooLarge) {
		return m, err
	}
	c.sharing.alone.Lock()
	defer c.sharing.alone.Unlock()
	return train(held + c.MaxBytes)
}

// mostJobs is a number of trainings that are never side by side.
const mostJobs = 1 << 20
