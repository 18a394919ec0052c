package tune

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// Budget bounds what is tried. The zero value tries everything.
type Budget struct {
	// Settings is the number of settings of each entry that are tried, at most, drawn by the
	// seed; 0: all. The result is the same for the same seed.
	Settings int

	// Time is how long further settings are begun, in an order that is drawn by the seed, each
	// on all folds; 0: any time. One at least is tried. How many are depends on the machine, so
	// that the result does, too.
	Time time.Duration
}

// check returns an error for a budget out of range.
func (b *Budget) check() error {
	if b.Settings < 0 || b.Time < 0 {
		return fmt.Errorf("found a budget of %d settings and %v, expected positive numbers, or 0 for no limit", b.Settings, b.Time)
	}
	return nil
}

// orderOf returns the settings of an entry, by number, in the order in which they are tried
// where not all may be.
func (c *Config) orderOf(e *Entry) []int {
	return random.Stream(c.Seed, "order of settings", e.Name).Perm(len(e.Settings))
}

// keepSettings leaves an entry those settings, by number, in the order of its grid.
func (e *Entry) keepSettings(numbers []int) {
	var kept []Setting
	for _, i := range slices.Sorted(slices.Values(numbers)) {
		kept = append(kept, e.Settings[i])
	}
	e.Settings = kept
}

// draw leaves the entries as many settings as the budget has, and returns how many there were.
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

// runWithin does jobs, all those of one setting of every entry after the other, until the time
// is over, and leaves the entries the settings that were tried. It returns their jobs.
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
