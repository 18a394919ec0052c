package paper

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/method"
	"github.com/listwise/listwise/tune"
)

// lambdaRank names the source of the experiments in files lambda*.go.
const lambdaRank = "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006"

func artificialExperiment() Experiment {
	return Experiment{
		Name:   "lambdarank-artificial",
		Title:  "LambdaRank, Figure 2 left: RankNet and LambdaRank on random cubic polynomials",
		Shows:  "what forces scaled by the change of NDCG gain over RankNet's where neither features nor labels are noisy",
		Data:   "made, 25,000 queries",
		Scales: "the numbers of queries",
		Run:    burges2006.run,
	}
}

// artificial is the experiment of section 6.3.1.
type artificial struct {
	train, valid, test int // queries
	docs, features     int
	shares             []float64 // of the grades
	rates              []string
	epochs             string
}

// burges2006 is the paper's experiment. It does not give the shares of grades, which are
// those of "real datasets"; these are MSLR-WEB10K's, fold 1.
var burges2006 = artificial{
	train: 10_000, valid: 5_000, test: 10_000,
	docs: 50, features: 50,
	shares: []float64{0.5225, 0.3215, 0.1314, 0.0175, 0.0071},
	rates:  []string{"1e-7", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2"},
	epochs: "300",
}

// artificialTop is the lowest truncation level of the figure.
const artificialTop = 10

// artificialNets are the scorers, "two layer" with ten hidden units.
var artificialNets = []struct{ name, scorer string }{{"linear", "linear"}, {"two-layer", "net"}}

// artificialMethods are the rows of one net.
var artificialMethods = []struct{ name, method string }{{"RankNet", "ranknet"}, {"LambdaRank", "lambdarank"}}

// standard is the convention of the paper's equation 1: the gain 2^l − 1 and the
// discount 1/log(1 + r).
var standard = func() measure.Convention {
	c, err := measure.ParseConvention("standard")
	if err != nil {
		panic(err) // the name is one of the program's own
	}
	return c
}()

func (a artificial) run(ctx context.Context, o Options) (*Report, error) {
	a.train, a.valid, a.test = o.scaled(a.train), o.scaled(a.valid), o.scaled(a.test)
	fold, err := a.data(o.Seed)
	if err != nil {
		return nil, err
	}
	rows := make([][]tune.Row, len(artificialNets))
	for i, net := range artificialNets {
		if rows[i], err = a.learn(ctx, o, fold, net.name, net.scorer); err != nil {
			return nil, fmt.Errorf("%s net: %w", net.name, err)
		}
	}
	return a.report(o, rows), nil
}

// data returns queries of one polynomial, those for training, validation and test
// from different seeds.
func (a artificial) data(seed uint64) (tune.Fold, error) {
	c := synth.Cubic{Docs: a.docs, Features: a.features, Shares: a.shares, Polynomial: seed}
	f := tune.Fold{Name: "artificial"}
	for part, p := range []struct {
		set     **dataset.Dataset
		queries int
	}{{&f.Train, a.train}, {&f.Valid, a.valid}, {&f.Test, a.test}} {
		c.Queries, c.Seed = p.queries, 3*seed+uint64(part)
		var err error
		if *p.set, err = c.Generate(); err != nil {
			return f, err
		}
	}
	return f, nil
}

// learn trains both methods with one kind of net. For each the rate, and for each
// rate the epoch, is the one with the best validation NDCG@10.
func (a artificial) learn(ctx context.Context, o Options, fold tune.Fold, stage, scorer string) ([]tune.Row, error) {
	c := tune.Config{Folds: []tune.Fold{fold}, Convention: standard, Scorer: scorer, Seed: o.Seed, Jobs: o.Jobs}
	if o.Observe != nil {
		c.Observe = func(done, total int) { o.Observe(stage, done, total) }
	}
	if o.Records != "" {
		c.Dir = filepath.Join(o.Records, stage)
	}
	var err error
	if c.Measures, err = measure.ParseList(strings.Join(ndcgNames(), ","), standard, measure.Options{}); err != nil {
		return nil, err
	}
	c.Select = c.Measures[artificialTop-1]
	for _, m := range artificialMethods {
		e, err := a.entry(m.name, m.method)
		if err != nil {
			return nil, err
		}
		if e.Method.UsesMeasure {
			e.Measure = c.Select
		}
		c.Entries = append(c.Entries, e)
	}
	result, err := tune.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	return result.Rows, nil
}

// entry is a method under the schedule of sections 5 and 6.3: a step a query, the
// rate times 0.8 after an epoch whose training cost rose, new random weights after
// 50 epochs without a lower cost. The paper has no penalty.
func (a artificial) entry(name, methodName string) (tune.Entry, error) {
	m, err := method.Lookup(methodName)
	if err != nil {
		return tune.Entry{}, err
	}
	e, err := tune.NewEntry(m, map[string][]string{
		"optimizer": {"descent"},
		"rule":      {"plain"},
		"rate":      a.rates,
		"decay":     {"0.8"},
		"patience":  {"50"},
		"epochs":    {a.epochs},
		"C":         {"1e100"},
		"hidden":    {"10"},
	})
	e.Name = name
	return e, err
}

// ndcgNames are the measures of the figure.
func ndcgNames() []string {
	names := make([]string, artificialTop)
	for k := range names {
		names[k] = fmt.Sprintf("ndcg@%d", k+1)
	}
	return names
}
