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
	"github.com/listwise/listwise/internal/svg"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

// sweep declares an experiment on the sampler. It trains ConvexLoss_NDCG on one set under several
// values of a setting, with several seeds each, and reports test results. Validation NDCG@10 chooses C
// for every value and seed.
type sweep struct {
	Experiment
	axis   string // the setting, for tables and plots
	log    bool   // the plot's abscissa
	values []float64
	fixed  map[string][]string // what is tried or held fixed at all values
	seeds  int
	size   govSize // of synthetic data

	// blocks repeat the figure's points with other settings.
	blocks []sweepBlock

	published func(set string) numbers         // nil if the figure was a plot without numbers
	verdict   func(s *results, v *view) string // sums up what came out against what the paper states

	claim string // what the paper states of going from the first value to the last

	more partFunc // further findings; nil for none

	tables []part // what is said of the figure's numbers, after the claims
}

// sweepBlock is another way to train all points.
type sweepBlock struct {
	name  string // of its rows, behind the point's
	about string
	fixed map[string][]string // what is otherwise

	// own, if not nil, makes the loss and the learner, as a row's does.
	own func(map[string]any) (loss.Loss, train.Learner, error)
}

// sweepData says what the experiments of Figures 4 to 8 run on.
const sweepData = "HP2004 in --data, or another set (--set); synthetic data without --data"

// gridSweep is what all points try; the paper's beta is 1.
var gridSweep = map[string][]string{"C": {"1e-3", "1e-2", "1e-1", "1", "10"}, "form": {"sampled"}, "beta": {"1"}}

// sweepSeeds is the number of seeds: each draws samples of its own.
const sweepSeeds = 5

// figure4 varies the number of rankings drawn for a query. The paper's abscissae
// are lost.
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

// figure5 varies the share of walks that start at the ideal ranking; the others
// start at the worst. The numbers of walks and of samples stay the same.
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

// change is what NDCG@10 and MAP gain from one point to another.
func (s *results) change(v *view, from, to int) string {
	return fmt.Sprintf("NDCG@10 %+.4f, MAP %+.4f", v.mean(to, "ndcg@10")-v.mean(from, "ndcg@10"), v.mean(to, "map")-v.mean(from, "map"))
}

// saturation compares what the first and the second half of the points gain.
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

// saturated says whether the accuracy is near saturation at the largest sample: it increases
// up to the sample before, and the last step brings no improvement. Equal accuracy at all
// sizes, which any method has that learns nothing, is no saturation.
func saturated(s *results, r *Report) {
	v, last := &s.columns[0].views[0], s.points()-1
	verdict, figure := s.noGain(v, last, last-1, "ndcg@10", "map")
	if increase, _ := s.rises(v, last-1, 0, "ndcg@10", "map"); increase != ClaimHeld {
		verdict = ClaimUndecided
	}
	r.fact("margin", "a step brings no improvement if the 95 %% intervals of its differences lie below +%v", gainMargin)
	r.found(verdict, "at the sample sizes shown, accuracy is near saturation (5.3.1)", "%s, from %s to %s rankings: %s", s.columns[0].name, s.rows[last-1].name, s.rows[last].name, figure)
}

// study returns the sweep as what is trained and reported: a row a value.
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

// points is the number of points of the figure, and of each block. The figure's rows come first.
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

// fields are mean, deviation and the single seeds' values.
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

// ofSet puts the set into the report's title.
var ofSet partFunc = func(s *results, r *Report) { r.Title += " — " + s.columns[0].name }

// logRankFacts are the facts that LogRank's experiments on one set share.
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

// sweepTables has the figure's table, and one for each block.
func sweepTables(s *results, r *Report) {
	r.Tables = append(r.Tables, s.sweepTable(0))
	for k := range s.blockNames() {
		r.Tables = append(r.Tables, s.sweepTable((k+1)*s.points()))
	}
}

// sweepTable is the table of the block that begins with a row. Of a block it also says how
// training went.
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

// trainings counts a row's trainings, the trainings that did not converge, the folds of all seeds, and
// the folds whose chosen model is w = 0.
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
	p := svg.Plot{
		Title: w.Title + " — " + c.name,
		X:     svg.Axis{Label: w.axis, Log: w.log},
		Y:     svg.Axis{Label: "test accuracy, mean over folds and seeds"},
	}
	line := func(name string, value func(i int) float64) {
		curve := svg.Series{Name: name, Kind: svg.LineMarkers, X: w.values}
		for i := range w.values {
			curve.Y = append(curve.Y, value(i))
		}
		p.Series = append(p.Series, curve)
	}
	for i, x := range w.values {
		p.X.Ticks = append(p.X.Ticks, svg.Tick{Value: x, Label: s.rows[i].name})
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

// figure6 varies the skew k of the probability ∝ exp(kΔ) with which walks start
// at eleven levels from the ideal ranking to the worst.
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

// figure6Blocks look for what made the paper's training fail at k = 5 and 0. A sample from
// restarts near the worst ranking lacks the ideal one, whose term keeps a sum of exponentials
// from vanishing. C is not chosen: far from the ideal ranking the loss is nearly linear, C
// scales w, and all of them rank alike on the validation data.
var figure6Blocks = []sweepBlock{
	{name: "no ideal", about: "the ideal ranking is in the sample only where a walk starts there; sums by log-sum-exp", fixed: withoutIdeal},
	{name: "naive", about: "as before, but plain sums of exponentials, which overflow or vanish; the optimiser, with 15 iterations at most, steps back from where they do", fixed: withoutIdeal, own: naiveSums(true)},
	{name: "naive, unguarded", about: "as before, but the optimiser does not step back; its weights are then no numbers, for which w = 0 stands: what is measured then is the order of the file", fixed: withoutIdeal, own: naiveSums(false)},
}

var withoutIdeal = map[string][]string{"ideal": {"false"}, "C": {"0.1"}}

// skewing compares the ends of the scale.
func skewing(s *results, v *view) string {
	return "The paper: k far below 0 seems uniformly better, and k = 5 and 0 fail altogether. Here, from k = 5 to k = -20: " + s.change(v, 0, s.points()-1) + "."
}

// figure6Experiment is the sweep of figure6 and its verdict on the paper's collapse.
func figure6Experiment() Experiment {
	w := figure6()
	e := w.study().experiment()
	e.Run = w.runWithCollapse
	return e
}

// runWithCollapse runs the sweep and judges whether training fails at its first point, as the
// paper's does on HP2004. Where HP2004 is lacking, the ends of the scale are also trained on
// synthetic data of its shape.
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
// failed training is no better than what ranks without any: the best single feature, the order
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

// fails is the verdict on the claim that training fails at one point and not at another, by MAP
// against a trivial system. Training fails at the first if its mean is not above the system's
// and that at the other is, significantly. It does not fail if it is significantly above itself.
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

// blockSheet has the numbers of the blocks, if there are any.
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
