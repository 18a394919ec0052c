package tune

import (
	"errors"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model"
)

// sharing divides Config.MaxBytes among concurrent trainings. Each has a share. A training for which the
// share is too small runs alone with all of it. So it does not depend on the number of jobs whether a
// training is possible.
type sharing struct{ alone sync.RWMutex }

// within trains on a fold with a share of the memory, or with all of it. maxBytes limits the fold's
// features and the memory of training; 0 means the default.
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
