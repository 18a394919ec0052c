package papers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

// sweep declares an experiment on the sampler. It trains ConvexLoss_NDCG on one set with several
// values of a setting and several seeds, and reports test results. Validation NDCG@10 chooses C for
// every value and seed.
type sweep struct {
	Experiment
	axis   string // name of the setting, for tables and plots
	log    bool   // logarithmic abscissa of the plot
	values []float64
	fixed  map[string][]string // values of other settings, the same for all points
	seeds  int
	size   govSize // of synthetic data

	// blocks repeat the figure's points with other settings.
	blocks []sweepBlock

	published func(set string) numbers         // nil if the figure is a plot without numbers
	verdict   func(s *results, v *view) string // compares the result with the paper's statement

	claim string // the paper's statement about the change from the first value to the last

	more partFunc // adds further findings; nil for none

	tables []part // parts on the figure's numbers, after the claims
}

// sweepBlock is another way to train all points.
type sweepBlock struct {
	name  string // suffix of the names of its rows
	about string
	fixed map[string][]string // settings that differ

	// own, if not nil, constructs the loss and the learner, like row.own.
	own func(map[string]any) (loss.Loss, train.Learner, error)
}

// sweepData describes the data of the experiments on Figures 4 to 8.
const sweepData = "HP2004 in --data, or another set (--set); synthetic data without --data"

// gridSweep contains the settings of all points. The paper's beta is 1.
var gridSweep = map[string][]string{"C": {"1e-3", "1e-2", "1e-1", "1", "10"}, "form": {"sampled"}, "beta": {"1"}}

// sweepSeeds is the number of seeds. Each seed draws its own samples.
const sweepSeeds = 5

// figure4 varies the number of rankings in a query's sample. The abscissae of the paper's figure
// are not known.
func figure4() sweep {
	return sweep{
		Experiment: Experiment{
			Name:    "logrank-fig4",
			Paper:   "LogRank",
			Title:   "LogRank, Figure 4: accuracy against the size of the sample",
			Picture: "Figure 4",
			Shows:   "that accuracy saturates as more rankings are drawn",
		},
		axis: "samples", log: true, values: []float64{50, 100, 200, 500, 1000, 2000, 5000},
		fixed: gridSweep, seeds: sweepSeeds, size: hp2004Size,
		verdict: saturation,
		claim:   "accuracy increases with the number of sampled rankings (5.3.1)",
		more:    saturated,
	}
}

// figure5 varies the share of walks that start at the ideal ranking. The other walks start at the
// worst. The numbers of walks and rankings are constant.
func figure5() sweep {
	return sweep{
		Experiment: Experiment{
			Name:    "logrank-fig5",
			Paper:   "LogRank",
			Title:   "LogRank, Figure 5: accuracy against the mix of restarts at Δ = 0 and Δ = 1",
			Picture: "Figure 5",
			Shows:   "that walks had better start at the ideal ranking than at the worst",
		},
		axis: "mix", values: []float64{0.1, 0.5, 0.9},
		fixed: gridSweep, seeds: sweepSeeds, size: hp2004Size,
		verdict: func(s *results, v *view) string {
			return "The paper: skewing towards Δ = 0 generally increases accuracy. Here, from a share of 0.1 at Δ = 0 to 0.9: " + s.change(v, 0, 2) + "."
		},
		claim: "restarts near the ideal ranking increase accuracy (5.3.2)",
	}
}

// change returns the text with the changes of NDCG@10 and MAP from one point to another.
func (s *results) change(v *view, from, to int) string {
	return fmt.Sprintf("NDCG@10 %+.4f, MAP %+.4f", v.mean(to, "ndcg@10")-v.mean(from, "ndcg@10"), v.mean(to, "map")-v.mean(from, "map"))
}

