package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune"
)

// smallDelta is the experiment with few settings on few made data.
func smallDelta() deltaStudy {
	d := logRankDelta
	d.betas, d.c, d.factored, d.seeds = []string{"1e-12", "5", "100"}, []string{"0.01", "1"}, []string{"0.01", "1"}, 2
	d.made = govSize{queries: 25, docs: 60}
	d.samplers = slices.Clone(d.samplers)
	for i := range d.samplers[:3] {
		d.samplers[i].grid = with(d.samplers[i].grid, "samples", "150")
	}
	return d
}

// Without Δ, ConvexLoss is the MLE of the same rankings, on samples and over all labelings; with
// it, it is not.
func TestDeltaOfNoWeightIsTheMLE(t *testing.T) {
	long.Test(t)
	d := smallDelta()
	found, err := d.trainedOn(t, Options{Seed: 3, Data: setsOf(t, "OHSUMED", "MQ2008")})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.columns) != 4 {
		t.Fatalf("%d sets, expected OHSUMED, MQ2008, OHSUMED cleaned and made data", len(found.columns))
	}
	for _, c := range found.columns {
		for _, s := range d.samplers {
			if s.on(c) {
				deltaOfNoWeight(t, d, found, c, s)
			}
		}
	}
	deltaReport(t, d, found)
}

// deltaReport checks that each set is compared under the samplers that are for it, and that
// what is summed up counts the lines of the sheet.
func deltaReport(t *testing.T, d deltaStudy, found *results) {
	t.Helper()
	r := &Report{}
	r.add(found, d.parts()...)
	lines := make(map[[2]string]int)
	higher, n := 0, 0
	for _, line := range r.Sheets[0].Rows {
		lines[[2]string{line[0].(string), line[2].(string)}]++
		if line[3] == "chosen" && line[4] == deltaReferences[0] {
			n++
			if line[5].(float64) > 0 {
				higher++
			}
		}
	}
	points := len(d.betas) + 1
	for _, c := range found.columns {
		exact := 0
		if strings.HasPrefix(c.name, "synthetic") {
			exact = points
		}
		for name, want := range map[string]int{"short walks": 4 * points, "eleven levels": 2 * points, "all labelings": exact} {
			if got := lines[[2]string{c.name, name}]; got != want {
				t.Errorf("%s, %s: %d lines, expected %d", c.name, name, got, want)
			}
		}
	}
	if want := fmt.Sprintf("higher in %d of %d sets", higher, n); n != 21 || !strings.HasPrefix(r.Findings[0].Figure, want) {
		t.Errorf("found %q, expected %q … of 21", r.Findings[0].Figure, want)
	}
}

// A claim holds if something is significantly above in some cell and below in none.
func TestDeltaVerdict(t *testing.T) {
	for _, c := range []struct {
		above, below int
		want         FindVerdict
	}{{0, 0, ClaimUndecided}, {2, 0, ClaimHeld}, {0, 1, ClaimFailed}, {1, 1, ClaimMixed}} {
		if got := byCounts(c.above, c.below); got != c.want {
			t.Errorf("%d above, %d below: %s, expected %s", c.above, c.below, got, c.want)
		}
	}
}

func deltaOfNoWeight(t *testing.T, d deltaStudy, found *results, c *column, s deltaSampler) {
	t.Helper()
	values := c.views[0].values
	for _, m := range d.trained {
		if !s.sums(m) {
			continue
		}
		none, some := 0.0, 0.0
		for seed, mle := range values[found.rowNamed(s.likelihood(m))] {
			for q, want := range mle[m].each {
				none = max(none, math.Abs(values[found.rowNamed(s.convex(m, "1e-12"))][seed][m].each[q]-want))
				some = max(some, math.Abs(values[found.rowNamed(s.convex(m, "100"))][seed][m].each[q]-want))
			}
		}
		if none > 1e-12 {
			t.Errorf("%s, %s, %s: without Δ a query differs by %v", c.name, m, s.name, none)
		}
		if some == 0 {
			t.Errorf("%s, %s, %s: β = 100 changes nothing", c.name, m, s.name)
		}
	}
}

// trainedOn trains the study on made data.
func (d deltaStudy) trainedOn(t *testing.T, o Options) (*results, error) {
	t.Helper()
	s := d.study()
	return s.train(context.Background(), o)
}

