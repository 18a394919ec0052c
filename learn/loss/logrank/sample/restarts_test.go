package sample

import (
	"math"
	"reflect"
	"testing"

	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
)

// A restart's coefficients are −A_g and B_b of its order.
func TestRestartCoefficients(t *testing.T) {
	p := query(5, 20)
	s, err := Draw(p, ap{}, variants["levels"], stream(2))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Restarts) < 5 {
		t.Fatalf("only %d restarts in use", len(s.Restarts))
	}
	want := make([]float64, p.Docs())
	for w, r := range s.Start {
		if r == 0 {
			continue
		}
		startOf(t, p, s, w).FeatureLoss(want, -0.5)
		if !reflect.DeepEqual(s.Restarts[r], want) {
			t.Errorf("restart %d: %v, expected %v", r, s.Restarts[r], want)
		}
	}
}

// Restarts are chosen with the probabilities of the options.
func TestRestartProbabilities(t *testing.T) {
	p := query(4, 40)
	share := func(opts Options, chosen func(top int) bool) float64 {
		opts.Samples, opts.Steps = 20000, 0
		s, err := Draw(p, ap{}, opts, stream(5))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range s.Start {
			top := 0
			for _, b := range p.Bad {
				if s.Restarts[r] != nil && s.Restarts[r][b] != 0 {
					top++
				}
			}
			n += btoi(chosen(top))
		}
		return float64(n) / float64(s.Walks)
	}
	check := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/20000) {
			t.Errorf("%s: %v of the walks, expected %v", what, got, want)
		}
	}
	mix := options(func(o *Options) { o.Mix = 0.7 })
	check("mix", share(mix, func(top int) bool { return top == 0 }), 0.7)
	check("mix, worst", share(mix, func(top int) bool { return top == 40 }), 0.3)

	var weight, total float64
	o := ranking.NewOrder(p)
	for l := range 11 {
		o.Restart(p.Bad, l*4)
		e := math.Exp(-2 * (1 - o.Gain(ap{})))
		total += e
		if l == 3 {
			weight = e
		}
	}
	levels := options(func(o *Options) { o.Levels, o.Skew = 11, -2 })
	check("level 3", share(levels, func(top int) bool { return top == 12 }), weight/total)
}

// Figure 7: how far Δ_AP spreads over walks of 60 steps, for a query with one
// good document, with several and with many, from the best ranking, from the
// middle and from the worst. The figures are those of the derivation.
func TestSpreadOfLossAroundRestarts(t *testing.T) {
	for _, c := range []struct {
		good, bad            int
		level                int // of 3: Δ = 0, the middle, the worst
		mean, slack, sd, sd2 float64
	}{
		{1, 1000, 0, 0.80, 0.06, 0.18, 0.05},
		{10, 990, 0, 0.034, 0.012, 0.016, 0.008},
		{45, 107, 0, 0.003, 0.002, 0, 0.002},
		{1, 1000, 1, 0.998, 0.002, 0, 0.002},
		{45, 107, 1, 0.60, 0.15, 0, 0.002},
		{1, 1000, 2, 0.999, 0.001, 0, 0.002},
		{10, 990, 2, 0.99, 0.01, 0, 0.002},
	} {
		p := query(c.good, c.bad)
		opts := options(func(o *Options) { o.Samples, o.Steps, o.Levels, o.Skew = 200*61, 60, 3, 0 })
		s, err := Draw(p, ap{}, opts, stream(6))
		if err != nil {
			t.Fatal(err)
		}
		var n, sum, squares float64
		for w, r := range s.Start {
			if levelOf(s.Restarts[r], p) != c.level {
				continue
			}
			for row := 1; row < s.Rows(); row++ {
				d := 1 - s.Gain[row*s.Walks+w]
				n, sum, squares = n+1, sum+d, squares+d*d
			}
		}
		mean := sum / n
		sd := math.Sqrt(max(squares/n-mean*mean, 0))
		if math.Abs(mean-c.mean) > c.slack || math.Abs(sd-c.sd) > c.sd2 {
			t.Errorf("%d goods, %d bads, level %d: Δ_AP %.4f (sd %.4f), expected %.3f (sd %.3f)", c.good, c.bad, c.level, mean, sd, c.mean, c.sd)
		}
	}
}

func levelOf(coefficients []float64, p bipartite.Classes) int {
	if coefficients == nil {
		return 0
	}
	for _, b := range p.Bad {
		if coefficients[b] == 0 {
			return 1
		}
	}
	return 2
}
