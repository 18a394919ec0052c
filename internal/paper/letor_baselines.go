package paper

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/tune"
)

func letorBaselinesExperiment() Experiment {
	return Experiment{
		Name:  "letor-baselines",
		Title: "LETOR's baselines: ours beside the published rows",
		Shows: "whether each baseline here is as good as the one that Microsoft Research Asia published",
		Data:  "--data, any of " + strings.Join(baselineSets.names(), ", "),
		Reads: true,
		Run: func(ctx context.Context, o Options) (*Report, error) {
			return baselineTable{rows: baselineRows}.run(ctx, o)
		},
	}
}

// baselineSets are those whose baselines' results were published with LETOR 3.0 and
// 4.0.
var baselineSets = append(slices.Clone(letorSets), letorSet{name: "MQ2008", queries: 784, documents: 15211, features: 46})

// baselineRows have the published names where there is a published row. Every
// method tries its own grid. AdaRank-NDCG is trained for NDCG@10; what the
// published one was trained for is not known.
var baselineRows = []logRankRow{
	{"Regression", "regression", "", nil},
	{"RankSVM", "ranksvm", "", nil},
	{"RankBoost", "rankboost", "", nil},
	{"FRank", "frank", "", nil},
	{"ListNet", "listnet", "", nil},
	{"AdaRank-MAP", "adarank", "map", nil},
	{"AdaRank-NDCG", "adarank", "ndcg@10", nil},
	{"SVMMAP", "svmmap", "map", nil},
	{"coordinate ascent", "coordascent", "map", nil},
	{"best feature", "singlefeature", "map", nil},
	{"random order", "random", "", nil},
}

// baselineSelection is the measure on validation data that C, rounds and all else
// are chosen by.
const baselineSelection = "map"

// baselineTable is the experiment with its rows.
type baselineTable struct{ rows []logRankRow }

// baselineColumn is what came out on one set.
type baselineColumn struct {
	set     string
	folds   int
	queries int
	results []tune.Row // in the order of the rows
	views   []baselineView
}

// baselineView is a set's results in one convention.
type baselineView struct {
	convention measure.Convention
	measures   []string
	values     []map[string]baselineValue    // by row, then measure
	published  map[string]map[string]float64 // by the row's name, then measure
}

// baselineValue is one measure of one row.
type baselineValue struct {
	mean, neutral, pooled float64
	deviation             float64 // standard error of the mean over all queries
	queries               []float64
}

func (b baselineTable) run(ctx context.Context, o Options) (*Report, error) {
	found, missing, err := baselineSets.find(o)
	if err != nil {
		return nil, err
	}
	var columns []baselineColumn
	for i := range found {
		folds, err := found[i].read()
		if err != nil {
			return nil, err
		}
		c := baselineColumn{set: found[i].name, folds: len(folds), queries: queries(folds)}
		if c.results, err = b.train(ctx, o, c.set, folds); err != nil {
			return nil, fmt.Errorf("%s: %w", c.set, err)
		}
		for _, v := range baselineViews(c.set) {
			if err := v.evaluate(folds, c.results); err != nil {
				return nil, fmt.Errorf("%s: %w", c.set, err)
			}
			c.views = append(c.views, v)
		}
		columns = append(columns, c)
	}
	return b.report(o, columns, missing), nil
}

// train tunes all rows on the folds.
func (b baselineTable) train(ctx context.Context, o Options, set string, folds []tune.Fold) ([]tune.Row, error) {
	c, err := tuneConfig(o, set, folds, baselineSelection)
	if err != nil {
		return nil, err
	}
	if o.Records != "" {
		c.Dir = filepath.Join(o.Records, set)
	}
	for i := range b.rows {
		e, err := b.rows[i].entry(b.rows[i].name, nil)
		if err != nil {
			return nil, err
		}
		c.Entries = append(c.Entries, e)
	}
	result, err := tune.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	return result.Rows, nil
}

// baselineViews returns a set's conventions with the published numbers: letor3, and
// on a set of LETOR 4.0 that one's own too.
func baselineViews(set string) []baselineView {
	measures := append(slices.Clone(listMeasures[:10]), "map")
	if set != "MQ2008" {
		return []baselineView{{convention: letor3, measures: measures, published: publishedLETOR3(set)}}
	}
	published := publishedMQ2008()
	onlyMAP := make(map[string]map[string]float64)
	for name, row := range published {
		onlyMAP[name] = map[string]float64{"map": row["map"]}
	}
	letor4, err := measure.ParseConvention("letor4")
	if err != nil {
		panic(err) // it is known
	}
	return []baselineView{
		{convention: letor3, measures: measures, published: onlyMAP},
		{convention: letor4, measures: slices.Insert(slices.Clone(measures), 10, "mean-ndcg"), published: published},
	}
}

