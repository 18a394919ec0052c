package tune

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// Budget limits the settings that are tried. The zero value tries all settings.
type Budget struct {
	// Settings is the largest number of settings per entry. If an entry has more settings, they are
	// drawn at random by the seed. 0 means that all settings are tried.
	Settings int

	// Time is the time after which no further setting is started. Settings are started in a random
	// order, and each is tried on all folds. At least one setting is tried. 0 means no limit. The
	// number of tried settings, and so the result, depends on the machine.
	Time time.Duration
}

// check returns an error for a negative field.
func (b *Budget) check() error {
	if b.Settings < 0 || b.Time < 0 {
		return fmt.Errorf("found a budget of %d settings and %v, expected positive numbers, or 0 for no limit", b.Settings, b.Time)
	}
	return nil
}

// orderOf returns the order in which an entry's settings are tried, as indices. A budget uses the
// first settings in this order.
func (c *Config) orderOf(e *Entry) []int {
	return random.Stream(c.Seed, "order of settings", e.Name).Perm(len(e.Settings))
}

// keepSettings keeps the settings of an entry with the given indices, in the order of its grid.
func (e *Entry) keepSettings(numbers []int) {
	var kept []Setting
	for _, i := range slices.Sorted(slices.Values(numbers)) {
		kept = append(kept, e.Settings[i])
	}
	e.Settings = kept
}

// draw removes settings at random from each entry with more than Budget.Settings settings. It
// returns the number of settings that each entry had before.
func (c *Config) draw() (grids []int) {
	for i := range c.Entries {
		e := &c.Entries[i]
		grids = append(grids, len(e.Settings))
		if n := c.Budget.Settings; n > 0 && n < len(e.Settings) {
			e.keepSettings(c.orderOf(e)[:n])
		}
	}
	return grids
}

// runWithin runs jobs until Budget.Time is over. In each turn, it tries one more setting of every
// entry, on all folds. It removes untried settings from the entries and returns the finished jobs.
func (c *Config) runWithin(ctx context.Context, jobs []*job) ([]*job, error) {
	begun := time.Now()
	turns := make([][]*job, c.mostSettings())
	orders := make([][]int, len(c.Entries))
	next := 0
	for i := range c.Entries {
		e := &c.Entries[i]
		orders[i] = c.orderOf(e)
		for range c.Folds {
			for turn, setting := range orders[i] {
				turns[turn] = append(turns[turn], jobs[next+setting])
			}
			next += len(e.Settings)
		}
	}
	tried, done := 0, 0
	for tried < len(turns) && (tried == 0 || time.Since(begun) < c.Budget.Time) {
		var batch []*job // enough for all workers
		for tried < len(turns) && (len(batch) == 0 || len(batch)+len(turns[tried]) <= parallel.Workers(c.Jobs, len(jobs))) {
			batch = append(batch, turns[tried]...)
			tried++
		}
		if err := c.runJobs(ctx, batch, done, len(jobs)); err != nil {
			return nil, err
		}
		done += len(batch)
	}
	var kept []*job
	for _, j := range jobs {
		if j.model != nil {
			kept = append(kept, j)
		}
	}
	for i := range c.Entries {
		c.Entries[i].keepSettings(orders[i][:min(tried, len(orders[i]))])
	}
	return kept, nil
}

// mostSettings returns the largest number of settings of an entry.
func (c *Config) mostSettings() int {
	n := 0
	for i := range c.Entries {
		n = max(n, len(c.Entries[i].Settings))
	}
	return n
}
