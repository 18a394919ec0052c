package papers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
)

func figure8Experiment() Experiment {
	return Experiment{
		Name:      "logrank-fig8",
		Paper:     "LogRank",
		Title:     "LogRank, Figure 8: w·φ against Δ in the first iterations",
		Shows:     "that w·φ(x, y) soon dominates Δ(y), except at the start w = 0",
		Data:      sweepData,
		Reads:     true,
		Picture:   "Figure 8",
		Untrained: "the claim is about the path of the optimiser",
		Run:       figure8{size: hp2004Size, queries: 10, rankings: 10, iterations: 10, grid: gridSweep}.run,
	}
}

// figure8 follows w·φ of some rankings while ConvexLoss_NDCG is trained.
type figure8 struct {
	size       govSize
	queries    int
	rankings   int // number of rankings for each query
	iterations int
	grid       map[string][]string
}

// watched is a ranking whose w·φ is recorded.
type watched struct {
	query string
	delta float64
	x     []float64 // φ(x, y) with κ = 1, by feature
	dot   []float64 // w·φ at each iteration
}

func (f figure8) run(ctx context.Context, o Options) (*Report, error) {
	s := &study{
		convention: letor3,
		rows:       []row{{name: "ConvexLoss_NDCG", group: "choosing C", method: "convexloss", training: "ndcg@10", grid: f.grid}},
		chosenBy:   "ndcg@10", measures: reported, records: "chosen",
	}
	found, folds, err := s.onHP2004(o, f.size, asPublished, true)
	if err != nil {
		return nil, err
	}
	if err := s.trainColumn(ctx, o, found.columns[0], folds); err != nil {
		return nil, err
	}
	tuned := found.columns[0].rows[0][0]
	entry, values := &tuned.Entry, tuned.Folds[0].Chosen.(method.Values)
	rankings, err := f.chooseRankings(folds[0].Train, entry.Measure, o.Seed)
	if err != nil {
		return nil, err
	}
	course, err := newProgress(ctx, folds[0])
	if err != nil {
		return nil, err
	}
	var lost error
	_, err = entry.Method.Train(ctx, &method.Problem{
		Problem: train.Problem{
			Data: folds[0].Train, Valid: folds[0].Valid, Measure: entry.Measure, Seed: o.Seed, Workers: o.Jobs, Observe: func(it method.Iteration) {
				if it.Start == 0 {
					lost = errors.Join(lost, course.see(it.Params))
				}
				if it.Number >= f.iterations {
					return
				}
				for i := range rankings {
					rankings[i].dot = append(rankings[i].dot, inner(it.Params, rankings[i].x))
				}
			},
		},
		Values: values,
	})
	if err != nil {
		return nil, err
	}
	if lost != nil {
		return nil, lost
	}
	r := f.report(found, rankings)
	trumps(found.columns[0].name, rankings, r)
	course.quick(found.columns[0].name, r)
	r.fact("trained", "%s on %s", values, folds[0].Name)
	r.fact("chosen from", "%s, by validation NDCG@10 of %s", describeGrid(entry), folds[0].Name)
	return r, nil
}

// chooseRankings draws queries, and rankings of them over the whole range of Δ. Each ranking is the
// last of a walk from a restart near a random Δ.
func (f figure8) chooseRankings(d *dataset.Dataset, training measure.Measure, seed uint64) ([]watched, error) {
	gain, ok := training.(ranking.Gain)
	if !ok {
		return nil, fmt.Errorf("measure %s is not a sum over relevant documents", training.Name())
	}
	all := rankable(d)
	if len(all) == 0 {
		return nil, &InputError{errors.New("no query has both relevant and irrelevant documents")}
	}
	var list []watched
	for _, i := range random.Stream(seed, "figure 8 queries", "").Perm(len(all))[:min(f.queries, len(all))] {
		q := all[i]
		rng := random.Stream(seed, "figure 8 rankings", q.query.ID)
		for range f.rankings {
			top, _ := topFor(q.pairs, gain, rng.Float64())
			options := sample.DefaultOptions()
			options.Samples, options.IncludeIdeal = options.Steps+1, false
			set, err := sample.DrawFrom(q.pairs, gain, top, options, rng)
			if err != nil {
				return nil, fmt.Errorf("query %q: %w", q.query.ID, err)
			}
			coefficients := lastFeatureMap(q.pairs, set)
			list = append(list, watched{query: q.query.ID, delta: within(1 - set.Gain[len(set.Gain)-1]), x: combine(q.query, d.Features, coefficients)})
		}
	}
	return list, nil
}