// saturation compares the gain over the first half of the points with the gain over the second
// half.
func saturation(s *results, v *view) string {
	last := s.points() - 1
	middle := s.points() / 2
	gain := func(m string) string {
		return fmt.Sprintf("%s %+.4f, %+.4f.", title(m), v.mean(middle, m)-v.mean(0, m), v.mean(last, m)-v.mean(middle, m))
	}
	text := "The paper: accuracy increases with the size of the sample and is close to saturation. Here, from the smallest sample to the middle one and from there to the largest: " +
		gain("ndcg@10") + " " + gain("map")
	if s.seeds > 1 {
		text += fmt.Sprintf(" The standard deviation of MAP over seeds goes from %.4f to %.4f.", sd(v.means(0, "map")), sd(v.means(last, "map")))
	}
	return text
}

// saturated judges whether the accuracy is near saturation at the largest sample. The accuracy must
// increase up to the second-largest sample, and the last step must bring no improvement. Equal
// accuracy at all sizes is not saturation, because a method that learns nothing has it, too.
func saturated(s *results, r *Report) {
	v, last := &s.columns[0].views[0], s.points()-1
	verdict, figure := s.noGain(v, last, last-1, "ndcg@10", "map")
	if increase, _ := s.rises(v, last-1, 0, "ndcg@10", "map"); increase != ClaimHeld {
		verdict = ClaimUndecided
	}
	r.fact("margin", "a step brings no improvement if the 95 %% intervals of its differences lie below +%v", gainMargin)
	r.found(verdict, "at the sample sizes shown, accuracy is near saturation (5.3.1)", "%s, from %s to %s rankings: %s", s.columns[0].name, s.rows[last-1].name, s.rows[last].name, figure)
}

// study returns the sweep as a study with a row for each value.
func (w sweep) study() study {
	e := w.Experiment
	e.Data, e.Reads = sweepData, true
	point := methodField.as(w.axis)
	s := study{
		convention: letor3,
		Experiment: e,
		data: func(o Options) ([]source, []string, error) {
			data, err := hp2004(o, w.size)
			return []source{data}, nil, err
		},
		sizes:    letorSets,
		axis:     w.axis,
		seeds:    w.seeds,
		chosenBy: "ndcg@10", measures: reported,
		records:   "seed{seed}",
		published: w.published,
		parts: []part{
			ofSet, logRankFacts,
			partFunc(func(s *results, r *Report) {
				r.fact("seeds", "%d to %d, a sample each; values are means over folds, then mean ± standard deviation over seeds", s.options.Seed, s.options.Seed+uint64(s.seeds)-1)
			}),
			says{"method", "ConvexLoss trained for NDCG@10 on sampled rankings, chosen by validation NDCG@10"},
			partFunc(func(s *results, r *Report) {
				r.fact("tried", "%s, with %s as the table says", describeGrid(&s.columns[0].rows[0][0].Entry, s.axis), s.axis)
			}),
			partFunc(sweepTables),
			numberSheet{rows: inGroups(""), fields: w.fields(point)},
			choiceSheet{name: "chosen", bySeed: true, fields: []field{
				{"seed", func(p *place) any { return int(p.results.options.Seed) + p.seed }}, point, foldField, settingsField, validationField,
			}},
			partFunc(w.blockSheet),
			partFunc(w.plot),
			partFunc(func(s *results, r *Report) {
				v := &s.columns[0].views[0]
				r.note("%s", w.verdict(s, v))
				last := s.points() - 1
				verdict, figure := s.rises(v, last, 0, "ndcg@10", "map")
				r.found(verdict, w.claim, "%s, %s from %s to %s: %s", s.columns[0].name, w.axis, s.rows[0].name, s.rows[last].name, figure)
				if w.more != nil {
					w.more(s, r)
				}
			}),
			aboutData,
			claims,
		},
	}
	s.parts = append(s.parts, w.tables...)
	for _, b := range append([]sweepBlock{{}}, w.blocks...) {
		for _, v := range w.values {
			grid := maps.Clone(w.fixed)
			maps.Copy(grid, b.fixed)
			name := strconv.FormatFloat(v, 'g', -1, 64)
			grid[w.axis] = []string{name}
			if b.name != "" {
				name += ", " + b.name
			}
			s.rows = append(s.rows, row{name: name, group: b.name, method: "convexloss", training: "ndcg@10", grid: grid, own: b.own})
		}
	}
	return s
}

