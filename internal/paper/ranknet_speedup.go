package paper

import (
	"context"
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
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
	web     webShape
	lists   int   // queries of the second part
	lengths []int // documents of each, ascending
	pairs   int   // that V1 is timed on there, about
	times   int   // epochs timed of either form
}

// burgesSpeedup has the paper's sizes. Its text says "the number of documents per
// query varies from 4,000 to 512,000"; that is read as the number of documents in
// all, of 1000 queries: of lists of 512,000 the loop over pairs would be all of
// V2's time, and its slope 2.
var burgesSpeedup = speedup{
	web:     webShape{queries: 1000, docs: 26, features: 367},
	lists:   1000,
	lengths: []int{4, 8, 16, 32, 64, 128, 256, 512},
	pairs:   200_000,
	times:   7,
}

// speedupNets are the paper's two kinds of nets.
var speedupNets = []layers{oneLayer, twoLayers}

// speedupTimes is what was found.
type speedupTimes struct {
	sizes  speedup
	web    []lap   // by net
	curves []curve // by net
}

// curve is what a net takes at each length of the lists.
type curve struct {
	laps   []lap
	slopes [2]float64 // of V1 and V2
}

func (s speedup) run(ctx context.Context, o Options) (*Report, error) {
	s.web.queries, s.lists = o.scaled(s.web.queries), o.scaled(s.lists)
	t := speedupTimes{sizes: s, web: make([]lap, len(speedupNets)), curves: make([]curve, len(speedupNets))}
	web, err := s.web.generate(o.Seed)
	if err != nil {
		return nil, err
	}
	for i, net := range speedupNets {
		if t.web[i], err = s.time(ctx, web, net, s.web.queries, o.Seed); err != nil {
			return nil, err
		}
		o.observe("web data", i+1, len(speedupNets))
	}
	longest, err := cubicLists(s.lists, s.lengths[len(s.lengths)-1], o.Seed)
	if err != nil {
		return nil, err
	}
	for k, docs := range s.lengths {
		lists := longest.KeepDocs(func(_, doc int) bool { return doc < docs })
		for i, net := range speedupNets {
			l, err := s.time(ctx, lists, net, s.timedQueries(docs), o.Seed)
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

// timedQueries returns the number of queries that V1 is timed on. Five sixths of
// all pairs have different grades.
func (s speedup) timedQueries(docs int) int {
	pairs := docs * (docs - 1) * 5 / 12
	return max(1, min(s.lists, s.pairs/max(1, pairs)))
}

// fit finds the slopes of log time by log documents.
func (c *curve) fit(lengths []int) {
	var n, v1, v2 []float64
	for i, l := range c.laps {
		n, v1, v2 = append(n, elementary.Log2(float64(lengths[i]))), append(v1, elementary.Log2(l.v1)), append(v2, elementary.Log2(l.v2))
	}
	c.slopes = [2]float64{leastSquaresSlope(n, v1), leastSquaresSlope(n, v2)}
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

// publishedSlopes are those of V1 and V2.
func publishedSlopes() [2]float64 {
	p := publishedSpeedup()
	return [2]float64{p["loglog_slope_V1"], p["loglog_slope_V2"]}
}

// spread returns the least and the largest.
func spread(x []float64) string {
	return fmt.Sprintf("%.1f … %.1f", slices.Min(x), slices.Max(x))
}
