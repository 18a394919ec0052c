package stats

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Tried is the outcome of one run of a method on one fold. The run trains a candidate for every
// setting of a grid of hyperparameters. It selects the candidate with the highest validation mean,
// and the first of them if several have this mean.
type Tried struct {
	Validation []float64 // for every candidate, the mean over the fold's validation queries
	Test       []float64 // for every candidate, the mean over the fold's test queries
}

// Replication describes how much the results of runs of the same method on the same folds differ. A
// result is the mean over folds of the selected candidates' test means. Two runs have different
// results because of the random seed of the training and because of the settings in the grid.
type Replication struct {
	Mean     float64  // mean of the given runs' results
	Interval Interval // contains the result of another run with probability about [Level]

	// Seeds is the standard deviation of results between seeds, or 0 for a single run. Grid is the
	// root mean square change of a result if each setting is removed from the grid with probability
	// 1/4.
	Seeds, Grid float64

	// Detectable is the distance from Mean at which the result of another method is outside the
	// interval with probability [Power].
	Detectable float64
}

// lacking is the probability that a random grid lacks a given setting. The value 1/4 comes from
// simulation (TestReplicationAgrees). With this value, the interval contains the result of a run
// whose settings are halfway between the given settings in 90 to 99 of 100 cases. This holds for
// coarse and fine grids of 6 to 30 settings, and if one setting is common to all runs. With 3 to 5
// settings and a deterministic method, the interval contains the result in about 80 of 100 cases
// (TestReplicationOfFewSettings). With 2 settings it does so in fewer cases, depending on the
// distance of the settings.
const lacking = 0.25

// ReplicationConfig contains the settings of Replicate.
type ReplicationConfig struct {
	Draws int    // number of random grids, each without every fourth setting on average; 0 means 1000
	Seed  uint64 // seed of the random grids

	// Grid is the value of [Replication].Grid to assume for a method with a single setting, whose
	// runs do not show the influence of the grid. The caller can pass the value of a comparable
	// method.
	Grid float64
}

// Replicate estimates how much the result of another run would differ from the given runs. runs[r]
// has the outcome of run r on each fold. The runs must have the same folds and the same settings in
// the same order, and differ only in their seeds. A deterministic method needs only one run. The
// result of another run is in
//
//	Interval = Mean ± √( t²·Seeds²·(1 + 1/R) + z²·Grid² )
//
// with probability about [Level]. R is the number of runs, t is the quantile of Student's t with R
// − 1 degrees of freedom, and z is the normal quantile. Seeds and Grid are fields of [Replication].
// Seeds is computed from results averaged over random grids, so that a change of the selected
// setting affects Grid but not Seeds.
func Replicate(runs [][]Tried, c ReplicationConfig) (Replication, error) {
	draws := cmp.Or(c.Draws, 1000)
	if len(runs) == 0 || draws < 0 || !(c.Grid >= 0) || math.IsInf(c.Grid, 1) {
		return Replication{}, fmt.Errorf("found %d runs, %d draws and a spread of %v, expected one run at least and no negative number", len(runs), c.Draws, c.Grid)
	}
	results, centres := make([]float64, len(runs)), make([]float64, len(runs))
	var grid float64 // squared
	rng := rand.New(rand.NewPCG(c.Seed, 0))
	for r, folds := range runs {
		if err := checkFolds(folds, runs[0]); err != nil {
			return Replication{}, fmt.Errorf("run %d: %w", r, err)
		}
		results[r] = resultOf(folds, func(t *Tried) int { return t.best(func(int) bool { return true }) })
		for range draws {
			drawn := resultOf(folds, func(t *Tried) int { return t.drawn(rng) })
			centres[r] += drawn / float64(draws)
			grid += (drawn - results[r]) * (drawn - results[r]) / float64(draws*len(runs))
		}
	}
	if single(runs[0]) {
		grid = float64(c.Grid * c.Grid)
	}
	rep := Replication{Mean: mean(results), Grid: math.Sqrt(grid)}
	z := normalQuantile(1 - Alpha/2)
	square, variance := float64(z*z*grid), grid
	if n := float64(len(runs)); n > 1 {
		rep.Seeds = deviation(centres)
		t, seeds := studentQuantile(1-Alpha/2, n-1), float64(rep.Seeds*rep.Seeds*(1+1/n))
		square += float64(t * t * seeds)
		variance += seeds
	}
	half := math.Sqrt(square)
	rep.Interval = Interval{rep.Mean - half, rep.Mean + half}
	rep.Detectable = half + float64(normalQuantile(Power)*math.Sqrt(variance))
	return rep, nil
}

// single reports whether there is only one setting.
func single(folds []Tried) bool {
	return !slices.ContainsFunc(folds, func(t Tried) bool { return len(t.Test) > 1 })
}

// checkFolds returns an error if the folds of a run differ from the folds of the first run.
func checkFolds(folds, first []Tried) error {
	if len(folds) == 0 || len(folds) != len(first) {
		return fmt.Errorf("found %d folds, expected those of run 0, %d, and one at least", len(folds), len(first))
	}
	for i, f := range folds {
		if n := len(first[i].Test); n == 0 || len(f.Test) != n || len(f.Validation) != n {
			return fmt.Errorf("fold %d: found %d validation and %d test means, expected those of run 0, %d, and one at least", i, len(f.Validation), len(f.Test), n)
		}
	}
	return nil
}

// resultOf returns the mean over folds of the selected candidates' test means. choose selects a
// candidate.
func resultOf(folds []Tried, choose func(*Tried) int) float64 {
	var sum float64
	for i := range folds {
		sum += folds[i].Test[choose(&folds[i])]
	}
	return sum / float64(len(folds))
}

// best returns the candidate with the highest validation mean among the candidates for which in
// returns true.
func (t *Tried) best(in func(candidate int) bool) int {
	best := -1
	for i, v := range t.Validation {
		if in(i) && (best < 0 || v > t.Validation[best]) {
			best = i
		}
	}
	return best
}

// drawn returns the best candidate in a random grid. The grid lacks each candidate with the
// probability lacking, but contains at least one.
func (t *Tried) drawn(rng *rand.Rand) int {
	always := rng.IntN(len(t.Test))
	return t.best(func(i int) bool { return rng.Float64() >= lacking || i == always })
}
