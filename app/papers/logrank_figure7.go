package papers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"github.com/listwise/listwise/tune"
)

func figure7Experiment() Experiment {
	return Experiment{
		Name:      "logrank-fig7",
		Paper:     "LogRank",
		Title:     "LogRank, Figure 7: where walks get from three restarts",
		Shows:     "that the loss Δ of sampled rankings smears far around a restart at Δ = 0 and hardly around one at Δ = 1",
		Data:      sweepData,
		Reads:     true,
		Picture:   "Figure 7",
		Untrained: "rankings are drawn, nothing is trained",
		Run:       figure7{size: hp2004Size, draws: 1000}.run,
	}
}

// figure7 samples rankings of every query by walks from three restarts.
type figure7 struct {
	size  govSize
	draws int // number of walks for each query and restart
}

// figure7Restarts are the losses Δ of the restarts. A walk starts at the ranking with some bad
// documents above all good ones whose loss is closest.
var figure7Restarts = []float64{0, 0.5, 1}

// figure7Measures are the measures of the loss. The first is the figure's.
var figure7Measures = []string{"map", "ndcg@10", "auc"}

// smear contains the rankings that the walks of all queries reach from one restart.
type smear struct {
	measure string
	wanted  float64
	start   float64   // mean Δ of the restart states
	deltas  []float64 // Δ of every ranking reached
	moves   []float64 // Δ of every ranking minus Δ of its restart
	changes []change  // one per query
}

// change contains the smallest Δ above 0 among a query's rankings. It is +Inf if there is none.
type change struct {
	good  int // number of relevant documents
	bad   int // number of irrelevant documents
	least float64
}

func (f figure7) run(ctx context.Context, o Options) (*Report, error) {
	found, folds, err := new(study).onHP2004(o, f.size, asPublished, false)
	if err != nil {
		return nil, err
	}
	var smears []smear
	for _, m := range figure7Measures {
		for _, wanted := range figure7Restarts {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			s, err := f.draw(o, folds, m, wanted)
			if err != nil {
				return nil, err
			}
			smears = append(smears, s)
			o.observe("sampling", len(smears), len(figure7Measures)*len(figure7Restarts))
		}
	}
	return f.report(found, smears), nil
}

func (f figure7) options() sample.Options {
	options := sample.DefaultOptions()
	options.Samples, options.IncludeIdeal = f.draws, false
	return options
}

// draw samples rankings of every test query from the restart.
func (f figure7) draw(o Options, folds []tune.Fold, m string, wanted float64) (smear, error) {
	gain, err := additive(m)
	if err != nil {
		return smear{}, err
	}
	var all []ranked
	for _, fold := range folds {
		all = append(all, rankable(fold.Test)...)
	}
	s := smear{measure: m, wanted: wanted}
	starts := make([]float64, len(all))
	gains := make([][]float64, len(all))
	errs := make([]error, len(all))
	parallel.For(len(all), o.Jobs, func(_, i int) {
		var top int
		top, starts[i] = topFor(all[i].pairs, gain, wanted)
		set, err := sample.DrawFrom(all[i].pairs, gain, top, f.options(), random.Stream(o.Seed, fmt.Sprintf("figure 7 %s %v", m, wanted), all[i].query.ID))
		if errs[i] = err; err == nil {
			gains[i] = set.Gain
		}
	})
	for i := range all {
		if errs[i] != nil {
			return s, fmt.Errorf("query %q: %w", all[i].query.ID, errs[i])
		}
		s.start += starts[i] / float64(len(all))
		least := math.Inf(1)
		for _, g := range gains[i] {
			d := within(1 - g)
			if d > 1e-12 {
				least = min(least, d)
			}
			s.deltas = append(s.deltas, d)
			s.moves = append(s.moves, d-starts[i])
		}
		s.changes = append(s.changes, change{len(all[i].pairs.Good), len(all[i].pairs.Bad), least})
	}
	return s, nil
}

// spread returns the root mean square of moves.
func (s *smear) spread() float64 {
	sum := 0.0
	for _, v := range s.moves {
		sum += float64(v * v)
	}
	return math.Sqrt(sum / float64(len(s.moves)))
}

