package train

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model/scorer"
)

// Trees adds regression trees to a sum, round by round. Each tree approximates a step of the loss
// as a function of the documents' scores (Friedman, Greedy Function Approximation, Annals of
// Statistics 2001). If the loss has second derivatives by score (loss.Diagonal), and Steps allows
// it, the step is Newton's (Chen and Guestrin, XGBoost, KDD 2016). Otherwise it goes along λ,
// with a line search if λ is the gradient of the loss. The round that is best on the validation
// data is kept, without these the last. It writes checkpoints.
type Trees struct {
	Rounds   int     // trees at most; 0 means 300
	Patience int     // rounds without a better one, by the validation data, before the end; 0: all are made
	Rate     float64 // learning rate; 0 means 0.1
	Bins     int     // of a feature's values, 2 to 255; 0 means 255

	// QueryFraction is the share of queries, and DocumentFraction that of their documents,
	// sampled for each tree. FeatureFraction is the share of features sampled for its splits. At
	// least one is sampled of each. 0 means all.
	QueryFraction, FeatureFraction, DocumentFraction float64

	// GOSSTop is the share of documents that are always used: those with the largest |λ|·second.
	// GOSSRest is the share sampled from the others, whose λ and second derivatives are scaled up
	// to represent all others. A tree gets at least one document. This is gradient-based one-side
	// sampling (Ke et al., LightGBM, NIPS 2017, Algorithm 2). Both 0, or a top of 1, turn it off.
	GOSSTop, GOSSRest float64

	Exact           bool   // every value is a threshold, with sums in floating point: slower, without bins and categories
	Categorical     []bool // features whose values are categories, a mark each; nil: none
	BinsByCurvature bool   // bins have equal sums of second derivatives at the start, not equally many documents

	Redraw bool // draw what the loss draws before every tree, not once

	Sum     TreeSum // how trees come together
	Dropout Dropout // of DARTTrees
	Bag     int     // sums that grow side by side, each with random draws of its own, and whose mean is taken; 0 means 1

	// Refit keeps the trees of the initial model and learns their leaf values again. Decay is the
	// share of the old values that is kept.
	Refit bool
	Decay float64

	// Steps says whether trees take Newton steps: without a choice, if the loss has second
	// derivatives.
	Steps Steps

	tree.Options // Leaves of 0 means 15; Workers is set by the task
}

// Streams implements Streamer: histograms need only codes, which are in memory. Exact splits need
// every value, and DART and forests every tree's leaves.
func (l Trees) Streams() bool { return !l.Exact && l.Sum == GradientTrees }

// LearnsMissing implements MissingLearner: every division says where missing values go.
func (Trees) LearnsMissing() bool { return true }

// Learn implements Learner.
func (l Trees) Learn(ctx context.Context, t *Task) (*Learned, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := l.checkSigns(t.Inputs()); err != nil {
		return nil, err
	}
	l.warnOfViolations(t)
	if l.Refit {
		l.complete(t)
		return l.refit(ctx, t)
	}
	return Boosting{Rounds: l.Rounds, Patience: l.Patience, Start: l.start, setting: "trees"}.Learn(ctx, t)
}

// checkSigns returns an error for signs that do not fit the number of features.
func (l *Trees) checkSigns(features int) error {
	if n := len(l.Monotone); n != 0 && n != features {
		return BadProblem("found %d signs of monotone features, expected one for each of %d, or none", n, features)
	}
	return nil
}

