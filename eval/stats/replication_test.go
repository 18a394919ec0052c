package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of one setting, another run's interval is the prediction interval of results by seed.
func TestReplicationOfOneSetting(t *testing.T) {
	values := []float64{0.45, 0.46, 0.44, 0.455}
	runs := make([][]Tried, len(values))
	for i, v := range values { // the two folds' mean is v
		runs[i] = []Tried{{Validation: []float64{0.5}, Test: []float64{v - 0.1}}, {Validation: []float64{0.4}, Test: []float64{v + 0.1}}}
	}
	got, err := Replicate(runs, ReplicationConfig{Draws: 10, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Prediction(values)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]float64{{got.Mean, want.Mean}, {got.Interval.Low, want.Interval.Low}, {got.Interval.High, want.Interval.High}, {got.Grid, 0}} {
		if math.Abs(c[0]-c[1]) > 1e-12 {
			t.Errorf("%+v, expected %+v", got, want)
		}
	}
}

// Of two settings in one fold, the better is missing in one grid of eight: it is not the one
// that is always in (1/2), and it is left out (1/4).
func TestReplicationByGrid(t *testing.T) {
	got, err := Replicate([][]Tried{{{Validation: []float64{0.6, 0.5}, Test: []float64{0.40, 0.44}}}}, ReplicationConfig{Draws: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.04 / math.Sqrt(8); math.Abs(got.Grid-want) > 0.01*want || got.Seeds != 0 || got.Mean != 0.40 {
		t.Errorf("%+v, expected a deviation by grid of %v", got, want)
	}
	if half := got.Interval.High - got.Mean; math.Abs(half-1.959964*got.Grid) > 1e-6 {
		t.Errorf("half width %v of a deviation %v", half, got.Grid)
	}
}

// Of one setting, the spread between grids is the one assumed; of several, their own.
func TestReplicationAssumesGrid(t *testing.T) {
	one := [][]Tried{{{Validation: []float64{0.5}, Test: []float64{0.4}}, {Validation: []float64{0.5}, Test: []float64{0.5}}}}
	got, err := Replicate(one, ReplicationConfig{Grid: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	if half := got.Interval.High - 0.45; math.Abs(half-0.01959964) > 1e-8 || got.Grid != 0.01 {
		t.Errorf("%+v, expected 1.96 times 0.01 around 0.45", got)
	}
	two := [][]Tried{{{Validation: []float64{0.5, 0.6}, Test: []float64{0.4, 0.4}}}}
	if got, err := Replicate(two, ReplicationConfig{Grid: 0.01}); err != nil || got.Grid != 0 {
		t.Errorf("two equal settings: %+v, %v, expected no spread", got, err)
	}
}

func TestReplicateRefuses(t *testing.T) {
	fold := Tried{Validation: []float64{1, 2}, Test: []float64{1, 2}}
	for name, runs := range map[string][][]Tried{
		"no run":           {},
		"no fold":          {{}},
		"folds":            {{fold}, {fold, fold}},
		"no candidate":     {{Tried{}}},
		"candidates":       {{fold}, {{Validation: []float64{1}, Test: []float64{1}}}},
		"validation means": {{{Validation: []float64{1}, Test: []float64{1, 2}}}},
	} {
		if _, err := Replicate(runs, ReplicationConfig{Draws: 10, Seed: 1}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// collection simulates runs of methods on one collection. The value of a query depends on
// the setting smoothly, by a parameter in [−1, 1] that grids divide into steps, and is best
// on average at 0; training adds noise to all values of a candidate and to each.
type collection struct {
	name                     string
	folds, queries, settings int
	quality                  float64 // what the best setting has above the worst ones
	interaction              float64 // deviation of how a query's value depends on the setting
	training                 float64 // deviation of the noise by seed

	valid, test [][]simulated
}

type simulated struct{ base, a, b, c float64 }

func (q *simulated) value(quality, at float64) float64 {
	return q.base - quality*at*at + q.a*math.Sin(2*at) + q.b*math.Cos(2*at) + q.c*math.Sin(5*at)
}

func (c *collection) draw(rng *rand.Rand) {
	some := func() [][]simulated {
		folds := make([][]simulated, c.folds)
		for f := range folds {
			for range c.queries {
				folds[f] = append(folds[f], simulated{
					0.45 + 0.25*rng.NormFloat64(), c.interaction * rng.NormFloat64(), c.interaction * rng.NormFloat64(), c.interaction * rng.NormFloat64(),
				})
			}
		}
		return folds
	}
	c.valid, c.test = some(), some()
}

// run is a run of a method that is better than others by advantage, with a grid that is
// shifted by a part of its step.
func (c *collection) run(rng *rand.Rand, advantage, shift float64) []Tried {
	folds := make([]Tried, c.folds)
	for f := range folds {
		for s := range c.settings {
			at := 2*(float64(s)+shift)/float64(max(1, c.settings-1)) - 1
			noise := c.training * rng.NormFloat64()
			meanOf := func(queries []simulated) (sum float64) {
				for q := range queries {
					sum += queries[q].value(c.quality, at) + c.training*rng.NormFloat64()
				}
				return sum/float64(len(queries)) + noise
			}
			folds[f].Validation = append(folds[f].Validation, meanOf(c.valid[f]))
			folds[f].Test = append(folds[f].Test, meanOf(c.test[f])+advantage)
		}
	}
	return folds
}

// Two independent runs of one method agree in 90 to 99 of 100 draws, where the other's grid
// has its settings halfway between ours; and another method, better or worse by what is
// stated as detectable, is told apart in 70 of 100 at least (80 are aimed at).
func TestReplicationAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("simulations")
	}
	for _, c := range []collection{
		{name: "of OHSUMED's size", folds: 5, queries: 21, settings: 12, quality: 0.02, interaction: 0.05, training: 0.003},
		{name: "coarse grid", folds: 5, queries: 21, settings: 6, quality: 0.05, interaction: 0.03, training: 0.001},
		{name: "of MQ2008's size, fine grid", folds: 5, queries: 157, settings: 30, quality: 0.01, interaction: 0.05, training: 0.002},
		{name: "nothing drawn", folds: 5, queries: 157, settings: 8, quality: 0.03, interaction: 0.02},
		{name: "one setting", folds: 5, queries: 21, settings: 1, quality: 0.03, interaction: 0.02, training: 0.004},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const trials = 400
			rng := rand.New(rand.NewPCG(1, 2))
			var agree, apart int
			var half float64
			for trial := range trials {
				c.draw(rng)
				runs, shift := [][]Tried{c.run(rng, 0, 0)}, 0.5
				if c.training > 0 {
					runs = append(runs, c.run(rng, 0, 0), c.run(rng, 0, 0))
				}
				if c.settings == 1 {
					shift = 0
				}
				r, err := Replicate(runs, ReplicationConfig{Draws: 200, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				inside := func(advantage float64) bool {
					v := resultOf(c.run(rng, advantage, shift), func(t *Tried) int { return t.best(func(int) bool { return true }) })
					return r.Interval.Low <= v && v <= r.Interval.High
				}
				if inside(0) {
					agree++
				}
				if !inside(r.Detectable * float64(1-trial%2*2)) {
					apart++
				}
				half += (r.Interval.High - r.Mean) / trials
			}
			t.Logf("half width %.4f; of %d runs of the same method %d inside, of those of another %d outside", half, trials, agree, apart)
			if share := float64(agree) / trials; share < 0.90 || share > 0.99 {
				t.Errorf("%.3f of runs of the same method are inside, expected 0.90 to 0.99", share)
			}
			if share := float64(apart) / trials; share < 0.70 {
				t.Errorf("%.3f of runs of another method are outside, expected 0.70 at least", share)
			}
		})
	}
}

// Claim: of few settings the interval covers fewer runs than it should where the other's grid
// lies halfway between ours and nothing is drawn. It is the limit that the documentation of
// lacking names; a better estimate will have to change it.
func TestReplicationOfFewSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("simulations")
	}
	for _, settings := range []int{3, 5} {
		c := collection{folds: 5, queries: 21, settings: settings, quality: 0.02, interaction: 0.05}
		const trials = 1000
		rng := rand.New(rand.NewPCG(1, 2))
		inside := 0
		for range trials {
			c.draw(rng)
			r, err := Replicate([][]Tried{c.run(rng, 0, 0)}, ReplicationConfig{Draws: 200, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			v := resultOf(c.run(rng, 0, 0.5), func(t *Tried) int { return t.best(func(int) bool { return true }) })
			if r.Interval.Low <= v && v <= r.Interval.High {
				inside++
			}
		}
		if share := float64(inside) / trials; share < 0.72 || share > 0.88 {
			t.Errorf("%d settings: %.3f of runs of the same method are inside, the documentation says about 0.80", settings, share)
		}
	}
}