// points returns the number of points of the figure, which each block has, too. The rows of the
// figure come first.
func (s *results) points() int {
	n := 0
	for n < len(s.rows) && s.rows[n].group == "" {
		n++
	}
	return n
}

// blockNames returns the names of the blocks, in order.
func (s *results) blockNames() []string {
	var names []string
	for at := s.points(); at < len(s.rows); at += s.points() {
		names = append(names, s.rows[at].group)
	}
	return names
}

// fields returns the fields of the sheet, including the mean, the deviation and each seed's value.
func (w sweep) fields(point field) []field {
	all := []field{
		dataField, point, measureField, oursField.as("mean"),
		{"sd", func(p *place) any { return orNil(sd(p.view.means(p.at, p.measure))) }}, publishedField.as("paper_hp2004"),
	}
	for k := range w.seeds {
		all = append(all, field{fmt.Sprintf("seed_%d", k+1), func(p *place) any { return p.view.means(p.at, p.measure)[k] }})
	}
	return all
}

// ofSet appends the name of the set to the report's title.
var ofSet partFunc = func(s *results, r *Report) { r.Title += " — " + s.columns[0].name }

// logRankFacts adds the facts that LogRank's experiments on one set share.
var logRankFacts partFunc = func(s *results, r *Report) {
	r.add(s, says{"source", logRank}, command, oneSet{cmp.Or(s.columns[0].cleaning(), ", as published (not cleaned)")})
	if s.columns[0].reading.clean {
		r.add(s, says{cleaned.name, cleaned.about})
	}
	if about := s.columns[0].about; about != "" {
		r.fact("mind", "%s", about)
	}
	r.fact("convention", "%s (%s)", letor3.Name(), letor3.Explanation())
}

// sweepTables adds the figure's table, and one for each block.
func sweepTables(s *results, r *Report) {
	r.Tables = append(r.Tables, s.sweepTable(0))
	for k := range s.blockNames() {
		r.Tables = append(r.Tables, s.sweepTable((k+1)*s.points()))
	}
}