// check returns an error for settings that are out of range or do not go together.
func (l *Trees) check() error {
	for _, f := range []struct {
		what  string
		value float64
	}{
		{"fraction of queries", l.QueryFraction}, {"fraction of features", l.FeatureFraction}, {"fraction of documents", l.DocumentFraction},
		{"fraction of top documents", l.GOSSTop}, {"fraction of the rest", l.GOSSRest}, {"rate", l.Rate},
	} {
		if !(f.value >= 0 && f.value <= 1) {
			return BadProblem("found the %s %v, expected a number from 0 to 1", f.what, f.value)
		}
	}
	switch {
	case l.GOSSTop+l.GOSSRest > 1:
		return BadProblem("found the fractions %v of top documents and %v of the rest, expected a sum of at most 1", l.GOSSTop, l.GOSSRest)
	case l.gradientSampled() && 0 < l.DocumentFraction && l.DocumentFraction < 1:
		return BadProblem("found a fraction of documents, %v, and one of top documents, %v, expected one of them: both draw documents", l.DocumentFraction, l.GOSSTop)
	}
	if err := l.checkSum(); err != nil {
		return err
	}
	if l.Bag < 0 {
		return BadProblem("found a bag of %d, expected a positive number, or 0 for 1", l.Bag)
	}
	if l.Bag > 1 {
		if err := l.randomized(); err != nil {
			return &ProblemError{err}
		}
	}
	return nil
}

// start makes the members of the bag, which share a grower.
func (l Trees) start(t *Task) (Booster, error) {
	l.complete(t)
	m, base := l.begin(t)
	var err error
	if m.grower, err = l.newGrower(t, base); err != nil {
		return nil, err
	}
	return m, m.grow(t, base)
}

// begin returns a bag without members and the scores at the start, nil for 0.
func (l Trees) begin(t *Task) (m *treeMean, base []float64) {
	d := t.Normalized()
	m = &treeMean{Trees: l, data: d}
	if t.Initial != nil {
		m.initial = &initialTrees{t.Initial.Scorer.(*scorer.Trees), t.Initial.Params}
		base = make([]float64, d.Docs())
		eachQuery(d, l.Workers, func(_ int, q *dataset.Query, x []float32) {
			m.initial.score(base[q.Start:q.Start+q.Len()], x, d.Features)
		})
	}
	return m, base
}

// grow begins the members' sums of trees.
func (m *treeMean) grow(t *Task, base []float64) error {
	for member := range max(1, m.Bag) {
		r, err := m.Trees.grow(t, m.grower, memberSeed(t.Seed, member), base)
		if err != nil {
			return err
		}
		r.draws = m.initial.number() // as if these trees had been drawn for here
		m.sums = append(m.sums, r)
	}
	return nil
}

// complete puts defaults in place.
func (l *Trees) complete(t *Task) {
	l.Rate, l.Bins, l.Leaves = cmp.Or(l.Rate, 0.1), cmp.Or(l.Bins, tree.MaxBins), cmp.Or(l.Leaves, 15)
	l.QueryFraction, l.FeatureFraction = cmp.Or(l.QueryFraction, 1), cmp.Or(l.FeatureFraction, 1)
	l.DocumentFraction, l.Dropout.Rate = cmp.Or(l.DocumentFraction, 1), cmp.Or(l.Dropout.Rate, 0.1)
	if l.GOSSRest == 0 {
		l.GOSSTop = cmp.Or(l.GOSSTop, 1)
	}
	l.Workers = t.Workers
}

// grow begins a sum of trees.
func (l Trees) grow(t *Task, g grower, seed uint64, base []float64) (*treeRounds, error) {
	step, err := l.step(t, seed)
	if err != nil {
		return nil, err
	}
	d := t.Normalized()
	n := d.Docs()
	r := &treeRounds{
		Trees: l, seed: seed, data: d, base: base, loss: step.loss, step: step, grower: g,
		reweighed:  reweighed{table: leafTable{rows: rowsOf(d), workers: l.Workers}, valid: leafTable{workers: l.Workers}},
		treesState: treesState{scores: make([]float64, n)}, lambda: make([]float64, n), second: make([]float64, n),
	}
	copy(r.scores, base)
	if l.Sum != GradientTrees {
		r.target = make([]float64, n)
	}
	r.objective = r.step.eval(r.scores, r.lambda, r.second)
	return r, nil
}

