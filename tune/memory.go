package tune

import (
	"errors"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model"
)

// sharing divides Config.MaxBytes among concurrent trainings. Each training has a share. If the
// share is too small, the training runs alone with all of MaxBytes. So whether a training is
// possible does not depend on the number of jobs.
type sharing struct{ alone sync.RWMutex }

// within trains on a fold with a share of the memory or, if that is too small, with all of it.
// maxBytes limits the fold's features and the memory of the training; 0 means the default.
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

// mostJobs is larger than the number of concurrent trainings.
const mostJobs = 1 << 20
