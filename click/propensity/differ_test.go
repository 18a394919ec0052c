package propensity_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/click/simulate"
	"github.com/listwise/listwise/internal/testing/long"
)

// drawnLog returns a log of simulated pages.
func drawnLog(t *testing.T, model, order string, pages, users int, seed uint64) *propensity.Log {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	queries, docs := 20, 9
	s := &simulate.Simulation{Rankers: []simulate.Ranker{{Name: "old", Share: 1}}, Top: 6, Users: users, Seed: seed}
	if long.Enabled() {
		queries, docs, s.Top = 60, 12, 10
	}
	for q := range queries {
		of := simulate.Query{ID: fmt.Sprint("query ", q), Scores: make([][]float64, 1)}
		for d := range docs {
			grade := float64(rng.IntN(3))
			of.Docs, of.Grades = append(of.Docs, fmt.Sprint("d", d)), append(of.Grades, grade)
			of.Scores[0] = append(of.Scores[0], grade+rng.NormFloat64())
		}
		s.Queries = append(s.Queries, of)
	}
	var err error
	if s.Clicks, err = simulate.ParseModel(model); err != nil {
		t.Fatal(err)
	}
	if s.Order, err = simulate.ParseOrder(order); err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	l, d := new(propensity.Log), s.Drawer()
	for n := range pages {
		if err := l.Add(d.Draw(n)); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// compared returns the estimates by harvest and by EM, and where they differ.
func compared(t *testing.T, l *propensity.Log, resamples int, squares bool) (a, b *propensity.Estimate, d *propensity.Difference) {
	t.Helper()
	ctx := context.Background()
	o := propensity.Options{Method: propensity.Harvest, Resamples: resamples, Seed: 1, Squares: squares}
	x, err := l.Tell(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Method, o.Squares = propensity.EM, false
	y, err := l.Tell(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if x.Estimate == nil || y.Estimate == nil {
		t.Fatalf("found %+v and %+v, expected estimates", x.Lacks, y.Lacks)
	}
	if d, err = l.Differs(ctx, x.Estimate, y.Estimate); err != nil {
		t.Fatal(err)
	}
	return x.Estimate, y.Estimate, d
}

// apart returns the largest difference of logarithms in standard errors, as if the estimates were independent and EM had
// no bias.
func apart(a, b *propensity.Estimate) (z float64) {
	for i, s := range a.Slots {
		if t := b.Slots[i]; s.SE != nil && t.SE != nil && i > 0 {
			z = max(z, math.Abs(math.Log(s.Theta/t.Theta))/math.Hypot(*s.SE/s.Theta, *t.SE/t.Theta))
		}
	}
	return z
}

// Claim: harvest and EM agree on logs of a position-based model, whatever the bias of EM. They differ if clicks depend on
// trust, and if EM has the propensities of another log.
func TestDiffers(t *testing.T) {
	logs, resamples, squares := 4, 20, true
	if long.Enabled() {
		logs, resamples = 200, 30
	}
	alarms, before := 0, 0
	for i := range logs {
		order, pages := []string{"noise:0.3", "noise:1", "noise:0.1", "shuffle:6"}[i%4], []int{1500, 6000}[i/4%2]
		a, b, d := compared(t, drawnLog(t, []string{"pbm:eta=1", "pbm:eta=0.5"}[i/8%2], order, pages, []int{0, 300}[i/16%2], uint64(i+1)), resamples, squares)
		if apart(a, b) > 4 {
			before++
		}
		if d != nil {
			alarms++
			t.Logf("log %d, %s, %d pages: %+v", i, order, pages, d)
		}
	}
	t.Logf("%d of %d logs have a difference; %d with independent errors and without bias", alarms, logs, before)
	if alarms > logs/20 {
		t.Errorf("%d of %d logs have a difference, expected at most 5 %%", alarms, logs)
	}
	if _, _, d := compared(t, drawnLog(t, "trust:eta=0.3", "noise:0.3", 10000, 0, 1), resamples, squares); d == nil {
		t.Error("no difference with trust")
	}
	l := drawnLog(t, "pbm:eta=1", "noise:0.3", 6000, 0, 1)
	a, b, _ := compared(t, l, resamples, squares)
	b.Slots[4].Theta *= 1.5
	d, err := l.Differs(context.Background(), a, b)
	if err != nil || d == nil || d.Slot != "5" || d.Z < 4 {
		t.Errorf("found %+v, %v, expected slot 5", d, err)
	}
}