// step returns what trees are fitted to: the loss as a function of the scores of the training
// data.
func (l *Trees) step(t *Task, seed uint64) (*treeStep, error) {
	if t.Loss == nil {
		return nil, errors.New("found no loss, expected one: this learner minimises a loss")
	}
	coster, _ := t.Loss.(loss.Coster)
	if err := t.CheckWork(nil, coster); err != nil {
		return nil, err
	}
	f, err := objective.NewFunctional(t.Normalized(), t.Loss, seed, t.Workers, t.done)
	if err != nil {
		return nil, err
	}
	if f.Queries() == 0 {
		return nil, t.nothingToLearn()
	}
	if !t.Weights.IsZero() {
		if err := f.Weigh(t.Weights); err != nil {
			return nil, err
		}
	}
	return newTreeStep(f, t.Loss.Traits(), l.Steps)
}

// grower grows trees: [tree.Grower] by histograms, [tree.Exact] by every value.
type grower interface {
	Bar(features []bool)
	Seed(seed uint64)
	Grow(lambda, second []float64, rows []uint32) *tree.Tree
	Values(lambda, second []float64) []float64
	Visit(visit func(leaf int, rows []uint32))
	Add(scores, values []float64)
}

// checkBins returns an error if settings of bins and categories contradict each other or the
// data.
func (l *Trees) checkBins(t *Task) error {
	categorical := slices.Contains(l.Categorical, true)
	for j, is := range l.Categorical {
		if is && t.pipeline.Chain(j) != nil && !onlyFills(t.pipeline.Chain(j)) {
			return BadProblem("found a transform (%s) of the categorical feature %d, expected none: categories are told apart by their values, not measured", t.pipeline.Chain(j)[0].Name(), j+1)
		}
	}
	switch {
	case categorical && t.Normalization != dataset.NoNormalization:
		return BadProblem("found categorical features with the normalization %s, which makes other values of them for each query; expected none", t.Normalization)
	case categorical && !t.Views.Raw():
		return BadProblem("found categorical features with the views %s, expected raw alone: categories have no ranks", t.Views)
	case l.Exact && (categorical || l.BinsByCurvature || l.Bins != 0 && l.Bins != tree.MaxBins):
		return BadProblem("found exact splits with categorical features, bins by curvature or less than %d bins, expected none of these, or splits by histograms", tree.MaxBins)
	}
	return nil
}

// onlyFills reports whether a chain changes nothing but missing values.
func onlyFills(c transform.Chain) bool {
	return !slices.ContainsFunc(c, func(s transform.Step) bool { _, fill := s.(transform.Fill); return !fill })
}

// newGrower returns a grower; base are the scores at the start, nil for 0. The members of a bag,
// and several bags, share it. They grow their trees in turn: the results of one tree are used
// before the next, and no tree depends on those before it.
func (l *Trees) newGrower(t *Task, base []float64) (g grower, err error) {
	if err := l.checkBins(t); err != nil {
		return nil, err
	}
	if l.Exact {
		d := t.Normalized()
		return tree.NewExact(d.X(), d.Features, l.Options)
	}
	o := tree.BinOptions{Most: l.Bins, Categorical: l.Categorical, Workers: l.Workers}
	if l.BinsByCurvature {
		if o.Weights, err = l.curvature(t, base); err != nil {
			return nil, err
		}
	}
	matrix, err := l.matrix(t, o)
	if err != nil {
		return nil, err
	}
	return tree.NewGrower(matrix, l.Options)
}

// matrix returns the codes of the data.
func (l *Trees) matrix(t *Task, o tree.BinOptions) (*tree.Matrix, error) {
	d := t.Normalized()
	if d.Streamed() {
		return l.streamedMatrix(t, o)
	}
	bins, err := tree.NewBins(d.X(), d.Features, o)
	if err != nil {
		return nil, err
	}
	return tree.NewMatrix(d.X(), bins, l.Workers), nil
}

// curvature returns the second derivatives that trees are fitted to at the start.
func (l *Trees) curvature(t *Task, base []float64) ([]float64, error) {
	step, err := l.step(t, t.Seed)
	if err != nil {
		return nil, err
	}
	d := step.loss.Rows()
	scores, lambda, second := make([]float64, d), make([]float64, d), make([]float64, d)
	copy(scores, base)
	step.eval(scores, lambda, second)
	return second, nil
}

