package tune

import (
	"errors"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model"
)

// sharing divides Config.MaxBytes among concurrent trainings. Each training gets an equal share. If
// the share is too small, the training runs again with all of MaxBytes while no other training
// runs. So the number of concurrent trainings does not decide whether a training is possible.
type sharing struct{ alone sync.RWMutex }

// within calls train for a training on a fold, with a share of the memory or, if the share is too
// small, with all of the memory. maxBytes limits the memory of the fold's features and of the
// training together. 0 means the default.
func (c *Config) within(f *Fold, train func(maxBytes int64) (*model.Model, error)) (*model.Model, error) {
	if c.MaxBytes == 0 {
		return train(0)
	}
	held := heldBytes(f.Train) + heldBytes(f.Valid)
	m, err := func() (*model.Model, error) {
		c.sharing.alone.RLock()
		defer c.sharing.alone.RUnlock()
		const few = 1 << 20 // memory of a training that does not count
		return train(max(1, held+c.MaxBytes/int64(parallel.Workers(c.Jobs, mostJobs))-few))
	}()
	if !errors.Is(err, dataset.ErrTooLarge) {
		return m, err
	}
	c.sharing.alone.Lock()
	defer c.sharing.alone.Unlock()
	return train(held + c.MaxBytes)
}

// mostJobs is larger than any number of concurrent trainings.
const mostJobs = 1 << 20
