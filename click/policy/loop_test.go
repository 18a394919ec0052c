package policy

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/click/simulate"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/testing/long"
)

// Claim: the loop works. Production ranks with noise; propensities are harvested from one log, and a new model is evaluated
// on another. In 93 to 97 % of 200 repetitions the intervals of its clicks, and of their difference to the log,
// contain the truth. They include the errors of the propensities; without these, the check of slots fails often.
func TestLoop(t *testing.T) {
	runs, low, high := 2, 0.0, 1.0
	if long.Enabled() {
		runs, low, high = 200, 0.91, 0.99 // 93 to 97 %, and two standard errors of 200 repetitions
	}
	rng := rand.New(rand.NewPCG(1, 1))
	const docs, shown = 12, 8
	model, err := simulate.ParseModel("pbm:eta=1,noise=0.1")
	if err != nil {
		t.Fatal(err)
	}
	sim := simulate.Simulation{Rankers: []simulate.Ranker{{Name: "old", Share: 1}}, Order: simulate.Order{Kind: simulate.Noise, Temperature: 0.5}, Clicks: model, Top: shown, Users: 500}
	best := map[string][]string{}
	truth := 0.0
	const queries = 30
	for q := range queries {
		query := simulate.Query{ID: "q" + strconv.Itoa(q), Scores: [][]float64{nil}}
		var better []float64
		for d := range docs {
			grade := float64(rng.IntN(5))
			query.Docs, query.Grades = append(query.Docs, "d"+strconv.Itoa(d)), append(query.Grades, grade)
			query.Scores[0] = append(query.Scores[0], grade+4*rng.NormFloat64())
			better = append(better, grade+1.5*rng.NormFloat64())
		}
		order := make([]int, docs)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(better[b], better[a]) })
		for k, d := range order[:shown] {
			best[query.ID] = append(best[query.ID], query.Docs[d])
			attracted := 0.1 + 0.9*float64(int(1)<<int(query.Grades[d])-1)/15
			truth += attracted / float64(k+1) / queries
		}
		sim.Queries = append(sim.Queries, query)
	}
	policy := Policy{"new", func(p *click.Page) []click.Order { return []click.Order{{Docs: best[p.Query], Probability: 1}} }}
	covers := map[string]int{}
	var mu sync.Mutex
	parallel.For(runs, 0, func(_, run int) {
		s := sim
		s.Seed = uint64(run + 1)
		if err := s.Prepare(); err != nil {
			t.Error(err)
			return
		}
		const pages = 6000
		var log propensity.Log
		draw := s.Drawer()
		for i := range pages {
			if err := log.Add(draw.Draw(i)); err != nil {
				t.Error(err)
				return
			}
		}
		theta, err := log.Estimate(context.Background(), propensity.Options{Method: propensity.Harvest, Resamples: 30, Seed: 1, Workers: 1})
		if err != nil {
			t.Error(err)
			return
		}
		slots := SlotsOf(theta)
		sharp := map[string]Slot{}
		for name, s := range slots {
			sharp[name] = Slot{Alpha: s.Alpha}
		}
		for name, c := range map[string]Config{"pbm": {Slots: slots}, "pbm, propensities taken as exact": {Slots: sharp}} {
			c.Policies, c.MaxUnsupported = []Policy{policy}, DefaultUnsupported
			e, err := New(c)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 2 * pages {
				use := e.Add
				if i < pages {
					use = e.Count
				}
				if i == pages {
					if err := e.Prepare(); err != nil {
						t.Error(err)
						return
					}
				}
				if err := use(draw.Draw(pages + i%pages)); err != nil {
					t.Error(err)
					return
				}
			}
			r, err := e.Result()
			if err != nil {
				t.Error(err)
				return
			}
			got := r.Policies[0]
			mu.Lock()
			if got.Refused != "" {
				t.Errorf("%s: refused: %s", name, got.Reason())
			}
			if got.Interval.Low <= truth && truth <= got.Interval.High {
				covers[name]++
			}
			if r.Checks.SlotsP < 0.05 {
				covers[name+", failed checks"]++
			}
			mu.Unlock()
		}
	})
	for name, n := range covers {
		t.Logf("%s: %.3f", name, float64(n)/float64(runs))
	}
	if share := float64(covers["pbm"]) / float64(runs); share < low || share > high {
		t.Errorf("intervals cover the truth in %.3f of the repetitions", share)
	}
	if share := float64(covers["pbm, failed checks"]) / float64(runs); long.Enabled() && share > 0.08 {
		t.Errorf("the check of slots fails in %.3f of the repetitions, in which nothing is wrong", share)
	}
}