// eachQuery visits the queries with several workers. visit must not keep x, the row-major
// features.
func eachQuery(d *dataset.Dataset, workers int, visit func(worker int, q *dataset.Query, x []float32)) {
	readers := make([]*dataset.RowReader, parallel.Workers(workers, len(d.Queries)))
	for w := range readers {
		readers[w] = d.Reader()
	}
	parallel.For(len(d.Queries), workers, func(worker, i int) {
		visit(worker, &d.Queries[i], readers[worker].At(i))
	})
}

// Bytes that trees need for a document, in addition to its codes. A grower holds places and sums.
// Each sum of trees holds scores, λ, second derivatives and the scores of a line search. Trees
// whose weights change need other scores to be fitted at, and sampling with replacement more λ.
const (
	growerBytes    = 20
	sumBytes       = 60
	reweighedBytes = 10
	drawnBytes     = 20
)

// exactBytes is the size of a value in exact splits.
const exactBytes = 8

// leafBytes is the size of a document's leaf number in a tree of many leaves.
const leafBytes = 2

// classBytes is the size of a validation document's score in the sum of a class.
const classBytes = 8

// streamedMatrix codes data that are read query by query: a pass takes the rows by which bins are chosen, or
// some of their features, and the last codes.
func (l *Trees) streamedMatrix(t *Task, o tree.BinOptions) (*tree.Matrix, error) {
	d := t.Normalized()
	n, step := d.Docs(), tree.Step(d.Docs())
	together := max(loadedTogether, int(min(float64(d.Features), t.memoryLeft()/float64(loadedBytes*n/step))))
	bins, err := tree.NewBinsOf(n, d.Features, together, o, func(sample []float32, from, to int) {
		eachQuery(d, l.Workers, func(_ int, q *dataset.Query, x []float32) {
			for row := (q.Start + step - 1) / step * step; row < q.Start+q.Len(); row += step {
				copy(sample[row/step*(to-from):][:to-from], x[(row-q.Start)*d.Features+from:])
			}
		})
	})
	if err != nil {
		return nil, err
	}
	c := tree.NewCoder(bins, n, parallel.Workers(l.Workers, len(d.Queries)))
	eachQuery(d, l.Workers, func(worker int, q *dataset.Query, x []float32) { c.Code(worker, q.Start, x) })
	return c.Matrix(), nil
}

// Bins of streamed data are chosen for several features at a time, for loadedTogether at least
// and for more if memory allows. A value takes loadedBytes: itself, and a copy that is sorted.
const (
	loadedTogether = 8
	loadedBytes    = 3 * 4
)

// Memory implements Estimator.
func (l Trees) Memory(p *Problem) float64 { return l.memory(p, 1) }

// memory returns the bytes that a number of bags take, each with a grower of its own if bins depend on the loss.
func (l Trees) memory(p *Problem, bags int) float64 {
	l.complete(&Task{Problem: p})
	n, features := float64(p.Data.Docs()), float64(p.Inputs())
	sums, growers, cell := float64(bags*max(1, l.Bag)), 1.0, 2.0
	if l.BinsByCurvature {
		growers = float64(bags)
	}
	if l.Exact {
		cell = exactBytes
	} else if p.Data.Streamed() {
		cell = 1 // tree.NewCoder
	}
	each := sumBytes
	if l.Sum != GradientTrees {
		each += reweighedBytes
	}
	if l.Sum == ForestTrees {
		each += drawnBytes
	}
	bytes := float64(n * (float64(growers*(growerBytes+float64(cell*features))) + float64(float64(each)*sums)))
	if !l.Exact {
		bytes += float64(growers * float64(l.FeatureBytes()) * features)
	}
	if l.Sum != GradientTrees {
		docs := n
		if p.Valid != nil {
			docs += float64(p.Valid.Docs())
		}
		leaf := 1
		if l.Leaves > byteLeaves {
			leaf = leafBytes
		}
		bytes += float64(sums * docs * float64(leaf*cmp.Or(l.Rounds, defaultRounds)))
	}
	if bags > 1 && p.Valid != nil {
		bytes += float64(classBytes * float64(p.Valid.Docs()) * float64(bags))
	}
	return bytes + float64(p.lossBytes()*sums)
}