// sweepTable returns the table of the figure or block whose rows begin at first. For a block it
// also describes how training went.
func (s *results) sweepTable(first int) Table {
	c := s.columns[0]
	v := &c.views[0]
	t := Table{Title: "test accuracy on " + c.name, Columns: []string{s.axis}, Left: 1}
	if first > 0 {
		t.Title += ": " + s.rows[first].group
	}
	for _, m := range s.measures {
		t.Columns = append(t.Columns, title(m))
	}
	if v.published != nil {
		t.Columns = append(t.Columns, "paper (HP2004) MAP", "NDCG@10")
	}
	if first > 0 {
		t.Columns = append(t.Columns, "not converged", "w = 0")
	}
	for k := range s.points() {
		line := []string{s.rows[k].name}
		for _, m := range s.measures {
			line = append(line, meanAndDeviation(v.means(first+k, m), 4))
		}
		if v.published != nil {
			for _, m := range []string{"map", "ndcg@10"} {
				line = append(line, strconv.FormatFloat(v.published.of(s.rows[k].name, m), 'f', 3, 64))
			}
		}
		if first > 0 {
			all, unconverged, folds, constant := c.trainings(first + k)
			line = append(line, fmt.Sprintf("%d of %d", unconverged, all), fmt.Sprintf("%d of %d", constant, folds))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// trainings returns four numbers of a row: trainings, trainings that did not converge, folds over
// all seeds, and folds whose chosen model is w = 0.
func (c *column) trainings(row int) (all, unconverged, folds, constant int) {
	for _, tuned := range c.rows[row] {
		n, bad := tuned.Trainings()
		all, unconverged = all+n, unconverged+bad
		folds, constant = folds+len(tuned.Folds), constant+len(tuned.ConstantFolds())
	}
	return all, unconverged, folds, constant
}

func (w sweep) plot(s *results, r *Report) {
	c := s.columns[0]
	v := &c.views[0]
	p := chart.Plot{
		Title: w.Title + " — " + c.name,
		X:     chart.Axis{Label: w.axis, Log: w.log},
		Y:     chart.Axis{Label: "test accuracy, mean over folds and seeds"},
	}
	line := func(name string, value func(i int) float64) {
		curve := chart.Series{Name: name, Kind: chart.LineMarkers, X: w.values}
		for i := range w.values {
			curve.Y = append(curve.Y, value(i))
		}
		p.Series = append(p.Series, curve)
	}
	for i, x := range w.values {
		p.X.Ticks = append(p.X.Ticks, chart.Tick{Value: x, Label: s.rows[i].name})
	}
	for _, m := range s.measures {
		line(title(m), func(i int) float64 { return v.mean(i, m) })
	}
	if v.published != nil {
		for _, m := range []string{"ndcg@10", "map"} {
			line(title(m)+", paper on HP2004", func(i int) float64 { return v.published.of(s.rows[i].name, m) })
		}
	}
	r.Plots = append(r.Plots, Plot{Plot: p})
	if len(w.blocks) > 0 {
		p.Series = nil
		line("MAP", func(i int) float64 { return v.mean(i, "map") })
		for k, name := range s.blockNames() {
			line("MAP, "+name, func(i int) float64 { return v.mean((k+1)*len(w.values)+i, "map") })
		}
		if v.published != nil {
			line("MAP, paper on HP2004", func(i int) float64 { return v.published.of(s.rows[i].name, "map") })
		}
		r.Plots = append(r.Plots, Plot{Name: "blocks", Plot: p})
	}
}

// figure6 varies the skew k. Walks start at eleven levels from the ideal ranking to the worst, with
// probability ∝ exp(kΔ).
func figure6() sweep {
	fixed := maps.Clone(gridSweep)
	fixed["levels"] = []string{"11"}
	return sweep{
		Experiment: Experiment{
			Name:  "logrank-fig6",
			Paper: "LogRank",
			Title: "LogRank, Figure 6: accuracy against the skew k of restarts at eleven levels",
			Shows: "that among many restarts those near the ideal ranking are best: k far below 0",
		},
		axis: "skew", values: []float64{5, 0, -5, -10, -20},
		fixed: fixed, seeds: sweepSeeds, size: hp2004Size,
		blocks:    figure6Blocks,
		published: func(string) numbers { return publishedNumbers("logrank-figure6.csv") },
		verdict:   skewing,
		claim:     "k far below 0 is better (5.3.2)",
		tables:    []part{reach{table: "Figure 6", sets: []string{"HP2004"}}},
	}
}

// figure6Blocks search for the reason why the paper's training failed at k = 5 and 0. A sample from
// restarts near the worst ranking lacks the ideal ranking, whose term keeps a sum of exponentials
// above 0. C is fixed. Far from the ideal ranking the loss is nearly linear, so C scales w, and all
// values of C rank the validation data alike.
var figure6Blocks = []sweepBlock{
	{name: "no ideal", about: "the ideal ranking is in the sample only where a walk starts there; sums by log-sum-exp", fixed: withoutIdeal},
	{name: "naive", about: "as before, but plain sums of exponentials, which overflow or vanish; the optimiser, with 15 iterations at most, steps back from where they do", fixed: withoutIdeal, own: naiveSums(true)},
	{name: "naive, unguarded", about: "as before, but the optimiser does not step back; its weights are then no numbers, for which w = 0 stands: what is measured then is the order of the file", fixed: withoutIdeal, own: naiveSums(false)},
}

var withoutIdeal = map[string][]string{"ideal": {"false"}, "C": {"0.1"}}

// skewing compares the first and the last value of the skew.
func skewing(s *results, v *view) string {
	return "The paper: k far below 0 seems uniformly better, and k = 5 and 0 fail altogether. Here, from k = 5 to k = -20: " + s.change(v, 0, s.points()-1) + "."
}

// figure6Experiment is the sweep of figure6 with a verdict on the paper's collapse.
func figure6Experiment() Experiment {
	w := figure6()
	e := w.study().experiment()
	e.Run = w.runWithCollapse
	return e
}

// runWithCollapse runs the sweep and judges whether training fails at its first point, as the
// paper's does on HP2004. Without HP2004 it also trains the first and the last point on synthetic
// data of HP2004's shape.
func (w sweep) runWithCollapse(ctx context.Context, o Options) (*Report, error) {
	s := w.study()
	found, err := s.train(ctx, o)
	if err != nil {
		return nil, err
	}
	r := found.begin(s.Experiment)
	r.add(found, s.parts...)
	found.collapse(w, r)
	if o.Data == "" || found.columns[0].name == "HP2004" {
		return r, nil
	}
	ends := w
	ends.values, ends.blocks = []float64{w.values[0], w.values[len(w.values)-1]}, nil
	o.Data, o.Set = "", ""
	if o.Records != "" {
		o.Records = filepath.Join(o.Records, "synthetic")
	}
	made := ends.study()
	if found, err = made.train(ctx, o); err != nil {
		return nil, err
	}
	r.once = true
	found.collapse(ends, r)
	return r, nil
}

// collapse adds the verdict on the claim that training fails altogether at the first point. A
// failed training is not better than a system without training: the best single feature, the order
// of the file or a random order.
func (s *results) collapse(w sweep, r *Report) {
	c := s.columns[0]
	v, last := &c.views[0], s.points()-1
	systems := v.trivial["map"]
	best := slices.MaxFunc(systems, func(a, b trivial) int { return cmp.Compare(a.value, b.value) })
	var blocks []string
	var verdicts []FindVerdict
	for k, name := range append([]string{"log-sum-exp"}, s.blockNames()...) {
		at := k * s.points()
		verdict := v.fails(at, at+last, best.each)
		blocks = append(blocks, fmt.Sprintf("%s %.3f … %.3f (%s)", name, v.mean(at, "map"), v.mean(at+last, "map"), verdict))
		verdicts = append(verdicts, verdict)
	}
	var others []string
	for _, t := range systems {
		others = append(others, fmt.Sprintf("%s %.3f", t.system, t.value))
	}
	r.stated(ofAll(verdicts...), fmt.Sprintf("with restarts at Δ = 1 training fails altogether: MAP .033 at %s = %s on HP2004 (5.3.2)", w.axis, s.rows[0].name),
		"%s, MAP at %s = %s … %s and whether training fails: %s; without training: %s", c.name, w.axis, s.rows[0].name, s.rows[last].name, strings.Join(blocks, ", "), strings.Join(others, ", "))
}

// fails returns the verdict on the claim that training fails at one point and succeeds at another,
// by MAP compared with a trivial system. Training fails at the first point if its mean is not above
// the system's, while the other point is significantly above the system. The claim failed if the
// first point is significantly above the system.
func (v *view) fails(at, other int, trivial []float64) FindVerdict {
	above := func(row int) (mean float64, significant bool) {
		runs := v.runs(row, "map")
		all := append(slices.Clone(runs), trivial)
		d, err := stats.Between(known(runs, all), known([][]float64{trivial}, all))
		if err != nil { // too few queries
			return math.NaN(), false
		}
		return d.Mean, d.Interval.Low > 0
	}
	mean, works := above(at)
	_, control := above(other)
	switch {
	case works:
		return ClaimFailed
	case mean <= 0 && control:
		return ClaimHeld
	}
	return ClaimUndecided
}

// blockSheet adds a sheet of the blocks' numbers, if there are any.
func (w sweep) blockSheet(s *results, r *Report) {
	if len(w.blocks) == 0 {
		return
	}
	var names []string
	for _, b := range w.blocks {
		names = append(names, b.name)
		r.fact(b.name, "%s", b.about)
	}
	n := func(of func(all, unconverged, folds, constant int) int) func(*place) any {
		return func(p *place) any { return of(p.column.trainings(p.at)) }
	}
	value := field{w.axis, func(p *place) any { return p.results.rows[p.at%p.results.points()].name }}
	fields := append([]field{groupField.as("block")}, w.fields(value)...)
	numberSheet{name: "blocks", rows: inGroups(names...), fields: append(slices.Clip(fields),
		field{"trainings", n(func(all, _, _, _ int) int { return all })},
		field{"unconverged", n(func(_, unconverged, _, _ int) int { return unconverged })},
		field{"folds", n(func(_, _, folds, _ int) int { return folds })},
		field{"constant", n(func(_, _, _, constant int) int { return constant })},
	)}.add(s, r)
}
