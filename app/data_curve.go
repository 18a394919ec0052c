package app

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune"
)

type dataCurveFlags struct {
	learning
	method  string
	set     []string
	train   []string
	valid   string
	test    string
	shares  string
	repeats int
	judged  string // --judge-by

	seeds []uint64 // random seeds of the samples
}

func newDataCurveCommand(env *environment) *cobra.Command {
	var f dataCurveFlags
	cmd := &cobra.Command{
		Use:   "curve --method M --train FILE [--test FILE]",
		Short: "Learning curve over the size of the training set",
		Long: `Trains a method on samples of the training queries, and evaluates every model on the
same test queries. A sample is chosen by query ids, as by train --sample, and is a
subset of the next larger one. --repeats averages over several samples of each size.
Without --test, every fifth query is held out for testing.

The gain is the difference from the next smaller share, query by query, with its
interval and p value (randomization test, Holm correction for the number of steps). If
the last gains are small, more training queries will help little.`,
		Example: `  listwise data curve --method lambdamart --train Fold1/train.txt --test Fold1/test.txt --shares 0.5,1
  listwise data curve --method ranknet --train train.txt --test Fold1/test.txt --shares 0.5,1 --repeats 5 --judge-by map`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "method", "train"); err != nil {
				return err
			}
			r, err := f.run(cmd.Context(), env)
			if err != nil {
				return err
			}
			return env.print(r)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", "", "`method` to train (see \"listwise methods\")")
	addList(fl, &f.set, "set", "name=value", "value of a hyperparameter; repeatable (see \"listwise methods M\")")
	fl.StringArrayVar(&f.train, "train", nil, "training data `file`; repeatable")
	fl.StringVar(&f.valid, "valid", "", "validation data `file` for early stopping")
	fl.StringVar(&f.test, "test", "", "test data `file` (default: every fifth query of --train)")
	fl.StringVar(&f.shares, "shares", "0.05,0.1,0.2,0.5,1", "`sizes` of the samples, as shares of the training queries")
	addWhole(fl, &f.repeats, "repeats", 3, 1, "`number` of samples of each size below 1")
	fl.StringVar(&f.judged, "judge-by", "ndcg@10", "`measure` on the test data")
	f.addTo(cmd)
	return cmd
}

// curvePoint is the JSON form of a sample size. Scripts rely on its names.
type curvePoint struct {
	Share     float64     `json:"share"`
	Repeats   int         `json:"repeats"`
	Queries   float64     `json:"queries"`   // mean over the repeats
	Documents float64     `json:"documents"` // mean over the repeats
	Mean      float64     `json:"mean"`
	Spread    *float64    `json:"spread"` // standard deviation over the repeats; null for one repeat
	Gain      *float64    `json:"gain"`   // difference to the previous size; null for the first
	Interval  *[2]float64 `json:"interval"`
	P         *float64    `json:"p"` // p-value with Holm's correction over the steps

	values []float64 // value of each test query, averaged over the repeats
}

func (f *dataCurveFlags) run(ctx context.Context, env *environment) (report, error) {
	shares, err := f.parseShares()
	if err != nil {
		return report{}, err
	}
	by, err := f.recipe().OneMeasure("judge-by", f.judged)
	if err != nil {
		return report{}, err
	}
	m, p, test, err := f.problem(ctx, env)
	if err != nil {
		return report{}, err
	}
	by = measure.Under(by, measure.ConventionOf(p.Select))
	bar := env.startProgress("training, samples", 0)
	defer bar.finish()
	total := 0
	for _, share := range shares {
		total += f.repeatsOf(share)
	}
	f.seeds = seedsOf(env, p.Data, f.repeats)
	points, done := make([]curvePoint, len(shares)), 0
	var weights []float64
	for i, share := range shares {
		var err error
		if points[i], weights, err = f.point(ctx, m, p, test, by, share, func() { done++; bar.set(done, total) }); err != nil {
			return report{}, fmt.Errorf("share %v: %w", share, err)
		}
	}
	if err := gains(points, weights, f.seed); err != nil {
		return report{}, err
	}
	return curveReport(points, by, len(test.Queries), f.repeats), nil
}

