package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
)

const (
	halvingFactor = 3 // factor by which queries grow and settings shrink from round to round
	halvingRounds = 2 // largest number of rounds before the last; the first round uses a ninth of the queries
	fewestQueries = 10
)

// shares returns a divisor for each round of successive halving before the last: a round with the
// divisor 9 uses a ninth of the training queries. The divisors are 9 and 3, only 3, or none,
// depending on the numbers of settings and queries.
func shares(settings, queries int) []int {
	const third, ninth = halvingFactor, halvingFactor * halvingFactor
	switch {
	case settings >= ninth && queries/ninth >= fewestQueries:
		return []int{ninth, third}
	case settings >= third && queries/third >= fewestQueries:
		return []int{third}
	}
	return nil
}

// halve drops jobs by successive halving (Jamieson and Talwalkar, AISTATS 2016). It treats each
// entry and fold separately, so that a fold's test data affect no choice. In the first round, all
// settings are trained on a random part of the training queries. The best third of them, by
// validation value, is trained on three times as many queries in the next round. halve returns the
// jobs that remain after the last of its rounds. The caller must train them on all queries.
func (c *Config) halve(ctx context.Context, jobs []*job) (left []*job, err error) {
	next := 0
	type race struct {
		jobs  []*job
		parts []int
	}
	var races []*race
	for i := range c.Entries {
		for range c.Folds {
			of := jobs[next : next+len(c.Entries[i].Settings)]
			next += len(of)
			races = append(races, &race{slices.Clone(of), shares(len(of), len(of[0].fold.Train.Queries))})
		}
	}
	drawn := make(map[string]*dataset.Dataset)
	for round := range halvingRounds {
		var heats []*job
		of := make(map[*job]*job) // for each job on a part of the queries, the job on all queries
		for _, r := range races {
			if round >= len(r.parts) {
				continue
			}
			for k, j := range r.jobs {
				heat := *j
				heat.fold = c.shareOf(j.fold, r.parts[round], drawn)
				heat.train = heat.fold.Train.Fingerprint()
				heats = append(heats, &heat)
				of[&heat], r.jobs[k] = j, &heat
			}
		}
		if err := c.runJobs(ctx, heats, 0, len(heats)); err != nil {
			return nil, err
		}
		for _, r := range races {
			if round >= len(r.parts) {
				continue
			}
			slices.SortStableFunc(r.jobs, func(a, b *job) int { return cmp.Compare(b.validation, a.validation) })
			keep := (len(r.jobs) + halvingFactor - 1) / halvingFactor
			for k, heat := range r.jobs {
				r.jobs[k] = of[heat]
				r.jobs[k].dropped = k >= keep
			}
			r.jobs = r.jobs[:keep]
		}
	}
	for _, j := range jobs {
		if !j.dropped {
			left = append(left, j)
		}
	}
	return left, nil
}

// shareOf returns the fold f with a random 1/parts of its training queries. drawn caches the
// training data of the results by name.
func (c *Config) shareOf(f *Fold, parts int, drawn map[string]*dataset.Dataset) *Fold {
	name := fmt.Sprintf("%s.1of%d", f.Name, parts)
	if drawn[name] == nil {
		n := len(f.Train.Queries)
		queries := random.Stream(c.Seed, "halving", f.Name).Perm(n)[:n/parts]
		slices.Sort(queries)
		drawn[name] = f.Train.Subset(queries)
	}
	return &Fold{Name: name, Train: drawn[name], Valid: f.Valid, Test: f.Test}
}
