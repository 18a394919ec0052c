package app

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/policy"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/click/simulate"
	"github.com/listwise/listwise/click/weigh"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
)

// Claim: the clicks of a model can be estimated before it is deployed, although it was trained from the same users'
// clicks. The interval of 95 % has the truth in about 95 % of repetitions. Each
// repetition logs two weeks of an A/B test, harvests propensities and trains in the first, and estimates in the second.
// The truth is the expectation by the click model.
func TestEstimateOfTheLoop(t *testing.T) {
	const users, pages = 500, 8000
	repetitions, low, high := 10, 0.5, 1.0
	if long.Enabled() {
		repetitions, low, high = 400, 0.91, 0.99 // 93 to 97 %, and two standard errors of 400 repetitions
	}
	d, err := datafile.Open("../docs/guide/data/train.csv", dataset.Options{Missing: dataset.MissingZero})
	if err != nil {
		t.Fatal(err)
	}
	values, differences := make([]bool, repetitions), make([]bool, repetitions)
	better := make([]bool, repetitions)
	parallel.For(repetitions, 0, func(_, i int) {
		s := shopOf(t, d, users, uint64(i)+1)
		week := func(number int, use func(p *click.Page) error) {
			drawer := s.Drawer()
			for n := range pages {
				if err := use(drawer.Draw(number*pages + n)); err != nil {
					t.Error(err)
					return
				}
			}
		}
		var harvest propensity.Log
		var log weigh.Log
		week(0, func(p *click.Page) error { return cmp.Or(harvest.Add(p), log.Add(p)) })
		theta, err := harvest.Estimate(t.Context(), propensity.Options{Method: propensity.Harvest, AcrossTime: true, Resamples: 100, Seed: 1, Workers: 1})
		if err != nil {
			t.Error(err)
			return
		}
		o := weigh.Defaults(weigh.Examinations)
		o.Propensities, o.Workers = theta, 1
		table, err := log.Table(t.Context(), d, o)
		if err != nil {
			t.Error(err)
			return
		}
		trained := rankingsOf(d, scoresByMART(t, table.Data, d))
		e, err := policy.New(policy.Config{
			Slots: policy.SlotsOf(theta), MaxUnsupported: policy.DefaultUnsupported,
			Policies: []policy.Policy{policyOf("trained", trained), policyOf("new", rankingsOf(d, columnOf(d, 2)))},
		})
		if err != nil {
			t.Error(err)
			return
		}
		week(1, e.Count)
		if err := e.Prepare(); err != nil {
			t.Error(err)
			return
		}
		week(1, e.Add)
		r, err := e.Result()
		if err != nil {
			t.Error(err)
			return
		}
		within := func(low, high, truth float64) bool { return low <= truth && truth <= high }
		truth, old := expectedClicks(d, trained), expectedClicks(d, rankingsOf(d, columnOf(d, 2)))
		p := r.Policies[0]
		values[i] = within(p.Interval.Low, p.Interval.High, truth)
		diff := r.Difference(0, 1)
		differences[i] = within(diff.Interval.Low, diff.Interval.High, truth-old)
		better[i] = truth > old
	})
	count := func(of []bool) int {
		n := 0
		for _, b := range of {
			if b {
				n++
			}
		}
		return n
	}
	t.Logf("of %d repetitions, %d intervals contain the value, %d the difference, and %d models are better", repetitions, count(values), count(differences), count(better))
	for name, of := range map[string][]bool{"value": values, "difference": differences} {
		if share := float64(count(of)) / float64(repetitions); share < low || share > high {
			t.Errorf("%v of the intervals contain the %s, expected %v to %v", share, name, low, high)
		}
	}
	if count(better) < repetitions {
		t.Errorf("%d of %d models get more clicks than the one before, expected all", count(better), repetitions)
	}
}

// shopOf returns a simulation of users of the shop, who see the rankings by text match or by click rate.
func shopOf(t *testing.T, d *dataset.Dataset, users int, seed uint64) *simulate.Simulation {
	t.Helper()
	clicks, err := simulate.ParseModel("pbm:eta=1,noise=0.05")
	if err != nil {
		t.Fatal(err)
	}
	s := &simulate.Simulation{
		Rankers: []simulate.Ranker{{Name: "old", Share: 1}, {Name: "new", Share: 1}}, Order: simulate.Order{Kind: simulate.Arms},
		Clicks: clicks, Top: 10, Users: users, Seed: seed,
	}
	scores := [][]float64{columnOf(d, 0), columnOf(d, 2)}
	for i := range d.Queries {
		q := &d.Queries[i]
		docs := simulate.Query{ID: q.ID, Grades: q.Grades}
		for k := range q.Len() {
			docs.Docs = append(docs.Docs, q.DocID(k))
		}
		for _, of := range scores {
			docs.Scores = append(docs.Scores, of[q.Start:q.Start+q.Len()])
		}
		s.Queries = append(s.Queries, docs)
	}
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	return s
}

func columnOf(d *dataset.Dataset, feature int) []float64 {
	var scores []float64
	for i := range d.Queries {
		for k := range d.Queries[i].Len() {
			scores = append(scores, float64(d.Queries[i].Row(k)[feature]))
		}
	}
	return scores
}

// rankingsOf returns the documents of each query, as numbers, by descending score.
func rankingsOf(d *dataset.Dataset, scores []float64) map[string][]string {
	rankings := map[string][]string{}
	for i := range d.Queries {
		q := &d.Queries[i]
		order := make([]int, q.Len())
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[q.Start+b], scores[q.Start+a]) })
		for _, k := range order {
			rankings[q.ID] = append(rankings[q.ID], q.DocID(k))
		}
	}
	return rankings
}

func policyOf(name string, rankings map[string][]string) policy.Policy {
	return policy.Policy{Name: name, Rankings: func(p *click.Page) []click.Order {
		return []click.Order{{Docs: rankings[p.Query], Probability: 1}}
	}}
}

// expectedClicks returns the expected clicks per page of rankings: rank k is examined with probability 1/k.
func expectedClicks(d *dataset.Dataset, rankings map[string][]string) float64 {
	highest := 0.0
	for i := range d.Queries {
		highest = max(highest, slices.Max(d.Queries[i].Grades))
	}
	sum := 0.0
	for i := range d.Queries {
		q := &d.Queries[i]
		grades := map[string]float64{}
		for k := range q.Len() {
			grades[q.DocID(k)] = q.Grades[k]
		}
		for rank, doc := range rankings[q.ID][:min(10, q.Len())] {
			sum += (0.05 + 0.95*(math.Exp2(grades[doc])-1)/(math.Exp2(highest)-1)) / float64(rank+1)
		}
	}
	return sum / float64(len(d.Queries))
}

func scoresByMART(t *testing.T, table, d *dataset.Dataset) []float64 {
	mart, err := method.Lookup("mart")
	if err != nil {
		t.Error(err)
		return nil
	}
	values, err := mart.Values(map[string]string{"trees": "50"})
	if err != nil {
		t.Error(err)
		return nil
	}
	m, err := mart.Train(context.Background(), &method.Problem{Problem: train.Problem{Data: table, Workers: 1, Seed: 1}, Values: values})
	if err != nil {
		t.Error(err)
		return nil
	}
	scores, err := m.Score(d)
	if err != nil {
		t.Error(err)
	}
	return scores
}