// lastFeatureMap returns the coefficients c of φ(y) = Σ_i c_i x_i, κ = 1, for the last ranking of a
// sample with one walk. It starts from the ideal ranking and adds the change of every inverted
// pair.
func lastFeatureMap(pairs bipartite.Classes, s *sample.Set) []float64 {
	c := make([]float64, pairs.Docs())
	ranking.NewOrder(pairs).FeatureMap(c, 1)
	for i, v := range s.Restarts[s.Start[0]] {
		c[i] += 2 * v
	}
	for t := range s.Steps {
		c[s.Plus[t]] += 2
		c[s.Minus[t]] -= 2
	}
	return c
}

// combine returns Σ_i c_i x_i over the query's documents.
func combine(q *dataset.Query, features int, c []float64) []float64 {
	sum := make([]float64, features)
	for i := range q.Len() {
		for j, v := range q.Row(i) {
			sum[j] += float64(c[i] * float64(v))
		}
	}
	return sum
}

func inner(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

func (f figure8) report(found *results, rankings []watched) *Report {
	e, data := figure8Experiment(), found.columns[0]
	r := found.begin(e)
	r.add(found, ofSet, logRankFacts, seed)
	r.fact("rankings", "%d of %s's training queries, %d rankings each: ends of walks from restarts near random Δ", len(rankings)/f.rankings, data.names[0], f.rankings)
	sheet := Sheet{Columns: []string{"data", "query", "delta", "average"}}
	iterations := len(rankings[0].dot)
	for k := range iterations {
		sheet.Columns = append(sheet.Columns, fmt.Sprintf("iteration_%d", k))
	}
	points := chart.Series{Kind: chart.Scatter}
	larger := 0
	for _, w := range rankings {
		average := mean(w.dot)
		points.X, points.Y = append(points.X, w.delta), append(points.Y, average)
		if math.Abs(average) > w.delta {
			larger++
		}
		row := []any{data.name, w.query, w.delta, average}
		for _, v := range w.dot {
			row = append(row, v)
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	r.Sheets = []Sheet{sheet}
	r.Plots = []Plot{{Plot: chart.Plot{
		Title:  fmt.Sprintf("w·φ(x, y) averaged over the first %d iterations against Δ(y) — %s", iterations, data.name),
		X:      chart.Axis{Label: "Δ = 1 − NDCG@10", Min: 0, Max: 1},
		Y:      chart.Axis{Label: "w·φ(x, y)"},
		Series: []chart.Series{points},
	}}}
	table, growth := growthOf(rankings, iterations)
	r.Tables = []Table{table}
	growth.Title += " — " + data.name
	r.Plots = append(r.Plots, growth)
	verdict, alone := holdsIf(20*larger >= 19*len(rankings)), outgrowsUntrained(rankings)
	if verdict == ClaimHeld && 20*alone >= 19*len(rankings) {
		verdict = ClaimTrivial
	}
	r.found(verdict, "|w·φ(y)| soon outgrows Δ(y) (5.3.4)", "%s: larger for %d of %d rankings; with weight 1 on a single feature, untrained, for %d", data.name, larger, len(rankings), alone).Rule = "95 % of the rankings"
	r.note("The averaged |w·φ| exceeds Δ for %d of %d rankings. The paper: Δ is always quite small against w·φ, except at w = 0.", larger, len(rankings))
	aboutData.add(found, r)
	return r
}

// outgrowsUntrained returns the number of rankings whose |w·φ| is larger than Δ, if w is 1 for one
// feature and 0 for all others. It returns the largest number over the features.
func outgrowsUntrained(rankings []watched) int {
	most := 0
	for f := range rankings[0].x {
		larger := 0
		for _, w := range rankings {
			if math.Abs(w.x[f]) > w.delta {
				larger++
			}
		}
		most = max(most, larger)
	}
	return most
}

// growthOf describes how |w·φ| grows with the iterations.
func growthOf(rankings []watched, iterations int) (Table, Plot) {
	t := Table{Title: "over all rankings, by iteration", Columns: []string{"iteration", "mean |w·φ|", "mean Δ", "|w·φ| > Δ"}}
	dots, deltas := chart.Series{Name: "mean |w·φ|", Kind: chart.LineMarkers}, chart.Series{Name: "mean Δ", Kind: chart.Line}
	for k := range iterations {
		var size, delta float64
		larger := 0
		for _, w := range rankings {
			v := math.Abs(w.dot[k])
			size += v / float64(len(rankings))
			delta += w.delta / float64(len(rankings))
			if v > w.delta {
				larger++
			}
		}
		t.Rows = append(t.Rows, []string{strconv.Itoa(k), fmt.Sprintf("%.4g", size), fmt.Sprintf("%.4f", delta), fmt.Sprintf("%d of %d", larger, len(rankings))})
		dots.X, dots.Y = append(dots.X, float64(k)), append(dots.Y, size)
		deltas.X, deltas.Y = append(deltas.X, float64(k)), append(deltas.Y, delta)
	}
	return t, Plot{Name: "growth", Plot: chart.Plot{
		Title:  "w·φ outgrows Δ",
		X:      chart.Axis{Label: "iteration of L-BFGS"},
		Y:      chart.Axis{Label: "mean over rankings (logarithmic)", Log: true},
		Series: []chart.Series{dots, deltas},
	}}
}

// progress contains the MAP of w on a fold's test queries during training, and the MAP of trivial
// systems. All values are by query.
type progress struct {
	precision measure.Measure
	fold      tune.Fold
	at        [][]float64 // by iteration
	trivial   map[string][]float64
}

func newProgress(ctx context.Context, fold tune.Fold) (*progress, error) {
	m, err := measure.Parse("map", letor3, measure.Options{})
	if err != nil {
		return nil, err
	}
	p := &progress{precision: m, fold: fold, trivial: make(map[string][]float64)}
	features, err := bestFeatures(ctx, []tune.Fold{fold})
	if err != nil {
		return nil, err
	}
	scores, err := features[0].Score(fold.Test)
	if err != nil {
		return nil, err
	}
	if p.trivial["the best single feature"], err = p.measured(scores); err != nil {
		return nil, err
	}
	p.trivial["the order of the file"], err = p.measured(make([]float64, fold.Test.Docs()))
	return p, err
}

// measured returns the average precision of every test query.
func (p *progress) measured(scores []float64) ([]float64, error) {
	r, err := measure.Evaluate(p.fold.Test, scores, []measure.Measure{p.precision}, measure.TiesInput)
	if err != nil {
		return nil, err
	}
	return slices.Clone(r.PerQuery(p.precision)), nil
}

// see evaluates w and appends the result.
func (p *progress) see(w []float64) error {
	scores := make([]float64, p.fold.Test.Docs())
	linearScores(scores, p.fold.Test, w)
	each, err := p.measured(scores)
	p.at = append(p.at, each)
	return err
}

// early is the number of iterations over which the paper's Figure 8 averages.
const early = 10

// quick judges the claim that w is good after few iterations. w must be significantly better than
// every trivial system, and not significantly worse than the last w.
func (p *progress) quick(data string, r *Report) {
	last := len(p.at) - 1
	then := min(early, last)
	text := []string{fmt.Sprintf("%s, %s: MAP %.4f after %d iterations and %.4f where L-BFGS ended, after %d", data, p.fold.Name, mean(p.at[then]), then, mean(p.at[last]), last)}
	verdict := ClaimHeld
	names := []string{"the best single feature", "the order of the file"}
	for _, name := range names {
		d, err := stats.Between([][]float64{p.at[then]}, [][]float64{p.trivial[name]})
		if err != nil || !(d.Mean > 0 && d.P < stats.Alpha/float64(len(names))) {
			verdict = ClaimUndecided
		}
		text = append(text, fmt.Sprintf("%s %.4f", name, mean(p.trivial[name])))
	}
	rest, err := stats.Between([][]float64{p.at[last]}, [][]float64{p.at[then]})
	switch {
	case err != nil || math.IsNaN(rest.Mean):
		verdict = ClaimUndecided
	case rest.Mean > 0 && rest.P < stats.Alpha:
		verdict = ClaimFailed
	case !(rest.Interval.Low > -alikeMargin && rest.Interval.High < alikeMargin):
		verdict = ClaimUndecided
	}
	r.found(verdict, "w quickly evolves to a reasonably good model (5.3.4)", "%s; alike are what lies within ±%v", strings.Join(text, "; "), alikeMargin)
}

// trumps judges the claim that rankings of small Δ have large w·φ. It applies a sign test to the
// rank correlations within queries.
func trumps(data string, rankings []watched, r *Report) {
	byQuery := make(map[string][2][]float64)
	for _, w := range rankings {
		x := byQuery[w.query]
		byQuery[w.query] = [2][]float64{append(x[0], w.delta), append(x[1], mean(w.dot))}
	}
	negative, n := 0, 0
	for _, x := range byQuery {
		if c := rankCorrelation(x[0], x[1]); c != 0 && !math.IsNaN(c) {
			n++
			if c < 0 {
				negative++
			}
		}
	}
	verdict := ClaimUndecided
	if signTest(negative, n) < stats.Alpha {
		verdict = holdsIf(2*negative > n)
	}
	r.found(verdict, "for any y with small Δ(y), w·φ(y) is large (5.3.4)", "%s: their rank correlation is negative in %d of %d queries", data, negative, n).Rule = "a sign test over the queries at 5 %"
}

// signTest returns the two-sided p-value of k positive signs among n.
func signTest(k, n int) float64 {
	tail, choose := 0.0, 1.0
	for i := 0; i <= min(k, n-k); i++ {
		tail += choose
		choose *= float64(n-i) / float64(i+1)
	}
	return min(1, 2*tail/math.Ldexp(1, n))
}
