package tune

import (
	"context"
	"errors"
	"fmt"
)

// Trial is one training of a configuration, which one of several machines may do.
type Trial struct {
	Entry, Fold string
	Setting     string // what it tries of the hyperparameters that are tuned, as "C=0.1, beta=1"
}

// Trials returns the trainings of Run, in its order. It is an error if the time is limited or settings are
// dropped, since trainings then depend on each other.
func Trials(c Config) ([]Trial, error) {
	jobs, err := c.trials()
	if err != nil {
		return nil, err
	}
	trials := make([]Trial, len(jobs))
	for i, j := range jobs {
		trials[i] = Trial{j.entry.Name, j.fold.Name, j.setting()}
	}
	return trials, nil
}

// RunTrial does one training, by number, and writes its record to Config.Dir, where Run finds it. With the
// records of all trainings in its folder, Run trains nothing and returns the same result.
func RunTrial(ctx context.Context, c Config, trial int) error {
	if c.Dir == "" {
		return errors.New("found no folder for the record of a training, expected one")
	}
	jobs, err := c.trials()
	if err != nil {
		return err
	}
	if trial < 0 || trial >= len(jobs) {
		return fmt.Errorf("found training %d, expected a number from 0 to %d", trial, len(jobs)-1)
	}
	if err := jobs[trial].run(ctx, &c); err != nil {
		return fmt.Errorf("%s: %w", jobs[trial].name(), err)
	}
	return nil
}

// trials checks the configuration and returns its jobs.
func (c *Config) trials() ([]*job, error) {
	if c.Budget.Time > 0 || c.Halving {
		return nil, errors.New("found a time or successive halving, expected trainings that do not depend on each other")
	}
	if err := c.open(); err != nil {
		return nil, err
	}
	c.draw()
	return c.jobs(), nil
}