// quantile returns the p-quantile of Δ.
func (s *smear) quantile(p float64) float64 {
	sorted := slices.Clone(s.deltas)
	slices.Sort(sorted)
	return sorted[int(p*float64(len(sorted)-1))]
}

const figure7Bins = 50

// density returns the share of rankings in each of figure7Bins bins between 0 and 1.
func (s *smear) density() chart.Series {
	h := chart.Histogram(fmt.Sprintf("restart at Δ ≈ %.2f", s.start), s.deltas, 0, 1, figure7Bins)
	for i := range h.Y {
		h.Y[i] /= float64(len(s.deltas))
	}
	return h
}

func (f figure7) report(found *results, smears []smear) *Report {
	e, data := figure7Experiment(), found.columns[0].name
	r := found.begin(e)
	options := f.options()
	r.add(found, ofSet, logRankFacts, seed)
	r.fact("walks", "%d states a query and restart, walks of %d steps, restart states included", options.Samples, options.Steps)
	table := Table{Title: "Δ of sampled rankings; spread is the root mean square distance from the restart", Left: 1,
		Columns: []string{"loss Δ = 1 −", "wanted", "restart", "mean", "spread", "5 %", "95 %", "states"}}
	spreads := Sheet{Name: "spread", Columns: []string{"data", "measure", "wanted", "restart", "mean", "spread", "quantile_5", "quantile_95", "states"}}
	bins := Sheet{Columns: []string{"data", "measure", "restart", "from", "to", "share"}}
	plots := make(map[string]*Plot)
	for i := range smears {
		s := &smears[i]
		values := []float64{s.start, mean(s.deltas), s.spread(), s.quantile(0.05), s.quantile(0.95)}
		row, cells := []any{data, s.measure, s.wanted}, []string{title(s.measure), fmt.Sprint(s.wanted)}
		for _, v := range values {
			row, cells = append(row, v), append(cells, fmt.Sprintf("%.4f", v))
		}
		spreads.Rows = append(spreads.Rows, append(row, len(s.deltas)))
		table.Rows = append(table.Rows, append(cells, strconv.Itoa(len(s.deltas))))
		density := s.density()
		for k, share := range density.Y {
			bins.Rows = append(bins.Rows, []any{data, s.measure, s.wanted, density.X[k], density.X[k+1], share})
		}
		if plots[s.measure] == nil {
			plots[s.measure] = f.plot(s.measure, data)
		}
		plots[s.measure].Series = append(plots[s.measure].Series, density)
	}
	for i, m := range figure7Measures {
		p := plots[m]
		if i > 0 {
			p.Name = strings.ReplaceAll(m, "@", "")
		}
		r.Plots = append(r.Plots, *p)
	}
	r.Tables = []Table{table}
	r.Sheets = []Sheet{bins, spreads}
	var verdicts []FindVerdict
	var figures []string
	for k := 0; k < len(smears); k += len(figure7Restarts) {
		ideal, worst := &smears[k], &smears[k+len(figure7Restarts)-1]
		verdicts = append(verdicts, holdsIf(worst.spread() < ideal.spread()/2))
		figures = append(figures, fmt.Sprintf("%s %.4f and %.4f", title(ideal.measure), worst.spread(), ideal.spread()))
		r.note("%s: the spread around the ideal ranking is %.4f, around the worst %.4f. The paper: around Δ = 1 it is much smaller.", title(ideal.measure), ideal.spread(), worst.spread())
	}
	smallestChange(data, &smears[0], r)
	flips(data, &smears[0], r)
	covered := smears[0].quantile(0.95) - smears[0].quantile(0.05)
	worst := smears[len(figure7Restarts)-1].start
	r.found(holdsIf(covered >= worst/2), "a skew toward Δ = 0 does not deprive the learner of rankings with a variety of Δ (5.3.3)",
		"%s, from the ideal ranking: nine tenths of the sample span %.4f in 1 − MAP, of %.4f to the worst ranking; our limit is half of that", data, covered, worst)
	r.found(ofAll(verdicts...), "Δ smears much less around the worst ranking than around the ideal one (5.3.3)", "%s, spread around either: %s", data, strings.Join(figures, ", ")).Rule = "a spread of less than half"
	aboutData.add(found, r)
	return r
}

