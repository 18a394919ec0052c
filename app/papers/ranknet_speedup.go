package papers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/internal/elementary"
)

func speedupExperiment() Experiment {
	return Experiment{
		Name:   "ranknet-speedup",
		Paper:  "LambdaRank",
		Title:  "RankNet's speed-up, forces accumulated per document (V2) against backpropagation pair by pair (V1): LambdaRank, section 6.1 and Figure 1",
		Shows:  "how much faster an epoch is once each document is propagated back once, and how time grows with the documents of a query",
		Data:   "artificial data",
		Scales: "the number of queries",
		Run:    burgesSpeedup.run,
	}
}

// speedup is the experiment with its sizes.
type speedup struct {
	web     artificial // in place of web data
	lists   int        // queries of the second part
	lengths []int      // documents of each, ascending
	pairs   [2]int     // that V1 and V2 are timed on there, about
	times   int        // epochs timed of every form
}

// burgesSpeedup has the paper's sizes. Its text says "the number of documents per
// query varies from 4,000 to 512,000". That is read as the number of documents in
// all, of 1000 queries. With lists of 512,000 the loop over pairs would take all of
// V2's time, and its slope would be 2. The sizes between its powers of 2 steady the slopes.
var burgesSpeedup = speedup{
	web: artificial{
		train: 1000, valid: 500, test: 1, docs: 26, features: 367, shares: burges2006.shares,
		rates: burges2006.rates, epochs: "30",
	},
	lists:   1000,
	lengths: []int{4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512},
	pairs:   [2]int{40_000, 1_000_000},
	times:   7,
}

// speedupNets are the paper's two kinds of nets.
var speedupNets = []layers{oneLayer, twoLayers}

// speedupTimes is what was found, by net.
type speedupTimes struct {
	sizes    speedup
	web      []lap
	curves   []curve
	learning []learning
}

// curve is what a net takes at each length of the lists.
type curve struct {
	laps  []lap
	work  [formCount]float64   // slopes of multiply-adds
	times [formCount][]float64 // slopes of times, one a repetition
}

func (s speedup) run(ctx context.Context, o Options) (*Report, error) {
	s.web, s.lists = s.web.scaled(o), o.scaled(s.lists)
	t := speedupTimes{sizes: s, web: make([]lap, len(speedupNets)), curves: make([]curve, len(speedupNets)), learning: make([]learning, len(speedupNets))}
	web, err := s.web.data(o.Seed)
	if err != nil {
		return nil, err
	}
	for i, net := range speedupNets {
		if t.web[i], err = s.time(ctx, web.Train, net, s.web.train, o.Seed); err != nil {
			return nil, err
		}
		o.observe("web data", i+1, len(speedupNets))
	}
	for i, net := range speedupNets {
		if t.learning[i], err = s.web.learn(ctx, web, net, o.Seed); err != nil {
			return nil, err
		}
		o.observe("learning curves", i+1, len(speedupNets))
	}
	longest, err := synth.Cubic{Queries: s.lists, Docs: s.lengths[len(s.lengths)-1], Features: 50, Shares: synth.EqualShares(6), Polynomial: o.Seed, Seed: o.Seed}.Generate()
	if err != nil {
		return nil, err
	}
	for k, docs := range s.lengths {
		lists := longest.KeepDocs(func(_, doc int) bool { return doc < docs })
		for i, net := range speedupNets {
			l, err := s.time(ctx, lists.Subset(upTo(s.timedQueries(docs, 1))), net, s.timedQueries(docs, 0), o.Seed)
			if err != nil {
				return nil, err
			}
			t.curves[i].laps = append(t.curves[i].laps, l)
		}
		o.observe("documents per query", k+1, len(s.lengths))
	}
	for i := range t.curves {
		t.curves[i].fit(s.lengths)
	}
	return t.report(o), nil
}

// time runs the race on d; V1 is timed on the first queries of d only.
func (s speedup) time(ctx context.Context, d *dataset.Dataset, l layers, first int, seed uint64) (lap, error) {
	r, err := newRace(d, l, first, seed)
	if err != nil {
		return lap{}, err
	}
	return r.run(ctx, s.times)
}

// timedQueries returns the number of queries that V1, and that V2, is timed on. Five sixths
// of all pairs have different grades.
func (s speedup) timedQueries(docs, version int) int {
	pairs := docs * (docs - 1) * 5 / 12
	return max(1, min(s.lists, s.pairs[version]/max(1, pairs)))
}

// fit finds the slopes of log time, and of log work, by log documents.
func (c *curve) fit(lengths []int) {
	slope := func(value func(l *lap) float64) float64 {
		var x, y []float64
		for i := range c.laps {
			x, y = append(x, elementary.Log2(float64(lengths[i]))), append(y, elementary.Log2(value(&c.laps[i])))
		}
		return leastSquaresSlope(x, y)
	}
	for f := range c.work {
		c.work[f] = slope(func(l *lap) float64 { return l.work[f].multiplyAdds })
		for k := range c.laps[0].times[f] {
			c.times[f] = append(c.times[f], slope(func(l *lap) float64 { return l.times[f][k] }))
		}
	}
}

// leastSquaresSlope returns the slope of the line closest to the points.
func leastSquaresSlope(x, y []float64) float64 {
	var mx, my, sxy, sxx float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(x))
	}
	for i := range x {
		sxy += float64((x[i] - mx) * (y[i] - my))
		sxx += float64((x[i] - mx) * (x[i] - mx))
	}
	return sxy / sxx
}

// publishedSpeedup returns the paper's numbers by name.
func publishedSpeedup() map[string]float64 {
	_, rows := publishedTable("ranknet-speedup.csv")
	all := make(map[string]float64)
	for _, row := range rows {
		all[row[0]] = parse(row[1])
	}
	return all
}

// publishedGains are the paper's V1/V2, by net.
func publishedGains() []float64 {
	p := publishedSpeedup()
	return []float64{p["speedup_1_layer"], p["speedup_2_layer_10_hidden"]}
}

// publishedSlopes are those of V1 and V2, NaN for the other forms.
func publishedSlopes() (slopes [formCount]float64) {
	p := publishedSpeedup()
	for f := range slopes {
		slopes[f] = math.NaN()
	}
	slopes[formV1], slopes[formV2] = p["loglog_slope_V1"], p["loglog_slope_V2"]
	return slopes
}

// spread returns the least and the largest.
func spread(x []float64, decimals int) string {
	return fmt.Sprintf("%.*f … %.*f", decimals, slices.Min(x), decimals, slices.Max(x))
}