// evaluate measures the chosen models of all rows.
func (v *baselineView) evaluate(folds []tune.Fold, rows []tune.Row) error {
	list, err := measure.ParseList(strings.Join(v.measures, ","), v.convention, measure.Options{})
	if err != nil {
		return err
	}
	var judged []*dataset.Dataset
	for i := range folds {
		judged = append(judged, folds[i].Test)
	}
	list = measure.ForAll(list, judged...)
	for i := range rows {
		var tests []*measure.Result
		for k := range folds {
			scores, err := rows[i].Folds[k].Model.Score(folds[k].Test)
			if err != nil {
				return err
			}
			test, err := measure.Evaluate(folds[k].Test, scores, list, measure.TiesInput)
			if err != nil {
				return err
			}
			tests = append(tests, test)
		}
		pooled := measure.Pool(tests...)
		values := make(map[string]baselineValue)
		for _, m := range list {
			value := baselineValue{mean: measure.MeanOverFolds(m, tests...), pooled: pooled.Mean(m)}
			for _, t := range tests {
				value.neutral += t.TieNeutral(m) / float64(len(tests))
			}
			each := pooled.PerQuery(m)
			value.deviation = sd(each) / math.Sqrt(float64(len(each)))
			value.queries = each
			values[m.Name()] = value
		}
		v.values = append(v.values, values)
	}
	return nil
}

// of returns our number of a row and the published one, NaN if there is none.
func (v *baselineView) of(row int, name, m string) (ours, published float64) {
	return v.values[row][m].mean, printed(v.published, name, m)
}

// publishedLETOR3 returns the published results on a set of LETOR 3.0: row, measure.
// MAP is published for all seven sets; NDCG is at hand for OHSUMED and, up to 5, for
// some rows on TD2004.
func publishedLETOR3(set string) map[string]map[string]float64 {
	header, rows := publishedTable("letor3-map.csv")
	at := slices.Index(header, set)
	if at < 0 {
		return nil
	}
	numbers := make(map[string]map[string]float64)
	for _, row := range rows {
		numbers[row[0]] = map[string]float64{"map": number(row[at])}
	}
	add := func(name string, values map[string]float64) {
		for m, v := range values {
			if strings.HasPrefix(m, "ndcg@") {
				numbers[name][m] = v
			}
		}
	}
	for theirs, name := range map[string]string{"AdaRank.NDCG": "AdaRank-NDCG", "AdaRank.MAP": "AdaRank-MAP", "FRank": "FRank", "ListNet": "ListNet"} {
		add(name, publishedBoltzRank()[set][theirs])
	}
	if set == "OHSUMED" {
		for name, values := range publishedOHSUMED() {
			add(name, values)
		}
	}
	return numbers
}

// publishedMQ2008 returns LETOR 4.0's published results: row, measure.
func publishedMQ2008() map[string]map[string]float64 {
	header, rows := publishedTable("letor4-mq2008.csv")
	numbers := make(map[string]map[string]float64)
	for _, row := range rows {
		name := strings.TrimSuffix(row[0], "-Struct")
		numbers[name] = make(map[string]float64)
		for i := 1; i < len(row); i++ {
			m := strings.Replace(strings.ToLower(header[i]), "n@", "ndcg@", 1)
			numbers[name][strings.Replace(m, "meanndcg", "mean-ndcg", 1)] = number(row[i])
		}
	}
	return numbers
}

// authorsTool is a program by a method's authors, or the usual one, as tuned on the
// same folds by the same measure. Its numbers were taken once, in letor3.
type authorsTool struct {
	row, tool, set string
	values         map[string]float64
}

var authorsTools = []authorsTool{
	{"RankSVM", "SVM-rank", "OHSUMED", map[string]float64{"map": .4490, "ndcg@10": .4598}},
	{"RankSVM", "LIBLINEAR-ranksvm", "MQ2008", map[string]float64{"map": .4727}},
	{"SVMMAP", "SVM-map", "OHSUMED", map[string]float64{"map": .4406}},
	{"SVMMAP", "SVM-map", "MQ2008", map[string]float64{"map": .4724}},
	{"coordinate ascent", "RankLib", "OHSUMED", map[string]float64{"map": .4452}},
	{"coordinate ascent", "RankLib", "MQ2008", map[string]float64{"map": .4717}},
}

// toolOf returns the program that a row on a set is held against, nil if none.
func toolOf(row, set string) *authorsTool {
	i := slices.IndexFunc(authorsTools, func(t authorsTool) bool { return t.row == row && t.set == set })
	if i < 0 {
		return nil
	}
	return &authorsTools[i]
}