// flips judges the remark on exchanging a random good and bad document. It averages the change of
// MAP over all pairs of a query, at the ideal ranking and at the worst.
func flips(data string, ideal *smear, r *Report) {
	best, worst, turned := 0.0, 0.0, 0
	for _, c := range ideal.changes {
		atBest, atWorst, most := c.flipped()
		best += atBest / float64(len(ideal.changes))
		worst += atWorst / float64(len(ideal.changes))
		if most >= 0.5 {
			turned++
		}
	}
	r.found(ofAll(holdsIf(worst < best/2), holdsIf(2*turned > len(ideal.changes))), "flipping a random pair hardly changes Δ near the worst ranking, and can turn a good ranking very bad (5.3.3)",
		"%s, MAP: a flip changes Δ by %.4f on average at the worst ranking and by %.4f at the ideal one, where our limit is half of the latter; from the ideal one the worst flip leads to Δ ≥ .5 in %d of %d queries", data, worst, best, turned, len(ideal.changes)).Rule = "more than half of the queries"
}

// flipped returns the mean change of average precision over all exchanges of a good and a bad
// document, at the ideal ranking (best) and at the worst. most is the largest change at the ideal
// ranking.
func (c change) flipped() (best, worst, most float64) {
	good, bad, pairs := float64(c.good), float64(c.bad), float64(c.good*c.bad)
	// If the good document i of a ranking is removed, each later good document has one good
	// document less above it.
	lowest, lost := 0.0, make([]float64, c.good+1)
	for i := c.good; i > 0; i-- {
		lost[i-1] = lost[i] + 1/float64(i)
		lowest += float64(i) / (bad + float64(i))
	}
	for i := 1; i <= c.good; i++ {
		gone, rest := 1+lost[i], 0.0
		for k := 1; k <= c.good; k++ {
			switch {
			case k < i:
				rest += float64(k+1) / (bad + float64(k))
			case k > i:
				rest += float64(k) / (bad + float64(k))
			}
		}
		for j := 1; j <= c.bad; j++ {
			change := (gone - good/(good+float64(j))) / good
			best += change / pairs
			most = max(most, change)
			worst += (1/float64(j) + rest - lowest) / good / pairs
		}
	}
	return best, worst, most
}

// smallestChange judges the remark on the gap between Δ = 0 and the next value. By MAP, the ranking
// next to the ideal one has the last of n good documents below one bad document. The precision at
// this document is n/(n+1).
func smallestChange(data string, ideal *smear, r *Report) {
	gap := func(good int) float64 { return 1 / float64(good*(good+1)) }
	fewest, nearer, reached := ideal.changes[0].good, 0, 0
	for _, c := range ideal.changes {
		fewest = min(fewest, c.good)
		switch {
		case c.least < gap(c.good)-1e-9:
			nearer++
		case c.least < gap(c.good)+1e-9:
			reached++
		}
	}
	r.found(holdsIf(nearer == 0 && reached > 0), "the smallest change from Δ = 0 is .5 in MAP where one document is relevant (5.3.3)",
		"%s: it is 1/(n⁺(n⁺+1)), here at most %.4f, with n⁺ = %d; the walks reach it in %d of %d queries and are nearer in %d", data, gap(fewest), fewest, reached, len(ideal.changes), nearer)
}

func (f figure7) plot(m, data string) *Plot {
	return &Plot{Plot: chart.Plot{
		Title: fmt.Sprintf("Smear of the sampled Δ (%s) for three restarts — %s", title(m), data),
		X:     chart.Axis{Label: "Δ = 1 − " + title(m), Min: 0, Max: 1},
		Y:     chart.Axis{Label: "share of sampled rankings (logarithmic)", Log: true, Min: 1e-4, Max: 1},
	}}
}