func (f *dataCurveFlags) parseShares() ([]float64, error) {
	var shares []float64
	for word := range strings.SplitSeq(f.shares, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(v > 0 && v <= 1) || len(shares) > 0 && v <= shares[len(shares)-1] {
			return nil, usageErrorf("--shares %s: found %q, expected ascending shares above 0, up to 1", f.shares, word)
		}
		shares = append(shares, v)
	}
	return shares, nil
}

// seedsOf returns random seeds for the samples, counted from 0. It skips a seed by which the data
// were already sampled.
func seedsOf(env *environment, d *dataset.Dataset, repeats int) (seeds []uint64) {
	for seed := uint64(0); len(seeds) < repeats; seed++ {
		if d.Sampled(seed) {
			env.note("note: the training queries are already a sample drawn with seed %d; other seeds are used", seed)
			continue
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

// repeatsOf returns the number of samples of a size. The full size has one sample.
func (f *dataCurveFlags) repeatsOf(share float64) int {
	if share == 1 {
		return 1
	}
	return f.repeats
}

// problem reads the data. The problem contains all training queries.
func (f *dataCurveFlags) problem(ctx context.Context, env *environment) (*method.Method, *method.Problem, *dataset.Dataset, error) {
	set, err := settings("set", f.set)
	if err != nil {
		return nil, nil, nil, err
	}
	m, p, err := f.recipe().Problem(f.method, set)
	if err != nil {
		return nil, nil, nil, err
	}
	opts, err := f.options()
	if err != nil {
		return nil, nil, nil, err
	}
	p.Missing, p.MaxBytes, opts.Stream = opts.Missing, opts.MaxBytes, m.Streams(p.Values)
	trainOpts := opts
	const copies = 3 // of data in memory: all data, the two parts for training and testing, and a sample
	trainOpts.MaxBytes = max(1, opts.MaxBytes/copies)
	data, err := env.openParts(ctx, "train", f.train, trainOpts)
	if err != nil {
		return nil, nil, nil, hintAtDisk(err, opts)
	}
	if !data.Streamed() {
		p.MaxBytes -= (copies - 1) * featureBytes(data)
	}
	opts.FeatureNames, opts.MaxBytes = data.FeatureNames, leftBeside(data, p.MaxBytes)
	var valid, test *dataset.Dataset
	if f.valid != "" {
		if valid, err = env.openAndWarn(ctx, "valid", f.valid, opts); err != nil {
			return nil, nil, nil, err
		}
	}
	if f.test != "" {
		if test, err = env.openAndWarn(ctx, "test", f.test, opts); err == nil {
			warnOfCommon(env, f.test, test, strings.Join(f.train, ", "), data)
		}
	} else if data, test, err = tune.HoldOut(data, 1, 5, f.seed); err != nil {
		err = usageErrorf("--train: %w; expected --test", err)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	env.noteOfRelevance(p.Settle(data, valid))
	return m, p, test, nil
}

func (f *dataCurveFlags) point(ctx context.Context, m *method.Method, p *method.Problem, test *dataset.Dataset, by measure.Measure, share float64, done func()) (curvePoint, []float64, error) {
	repeats := f.repeatsOf(share)
	c := curvePoint{Share: share, Repeats: repeats}
	var means, weights []float64
	for r := range repeats {
		part, keep := *p, dataset.SampleQueries(share, f.seeds[r])
		if share < 1 {
			part.Data = p.Data.Filter(func(q *dataset.Query) bool { return keep(q.ID) })
		}
		if err := dataset.CheckKept(len(part.Data.Queries), len(p.Data.Queries), part.Data.QueryWeights()); err != nil {
			return c, nil, err
		}
		trained, err := m.Train(ctx, &part)
		if err != nil {
			return c, nil, err
		}
		scores, err := trained.Score(test)
		if err != nil {
			return c, nil, err
		}
		result, err := measure.Evaluate(test, scores, []measure.Measure{by}, measure.TiesInput)
		if err != nil {
			return c, nil, err
		}
		values := result.PerQuery(by)
		if c.values == nil {
			c.values, weights = make([]float64, len(values)), result.Weights()
		}
		for i, v := range values {
			c.values[i] += v / float64(repeats)
		}
		means = append(means, result.Mean(by))
		c.Queries += float64(len(part.Data.Queries)) / float64(repeats)
		c.Documents += float64(part.Data.Docs()) / float64(repeats)
		done()
	}
	c.Mean = measure.WeightedMean(c.values, weights)
	if repeats > 1 {
		spread := deviationOf(means)
		c.Spread = &spread
	}
	return c, weights, nil
}

// deviationOf returns the standard deviation of a sample, or NaN for one value.
func deviationOf(x []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		squares += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(squares / float64(len(x)-1))
}

// gains compares every point with the previous one. It uses the queries for which the measure is
// defined at both points.
func gains(points []curvePoint, weights []float64, seed uint64) error {
	var ps []float64
	for i := 1; i < len(points); i++ {
		var pair [2][]float64
		var kept []float64
		for q, v := range points[i].values {
			before := points[i-1].values[q]
			if v != v || before != before || weights != nil && weights[q] == 0 {
				continue
			}
			pair[0], pair[1] = append(pair[0], before), append(pair[1], v)
			if weights != nil {
				kept = append(kept, weights[q])
			}
		}
		r, err := stats.Compare(pair[:], stats.Config{Seed: seed, Weights: kept})
		if err != nil {
			return fmt.Errorf("the test queries: %w", err)
		}
		d := r.Pairs[0]
		gain, low, high := d.Difference, d.Interval.Low, d.Interval.High
		if d.A == 0 {
			gain, low, high = -gain, -high, -low
		}
		if points[i].Gain = &gain; d.Interval != stats.Unbounded {
			points[i].Interval = &[2]float64{low, high}
		}
		ps = append(ps, d.Randomization.P)
	}
	for i, p := range stats.Holm(ps) {
		points[i+1].P = &p
	}
	return nil
}

func curveReport(points []curvePoint, by measure.Measure, queries, repeats int) report {
	r := report{
		columns: []string{"share", "queries", "documents", by.Name(), "sd", "gain", "from", "to", "p"}, keys: 1,
		notes: []string{"", fmt.Sprintf("%s of %d test queries; convention %s.", by.Name(), queries, measure.ConventionOf(by).Name())},
		json:  points,
	}
	if points[0].Repeats > 1 {
		r.notes[1] += fmt.Sprintf(" Below share 1, values are means of %d samples, and sd is their standard deviation.", repeats)
	}
	for _, c := range points {
		row := []any{strconv.FormatFloat(c.Share, 'g', -1, 64), int(math.Round(c.Queries)), int(math.Round(c.Documents)), c.Mean, nil, nil, nil, nil, nil}
		if c.Spread != nil {
			row[4] = *c.Spread
		}
		if c.Gain != nil {
			row[5], row[8] = *c.Gain, pValue(*c.P)
		}
		if c.Interval != nil {
			row[6], row[7] = c.Interval[0], c.Interval[1]
		}
		r.rows = append(r.rows, row)
	}
	if last := points[len(points)-1]; last.Gain != nil {
		r.notes = append(r.notes, verdictOfCurve(points[len(points)-2:], by))
	}
	return r
}

func verdictOfCurve(last []curvePoint, by measure.Measure) string {
	a, b := last[0], last[1]
	from := fmt.Sprintf("From %.0f to %.0f training queries", a.Queries, b.Queries)
	switch {
	case *b.P > stats.Alpha:
		return fmt.Sprintf("%s, %s changes by %+.4f, which is not significant (p = %.2g).", from, by.Name(), *b.Gain, *b.P)
	case *b.Gain < 0:
		return fmt.Sprintf("%s, %s falls by %.4f (p = %.2g).", from, by.Name(), -*b.Gain, *b.P)
	}
	return fmt.Sprintf("%s, %s still rises by %.4f (p = %.2g): more queries are likely to help.", from, by.Name(), *b.Gain, *b.P)
}