// The row whose β is chosen is what tuning β and C together gives, and its differences are
// those of the models found so, by formulas of the test's own.
func TestDeltaDifferences(t *testing.T) {
	long.Test(t)
	d := smallDelta()
	const seed = 2
	r, err := d.experiment().Run(context.Background(), Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	made, err := syntheticGov(d.made, seed)
	if err != nil {
		t.Fatal(err)
	}
	const m = "ndcg@10"
	tuned := func(name string, seed uint64, grid map[string][]string) []float64 {
		entryRow := row{name: name, method: name, grid: grid}
		if name == "convexloss" {
			entryRow.training = m
		}
		entry, err := entryRow.entry(letor3)
		if err != nil {
			t.Fatal(err)
		}
		ndcg := measure.MustParse(m, letor3)
		result, err := tune.Run(context.Background(), tune.Config{Folds: made.folds, Entries: []tune.Entry{entry}, Select: ndcg, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return perQuery(&result.Rows[0], ndcg)
	}
	sampled := map[string][]string{"form": {"sampled"}, "C": d.c, "samples": {"150"}}
	queries, runs := make([]float64, d.made.queries), make([]float64, d.seeds)
	each := make([][]float64, d.seeds)
	for k := range runs {
		a := tuned("convexloss", seed+uint64(k), with(sampled, "beta", d.betas...))
		b := tuned("mle", seed+uint64(k), sampled)
		for q := range queries {
			queries[q] += (a[q] - b[q]) / float64(d.seeds)
			runs[k] += (a[q] - b[q]) / float64(len(queries))
			each[k] = append(each[k], a[q]-b[q])
		}
	}
	want := mean(queries)
	if want == 0 {
		t.Fatal("the data do not distinguish the two")
	}
	var both float64 // squares of what queries and runs bring together
	for k := range runs {
		for q := range queries {
			rest := each[k][q] - queries[q] - runs[k] + want
			both += rest * rest
		}
	}
	n, r1 := float64(len(queries)), float64(len(runs))
	both /= (n - 1) * (r1 - 1) * n * r1
	wantError := math.Sqrt(sd(queries)*sd(queries)/n + max(0, sd(runs)*sd(runs)/r1-both))
	rows := 0
	for _, line := range r.Sheets[0].Rows {
		if line[1] == m && line[2] == "short walks" && line[3] == "chosen" && line[4] == deltaReferences[0] {
			rows++
			if math.Abs(line[5].(float64)-want) > 1e-12 || math.Abs(line[6].(float64)-wantError) > 1e-12 {
				t.Errorf("difference %v with error %v, expected %v and %v", line[5], line[6], want, wantError)
			}
		}
	}
	if rows != 1 {
		t.Errorf("%d lines of the comparison, expected one", rows)
	}
}

// Rankings' energies and numbers of inverted pairs are sums over the pairs themselves.
func TestDeltaStates(t *testing.T) {
	grades := []float64{0, 1, 0, 2, 0, 0, 1}
	rng := rand.New(rand.NewPCG(1, 2))
	scores := make([]float64, len(grades))
	for i := range scores {
		scores[i] = rng.NormFloat64()
	}
	pairs := bipartite.Split(grades, 1)
	options := sample.DefaultOptions()
	options.Samples, options.Steps, options.Mix, options.Thin, options.Unique = 60, 6, 0.5, 2, false
	gain := measure.MustParse("map", letor3).(measure.Additive)
	set, err := sample.Draw(pairs, gain, options, rng)
	if err != nil {
		t.Fatal(err)
	}
	got := statesOf(set, pairs, scores)
	next := 0
	for walk := range set.Walks {
		inverted := make(map[[2]int32]bool)
		if set.Restarts[set.Start[walk]] != nil {
			for _, g := range pairs.Good {
				for _, b := range pairs.Bad {
					inverted[[2]int32{g, b}] = true
				}
			}
		}
		for step := 0; ; step++ {
			if step%set.Thin == 0 {
				energy := 0.0
				for p := range inverted {
					energy += 2 * (scores[p[0]] - scores[p[1]])
				}
				s := got[next]
				if next++; math.Abs(s.energy-energy) > 1e-12 || s.inverted != len(inverted) {
					t.Fatalf("walk %d, step %d: %+v, expected energy %v of %d pairs", walk, step, s, energy, len(inverted))
				}
			}
			if step == set.Steps {
				break
			}
			up, down := set.Plus[step*set.Walks+walk], set.Minus[step*set.Walks+walk]
			if grades[up] == 0 {
				inverted[[2]int32{down, up}] = true
			} else {
				delete(inverted, [2]int32{up, down})
			}
		}
	}
	if next < set.Rows()*set.Walks {
		t.Errorf("%d states, expected %d", next, set.Rows()*set.Walks)
	}
}

// The variance within counts is what their means leave of the whole variance.
func TestDeltaWithinCounts(t *testing.T) {
	states := []state{{delta: 0.1, inverted: 1}, {delta: 0.3, inverted: 1}, {delta: 0.5, inverted: 2}, {delta: 0.5, inverted: 2}, {delta: 0.8, inverted: 2}}
	whole := (2*0.2 + 3*0.6) / 5 // the mean of all
	between := (2*0.2*0.2+3*0.6*0.6)/5 - whole*whole
	if got, want := withinCounts(states), variance(states, deltaOf)-between; math.Abs(got-want) > 1e-15 {
		t.Errorf("found %v, expected %v", got, want)
	}
}

// The rankings that are looked at are those of the training, so that a row's loss at its model
// follows from them.
func TestDeltaSpreadIsOfTheTrainingsSample(t *testing.T) {
	long.Test(t)
	d := smallDelta()
	found, err := d.trainedOn(t, Options{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	made, err := syntheticGov(d.made, 5)
	if err != nil {
		t.Fatal(err)
	}
	train := made.folds[0].Train
	m := found.columns[0].rows[found.rowNamed(d.samplers[0].likelihood("map"))][0].Folds[0].Model
	config, _, err := method.LogRankOf(m)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := m.Score(train)
	if err != nil {
		t.Fatal(err)
	}
	risk := 0.0
	for _, q := range rankable(train) {
		set, err := sample.Draw(q.pairs, config.Gain, config.Sampler, random.Stream(5, "bind", q.query.Content()))
		if err != nil {
			t.Fatal(err)
		}
		sum, n := 0.0, 0
		for _, s := range statesOf(set, q.pairs, scores[q.query.Start:q.query.Start+q.query.Len()]) {
			sum += math.Exp(-s.energy)
			n++
		}
		risk += math.Log(sum / float64(n))
	}
	for _, w := range m.Params {
		risk += w * w / m.Hyperparameters["C"].(float64)
	}
	if got := m.Training.Objective; math.Abs(got-risk) > 1e-9*math.Abs(risk) {
		t.Errorf("the training's objective is %v, by the rankings looked at %v", got, risk)
	}
}
